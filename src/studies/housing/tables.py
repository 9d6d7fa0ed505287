"""Table 1 beside the paper's, and every condition of the study: what was flagged, what is true, and what chance gives."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from genverify.core.errors import DataError
from genverify.papers.housing.judged.judge import summarise_blocks
from genverify.papers.housing.settings import Condition
from genverify.show.markdown import cell, document, markdown_table

CONDITIONS = ("none", "swapping", "dp")
COUNTS = ("blocks_with_violation", "putative_blocks")
RATES = ("block_precision", "block_recall")
WORDS = {
    "blocks_with_violation": "Blocks with a violation or more",
    "putative_blocks": "Putative blocks with a violation or more",
    "block_precision": "Block-level precision",
    "block_recall": "Block-level recall",
}
CONFIGURATIONS = {"distinct": "distinct configurations", "once": "distinct configurations, recall over households"}
HOW = (
    "Counts, with their share of blocks. Precision: flagged blocks that hold a violation. Recall: blocks with a violation, "
    "flagged. The first row is the precision of chance, the second its recall. The paper's are 10,224 other blocks."
)


def block_table(judged: Mapping[str, pd.DataFrame], paper: Mapping[str, Mapping[str, float]], label: str) -> pd.DataFrame:
    """
    Table 1: counts of blocks, then precision and recall as fractions; ours, and the paper's.

    Below its four rows stand the number of blocks and the shares that the counts are of them.
    """
    missing = [name for name in CONDITIONS if name not in judged]
    if missing:
        where = "housing.conditions in config/housing.yaml"
        raise DataError(f"Table 1 needs the condition {missing[0]!r}: name it under {where}")
    columns = {name: _rows(summarise_blocks(judged[name])) for name in CONDITIONS}
    columns |= {f"paper_{name}": _rows(paper[name]) for name in CONDITIONS}
    measures = list(columns[CONDITIONS[0]])
    values = {name: pd.Series([rows[measure] for measure in measures], dtype=object) for name, rows in columns.items()}
    return pd.DataFrame({"measure": measures, **values, "data": label})


def _rows(values: Mapping[str, float]) -> dict[str, float]:
    shares = {f"{name}_share": round(values[name] / values["blocks"], 4) for name in COUNTS}
    return {
        **{name: values[name] for name in COUNTS},
        **{name: round(values[name], 4) for name in RATES},
        "blocks": values["blocks"],
        **shares,
    }


def block_text(table: pd.DataFrame, label: str) -> str:
    """Table 1 as Markdown, counts with their shares as the paper prints them."""
    values = table.set_index("measure")
    columns = [name for name in table.columns if name not in ("measure", "data")]
    rows = [[WORDS[measure], *(_shown(values, measure, column) for column in columns)] for measure in WORDS]
    header = ["", *(name.replace("paper_", "paper: ") for name in columns)]
    return document("Subsidized housing, Table 1", label, [HOW, markdown_table(header, rows)])


def _shown(values: pd.DataFrame, measure: str, column: str) -> str:
    if measure in RATES:
        return _percent(values.loc[measure, column])
    return f"{cell(values.loc[measure, column])} ({_percent(values.loc[f'{measure}_share', column])})"


def _percent(share: Any) -> str:
    return "" if np.isnan(share) else f"{100 * share:.1f} %"


def condition_table(
    judged: Mapping[str, pd.DataFrame],
    curves: Mapping[str, pd.DataFrame],
    totals: Mapping[str, pd.DataFrame],
    conditions: Mapping[str, Condition],
    label: str,
) -> pd.DataFrame:
    """
    A row per condition: its protection and reading, blocks flagged, chance, and the households that each key finds.

    A condition whose blocks were not reconstructed has no curves, and so no households.
    """
    rows = []
    for name, settings in conditions.items():
        row = {"condition": name, **dict(settings), **summarise_blocks(judged[name])}
        found = int((judged[name]["found"] > 0).sum()) if name in curves else 0
        row |= {"reconstructed": found, "proved_violations": _proved(judged[name])}
        rows.append(row | (_households(curves[name], totals[name]) if name in curves else {}))
    return pd.DataFrame(rows).round(4).assign(data=label)


def _proved(judged: pd.DataFrame) -> int:
    """Violations that the bounds of the flagged blocks add up to."""
    return int(judged.loc[judged["flagged"], "least_violations"].sum())


def _households(curves: pd.DataFrame, totals: pd.DataFrame) -> dict[str, float]:
    """With all putative violations joined: how many, the true ones, precision, recall, and the precision of chance."""
    found: dict[str, float] = {}
    for row in totals.to_dict("records"):
        stem = f"{row['key']}_{row['scope']}"
        last = final(curves, row["key"], row["scope"])
        found |= {f"{stem}_{name}": last[name] for name in ("putative", "true", "precision", "recall")}
        found[f"{stem}_chance"] = _share(row["true"], row["households"])
        found[f"{stem}_chance_flagged"] = _share(row["flagged_violations"], row["flagged_households"])
    return found


def final(curves: pd.DataFrame, key: str, scope: str) -> dict[str, float]:
    """The end of a curve, k = |V-hat|: all putative violations are included."""
    own = curves[(curves["key"] == key) & (curves["scope"] == scope)]
    empty = {"putative": 0, "true": 0, "precision": float("nan"), "recall": 0.0}
    return {name: own[name].iloc[-1] for name in empty} if len(own) else empty


def _share(part: float, whole: float) -> float:
    return part / whole if whole else float("nan")


def condition_text(table: pd.DataFrame, label: str) -> str:
    """The conditions as Markdown: a table of blocks, and one of households for each match key."""
    blocks = ["condition", "reading", "blocks", "putative_blocks", "block_precision", "chance_precision", "block_recall"]
    blocks += ["chance_recall", "contradictions", "undecided", "suppressed", "reconstructed", "proved_violations"]
    parts = [HOW, markdown_table(blocks, table[blocks].to_numpy(dtype=object), left=2)]
    stems = [name.removesuffix("_putative") for name in table.columns if name.endswith("_putative")]
    measures = ("putative", "true", "precision", "chance", "chance_flagged", "recall")
    for stem in stems:
        own = table[table[f"{stem}_putative"].notna()]
        rows = own[["condition", *(f"{stem}_{name}" for name in measures)]].to_numpy(dtype=object)
        key, _, scope = stem.rpartition("_")
        what = CONFIGURATIONS.get(scope, f"{scope} households")
        parts += [f"## Key {key}, {what}", markdown_table(["condition", *measures], rows)]
    return document("Subsidized housing, all conditions", label, parts)
