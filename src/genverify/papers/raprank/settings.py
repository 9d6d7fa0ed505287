"""Settings of RAP-RANK: the optimiser, experiments, figures, the benchmark."""

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from genverify.core.closed import Name, Section, over_default


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


class AnyExperiment(Section):
    """What has a default for all experiments."""

    states: Annotated[int, Field(ge=1)] | None
    limit: Annotated[int, Field(ge=2)] | None
    tables: Literal["all"] | list[str] | None
    block_tables: Literal["all"] | list[str] | None
    marginals: Annotated[int, Field(ge=1)] | None
    starts: list[Literal["random", "holdout"]] = Field(min_length=1)
    runs: int = Field(ge=1)
    rap: dict[str, Any]


class Experiment(AnyExperiment):
    label: str
    data: Name
    areas: Literal["sample", "block", "tract", "state"]


class Survey(Section):
    files: list[str]
    tasks_file: str


class RapRank(Section):
    rap: Rap
    release: WholeBlocks
    grid: int = Field(ge=1)
    batches: int = Field(ge=1)
    survey: Survey
    experiment: AnyExperiment
    experiments: dict[Name, Experiment]
    figures: dict[Name, Annotated[list[str], Field(min_length=1)]]

    @model_validator(mode="before")
    @classmethod
    def _resolve(cls, text: Any) -> Any:
        """An experiment is a name, what it is about, and what it changes in `experiment`."""
        return over_default(text, "experiment", "experiments", AnyExperiment)


class RapBenchmark(Section):
    rows: int = Field(ge=1)
    ways: int = Field(ge=1)
    steps: int = Field(ge=1)
    queries_per_step: int = Field(ge=1)
    runs: int = Field(ge=1)
    blocks: int = Field(ge=1)
    of_blocks: int = Field(ge=1)
