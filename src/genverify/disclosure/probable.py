"""What is not certain but likely: claims of an audit with their probability, and how many there are at each level."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from genverify.attack.block import Verified
from genverify.attack.probable import probable_singletons
from genverify.core.frames import stack
from genverify.core.seeds import derive_seed
from genverify.solve.counting.prior import Prior, uniform

LEVELS = (0.99, 0.9, 0.5)


def probable_claims(
    verified: Sequence[Verified], prior: Prior | None, min_k: int, least: float, seed: int
) -> tuple[pd.DataFrame, int]:
    """
    Unverified claims about exactly one record with at least this probability under a prior (none: every record of the domain
    is equally likely beforehand); and the number of areas whose datasets are too many to count.
    """
    found = []
    for one in verified:
        known = prior or uniform(one.program.types.domain)
        own = derive_seed(seed, "probable", one.program.release.block)
        found.append(probable_singletons(one.program, known, one.claims, min_k, least, own))
    counted = [frame for frame in found if frame is not None]
    return (stack(counted) if counted else pd.DataFrame({"k": [], "probability": []})), len(found) - len(counted)


def by_level(verified: Sequence[Verified], priors: Sequence[Prior], min_k: int, seed: int) -> dict[str, Any]:
    """
    Singleton claims that are verified or have at least each probability, under the uniform prior and under each of those
    given; none said where an area could not be counted.
    """
    sure = sum(claim.m == 1 for one in verified for claim in one.claims)
    row: dict[str, Any] = {}
    for prior in (None, *priors):
        probable, left = probable_claims(verified, prior, min_k, min(LEVELS), seed)
        for level in LEVELS:
            likely = int((probable["probability"] >= level).sum())
            row[_column(level, prior)] = None if left else sure + likely
    return {**row, "areas_not_counted": left}


def level_columns(priors: Sequence[Prior]) -> list[str]:
    """The columns of the what-if about likely claims, in their order."""
    return [_column(level, prior) for prior in (None, *priors) for level in LEVELS]


def _column(level: float, prior: Prior | None) -> str:
    return f"singleton_claims_{100 * level:.0f}" + (f"_{prior.name}" if prior else "")
