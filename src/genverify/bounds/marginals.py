"""Exact [min, max] of every cell of a table of several variables from any set of its marginals."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, islice, pairwise

import numpy as np

from genverify.bounds.count_tables import Multiway, check_size
from genverify.checker.linear_proofs import Checking
from genverify.model.arrays import Flags, Ints
from genverify.model.domain import LARGEST_CODE
from genverify.model.errors import DataError, ReleaseError
from genverify.model.linear import LinearSystem
from genverify.solve.linear.ranges import (
    Orbits,
    Symmetry,
    all_ranges,
    carried_over,
    contradiction,
    leaves_as_it_is,
    orbits_of,
    quiet,
)
from genverify.solve.linear.search import Hints, Ranges, Work, cubes_of

# Symmetries of marginals: exchanges of two levels, or of two variables, that leave all of them as they are.

MOST = 60  # exchanges that are looked for: others follow from them


def _symmetries_of(tables: Sequence[Multiway], names: Sequence[str], shape: Sequence[int]) -> list[Symmetry]:
    """Some exchanges of levels and of variables that leave every marginal as it is; all are tried on the counts."""
    return list(islice(chain(_of_levels(tables, names, shape), _of_variables(tables, names, shape)), MOST))


def _of_levels(tables: Sequence[Multiway], names: Sequence[str], shape: Sequence[int]) -> Iterator[Symmetry]:
    for axis, name in enumerate(names):
        first = next(table for table in tables if name in table.names)
        totals = np.moveaxis(first.counts, first.names.index(name), 0).reshape(shape[axis], -1).sum(axis=1)
        order = np.argsort(totals, kind="stable").tolist()
        for one, other in pairwise(order):
            if totals[one] == totals[other]:
                levels = np.arange(shape[axis])
                levels[[one, other]] = other, one
                moved = [_taken(table.counts, table.names, name, levels) for table in tables]
                if all(np.array_equal(now, table.counts) for now, table in zip(moved, tables, strict=True)):
                    rows = [_taken(part, table.names, name, levels) for part, table in _rows(tables)]
                    yield Symmetry(np.take(_cells(shape), levels, axis=axis).ravel(), _flat(rows))


def _of_variables(tables: Sequence[Multiway], names: Sequence[str], shape: Sequence[int]) -> Iterator[Symmetry]:
    at = {frozenset(table.names): (table, rows) for rows, table in _rows(tables)}
    for one, other in combinations(range(len(names)), 2):
        swap = {names[one]: names[other], names[other]: names[one]}
        images = [_image(table, at, swap) for table in tables] if shape[one] == shape[other] else []
        result = [image for image in images if image is not None]
        same = (np.array_equal(part[0], table.counts) for part, table in zip(result, tables, strict=False))
        if len(result) == len(tables) and all(same):
            axes = list(range(len(names)))
            axes[one], axes[other] = other, one
            yield Symmetry(_cells(shape).transpose(axes).ravel(), _flat([part[1] for part in result]))


def _image(
    table: Multiway, at: dict[frozenset[str], tuple[Multiway, Ints]], swap: dict[str, str]
) -> tuple[Ints, Ints] | None:
    """The counts, and the rows, of the marginal that a table becomes, in the order of the table; none if it is not given."""
    renamed = [swap.get(name, name) for name in table.names]
    if frozenset(renamed) not in at:
        return None
    other, rows = at[frozenset(renamed)]
    axes = [other.names.index(name) for name in renamed]
    return other.counts.transpose(axes), rows.transpose(axes)


def _rows(tables: Sequence[Multiway]) -> Iterator[tuple[Ints, Multiway]]:
    before = 0
    for table in tables:
        yield before + np.arange(table.counts.size).reshape(table.counts.shape), table
        before += table.counts.size


def _cells(shape: Sequence[int]) -> Ints:
    return np.arange(int(np.prod(shape))).reshape(shape)


def _taken(part: Ints, of: Sequence[str], name: str, levels: Ints) -> Ints:
    return np.take(part, levels, axis=of.index(name)) if name in of else part


def _flat(rows: Sequence[Ints]) -> Ints:
    return np.concatenate([row.ravel() for row in rows])


# Exact [min, max] of every cell of a table of several variables from any set of its marginals, each end with a proof.

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
    """Bounds of every cell of the table of all variables (`full`, if known); proofs are checked as they are made."""
    deadline = work.now() + work.seconds
    levels = levels_of(marginals)
    tables = [_over(table, levels) for table in marginals]
    system = marginal_sums(tables, levels)
    start = [_over(full, levels).counts.ravel()] if full is not None else []
    names = list(levels)
    sets = [[names.index(name) for name in table.names] for table in tables]
    shape = [len(level) for level in levels.values()]
    hints = Hints(cubes_of(shape, sets, work.seed), _enough_rows(shape, sets))
    checking = Checking(system)
    limited = replace(work, seconds=max(deadline - work.now(), 0.05))
    exchanges = [one for one in _symmetries_of(tables, names, shape) if leaves_as_it_is(system, one)]
    orbits = orbits_of(len(system.cells), exchanges)
    result = all_ranges(system, limited, orbits.chosen, start, say, hints, checking.take)
    if result.empty:
        rows = contradiction(system, list(result.statements)).rows
        raise ReleaseError(
            f"no dataset fits the published counts. These contradict each other (proof checked): {'; '.join(rows[:6])}"
            f"{' and more' if len(rows) > 6 else ''}"
        )
    result = _with_carried(system, result, orbits, checking, lambda: work.now() > deadline)
    ends, flags = (result.lo.reshape(shape), result.hi.reshape(shape)), (result.exact, result.uncertified)
    return MarginalBounds(tuple(levels), tuple(levels.values()), *ends, *(flag.reshape(shape) for flag in flags))


def _with_carried(
    system: LinearSystem, result: Ranges, orbits: Orbits, checking: Checking, late: Callable[[], bool]
) -> Ranges:
    """The ranges of all cells, those of symmetric cells carried from the one that was searched for; proofs are checked."""
    last = {(one["cell"], one["side"]): one for one in result.statements} if orbits.carried else {}
    lo, hi, least, most = (part.copy() for part in (result.lo, result.hi, result.least, result.most))
    by_solver = None if result.by_solver is None else result.by_solver.copy()
    for image in () if late() else orbits.carried:
        for side, ends, best in (("upper", hi, min), ("lower", lo, max)):
            origin = last.get((system.cells[image.origin], side))
            if origin is not None and best(ends[image.origin], ends[image.cell]) != ends[image.cell]:
                moved = carried_over(system, origin, image)
                checking.take(moved)
                last[moved["cell"], side] = moved
                ends[image.cell] = moved["value"]
        least[image.cell], most[image.cell] = least[image.origin], most[image.origin]
        if by_solver is not None:
            by_solver[image.cell] = by_solver[image.origin]
    return replace(result, lo=lo, hi=hi, least=least, most=most, by_solver=by_solver)


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

    >>> _enough_rows([2, 2, 2], [[0, 1], [1, 2]]).tolist()
    [0, 1, 2, 3, 5, 7]
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
