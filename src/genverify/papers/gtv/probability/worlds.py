"""
Worlds: datasets drawn under a prior, as if each were the private block. With what holds in them one can say how far what is
true may lie from its probabilities, given how the claims of a block hang together.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from genverify.core.claims import Codes

WORLDS = 60
Worlds = npt.NDArray[np.int64]
"""A bit for every world, set where something holds in it."""


def worlds_of(prior: str) -> str:
    """The column that holds the worlds of a prior."""
    return f"{prior}_worlds"


def worlds_in(drawn: Codes) -> Codes:
    """So many of the draws, spread over them: those of a chain hang together."""
    return drawn[np.arange(WORLDS) * len(drawn) // WORLDS]


def in_worlds(holds: Sequence[npt.NDArray[np.bool_] | np.bool_]) -> Worlds:
    """What holds in each world, as bits."""
    bits = np.array(holds).astype(np.int64)
    found: Worlds = (bits << np.arange(WORLDS)[:, None]).sum(axis=0)
    return found


def expected(rows: pd.DataFrame, source: str, seed: int, resamples: int) -> tuple[float, float]:
    """
    Between which ends the share that is true would lie (95 %) if every block were drawn as the prior says: a world is chosen
    for each block, so that what hangs together within a block does so here.
    """
    if worlds_of(source) not in rows.columns:
        return np.nan, np.nan
    bits = (rows[worlds_of(source)].to_numpy()[:, None] >> np.arange(WORLDS)) & 1
    place, names = pd.factorize(rows["block"])
    held = np.zeros((len(names), WORLDS))
    np.add.at(held, place, bits)
    drawn = np.random.default_rng(seed).integers(WORLDS, size=(resamples, len(names)))
    low, high = np.percentile(held[np.arange(len(names)), drawn].sum(axis=1) / len(rows), [2.5, 97.5])
    return float(low), float(high)
