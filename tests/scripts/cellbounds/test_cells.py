"""The mains of the cell-bounding scripts on plain namespaces."""

from pathlib import Path

import pandas as pd
import pytest

from script_jobs import job, script

TINY = {
    "tables": [{"rows": 12, "columns": 3, "records": 90}],
    "decimals": [1],
    "repeats": 1,
    "reference_rows": 12,
    "reference_cells": 2,
    "seconds": 30.0,
    "shapes": {"small": {"levels": [2, 3, 2], "records": 60, "files": [], "adult": False, "responses": [1, 2]}},
}
TABLES = ("table1", "table2", "table3", "table6", "table7", "table9")


@pytest.mark.parametrize(("number", "rows"), [("1", 4), ("3", 4), ("5", 4), ("6", 9), ("8", 8), ("9", 32)])
def test_the_tables_are_the_papers(root: Path, tmp_path: Path, number: str, rows: int) -> None:
    data = root / "data" / "cellbounds"
    inputs = {"paper": data / "paper.yaml", **{name: data / f"{name}.csv" for name in TABLES}}
    script("write_cellbounds_table")(job(inputs, {"table": tmp_path / "table.csv"}, {"number": number}))
    table = pd.read_csv(tmp_path / "table.csv")
    assert len(table) == rows
    assert table["equal"].all()
    for column in [name for name in table if name.startswith("paper_")]:
        assert table[column].equals(table[column.removeprefix("paper_")].rename(column)), column


def test_the_figure_has_the_cells_that_its_table_has(root: Path, tmp_path: Path) -> None:
    inputs = {name: root / "data" / "cellbounds" / f"{name}.csv" for name in ("table2", "table7", "table9")}
    outputs = {"pdf": tmp_path / "a.pdf", "png": tmp_path / "a.png", "table": tmp_path / "a.csv"}
    script("plot_cellbounds")(job(inputs, outputs, cellbounds={"decimals": [1, 2], "small": [None]}))
    assert outputs["png"].stat().st_size > 10_000
    cells = pd.read_csv(outputs["table"])
    assert len(cells) == 3 * (16 + 24 + 64)
    assert ((cells["lower"] <= cells["count"]) & (cells["count"] <= cells["upper"])).all()
    exact = cells[cells["conditionals"] == "exact"].set_index(["table", "row", "column"])
    rounded = cells[cells["conditionals"] == "2"].set_index(["table", "row", "column"])
    assert (exact["disclosed"].groupby("table").sum() == pd.Series({"Table 2": 8, "Table 7": 9, "Table 9": 0})).all()
    assert ((rounded["lower"] <= exact["lower"]) & (exact["upper"] <= rounded["upper"])).all()


def test_the_benchmark_compares_methods_that_agree(tmp_path: Path) -> None:
    outputs = {"table": tmp_path / "cellbounds.csv"}
    script("benchmark_cellbounds")(job({}, outputs, cellbounds=TINY, seed=1))
    lines = pd.read_csv(outputs["table"])
    assert set(lines["kind"]) == {"sparse", "no_ones"}
    assert lines["method"].tolist() == ["exact", "1 decimals", "integer program (1)-(5)", "knapsack (6)-(8)"] * 2
    assert lines["remark"].dropna().str.contains("2 equal to ours, 0 stopped").all()
    assert (lines.loc[lines["method"] == "exact", "times_exact"] == 1).all()
    assert set(lines["data"]) == {"synthetic tables"}
    drawn = {"pdf": tmp_path / "b.pdf", "png": tmp_path / "b.png", "table": tmp_path / "b.csv"}
    script("plot_cellbounds_scaling")(job(outputs, drawn))
    assert drawn["table"].read_bytes() == outputs["table"].read_bytes()
    assert drawn["png"].stat().st_size > 10_000


def test_sentences_and_redesigns(root: Path, tmp_path: Path) -> None:
    data = root / "data" / "cellbounds"
    inputs = {"paper": data / "paper.yaml", **{name: data / f"{name}.csv" for name in TABLES}}
    script("write_cellbounds_sentences")(job(inputs, {"table": tmp_path / "sentences.csv"}))
    assert pd.read_csv(tmp_path / "sentences.csv")["equal"].sum() == 21
    settings = {"decimals": [1], "small": [None, 3]}
    script("write_cellbounds_redesign")(job(inputs, {"table": tmp_path / "redesign.csv"}, cellbounds=settings))
    found = pd.read_csv(tmp_path / "redesign.csv")
    assert len(found) == 4 * 2 * 2
    assert (found["disclosed_after"] == 0).all()
    assert found["fewest"].all()


def test_shapes_are_timed(root: Path, tmp_path: Path) -> None:
    inputs = {"adult": root / "data" / "cellbounds" / "adult.yaml", "files": []}
    script("benchmark_cellbounds_shapes")(job(inputs, {"table": tmp_path / "shapes.csv"}, cellbounds=TINY, seed=1))
    lines = pd.read_csv(tmp_path / "shapes.csv")
    assert lines["columns"].tolist() == [2, 6]
    assert set(lines["data"]) == {"synthetic stand-in of the same shape"}


def test_ranges_from_marginals_are_timed_beside_an_integer_program(tmp_path: Path) -> None:
    settings = {
        "cases": {"small": {"levels": [2, 3, 2], "records": 40, "way": 2}},
        "seconds": 20.0,
        "reference_cells": 12,
        "reference_up_to": 60000,
        "reference_seconds": 5.0,
    }
    made = job({}, {"table": tmp_path / "small.csv"}, {"case": "small"}, marginals=settings, seed=1)
    script("benchmark_marginals")(made)
    script("write_marginals")(job({"cases": [tmp_path / "small.csv"]}, {"table": tmp_path / "all.csv"}))
    ours, ordinary = pd.read_csv(tmp_path / "all.csv").to_dict("records")
    assert (ours["cells"], ours["exact"], ours["marginals"]) == (12, 12, 3)
    assert ordinary["remark"] == "extrapolated from 24 ends: 24 equal to ours, 0 stopped by the time limit"
