"""What is not certain but likely: claims of an audit with their probability, and how many there are at each level."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from genverify.attack.block import Verified
from genverify.attack.probable import probable_singletons
from genverify.core.frames import stack
from genverify.core.seeds import derive_seed
from genverify.solve.counting.prior import uniform

LEVELS = (0.99, 0.9, 0.5)
LEVEL_COLUMNS = {f"singleton_claims_{100 * level:.0f}": level for level in LEVELS}


def probable_claims(verified: Sequence[Verified], min_k: int, least: float, seed: int) -> tuple[pd.DataFrame, int]:
    """
    Unverified claims about exactly one record with at least this probability, every record of the domain being equally
    likely beforehand; and the number of areas whose datasets are too many to count.
    """
    found = []
    for one in verified:
        prior = uniform(one.program.types.domain)
        own = derive_seed(seed, "probable", one.program.release.block)
        found.append(probable_singletons(one.program, prior, one.claims, min_k, least, own))
    known = [frame for frame in found if frame is not None]
    return (stack(known) if known else pd.DataFrame({"k": [], "probability": []})), len(found) - len(known)


def by_level(verified: Sequence[Verified], min_k: int, seed: int) -> dict[str, Any]:
    """Singleton claims that are verified or have at least each probability; none said where an area could not be counted."""
    probable, left = probable_claims(verified, min_k, min(LEVELS), seed)
    sure = sum(claim.m == 1 for one in verified for claim in one.claims)
    counts = {name: sure + int((probable["probability"] >= level).sum()) for name, level in LEVEL_COLUMNS.items()}
    return {**{name: None if left else count for name, count in counts.items()}, "areas_not_counted": left}
