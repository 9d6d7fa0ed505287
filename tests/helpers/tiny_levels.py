"""Tiny blocks and their tract, and the claims that hold in every dataset of all of them, by trying them all."""

from collections.abc import Sequence
from functools import reduce
from itertools import combinations_with_replacement, product

import numpy as np

from genverify.model.areas import Area, AreaReleases, make_levels
from genverify.model.claims import ANY, Claim
from genverify.model.domain import Column, Domain, Predicate
from genverify.model.query import Query
from genverify.model.release import Release, Schema

BINARY = [Column(name, name, (0, 1), ("no", "yes")) for name in "AB"]
DOMAIN = Domain((*BINARY, Column("C", "C", (0, 2), ("none", "two"))))
RECORDS = list(product(*(column.codes for column in DOMAIN.columns)))


def cell(names: str, codes: Sequence[int]) -> Query:
    where = {name: [code] for name, code in zip(names, codes, strict=True)}
    return Query(f"{names}.{''.join(map(str, codes))}", names, "", Predicate.of(where))


TABLES = ("A", "B", "C", "AB", "AC", "BC")
CELLS = [cell(names, codes) for names in TABLES for codes in product(*(DOMAIN[name].codes for name in names))]
SUM = Query("sum.C", "sum", "", Predicate.of({"A": [1]}), "C")
QUERIES = (*CELLS, SUM)


def schema_of(tables: Sequence[str]) -> Schema:
    return Schema(DOMAIN, (), tuple(query for query in QUERIES if query.table in tables))


def count(query: Query, records: Sequence[tuple[int, ...]], domain: Domain = DOMAIN) -> int:
    total = 0
    for record in records:
        codes = dict(zip(domain.names, record, strict=True))
        if all(codes[name] in allowed for name, allowed in query.predicate.clauses):
            total += 1 if query.sums is None else codes[query.sums]
    return total


def publish(schema: Schema, name: str, records: Sequence[tuple[int, ...]], width: int = 0) -> Release:
    counts = np.array([count(query, records) for query in schema.queries], dtype=np.int64)
    return Release(schema, name, len(records), np.arange(len(counts)), np.maximum(counts - width, 0), counts + width)


def levels_of(
    blocks: Sequence[Sequence[tuple[int, ...]]],
    below: Sequence[str],
    above: Sequence[str],
    width: int = 0,
    between: Sequence[str] | None = None,
) -> AreaReleases:
    """Blocks and their tract; where tables `between` are given, the first two blocks are a block group."""
    every = [record for block in blocks for record in block]
    areas = [Area("tract", publish(schema_of(above), "tract", every), tuple(range(len(blocks))))]
    if between is not None:
        group = [record for block in blocks[:2] for record in block]
        areas.append(Area("group", publish(schema_of(between), "group", group), tuple(range(len(blocks[:2])))))
    own = schema_of(below)
    return make_levels([publish(own, f"b{number}", block, width) for number, block in enumerate(blocks)], areas)


def fits(release: Release, records: Sequence[tuple[int, ...]]) -> bool:
    counts = [count(query, records) for query in release.queries]
    return len(records) == release.n and all(a <= b <= c for a, b, c in zip(release.lo, counts, release.hi, strict=True))


def true_claims(levels: AreaReleases) -> list[set[Claim]]:
    """Per block, the claims with m >= 1 that hold in every dataset of all blocks that fits, by trying them all."""
    own = [
        [records for records in combinations_with_replacement(RECORDS, block.n) if fits(block, records)]
        for block in levels.blocks
    ]
    fitting = np.ones([len(options) for options in own], dtype=bool)
    for area in levels.areas:
        for query, lo, hi in zip(area.release.queries, area.release.lo, area.release.hi, strict=True):
            inside = [number in area.blocks for number in range(len(own))]
            counts = [
                np.array([count(query, records) if here else 0 for records in options])
                for here, options in zip(inside, own, strict=True)
            ]
            total = reduce(np.add.outer, counts)
            fitting &= (lo <= total) & (total <= hi)
    found = []
    for number, options in enumerate(own):
        others = tuple(axis for axis in range(len(own)) if axis != number)
        left = [_claims(options[place]) for place in np.flatnonzero(fitting.any(axis=others))]
        found.append(set.intersection(*left))
    return found


def _claims(records: Sequence[tuple[int, ...]]) -> set[Claim]:
    held: dict[tuple[int, ...], int] = {}
    for record in records:
        for kept in product((True, False), repeat=len(record)):
            if any(kept):
                codes = tuple(code if keep else ANY for code, keep in zip(record, kept, strict=True))
                held[codes] = held.get(codes, 0) + 1
    return {Claim(codes, m) for codes, m in held.items()}


def two_blocks() -> AreaReleases:
    """Two blocks with one record each; the tract says what the blocks do not."""
    return levels_of([[(0, 0, 2)], [(1, 1, 0)]], ["A"], ["AC", "B"])
