"""The attack on small releases: edge cases, contradictions, and solvers that answer wrongly."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from certificates import check
from genverify.attack.generate import generate, generate_block
from genverify.attack.verify import Verdict, Verifier, cannot_exist, check_decisions, verify_block
from genverify.checker.record_proofs import check_block
from genverify.model.claims import Claim, as_claims, candidate_claims, parse_claim
from genverify.model.domain import Column, Domain, Predicate
from genverify.model.errors import DataError, ReleaseError
from genverify.model.query import Query
from genverify.model.release import Release, Schema, make_release
from genverify.solve.admissible import TooManyTypes
from genverify.solve.bounds import Bounder, Limits
from genverify.solve.program import WrongAnswer, build_program
from genverify.solve.program_settings import DEFAULT
from genverify.solve.solvers.base import Answer, Infeasible, Limit, Optimal, Solver, Stopped, WorkLimits
from genverify.solve.solvers.highs import Highs

SETTINGS = DEFAULT.but(max_types=10_000, iterations=10_000, seconds=60.0)
WORK = WorkLimits(10_000, 1_000, 60.0)
LIMITS = Limits(500, 200, 60.0)
WHERE = {
    "A": {"A": [1]},
    "B": {"B": [1]},
    "C": {"C": [1]},
    "AB": {"A": [1], "B": [1]},
    "BC": {"B": [1], "C": [1]},
    "AC": {"A": [1], "C": [1]},
    "A-not-B": {"A": [1], "B": [0]},
}


@pytest.fixture
def schema() -> Schema:
    columns = tuple(Column(name, name, (0, 1), ("no", "yes")) for name in "ABC")
    queries = tuple(Query(name, "T", name, Predicate.of(where)) for name, where in WHERE.items())
    return Schema(Domain(columns), (), queries)


def bounder(release: Release, solver: Solver | None = None) -> Bounder:
    return Bounder(build_program(release, 10_000), solver or Highs(WORK), LIMITS)


def verified(release: Release, K: int = 50, min_k: int = 1) -> set[Claim]:
    generated = generate_block(release, SETTINGS, K, 1)
    found = verify_block(release, generated.records, SETTINGS, min_k)
    check_block(release, found.certificate)
    return set(found.claims)


def test_the_papers_toy_example(schema: Schema) -> None:
    """Section 4.2: COUNT(A, B) = COUNT(B, C) = COUNT(B) = 1 single out one record with A, B and C."""
    release = make_release(schema, "b", {"N": 3, "AB": 1, "BC": 1, "B": 1})
    assert Claim((1, 1, 1), 1) in verified(release)


def test_one_record(schema: Schema) -> None:
    release = make_release(schema, "b", {"N": 1, "A": 1, "B": 0, "C": 1})
    generated = generate_block(release, SETTINGS, 100, 1)
    assert generated.unique
    assert generated.records.tolist() == [[[1, 0, 1]]]
    assert Claim((1, 0, 1), 1) in verified(release)


def test_all_records_alike(schema: Schema) -> None:
    release = make_release(schema, "b", {"N": 5, "A": 5, "B": 5, "C": 0})
    assert generate_block(release, SETTINGS, 100, 1).unique
    assert Claim((1, 1, 0), 5) in verified(release)


def test_a_release_without_tables_verifies_nothing(schema: Schema) -> None:
    release = make_release(schema, "b", {"N": 2})
    generated = generate_block(release, SETTINGS, 100, 1)
    assert len(generated.records) == 36  # multisets of 2 of 8 records
    assert generated.complete
    assert verified(release) == set()


def test_a_value_outside_the_domain_matches_nobody(schema: Schema) -> None:
    verifier = Verifier(bounder(make_release(schema, "b", {"N": 2, "A": 1})))
    none, one = Claim((7, -1, -1), 0), Claim((7, -1, -1), 1)
    assert [decision.verdict for decision in verifier.decide([none, one])] == [Verdict.VERIFIED, Verdict.REFUTED]
    assert (verifier.range(one).low, verifier.range(one).high) == (0, 0)


def test_zero_multiplicity_on_request(schema: Schema) -> None:
    verifier = Verifier(bounder(make_release(schema, "b", {"N": 3, "AB": 0, "A": 1})))
    assert verifier.decide([Claim((1, 1, -1), 0)])[0].verdict is Verdict.VERIFIED


def test_contradictory_counts_name_block_and_cells(schema: Schema) -> None:
    release = make_release(schema, "block 7", {"N": 4, "A": 1, "AB": 1, "A-not-B": 1, "C": 2})
    with pytest.raises(ReleaseError, match=r"block 7: no dataset fits.*A = 1.*AB = 1.*A-not-B = 1"):
        generate_block(release, SETTINGS, 10, 1)


def test_contradictory_zero_counts(schema: Schema) -> None:
    with pytest.raises(ReleaseError, match=r"AB = 1.*A = 0"):
        generate_block(make_release(schema, "b", {"N": 2, "A": 0, "AB": 1}), SETTINGS, 10, 1)


def test_a_contradiction_has_a_certificate(schema: Schema) -> None:
    release = make_release(schema, "b", {"N": 2, "A": 3})
    proof = bounder(release).at_most(np.zeros(bounder(release).program.classes, dtype=np.int64), -1).proof
    assert proof is not None
    proofs = {"block": "b", "lemmas": [], "proofs": [], "claims": [], "contradiction": proof}
    assert check(release, proofs).contradiction


def test_counts_that_cannot_exist(schema: Schema) -> None:
    """Two records, one with A and one with A and B: COUNT(A, B) can be 1 only; COUNT(C) can be anything."""
    release = make_release(schema, "b", {"N": 2, "A": 1, "AB": 1})
    program = build_program(release, 1000)
    for m, possible in ((0, False), (1, True), (2, False)):
        found = cannot_exist(program, Claim((1, 1, -1), m), Highs(WORK), LIMITS, 1000)
        assert (found.counterexample is not None) == possible
        if found.proof is not None:
            said = {"where": {"A": 1, "B": 1}, "m": m, "proof": found.proof}
            lemmas = [lemma.as_dict() for lemma in program.lemmas]
            proofs = {"block": "b", "lemmas": lemmas, "proofs": [], "claims": [], "impossible": [said]}
            assert check(release, proofs).impossible == 1
    assert cannot_exist(program, Claim((-1, -1, 1), 2), Highs(WORK), LIMITS, 1000).counterexample is not None


def test_the_verified_set_does_not_depend_on_K(schema: Schema) -> None:
    release = make_release(schema, "b", {"N": 4, "A": 2, "AB": 1, "BC": 1, "B": 2, "C": 1})
    assert verified(release, K=1) == verified(release, K=3) == verified(release, K=200) != set()


def test_too_many_types_is_a_clear_error(schema: Schema) -> None:
    release = make_release(schema, "b", {"N": 2, "A": 1, "B": 1, "C": 1})
    with pytest.raises(TooManyTypes, match=r"program\.max_types"):
        build_program(release, 4)


def test_claims_are_parsed(schema: Schema) -> None:
    assert parse_claim("A=1, C=0, m=2", schema.domain) == Claim((1, -1, 0), 2)
    with pytest.raises(DataError, match="not of the form"):
        parse_claim("A>1", schema.domain)
    with pytest.raises(DataError, match="did you mean A"):
        parse_claim("AA=1", schema.domain)


def test_candidates_hold_in_every_dataset() -> None:
    datasets = np.array([[[0, 1], [0, 1]], [[0, 1], [1, 1]]], dtype=np.int16)
    assert as_claims(*candidate_claims(datasets, 1)) == [Claim((-1, 1), 2)]


class Lying:
    """A solver whose linear program's answers are changed before they are given."""

    name = "lying"

    def __init__(self, change: Any) -> None:
        self.change, self.honest = change, Highs(WORK)

    def linear_program(self, A: Any, lo: Any, hi: Any) -> Any:
        program, change = self.honest.linear_program(A, lo, hi), self.change

        class Changed:
            push_row, pop_row = program.push_row, program.pop_row

            def maximise(self, objective: Any) -> Answer:
                return change(program.maximise(objective))

        return Changed()

    def solve(self, program: Any) -> Answer:
        return self.change(self.honest.solve(program))

    def pool(self, program: Any, K: int, seed: int) -> list[Any]:
        return self.honest.pool(program, K, seed)


