"""
Which cells to withhold: few cells without which no singleton claim can be verified.

Every proof of a claim rests on some published cells. Whatever set of cells is withheld so that the claim cannot be verified
any more, it holds one cell of each of its proofs. So: collect proofs, withhold the fewest cells that hit each of them, see
which claims can still be verified and how, and repeat. Where this ends, no smaller set of cells does it.

Every proof that is counted on is checked, and so is that its cells are enough for it. That no fewer cells hit all proofs is
the solver's optimum of a covering program; that the chosen cells hit them all is counted.
"""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from math import inf
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from genverify.attack.block import Verified, check_decisions, claim_where
from genverify.attack.verify import Decision, Verdict, Verifier
from genverify.attack.words.reasons import Reasons
from genverify.attack.words.support import proof_cells
from genverify.checker.check import CertificateError, check_block
from genverify.core.claims import Claim
from genverify.core.timing import NowAndThen
from genverify.disclosure.audit import Attack
from genverify.disclosure.cells import SIZES
from genverify.disclosure.large import LARGE, bounder_of
from genverify.protect.publishing import withhold
from genverify.solve.leaves import certificate_of
from genverify.solve.program import Program
from genverify.solve.recount import WrongAnswer
from genverify.solve.settings import ProgramSettings
from genverify.solve.solvers.base import IntegerProgram, Optimal

ROUNDS = 40
MOST_PROOFS = 120
PROOFS_AT_ONCE = 12
MOST_CELLS = 400
Cells = frozenset[str]


@dataclass(frozen=True)
class Step:
    """A cell that is withheld, and how many singleton claims can be verified without it and those before it, where seen."""

    block: str
    cell: str
    label: str
    left: int | None


@dataclass(frozen=True)
class Search:
    """
    What a search came to: the cells to withhold in order, the singleton claims before, those that a fresh attack on what
    remains still verifies (`left`) or cannot decide (`undecided`), and a number of cells below which no set does as well
    (`least`, by the solver's optimum of the covering program).
    """

    k: int
    steps: tuple[Step, ...]
    before: int
    left: int
    undecided: int
    least: int


def search_cells(verified: Sequence[Verified], attack: Attack, k: int, most: int, seconds: float = inf) -> Search:
    """
    The cells to withhold so that no singleton claim with at least k columns is left, area by area, at most `most` in all.

    With fewer cells no new claim can hold, so it is enough to follow those of the whole release. A cell that follows from
    others is not hidden by leaving it out: the program decides. At the end the whole attack is run on what remains (in a
    large area, these claims are asked for again). After this number of seconds no more proofs are looked for: the cells
    are then those that hit all proofs found so far.
    """
    deadline = time.monotonic() + seconds
    steps: list[Step] = []
    before = left = undecided = least = 0
    for one in verified:
        area = _Area(one, attack.settings, k, deadline)
        cells, below = area.search(most - len(steps))
        of_area = area.steps(cells)
        steps, before, least = [*steps, *of_area], before + len(area.claims), least + below
        still, open_ = area.left_of(one, attack, k, cells)
        left, undecided = left + still, undecided + open_
    return Search(k, tuple(steps), before, left, undecided, least)


def left_without(verified: Sequence[Verified], attack: Attack, k: int, steps: Sequence[Step]) -> tuple[int, int, int]:
    """The singleton claims before these cells are withheld, and those left and undecided after that, attacked again."""
    before = left = undecided = 0
    for one in verified:
        area = _Area(one, attack.settings, k, inf)
        cells = Cells(step.cell for step in steps if step.block == one.program.release.block)
        still, open_ = area.left_of(one, attack, k, cells)
        before, left, undecided = before + len(area.claims), left + still, undecided + open_
    return before, left, undecided


def singles(verified: Verified, k: int) -> list[Claim]:
    """The verified singleton claims with at least k columns."""
    return [claim for claim in verified.claims if claim.m == 1 and claim.k >= k]


def open_singles(verified: Verified, k: int) -> list[Claim]:
    """The singleton claims with at least k columns that ran into a limit."""
    open_ = (Verdict.UNDECIDED, Verdict.UNCERTIFIED)
    return [d.claim for d in verified.decisions if d.verdict in open_ and d.claim.m == 1 and d.claim.k >= k]


