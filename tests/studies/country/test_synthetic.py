"""The synthetic country: its blocks, its national figures, its structure and how alike neighbours are."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
import yaml

from genverify.model.domain import DomainFile, Predicate, parse_domain
from genverify.model.errors import ConfigError, DataError
from genverify.model.query import Query, build_queries
from studies.country import neighbours as model
from studies.country import places as fit
from studies.country.neighbours import build_model, national_law, sources
from studies.country.people import (
    Country,
    Likeness,
    Margin,
    country_files,
    pick,
    pick_cells,
    possible_types,
    rake,
    read_country,
)
from studies.country.places import (
    answer_shares,
    block_answers,
    block_sizes,
    blocks_of_size,
    calibrate,
    share_out,
    synthesize,
)
from studies.country.settings import Synthetic

DATA = Path(__file__).parents[3] / "data"
COUNTRY, SEPARATE = (read_country(DATA / folder) for folder in ("synthetic", "synthetic/separate"))
FILE = parse_domain(yaml.safe_load((DATA / "census" / "domain.yaml").read_text()))
SMALL = Synthetic(country="data/synthetic", likeness="prototype", households=6_000, homogeneity=1.0)
FULL = SMALL.model_copy(update={"households": 300_000})
SEEDS = (11, 12)  # not those of the calibration


def queries() -> tuple[Query, ...]:
    text = yaml.safe_load((DATA / "census" / "tables.yaml").read_text())
    return build_queries(text, FILE, FILE.universe("occupied"))


def records(table: pa.Table) -> dict[str, Any]:
    return {name: table[name].to_numpy() for name in table.column_names[1:]}


def sizes_of(table: pa.Table) -> Any:
    occupied = table.filter(pc.equal(table["VACS"], 0))
    return occupied.group_by("block").aggregate([("block", "count")])["block_count"].to_numpy()


@pytest.fixture(scope="module", autouse=True)
def laws_made_once() -> Iterator[None]:
    """The national law depends on no seed and no homogeneity, and takes a while: the tests of this file share it."""
    made: dict[int, Any] = {}

    def make_once(file: DomainFile, country: Country, likeness: Likeness) -> Any:
        if file is not FILE or not any(country is one for one in (COUNTRY, SEPARATE)):
            return national_law(file, country, likeness)
        if id(likeness) not in made:
            made[id(likeness)] = national_law(file, country, likeness)
        return made[id(likeness)]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model, "national_law", make_once)
        yield


DRAWN = {"11": (COUNTRY, SEEDS[0]), "12": (COUNTRY, SEEDS[1]), "separate": (SEPARATE, SEEDS[0])}


@pytest.fixture(scope="module", params=DRAWN.values(), ids=DRAWN)
def drawn(request: pytest.FixtureRequest) -> SimpleNamespace:
    """A country of the default size: its tables, and its households and vacant units together."""
    country, seed = request.param
    tables = list(synthesize(FULL, seed, FILE, country))
    whole = pa.concat_tables(tables)
    vacant = pc.greater(whole["VACS"], 0)
    return SimpleNamespace(tables=tables, vacant=whole.filter(vacant), occupied=whole.filter(pc.invert(vacant)))


def test_states_have_the_facts_of_the_paper() -> None:
    medians = [state.median for state in COUNTRY.states]
    assert (len(medians), min(medians), max(medians), sum(medians)) == (50, 2, 20, 486)
    assert "11" not in [state.fips for state in COUNTRY.states]
    assert sum(state.share for state in COUNTRY.states) == pytest.approx(100)


def test_block_sizes_hit_the_medians_exactly(drawn: SimpleNamespace) -> None:
    sizes = [sizes_of(table) for table in drawn.tables]
    assert [float(np.median(of_state)) for of_state in sizes] == [state.median for state in COUNTRY.states]
    assert np.median(np.concatenate(sizes)) == 10
    assert np.concatenate(sizes).sum() == 300_000
    assert 18 < np.concatenate(sizes).mean() < 21
    assert np.concatenate(sizes).max() > 500


def test_every_state_has_blocks_of_the_sizes_that_are_studied(drawn: SimpleNamespace) -> None:
    for state, table in zip(COUNTRY.states, drawn.tables, strict=True):
        sizes = sizes_of(table)
        assert (sizes == state.median).sum() >= 6, state.name
        assert (sizes == 10).sum() >= 6, state.name


def test_blocks_have_ordered_geoids_and_lie_in_tracts(drawn: SimpleNamespace) -> None:
    for state, table in zip(COUNTRY.states, drawn.tables, strict=True):
        blocks = table["block"].to_pylist()
        assert blocks == sorted(blocks)
        distinct = set(blocks)
        assert len(distinct) == len(sizes_of(table))
        assert {len(block) for block in distinct} == {15}
        assert {block[:2] for block in distinct} == {state.fips}
        assert all(int(block[2:5]) % 2 == 1 for block in distinct)
        assert len({block[:11] for block in distinct}) >= 2
    tracts = pc.utf8_slice_codeunits(drawn.occupied["block"], 0, 11).value_counts().field("counts").to_numpy()
    assert 1_300 < tracts.mean() < 1_700


def test_columns_are_those_of_the_domain(drawn: SimpleNamespace) -> None:
    schema = drawn.tables[0].schema
    assert schema.names == ["block", *FILE.domain.names]
    assert schema.types == [pa.string()] + [pa.int8()] * 10


def test_national_figures(drawn: SimpleNamespace) -> None:
    households = records(drawn.occupied)
    for target in COUNTRY.targets:
        for predicate, percent in target.cells:
            assert 100 * predicate.matches(households).mean() == pytest.approx(percent, abs=0.7), predicate


def test_hispanic_householders_are_mostly_white_or_of_another_race(drawn: SimpleNamespace) -> None:
    households = records(drawn.occupied)
    race = households["THHRACE"][households["THHSPAN"] == 2]
    assert np.isin(race, (1, 6)).mean() > 0.85
    assert 0.2 < (race == 6).mean() < 0.5


def test_no_structural_rule_is_broken(drawn: SimpleNamespace) -> None:
    for table in (drawn.occupied, drawn.vacant):
        for rule in FILE.rules.values():
            assert not rule.excludes(records(table)).any(), rule.name


def test_vacant_units(drawn: SimpleNamespace) -> None:
    units, vacant = drawn.occupied.num_rows + drawn.vacant.num_rows, records(drawn.vacant)
    assert 100 * drawn.vacant.num_rows / units == pytest.approx(11.4, abs=1.5)
    assert set(np.unique(vacant["VACS"])) == {1, 2, 3, 4, 5, 6, 7}
    assert all((codes == 0).all() for name, codes in vacant.items() if name != "VACS")
    for code, percent in COUNTRY.vacancy.statuses.items():
        assert 100 * (vacant["VACS"] == code).mean() == pytest.approx(percent, abs=4), code


def check_shares(tables: list[pa.Table]) -> None:
    shares = answer_shares(tables, queries(), size=10)
    assert shares["blocks"] >= 400
    assert 100 * shares["zeros"] == pytest.approx(90.9, abs=1.0)
    assert 100 * shares["ones"] == pytest.approx(3.4, abs=0.6)


def test_shares_of_zeros_and_ones_are_those_of_the_paper(drawn: SimpleNamespace) -> None:
    check_shares(drawn.tables)


@pytest.mark.parametrize("country", [COUNTRY, SEPARATE], ids=["default", "separate"])
@pytest.mark.parametrize("kind", ["dirichlet", "urn"])
def test_other_generators_meet_the_same_shares_and_the_nation(kind: str, country: Country) -> None:
    tables = list(synthesize(FULL.model_copy(update={"likeness": kind}), 11, FILE, country))
    check_shares(tables)
    whole = pa.concat_tables(tables)
    households = records(whole.filter(pc.equal(whole["VACS"], 0)))
    for target in COUNTRY.targets:
        for predicate, percent in target.cells:
            assert 100 * predicate.matches(households).mean() == pytest.approx(percent, abs=2.5), predicate


def test_blocks_of_ten_are_diverse(drawn: SimpleNamespace) -> None:
    blocks = pa.concat_tables([blocks_of_size(table, 10) for table in drawn.tables]).to_pandas()
    kinds = [Counter(map(tuple, rows.drop(columns="block").to_numpy())) for _, rows in blocks.groupby("block")]
    assert np.mean([len(kind) for kind in kinds]) > 7
    assert np.mean([max(kind.values()) >= 7 for kind in kinds]) < 0.08


def test_types_that_no_survey_saw_can_occur() -> None:
    built, _ = build_model(FILE, COUNTRY, "prototype", 1.0)
    assert (built.joint > 0).all()


def test_race_differs_between_places_of_every_level(drawn: SimpleNamespace) -> None:
    table = drawn.occupied
    black = (table["THHRACE"].to_numpy() == 2).astype(float)
    explained = []
    for digits in (2, 5, 11, 15):
        place = pc.utf8_slice_codeunits(table["block"], 0, digits).combine_chunks().dictionary_encode().indices.to_numpy()
        means = np.bincount(place, black) / np.bincount(place)
        explained.append(means[place].var() / black.var())
    state, county, tract, block = explained
    assert 0.03 < state < county < tract < block
    assert 0.25 < tract < 0.6


def test_copies_of_an_urn_lie_in_their_block_and_point_to_an_original() -> None:
    block = np.repeat(np.arange(200), 10)
    source = sources(block, 0.5, np.random.default_rng(1))
    assert (block[source] == block).all()
    assert (source <= np.arange(block.size)).all()
    assert (source[source] == source).all()
    assert (source[::10] == np.arange(0, block.size, 10)).all()
    assert 0.4 < (source != np.arange(block.size)).mean() < 0.5
    assert (sources(block, 0.0, np.random.default_rng(1)) == np.arange(block.size)).all()


def test_picked_cells_and_traits_have_the_law_of_their_row() -> None:
    rng = np.random.default_rng(1)
    by_cell, f, g = rng.random((3, 2)), rng.random((2, 3)), rng.random((2, 2))
    row = np.repeat([0, 1], 40_000)
    cells, traits = pick_cells(by_cell, f, (f @ by_cell) * g, row, rng.random((row.size, 2)))
    for place in (0, 1):
        law = by_cell * f[place][:, None] * g[place]
        share = np.bincount(cells[row == place] * 2 + traits[row == place], minlength=6) / 40_000
        assert share.reshape(3, 2) == pytest.approx(law / law.sum(), abs=0.01)


@pytest.mark.parametrize("column", ["THHRACE", "THHSPAN", "TEN", "THHLDRAGE", "HHT", "HHSIZE"])
def test_neighbours_are_more_alike_than_the_nation(drawn: SimpleNamespace, column: str) -> None:
    table = drawn.occupied
    codes, block = table[column].to_numpy(), pc.dictionary_encode(table["block"]).combine_chunks().indices.to_numpy()
    same = block[1:] == block[:-1]
    neighbours = (codes[1:] == codes[:-1])[same].mean()
    strangers = ((np.bincount(codes) / codes.size) ** 2).sum()
    assert neighbours > strangers + 0.04


@pytest.fixture
def fitted_roughly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer rounds towards the national margins, for tests that do not look at them."""
    monkeypatch.setattr(fit, "MOVES", 1)
    monkeypatch.setattr(fit, "ROUNDS", 2)


