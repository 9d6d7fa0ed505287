"""Settings of the benchmark of audits."""

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
