"""Race and origin of neighbours: shares as drawn, the estimate from block counts by hand, and files that cannot be right."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from genverify.cli import main
from genverify.model.domain import read_domain
from genverify.model.errors import DataError
from genverify.model.files import read_yaml
from studies.country.composition import (
    SETTINGS,
    RealBlocks,
    Setting,
    composition_of,
    describe_blocks,
    estimate_setting,
    neighbours_table,
    read_blocks,
    read_settings,
    shares_around,
)
from studies.country.neighbours import build_model
from studies.country.people import read_country
from studies.country.places import rural_tracts, synthesize
from studies.country.settings import Synthetic

PAIRS = np.array([[1, 1], [2, 1]])
TOY = tuple(
    Setting(PAIRS, np.array(shares), np.array([0.2, 0.2]), np.array([1, 20]), np.array([0.3, 0.05]))
    for shares in ([0.6, 0.4], [0.95, 0.05])
)
GROUPS = [f"{race} {origin}" for origin in (1, 2) for race in range(1, 8)]


def counts_of(rows: dict[str, list[int]]) -> pd.DataFrame:
    """Householders of two groups by block."""
    return pd.DataFrame.from_dict(rows, orient="index", columns=["1 1", "2 1"])


@pytest.mark.parametrize("likeness", [0.05, 0.3, 0.8])
def test_two_households_of_a_place_are_alike_as_stated(likeness: float) -> None:
    mean = np.tile([0.7, 0.2, 0.1], (60_000, 1))
    shares = shares_around(mean, np.array(likeness), np.random.default_rng(1))
    assert shares.mean(axis=0) == pytest.approx(mean[0], abs=0.01)
    strangers = (mean[0] ** 2).sum()
    assert (shares**2).sum(axis=1).mean() == pytest.approx(strangers + likeness * (1 - strangers), abs=0.01)


def test_no_likeness_gives_the_mean_itself() -> None:
    mean = np.array([[0.7, 0.3]])
    assert shares_around(mean, np.array(0.0), np.random.default_rng(1)) == pytest.approx(mean, abs=1e-3)


def test_blocks_lie_around_their_tract_the_larger_the_nearer_and_the_factors_hit_the_nation() -> None:
    nation = np.array([0.75, 0.25])
    made = composition_of(RealBlocks(TOY, 0.2, {"state": 0.1, "county": 0.1}), PAIRS, nation, 1.0)
    assert made.means[1][0] > nation[0] > made.means[0][0]
    rng = np.random.default_rng(2)
    rural = np.arange(200) >= 160
    tracts = made.tracts(np.arange(200) // 10, rural, rng)
    tract = np.repeat(np.arange(200), 40)
    sizes = np.where(np.arange(tract.size) % 2, 5, 50)
    blocks = made.blocks(tracts[tract], rural[tract], sizes, rng)
    away = np.abs(blocks - tracts[tract]).sum(axis=1)
    assert away[sizes == 5].mean() > 1.5 * away[sizes == 50].mean()
    weights = sizes / sizes.sum()
    again = made.fitted(blocks, weights).blocks(tracts[tract], rural[tract], sizes, np.random.default_rng(3))
    assert weights @ again == pytest.approx(nation, abs=0.01)
    alone = replace(made, homogeneity=0.0).tracts(np.arange(4), np.zeros(4, dtype=bool), rng)
    assert alone == pytest.approx(np.tile(made.means[0], (4, 1)), abs=1e-3)


def test_estimate_by_hand() -> None:
    """
    Two tracts of one county. Within blocks two neighbours are always of one group; two householders of two blocks of tract A
    are in 16 of 32 pairs, of tract B never of two groups; of two tracts in 32 of 64 pairs.
    """
    blocks = {"390490001001001": [4, 0], "390490001001002": [0, 4], "390490002001001": [4, 0], "390490002001002": [4, 0]}
    counts = counts_of(blocks)
    found = estimate_setting(counts, counts, ["39049"])
    assert found["blocks"] == [{"households": 1, "blocks": 4, "likeness": 0.95}]  # 1, cut below 1
    assert [line["percent"] for line in found["race_and_origin"]] == [75.0, 25.0]
    # pairs of two blocks of a tract both of group 1: 0 in A, 1 in B; of two tracts 4 * 8 / 64; possible 0.75 - 0.5
    assert found["race_and_origin"][0]["tracts"] == 0.0
    assert found["described"]["one race only, blocks of 4 to 6"] == 100.0
    assert found["described"]["outside the largest race, blocks of 4 to 6"] == 0.0
    assert found["described"]["isolation of White householders, tract"] == pytest.approx(100 * (16 / 8 + 8) / 12, abs=0.05)


def test_the_estimate_finds_the_likeness_that_was_drawn() -> None:
    """600 blocks of 10 and 100 of 100 in ten tracts, likeness 0.3 and 0.05; classes without blocks join smaller ones."""
    rng = np.random.default_rng(4)
    tract = np.tile(np.arange(10), 70)
    sizes = np.repeat([10, 100], [600, 100])
    around = rng.dirichlet([3, 3], 10)
    shares = shares_around(around[tract], np.where(sizes == 10, 0.3, 0.05)[:, None], rng)
    names = [f"39049{t:06d}{n:04d}" for n, t in enumerate(tract)]
    counts = pd.DataFrame(rng.multinomial(sizes, shares), index=names, columns=["1 1", "2 1"])
    small, large = estimate_setting(counts, counts, ["39049"])["blocks"]
    assert (small["households"], small["blocks"], large["blocks"]) == (1, 600, 100)
    assert small["likeness"] == pytest.approx(0.3, abs=0.06)
    assert large["likeness"] == pytest.approx(0.05, abs=0.04)
    assert large["households"] in (41, 81)


def test_a_county_without_blocks_or_neighbours() -> None:
    counts = counts_of({"390490001001001": [1, 0], "390490001001002": [0, 1]})
    with pytest.raises(DataError, match="county 39059: no block of the file lies in it"):
        estimate_setting(counts, counts, ["39049", "39059"])
    with pytest.raises(DataError, match=r"county 3904: .*give five digits of counties that it holds: 39049 to 39049"):
        estimate_setting(counts, counts, ["3904"])
    with pytest.raises(DataError, match="no two neighbours, or no two tracts; give more blocks"):
        estimate_setting(counts, counts, ["39049"])


def test_a_county_without_blocks_of_a_size_says_nothing_of_these() -> None:
    """No block of ten or more householders: one class of likeness for all sizes, and no percentage of larger blocks."""
    names = [f"39049000{tract}00100{block}" for tract in (1, 2) for block in range(1, 9)]
    counts = pd.DataFrame([[3, 1], [1, 3]] * 8, index=names, columns=["1 1", "2 1"])
    found = estimate_setting(counts, counts, ["39049"])
    assert [line["households"] for line in found["blocks"]] == [1]
    assert np.isnan(found["described"]["one race only, blocks of about ten"])
    assert found["described"]["outside the largest race, blocks of 4 to 6"] == 25.0


def householders(folder: Path, change: dict[str, object]) -> Path:
    """A file of Summary File 1, P15, of four blocks, the second row changed."""
    names = ["P0150001", *(f"P015{number:04d}" for number in (*range(3, 10), *range(11, 18)))]
    rows = [
        {"GEOID": f"39049000{tract}00100{block}", **dict.fromkeys(names, 0), "P0150001": 9, "P0150003": 6, "P0150004": 3}
        for tract in (1, 2)
        for block in (1, 2)
    ]
    rows[1] |= change
    pd.DataFrame(rows).to_csv(folder / "sf1.csv", index=False)
    return folder / "sf1.csv"


def test_a_file_of_householders(root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = householders(tmp_path, {})
    layouts = str(root / "data/census/block_layouts.yaml")
    assert main(["estimate", "neighbours", str(path), "--urban", "39049", "--rural", "39049", "--layouts", layouts]) == 0
    found = yaml.safe_load(capsys.readouterr().out)
    assert list(found) == list(SETTINGS)
    (tmp_path / "neighbours.yaml").write_text(yaml.safe_dump(found))
    assert read_settings(tmp_path / "neighbours.yaml")[0].shares[0] == pytest.approx(2 / 3, abs=1e-5)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"P0150001": 8}, r"row 3: GEOID '390490001001002' has counts of races and origins that do not add up"),
        ({"P0150003": -6}, "row 3: P0150003 -6 is not a whole number of 0 or more"),
        ({"P0150003": 6.5}, r"row 3: P0150003 6\.5 is not a whole number"),
        ({"GEOID": "39049"}, "row 3: GEOID '39049' is not a block of 15 digits"),
        ({"GEOID": "390490001001001"}, "is not a block of 15 digits, or is listed twice"),
    ],
)
def test_block_counts_that_cannot_be_right(root: Path, tmp_path: Path, change: dict[str, object], words: str) -> None:
    with pytest.raises(DataError, match=words):
        read_blocks(householders(tmp_path, change), read_yaml(root / "data/census/block_layouts.yaml"))


def test_adults_are_differences_and_men_must_be_among_persons(root: Path, tmp_path: Path) -> None:
    layouts = read_yaml(root / "data/census/block_layouts.yaml")
    adults = {f"P003{n:04d}": 0 for n in (1, *range(3, 10))} | {f"P004{n:04d}": 0 for n in range(5, 12)}
    block = {"block": "390490001001001"}
    pd.DataFrame([block | adults | {"P0030001": 5, "P0030003": 5, "P0040005": 3}]).to_csv(tmp_path / "pl.csv", index=False)
    _, shares = read_blocks(tmp_path / "pl.csv", layouts)
    assert shares.iloc[0][["1 1", "1 2"]].tolist() == [3, 2]
    pd.DataFrame([block | adults | {"P0030001": 3, "P0030003": 3, "P0040005": 4}]).to_csv(tmp_path / "pl.csv", index=False)
    with pytest.raises(DataError, match=r"row 2: block '390490001001001' has counts .* that do not add up"):
        read_blocks(tmp_path / "pl.csv", layouts)
    men = layouts["men of 30 and over"]
    own = dict.fromkeys([*men["neighbours"].values(), *men["shares"].values()], 0) | {
        "men30_black": 2,
        "black_not_hispanic": 1,
    }
    pd.DataFrame([block | own]).to_csv(tmp_path / "men.csv", index=False)
    with pytest.raises(DataError, match="do not add up"):
        read_blocks(tmp_path / "men.csv", layouts)
    pd.DataFrame([block]).to_csv(tmp_path / "none.csv", index=False)
    lacks = r"no layout \(householders, men of 30 and over, adults\): of 'householders' it lacks P0150003, "
    with pytest.raises(DataError, match=lacks):
        read_blocks(tmp_path / "none.csv", layouts)


def test_an_estimate_of_another_domain_is_refused(root: Path) -> None:
    country, file = read_country(root / "data/synthetic"), read_domain(root / "data/census/domain.yaml")
    assert country.blocks
    other = tuple(replace(one, codes=one.codes + np.array([1, 0])) for one in country.blocks.settings)
    with pytest.raises(
        DataError, match=r"neighbours\.yaml, urban: THHRACE=1, THHSPAN=1 stands in one of file and domain only"
    ):
        build_model(file, replace(country, blocks=replace(country.blocks, settings=other)), "prototype", 1.0)


@pytest.mark.parametrize("part", ["race_and_origin", "blocks"])
def test_an_estimate_without_lines_is_refused(root: Path, tmp_path: Path, part: str) -> None:
    text = read_yaml(root / "data/synthetic/neighbours.yaml")
    (tmp_path / "neighbours.yaml").write_text(yaml.safe_dump({**text, "urban": {**text["urban"], part: []}}))
    with pytest.raises(DataError, match="urban: race_and_origin and blocks need a line each at least"):
        read_settings(tmp_path / "neighbours.yaml")


def test_the_shipped_estimate_is_that_of_the_real_blocks(root: Path) -> None:
    path = root.parent / "shared" / "data" / "sf1-2010-blocks.csv.gz"
    if not path.exists():
        pytest.skip("no ../shared/data/sf1-2010-blocks.csv.gz beside the repository")
    counts, shares = read_blocks(path, read_yaml(root / "data/census/block_layouts.yaml"))
    shipped = read_yaml(root / "data/synthetic/neighbours.yaml")
    for name in SETTINGS:
        found = estimate_setting(counts, shares, shipped[name]["counties"])
        assert yaml.safe_dump(found) == yaml.safe_dump(shipped[name])


def test_the_country_has_the_blocks_of_the_real_ones(root: Path) -> None:
    """Urban and rural: within nine points of what real blocks show, isolation of few Black householders apart."""
    country, file = read_country(root / "data/synthetic"), read_domain(root / "data/census/domain.yaml")
    chosen = Synthetic(country="data/synthetic", likeness="prototype", households=300_000, homogeneity=1.0)
    units = [table.to_pandas() for table in synthesize(chosen, 11, file, country)]
    occupied = [own[own["VACS"] == 0] for own in units]
    rural = rural_tracts(chosen, 11, country)
    estimates = root / "data/synthetic/neighbours.yaml"
    table = neighbours_table([(own["block"], own["THHRACE"]) for own in occupied], rural, estimates, "toy").set_index(
        "percent"
    )
    assert (table["real_urban"] - table["country_urban"]).abs().max() < 9
    common = ~table.index.str.contains("Black")
    assert (table["real_rural"] - table["country_rural"])[common].abs().max() < 9
    households = sum(len(own) for own in occupied)
    living = sum(own["block"].str[:11].isin(rural).sum() for own in occupied)
    assert 0.1 < living / households < 0.3
    outside = [f"outside the largest race, blocks of {size}" for size in ("4 to 6", "about ten", "20 to 40", "100 to 400")]
    assert table.loc[outside, "country_urban"].is_monotonic_increasing
    anywhere = neighbours_table([(own["block"], own["THHRACE"]) for own in occupied], (), estimates, "toy")
    assert list(anywhere) == ["percent", "real_urban", "real_rural", "country", "data"], "no rural tract is known"
    assert describe_blocks(counts_of({"390490001001001": [9, 1]}))["one race only, blocks of about ten"] == 0.0
