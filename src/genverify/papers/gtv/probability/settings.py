"""Settings of the probabilities of claims: see config/probability.yaml."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from genverify.core.closed import Section
from genverify.core.errors import ConfigError, nearest


class CountingBudget(Section):
    states: int = Field(ge=1)
    moves: int = Field(ge=1)
    seconds: float = Field(gt=0, allow_inf_nan=False)


class ChainEffort(Section):
    chains: int = Field(ge=2)
    draws: int = Field(ge=2)
    records: int = Field(ge=1)
    between: int = Field(ge=1)


class CountingBenchmark(Section):
    blocks: int = Field(ge=1)
    classes: int = Field(ge=1)
    larger: int = Field(ge=1)
    parts: list[Annotated[int, Field(ge=1)]] = Field(min_length=1)


class EstimateBenchmark(Section):
    blocks: int = Field(ge=1)
    budget: CountingBudget


class Probability(Section):
    """How probabilities of claims are found: see config/probability.yaml."""

    skip: int = Field(ge=0)
    batches: int = Field(ge=1)
    raprank: int = Field(ge=1)
    smoothing: list[Annotated[float, Field(gt=0, allow_inf_nan=False)]] = Field(min_length=1)
    given: list[str]
    budget: CountingBudget
    exact_moves: int = Field(ge=1)
    estimate: ChainEffort
    draws: int = Field(ge=2)
    least: float = Field(gt=0, le=1)
    claims: int = Field(ge=1)
    rows: int = Field(ge=1)
    person_blocks: int = Field(ge=1)

    def known_columns(self, names: Sequence[str]) -> list[str]:
        """The columns that are given; an error where the study has no such column, or no other."""
        unknown = [name for name in self.given if name not in names]
        if unknown:
            raise ConfigError(f"config: probability.given: no column {unknown[0]!r}: {nearest(unknown[0], list(names))}")
        if set(self.given) == set(names):
            raise ConfigError("config: probability.given: every column is given, so that nothing is left to predict")
        return self.given
