"""Settings of RAP-RANK: the optimiser, experiments, figures, the benchmark."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, create_model, model_validator

from genverify.model.settings import Name, ReleaseSettings, Section, over_default


class RapSettings(Section):
    """
    How RAP optimises.

    A run stops after `steps`, as soon as its error is `tolerance` or less, or after `patience` checks in a row without an
    error that is smaller by the share `gain`; it is checked every `check_every` steps. The error is the root of the squared
    differences of all counts per row, which means the same for a block and for a tract, for few queries and for many. A step
    takes a random `share` of the queries. A random start has logits with the standard deviation `spread`; at a given start
    every cell has its own code with the probability `certainty`. A run that takes more than `memory` megabytes is refused.
    `rows`: rows of the relaxed dataset (null: as many as the area has, or its counts scaled); `draws`: rows that are drawn
    from it in a run (null: each relaxed row once).
    """

    rows: Annotated[int, Field(ge=1)] | None
    draws: Annotated[int, Field(ge=1)] | None

    learning_rate: float = Field(gt=0)
    steps: int = Field(ge=0)
    share: float = Field(gt=0, le=1)
    tolerance: float = Field(ge=0)
    check_every: int = Field(ge=1)
    patience: int = Field(ge=1)
    gain: float = Field(ge=0, lt=1)
    spread: float = Field(gt=0)
    certainty: float = Field(gt=0.5, lt=1)
    memory: int = Field(ge=1)


KINDS: Any = {name: (Annotated[field.annotation, field], None) for name, field in RapSettings.model_fields.items()}
CHANGES = create_model("RapChanges", __base__=Section, **KINDS)


def _check_changes(told: dict[str, Any]) -> dict[str, Any]:
    """Changes are of the kinds of RAP's settings: so a number that `--config` leaves a text is known to be one."""
    CHANGES.model_validate({name: value for name, value in told.items() if name in KINDS})
    return told


class WholeBlocks(Section):
    runs: int = Field(ge=1)


class TinyDomain(Section):
    sizes: list[Annotated[int, Field(ge=2, le=4)]] = Field(min_length=2, max_length=4)
    tables: list[list[Annotated[int, Field(ge=0, le=3)]]] = Field(min_length=1)
    records: int = Field(ge=1, le=8)


class Intuition(Section):
    """Equations 3 and 4 on tiny domains."""

    equations: TinyDomain
    frequency: TinyDomain
    datasets: int = Field(ge=1)
    runs: int = Field(ge=1)


class Publication(Section):
    """What is published about areas of an experiment, and how often RAP runs on each."""

    fivefold: float = Field(ge=0, le=1)
    states: Annotated[int, Field(ge=1)] | None
    tracts: Annotated[int, Field(ge=1)] | None
    limit: Annotated[int, Field(ge=2)] | None
    tables: Literal["all"] | list[str] | None
    block_tables: Literal["all"] | list[str] | None
    blocks: Literal["known", "learned"]
    marginals: Annotated[int, Field(ge=1)] | None
    starts: list[Literal["random", "holdout"]] = Field(min_length=1)
    runs: int = Field(ge=1)


class AnyExperiment(Publication):
    """What has a default for all experiments; `rap` is what they change in the settings of RAP."""

    rap: Annotated[dict[str, Any], AfterValidator(_check_changes)]


class Subject(Section):
    """What an experiment is about."""

    label: str
    data: Name
    areas: Literal["sample", "block", "tract", "state"]


class Experiment(Subject, AnyExperiment):
    """An experiment as it stands in the file of settings."""


class ResolvedExperiment(Subject, Publication):
    """An experiment as its jobs see it: all of RAP's settings, its universe and its tables among them."""

    name: Name
    rap: RapSettings
    release: ReleaseSettings
    keeps: str


class Survey(Section):
    """Files of persons, or, where none is named, the folder of a model and how many persons of each state it draws."""

    files: list[str]
    tasks_file: str
    model: str
    states: dict[Annotated[str, Field(pattern=r"^\d\d$")], Annotated[int, Field(ge=2)]] = Field(min_length=1)


class Convergence(Section):
    runs: int = Field(ge=1)
    steps: list[Annotated[int, Field(ge=1)]] = Field(min_length=1)


class RapRank(Section):
    rap: RapSettings
    release: WholeBlocks
    intuition: Intuition
    grid: int = Field(ge=1)
    batches: int = Field(ge=1)
    survey: Survey
    convergence: Convergence
    experiment: AnyExperiment
    experiments: dict[Name, Experiment]
    dose: list[Name] = Field(min_length=2)
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
    share: float = Field(gt=0, le=1)
    runs: int = Field(ge=1)
    blocks: int = Field(ge=1)
