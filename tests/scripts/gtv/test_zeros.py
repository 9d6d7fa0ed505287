"""The scripts of the study of withheld zeros, from microdata to the page, on the toy."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import yaml

from genverify.model.domain import read_domain
from genverify.model.errors import ConfigError
from genverify.model.release import read_schema
from genverify.solve.program_settings import ProgramSettings
from script_jobs import job, script
from studies.country.store import write_microdata

NAMES = ("PET", "HOME", "AGE")
EXPLANATIONS = {
    "exact": {"records": "sampled", "missing": []},
    "no_dogs": {"records": "sampled", "missing": ["T1?.dog"]},
    "fish": {"records": "fish", "missing": []},
}
RECORDS: dict[str, dict[str, int]] = {"sampled": {}, "fish": {"PET": 3}}
PAPER = {
    "table4": {"designs": {"four": {"total": {6: 10, 7: 8, 8: 6, 9: 4, 10: 2}}}},
    "table5": {
        "variants": {
            name: {"total": dict.fromkeys(range(6, 11), left)}
            for name, left in {"paper": 10, "no_ones": 8, "no_zeros": 5, "no_zeros_ones": 2}.items()
        }
    },
}
BLOCKS = {"design": "four", "number": 6}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, toy: Path) -> Path:
    """Twelve blocks of four records, and the paper's numbers."""
    home = tmp_path_factory.mktemp("zeros")
    blocks = [f"010010201001{number:03d}" for number in range(12)]
    values = np.random.default_rng(2).integers([1, 1, 1], [4, 3, 5], size=(48, 3)).astype(np.int8)
    columns = dict(zip(NAMES, values.T, strict=True))
    write_microdata(
        [pa.table({"block": np.repeat(blocks, 4), **columns})], home / "microdata", read_domain(toy / "domain.yaml").domain
    )
    pd.DataFrame({"block": blocks, "design": "four", "n_households": 4}).to_parquet(home / "blocks.parquet")
    (home / "microdata.json").write_text(json.dumps({"label": "synthetic microdata"}))
    (home / "paper.yaml").write_text(yaml.safe_dump(PAPER))
    return home


@pytest.fixture(scope="module")
def study(home: Path, toy: Path, toy_settings: dict[str, Any], program_settings: ProgramSettings) -> Path:
    """Every stage through the main of its script."""
    program = program_settings.model_dump()
    for name in RECORDS:
        attack(home, toy, name, toy_settings, program)
    told = {part: home / "sampled" / file for part, file in FILES.items()}
    script("search_zeros")(
        job({**told, "paper": home / "paper.yaml"}, {"steps": home / "search.csv", "decided": home / "search.parquet"},
            search={"rounds": [{"blocks": 2, "keep": 8}], "blocks": 4, "size": 2, "shown": 3}, program=program)
    )  # fmt: skip
    script("try_onehot")(
        job(told, {"verdicts": home / "onehot.csv"}, onehot={"claims_per_k": 2, "nodes": 1000, "seconds": 60.0},
            program=program, seed=1)
    )  # fmt: skip
    inputs = {"decided": [home / name / "decided.parquet" for name in RECORDS], "searched": home / "search.parquet",
              "steps": home / "search.csv", "verdicts": home / "onehot.csv", "paper": home / "paper.yaml",
              "manifest": home / "microdata.json"}  # fmt: skip
    outputs = {"table": home / "withheld_zeros.csv", "readable": home / "withheld_zeros.md"}
    script("write_withheld_zeros")(job(inputs, outputs, seed=1))
    return home


FILES = {"schema": "schema.json", "counts": "counts.parquet", "households": "households.parquet"}


def attack(home: Path, toy: Path, name: str, release: dict[str, Any], program: dict[str, Any]) -> None:
    """Publish, attack, judge and decide for one kind of records."""
    folder, words = home / name, {"records": name}
    store = {"microdata": home / "microdata", "blocks": home / "blocks.parquet", "domain": toy / "domain.yaml"}
    told = {"schema": folder / "schema.json", "counts": folder / "counts.parquet"}
    settings: dict[str, Any] = {"records": RECORDS, "blocks": BLOCKS, "release": release, "seed": 1}
    script("publish_zeros")(job(store, told, words, **settings))
    singletons = {"singletons": folder / "singletons.parquet"}
    script("attack_zeros")(
        job(
            told,
            singletons,
            words,
            program=program,
            generate={"datasets": 20, "method": "walk"},
            verify={"min_k": 1},
            seed=1,
        )
    )
    households = {"households": folder / "households.parquet"}
    script("judge_zeros")(job({**singletons, **store}, households, words, **settings))
    script("decide_zeros")(
        job(
            {**told, **households},
            {"decided": folder / "decided.parquet"},
            words,
            explanations=EXPLANATIONS,
            program=program,
        )
    )


