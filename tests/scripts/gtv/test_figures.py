"""Each script's main on plain namespaces: figures, tables and numbers of the toy, and of a census block or two."""

import gzip
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from genverify.model.domain import DomainFile
from genverify.model.settings import ReleaseSettings
from genverify.solve.program_settings import ProgramSettings
from script_jobs import SAMPLE, job, publish, sampled, script
from studies.country.store import write_microdata
from toy_study import BLOCKS, ppmf, toy_units


def test_fig2_gives_the_same_bytes_again(
    made: Path,
    tmp_path: Path,
) -> None:
    for name in ("one", "other"):
        script("plot_fig2")(
            job({"blocks": made / "blocks.parquet", "manifest": made / "microdata.json"},
                {"pdf": tmp_path / name / "fig2.pdf", "png": tmp_path / name / "fig2.png"})
        )  # fmt: skip
    for file in ("fig2.pdf", "fig2.png"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "other" / file).read_bytes()
    assert (tmp_path / "one" / "fig2.pdf").read_bytes().startswith(b"%PDF")
    assert b"CreationDate" not in (tmp_path / "one" / "fig2.pdf").read_bytes()


def test_table3_of_the_toy(
    made: Path,
    tmp_path: Path,
) -> None:
    (tmp_path / "microdata.json").write_text('{"label": "made by hand"}')
    inputs = {"schema": made / "release" / "schema.json", "manifest": tmp_path / "microdata.json"}
    script("write_table3")(job(inputs, {"table": tmp_path / "table3.csv", "readable": tmp_path / "table3.md"}))
    assert "Data: **made by hand**" in (tmp_path / "table3.md").read_text()
    table = pd.read_csv(tmp_path / "table3.csv", index_col="k")
    assert table.loc[["1", "2", "total"], "ours"].tolist() == [2, 2, 4]  # PET, AGE; PET x HOME, HOME x AGE


def test_baselines_of_the_toy(made: Path, tmp_path: Path, toy: Path, toy_settings: ReleaseSettings) -> None:
    """The claim that one of three owners has a fish, if owners were drawn from the nation, or each pet were as likely."""
    script("fit_baselines")(
        job({"claims": made / "claims.parquet", "blocks": made / "verified.parquet", "microdata": made / "microdata",
             "nation": made / "nation.parquet", "domain": toy / "domain.yaml"},
            {"baselines": tmp_path / "baselines.parquet", "unseen": tmp_path / "unseen.parquet"}, release=toy_settings)
    )  # fmt: skip
    claims, baselines = pd.read_parquet(made / "claims.parquet"), pd.read_parquet(tmp_path / "baselines.parquet")
    assert baselines[["block", "design", "k", "m"]].equals(claims[["block", "design", "k", "m"]])
    fish = (claims["block"] == BLOCKS["01"][0]) & (claims["k"] == 1) & (claims["PET"] == 3).fillna(False)
    assert fish.sum() == 1
    owners = toy_units().query("PET > 0")
    p = (owners["PET"] == 3).mean()
    assert baselines.loc[fish, "nation"].tolist() == pytest.approx([3 * p * (1 - p) ** 2])
    assert baselines.loc[fish, "uniform"].tolist() == pytest.approx([3 * (1 / 3) * (2 / 3) ** 2])


def test_households_and_answers_of_the_toy(made: Path, tmp_path: Path, toy: Path, toy_settings: ReleaseSettings) -> None:
    """In the block solved by hand, pairs of columns single out all three owners, three columns only the fish's."""
    counts = [made / "release" / f"{batch}.parquet" for batch in ("000", "001")]
    script("count_households")(
        job({"claims": made / "claims.parquet", "sample": made / "blocks.parquet", "microdata": made / "microdata",
             "domain": toy / "domain.yaml", "schema": made / "release" / "schema.json", "counts": counts},
            {"households": tmp_path / "households.parquet", "answers": tmp_path / "answers.parquet"},
            release=toy_settings, sample=SAMPLE)
    )  # fmt: skip
    households = pd.read_parquet(tmp_path / "households.parquet")
    own = households[(households["block"] == BLOCKS["01"][0]) & (households["grouping"] == "k")]
    by_k = own[own["claims"] == "singleton"].set_index("columns")["households"].to_dict()
    assert by_k == {1: 3, 2: 3, 3: 1}
    answers = pd.read_parquet(tmp_path / "answers.parquet").set_index("block").loc[BLOCKS["01"][0]]
    assert answers.to_dict() == {"queries": 16, "published": 16, "zeros": 6, "ones": 10}


def test_variability_of_the_toy(made: Path, tmp_path: Path, program_settings: ProgramSettings) -> None:
    """In the block solved by hand the two in houses can both be other records, the third cannot."""
    script("measure_variability")(
        job({"schema": made / "release" / "schema.json", "counts": made / "release" / "000.parquet",
             "datasets": made / "generated" / "000.parquet"},
            {"variability": tmp_path / "000.parquet"}, program=program_settings.model_dump())
    )  # fmt: skip
    own = pd.read_parquet(tmp_path / "000.parquet").set_index("block").loc[BLOCKS["01"][0]]
    assert (own["n_households"], own["solvar"], own["exact"]) == (3, 4, True)
    assert own["share"] == pytest.approx(2 / 3)


