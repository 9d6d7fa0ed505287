"""RAP, the paper's relaxed projection: datasets whose answers come near the published ones, found by gradient descent."""

from genverify.rap import one_thread as _one_thread  # first, since it sets what JAX reads when it starts
from genverify.rap.reconstruct import RapSettings, Reconstruction, reconstruct

__all__ = ["RapSettings", "Reconstruction", "reconstruct"]
assert _one_thread
