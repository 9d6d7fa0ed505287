"""
The attack on blocks through the tables of their areas: what block and area counts prove together, block by block.

First it is shown, for all blocks at once, which records no block can have. With these gone most claims follow from the
block's own cells; what is left is asked of all blocks together.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import floor
from typing import Any

import numpy as np

from genverify.attack.block import certificate_for, release_certificate
from genverify.attack.verify import Decision, Verdict, Verifier
from genverify.checker.levels import LevelsChecker
from genverify.core.arraytypes import Ints
from genverify.core.claims import Claim, as_claims, candidate_claims, claim_arrays
from genverify.core.errors import ReleaseError
from genverify.core.levels import Levels
from genverify.solve.bounds import Bound, Bounder, Limits
from genverify.solve.classes import matched_classes
from genverify.solve.datasets import draw_dataset
from genverify.solve.joint import build_joint
from genverify.solve.leaves import exact_leaf
from genverify.solve.possible import possible_classes
from genverify.solve.program import Program
from genverify.solve.recount import INTEGRAL, integer_point
from genverify.solve.settings import DEFAULT, ProgramSettings
from genverify.solve.solvers.base import LinearProgram, Optimal

DRAWS = 4
VECTORS = 12  # class counts of a block from which candidates are drawn; all others are compared with these
BRANCHED = 4_000_000  # coefficients of the program of all blocks up to which integers are searched with proofs
CHECKS = 1_000  # of its limits by the solver in one search of all blocks: a clock would make results hang on the machine
SEARCHES = 40  # integer searches for one set of areas where the program is larger than that


@dataclass(frozen=True)
class LevelsVerified:
    """
    What came out of a block: verified claims, and candidates that are neither proved nor refuted. `alone` is the certificate
    of the claims that follow from the block's own records, `together` of those that need the cells of all blocks.
    """

    number: int
    block: str
    n: int
    claims: tuple[Claim, ...]
    alone: dict[str, Any] | None
    together: dict[str, Any] | None
    undecided: tuple[Claim, ...]

    @property
    def certificates(self) -> list[dict[str, Any]]:
        return [certificate for certificate in (self.alone, self.together) if certificate]

    @cached_property
    def determined(self) -> int:
        """How many records of the block are known in every column."""
        return sum(claim.m for claim in self.claims if claim.k == len(claim.codes))


def attack_levels(
    levels: Levels, settings: ProgramSettings = DEFAULT, K: int = 20, min_k: int = 1, seed: int = 1
) -> Iterator[LevelsVerified]:
    """Generate datasets of all blocks together; verify, block by block, what holds in all of them; check every proof."""
    return LevelsAttack(levels, settings, K, seed).blocks(min_k)


class LevelsAttack:
    """
    The attack on all blocks of some areas, or on those that are asked about, by their numbers. `shared` is the part of its
    proofs that all blocks share, and `datasets` are all that it met.
    """

    def __init__(
        self,
        levels: Levels,
        settings: ProgramSettings = DEFAULT,
        K: int = 20,
        seed: int = 1,
        asked: Sequence[int] | None = None,
    ) -> None:
        self.levels, self.settings, self.rng = levels, settings, np.random.default_rng(seed)
        self.asked = range(len(levels.blocks)) if asked is None else asked
        whole = build_joint(levels, settings.max_types)
        datasets = {z.tobytes(): z for z in whole.datasets(settings.make_solver(CHECKS), K, seed)}
        if not datasets:
            names = ", ".join(area.release.block for area in levels.areas) or "the blocks"
            raise ReleaseError(
                f"no dataset fits all tables of {names} together, or none was found within program.nodes and "
                f"{CHECKS:,} checks of the search; where the counts are exact, block and area tables contradict each other"
            )
        possible = possible_classes(whole, settings.make_solver(), list(datasets.values()), self.asked)
        self.joint = whole.restricted(possible.classes)
        self.datasets: Ints = np.array(possible.datasets)[:, possible.classes]
        self.linear_programs, self.searches = possible.linear_programs, 0
        lemmas = {program.release.block: [lemma.as_dict() for lemma in program.lemmas] for program in whole.programs}
        self.shared: dict[str, Any] = {
            "release": whole.release.digest,
            "lemmas": {block: found for block, found in lemmas.items() if found},
            "nobody": [leaf.as_dict() for leaf in possible.nobody],
        }
        self.checker = LevelsChecker(levels, self.shared)
        self.answers: dict[tuple[bytes, int, int], Bound] = {}

    def blocks(self, min_k: int = 1) -> Iterator[LevelsVerified]:
        for number in self.asked:
            yield self.block(number, min_k)

    def block(self, number: int, min_k: int = 1) -> LevelsVerified:
        """What is proved about one block, with every proof checked."""
        program = self.joint.programs[number]
        candidates = self.candidates(number, min_k)
        own = _verified(self.alone(program, number, candidates))
        alone = certificate_for(program, own) if own else None
        if alone:
            self.checker.alone(number, alone)
        proved = {decision.claim for decision in own}
        left = [claim for claim in candidates if claim not in proved]
        decisions = self.together(number, left)
        more = _verified(decisions)
        placed = [_placed(number, decision) for decision in more]
        together = release_certificate(self.joint.release, (), placed) if placed else None
        if together:
            self.checker.together(together)
        claims = tuple(decision.claim for decision in (*own, *more))
        open_ = tuple(d.claim for d in decisions if d.verdict in (Verdict.UNDECIDED, Verdict.UNCERTIFIED))
        return LevelsVerified(number, program.release.block, program.n, claims, alone, together, open_)

    def candidates(self, number: int, min_k: int) -> list[Claim]:
        """The claims that hold in every dataset that was met."""
        program, vectors = self.joint.programs[number], self.vectors(number)
        draws = 1 if int(program.types.raw.sum()) == program.classes else DRAWS  # 1: a class holds one kind of record
        drawn = [draw_dataset(program, z, self.rng) for z in vectors[:VECTORS] for _ in range(draws)]
        codes, m = candidate_claims(np.array(drawn), min_k)
        if not len(m):
            return []
        F, T = matched_classes(program, codes)
        holds = ((m[:, None] == F @ vectors.T) & (m[:, None] == T @ vectors.T)).all(axis=1)
        return as_claims(codes[holds], m[holds])

    def vectors(self, number: int) -> Ints:
        """The distinct class counts of a block in the datasets that were met."""
        found: Ints = np.unique(self.datasets[:, self.joint.spans[number]], axis=0)
        return found

    def alone(self, program: Program, number: int, claims: Sequence[Claim]) -> list[Decision]:
        """The claims decided on the block's own program: those that it refutes may still follow from all blocks together."""
        if not claims:
            return []
        bounder = Bounder(program, self.settings.make_solver(), self.limits)
        bounder.learn(list(self.vectors(number)))
        return Verifier(bounder).decide(claims)

    def together(self, number: int, claims: Sequence[Claim]) -> list[Decision]:
        """The claims decided on the program of all blocks."""
        if not claims:
            return []
        codes, _ = claim_arrays(claims)
        F, T = (matrix.toarray().astype(np.int64) for matrix in matched_classes(self.joint.programs[number], codes))
        return [self.decide(number, claim, F[place], T[place]) for place, claim in enumerate(claims)]

    def decide(self, number: int, claim: Claim, F: Ints, T: Ints) -> Decision:
        """min sum_F z = m = max sum_T z, over the datasets of all blocks."""
        own = self.datasets[:, self.joint.spans[number]]
        if ((own @ F != claim.m) | (own @ T != claim.m)).any():
            return Decision(claim, Verdict.REFUTED)
        upper = self.at_most(number, T, claim.m)
        if upper.counterexample is not None:
            return Decision(claim, Verdict.REFUTED, integer=upper.integer)
        lower = self.at_most(number, -F, -claim.m)
        if lower.counterexample is not None:
            return Decision(claim, Verdict.REFUTED, integer=lower.integer)
        integer, limit = upper.integer or lower.integer, upper.limit or lower.limit
        if upper.proof and lower.proof:
            return Decision(claim, Verdict.VERIFIED, lower.proof, upper.proof, integer)
        decided = upper.decided and lower.decided
        return Decision(claim, Verdict.UNCERTIFIED if decided else Verdict.UNDECIDED, integer=integer, limit=limit)

    def at_most(self, number: int, weights: Ints, b: int) -> Bound:
        """Whether the records of a block, weighted by class, are at most b; asked once."""
        key = weights.tobytes(), number, b
        if key not in self.answers:
            c = np.zeros(self.joint.A.shape[1], dtype=np.int64)
            c[self.joint.spans[number]] = weights
            self.answers[key] = self._at_most(c, b)
        return self.answers[key]

    def _at_most(self, c: Ints, b: int) -> Bound:
        self.linear_programs += 1
        answer = self.lp.maximise(c)
        if not isinstance(answer, Optimal):
            return Bound(limit="linear program", decided=False)
        if floor(answer.value + INTEGRAL) <= b:
            leaf = None if answer.y is None else exact_leaf(self.joint, [], answer.y, c, b, "bound")
            if leaf is not None:
                return Bound(proof=leaf)
            return self.searched(c, b)
        z = integer_point(answer.z)
        if z is not None:
            return self.met(z)
        return self.searched(c, b)

    def met(self, z: Ints, integer: bool = False) -> Bound:
        """A dataset that exceeds a bound, kept: it may contradict other claims."""
        self.joint.recount(z)
        self.datasets = np.vstack([self.datasets, z[None, :]])
        return Bound(counterexample=z, integer=integer)

    def searched(self, c: Ints, b: int) -> Bound:
        """What the linear program leaves open: branching with proofs; a search without, where all blocks are too large."""
        if self.branching is not None:
            bound = self.branching.at_most(c, b)
            if bound.counterexample is not None:
                self.met(bound.counterexample)
            return bound
        if self.searches >= SEARCHES:
            return Bound(limit="integer searches", integer=True, decided=False)
        self.searches += 1
        z = self.joint.best(self.settings.make_solver(CHECKS), c.astype(float))
        if z is not None and int(c @ z) > b:
            return self.met(z, integer=True)
        return Bound(limit="no proof of what an integer search did not find", integer=True, decided=False)

    @property
    def limits(self) -> Limits:
        return Limits(self.settings.nodes, self.settings.leaves, self.settings.seconds)

    @cached_property
    def lp(self) -> LinearProgram:
        return self.settings.make_solver().linear_program(self.joint.A, self.joint.lo, self.joint.hi)

    @cached_property
    def branching(self) -> Bounder | None:
        """The program of all blocks as an ordinary one, where it is small enough."""
        rows, classes = self.joint.A.shape
        if rows * classes > BRANCHED or not self.joint.alike:
            return None
        bounder = Bounder(self.joint.program(), self.settings.make_solver(), self.limits)
        bounder.learn(list(self.datasets))
        return bounder


def _verified(decisions: Sequence[Decision]) -> list[Decision]:
    return [decision for decision in decisions if decision.verdict is Verdict.VERIFIED]


def _placed(number: int, decision: Decision) -> Decision:
    """The decision about the records of all blocks, whose first column is the block."""
    claim = Claim((number + 1, *decision.claim.codes), decision.claim.m)
    return Decision(claim, decision.verdict, decision.lower, decision.upper, decision.integer)
