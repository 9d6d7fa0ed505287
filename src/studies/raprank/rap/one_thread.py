"""
XLA on one thread of the processor, unless the environment says otherwise, since the workflow runs jobs side by side.

XLA sizes its pool of threads by NPROC when it first computes; `--xla_cpu_multi_thread_eigen=false` leaves the pool alone.
"""

import os

os.environ.setdefault("NPROC", "1")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
