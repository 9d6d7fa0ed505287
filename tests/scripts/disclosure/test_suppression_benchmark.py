"""The benchmarks of suppression and of auditors, through the mains of their scripts, on tiny synthetic tables."""

from pathlib import Path

import pandas as pd

from script_jobs import job, script

CASE = {"axes": [[3], [3]], "tables": [[0, 1]], "mean": 4.0, "suppressed": 0.4}
SETTINGS = {"minimum": 5, "cases": {"small": CASE}, "most_cells": 1, "audited": {"two_way": CASE}, "tables": 3}


def test_every_method_has_a_line_and_protects(tmp_path: Path) -> None:
    script("benchmark_suppression")(job({}, {"table": tmp_path / "suppression.csv"}, suppression=SETTINGS, seed=1))
    lines = pd.read_csv(tmp_path / "suppression.csv").set_index("method")
    assert set(lines.index) == {"exact", "heuristic"}
    assert lines.loc["exact", "cost"] <= lines.loc["heuristic", "cost"]
    assert lines.loc["exact", "bound"] <= lines.loc["exact", "cost"]
    assert (lines[["pinned", "below_minimum"]] == 0).all().all()
    assert set(lines["data"]) == {"synthetic counts"}


def test_auditors_miss_no_more_than_is_known(tmp_path: Path) -> None:
    files = {name: tmp_path / f"auditors.{name}" for name in ("pdf", "png")} | {"table": tmp_path / "auditors.csv"}
    script("benchmark_auditors")(job({}, files, suppression=SETTINGS, seed=1))
    lines = pd.read_csv(files["table"]).set_index("shape")
    assert set(lines.index) == {"random_sums", "two_way"}
    assert (lines["missed_by_plain"] <= lines["known_exactly"]).all()
    assert (lines["called_exact_by_plain"] == 0).all()  # what a linear program pins, integers pin
    assert files["pdf"].stat().st_size > 0
