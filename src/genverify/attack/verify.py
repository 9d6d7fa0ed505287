"""Problem 3: which claims hold in every dataset that fits the release, each with its proof."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

import numpy as np
from scipy.sparse import csr_array

from genverify.checker.check import ProvedBound, check_bounds
from genverify.core.arraytypes import Flags, Ints
from genverify.core.claims import Claim, claim_arrays
from genverify.core.predicates import Predicate
from genverify.solve.bounds import Bound, Bounder, Limits
from genverify.solve.classes import condition_classes, matched_classes
from genverify.solve.leaves import Leaf, Node
from genverify.solve.program import Program, build_program
from genverify.solve.solvers.base import Solver

SEEN_AT_ONCE = 32


class Verdict(Enum):
    """What became of a claim."""

    VERIFIED = "verified"
    REFUTED = "refuted"
    UNDECIDED = "undecided"
    UNCERTIFIED = "uncertified"


@dataclass(frozen=True)
class Decision:
    """
    A claim's verdict. A verified claim has two proofs: COUNT(a) >= m (lower) and COUNT(a) <= m (upper). `integer` says
    whether integer search was needed, `limit` which limit struck.
    """

    claim: Claim
    verdict: Verdict
    lower: Node | None = None
    upper: Node | None = None
    integer: bool = False
    limit: str | None = None


@dataclass(frozen=True)
class Range:
    """
    The exact range of COUNT(a): both ends are attained by datasets that were recounted, and two proofs say that nothing lies
    outside. Where a limit struck, the range holds only what was seen and has no proof on that side.
    """

    low: int
    high: int
    lower: Node | None
    upper: Node | None
    limit: str | None

    def proved_bounds(self, condition: Predicate) -> list[ProvedBound]:
        """The two ends as statements that the checker reads; those without a proof are left out."""
        found = []
        if self.lower is not None:
            found.append(ProvedBound(condition, self.low, "lower", self.lower.as_dict()))
        if self.upper is not None:
            found.append(ProvedBound(condition, self.high, "upper", self.upper.as_dict()))
        return found


def check_ranges(program: Program, ranges: Sequence[tuple[Predicate, Range]]) -> None:
    """Check the proofs of many ranges about one release."""
    bounds = [bound for condition, range_ in ranges for bound in range_.proved_bounds(condition)]
    if bounds:
        check_bounds(program.release, [lemma.as_dict() for lemma in program.lemmas], bounds)


@dataclass
class Verifier:
    """Decides claims of one program; claims that ask the same question share the answer and its proof."""

    bounder: Bounder
    answers: dict[tuple[bytes, int, int], Bound] = field(default_factory=dict)

    def decide(self, claims: Sequence[Claim]) -> list[Decision]:
        """The verdict of each claim; every dataset seen so far refutes, at no cost, what it contradicts."""
        if not claims:
            return []
        codes, m = claim_arrays(claims)
        F, T = matched_classes(self.bounder.program, codes)
        open_ = _hold(F, T, self.bounder.seen, m)
        decisions: list[Decision] = []
        for index, claim in enumerate(claims):
            if open_[index]:
                before = len(self.bounder.seen)
                decisions.append(self._question(claim, _places(F, index), _places(T, index)))
                if len(self.bounder.seen) > before:
                    open_ &= _hold(F, T, self.bounder.seen[before:], m)
            else:
                decisions.append(Decision(claim, Verdict.REFUTED))
        return decisions

    def range(self, claim: Claim) -> "Range":
        """The least and the greatest COUNT(a) over all datasets that fit, each with its proof."""
        return self.range_of(claim.predicate(self.bounder.program.types.domain))

    def range_of(self, condition: Predicate) -> "Range":
        """The same for any condition: the least and the greatest number of records that match it."""
        F, T = condition_classes(self.bounder.program, condition)
        high, upper = self.bounder.maximum(T)
        low, lower = self.bounder.maximum(-F)
        return Range(-low, high, lower.proof, upper.proof, upper.limit or lower.limit)

    def _question(self, claim: Claim, F: Ints, T: Ints) -> Decision:
        """min sum_F z = m = max sum_T z, the two sides asked in turn."""
        upper = self._bound(T, +1, claim.m)
        if upper.counterexample is not None:
            return Decision(claim, Verdict.REFUTED, integer=upper.integer)
        lower = self._bound(F, -1, -claim.m)
        integer = upper.integer or lower.integer
        if lower.counterexample is not None:
            return Decision(claim, Verdict.REFUTED, integer=integer)
        limit = upper.limit or lower.limit
        if not (upper.decided and lower.decided):
            return Decision(claim, Verdict.UNDECIDED, integer=integer, limit=limit)
        if upper.proof is None or lower.proof is None:
            return Decision(claim, Verdict.UNCERTIFIED, integer=integer, limit=limit)
        return Decision(claim, Verdict.VERIFIED, lower.proof, upper.proof, integer)

    def _bound(self, places: Ints, sign: int, b: int) -> Bound:
        """Whether sign times the records in these classes are at most b."""
        key = (places.tobytes(), sign, b)
        if key not in self.answers:
            said = self._published(key[0], sign)
            self.answers[key] = Bound(proof=said[1]) if said and said[0] <= b else self._asked(places, sign, b)
        return self.answers[key]

    def _published(self, places: bytes, sign: int) -> tuple[int, Node] | None:
        """What a published cell of exactly these classes says of them: most claims that hold are about such a cell."""
        program, row = self.bounder.program, self.bounder.program.row_of.get(places)
        if row is None:
            return None
        most = int(program.hi[row]) if sign > 0 else -int(program.lo[row])
        return most, Leaf("bound", 1, {program.rows[row]: sign}, ())

    def _asked(self, places: Ints, sign: int, b: int) -> Bound:
        c = np.zeros(self.bounder.program.classes, dtype=np.int64)
        c[places] = sign
        return self.bounder.at_most(c, b)


def _places(matrix: csr_array, index: int) -> Ints:
    """The classes of one row of a sparse matrix of ones."""
    return matrix.indices[matrix.indptr[index] : matrix.indptr[index + 1]].astype(np.int64)


def _hold(F: csr_array, T: csr_array, seen: Sequence[Ints], m: Ints) -> Flags:
    """Which claims hold in every dataset with the class counts of one of those seen."""
    flags: Flags = np.ones(len(m), dtype=bool)
    for at in range(0, len(seen), SEEN_AT_ONCE):
        counts = np.stack(seen[at : at + SEEN_AT_ONCE], axis=1)
        flags &= ((F @ counts == m[:, None]) & (T @ counts == m[:, None])).all(axis=1)
    return flags


def cannot_exist(program: Program, claim: Claim, solver: Solver, limits: Limits, max_types: int) -> Bound:
    """
    Whether COUNT(a) = m in no dataset that fits (footnote 9): a proof, or a fitting dataset that has exactly m.

    The reachable counts may have gaps, so this is a program of its own, with COUNT(a) = m as a row.
    """
    predicate = claim.predicate(program.types.domain)
    counted = build_program(program.release, max_types, (predicate, claim.m))
    return Bounder(counted, solver, limits).at_most(np.zeros(counted.classes, dtype=np.int64), -1)
