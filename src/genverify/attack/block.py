"""The second half of the attack on one block: from generated datasets to verified claims with checked proofs."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from genverify.attack.effective import effective_k
from genverify.attack.onehot.attack import decide_onehot
from genverify.attack.verify import Decision, Verdict, Verifier
from genverify.checker.check import Checked, check_block
from genverify.core.claims import ANY, Claim, Codes, as_claims, candidate_claims
from genverify.core.release import Release
from genverify.solve.datasets import class_vectors
from genverify.solve.exclusions import Lemma
from genverify.solve.leaves import Node, certificate_of
from genverify.solve.program import Program
from genverify.solve.settings import ProgramSettings


@dataclass(frozen=True)
class Verified:
    """
    What came out of a block: its program, every candidate's decision, the verified ones with effective k and proof; and the
    linear programs and integer searches that it took.
    """

    program: Program
    candidates: tuple[Claim, ...]
    decisions: tuple[Decision, ...]
    effective: tuple[int, ...]
    proof_of: tuple[int | None, ...]
    proofs: tuple[tuple[Node, Node], ...]
    linear_programs: int = 0
    searches: int = 0

    @cached_property
    def certificate(self) -> dict[str, Any]:
        """The proofs as plain values: what is checked is what is stored."""
        return proofs_dict(self)

    @property
    def claims(self) -> list[Claim]:
        return [d.claim for d in self.decisions if d.verdict is Verdict.VERIFIED]

    def counts(self, verdict: Verdict) -> Counter[int]:
        """How many candidates have this verdict, by k."""
        return Counter(d.claim.k for d in self.decisions if d.verdict is verdict)


def verify_block(release: Release, datasets: Codes, settings: ProgramSettings, min_k: int) -> Verified:
    """Every claim that holds in all generated datasets, decided (Problem 3), with every proof checked."""
    found = decide_block(release, datasets, settings, min_k)
    check_verified(found)
    return found


def check_verified(verified: Verified) -> Checked:
    """Check the certificate of a block."""
    return check_block(verified.program.release, verified.certificate)


def decide_block(release: Release, datasets: Codes, settings: ProgramSettings, min_k: int) -> Verified:
    """Every claim that holds in all generated datasets, decided; the proofs are not checked yet."""
    claims = as_claims(*candidate_claims(datasets, min_k))
    bounder = settings.bounder(release)
    if settings.proves:
        bounder.learn(class_vectors(bounder.program, datasets))
        decisions = Verifier(bounder).decide(claims)
    else:
        decisions = decide_onehot(release, claims, settings.make_solver())
    found = collect(bounder.program, claims, decisions, datasets[0])
    return replace(found, linear_programs=bounder.linear_programs, searches=bounder.searches)


def collect(program: Program, claims: Sequence[Claim], decisions: Sequence[Decision], records: Codes) -> Verified:
    """What is known of each candidate, with the effective k of the verified ones."""
    verified = [decision for decision in decisions if decision.verdict is Verdict.VERIFIED]
    proof_of, proofs = number_proofs(verified)
    effective = tuple(effective_k(program, [decision.claim for decision in verified], records))
    return Verified(program, tuple(claims), tuple(decisions), effective, proof_of, proofs)


def number_proofs(verified: Sequence[Decision]) -> tuple[tuple[int | None, ...], tuple[tuple[Node, Node], ...]]:
    """The proof number of each claim, and the proofs; claims that share both halves share one, one-hot claims have none."""
    numbers: dict[tuple[int, int], int] = {}
    proofs: list[tuple[Node, Node]] = []
    proof_of: list[int | None] = []
    for decision in verified:
        if decision.lower is None or decision.upper is None:
            proof_of.append(None)
            continue
        key = (id(decision.lower), id(decision.upper))
        if key not in numbers:
            numbers[key] = len(proofs)
            proofs.append((decision.lower, decision.upper))
        proof_of.append(numbers[key])
    return tuple(proof_of), tuple(proofs)


def proofs_dict(verified: Verified) -> dict[str, Any]:
    """The proofs of a block as plain values, in the form that the checker reads."""
    return _certificate(
        verified.program.release, verified.program.lemmas, verified.claims, verified.proof_of, verified.proofs
    )


def check_decisions(program: Program, verified: Sequence[Decision]) -> None:
    """Check the proofs of verified claims."""
    check_block(program.release, certificate_for(program, verified))


def certificate_for(program: Program, verified: Sequence[Decision]) -> dict[str, Any]:
    """The certificate of verified claims."""
    return release_certificate(program.release, program.lemmas, verified)


def release_certificate(release: Release, lemmas: Sequence[Lemma], verified: Sequence[Decision]) -> dict[str, Any]:
    """The certificate of verified claims about a release."""
    proof_of, proofs = number_proofs(verified)
    return _certificate(release, lemmas, [decision.claim for decision in verified], proof_of, proofs)


def _certificate(
    release: Release,
    lemmas: Sequence[Lemma],
    claims: Sequence[Claim],
    proof_of: Sequence[int | None],
    proofs: Sequence[tuple[Node, Node]],
) -> dict[str, Any]:
    names = release.schema.domain.names
    return certificate_of(release, lemmas) | {
        "proofs": [{"lower": lower.as_dict(), "upper": upper.as_dict()} for lower, upper in proofs],
        "claims": [
            {"where": claim_where(names, claim), "m": claim.m, "proof": proof}
            for claim, proof in zip(claims, proof_of, strict=True)
            if proof is not None
        ],
    }


def claim_where(names: Sequence[str], claim: Claim) -> Mapping[str, int]:
    """A claim's codes by column, without the columns that may take any value."""
    return {name: code for name, code in zip(names, claim.codes, strict=True) if code != ANY}
