"""What an attacker knows of a state's households: how often each configuration occurs in a sample of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from genverify.core.arraytypes import Ints
from genverify.core.errors import DataError
from genverify.core.seeds import derive_seed

CONFIGURATION = ("SIZE", "CHILDREN", "RACE")
NATS = 10_000  # costs are whole ten-thousandths of a nat


@dataclass(frozen=True)
class Prior:
    """
    The configurations of a state's sample (SIZE, CHILDREN, RACE) and how many households of it have each.

    >>> prior = Prior("01", np.array([[1, 0, 1], [2, 0, 1]]), np.array([3, 1]))
    >>> prior.cost.tolist()
    [2877, 13863]
    """

    state: str
    codes: Ints
    counts: Ints

    @property
    def cost(self) -> Ints:
        """Minus the logarithm of each proportion, rounded to whole units, so that equal likelihood is decided exactly."""
        cost: Ints = np.rint(-np.log(self.counts / self.counts.sum()) * NATS).astype(np.int64)
        return cost


def fit_prior(states: Iterable[pd.DataFrame], share: float, seed: int) -> pd.DataFrame:
    """Configurations by state in a seeded sample of that share of its households, drawn without replacement."""
    parts = []
    for own in states:
        state = str(own["block"].iloc[0])[:2]
        rng = np.random.default_rng(derive_seed(seed, "housing_prior", state))
        drawn = np.sort(rng.choice(len(own), max(1, round(share * len(own))), replace=False))
        counted = own.iloc[drawn].groupby(list(CONFIGURATION), sort=True).size().rename("households").reset_index()
        counted.insert(0, "state", state)
        parts.append(counted)
    if not parts:
        raise DataError("no households to draw the prior from; run the rule draw_housing again")
    return pd.concat(parts, ignore_index=True).astype(dict.fromkeys((*CONFIGURATION, "households"), np.int64))


def prior_of(frame: pd.DataFrame, block: str) -> Prior:
    """The prior of the state that a block lies in."""
    state = block[:2]
    own = frame[frame["state"] == state]
    if own.empty:
        known = ", ".join(sorted(frame["state"].unique()))
        raise DataError(f"block {block}: the prior has no household of state {state} (it has {known}); fit it on all states")
    return Prior(state, own[list(CONFIGURATION)].to_numpy(np.int64), own["households"].to_numpy(np.int64))


def prior_types(prior: Prior, names: Sequence[str], codes: Mapping[str, Sequence[int]]) -> tuple[Ints, Ints]:
    """
    Every household type that the prior allows, with its cost: its configurations, crossed with the codes of the columns
    that it says nothing of. Configurations with a code that the block cannot have are left out.
    """
    able = np.ones(len(prior.codes), dtype=bool)
    for column, name in enumerate(CONFIGURATION):
        able &= np.isin(prior.codes[:, column], list(codes[name]))
    free = [name for name in names if name not in CONFIGURATION]
    grid = np.array(np.meshgrid(*(codes[name] for name in free), indexing="ij"), dtype=np.int64).reshape(len(free), -1).T
    known, other = np.repeat(prior.codes[able], len(grid), axis=0), np.tile(grid, (int(able.sum()), 1))
    columns = {**dict(zip(CONFIGURATION, known.T, strict=True)), **dict(zip(free, other.T, strict=True))}
    return np.column_stack([columns[name] for name in names]), np.repeat(prior.cost[able], len(grid))
