"""The library and the checker against brute force, on tiny domains where every dataset can be listed."""

import json
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import brute_force as brute
import mutations
from certificates import check
from genverify.attack.generate import generate
from genverify.attack.verify import Decision, Verdict, Verifier, cannot_exist
from genverify.checker.certificate import CertificateError
from genverify.model.claims import ANY, Claim, as_claims, candidate_claims
from genverify.model.domain import Column, Domain, Predicate
from genverify.model.errors import ReleaseError
from genverify.model.query import Query
from genverify.model.release import Release, Schema
from genverify.solve.bounds import Bounder, Limits
from genverify.solve.program import Program, build_program
from genverify.solve.solvers.base import WorkLimits
from genverify.solve.solvers.highs import Highs

tiny = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
randoms = st.randoms(use_true_random=False)


SOLVER = Highs(WorkLimits(iterations=100_000, nodes=1000, seconds=60))
LIMITS = Limits(nodes=5000, leaves=1000, seconds=60)


def bounder_of(release: Release) -> Bounder:
    return Bounder(build_program(release, 10_000), SOLVER, LIMITS)


def tightened(program: Program) -> bool:
    """Whether a row is narrower than the cell that it is named after: two ranges for the same records were joined."""
    known = {
        query.id: (lo, hi)
        for query, lo, hi in zip(program.release.queries, program.release.lo, program.release.hi, strict=True)
    }
    rows = list(zip(program.rows, program.lo, program.hi, strict=True))[1:]
    return any(known[name] != (lo, hi) for name, lo, hi in rows)


def where(release: Release, claim: Claim) -> dict:
    return {name: code for name, code in zip(release.schema.domain.names, claim.codes, strict=True) if code != ANY}


def certificate(program: Program, decisions: list[Decision]) -> dict:
    """The proofs of the verified claims, as they stand in a file."""
    verified = [d for d in decisions if d.verdict is Verdict.VERIFIED]
    text = {
        "block": program.release.block,
        "lemmas": [{"universe": lemma.universe, "cells": list(lemma.cells)} for lemma in program.lemmas],
        "proofs": [{"lower": d.lower, "upper": d.upper} for d in verified],
        "claims": [{"where": where(program.release, d.claim), "m": d.claim.m, "proof": i} for i, d in enumerate(verified)],
    }
    return json.loads(json.dumps(text))


def every_claim(release: Release) -> list[Claim]:
    return [Claim(codes, m) for codes in brute.every_assignment(release.schema.domain) for m in range(release.n + 1)]


def true_claims(release: Release, claims: list[Claim]) -> set[Claim]:
    truth = brute.Truth(release)
    counts = {claim.codes: truth.counts(claim.codes) for claim in claims}
    return {claim for claim in claims if counts[claim.codes] <= {claim.m}}


def test_brute_force_counts_by_hand() -> None:
    release = brute.clique(4)
    assert len(brute.Truth(release).datasets) == 4
    assert brute.Truth(release).counts((ANY, 1)) == {1}
    assert brute.Truth(release).counts((1, ANY)) == {0, 1}


@tiny
@given(randoms, st.booleans(), st.booleans())
def test_verified_claims_are_those_of_brute_force_and_their_proofs_are_accepted(
    random: Random, slack: bool, sums: bool
) -> None:
    release = brute.some_release(random, slack=slack, sums=sums)
    bounder = bounder_of(release)
    claims = every_claim(release)
    decisions = Verifier(bounder).decide(claims)
    assert {d.claim for d in decisions if d.verdict is Verdict.VERIFIED} == true_claims(release, claims)
    assert {d.verdict for d in decisions} <= {Verdict.VERIFIED, Verdict.REFUTED}
    text = certificate(bounder.program, decisions)
    assert check(release, text).claims == len(text["claims"])


@tiny
@given(randoms, st.sampled_from([1, 3, 10, 60, 500]), st.booleans())
def test_generated_datasets_are_those_of_brute_force(random: Random, K: int, sums: bool) -> None:
    release = brute.some_release(random, sums=sums)
    truth = {dataset.tobytes() for dataset in brute.Truth(release).datasets}
    found = generate(bounder_of(release), K, 7)
    drawn = [dataset.astype(np.int64).tobytes() for dataset in found.records]
    assert len(set(drawn)) == len(drawn) == min(K, len(truth))
    assert set(drawn) <= truth
    if len(truth) < K:
        assert found.complete
        assert found.unique == (len(truth) == 1)
    if found.complete:
        assert len(drawn) == len(truth)


