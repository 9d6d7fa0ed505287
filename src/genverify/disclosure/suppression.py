"""Secondary suppression: which more cells to suppress, in printed tables and in releases of records."""

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from math import inf

import numpy as np
from scipy.sparse import csr_array

from genverify.attack.explain import Reasons, proof_cells
from genverify.attack.verify import Decision, Verdict, VerifiedBlock, Verifier, check_decisions, claim_where
from genverify.checker.certificate import CertificateError
from genverify.checker.record_proofs import check_block
from genverify.disclosure.intervals import FeasibilityIntervals, opened
from genverify.disclosure.record_attack import LARGE, UNDECIDED, Attack, bounder_of
from genverify.disclosure.release_data import SIZES
from genverify.model.claims import Claim
from genverify.model.proof_form import EXACTLY
from genverify.model.work import ProgressLog
from genverify.protect.cell_suppression import PatternWork, Requirement, SuppressionProblem, find_pattern
from genverify.protect.publishing import without
from genverify.solve.bounds import certificate_of
from genverify.solve.linear.ranges import all_ranges
from genverify.solve.linear.search import Work
from genverify.solve.program import Program, WrongAnswer, sparse_system
from genverify.solve.program_settings import ProgramSettings
from genverify.solve.solvers.base import Optimal, maximise_integers


@dataclass(frozen=True)
class SuppressionStep:
    """A cell to suppress as well, and how many claims can be verified without it and those before it, where seen."""

    area: str
    cell: str
    label: str = ""
    left: int | None = None


@dataclass(frozen=True)
class SecondarySuppression:
    """What a search came to: the cells to suppress as well, in order, and what is then still known too well."""

    steps: tuple[SuppressionStep, ...]
    before: int  # how much was known too well: cells, or claims about exactly one record that name `k` or more columns
    left: int  # how much is still
    least: int  # no set of fewer cells does as well, and how that is known
    how: str
    undecided: int = 0
    in_time: bool = True
    k: int = 0
    still: tuple[str, ...] = ()  # by name

    @property
    def cells(self) -> tuple[str, ...]:
        return tuple(step.cell for step in self.steps)


# Which more cells to suppress in printed tables, so that none of the suppressed ones is known too well.

OPTIMAL, OTHERS = "no smaller set protects them", "no smaller set protects the others"
BOUNDED = "a smaller set may exist, but none below {} cells"


def suppress_more(exposed: FeasibilityIntervals, targets: Sequence[int], width: int, work: Work) -> SecondarySuppression:
    """Cells to suppress besides the targets so that counts of each that fit are at least `width` apart, as points show."""
    linked, names = exposed.linked, exposed.linked.sums.cells
    if exposed.ranges.point is None:
        raise WrongAnswer("no counts that fit are at hand, so no cells to suppress are proposed")
    cost = np.full(len(names), -1, dtype=np.int64)
    cost[exposed.suppressible] = 1
    asked = tuple(Requirement(cell, width=width) for cell in targets)
    system = opened(linked, ())  # the percentages beside suppressed counts go first
    problem = SuppressionProblem(system, exposed.ranges.point, cost, asked, linked.beside, width)
    pattern = find_pattern(problem, PatternWork(seconds=work.seconds).scaled(len(names)))
    steps = tuple(SuppressionStep("", names[cell]) for cell in pattern.cells)
    still = tuple(names[cell] for cell in pattern.unmet)
    how = BOUNDED.format(pattern.bound) if not pattern.optimal else OTHERS if still else OPTIMAL
    return SecondarySuppression(steps, len(targets), len(still), pattern.bound, how, in_time=not pattern.limit, still=still)


def still_narrow(
    exposed: FeasibilityIntervals, targets: Sequence[int], names: Sequence[str], width: int, work: Work
) -> tuple[list[str], str]:
    """The targets and cells whose range is too narrow when the cells are suppressed, and the limit that was met."""
    sums, added = exposed.linked.sums, [exposed.linked.sums.place[name] for name in names]
    wanted = exposed.unclear.copy()
    wanted[added] = True
    ranges = all_ranges(opened(exposed.linked, added), work, wanted)
    return [sums.cells[c] for c in [*targets, *sorted(added)] if ranges.hi[c] - ranges.lo[c] < width], ranges.limit


# Which cells to suppress: few cells without which no singleton claim can be verified.
#
# Every proof of a claim rests on some published cells. Whatever set of cells is suppressed so that the claim cannot be
# verified any more, it holds one cell of each of its proofs. So: collect proofs, suppress the fewest cells that hit each of
# them, see which claims can still be verified and how, and repeat. Where this ends, no smaller set of cells does it.
#
# Every proof that is counted on is checked, and so is that its cells are enough for it. That no fewer cells hit all proofs
# is the solver's optimum of a covering program; that the chosen cells hit them all is counted.

