"""Judging the rankings of an experiment: match curves against D, beside those of every baseline."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from genverify.core.domain import Domain
from genverify.core.predicates import Predicate
from genverify.papers.raprank.curves import Area, baseline_sets, curve_rows, grid_of, read_areas, started
from genverify.papers.raprank.geographies import count_rows, rank_geographies
from genverify.papers.raprank.halves import codes_of, with_block
from genverify.papers.raprank.ranking import ConfidenceSet


@dataclass(frozen=True)
class Evidence:
    """What an experiment left behind: areas and their blocks, both halves, ranked rows by start, the domain of counts."""

    areas: pd.DataFrame
    private: pd.DataFrame
    holdout: pd.DataFrame
    ranked: Mapping[str, pd.DataFrame]
    published: Domain
    told_apart: bool

    def domains(self) -> dict[str, Domain]:
        """The domain of every area that was split; with its blocks where they are distinguished."""
        split = set(self.private["area"])
        blocks = {str(area): sorted(own) for area, own in self.areas.groupby("area")["block"] if area in split}
        return {area: with_block(self.published, own) if self.told_apart else self.published for area, own in blocks.items()}


def judge_areas(
    evidence: Evidence, microdata: Path, stored: Domain, keeps: Predicate, points: int, seed: int
) -> pd.DataFrame:
    """The match curves of every area: the geographies above it, the holdout, and RAP-RANK from every start."""
    areas = list(read_areas(evidence.private, evidence.holdout, evidence.domains()))
    wanted = {area.name: area.u for area in areas}
    counted = count_rows(microdata, list(wanted), stored, keeps)
    geographies = dict(rank_geographies(counted, stored, wanted, seed))
    sizes = evidence.areas.groupby("area")["size"].first()
    ranked = {started(start): dict(iter(rows.groupby("area"))) for start, rows in evidence.ranked.items()}
    frames = []
    for area in areas:
        sets = baseline_sets(area, geographies, seed)
        sets |= {source: _read_set(rows[area.name], area) for source, rows in ranked.items()}
        frames.append(curve_rows(area, sets, str(sizes[area.name]), grid_of(points)))
    return pd.concat(frames, ignore_index=True)


def _read_set(rows: pd.DataFrame, area: Area) -> ConfidenceSet:
    return ConfidenceSet(codes_of(rows, area.domain, f"ranked rows of area {area.name}"), rows["frequency"].to_numpy())
