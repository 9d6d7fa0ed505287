"""Benchmarks: the child process that measures work, larger blocks out of small ones, and the rows of speed.csv."""

import importlib
import os
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import studies
from genverify.attack.verify import Decision, Verdict
from genverify.model.claims import Claim
from genverify.model.domain import EVERY
from genverify.model.errors import DataError
from genverify.model.release import make_release, make_schema
from genverify.model.work import watch
from genverify.solve.program import WrongAnswer
from genverify.solve.program_settings import DEFAULT
from studies.gtv import benchmarks
from studies.gtv.benchmarks import (
    _agree,
    blocks_frame,
    cost_rows,
    costs,
    country_rows,
    draw_classes,
    draw_tract,
    enlarged,
    measure,
    merge_blocks,
    peak_memory_mb,
    scaling_frame,
    scaling_row,
    shares,
)
from studies.gtv.figures import plot_scaling
from studies.gtv.settings import SpeedBenchmark

WORKS = """
import os, time
from genverify.model.errors import DataError

def fill(megabytes):
    yield {"start": 1}
    yield {"bytes": len(bytearray(b"x") * (megabytes * 2**20))}

def wait(seconds):
    yield {"start": 1}
    time.sleep(seconds)
    yield {"end": 1}

def die():
    yield {"start": 1}
    os._exit(3)

def refuse():
    yield {"start": 1}
    raise DataError("too much")
"""


