"""Releases whose counts are ranges, and cells withheld, against all datasets that fit, listed one by one."""

from dataclasses import replace
from itertools import combinations
from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import brute_force as brute
from genverify.attack.explain import Reasons, proof_cells
from genverify.attack.verify import Verdict, Verifier, check_ranges
from genverify.checker.certificate import CertificateError
from genverify.checker.record_proofs import check_block
from genverify.disclosure.record_audit import Attack, search_cells, singles
from genverify.model.claims import ANY, Claim
from genverify.model.release import Release
from genverify.protect.publishing import Publishing, publish, without
from genverify.solve.program_settings import DEFAULT

tiny = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
randoms = st.randoms(use_true_random=False)
SETTINGS = DEFAULT.but(max_types=10_000, iterations=100_000, nodes=5000, leaves=1000, seconds=60.0)
HOWS = [
    Publishing(suppress=2),
    Publishing(suppress=3),
    Publishing(suppress=2, zeros=False),
    Publishing(rounding="nearest", base=2),
    Publishing(rounding="nearest", base=3),
    Publishing(rounding="random", base=2),
    Publishing(rounding="stated", base=1),
    Publishing(suppress=2, rounding="nearest", base=3),
]


def exact_release(random: Random) -> Release:
    """All counts of a tiny dataset."""
    release = brute.some_release(random)
    schema, names = release.schema, release.schema.domain.names
    data = [random.choice(brute.records_of(schema)) for _ in range(release.n)]
    counts = np.array([sum(brute.matches(q.predicate, names, record) for record in data) for q in schema.queries])
    return Release(schema, "tiny", release.n, np.arange(len(counts)), counts, counts)


def verified(release: Release, min_m: int = 0) -> set[Claim]:
    """Every claim that all datasets agree on."""
    truth = brute.Truth(release)
    said = {codes: truth.counts(codes) for codes in brute.every_assignment(release.schema.domain)}
    return {Claim(codes, next(iter(m))) for codes, m in said.items() if len(m) == 1 and min(m) >= min_m}


@tiny
@given(randoms, st.sampled_from(HOWS))
def test_claims_from_protected_counts_are_those_of_brute_force(random: Random, how: Publishing) -> None:
    release = exact_release(random)
    seen = publish(release, how, np.random.default_rng(random.randrange(1000)))
    found = Attack(SETTINGS, 20, 1, 1)(seen)
    assert set(found.claims) == verified(seen, min_m=1)
    assert {d.verdict for d in found.decisions} <= {Verdict.VERIFIED, Verdict.REFUTED}
    assert check_block(seen, found.certificate).claims == len(found.claims)
    assert set(found.claims) <= verified(release, min_m=1)


@tiny
@given(randoms, st.sampled_from(HOWS))
def test_ranges_of_cells_are_those_of_brute_force(random: Random, how: Publishing) -> None:
    seen = publish(exact_release(random), how, np.random.default_rng(1))
    kept = without(seen, {q.id for q in seen.queries if random.random() < 0.4})
    verifier, names = Verifier(SETTINGS.bounder(kept)), kept.schema.domain.names
    datasets = brute.Truth(kept).datasets
    columns = dict(zip(names, datasets.reshape(-1, len(names)).T, strict=True))
    for query in kept.schema.queries:
        held = query.predicate.matches(columns).reshape(len(datasets), -1).sum(axis=1)
        found = verifier.range_of(query.predicate)
        assert (found.low, found.high) == (held.min(), held.max())
        check_ranges(verifier.bounder.program, [(query.predicate, found)])
        for narrower in (replace(found, low=found.low + 1), replace(found, high=found.high - 1)):
            with pytest.raises(CertificateError):
                check_ranges(verifier.bounder.program, [(query.predicate, narrower)])


def singletons(release: Release, k: int) -> set[Claim]:
    return {claim for claim in verified(release) if claim.m == 1 and claim.k >= k}


@settings(tiny, max_examples=30)
@given(randoms, st.booleans())
def test_withheld_cells_leave_no_claim_and_no_smaller_set_does(random: Random, ranges: bool) -> None:
    release = exact_release(random)
    release = publish(release, Publishing(suppress=2), np.random.default_rng(0)) if ranges else release
    attack = Attack(SETTINGS, 20, 1, 1)
    found = search_cells([attack(release)], attack, 2, 60)
    cells = [step.cell for step in found.steps]
    remains = without(release, set(cells))
    assert found.before == len(singletons(release, 2))
    assert found.left == len(singletons(remains, 2))
    ids = [query.id for query in release.queries]
    unavoidable = len(singletons(replace(release, cells=release.cells[:0], lo=release.lo[:0], hi=release.hi[:0]), 2))
    assert found.left == unavoidable
    for fewer in combinations(ids, max(len(cells) - 1, 0)) if cells else ():
        assert len(singletons(without(release, set(fewer)), 2)) > unavoidable
    assert found.least == len(cells)


@settings(tiny, max_examples=40)
@given(randoms)
def test_the_cells_of_a_proof_are_enough_for_it(random: Random) -> None:
    release = exact_release(random)
    found = Attack(SETTINGS, 20, 1, 1)(release)
    proofs = found.certificate
    for stored in proofs["statements"][:4]:
        cells = proof_cells(Reasons(release, proofs["lemmas"]), proofs, stored)
        alone = without(release, {query.id for query in release.queries} - set(cells))
        codes = tuple(stored["where"].get(name, ANY) for name in release.schema.domain.names)
        assert brute.Truth(alone).counts(codes) == {stored["m"]}


def test_singles_are_claims_about_one_record() -> None:
    found = Attack(SETTINGS, 5, 1, 1)(brute.clique(4))
    assert all(claim.m == 1 and claim.k >= 1 for claim in singles(found, 1))
