"""Releases with levels: counts of blocks, and of the larger areas that the blocks make up, about the same records."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
import numpy.typing as npt

from genverify.core.domain import Column, Domain
from genverify.core.errors import DataError, ReleaseError
from genverify.core.predicates import Flags, Predicate, Rule
from genverify.core.queries import Query
from genverify.core.release import TOTAL, Release, Schema

Ints = npt.NDArray[np.int64]
BLOCK = "BLOCK"


@dataclass(frozen=True)
class Area:
    """A larger area: its level (tract, county), what is published about it, and the numbers of the blocks in it."""

    level: str
    release: Release
    blocks: tuple[int, ...]


@dataclass(frozen=True)
class Levels:
    """
    What is known of some blocks and of the areas that they make up. All releases speak of records of one domain.

    >>> sex = Column("SEX", "sex", (1, 2), ("male", "female"))
    >>> women = Query("T.f", "T", "female", Predicate.of({"SEX": [2]}))
    >>> one, two = (Release(Schema(Domain((sex,)), (), ()), name, 1, *[np.zeros(0, int)] * 3) for name in ("one", "two"))
    >>> tract = Release(Schema(Domain((sex,)), (), (women,)), "tract", 2, np.array([0]), np.array([1]), np.array([1]))
    >>> levels = make_levels([one, two], [Area("tract", tract, (0, 1))])
    >>> [str(query.predicate) for query in joined(levels, [[0], [1]]).queries]
    ['BLOCK=1', 'BLOCK=2', 'BLOCK=1|2', 'BLOCK=1|2 and SEX=2']
    """

    blocks: tuple[Release, ...]
    areas: tuple[Area, ...]

    @property
    def schema(self) -> Schema:
        """The schema of the blocks."""
        return self.blocks[0].schema

    @cached_property
    def sizes(self) -> Ints:
        return np.array([block.n for block in self.blocks], dtype=np.int64)

    @cached_property
    def counts(self) -> tuple[Flags, Ints, Ints]:
        """Per block and query: whether it is published, and its range (0 to 0 where it is not)."""
        shape = len(self.blocks), len(self.schema.queries)
        published, lo, hi = np.zeros(shape, dtype=bool), np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        for row, block in enumerate(self.blocks):
            published[row, block.cells] = True
            lo[row, block.cells], hi[row, block.cells] = block.lo, block.hi
        return published, lo, hi

    def names(self, groups: Sequence[Sequence[int]]) -> list[str]:
        """What groups of blocks are called in the ids of their cells."""
        first = [self.blocks[group[0]].block for group in groups]
        return [
            name if len(group) == 1 else f"{name} and {len(group) - 1} more"
            for name, group in zip(first, groups, strict=True)
        ]


def make_levels(blocks: Sequence[Release], areas: Sequence[Area]) -> Levels:
    """The levels, after a check that they speak of the same records and do not contradict each other in plain sums."""
    if not blocks:
        raise ReleaseError("no blocks: give the counts of the blocks that the areas are made of")
    schema = blocks[0].schema
    if BLOCK in schema.domain.names:
        raise DataError(f"a column of the records is called {BLOCK}, which is the word for the block; rename it")
    for release in (*blocks, *(area.release for area in areas)):
        if release.schema.domain != schema.domain:
            raise DataError(f"{release.block} has other columns or codes than {blocks[0].block}; give all areas one domain")
    levels = Levels(tuple(blocks), tuple(areas))
    for area in areas:
        _check_area(levels, area)
    for one, other in combinations(areas, 2):
        shared = sorted(set(one.blocks) & set(other.blocks))
        if one.level == other.level and shared:
            raise ReleaseError(
                f"block {blocks[shared[0]].block} lies in two areas of the level {one.level}: {one.release.block} and "
                f"{other.release.block}"
            )
    return levels


def _check_area(levels: Levels, area: Area) -> None:
    """The blocks of an area add up to it, wherever both publish the same condition."""
    name, inside = f"{area.level} {area.release.block}", list(area.blocks)
    if not inside:
        raise ReleaseError(f"{name} has no blocks; leave it out, or give the counts of its blocks")
    total = int(levels.sizes[inside].sum())
    if total != area.release.n:
        raise ReleaseError(f"{name} counts {area.release.n} records, but its {len(inside)} blocks {total}")
    published, lo, hi = (values[inside] for values in levels.counts)
    of_blocks = {(query.predicate, query.sums): cell for cell, query in enumerate(levels.schema.queries)}
    for query, least, most in zip(area.release.queries, area.release.lo.tolist(), area.release.hi.tolist(), strict=True):
        cell = of_blocks.get((query.predicate, query.sums))
        if cell is not None and published[:, cell].all():
            low, high = int(lo[:, cell].sum()), int(hi[:, cell].sum())
            if max(low, least) > min(high, most):
                raise ReleaseError(
                    f"{name}: {query.id} is {_range(least, most)}, but {levels.schema.queries[cell].id} of its blocks "
                    f"adds up to {_range(low, high)}"
                )


def _range(lo: int, hi: int) -> str:
    return f"{lo}" if lo == hi else f"{lo} to {hi}"


def joined(levels: Levels, groups: Sequence[Sequence[int]], cells: Collection[str] | None = None) -> Release:
    """
    One release about all records, whose first column says in which group of blocks a record lies.

    The groups share out the blocks, and no area splits one. A cell of a group is the sum of its blocks' cells, where all
    of them publish it. `cells` keeps only some cells: fewer are known then, so whatever follows still follows from all.
    """
    _check_groups(levels, groups)
    names = levels.names(groups)
    column = Column(BLOCK, "block", tuple(range(1, len(groups) + 1)), tuple(names))
    domain = Domain((column, *levels.schema.domain.columns))
    known = list(_cells(levels, groups, names, cells))
    schema = Schema(domain, _rules(levels), tuple(query for query, _, _ in known))
    lo, hi = (np.array([cell[side] for cell in known], dtype=np.int64) for side in (1, 2))
    return Release(schema, names[0], int(levels.sizes.sum()), np.arange(len(known)), lo, hi)


def _check_groups(levels: Levels, groups: Sequence[Sequence[int]]) -> None:
    if sorted(number for group in groups for number in group) != list(range(len(levels.blocks))):
        raise DataError("the groups do not share out the blocks: each block must lie in exactly one group")
    for area in levels.areas:
        for group in groups:
            if 0 < len(set(group) & set(area.blocks)) < len(set(group)):
                raise DataError(f"{area.level} {area.release.block} splits a group of blocks; give smaller groups")


def _cells(
    levels: Levels, groups: Sequence[Sequence[int]], names: Sequence[str], wanted: Collection[str] | None
) -> Iterator[tuple[Query, int, int]]:
    """The cells of every group and area with their ranges."""
    published, lo, hi = levels.counts
    for code, (group, name) in enumerate(zip(groups, names, strict=True), 1):
        here, own = Predicate.of({BLOCK: [code]}), list(group)
        size, least, most = int(levels.sizes[own].sum()), lo[own].sum(axis=0).tolist(), hi[own].sum(axis=0).tolist()
        cells = np.flatnonzero(published[own].all(axis=0)).tolist()
        yield from _placed(
            [(levels.schema.queries[cell], least[cell], most[cell]) for cell in cells], size, name, here, wanted
        )
    for area in levels.areas:
        codes = [code for code, group in enumerate(groups, 1) if set(group) <= set(area.blocks)]
        release = area.release
        known = zip(release.queries, release.lo.tolist(), release.hi.tolist(), strict=True)
        yield from _placed(known, release.n, release.block, Predicate.of({BLOCK: codes}), wanted)


def _placed(
    cells: Iterable[tuple[Query, int, int]], n: int, name: str, here: Predicate, wanted: Collection[str] | None
) -> Iterator[tuple[Query, int, int]]:
    """Cells about the records of some blocks: their number, and each wanted query with its place added."""
    if wanted is None or f"{name}/{TOTAL}" in wanted:
        yield Query(f"{name}/{TOTAL}", TOTAL, "records", here), n, n
    for query, least, most in cells:
        if wanted is None or f"{name}/{query.id}" in wanted:
            yield Query(f"{name}/{query.id}", query.table, query.label, here & query.predicate, query.sums), least, most


def _rules(levels: Levels) -> tuple[Rule, ...]:
    """Rules that hold for the records of every release."""
    found = [set(release.schema.rules) for release in (*levels.blocks[:1], *(area.release for area in levels.areas))]
    return tuple(rule for rule in levels.schema.rules if all(rule in rules for rules in found))
