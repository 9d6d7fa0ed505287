"""Where results come from, and the audit of it, which computes with one thread, as the jobs that it runs again did."""

import os

# before NumPy is imported, which looks at them only then; Snakemake gives its jobs the same
os.environ |= {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR")}
