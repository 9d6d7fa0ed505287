"""The holdout split: D, the private half of an area, and the holdout, the other half."""

import numpy as np
import pandas as pd

from genverify.core.domain import Column, Domain
from genverify.core.errors import DataError
from genverify.core.seeds import derive_seed
from genverify.papers.raprank.ranking import Codes
from genverify.papers.raprank.settings import ResolvedExperiment

BLOCK = "BLOCK"


def with_block(domain: Domain, blocks: list[str]) -> Domain:
    """The domain with a column BLOCK, whose codes are the places of the blocks in their order."""
    codes = tuple(range(len(blocks)))
    return Domain((*domain.columns, Column(BLOCK, "block", codes, tuple(blocks))))


def area_records(records: pd.DataFrame, areas: pd.DataFrame, domain: Domain) -> pd.DataFrame:
    """The records of the areas, sorted by area and block, with the place of their block among the blocks of the area."""
    names = list(domain.names)
    places = areas.assign(**{BLOCK: areas.groupby("area").cumcount().astype(np.int16)})
    joined = places[["area", "block", BLOCK]].merge(records[["block", *names]], on="block")
    return joined.sort_values(["area", "block", *names], ignore_index=True)


def split_areas(records: pd.DataFrame, experiment: ResolvedExperiment, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """
    D and the holdout of every area: floor(n/2) records at random, and the rest, so that a start never lacks rows.

    Of a state no more records than the limit are drawn before. Areas of one record cannot be split and are left out.
    """
    limit = experiment.limit if experiment.areas == "state" else None
    private, holdout = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for area, rows in records.groupby("area", sort=True).indices.items():
        rng = np.random.default_rng(derive_seed(seed, "split", experiment.data, experiment.areas, str(area)))
        drawn = rng.permutation(rows)[:limit]
        if len(drawn) > 1:
            private.append(np.sort(drawn[: len(drawn) // 2]))
            holdout.append(np.sort(drawn[len(drawn) // 2 :]))
    halves = [records.iloc[np.concatenate(part)].reset_index(drop=True) for part in (private, holdout)]
    return halves[0], halves[1]


def codes_of(rows: pd.DataFrame, domain: Domain, where: str) -> Codes:
    """Records as a table of codes, one column per column of the domain."""
    missing = [name for name in domain.names if name not in rows.columns]
    if missing:
        raise DataError(f"{where}: no column {missing[0]}; the queries speak of {', '.join(domain.names)}")
    codes = rows[list(domain.names)].to_numpy(dtype=np.int64)
    for place, column in enumerate(domain.columns):
        unknown = np.setdiff1d(codes[:, place], column.codes)
        if unknown.size:
            raise DataError(f"{where}: {column.name}={unknown[0]} is not a code of the domain of the queries")
    return codes
