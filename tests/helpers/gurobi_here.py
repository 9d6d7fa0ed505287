"""Whether Gurobi can be used on this machine."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from genverify.solve.solvers.base import IntegerProgram, WorkLimits
from genverify.solve.solvers.gurobi import Gurobi, LicenceError

LIMITS = WorkLimits(iterations=200_000, nodes=1000, seconds=60)
ONE = np.ones(1)


def licence_problem() -> str:
    """Why Gurobi cannot be used on this machine; empty if it can."""
    try:
        Gurobi(LIMITS).solve(IntegerProgram(csr_array(np.ones((1, 1))), ONE, ONE, ONE, ONE))
    except LicenceError as error:
        return str(error)
    return ""


NO_LICENCE = licence_problem()
needs_gurobi = pytest.mark.skipif(bool(NO_LICENCE), reason=NO_LICENCE or "Gurobi works")
