"""Block and area tables in one attack: against all datasets of tiny areas, forged proofs, and beside the block alone."""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from genverify.attack import verify as attack_of_levels
from genverify.attack.verify import AreaAttack, attack_release
from genverify.checker.certificate import CertificateError
from genverify.checker.record_proofs import AreaChecker
from genverify.disclosure.release_data import Line, area_queries
from genverify.model.areas import Area, make_levels, seen_from, together
from genverify.model.claims import ANY, Claim
from genverify.model.domain import Column, Domain
from genverify.model.errors import DataError, ReleaseError
from genverify.model.release import Release, Schema
from genverify.solve import joint as jointbounds
from genverify.solve.program_settings import DEFAULT
from tiny_levels import DOMAIN, RECORDS, TABLES, count, levels_of, publish, schema_of, true_claims, two_blocks

blocks_of_people = st.lists(st.lists(st.sampled_from(RECORDS), max_size=2), min_size=1, max_size=3)
counting_tables = st.lists(st.sampled_from(TABLES), unique=True, max_size=4)
chosen_tables = st.lists(st.sampled_from(["A", "B", "C", "AB", "AC", "BC", "sum"]), unique=True, max_size=4)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(blocks_of_people, chosen_tables, chosen_tables, st.sampled_from([0, 0, 1]), st.none() | chosen_tables)
def test_exactly_the_claims_that_hold_in_every_dataset_are_verified(
    blocks: list[list[tuple[int, ...]]], below: list[str], above: list[str], width: int, between: list[str] | None
) -> None:
    levels = levels_of(blocks, below, above, width, between)
    for verified, true in zip(AreaAttack(levels, K=6).blocks(), true_claims(levels), strict=True):
        assert set(verified.claims) == true
        assert verified.undecided == ()


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(blocks_of_people, chosen_tables, chosen_tables)
def test_the_ways_of_large_tracts_leave_at_most_something_undecided(
    blocks: list[list[tuple[int, ...]]], below: list[str], above: list[str]
) -> None:
    """Datasets made block by block, searches near a known one: no false claim, and no true one refuted."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(attack_of_levels, "ONE_SEARCH", 0)
        patch.setattr(jointbounds, "BRANCHED", -1)
        levels = levels_of(blocks, below, above)
        for verified, true in zip(AreaAttack(levels, K=2).blocks(), true_claims(levels), strict=True):
            assert set(verified.claims) <= true <= set(verified.claims) | set(verified.undecided)


def test_the_tract_tells_what_a_block_alone_does_not() -> None:
    levels = two_blocks()
    alone = attack_release(levels.blocks[0], DEFAULT).claims
    together = next(iter(AreaAttack(levels).blocks()))
    assert Claim((0, ANY, 2), 1) not in alone
    assert Claim((0, ANY, 2), 1) in together.claims
    assert Claim((0, 0, 2), 1) not in together.claims  # which of the two has B = 0 is told by no table


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(blocks_of_people, chosen_tables)
def test_without_a_table_of_the_tract_it_is_the_attack_on_the_block(
    blocks: list[list[tuple[int, ...]]], below: list[str]
) -> None:
    levels = levels_of(blocks, below, [])
    for verified, block in zip(AreaAttack(levels, K=3).blocks(), levels.blocks, strict=True):
        assert set(verified.claims) == set(attack_release(block, DEFAULT).claims)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(blocks_of_people, counting_tables, counting_tables)
def test_tables_across_areas_of_a_users_release_say_the_same(
    blocks: list[list[tuple[int, ...]]], below: list[str], above: list[str]
) -> None:
    """`across: true` puts all areas into one program; the same counts as levels give the same claims about each area."""
    lines: list[Line] = [(query, False) for query in schema_of(below).queries]
    lines += [(replace(query, id=f"across {query.id}"), True) for query in schema_of(above).queries]
    codes = {f"b{number}": number for number in range(len(blocks))}
    queries = area_queries(lines, "area", codes)
    domain = Domain((Column("area", "area", tuple(codes.values()), tuple(codes)), *DOMAIN.columns))
    records = [(number, *record) for number, block in enumerate(blocks) for record in block]
    counts = np.array([count(query, records, domain) for query in queries], dtype=np.int64)
    release = Release(Schema(domain, (), tuple(queries)), "all", len(records), np.arange(len(queries)), counts, counts)
    claims = attack_release(release, DEFAULT, K=6).claims
    for verified in AreaAttack(levels_of(blocks, below, above), K=6).blocks():
        own = {Claim(claim.codes[1:], claim.m) for claim in claims if claim.codes[0] == verified.number and claim.k > 1}
        assert own == set(verified.claims)


def test_competing_blocks_are_told_apart_where_the_rest_as_one_is_not_enough() -> None:
    """Three persons with C = 2 in the tract, and each block has room for one: taken together the others could hold all."""
    blocks = [[(0, 0, 2), (1, 1, 0)]] * 3
    levels = levels_of(blocks, ["AB", "sum"], ["AC"])
    for verified, true in zip(AreaAttack(levels).blocks(), true_claims(levels), strict=True):
        assert set(verified.claims) == true


def changed(certificate: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The certificate with another count, or with another multiplier, denominator or bound somewhere."""
    for place, claim in enumerate(certificate["statements"]):
        for m in (claim["m"] - 1, claim["m"] + 1):
            other = deepcopy(certificate)
            other["statements"][place]["m"] = m
            yield other
    for place, both in enumerate(certificate["proofs"]):
        for side in both:
            for cell, change in product(both[side].get("y", {}), (-3, -1, 1)):
                other = deepcopy(certificate)
                other["proofs"][place][side]["y"][cell] += change
                yield other


