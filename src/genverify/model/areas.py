"""Releases with levels: counts of blocks, and of the larger areas that the blocks make up, about the same records."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations

import numpy as np

from genverify.model.arrays import Flags, Ints
from genverify.model.domain import Column, Domain, Predicate, Rule
from genverify.model.errors import DataError, ReleaseError
from genverify.model.query import Query
from genverify.model.release import TOTAL, Release, Schema, range_words

BLOCK = "BLOCK"
NAMED = 5  # cells in an error


@dataclass(frozen=True)
class Area:
    """A larger area: its level (tract, county), what is published about it, and the numbers of the blocks in it."""

    level: str
    release: Release
    blocks: tuple[int, ...]


@dataclass(frozen=True)
class AreaReleases:
    """What is known of some blocks and of the areas that they make up. All releases speak of records of one domain."""

    blocks: tuple[Release, ...]
    areas: tuple[Area, ...]
    # the schemas of `seen_from`, which blocks that publish the same cells share
    seen_schemas: dict[tuple[bytes, tuple[int, ...]], Schema] = field(default_factory=dict, init=False, compare=False)

    @property
    def schema(self) -> Schema:
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

    @cached_property
    def areas_of(self) -> tuple[tuple[Area, ...], ...]:
        inside = [set(area.blocks) for area in self.areas]
        listed = list(zip(self.areas, inside, strict=True))
        return tuple(tuple(area for area, has in listed if number in has) for number in range(len(self.blocks)))


def make_levels(blocks: Sequence[Release], areas: Sequence[Area]) -> AreaReleases:
    """The levels, after a check that they speak of the same records and do not contradict each other in plain sums."""
    if not blocks:
        raise ReleaseError("no blocks: give the counts of the blocks that the areas are made of")
    schema = blocks[0].schema
    if BLOCK in schema.domain.names:
        raise DataError(f"a column of the records is called {BLOCK}, which is the word for the block; rename it")
    releases = (*blocks, *(area.release for area in areas))
    if odd := [release.block for release in releases if release.schema.domain != schema.domain]:
        raise DataError(f"{odd[0]} has other columns or codes than {blocks[0].block}; give all areas one domain")
    if odd := [block.block for block in blocks if block.schema is not schema and block.schema != schema]:
        raise DataError(f"{odd[0]} has other tables than {blocks[0].block}; leave out the cells that are not known")
    levels = AreaReleases(tuple(blocks), tuple(areas))
    for area in areas:
        _check_area(levels, area)
    for one, other in combinations(areas, 2):
        shared = sorted(set(one.blocks) & set(other.blocks))
        if one.level == other.level and shared:
            both = f"{one.release.block} and {other.release.block}"
            raise ReleaseError(f"block {blocks[shared[0]].block} lies in two areas of the level {one.level}: {both}")
    # cells are called by the name of their block or area
    for name, times in Counter([*(block.block for block in blocks), *(area.release.block for area in areas)]).items():
        if times > 1:
            raise ReleaseError(f"{name} is the name of two blocks or areas; give each its own name")
    return levels


def _check_area(levels: AreaReleases, area: Area) -> None:
    """The blocks of an area add up to it, wherever both publish the same condition."""
    name, inside = f"{area.level} {area.release.block}", list(area.blocks)
    if not inside:
        raise ReleaseError(f"{name} has no blocks; leave it out, or give the counts of its blocks")
    total = int(levels.sizes[inside].sum())
    if total != area.release.n:
        raise ReleaseError(f"{name} counts {area.release.n} records, but its {len(inside)} blocks {total}")
    published, lo, hi = (values[inside] for values in levels.counts)
    of_blocks = {(query.predicate, query.sums): cell for cell, query in enumerate(levels.schema.queries)}
    wrong = []
    for query, least, most in zip(area.release.queries, area.release.lo.tolist(), area.release.hi.tolist(), strict=True):
        cell = of_blocks.get((query.predicate, query.sums))
        if cell is not None and published[:, cell].all():
            low, high = int(lo[:, cell].sum()), int(hi[:, cell].sum())
            if max(low, least) > min(high, most):
                said = f"{query.id} is {range_words(least, most)}, but {levels.schema.queries[cell].id} of its blocks"
                wrong.append(f"{said} adds up to {range_words(low, high)}")
    if wrong:
        more = f"; and {len(wrong) - NAMED} more cells" if len(wrong) > NAMED else ""
        raise ReleaseError(f"{name}: {'; '.join(wrong[:NAMED])}{more}")


def seen_from(levels: AreaReleases, number: int) -> Release:
    """What all tables say about the records of one block alone: its own cells, and no more than its areas count."""
    block, areas = levels.blocks[number], levels.areas_of[number]
    key = block.cells.tobytes(), tuple(id(area) for area in areas)
    if key not in levels.seen_schemas:
        named = [(area.release.block, query) for area in areas for query in area.release.queries]
        of_areas = [replace(query, id=f"{name}/{query.id}") for name, query in named]
        levels.seen_schemas[key] = Schema(levels.schema.domain, _rules(levels), (*block.queries, *of_areas))
    lo = np.concatenate([block.lo, *(np.zeros_like(area.release.lo) for area in areas)])
    hi = np.concatenate([block.hi, *(area.release.hi for area in areas)])
    return Release(levels.seen_schemas[key], block.block, block.n, np.arange(len(lo)), lo, hi)


def together(levels: AreaReleases, zeros: bool = False) -> Release:
    """One release about the records of all blocks, whose first column is the block; without `zeros`, no cells of nobody."""
    names = tuple(block.block for block in levels.blocks)
    column = Column(BLOCK, "block", tuple(range(1, len(names) + 1)), names)
    known = list(_cells(levels, 0 if zeros else 1))
    schema = Schema(Domain((column, *levels.schema.domain.columns)), _rules(levels), tuple(query for query, _, _ in known))
    lo, hi = (np.array([cell[side] for cell in known], dtype=np.int64) for side in (1, 2))
    areas = ", ".join(area.release.block for area in levels.areas) or names[0]
    return Release(schema, areas, int(levels.sizes.sum()), np.arange(len(known)), lo, hi)


def _cells(levels: AreaReleases, fewest: int) -> Iterator[tuple[Query, int, int]]:
    for code, block in enumerate(levels.blocks, 1):
        yield from _placed(block, Predicate.of({BLOCK: [code]}), fewest)
    for area in levels.areas:
        yield from _placed(area.release, Predicate.of({BLOCK: [number + 1 for number in sorted(area.blocks)]}), fewest)


def _placed(release: Release, here: Predicate, fewest: int) -> Iterator[tuple[Query, int, int]]:
    """The number of records of some blocks, and their cells that may count as many, each with its place added."""
    yield Query(f"{release.block}/{TOTAL}", TOTAL, "records", here), release.n, release.n
    for query, least, most in zip(release.queries, release.lo.tolist(), release.hi.tolist(), strict=True):
        if most >= fewest:
            yield replace(query, id=f"{release.block}/{query.id}", predicate=here & query.predicate), least, most


def _rules(levels: AreaReleases) -> tuple[Rule, ...]:
    matches = [set(release.schema.rules) for release in (*levels.blocks[:1], *(area.release for area in levels.areas))]
    return tuple(rule for rule in levels.schema.rules if all(rule in rules for rules in matches))
