"""What the figures about claims show, as a small table by design, kind of claims and k; claims are read group by group."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow.compute as pc
import pyarrow.dataset as ds
from matplotlib.cbook import boxplot_stats

from genverify.model.files import data_label

PRIORS = ("tract", "state")
SINGLETON, ALL = "singleton", "all"
STEP = 0.004  # outliers of a box that would fall on the same spot of a figure are listed once


class Group(TypedDict):
    """The verified claims of one design about k columns: how many, in how many blocks, about which columns, how likely."""

    design: str
    claims: str
    k: int
    count: int
    blocks: int
    columns: dict[str, int]
    boxes: dict[str, dict[str, Any]]
    largest: float


def of_design(frame: pd.DataFrame, only: str) -> pd.DataFrame:
    """The rows of the design that a target names behind its number (`_state_median`); all rows where it names none."""
    return frame[frame["design"] == only.removeprefix("_")].reset_index(drop=True) if only else frame


def of_designs(summary: Sequence[Group], blocks: pd.DataFrame) -> list[Group]:
    return [group for group in summary if group["design"] in set(blocks["design"])]


def is_variant(folder: str) -> bool:
    """Whether a target is about another variant (`no_ones/`) than the study itself."""
    return folder not in ("", "paper/")


def label_of(manifest: Path, folder: str) -> str:
    """Which data a result shows, and of which variant."""
    return data_label(manifest) + (f", variant {folder.strip('/')}" if is_variant(folder) else "")


def summarise(claims: ds.Dataset, baselines: ds.Dataset, names: Sequence[str]) -> list[Group]:
    """Both kinds of claims for every design and k that have one; `baselines` has a row per row of `claims`."""
    keys: set[tuple[str, int]] = set()
    for batch in baselines.to_batches(columns=["design", "k"]):
        pairs = batch.to_pandas().drop_duplicates()
        keys |= set(zip(pairs["design"], pairs["k"].astype(int), strict=True))
    return [_group(claims, baselines, names, *key, kind) for key in sorted(keys) for kind in (SINGLETON, ALL)]


def _group(claims: ds.Dataset, baselines: ds.Dataset, names: Sequence[str], design: str, k: int, kind: str) -> Group:
    meant = (ds.field("design") == design) & (ds.field("k") == k)
    meant = meant & (ds.field("m") == 1) if kind == SINGLETON else meant
    likely = baselines.to_table(columns=["block", *PRIORS], filter=meant)
    values = {prior: likely[prior].to_numpy() for prior in PRIORS}
    columns = dict.fromkeys(names, 0)
    for batch in claims.to_batches(columns=list(names), filter=meant):
        for name in names:
            columns[name] += batch.num_rows - batch[name].null_count
    boxes = {prior: _box(held) for prior, held in values.items() if held.size}
    largest = max((float(held.max()) for held in values.values() if held.size), default=0.0)
    blocks = pc.count_distinct(likely["block"]).as_py()
    return {"design": design, "claims": kind, "k": k, "count": likely.num_rows, "blocks": blocks, "columns": columns,
            "boxes": boxes, "largest": largest}  # fmt: skip


def _box(values: npt.NDArray[np.float64]) -> dict[str, Any]:
    box = boxplot_stats(values)[0]
    fliers = np.unique(np.round(box["fliers"] / STEP) * STEP).tolist()
    return {name: float(box[name]) for name in ("med", "q1", "q3", "whislo", "whishi")} | {"fliers": fliers}


def chosen(summary: Iterable[Group], kind: str, design: str | None = None) -> dict[int, list[Group]]:
    """The groups of one kind of claims, of one design or of all, by k."""
    result: dict[int, list[Group]] = {}
    for group in summary:
        if group["claims"] == kind and design in (None, group["design"]):
            result.setdefault(group["k"], []).append(group)
    return result