@pytest.fixture(scope="module")
def household_store(tmp_path_factory: pytest.TempPathFactory, census: DomainFile) -> Path:
    """A block of ten households, one of two, and a vacant unit, as microdata."""
    rng = np.random.default_rng(8)
    codes = census.universe("occupied").codes
    columns = {c.name: rng.choice(codes.get(c.name, (0, 1)), 13).astype(np.int8) for c in census.domain.columns}
    columns["VACS"][:] = 0
    for name, column in columns.items():
        column[12] = 3 if name == "VACS" else 0
    blocks = [BLOCKS["01"][0]] * 10 + [BLOCKS["56"][0]] * 3
    folder = tmp_path_factory.mktemp("households")
    table = pa.table({"block": blocks, **{name: pa.array(column) for name, column in columns.items()}})
    manifest = write_microdata([table], folder / "microdata", census.domain)
    (folder / "microdata.json").write_text(json.dumps({"label": "made by hand", **manifest}))
    return folder


def test_units_are_written_in_the_layout_of_the_file(
    household_store: Path, tmp_path: Path, census: DomainFile, root: Path
) -> None:
    """What write_ppmf writes, ingest_microdata reads back: the same store, byte for byte."""
    units = tmp_path / "units.csv.gz"
    script("write_ppmf")(job({"microdata": household_store / "microdata"}, {"units": units}))
    lines = gzip.decompress(units.read_bytes()).decode().splitlines()
    assert len(lines) == 14
    assert lines[0].startswith("SCHEMA_TYPE_CODE|")
    script("ingest_microdata")(
        job({"source": units, "domain": root / "data" / "census" / "domain.yaml"},
            {"microdata": tmp_path / "microdata", "manifest": tmp_path / "microdata.json"},
            microdata=ppmf(units), seed=1)
    )  # fmt: skip
    for state in ("01", "56"):
        again = (tmp_path / "microdata" / f"{state}.parquet").read_bytes()
        assert again == (household_store / "microdata" / f"{state}.parquet").read_bytes()


def test_calibration_and_table2_of_a_block_of_ten(
    household_store: Path, tmp_path: Path, root: Path, release_settings: ReleaseSettings
) -> None:
    census = root / "data" / "census"
    settings = release_settings.but(tables_file=str(census / "tables.yaml"))
    designs = {"a": {"size": "state_median", "blocks_per_state": 1}}
    sample = {"universe": "occupied", "designs": designs, "all_blocks": {}, "batches": 1, "blocks_per_batch": 9}
    inputs = {"microdata": household_store / "microdata", "domain": census / "domain.yaml"}
    blocks = sampled(tmp_path)
    script("sample_blocks")(job(inputs, blocks, sample=sample, seed=1))
    release = {"schema": tmp_path / "schema.json", "counts": tmp_path / "000.parquet"}
    publish({**inputs, "batches": blocks["batches"]}, release["schema"], release["counts"], settings)
    manifest = {"manifest": household_store / "microdata.json"}
    script("write_table2")(
        job(
            {"schema": release["schema"], "counts": tmp_path / "000.parquet", **manifest},
            {"table": tmp_path / "table2.csv", "readable": tmp_path / "table2.md"},
        )
    )
    table2 = pd.read_csv(tmp_path / "table2.csv", dtype={"block": str})
    assert len(table2) == 14
    assert set(table2["block"]) == {BLOCKS["01"][0]}
    assert set(table2["data"]) == {"made by hand"}
    assert f"block {BLOCKS['01'][0]}" in (tmp_path / "table2.md").read_text()
    assert table2.loc[~table2["id"].str.endswith("65-over"), "count"].sum() == 10
    national = root / "data" / "synthetic" / "national.yaml"
    script("write_calibration")(
        job({**inputs, **manifest, "sizes": blocks["sizes"], "national": national}, {"table": tmp_path / "calibration.csv"},
            release=settings)
    )  # fmt: skip
    table = pd.read_csv(tmp_path / "calibration.csv").set_index("figure")
    assert table.loc["households", "here"] == 12
    assert table.loc["inhabited blocks", "here"] == 2
    counts = pd.read_parquet(tmp_path / "000.parquet")
    own = counts[(counts["block"] == BLOCKS["01"][0]) & (counts["query"] != "N")]["count"]
    assert table.loc["% of answers that are 0, blocks of 10 (1)", "here"] == round(100 * (own == 0).mean(), 2)
    assert table.loc["% of answers that are 1, blocks of 10 (1)", "reference"] == 3.40
    assert set(table["data"]) == {"made by hand"}