def count_of(records: Sequence[tuple[int, ...]], where: dict[str, int]) -> int:
    return sum(
        all(dict(zip(DOMAIN.names, record, strict=True))[n] == code for n, code in where.items()) for record in records
    )


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(blocks_of_people, chosen_tables, chosen_tables)
def test_no_changed_proof_is_accepted_for_a_claim_that_some_dataset_refutes(
    blocks: list[list[tuple[int, ...]]], below: list[str], above: list[str]
) -> None:
    """Each block's own records are one dataset that fits: what they contradict must never be accepted."""
    levels = levels_of(blocks, below, above)
    attack = AreaAttack(levels, K=3)
    for verified in attack.blocks():
        kinds = [(verified.alone, lambda c, n=verified.number: attack.checker.alone(n, c))] if verified.alone else []
        kinds += [(verified.together, attack.checker.together)] if verified.together else []
        for certificate, check in kinds:
            for other in changed(certificate):
                try:
                    check(other)
                except (CertificateError, ReleaseError):
                    continue
                for claim in other["statements"]:
                    number = claim["where"].get("BLOCK", verified.number + 1) - 1
                    where = {name: code for name, code in claim["where"].items() if name != "BLOCK"}
                    assert count_of(blocks[number], where) == claim["m"]


def test_what_nobody_has_is_checked() -> None:
    """The tract's one record with C = 2 lies in the first block, so the second has none, which only all cells tell."""
    levels = levels_of([[(1, 0, 2)], [(0, 0, 0)]], ["A", "sum"], ["C"])
    attack = AreaAttack(levels)
    assert attack.shared["nobody"]
    assert Claim((0, ANY, 0), 1) in list(attack.blocks())[1].claims
    AreaChecker(levels, attack.shared)
    for place, proof in enumerate(attack.shared["nobody"]):
        for cell in proof["y"]:
            other = deepcopy(attack.shared)
            other["nobody"][place]["y"][cell] -= 2
            with pytest.raises(CertificateError, match=r"below 0|leaves room"):
                AreaChecker(levels, other)
    with pytest.raises(CertificateError, match="version of the certificate is missing"):
        AreaChecker(levels, {"nobody": []})
    with pytest.raises(CertificateError, match="listed by block"):
        AreaChecker(levels, {**attack.shared, "lemmas": []})


def test_a_proof_is_about_its_counts() -> None:
    levels, other = two_blocks(), levels_of([[(0, 0, 0)], [(1, 1, 0)]], ["A"], ["AC", "B"])
    attack = AreaAttack(levels)
    with pytest.raises(CertificateError, match="other counts"):
        AreaChecker(other, attack.shared)


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
        list(AreaAttack(levels).blocks())


def test_columns_tables_and_names_must_fit() -> None:
    levels = two_blocks()
    named = Domain((Column("BLOCK", "", (0, 1), ("a", "b")),))
    odd = Release(Schema(named, (), ()), "x", 1, *[np.zeros(0, dtype=np.int64)] * 3)
    with pytest.raises(DataError, match="rename it"):
        make_levels([odd], [])
    with pytest.raises(DataError, match="other columns or codes"):
        make_levels([levels.blocks[0], odd], [])
    with pytest.raises(DataError, match="other tables than b0"):
        make_levels([levels.blocks[0], publish(schema_of(["C"]), "x", [(0, 0, 0)])], [])
    with pytest.raises(ReleaseError, match="b0 is the name of two blocks or areas"):
        make_levels([levels.blocks[0], levels.blocks[0]], [])


def test_a_block_alone_is_told_no_more_than_its_areas_count() -> None:
    levels = two_blocks()
    seen = seen_from(levels, 0)
    known = {query.id: (lo, hi) for query, lo, hi in zip(seen.queries, seen.lo.tolist(), seen.hi.tolist(), strict=True)}
    assert known["A.0"] == (1, 1)
    assert known["tract/B.0"] == (0, 1)
    assert known["tract/AC.00"] == (0, 0)
    assert [query.id for query in together(levels).queries if query.table == "N"] == ["b0/N", "b1/N", "tract/N"]
