"""Detection (equation 1): blocks in which a household must exceed two persons per bedroom, and the verdict about one."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
import pandas as pd

from genverify.checker.certificate import CertificateError
from genverify.checker.record_proofs import CheckSummary, check_part, least_records
from genverify.model.arrays import Ints
from genverify.model.domain import Predicate
from genverify.model.proof_form import AT_LEAST, HOUSING, NOTHING
from genverify.model.release import Release, restricted
from genverify.solve.bounds import Bound, Bounder, Node, certificate_of
from genverify.solve.program import Program, condition_classes
from genverify.solve.program_settings import ProgramSettings
from genverify.solve.solvers.base import Optimal, maximise_integers
from studies.housing.households import HouseholdFile
from studies.housing.joint_program import VIOLATION, Percentage, Row, provable_parts, read_block

# The verdict about a block, which verdicts flag it, and the verdict that a certificate shows.

YES = Predicate.of({VIOLATION: [1]})


class Verdict(Enum):
    """
    Every dataset that fits holds a violation; some fits without one; none fits at all; not decided within the limits.

    Certificates prove the first and the third. That a dataset fits (`violation`, `possible`) was recounted when the block
    was decided; the dataset is not kept.
    """

    VIOLATION = "violation"
    POSSIBLE = "possible"
    CONTRADICTION = "contradiction"
    UNDECIDED = "undecided"


FLAGGED = (Verdict.VIOLATION.value, Verdict.CONTRADICTION.value)
"""Verdicts that flag a block, as in the paper: no dataset without a violation fits. Each needs a proof."""

UNPROVED = (Verdict.POSSIBLE.value, Verdict.UNDECIDED.value)
"""Verdicts that claim nothing of the households, so that they need no proof."""


def proved(checked: CheckSummary, block: str) -> tuple[Verdict, int]:
    """The verdict that a checked certificate shows, and the least number of violations (0 where no dataset fits)."""
    least = least_records(checked, YES, block)
    return (Verdict.CONTRADICTION, 0) if least is None else (Verdict.VIOLATION, least)


USUAL = 15  # persons: larger households are few


@dataclass(frozen=True)
class DetectionResult:
    """The verdict about a block, the least violations (0: none proved), and the certificate with what it speaks of."""

    block: str
    verdict: Verdict
    least: int
    release: Release
    certificate: dict[str, Any] | None

    @property
    def flagged(self) -> bool:
        """As in the paper: no dataset without a violation fits."""
        return self.verdict.value in FLAGGED

    def check(self) -> None:
        """The certificate against the release; an error where it does not show the verdict and the least number."""
        if self.certificate is None and not self.flagged:
            return
        shown = proved(check_part([self.release], self.certificate or {}), self.block)
        if shown != (self.verdict, self.least):
            words = f"{self.verdict.value}, {self.least} or more"
            raise CertificateError(
                f"block {self.block}: the certificate shows {shown[0].value}, {shown[1]} or more, not {words}"
            )


def detect_block(
    row: Row, block: str, file: HouseholdFile, percentages: Sequence[Percentage], reading: str, settings: ProgramSettings
) -> DetectionResult:
    """Whether a household of the block must be in violation, by the counts of both agencies."""
    whole = read_block(row, block, file, percentages, reading)
    without_races, *only_races = provable_parts(whole, file, reading)
    for races in only_races:
        bounder = settings.bounder(races)
        bound = bounder.at_most(np.zeros(bounder.program.classes, dtype=np.int64), -1)
        if bound.proof is not None:
            return _contradicted(bounder.program, races, bound.proof)
        if bound.counterexample is None:
            return DetectionResult(block, Verdict.UNDECIDED, 0, races, None)
    return _violations(without_races, settings)


def detected_frame(found: Sequence[DetectionResult]) -> pd.DataFrame:
    """One row per block: its households, the subsidized ones, the verdict and the violations that are proved."""
    rows = []
    for one in found:
        n_s = int(one.release.lo[[query.id for query in one.release.queries].index("HUD_N")])
        rows.append((one.block, one.release.n, n_s, one.verdict.value, one.flagged, one.least))
    return pd.DataFrame(rows, columns=["block", "n", "n_s", "verdict", "flagged", "least_violations"])


def _violations(release: Release, settings: ProgramSettings) -> DetectionResult:
    """
    The least number of violations over the datasets that fit, with its proof.

    Where households can be very large, sizes and children first take their usual codes and the largest: all statistics are
    linear in them from seven persons on, so the linear program loses nothing. A dataset so found fits; a proof counts if
    the checker accepts it for all sizes.
    """
    sizes = release.schema.domain["SIZE"].codes
    if len(sizes) > USUAL:
        few = [code for code in sizes if code <= USUAL or code == sizes[-1]]
        found = _search(release, restricted(release, {"SIZE": few, "CHILDREN": [0, *few]}), settings)
        with suppress(CertificateError):
            found.check()
            if found.verdict is not Verdict.UNDECIDED:
                return found
    return _search(release, release, settings)


def _search(release: Release, searched: Release, settings: ProgramSettings) -> DetectionResult:
    """The verdict about a release from the records of another that has some of its codes."""
    bounder = settings.bounder(searched)
    inside, _ = condition_classes(bounder.program, YES)
    least, bound = _minimum(bounder, inside, settings)
    if bound.proof is None:
        return DetectionResult(release.block, Verdict.UNDECIDED, 0, release, None)
    if not bounder.seen:
        return _contradicted(bounder.program, release, bound.proof)
    if least == 0:
        return DetectionResult(release.block, Verdict.POSSIBLE, 0, release, None)
    said = {"goal": AT_LEAST, "where": {VIOLATION: 1}, "m": least, "proof": bound.proof}
    text = certificate_of(release, bounder.program.lemmas, said, model=HOUSING)
    return DetectionResult(release.block, Verdict.VIOLATION, least, release, text)


def _minimum(bounder: Bounder, inside: Ints, settings: ProgramSettings) -> tuple[int, Bound]:
    """The least number of records inside, with its proof; where branching runs out, an integer program finds the dataset."""
    best, bound = bounder.maximum(-inside)
    if bound.proof is None:
        z = _farthest(bounder.program, -inside, settings)
        if z is not None and int(-inside @ z) > best:
            bounder.seen.append(z)
            best = int(-inside @ z)
            bound = bounder.at_most(-inside, best)
    return -best, bound


def _farthest(program: Program, c: Ints, settings: ProgramSettings) -> Ints | None:
    """A dataset that fits and makes c z as large as possible, recounted; None where the solver ran into a limit."""
    answer = maximise_integers(settings.make_solver(), program.system, c)
    z = np.rint(answer.z).astype(np.int64) if isinstance(answer, Optimal) else None
    return z if z is not None and program.fits(z) else None


def _contradicted(program: Program, release: Release, proof: Node) -> DetectionResult:
    said = {"goal": NOTHING, "proof": proof}
    text = certificate_of(release, program.lemmas, said, model=HOUSING)
    return DetectionResult(release.block, Verdict.CONTRADICTION, 0, release, text)
