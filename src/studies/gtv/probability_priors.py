"""Priors of the study: what households of other blocks are like, and how many of the wider area a prior needs."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from genverify.model.arrays import Floats
from genverify.model.domain import Domain, DomainFile
from genverify.solve.counting.prior import Prior, uniform
from studies.country.store import GEOGRAPHY, read_microdata

# Priors of the study: what households of other blocks are like, in the tract, the state and the nation.

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
            str(level): {str(area): rows for area, rows in group.groupby("area")} for level, group in frame.groupby("level")
        }
        return cls(domain, levels, smoothing)

    def priors(self, block: str) -> dict[str, Prior]:
        """
        The priors of a block, from the uniform one to its tract's. Each is smoothed towards the one before it: what an
        area's households say, and `smoothing` households more that are drawn from the wider area.
        """
        result = {UNIFORM: uniform(self.domain)}
        table, floor = pd.DataFrame({name: [] for name in [*self.domain.names, "weight"]}), 1.0 / self.domain.size
        for name in (NATION, STATE, TRACT):
            inside = [rows for area, rows in self.counts.get(name, {}).items() if block.startswith(area)]
            table, floor = self._smoothed(inside[0] if inside else None, table, floor, self.smoothing.get(name, 0.0))
            codes = table[list(self.domain.names)].to_numpy(dtype=np.int16)
            result[name] = Prior(name, self.domain, codes, table["weight"].to_numpy(dtype=np.float64), floor, smoothed=True)
        return result

    def _smoothed(
        self, entry: pd.DataFrame | None, wider: pd.DataFrame, floor: float, more: float
    ) -> tuple[pd.DataFrame, float]:
        """The probabilities of an area's records, given those of the wider area; without households, the wider area's."""
        if entry is None:
            return wider, floor
        total = float(entry[TIMES].sum()) + more
        parts = [entry.assign(weight=entry[TIMES] / total), wider.assign(weight=wider["weight"] * more / total)]
        names = list(self.domain.names)
        joined = pd.concat([part[[*names, "weight"]] for part in parts if len(part)], ignore_index=True)
        return joined.groupby(names, sort=True)["weight"].sum().reset_index(), floor * more / total


# The households of other blocks: counted by area as tables of weights for the priors, and state by state.


@dataclass(frozen=True)
class OutsideHouseholds:
    """
    The households outside the sampled blocks, read state by state. The sampled blocks themselves are left out: neither a
    prior nor its smoothing may know what is to be found out.
    """

    microdata: Path
    file: DomainFile
    universe: str
    published: Domain
    sampled: Collection[str]

    def states(self) -> Iterator[tuple[str, pd.DataFrame]]:
        """Every state with its households: block, and a code per published column."""
        left_out = list(self.sampled)
        for state in sorted(path.stem for path in self.microdata.glob("*.parquet")):
            records = read_microdata(self.microdata, ["block", *self.file.domain.names], states=[state]).to_pandas()
            rest = self.file.universe(self.universe).keeps.matches(dict(records.items()))
            rest &= ~records["block"].isin(left_out).to_numpy()
            for column in self.published.columns:
                rest &= records[column.name].isin(column.codes).to_numpy()
            yield state, records.loc[rest, ["block", *self.published.names]]

    def count_areas(self) -> pd.DataFrame:
        """How often each record occurs in the nation, in every state and in the tracts of the sampled blocks."""
        tracts = {block[: GEOGRAPHY[TRACT]] for block in self.sampled}
        parts = [part for state, records in self.states() for part in self._of_state(state, records, tracts)]
        counted = pd.concat(parts, ignore_index=True)
        return counted.groupby(["level", "area", *self.published.names], sort=True)[TIMES].sum().reset_index()

    def _of_state(self, state: str, records: pd.DataFrame, tracts: set[str]) -> Iterator[pd.DataFrame]:
        names = list(self.published.names)
        whole = records.groupby(names, observed=True).size().rename(TIMES).reset_index()
        yield whole.assign(area="", level=NATION)
        yield whole.assign(area=state, level=STATE)
        area = records["block"].str.slice(0, GEOGRAPHY[TRACT])
        local = records[area.isin(tracts)].assign(area=area)
        yield local.groupby(["area", *names], observed=True).size().rename(TIMES).reset_index().assign(level=TRACT)


# How many households of the wider area a prior needs: chosen by predicting blocks from their neighbours, as the priors will
# be used: given what the tables tell of every block. No sampled block has a part in it, neither as what predicts nor as
# what is predicted.

LEVELS = (NATION, STATE, TRACT)
COLUMNS = ["level", "smoothing", "nats_per_household", "households", "chosen"]


def score_smoothing(
    states: Callable[[], Iterable[pd.DataFrame]],
    sizes: Mapping[str, int],
    values: Sequence[float],
    levels: Sequence[str] = LEVELS,
    given: Sequence[str] = (),
) -> pd.DataFrame:
    """
    For every level and value the mean of -log P(household | its given columns) over all households outside the sample, each
    block predicted from all others; the best value of a level is chosen before the next narrower one. `states` gives the
    households of each state (block, and a code per column), as often as it is asked; `sizes` the number of codes of each
    column. The columns that are given are what the tables tell of a block anyway: a prior is needed for the rest.
    """
    parts = [_Part(list(names), 1 if names is sizes else -1) for names in (sizes, given) if names]
    nations = [_nation(states(), part.names) for part in parts]
    chosen: dict[str, float] = {}
    records = []
    for level in levels:
        losses, households = np.zeros(len(values)), 0
        for entry in states():
            for part, nation in zip(parts, nations, strict=True):
                rows, size = left_out(entry, nation, part.names), prod(sizes[name] for name in part.names)
                losses += [part.sign * _loss(rows, {**chosen, level: value}, size) for value in values]
            households += len(entry)
        # without any other block there is nothing to learn from: the wider area then says most
        best = int(losses.argmin()) if households else int(np.argmax(values))
        chosen[level] = float(values[best])
        records += [(level, float(value), loss / max(households, 1), households, index == best)
                  for index, (value, loss) in enumerate(zip(values, losses, strict=True))]  # fmt: skip
    return pd.DataFrame(records, columns=COLUMNS)


class _Part(NamedTuple):
    """log P(household | given) = log P(household) - log P(given): columns, and the sign of their part."""

    names: list[str]
    sign: int


def _nation(states: Iterable[pd.DataFrame], names: Sequence[str]) -> pd.DataFrame:
    return _counted(pd.concat([_counted(state, names) for state in states], ignore_index=True), names, TIMES)


def _loss(rows: pd.DataFrame, smoothing: Mapping[str, float], size: int) -> float:
    return float(-(rows[TIMES].to_numpy(dtype=np.float64) @ np.log(predicted(rows, smoothing, size))))


def left_out(records: pd.DataFrame, nation: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """
    A row for every kind of household of every block, with how many there are, and for each level how many of this kind
    (`nation`, `state`, `tract`) and in all (`nation_n`, ...) there are outside the block.
    """
    rows = records.groupby(["block", *names], observed=True).size().rename(TIMES).reset_index()
    in_block = rows.groupby("block")[TIMES].transform("sum")
    totals = rows[list(names)].merge(nation, on=list(names), how="left")[TIMES].to_numpy()
    rows[NATION], rows[f"{NATION}_n"] = totals - rows[TIMES], nation[TIMES].sum() - in_block
    for level in (STATE, TRACT):
        area = rows["block"].str.slice(0, GEOGRAPHY[level])
        rows[level] = rows.groupby([area, *names])[TIMES].transform("sum") - rows[TIMES]
        rows[f"{level}_n"] = rows.groupby(area)[TIMES].transform("sum") - in_block
    return rows


def predicted(rows: pd.DataFrame, smoothing: Mapping[str, float], size: int) -> Floats:
    """The probability of every row's household under the prior of the narrowest level that has a smoothing."""
    p = np.full(len(rows), 1.0 / size)
    for level in [level for level in LEVELS if level in smoothing]:
        seen, total = (rows[name].to_numpy(dtype=np.float64) for name in (level, f"{level}_n"))
        p = (seen + smoothing[level] * p) / (total + smoothing[level])
    return p


def _counted(rows: pd.DataFrame, names: Sequence[str], times: str | None = None) -> pd.DataFrame:
    grouped = rows.groupby(list(names), observed=True)
    counted = grouped[times].sum() if times else grouped.size()
    return counted.rename(TIMES).reset_index()
