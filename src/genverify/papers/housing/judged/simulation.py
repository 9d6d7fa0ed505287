"""How the simulated properties compare with the numbers that the paper gives of its own."""

from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from genverify.papers.housing.private.store import property_households


def simulation_table(
    states: Iterable[pd.DataFrame], occupancy: Mapping[int, int], paper: Mapping[str, float], label: str
) -> pd.DataFrame:
    """One row per number: ours, the paper's and the difference."""
    found: Counter[str] = Counter()
    for households in states:
        found.update(_count(property_households(households), occupancy))
    ours = {
        **found,
        "subsidized_per_block": _ratio(found["subsidized_households"], found["blocks"]),
        "subsidized_percent": _ratio(100 * found["subsidized_households"], found["households"]),
        "violation_percent": _ratio(100 * found["violations"], found["subsidized_households"]),
        "blocks_with_violation_percent": _ratio(100 * found["blocks_with_violation"], found["blocks"]),
    }
    frame = pd.DataFrame({"measure": list(ours), "ours": list(ours.values())})
    frame["paper"] = frame["measure"].map(dict(paper)).astype(float)
    return frame.assign(difference=(frame["ours"] - frame["paper"]).round(2), data=label)


def _count(households: pd.DataFrame, occupancy: Mapping[int, int]) -> dict[str, int]:
    subsidized = households[households["BEDROOMS"] > 0]
    limit = subsidized["BEDROOMS"].astype(int).map(dict(occupancy)).fillna(np.inf)
    against = subsidized[subsidized["SIZE"] > limit]
    return {
        "blocks": households["block"].nunique(),
        "households": len(households),
        "subsidized_households": len(subsidized),
        "violations": len(against),
        "blocks_with_violation": against["block"].nunique(),
    }


def _ratio(count: int, of: int) -> float:
    return round(count / of, 2) if of else 0.0
