"""Match curves: MATCH-RATE at k against k/u for every area and source of rows."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from genverify.attack.evaluate import Weights, ratio_interval
from genverify.model.arrays import Floats
from genverify.model.domain import Domain, Predicate
from genverify.model.work import derive_seed
from studies.raprank.areas import (
    BLOCK,
    Codes,
    ConfidenceSet,
    baselines_above,
    codes_of,
    count_rows,
    match_curve,
    populate_blocks,
    rank_geographies,
    rank_rows,
    unique_rows,
    with_block,
)

HOLDOUT = "holdout"
KEYS = ["area", "state", "size", "source", "u"]
X = "x"


def started(start: str) -> str:
    """The name of RAP-RANK from a start, as a source of rows."""
    return f"RAP-RANK {start}"


@dataclass(frozen=True)
class Area:
    """An area whose reconstruction is judged: D, the holdout, and u, the unique rows of D (of the holdout where fewer)."""

    name: str
    domain: Domain
    private: Codes
    holdout: Codes

    @property
    def u(self) -> int:
        return unique_rows(self.private, self.holdout)


def grid_of(points: int) -> Floats:
    return np.arange(1, points + 1) / points


def _baseline_sets(area: Area, ranked: Mapping[str, ConfidenceSet], seed: int) -> dict[str, ConfidenceSet]:
    """The confidence sets of the geographies above an area, with its blocks populated as in D, and of the holdout."""
    result = {}
    for source, geography in baselines_above(area.name).items():
        result[source] = ranked[geography]
        if BLOCK in area.domain.names:
            index = area.domain.names.index(BLOCK)
            drawn = derive_seed(seed, "ties", "blocks", source, area.name)
            result[source] = populate_blocks(ranked[geography], area.private[:, index], drawn, area.u)
    return result | {HOLDOUT: rank_rows(area.holdout, derive_seed(seed, "ties", HOLDOUT, area.name))}


def _curve_rows(area: Area, sets: Mapping[str, ConfidenceSet], size: str, grid: Floats) -> pd.DataFrame:
    """One row per source and point of the grid: the match rate of its k = ceil(x u) best rows."""
    curves = {source: match_curve(ranked, area.private, area.u, grid) for source, ranked in sets.items()}
    frames = [pd.DataFrame({"source": source, X: grid, "match_rate": curve}) for source, curve in curves.items()]
    frame = pd.concat(frames, ignore_index=True)
    return frame.assign(area=area.name, state=area.name[:2], size=size, u=area.u)[[*KEYS, X, "match_rate"]]


def wide(curves: pd.DataFrame, source: str) -> pd.DataFrame:
    """The curves of a source: a row per area, a column per point of the grid."""
    return curves[curves["source"] == source].pivot(index="area", columns=X, values="match_rate")


def mean_curves(curves: pd.DataFrame, seed: int) -> pd.DataFrame:
    """The mean over areas at every point, for each source, with its 95 % interval (areas drawn again) and their number."""
    rows = []
    for source in curves["source"].unique():
        values = wide(curves, source)
        mean, low, high = mean_interval(values.to_numpy(), seed)
        shape = {"source": source, X: values.columns, "match_rate": mean, "low": low, "high": high, "areas": len(values)}
        rows.append(pd.DataFrame(shape))
    return pd.concat(rows, ignore_index=True)


def mean_interval(values: Floats, seed: int) -> tuple[Floats, Floats, Floats]:
    """The mean of each column (areas, columns) and its 95 % bootstrap interval over areas."""
    weights = Weights(["areas"] * len(values), seed)
    return values.mean(axis=0), *ratio_interval(values, np.ones_like(values), weights)


# Judging the rankings of an experiment: match curves against D, beside those of every baseline.


@dataclass(frozen=True)
class Evidence:
    """What an experiment left behind: areas and their blocks, both halves, ranked rows by start, the domain of counts."""

    areas: pd.DataFrame
    private: pd.DataFrame
    holdout: pd.DataFrame
    ranked: Mapping[str, pd.DataFrame]
    published: Domain
    distinguished: bool

    def judged(self) -> Iterator[Area]:
        """Every area that was split; its domain with its blocks where they are distinguished."""
        blocks, holdout = self.areas.groupby("area")["block"], self.holdout.groupby("area")
        for name, private in self.private.groupby("area"):
            domain = with_block(self.published, sorted(blocks.get_group(name))) if self.distinguished else self.published
            rows = [codes_of(half, domain, f"area {name}") for half in (private, holdout.get_group(name))]
            yield Area(str(name), domain, *rows)


def judge_areas(
    evidence: Evidence, microdata: Path, stored: Domain, keeps: Predicate, points: int, seed: int
) -> pd.DataFrame:
    """The match curves of every area: the geographies above it, the holdout, and RAP-RANK from every start."""
    areas = list(evidence.judged())
    wanted = {area.name: area.u for area in areas}
    counted = count_rows(microdata, list(wanted), stored, keeps)
    geographies = dict(rank_geographies(counted, stored, wanted, seed))
    sizes = evidence.areas.groupby("area")["size"].first()
    ranked = {started(start): dict(iter(rows.groupby("area"))) for start, rows in evidence.ranked.items()}
    frames = []
    for area in areas:
        sets = _baseline_sets(area, geographies, seed)
        for source, of_area in ranked.items():
            rows, where = of_area[area.name], f"ranked rows of area {area.name}"
            sets[source] = ConfidenceSet(codes_of(rows, area.domain, where), rows["frequency"].to_numpy())
        frames.append(_curve_rows(area, sets, str(sizes[area.name]), grid_of(points)))
    return pd.concat(frames, ignore_index=True)
