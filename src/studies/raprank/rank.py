"""RAP-RANK on an area (Algorithm 1): K reconstructions from what is published, and their rows ranked by frequency."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from genverify.core.domain import Domain
from genverify.core.errors import DataError
from genverify.core.seeds import derive_seed
from genverify.papers.raprank.blocks import place_rows
from genverify.papers.raprank.halves import codes_of
from genverify.papers.raprank.published import Target
from genverify.papers.raprank.ranking import Codes, ConfidenceSet, count_holders, rank_rows
from genverify.papers.raprank.rap import Reconstruction, reconstruct
from genverify.papers.raprank.settings import RapSettings


def rank_target(
    target: Target, names: tuple[str, ...], runs: int, seed: int, settings: RapSettings, start: Codes | None = None
) -> tuple[ConfidenceSet, Reconstruction]:
    """
    The confidence set of an area and the runs behind it, each with a seed derived from `names`, the area and its number.

    A start at a baseline uses as many of its rows as the area has, drawn at random where there are more.
    """
    seeds = [derive_seed(seed, "raprank", *names, target.area, str(run)) for run in range(runs)]
    if start is not None:
        start = _fitted(target, start, derive_seed(seed, "start", *names, target.area))
    found = rap_on(target, seeds, settings, start)
    rows = found.datasets.reshape(-1, len(target.domain.names))
    return rank_rows(rows, derive_seed(seed, "ties", *names, target.area)), found


def rap_on(target: Target, seeds: Sequence[int], settings: RapSettings, start: Codes | None = None) -> Reconstruction:
    """RAP on an area; where the blocks of its rows are known, it learns the other columns."""
    domain = target.domain
    if target.blocks is not None:
        domain, start = Domain(domain.columns[:-1]), None if start is None else start[:, :-1]
    try:
        return reconstruct(domain, target.predicates, target.counts, target.rows, seeds, settings, start, target.blocks)
    except DataError as error:
        raise DataError(f"area {target.area}: {error}") from None


def _fitted(target: Target, start: Codes, seed: int) -> Codes:
    """As many rows of a baseline as the area has, in the order of its blocks where they are known."""
    if len(start) < target.rows:
        raise DataError(
            f"area {target.area}: a start at a baseline of {len(start)} rows, but {target.rows} are to be reconstructed. "
            "Give a baseline with at least as many rows."
        )
    if target.blocks is not None:
        return place_rows(start, target.blocks.sizes, seed)
    return start[np.sort(np.random.default_rng(seed).permutation(len(start))[: target.rows])]


def start_of(baseline: pd.DataFrame, target: Target) -> Codes:
    """The rows of an area's baseline as codes; an error if they are no records of the area's domain."""
    rows = baseline[baseline["area"] == target.area]
    return codes_of(rows, target.domain, f"the baseline of area {target.area}")


def ranked_frame(target: Target, ranked: ConfidenceSet, found: Reconstruction, key: str = "area") -> pd.DataFrame:
    """A confidence set as rows in order: area, frequency (over all runs), the runs that hold it, a code per column."""
    frame = pd.DataFrame(ranked.rows.astype(np.int16), columns=list(target.domain.names))
    frame.insert(0, "runs", count_holders(ranked.rows, found.datasets))
    frame.insert(0, "frequency", ranked.frequency.astype(np.int32))
    frame.insert(0, key, target.area)
    return frame


def runs_row(target: Target, found: Reconstruction, key: str = "area") -> Mapping[str, Any]:
    """What the runs of an area came to."""
    return {
        key: target.area,
        "rows": target.rows,
        "queries": target.published,
        "runs": len(found.datasets),
        "steps": int(np.max(found.steps)),
        "relaxed_error": float(np.mean(found.relaxed_errors)),
        "rounded_error": float(np.mean(found.rounded_errors)),
    }
