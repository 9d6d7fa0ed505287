"""Settings of the cell bounds."""

from pydantic import Field

from genverify.core.closed import Count, Decimals, Section


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


class Cellbounds(Section):
    decimals: list[Decimals] = Field(min_length=1)
