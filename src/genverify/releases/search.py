"""Which cells to withhold: a greedy search for few cells without which no singleton claim can be verified."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from genverify.attack import ProgramSettings, Verified, claim_where
from genverify.claims import Claim
from genverify.explain import added_cells, proof_cells
from genverify.program.compact import Program
from genverify.protections import withhold
from genverify.release import Release
from genverify.releases.audit import Attack
from genverify.releases.lines import SIZES
from genverify.verify import Decision, Verdict, Verifier


@dataclass(frozen=True)
class Step:
    """A cell that is withheld, and how many singleton claims are left after it and those before it."""

    block: str
    cell: str
    label: str
    left: int


@dataclass(frozen=True)
class Search:
    """
    What a search came to: the cells to withhold, step by step, those of them that are needed (none can be published again),
    the singleton claims before, and those that a fresh attack on what remains still verifies.
    """

    k: int
    steps: tuple[Step, ...]
    needed: tuple[Step, ...]
    before: int
    left: int


def search_cells(found: Sequence[Verified], attack: Attack, k: int, most: int) -> Search:
    """
    Withhold the cell that most proofs use, verify the remaining claims again, and so on, area by area, until no singleton
    claim with at least k columns is left; then publish again, one by one, the cells that turn out not to be needed.

    With fewer cells no new claim can hold, so it is enough to follow those of the whole release. A cell that follows from
    others is no help and is not counted as one: the program decides. At the end the whole attack is run on what remains.
    """
    steps: list[Step] = []
    needed: list[Step] = []
    before = left = 0
    for one in found:
        area = _Area(one, attack.settings, k)
        before += len(area.claims)
        own = area.withhold(most - len(steps))
        kept = area.needed(own)
        steps, needed = [*steps, *own], [*needed, *kept]
        left += _attacked(withhold(one.program.release, {step.cell for step in kept}), attack, k)
    return Search(k, tuple(steps), tuple(needed), before, left)


def singles(found: Verified, k: int) -> list[Claim]:
    """The verified singleton claims with at least k columns."""
    return [claim for claim in found.claims if claim.m == 1 and claim.k >= k]


def _attacked(release: Release, attack: Attack, k: int) -> int:
    """The singleton claims that the attack, run anew, verifies."""
    return len(singles(attack(release), k))


class _Area:
    """The search in one area."""

    def __init__(self, found: Verified, settings: ProgramSettings, k: int) -> None:
        self.release, self.settings = found.program.release, settings
        self.claims = singles(found, k)
        self.labels = {query.id: query.label for query in self.release.queries}
        self.fixed = {query.id for query in self.release.queries if query.table == SIZES}

    def decide(self, claims: Sequence[Claim], cells: set[str]) -> tuple[Program, list[Decision]]:
        """Which claims are still verified when the cells are withheld."""
        bounder = self.settings.bounder(withhold(self.release, cells))
        decided = Verifier(bounder).decide(claims)
        return bounder.program, [d for d in decided if d.verdict is Verdict.VERIFIED]

    def withhold(self, most: int) -> list[Step]:
        steps: list[Step] = []
        program, open_ = self.decide(self.claims, set())
        while open_ and len(steps) < most:
            cell = self._most_used(program, open_)
            if cell is None:
                break
            withheld = {*(step.cell for step in steps), cell}
            program, open_ = self.decide([d.claim for d in open_], withheld)
            steps.append(Step(self.release.block, cell, self.labels[cell], len(open_)))
        return steps

    def needed(self, steps: Sequence[Step]) -> list[Step]:
        """The steps without those whose cell can be published after all, with no more claims than all of them leave."""
        kept = list(steps)
        for step in steps[:-1]:
            fewer = [other for other in kept if other is not step]
            if len(self.decide(self.claims, {other.cell for other in fewer})[1]) <= steps[-1].left:
                kept = fewer
        return kept

    def _most_used(self, program: Program, open_: Sequence[Decision]) -> str | None:
        """The cell that most of the proofs add up; where they add up only N, the one that most rest on."""
        used = Counter(cell for decision in open_ for cell in added_cells(_proof(decision)))
        cells = [cell for cell in used if cell not in self.fixed]
        if not cells:
            used = Counter(cell for decision in open_ for cell in self._rests_on(program, decision))
            cells = [cell for cell in used if cell not in self.fixed]
        return min(cells, key=lambda cell: (-used[cell], cell), default=None)

    def _rests_on(self, program: Program, decision: Decision) -> list[str]:
        lemmas = [lemma.as_dict() for lemma in program.lemmas]
        where = claim_where(program.types.domain.names, decision.claim)
        proofs = {"lemmas": lemmas, "proofs": [_proof(decision)]}
        return proof_cells(program.release, proofs, {"where": where, "m": decision.claim.m, "proof": 0})


def _proof(decision: Decision) -> dict[str, Any]:
    """The two halves of the proof of a verified claim, as they stand in a file."""
    assert decision.lower is not None
    assert decision.upper is not None
    return {"lower": decision.lower.as_dict(), "upper": decision.upper.as_dict()}
