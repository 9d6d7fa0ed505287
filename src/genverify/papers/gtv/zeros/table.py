"""What each explanation of withheld zeros would cost, beside what the paper lost."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from genverify.attack.truth import block_weights, ratio_interval
from genverify.core.arraytypes import Floats
from genverify.papers.gtv.tables.households import PAPER_K
from genverify.papers.gtv.zeros.households import distance, losses, one_column_later, paper_losses
from genverify.papers.gtv.zeros.onehot import verified_by_k

Printed = Mapping[str, Any]
ONEHOT = "one-hot program"
PAPER_UNIT = "households (paper)"
SEARCHED = "search, "
NOT_KNOWN = (np.nan, np.nan)
TOLD = ["explanation", "missing", "lines", "withheld", "unit"]
FIGURES = ["k", "before", "after", "loss", "low", "high", "paper_loss", "distance"]


def losses_table(decided: pd.DataFrame, onehot: pd.DataFrame, printed: Printed, seed: int, label: str) -> pd.DataFrame:
    """One row per explanation, row of Table 5 and k: households before and after, the loss in percent and the paper's."""
    rows = [
        row
        for name in decided["explanation"].unique()
        for withheld in decided.loc[decided["explanation"] == name, "withheld"].unique()
        if withheld != "paper"
        for row in _explained(decided[decided["explanation"] == name], name, withheld, printed["table5"]["variants"], seed)
    ]
    rows += [*_limited(onehot, printed["table5"]["variants"]), *_later(printed)]
    return pd.DataFrame(rows, columns=[*TOLD, *FIGURES]).round(2).assign(data=label)


def _explained(own: pd.DataFrame, name: str, withheld: str, paper: Printed, seed: int) -> Iterator[tuple[Any, ...]]:
    before, after = (_by_block(own[own["withheld"] == row]) for row in ("paper", withheld))
    low, high = ratio_interval(before - after, before, block_weights(["all"] * len(before), seed))
    told = (name, str(own["missing"].iloc[0]), int(own["lines"].iloc[0]), withheld, "households")
    yield from _rows(told, before.sum(axis=0), after.sum(axis=0), (low, high), paper_losses(paper, withheld))


def _by_block(rows: pd.DataFrame) -> Any:
    return rows.pivot(index="block", columns="k", values="households")[list(PAPER_K)].to_numpy()


def _limited(onehot: pd.DataFrame, paper: Printed) -> Iterator[tuple[Any, ...]]:
    """Claims that hold without zeros: how many of them the one-hot program verifies with zeros, and how many without."""
    found = verified_by_k(onehot)
    told = (ONEHOT, "", 0, "no_zeros", "claims")
    yield from _rows(told, found["with_zeros"], found["without_zeros"], None, paper_losses(paper, "no_zeros"))


def _later(printed: Printed) -> Iterator[tuple[Any, ...]]:
    """The paper's own rows of Table 4 one column later: what is left if a column that was always known is not."""
    for design, row in printed["table4"]["designs"].items():
        before, after = [row["total"][k] for k in PAPER_K], list(one_column_later(row["total"]))
        told = (f"Table 4, {design.replace('_', ' ')}, one column later", "", 0, "no_zeros", PAPER_UNIT)
        yield from _rows(told, before, after, None, paper_losses(printed["table5"]["variants"], "no_zeros"))


def _rows(
    told: tuple[Any, ...], before: Any, after: Any, interval: tuple[Floats, Floats] | None, paper: Floats
) -> Iterator[tuple[Any, ...]]:
    lost = losses(before, after)
    away = distance(lost, paper)
    for place, k in enumerate(PAPER_K):
        low, high = (100 * float(side[place]) for side in interval) if interval else NOT_KNOWN
        figures = (100 * float(lost[place]), low, high, 100 * float(paper[place]))
        yield *told, k, int(np.asarray(before)[place]), int(np.asarray(after)[place]), *figures, away
