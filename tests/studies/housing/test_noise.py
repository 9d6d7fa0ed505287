"""The housing study's statistics with noise: appendix F's budgets and post-processing."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from genverify.model.errors import ConfigError, DataError
from genverify.model.files import read_yaml
from housing_condition import UNPROTECTED
from studies.housing.statistics import (
    consistent_hud,
    counts_behind,
    noisy_census,
    noisy_hud,
    read_budget,
    uniform_variances,
    with_noise,
)

SIZES = [f"SIZE_{size}" for size in range(1, 8)]
RACES = [f"RACE_{race}" for race in range(1, 15)]
BEDROOMS = ["HUD_BED_1", "HUD_BED_2", "HUD_BED_3"]
DISJOINT = ["HUD_BLACK", "HUD_NATIVE", "HUD_ASIAN_PACIFIC", "HUD_HISPANIC"]


@pytest.fixture(scope="module")
def published(root: Path) -> Any:
    return read_yaml(root / "data/housing/published.yaml")


@pytest.fixture(scope="module")
def das(root: Path) -> dict[str, Fraction]:
    return read_budget(root / "data/housing/budget.yaml").variances()


def statistics(blocks: int, seed: int) -> pd.DataFrame:
    """Statistics of blocks whose numbers fit together, percentages of at most 100 households."""
    rng = np.random.default_rng(seed)
    n = rng.integers(12, 90, blocks)
    sizes, races = (np.array([rng.multinomial(m, np.ones(k) / k) for m in n]) for k in (7, 14))
    hud_n = rng.integers(11, n)
    frame = pd.DataFrame({"block": [f"{b:015}" for b in range(blocks)], "N": n, "P": sizes @ np.arange(1, 8)})
    frame[SIZES], frame[RACES] = sizes, races
    frame["CHILDREN"] = frame["P"] // 3
    frame["HUD_N"], frame["HUD_P"], frame["HUD_UNITS"] = hud_n, 2 * hud_n, hud_n
    for names in (BEDROOMS, DISJOINT, ["HUD_ONE_ADULT", "HUD_TWO_ADULTS"]):
        shares = np.array([rng.multinomial(m, [0.3] * len(names[:3]) + [0.05] * len(names[3:]) + [0.05]) for m in hud_n])
        for name, count in zip(names, shares.T, strict=False):
            frame[name] = (200 * count + hud_n) // (2 * hud_n)
    frame["HUD_MINORITY"] = np.minimum(frame[DISJOINT].sum(axis=1), 100)
    return frame.drop(columns="block").astype(np.int64).assign(block=frame["block"])


def test_the_budgets_are_those_of_appendix_f(das: dict[str, Fraction], root: Path) -> None:
    assert das == {"SIZE": Fraction(24_000_000, 11), "RACE": Fraction(100_000, 77), "CHILDREN": Fraction(62_500, 31)}
    assert read_budget(root / "data/housing/budget.yaml").rho == Fraction("12.66")


def test_a_uniform_budget_is_shared_by_the_counts_that_get_noise() -> None:
    assert uniform_variances(statistics(2, 1), Fraction(1, 10)) == dict.fromkeys(["SIZE", "RACE", "CHILDREN"], 220)


@pytest.mark.parametrize("uniform", [False, True])
def test_noisy_census_counts_are_consistent(das: dict[str, Fraction], uniform: bool) -> None:
    exact = statistics(400, 2)
    variances = uniform_variances(exact, Fraction(1, 10)) if uniform else das
    noisy = noisy_census(exact, variances, np.random.default_rng(3))
    assert list(noisy.columns) == list(exact.columns)
    assert (noisy.dtypes == exact.dtypes).all()
    assert (noisy[[*SIZES, *RACES, "CHILDREN", "P"]] >= 0).all(axis=None)
    assert (noisy["N"] == exact["N"]).all()
    assert (noisy[SIZES].sum(axis=1) == noisy["N"]).all()
    assert (noisy[RACES].sum(axis=1) == noisy["N"]).all()
    assert (noisy["P"] == noisy[SIZES].to_numpy() @ np.arange(1, 8)).all()
    assert (noisy["CHILDREN"] <= noisy["P"]).all()
    assert (noisy["CHILDREN"] == noisy["P"]).any()  # so the bound was needed
    hud = [name for name in exact.columns if name.startswith("HUD_")]
    pd.testing.assert_frame_equal(noisy[["block", *hud]], exact[["block", *hud]])
    assert (noisy[SIZES] != exact[SIZES]).any(axis=None)
    pd.testing.assert_frame_equal(noisy, noisy_census(exact, variances, np.random.default_rng(3)))


def test_a_large_budget_leaves_the_counts_as_they_are() -> None:
    exact = statistics(50, 4)
    exact["P"] = exact[SIZES].to_numpy() @ np.arange(1, 8)
    tiny = dict.fromkeys(["SIZE", "RACE", "CHILDREN"], Fraction(1, 1000))
    pd.testing.assert_frame_equal(noisy_census(exact, tiny, np.random.default_rng(5)), exact)


def test_the_larger_variance_belongs_to_the_sizes(das: dict[str, Fraction]) -> None:
    """Sizes drown in their noise, races less so: how near the rescaled shares stay tells the two budgets apart."""
    exact = statistics(300, 6)
    exact[SIZES] = 0
    exact[RACES] = 0
    exact["SIZE_2"] = exact["RACE_2"] = exact["N"]
    noisy = noisy_census(exact, das, np.random.default_rng(7))
    # by chance alone a seventh of the households would have size 2 and a fourteenth race 2
    sizes, races = (noisy[name].sum() / noisy["N"].sum() for name in ("SIZE_2", "RACE_2"))
    assert 1 / 10 < sizes < 1 / 5
    assert races > 3 / 14


@pytest.mark.parametrize("rho", [Fraction("12.66"), Fraction(1, 100)])
def test_noisy_statistics_of_properties_are_consistent(published: Any, rho: Fraction) -> None:
    exact = statistics(400, 8)
    noisy = noisy_hud(exact, published, rho, np.random.default_rng(9))
    assert list(noisy.columns) == list(exact.columns)
    assert (noisy.dtypes == exact.dtypes).all()
    percentages = list(published["percentages"])
    assert ((noisy[percentages] >= 0) & (noisy[percentages] <= 100)).all(axis=None)
    assert (noisy[percentages] != exact[percentages]).any(axis=None)
    assert noisy[BEDROOMS].sum(axis=1).between(99, 101).all()
    counts = counts_behind(noisy, published["percentages"])
    assert (counts[BEDROOMS].sum(axis=1) == noisy["HUD_UNITS"]).all()
    assert (counts[["HUD_ONE_ADULT", "HUD_TWO_ADULTS"]].sum(axis=1) <= noisy["HUD_N"]).all()
    assert (counts[DISJOINT].sum(axis=1) <= counts["HUD_MINORITY"]).all()
    assert (counts["HUD_MINORITY"] <= noisy["HUD_N"]).all()
    assert (noisy["HUD_P"] >= noisy["HUD_N"]).all()
    unchanged = ["block", "N", "P", *SIZES, *RACES, "CHILDREN", "HUD_N", "HUD_UNITS"]
    pd.testing.assert_frame_equal(noisy[unchanged], exact[unchanged])


def test_counts_behind_percentages_are_found_again_up_to_a_hundred_households() -> None:
    for n in range(1, 101):
        counts = np.arange(n + 1)
        frame = pd.DataFrame({"A": (200 * counts + n) // (2 * n), "ALL": n})
        assert counts_behind(frame, {"A": {"of": "ALL"}})["A"].tolist() == counts.tolist()


def test_exact_counts_of_properties_take_the_place_of_printed_percentages(published: Any) -> None:
    exact = statistics(20, 10).assign(HUD_N=1000, HUD_UNITS=1000)
    counts = counts_behind(exact, published["percentages"])
    counts["HUD_BLACK"] = 123
    noisy = noisy_hud(exact, published, Fraction(10**6), np.random.default_rng(1), counts)
    assert (noisy["HUD_BLACK"] == 12).all()


def test_properties_made_consistent_by_hand(published: Any) -> None:
    noisy = dict.fromkeys(published["percentages"], np.array([0])) | {"HUD_P": np.array([3])}
    noisy |= {"HUD_BLACK": np.array([30]), "HUD_HISPANIC": np.array([10]), "HUD_NATIVE": np.array([-4])}
    noisy |= {"HUD_BED_2": np.array([6]), "HUD_BED_3": np.array([2]), "HUD_ONE_ADULT": np.array([15])}
    counts = consistent_hud(noisy, published["percentages"], {"HUD_N": np.array([20]), "HUD_UNITS": np.array([20])})
    names = [
        "HUD_BED_1",
        "HUD_BED_2",
        "HUD_BED_3",
        "HUD_BLACK",
        "HUD_HISPANIC",
        "HUD_NATIVE",
        "HUD_MINORITY",
        "HUD_ONE_ADULT",
    ]
    assert [int(counts[name][0]) for name in names] == [0, 15, 5, 13, 7, 0, 20, 15]


def test_races_that_overlap_are_refused() -> None:
    lines = {name: {"of": "HUD_N", "where": {"RACE": codes}} for name, codes in (("A", [1, 2]), ("B", [2, 3]))}
    whole = {"HUD_N": np.array([5]), "HUD_UNITS": np.array([5])}
    with pytest.raises(DataError, match="A and B share the race 2"):
        consistent_hud({"A": np.array([1]), "B": np.array([1])}, lines, whole)


def test_budget_files_that_cannot_be_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "budget.yaml"
    good = "tables: {person: 1.0}\nqueries: {SIZE: {tables: person, share: 0.5, cells: 2}}\n"
    file.write_text(good)
    assert read_budget(file).variances() == {"SIZE": 4}
    file.write_text(good.replace("1.0", "0.0"))
    with pytest.raises(ConfigError, match=r"rho of person tables = 0\.0: a budget of 0 or less"):
        read_budget(file).variances()
    file.write_text(good.replace("tables: person", "tables: persons"))
    with pytest.raises(DataError, match="budget of SIZE: no tables 'persons': did you mean person"):
        read_budget(file).variances()
    file.write_text(good.replace("0.5", "0.0"))
    with pytest.raises(ConfigError, match=r"budget\.yaml: setting queries\.SIZE\.share = 0\.0"):
        read_budget(file)
    with pytest.raises(ConfigError, match="rho = 0"):
        noisy_hud(statistics(2, 1), {"percentages": {}}, Fraction(0), np.random.default_rng(1))


@pytest.mark.parametrize(
    ("condition", "census", "hud"),
    [
        ({"noise": "none", "rho": None, "noise_hud": False}, False, False),
        ({"noise": "das", "rho": None, "noise_hud": False}, True, False),
        ({"noise": "none", "rho": 0.5, "noise_hud": True}, False, True),
        ({"noise": "uniform", "rho": 0.1, "noise_hud": True}, True, True),
    ],
)
def test_a_condition_says_which_release_gets_noise(
    condition: dict[str, Any], census: bool, hud: bool, published: Any, root: Path
) -> None:
    exact = statistics(30, 12)
    budget = read_budget(root / "data/housing/budget.yaml")
    chosen = UNPROTECTED.but(**condition)
    noisy = with_noise(exact, chosen, budget, published, seed=1)
    of_hud = [name for name in exact.columns if name.startswith("HUD_")]
    assert (noisy[SIZES] != exact[SIZES]).any(axis=None) == census
    assert (noisy[of_hud] != exact[of_hud]).any(axis=None) == hud
    pd.testing.assert_frame_equal(noisy, with_noise(exact, chosen, budget, published, seed=1))


def test_a_condition_without_rho_takes_the_whole_budget_of_the_file(published: Any, root: Path) -> None:
    budget = read_budget(root / "data/housing/budget.yaml")
    first, again, other = (
        with_noise(statistics(30, 13), UNPROTECTED.but(noise="uniform", rho=rho, noise_hud=True), budget, published, seed=2)
        for rho in (None, 12.66, 1.0)
    )
    pd.testing.assert_frame_equal(first, again)
    assert (first[SIZES] != other[SIZES]).any(axis=None)
