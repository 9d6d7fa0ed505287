"""The scripts that draw and publish the housing study, on small countries and on a user's files."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from genverify.model.domain import DomainFile
from genverify.model.errors import DataError
from genverify.model.files import read_yaml
from script_jobs import job, script
from studies.country.store import write_microdata
from studies.housing.households import chosen_blocks
from studies.housing.statistics import census_statistics, hud_statistics

OPEN = {"swap": 0.0, "swap_among": "properties", "swap_hud": False, "noise": "none", "rho": None, "noise_hud": False}
UNPROTECTED = OPEN | {"blocks": 20}


def draw(root: Path, home: Path, source: list[Path], kind: str, pums: Any, **params: Any) -> pd.DataFrame:
    data = root / "data"
    inputs = {"source": source, "domain": data / "census/domain.yaml", "housing_domain": data / "housing/domain.yaml",
              "simulation": data / "housing/simulation.yaml", "pums": pums}  # fmt: skip
    outputs = {"households": home / "households.parquet", "manifest": home / "manifest.json"}
    country = {"country": str(data / "synthetic"), "likeness": "prototype", "households": 1000, "homogeneity": 1.0}
    microdata = {"source": kind, "domain": "", "synthetic": country, "ppmf": {"units": None, "persons": None}}
    chosen = {"households": 30_000, "blocks": 25, "smallest_property": 11, "alpha": 1e-4, "seed": 1, **params}
    script("draw_housing")(job(inputs, outputs, microdata=microdata, **chosen))
    return pd.read_parquet(outputs["households"])


def publish(root: Path, home: Path, households: Any, files: Any) -> pd.DataFrame:
    inputs = {"households": households, "files": files, "budget": [], "published": root / "data/housing/published.yaml"}
    outputs = {"statistics": home / "none/statistics.parquet", "manifest": home / "none/manifest.json"}
    script("publish_housing")(
        job(inputs, outputs, {"condition": "none"}, condition=UNPROTECTED, smallest_property=3, seed=1)
    )
    return pd.read_parquet(outputs["statistics"])


@pytest.fixture(scope="module")
def synthetic(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small synthetic country with properties."""
    home = tmp_path_factory.mktemp("housing")
    draw(root, home, [root / "data/synthetic/national.yaml"], "synthetic", [])
    return home


def test_a_synthetic_country_is_drawn_and_published(root: Path, synthetic: Path, tmp_path: Path) -> None:
    households = pd.read_parquet(synthetic / "households.parquet")
    assert len(households) == 30_000, "the housing study has a country of its own size"
    manifest = json.loads((synthetic / "manifest.json").read_text())
    assert manifest == {"label": "synthetic microdata", "source": "synthetic", "blocks": 25}
    held = households.loc[households["BEDROOMS"] > 0, "block"].unique()
    assert len(held) == 25
    files = [synthetic / "households.parquet", synthetic / "manifest.json"]
    statistics = publish(root, tmp_path, files, [])
    assert statistics["block"].tolist() == sorted(chosen_blocks(pd.Series(held), 20)), "as many as the condition has"
    own = households[households["block"].isin(statistics["block"])]
    counted = census_statistics(own).merge(hud_statistics(own, read_yaml(root / "data/housing/published.yaml")), on="block")
    assert statistics.equals(counted)
    assert json.loads((tmp_path / "none/manifest.json").read_text()) == manifest | {"blocks": 20}


def test_the_simulation_stands_beside_the_paper(root: Path, synthetic: Path, tmp_path: Path) -> None:
    inputs = {name: synthetic / file for name, file in (("households", "households.parquet"), ("manifest", "manifest.json"))}
    data = root / "data/housing"
    inputs |= {"housing_domain": data / "domain.yaml", "simulation": data / "simulation.yaml"}
    params = {"blocks": 25, "smallest_property": 11, "alpha": 1e-4, "seed": 1}
    script("write_housing_simulation")(job(inputs, {"table": tmp_path / "table.csv"}, draws=3, **params))
    table = pd.read_csv(tmp_path / "table.csv").set_index("measure")
    assert (table["draws_mean"]["blocks"], table["draws_deviation"]["blocks"]) == (25, 0)
    assert table["draws_deviation"]["subsidized_percent"] > 0
    script("write_housing_simulation")(job(inputs, {"table": tmp_path / "alone.csv"}, draws=0, **params))
    alone = pd.read_csv(tmp_path / "alone.csv").set_index("measure")
    assert alone["ours"].equals(table["ours"])
    assert alone["draws_mean"].isna().all()
    assert table["ours"]["blocks"] == 25
    assert table["paper"]["blocks_with_violation_percent"] == 44.9
    assert 20 < table["ours"]["subsidized_percent"] < 75
    assert set(table["data"]) == {"synthetic microdata"}


