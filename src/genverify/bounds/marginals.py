"""Exact [min, max] of every cell of a table of several variables from any set of its marginals, each end with a proof."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from genverify.checker.sums import Checking
from genverify.core.arraytypes import Flags, Ints
from genverify.core.domain import LARGEST_CODE
from genverify.core.errors import DataError, ReleaseError
from genverify.core.sums import Sums
from genverify.papers.cellbounds.multiway import Multiway, check_size
from genverify.papers.cellbounds.symmetries import symmetries_of
from genverify.solve.sums.cubes import cubes_of
from genverify.solve.sums.orbits import Orbits, carried_over, leaves_as_it_is, orbits_of
from genverify.solve.sums.parts import all_ranges, contradiction, quiet
from genverify.solve.sums.work import Hints, Ranges, Work

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


def bound_marginals(
    marginals: Sequence[Multiway], work: Work, full: Multiway | None = None, say: Callable[[int, int], None] = quiet
) -> MarginalBounds:
    """
    Bounds of every cell of the table of all variables that the marginals name; `full` has them, if known. Every proof is
    checked when it is made, so that the limit of time holds for both.
    """
    deadline = work.now() + work.seconds
    levels = levels_of(marginals)
    tables = [_over(table, levels) for table in marginals]
    sums = marginal_sums(tables, levels)
    start = [_over(full, levels).counts.ravel()] if full is not None else []
    names = list(levels)
    sets = [[names.index(name) for name in table.names] for table in tables]
    shape = [len(own) for own in levels.values()]
    hints = Hints(cubes_of(shape, sets, work.seed), enough_rows(shape, sets))
    checking = Checking(sums)
    own = replace(work, seconds=max(deadline - work.now(), 0.05))
    exchanges = [one for one in symmetries_of(tables, names, shape) if leaves_as_it_is(sums, one)]
    orbits = orbits_of(len(sums.cells), exchanges)
    found = all_ranges(sums, own, orbits.chosen, start, say, hints, checking.take)
    if found.empty:
        rows = contradiction(sums, list(found.statements)).rows
        raise ReleaseError(
            f"no dataset fits the published counts. These contradict each other (proof checked): {'; '.join(rows[:6])}"
            f"{' and more' if len(rows) > 6 else ''}"
        )
    found = _with_carried(sums, found, orbits, checking, lambda: work.now() > deadline)
    ends = (found.lo.reshape(shape), found.hi.reshape(shape), found.exact.reshape(shape), found.uncertified.reshape(shape))
    return MarginalBounds(tuple(levels), tuple(levels.values()), *ends)


def _with_carried(sums: Sums, found: Ranges, orbits: Orbits, checking: Checking, late: Callable[[], bool]) -> Ranges:
    """The ranges of all cells, those of symmetric cells carried from the one that was searched for; proofs are checked."""
    last = {(one["cell"], one["side"]): one for one in found.statements} if orbits.carried else {}
    lo, hi, least, most = (own.copy() for own in (found.lo, found.hi, found.least, found.most))
    told = None if found.told is None else found.told.copy()
    for own in () if late() else orbits.carried:
        for side, ends, best in (("upper", hi, min), ("lower", lo, max)):
            origin = last.get((sums.cells[own.origin], side))
            if origin is not None and best(ends[own.origin], ends[own.cell]) != ends[own.cell]:
                moved = carried_over(sums, origin, own)
                checking.take(moved)
                last[moved["cell"], side] = moved
                ends[own.cell] = moved["value"]
        least[own.cell], most[own.cell] = least[own.origin], most[own.origin]
        if told is not None:
            told[own.cell] = told[own.origin]
    return replace(found, lo=lo, hi=hi, least=least, most=most, told=told)


def marginal_sums(tables: Sequence[Multiway], levels: Levels) -> Sums:
    """Every cell of the full table, and for every cell of a marginal the row of those that it adds up."""
    shape = [len(own) for own in levels.values()]
    size, total = int(np.prod(shape)), tables[0].total
    if size * len(tables) > MOST_ENTRIES:
        raise DataError(
            f"{size:,} cells in {len(tables)} marginals are more than this program handles ({MOST_ENTRIES:,} together); bin "
            "variables into fewer levels, or leave some out"
        )
    place = np.indices(shape).reshape(len(shape), -1)
    columns, counts, sizes, rows = [], [], [], list[str]()
    for table in tables:
        if table.total != total:
            raise ReleaseError(
                f"the marginal {','.join(table.names)} counts {table.total} records but {','.join(tables[0].names)} counts "
                f"{total}. Marginals of one table have the same total."
            )
        own = [list(levels).index(name) for name in table.names]
        row = np.ravel_multi_index(tuple(place[axis] for axis in own), table.counts.shape)
        columns.append(np.argsort(row, kind="stable"))
        sizes.append(np.bincount(row, minlength=table.counts.size))
        counts.append(table.counts.ravel())
        rows += [_words(table, cell, int(count)) for cell, count in np.ndenumerate(table.counts)]
    start = np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(np.int64)
    printed = np.concatenate(counts).astype(np.int64)
    entries = np.concatenate(columns).astype(np.int64)
    cells = tuple(map(str, range(size)))
    zeros, ones = np.zeros(size, dtype=np.int64), np.ones(len(entries), dtype=np.int64)
    return Sums(cells, zeros, np.full(size, total), _unique(rows), start, entries, ones, printed, printed)


def enough_rows(shape: Sequence[int], marginals: Sequence[Sequence[int]]) -> Ints:
    """
    Rows of marginals that say all that the others say, and nothing twice: of every set of variables within a marginal, and
    in one of the marginals that hold it, the cells with those variables at another than the first level, the others at it.

    >>> enough_rows([2, 2, 2], [[0, 1], [1, 2]]).tolist()
    [0, 1, 2, 3, 5, 7]
    """
    rows, before, seen = list[Ints](), 0, set[frozenset[int]]()
    for own in marginals:
        size = [shape[axis] for axis in own]
        fresh = np.zeros([2] * len(own), dtype=bool)
        for others in np.ndindex(*fresh.shape):
            inside = frozenset(axis for axis, other in zip(own, others, strict=True) if other)
            fresh[others], seen = inside not in seen, seen | {inside}
        levels = np.minimum(np.indices(size), 1)
        rows.append(before + np.flatnonzero(fresh[tuple(levels)]))
        before += int(np.prod(size))
    return np.concatenate(rows)


def _words(table: Multiway, cell: tuple[int, ...], count: int) -> str:
    named = zip(table.names, table.levels, cell, strict=True)
    return f"{' and '.join(f'{name}={level[code]}' for name, level, code in named)}: {count}"


def _unique(rows: Sequence[str]) -> tuple[str, ...]:
    """Names of rows; a marginal that is given twice has its rows twice."""
    seen: dict[str, int] = {}
    found = []
    for row in rows:
        seen[row] = seen.get(row, 0) + 1
        found.append(row if seen[row] == 1 else f"{row} (again, {seen[row]})")
    return tuple(found)


def levels_of(tables: Sequence[Multiway]) -> Levels:
    """Every variable with all the levels that some marginal lists."""
    found: dict[str, dict[str, None]] = {}
    for table in tables:
        for name, own in zip(table.names, table.levels, strict=True):
            found.setdefault(name, {}).update(dict.fromkeys(own))
    levels = {name: tuple(own) for name, own in found.items()}
    check_size(levels, "the table of all variables")
    for name, own in levels.items():
        if len(own) > LARGEST_CODE:
            raise DataError(f"{name} has {len(own):,} levels, more than {LARGEST_CODE:,}; bin it into fewer")
    return levels


def _over(table: Multiway, levels: Levels) -> Multiway:
    """The marginal over all levels of its variables, in the order of the full table; what it does not list is 0."""
    order = [name for name in levels if name in table.names]
    own = table.marginal(order)
    counts = np.zeros([len(levels[name]) for name in order], dtype=np.int64)
    places = ([levels[name].index(level) for level in mine] for name, mine in zip(order, own.levels, strict=True))
    counts[np.ix_(*places)] = own.counts
    return Multiway(tuple(order), tuple(levels[name] for name in order), counts)
