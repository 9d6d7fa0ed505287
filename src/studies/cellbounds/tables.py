"""The tables of the cell-bounding paper and what its text says of them, beside ours."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from genverify.bounds.count_tables import PrintedTwoWay
from genverify.bounds.exact import (
    CellBounds,
    Conditionals,
    Multipliers,
    Prior,
    Rounding,
    bound_rounded,
    exact_bounds,
    row_multipliers,
)
from genverify.bounds.propositions import (
    RowExplanation,
    disclosed_cells,
    explain_rows,
    named,
    proposition_3_1,
    proposition_3_2b,
    proposition_3_2c,
    proposition_3_2d,
    redesign,
)
from genverify.model.errors import DataError
from genverify.model.files import read_yaml
from genverify.report.pages import statements_table

# The tables of the cell-bounding paper: what is computed from its counts beside what it prints.

PAPER = "paper_"


def read_paper(path: Path, name: str) -> dict[str, Any]:
    text = read_yaml(path)
    if name not in text:
        raise DataError(f"{path}: no {name}; it holds {', '.join(text)}")
    table: dict[str, Any] = text[name]
    return table


def compare(counts: PrintedTwoWay, paper: Mapping[str, Any]) -> pd.DataFrame:
    """One line per row of the table: each number that the paper prints, ours before it, and whether they are equal."""
    table, N = counts.conditionals(), int(paper["N"])
    result, explained = exact_bounds(table, N), explain_rows(table, N)
    lines = []
    for index, row in enumerate(table.rows):
        ours = {"N": int(counts.counts.sum()), "remainder": table.remainder(N)}
        ours |= _ours(counts, table, result, explained[index], index)
        printed = {"N": N, "remainder": paper["remainder"], **_printed(table, paper["rows"][row])}
        pairs = {key: (ours[key], value) for key, value in printed.items()}
        beside = {name: value for key, pair in pairs.items() for name, value in zip((key, PAPER + key), pair, strict=True)}
        equal = all(mine == value for mine, value in pairs.values())
        lines.append({"row": row, **beside, "disclosed_by": "; ".join(explained[index].disclosed_by), "equal": equal})
    return pd.DataFrame(lines)


def compare_rounded(printed: PrintedTwoWay, paper: Mapping[str, Any], rounding: Rounding) -> pd.DataFrame:
    """The same for conditionals that were rounded: bounds of every cell, ours and those that the paper's text implies."""
    result = bound_rounded(printed.rounded(rounding), int(paper["N"]))
    lines = []
    for index, row in enumerate(printed.rows):
        ends = zip(result.lower[index], result.upper[index], strict=True)
        ours = {column: _interval(*pair) for column, pair in zip(printed.columns, ends, strict=True)}
        said = {column: _interval(*pair) for column, pair in zip(printed.columns, paper["rows"][row]["bounds"], strict=True)}
        beside = {name: value for column in ours for name, value in ((column, ours[column]), (PAPER + column, said[column]))}
        known = {"disclosed": bool(result.disclosed[index]), "equal": ours == said}
        lines.append({"row": row, "N": paper["N"], **beside, **known})
    return pd.DataFrame(lines)