# of one optimum each; then cells are added one by one, and the lower bound found so far is reported with them
HITTING_ROUNDS = 40
MOST_PROOFS = 120  # rows of the program for the fewest cells: bounds its time; beyond, cells are added one by one
PROOFS_AT_ONCE = 12  # bounds how fast that program grows
MOST_CELLS = 400  # suppressed, when they are added one by one: bounds time
Cells = frozenset[str]
OPTIMUM = "minimal by the solver's optimum of a covering program"


def search_cells(
    verified: Sequence[VerifiedBlock], attack: Attack, k: int, most: int, seconds: float = inf
) -> SecondarySuppression:
    """
    The cells to suppress so that no singleton claim with at least k columns is left, area by area, at most `most` in all.

    With fewer cells no new claim can hold, so it is enough to follow those of the whole release. At the end the whole attack
    is run on what remains (in a large area, these claims are asked for again). When time is up, the cells are those that hit
    all proofs found so far.
    """
    deadline = time.process_time() + seconds
    steps, least = list[SuppressionStep](), 0
    for one in verified:
        area = _Area(one, attack.settings, k, deadline)
        cells, below = area.search()
        steps, least = [*steps, *area.steps(cells, max(most - len(steps), 0))], least + below
    in_time = time.process_time() < deadline
    before, left, undecided = left_without(verified, attack, k, steps)
    minimal = not left and least >= len(steps)
    how = OPTIMUM if minimal else f"a smaller set may exist, but none below {least} cells"
    return SecondarySuppression(tuple(steps), before, left, least, how, undecided, in_time, k)


def left_without(
    verified: Sequence[VerifiedBlock], attack: Attack, k: int, steps: Sequence[SuppressionStep]
) -> tuple[int, int, int]:
    """The singleton claims before these cells are suppressed, and those left and undecided after that, attacked again."""
    before = left = undecided = 0
    for one in verified:
        area = _Area(one, attack.settings, k, inf)
        cells = Cells(step.cell for step in steps if step.area == one.program.release.block)
        still, open_ = area.left_of(one, attack, k, cells)
        before, left, undecided = before + len(area.claims), left + still, undecided + open_
    return before, left, undecided


def singles(verified: VerifiedBlock, k: int) -> list[Claim]:
    """The verified singleton claims with at least k columns."""
    return [claim for claim in verified.claims if claim.m == 1 and claim.k >= k]


def open_singles(verified: VerifiedBlock, k: int) -> list[Claim]:
    """The singleton claims with at least k columns that ran into a limit."""
    return [d.claim for d in verified.decisions if d.verdict in UNDECIDED and d.claim.m == 1 and d.claim.k >= k]


