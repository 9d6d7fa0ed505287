"""The scripts of the releases stage on a small release: an audit with its report, and protections tried."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd

import genverify
from genverify.checker.certificate import read_proofs
from genverify.checker.record_proofs import check_block
from genverify.model.release import read_releases, read_schema
from genverify.run.jobs import Job
from genverify.solve.program_settings import ProgramSettings
from script_jobs import script

Main = Callable[[Job], None]
YAML = """
name: toy
synthetic: true
data: people.csv
tables:
  a: {columns: [sex, age]}
  b: {columns: [age, home]}
protect:
  - {suppress: 3}
"""
PEOPLE = "sex,age,home\nf,old,rents\nf,young,owns\nm,young,owns\nm,old,owns\nf,young,rents\n"


def job(folder: Path, settings: ProgramSettings, **outputs: str) -> Job:
    (folder / "release.yaml").write_text(YAML)
    (folder / "people.csv").write_text(PEOPLE)
    inputs = SimpleNamespace(described=str(folder / "release.yaml"), source=str(folder / "people.csv"))
    params: dict[str, Any] = {"program": settings.model_dump(), "generate": {"datasets": 10, "method": "walk"}}
    made = SimpleNamespace(**{name: str(folder / "out" / path) for name, path in outputs.items()})
    return Job("toy", inputs, made, SimpleNamespace(**params), SimpleNamespace())


def test_disclose_release(tmp_path: Path, program_settings: ProgramSettings) -> None:
    script("disclose_release")(job(tmp_path, program_settings, report="report.html", claims="claims.parquet"))
    out = tmp_path / "out"
    schema = read_schema(out / "release" / "schema.json")
    [release] = read_releases(out / "release" / "000.parquet", schema)
    [proofs] = read_proofs(out / "proofs" / "000.jsonl.gz")
    claims = pd.read_parquet(out / "claims.parquet")
    assert check_block(release, proofs).claims == len(claims) > 0
    assert "Synthetic data" in (out / "report.html").read_text()
    cells = pd.read_csv(out / "cells.csv")
    printed = cells[cells["status"] == "printed"]
    assert (printed["published"].astype(int) == printed["lower"]).all()
    assert (cells["lower"] <= cells["upper"]).all()
    assert len(pd.read_csv(out / "suppress.csv")) > 0


def test_try_protections(tmp_path: Path, program_settings: ProgramSettings) -> None:
    script("try_protections")(job(tmp_path, program_settings, table="whatif.csv"))
    found = pd.read_csv(tmp_path / "out" / "whatif.csv")
    assert found["protection"].tolist() == ["as published", "suppress below 3"]
    assert found["exact_cells"].tolist() == [8, 0]
    assert (tmp_path / "out" / "whatif.pdf").read_bytes().startswith(b"%PDF")


def test_audits_and_reconstructions_are_timed(tmp_path: Path) -> None:
    tracts = {
        "unique": {"blocks": 8, "persons": 1, "by_year": True},
        "several": {"blocks": 4, "persons": 9, "by_year": False},
    }
    params = SimpleNamespace(audits={"people": [40], "tracts": tracts, "seconds": 60.0}, seed=1)
    made = SimpleNamespace(table=str(tmp_path / "audits.csv"))
    script("benchmark_audits")(Job("audits", SimpleNamespace(), made, params, SimpleNamespace()))
    survey, one, several = pd.read_csv(made.table).to_dict("records")
    assert (survey["size"], survey["data"]) == (40, "synthetic people")
    assert survey["answer_s"] <= survey["cpu_s"]
    assert "unique, with a checked proof" in one["answer"]
    assert "not unique: two solutions" in several["answer"]


def test_two_way_tables_are_timed_and_programs_one_by_one_know_the_same_cells(tmp_path: Path) -> None:
    package = str(Path(genverify.__file__).parents[1])
    tables = {"rows": [6], "mean": 3.0, "suppressed": 0.4, "one_by_one": 100, "before": package}
    params = SimpleNamespace(tables=tables, seed=2)
    made = SimpleNamespace(table=str(tmp_path / "tables.csv"))
    script("benchmark_tables")(Job("tables", SimpleNamespace(), made, params, SimpleNamespace()))
    lines = pd.read_csv(made.table)
    assert lines["version"].tolist() == ["before", "now", "programs one by one"]
    assert (lines["cells"] == 49).all()
    assert lines["known_exactly"].nunique() == 1
    assert (lines["ends_attained"][:2] == lines["suppressed"][:2]).all()
    assert 0 < lines["known_exactly"][0] < lines["suppressed"][0]