def test_microdata_of_a_file_are_drawn_from_the_store(root: Path, census: DomainFile, tmp_path: Path) -> None:
    rng, codes = np.random.default_rng(1), {"TEN": 3, "HHT": 3, "HHT2": 6, "THHLDRAGE": 3, "TP18": 1}
    columns = {name: np.full(300, codes.get(name, 0), dtype=np.int8) for name in census.domain.names}
    columns |= {"HHSIZE": rng.integers(2, 8, 300).astype(np.int8), "THHRACE": rng.integers(1, 8, 300).astype(np.int8)}
    columns["THHSPAN"] = rng.integers(1, 3, 300).astype(np.int8)
    blocks = np.repeat([f"0{state}0010201001{number:03d}" for state in (6, 4) for number in (2, 1, 0)], 50)
    write_microdata([pa.table({"block": blocks, **columns})], tmp_path / "microdata", census.domain)
    (tmp_path / "microdata.json").write_text(json.dumps({"label": "PPMF file units.csv"}))
    (tmp_path / "pums.csv").write_text("SIZE,CHILDREN,RACE\n2,1,1\n10,9,1\n")
    source = [tmp_path / "microdata", tmp_path / "microdata.json"]
    found = draw(root, tmp_path, source, "ppmf", tmp_path / "pums.csv", blocks=4)
    assert json.loads((tmp_path / "manifest.json").read_text()) == {
        "label": "PPMF file units.csv",
        "source": "ppmf",
        "blocks": 4,
    }
    assert len(found) == 300
    assert found["block"].is_monotonic_increasing
    assert set(found.loc[found["SIZE"] > 6, "SIZE"]) == {10}, "as in the user's PUMS file"
    assert set(found.loc[found["SIZE"] == 10, "CHILDREN"]) == {9}


def test_a_users_files_are_published(root: Path, tmp_path: Path) -> None:
    data = root / "data/housing"
    columns = read_yaml(data / "picture.yaml")["columns"]
    row = {names[0]: 20 for names in columns.values()}
    row |= {"program_label": "Public Housing", "block": "010010201001000", "pct_bed1": 60}
    homeless = {**row, "block": ""}
    pd.DataFrame([row, homeless]).to_csv(tmp_path / "picture.csv", index=False)
    counts = {names[0]: 0 for names in read_yaml(data / "sf1.yaml")["columns"].values()}
    counts |= {"block": "010010201001000", "H0030002": 30, "P0010001": 30, "P0160001": 30, "H0130002": 30, "P0150003": 30}
    pd.DataFrame([counts]).to_csv(tmp_path / "sf1.csv", index=False)
    files = [tmp_path / "picture.csv", tmp_path / "sf1.csv", data / "picture.yaml", data / "sf1.yaml"]
    statistics = publish(root, tmp_path, [], files)
    assert statistics[["block", "N", "HUD_N", "HUD_BED_1"]].to_numpy().tolist() == [["010010201001000", 30, 20, 60]]
    manifest = json.loads((tmp_path / "none/manifest.json").read_text())
    assert manifest["label"] == "picture.csv and sf1.csv"
    assert manifest["source"] == "files of a user"
    assert manifest["left_out"]["property without a block id"] == 1


def test_noise_without_budgets_is_refused(root: Path, synthetic: Path, tmp_path: Path) -> None:
    files = [synthetic / "households.parquet", synthetic / "manifest.json"]
    inputs = {"households": files, "files": [], "budget": [], "published": root / "data/housing/published.yaml"}
    outputs = {"statistics": tmp_path / "statistics.parquet", "manifest": tmp_path / "manifest.json"}
    condition = {**UNPROTECTED, "noise": "das"}
    with pytest.raises(DataError, match=r"noise needs the file of budgets \(data/housing/budget\.yaml\)"):
        script("publish_housing")(
            job(inputs, outputs, {"condition": "dp"}, condition=condition, smallest_property=3, seed=1)
        )
