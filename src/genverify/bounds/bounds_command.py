"""Bounds of the cells of a DataFrame, and the command `bounds`."""

import argparse
import csv
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from io import StringIO
from itertools import chain, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from genverify.bounds import exact
from genverify.bounds.count_tables import PrintedTwoWay, read_multiway, read_printed
from genverify.bounds.propositions import explain_rows, named, redesign
from genverify.model.errors import ConfigError, refusing
from genverify.model.files import LIMITS, FileLimits
from genverify.model.tablefiles import neutral
from genverify.model.work import CellProgress


def bound_cells(table: pd.DataFrame, N: int) -> pd.DataFrame:
    """
    The least and the greatest count of every cell, from what is published of each row: counts in their proportions, or
    fractions such as "3/20". N is the number of records.

    >>> bound_cells(pd.DataFrame({"yes": ["1/2", "1/3"], "no": ["1/2", "2/3"]}, index=["old", "young"]), 10)
         row column  lower  upper
    0    old    yes      2      2
    1    old     no      2      2
    2  young    yes      2      2
    3  young     no      4      4
    """
    rows, columns = tuple(map(str, table.index)), tuple(map(str, table.columns))
    cells = tuple(tuple(Fraction(str(value)) for value in row) for row in table.to_numpy())
    whole = all(pd.api.types.is_integer_dtype(kind) for kind in table.dtypes)
    head, *lines = _bounds_rows(exact.exact_bounds(PrintedTwoWay(rows, columns, cells, whole).conditionals(), N))
    return pd.DataFrame(lines, columns=list(head))


# The command `bounds`: exact bounds of cell counts from conditionals or marginals, as CSV on the standard output.

Rows = Iterator[Sequence[Any]]
EXAMPLES = """
P(column | row) as counts, fractions (3/20) or decimals (0.15), and the number of records:
  genverify bounds table.csv --given rows --total 135
  genverify bounds table.csv --given rows --total 135 --decimals 3         (values rounded to 3 decimals)
  genverify bounds counts.csv --given rows --redesign --small 3            (which rows or columns to merge, section 4.1)
  genverify bounds table.csv --given rows --total 130 --prior Alpha Low 0 28 --show totals
  table.csv:   education,Low,Medium        (labels first; a table of whole numbers is read as counts)
               Alpha,3/4,1/4

P(smokes | sex, age) of a table of several variables (a line per person, or per combination with a column `count`);
variables that are not named are summed out:
  genverify bounds people.csv --given sex,age --response smokes

Every cell of a table of several variables from its marginals, tabulated here, or published (one file each, column `count`):
  genverify bounds people.csv --marginals sex,age --marginals age,smokes
  genverify bounds sex_age.csv age_smokes.csv
"""


