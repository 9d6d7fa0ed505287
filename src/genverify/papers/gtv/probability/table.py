"""Singled out with probability: the table that a policy maker asks for, and what counting took."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from genverify.papers.gtv.probability.judge import EXACT, GENERATED
from genverify.show.markdown import document, markdown_table

SIZES = ((1, 5), (6, 10), (11, 20), (21, 10**9))


def counting_table(blocks: pd.DataFrame) -> pd.DataFrame:
    """By size of the blocks: how many were counted exactly, core-seconds per block, and the largest number of datasets."""
    rows = []
    for low, high in SIZES:
        own = blocks[blocks["n_households"].between(low, high)]
        if not len(own):
            continue
        exact = own[own["numbers"] == EXACT]
        seconds = exact["counting_seconds"]
        most = max((int(number) for number in exact["datasets"]), default=0)
        share = 100 * len(exact) / len(own)
        rows.append(
            (f"{low}-{min(high, own['n_households'].max())}", len(own), share, seconds.median(), seconds.max(), most)
        )
    return pd.DataFrame(rows, columns=["households", "blocks", "exact_percent", "median_seconds", "max_seconds", "datasets"])


def singled_out_page(table: pd.DataFrame, scored: pd.DataFrame, counted: pd.DataFrame, label: str) -> str:
    """The page: levels by prior, scores, counting."""
    first = str(table["prior"].iloc[0])
    said = [_said(row) for row in table.to_dict("records") if row["level"] < 1 or row["prior"] == first]
    header = ["prior", "probability", "statements", "false", "95 % interval", "households singled out", "of all households"]
    judged = [_score(row) for row in scored.to_dict("records")]
    sizes = [_size(row) for row in counted.to_dict("records")]
    about = (
        "A statement says that exactly one household of a block has these codes (as many columns as the study verifies). "
        "At certainty it is proved and never false. Below, it is as likely as stated under the prior, and the share that is "
        "false of the private blocks is counted. Intervals: blocks resampled."
    )
    return document(
        "Singled out with probability",
        label,
        [
            about,
            markdown_table(header, said, left=2),
            "How right the probabilities are (small scores are good):",
            markdown_table(["about", "source", "score", "value", "95 % interval", "n"], judged, left=3),
            "What counting took (core-seconds for the diagram of all datasets that fit):",
            markdown_table(["households", "blocks", "counted exactly", "median s", "most s", "most datasets"], sizes),
        ],
    )


def _said(row: Mapping[Any, Any]) -> list[Any]:
    interval = f"{_percent(100 * row['low'])} to {_percent(100 * row['high'])}"
    shares = [_percent(100 * row["false_share"]), interval, row["households"], _percent(row["percent"])]
    return ["any" if row["level"] == 1 else _prior(row["prior"]), _level(row["level"]), row["statements"], *shares]


def _score(row: Mapping[Any, Any]) -> list[Any]:
    value, interval = f"{row['value']:.4f}", f"{row['low']:.4f} to {row['high']:.4f}"
    return [row["about"], _prior(row["source"]), row["score"], value, interval, row["n"]]


def _size(row: Mapping[Any, Any]) -> list[Any]:
    seconds = [f"{row['median_seconds']:.2f}", f"{row['max_seconds']:.2f}"]
    return [row["households"], row["blocks"], f"{row['exact_percent']:.0f} %", *seconds, f"{row['datasets']:,}"]


def _prior(name: str) -> str:
    return "frequency over generated datasets" if name == GENERATED else name


def _level(level: float) -> str:
    return "certain (proved)" if level == 1 else f"{100 * level:g} % and more"


def _percent(value: float) -> str:
    return "" if pd.isna(value) else f"{value:.1f} %"
