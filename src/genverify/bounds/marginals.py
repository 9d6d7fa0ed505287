"""Exact [min, max] of every cell of a table of several variables from any set of its marginals, each end with a proof."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from genverify.bounds.count_tables import Multiway, check_size
from genverify.checker.linear_proofs import Checking
from genverify.model.arrays import Flags, Ints
from genverify.model.domain import LARGEST_CODE
from genverify.model.errors import DataError, ReleaseError
from genverify.model.linear import LinearSystem
from genverify.solve.linear.ranges import all_ranges, contradiction, quiet
from genverify.solve.linear.search import Work, cubes_of

Levels = Mapping[str, tuple[str, ...]]
MOST_ENTRIES = 20_000_000  # cells times marginals: about a gigabyte


@dataclass(frozen=True)
class MarginalBounds:
    """
    The least and the greatest count of every cell over all tables with these marginals.

    All bounds hold: their proofs were checked. Where a limit of work struck, `exact` is false, and they may be too wide;
    `uncertified` cells have a narrower range by a solver's search, of which no proof was found.
    """

    names: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    lower: Ints
    upper: Ints
    exact: Flags
    uncertified: Flags
    limit: str = ""


def bound_marginals(
    marginals: Sequence[Multiway], work: Work, full: Multiway | None = None, say: Callable[[int, int], None] = quiet
) -> MarginalBounds:
    """Bounds of every cell of the table of all variables (`full`, if known); proofs are checked as they are made."""
    levels = levels_of(marginals)
    tables = [_over(table, levels) for table in marginals]
    system = marginal_sums(tables, levels)
    start = [_over(full, levels).counts.ravel()] if full is not None else []
    names = list(levels)
    sets = [[names.index(name) for name in table.names] for table in tables]
    shape = [len(level) for level in levels.values()]
    cubes, enough = cubes_of(shape, sets, work.seed), _enough_rows(shape, sets)
    result = all_ranges(system, work, None, start, say, Checking(system).take, cubes, enough)
    if result.empty:
        rows = contradiction(system, list(result.statements)).rows
        raise ReleaseError(
            f"no dataset fits the published counts. These contradict each other (proof checked): {'; '.join(rows[:6])}"
            f"{' and more' if len(rows) > 6 else ''}"
        )
    lower, upper = (ends.reshape(shape) for ends in (result.lo, result.hi))
    exact, uncertified = (flags.reshape(shape) for flags in (result.exact, result.uncertified))
    return MarginalBounds(tuple(levels), tuple(levels.values()), lower, upper, exact, uncertified, result.limit)


def marginal_sums(tables: Sequence[Multiway], levels: Levels) -> LinearSystem:
    """Every cell of the full table, and for every cell of a marginal the row of those that it adds up."""
    shape = [len(level) for level in levels.values()]
    size, total = int(np.prod(shape)), tables[0].total
    if size * len(tables) > MOST_ENTRIES:
        raise DataError(
            f"{size:,} cells in {len(tables)} marginals are more than this program handles ({MOST_ENTRIES:,} together); bin "
            "variables into fewer levels, or leave some out"
        )
    index = np.indices(shape).reshape(len(shape), -1)
    columns, counts, sizes, rows = [], [], [], list[str]()
    for table in tables:
        if table.total != total:
            raise ReleaseError(
                f"the marginal {','.join(table.names)} counts {table.total} records but {','.join(tables[0].names)} counts "
                f"{total}. Marginals of one table have the same total."
            )
        axes = [list(levels).index(name) for name in table.names]
        row = np.ravel_multi_index(tuple(index[axis] for axis in axes), table.counts.shape)
        columns.append(np.argsort(row, kind="stable"))
        sizes.append(np.bincount(row, minlength=table.counts.size))
        counts.append(table.counts.ravel())
        rows += [_words(table, cell, int(count)) for cell, count in np.ndenumerate(table.counts)]
    start = np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(np.int64)
    printed = np.concatenate(counts).astype(np.int64)
    entries = np.concatenate(columns).astype(np.int64)
    cells = tuple(map(str, range(size)))
    zeros, ones = np.zeros(size, dtype=np.int64), np.ones(len(entries), dtype=np.int64)
    return LinearSystem(cells, zeros, np.full(size, total), _unique(rows), start, entries, ones, printed, printed)


def _enough_rows(shape: Sequence[int], marginals: Sequence[Sequence[int]]) -> Ints:
    """
    Rows of marginals that say all that the others say, and nothing twice: of every set of variables within a marginal, and
    in one of the marginals that hold it, the cells with those variables at another than the first level, the others at it.
    """
    rows, before, seen = list[Ints](), 0, set[frozenset[int]]()
    for marginal in marginals:
        size = [shape[axis] for axis in marginal]
        fresh = np.zeros([2] * len(marginal), dtype=bool)
        for others in np.ndindex(*fresh.shape):
            inside = frozenset(axis for axis, other in zip(marginal, others, strict=True) if other)
            fresh[others], seen = inside not in seen, seen | {inside}
        rows.append(before + np.flatnonzero(fresh[tuple(np.minimum(np.indices(size), 1))]))
        before += int(np.prod(size))
    return np.concatenate(rows)


def _words(table: Multiway, cell: tuple[int, ...], count: int) -> str:
    named = zip(table.names, table.levels, cell, strict=True)
    return f"{' and '.join(f'{name}={level[code]}' for name, level, code in named)}: {count}"


def _unique(rows: Sequence[str]) -> tuple[str, ...]:
    """Names of rows; a marginal that is given twice has its rows twice."""
    seen: dict[str, int] = {}
    result = []
    for row in rows:
        seen[row] = seen.get(row, 0) + 1
        result.append(row if seen[row] == 1 else f"{row} (again, {seen[row]})")
    return tuple(result)


def levels_of(tables: Sequence[Multiway]) -> Levels:
    """Every variable with all the levels that some marginal lists."""
    result: dict[str, dict[str, None]] = {}
    for table in tables:
        for name, level in zip(table.names, table.levels, strict=True):
            result.setdefault(name, {}).update(dict.fromkeys(level))
    levels = {name: tuple(level) for name, level in result.items()}
    check_size(levels, "the table of all variables")
    for name, level in levels.items():
        if len(level) > LARGEST_CODE:
            raise DataError(f"{name} has {len(level):,} levels, more than {LARGEST_CODE:,}; bin it into fewer")
    return levels


def _over(table: Multiway, levels: Levels) -> Multiway:
    """The marginal over all levels of its variables, in the order of the full table; what it does not list is 0."""
    order = [name for name in levels if name in table.names]
    part = table.marginal(order)
    counts = np.zeros([len(levels[name]) for name in order], dtype=np.int64)
    indices = ([levels[name].index(level) for level in mine] for name, mine in zip(order, part.levels, strict=True))
    counts[np.ix_(*indices)] = part.counts
    return Multiway(tuple(order), tuple(levels[name] for name in order), counts)
