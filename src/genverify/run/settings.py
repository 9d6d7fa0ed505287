"""The settings of a study, section by section: a closed model of config.yaml, where the defaults stand."""

from typing import Annotated, Any, Literal

from pydantic import Field

from genverify.core.closed import Count, Decimals, Name, Section
from genverify.run.settings_protection import Housing, Privacy, Protected


class Synthetic(Section):
    country: str
    households: int = Field(ge=1000, le=200_000_000)
    homogeneity: float = Field(ge=0, le=3)


class Ppmf(Section):
    units: str | None
    persons: str | None


class Microdata(Section):
    source: Literal["synthetic", "ppmf"]
    domain: str
    synthetic: Synthetic
    ppmf: Ppmf


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


class ReleaseSettings(Section):
    tables_file: str
    universe: str
    tables: Literal["all"] | list[str]
    groups: dict[str, list[int] | None]
    structural_zeros: bool
    withhold: list[Annotated[int, Field(ge=0, le=1_000_000)]]


class ProgramSection(Section):
    formulation: Literal["compact", "onehot"]
    solver: Literal["highs", "gurobi"]
    max_types: int = Field(ge=1)
    iterations: int = Field(ge=1)
    nodes: int = Field(ge=1)
    leaves: int = Field(ge=1)
    seconds: float = Field(gt=0, allow_inf_nan=False)


class Generate(Section):
    datasets: int = Field(ge=1)


class Verify(Section):
    min_k: int = Field(ge=1)


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


class Rap(Section):
    learning_rate: float = Field(gt=0)
    steps: int = Field(ge=0)
    queries_per_step: int = Field(ge=1)
    tolerance: float = Field(ge=0)
    check_every: int = Field(ge=1)
    patience: int = Field(ge=1)
    spread: float = Field(gt=0)
    certainty: float = Field(gt=0.5, lt=1)


class WholeBlocks(Section):
    runs: int = Field(ge=1)


class Experiment(Section):
    label: str
    data: Name
    areas: Literal["sample", "block", "tract", "state"]
    states: Annotated[int, Field(ge=1)] | None
    limit: Annotated[int, Field(ge=2)] | None
    tables: Literal["all"] | list[str] | None
    block_tables: Literal["all"] | list[str] | None
    marginals: Annotated[int, Field(ge=1)] | None
    starts: list[Literal["random", "holdout"]] = Field(min_length=1)
    runs: int = Field(ge=1)
    rap: dict[str, Any]


class Survey(Section):
    files: list[str]
    tasks_file: str


class RapRank(Section):
    rap: Rap
    release: WholeBlocks
    grid: int = Field(ge=1)
    batches: int = Field(ge=1)
    survey: Survey
    experiments: dict[Name, Experiment]
    figures: dict[Name, Annotated[list[str], Field(min_length=1)]]


class Explorer(Section):
    variant: str
    phrases: str | None
    places: str
    show_households: bool
    blocks_per_piece: int = Field(ge=1)


class IngestBenchmark(Section):
    rows: int = Field(ge=1)


class SpeedBenchmark(Section):
    blocks: int = Field(ge=1)
    claims: int = Field(ge=1)
    datasets: int = Field(ge=1)
    seconds: float = Field(gt=0, allow_inf_nan=False)


class ScalingBenchmark(Section):
    households: list[int] = Field(min_length=1)
    repeats: int = Field(ge=1)
    seconds: float = Field(gt=0, allow_inf_nan=False)
    memory_mb: int = Field(ge=256)


class RapBenchmark(Section):
    rows: int = Field(ge=1)
    ways: int = Field(ge=1)
    steps: int = Field(ge=1)
    queries_per_step: int = Field(ge=1)
    runs: int = Field(ge=1)
    blocks: int = Field(ge=1)
    of_blocks: int = Field(ge=1)


class TableSize(Section):
    rows: Count
    columns: Count
    records: Count


class CellboundsBenchmark(Section):
    tables: list[TableSize] = Field(min_length=1)
    decimals: list[Decimals]
    repeats: Count
    reference_rows: int = Field(ge=0)
    reference_cells: Count
    seconds: float = Field(gt=0)


class HousingBenchmark(Section):
    detection_blocks: Count
    top_blocks: Count


class Benchmark(Section):
    ingest: IngestBenchmark
    speed: SpeedBenchmark
    scaling: ScalingBenchmark
    rap: RapBenchmark
    cellbounds: CellboundsBenchmark
    housing: HousingBenchmark


class Cellbounds(Section):
    decimals: list[Decimals] = Field(min_length=1)


class Config(Section):
    seed: int = Field(ge=0, lt=2**64)
    microdata: Microdata
    sample: Sample
    release: ReleaseSettings
    program: ProgramSection
    generate: Generate
    verify: Verify
    persons: Persons
    raprank: RapRank
    cellbounds: Cellbounds
    housing: Housing
    privacy: Privacy
    protected: Protected
    explorer: Explorer
    benchmark: Benchmark
    releases: dict[Name, str]
    variants: dict[Name, dict[str, Any] | None] = Field(min_length=1)


class Variant(Section):
    """The sections that a variant can change, after its overrides."""

    release: ReleaseSettings
    program: ProgramSection
    generate: Generate
    verify: Verify
