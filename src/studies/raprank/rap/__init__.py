"""
RAP, the paper's relaxed projection: datasets whose answers come near the published ones, found by gradient descent.

XLA runs on one thread of the processor, unless the environment says otherwise, since the workflow runs jobs side by side.
It sizes its pool of threads by NPROC when it first computes; `--xla_cpu_multi_thread_eigen=false` leaves the pool alone.
"""

import os
from pathlib import Path

from genverify.model.errors import naming_missing_extras

# JAX reads these when it is imported, below.
os.environ.setdefault("NPROC", "1")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
# Jobs of one workflow share compiled programs: each shape of arrays takes seconds to compile. The folder is Snakemake's own,
# so that results hold nothing of it; without one (the library used alone) nothing is written.
if Path(".snakemake").is_dir():
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(Path(".snakemake/jax").absolute()))

with naming_missing_extras("RAP-RANK"):
    from studies.raprank.rap.reconstruct import Reconstruction, reconstruct

__all__ = ["Reconstruction", "reconstruct"]
