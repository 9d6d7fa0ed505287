"""Settings of generate-then-verify: sample, persons, and the studies around it, from protected counts to tracts."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from genverify.core.closed import Name, Section, lay_over, over_default
from genverify.core.errors import nearest
from genverify.core.settings import ReleaseSettings


class Design(Section):
    size: Literal["state_median", "country_median"] | Annotated[int, Field(ge=1)]
    blocks_per_state: int = Field(ge=1)


class AllBlocks(Section):
    states: Literal["all"] | Annotated[list[str], Field(min_length=1)]
    up_to: int = Field(ge=1)


class Sample(Section):
    universe: str
    designs: dict[Name, Design | None]
    all_blocks: dict[Name, AllBlocks | None]
    batches: int = Field(ge=1, le=100_000)
    blocks_per_batch: int = Field(ge=1)


class PersonClaims(Section):
    max_persons: int = Field(ge=1)
    datasets: int = Field(ge=1)
    min_k: int = Field(ge=1, le=4)
    raprank_blocks: int = Field(ge=1)
    raprank_runs: int = Field(ge=1)


class Persons(Section):
    domain: str
    synthetic: str
    group_quarters: bool
    release: ReleaseSettings
    tract_tables: Literal["all"] | list[str]
    records: str | None
    readings: dict[Name, str | None] = Field(min_length=1)
    claims: PersonClaims


class IngestBenchmark(Section):
    rows: int = Field(ge=1)


class SpeedBenchmark(Section):
    blocks: int = Field(ge=1)
    claims: int = Field(ge=1)
    datasets: int = Field(ge=1)
    seconds: float = Field(gt=0, allow_inf_nan=False)


class BlocksBenchmark(Section):
    per_class: int = Field(ge=1)
    inhabited: int = Field(ge=1)
    before: str | None


class ScalingBenchmark(Section):
    households: list[int] = Field(min_length=1)
    repeats: int = Field(ge=1)
    seconds: float = Field(gt=0, allow_inf_nan=False)
    memory_mb: int = Field(ge=256)


Publish = Literal["microdata", "intervals"]
Confidence = Annotated[float, Field(gt=0, lt=1)] | None
NoisyTables = Literal["all"] | Annotated[list[str], Field(min_length=1)]


class AnyNoise(Section):
    """What has a default for all noise; the budget has none."""

    publish: Publish
    confidence: Confidence
    tables: NoisyTables


class ProtectedNoise(Section):
    rho: float = Field(gt=0, allow_inf_nan=False)
    publish: Publish
    confidence: Confidence
    tables: NoisyTables


class Protection(Section):
    """How the counts of the main study are protected: households swapped, then noise on their counts."""

    swap: float = Field(ge=0, le=1)
    noise: ProtectedNoise | None


class ChosenBlocks(Section):
    design: str
    number: int = Field(ge=1)


class SwapColumns(Section):
    key: list[str] = Field(min_length=1)
    size: str


class Protected(Section):
    blocks: ChosenBlocks
    batches: int = Field(ge=1, le=1000)
    max_types: int = Field(ge=1)
    swapping: SwapColumns
    protection: Protection
    noise: AnyNoise
    protections: dict[Name, Protection] = Field(min_length=1)

    @model_validator(mode="before")
    @classmethod
    def _resolve(cls, text: Any) -> Any:
        """A protection is a name and what it changes in `protection`; its noise, if any, what it changes in `noise`."""
        text = over_default(text, "protection", "protections", Protection)
        if not isinstance(text, Mapping) or not isinstance(text.get("protections"), Mapping):
            return text
        named = {name: _with_noise(protection, text.get("noise")) for name, protection in text["protections"].items()}
        return {**text, "protections": named}


def _with_noise(protection: Any, default: Any) -> Any:
    if not isinstance(protection, Mapping) or "noise" not in protection:
        return protection
    return {**protection, "noise": lay_over(default, protection["noise"], AnyNoise)}


SAMPLED = "sampled"


class Explanation(Section):
    """A reading of the paper's Table 5: which records the blocks hold, and which lines nobody publishes."""

    records: Name
    missing: list[str]


class SearchRound(Section):
    blocks: int = Field(ge=1)
    keep: int = Field(ge=1)


class GapSearch(Section):
    rounds: list[SearchRound]
    blocks: int = Field(ge=1)
    size: int = Field(ge=1, le=5)
    shown: int = Field(ge=1)


class LimitedOneHot(Section):
    claims_per_k: int = Field(ge=1)
    nodes: int = Field(ge=1)
    seconds: float = Field(gt=0, allow_inf_nan=False)


class Zeros(Section):
    blocks: ChosenBlocks
    records: dict[Name, dict[str, int]]
    explanation: Explanation
    explanations: dict[Name, Explanation] = Field(min_length=1)
    search: GapSearch
    onehot: LimitedOneHot

    @model_validator(mode="before")
    @classmethod
    def _resolve(cls, text: Any) -> Any:
        return over_default(text, "explanation", "explanations", Explanation)

    @model_validator(mode="after")
    def _known(self) -> "Zeros":
        if self.records.get(SAMPLED) != {}:
            raise ValueError(f"records must hold `{SAMPLED}: {{}}`, the households as they are")
        for name, explanation in self.explanations.items():
            if explanation.records not in self.records:
                known = nearest(explanation.records, list(self.records))
                raise ValueError(
                    f"explanation {name} is about the records {explanation.records!r}, which do not exist: {known}"
                )
        return self


class Generators(Section):
    """Generators and seeds of the built-in country, and how many of their blocks are attacked, in so many jobs."""

    likeness: list[Literal["prototype", "dirichlet", "urn"]] = Field(min_length=1)
    seeds: list[Annotated[int, Field(ge=0, lt=2**64)]] = Field(min_length=1)
    blocks_per_state: int = Field(ge=1)
    parts: int = Field(ge=1, le=99)
    surveys: list[str]

    @model_validator(mode="after")
    def _distinct(self) -> "Generators":
        for name in ("likeness", "seeds"):
            if len(set(getattr(self, name))) < len(getattr(self, name)):
                raise ValueError(f"{name} names one twice; name each once")
        return self


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
    budget: CountingBudget
    exact_moves: int = Field(ge=1)
    estimate: ChainEffort
    draws: int = Field(ge=2)
    least: float = Field(gt=0, le=1)
    claims: int = Field(ge=1)
    rows: int = Field(ge=1)
    person_blocks: int = Field(ge=1)
