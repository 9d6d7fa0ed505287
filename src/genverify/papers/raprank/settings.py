"""Settings of RAP-RANK: the optimiser, experiments, figures, the benchmark."""

from typing import Annotated, Any, Literal

from pydantic import Field

from genverify.core.closed import Name, Section


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


class RapBenchmark(Section):
    rows: int = Field(ge=1)
    ways: int = Field(ge=1)
    steps: int = Field(ge=1)
    queries_per_step: int = Field(ge=1)
    runs: int = Field(ge=1)
    blocks: int = Field(ge=1)
    of_blocks: int = Field(ge=1)
