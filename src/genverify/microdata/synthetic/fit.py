"""Fit the nation: likeness moves the margins, so the joint distribution is raked again over the blocks as they are."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from genverify.core.arraytypes import Floats, Ints
from genverify.microdata.synthetic.household_types import Margin, rake
from genverify.microdata.synthetic.model import Model
from genverify.microdata.synthetic.neighbourhoods import Neighbourhoods

POINTS = 16_384
MOVES = 3
ROUNDS = 16
STEP = 1.5  # blocks that are alike answer weakly to a change of the joint distribution, so each step is lengthened


def fit(
    model: Model, margins: Sequence[Margin], country: Sequence[Neighbourhoods]
) -> tuple[Model, Sequence[Neighbourhoods]]:
    """
    The model, and the neighbourhoods, whose expected margins over the blocks of the country are the national ones.

    First other blocks are drawn: where nearly all households of a block have its prototype's race, only another prototype
    changes how many there are. Then the joint distribution is raked. Newcomers have the national margins already. The
    expectation is over a systematic sample: every k-th household stands for its block, so a small country is fitted over
    most of its blocks and a large one at the same cost.
    """
    for _ in range(MOVES):
        f, g, weights = sample_blocks(country)
        expected = _expected(model, f, g, weights)
        wanted = np.add.reduceat(_raked(expected, margins), model.starts, axis=0)
        now = np.add.reduceat(expected, model.starts, axis=0)
        moved = model.neighbours.moved(np.divide(wanted, now, out=np.ones_like(now), where=now > 0))
        model = replace(model, neighbours=moved)
        country = [replace(state, neighbours=moved) for state in country]
    f, g, weights = sample_blocks(country)
    for _ in range(ROUNDS):
        expected = _expected(model, f, g, weights)
        raked = _raked(expected, margins)
        joint = model.joint * np.divide(raked, expected, out=np.ones_like(raked), where=expected > 0) ** STEP
        model = replace(model, joint=joint / joint.sum())
    return model, country


def _expected(model: Model, f: Floats, g: Floats, weights: Floats) -> Floats:
    """The distribution of the households of all sampled blocks."""
    sums = ((f @ model.by_cell()) * g).sum(axis=1)
    mixed = f.T @ (g * (weights / sums)[:, None])
    return np.asarray(model.joint * np.repeat(mixed, np.diff(model.starts, append=len(model.joint)), axis=0))


def _raked(expected: Floats, margins: Sequence[Margin]) -> Floats:
    return rake(expected.ravel(), margins, rounds=3).reshape(expected.shape)


def sample_blocks(country: Sequence[Neighbourhoods]) -> tuple[Floats, Floats, Floats]:
    """The weights f and g of the sampled blocks, and the share of the sampled households that each has."""
    counts = _hits([state.places.sizes for state in country])
    chosen = [
        (f[hits[chunk] > 0], g[hits[chunk] > 0])
        for state, hits in zip(country, counts, strict=True)
        for chunk, f, g in state.blocks()
    ]
    weights = np.concatenate([hits[hits > 0] for hits in counts])
    f, g = (np.concatenate(parts) for parts in zip(*chosen, strict=True))
    return f, g, weights / weights.sum()


def _hits(sizes: Sequence[Ints]) -> list[Ints]:
    """How many of the sampled households each block has, state by state."""
    last = np.cumsum(np.concatenate(sizes))
    points = (np.arange(POINTS) + 0.5) / POINTS * last[-1]
    hits = np.bincount(np.searchsorted(last, points, side="right"), minlength=last.size)
    return np.split(hits, np.cumsum([state.size for state in sizes])[:-1])
