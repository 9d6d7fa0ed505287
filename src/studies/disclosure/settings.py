"""Settings of rounded counts of areas, and of the benchmarks of audits."""

from pydantic import Field

from genverify.model.settings import Count, Name, Section


class TractCase(Section):
    """A synthetic tract as a program in a file: blocks, persons in each on average, whether tables by year are published."""

    blocks: Count
    persons: Count
    by_year: bool


class DisclosureBenchmark(Section):
    people: list[Count] = Field(min_length=1)
    tracts: dict[Name, TractCase] = Field(min_length=1)
    seconds: float = Field(gt=0)


class TableCase(Section):
    """Synthetic tables: axes as numbers of parts at each level, the axes of every table, the mean of the smallest counts."""

    axes: list[list[Count]] = Field(min_length=1)
    tables: list[list[int]] = Field(min_length=1)
    mean: float = Field(gt=0)
    suppressed: float = Field(default=0.4, gt=0, lt=1)


class SuppressionBenchmark(Section):
    """Tables whose suppression is compared, and shapes whose audits are: `tables` random ones of each."""

    minimum: Count
    cases: dict[Name, TableCase] = Field(min_length=1)
    most_cells: Count
    audited: dict[Name, TableCase] = Field(min_length=1)
    tables: Count
    gconfid: str = ""  # a Python that has its package


class TablesBenchmark(Section):
    """Square tables of so many rows, the share suppressed, and up to how many cells a program for each end is timed."""

    rows: list[Count] = Field(min_length=1)
    mean: float = Field(gt=0)
    suppressed: float = Field(gt=0, lt=1)
    one_by_one: int = Field(ge=0)
    before: str | None


class AreaSettings(Section):
    """The study of rounded counts of areas: see config/nz.yaml."""

    tables: str
    counts: str | None
    larger: str | None
    areas: str | None
    area: str
    inside: str
    batches: int = Field(ge=1, le=1000)
    seconds: float = Field(gt=0, allow_inf_nan=False)
