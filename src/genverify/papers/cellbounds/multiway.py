"""Tables of several variables: counts by combination of levels, from records or from counts, and their marginals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path

import numpy as np
import pandas as pd

from genverify.core.arraytypes import Ints
from genverify.core.csvfile import Expected, need_columns, open_csv, refuse_row
from genverify.core.errors import DataError
from genverify.core.limits import LIMITS, FileLimits
from genverify.papers.cellbounds.conditional import aggregate

COUNT = "count"
MOST_CELLS = 2_000_000
LARGEST_TOTAL = 10**15


@dataclass(frozen=True)
class Multiway:
    """
    Counts of records by every combination of the levels of some variables.

    >>> table = Multiway(("A", "B"), (("a1", "a2"), ("b1", "b2")), np.array([[1, 2], [3, 4]]))
    >>> table.marginal(("B",)).counts.tolist(), table.total
    ([4, 6], 10)
    """

    names: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    counts: Ints

    @property
    def total(self) -> int:
        return int(self.counts.sum())

    def marginal(self, names: Sequence[str]) -> "Multiway":
        """The table of these variables alone, all others summed out."""
        summed = aggregate(self.counts, self.names, names, ())
        levels = tuple(self.levels[self.names.index(name)] for name in names)
        return Multiway(tuple(names), levels, summed.reshape([len(own) for own in levels]))


def read_multiway(path: Path, count: str | None = None, names: Sequence[str] = (), limits: FileLimits = LIMITS) -> Multiway:
    """
    A CSV file with a line per record, or per combination with its count in the column `count`; of the named columns only.

    Combinations that are not listed count 0; the counts of a repeated combination are added up.
    """
    frame = open_csv(path, Expected(limits=limits)).frame()
    column = count or (COUNT if COUNT in frame else None)
    if len(set(names)) < len(names):
        raise DataError(f"a variable is named twice among {', '.join(names)}")
    variables = list(names) or [str(name) for name in frame if name != column]
    need_columns(path, frame, [*variables, *([column] if column else [])])
    if not variables or frame.empty:
        raise DataError(f"{path}: an empty table ({len(frame)} lines, {len(variables)} variables): nothing to bound")
    weights = np.ones(len(frame), dtype=np.int64) if column is None else _counts(path, frame[column])
    return _count(path, frame[variables], weights)


def _counts(path: Path, column: "pd.Series[str]") -> Ints:
    wrong = ~column.str.strip().str.fullmatch(r"\+?\d{1,15}")
    refuse_row(path, column, wrong, "is not a whole number from 0, of at most 15 digits")
    counts = np.array(column.to_list(), dtype=np.int64)
    total = sum(counts.tolist())
    if total > LARGEST_TOTAL:
        raise DataError(f"{path}: the counts add up to {total:,}, more than {LARGEST_TOTAL:,}; check {column.name}")
    return counts


def _count(path: Path, frame: pd.DataFrame, weights: Ints) -> Multiway:
    for name in frame:
        refuse_row(
            path, frame[name], frame[name] == "", "is empty; give missing values a level of their own, e.g. `unknown`"
        )
    found = {str(name): sorted(frame[name].unique(), key=_order) for name in frame}
    check_size(found, str(path))
    shape = [len(levels) for levels in found.values()]
    places = [frame[name].map({level: place for place, level in enumerate(found[str(name)])}).to_numpy() for name in frame]
    counts = np.zeros(shape, dtype=np.int64)
    np.add.at(counts, tuple(places), weights)
    return Multiway(tuple(found), tuple(tuple(levels) for levels in found.values()), counts)


def _order(level: str) -> tuple[bool, float, str]:
    """Numbers by size, then words by the alphabet."""
    try:
        return False, float(level), level
    except ValueError:
        return True, 0.0, level


def check_size(levels: Mapping[str, Sequence[str]], where: str) -> None:
    """An error for more combinations than this program handles, with the variable that has the most levels."""
    cells = prod(len(own) for own in levels.values())
    if cells > MOST_CELLS:
        largest = max(levels, key=lambda name: len(levels[name]))
        raise DataError(
            f"{where}: {cells:,} combinations of levels, more than {MOST_CELLS:,}; {largest} alone has "
            f"{len(levels[largest]):,} levels. Bin it into fewer (age in years into age groups, say), or leave columns out."
        )
