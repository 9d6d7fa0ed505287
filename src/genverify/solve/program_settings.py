"""Settings of programs and solvers."""

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from genverify.model.errors import ConfigError
from genverify.model.release import Release
from genverify.model.settings import Section

if TYPE_CHECKING:
    from genverify.solve.bounds import Bounder
    from genverify.solve.program import Program
    from genverify.solve.solvers.base import Solver


class ProgramSettings(Section):
    """How programs are built and solved: see the section `program` of config.yaml."""

    formulation: Literal["compact", "onehot"]
    solver: Literal["highs", "gurobi"]
    max_types: int = Field(ge=1)
    iterations: int = Field(ge=1)
    nodes: int = Field(ge=1)
    leaves: int = Field(ge=1)
    seconds: float = Field(gt=0, allow_inf_nan=False)

    @property
    def proves(self) -> bool:
        """Whether a verified claim has a proof; those of the one-hot program rest on the solver alone."""
        return self.formulation == "compact"

    def proving(self, work: str) -> "ProgramSettings":
        """The settings themselves, for work that speaks of proofs; an error where there would be none."""
        if self.proves:
            return self
        raise ConfigError(f"{work} needs proofs, and the one-hot program gives none. Set program.formulation: compact.")

    def make_solver(self, checks: int | None = None) -> "Solver":
        """With a number of checks, no clock ends an integer search: see WorkLimits."""
        from genverify.solve.solvers.base import WorkLimits, make_solver

        return make_solver(self.solver, WorkLimits(self.iterations, self.nodes, self.seconds, checks))

    def bounder(self, release: Release) -> "Bounder":
        from genverify.solve.program import program_of

        return self.bounder_of(program_of(release, self.max_types))

    def bounder_of(self, program: "Program") -> "Bounder":
        """Of a program that was built already."""
        from genverify.solve.bounds import Bounder, Limits

        return Bounder(program, self.make_solver(), Limits(self.nodes, self.leaves, self.seconds))


DEFAULT = ProgramSettings(
    formulation="compact", solver="highs", max_types=2_000_000, iterations=200_000, nodes=500, leaves=200, seconds=180.0
)
"""The settings of config.yaml, for work that is started without it."""
