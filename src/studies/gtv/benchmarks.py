"""The compact program against the paper's one-hot program on the same block, the same claims and the same solver."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from genverify.attack.generate import generate_block
from genverify.attack.onehot.attack import decide_onehot
from genverify.attack.onehot.generate import generate_onehot
from genverify.attack.onehot.program import onehot_program
from genverify.attack.verify import Decision, Verdict, Verifier
from genverify.core.claims import Claim, as_claims, candidate_claims
from genverify.core.release import Release
from genverify.core.timing import watch
from genverify.papers.gtv.benchmark.settings import SpeedBenchmark
from genverify.solve.recount import WrongAnswer
from genverify.solve.settings import ProgramSettings
from genverify.solve.solvers.base import Solver, WorkLimits
from genverify.solve.solvers.choose import make_solver

NO_LIMIT = 2**31 - 1
DECIDED = (Verdict.VERIFIED, Verdict.REFUTED)


@dataclass(frozen=True)
class Compact:
    """The compact side: seconds of each stage, and what it decided about the claims of the first dataset."""

    generate_s: float
    filter_s: float
    candidates: int
    verify_candidates_s: float
    verify_s: float
    decisions: Sequence[Decision]

    @property
    def end_to_end_s(self) -> float:
        return self.generate_s + self.filter_s + self.verify_candidates_s


@dataclass(frozen=True)
class OneHotTimes:
    """The one-hot side: seconds to build the program, per claim and per dataset, from a sample of the claims."""

    build_s: float
    claim_s: float
    dataset_s: float
    decisions: Sequence[Decision]

    @property
    def undecided(self) -> int:
        return sum(decision.verdict is Verdict.UNDECIDED for decision in self.decisions)


def compare(
    release: Release, program: ProgramSettings, K: int, min_k: int, seed: int, sample: SpeedBenchmark
) -> dict[str, Any]:
    """One row of speed.csv. `sample` says how many claims and datasets the one-hot program is timed on, and its limit."""
    compact = run_compact(release, program, K, min_k, seed)
    claims = [decision.claim for decision in compact.decisions]
    rng = np.random.default_rng(seed)
    chosen = rng.choice(len(claims), min(sample.claims, len(claims)), replace=False)
    solver = make_solver(program.solver, WorkLimits(NO_LIMIT, NO_LIMIT, sample.seconds))
    times = run_onehot(release, [claims[place] for place in chosen], solver, sample.datasets, seed)
    _agree(release, [compact.decisions[place] for place in chosen], times.decisions)
    return speed_row(release, compact, times, K, sample.seconds)


def run_compact(release: Release, settings: ProgramSettings, K: int, min_k: int, seed: int) -> Compact:
    """Generate, filter and verify with the compact program; then all claims of the first dataset, from a fresh start."""
    with watch() as generated:
        records = generate_block(release, settings, K, seed).records
    with watch() as filtered:
        candidates = as_claims(*candidate_claims(records, min_k))
    with watch() as verified:
        Verifier(settings.bounder(release)).decide(candidates)
    claims = as_claims(*candidate_claims(records[:1], min_k))
    with watch() as spent:
        decisions = Verifier(settings.bounder(release)).decide(claims)
    times = generated.seconds, filtered.seconds, len(candidates), verified.seconds, spent.seconds
    return Compact(*times, decisions=decisions)


def run_onehot(release: Release, claims: Sequence[Claim], solver: Solver, datasets: int, seed: int) -> OneHotTimes:
    """Decide a sample of the claims and generate a few datasets with the one-hot program."""
    with watch() as built:
        onehot_program(release)
    with watch() as spent:
        decisions = decide_onehot(release, claims, solver)
    claim_s = max(0.0, spent.seconds - built.seconds) / max(1, len(claims))
    with watch() as generated:
        generate_onehot(release, solver, datasets, seed)
    dataset_s = max(0.0, generated.seconds - built.seconds) / datasets
    return OneHotTimes(built.seconds, claim_s, dataset_s, decisions)


def _agree(release: Release, compact: Sequence[Decision], onehot: Sequence[Decision]) -> None:
    """Both programs must decide alike; a comparison of speed is worth nothing otherwise."""
    for ours, theirs in zip(compact, onehot, strict=True):
        if ours.verdict in DECIDED and theirs.verdict in DECIDED and ours.verdict is not theirs.verdict:
            raise WrongAnswer(
                f"block {release.block}: {ours.claim} is {ours.verdict.value} by the compact and {theirs.verdict.value} by "
                "the one-hot program. One of them is wrong: no speed is reported."
            )


def speed_row(release: Release, compact: Compact, times: OneHotTimes, K: int, limit: float) -> dict[str, Any]:
    """The seconds of both sides; those of the one-hot program are extrapolated to all claims and K datasets."""
    claims, timed = len(compact.decisions), len(times.decisions)
    onehot_s = times.build_s + times.claim_s * claims
    whole = times.build_s + times.dataset_s * K + compact.filter_s + times.claim_s * compact.candidates
    note = f"onehot_s and onehot_end_to_end_s are extrapolated from {timed} of {claims} claims"
    if times.undecided:
        note += f"; {times.undecided} of them stopped at {limit:g} s, so that the ratios are lower bounds"
    return {
        "block": release.block,
        "n_households": release.n,
        "claims": claims,
        "compact_s": round(compact.verify_s, 4),
        "onehot_s": round(onehot_s, 1),
        "speedup": round(onehot_s / compact.verify_s, 1),
        "speedup_end_to_end": round(whole / compact.end_to_end_s, 1),
        "compact_end_to_end_s": round(compact.end_to_end_s, 4),
        "onehot_end_to_end_s": round(whole, 1),
        "candidates": compact.candidates,
        "verified": sum(decision.verdict is Verdict.VERIFIED for decision in compact.decisions),
        "undecided": sum(decision.verdict not in DECIDED for decision in compact.decisions),
        "onehot_claim_s": round(times.claim_s, 3),
        "onehot_dataset_s": round(times.dataset_s, 3),
        "onehot_claims_timed": timed,
        "onehot_undecided": times.undecided,
        "note": note,
    }
