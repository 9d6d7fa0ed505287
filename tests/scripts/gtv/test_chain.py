"""Each script's main on plain namespaces: the toy from a file of units to verified claims, and a census block or two."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from genverify.checker.check import check_block
from genverify.checker.file import read_proofs
from genverify.core.domain import DomainFile, read_domain
from genverify.core.errors import DataError
from genverify.core.release import read_releases, read_schema
from genverify.core.settings import ReleaseSettings
from genverify.microdata.store import read_microdata, write_microdata
from genverify.solve.settings import ProgramSettings
from script_jobs import SAMPLE, job, script

BLOCKS = {
    "01": ["010010201001000", "010010201001001", "010010201001002"],
    "56": ["560019513003000", "560019513003001", "560019513003002"],
}


def toy_units() -> pd.DataFrame:
    """Two states with three blocks of 3, 3 and 5 records each; block 0 of state 01 is the one solved by hand."""
    rng = np.random.default_rng(4)
    rows = []
    for blocks in BLOCKS.values():
        for block, size in zip(blocks, (3, 3, 5), strict=True):
            records = rng.integers([1, 1, 1], [4, 3, 5], size=(size, 3)).tolist()
            rows += [(block, *record) for record in records]
    rows[:3] = [("010010201001000", 1, 1, 1), ("010010201001000", 2, 1, 3), ("010010201001000", 3, 2, 2)]
    rows.append(("010010201001000", 0, 1, 1))  # owns no pet: outside the universe
    return pd.DataFrame(rows, columns=["block", "PET", "HOME", "AGE"])


def write_units(frame: pd.DataFrame, path: Path) -> None:
    """The units as a file in the layout that the source `ppmf` reads, with a group quarters row at the end."""
    parts = {"TABBLKST": (0, 2), "TABBLKCOU": (2, 5), "TABTRACTCE": (5, 11), "TABBLK": (11, 15)}
    place = {name: frame["block"].str.slice(*ends) for name, ends in parts.items()}
    units = pd.DataFrame({"RTYPE": "2", **place, **{name: frame[name] for name in ("PET", "HOME", "AGE")}})
    quarters = units.iloc[[0]].assign(RTYPE="4", PET=0)
    pd.concat([units, quarters]).to_csv(path, index=False)


def ppmf(units: Path) -> dict[str, Any]:
    """Settings of microdata that are read from a file."""
    synthetic = {"country": "data/synthetic", "likeness": "prototype", "households": 1000, "homogeneity": 1.0}
    return {"source": "ppmf", "domain": "", "synthetic": synthetic, "ppmf": {"units": str(units), "persons": None}}


@pytest.fixture(scope="module")
def made(
    tmp_path_factory: pytest.TempPathFactory,
    toy: Path,
    toy_settings: ReleaseSettings,
    program_settings: ProgramSettings,
) -> Path:
    """The toy study, stage by stage, each through the main of its script."""
    home = tmp_path_factory.mktemp("toy")
    write_units(toy_units(), home / "units.csv")
    domain, results = toy / "domain.yaml", home / "results"
    microdata = ppmf(home / "units.csv")
    script("ingest_microdata")(
        job({"source": home / "units.csv", "domain": domain},
            {"microdata": results / "microdata", "manifest": results / "microdata.json"}, microdata=microdata, seed=1)
    )  # fmt: skip
    designs = {"state_median": {"size": "state_median", "blocks_per_state": 2}, "all": {"size": 5, "blocks_per_state": 1}}
    sample = {"universe": "owners", "designs": designs, "all_blocks": {}, "batches": 2, "blocks_per_batch": 9}
    script("sample_blocks")(
        job({"microdata": results / "microdata", "domain": domain},
            {"blocks": results / "blocks.parquet", "sizes": results / "sizes.parquet"}, sample=sample, seed=1)
    )  # fmt: skip
    counts = [results / "release" / f"{batch}.parquet" for batch in ("000", "001")]
    script("tabulate_release")(
        job({"microdata": results / "microdata", "blocks": results / "blocks.parquet", "domain": domain},
            {"schema": results / "release" / "schema.json", "counts": counts}, release=toy_settings, sample=sample)
    )  # fmt: skip
    attack(results, program_settings.model_dump())
    return results


def attack(results: Path, program: dict[str, Any]) -> None:
    """Generate, verify and collect."""
    for batch in ("000", "001"):
        release = {"schema": results / "release" / "schema.json", "counts": results / "release" / f"{batch}.parquet"}
        generated = results / "generated"
        script("generate_datasets")(
            job(release, {"datasets": generated / f"{batch}.parquet", "blocks": generated / f"{batch}.blocks.parquet"},
                program=program, generate={"datasets": 10, "method": "walk"}, seed=1)
        )  # fmt: skip
        script("verify_claims")(
            job({**release, "datasets": generated / f"{batch}.parquet"},
                {"claims": results / "claims" / f"{batch}.parquet", "blocks": results / "claims" / f"{batch}.blocks.parquet",
                 "proofs": results / "proofs" / f"{batch}.jsonl.gz"}, program=program, verify={"min_k": 1})
        )  # fmt: skip
    parts = {
        "claims": [results / "claims" / f"{batch}.parquet" for batch in ("000", "001")],
        "verified": [results / "claims" / f"{batch}.blocks.parquet" for batch in ("000", "001")],
        "generated": [results / "generated" / f"{batch}.blocks.parquet" for batch in ("000", "001")],
    }
    script("collect_claims")(
        job({"sample": results / "blocks.parquet", **parts},
            {"claims": results / "claims.parquet", "blocks": results / "verified.parquet"})
    )  # fmt: skip


def test_microdata_are_what_the_file_holds(made: Path) -> None:
    records = read_microdata(made / "microdata").to_pandas()
    assert records[["block", "PET", "HOME", "AGE"]].sort_values("block", kind="stable").to_numpy().tolist() == (
        toy_units().sort_values("block", kind="stable").to_numpy().tolist()
    )
    manifest = json.loads((made / "microdata.json").read_text())
    assert (manifest["label"], manifest["rows"], manifest["rejected"]) == ("PPMF file units.csv", 23, {"group quarters": 1})
    assert sorted(manifest["states"]) == ["01", "56"]


def test_blocks_of_both_designs_are_sampled(made: Path) -> None:
    blocks = pd.read_parquet(made / "blocks.parquet")
    drawn = {design: rows["block"].tolist() for design, rows in blocks.groupby("design")}
    assert drawn == {"all": [BLOCKS["01"][2], BLOCKS["56"][2]], "state_median": [*BLOCKS["01"][:2], *BLOCKS["56"][:2]]}
    sizes = pd.read_parquet(made / "sizes.parquet")
    assert sizes["n"].tolist() == [3, 3, 5, 3, 3, 5]  # the record outside the universe is not counted


def test_a_release_holds_the_counts_of_its_batch_and_nothing_else(made: Path) -> None:
    assert sorted(path.name for path in (made / "release").iterdir()) == ["000.parquet", "001.parquet", "schema.json"]
    schema = read_schema(made / "release" / "schema.json")
    frames = [pd.read_parquet(made / "release" / f"{batch}.parquet") for batch in ("000", "001")]
    assert [sorted(set(frame["block"])) for frame in frames] == [
        [BLOCKS["01"][0], BLOCKS["01"][2], BLOCKS["56"][0]], [BLOCKS["01"][1], BLOCKS["56"][1], BLOCKS["56"][2]],
    ]  # fmt: skip
    assert all(list(frame) == ["block", "query", "count"] for frame in frames)
    units = toy_units()
    for row in pd.concat(frames).itertuples():
        held = units[(units["block"] == row.block) & (units["PET"] > 0)]
        if row.query == "N":
            assert row.count == len(held)
        else:
            predicate = schema.queries[schema.position[row.query]].predicate
            assert row.count == predicate.matches(dict(held.items())).sum()


def test_withheld_counts_reach_no_file_of_the_release(tmp_path: Path, toy: Path, toy_settings: ReleaseSettings) -> None:
    """One owner changes from a dog to a fish: the counts that differ are at most 2 on both sides, so no byte differs."""
    frame = toy_units()
    one = frame[frame["block"] == BLOCKS["01"][0]]
    other = one.assign(PET=[1, 3, 3, 0])
    settings = toy_settings.but(tables=["T1"], withhold=[0, 1, 2])
    for name, records in (("one", one), ("other", other)):
        codes = {column: pa.array(records[column].to_numpy(np.int8)) for column in ("PET", "HOME", "AGE")}
        table = pa.table({"block": records["block"].tolist(), **codes})
        write_microdata([table], tmp_path / name / "microdata", read_domain(toy / "domain.yaml").domain)
        drawn = records[["block"]].drop_duplicates().assign(n_households=3)
        drawn.to_parquet(tmp_path / name / "blocks.parquet")
        script("tabulate_release")(
            job({"microdata": tmp_path / name / "microdata", "blocks": tmp_path / name / "blocks.parquet",
                 "domain": toy / "domain.yaml"},
                {"schema": tmp_path / name / "schema.json", "counts": [tmp_path / name / "000.parquet"]},
                release=settings, sample=SAMPLE)
        )  # fmt: skip
    for file in ("schema.json", "000.parquet"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "other" / file).read_bytes()
    assert pd.read_parquet(tmp_path / "one" / "000.parquet")["query"].tolist() == ["N"]


def test_generated_datasets_have_the_published_counts(made: Path) -> None:
    schema = read_schema(made / "release" / "schema.json")
    for batch in ("000", "001"):
        datasets = pd.read_parquet(made / "generated" / f"{batch}.parquet")
        for release in read_releases(made / "release" / f"{batch}.parquet", schema):
            for _, records in datasets[datasets["block"] == release.block].groupby("dataset"):
                assert len(records) == release.n
                counts = [query.predicate.matches(dict(records.items())).sum() for query in release.queries]
                assert counts == release.lo.tolist()
    hand = pd.read_parquet(made / "generated" / "000.blocks.parquet").set_index("block").loc[BLOCKS["01"][0]]
    assert (hand["datasets"], hand["complete"], hand["unique"]) == (4, True, False)


def test_the_claims_of_the_block_solved_by_hand(made: Path) -> None:
    claims = pd.read_parquet(made / "claims.parquet")
    assert list(claims) == ["block", "design", "k", "m", "PET", "HOME", "AGE", "effective_k", "proof"]
    own = claims[claims["block"] == BLOCKS["01"][0]]
    assert len(own) == 14
    assert own[own["k"] == 3][["m", "PET", "HOME", "AGE", "effective_k"]].to_numpy().tolist() == [[1, 3, 2, 2, 1]]
    assert set(own["design"]) == {"state_median"}


def test_every_claim_is_true_of_the_private_block(made: Path) -> None:
    units = toy_units()
    claims = pd.read_parquet(made / "claims.parquet")
    assert claims["block"].nunique() == 6
    for claim in claims.itertuples():
        held = units[(units["block"] == claim.block) & (units["PET"] > 0)]
        asked = {name: getattr(claim, name) for name in ("PET", "HOME", "AGE") if not pd.isna(getattr(claim, name))}
        assert len(asked) == claim.k
        assert (held[list(asked)] == pd.Series(asked)).all(axis=1).sum() == claim.m


def test_the_proofs_are_those_of_the_claims(made: Path) -> None:
    schema = read_schema(made / "release" / "schema.json")
    for batch in ("000", "001"):
        releases = {r.block: r for r in read_releases(made / "release" / f"{batch}.parquet", schema)}
        claims = pd.read_parquet(made / "claims" / f"{batch}.parquet")
        for found in read_proofs(made / "proofs" / f"{batch}.jsonl.gz"):
            own = claims[claims["block"] == found["block"]]
            assert check_block(releases[found["block"]], found).claims == len(own)
            assert [claim["proof"] for claim in found["claims"]] == own["proof"].tolist()


def test_one_row_per_block_and_design(made: Path) -> None:
    blocks = pd.read_parquet(made / "verified.parquet")
    assert len(blocks) == 6
    assert blocks[["design", "block"]].equals(
        blocks[["design", "block"]].sort_values(["design", "block"], ignore_index=True)
    )
    claims = pd.read_parquet(made / "claims.parquet")
    counted = claims.groupby(["design", "block"]).size().tolist()
    assert blocks[["verified_k1", "verified_k2", "verified_k3"]].sum(axis=1).tolist() == counted


def test_the_attack_gives_the_same_bytes_again(made: Path, tmp_path: Path, program_settings: ProgramSettings) -> None:
    (tmp_path / "release").mkdir()
    for path in [*(made / "release").iterdir(), made / "blocks.parquet"]:
        (tmp_path / path.relative_to(made)).write_bytes(path.read_bytes())
    attack(tmp_path, program_settings.model_dump())
    for path in sorted(p.relative_to(made) for p in made.rglob("*") if p.is_file()):
        if path.parts[0] in ("generated", "claims", "proofs", "claims.parquet", "verified.parquet"):
            assert (tmp_path / path).read_bytes() == (made / path).read_bytes(), path


def test_a_batch_may_be_empty(made: Path, tmp_path: Path, program_settings: ProgramSettings) -> None:
    (tmp_path / "release").mkdir()
    for path in [*(made / "release").iterdir(), made / "blocks.parquet"]:
        (tmp_path / path.relative_to(made)).write_bytes(path.read_bytes())
    whole = pd.read_parquet(made / "release" / "001.parquet")
    whole.iloc[:0].to_parquet(tmp_path / "release" / "001.parquet", index=False)
    attack(tmp_path, program_settings.model_dump())
    claims, first = pd.read_parquet(tmp_path / "claims.parquet"), pd.read_parquet(made / "claims" / "000.parquet")
    assert len(claims) == len(first) > 0


def test_a_dataset_that_does_not_fit_stops_the_verification(
    made: Path, tmp_path: Path, program_settings: ProgramSettings
) -> None:
    """One of the datasets was changed in its file: it would remove candidates without a word."""
    frame = pd.read_parquet(made / "generated" / "000.parquet")
    frame.loc[0, "HOME"] = 3 - frame.loc[0, "HOME"]
    frame.to_parquet(tmp_path / "000.parquet", index=False)
    release = {"schema": made / "release" / "schema.json", "counts": made / "release" / "000.parquet"}
    outputs = {name: tmp_path / name for name in ("claims", "blocks", "proofs")}
    with pytest.raises(DataError, match=r"000\.parquet: block \d+, dataset 0 does not fit the release: .*published"):
        script("verify_claims")(
            job({**release, "datasets": tmp_path / "000.parquet"}, outputs, program=program_settings.model_dump(),
                verify={"min_k": 1})
        )  # fmt: skip
    assert not (tmp_path / "claims").exists()


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
             "domain": toy / "domain.yaml"},
            {"baselines": tmp_path / "baselines.parquet", "unseen": tmp_path / "unseen.csv"}, release=toy_settings)
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


def test_a_missing_design_stops_the_sampling(made: Path, tmp_path: Path, toy: Path) -> None:
    designs = {"nine": {"size": 9, "blocks_per_state": 1}}
    sample = {"universe": "owners", "designs": designs, "all_blocks": {}, "batches": 2, "blocks_per_batch": 9}
    wrong = job(
        {"microdata": made / "microdata", "domain": toy / "domain.yaml"},
        {"blocks": tmp_path / "b.parquet", "sizes": tmp_path / "s.parquet"}, sample=sample, seed=1,
    )  # fmt: skip
    with pytest.raises(DataError, match="state 01, design nine: 1 blocks of 9 households wanted, 0 exist"):
        script("sample_blocks")(wrong)
    assert not (tmp_path / "b.parquet").exists()


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
    blocks = {"blocks": tmp_path / "blocks.parquet", "sizes": tmp_path / "sizes.parquet"}
    script("sample_blocks")(job(inputs, blocks, sample=sample, seed=1))
    release = {"schema": tmp_path / "schema.json", "counts": [tmp_path / "000.parquet"]}
    script("tabulate_release")(job({**inputs, "blocks": blocks["blocks"]}, release, release=settings, sample=sample))
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
