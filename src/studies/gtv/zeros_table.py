"""Withheld zeros as a page: the losses of every explanation, the search, the paper's own numbers one column later."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from genverify.papers.gtv.tables.households import PAPER_K
from genverify.papers.gtv.zeros.households import one_column_later
from genverify.papers.gtv.zeros.onehot import verified_by_k
from genverify.show.markdown import bullets, cell, document, markdown_table

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
    parts += ["## The paper's own numbers, one column later", _later(printed)]
    parts += ["## The one-hot program under a limit", _onehot(onehot), bullets(NOTES)]
    return document("Withheld zeros: what could explain Table 5", label, parts)


def _losses(table: pd.DataFrame) -> str:
    first = table.iloc[: len(PAPER_K)]
    lines = [["**the paper**", "", "", *first["paper_loss"], ""]]
    for name, rows in table.groupby("explanation", sort=False):
        found = rows.iloc[0]
        lines.append(
            [name, found["missing"], found["lines"], *(_loss(row) for row in rows.to_dict("records")), found["distance"]]
        )
    return markdown_table(["explanation", "missing", "lines", *BY_K, "distance"], lines, left=2)


def _loss(row: Mapping[Any, Any]) -> str:
    said = cell(round(row["loss"], 1)) or "none to lose"
    return said if pd.isna(row["low"]) else f"{said} ({row['low']:.0f} to {row['high']:.0f})"


def _steps(steps: pd.DataFrame) -> str:
    columns = ["size", "missing", "lines", "table5", "table4", "queries", "score"]
    heads = ["gaps", "missing", "lines", "Table 5: points off", "Table 4: points lost", "% of queries missing", "sum"]
    return markdown_table(heads, steps[columns].to_numpy().tolist(), left=2)


def _later(printed: Mapping[str, Any]) -> str:
    withheld = printed["table5"]["variants"]["no_zeros"]["total"]
    lines = [["Table 5, zeros withheld", *(withheld[k] for k in PAPER_K)]]
    for design, row in printed["table4"]["designs"].items():
        lines.append([f"Table 4, {design.replace('_', ' ')}, at k + 1", *one_column_later(row["total"])])
    return f"{LATER}\n\n{markdown_table(['', *BY_K], lines)}"


def _onehot(onehot: pd.DataFrame) -> str:
    found = verified_by_k(onehot)
    names = {"tried": "claims tried", "with_zeros": "verified with zeros", "without_zeros": "verified without zeros"}
    return markdown_table(["", *BY_K], [[said, *found[name].tolist()] for name, said in names.items()])
