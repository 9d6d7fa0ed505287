"""Evaluation, tables and figures of the housing study, each through the main of its script, on a made-up study."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from genverify.model.errors import DataError
from housing_study import ROOT, SETTINGS, WORLDS, write_study
from script_jobs import job, script

RECONSTRUCTED = [name for name in WORLDS if SETTINGS["conditions"][name]["top"]]
OPEN = {"swap": 0.0, "swap_hud": False, "noise": "none", "noise_hud": False, "blocks": 1000}


def batches(home: Path, condition: str, folder: str, suffix: str = "") -> list[Path]:
    return [home / condition / folder / f"{batch:03d}{suffix}.parquet" for batch in range(2)]


def data(home: Path) -> dict[str, Any]:
    domain = ROOT / "data" / "housing" / "domain.yaml"
    return {"households": home / "households.parquet", "manifest": home / "manifest.json", "domain": domain}


def judge(home: Path, condition: str, protection: dict[str, Any]) -> None:
    own = home / condition
    inputs = {**data(home), "manifest": own / "manifest.json", "blocks": own / "blocks.parquet"}
    outputs = {"judged": own / "judged.parquet"}
    script("judge_housing")(job(inputs, outputs, {"condition": condition}, protection=protection))


def evaluate(home: Path, condition: str) -> None:
    own = home / condition
    inputs = {
        **data(home), "judged": own / "judged.parquet",
        "reconstructions": batches(home, condition, "reconstructions"),
        "found": batches(home, condition, "reconstructions", ".blocks"),
    }  # fmt: skip
    files = {"curves": "reidentified", "totals": "totals", "evaluation": "evaluation"}
    outputs = {name: own / f"{file}.parquet" for name, file in files.items()}
    params = {
        "match_keys": SETTINGS["match_keys"],
        "seed": 1,
        "blocks": {"blocks": SETTINGS["conditions"][condition]["blocks"]},
    }
    script("evaluate_housing")(job(inputs, outputs, {"condition": condition}, **params))


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = write_study(tmp_path_factory.mktemp("housing"), blocks=30, top=4)
    for condition in WORLDS:
        judge(home, condition, SETTINGS["conditions"][condition])
    for condition in RECONSTRUCTED:
        evaluate(home, condition)
    params = {
        "match_keys": SETTINGS["match_keys"],
        "share": SETTINGS["baseline_sample"],
        "seed": 1,
        "conditions": SETTINGS["conditions"],
    }
    script("evaluate_sampling")(job(data(home), {"curves": home / "sampling.parquet"}, **params))
    return home


def of_conditions(home: Path) -> dict[str, list[Path]]:
    files = {"curves": "reidentified", "totals": "totals"}
    found = {name: [home / condition / f"{file}.parquet" for condition in RECONSTRUCTED] for name, file in files.items()}
    judged = {name: "evaluation" if name in RECONSTRUCTED else "judged" for name in WORLDS}
    return {**found, "judged": [home / name / f"{file}.parquet" for name, file in judged.items()]}


def test_curves_and_blocks_of_every_condition(study: Path) -> None:
    for condition in RECONSTRUCTED:
        curves = pd.read_parquet(study / condition / "reidentified.parquet")
        judged = pd.read_parquet(study / condition / "evaluation.parquet")
        assert len(judged) == 30
        assert curves["source"].unique().tolist() == [condition]
        for _, rows in curves.groupby(["key", "scope"]):
            assert (rows[["putative", "true"]].diff().dropna() >= 0).all(axis=None)
            assert (rows["true"] <= rows["putative"]).all()
            assert (rows["frequency"].diff().dropna() <= 0).all()
    sampling = pd.read_parquet(study / "sampling.parquet")
    assert sampling["key"].unique().tolist() == list(SETTINGS["match_keys"])


def test_the_same_inputs_give_the_same_bytes(study: Path) -> None:
    path = study / "dp" / "reidentified.parquet"
    before = path.read_bytes()
    evaluate(study, "dp")
    assert path.read_bytes() == before


def test_a_false_flag_without_protection_stops_the_job(study: Path) -> None:
    judged = pd.read_parquet(study / "dp" / "evaluation.parquet")
    wrong = judged.loc[judged["flagged"] & (judged["violations"] == 0), "block"].iloc[0]
    with pytest.raises(DataError, match=f"condition dp: .*block {wrong}"):
        judge(study, "dp", OPEN)


def test_a_figure_without_its_match_key(study: Path, tmp_path: Path) -> None:
    curves = pd.read_parquet(study / "sampling.parquet")
    curves[curves["key"] != "hud"].to_parquet(tmp_path / "curves.parquet")
    inputs = {**data(study), "curves": [tmp_path / "curves.parquet"], "totals": study / "none" / "totals.parquet"}
    outputs = {kind: tmp_path / f"fig3.{kind}" for kind in ("pdf", "png", "csv")}
    with pytest.raises(DataError, match="no curve of the match key 'hud': name it under housing"):
        script("plot_housing_curves")(job(inputs, outputs, {"curve": "fig3"}))


def test_files_of_a_user_are_not_evaluated(study: Path, tmp_path: Path) -> None:
    home = shutil.copytree(study, tmp_path / "housing")
    (home / "none" / "manifest.json").write_text('{"label": "picture.csv and sf1.csv", "source": "files of a user"}')
    with pytest.raises(DataError, match=r"condition none publishes the files .* so nothing can be evaluated"):
        judge(home, "none", OPEN)


def test_tables(study: Path, tmp_path: Path) -> None:
    paper = ROOT / "data" / "papers" / "subsidized_housing.yaml"
    inputs = {**data(study), **of_conditions(study), "paper": paper, "sampling": study / "sampling.parquet"}
    inputs["computed"] = ROOT / "data" / "housing" / "numbers.yaml"
    inputs["variability"] = batches(study, "none", "variability")
    tables = {}
    settings = {
        "housing_conditions": {"conditions": SETTINGS["conditions"]},
        "housing_numbers": {"simple": SETTINGS["simple"]},
    }
    for name in ("housing_table1", "housing_conditions", "housing_numbers"):
        outputs = {"table": tmp_path / f"{name}.csv", "readable": tmp_path / f"{name}.md"}
        script(f"write_{name}")(job(inputs, outputs, **settings.get(name, {})))
        tables[name] = pd.read_csv(outputs["table"])
        assert tables[name]["data"].str.contains("synthetic").all()
        assert "synthetic" in outputs["readable"].read_text()
    first = tables["housing_table1"].set_index("measure")
    assert first.loc["block_precision", "none"] == 1
    assert first.loc["putative_blocks", "paper_dp"] == 6703
    assert tables["housing_conditions"]["condition"].tolist() == list(SETTINGS["conditions"])
    numbers = tables["housing_numbers"]
    assert np.allclose(numbers["difference"].dropna(), (numbers["ours"] - numbers["paper"]).dropna(), atol=1e-4)


FIGURES = dict.fromkeys(("fig3", "a4", "a5", "a6"), ("plot_housing_curves", "curve"))
FIGURES |= dict.fromkeys(("fig2", "a2"), ("plot_housing_variability", "spread"))


@pytest.mark.parametrize("name", ["fig1", "fig2", "fig3", "a1", "a2", "a3", "a4", "a5", "a6", "g7"])
def test_figures(study: Path, tmp_path: Path, name: str) -> None:
    shown = [study / condition / "reidentified.parquet" for condition in RECONSTRUCTED]
    inputs = {
        **data(study), "variability": batches(study, "none", "variability"),
        "judged": study / "swapping" / "evaluation.parquet",
        "curves": [*shown, study / "sampling.parquet"], "totals": study / "none" / "totals.parquet",
    }  # fmt: skip
    outputs = {kind: tmp_path / f"{name}.{kind}" for kind in ("pdf", "png", "csv")}
    rule, wildcard = FIGURES.get(name, (f"plot_housing_{name}", "figure"))
    if name == "fig1":
        inputs["curves"] = study / "swapping" / "reidentified.parquet"
        inputs["drawing"] = ROOT / "data" / "housing" / "drawing.yaml"
    script(rule)(job(inputs, outputs, {wildcard: name}, match_keys=SETTINGS["match_keys"]))
    assert len(pd.read_csv(outputs["csv"])) > 1
    assert outputs["pdf"].read_bytes().startswith(b"%PDF")
    assert outputs["png"].stat().st_size > 5000
