"""A block reconstructed from what the two releases say of it: the most likely datasets, or those nearest to the counts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from genverify.model.release import Release
from genverify.model.work import derive_seed
from genverify.solve.program_settings import ProgramSettings
from genverify.solve.solvers.base import Solver
from studies.housing.closest_fit import closest
from studies.housing.detect import FLAGGED
from studies.housing.households import COLUMNS
from studies.housing.joint_program import CONFIGURATION, NATS, Prior, TypeProgram, list_program, prior_types
from studies.housing.k_best import LeastCost, LikelyDatasets, most_likely, most_likely_sets

KINDS = {"block": str, "found": np.int64, "proved": bool, "fits": bool, "best_cost": float, "error": np.int64, "gap": float}


@dataclass(frozen=True)
class Reconstruction:
    """
    The most likely datasets of a block over listed types, and how good they are.

    `fits`: every statistic is met; else they minimise cost plus `error` (equation 8), and all of them have the same errors.
    `proved`: no dataset that was left out costs less than the last. `gap`: what the first may lack to the best, in nats.
    """

    block: str
    program: TypeProgram
    likely: LikelyDatasets
    fits: bool
    error: int
    gap: float


def reconstruct_block(
    release: Release, prior: Prior, top: int, settings: ProgramSettings, search: int, seed: int
) -> Reconstruction:
    """
    The `top` most likely datasets that fit a block (equation 2) under the prior of its state; where none of the households
    that the prior knows fits, those nearest to the counts (equation 8).
    """
    solver, own = settings.make_solver(), derive_seed(seed, "housing_top", release.block)
    program = prior_program(release, prior)
    able = program.possible()
    best = most_likely(able, solver)
    if best.z is None:
        return _nearest(release.block, program, top, solver, search, own)
    likely = most_likely_sets(able, best, top, solver, search, own)
    return Reconstruction(release.block, able, likely, fits=True, error=0, gap=best.gap / NATS)


def prior_program(release: Release, prior: Prior) -> TypeProgram:
    """The program of a block over the types that the prior knows, with their costs."""
    domain = release.schema.domain
    codes, cost = prior_types(prior, domain.names, {column.name: column.codes for column in domain.columns})
    return list_program(release, codes, cost, [name for name in domain.names if name not in CONFIGURATION])


def _nearest(block: str, program: TypeProgram, top: int, solver: Solver, search: int, seed: int) -> Reconstruction:
    """The datasets of equation 8: the best, and others of the same errors. Others that cost as little are surely as good."""
    found = closest(program, solver)
    best = LeastCost(found.z, found.gap * NATS, decided=found.gap == 0)
    likely = most_likely_sets(found.program(program), best, top, solver, search, seed)
    tied = likely.proved and len(likely.costs) == top and likely.costs[-1] == likely.costs[0]
    likely = LikelyDatasets(likely.datasets, likely.costs, tied)
    return Reconstruction(block, program, likely, found.error == 0, found.error, found.gap)


def datasets_frame(found: Reconstruction) -> pd.DataFrame:
    """One row per dataset (rank) and distinct household, with its count."""
    datasets = np.array(found.likely.datasets, dtype=np.int64).reshape(len(found.likely.datasets), found.program.types)
    rank, place = np.nonzero(datasets)
    count = datasets[rank, place]
    frame = pd.DataFrame(found.program.codes[place], columns=list(found.program.names)).astype(np.int16)
    frame.insert(0, "cost", np.array(found.likely.costs, dtype=np.float64)[rank] / NATS)
    frame.insert(0, "rank", rank.astype(np.int32))
    frame.insert(0, "block", found.block)
    return frame.assign(count=count.astype(np.int32))


def block_row(found: Reconstruction) -> dict[str, Any]:
    """What became of a block: how many datasets, whether they are the most likely, and how well they fit."""
    best = found.likely.costs[0] / NATS if found.likely.costs else np.nan
    values = (found.block, len(found.likely.datasets), found.likely.proved, found.fits, best, found.error, found.gap)
    return dict(zip(KINDS, values, strict=True))


def blocks_frame(found: Sequence[Reconstruction]) -> pd.DataFrame:
    """One row per block, in their order."""
    return pd.DataFrame([block_row(one) for one in found], columns=list(KINDS)).astype(KINDS)


def all_datasets(found: Sequence[Reconstruction]) -> pd.DataFrame:
    """The datasets of several blocks, one below the other; of none, a frame without rows."""
    if found:
        return pd.concat([datasets_frame(one) for one in found], ignore_index=True)
    kinds = {"block": str, "rank": np.int32, "cost": float, **dict.fromkeys(COLUMNS, np.int16), "count": np.int32}
    return pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in kinds.items()})


def flagged_batch(blocks: pd.DataFrame, batch: int, batches: int) -> list[str]:
    """The flagged blocks of a batch: one in `batches`, so that batches take about as long."""
    flagged = blocks.loc[blocks["verdict"].isin(FLAGGED), "block"]
    return sorted(flagged)[batch::batches]
