"""Files of a user, on small made-up ones: HUD's Picture, Summary File 1 and PUMS; exclusions of appendix D, and mistakes."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from genverify.model.errors import ConfigError, DataError
from genverify.model.files import read_yaml
from genverify.run.config import parse_config
from studies.housing import sources as files
from studies.housing.households import ANY, draw_children, draw_sizes
from studies.housing.sources import (
    GROUP_QUARTERS,
    MORE_HOUSEHOLDS,
    MORE_PERSONS,
    NO_BLOCK,
    OTHER,
    SUPPRESSED,
    ExclusionCounts,
    read_picture,
    read_pums,
    read_releases,
    read_sf1,
)
from studies.housing.statistics import CENSUS

BLOCKS = [f"0100102010010{number:02d}" for number in range(6)]
PERCENTAGES = {"pct_bed1": 50, "pct_bed2": 30, "pct_bed3": 20, "pct_black_nonhsp": 40, "pct_native_american_nonhsp": 1,
               "pct_asian_pacific_nonhsp": 2, "pct_hispanic": 10, "pct_minority": 60, "pct_1adult": 30,
               "pct_2adults": 5}  # fmt: skip


@pytest.fixture(scope="module")
def published(root: Path) -> dict[str, Any]:
    return read_yaml(root / "data" / "housing" / "published.yaml")


@pytest.fixture(scope="module")
def columns(root: Path) -> dict[str, Any]:
    return {name: read_yaml(root / "data" / "housing" / f"{name}.yaml") for name in ("picture", "sf1")}


def property_row(block: str = BLOCKS[0], **change: Any) -> dict[str, Any]:
    counts = {"total_units": 20, "number_reported": 18, "people_total": 40}
    return {"program_label": "Public Housing", "block": block, **counts, **PERCENTAGES, "name": "Main Street", **change}


def write_picture(path: Path, rows: list[dict[str, Any]]) -> Path:
    pd.DataFrame(rows).to_csv(path / "picture.csv", index=False)
    return path / "picture.csv"


def block_row(columns: dict[str, Any], block: str, **change: int) -> dict[str, Any]:
    """50 households of two persons, white and not Hispanic; `change` by our names."""
    counts = dict.fromkeys(CENSUS, 0) | {"N": 50, "P": 100, "SIZE_2": 50, "RACE_1": 50, "IN_HOUSEHOLDS": 100} | change
    return {"block": block} | {columns["sf1"]["columns"][name][0]: value for name, value in counts.items()}


def write_sf1(path: Path, columns: dict[str, Any], rows: list[dict[str, Any]]) -> Path:
    pd.DataFrame(rows).to_csv(path / "sf1.csv", index=False)
    return path / "sf1.csv"


def test_the_names_of_both_files_cover_what_is_published(columns: dict[str, Any], published: dict[str, Any]) -> None:
    assert set(columns["sf1"]["columns"]) == {"block", "IN_HOUSEHOLDS", *CENSUS}
    assert set(columns["picture"]["columns"]) == {
        "block",
        "program",
        "HUD_N",
        "HUD_P",
        "HUD_UNITS",
        *published["percentages"],
    }


def test_a_property_is_read_and_properties_of_a_block_are_added_up(
    tmp_path: Path, columns: dict[str, Any], published: dict[str, Any]
) -> None:
    rows = [property_row(BLOCKS[1], program_label="section 236"), property_row(),
            property_row(total_units=60, number_reported=54, people_total=60, pct_bed1=100, pct_bed2=0,
                         pct_bed3=0)]  # fmt: skip
    found = read_picture(write_picture(tmp_path, rows), columns["picture"], published, ExclusionCounts()).set_index("block")
    alone = found.loc[BLOCKS[1]]
    assert alone[["HUD_N", "HUD_P", "HUD_UNITS"]].tolist() == [18, 40, 20]
    assert alone[list(published["percentages"])].tolist() == list(PERCENTAGES.values())
    both = found.loc[BLOCKS[0]]
    assert both[["HUD_N", "HUD_P", "HUD_UNITS"]].tolist() == [72, 100, 80]
    # (50 * 20 + 100 * 60) / 80 = 87.5, 30 * 20 / 80 = 7.5, 20 * 20 / 80 = 5
    assert both[["HUD_BED_1", "HUD_BED_2", "HUD_BED_3", "HUD_BLACK"]].tolist() == [88, 8, 5, 40]
    assert (found.dtypes == "int64").all()


def test_every_exclusion_of_appendix_d_is_counted(
    tmp_path: Path, columns: dict[str, Any], published: dict[str, Any]
) -> None:
    rows = [
        property_row(),
        property_row(program_label="Housing Choice Vouchers"),
        property_row(block=""),
        property_row(BLOCKS[1], number_reported=-4, people_total=-4, pct_black_nonhsp=-4),
        property_row(BLOCKS[1], pct_1adult="NA"),
        property_row(BLOCKS[2]),
        property_row(BLOCKS[3], number_reported=51),
        property_row(BLOCKS[4], people_total=101),
        property_row(BLOCKS[5], pct_bed1=-5, pct_bed2=-5, pct_bed3=-5),
    ]
    counts = [block_row(columns, block) for block in BLOCKS]
    counts[2] = block_row(columns, BLOCKS[2], P=120)
    picture, sf1 = write_picture(tmp_path, rows), write_sf1(tmp_path, columns, counts)
    found, excluded = read_releases(picture, sf1, columns, published)
    assert excluded.listed() == {
        OTHER: 1, NO_BLOCK: 1, SUPPRESSED: 2, GROUP_QUARTERS: 1, MORE_HOUSEHOLDS: 1, MORE_PERSONS: 1}  # fmt: skip
    assert found["block"].tolist() == [BLOCKS[0], BLOCKS[5]]
    assert list(found.columns) == ["block", *CENSUS, "HUD_N", "HUD_P", "HUD_UNITS", *published["percentages"], "HUD_SLACK"]
    assert found.loc[1, ["HUD_BED_1", "HUD_BED_2", "HUD_BED_3"]].tolist() == [0, 0, 0], "bedrooms that nobody reported"
    assert (found.drop(columns="block").dtypes == "int64").all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"block": "1234"}, r"picture\.csv, row 2: block '1234' is not 15 digits\. Give state, county, tract and block"),
        ({"pct_bed2": 40}, r"row 2: units by bedrooms \(50 \+ 40 \+ 20 percent\) add up to 110, not to 100"),
        ({"pct_black_nonhsp": 140}, r"row 2: HUD_BLACK = 140 is not a percentage"),
        ({"people_total": "many"}, r"row 2: HUD_P 'many' is not a number of 0 or more\. Correct the row"),
        ({"people_total": -3}, r"row 2: HUD_P '-3' is not a number"),
        ({"program_label": "Vouchers"}, r"no property is left .*Check the programs in .*: Vouchers"),
    ],
)
def test_a_mistake_in_the_picture_is_named(
    tmp_path: Path, columns: dict[str, Any], published: dict[str, Any], change: dict[str, Any], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        read_picture(write_picture(tmp_path, [property_row(**change)]), columns["picture"], published, ExclusionCounts())


def test_a_column_that_is_not_there_is_named(tmp_path: Path, columns: dict[str, Any], published: dict[str, Any]) -> None:
    row = property_row()
    path = write_picture(tmp_path, [{("pct_blak_nonhsp" if k == "pct_black_nonhsp" else k): v for k, v in row.items()}])
    with pytest.raises(DataError, match=r"no column 'pct_black_nonhsp' or 'pct_black': did you mean pct_blak_nonhsp\?"):
        read_picture(path, columns["picture"], published, ExclusionCounts())
    unread = r"none\.csv: cannot be read as a CSV file .*housing\.picture in config/housing\.yaml"
    with pytest.raises(DataError, match=unread):
        read_picture(tmp_path / "none.csv", columns["picture"], published, ExclusionCounts())


def test_a_property_in_a_block_without_counts_is_an_error(
    tmp_path: Path, columns: dict[str, Any], published: dict[str, Any]
) -> None:
    picture = write_picture(tmp_path, [property_row(BLOCKS[1])])
    sf1 = write_sf1(tmp_path, columns, [block_row(columns, BLOCKS[0])])
    with pytest.raises(DataError, match=rf"picture\.csv and sf1\.csv: a property stands in block {BLOCKS[1]}, which has no"):
        read_releases(picture, sf1, columns, published)


def test_nothing_left_is_an_error(tmp_path: Path, columns: dict[str, Any], published: dict[str, Any]) -> None:
    picture = write_picture(tmp_path, [property_row(number_reported=60)])
    sf1 = write_sf1(tmp_path, columns, [block_row(columns, BLOCKS[0])])
    with pytest.raises(DataError, match=r"no block is left after the exclusions of appendix D: .*more households"):
        read_releases(picture, sf1, columns, published)


def test_counts_of_the_named_blocks_are_read_in_pieces(
    tmp_path: Path, columns: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "ROWS_AT_ONCE", 2)
    rows = [block_row(columns, block, CHILDREN=place) for place, block in enumerate(reversed(BLOCKS))]
    found = read_sf1(write_sf1(tmp_path, columns, rows), columns["sf1"], [BLOCKS[0], BLOCKS[4]])
    assert found["block"].tolist() == [BLOCKS[0], BLOCKS[4]]
    assert found["CHILDREN"].tolist() == [5, 1]
    assert found[["N", "P", "SIZE_2", "RACE_1"]].to_numpy().tolist() == [[50, 100, 50, 50]] * 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"SIZE_3": 1}, r"sf1\.csv, row 2: block 010010201001000 has 51 households by size, more than N = 50\. Correct"),
        ({"RACE_9": 3}, "has 53 households by race and origin, more than N = 50"),
        ({"IN_HOUSEHOLDS": 101}, "has 101 persons in households, more than P = 100"),
        ({"CHILDREN": 101}, "has 101 persons under 18, more than IN_HOUSEHOLDS = 100"),
        ({"N": -1}, "row 2: N '-1' is not a number of 0 or more"),
        ({"N": 50.5}, r"row 2: N '50\.5' is not a whole number"),
    ],
)
def test_a_mistake_in_the_counts_is_named(
    tmp_path: Path, columns: dict[str, Any], change: dict[str, int], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        read_sf1(write_sf1(tmp_path, columns, [block_row(columns, BLOCKS[0], **change)]), columns["sf1"], BLOCKS)


def test_households_of_unknown_size_are_allowed_and_a_block_twice_is_not(tmp_path: Path, columns: dict[str, Any]) -> None:
    row = block_row(columns, BLOCKS[0], SIZE_2=49)
    assert read_sf1(write_sf1(tmp_path, columns, [row]), columns["sf1"], BLOCKS)["SIZE_2"].tolist() == [49]
    with pytest.raises(DataError, match=rf"row 3: block {BLOCKS[0]} is duplicated\. Keep one row"):
        read_sf1(write_sf1(tmp_path, columns, [row, row]), columns["sf1"], BLOCKS)


def test_both_files_or_none(config: dict[str, Any]) -> None:
    config["housing"]["picture"] = "picture.csv"
    with pytest.raises(ConfigError, match=r"housing\.picture and housing\.sf1 describe the same blocks: give both"):
        parse_config(config)


def write_pums(path: Path, rows: list[tuple[int, ...]], names: str = "SIZE CHILDREN RACE") -> Path:
    pd.DataFrame(rows, columns=names.split()).to_csv(path / "pums.csv", index=False)
    return path / "pums.csv"


def test_pums_gives_conditional_distributions_by_race(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "ROWS_AT_ONCE", 3)
    rows = [(7, 3, 1)] * 3 + [(9, 3, 1)] + [(8, 0, 2)] + [(4, 2, 1)] * 3 + [(4, 1, 1)] + [(4, 3, 2)] + [(0, 0, 1), (2, 2, 1)]
    given = read_pums(write_pums(tmp_path, rows), 0.5)
    many = 20_000
    ones, sevens = np.ones(many, dtype=np.int64), np.full(many, 7)
    white = given.group_of(ones)
    sizes = draw_sizes(sevens, ones, white, given, np.random.default_rng(1))
    assert set(sizes) == {7, 9}
    assert (sizes == 7).mean() == pytest.approx(0.75, abs=0.015)
    assert set(draw_sizes(sevens, 0 * ones, white, given, np.random.default_rng(1))) == {8}, "nobody alike: over all races"
    fours = np.full(many, 4)
    assert (draw_children(fours, ones, white, given, np.random.default_rng(1)) == 2).mean() == pytest.approx(0.75, abs=0.015)
    assert set(draw_children(fours, ones, given.group_of(2 * ones), given, np.random.default_rng(1))) == {3}
    assert (ANY, 2) not in given.children, "a household without an adult is passed over"


def test_pums_rows_can_have_weights(tmp_path: Path) -> None:
    path = write_pums(tmp_path, [(3, 1, 1, 9), (3, 2, 1, 1), (3, 2, 2, 0)], "SIZE CHILDREN RACE WEIGHT")
    given = read_pums(path, 0.5)
    assert dict(zip(given.children[1, 3].values, given.children[1, 3].chances, strict=True)) == {1: 0.9, 2: 0.1}
    assert (2, 3) not in given.children


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([(2, 1, 1), (3, 4, 1)], r"pums\.csv, row 3: SIZE=3, CHILDREN=4, RACE=1: at most SIZE persons are under 18"),
        ([(2, 1, 15)], "row 2: SIZE=2, CHILDREN=1, RACE=15: .* RACE is a number from 1 to 14"),
        ([(0, 0, 0)], r"holds no household; see housing\.pums"),
    ],
)
def test_a_mistake_in_pums_is_named(tmp_path: Path, rows: list[tuple[int, ...]], message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_pums(write_pums(tmp_path, rows), 0.5)
    unread = r"none\.csv: cannot be read as a CSV file .*housing\.pums in config/housing\.yaml"
    with pytest.raises(DataError, match=unread):
        read_pums(tmp_path / "none.csv", 0.5)
