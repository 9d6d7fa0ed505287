"""Small made-up programs of household types, and every dataset that fits them."""

from collections.abc import Sequence
from itertools import combinations_with_replacement
from pathlib import Path

import numpy as np
import pandas as pd

from genverify.model.arrays import Ints
from genverify.model.files import read_yaml
from genverify.solve.solvers.base import WorkLimits
from genverify.solve.solvers.highs import Highs
from studies.housing.joint_program import TypeProgram
from studies.housing.statistics import census_statistics, hud_statistics, join

PUBLISHED = Path(__file__).parents[2] / "data" / "housing" / "published.yaml"
NAMES = ("BEDROOMS", "SIZE", "CHILDREN")
SOLVER = Highs(WorkLimits(10_000, 1_000, 30.0))


def small_program(seed: int, noise: int = 0) -> TypeProgram:
    """
    Up to twelve types of a few households: exact counts by size, a sum of persons, children from below, a range of the
    subsidized. With `noise`, counts are moved by up to so much, so that perhaps no dataset fits.
    """
    rng = np.random.default_rng(seed)
    grid = np.array([(b, s, c) for b in range(2) for s in (1, 2, 3) for c in range(2)])
    codes = grid[np.sort(rng.choice(len(grid), int(rng.integers(2, 13)), replace=False))]
    configurations = rng.integers(1, 4, size=(4, 2)) * 1000
    b, s, c = codes.T
    A = np.array([np.ones(len(codes)), s == 1, s == 2, s, c, b > 0], dtype=np.int64)
    dataset = rng.choice(len(codes), int(rng.integers(1, 6)))
    counts = A[:, dataset].sum(axis=1)
    counts[1:] = np.maximum(0, counts[1:] + rng.integers(-noise, noise + 1, size=5))
    lo, hi = counts.copy(), counts.copy()
    hi[4] = max(lo[4], len(dataset) * 3)
    hi[5] = hi[5] + int(rng.integers(0, 2))
    rows = ("N", "SIZE_1", "SIZE_2", "P", "CHILDREN", "HUD_N")
    return TypeProgram(NAMES, codes, rows, A, lo, hi, configurations[s, c].astype(np.int64), ("BEDROOMS",))


def all_datasets(program: TypeProgram) -> Ints:
    """Every dataset of n households, whether it fits or not: a row each, with the number of households of every type."""
    picks = np.array(list(combinations_with_replacement(range(program.types), program.n)), dtype=np.int64)
    datasets = np.zeros((len(picks), program.types), dtype=np.int64)
    np.add.at(datasets, (np.arange(len(picks))[:, None], picks), 1)
    return datasets


def fitting_datasets(program: TypeProgram) -> Ints:
    """Those of all datasets that are within the range of every row."""
    datasets = all_datasets(program)
    counts = datasets @ program.A.T
    return datasets[((program.lo <= counts) & (counts <= program.hi)).all(axis=1)]


def households_frame(block: str, households: Sequence[tuple[int, int, int, int]]) -> pd.DataFrame:
    """Households of a block (BEDROOMS, SIZE, CHILDREN, RACE) as a frame."""
    frame = pd.DataFrame(list(households), columns=["BEDROOMS", "SIZE", "CHILDREN", "RACE"])
    frame.insert(0, "block", block)
    return frame


def statistics_frame(households: pd.DataFrame) -> pd.DataFrame:
    """What both agencies publish about the blocks of households."""
    return join(census_statistics(households), hud_statistics(households, read_yaml(PUBLISHED)))
