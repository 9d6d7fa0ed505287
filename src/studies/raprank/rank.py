"""RAP-RANK (Algorithm 1): K reconstructions from what is published, rows ranked by how often they came out; convergence."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from genverify.model.domain import Domain
from genverify.model.errors import DataError
from genverify.model.release import Release, Schema
from genverify.model.work import derive_seed, progress
from studies.country.store import KnownBlock
from studies.raprank.areas import (
    Codes,
    ConfidenceSet,
    Target,
    assign_blocks,
    codes_of,
    count_holders,
    make_target,
    match_curve,
    rank_rows,
    read_areas,
    unique_rows,
)
from studies.raprank.evaluate import HOLDOUT, started
from studies.raprank.rap.reconstruct import Reconstruction, reconstruct
from studies.raprank.settings import Convergence, RapSettings


def rank_target(
    target: Target, names: tuple[str, ...], runs: int, seed: int, settings: RapSettings, start: Codes | None = None
) -> tuple[ConfidenceSet, Reconstruction]:
    """The confidence set of an area and its runs, seeded by `names`, area and number; a start takes rows of a baseline."""
    seeds = [derive_seed(seed, "raprank", *names, target.area, str(run)) for run in range(runs)]
    if start is not None:
        start = _fitted(target, settings.rows or target.rows, start, derive_seed(seed, "start", *names, target.area))
    domain = target.domain
    if target.blocks is not None:  # the blocks of rows are known, and RAP learns the other columns
        domain, start = Domain(domain.columns[:-1]), None if start is None else start[:, :-1]
    try:
        result = reconstruct(domain, target.predicates, target.counts, target.rows, seeds, settings, start, target.blocks)
    except DataError as error:
        raise DataError(f"area {target.area}: {error}") from None
    return rank_rows(result.union, derive_seed(seed, "ties", *names, target.area)), result


def _fitted(target: Target, rows: int, start: Codes, seed: int) -> Codes:
    """As many rows of a baseline as the area has, in the order of its blocks where they are known."""
    if len(start) < rows:
        raise DataError(
            f"area {target.area}: a start at a baseline of {len(start)} rows, but {rows} are to be reconstructed. "
            "Give a baseline with at least as many rows."
        )
    if target.blocks is not None:
        return assign_blocks(start, target.blocks.sizes, seed)
    return start[np.sort(np.random.default_rng(seed).permutation(len(start))[:rows])]


def start_of(baseline: pd.DataFrame, target: Target) -> Codes:
    """The rows of an area's baseline as codes; an error if they are no records of the area's domain."""
    rows = baseline[baseline["area"] == target.area]
    return codes_of(rows, target.domain, f"the baseline of area {target.area}")


def ranked_frame(target: Target, ranked: ConfidenceSet, result: Reconstruction, key: str = "area") -> pd.DataFrame:
    """A confidence set as rows in order: area, frequency (over all runs), the runs that hold it, a code per column."""
    frame = pd.DataFrame(ranked.rows.astype(np.int16), columns=list(target.domain.names))
    frame.insert(0, "runs", count_holders(ranked.rows, result.datasets))
    frame.insert(0, "frequency", ranked.frequency.astype(np.int32))
    frame.insert(0, key, target.area)
    return frame


def runs_row(target: Target, result: Reconstruction, key: str = "area") -> Mapping[str, Any]:
    sizes = {key: target.area, "rows": target.rows, "queries": target.published, "runs": len(result.datasets)}
    relaxed, rounded = (float(np.mean(errors)) for errors in (result.relaxed_errors, result.rounded_errors))
    return sizes | {"steps": int(np.max(result.steps)), "relaxed_error": relaxed, "rounded_error": rounded}


# RAP-RANK on blocks whose records are known: how many of its first rows are true.


def mean_match_rate(every: Sequence[KnownBlock], count: int, runs: int, settings: RapSettings, seed: int) -> dict[str, Any]:
    """RAP-RANK with whole blocks as D, some drawn at random: the mean over blocks of MATCH-RATE at k = u."""
    # the same blocks however their columns are read
    rng, rates = np.random.default_rng(derive_seed(seed, "raprank", "blocks")), []
    blocks = [every[index] for index in np.sort(rng.choice(len(every), min(count, len(every)), replace=False))]
    for known in progress(blocks, "blocks ranked"):
        ranked, _ = rank_target(make_target([known.release]), ("whole",), runs, seed, settings)
        rates.append(float(match_curve(ranked, known.records, unique_rows(known.records), [1.0])[0]))
    persons = sum(len(known.records) for known in blocks)
    return {"ranked_blocks": len(rates), "ranked_persons": persons, "runs": runs, "match_rate": float(np.mean(rates))}


# How RAP converges: errors and match rates after more and more steps; with BLOCK, its blocks known or learned.

READ_AT = (0.1, 1.0)  # the shares of candidates at which match rates are compared: the best ones, and all of them


def most_blocks(counts: Sequence[Path], schema: Schema) -> list[Release]:
    """The area with the most blocks; where none are distinguished, with the most rows."""
    areas = [area for path in counts for area in read_areas(path, schema)]
    return max(areas, key=lambda area: (len(area), area[0].n))


def converge(
    area: list[Release], private: pd.DataFrame, holdout: pd.DataFrame, settings: RapSettings, asked: Convergence, seed: int
) -> pd.DataFrame:
    """One row per way and number of steps: both errors (per row, and per count), match rates; the holdout beside them."""
    known = make_target(area)
    rows, other = start_of(private, known), start_of(holdout, known)
    ways: list[tuple[str, Target, Codes | None]] = [("known" if known.blocks else "none", known, None)]
    if known.blocks:
        ways += [("known", known, other), ("learned", make_target(area, learned=True), None)]
    u = unique_rows(rows, other)

    def rates(ranked: ConfidenceSet) -> dict[str, float]:
        curve = match_curve(ranked, rows, u, READ_AT)
        return {f"match_rate at {x:g}": float(rate) for x, rate in zip(READ_AT, curve, strict=True)}

    records = []
    for blocks, target, start in ways:
        for steps in progress(asked.steps, f"numbers of steps, blocks {blocks}"):
            never = settings.but(steps=steps, tolerance=0.0, patience=steps)
            name = ("convergence", blocks, "random" if start is None else HOLDOUT)
            ranked, runs = rank_target(target, name, asked.runs, seed, never, start)
            row: dict[str, Any] = {"blocks_are": blocks, "source": started(name[2]), "steps": steps, "runs": asked.runs}
            for word, errors in (("relaxed", runs.relaxed_errors), ("rounded", runs.rounded_errors)):
                row[f"{word}_error"] = float(errors.mean())
                row[f"{word}_rms_count"] = float(errors.mean() * np.sqrt(known.rows / known.published))
            records.append(row | rates(ranked))
    records.append({"blocks_are": ways[0][0], "source": HOLDOUT, **rates(rank_rows(other, seed))})
    return pd.DataFrame(records).assign(rows=known.rows, of_blocks=len(area) - 1, counts=known.published, u=u)
