"""What the attack on a block costs, by its number of households: batches and the plan of a run reckon with it."""

import heapq
import math
from collections.abc import Mapping

import pandas as pd

# seconds of one core per block (generated, verified and proved): what every block takes, and what grows with its households.
# Fitted to the built-in country (up to 5 households 0.022 s, 10 0.024, 50 0.055, 100 0.105, 200 0.22); batches need only the
# proportions. Real blocks, which are more diverse, cost several times as much, the large ones more so.
SECONDS_PER_BLOCK, SECONDS_PER_HOUSEHOLD, GROWTH = 0.021, 0.00021, 1.3


def block_seconds(households: int) -> float:
    """
    The seconds of one core that a block takes, about.

    >>> [round(block_seconds(n), 3) for n in (1, 10, 100)]
    [0.021, 0.025, 0.105]
    """
    return SECONDS_PER_BLOCK + SECONDS_PER_HOUSEHOLD * math.pow(households, GROWTH)


def batch_by_cost(households: Mapping[str, int], batches: int, most: int) -> dict[str, int]:
    """
    The job that works on each block: the costliest blocks first, each to the job with the least to do; `most` blocks a job.

    >>> batch_by_cost({"a": 1, "b": 40, "c": 1, "d": 1}, 2, 100)
    {'b': 0, 'a': 1, 'c': 1, 'd': 1}
    """
    loads = [(0.0, batch, 0) for batch in range(batches)]
    found = {}
    for block in sorted(households, key=lambda name: (-households[name], name)):
        load, batch, blocks = heapq.heappop(loads)
        found[block] = batch
        if blocks + 1 < most:
            heapq.heappush(loads, (load + block_seconds(households[block]), batch, blocks + 1))
    return found


def households_of(sample: pd.DataFrame) -> dict[str, int]:
    """The number of households of each sampled block; a block of two designs is listed once."""
    return dict(zip(sample["block"].tolist(), sample["n_households"].tolist(), strict=True))
