"""
How well the probabilities of a sample's prior hold: statements about records that were left out of it, judged.

Blocks of as many records as the release has are drawn from the sample, and the prior is what the others say. Each block is
published as the release is; what is then likely and not certain is compared with its records.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from math import floor

import numpy as np

from genverify.attack.probability import DatasetCount, count_release, likely_claims
from genverify.model.arrays import Flags, Floats, Ints
from genverify.model.claims import Codes, matches
from genverify.model.release import Release
from genverify.model.tabulate import tabulate
from genverify.solve.counting.diagram import Budget, TooManyStates
from genverify.solve.counting.prior import Prior
from genverify.solve.program import build_program
from genverify.solve.program_settings import DEFAULT

LEVELS = (0.99, 0.9)
BLOCKS = 20  # of left-out records: a few seconds, and several hundred statements of most samples
STATEMENTS = 300  # of one block that are weighed: claims about one record hang together
FEW = Budget(states=24_000, moves=400_000, seconds=1.0)  # a block that takes more is passed over
LEFT = 2  # parts of the sample that must remain for one that is left out


@dataclass(frozen=True)
class Calibration:
    """By level, how many statements with at least this probability were made about left-out blocks, and how many held."""

    blocks: int
    statements: Mapping[float, tuple[int, int]]

    def share(self, level: float) -> float | None:
        """The share of statements that held; none where nothing was stated."""
        said, held = self.statements.get(level, (0, 0))
        return held / said if said else None

    def __str__(self) -> str:
        if not self.blocks:
            return "not tried on left-out records: the sample is too small, or counting took too long"
        parts = []
        for level in LEVELS:
            said, share = self.statements[level][0], self.share(level)
            held = "none was made" if share is None else f"{floor(100 * share)} % held"
            parts.append(f"of {said} statements at {100 * level:.0f} % {held}")
        return f"on {self.blocks} blocks of left-out records, {', '.join(parts)}"


@lru_cache(maxsize=8)
def _known(key: tuple[str, bytes, bytes, int]) -> list[Calibration]:
    """The place of a calibration that was made already: releases and priors are too large to be keys."""
    return []


def calibration(release: Release, prior: Prior, seed: int = 1) -> Calibration | None:
    """What became of statements about left-out records; none for a prior that is not of a sample."""
    if prior.sample is None:
        return None
    known = _known((release.digest, prior.records.tobytes(), prior.weights.tobytes(), seed))
    if not known:
        known.append(_calibrated(release, prior, seed))
    return known[0]


def _calibrated(release: Release, prior: Prior, seed: int) -> Calibration:
    judged = list(_judged(release, prior, seed))
    chances, true = (np.concatenate([np.zeros(0), *(one[side] for one in judged)]) for side in (0, 1))
    levels = {level: (int((chances >= level).sum()), int(true[chances >= level].sum())) for level in LEVELS}
    return Calibration(len(judged), levels)


def _judged(release: Release, prior: Prior, seed: int) -> Iterator[tuple[Floats, Flags]]:
    for number, (records, rest) in enumerate(left_out_blocks(prior, release.n, np.random.default_rng(seed))):
        program = build_program(published_alike(release, records), DEFAULT.max_types)
        try:
            counted = count_release(program, FEW)
        except TooManyStates:
            continue
        yield judge(counted, rest, records, min(LEVELS), seed + number)


def left_out_blocks(prior: Prior, n: int, rng: np.random.Generator) -> Iterator[tuple[Codes, Prior]]:
    """Disjoint blocks of n records of the sample, each with the prior of all records that are not in it."""
    sample = prior.sample
    if sample is None or not n:
        return
    # a row that was sampled several times is that many records; one with a weight of its own is one
    times = np.where(sample.one == 1, sample.weights, sample.one > 0).astype(np.int64)
    rows = rng.permutation(np.repeat(np.arange(len(times)), times))
    for number in range(min(BLOCKS, len(rows) // n if len(rows) >= (LEFT + 1) * n else 0)):
        block = rows[number * n : (number + 1) * n]
        yield sample.records[block], prior.without(np.bincount(block, minlength=len(times)) * sample.one)


def published_alike(release: Release, records: Codes) -> Release:
    """
    What would be published of other records in the cells of a release. A count that the release prints nowhere, and that
    lies in a range which it prints, is printed as that range: the narrowest.
    """
    names = release.schema.domain.names
    columns = dict(zip(names, records.T, strict=True))
    counts: Ints = tabulate(columns, np.zeros(1, dtype=np.int64), release.schema.domain, release.queries)[0]
    lo, hi = counts.copy(), counts.copy()
    printed = set(release.lo[release.lo == release.hi].tolist())
    ranges = sorted({(h - l, l, h) for l, h in zip(release.lo.tolist(), release.hi.tolist(), strict=True) if l < h})
    for _, least, most in reversed(ranges):
        inside = (counts >= least) & (counts <= most) & ~np.isin(counts, list(printed))
        lo, hi = np.where(inside, least, lo), np.where(inside, most, hi)
    return replace(release, n=len(records), lo=lo, hi=np.minimum(hi, len(records)))


def judge(counted: DatasetCount, prior: Prior, records: Codes, least: float, seed: int) -> tuple[Floats, Flags]:
    """Statements about exactly one record that are likely and not certain: their probabilities, and which are true."""
    codes, chances = likely_claims(counted.posterior(prior), 1, least, seed, STATEMENTS)
    open_ = (chances >= least) & (chances < 1)
    return chances[open_], matches(codes[open_], records).sum(axis=1) == 1
