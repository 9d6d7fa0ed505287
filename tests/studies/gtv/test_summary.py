"""The summary of claims: counted by hand, and the same from one row group as from many."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from matplotlib.cbook import boxplot_stats

from studies.gtv.summary import ALL, SINGLETON, STEP, Group, chosen, summarise

NAMES = ["A", "B"]


def frame_of(rows: list[tuple[str, str, int, int, int | None, int | None, float]]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["block", "design", "k", "m", "A", "B", "tract"])
    return frame.assign(state=frame["tract"] / 2, A=frame["A"].astype("Int16"), B=frame["B"].astype("Int16"))


def summary_of(frame: pd.DataFrame) -> list[Group]:
    table = ds.dataset(pa.Table.from_pandas(frame))
    return summarise(table, table, NAMES)


def test_groups_by_hand() -> None:
    frame = frame_of(
        [
            ("b1", "x", 2, 1, 1, 2, 0.25), ("b1", "x", 2, 1, 1, 3, 0.5), ("b2", "x", 2, 3, 2, 2, 0.75),
            ("b2", "x", 1, 2, None, 2, 0.1), ("b1", "y", 2, 1, 1, 2, 0.25),
        ]
    )  # fmt: skip
    found = {(group["design"], group["k"], group["claims"]): group for group in summary_of(frame)}
    assert list(found) == [
        ("x", 1, SINGLETON), ("x", 1, ALL), ("x", 2, SINGLETON), ("x", 2, ALL), ("y", 2, SINGLETON), ("y", 2, ALL),
    ]  # fmt: skip
    single, every = found["x", 2, SINGLETON], found["x", 2, ALL]
    assert (single["count"], single["blocks"], single["largest"]) == (2, 1, 0.5)
    assert (every["count"], every["blocks"], every["largest"]) == (3, 2, 0.75)
    assert every["boxes"]["tract"]["med"] == 0.5
    assert every["boxes"]["state"]["med"] == 0.25
    assert found["x", 1, ALL]["columns"] == {"A": 0, "B": 1}
    none = found["x", 1, SINGLETON]
    assert (none["count"], none["boxes"], none["largest"]) == (0, {}, 0.0)
    assert [len(groups) for groups in chosen(found.values(), ALL).values()] == [1, 2]
    assert list(chosen(found.values(), ALL, "y")) == [2]


def test_boxes_are_those_of_a_box_plot_with_outliers_thinned() -> None:
    values = np.concatenate([np.random.default_rng(1).random(200) * 0.1, [0.9, 0.9001, 0.95]])
    frame = frame_of([("b", "x", 2, 1, 1, 1, value) for value in values.tolist()])
    box, expected = summary_of(frame)[0]["boxes"]["tract"], boxplot_stats(values)[0]
    assert all(box[name] == expected[name] for name in ("med", "q1", "q3", "whislo", "whishi"))
    assert box["fliers"] == [round(0.9 / STEP) * STEP, round(0.95 / STEP) * STEP]


def test_row_groups_do_not_matter(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    rows = [(f"b{i % 7}", "xy"[i % 2], i % 3 + 1, i % 4 + 1, i % 2 or None, 1, float(rng.random())) for i in range(100)]
    frame = frame_of(rows)
    pq.write_table(pa.Table.from_pandas(frame), tmp_path / "many.parquet", row_group_size=9)
    many = ds.dataset(tmp_path / "many.parquet", format="parquet")
    assert summarise(many, many, NAMES) == summary_of(frame)
