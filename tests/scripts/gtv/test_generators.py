"""The study over generators: its scripts on some blocks of a small country, counts and the table by hand."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from genverify.run.config import parse_config, read_shipped
from genverify.solve.program_settings import ProgramSettings
from script_jobs import job, script
from studies.country.settings import Sample
from studies.gtv.generators import (
    BASELINE_K,
    PERCENTILES,
    TABLES,
    Country,
    count_races,
    count_represented,
    generators_table,
    generators_text,
    with_blocks,
)
from studies.gtv.tables import PAPER_K

PARTS = 40
WORDS = {"likeness": "urn", "country": "3"}


@pytest.fixture(scope="module")
def printed(root: Path) -> Any:
    return yaml.safe_load((root / "data/papers/generate_then_verify.yaml").read_text())


@pytest.fixture(scope="module")
def study(root: Path, tmp_path_factory: pytest.TempPathFactory, program_settings: ProgramSettings) -> Path:
    """A country of another generator drawn, and the blocks of two of forty parts attacked and counted."""
    home, shipped = tmp_path_factory.mktemp("generators"), parse_config(read_shipped(root))
    domain, release = (
        root / "data/census/domain.yaml",
        shipped.release.but(tables_file=str(root / "data/census/tables.yaml")),
    )
    small = shipped.microdata.synthetic.but(households=20_000, country=str(root / "data/synthetic"))
    sample = shipped.sample.model_dump() | {"designs": {"country_median": {"size": "state_median", "blocks_per_state": 9}}}
    drawn = {name: home / f"{name}.parquet" for name in ("blocks", "records", "counts")} | {"schema": home / "schema.json"}
    settings = {"microdata": shipped.microdata.but(synthetic=small), "sample": sample, "release": release}
    script("draw_generator")(job({"domain": domain}, drawn, WORDS, **settings, blocks_per_state=1))
    told = {"schema": drawn["schema"], "counts": drawn["counts"]}
    done = []
    for part in ("00", "01"):
        done.append({"claims": home / f"{part}.parquet", "blocks": home / f"{part}.blocks.parquet"})
        script("attack_generator")(
            job(told, done[-1], {**WORDS, "part": part}, program=program_settings,
                generate={"datasets": 20, "method": "walk"}, verify={"min_k": 6}, parts=PARTS)
        )  # fmt: skip
    attacked = set(pd.concat([pd.read_parquet(one["blocks"]) for one in done])["block"])
    blocks = pd.read_parquet(drawn["blocks"])
    blocks[blocks["block"].isin(attacked)].to_parquet(home / "attacked.parquet")
    inputs = {"claims": [one["claims"] for one in done], "blocks": [one["blocks"] for one in done]}
    script("count_generator")(
        job({**inputs, "records": drawn["records"], "sample": home / "attacked.parquet", "domain": domain},
            {"counts": home / "represented.parquet", "baselines": home / "baselines.parquet",
             "blocks": home / "told.parquet"},
            WORDS, microdata=settings["microdata"], release=release)
    )  # fmt: skip
    return home


def test_a_country_of_the_generator_is_drawn_and_sampled(study: Path) -> None:
    blocks, records = pd.read_parquet(study / "blocks.parquet"), pd.read_parquet(study / "records.parquet")
    assert blocks.groupby(blocks["block"].str[:2]).size().eq(1).all()
    assert len(blocks) == 50
    assert records.groupby("block").size().to_dict() == blocks.set_index("block")["n_households"].to_dict()
    assert records["VACS"].eq(0).all()
    assert not (study / "microdata").exists()


def test_withheld_answers_verify_no_more(study: Path) -> None:
    counts = pd.read_parquet(study / "represented.parquet")
    wide = counts.pivot(index=["block", "k"], columns="table", values="households")
    assert wide["Table 4"].sum() > 0
    assert (wide["Table 4"] <= wide["Table 7"]).all()
    for variant in ("no_ones", "no_zeros"):
        assert (wide[f"Table 5, {variant}"] <= wide["Table 4"]).all()
        assert (wide["Table 5, no_zeros_ones"] <= wide[f"Table 5, {variant}"]).all()


def test_the_scripts_end_in_a_table(study: Path, root: Path) -> None:
    inputs = {"counts": [study / "represented.parquet"] * 2, "blocks": [study / "told.parquet"] * 2,
              "baselines": [study / "baselines.parquet"] * 2,
              "paper": root / "data/papers/generate_then_verify.yaml"}  # fmt: skip
    outputs = {"table": study / "generators.csv", "readable": study / "generators.md"}
    script("write_generators")(job(inputs, outputs, likeness=["urn"], seeds=[3, 4], seed=1))
    table = pd.read_csv(study / "generators.csv")
    table = table[table["design"] == "country_median"]  # and the same by the number of races in a block
    assert len(table) == len(TABLES) * len(PAPER_K) + 4 + 2 * len(PERCENTILES) * len(BASELINE_K)
    drawn = table[table["urn"].notna()]
    assert (drawn["least"] == drawn["most"]).all()
    assert (drawn["urn_low"] <= drawn["urn_high"]).all()
    of_tract = table[table["number"].str.contains("tract") & (table["k"] == 6)]["urn"]
    assert of_tract.is_monotonic_increasing
    assert of_tract.between(0, 50).all()
    assert "synthetic" in (study / "generators.md").read_text()


def test_households_are_counted_once_per_table_and_k() -> None:
    records = pd.DataFrame({"block": ["a"] * 3, "X": [1, 2, 2], "Y": [1, 1, 2]})
    codes = {"X": pd.array([1, 1, 2], "Int16"), "Y": pd.array([1, None, None], "Int16")}
    verified = {
        f"verified_{name}": [True, name == "paper", name == "paper"]
        for name in ("paper", "no_ones", "no_zeros", "no_zeros_ones")
    }
    claims = pd.DataFrame({"block": "a", "k": [6, 6, 6], "m": [1, 1, 2], **codes, **verified})
    sample = pd.DataFrame({"block": ["a", "b"], "design": "d", "n_households": [3, 2]})
    found = count_represented(claims, records, sample).query("k == 6").set_index(["block", "table"])["households"]
    assert found["a"].to_dict() == {
        "Table 4": 1, "Table 7": 3, "Table 5, no_ones": 1, "Table 5, no_zeros": 1, "Table 5, no_zeros_ones": 1,
    }  # fmt: skip
    assert found["b"].sum() == 0


def of_households(likeness: str, households: list[int]) -> Country:
    """A country whose blocks have so many households in every table, at every k."""
    blocks = [f"b{place}" for place in range(len(households))]
    sample = pd.DataFrame({"block": blocks, "design": "country_median", "households": households})
    grid = pd.MultiIndex.from_product([list(TABLES), PAPER_K], names=["table", "k"]).to_frame(index=False)
    told = pd.DataFrame(
        {"block": blocks, "queries": 100, "zeros": 90, "ones": 5, "unique": [True] + [False] * (len(blocks) - 1)}
    ).assign(races=range(1, len(blocks) + 1))
    likely = pd.DataFrame({"block": blocks, "design": "country_median", "k": 6, "tract": 0.01, "state": 0.02})
    return Country(likeness, 1, sample.merge(grid, how="cross"), told, likely)


def test_the_seeds_of_a_generator_are_pooled_and_the_range_is_over_all_countries(printed: Any) -> None:
    countries = [of_households("prototype", [1, 3]), of_households("prototype", [4, 4]), of_households("urn", [0, 1])]
    wide = generators_table(countries, printed, 1, "toy")
    table = wide[wide["design"] == "country_median"].set_index(["number", "k"])
    row = table.loc[("Table 4", "8")]
    assert row[["paper", "prototype", "urn", "least", "most"]].tolist() == [230 / 250, 3.0, 0.5, 0.5, 4.0]
    assert row["prototype_low"] <= row["prototype"] <= row["prototype_high"]
    assert row["urn_low"] == 0
    assert table.loc[("Table 5, no_zeros", "6"), "paper"] == 460 / 250
    assert table.loc[("answers of 0, %", ""), ["paper", "prototype"]].tolist() == [90.88, 90.0]
    shares = table.loc[("blocks with a k = 8 singleton, %", ""), ["prototype", "urn", "least", "most"]]
    assert shares.tolist() == [100, 50, 50, 100]
    assert table.loc[("unique blocks, %", ""), "prototype"] == 50
    likely = table.loc[("baseline under the state prior, percentile75, %", "6")]
    assert likely[["paper", "prototype", "prototype_low", "urn_high", "most"]].tolist() == ["under 10 %", 2.0, 2.0, 2.0, 2.0]
    assert np.isnan(table.loc[("baseline under the state prior, median, %", "7"), "prototype"])
    assert "| Table 7 | 10 |" in generators_text(wide, "toy")
    parts = wide[wide["design"] == "country_median, two"].set_index(["number", "k"])
    assert parts.loc[("Table 4", "8"), ["paper", "prototype", "urn"]].tolist() == [230 / 250, 3.5, 1.0]
    assert parts.loc[("unique blocks, %", ""), "prototype"] == 0
    assert set(wide["design"]) == {"country_median", "country_median, one race and origin", "country_median, two"}


def test_races_and_origins_of_a_block_are_counted_together() -> None:
    records = pd.DataFrame({"block": ["a", "a", "a", "b"], "THHRACE": [1, 1, 2, 3], "THHSPAN": [1, 2, 1, 1]})
    assert count_races(records).to_dict() == {"a": 3, "b": 1}


def test_designs_keep_their_sizes(root: Path) -> None:
    sample: Sample = parse_config(read_shipped(root)).sample
    found = with_blocks(sample.but(all_blocks={"x": {"states": "all", "up_to": 3}}), 2)
    assert {name: (design.size, design.blocks_per_state) for name, design in found.designs.items() if design} == {
        "state_median": ("state_median", 2), "country_median": ("country_median", 2),
    }  # fmt: skip
    assert found.all_blocks == {}
    assert np.all([design is not None for design in found.designs.values()])
