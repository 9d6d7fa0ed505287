"""Fit the nation: tilts move the margins, so the joint distribution is raked again over the blocks as they are."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from genverify.microdata.synthetic.household_types import Floats, Ints, Margin, rake
from genverify.microdata.synthetic.model import Model, Neighbourhoods

POINTS = 16_384
ROUNDS = 24
STEP = 1.5  # tilted blocks answer weakly to a change of the joint distribution, so each step is lengthened


def fit(model: Model, margins: Sequence[Margin], country: Sequence[Neighbourhoods]) -> Model:
    """
    The model whose expected margins over the blocks of the country are the national ones.

    Newcomers have these margins already. The expectation is over a systematic sample: every k-th household stands for
    its block, so a small country is fitted over most of its blocks and a large one at the same cost.
    """
    tilts, weights = sample_blocks(model, country)
    f, g = model.weights(tilts)
    profiles = np.diff(model.starts, append=len(model.joint))
    for _ in range(ROUNDS):
        sums = ((f @ model.by_cell()) * g).sum(axis=1)
        tilted = f.T @ (g * (weights / sums)[:, None])
        expected = model.joint * np.repeat(tilted, profiles, axis=0)
        raked = rake(expected.ravel(), margins, rounds=3).reshape(expected.shape)
        factors = np.divide(raked, expected, out=np.ones_like(raked), where=expected > 0)
        joint = model.joint * factors**STEP
        model = replace(model, joint=joint / joint.sum())
    return model


def sample_blocks(model: Model, country: Sequence[Neighbourhoods]) -> tuple[Floats, Floats]:
    """The tilts of the sampled blocks, and the share of the sampled households that each has."""
    counts = _hits([state.places.sizes for state in country])
    tilts = [
        chunk[hits[blocks] > 0]
        for state, hits in zip(country, counts, strict=True)
        for blocks, chunk in state.block_tilts(model)
    ]
    weights = np.concatenate([hits[hits > 0] for hits in counts])
    return np.concatenate(tilts), weights / weights.sum()


def _hits(sizes: Sequence[Ints]) -> list[Ints]:
    """How many of the sampled households each block has, state by state."""
    last = np.cumsum(np.concatenate(sizes))
    points = (np.arange(POINTS) + 0.5) / POINTS * last[-1]
    hits = np.bincount(np.searchsorted(last, points, side="right"), minlength=last.size)
    return np.split(hits, np.cumsum([state.size for state in sizes])[:-1])
