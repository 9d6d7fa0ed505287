"""Verify with the paper's own program: one solve per claim, without proofs. The compact program's reference."""

from collections.abc import Sequence

from genverify.attack.onehot.generate import records_of, wrong_answer
from genverify.attack.onehot.program import onehot, refuting
from genverify.attack.verify import Decision, Verdict
from genverify.core.arraytypes import Floats
from genverify.core.claims import Claim
from genverify.core.release import Release
from genverify.solve.solvers.base import Infeasible, Optimal, Solver, Stopped


def decide_onehot(release: Release, claims: Sequence[Claim], solver: Solver) -> list[Decision]:
    """
    The verdict of each claim, one solve of Problem 3 each, as in the paper. A verified claim has no proof here: it rests on
    the solver, which found no dataset that contradicts it.
    """
    program = onehot(release)
    decisions = []
    for claim in claims:
        match solver.solve(refuting(program, claim)):
            case Optimal(z=point):
                _check_refuted(release, claim, point)
                decisions.append(Decision(claim, Verdict.REFUTED, integer=True))
            case Infeasible():
                decisions.append(Decision(claim, Verdict.VERIFIED, integer=True))
            case Stopped(limit=limit):
                decisions.append(Decision(claim, Verdict.UNDECIDED, integer=True, limit=limit.value))
    return decisions


def _check_refuted(release: Release, claim: Claim, point: Floats) -> None:
    domain = release.schema.domain
    named = dict(zip(domain.names, records_of(release, point).T, strict=True))
    count = int(claim.predicate(domain).matches(named).sum())
    if count == claim.m:
        raise wrong_answer(release, f"{claim.predicate(domain)} is true of {count} of its records, as claimed")
