"""
Other tables with the same marginals, by steps along cubes: no program is solved.

Divide the variables into blocks so that no marginal touches all of them. For two cells u and v that differ in every block,
let each corner take some blocks of v and the others of u. Adding t where an even number of blocks is of v, and taking t away
where it is odd, leaves every marginal as it is. A cell goes up (or down) by the largest such step, again and again, as
long as the cells that lose have something to lose. What is found is recounted by whoever uses it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Protocol

import numpy as np

from genverify.core.arraytypes import Ints

Blocks = tuple[tuple[int, ...], ...]
MOST_BLOCKS = 5
DIVISIONS, TRIALS = 12, 400
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

    def attain(self, search: Walking, cells: Sequence[int]) -> None:
        """Walks from the first point to every open end; where too few arrive, the other ends of this kind are left."""
        for sign in (1, -1):
            tried = arrived = 0
            for cell in cells:
                if search.late() or (tried >= FEW_WALKS and arrived < WORTH * tried):
                    break
                if search.seen(cell, sign) < search.proved(cell, sign):
                    search.keep(self.walk(search.points[0], cell, sign, sign * search.proved(cell, sign)))
                    tried, arrived = tried + 1, arrived + (search.seen(cell, sign) == search.proved(cell, sign))
                    search.say(cell)

    def walk(self, x: Ints, cell: int, sign: int, target: int) -> Ints:
        """Counts with the same marginals in which the cell is as near to the target, above or below, as steps bring it."""
        table, stuck = x.reshape(self.shape).copy(), 0
        place = np.unravel_index(cell, self.shape)
        while stuck < len(self.divisions) and sign * int(table[place]) < sign * target:
            moved = False
            for blocks in self.divisions:
                gap = abs(target - int(table[place]))
                moved |= gap > 0 and _step(table, blocks, [int(at) for at in place], sign, gap)
            stuck = 0 if moved else len(self.divisions)
        return table.ravel()


def _step(table: Ints, blocks: Blocks, place: Sequence[int], sign: int, most: int) -> bool:
    """One step of the cell by at most so much, in place; whether there was one."""
    merged = np.transpose(table, [axis for block in blocks for axis in block])
    sizes = [[table.shape[axis] for axis in block] for block in blocks]
    flat = merged.reshape([int(np.prod(own)) for own in sizes])
    u = [int(np.ravel_multi_index([place[axis] for axis in b], own)) for b, own in zip(blocks, sizes, strict=True)]
    room = np.full(flat.shape, most, dtype=np.int64)
    for corner in _corners(len(blocks), odd=sign > 0):
        room = np.minimum(room, flat[tuple(slice(None) if g in corner else slice(own, own + 1) for g, own in enumerate(u))])
    for at, own in enumerate(u):
        room[tuple(own if g == at else slice(None) for g in range(len(u)))] = 0
    best = int(np.argmax(room))
    size, v = int(room.flat[best]), np.unravel_index(best, room.shape)
    if size == 0:
        return False
    for odd in (True, False):
        for corner in _corners(len(blocks), odd):
            spot = tuple(int(v[g]) if g in corner else own for g, own in enumerate(u))
            flat[spot] += -size if odd == (sign > 0) else size
    merged[...] = flat.reshape(merged.shape)  # flat may be a copy
    return True


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
