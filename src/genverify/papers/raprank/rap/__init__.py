"""RAP, the paper's relaxed projection: datasets whose answers come near the published ones, found by gradient descent."""

import genverify.papers.raprank.rap.one_thread  # noqa: F401  (first of all: JAX reads what it sets)
from genverify.papers.raprank.rap.reconstruct import Reconstruction, reconstruct

__all__ = ["Reconstruction", "reconstruct"]

from genverify.core.extras import needed

for library in ("jax", "optax"):
    needed(library, "RAP-RANK")
