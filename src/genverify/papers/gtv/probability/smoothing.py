"""
How many households of the wider area a prior needs, and how alike the households of a block are: chosen by predicting blocks
from their neighbours, as the priors will be used. No sampled block has a part in it, neither as what predicts nor as what is
predicted.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
from scipy.special import gammaln

from genverify.core.arraytypes import Floats
from genverify.microdata.store import GEOGRAPHY
from genverify.papers.gtv.probability.priors import ALIKE, NATION, STATE, TIMES, TRACT

LEVELS = (NATION, STATE, TRACT)
COLUMNS = ["level", "smoothing", "nats_per_household", "households", "chosen"]


def score_smoothing(
    states: Callable[[], Iterable[pd.DataFrame]],
    names: Sequence[str],
    size: int,
    values: Sequence[float],
    levels: Sequence[str] = LEVELS,
    largest: int | None = None,
) -> pd.DataFrame:
    """
    For every level and value the mean of -log P(household) over all households outside the sample, each block predicted from
    all others; the best value of a level is chosen before the next narrower one. `states` gives the households of each state
    (block, and a code per column), as often as it is asked; `size` is the number of records of the domain. With `largest`,
    the urn of households that are alike is chosen too, on blocks of up to so many.
    """
    nation = _counted(pd.concat([_counted(own, names) for own in states()], ignore_index=True), names, TIMES)
    chosen: dict[str, float] = {}
    found = []
    for level in [*levels, *([ALIKE] if largest else [])]:
        losses, households = np.zeros(len(values)), 0
        for own in states():
            rows = left_out(own, nation, names)
            if level == ALIKE:
                rows = rows[rows.groupby("block")[TIMES].transform("sum") <= largest]
            losses += [_loss(rows, {**chosen, level: value}, size) for value in values]
            households += int(rows[TIMES].sum())
        # without any other block there is nothing to learn from: the wider area then says most
        best = int(losses.argmin()) if households else int(np.argmax(values))
        chosen[level] = float(values[best])
        found += [(level, float(value), loss / max(households, 1), households, place == best)
                  for place, (value, loss) in enumerate(zip(values, losses, strict=True))]  # fmt: skip
    return pd.DataFrame(found, columns=COLUMNS)


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


def _loss(rows: pd.DataFrame, smoothing: Mapping[str, float], size: int) -> float:
    """-log of the probability of all households: independent ones or, with `alike`, out of an urn for each block."""
    p, times = predicted(rows, smoothing, size), rows[TIMES].to_numpy(dtype=np.float64)
    return urn_loss(rows, p, smoothing[ALIKE]) if ALIKE in smoothing else float(-(times @ np.log(p)))


def urn_loss(rows: pd.DataFrame, p: Floats, begins: float) -> float:
    """-log of the probability of all blocks, each drawn from an urn of its own that begins with so many households."""
    times = rows[TIMES].to_numpy(dtype=np.float64)
    sizes = rows.groupby("block")[TIMES].sum().to_numpy(dtype=np.float64)
    drawn = (gammaln(begins * p + times) - gammaln(begins * p)).sum()
    return float((gammaln(begins + sizes) - gammaln(begins)).sum() - drawn)


def _counted(rows: pd.DataFrame, names: Sequence[str], times: str | None = None) -> pd.DataFrame:
    grouped = rows.groupby(list(names), observed=True)
    counted = grouped[times].sum() if times else grouped.size()
    return counted.rename(TIMES).reset_index()
