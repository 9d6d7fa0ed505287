"""Settings of generate-then-verify: sample, persons, and its studies; see config/."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from genverify.model.errors import ConfigError, nearest
from genverify.model.settings import Count, Name, Section, lay_over, over_default

# Settings that the studies of generate-then-verify share. Each has its own beside it.


class ChosenBlocks(Section):
    design: str
    number: int = Field(ge=1)


# Settings of the benchmarks of the attack: see config/benchmark.yaml.


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


class Blocks(Section):
    households: int = Field(ge=1)
    blocks: int = Field(ge=1)


class SameBenchmark(Section):
    study: bool
    cases: list[Blocks] = Field(min_length=1)


class ScalingBenchmark(Section):
    households: list[int] = Field(min_length=1)
    repeats: int = Field(ge=1)
    seconds: float = Field(gt=0, allow_inf_nan=False)
    memory_mb: int = Field(ge=256)


# Settings of the counts that cannot exist (footnote 9).


class Excluded(Section):
    """Numbers of columns of an assignment, assignments of each per block, and one of how many blocks is gone through."""

    columns: list[Count] = Field(min_length=1)
    assignments: Count
    every: Count


# Settings of the comparison of generators of the built-in country: see config/generators.yaml.


class Generators(Section):
    """Generators and seeds of the built-in country, and how many of their blocks are attacked, and in how many jobs."""

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


# Settings of the study of hierarchical noise: see config/hierarchical.yaml.


class HierarchicalCountry(Section):
    """A country of the study: its budget (null: not protected), and how alike neighbours are before."""

    rho: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None
    homogeneity: float = Field(ge=0, le=3)


class HierarchicalNoise(Section):
    households: int = Field(ge=1000, le=200_000_000)
    size: int = Field(ge=1)
    blocks: int = Field(ge=1)
    homogeneities: list[Annotated[float, Field(ge=0, le=3)]] = Field(min_length=1)
    countries: dict[Name, HierarchicalCountry] = Field(min_length=1)
    shares: dict[str, float]
    margins: list[list[str]]


# Settings of the probabilities of claims: see config/probability.yaml.


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
    every: int = Field(ge=1)
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


# Settings of the attack on protected counts: see config/protected.yaml.


class AnyNoise(Section):
    """What has a default for all noise; the budget has none."""

    publish: Literal["microdata", "intervals"]
    confidence: Annotated[float, Field(gt=0, lt=1)] | None
    tables: Literal["all"] | Annotated[list[str], Field(min_length=1)]


class ProtectedNoise(AnyNoise):
    rho: float = Field(gt=0, allow_inf_nan=False)


class Protection(Section):
    """How the counts of the main study are protected: households swapped, then noise on their counts."""

    swap: float = Field(ge=0, le=1)
    noise: ProtectedNoise | None


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


# Settings of the study of whole tracts: see config/tracts.yaml.

BLOCKS, TRACT, BOTH = "block tables", "tract tables", "both"  # what a claim follows from
KIND_OF = {"synthetic_persons": "persons", "synthetic_households": "households", "records": "persons"}


class TractTables(Section):
    """What is published about some records: their domain and universe, the tables of a block and of the tract, readings."""

    domain: str
    universe: str
    tables_files: list[str] = Field(min_length=1)
    block_tables: list[str] = Field(min_length=1)
    tract_tables: list[str] = Field(min_length=1)
    readings: dict[Name, str | None] = Field(min_length=1)
    min_k: int = Field(ge=1)
    largest_block: int = Field(ge=1)
    datasets: int = Field(ge=1)


class SyntheticTracts(Section):
    tracts: int = Field(ge=1)
    records: int = Field(ge=1)


class Tracts(Section):
    persons: TractTables
    households: TractTables
    synthetic_persons: SyntheticTracts
    synthetic_households: SyntheticTracts
    records: str | None
    batches: int = Field(ge=1, le=1000)


# Settings of the study of the paper's Table 5: see config/zeros.yaml.

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
