"""How the simulated properties compare with the numbers that the paper gives of its own."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from genverify.core.seeds import derive_seed
from genverify.papers.housing.private.properties import PropertyModel
from genverify.papers.housing.private.store import (
    block_sizes,
    choose_blocks,
    property_households,
    read_states,
    with_properties,
)


def simulation_table(
    ours: Mapping[str, float], again: Sequence[Mapping[str, float]], paper: Mapping[str, float], label: str
) -> pd.DataFrame:
    """One row per number: ours, the paper's and the difference; its mean and standard deviation over other draws."""
    frame = pd.DataFrame({"measure": list(ours), "ours": list(ours.values())})
    frame["paper"] = frame["measure"].map(dict(paper)).astype(float)
    others = pd.DataFrame(again, columns=list(ours)).astype(float)
    return frame.assign(
        difference=(frame["ours"] - frame["paper"]).round(2),
        draws_mean=others.mean().round(2).to_numpy(),
        draws_deviation=others.std().round(2).to_numpy(),
        draws=len(again),
        data=label,
    )


def draw_again(
    path: Path, model: PropertyModel, occupancy: Mapping[int, int], blocks: int, seeds: Iterable[int]
) -> list[dict[str, float]]:
    """
    The same numbers of other properties in the same country, a draw for each seed: how much is chance.

    The households are read twice, a state at a time, and only the blocks that some draw chose are kept.
    """
    sizes = pd.concat([block_sizes(frame) for frame in read_states(path)], ignore_index=True)
    chosen = [(choose_blocks(sizes, blocks, model, seed), seed) for seed in seeds]
    union = {block for wanted, _ in chosen for block in wanted}
    kept = [frame[frame["block"].isin(union)] for frame in read_states(path)]

    def states(wanted: Mapping[str, int], seed: int) -> Iterator[pd.DataFrame]:
        return (with_properties(frame, wanted, model, seed) for frame in kept if len(frame))

    return [measures(states(*draw), occupancy) for draw in chosen]


def draw_seeds(seed: int, draws: int) -> list[int]:
    """Seeds of other draws than the study's own."""
    return [derive_seed(seed, "housing", "again", str(draw)) for draw in range(draws)]


def measures(states: Iterable[pd.DataFrame], occupancy: Mapping[int, int]) -> dict[str, float]:
    """What the paper says of its simulation, of the households of all states."""
    found: Counter[str] = Counter()
    for households in states:
        found.update(_count(property_households(households), occupancy))
    return {
        **found,
        "subsidized_per_block": _ratio(found["subsidized_households"], found["blocks"]),
        "subsidized_percent": _ratio(100 * found["subsidized_households"], found["households"]),
        "violation_percent": _ratio(100 * found["violations"], found["subsidized_households"]),
        "blocks_with_violation_percent": _ratio(100 * found["blocks_with_violation"], found["blocks"]),
    }


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
