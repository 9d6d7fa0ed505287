"""The solver that the configuration names."""

from genverify.core.errors import ConfigError
from genverify.core.extras import needed
from genverify.solve.solvers.base import Solver, WorkLimits


def make_solver(name: str, limits: WorkLimits) -> Solver:
    """`highs` or `gurobi`; each is imported only where it is asked for."""
    if name == "highs":
        from genverify.solve.solvers.highs import Highs

        return Highs(limits)
    if name == "gurobi":
        needed("gurobipy", "program.solver: gurobi", "or take the solver highs")
        from genverify.solve.solvers.gurobi import Gurobi

        return Gurobi(limits)
    raise ConfigError(f"program.solver: unknown solver {name!r}; known: highs, gurobi")
