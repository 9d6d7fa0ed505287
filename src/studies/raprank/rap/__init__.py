"""RAP, the paper's relaxed projection: datasets whose answers come near the published ones, found by gradient descent."""

import studies.raprank.rap.one_thread  # noqa: F401  (first of all: JAX reads what it sets)
from genverify.model.errors import naming_missing_extras

with naming_missing_extras("RAP-RANK"):
    from studies.raprank.rap.reconstruct import Reconstruction, reconstruct

__all__ = ["Reconstruction", "reconstruct"]