def add_parser(commands: Any) -> None:
    """Register the command."""
    what = "Exact bounds of every cell count, over all tables that fit what is published. Prints CSV."
    parser = commands.add_parser("bounds", description=what, epilog=EXAMPLES,
                                 formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("tables", type=Path, nargs="+", metavar="table.csv", help="a table; several: published marginals")
    parser.add_argument("--given", help="what the conditionals are given: rows, columns, or variables as A,B")
    parser.add_argument("--response", help="with --given A,B: the variables whose conditional frequencies are published")
    parser.add_argument("--total", type=int, metavar="N", help="number of records (default for counts: their sum)")
    parser.add_argument("--decimals", type=int, metavar="d", help="the conditionals are rounded to d decimals")
    parser.add_argument("--rounding", choices=exact.RULES, default="nearest",
                        help="how they were rounded (%(default)s: ties either way; either: up or down)")  # fmt: skip
    parser.add_argument("--prior", nargs=4, action="append", default=[], metavar=("ROW", "COLUMNS", "LOWER", "UPPER"),
                        help="known beforehand: bounds on a sum of cells C1,C2 of what is given; - for none")  # fmt: skip
    parser.add_argument("--marginals", action="append", default=[], metavar="A,B", help="variables of a released marginal")
    parser.add_argument("--count", metavar="COLUMN", help="the column of counts in a table of several variables (count)")
    parser.add_argument("--show", choices=("bounds", "totals", "disclosure"), default="bounds",
                        help="cell bounds; every possible row total; what discloses each row (%(default)s)")  # fmt: skip
    parser.add_argument("--redesign", action="store_true",
                        help="merge rows or columns of counts until the conditionals disclose no row")  # fmt: skip
    parser.add_argument("--small", type=int, metavar="n", help="with --redesign: only counts up to n must not be disclosed")
    parser.add_argument("--neighbours", action="store_true", help="with --redesign: merge neighbours only")
    parser.add_argument("--seconds", type=float, default=120.0,
                        help="work with marginals, counted: about so many seconds of one core (%(default)s)")  # fmt: skip
    parser.add_argument("--max-rows", type=int, default=LIMITS.rows, metavar="N", help="rows of a table (%(default)s)")
    parser.add_argument("--max-bytes", type=int, default=LIMITS.size, metavar="N", help="bytes of a table (%(default)s)")
    parser.set_defaults(run=run, prints="csv")


def run(options: argparse.Namespace) -> None:
    """Print the rows that were asked for."""
    if options.given is None:
        result = _marginal_rows(options)
    elif options.marginals or len(options.tables) > 1:
        raise ConfigError("--given goes with one table and without --marginals")
    elif options.response is None:
        result = _two_way_rows(options)
    else:
        result = _several_rows(options)
    text = StringIO()
    with refusing(MemoryError, "the possible totals do not fit into memory", "give a smaller --total"):
        rows = ([neutral(cell) if isinstance(cell, str) else cell for cell in row] for row in result)
        csv.writer(text, lineterminator="\n").writerows(rows)
    print(text.getvalue(), end="", flush=True)


def _two_way_rows(options: argparse.Namespace) -> Rows:
    """A two-way table as it stands in its file; with --given columns, worked on with rows and columns exchanged."""
    if options.given not in ("rows", "columns"):
        raise ConfigError(f"--given {options.given}: give rows or columns, or variables together with --response")
    turn, printed = options.given == "columns", read_printed(options.tables[0], _limits(options))
    table = printed.turned() if turn else printed
    if options.redesign:
        return _redesign_rows(options, table)
    rows = _answers(options, table, options.tables[0])
    if turn and options.show == "bounds":
        head, *lines = rows
        return iter([head, *((column, row, low, high) for row, column, low, high in lines)])
    return rows


def _redesign_rows(options: argparse.Namespace, table: PrintedTwoWay) -> Rows:
    if not table.whole:
        raise ConfigError(f"--redesign needs counts: {options.tables[0]} holds fractions, which cannot be added up")
    if options.small is not None and options.small < 1:
        raise ConfigError(f"--small {options.small}: give a count from 1")
    yield "merges", "disclosed_cells", "fewest", "rows_merged", "columns_merged"
    for step in redesign(table.counts, options.small, options.neighbours):
        merged = (named(step.design.rows, table.rows), named(step.design.columns, table.columns))
        yield step.design.merges(*table.counts.shape), step.disclosed, step.fewest, *merged


def _several_rows(options: argparse.Namespace) -> Rows:
    """A table of several variables as a two-way one; combinations of the given variables without records are left out."""
    given, response = options.given.split(","), options.response.split(",")
    table = read_multiway(options.tables[0], options.count, [*given, *response], _limits(options))
    counts = exact.aggregate(table.counts, table.names, given, response)
    rest = counts.sum(axis=1) > 0
    split = len(given)
    rows = [",".join(level) for level, some in zip(product(*table.levels[:split]), rest, strict=True) if some]
    columns = [",".join(level) for level in product(*table.levels[split:])]
    cells = tuple(tuple(map(Fraction, row)) for row in counts[rest].tolist())
    return _answers(options, PrintedTwoWay(tuple(rows), tuple(columns), cells, whole=True), options.tables[0])


def _answers(options: argparse.Namespace, table: PrintedTwoWay, path: Path) -> Rows:
    N = _total(options, table, path)
    priors = [_prior(table, *words) for words in options.prior]
    if options.decimals is None:
        return _exact_rows(table, N, priors, options.show)
    if priors:
        raise ConfigError("--prior goes with exact fractions, not with --decimals")
    return _rounded_rows(table, N, exact.Rounding(options.decimals, options.rounding), options.show)


def _total(options: argparse.Namespace, table: PrintedTwoWay, path: Path) -> int:
    summed = int(table.counts.sum()) if table.whole else None
    if options.total is None and summed is None:
        raise ConfigError("--total N is needed: fractions do not tell the number of records")
    N = int(options.total if summed is None or options.total is not None else summed)
    exact.check_N(N)
    table.check_total(N)
    if summed is not None and summed != N:
        print(f"note: the counts of {path} sum to {summed}, not to {N}: they are read as proportions", file=sys.stderr)
    return N


def _prior(table: PrintedTwoWay, row: str, columns: str, lower: str, upper: str) -> exact.Prior:
    for text in (text for text in (lower, upper) if text != "-" and not text.isdecimal()):
        said = f"--prior {row} {columns} {lower} {upper}"
        raise ConfigError(f"{said}: {text!r} is not a whole number (nor -, for no bound)")
    ends = [None if text == "-" else int(text) for text in (lower, upper)]
    return exact.Prior(row, (columns,) if columns in table.columns else tuple(columns.split(",")), *ends)


def _exact_rows(table: PrintedTwoWay, N: int, priors: Sequence[exact.Prior], show: str) -> Rows:
    known = table.conditionals()
    if show == "totals":
        yield "row", "multiplier", "total"
        for row, r, result in zip(known.rows, known.sums.tolist(), exact.row_multipliers(known, N, priors), strict=True):
            yield from ((row, nu, r * (nu + 1)) for nu in result.values)
    elif show == "disclosure":
        yield "row", "reduced_sum", "least_multiplier", "least_by", "greatest_multiplier", "greatest_by", "disclosed_by"
        for one in explain_rows(known, N, priors):
            least, greatest, disclosed = ("; ".join(by) for by in (one.least_by, one.greatest_by, one.disclosed_by))
            yield one.row, one.r, one.multipliers.least, least, one.multipliers.greatest, greatest, disclosed
    else:
        yield from _bounds_rows(exact.exact_bounds(known, N, priors))


def _rounded_rows(table: PrintedTwoWay, N: int, rounding: exact.Rounding, show: str) -> Rows:
    known = table.rounded(rounding)
    if show == "totals":
        yield "row", "total"
        for row, totals in zip(known.rows, exact.rounded_totals(known, N), strict=True):
            yield from ((row, int(total)) for total in totals)
    elif show == "disclosure":
        result = exact.bound_rounded(known, N)
        yield "row", "least_total", "greatest_total", "disclosed"
        ends = (result.least_totals.tolist(), result.greatest_totals.tolist(), result.disclosed.tolist())
        yield from zip(result.rows, *ends, strict=True)
    else:
        yield from _bounds_rows(exact.bound_rounded(known, N))


def _bounds_rows(result: exact.CellBounds) -> Rows:
    yield "row", "column", "lower", "upper"
    for row, lower, upper in zip(result.rows, result.lower.tolist(), result.upper.tolist(), strict=True):
        yield from ((row, *cell) for cell in zip(result.columns, lower, upper, strict=True))


def _marginal_rows(options: argparse.Namespace) -> Rows:
    from genverify.bounds.marginals import bound_marginals
    from genverify.solve.linear.search import Work

    full = None
    if options.marginals and len(options.tables) == 1:
        sets = [text.split(",") for text in options.marginals]
        full = read_multiway(options.tables[0], options.count, list(dict.fromkeys(chain(*sets))), _limits(options))
        marginals = [full.marginal(names) for names in sets]
    elif len(options.tables) > 1 and not options.marginals:
        marginals = [read_multiway(path, options.count, (), _limits(options)) for path in options.tables]
    else:
        raise ConfigError("say --given rows (a table of conditionals), --marginals A,B (of one table), or name several")
    result = bound_marginals(marginals, Work(seconds=options.seconds), full, CellProgress())
    open_ = int((~result.exact).sum())
    if open_:
        print(
            f"note: {open_} of {result.exact.size} cells are open: {result.limit or 'no proof'}. The bounds hold (proofs "
            "checked), but may be too wide; --seconds allows more work",
            file=sys.stderr,
        )
    words = np.where(result.exact, "yes", np.where(result.uncertified, "uncertified", "no"))
    yield *result.names, "lower", "upper", "exact"
    for cell, low in np.ndenumerate(result.lower):
        levels = (level[index] for level, index in zip(result.levels, cell, strict=True))
        yield *levels, int(low), int(result.upper[cell]), str(words[cell])


def _limits(options: argparse.Namespace) -> FileLimits:
    return replace(LIMITS, rows=options.max_rows, size=options.max_bytes)
