"""One thread for XLA, unless the user says otherwise: jobs run side by side, and results do not depend on the machine."""

import os

os.environ.setdefault("NPROC", "1")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