def _ours(counts: PrintedTwoWay, table: Conditionals, result: CellBounds, row: RowExplanation, index: int) -> dict[str, Any]:
    total, ends = int(counts.counts[index].sum()), zip(result.lower[index], result.upper[index], strict=True)
    ours: dict[str, Any] = {"sum": total, "divisor": total // row.r if row.r else 0, "reduced_sum": row.r}
    ours |= {"least": row.multipliers.least, "least_by": _named(row.least_by)}
    ours |= {"greatest": row.multipliers.greatest, "greatest_by": _named(row.greatest_by)}
    ours["total"] = _interval(result.least_totals[index], result.greatest_totals[index])
    return ours | {column: _interval(*pair) for column, pair in zip(table.columns, ends, strict=True)}


def _printed(table: Conditionals, row: Mapping[str, Any]) -> dict[str, Any]:
    plain = {key: _interval(*value) if key == "total" else value for key, value in row.items() if key != "bounds"}
    return plain | {column: _interval(*ends) for column, ends in zip(table.columns, row["bounds"], strict=True)}


def _interval(low: int, high: int) -> str:
    return f"[{low}, {high}]"


def _named(results: tuple[str, ...]) -> str:
    return ",".join(f"({result.split(' ')[0]})" for result in results)


def bounded_cells(counts: PrintedTwoWay, name: str, decimals: Sequence[int]) -> pd.DataFrame:
    """One line per cell and way of publishing (exact or rounded conditionals): true count, bounds, disclosed or not."""
    N = int(counts.counts.sum())
    frames = [_cells(counts, exact_bounds(counts.conditionals(), N)).assign(conditionals="exact")]
    for d in decimals:
        result = bound_rounded(counts.rounded(Rounding(d)), N)
        frames.append(_cells(counts, result).assign(conditionals=str(d)))
    return pd.concat(frames, ignore_index=True).assign(table=name)


def _cells(counts: PrintedTwoWay, bounds: CellBounds) -> pd.DataFrame:
    rows, columns = bounds.lower.shape
    cells = {"row": np.repeat(bounds.rows, columns), "column": np.tile(bounds.columns, rows)}
    cells |= {"count": counts.counts.ravel(), "lower": bounds.lower.ravel(), "upper": bounds.upper.ravel()}
    return pd.DataFrame(cells | {"disclosed": np.repeat(bounds.disclosed, columns)})


# What the text of the cell-bounding paper says about its Tables 1, 2, 3, 6, 7 and 9, computed again from their counts.

Tables = Mapping[str, PrintedTwoWay]
SMALL = 3  # the largest of the counts that `table7_small` counts
CONSISTENT = Rounding(3, "either")
TOTALS = {"table1": 135, "table2": 130, "table6": 1055, "table7": 193, "table9": 1841}  # n, as the paper prints it


def solutions(r: list[int], remainder: int) -> int:
    """How many nonnegative nu satisfy sum r_i nu_i = N - R (7): the number of tables with these conditionals."""
    ways = [1] + [0] * remainder
    for r_i in r:
        for reached in range(r_i, remainder + 1):
            ways[reached] += ways[reached - r_i]
    return ways[remainder]


def _known(tables: Tables, name: str) -> Conditionals:
    return tables[name].conditionals()


def _remainder(tables: Tables, name: str) -> int:
    return _known(tables, name).remainder(TOTALS[name])


def _solutions(tables: Tables, name: str) -> int:
    return solutions(_known(tables, name).sums.tolist(), _remainder(tables, name))


def _disclosed_rows(tables: Tables, name: str) -> str:
    result = exact_bounds(_known(tables, name), TOTALS[name])
    return _listed(index + 1 for index, flag in enumerate(result.disclosed) if flag)


def _listed(rows: Any) -> str:
    return ", ".join(map(str, sorted(rows))) or "none"


def possible_totals(table: Conditionals, N: int) -> list[list[int]]:
    """Every value that the total of each row can take, r_i (nu_i + 1)."""
    return [[int(r) * (nu + 1) for nu in row.values] for r, row in zip(table.sums, row_multipliers(table, N), strict=True)]


def _possible(tables: Tables, name: str, row: int) -> str:
    return _listed(possible_totals(_known(tables, name), TOTALS[name])[row - 1])


def _with_prior(tables: Tables) -> str:
    """Table 2, known that the first cell is at most 28: the counts of its row, where they are known then."""
    known = _known(tables, "table2")
    result = exact_bounds(known, TOTALS["table2"], [Prior(known.rows[0], (known.columns[0],), None, 28)])
    ends = zip(result.lower[0].tolist(), result.upper[0].tolist(), strict=True)
    return ", ".join(str(low) if low == high else f"[{low}, {high}]" for low, high in ends)


def _rounded(tables: Tables) -> str:
    """Rows of Table 3 whose cells are all known, and equal to those of Table 1."""
    result, counts = bound_rounded(tables["table3"].rounded(CONSISTENT), TOTALS["table1"]), tables["table1"].counts
    same = (result.lower == counts).all(axis=1) & (result.upper == counts).all(axis=1)
    return _listed(index + 1 for index, flag in enumerate(same) if flag)


def _by(tables: Tables, name: str, result: Callable[[list[int], int], set[int]]) -> str:
    return _listed(index + 1 for index in result(_known(tables, name).sums.tolist(), _remainder(tables, name)))


def _further(r: list[int], remainder: int) -> set[int]:
    """Rows disclosed by (d) and by neither (b) nor (c)."""
    return proposition_3_2d(r, remainder) - proposition_3_2b(r, remainder) - proposition_3_2c(r, remainder)


def _multipliers(tables: Tables, name: str) -> list[Multipliers]:
    return row_multipliers(_known(tables, name), TOTALS[name])


def _sixth_multiplier(tables: Tables) -> str:
    result = _multipliers(tables, "table6")[3]
    return str(result.least) if result.unique else f"{result.least} to {result.greatest}"


def _greatest(tables: Tables) -> int:
    return proposition_3_1(_known(tables, "table7").sums.tolist(), _remainder(tables, "table7")).upper[4]


COMPUTED: Mapping[str, Callable[[Tables], Any]] = {
    "table1_denominators": lambda tables: _known(tables, "table1").total,
    "table1_remainder": partial(_remainder, name="table1"),
    "table1_solutions": partial(_solutions, name="table1"),
    "table1_disclosed": partial(_disclosed_rows, name="table1"),
    "table2_denominators": lambda tables: _known(tables, "table2").total,
    "table2_remainder": partial(_remainder, name="table2"),
    "table2_solutions": partial(_solutions, name="table2"),
    "table2_disclosed": partial(_disclosed_rows, name="table2"),
    "table2_first_row": partial(_possible, name="table2", row=1),
    "table2_prior": _with_prior,
    "table3_disclosed": _rounded,
    "table2_3_2c": partial(_by, name="table2", result=proposition_3_2c),
    "table2_3_2d": partial(_by, name="table2", result=_further),
    "table6_3_2b": partial(_by, name="table6", result=proposition_3_2b),
    "table6_disclosed": partial(_disclosed_rows, name="table6"),
    "table6_multiplier": _sixth_multiplier,
    "table7_greatest": _greatest,
    "table7_3_2c": partial(_by, name="table7", result=proposition_3_2c),
    "table7_3_2d": partial(_by, name="table7", result=_further),
    "table7_first_sum": lambda tables: int(_known(tables, "table7").sums[0]),
    "table7_small": lambda tables: disclosed_cells(tables["table7"].counts, SMALL),
    "table7_zeros": lambda tables: int((tables["table7"].counts == 0).sum()),
    "table9_least": lambda tables: _listed({row.least for row in _multipliers(tables, "table9")}),
    "table9_disclosed": partial(_disclosed_rows, name="table9"),
}


def sentences_table(tables: Tables, sentences: Mapping[str, Mapping[str, Any]], label: str) -> pd.DataFrame:
    """Every sentence: what the paper says, what follows from its counts, whether they are equal, and what is odd."""

    def rows(key: str, entry: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        ours, paper = str(COMPUTED[key](tables)), str(entry["paper"])
        yield {"paper": paper, "ours": ours, "equal": ours == paper, "note": entry.get("note", "")}

    return statements_table(sentences, COMPUTED, rows, label)


def redesign_table(tables: Mapping[str, PrintedTwoWay], smalls: Sequence[int | None]) -> pd.DataFrame:
    """A line per table, way to merge and what counts: cells disclosed before, and the design that discloses none."""
    lines = []
    for name, printed in tables.items():
        for small in smalls:
            for ordered in (False, True):
                steps = list(redesign(printed.counts, small, ordered))
                last, shape = steps[-1], printed.counts.shape
                lines.append({
                    "table": name, "rows": shape[0], "columns": shape[1],
                    "counts": "any" if small is None else f"up to {small}",
                    "merged": "neighbours" if ordered else "any", "disclosed_before": steps[0].disclosed,
                    "disclosed_after": last.disclosed, "merges": last.design.merges(*shape), "fewest": last.fewest,
                    "merged_rows": named(last.design.rows, printed.rows),
                    "merged_columns": named(last.design.columns, printed.columns),
                })  # fmt: skip
    return pd.DataFrame(lines)
