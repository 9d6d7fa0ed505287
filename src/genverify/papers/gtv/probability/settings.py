"""Settings of the probabilities of claims: see config/probability.yaml."""

from pydantic import Field

from genverify.core.closed import Section


class Smoothing(Section):
    nation: float = Field(gt=0, allow_inf_nan=False)
    state: float = Field(gt=0, allow_inf_nan=False)
    tract: float = Field(gt=0, allow_inf_nan=False)


class CountingBudget(Section):
    states: int = Field(ge=1)
    moves: int = Field(ge=1)
    seconds: float = Field(gt=0, allow_inf_nan=False)


class ChainEffort(Section):
    chains: int = Field(ge=2)
    draws: int = Field(ge=2)
    records: int = Field(ge=1)
    between: int = Field(ge=1)


class Probability(Section):
    """How probabilities of claims are found: see config/probability.yaml."""

    batches: int = Field(ge=1)
    raprank: int = Field(ge=1)
    smoothing: Smoothing
    budget: CountingBudget
    exact_moves: int = Field(ge=1)
    estimate: ChainEffort
    draws: int = Field(ge=2)
    least: float = Field(gt=0, le=1)
    claims: int = Field(ge=1)
    rows: int = Field(ge=1)
    person_blocks: int = Field(ge=1)
