"""Settings of the cell bounds."""

from typing import Annotated

from pydantic import Field

from genverify.model.settings import Count, Decimals, Name, Section


class TableSize(Section):
    rows: Count
    columns: Count
    records: Count


class Shape(Section):
    """A table that the paper tested: levels of its variables, records, a user's files, and numbers of response variables."""

    levels: list[Annotated[int, Field(ge=2)]] = Field(min_length=2, max_length=20)
    records: Count
    files: list[str]
    adult: bool
    responses: list[Count] = Field(min_length=1)


class CellboundsBenchmark(Section):
    tables: list[TableSize] = Field(min_length=1)
    decimals: list[Decimals]
    repeats: Count
    reference_rows: int = Field(ge=0)
    reference_cells: Count
    seconds: float = Field(gt=0)
    shapes: dict[Name, Shape]


class MarginalCase(Section):
    """A synthetic table: levels of its variables, its records, and all marginals of so many variables."""

    levels: list[Annotated[int, Field(ge=2)]] = Field(min_length=2, max_length=20)
    records: Count
    way: Count


class MarginalsBenchmark(Section):
    cases: dict[Name, MarginalCase] = Field(min_length=1)
    seconds: float = Field(gt=0)
    reference_cells: Count
    reference_up_to: Count
    reference_seconds: float = Field(gt=0)


class Cellbounds(Section):
    decimals: list[Decimals] = Field(min_length=1)
    small: list[Count | None] = Field(min_length=1)
