"""A system of sums, part by part: cells that are known exactly tie nothing together, so the rest falls into pieces."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from genverify.core.arraytypes import Flags, Ints
from genverify.core.sums import Sums, select
from genverify.solve.sums.propagate import Check, Known, propagate, trusting
from genverify.solve.sums.ranges import find_ranges
from genverify.solve.sums.work import Hints, Ranges, Work

Say = Callable[[int, int], None]


def quiet(done: int, of: int) -> None:
    """Say nothing."""


@dataclass(frozen=True)
class Contradiction:
    """Rows that no counts can meet together, and the cells in them."""

    rows: tuple[str, ...]
    cells: tuple[str, ...]


def all_ranges(
    sums: Sums,
    work: Work,
    wanted: Flags | None = None,
    start: Sequence[Ints] = (),
    say: Say = quiet,
    hints: Hints = Hints(),  # noqa: B008  (frozen)
    check: Check = trusting,
) -> Ranges:
    """
    The range of every wanted cell of a system; the statements are in an order in which they can be checked, and in which
    `check` gets them as they are made.
    """
    wanted = np.ones(len(sums.cells), dtype=bool) if wanted is None else wanted
    deadline = work.now() + work.seconds
    known = propagate(sums, check=check)
    statements: list[dict[str, Any]] = list(known.statements)
    lo, hi = known.lo.copy(), known.hi.copy()
    least, most = lo - 1, hi - 1  # nothing is attained yet
    fixed = lo == hi
    least[fixed], most[fixed] = lo[fixed], hi[fixed]
    empty, limits, done, told = known.empty, list[str](), 0, fixed.copy()
    point: Ints | None = lo.copy()
    for cells, rows in [] if empty else _pieces(sums, known):
        part = select(replace(sums, lo=lo, hi=hi), cells, rows)
        own = replace(work, seconds=max(deadline - work.now(), 0.05))
        started = [point[cells] for point in start]
        asked = wanted[cells] & (part.lo < part.hi)
        own_known = Known(part, part.lo.copy(), part.hi.copy(), check=check)
        ours = Hints(
            hints.cubes if len(cells) == len(sums.cells) else None,
            None if hints.rows is None else np.flatnonzero(np.isin(rows, hints.rows)),
        )
        found = find_ranges(part, own_known, own, asked, started, partial(_say, say, done, len(sums.cells)), ours)
        statements += found.statements
        lo[cells], hi[cells] = found.lo, found.hi
        least[cells], most[cells] = found.least, found.most
        told[cells] = found.told
        empty, done = empty or found.empty, done + len(cells)
        if found.point is None or point is None:
            point = None
        else:
            point[cells] = found.point
        limits += [found.limit] if found.limit else []
    limit, point = limits[0] if limits else "", None if empty else point
    return Ranges(lo, hi, least, most, tuple(statements), empty, limit, point, told)


def _say(say: Say, before: int, of: int, cell: int) -> None:
    say(before + cell, of)


def _pieces(sums: Sums, known: Known) -> list[tuple[Ints, Ints]]:
    """The open cells that rows tie together, with the known cells of their rows; small pieces first."""
    free = (known.lo < known.hi)[sums.columns]
    entries, rows = sums.columns[free], sums.row_of[free]
    size = len(sums.cells) + len(sums.rows)
    ties = coo_array((np.ones(len(entries)), (entries, rows + len(sums.cells))), shape=(size, size))
    _, label = connected_components(ties, directed=False)
    of_row = label[len(sums.cells) :]
    has = np.zeros(len(sums.rows), dtype=bool)
    has[rows] = True
    order = np.argsort(of_row, kind="stable")
    order = order[has[order]]
    cuts = np.flatnonzero(np.diff(of_row[order])) + 1
    pieces = []
    for own in np.split(order, cuts) if len(order) else []:
        entries_of = np.isin(sums.row_of, own) if len(own) > 64 else np.concatenate(
            [np.arange(sums.start[row], sums.start[row + 1]) for row in own.tolist()]
        )  # fmt: skip
        pieces.append((np.unique(sums.columns[entries_of]), np.sort(own)))
    return sorted(pieces, key=lambda piece: len(piece[0]))


def contradiction(sums: Sums, statements: Sequence[dict[str, Any]]) -> Contradiction:
    """The rows and cells that the proof of a contradiction rests on, those of the bounds that it uses included."""
    needed: dict[str, None] = {}
    cells: dict[str, None] = {}
    place = {name: at for at, name in enumerate(sums.rows)}
    for statement in reversed(statements):
        last = not needed
        if last or statement.get("cell") in cells:
            for row in rows_of(statement["proof"]):
                needed[row] = None
                span = slice(sums.start[place[row]], sums.start[place[row] + 1])
                cells |= dict.fromkeys(sums.cells[cell] for cell in sums.columns[span].tolist())
    return Contradiction(tuple(needed), tuple(cells))


def rows_of(proof: dict[str, Any]) -> list[str]:
    """The rows that a proof uses."""
    if "at" in proof:
        return [*rows_of(proof["below"]), *rows_of(proof["above"])]
    return list(proof.get("y", {}))