@pytest.mark.usefixtures("fitted_roughly")
def test_same_seed_same_country_other_seed_other_country() -> None:
    """Also where the model is built again."""
    anew = replace(COUNTRY)
    drawn = ((3, COUNTRY), (3, anew), (4, COUNTRY))
    first, again, other = (pa.concat_tables(synthesize(SMALL, seed, FILE, country)) for seed, country in drawn)
    assert first.equals(again)
    assert not first.equals(other)


@pytest.mark.usefixtures("fitted_roughly")
def test_calibration_table_more_homogeneous_means_more_zeros() -> None:
    rows = list(calibrate(SMALL.model_copy(update={"households": 20_000}), 3, FILE, COUNTRY, queries(), (0.0, 1.0)))
    assert [(row["likeness"], row["homogeneity"]) for row in rows] == [
        (kind, h) for kind in COUNTRY.likeness for h in (0.0, 1.0)
    ]
    for none, calibrated in zip(rows[::2], rows[1::2], strict=True):
        assert none["zeros"] < calibrated["zeros"]
        assert none["ones"] > calibrated["ones"]


def test_answers_of_two_blocks_by_hand() -> None:
    table = pa.table({"block": ["a", "a", "b", "b", "b", "c"], "VACS": [0, 0, 0, 0, 5, 0], "TEN": [1, 3, 3, 3, 0, 1]})
    renting = Query("q", "H4", "renters", Predicate.of({"TEN": [3]}))
    owning = Query("o", "H4", "owners", Predicate.of({"TEN": [1]}))
    assert block_answers(blocks_of_size(table, 2), (renting, owning)).tolist() == [[1, 1], [2, 0]]
    shares = answer_shares([table], (renting, owning), size=2)
    assert shares == {"size": 2, "blocks": 2, "zeros": 0.25, "ones": 0.5}


