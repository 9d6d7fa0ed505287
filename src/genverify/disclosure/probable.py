"""What is not certain but likely: claims of an audit with their probability, and how many there are at each level."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from genverify.attack.block import Verified
from genverify.attack.posterior import Counted
from genverify.attack.probable import count_some, probable_singletons
from genverify.attack.verify import Verdict
from genverify.core.frames import stack
from genverify.core.seeds import derive_seed
from genverify.disclosure.large import LARGE
from genverify.solve.counting.prior import Prior, uniform
from genverify.solve.program import Program

LEVELS = (0.99, 0.9, 0.5)
OPEN = (Verdict.UNDECIDED, Verdict.UNCERTIFIED)
MOST_CLASSES = 1000  # of a large area that is counted


def counted_areas(verified: Sequence[Verified]) -> list[Counted | None]:
    """The datasets that fit every area, counted once for all priors; none where they are too many."""
    return [None if _in_vain(one.program) else count_some(one.program) for one in verified]


def _in_vain(program: Program) -> bool:
    """Many records in many classes: half a minute would be spent until the budget is."""
    return program.release.n >= LARGE and program.classes > MOST_CLASSES


def probable_claims(
    verified: Sequence[Verified], counted: Sequence[Counted | None], prior: Prior | None, min_k: int, least: float, seed: int
) -> pd.DataFrame:
    """
    Unverified claims about exactly one record with at least this probability under a prior (none: every record of the domain
    is equally likely beforehand), of the areas that were counted.
    """
    found = []
    for one, area in zip(verified, counted, strict=True):
        if area is not None:
            known = prior or uniform(one.program.types.domain)
            own = derive_seed(seed, "probable", one.program.release.block)
            decided = not any(one.counts(verdict) for verdict in OPEN)
            found.append(probable_singletons(area, known, one.claims, min_k, least, own, decided))
    return stack(found) if found else pd.DataFrame({"k": [], "probability": []})


def by_level(verified: Sequence[Verified], priors: Sequence[Prior], min_k: int, seed: int) -> dict[str, Any]:
    """
    Singleton claims that are verified or have at least each probability, under the uniform prior and under each of those
    given; none said where an area could not be counted.
    """
    sure = sum(claim.m == 1 for one in verified for claim in one.claims)
    counted = counted_areas(verified)
    left = sum(area is None for area in counted)
    row: dict[str, Any] = {}
    for prior in (None, *priors):
        probable = None if left else probable_claims(verified, counted, prior, min_k, min(LEVELS), seed)
        for level in LEVELS:
            row[_column(level, prior)] = None if probable is None else sure + int((probable["probability"] >= level).sum())
    return {**row, "areas_not_counted": left}


def level_columns(priors: Sequence[Prior]) -> list[str]:
    """The columns of the what-if about likely claims, in their order."""
    return [_column(level, prior) for prior in (None, *priors) for level in LEVELS]


def _column(level: float, prior: Prior | None) -> str:
    return f"singleton_claims_{100 * level:.0f}" + (f"_{prior.name}" if prior else "")
