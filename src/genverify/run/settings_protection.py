"""Settings of what protects: the housing study, privacy against accuracy, the main study on protected counts."""

from typing import Annotated, Literal

from pydantic import Field

from genverify.core.closed import Count, Name, PrivacyLoss, Section


class Condition(Section):
    """How the statistics of the housing study are protected before the attacker sees them, and how he reads them."""

    swap: float = Field(ge=0, le=1)
    swap_hud: bool
    noise: Literal["none", "das", "uniform"]
    rho: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None
    noise_hud: bool
    reading: Literal["appendix_e", "exact"]


class Housing(Section):
    households: int = Field(ge=1000, le=200_000_000)
    domain: str
    published: str
    simulation: str
    budget: str
    pums: str | None
    picture: str | None
    sf1: str | None
    blocks: int = Field(ge=1)
    smallest_property: int = Field(ge=1)
    alpha: float = Field(ge=0, le=1)
    batches: int = Field(ge=1, le=100_000)
    top: int = Field(ge=1)
    search: int = Field(ge=0)
    prior_sample: float = Field(gt=0, le=1)
    baseline_sample: float = Field(gt=0, le=1)
    simple: list[str] = Field(min_length=1)
    match_keys: dict[Name, list[str]] = Field(min_length=1)
    conditions: dict[Name, Condition] = Field(min_length=1)


class RandomizedResponse(Section):
    proportions: list[Annotated[float, Field(ge=0, le=1)]] = Field(min_length=1, max_length=3)
    populations: list[Count] = Field(min_length=1, max_length=6)
    epsilons: list[PrivacyLoss] = Field(min_length=1)
    mu: float = Field(gt=0, lt=1)
    simulations: int = Field(ge=2)


class MatrixMechanism(Section):
    epsilons: list[PrivacyLoss] = Field(min_length=1)
    by_table: PrivacyLoss


class Zeros(Section):
    households: list[Count] = Field(min_length=1)
    blocks: Count


class Privacy(Section):
    randomized_response: RandomizedResponse
    matrix_mechanism: MatrixMechanism
    zeros: Zeros


class ProtectedNoise(Section):
    rho: float = Field(gt=0, allow_inf_nan=False)
    publish: Literal["microdata", "intervals"]
    confidence: Annotated[float, Field(gt=0, lt=1)] | None
    tables: Literal["all"] | Annotated[list[str], Field(min_length=1)]


class Protection(Section):
    """How the counts of the main study are protected: households swapped, then noise on their counts."""

    swap: float = Field(ge=0, le=1)
    noise: ProtectedNoise | None


class ProtectedBlocks(Section):
    design: str
    number: int = Field(ge=1)


class SwapColumns(Section):
    key: list[str] = Field(min_length=1)
    size: str


class Protected(Section):
    blocks: ProtectedBlocks
    batches: int = Field(ge=1, le=1000)
    max_types: int = Field(ge=1)
    swapping: SwapColumns
    protections: dict[Name, Protection] = Field(min_length=1)
