"""
Other tables with the same marginals, by steps along cubes: no program is solved.

Divide the variables into blocks so that no marginal touches all of them. For two cells u and v that differ in every block,
let each corner take some blocks of v and the others of u. Adding t where an even number of blocks is of v, and taking t away
where it is odd, leaves every marginal as it is. A cell goes up (or down) by the largest such step, again and again, as
long as the cells that lose have something to lose. What is found is recounted by whoever uses it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations
from typing import Protocol

import numpy as np

from genverify.core.arraytypes import Ints

Blocks = tuple[tuple[int, ...], ...]
MOST_BLOCKS = 5
DIVISIONS, TRIALS = 12, 400
SMALL = 512  # places that a step looks at before it looks at all
FEW_WALKS, WORTH = 20, 0.2  # walks after which it is seen whether enough of them arrive


class Walking(Protocol):
    """The search that walks serve."""

    points: list[Ints]
    say: Callable[[int], None]

    def seen(self, cell: int, sign: int) -> int: ...

    def proved(self, cell: int, sign: int) -> int: ...

    def keep(self, x: Ints) -> bool: ...

    def late(self) -> bool: ...


@dataclass(frozen=True)
class Cubes:
    """The numbers of levels of the variables, and some divisions of the variables into blocks."""

    shape: tuple[int, ...]
    divisions: tuple[Blocks, ...]

    @cached_property
    def layouts(self) -> "tuple[Layout, ...]":
        return tuple(_layout(self.shape, blocks) for blocks in self.divisions)

    def attain(self, search: Walking, cells: Sequence[int]) -> None:
        """
        Walks to every open end; where too few arrive, the other ends of this kind are left. To upper ends they start at the
        first point, to lower ones where the last walk came to: what it emptied on its way counts too.
        """
        for sign in (1, -1):
            tried, arrived, x = 0, 0, search.points[0]
            for cell in cells:
                if search.late() or (tried >= FEW_WALKS and arrived < WORTH * tried):
                    break
                if search.seen(cell, sign) < search.proved(cell, sign):
                    found = self.walk(x, cell, sign, sign * search.proved(cell, sign))
                    search.keep(found)
                    x = found if sign < 0 else x
                    tried, arrived = tried + 1, arrived + (search.seen(cell, sign) == search.proved(cell, sign))
                    search.say(cell)

    def walk(self, x: Ints, cell: int, sign: int, target: int) -> Ints:
        """Counts with the same marginals in which the cell is as near to the target, above or below, as steps bring it."""
        table, moved = x.copy(), True
        while moved:
            moved = False
            for layout in self.layouts:
                gap = abs(target - int(table[cell]))
                moved |= gap > 0 and _step(table, layout, cell, sign, gap)
        return table


@dataclass(frozen=True)
class Layout:
    """A table with an axis for each block: the cell at every place, and the place of every cell."""

    cell: Ints
    place: Ints

    def at(self, cell: int) -> list[int]:
        return [int(own) for own in np.unravel_index(self.place[cell], self.cell.shape)]


def _layout(shape: Sequence[int], blocks: Blocks) -> Layout:
    cell = np.arange(int(np.prod(shape))).reshape(shape).transpose([axis for block in blocks for axis in block])
    cell = cell.reshape([int(np.prod([shape[axis] for axis in block])) for block in blocks])
    return Layout(cell, np.argsort(cell, axis=None))


def _step(table: Ints, layout: Layout, cell: int, sign: int, most: int) -> bool:
    """One step of the cell by at most so much, in place, among the likeliest places if it goes up; whether there was one."""
    u = layout.at(cell)
    if sign > 0 and layout.cell.size > SMALL and _step_among(table, _likely(table, layout, u), [0] * len(u), sign, most):
        return True
    return _step_among(table, layout.cell, u, sign, most)


def _likely(table: Ints, layout: Layout, u: Sequence[int]) -> Ints:
    """The cells of u (first) and of the places that have the most to lose, block by block."""
    kept = max(2, int(SMALL ** (1 / len(u))) - 1)
    places = []
    for block, own in enumerate(u):
        face = table[layout.cell[tuple(slice(None) if g == block else at for g, at in enumerate(u))]]
        face[own] = -1  # comes last: v differs from u in every block
        places.append(np.append(own, np.argsort(-face, kind="stable")[: min(kept, len(face) - 1)]))
    likely: Ints = layout.cell[np.ix_(*places)]
    return likely


def _step_among(table: Ints, cells: Ints, u: Sequence[int], sign: int, most: int) -> bool:
    flat = table[cells]
    room = np.full(flat.shape, most, dtype=np.int64)
    for corner in _corners(len(u), odd=sign > 0):
        face = flat[tuple(slice(None) if g in corner else slice(own, own + 1) for g, own in enumerate(u))]
        np.minimum(room, face, out=room)
    for at, own in enumerate(u):
        room[tuple(own if g == at else slice(None) for g in range(len(u)))] = 0
    best = int(np.argmax(room))
    size, v = int(room.flat[best]), np.unravel_index(best, room.shape)
    if size == 0:
        return False
    for odd in (True, False):
        for corner in _corners(len(u), odd):
            spot = tuple(int(v[g]) if g in corner else own for g, own in enumerate(u))
            table[cells[spot]] += -size if odd == (sign > 0) else size
    return True


@cache
def _corners(blocks: int, odd: bool) -> list[frozenset[int]]:
    """The sets of blocks that are of v, with an odd or an even number of them."""
    return [frozenset(own) for n in range(blocks + 1) if n % 2 == int(odd) for own in combinations(range(blocks), n)]


def cubes_of(shape: Sequence[int], marginals: Sequence[Sequence[int]], seed: int) -> Cubes | None:
    """Divisions of the variables that no marginal touches in all blocks, with as few blocks as there are any."""
    rng = np.random.default_rng(seed)
    for blocks in range(2, min(MOST_BLOCKS, len(shape)) + 1):
        found = dict.fromkeys(_divisions(len(shape), blocks, marginals, rng))
        if found:
            return Cubes(tuple(shape), tuple(found)[:DIVISIONS])
    return None


def _divisions(
    variables: int, blocks: int, marginals: Sequence[Sequence[int]], rng: np.random.Generator
) -> Iterator[Blocks]:
    for _ in range(TRIALS):
        of = rng.permutation(np.concatenate([np.arange(blocks), rng.integers(0, blocks, variables - blocks)]))
        if all(len(set(of[list(own)].tolist())) < blocks for own in marginals):
            yield tuple(sorted(tuple(np.flatnonzero(of == block).tolist()) for block in range(blocks)))
