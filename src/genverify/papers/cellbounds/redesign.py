"""
Redesign of a table (sections 1.1, 3.1 and 4.1): merge rows or columns until its conditionals disclose no row.

Designs are searched by the number of merges, all with one merge before those with two. Of each number the most promising
are followed (fewest disclosed cells, then most cells left): as long as none had to be dropped, the first design that
discloses nothing has the fewest merges that any can have; the result says whether that was so.

Two columns at least are kept: with one, the conditionals are all 1 and say nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from genverify.core.arraytypes import Ints
from genverify.core.errors import DataError
from genverify.papers.cellbounds.conditional import conditionals_of_counts
from genverify.papers.cellbounds.exact import bound_cells
from genverify.papers.cellbounds.two_way import Printed

Parts = tuple[tuple[int, ...], ...]
FOLLOWED = 200
LEAST = 2


@dataclass(frozen=True)
class Design:
    """
    Which rows and which columns stand together.

    >>> one = Design(((0,), (1, 2)), ((0,), (1,)))
    >>> one.counts(np.array([[1, 2], [3, 4], [5, 6]])).tolist(), one.merges(3, 2)
    ([[1, 2], [8, 10]], 1)
    """

    rows: Parts
    columns: Parts

    def counts(self, counts: Ints) -> Ints:
        merged: Ints = np.stack([counts[list(part)].sum(axis=0) for part in self.rows])
        return np.stack([merged[:, list(part)].sum(axis=1) for part in self.columns], axis=1)

    def merges(self, rows: int, columns: int) -> int:
        return rows - len(self.rows) + columns - len(self.columns)

    @property
    def cells(self) -> int:
        return len(self.rows) * len(self.columns)


@dataclass(frozen=True)
class Redesigned:
    """A design, how many cells it discloses, and whether no design with as few merges discloses fewer."""

    design: Design
    disclosed: int
    fewest: bool


def disclosed_cells(counts: Ints, small: int | None) -> int:
    """Nonzero cells of disclosed rows; with `small`, only those whose count is at most that."""
    rows, columns = (list(map(str, range(size))) for size in counts.shape)
    found = bound_cells(conditionals_of_counts(rows, columns, counts), int(counts.sum()))
    cells = counts[found.disclosed]
    return int(((cells > 0) & (cells <= (small or cells.max(initial=0)))).sum())


def redesign(
    counts: Ints, small: int | None = None, ordered: bool = False, followed: int = FOLLOWED
) -> Iterator[Redesigned]:
    """
    The best design for every number of merges from none on, until one discloses nothing or nothing is left to merge.

    `ordered`: only neighbours are merged, as categories with an order are.
    """
    if not counts.sum():
        raise DataError("a table without records has nothing to disclose: check its counts")
    level, fewest = [Design(_single(counts.shape[0]), _single(counts.shape[1]))], True
    while level:
        scored = sorted(((disclosed_cells(one.counts(counts), small), -one.cells, place) for place, one in enumerate(level)))
        disclosed, _, place = scored[0]
        yield Redesigned(level[place], disclosed, fewest)
        if not disclosed:
            return
        fewest = fewest and len(scored) <= followed
        kept = [level[place] for _, _, place in scored[:followed]]
        level = list(dict.fromkeys(after for one in kept for after in _merged(one, ordered)))


def _single(size: int) -> Parts:
    return tuple((place,) for place in range(size))


def _merged(design: Design, ordered: bool) -> Iterator[Design]:
    """Every design with one merge more."""
    for rows in _joined(design.rows, ordered):
        yield Design(rows, design.columns)
    if len(design.columns) > LEAST:
        for columns in _joined(design.columns, ordered):
            yield Design(design.rows, columns)


def _joined(parts: Parts, ordered: bool) -> Iterator[Parts]:
    for first, second in combinations(range(len(parts)), 2):
        if not ordered or second == first + 1:
            rest = [part for place, part in enumerate(parts) if place not in (first, second)]
            yield tuple(sorted([*rest, tuple(sorted(parts[first] + parts[second]))]))


def named(parts: Parts, labels: Sequence[str]) -> str:
    """The merged groups in words; the groups of one are left out."""
    return "; ".join(" + ".join(labels[place] for place in part) for part in parts if len(part) > 1)


def redesign_table(tables: Mapping[str, Printed], smalls: Sequence[int | None]) -> pd.DataFrame:
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
