"""Scripts that repeat claims refuse those that no checked proof stands behind; protected counts keep their proofs."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import yaml

from genverify.checker.certificate import CertificateError, read_lines, read_proofs, write_proofs
from genverify.model.domain import read_domain
from genverify.model.errors import DataError
from genverify.model.settings import ReleaseSettings
from script_jobs import job, script
from studies.country.store import write_microdata

NAMES = ("PET", "HOME", "AGE")
CODES = {"PET": (0, 1, 2, 3), "HOME": (1, 2), "AGE": (1, 2, 3, 4)}
SLOTS = [[{"when": {name: [code]}, "say": f"{name} {code}"} for code in codes] for name, codes in CODES.items()]
PHRASES = {"vary": ["PET"], "sentences": [{"start": "An owner of", "join": "list", "slots": SLOTS}]}


@pytest.fixture
def study(explorer: Path, tmp_path: Path) -> Path:
    """A copy of the small study of the explorer that a test may change."""
    return Path(shutil.copytree(explorer.parent / "study", tmp_path / "study"))


def change_proofs(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the first block of a file of proofs."""
    proofs = list(read_lines(path))
    change(proofs[0])
    write_proofs(proofs, path)


def change_claims(study: Path, column: str, value: int, row: int = 0) -> None:
    for name in ("claims", "baselines"):
        path = study / f"{name}.parquet"
        frame = pd.read_parquet(path)
        if column in frame:
            frame.loc[row, column] = value
            frame.to_parquet(path, index=False)


def lower_m(block: dict[str, Any]) -> None:
    block["statements"][0]["m"] += 1


def test_explain_claims_lays_out_checked_proofs_only(study: Path, small_explorer: ModuleType, tmp_path: Path) -> None:
    change_proofs(study / "000.jsonl.gz", lower_m)
    release = {"schema": study / "schema.json", "counts": study / "000.parquet", "proofs": study / "000.jsonl.gz"}
    with pytest.raises(CertificateError, match=r"000\.jsonl\.gz: a stored proof fails"):
        small_explorer.run("explain_claims", release, {"explained": tmp_path / "explained.jsonl.gz"})


@pytest.mark.parametrize(("column", "value"), [("m", 3), ("PET", 2), ("proof", 5)])
def test_a_row_that_is_not_proved_reaches_no_page(
    study: Path, small_explorer: ModuleType, toy: Path, tmp_path: Path, column: str, value: int
) -> None:
    change_claims(study, column, value)
    with pytest.raises(DataError, match=r"claims\.parquet: block .* is not among the claims with a checked proof"):
        small_explorer.build(study, tmp_path / "page", toy)


def build_page(study: Path, small_explorer: ModuleType, toy: Path, folder: Path) -> None:
    """The page alone, from the laid-out proofs that are there."""
    frames = {name: study / f"{name}.parquet" for name in ("sample", "claims", "blocks", "households", "baselines")}
    files = {"manifest": study / "microdata.json", "domain": toy / "domain.yaml", "tables": toy / "tables.yaml"}
    batch = {"counts": [study / "000.parquet"], "proofs": [study / "000.jsonl.gz"], "vipr": [], "weighed": []}
    inputs = {**frames, **files, **batch, "explained": [study / "explained.jsonl.gz"], "schema": study / "schema.json"}
    folder.mkdir()
    outputs = {"page": folder / "index.html", "inside": folder / "all_in_one.html", "pieces": folder / "pieces"}
    small_explorer.run("build_explorer", inputs, outputs, explorer=small_explorer.SETTINGS, verify={"min_k": 1})


def test_the_page_is_built_from_checked_proofs(study: Path, small_explorer: ModuleType, toy: Path, tmp_path: Path) -> None:
    build_page(study, small_explorer, toy, tmp_path / "right")
    change_proofs(study / "000.jsonl.gz", lower_m)
    with pytest.raises(CertificateError, match=r"000\.jsonl\.gz: a stored proof fails"):
        build_page(study, small_explorer, toy, tmp_path / "wrong")