class _Area:
    """The search in one area."""

    def __init__(self, verified: VerifiedBlock, settings: ProgramSettings, k: int, deadline: float) -> None:
        self.release, self.settings, self.deadline = verified.program.release, settings, deadline
        self.claims = singles(verified, k)
        self.fixed = {query.id for query in self.release.queries if query.table == SIZES}
        self.supports: dict[Cells, None] = {}
        self.proved, self.say = True, ProgressLog()

    def search(self) -> tuple[Cells, int]:
        """The cells to suppress, and the number below which no set does as well."""
        # To hide a claim, every proof of it must lose a cell, and there are too many proofs to list. So proofs are found
        # as needed: the fewest cells that hit all proofs known so far are suppressed, the program looks for proofs that
        # survive, and these join the list. Proofs only join, so each optimum is a lower bound for any set that hides all.
        cells, least = Cells(), 0
        for _ in range(HITTING_ROUNDS):
            if self._late() or not self._supports(cells):
                return cells, least
            hit = self._fewest() if len(self.supports) <= MOST_PROOFS else None
            if hit is None:
                break
            cells, least = hit, len(hit) if self.proved else least
        return self._needed(self._grown(cells)), least

    def _late(self) -> bool:
        return time.process_time() > self.deadline

    def _grown(self, cells: Cells) -> Cells:
        """More cells, each time the one that most of the proofs still open rest on, until no claim is left."""
        while (new := self._supports(cells)) and len(cells) < MOST_CELLS and not self._late():
            while new:
                cells |= {_most_used(new)}
                new = {support for support in new if not support & cells}
        return cells

    def _needed(self, cells: Cells) -> Cells:
        """The cells without those that can be published again: no more claims are left than before."""
        left = 0 if self._late() else self._left(cells)
        for cell in sorted(cells):
            if not self._late() and self._left(cells - {cell}) <= left:
                cells -= {cell}
        return cells

    def steps(self, cells: Cells, most: int) -> list[SuppressionStep]:
        """At most so many cells, each hits most of the proofs that those before it leave; the claims left after each."""
        open_, order, steps = list(self.supports), list[str](), list[SuppressionStep]()
        while len(order) < len(cells):
            left = cells - set(order)
            order.append(_most_used([support & left for support in open_], left))
            open_ = [support for support in open_ if order[-1] not in support]
        labels = {query.id: query.label for query in self.release.queries}
        for at, cell in enumerate(order[:most], 1):  # how many claims are left is not known where there is no time to see
            after = None if self._late() else self._left(Cells(order[:at]))
            steps.append(SuppressionStep(self.release.block, cell, labels[cell], after))
        return steps

    def _left(self, cells: Cells) -> int:
        return len(self._open(cells, self.claims)[1])

    def _open(self, cells: Cells, claims: Sequence[Claim]) -> tuple[Program, list[Decision]]:
        """Which of the claims can still be verified when the cells are suppressed; their proofs are checked."""
        program, decided = self._decided(cells, claims)
        verified = [d for d in decided if d.verdict is Verdict.VERIFIED]
        check_decisions(program, verified)
        return program, verified

    def _decided(self, cells: Cells, claims: Sequence[Claim]) -> tuple[Program, list[Decision]]:
        self.say("search for cells to suppress: %d cells, %d claims ...", len(cells), len(claims))
        bounder = bounder_of(without(self.release, cells), self.settings)
        return bounder.program, Verifier(bounder).decide(claims)

    def left_of(self, one: VerifiedBlock, attack: Attack, k: int, cells: Cells) -> tuple[int, int]:
        """How many claims a fresh attack verifies, or leaves undecided, when the cells are suppressed."""
        if cells and self.release.n >= LARGE:
            _, decided = self._decided(cells, self.claims)
            return sum(d.verdict is Verdict.VERIFIED for d in decided), sum(d.verdict in UNDECIDED for d in decided)
        remaining = attack(without(self.release, cells)) if cells else one
        return len(singles(remaining, k)), len(open_singles(remaining, k))

    def _supports(self, cells: Cells) -> set[Cells]:
        """The cells that the proofs of these claims rest on; a proof that rests on sizes and rules alone cannot be hit."""
        program, open_ = self._open(cells, self.claims)
        reasons = Reasons(program.release, [lemma.as_dict() for lemma in program.lemmas])
        first = {(id(d.lower), id(d.upper)): d for d in reversed(open_)}  # of claims that share a proof, one
        different = list(reversed(first.values()))[:PROOFS_AT_ONCE]
        in_time = takewhile(lambda _: not self._late(), different)  # one proof in a large area may take seconds
        new = {support for decision in in_time if (support := self._support(program, reasons, decision))}
        self.supports |= dict.fromkeys(sorted(new, key=sorted))
        return new

    def _support(self, program: Program, reasons: Reasons, decision: Decision) -> Cells:
        """The cells of a proof; only if it is checked that they are enough is `least` proved."""
        halves = {"lower": decision.lower, "upper": decision.upper}
        proof = {side: half for side, half in halves.items() if half is not None}
        claim = {"goal": EXACTLY, "where": claim_where(program.types.domain.names, decision.claim), "m": 1, "proof": 0}
        parts = {"proofs": [proof], "statements": [claim]}
        cells = Cells(proof_cells(reasons, parts, claim))
        published, all_ = (Cells(query.id for query in one.queries) for one in (program.release, self.release))
        others = published - cells
        alone, lemmas = without(program.release, others), [x for x in program.lemmas if not others & {x.universe, *x.cells}]
        try:
            check_block(alone, certificate_of(alone, lemmas) | parts)
        except CertificateError:  # another proof from these cells will do: the cases of one may speak of all published cells
            self.proved &= bool(self._open(all_ - cells, [decision.claim])[1])
        return cells - self.fixed

    def _fewest(self) -> Cells | None:
        """The fewest cells that hit every proof; None where the solver does not say."""
        cells = sorted({cell for support in self.supports for cell in support})
        inside = csr_array([[float(cell in support) for cell in cells] for support in self.supports])
        ones = np.ones(len(self.supports))
        system = sparse_system(inside, ones, np.full(len(ones), inf), np.ones(len(cells)))
        answer = maximise_integers(self.settings.make_solver(), system, -np.ones(len(cells)))
        if not isinstance(answer, Optimal):
            return None
        hit = Cells(cell for cell, taken in zip(cells, answer.z, strict=True) if taken > 0.5)
        if not all(support & hit for support in self.supports):
            raise WrongAnswer(
                f"block {self.release.block}: the solver's cells to suppress miss a proof when recounted; nothing is "
                "reported. Try the other solver (program.solver in config.yaml)."
            )
        return hit


def _most_used(supports: Iterable[Cells], among: Iterable[str] = ()) -> str:
    used = Counter(dict.fromkeys(among, 0))
    used.update(cell for support in supports for cell in support)
    return min(used, key=lambda cell: (-used[cell], cell))
