"""Match curves: MATCH-RATE at k against k/u for every area and source of rows, and their means over areas."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from genverify.attack.truth import block_weights, ratio_interval
from genverify.core.arraytypes import Floats
from genverify.core.domain import Domain
from genverify.core.seeds import derive_seed
from genverify.papers.raprank.geographies import baselines_above, populate_blocks
from genverify.papers.raprank.halves import BLOCK, codes_of
from genverify.papers.raprank.ranking import Codes, ConfidenceSet, match_curve, rank_rows, unique_rows

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
    """
    The shares k/u at which curves are read.

    >>> grid_of(4).tolist()
    [0.25, 0.5, 0.75, 1.0]
    """
    return np.arange(1, points + 1) / points


def read_areas(private: pd.DataFrame, holdout: pd.DataFrame, domains: Mapping[str, Domain]) -> Iterator[Area]:
    """The areas that were split, in order."""
    halves = [dict(iter(half.groupby("area"))) for half in (private, holdout)]
    for name, domain in domains.items():
        rows = [codes_of(half[name], domain, f"area {name}") for half in halves]
        yield Area(name, domain, rows[0], rows[1])


def baseline_sets(area: Area, ranked: Mapping[str, ConfidenceSet], seed: int) -> dict[str, ConfidenceSet]:
    """The confidence sets of the geographies above an area, with its blocks populated as in D, and of the holdout."""
    found = {}
    for source, geography in baselines_above(area.name).items():
        found[source] = ranked[geography]
        if BLOCK in area.domain.names:
            place = area.domain.names.index(BLOCK)
            drawn = derive_seed(seed, "ties", "blocks", source, area.name)
            found[source] = populate_blocks(ranked[geography], area.private[:, place], drawn, area.u)
    return found | {HOLDOUT: rank_rows(area.holdout, derive_seed(seed, "ties", HOLDOUT, area.name))}


def curve_rows(area: Area, sets: Mapping[str, ConfidenceSet], size: str, grid: Floats) -> pd.DataFrame:
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
    weights = block_weights(["areas"] * len(values), seed)
    return values.mean(axis=0), *ratio_interval(values, np.ones_like(values), weights)
