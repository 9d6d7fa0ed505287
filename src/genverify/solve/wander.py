"""More datasets of all blocks out of one: exchanges in each block that leave all cells of block and areas as they were."""

from collections.abc import Sequence

import numpy as np

from genverify.core.arraytypes import Ints
from genverify.solve.exchange import Exchange
from genverify.solve.joint import Joint
from genverify.solve.program import Program

WALKERS = 25
LOOKS = 4
RECORDS_PER_SWAP = 5
MOST_SWAPS = 16


def wander(joint: Joint, starts: Sequence[Ints], rng: np.random.Generator) -> Ints:
    """Datasets of the whole area, one per row: each of the walkers has its own records in every block."""
    parts = [
        _walked(program, [z[span] for z in starts], rng) for program, span in zip(joint.programs, joint.spans, strict=True)
    ]
    found: Ints = np.unique(np.concatenate(parts, axis=1), axis=0)
    for z in found:
        joint.recount(z)
    return found


def _walked(program: Program, starts: Sequence[Ints], rng: np.random.Generator) -> Ints:
    """Class counts of one block, a row for each walker at each look; walkers keep the start that the others expect."""
    walkers = [starts[walker % len(starts)] for walker in range(max(WALKERS, len(starts)))]
    if program.n < 2:
        return np.array(walkers * LOOKS)
    exchange = Exchange(program, rng)
    points, found = np.array([np.repeat(np.arange(program.classes), z) for z in walkers]), []
    for _ in range(LOOKS):
        for _ in range(min(MOST_SWAPS, 1 + program.n // RECORDS_PER_SWAP)):
            points = exchange.swap(points)
        points = exchange.step(points)
        places = points + program.classes * np.arange(len(points))[:, None]
        found.append(np.bincount(places.ravel(), minlength=len(points) * program.classes).reshape(len(points), -1))
    return np.concatenate(found)
