"""Blocks of census households drawn at random, with every count that is published of them."""

from functools import cache
from pathlib import Path

import numpy as np

from genverify.model.release import Release, Schema, make_release, read_study
from genverify.model.settings import ReleaseSettings
from genverify.model.tabulate import tabulate

CENSUS = Path(__file__).parents[2] / "data" / "census"
SHARES = {
    "TEN": [0.5, 0.2, 0.28, 0.02],
    "VACS": [1, 0, 0, 0, 0, 0, 0, 0],
    "HHSIZE": [0.27, 0.33, 0.16, 0.13, 0.06, 0.03, 0.02],
    "HHT": [0.48, 0.05, 0.13, 0.12, 0.03, 0.15, 0.04],
    "HHT2": [0.2, 0.27, 0.03, 0.04, 0.15, 0.06, 0.05, 0.02, 0.12, 0.02, 0.02, 0.02],
    "THHSPAN": [0.9, 0.1],
    "THHLDRAGE": [0.05, 0.15, 0.18, 0.21, 0.1, 0.09, 0.12, 0.07, 0.03],
    "THHRACE": [0.85, 0.1, 0.01, 0.02, 0.005, 0.01, 0.005],
    "TP18": [0.67, 0.33],
    "TP65": [0.75, 0.25],
}


@cache
def census_study(structural_zeros: bool) -> Schema:
    settings = ReleaseSettings(tables_file=str(CENSUS / "tables.yaml"), universe="occupied", tables="all",
                               groups={"renter": [3]}, structural_zeros=structural_zeros, withhold=[])  # fmt: skip
    return read_study(CENSUS / "domain.yaml", settings)


def census_release(seed: int, n: int, structural_zeros: bool = False, drawn: int = 1000) -> Release:
    """All 621 counts of n households drawn at random; with structural zeros, only households that keep the rules."""
    study, rng = census_study(structural_zeros), np.random.default_rng(seed)
    every = {c.name: rng.choice(c.codes, drawn, p=SHARES[c.name]) for c in study.domain.columns}
    kept = ~np.any([np.zeros(drawn, dtype=bool), *(rule.excludes(every) for rule in study.rules)], axis=0)
    records = {name: codes[kept][:n] for name, codes in every.items()}
    counts = tabulate(records, np.array([0]), study.domain, study.queries)[0]
    known = {"N": n, **{q.id: int(count) for q, count in zip(study.queries, counts, strict=True)}}
    return make_release(study, f"seed {seed}", known)
