"""Priors of the study: what households of other blocks are like, in the tract, the state and the nation."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from genverify.core.domain import Domain, DomainFile
from genverify.microdata.store import GEOGRAPHY, read_microdata
from genverify.solve.counting.prior import Prior, uniform

Floats = npt.NDArray[np.float64]
UNIFORM, NATION, STATE, TRACT = "uniform", "nation", "state", "tract"
PRIORS = (UNIFORM, NATION, STATE, TRACT)
SINGLED = (UNIFORM, TRACT)
"""Who is singled out is asked under the two ends: of somebody who knows nothing, and of one who knows the neighbourhood."""
TIMES = "households"


def count_areas(
    microdata: Path, file: DomainFile, universe: str, published: Domain, sampled: Collection[str]
) -> pd.DataFrame:
    """
    How often each record occurs in the nation, in every state and in the tracts of the sampled blocks. The sampled blocks
    themselves are left out: a prior must not know what is to be found out.
    """
    tracts = {block[: GEOGRAPHY[TRACT]] for block in sampled}
    states = sorted(path.stem for path in microdata.glob("*.parquet"))
    parts = [
        part for state in states for part in _of_state(microdata, file, universe, published, set(sampled), tracts, state)
    ]
    counted = pd.concat(parts, ignore_index=True)
    return counted.groupby(["area", *published.names], sort=True)[TIMES].sum().reset_index()


def _of_state(
    microdata: Path, file: DomainFile, universe: str, published: Domain, sampled: set[str], tracts: set[str], state: str
) -> Iterator[pd.DataFrame]:
    names = list(published.names)
    records = read_microdata(microdata, ["block", *file.domain.names], states=[state]).to_pandas()
    kept = file.universe(universe).keeps.matches(dict(records.items())) & ~records["block"].isin(list(sampled)).to_numpy()
    for column in published.columns:
        kept &= records[column.name].isin(column.codes).to_numpy()
    records = records[kept]
    whole = records.groupby(names, observed=True).size().rename(TIMES).reset_index()
    yield whole.assign(area=NATION)
    yield whole.assign(area=state)
    area = records["block"].str.slice(0, GEOGRAPHY[TRACT])
    local = records[area.isin(tracts)].assign(area=area)
    yield local.groupby(["area", *names], observed=True).size().rename(TIMES).reset_index()


@dataclass(frozen=True)
class Areas:
    """The records of areas, each with its number of households, and how many records the wider area is worth beside them."""

    domain: Domain
    counts: Mapping[str, pd.DataFrame]
    smoothing: float

    @classmethod
    def of(cls, frame: pd.DataFrame, domain: Domain, smoothing: float) -> "Areas":
        return cls(domain, {str(area): rows for area, rows in frame.groupby("area")}, smoothing)

    def priors(self, block: str) -> dict[str, Prior]:
        """
        The priors of a block, from the uniform one to its tract's. Each is smoothed towards the one before it: what an
        area's households say, and `smoothing` households more that are drawn from the wider area.
        """
        found = {UNIFORM: uniform(self.domain)}
        table, floor = pd.DataFrame({name: [] for name in [*self.domain.names, "weight"]}), 1.0 / self.domain.size
        areas = {NATION: NATION, STATE: block[: GEOGRAPHY[STATE]], TRACT: block[: GEOGRAPHY[TRACT]]}
        for name, area in areas.items():
            table, floor = self._smoothed(self.counts.get(area), table, floor)
            codes = table[list(self.domain.names)].to_numpy(dtype=np.int16)
            found[name] = Prior(name, self.domain, codes, table["weight"].to_numpy(dtype=np.float64), floor)
        return found

    def _smoothed(self, own: pd.DataFrame | None, wider: pd.DataFrame, floor: float) -> tuple[pd.DataFrame, float]:
        """The probabilities of an area's records, given those of the wider area; without households, the wider area's."""
        if own is None:
            return wider, floor
        total = float(own[TIMES].sum()) + self.smoothing
        parts = [own.assign(weight=own[TIMES] / total), wider.assign(weight=wider["weight"] * self.smoothing / total)]
        names = list(self.domain.names)
        joined = pd.concat([part[[*names, "weight"]] for part in parts if len(part)], ignore_index=True)
        return joined.groupby(names, sort=True)["weight"].sum().reset_index(), floor * self.smoothing / total
