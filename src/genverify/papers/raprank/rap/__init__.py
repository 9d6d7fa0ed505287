"""RAP, the paper's relaxed projection: datasets whose answers come near the published ones, found by gradient descent."""

import genverify.papers.raprank.rap.one_thread  # noqa: F401  (first of all: JAX reads what it sets)
from genverify.core.extras import naming_missing_extras

with naming_missing_extras("RAP-RANK"):
    from genverify.papers.raprank.rap.reconstruct import Reconstruction, reconstruct

__all__ = ["Reconstruction", "reconstruct"]
