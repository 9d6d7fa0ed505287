"""The scripts about persons: ingestion from both sources, the file in the PPMF layout, the count of queries, the trial."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from genverify.model.domain import read_domain
from genverify.model.errors import ConfigError
from genverify.run.config import check_study, config_model, read_shipped
from genverify.run.jobs import Job
from script_jobs import script
from studies.country.people import read_country
from studies.country.places import synthesize
from studies.country.settings import Synthetic
from studies.country.store import read_microdata, write_microdata


def run(name: str, inputs: dict[str, Any], outputs: dict[str, Path], reading: str = "", **params: Any) -> None:
    """Run the main of a script on named inputs, outputs and params."""
    wildcards = SimpleNamespace(reading=reading)
    script(name)(Job(name, *(SimpleNamespace(**named) for named in (inputs, outputs, params)), wildcards))


@pytest.fixture(scope="module")
def settings(root: Path) -> dict[str, Any]:
    text = read_shipped(root)
    text["persons"]["release"]["tables_file"] = str(root / text["persons"]["release"]["tables_file"])
    return text


@pytest.fixture(scope="module")
def files(root: Path) -> dict[str, Path]:
    return {
        "domain": root / "data" / "census" / "persons.yaml",
        "tables": root / "data" / "census" / "person_tables.yaml",
        "synthetic": root / "data" / "synthetic" / "persons.yaml",
        "paper": root / "data" / "papers" / "rap_rank.yaml",
    }


def test_persons_of_one_state_through_both_sources(tmp_path: Path, root: Path, files: dict[str, Path]) -> None:
    """All households of the first state of a small country, their persons, and the same persons from a file."""
    census = read_domain(root / "data" / "census" / "domain.yaml")
    country = read_country(root / "data" / "synthetic")
    settings = Synthetic(country="data/synthetic", likeness="prototype", households=20_000, homogeneity=1.0)
    homes = next(synthesize(settings, 1, census, country))
    write_microdata([homes], tmp_path / "homes", census.domain)
    params = {"synthetic": str(files["synthetic"]), "group_quarters": True, "seed": 1}
    for source, name in ((tmp_path / "homes", "made"), (tmp_path / "persons.csv.gz", "read")):
        if name == "read":
            run("write_person_file", {"persons": tmp_path / "made"}, {"persons": source})
        outputs = {"persons": tmp_path / name, "manifest": tmp_path / f"{name}.json"}
        run("ingest_persons", {**files, "source": source}, outputs, **params)
    made, read = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("made", "read"))
    assert (made["label"], read["label"]) == ("synthetic microdata", "PPMF file persons.csv.gz")
    assert made["states"] == read["states"]
    persons = read_microdata(tmp_path / "made")
    assert persons.column_names == ["block", "tract", "county", "state", "QSEX", "QAGE", "CENHISP", "CENRACE"]
    units = homes.to_pandas()
    occupied = units[units["VACS"] == 0]
    assert set(persons["block"].to_pylist()) == set(occupied["block"])
    assert persons.num_rows >= occupied["HHSIZE"].sum()


def test_the_count_of_person_queries(tmp_path: Path, files: dict[str, Path], settings: dict[str, Any]) -> None:
    outputs = {"table": tmp_path / "queries.csv", "readable": tmp_path / "queries.md"}
    persons = settings["persons"]
    run("write_person_queries", files, outputs, release=persons["release"], tract_tables=persons["tract_tables"])
    table = pd.read_csv(tmp_path / "queries.csv")
    assert table["lines"].tolist() == [3, 27, 375, 2100, 1282, 3787]
    assert "the 23 female age bands of P12" in (tmp_path / "queries.md").read_text()


def test_the_trial_on_records(tmp_path: Path, files: dict[str, Path], settings: dict[str, Any]) -> None:
    """A man of 30 and a woman of 20: in bands both are known in full, in years only she is."""
    records = tmp_path / "records.csv"
    header = "block,sex,age,white,black,aian,asian,nhpi,other,hispanic"
    block = "010010201001000"
    records.write_text("\n".join([header, f"{block},1,30,1,0,0,0,0,0,0", f"{block},2,20,1,0,0,0,0,0,0", ""]))
    claims = {"max_persons": 30, "datasets": 10, "min_k": 1, "raprank_blocks": 1, "raprank_runs": 2}
    persons = settings["persons"]
    params = {"release": persons["release"], "readings": persons["readings"], "claims": claims, "seed": 1}
    inputs = {**files, "records": records}
    made: dict[str, list[Path]] = {"claims": [], "ranked": []}
    for reading in persons["readings"]:
        made["claims"].append(tmp_path / f"{reading}.claims.csv")
        made["ranked"].append(tmp_path / f"{reading}.ranked.csv")
        run("verify_persons", inputs, {"claims": made["claims"][-1]}, reading, **params, program=settings["program"])
        run("rank_persons", inputs, {"rates": made["ranked"][-1]}, reading, **params, rap=settings["raprank"]["rap"])
    outputs = {"table": tmp_path / "table.csv", "readable": tmp_path / "table.md"}
    run("write_persons_verified", made, outputs, records=str(records))
    table = pd.read_csv(tmp_path / "table.csv", dtype={"k": str}).set_index(["reading", "k"])
    assert set(table["data"]) == {"records of records.csv"}
    assert table["singled_out"][("age_in_years", "4")] == 1
    assert table["singled_out"][("age_in_bands", "4")] == 2
    assert (table["false_claims"] == 0).all()
    assert table["match_rate"].notna().sum() == 2
    assert table["match_rate"].dropna().between(0, 1).all()
    assert "| age_in_bands | 1 | 2 | 4 |" in (tmp_path / "table.md").read_text()


def test_probabilities_of_claims_about_known_persons(
    tmp_path: Path, files: dict[str, Path], settings: dict[str, Any]
) -> None:
    """Two blocks of one tract, each with two couples: who of the men is 30 and who 50, nothing says for sure."""
    records = tmp_path / "records.csv"
    lines = ["block,sex,age,white,black,aian,asian,nhpi,other,hispanic"]
    for block in ("010010201001000", "010010201001001"):
        lines += [f"{block},{sex},{age},1,0,0,0,0,0,0" for sex, age in ((1, 30), (1, 50), (2, 31), (2, 51))]
    records.write_text("\n".join([*lines, ""]))
    claims = {"max_persons": 30, "datasets": 10, "min_k": 1, "raprank_blocks": 1, "raprank_runs": 2}
    persons, table = settings["persons"], tmp_path / "probabilities.csv"
    params = {"release": persons["release"], "readings": persons["readings"], "claims": claims, "seed": 1}
    inputs = {**files, "records": records}
    params |= {"probability": settings["probability"], "program": settings["program"]}
    run("weigh_persons", inputs, {"table": table}, "age_in_years", **params)
    found = pd.read_csv(table)
    assert set(found["source"]) == {"uniform", "nation", "tract"}
    assert (found[["blocks", "counted"]] == 2).all().all()
    certain = found[(found["score"] == "share true") & (found["bin"] == 10)]
    assert len(certain) == 3
    assert (certain["value"] == 1).all()
    scores = found[found["score"] == "log score"].set_index("source")["value"]
    assert scores["tract"] < scores["uniform"]


def test_tables_of_persons_are_checked_before_the_first_job(
    root: Path, config: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)
    check_study(config_model().model_validate(config))
    config["persons"]["tract_tables"] = ["PCT13*"]
    with pytest.raises(
        ConfigError, match=r"persons.tract_tables: release.tables: unknown table 'PCT13\*': did you mean PCT12"
    ):
        check_study(config_model().model_validate(config))
