"""The stages of RAP-RANK, each through the main of its script, on a toy of one tract with three blocks."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import yaml

from genverify.model.domain import read_domain
from genverify.model.errors import DataError
from genverify.model.settings import ReleaseSettings
from genverify.solve.program_settings import ProgramSettings
from script_jobs import in_one_batch, job, publish, script
from studies.country.store import write_microdata
from studies.raprank.tables import order_table

BLOCKS = ["010010201001000", "010010201001001", "010010201001002"]
TRACT = "01001020100"
RAP = {
    "learning_rate": 0.3, "steps": 40, "share": 0.5, "check_every": 10, "tolerance": 0.001, "patience": 10,
    "gain": 0.0, "spread": 1.0, "certainty": 0.99, "memory": 1000, "rows": None, "draws": None,
}  # fmt: skip


def toy_units() -> pd.DataFrame:
    """Three blocks of 6, 6 and 1 owners of a pet; the last one cannot be halved."""
    rng = np.random.default_rng(4)
    rows = [(block, *rng.integers([1, 1, 1], [4, 3, 5])) for block in [BLOCKS[0]] * 6 + [BLOCKS[1]] * 6 + [BLOCKS[2]]]
    return pd.DataFrame(rows, columns=["block", "PET", "HOME", "AGE"])


def experiment(toy_settings: ReleaseSettings, **changes: Any) -> dict[str, Any]:
    settings = {
        "name": "toy", "data": "toy", "areas": "sample", "states": None, "tracts": 1, "limit": None, "tables": "all",
        "block_tables": None, "fivefold": 0.0, "blocks": "known",
        "marginals": None, "starts": ["random", "holdout"], "runs": 3, "rap": RAP,
        "keeps": "owners", "release": toy_settings.model_dump(),
    }  # fmt: skip
    return settings | changes


def reconstruct(home: Path, store: Path, domain: Path, settings: dict[str, Any]) -> Path:
    """An experiment from its areas to its match curves."""
    home.mkdir()
    data = {"microdata": store, "domain": domain}
    sample = home / "sample.parquet"
    pd.DataFrame({"block": BLOCKS}).to_parquet(sample)
    areas, seen = home / "areas.parquet", home / "seen"
    halves = {"private": home / "private.parquet", "holdout": home / "holdout.parquet"}
    script("draw_areas")(job({**data, "sample": [sample]}, {"areas": areas}, experiment=settings, seed=1))
    script("split_areas")(
        job({**data, "areas": areas}, {**halves, "schema": seen / "schema.json", "counts": [seen / "000.parquet"]},
            experiment=settings, seed=1)
    )  # fmt: skip
    for start in settings["starts"]:
        begin = [halves["holdout"]] if start == "holdout" else []
        script("rank_areas")(
            job({"schema": seen / "schema.json", "counts": seen / "000.parquet", "start": begin},
                {"ranked": home / start / "000.parquet", "runs": home / start / "000.runs.parquet"},
                experiment=settings, seed=1)
        )  # fmt: skip
    ranked = [home / start / "000.parquet" for start in settings["starts"]]
    script("match_areas")(
        job({**data, **halves, "areas": areas, "schema": seen / "schema.json", "ranked": ranked},
            {"curves": home / "curves.parquet"}, experiment=settings, grid=4, seed=1)
    )  # fmt: skip
    return home


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory, toy: Path) -> Path:
    home, units = tmp_path_factory.mktemp("store"), toy_units()
    codes = {name: pa.array(units[name].to_numpy(dtype=np.int8)) for name in ("PET", "HOME", "AGE")}
    write_microdata([pa.table({"block": units["block"], **codes})], home / "toy", read_domain(toy / "domain.yaml").domain)
    (home / "toy.json").write_text(json.dumps({"label": "synthetic toy"}))
    return home / "toy"


@pytest.fixture(scope="module")
def blocks(tmp_path_factory: pytest.TempPathFactory, store: Path, toy: Path, toy_settings: ReleaseSettings) -> Path:
    home = tmp_path_factory.mktemp("raprank") / "toy"
    return reconstruct(home, store, toy / "domain.yaml", experiment(toy_settings))


def test_what_the_attack_sees_are_counts_of_the_private_half(blocks: Path) -> None:
    seen = pd.read_parquet(blocks / "seen" / "000.parquet")
    private = pd.read_parquet(blocks / "private.parquet")
    assert set(seen["block"]) == set(BLOCKS[:2])  # a block of one record has no halves
    assert seen[seen["query"] == "N"]["count"].tolist() == [3, 3]
    for block, rows in private.groupby("area"):
        cats = seen[(seen["block"] == block) & (seen["query"] == "T1.cat")]["count"]
        assert cats.tolist() == [(rows["PET"] == 1).sum()]
    assert sorted(path.name for path in (blocks / "seen").iterdir()) == ["000.parquet", "schema.json"]


def test_ranked_rows_and_their_runs(blocks: Path) -> None:
    ranked = pd.read_parquet(blocks / "random" / "000.parquet")
    assert ranked.groupby("area")["frequency"].sum().to_dict() == dict.fromkeys(BLOCKS[:2], 9)  # 3 runs of 3 rows
    assert ranked["runs"].between(1, 3).all()
    assert (ranked.groupby("area")["frequency"].diff().dropna() <= 0).all()
    runs = pd.read_parquet(blocks / "random" / "000.runs.parquet")
    assert runs[["rows", "runs"]].to_numpy().tolist() == [[3, 3], [3, 3]]


def test_curves_of_every_source(blocks: Path) -> None:
    curves = pd.read_parquet(blocks / "curves.parquet")
    sources = ["tract", "county", "state", "national", "holdout", "RAP-RANK random", "RAP-RANK holdout"]
    assert curves["source"].unique().tolist() == sources
    assert len(curves) == 2 * len(sources) * 4
    assert curves["match_rate"].between(0, 1).all()


@pytest.fixture(scope="module")
def tract(tmp_path_factory: pytest.TempPathFactory, store: Path, toy: Path, toy_settings: ReleaseSettings) -> Path:
    settings = experiment(toy_settings, areas="tract", tables=["T2"], block_tables=["T1*"])
    return reconstruct(tmp_path_factory.mktemp("raprank") / "tract", store, toy / "domain.yaml", settings)


def test_a_tract_with_its_blocks(tract: Path) -> None:
    seen = pd.read_parquet(tract / "seen" / "000.parquet")
    assert seen["block"].unique().tolist() == [TRACT, *BLOCKS]
    assert set(seen[seen["block"] == TRACT]["query"].str[:2]) == {"N", "T2"}
    assert set(seen[seen["block"] == BLOCKS[2]]["query"].str[:2]) == {"N", "T1"}
    ranked = pd.read_parquet(tract / "holdout" / "000.parquet")
    assert set(ranked["BLOCK"]) <= {0, 1, 2}
    curves = pd.read_parquet(tract / "curves.parquet")
    assert set(curves["source"]) == {"county", "state", "national", "holdout", "RAP-RANK random", "RAP-RANK holdout"}


def test_convergence_of_a_tract(tract: Path, store: Path, tmp_path: Path, toy_settings: ReleaseSettings) -> None:
    halves = {name: tract / f"{name}.parquet" for name in ("private", "holdout")}
    seen = {"schema": tract / "seen" / "schema.json", "counts": [tract / "seen" / "000.parquet"]}
    files = {kind: tmp_path / f"figure.{kind}" for kind in ("pdf", "png", "csv")}
    script("plot_convergence")(
        job({**halves, **seen, "manifest": f"{store}.json"}, files, experiment=experiment(toy_settings),
            convergence={"runs": 2, "steps": [5, 60]}, seed=1)
    )  # fmt: skip
    points = pd.read_csv(files["csv"])
    assert points["source"].tolist() == [
        *["RAP-RANK random"] * 2,
        *["RAP-RANK holdout"] * 2,
        *["RAP-RANK random"] * 2,
        "holdout",
    ]
    known = points[points["source"] == "RAP-RANK random"].groupby("blocks_are")["relaxed_error"]
    assert (known.last() < known.first()).all()
    assert points["of_blocks"].unique().tolist() == [3]
    assert all(path.stat().st_size for path in files.values())


def test_person_records_become_a_store(tmp_path: Path, root: Path) -> None:
    races = ["white", "black", "aian", "asian", "nhpi", "other"]
    rows = [(BLOCKS[0], 1, 30, 1, 0, 0, 0, 0, 0, 0), (BLOCKS[1], 2, 4, 0, 1, 1, 0, 0, 0, 1)]
    pd.DataFrame(rows, columns=["block", "sex", "age", *races, "hispanic"]).to_csv(tmp_path / "mine.csv", index=False)
    made = {"microdata": tmp_path / "records", "manifest": tmp_path / "records.json"}
    script("ingest_records")(job({"records": tmp_path / "mine.csv", "domain": root / "data/census/persons.yaml"}, made))
    manifest = json.loads(made["manifest"].read_text())
    assert (manifest["rows"], manifest["label"]) == (2, "person records of mine.csv, aggregates only")
    assert pd.read_parquet(made["microdata"] / "01.parquet")["QAGE"].tolist() == [30, 4]


def test_a_start_that_lacks_rows_is_refused(blocks: Path, tmp_path: Path, toy_settings: ReleaseSettings) -> None:
    pd.read_parquet(blocks / "holdout.parquet").iloc[:2].to_parquet(tmp_path / "short.parquet")
    files = {"schema": blocks / "seen" / "schema.json", "counts": blocks / "seen" / "000.parquet"}
    with pytest.raises(DataError, match=r"a start at a baseline of 2 rows, but 3 are to be reconstructed"):
        script("rank_areas")(
            job({**files, "start": [tmp_path / "short.parquet"]}, {"ranked": tmp_path / "a", "runs": tmp_path / "b"},
                experiment=experiment(toy_settings), seed=1)
        )  # fmt: skip


@pytest.mark.parametrize("name", ["plot_curves", "plot_curves_states"])
def test_figures_are_the_same_bytes_twice(blocks: Path, store: Path, tmp_path: Path, root: Path, name: str) -> None:
    panels = [{"label": "blocks", "start": start, "limit": 9, "ways": [None]} for start in ("random", "holdout")]
    made = []
    for turn in ("first", "second"):
        files = {kind: tmp_path / turn / f"figure.{kind}" for kind in ("pdf", "png", "csv")}
        curves = [blocks / "curves.parquet"] * 2
        inputs = {"curves": curves, "manifests": [f"{store}.json"], "states": root / "data" / "synthetic" / "states.yaml"}
        script(name)(job(inputs, files, panels=panels, seed=1))
        made.append({kind: path.read_bytes() for kind, path in files.items()})
    assert made[0] == made[1]
    table = pd.read_csv(tmp_path / "first" / "figure.csv")
    assert set(table["panel"]) == {"blocks, random start", "blocks, started at the holdout"}
    assert set(table[table["panel"].str.contains("started")]["source"]) == {"RAP-RANK holdout", "holdout"}


def test_table_of_match_rates(
    blocks: Path,
    store: Path,
    tmp_path: Path,
) -> None:
    orders = [{"where": "here", "better": "toy/RAP-RANK random", "worse": "toy/national"},
              {"where": "there", "better": "none/holdout", "worse": "toy/national"}]  # fmt: skip
    (tmp_path / "paper.yaml").write_text(yaml.safe_dump({"orders": orders}))
    outputs = {"rates": tmp_path / "rates.csv", "orders": tmp_path / "orders.csv", "readable": tmp_path / "raprank.md"}
    inputs = {"curves": [blocks / "curves.parquet"], "areas": [blocks / "areas.parquet"], "manifests": [f"{store}.json"]}
    script("write_raprank")(job({**inputs, "paper": tmp_path / "paper.yaml"}, outputs, seed=1))
    rates = pd.read_csv(outputs["rates"]).set_index("source")
    curves = pd.read_parquet(blocks / "curves.parquet")
    expected = curves.groupby("source")["match_rate"].mean()
    assert rates["mean"].to_dict() == pytest.approx(expected.to_dict(), abs=1e-4)
    assert set(rates["left_out"]) == {1}
    assert set(rates["data"]) == {"synthetic toy"}
    table = pd.read_csv(outputs["orders"])
    assert table["difference"][0] == pytest.approx(expected["RAP-RANK random"] - expected["national"], abs=1e-3)
    assert table["seen"][1] == "not run"
    one = curves[curves["area"] == BLOCKS[0]]
    assert order_table({"toy": one}, orders, "toy", 1)["seen"][0] == "one area"  # whose interval would be a point
    assert "Data: **synthetic toy**" in outputs["readable"].read_text()


def test_whole_blocks_certain_and_confident(
    tmp_path: Path, store: Path, toy: Path, toy_settings: ReleaseSettings, program_settings: ProgramSettings
) -> None:
    """From the release of whole blocks to the figure; the release of the third block, one record, is reconstructed too."""
    domain, sample = toy / "domain.yaml", tmp_path / "sample.parquet"
    frame = pd.DataFrame({"block": BLOCKS, "design": "all", "n_households": [6, 6, 1], "state": "01"})
    frame.to_parquet(sample)
    release = {"schema": tmp_path / "release" / "schema.json", "counts": tmp_path / "release" / "000.parquet"}
    given = {"microdata": store, "batches": in_one_batch(sample), "domain": domain}
    publish(given, release["schema"], release["counts"], toy_settings)
    ranked = tmp_path / "raprank" / "000.parquet"
    script("rank_release")(
        job(
            release,
            {"ranked": ranked, "runs": tmp_path / "raprank" / "000.runs.parquet"},
            raprank={"runs": 3},
            rap=RAP,
            seed=1,
        )
    )
    assert pd.read_parquet(ranked).groupby("block")["frequency"].sum().to_dict() == dict(
        zip(BLOCKS, (18, 18, 3), strict=True)
    )
    program, out = program_settings.model_dump(), tmp_path / "claims"
    datasets, blocks = tmp_path / "generated" / "000.parquet", tmp_path / "generated" / "000.blocks.parquet"
    script("generate_datasets")(
        job(
            release,
            {"datasets": datasets, "blocks": blocks},
            program=program,
            generate={"datasets": 10, "method": "walk"},
            seed=1,
        )
    )
    script("verify_claims")(
        job({**release, "datasets": datasets},
            {"claims": out / "000.parquet", "blocks": out / "b.parquet", "proofs": out / "p.jsonl.gz"},
            program=program, verify={"min_k": 1})
    )  # fmt: skip
    claims = pd.read_parquet(out / "000.parquet").assign(design="all")
    claims.to_parquet(tmp_path / "claims.parquet")
    files = {kind: tmp_path / f"certainty.{kind}" for kind in ("pdf", "png", "csv")}
    script("plot_certainty")(
        job({"microdata": store, "domain": domain, "schema": release["schema"], "ranked": [ranked], "datasets": [datasets],
             "claims": tmp_path / "claims.parquet", "manifest": f"{store}.json"},
            files, release=toy_settings, runs=3, grid=4, seed=1)
    )  # fmt: skip
    numbers = pd.read_csv(files["csv"])
    assert set(numbers["part"]) == {"match rate", "reliability", "coverage"}
    assert numbers[numbers["part"] == "coverage"]["n"].max() == 13
    proved = numbers[(numbers["part"] == "match rate") & (numbers["source"] == "proved")]["value"]
    assert proved.iloc[0] > 0  # the only record of the third block is proved


def test_a_survey_as_a_store(
    tmp_path: Path,
) -> None:
    pd.DataFrame({"ST": [6, 48], "AGE": [3, 9]}).to_csv(tmp_path / "survey.csv", index=False)
    tasks = {"state": "ST", "bins": 10, "tasks": {"ages": {"columns": ["AGE"]}}}
    (tmp_path / "tasks.yaml").write_text(yaml.safe_dump(tasks))
    outputs = {"microdata": tmp_path / "ages", "domain": tmp_path / "ages.domain.yaml", "manifest": tmp_path / "ages.json"}
    script("ingest_survey")(
        job(
            {"files": [tmp_path / "survey.csv"], "tasks": tmp_path / "tasks.yaml"},
            outputs,
            {"task": "ages"},
            about="survey files survey.csv",
        )
    )
    assert read_domain(outputs["domain"]).domain["AGE"].meanings == ("3", "9")
    assert json.loads(outputs["manifest"].read_text())["label"] == "survey files survey.csv, task ages"
    assert sorted(path.name for path in (tmp_path / "ages").glob("*.parquet")) == ["06.parquet", "48.parquet"]


def test_the_figure_of_the_dose_has_every_share(blocks: Path, store: Path, tmp_path: Path) -> None:
    files = {kind: tmp_path / f"dose.{kind}" for kind in ("pdf", "png", "csv")}
    inputs = {"curves": [blocks / "curves.parquet"] * 2, "manifests": [f"{store}.json"]}
    script("plot_fivefold")(job(inputs, files, shares=[0.25, 0.0], seed=1))
    table = pd.read_csv(files["csv"])
    assert table["share"].unique().tolist() == [0.0, 0.25]
    assert (table["low"] <= table["match_rate"]).all()
    assert (table["match_rate"] <= table["high"]).all()
    assert files["pdf"].stat().st_size > 0


def test_synthetic_persons_become_the_tasks_of_table_1(tmp_path: Path, root: Path) -> None:
    model = root / "data" / "acs" / "persons"
    persons, tasks = tmp_path / "persons.csv", root / "data" / "acs" / "tasks.yaml"
    inputs = {"model": [model / "model.yaml", model / "counts.csv"]}
    script("draw_survey")(job(inputs, {"persons": persons}, states={"06": 700, "48": 300}, seed=1))
    assert pd.read_csv(persons)["ST"].value_counts().to_dict() == {6: 700, 48: 300}
    domains = []
    for task in yaml.safe_load(tasks.read_text())["tasks"]:
        domains.append(tmp_path / f"{task}.domain.yaml")
        outputs = {"microdata": tmp_path / task, "domain": domains[-1], "manifest": tmp_path / f"{task}.json"}
        script("ingest_survey")(job({"files": [persons], "tasks": tasks}, outputs, {"task": task}, about="synthetic"))
    outputs = {"table": tmp_path / "tasks.csv", "readable": tmp_path / "tasks.md"}
    inputs = {"domains": domains, "paper": root / "data" / "papers" / "rap_rank.yaml"}
    script("write_survey_tasks")(job(inputs, outputs, about="synthetic"))
    table = pd.read_csv(outputs["table"])
    assert table.iloc[:, 0].astype(str).str.contains("employment").any()
    assert set(table["data"]) == {"synthetic"}
    for domain in domains:  # all pairs of codes of two columns, counted by hand
        sizes = [len(column.codes) for column in read_domain(domain).domain.columns]
        pairs = sum(a * b for i, a in enumerate(sizes) for b in sizes[i + 1 :])
        assert (table == pairs).to_numpy().any(), domain.name
