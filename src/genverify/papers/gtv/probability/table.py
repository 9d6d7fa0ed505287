"""Singled out with probability: the table that a policy maker asks for, and what counting took."""

import pandas as pd

from genverify.papers.gtv.probability.judge import GENERATED
from genverify.show.markdown import document, markdown_table

SIZES = ((1, 5), (6, 10), (11, 20), (21, 10**9))


def counting_table(blocks: pd.DataFrame) -> pd.DataFrame:
    """By size of the blocks: how many were counted exactly, core-seconds per block, and the largest number of datasets."""
    rows = []
    for low, high in SIZES:
        own = blocks[blocks["n_households"].between(low, high)]
        if not len(own):
            continue
        exact = own[own["numbers"] == "exact"]
        seconds = exact["counting_seconds"]
        most = max((int(number) for number in exact["datasets"]), default=0)
        share = 100 * len(exact) / len(own)
        rows.append(
            (f"{low}-{min(high, own['n_households'].max())}", len(own), share, seconds.median(), seconds.max(), most)
        )
    return pd.DataFrame(rows, columns=["households", "blocks", "exact_percent", "median_seconds", "max_seconds", "datasets"])


def singled_out_page(table: pd.DataFrame, scored: pd.DataFrame, counted: pd.DataFrame, label: str) -> str:
    """The page: levels by prior, scores, counting."""
    said = [(_prior(row.prior), _level(row.level), row.statements, _percent(100 * row.false_share),
             f"{_percent(100 * row.low)} to {_percent(100 * row.high)}", row.households, _percent(row.percent))
            for row in table.itertuples() if row.level < 1 or row.prior == table["prior"].iloc[0]]  # fmt: skip
    header = ["prior", "probability", "statements", "false", "95 % interval", "households singled out", "of all households"]
    judged = [(row.about, _prior(row.source), row.score, f"{row.value:.4f}", f"{row.low:.4f} to {row.high:.4f}", row.n)
              for row in scored.itertuples()]  # fmt: skip
    sizes = [(r.households, r.blocks, f"{r.exact_percent:.0f} %", f"{r.median_seconds:.2f}", f"{r.max_seconds:.2f}", f"{r.datasets:,}")
             for r in counted.itertuples()]  # fmt: skip
    about = (
        "A statement says that exactly one household of a block has these codes (k columns and more, as the study verifies). "
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


def _prior(name: str) -> str:
    return "frequency over generated datasets" if name == GENERATED else name


def _level(level: float) -> str:
    return "certain (proved)" if level == 1 else f"{100 * level:g} % and more"


def _percent(value: float) -> str:
    return "" if pd.isna(value) else f"{value:.1f} %"