def test_all_counts_of_the_same_blocks_are_published(study: Path) -> None:
    counts = {name: pd.read_parquet(study / name / "counts.parquet") for name in RECORDS}
    queries = len(read_schema(study / "sampled" / "schema.json").queries)
    for own in counts.values():
        assert own["block"].nunique() == BLOCKS["number"]
        assert (own.groupby("block").size() == queries + 1).all()
    assert set(counts["sampled"]["block"]) == set(counts["fish"]["block"])
    fish = counts["fish"][counts["fish"]["query"] == "T1.fish"]
    assert (fish["count"] >= 1).all()


def test_an_explanation_is_tried_on_its_records(study: Path) -> None:
    decided = {name: pd.read_parquet(study / name / "decided.parquet") for name in RECORDS}
    assert set(decided["sampled"]["explanation"]) == {"exact", "no_dogs"}
    assert set(decided["fish"]["explanation"]) == {"fish"}
    assert (decided["sampled"]["undecided"] == 0).all()


def test_claims_name_the_household_that_they_are_about(study: Path) -> None:
    claims = pd.read_parquet(study / "sampled" / "households.parquet")
    assert len(claims) > 10
    assert (claims["m"] == 1).all()
    assert claims["household"].between(0, 3).all()


def test_the_table_has_every_explanation_beside_the_paper(study: Path) -> None:
    table = pd.read_csv(study / "withheld_zeros.csv")
    assert {"exact", "no_dogs", "fish", "one-hot program", "search, 1 missing", "search, 2 missing"} <= set(
        table["explanation"]
    )
    assert (table["data"] == "synthetic microdata").all()
    assert (table.loc[table["withheld"] == "no_zeros", "paper_loss"] == 50).all()
    page = (study / "withheld_zeros.md").read_text()
    assert "synthetic microdata" in page
    assert "T1?.dog" in page


def test_the_same_inputs_give_the_same_table(study: Path, toy: Path, toy_settings: dict[str, Any],
                                             program_settings: ProgramSettings) -> None:  # fmt: skip
    files = [study / "sampled" / name for name in ("counts.parquet", "households.parquet", "decided.parquet")]
    before = [file.read_bytes() for file in files]
    attack(study, toy, "sampled", toy_settings, program_settings.model_dump())
    assert [file.read_bytes() for file in files] == before


def test_the_figure_is_the_same_bytes_each_time(study: Path) -> None:
    made = []
    for number in ("1", "2"):
        outputs = {kind: study / "figures" / f"{number}.{kind}" for kind in ("pdf", "png")}
        inputs = {"table": study / "withheld_zeros.csv", "manifest": study / "microdata.json"}
        script("plot_withheld_zeros")(job(inputs, outputs))
        made.append([path.read_bytes() for path in outputs.values()])
    assert made[0] == made[1]


@pytest.mark.parametrize(
    ("codes", "message"), [({"PET": 9}, "gives PET the code 9, which it does not have"), ({"PETS": 1}, "PETS")]
)
def test_a_code_that_does_not_exist_is_said(
    home: Path, toy: Path, toy_settings: dict[str, Any], tmp_path: Path, codes: dict[str, int], message: str
) -> None:
    store = {"microdata": home / "microdata", "blocks": home / "blocks.parquet", "domain": toy / "domain.yaml"}
    outputs = {"schema": tmp_path / "schema.json", "counts": tmp_path / "counts.parquet"}
    told = job(store, outputs, {"records": "odd"}, records={"odd": codes}, blocks=BLOCKS, release=toy_settings, seed=1)
    with pytest.raises(Exception, match=message) as error:
        script("publish_zeros")(told)
    assert error.type.__name__ in {ConfigError.__name__, "DataError"}