@tiny
@given(randoms)
def test_the_verified_set_does_not_depend_on_the_number_of_datasets(random: Random) -> None:
    release = brute.some_release(random)
    expected = true_claims(release, [claim for claim in every_claim(release) if claim.m > 0])
    for K in (1, 4, 50):
        bounder = bounder_of(release)
        claims = as_claims(*candidate_claims(generate(bounder, K, K).records, 1))
        decisions = Verifier(bounder).decide(claims)
        assert {d.claim for d in decisions if d.verdict is Verdict.VERIFIED} == expected


def some_release_or_graph(random: Random) -> Release:
    return brute.some_graph(random) if random.random() < 0.2 else brute.some_release(random, sums=random.random() < 0.4)


def impossible(program: Program, said: list[dict]) -> dict:
    return json.loads(json.dumps({**certificate(program, []), "impossible": said}))


@tiny
@given(randoms)
def test_ranges_are_those_of_brute_force(random: Random) -> None:
    release = some_release_or_graph(random)
    truth, verifier = brute.Truth(release), Verifier(bounder_of(release))
    for codes in random.sample(brute.every_assignment(release.schema.domain), 6):
        found, counts, said = verifier.range(Claim(codes, 0)), truth.counts(codes), where(release, Claim(codes, 0))
        assert (found.low, found.high) == (min(counts), max(counts))
        more = {"where": said, "m": found.high + 1, "proof": mutations.impossible_of(found.upper, 1)}
        less = {"where": said, "m": found.low - 1, "proof": mutations.impossible_of(found.lower, -1)}
        text = impossible(verifier.bounder.program, [more, less] if found.low else [more])
        assert check(release, text).impossible == len(text["impossible"])
        bound = {"where": said, "m": found.low, "proof": found.lower}
        text = certificate(verifier.bounder.program, []) | {"at_least": [bound]}
        assert [m for _, m in check(release, text).at_least] == [min(counts)]
        with pytest.raises(CertificateError):
            check(release, text | {"at_least": [bound | {"m": min(counts) + 1}]})


@tiny
@given(randoms)
def test_counts_that_cannot_exist_are_those_of_brute_force(random: Random) -> None:
    release = some_release_or_graph(random)
    truth, program = brute.Truth(release), build_program(release, 10_000)
    for codes in random.sample(brute.every_assignment(release.schema.domain), 4):
        claim = Claim(codes, random.randint(0, release.n))
        found = cannot_exist(program, claim, SOLVER, LIMITS, 10_000)
        assert (found.proof is None) == (claim.m in truth.counts(codes))
        assert (found.counterexample is None) == (found.proof is not None)
        if found.proof is not None:
            said = {"where": where(release, claim), "m": claim.m, "proof": found.proof}
            assert check(release, impossible(program, [said])).impossible == 1


@tiny
@given(randoms)
def test_contradictory_counts_are_proved_so(random: Random) -> None:
    release = brute.some_release(random, sums=random.random() < 0.4)
    assume(len(release.lo))
    counts = release.lo.copy()
    counts[random.randrange(len(counts))] += 1
    changed = replace(release, lo=counts, hi=counts)
    assume(not len(brute.Truth(changed).datasets))
    try:
        bounder = bounder_of(changed)
    except ReleaseError:  # two cells that count the same records differ: seen while the program is built
        return
    proof = bounder.at_most(np.zeros(bounder.program.classes, dtype=np.int64), -1).proof
    assert proof is not None
    text = {**certificate(bounder.program, []), "contradiction": proof}
    assert check(changed, json.loads(json.dumps(text))).contradiction
    with pytest.raises(CertificateError):
        check(release, json.loads(json.dumps(text)))


@pytest.mark.parametrize("size", [4, 5, 6])
def test_a_clique_needs_a_branching_proof(size: int) -> None:
    release = brute.clique(size)
    bounder = bounder_of(release)
    [decision] = Verifier(bounder).decide([Claim((ANY, 1), 1)])
    assert decision.verdict is Verdict.VERIFIED
    assert decision.integer
    text = certificate(bounder.program, [decision])
    assert "at" in text["proofs"][0]["upper"]
    assert check(release, text).claims == 1


