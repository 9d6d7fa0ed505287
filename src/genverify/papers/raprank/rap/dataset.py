"""From datasets to relaxed datasets and back: random starts, starts at a dataset, and randomised rounding."""

from collections.abc import Sequence
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from genverify.core.seeds import derive_seed

Floats = npt.NDArray[np.float32]
Indices = npt.NDArray[np.int32]


def random_logits(seeds: Sequence[int], codes: int, rows: int, room: int, spread: float) -> Floats:
    """A random start of every run (codes, runs, room); rows beyond the first `rows` only fill up the array."""
    logits = np.zeros((codes, len(seeds), room), np.float32)
    for run, seed in enumerate(seeds):
        rng = np.random.default_rng(derive_seed(seed, "start"))
        logits[:, run, :rows] = spread * rng.standard_normal((codes, rows), np.float32)
    return logits


def one_hot(sizes: Sequence[int], places: Indices) -> Floats:
    """A dataset (runs, rows, columns), given as places of codes, as a relaxed one (codes, runs, rows)."""
    columns = [places[..., column] == np.arange(size)[:, None, None] for column, size in enumerate(sizes)]
    return np.concatenate(columns).astype(np.float32)


def logits_at(sizes: Sequence[int], places: Indices, certainty: float) -> Floats:
    """Logits under which every cell of a dataset (runs, rows, columns) has its own code with the given probability."""
    odds = [np.log(certainty / (1 - certainty) * max(size - 1, 1)) for size in sizes]
    return one_hot(sizes, places) * np.repeat(odds, sizes).astype(np.float32)[:, None, None]


def round_rows(seeds: Sequence[int], sizes: Sequence[int], chances: Floats) -> Indices:
    """Randomised rounding: each cell drawn from its probabilities (codes, runs, rows), as places (runs, rows, columns)."""
    rows = chances.shape[2]
    streams = [np.random.default_rng(derive_seed(seed, "round")) for seed in seeds]
    draws = np.stack([rng.random((rows, len(sizes)), np.float32) for rng in streams])
    places = np.empty(draws.shape, np.int32)
    for column, (last, size) in enumerate(zip(accumulate(sizes), sizes, strict=True)):
        below = np.cumsum(chances[last - size : last], axis=0)
        # The sum of all probabilities may miss 1 by a rounding error, so the draw is scaled to it.
        places[..., column] = (below[:-1] <= draws[..., column] * below[-1]).sum(axis=0)
    return places