def test_there_are_1944_profiles_and_56_combinations_of_traits() -> None:
    types = possible_types(FILE)
    assert types.shape == (1944, 56)
    assert all(len(codes) == 1944 * 56 for codes in types.records.values())


def test_raking_keeps_odds_ratios_and_hits_margins() -> None:
    rows, columns = (
        Margin(np.array([0, 0, 1, 1]), np.array([0.3, 0.7])),
        Margin(np.array([0, 1, 0, 1]), np.array([0.6, 0.4])),
    )
    a, b, c, d = rake(np.array([4.0, 1.0, 1.0, 1.0]), [rows, columns], tolerance=1e-12)
    assert a + b == pytest.approx(0.3)
    assert a + c == pytest.approx(0.6)
    assert a * d / (b * c) == pytest.approx(4.0)


def test_pick_draws_in_proportion() -> None:
    uniform = (np.arange(1000) + 0.5) / 1000
    found = pick(np.array([[9.0, 0.0, 0.0], [1.0, 0.0, 3.0]]), np.ones(1000, dtype=np.int64), uniform)
    assert np.bincount(found, minlength=3).tolist() == [250, 0, 750]


@pytest.mark.parametrize(("median", "households"), [(2, 2), (2, 3_000), (10, 57), (20, 13_001)])
def test_block_sizes_use_up_the_households(median: int, households: int) -> None:
    sizes = block_sizes(median, 0.9, households)
    assert sizes.sum() == households
    assert sizes.min() >= 1
    assert len(sizes) % 2 == 1
    if len(sizes) > 1:
        assert np.median(sizes) == median


