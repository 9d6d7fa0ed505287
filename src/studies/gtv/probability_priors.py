"""
How many households of the wider area a prior needs: chosen by predicting blocks from their neighbours, as the priors will be
used: given what the tables tell of every block. No sampled block has a part in it, neither as what predicts nor as what is
predicted.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import prod
from typing import NamedTuple

import numpy as np
import pandas as pd

from genverify.core.arraytypes import Floats
from genverify.microdata.store import GEOGRAPHY
from genverify.papers.gtv.probability.priors import NATION, STATE, TIMES, TRACT

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
    parts = [Part(list(names), 1 if names is sizes else -1) for names in (sizes, given) if names]
    nations = [_nation(states(), part.names) for part in parts]
    chosen: dict[str, float] = {}
    found = []
    for level in levels:
        losses, households = np.zeros(len(values)), 0
        for own in states():
            for part, nation in zip(parts, nations, strict=True):
                rows, size = left_out(own, nation, part.names), prod(sizes[name] for name in part.names)
                losses += [part.sign * _loss(rows, {**chosen, level: value}, size) for value in values]
            households += len(own)
        # without any other block there is nothing to learn from: the wider area then says most
        best = int(losses.argmin()) if households else int(np.argmax(values))
        chosen[level] = float(values[best])
        found += [(level, float(value), loss / max(households, 1), households, place == best)
                  for place, (value, loss) in enumerate(zip(values, losses, strict=True))]  # fmt: skip
    return pd.DataFrame(found, columns=COLUMNS)


class Part(NamedTuple):
    """log P(household | given) = log P(household) - log P(given): columns, and the sign of their part."""

    names: list[str]
    sign: int


def _nation(states: Iterable[pd.DataFrame], names: Sequence[str]) -> pd.DataFrame:
    return _counted(pd.concat([_counted(own, names) for own in states], ignore_index=True), names, TIMES)


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
