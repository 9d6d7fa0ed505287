"""What each explanation of withheld zeros would cost, beside what the paper lost: a table and a page."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from genverify.attack.evaluate import block_weights, ratio_interval
from genverify.model.arrays import Floats
from genverify.report.pages import bullets, cell, document, markdown_table
from studies.gtv.tables import PAPER_K
from studies.gtv.withheld_zeros import distance, losses, one_column_later, paper_losses, verified_by_k

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


def _explained(part: pd.DataFrame, name: str, withheld: str, paper: Printed, seed: int) -> Iterator[tuple[Any, ...]]:
    before, after = (_by_block(part[part["withheld"] == row]) for row in ("paper", withheld))
    low, high = ratio_interval(before - after, before, block_weights(["all"] * len(before), seed))
    given = (name, str(part["missing"].iloc[0]), int(part["lines"].iloc[0]), withheld, "households")
    yield from _rows(given, before.sum(axis=0), after.sum(axis=0), (low, high), paper_losses(paper, withheld))


def _by_block(rows: pd.DataFrame) -> Any:
    return rows.pivot(index="block", columns="k", values="households")[list(PAPER_K)].to_numpy()


def _limited(onehot: pd.DataFrame, paper: Printed) -> Iterator[tuple[Any, ...]]:
    """Claims that hold without zeros: how many of them the one-hot program verifies with zeros, and how many without."""
    result = verified_by_k(onehot)
    row = (ONEHOT, "", 0, "no_zeros", "claims")
    yield from _rows(row, result["with_zeros"], result["without_zeros"], None, paper_losses(paper, "no_zeros"))


def _later(printed: Printed) -> Iterator[tuple[Any, ...]]:
    """The paper's own rows of Table 4 one column later: what is left if a column that was always known is not."""
    for design, row in printed["table4"]["designs"].items():
        before, after = [row["total"][k] for k in PAPER_K], list(one_column_later(row["total"]))
        given = (f"Table 4, {design.replace('_', ' ')}, one column later", "", 0, "no_zeros", PAPER_UNIT)
        yield from _rows(given, before, after, None, paper_losses(printed["table5"]["variants"], "no_zeros"))


def _rows(
    given: tuple[Any, ...], before: Any, after: Any, interval: tuple[Floats, Floats] | None, paper: Floats
) -> Iterator[tuple[Any, ...]]:
    lost = losses(before, after)
    away = distance(lost, paper)
    for index, k in enumerate(PAPER_K):
        low, high = (100 * float(side[index]) for side in interval) if interval else NOT_KNOWN
        figures = (100 * float(lost[index]), low, high, 100 * float(paper[index]))
        yield *given, k, int(np.asarray(before)[index]), int(np.asarray(after)[index]), *figures, away


# Withheld zeros as a page: the losses of every explanation, the search, the paper's own numbers one column later.

ANSWERS = {"no_zeros": "answers of 0", "no_ones": "answers of 1", "no_zeros_ones": "answers of 0 and 1"}
BY_K = [f"k = {k}" for k in PAPER_K]
NOTES = (
    "Losses are percentages of the households that are singled out while all lines of the explanation are published, with "
    "95 % intervals (blocks resampled). `distance` is the mean absolute difference to the paper's losses over k = 6 to 9, "
    "in points.",
    "Every household counted rests on a proof that the checker accepted; the search ranks without checking, and its best "
    "sets are then checked on all blocks.",
    "one-hot program: percentages of claims, not of households. All of them hold with and without zeros: those that are "
    "lost ran into the limit.",
    "An explanation that fits is possible, not shown: only the authors' query set could show it.",
)
LATER = (
    "If a column that every claim could name is lost, a claim of k columns is one of k + 1 columns without it. So an exact "
    "attack can single out at most as many households at k as it did at k + 1 on the same blocks. The rows are called what "
    "the paper calls them; the first is printed beside 2,500 households, so that it might be the one about blocks of ten."
)


def zeros_page(
    table: pd.DataFrame, steps: pd.DataFrame, onehot: pd.DataFrame, printed: Mapping[str, Any], label: str
) -> str:
    """The page."""
    parts = []
    for withheld, said in ANSWERS.items():
        parts += [f"## Households lost when {said} are withheld, %", _losses(table[table["withheld"] == withheld])]
    parts += ["## Lines whose absence the search tried", _steps(steps)]
    parts += ["## The paper's own numbers, one column later", _page_later(printed)]
    parts += ["## The one-hot program under a limit", _onehot(onehot), bullets(NOTES)]
    return document("Withheld zeros: what could explain Table 5", label, parts)


def _losses(table: pd.DataFrame) -> str:
    first = table.iloc[: len(PAPER_K)]
    lines = [["**the paper**", "", "", *first["paper_loss"], ""]]
    for name, rows in table.groupby("explanation", sort=False):
        result = rows.iloc[0]
        lines.append(
            [name, result["missing"], result["lines"], *(_loss(row) for row in rows.to_dict("records")), result["distance"]]
        )
    return markdown_table(["explanation", "missing", "lines", *BY_K, "distance"], lines, left=2)


def _loss(row: Mapping[Any, Any]) -> str:
    said = cell(round(row["loss"], 1)) or "none to lose"
    return said if pd.isna(row["low"]) else f"{said} ({row['low']:.0f} to {row['high']:.0f})"


def _steps(steps: pd.DataFrame) -> str:
    columns = ["size", "missing", "lines", "table5", "table4", "queries", "score"]
    heads = ["gaps", "missing", "lines", "Table 5: points off", "Table 4: points lost", "% of queries missing", "sum"]
    return markdown_table(heads, steps[columns].to_numpy().tolist(), left=2)


def _page_later(printed: Mapping[str, Any]) -> str:
    withheld = printed["table5"]["variants"]["no_zeros"]["total"]
    lines = [["Table 5, zeros withheld", *(withheld[k] for k in PAPER_K)]]
    for design, row in printed["table4"]["designs"].items():
        lines.append([f"Table 4, {design.replace('_', ' ')}, at k + 1", *one_column_later(row["total"])])
    return f"{LATER}\n\n{markdown_table(['', *BY_K], lines)}"


def _onehot(onehot: pd.DataFrame) -> str:
    result = verified_by_k(onehot)
    names = {"tried": "claims tried", "with_zeros": "verified with zeros", "without_zeros": "verified without zeros"}
    return markdown_table(["", *BY_K], [[said, *result[name].tolist()] for name, said in names.items()])
