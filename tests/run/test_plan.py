"""The plan of a run: blocks and jobs counted, time and disk from earlier runs or from stated rates."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from genverify.model.settings import merge
from genverify.run.config import Config, parse_config
from studies.country.plan import Earlier, count_states, in_words, jobs_of, plan, plan_everything, read_earlier
from studies.country.sample import block_seconds

NOTHING = Earlier(0.0, {}, {}, None)
SAID = """Building DAG of jobs...
job                  count
-----------------  -------
generate_datasets       25
verify_claims           25
plot_fig3                1
all                      1
total                   52
"""


@pytest.fixture
def small(config: dict[str, Any], root: Path, monkeypatch: pytest.MonkeyPatch) -> Config:
    monkeypatch.chdir(root)
    return parse_config(merge(config, {"sample": {"designs": {"extra": {"size": 4, "blocks_per_state": 2}}}}))


def test_the_jobs_of_a_dry_run_are_read() -> None:
    assert jobs_of(SAID) == {"generate_datasets": 25, "verify_claims": 25, "plot_fig3": 1}
    assert jobs_of("Nothing to be done (all requested files are present and up to date).\n") == {}


def test_a_plan_before_anything_was_run(small: Config, tmp_path: Path) -> None:
    lines = list(plan(small, jobs_of(SAID), 25, NOTHING, tmp_path, 2))
    assert "design extra: 2 blocks in each of 50 states (of the built-in country)" in lines
    blocks = (5 + 5 + 2) * 50
    assert f"{blocks} blocks or a few less, in 25 batches; 7 variants: {7 * blocks} attacks on a block" in lines
    assert "jobs: 51 (25 generate_datasets, 25 verify_claims, 1 plot_fig3)" in lines
    # 500 blocks of a median size, taken for 10, 100 of four households, and 51 jobs that take 3 s besides, on two cores
    whole = 500 * block_seconds(10) + 100 * block_seconds(4) + 51 * 3
    assert f"time: about {in_words(whole / 2)} on 2 cores ({in_words(whole)} of one core)" in lines
    assert "disk: about 52 MB when all is done (12 kB per block and variant, by default)" in lines


def test_nothing_to_do_is_said(small: Config, tmp_path: Path) -> None:
    assert list(plan(small, {}, 25, NOTHING, tmp_path, 2))[-1] == "jobs: none, everything is up to date"


def test_figures_without_their_file_are_left_out_with_the_reason(
    config: dict[str, Any], small: Config, tmp_path: Path
) -> None:
    jobs = {"plot_fig3": 1}
    last = list(plan_everything(small, jobs, 25, NOTHING, tmp_path, 2))[-1]
    figures = "rap_fig1_records, rap_fig2_records, rap_fig3_records"
    assert last == f"  left out, since persons.records names no file of person records: {figures}"
    named = parse_config(merge(config, {"persons": {"records": "mine.csv"}}))
    assert "left out" not in "".join(plan_everything(named, jobs, 25, NOTHING, tmp_path, 2))


def test_earlier_runs_are_measured_per_block(small: Config, tmp_path: Path) -> None:
    """Two batches of 30 blocks took 6 s each: 0.2 s for a block of ten households, and less for one of four."""
    for batch in ("000", "001"):
        path = tmp_path / "benchmarks" / "paper" / "verify_claims" / f"{batch}.tsv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("s\th:m:s\tmax_rss\n6.0\t0:00:06\t100\n")
    (tmp_path / "benchmarks" / "plot_fig3.tsv").write_text("s\th:m:s\n20.0\t0:00:20\n")
    (tmp_path / "results" / "sample").mkdir(parents=True)
    (tmp_path / "results" / "paper").mkdir()
    drawn = pd.DataFrame({"block": [f"{n:015d}" for n in range(60)], "n_households": 10})
    drawn.to_parquet(tmp_path / "results" / "sample" / "blocks.parquet")
    (tmp_path / "results" / "paper" / "claims.parquet").write_bytes(b"x" * 60_000)
    earlier = read_earlier(tmp_path / "benchmarks", tmp_path / "results")
    cost = pytest.approx(60 * block_seconds(10))
    assert earlier == Earlier(cost, {"verify_claims": 6.0, "plot_fig3": 20.0}, {"verify_claims": 2}, 1000.0)
    lines = list(plan(small, {"verify_claims": 25, "plot_fig3": 1}, 25, earlier, tmp_path / "results", 1))
    whole = 0.2 * (500 + 100 * block_seconds(4) / block_seconds(10)) + 20
    assert f"time: about {in_words(whole)} on 1 cores ({in_words(whole)} of one core)" in lines
    assert "  from earlier runs: 2 of 2 rules (benchmarks/, workflow/times.yaml)" in lines
    assert any("(1 kB per block and variant, measured)" in line for line in lines)


def test_states_are_counted_where_they_are_known(small: Config, config: dict[str, Any], tmp_path: Path) -> None:
    for state in ("01", "02"):
        (tmp_path / f"{state}.parquet").write_bytes(b"")
    assert count_states(small, tmp_path) == (2, "of the microdata")
    real = parse_config(merge(config, {"microdata": {"source": "ppmf", "ppmf": {"units": "units.csv"}}}))
    assert count_states(real, tmp_path / "none") == (51, "assumed, the microdata are not read yet")
