"""Priors of the study: what households of other blocks are like, in the tract, the state and the nation."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from genverify.core.domain import Domain
from genverify.solve.counting.prior import Prior, uniform

UNIFORM, NATION, STATE, TRACT = "uniform", "nation", "state", "tract"
PRIORS = (UNIFORM, NATION, STATE, TRACT)
SINGLED = (UNIFORM, TRACT)
"""Who is singled out is asked under the two ends: of somebody who knows nothing, and of one who knows the neighbourhood."""
TIMES = "households"


def chosen_smoothing(scored: pd.DataFrame) -> dict[str, float]:
    """The chosen value of every level, from the table of the rule choose_smoothing."""
    best = scored[scored["chosen"]]
    return {str(level): float(value) for level, value in zip(best["level"], best["smoothing"], strict=True)}


@dataclass(frozen=True)
class Areas:
    """The records of areas, each with its number of households, and how many records the wider area is worth beside them."""

    domain: Domain
    counts: Mapping[str, Mapping[str, pd.DataFrame]]
    smoothing: Mapping[str, float]

    @classmethod
    def of(cls, frame: pd.DataFrame, domain: Domain, smoothing: Mapping[str, float]) -> "Areas":
        levels = {
            str(level): {str(area): rows for area, rows in own.groupby("area")} for level, own in frame.groupby("level")
        }
        return cls(domain, levels, smoothing)

    def priors(self, block: str) -> dict[str, Prior]:
        """
        The priors of a block, from the uniform one to its tract's. Each is smoothed towards the one before it: what an
        area's households say, and `smoothing` households more that are drawn from the wider area.
        """
        found = {UNIFORM: uniform(self.domain)}
        table, floor = pd.DataFrame({name: [] for name in [*self.domain.names, "weight"]}), 1.0 / self.domain.size
        for name in (NATION, STATE, TRACT):
            inside = [rows for area, rows in self.counts.get(name, {}).items() if block.startswith(area)]
            table, floor = self._smoothed(inside[0] if inside else None, table, floor, self.smoothing.get(name, 0.0))
            codes = table[list(self.domain.names)].to_numpy(dtype=np.int16)
            found[name] = Prior(name, self.domain, codes, table["weight"].to_numpy(dtype=np.float64), floor, smoothed=True)
        return found

    def _smoothed(
        self, own: pd.DataFrame | None, wider: pd.DataFrame, floor: float, more: float
    ) -> tuple[pd.DataFrame, float]:
        """The probabilities of an area's records, given those of the wider area; without households, the wider area's."""
        if own is None:
            return wider, floor
        total = float(own[TIMES].sum()) + more
        parts = [own.assign(weight=own[TIMES] / total), wider.assign(weight=wider["weight"] * more / total)]
        names = list(self.domain.names)
        joined = pd.concat([part[[*names, "weight"]] for part in parts if len(part)], ignore_index=True)
        return joined.groupby(names, sort=True)["weight"].sum().reset_index(), floor * more / total
