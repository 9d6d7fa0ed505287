"""Block and area tables in one attack: against all datasets of tiny areas, forged proofs, and beside the block alone."""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from functools import reduce
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from genverify.attack.attack import attack_release
from genverify.attack.levels import LevelsProof, attack_levels
from genverify.attack.words.say import explain_levels
from genverify.checker.check import CertificateError
from genverify.core.claims import ANY, Claim
from genverify.core.domain import Column, Domain
from genverify.core.errors import DataError, ReleaseError
from genverify.core.levels import Area, Levels, joined, make_levels
from genverify.core.predicates import Predicate
from genverify.core.queries import Query
from genverify.core.release import Release, Schema
from genverify.solve.settings import DEFAULT

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


def count(query: Query, records: Sequence[tuple[int, ...]]) -> int:
    total = 0
    for record in records:
        codes = dict(zip(DOMAIN.names, record, strict=True))
        if all(codes[name] in allowed for name, allowed in query.predicate.clauses):
            total += 1 if query.sums is None else codes[query.sums]
    return total


def publish(schema: Schema, name: str, records: Sequence[tuple[int, ...]], width: int = 0) -> Release:
    counts = np.array([count(query, records) for query in schema.queries], dtype=np.int64)
    return Release(schema, name, len(records), np.arange(len(counts)), np.maximum(counts - width, 0), counts + width)


def levels_of(
    blocks: Sequence[Sequence[tuple[int, ...]]], below: Sequence[str], above: Sequence[str], width: int = 0
) -> Levels:
    every = [record for block in blocks for record in block]
    tract = Area("tract", publish(schema_of(above), "tract", every), tuple(range(len(blocks))))
    own = schema_of(below)
    return make_levels([publish(own, f"b{number}", block, width) for number, block in enumerate(blocks)], [tract])


def fits(release: Release, records: Sequence[tuple[int, ...]]) -> bool:
    counts = [count(query, records) for query in release.queries]
    return len(records) == release.n and all(a <= b <= c for a, b, c in zip(release.lo, counts, release.hi, strict=True))


def true_claims(levels: Levels) -> list[set[Claim]]:
    """Per block, the claims with m >= 1 that hold in every dataset of all blocks that fits, by trying them all."""
    own = [
        [records for records in combinations_with_replacement(RECORDS, block.n) if fits(block, records)]
        for block in levels.blocks
    ]
    [area] = levels.areas
    fitting = np.ones([len(options) for options in own], dtype=bool)
    for query, lo, hi in zip(area.release.queries, area.release.lo, area.release.hi, strict=True):
        counts = [np.array([count(query, records) for records in options]) for options in own]
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


blocks_of_people = st.lists(st.lists(st.sampled_from(RECORDS), max_size=2), min_size=1, max_size=3)
chosen_tables = st.lists(st.sampled_from(["A", "B", "C", "AB", "AC", "BC", "sum"]), unique=True, max_size=4)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(blocks_of_people, chosen_tables, chosen_tables, st.sampled_from([0, 0, 1]))
def test_exactly_the_claims_that_hold_in_every_dataset_are_verified(
    blocks: list[list[tuple[int, ...]]], below: list[str], above: list[str], width: int
) -> None:
    levels = levels_of(blocks, below, above, width)
    for verified, true in zip(attack_levels(levels, K=6), true_claims(levels), strict=True):
        assert set(verified.claims) == true
        assert verified.undecided == ()


def two_blocks() -> Levels:
    """Two blocks with one record each; the tract says what the blocks do not."""
    return levels_of([[(0, 0, 2)], [(1, 1, 0)]], ["A"], ["AC", "B"])


def test_the_tract_tells_what_a_block_alone_does_not() -> None:
    levels = two_blocks()
    alone = attack_release(levels.blocks[0], DEFAULT).claims
    together = next(iter(attack_levels(levels)))
    assert Claim((0, ANY, 2), 1) not in alone
    assert Claim((0, ANY, 2), 1) in together.claims
    assert Claim((0, 0, 2), 1) not in together.claims  # which of the two has B = 0 is told by no table


def test_without_a_table_of_the_tract_it_is_the_attack_on_the_block() -> None:
    levels = levels_of([[(0, 0, 2), (0, 1, 0)], [(1, 1, 0)]], ["AB", "C"], [])
    for verified, block in zip(attack_levels(levels), levels.blocks, strict=True):
        assert set(verified.claims) == set(attack_release(block, DEFAULT).claims)


def test_competing_blocks_are_told_apart_where_the_rest_as_one_is_not_enough() -> None:
    """Three persons with C = 2 in the tract, and each block has room for one: taken together the others could hold all."""
    blocks = [[(0, 0, 2), (1, 1, 0)]] * 3
    levels = levels_of(blocks, ["AB", "sum"], ["AC"])
    for verified, true in zip(attack_levels(levels), true_claims(levels), strict=True):
        assert set(verified.claims) == true


