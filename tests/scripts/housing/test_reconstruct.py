"""Prior, reconstructions and solution variability as jobs."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from housing_cases import households_frame, statistics_frame
from script_jobs import job, script

PROGRAM = {"formulation": "compact", "solver": "highs", "max_types": 100_000, "iterations": 100_000, "nodes": 500,
           "leaves": 200, "seconds": 30.0}  # fmt: skip
FIRST, SECOND = "010010001001001", "010010001001002"
OTHERS = [(0, 1, 0, 1), (0, 2, 0, 1), (0, 3, 1, 2), (0, 4, 2, 2), (0, 2, 0, 2)]


@pytest.fixture
def home(root: Path, tmp_path: Path) -> Path:
    """Two blocks with a property, and a prior of all their households."""
    full = households_frame(FIRST, [(1, 1, 0, 1)] * 6 + [(1, 3, 1, 2)] * 6 + OTHERS)
    other = households_frame(SECOND, [(2, 2, 0, 1)] * 12 + OTHERS)
    households = pd.concat([full, other], ignore_index=True)
    households.to_parquet(tmp_path / "households.parquet", index=False)
    statistics_frame(households).to_parquet(tmp_path / "statistics.parquet", index=False)
    blocks = pd.DataFrame({"block": [FIRST, SECOND], "verdict": ["violation", "possible"]})
    blocks.to_parquet(tmp_path / "blocks.parquet", index=False)
    wanted = job({"households": tmp_path / "households.parquet"}, {"prior": tmp_path / "prior.parquet"}, share=1.0, seed=1)
    script("fit_housing_prior")(wanted)
    return tmp_path


def run_batch(root: Path, home: Path, name: str, outputs: dict[str, Path], batch: str, **params: Any) -> None:
    data = root / "data" / "housing"
    inputs = {name: home / f"{name}.parquet" for name in ("statistics", "blocks", "prior")}
    inputs |= {"housing_domain": data / "domain.yaml", "published": data / "published.yaml"}
    shared = {"program": PROGRAM, "condition": {"reading": "appendix_e", "top": 5}, "batches": 2, "seed": 1}
    script(name)(job(inputs, outputs, {"condition": "none", "batch": batch}, **shared, **params))


def test_the_prior_counts_every_household_of_its_sample(home: Path) -> None:
    prior = pd.read_parquet(home / "prior.parquet")
    assert prior["households"].sum() == 34
    assert set(prior["state"]) == {"01"}


def test_flagged_blocks_are_reconstructed(root: Path, home: Path) -> None:
    outputs = {"datasets": home / "out" / "000.parquet", "blocks": home / "out" / "000.blocks.parquet"}
    run_batch(root, home, "reconstruct_housing", outputs, "000", search=1000)
    datasets, blocks = (pd.read_parquet(path) for path in outputs.values())
    assert blocks["block"].tolist() == [FIRST]
    assert blocks["fits"].all()
    assert (datasets.groupby("rank")["count"].sum() == 17).all()
    counted = datasets["count"] * datasets["SIZE"]
    assert (counted.groupby(datasets["rank"]).sum() == 36).all()


def test_a_batch_without_flagged_blocks_writes_the_same_columns(root: Path, home: Path) -> None:
    outputs = {"datasets": home / "out" / "001.parquet", "blocks": home / "out" / "001.blocks.parquet"}
    run_batch(root, home, "reconstruct_housing", outputs, "001", search=1000)
    datasets, blocks = (pd.read_parquet(path) for path in outputs.values())
    assert (len(datasets), len(blocks)) == (0, 0)
    assert {"block", "rank", "cost", "count"} <= set(datasets.columns)
    assert {"block", "proved", "fits", "error"} <= set(blocks.columns)


def test_every_block_of_a_batch_is_measured(root: Path, home: Path) -> None:
    outputs = {"variability": home / "out" / "000.parquet"}
    run_batch(root, home, "measure_housing_variability", outputs, "001", simple=["SIZE", "BEDROOMS"], blocks=10)
    found = pd.read_parquet(outputs["variability"])
    assert found["block"].tolist() == [SECOND] * 4
    assert found["attributes"].tolist() == ["all", "simple", "violations", "violations_simple"]
    assert found["solvar"].isna().tolist() == [False, False, True, True]  # no violation in its most likely dataset
    found = found[:2]
    assert found["exact"].all()
    assert (found["solvar"] >= found["solvar"].iloc[1]).all()
    assert found["share"].tolist() == pytest.approx((found["solvar"] / (2 * found["n"])).tolist())
    assert (found["n_s"] == 12).all()