@pytest.fixture
def works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Pieces of work in a module that the child can import."""
    (tmp_path / "works_to_measure.py").write_text(WORKS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    yield importlib.import_module("works_to_measure")
    sys.modules.pop("works_to_measure")


def test_watch_counts_wall_seconds() -> None:
    with watch() as spent:
        time.sleep(0.05)
    assert 0.05 <= spent.seconds < 1


def test_a_child_tells_its_values_and_its_memory(works: Any) -> None:
    small, large = measure(works.fill, 1), measure(works.fill, 300)
    assert small.finished
    assert large.values == {"start": 1, "bytes": 300 * 2**20}
    assert 290 < large.peak_memory_mb - small.peak_memory_mb < 320


def test_the_memory_of_the_parent_does_not_count(works: Any) -> None:
    held = np.ones(500 * 2**20, dtype=np.uint8)
    assert peak_memory_mb() > held.size / 2**20
    assert measure(works.fill, 1).peak_memory_mb < 500


def test_out_of_time_keeps_what_was_known(works: Any) -> None:
    measured = measure(works.wait, 60, seconds=2.0)
    assert measured.ended == "not finished within 2 s"
    assert measured.peak_memory_mb > 0
    assert "end" not in measured.values


def test_out_of_memory_is_said(works: Any) -> None:
    measured = measure(works.fill, 8000, memory_mb=4096)
    assert measured.ended == "not finished within 4096 MB of memory"
    assert measured.values == {"start": 1}


def test_a_child_that_dies_or_refuses_is_not_finished(works: Any) -> None:
    assert measure(works.die).ended == "died with exit code 3"
    assert measure(works.refuse).ended == "refused: too much"


SIZES = pd.DataFrame({"tract": ["1", "1", "1", "2"], "block": ["1a", "1b", "1c", "2a"], "n": [2, 3, 4, 1]})


def test_a_tract_large_enough_is_drawn_and_no_more_blocks_than_needed() -> None:
    for seed in range(20):
        blocks = draw_tract(SIZES, 5, np.random.default_rng(seed))
        sizes = [{"1a": 2, "1b": 3, "1c": 4}[block] for block in blocks]
        assert sum(sizes[:-1]) < 5 <= sum(sizes)


def test_no_tract_is_large_enough() -> None:
    with pytest.raises(DataError, match=r"no tract has 10 households \(the largest has 9\).*benchmark.scaling.households"):
        draw_tract(SIZES, 10, np.random.default_rng(0))


def test_blocks_are_merged_in_order_and_cut() -> None:
    records = pa.table({"block": ["1a", "1a", "1b", "1b", "1b"], "A": pa.array([1, 2, 3, 4, 5], pa.int8())})
    merged = merge_blocks(records, ["1b", "1a"], EVERY, 4, "x")
    assert merged["A"].to_pylist() == [3, 4, 5, 1]
    assert set(merged["block"].to_pylist()) == {"x"}


def test_enlarged_tables_keep_their_order_and_shares() -> None:
    parts = enlarged([pa.table({"A": [1, 2, 3]}), pa.table({"A": [4]})], 10)
    assert pa.concat_tables(list(parts))["A"].to_pylist() == [1, 2, 3, 1, 2, 3, 1, 4, 4, 4]


CLAIM = Claim((1,), 1)


def decisions(*verdicts: Verdict) -> list[Decision]:
    return [Decision(CLAIM, verdict) for verdict in verdicts]


def test_the_one_hot_times_are_extrapolated_to_all_claims(monkeypatch: pytest.MonkeyPatch) -> None:
    everything = decisions(*[Verdict.VERIFIED] * 3, *[Verdict.REFUTED] * 97)
    seconds = iter([0.3, 0.1, 0.1, 0.5, 1.0, 1.0 + 2 * 2.0, 1.0 + 5 * 0.49])  # as the stages come
    claims = iter([[CLAIM] * 10, [CLAIM] * 100])  # candidates, then those of the first dataset
    patches: dict[str, Any] = {
        "watch": lambda: nullcontext(SimpleNamespace(seconds=next(seconds))),
        "generate_block": lambda *_: SimpleNamespace(records=[0]),
        "candidate_claims": lambda *_: (),
        "as_claims": lambda *_: next(claims),
        "Verifier": lambda _: SimpleNamespace(decide=lambda asked: everything[: len(asked)]),
        "onehot_program": lambda _: None,
        "decide_onehot": lambda *_: decisions(Verdict.REFUTED, Verdict.UNDECIDED),
        "generate_onehot": lambda *_: None,
        "_agree": lambda *_: None,
    }
    for name, patch in patches.items():
        monkeypatch.setattr(benchmarks, name, patch)
    program: Any = SimpleNamespace(bounder=lambda _: None, solver="highs")
    sample = SpeedBenchmark(blocks=1, claims=2, datasets=5, seconds=60.0)
    row = benchmarks.compare(SimpleNamespace(block="b", n=4), program, 100, 1, 1, sample)  # type: ignore[arg-type]
    assert row["onehot_s"] == 1 + 2 * 100
    assert row["speedup"] == 402
    assert row["onehot_end_to_end_s"] == pytest.approx(1 + 49 + 0.1 + 2 * 10)
    assert row["speedup_end_to_end"] == pytest.approx(70.1 / 0.5, abs=0.05)
    assert (row["verified"], row["undecided"], row["onehot_undecided"]) == (3, 0, 1)
    assert row["note"].endswith("from 2 of 100 claims; 1 of them stopped at 60 s, so that the ratios are lower bounds")


def test_programs_that_disagree_are_no_benchmark() -> None:
    block: Any = SimpleNamespace(block="b")
    _agree(block, decisions(Verdict.VERIFIED, Verdict.REFUTED), decisions(Verdict.VERIFIED, Verdict.UNDECIDED))
    with pytest.raises(WrongAnswer, match="verified by the compact and refuted by the one-hot"):
        _agree(block, decisions(Verdict.VERIFIED), decisions(Verdict.REFUTED))


def test_the_figure_shows_medians_and_marks_what_did_not_finish() -> None:
    done = {"generate_s": 1.0, "verify_s": 2.0, "candidates": 3}
    cases = [
        scaling_row(5, known, repeat, SimpleNamespace(values=done, peak_memory_mb=100.0 + repeat, ended="yes"))  # type: ignore[arg-type]
        for known in (False, True)
        for repeat in (0, 2)
    ]
    late: Any = SimpleNamespace(values={"generate_s": 9.0}, peak_memory_mb=500.0, ended="not finished within 30 s")
    frame = scaling_frame([*cases, scaling_row(50, False, 0, late)])
    assert frame["verify_s"].isna().tolist() == [False] * 4 + [True]
    seconds, memory = plot_scaling(frame, "toy data").axes
    shown = {str(line.get_label()): line.get_xydata().tolist() for line in (*seconds.lines, *memory.lines)}  # type: ignore[union-attr]
    assert shown["verify_s, published counts alone"] == [[5.0, 2.0]]
    assert shown["generate_s, published counts alone"] == [[5.0, 1.0], [50.0, 9.0]]
    assert shown["peak_memory_mb, with structural zeros"] == [[5.0, 101.0]]
    assert shown["stopped, published counts alone"] == [[50.0, 500.0]]
    assert [line.get_xydata().tolist() for line in seconds.lines if line.get_marker() == "x"] == [[[50.0, 30.0]]]  # type: ignore[union-attr]


def test_blocks_are_drawn_by_classes_of_sizes_and_cost_the_country_by_their_shares() -> None:
    sizes = pd.DataFrame({"block": ["a", "b", "c", "d"], "n": [1, 5, 6, 500]})
    drawn = draw_classes(sizes, 1, np.random.default_rng(0))
    assert {class_: len(blocks) for class_, blocks in drawn.items()} == {"1-5": 1, "6-10": 1, "over 400": 1}
    share = shares(sizes)
    assert (share["1-5"], share["over 400"], sum(share.values())) == (0.5, 0.25, 1.0)
    stages = {"build_s": 1.0, "generate_s": 2.0, "verify_s": 3.0, "check_s": 4.0}
    measured = {**stages, "verified": 2, "undecided": 1, "uncertified": 0, "linear_programs": 6, "searches": 1}
    blocks = pd.DataFrame([{**measured, "peak_memory_mb": 100.0}])
    rows = [cost_rows("now", "1-5", blocks), cost_rows("before", "1-5", blocks.assign(verify_s=23.0))]
    frame = blocks_frame(list(country_rows(rows, share, 3600))).set_index(["version", "households"])
    assert frame.loc[("now", "1-5"), ["total_s", "linear_programs_per_verified", "core_hours"]].tolist() == [10.0, 3.0, 5.0]
    assert frame.loc[("now", "1-5"), "faster"] == 3.0
    assert frame.loc[("before", "all"), "core_hours"] == 15.0


def test_a_folder_that_holds_no_version_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no folder that holds genverify"):
        costs([], (DEFAULT, 1, 1, 1), tmp_path)


def test_this_version_is_measured_in_a_process_of_its_own() -> None:
    """Also by the folder that holds it: nothing but the seconds and the memory may differ."""
    schema = make_schema(columns={"sex": ["f", "m"], "age": ["young", "old"]}, tables={"sex": ["sex"], "age": ["age"]})
    release = make_release(schema, "block", {"N": 2, "sex.f": 2, "age.young": 1, "age.old": 1})
    one, other = (costs([release], (DEFAULT, 5, 1, 1), version) for version in (None, Path(studies.__file__).parents[1]))
    assert one.loc[0, "verified"] > 0
    names = ["block", "verified", "undecided", "claims"]
    assert one[names].equals(other[names])


def test_two_versions_are_compared_block_by_block(monkeypatch: pytest.MonkeyPatch) -> None:
    stages = {"build_s": 1.0, "generate_s": 2.0, "verify_s": 3.0, "check_s": 4.0}
    counts = {"n_households": 20, "classes": 50, "verified": 2, "undecided": 0, "uncertified": 0}
    now = pd.DataFrame([{"block": block, **counts, **stages, "claims": block} for block in ("a", "b")])
    before = now.assign(verify_s=33.0, claims=["a", "other"], undecided=[0, 1]).iloc[::-1]
    measured = iter([before, now, now, now])
    monkeypatch.setattr(benchmarks, "costs", lambda *_: next(measured))
    how: Any = None
    frame = benchmarks.compare_versions([("20 households", []), ("study", [])], how, Path()).set_index("case")
    assert frame.loc["20 households", ["blocks", "same", "undecided_before", "undecided_now"]].tolist() == [2, 1, 1, 0]
    assert frame.loc["20 households", "faster"] == 4.0
    assert frame.loc["all", ["blocks", "households", "largest", "same", "before_s"]].tolist() == [4, 80, 20, 3, 100.0]