class _Area:
    """The search in one area."""

    def __init__(self, verified: Verified, settings: ProgramSettings, k: int, deadline: float) -> None:
        self.deadline = deadline
        self.release, self.settings = verified.program.release, settings
        self.claims = singles(verified, k)
        self.fixed = {query.id for query in self.release.queries if query.table == SIZES}
        self.supports: dict[Cells, None] = {}
        self.proved = True
        self.say = NowAndThen()

    def search(self, most: int) -> tuple[Cells, int]:
        """The cells to withhold, and the number below which no set does as well."""
        # To hide a claim, every proof of it must lose a cell, and there are too many proofs to list. So proofs are found
        # as needed: the fewest cells that hit all proofs known so far are withheld, the program looks for proofs that
        # survive, and these join the list. Proofs only join, so each optimum is a lower bound for any set that hides all.
        cells, least = Cells(), 0
        for _ in range(ROUNDS):
            if self._late():
                return self._first(cells, most), least
            new = self._supports(cells)
            if not new:
                return self._first(cells, most), least
            self.supports |= dict.fromkeys(sorted(new, key=sorted))
            hit = self._fewest() if len(self.supports) <= MOST_PROOFS else None
            if hit is None:
                break
            cells, least = hit, len(hit) if self.proved else least
        return self._first(self._needed(self._grown(cells)), most), least

    def _late(self) -> bool:
        return time.monotonic() > self.deadline

    def _grown(self, cells: Cells) -> Cells:
        """More cells, each time the one that most of the proofs still open rest on, until no claim is left."""
        new = self._supports(cells)
        while new and len(cells) < MOST_CELLS and not self._late():
            self.supports |= dict.fromkeys(sorted(new, key=sorted))
            while new:
                cells |= {_most_used(new)}
                new = {support for support in new if not support & cells}
            new = self._supports(cells)
        return cells

    def _needed(self, cells: Cells) -> Cells:
        """The cells without those that can be published again: no more claims are left than before."""
        if self._late():
            return cells
        left = len(self._open(cells, self.claims)[1])
        for cell in sorted(cells):
            if not self._late() and len(self._open(cells - {cell}, self.claims)[1]) <= left:
                cells -= {cell}
        return cells

    def _first(self, cells: Cells, most: int) -> Cells:
        return cells if len(cells) <= most else Cells(self._order(cells)[: max(most, 0)])

    def _order(self, cells: Cells) -> list[str]:
        """The cells in an order in which each hits most of the proofs that those before it leave."""
        open_, order = list(self.supports), list[str]()
        while len(order) < len(cells):
            left = cells - set(order)
            order.append(_most_used([support & left for support in open_], left))
            open_ = [support for support in open_ if order[-1] not in support]
        return order

    def steps(self, cells: Cells) -> list[Step]:
        """The cells one after the other, with the claims that are left after each."""
        labels = {query.id: query.label for query in self.release.queries}
        order = self._order(cells)
        left = [self._left(Cells(order[: at + 1])) for at in range(len(order))]
        return [Step(self.release.block, cell, labels[cell], n) for cell, n in zip(order, left, strict=True)]

    def _left(self, cells: Cells) -> int | None:
        """How many claims can still be verified; None where there is no time to see."""
        return None if self._late() else len(self._open(cells, self.claims)[1])

    def _open(self, cells: Cells, claims: Sequence[Claim]) -> tuple[Program, list[Decision]]:
        """Which of the claims can still be verified when the cells are withheld; their proofs are checked."""
        program, decided = self._decided(cells, claims)
        verified = [d for d in decided if d.verdict is Verdict.VERIFIED]
        check_decisions(program, verified)
        return program, verified

    def _decided(self, cells: Cells, claims: Sequence[Claim]) -> tuple[Program, list[Decision]]:
        self.say("search for cells to withhold: %d cells, %d claims ...", len(cells), len(claims))
        bounder = bounder_of(withhold(self.release, cells), self.settings)
        return bounder.program, Verifier(bounder).decide(claims)

    def left_of(self, one: Verified, attack: Attack, k: int, cells: Cells) -> tuple[int, int]:
        """How many claims a fresh attack verifies, or leaves undecided, when the cells are withheld."""
        if cells and self.release.n >= LARGE:
            return self.left(cells)
        remaining = attack(withhold(self.release, cells)) if cells else one
        return len(singles(remaining, k)), len(open_singles(remaining, k))

    def left(self, cells: Cells) -> tuple[int, int]:
        """How many claims can still be verified, and how many are undecided, when the cells are withheld."""
        _, decided = self._decided(cells, self.claims)
        open_ = (Verdict.UNDECIDED, Verdict.UNCERTIFIED)
        return sum(d.verdict is Verdict.VERIFIED for d in decided), sum(d.verdict in open_ for d in decided)

    def _supports(self, cells: Cells) -> set[Cells]:
        """The cells that the proofs of these claims rest on; a proof that rests on sizes and rules alone cannot be hit."""
        program, open_ = self._open(cells, self.claims)
        reasons = Reasons(program.release, certificate_of(program.release, program.lemmas)["lemmas"])
        supports = {self._support(program, reasons, decision) for decision in self._in_time(_different(open_))}
        return {support for support in supports if support}

    def _in_time(self, decisions: Sequence[Decision]) -> Iterator[Decision]:
        """The decisions until time is up: the cells of one proof in a large area may take seconds."""
        return takewhile(lambda _: not self._late(), decisions)

    def _support(self, program: Program, reasons: Reasons, decision: Decision) -> Cells:
        """The cells of a proof; only if it is checked that they are enough is `least` proved."""
        halves = {"lower": decision.lower, "upper": decision.upper}
        proof = {side: half.as_dict() for side, half in halves.items() if half is not None}
        claim = {"where": claim_where(program.types.domain.names, decision.claim), "m": 1, "proof": 0}
        parts = {"proofs": [proof], "claims": [claim]}
        cells = Cells(proof_cells(reasons, parts, claim))
        self.proved &= self._enough(cells, program, parts) or self._found_again(cells, decision)
        return cells - self.fixed

    def _enough(self, cells: Cells, program: Program, parts: dict[str, Any]) -> bool:
        """Whether the checker accepts the proof from these cells alone."""
        others = Cells(query.id for query in program.release.queries) - cells
        alone, lemmas = withhold(program.release, others), [x for x in program.lemmas if not others & {x.universe, *x.cells}]
        try:
            check_block(alone, certificate_of(alone, lemmas) | parts)
        except CertificateError:
            return False
        return True

    def _found_again(self, cells: Cells, decision: Decision) -> bool:
        """Whether another proof is found from these cells: the cases of one may speak of all published cells."""
        others = Cells(query.id for query in self.release.queries) - cells
        return bool(self._open(others, [decision.claim])[1])

    def _fewest(self) -> Cells | None:
        """The fewest cells that hit every proof; None where the solver does not say."""
        cells = sorted({cell for support in self.supports for cell in support})
        column = {cell: at for at, cell in enumerate(cells)}
        inside = np.zeros((len(self.supports), len(cells)))
        for row, support in enumerate(self.supports):
            inside[row, [column[cell] for cell in support]] = 1
        ones = np.ones(len(self.supports))
        program = IntegerProgram(csr_array(inside), ones, np.full(len(ones), inf), np.ones(len(cells)), -np.ones(len(cells)))
        answer = self.settings.make_solver().solve(program)
        if not isinstance(answer, Optimal):
            return None
        hit = Cells(cell for cell, taken in zip(cells, answer.z, strict=True) if taken > 0.5)
        if not all(support & hit for support in self.supports):
            raise WrongAnswer(
                f"block {self.release.block}: the solver's cells to withhold miss a proof when recounted; nothing is "
                "reported. Try the other solver (program.solver in config.yaml)."
            )
        return hit


def _most_used(supports: Iterable[Cells], among: Iterable[str] = ()) -> str:
    """The cell in most of the sets, the first by name among equals."""
    used = Counter(dict.fromkeys(among, 0))
    used.update(cell for support in supports for cell in support)
    return min(used, key=lambda cell: (-used[cell], cell))


def _different(decisions: Sequence[Decision]) -> list[Decision]:
    """One decision of each pair of proofs, some at a time."""
    first = {(id(d.lower), id(d.upper)): d for d in reversed(decisions)}
    return list(reversed(first.values()))[:PROOFS_AT_ONCE]