def test_shares_lose_nobody() -> None:
    assert sum(share_out(12_345, COUNTRY.states)) == 12_345


def test_too_few_households() -> None:
    with pytest.raises(ConfigError, match=r"100 households are too few: .* would get"):
        next(synthesize(SMALL.model_copy(update={"households": 100}), 3, FILE, COUNTRY))


def copy_country(folder: Path, name: str, change: Callable[[str], str]) -> Path:
    """The files of the country, one of them changed."""
    for path in (DATA / "synthetic").glob("*.*"):
        text = path.read_text()
        (folder / path.name).write_text(change(text) if path.name == name else text)
    return folder


def copy_separate(folder: Path) -> Path:
    """The country whose neighbours live apart, in a folder inside that of the other files."""
    inside = copy_country(folder, "", str) / "separate"
    inside.mkdir()
    (inside / "likeness.yaml").write_text((DATA / "synthetic/separate/likeness.yaml").read_text())
    return inside


@pytest.mark.parametrize(
    ("name", "old", "new", "words"),
    [
        ("national.yaml", "{TEN: [1], percent: 45.4}", "{TEN: [1], percent: 99}", "percentages must be positive and add up"),
        ("odds.csv", "columns,codes,odds", "columns,codes,chance", r"odds\.csv: has no column 'odds'"),
        ("odds.csv", "HHSIZE,1,3.199", "HHSIZE,1,-1", r"odds\.csv, row 2: give 1 codes and odds over 0 for HHSIZE"),
        ("odds.csv", "HHSIZE,1,3.199", "HHSIZE,1 x,nan", r"odds\.csv, row 2: give 1 codes and odds over 0"),
        (
            "likeness.yaml",
            "prototype:",
            "prototypes:",
            "prototypes: unknown kind: did you mean prototype\\?",
        ),
        ("likeness.yaml", "scale: 4.0", "scale: 0", "the scale must be over 0"),
        ("likeness.yaml", "newcomers: 0.02", "newcomers: 1", "newcomers a share under 1"),
        ("likeness.yaml", "newcomers: 0.02", "newcomers: 0.02\n  common: 2", "common from 0 to 1"),
        ("likeness.yaml", "TEN], state: 0.1", "TEN], parish: 0.1", "unknown level 'parish'"),
    ],
)
def test_errors_name_the_file_and_the_entry(tmp_path: Path, name: str, old: str, new: str, words: str) -> None:
    country = copy_country(tmp_path, name, lambda text: text.replace(old, new, 1))
    with pytest.raises(DataError, match=words):
        read_country(country)


@pytest.mark.parametrize(
    ("name", "old", "new", "words"),
    [
        ("neighbours.yaml", "rural:", "country:", "the entry rural is missing; make the file again"),
        ("neighbours.yaml", "percent: 67.306", "percent: 17.306", r"urban: the percentages of .* add up to 49\.9"),
        ("neighbours.yaml", "percent: 67.306", "percent: .nan", "urban: the percentages of .* add up to nan"),
        ("neighbours.yaml", "likeness: 0.2228", "likeness: 1.5", "urban: sizes must rise from 1, and a likeness"),
        ("neighbours.yaml", "households: 1,", "households: 2,", "sizes must rise from 1"),
        ("neighbours.yaml", "tracts: 0.2445", "tracts: many", "urban: .* is missing or no number; make the file again"),
        ("likeness.yaml", "rural: 19.3", "rural: many", "race_and_origin: .* give numbers for rural, state and county"),
        ("likeness.yaml", "rural: 19.3", "rural: 193", "race_and_origin: rural is a percentage under 100"),
        ("likeness.yaml", "rural: 19.3, ", "", "the entry 'rural' is missing"),
        ("likeness.yaml", "rural: 19.3", "block: 1, rural: 19.3", "block is a share under 1"),
    ],
)
def test_errors_of_real_blocks_name_the_entry(tmp_path: Path, name: str, old: str, new: str, words: str) -> None:
    country = copy_country(tmp_path, name, lambda text: text.replace(old, new))
    with pytest.raises(DataError, match=words):
        read_country(country)