def multiplied(block: dict[str, Any]) -> None:
    cells = block["proofs"][0][0][2]
    cells[0] += 1


def reasoned(block: dict[str, Any]) -> None:
    block["proofs"][0][0][4].append(0)  # the first cell of the block is not 0


@pytest.mark.parametrize("change", [multiplied, reasoned, lambda block: block["proofs"].pop()])
def test_a_layout_that_is_not_the_checked_proof_reaches_no_page(
    study: Path, small_explorer: ModuleType, toy: Path, tmp_path: Path, change: Callable[[dict[str, Any]], object]
) -> None:
    change_proofs(study / "explained.jsonl.gz", change)
    with pytest.raises(DataError, match=r"explained\.jsonl\.gz: block .* not those that were checked"):
        build_page(study, small_explorer, toy, tmp_path / "page")


def test_the_summary_of_proofs_checks_them(study: Path, tmp_path: Path) -> None:
    inputs = {"schema": study / "schema.json", "counts": [study / "000.parquet"], "proofs": [study / "000.jsonl.gz"]}
    inputs |= {"blocks": study / "blocks.parquet", "manifest": study / "microdata.json"}
    script("write_proofs")(job(inputs, {"table": tmp_path / "proofs.csv"}))
    table = pd.read_csv(tmp_path / "proofs.csv").set_index("figure")["value"]
    assert table["verified claims with a checked proof"] == table["verified claims"] > 0
    change_proofs(study / "000.jsonl.gz", lower_m)
    with pytest.raises(CertificateError, match="a stored proof fails"):
        script("write_proofs")(job(inputs, {"table": tmp_path / "proofs.csv"}))


def examples(study: Path, toy: Path, small_explorer: ModuleType) -> dict[str, Any]:
    """The inputs of figure 1 and table 1."""
    blocks = {block: records for block, records in small_explorer.BLOCKS.items() if block.isdecimal()}
    names = np.repeat(list(blocks), [len(records) for records in blocks.values()])
    values = np.array([record for records in blocks.values() for record in records], dtype=np.int8)
    table = pa.table({"block": names, **dict(zip(NAMES, values.T, strict=True))})
    write_microdata([table], study / "microdata", read_domain(toy / "domain.yaml").domain)
    (study / "phrases.yaml").write_text(yaml.safe_dump(PHRASES))
    (study / "microdata.json").write_text(json.dumps({"source": "synthetic", "label": "synthetic microdata"}))
    frame = pd.read_parquet(study / "claims.parquet")
    frame[frame["block"].isin(list(blocks))].to_parquet(study / "claims.parquet", index=False)
    files = {"claims": "claims.parquet", "sample": "sample.parquet", "microdata": "microdata", "schema": "schema.json"}
    files |= {"manifest": "microdata.json", "phrases": "phrases.yaml"}
    batch = {"counts": [study / "000.parquet"], "proofs": [study / "000.jsonl.gz"]}
    return {**{name: study / file for name, file in files.items()}, **batch, "domain": toy / "domain.yaml"}


@pytest.mark.parametrize("name", ["plot_fig1", "write_table1"])
def test_examples_are_checked_against_their_proofs(
    study: Path,
    toy: Path,
    toy_settings: ReleaseSettings,
    small_explorer: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    monkeypatch.setattr("studies.gtv.tables.LEAST_K", 1)
    inputs = examples(study, toy, small_explorer)
    kinds = ("pdf", "png") if name == "plot_fig1" else ("table", "readable")
    outputs = {kind: tmp_path / f"made.{kind}" for kind in kinds}
    made = job(inputs, outputs, release=toy_settings)
    script(name)(made)
    assert all(path.stat().st_size for path in outputs.values())
    proofs = list(read_proofs(study / "000.jsonl.gz"))
    for block in proofs:  # the proofs stay right, but the claims in the table are no longer among them
        block["statements"] = []
    write_proofs(proofs, study / "000.jsonl.gz")
    with pytest.raises(DataError, match=r"claims\.parquet: block .* is not among the claims with a checked proof"):
        script(name)(made)