def test_ranges_of_the_same_records_are_cited_each_under_its_own_name() -> None:
    codes = ((1, 2), ("1", "2"))
    domain = Domain((Column("A", "A", *codes), Column("B", "B", *codes)))
    conditions = {"upto1": {"A": [1]}, "from1": {"A": [1], "B": [1]}, "zero": {"A": [1], "B": [2]}}
    queries = tuple(Query(name, "T", name, Predicate.of(where)) for name, where in conditions.items())
    release = Release(Schema(domain, (), queries), "tiny", 2, np.arange(3), np.array([0, 1, 0]), np.array([1, 2, 0]))
    bounder = bounder_of(release)
    decisions = Verifier(bounder).decide([Claim((1, ANY), 1)])
    assert decisions[0].verdict is Verdict.VERIFIED
    assert check(release, certificate(bounder.program, decisions)).claims == 1


# Mutations


def base_certificates(random: Random, release: Release) -> Iterator[dict]:
    """Certificates of single claims of a release, some with impossible counts or the bound that the same proof shows."""
    bounder = bounder_of(release)
    if tightened(bounder.program):
        return
    codes = random.sample(brute.every_assignment(release.schema.domain), 8)
    claims = [Claim(c, m) for c in [codes[0], (ANY, 1, ANY)[: len(codes[0])], *codes[1:]] for m in range(release.n + 1)]
    decisions = [d for d in Verifier(bounder).decide(claims) if d.verdict is Verdict.VERIFIED]
    for decision in decisions[:4]:
        text = certificate(bounder.program, [decision])
        [claim], [pair] = text["claims"], text["proofs"]
        if random.random() < 0.3:
            more = {"where": dict(claim["where"]), "m": claim["m"] + 1, "proof": mutations.impossible_of(pair["upper"], 1)}
            less = {"where": dict(claim["where"]), "m": claim["m"] - 1, "proof": mutations.impossible_of(pair["lower"], -1)}
            text["impossible"] = deepcopy([more] if claim["m"] == 0 else [more, less])
        elif random.random() < 0.3:
            text["at_least"] = deepcopy([{**claim, "proof": pair["lower"]}])
        yield text


def cases(random: Random, number: int) -> Iterator[tuple[Release, dict]]:
    """Releases, each with a certificate that is right."""
    for place in range(number):
        graph = place % 4 == 0
        release = brute.some_graph(random) if graph else brute.some_release(random, 10, place % 2 == 0, place % 3 == 0)
        for text in base_certificates(random, release):
            yield release, text
            # a fork by the cells of a record says something else once the release has a cell more
            if not graph and random.random() < 0.3 and not any("like" in node for node in mutations.nodes_of(text)):
                yield mutations.contradictory(release, text)


def test_no_mutated_certificate_is_accepted_for_what_is_false() -> None:
    random = Random(20240607)
    tried, accepted, seen = Counter[str](), Counter[str](), Counter[str]()
    for release, text in cases(random, 300):
        check(release, text)
        forks = any("at" in node for node in mutations.nodes_of(text))
        seen["forks"] += forks
        seen.update(key for key in ("lemmas", "impossible", "at_least", "contradiction") if text.get(key))
        for _ in range(60 if forks else 20):
            mutant, changed = deepcopy(text), release
            for _ in range(random.choice([1, 1, 2, 3])):
                kind, changed = mutations.mutate(random, changed, mutant)
            tried[kind] += 1
            try:
                check(changed, mutant)
            except CertificateError:
                continue
            accepted[kind] += 1
            assert not brute.refuted(changed, mutant), (kind, changed, mutant)
    assert sum(tried.values()) > 10_000
    assert set(tried) == {mutation.__name__ for mutation in mutations.MUTATIONS}
    assert min(seen[key] for key in ("forks", "lemmas", "impossible", "at_least", "contradiction")) > 20
    assert sum(accepted.values()) > 1000


def test_no_wrong_lemma_is_accepted_for_what_is_false() -> None:
    """COUNT(a) = 0 with no multipliers: only the lemma can make it true, by leaving no record that matches."""
    random, nothing, accepted = Random(99), {"kind": "bound", "y": {}}, 0
    for place in range(1500):
        release = brute.some_release(random, queries=10, slack=place % 2 == 0, sums=place % 3 == 0)
        cells = mutations.cells_of(release)
        lemma = {"universe": random.choice(["N", *cells]), "cells": random.choices(cells, k=random.randint(1, 3))}
        text = {"block": "tiny", "lemmas": [lemma], "proofs": [{"lower": nothing, "upper": nothing}]}
        for codes in random.sample(brute.every_assignment(release.schema.domain), 4):
            said = {**text, "claims": [{"where": where(release, Claim(codes, 0)), "m": 0, "proof": 0}]}
            try:
                check(release, said)
            except CertificateError:
                continue
            accepted += 1
            assert not brute.refuted(release, said), (release, said)
    assert accepted > 100
