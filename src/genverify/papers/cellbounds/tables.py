"""The tables of the cell-bounding paper: what is computed from its counts beside what it prints."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from genverify.core.errors import DataError
from genverify.core.files import read_yaml
from genverify.papers.cellbounds.conditional import Conditionals
from genverify.papers.cellbounds.exact import CellBounds, bound_cells
from genverify.papers.cellbounds.rounded import bound_rounded
from genverify.papers.cellbounds.rounding import Rounding
from genverify.papers.cellbounds.two_way import Printed
from genverify.papers.cellbounds.which import Explained, explain_rows

PAPER = "paper_"


def read_paper(path: Path, name: str) -> dict[str, Any]:
    """What the paper prints in one table."""
    text = read_yaml(path)
    if name not in text:
        raise DataError(f"{path}: no {name}; it holds {', '.join(text)}")
    table: dict[str, Any] = text[name]
    return table


def compare(counts: Printed, paper: Mapping[str, Any]) -> pd.DataFrame:
    """One line per row of the table: each number that the paper prints, ours before it, and whether they are equal."""
    table, N = counts.conditionals(), int(paper["N"])
    found, explained = bound_cells(table, N), explain_rows(table, N)
    lines = []
    for place, row in enumerate(table.rows):
        ours = {"N": int(counts.counts.sum()), "remainder": table.remainder(N)}
        ours |= _ours(counts, table, found, explained[place], place)
        printed = {"N": N, "remainder": paper["remainder"], **_printed(table, paper["rows"][row])}
        pairs = {key: (ours[key], value) for key, value in printed.items()}
        beside = {name: value for key, pair in pairs.items() for name, value in zip((key, PAPER + key), pair, strict=True)}
        equal = all(mine == value for mine, value in pairs.values())
        lines.append({"row": row, **beside, "disclosed_by": "; ".join(explained[place].disclosed_by), "equal": equal})
    return pd.DataFrame(lines)


def compare_rounded(printed: Printed, paper: Mapping[str, Any], rounding: Rounding) -> pd.DataFrame:
    """The same for conditionals that were rounded: bounds of every cell, ours and those that the paper's text implies."""
    found = bound_rounded(printed.rounded(rounding), int(paper["N"]))
    lines = []
    for place, row in enumerate(printed.rows):
        ends = zip(found.lower[place], found.upper[place], strict=True)
        ours = {column: _interval(*pair) for column, pair in zip(printed.columns, ends, strict=True)}
        said = {column: _interval(*pair) for column, pair in zip(printed.columns, paper["rows"][row]["bounds"], strict=True)}
        beside = {name: value for column in ours for name, value in ((column, ours[column]), (PAPER + column, said[column]))}
        lines.append(
            {"row": row, "N": paper["N"], **beside, "disclosed": bool(found.disclosed[place]), "equal": ours == said}
        )
    return pd.DataFrame(lines)


def _ours(counts: Printed, table: Conditionals, found: CellBounds, row: Explained, place: int) -> dict[str, Any]:
    """Everything that the paper could print of a row."""
    total, ends = int(counts.counts[place].sum()), zip(found.lower[place], found.upper[place], strict=True)
    return {
        "sum": total,
        "divisor": total // row.r if row.r else 0,
        "reduced_sum": row.r,
        "least": row.multipliers.least,
        "least_by": _named(row.least_by),
        "greatest": row.multipliers.greatest,
        "greatest_by": _named(row.greatest_by),
        "total": _interval(found.least_totals[place], found.greatest_totals[place]),
        **{column: _interval(low, high) for column, (low, high) in zip(table.columns, ends, strict=True)},
    }


def _printed(table: Conditionals, row: Mapping[str, Any]) -> dict[str, Any]:
    plain = {key: _interval(*value) if key == "total" else value for key, value in row.items() if key != "bounds"}
    return plain | {column: _interval(*ends) for column, ends in zip(table.columns, row["bounds"], strict=True)}


def _interval(low: int, high: int) -> str:
    return f"[{low}, {high}]"


def _named(results: tuple[str, ...]) -> str:
    """The results as the paper writes them, without the part of a proposition."""
    return ",".join(f"({result.split(' ')[0]})" for result in results)


def bounded_cells(counts: Printed, name: str, decimals: Sequence[int]) -> pd.DataFrame:
    """One line per cell and way of publishing (exact or rounded conditionals): true count, bounds, disclosed or not."""
    N = int(counts.counts.sum())
    frames = [_cells(counts, bound_cells(counts.conditionals(), N)).assign(conditionals="exact")]
    for d in decimals:
        found = bound_rounded(counts.rounded(Rounding(d)), N)
        frames.append(_cells(counts, found).assign(conditionals=str(d)))
    return pd.concat(frames, ignore_index=True).assign(table=name)


def _cells(counts: Printed, found: CellBounds) -> pd.DataFrame:
    """One line per cell, row by row."""
    rows, columns = found.lower.shape
    return pd.DataFrame(
        {
            "row": np.repeat(found.rows, columns),
            "column": np.tile(found.columns, rows),
            "count": counts.counts.ravel(),
            "lower": found.lower.ravel(),
            "upper": found.upper.ravel(),
            "disclosed": np.repeat(found.disclosed, columns),
        }
    )