def test_a_proof_is_told_in_words() -> None:
    levels = two_blocks()
    verified = next(iter(attack_levels(levels)))
    text = explain_levels(levels, verified, Claim((0, ANY, 2), 1))
    assert text.startswith("block b0: exactly 1 record with A: no, C: two")
    assert "tract/AC." in text
    with pytest.raises(DataError, match="not among the verified claims"):
        explain_levels(levels, verified, Claim((0, 0, 2), 1))


def forged(proof: LevelsProof) -> Iterator[LevelsProof]:
    """The certificate with other counts or multipliers, or about other cells."""
    for place, claim in enumerate(proof.certificate["claims"]):
        changed = deepcopy(proof.certificate)
        changed["claims"][place]["m"] = claim["m"] + 1
        yield LevelsProof(proof.groups, proof.cells, changed)
    for place, both in enumerate(proof.certificate["proofs"]):
        for cell in both["lower"].get("y", {}):
            changed = deepcopy(proof.certificate)
            changed["proofs"][place]["lower"]["y"][cell] -= 3
            yield LevelsProof(proof.groups, proof.cells, changed)
    yield LevelsProof(proof.groups, proof.cells[1:], proof.certificate)
    yield LevelsProof(proof.groups[::-1], proof.cells, proof.certificate)


def test_forged_proofs_are_refused() -> None:
    levels = levels_of([[(0, 0, 2), (0, 1, 0)], [(1, 1, 0)]], ["AB"], ["AC", "BC"])
    tried = 0
    for verified in attack_levels(levels):
        for proof in verified.proofs:
            assert proof.check(levels).claims == len(proof.certificate["claims"])
            for false in forged(proof):
                tried += 1
                with pytest.raises((CertificateError, ReleaseError)):
                    false.check(levels)
    assert tried > 20


def test_a_proof_is_about_its_counts() -> None:
    levels, other = two_blocks(), levels_of([[(0, 0, 0)], [(1, 1, 0)]], ["A"], ["AC", "B"])
    proof = next(iter(attack_levels(levels))).proofs[0]
    with pytest.raises(CertificateError, match="other counts"):
        proof.check(other)


def test_blocks_that_do_not_add_up_are_named() -> None:
    one, tract = publish(schema_of(["A"]), "b0", [(0, 0, 0)]), publish(schema_of(["A"]), "tract", [(1, 0, 0)])
    with pytest.raises(ReleaseError, match=r"tract tract: A\.0 is 0, but A\.0 of its blocks adds up to 1"):
        make_levels([one], [Area("tract", tract, (0,))])
    with pytest.raises(ReleaseError, match="counts 1 records, but its 2 blocks 2"):
        make_levels([one, one], [Area("tract", tract, (0, 1))])


def test_areas_without_blocks_or_with_the_same_block_are_refused() -> None:
    levels = two_blocks()
    [area] = levels.areas
    with pytest.raises(ReleaseError, match="has no blocks"):
        make_levels(levels.blocks, [Area("tract", area.release, ())])
    with pytest.raises(ReleaseError, match="block b0 lies in two areas of the level tract"):
        make_levels(levels.blocks, [area, area])
    with pytest.raises(ReleaseError, match="no blocks"):
        make_levels([], [])


def test_tables_that_contradict_each_other_are_said_to() -> None:
    """Each table adds up, but no record can have both: A = 0 only with C = 2 by the tract, only with C = 0 by the block."""
    block = publish(schema_of(["AC"]), "b0", [(0, 0, 0)])
    tract = publish(schema_of(["A", "BC"]), "tract", [(0, 0, 2)])
    levels = make_levels([block], [Area("tract", tract, (0,))])
    with pytest.raises(ReleaseError, match="contradict"):
        list(attack_levels(levels))


def test_columns_and_groups_must_fit() -> None:
    levels = two_blocks()
    named = Domain((Column("BLOCK", "", (0, 1), ("a", "b")),))
    odd = Release(Schema(named, (), ()), "x", 1, *[np.zeros(0, dtype=np.int64)] * 3)
    with pytest.raises(DataError, match="rename it"):
        make_levels([odd], [])
    with pytest.raises(DataError, match="other columns or codes"):
        make_levels([levels.blocks[0], odd], [])
    with pytest.raises(DataError, match="exactly one group"):
        joined(levels, [[0]])
    half = Levels(levels.blocks, (Area("tract", levels.areas[0].release, (0,)),))
    with pytest.raises(DataError, match="splits a group"):
        joined(half, [[0, 1]])
