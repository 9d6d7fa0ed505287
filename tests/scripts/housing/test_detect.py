"""Detection as a job, and the check of its proofs from the command line."""

import gzip
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from genverify.cli import main
from genverify.model.errors import ReleaseError
from script_jobs import job, script

PROGRAM = {"formulation": "compact", "solver": "highs", "max_types": 100_000, "iterations": 100_000, "nodes": 500,
           "leaves": 200, "seconds": 30.0}  # fmt: skip
SIZES = {f"SIZE_{x}": 0 for x in range(1, 8)}
RACES = {"RACE_1": 3, **{f"RACE_{x}": 0 for x in range(2, 15)}}
PERCENT = {"BLACK": 0, "NATIVE": 0, "ASIAN_PACIFIC": 0, "HISPANIC": 0, "MINORITY": 0, "ONE_ADULT": 0, "TWO_ADULTS": 0}
HUD = {"HUD_N": 3, "HUD_UNITS": 3, "HUD_BED_1": 100, "HUD_BED_2": 0, "HUD_BED_3": 0} | {
    f"HUD_{k}": v for k, v in PERCENT.items()
}
# three subsidized households in units of one bedroom: seven persons need a violation, six do not
FULL = {
    "block": "010010001001001",
    "N": 3,
    "P": 7,
    **SIZES,
    "SIZE_2": 2,
    "SIZE_3": 1,
    **RACES,
    "CHILDREN": 0,
    **HUD,
    "HUD_P": 7,
}
FREE = {**FULL, "block": "010010001001002", "P": 6, "SIZE_2": 3, "SIZE_3": 0, "HUD_P": 6}


def detect(root: Path, home: Path, rows: list[dict[str, Any]]) -> pd.DataFrame:
    pd.DataFrame(rows).to_parquet(home / "statistics.parquet")
    data = root / "data" / "housing"
    inputs = {"statistics": home / "statistics.parquet", "housing_domain": data / "domain.yaml",
              "published": data / "published.yaml"}  # fmt: skip
    outputs = {"blocks": home / "blocks.parquet", "proofs": home / "proofs.jsonl.gz"}
    wanted = job(inputs, outputs, {"condition": "none"}, program=PROGRAM, condition={"reading": "appendix_e"})
    script("detect_housing")(wanted)
    return pd.read_parquet(outputs["blocks"])


def test_a_block_that_must_hold_a_violation_is_found_and_its_proof_checked(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    blocks = detect(root, tmp_path, [FULL, FREE])
    assert blocks["verdict"].tolist() == ["violation", "possible"]
    assert blocks["least_violations"].tolist() == [1, 0]
    assert (blocks["n"] == 3).all()
    assert (blocks["n_s"] == 3).all()
    words = ["check-housing", str(tmp_path), "--data", str(root / "data" / "housing")]
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert "1 blocks with a violation, 0 with counts that contradict each other: all proofs right" in shown
    assert "1 blocks possible, 0 undecided: without a proof, as they claim nothing" in shown


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda home: _other_counts(home), "the proofs are of other counts than these"),
        (lambda home: _write(home, ""), "the verdict 'violation' has no certificate"),
        (lambda home: _write(home, _read(home) * 2), "is duplicated"),
        (lambda home: _write(home, _read(home).replace('"m":1', '"m":3')), "shows only COUNT >= 1"),
        (lambda home: _write(home, _read(home).replace("at least", "never")), "kind is 'bound'"),
        (lambda home: _least(home, 2), "least_violations is 2, but 1"),
    ],
)
def test_what_a_proof_does_not_show_is_refused(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], spoil: Any, said: str
) -> None:
    detect(root, tmp_path, [FULL, FREE])
    spoil(tmp_path)
    assert main(["check-housing", str(tmp_path), "--data", str(root / "data" / "housing")]) == 2
    assert said in capsys.readouterr().err


def _read(home: Path) -> str:
    return gzip.decompress((home / "proofs.jsonl.gz").read_bytes()).decode()


def _write(home: Path, text: str) -> None:
    (home / "proofs.jsonl.gz").write_bytes(gzip.compress(text.encode()))


def _other_counts(home: Path) -> None:
    rows = pd.read_parquet(home / "statistics.parquet").assign(P=6, SIZE_2=3, SIZE_3=0, HUD_P=6)
    rows.to_parquet(home / "statistics.parquet")


def _least(home: Path, least: int) -> None:
    blocks = pd.read_parquet(home / "blocks.parquet")
    blocks["least_violations"] = blocks["least_violations"].where(~blocks["flagged"], least)
    blocks.to_parquet(home / "blocks.parquet", index=False)


def test_percentages_that_contradict_do_not_stop_the_other_blocks(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All three households have children and one adult, and all three have children and two."""
    odd = {**FREE, "block": "010010001001003", "HUD_ONE_ADULT": 100, "HUD_TWO_ADULTS": 100}
    blocks = detect(root, tmp_path, [odd, FULL, FREE])
    assert blocks["verdict"].tolist() == ["contradiction", "violation", "possible"]
    assert blocks["flagged"].tolist() == [True, True, False]
    assert main(["check-housing", str(tmp_path), "--data", str(root / "data" / "housing")]) == 0
    assert "1 blocks with a violation, 1 with counts that contradict each other" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"HUD_P": -1}, "HUD_P holds something other than whole numbers"),
        ({"P": 6.5}, "column P holds"),
        ({"CHILDREN": None}, "column CHILDREN holds"),
        ({"HUD_BLACK": 101}, "HUD_BLACK is not a percentage"),
    ],
)
def test_statistics_that_are_no_counts_are_refused(root: Path, tmp_path: Path, change: dict[str, Any], said: str) -> None:
    with pytest.raises(ReleaseError, match=said):
        detect(root, tmp_path, [{**FULL, **change}])


def test_a_statistic_that_is_missing_is_named(root: Path, tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="no column 'HUD_BED_2'"):
        detect(root, tmp_path, [{name: value for name, value in FULL.items() if name != "HUD_BED_2"}])
