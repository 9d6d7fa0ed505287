"""The scripts of the study of whole tracts, from person records to the page, on two made-up tracts."""

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from genverify.checker.certificate import CertificateError, read_proofs, write_proofs
from genverify.model.errors import DataError
from genverify.model.release import read_releases, read_schema
from genverify.solve.program_settings import ProgramSettings
from script_jobs import job, script
from studies.gtv.settings import TractTables
from studies.gtv.tracts import _choose_tracts, batch_of_tracts, explain_in_tract

DATA = Path(__file__).parents[3] / "data" / "census"
TABLES = [DATA / "person_tables.yaml", DATA / "reconstruction_tables.yaml"]
READINGS = {"years": None, "bins": "binned"}
PROOFS = "proofs/000.jsonl.gz"
PUBLISHED = TractTables(
    domain=str(DATA / "persons.yaml"),
    universe="everything",
    tables_files=[str(path) for path in TABLES],
    block_tables=["P1", "P12", "P14"],
    tract_tables=["PCT12", "PCT12A", "PCT12H"],
    readings=READINGS,
    min_k=1,
    largest_block=100,
    datasets=5,
)
RACES = ["white", "black", "aian", "asian", "nhpi", "other"]
FILES = {
    "blocks": "blocks.json",
    "tracts": "tracts.json",
    "block_counts": "blocks.parquet",
    "tract_counts": "tracts.parquet",
}


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two tracts of three blocks with four persons each; one block of young people, whose ages no other block shares."""
    rng = np.random.default_rng(3)
    ages = np.concatenate([rng.integers(30, 40, 8), rng.integers(3, 9, 4)] * 2)
    frame = pd.DataFrame(0, index=range(24), columns=[*RACES, "hispanic"])
    frame["white"] = 1
    frame.insert(0, "block", np.repeat([f"0100102010{tract}100{block}" for tract in (1, 2) for block in (0, 1, 2)], 4))
    frame["sex"], frame["age"] = rng.integers(1, 3, 24), ages
    path = tmp_path_factory.mktemp("tracts") / "persons.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def study(records: Path, program_settings: ProgramSettings) -> Path:
    """Every stage through the main of its script."""
    home = records.parent
    for reading in READINGS:
        here = home / "records" / reading
        files = {name: here / file for name, file in FILES.items()}
        inputs = {"source": records, "domain": DATA / "persons.yaml", "tables": TABLES}
        outputs = {**files, "records": here / "records.parquet", "manifest": here / "manifest.json"}
        wildcards = {"source": "records", "reading": reading}
        script("publish_tracts")(job(inputs, outputs, wildcards, persons=PUBLISHED, seed=1))
        parts = {name: here / f"{name}.parquet" for name in ("claims", "areas", "whole")} | {"proofs": here / PROOFS}
        how = {"persons": PUBLISHED, "batches": 1, "program": program_settings, "seed": 1}
        script("attack_tracts")(job(files, parts, {**wildcards, "batch": "000"}, **how))
        check(here)
        lists = {name: [parts[name]] for name in ("claims", "areas", "whole")}
        outputs = {name: here / f"{name}.csv" for name in ("judged", "whole", "missing")}
        inputs = {**lists, "records": here / "records.parquet", "blocks": here / "blocks.json"}
        script("judge_tracts")(job(inputs, outputs))
    folders = [home / "records" / reading for reading in READINGS]
    inputs = {name: [here / f"{name}.csv" for here in folders] for name in ("judged", "whole", "missing")}
    inputs |= {"manifests": [here / "manifest.json" for here in folders]}
    inputs |= {"domain": DATA / "persons.yaml", "tables": TABLES}
    outputs = {"table": home / "tracts.csv", "whole": home / "tracts_whole.csv", "readable": home / "tracts.md"}
    outputs["missing"] = home / "tracts_missing.csv"
    script("write_tracts")(job(inputs, outputs, tables=PUBLISHED))
    return home


def check(here: Path) -> pd.DataFrame:
    """The stored proofs, checked from the files."""
    files = {name: here / file for name, file in FILES.items()}
    lists = {"claims": [here / "claims.parquet"], "proofs": [here / PROOFS]}
    script("check_tracts")(job({**files, **lists}, {"checked": here / "checked.csv"}))
    return pd.read_csv(here / "checked.csv")


def test_the_stored_proofs_carry_every_claim_of_both_levels(study: Path) -> None:
    here = study / "records" / "bins"
    checked = pd.read_csv(here / "checked.csv")
    claims = pd.read_parquet(here / "claims.parquet")
    assert checked["claims"].sum() == (claims["tables"] == "both").sum() > 0
    areas = pd.read_parquet(here / "areas.parquet")
    assert checked["determined"].sum() == areas.loc[areas["tables"] == "both", "determined"].sum()


@pytest.mark.parametrize("change", ["claim", "proof", "block", "order", "counts"])
def test_proofs_that_do_not_carry_the_claims_are_refused(study: Path, tmp_path: Path, change: str) -> None:
    here = shutil.copytree(study / "records" / "bins", tmp_path / "bins")
    lines = list(read_proofs(here / PROOFS))
    claims = pd.read_parquet(here / "claims.parquet")
    if change == "claim":
        claims.loc[claims["tables"] == "both", "m"] += 1
    elif change == "proof":
        first = claims.index[claims["tables"] == "both"][0]
        claims.loc[first, "proof"] = "alone 99"
    elif change == "block":
        del lines[0]["statements"][0]
    elif change == "order":
        lines[0]["statements"].append(lines[0]["statements"][0])
    else:
        lines[0]["about"]["digest"] = "0" * 64
    claims.to_parquet(here / "claims.parquet", index=False)
    write_proofs(lines, here / PROOFS)
    words = {
        "claim": "without proof",
        "proof": "without proof",
        "block": "without proofs",
        "order": "is listed twice",
        "counts": "other counts",
    }
    with pytest.raises(CertificateError, match=words[change]):
        check(here)


def test_a_claim_is_explained_from_its_stored_proof(study: Path) -> None:
    here = study / "records" / "bins"
    claims = pd.read_parquet(here / "claims.parquet")
    young = claims[(claims["tables"] == "both") & claims["area"].str.endswith("2")].iloc[-1]
    said = ",".join(f"{name}={young[name]}" for name in ("QSEX", "QAGE", "CENHISP", "CENRACE") if young[name] >= 0)
    schemas = [read_schema(here / f"{level}.json") for level in ("blocks", "tracts")]
    names = zip(("blocks", "tracts"), schemas, strict=True)
    blocks, tracts = (list(read_releases(here / f"{level}.parquet", schema)) for level, schema in names)
    levels = next(
        one for one in batch_of_tracts(blocks, tracts, 0, 1) if young["area"].startswith(one.areas[0].release.block)
    )
    stored = next(one for one in read_proofs(here / PROOFS) if young["area"].startswith(one["about"]["name"]))
    line = next(said for said in stored["statements"] if said["block"] == young["area"])
    text = "\n".join(explain_in_tract(levels, stored, line, f"{said},m={young['m']}"))
    assert "Verified: true of every dataset" in text
    assert "At least" in text
    never = "\n".join(explain_in_tract(levels, stored, line, "QAGE=90,m=3"))
    assert "Not among the verified claims" in never


def test_a_tract_with_one_solution_varies_in_nothing(study: Path) -> None:
    whole = pd.read_csv(study / "tracts_whole.csv").set_index("reading")
    assert (whole["exact"] == 2).all()
    assert whole.loc["years", "solvar"] >= whole.loc["bins", "solvar"]
    # a distance, not a number of records: a record that differs counts twice
    assert whole["share_solvar"].tolist() == pytest.approx((whole["solvar"] / (2 * whole["persons"])).tolist())
    assert (whole["solvar"] % 2 == 0).all()
    each = pd.read_csv(study / "records" / "bins" / "whole.csv")
    assert ((each["solvar"] == 0) == each["one_solution"]).all()


def test_no_claim_is_false_and_both_tables_say_more(study: Path) -> None:
    table = pd.read_csv(study / "tracts.csv")
    assert (table["false_claims"] == 0).all()
    assert (table["undecided"] == 0).all()
    every = table[table["k"] == 0].set_index(["reading", "tables"])
    for reading in READINGS:
        assert every.loc[(reading, "both"), "claims"] > every.loc[(reading, "block tables"), "claims"]
        assert every.loc[(reading, "both"), "determined"] >= every.loc[(reading, "block tables"), "determined"]
    assert every.loc[("bins", "both"), "persons"] == 24


def test_young_people_are_known_to_the_year(study: Path) -> None:
    """P14 counts single years below 20 by block, and the tract has one race and origin only: nothing is left open."""
    areas = pd.read_parquet(study / "records" / "years" / "areas.parquet")
    both = areas[areas["tables"] == "both"].set_index("area")
    young = [name for name in both.index if name.endswith("2")]
    assert len(young) == 2
    assert (both.loc[young, "determined"] == 4).all()


def test_the_cells_that_are_missing_add_up_to_the_records_that_are_not_determined(study: Path) -> None:
    """Only P1, P12 and P14 tell of a block, so of an older person what is missing is the year, which no block cell has."""
    missing, table = pd.read_csv(study / "tracts_missing.csv"), pd.read_csv(study / "tracts.csv")
    both = table[(table["tables"] == "both") & (table["k"] == 0)].set_index("reading")
    for reading in READINGS:
        left = both.loc[reading, "persons"] - both.loc[reading, "determined"]
        own = missing[missing["reading"] == reading]
        assert own["records"].sum() == left
        assert (own["cells"] <= own["records"]).all()
    years = missing[missing["reading"] == "years"]
    assert (years["missing"] == "QAGE").all()
    assert (years["told_apart"] == "no").all()


def test_the_page_counts_the_cells_beside_the_printed_ones(study: Path) -> None:
    text = (study / "tracts.md").read_text()
    assert "| P14 | 1 | 40 | 43 |" in text
    assert "records of persons.csv" in text
    assert "| PCT12 | 3 |" in text
    assert "Real tracts are not part of this run" not in text


def test_the_figure_is_the_same_bytes_each_time(study: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        outputs = {"pdf": tmp_path / f"{name}.pdf", "png": tmp_path / f"{name}.png"}
        script("plot_tracts")(job({"table": study / "tracts.csv"}, outputs))
    assert (tmp_path / "one.pdf").read_bytes() == (tmp_path / "two.pdf").read_bytes()


def test_a_tract_without_blocks_is_named(study: Path) -> None:
    here = study / "records" / "bins"
    blocks, tracts = (
        list(read_releases(here / f"{level}.parquet", read_schema(here / f"{level}.json"))) for level in ("blocks", "tracts")
    )
    assert [len(one.blocks) for one in batch_of_tracts(blocks, tracts, 0, 1)] == [3, 3]
    with pytest.raises(DataError, match=f"tract {tracts[1].block} has no blocks among the counts"):
        batch_of_tracts(blocks[:3], tracts, 0, 1)


def test_too_few_large_tracts_are_said() -> None:
    records = pd.DataFrame({"block": ["010010201001000"] * 3})
    assert len(_choose_tracts(records, 1, 3, seed=1)) == 3
    with pytest.raises(DataError, match=r"only 0 tracts have 4 records or more, of 1 wanted: lower tracts\.synthetic"):
        _choose_tracts(records, 1, 4, seed=1)