def test_a_point_that_does_not_fit_is_caught_by_the_recount(schema: Schema) -> None:
    release = make_release(schema, "b", {"N": 3, "A": 1, "B": 2})
    wrong = Lying(lambda answer: replace(answer, z=answer.z + 1.0))
    with pytest.raises(WrongAnswer, match="does not fit the published counts"):
        generate(bounder(release, wrong), 10, 1)


def test_a_bound_that_is_too_low_verifies_nothing(schema: Schema) -> None:
    """The solver says that at most 0 records match; its multipliers cannot show it, so the claim is not verified."""
    release = make_release(schema, "b", {"N": 3, "A": 2, "B": 1})
    liar = Lying(lambda answer: Optimal(0.0, answer.z, None if answer.y is None else answer.y * 0))
    decisions = Verifier(bounder(release, liar)).decide([Claim((1, 1, -1), 0), Claim((1, 1, -1), 1)])
    assert all(decision.verdict is not Verdict.VERIFIED for decision in decisions)


def test_a_false_infeasible_verifies_nothing(schema: Schema) -> None:
    release = make_release(schema, "b", {"N": 3, "A": 2, "B": 1})
    liar = Lying(lambda answer: Infeasible(answer.y))
    assert Verifier(bounder(release, liar)).decide([Claim((1, -1, -1), 1)])[0].verdict is Verdict.UNCERTIFIED


def test_a_limit_makes_a_claim_undecided(schema: Schema) -> None:
    release = make_release(schema, "b", {"N": 3, "A": 2, "B": 1})
    tired = Lying(lambda answer: Stopped(Limit.WORK))
    decision = Verifier(bounder(release, tired)).decide([Claim((1, 1, -1), 1)])[0]
    assert (decision.verdict, decision.limit) == (Verdict.UNDECIDED, "work limit")


def test_what_a_cell_says_by_itself_needs_no_solver(schema: Schema) -> None:
    """The claim speaks of exactly the records of a published cell: its count is the proof. With another m it is false."""
    release = make_release(schema, "b", {"N": 3, "A": 2, "B": 1})
    tired = bounder(release, Lying(lambda answer: Stopped(Limit.WORK)))
    right, wrong = Verifier(tired).decide([Claim((1, -1, -1), 2), Claim((1, -1, -1), 1)])
    assert (right.verdict, tired.linear_programs) == (Verdict.VERIFIED, 1)
    assert (right.lower, right.upper) == ({"kind": "bound", "y": {"A": -1}}, {"kind": "bound", "y": {"A": 1}})
    check_decisions(tired.program, [right])
    assert wrong.verdict is Verdict.UNDECIDED
