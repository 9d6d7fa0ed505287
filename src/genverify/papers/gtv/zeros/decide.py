"""Which claims survive when less is published: those verified from all counts, decided again on fewer."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from genverify.attack.block import check_decisions, verify_block
from genverify.attack.generate import generate_block
from genverify.attack.verify import Verdict, Verifier
from genverify.core.arraytypes import Flags
from genverify.core.claims import Claim
from genverify.core.release import Release
from genverify.solve.settings import ProgramSettings
from genverify.solve.solvers.base import Optimal

VERTICES = 6


@dataclass(frozen=True)
class Survivors:
    """Which of the claims are verified from the fewer counts, and how many stayed open."""

    verified: Flags
    undecided: int


def publish_less(release: Release, withhold: Collection[int], missing: Collection[int]) -> Release:
    """The release without some answers (`withhold`) and without some lines, whatever their answers (`missing`)."""
    kept = ~(np.isin(release.lo, list(withhold)) | np.isin(release.cells, list(missing)))
    return replace(release, cells=release.cells[kept], lo=release.lo[kept], hi=release.hi[kept])


def singletons(release: Release, settings: ProgramSettings, K: int, min_k: int, seed: int) -> list[Claim]:
    """The singleton claims that are verified from all counts, every proof checked."""
    generated = generate_block(release, settings, K, seed)
    found = verify_block(release, generated.records, settings, min_k)
    return [claim for claim in found.claims if claim.m == 1]


def survivors(release: Release, claims: Sequence[Claim], settings: ProgramSettings, check: bool) -> Survivors:
    """
    The claims that are still verified. Fewer counts fit more datasets, so nothing is verified from them that is not
    verified from all: the claims of the whole release are the only candidates. Without `check` the proofs are not
    handed to the checker, which is enough to rank releases.
    """
    if not claims:
        return Survivors(np.zeros(0, dtype=bool), 0)
    bounder = settings.bounder(release)
    rng = np.random.default_rng(0)
    for _ in range(VERTICES):  # datasets that refute most of the lost claims at once; what is verified depends on none
        answer = bounder.lp.maximise(rng.standard_normal(bounder.program.classes))
        if isinstance(answer, Optimal):
            bounder.integral(answer.z)
    decisions = Verifier(bounder).decide(claims)
    verified = [decision for decision in decisions if decision.verdict is Verdict.VERIFIED]
    if check and verified:
        check_decisions(bounder.program, verified)
    open_ = sum(decision.verdict in (Verdict.UNDECIDED, Verdict.UNCERTIFIED) for decision in decisions)
    return Survivors(np.array([decision.verdict is Verdict.VERIFIED for decision in decisions]), open_)