def test_countries_that_differ_from_the_default_in_one_thing() -> None:
    default, one, weaker, rare = (read_country(DATA / "synthetic" / name) for name in ("", "one_race", "weaker", "rare"))
    assert weaker.blocks is not None
    assert one.blocks is not None
    assert {0.95} == {value for setting in one.blocks.settings for value in setting.block.tolist()}
    assert one.likeness["prototype"] == default.likeness["prototype"]
    assert weaker.likeness["prototype"] == replace(default.likeness["prototype"], scale=2.65)
    assert rare.likeness["prototype"] == replace(default.likeness["prototype"], newcomers=0.15, common=0.0)
    assert DATA / "synthetic/neighbours.yaml" in country_files(DATA / "synthetic/one_race")


def test_rare_newcomers_are_of_every_kind_that_occurs() -> None:
    """At common = 0 all kinds of a race and origin that occur are equally likely, at 1 as in the nation."""
    country = read_country(DATA / "synthetic" / "rare")
    built, _ = build_model(FILE, country, "prototype", 1.0)
    possible = built.national > model.RAREST * built.national.sum()
    assert (built.arriving == possible).all()
    assert not possible.all()
    as_common = replace(built, common=1.0)
    assert as_common.arriving is as_common.national


def test_a_folder_inside_another_has_its_other_files(tmp_path: Path) -> None:
    folder = copy_separate(tmp_path)
    names = ["likeness.yaml", "national.yaml", "neighbours.yaml", "odds.csv", "states.yaml"]
    assert country_files(tmp_path) == [tmp_path / name for name in names]
    inside = [tmp_path / name for name in ("national.yaml", "odds.csv", "separate/likeness.yaml", "states.yaml")]
    assert country_files(folder) == inside
    assert read_country(folder).blocks is None
    (tmp_path / "neighbours.yaml").unlink()
    with pytest.raises(DataError, match=r"neighbours\.yaml does not exist; make the file again"):
        read_country(tmp_path)


def test_groups_of_real_blocks_cannot_hold_race(tmp_path: Path) -> None:
    folder = copy_country(tmp_path, "likeness.yaml", lambda text: text.replace("columns: [TEN]", "columns: [THHRACE]"))
    with pytest.raises(DataError, match=r"likeness\.yaml, THHRACE: the columns of a group must be .*, or all of TEN$"):
        build_model(FILE, read_country(folder), "prototype", 1.0)


@pytest.mark.parametrize("name", ["national.yaml", "odds.csv", "likeness.yaml", "states.yaml"])
def test_a_file_that_is_missing_is_named(tmp_path: Path, name: str) -> None:
    (copy_country(tmp_path, name, str) / name).unlink()
    with pytest.raises(DataError, match=f"{name}.*(does not exist|No such file)"):
        read_country(tmp_path)


def test_columns_that_no_household_has_are_named() -> None:
    wrong = replace(COUNTRY, odds=(replace(COUNTRY.odds[0], columns=("SIZE",)),))
    with pytest.raises(DataError, match=r"odds\.csv, SIZE: SIZE is not a column of an occupied household"):
        _first(FILE, wrong)
    other = replace(COUNTRY, odds=(replace(COUNTRY.odds[0], columns=("TEN",)),))
    with pytest.raises(DataError, match=r"odds\.csv, TEN: no occupied household of the domain has TEN=5; estimate .* again"):
        _first(FILE, other)
    prototype = SEPARATE.likeness["prototype"]
    mixed = replace(prototype, groups=(replace(prototype.groups[0], columns=("TEN", "HHT")),))
    with pytest.raises(DataError, match=r"likeness\.yaml, TEN HHT: the columns of a group must be all of"):
        _first(FILE, replace(COUNTRY, likeness={"prototype": mixed}))
    with pytest.raises(DataError, match=r"likeness\.yaml: the entry prototype is missing"):
        _first(FILE, replace(COUNTRY, likeness={}))


def _first(file: DomainFile, country: Country) -> pa.Table:
    return next(synthesize(SMALL, 3, file, country))
