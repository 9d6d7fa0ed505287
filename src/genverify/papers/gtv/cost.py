"""What the attack on a block costs, by its number of households: batches and the plan of a run reckon with it."""

import heapq
import math
from collections.abc import Mapping

import pandas as pd

# seconds of one core per block (generated, verified and proved): what every block takes, and what grows with its households.
# Fitted to the built-in country (1 household 0.08 s, 10 0.15, 20 0.15, 40 0.28, 80 0.81); batches need only the proportions.
SECONDS_PER_BLOCK, SECONDS_PER_HOUSEHOLD, GROWTH = 0.07, 0.001, 1.5


def block_seconds(households: int) -> float:
    """
    The seconds of one core that a block takes, about.

    >>> [round(block_seconds(n), 2) for n in (1, 10, 100)]
    [0.07, 0.1, 1.07]
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
