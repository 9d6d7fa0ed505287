"""The mains of the explorer and of the pages of the report, on plain files."""

import json
from pathlib import Path
from types import ModuleType

import pytest

from genverify.checker.certificate import read_lines, read_proofs
from genverify.model.errors import DataError


def test_explain_claims_lays_out_every_proof(explorer: Path) -> None:
    study = explorer.parent / "study"
    laid_out = list(read_lines(study / "explained.jsonl.gz"))
    proofs = list(read_proofs(study / "000.jsonl.gz"))
    assert [found["block"] for found in laid_out] == [found["about"]["name"] for found in proofs]
    assert [len(found["proofs"]) for found in laid_out] == [len(found["proofs"]) for found in proofs]


def test_build_explorer_writes_the_page_and_its_pieces(explorer: Path) -> None:
    assert (explorer / "index.html").read_text().startswith("<!doctype html>")
    names = {path.stem for path in (explorer / "pieces").iterdir()}
    assert names == {"study", "state-01", "state-56", "blocks-0", "blocks-1", *(f"vipr-{block}" for block in range(4))}


def test_phrases_of_another_domain_are_refused(
    explorer: Path, small_explorer: ModuleType, root: Path, tmp_path: Path, toy: Path
) -> None:
    phrases = str(root / "data" / "census" / "phrases.yaml")
    with pytest.raises(DataError, match=r"phrases\.yaml"):
        small_explorer.build(explorer.parent / "study", tmp_path, toy, phrases=phrases)


def test_show_table_writes_a_page(small_explorer: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "table.md").write_text("# Table\n\nData: **synthetic microdata**.\n")
    small_explorer.run("show_table", {"table": tmp_path / "table.md"}, {"page": tmp_path / "table.html"})
    assert "<p>Data: <b>synthetic microdata</b>.</p>" in (tmp_path / "table.html").read_text()


def test_pieces_are_valid_json_inside(explorer: Path) -> None:
    pieces = [path.read_text() for path in (explorer / "pieces").iterdir()]
    held = [json.loads(text[text.index(",") + 1 : -3]) for text in pieces]
    assert held
    assert all(held), "an empty piece"
