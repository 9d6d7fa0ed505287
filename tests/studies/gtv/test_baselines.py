"""Baselines: the binomial of equation 4 against mpmath, and the priors against counting by hand and by brute force."""

from pathlib import Path

import mpmath
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from genverify.attack.verify import claim_columns
from genverify.model.claims import ANY, Claim
from genverify.model.domain import EVERY, Column, Domain, Predicate
from genverify.model.errors import DataError
from studies.country.store import GEOGRAPHY, write_microdata
from studies.gtv.baselines import PRIORS, Prior, _uniform_prior, binomial, count_priors, fit_baselines

STORED = Domain(
    (
        Column("TEN", "tenure", (0, 1, 2), ("", "", "")),
        Column("VACS", "vacancy", (0, 1), ("", "")),
        Column("AGE", "age", (0, 1, 2, 3), ("", "", "", "")),
    )
)
PUBLISHED = STORED.restrict({"TEN": [1, 2], "AGE": [1, 2, 3]})
OCCUPIED = Predicate.of({"VACS": [0]})
HOME, SAME_TRACT, SAME_COUNTY, SAME_STATE, ELSEWHERE = (
    "010010201001000", "010010201002000", "010010202001000", "010030101001000", "560459513003245",
)  # fmt: skip

BINOMIALS = [
    # n, m, count, size
    (10, 1, 1, 116_700_000),
    (10, 3, 1, 100_000_000),
    (20, 17, 1, 2_508_800),
    (10, 10, 1, 10**9),
    (10, 1, 3, 7),
    (1, 1, 3, 7),
    (1, 0, 3, 7),
    (1, 1, 1, 10**15),
    (10, 9, 10**9 - 1, 10**9),
    (10, 2, 10**9 - 1, 10**9),
    (2_000, 3, 50, 100_000),
    (10**6, 500_000, 1, 2),
    (10**9, 10, 1, 10**8),
    (10**9, 10**9 - 3, 10**9 - 1, 10**9),
    (10**12, 3, 1, 10**12),
]


def probability(n: int, m: int, count: int, size: int) -> float:
    return float(binomial(*(np.array([x]) for x in (n, m)), Prior(np.array([count]), np.array([size])))[0])


@pytest.mark.parametrize(("n", "m", "count", "size"), BINOMIALS)
def test_binomial_agrees_with_mpmath(n: int, m: int, count: int, size: int) -> None:
    with mpmath.workdps(60):
        p = mpmath.mpf(count) / size
        exact = mpmath.binomial(n, m) * p**m * (1 - p) ** (n - m)
        assert abs(mpmath.mpf(probability(n, m, count, size)) / exact - 1) < 1e-13


def test_certain_and_impossible_priors() -> None:
    assert [probability(10, m, 0, 50) for m in (0, 1, 10)] == [1, 0, 0]
    assert [probability(10, m, 50, 50) for m in (0, 9, 10)] == [0, 0, 1]
    assert [probability(1, m, 0, 50) for m in (0, 1)] == [1, 0]
    assert [probability(10**9, m, 0, 50) for m in (0, 1)] == [1, 0]


def test_an_empty_prior_has_probability_zero() -> None:
    assert probability(10, 1, 0, 0) == 0
    assert probability(10, 0, 0, 0) == 1


def store(folder: Path, *rows: tuple[str, int, int, int]) -> Path:
    blocks, *codes = zip(*rows, strict=True)
    columns = {name: pa.array(values, pa.int8()) for name, values in zip(STORED.names, codes, strict=True)}
    write_microdata([pa.table({"block": list(blocks), **columns})], folder, STORED)
    return folder


def claims_of(*said: tuple[str, Claim]) -> pd.DataFrame:
    frame = claim_columns([claim for _, claim in said], STORED.names)
    frame.insert(0, "design", "hand")
    frame.insert(0, "block", [block for block, _ in said])
    return frame


def blocks_of(**sizes: int) -> pd.DataFrame:
    return pd.DataFrame({"block": [b.removeprefix("b") for b in sizes], "n_households": list(sizes.values())})


@pytest.fixture
def country(tmp_path: Path) -> Path:
    """HOME holds renter 2/1 and owner 1/3; more renters 2/1 outside; vacant units everywhere, which never count."""
    return store(
        tmp_path,
        (HOME, 2, 0, 1), (HOME, 1, 0, 3), (HOME, 0, 1, 0),
        (SAME_TRACT, 2, 0, 1), (SAME_TRACT, 2, 0, 2), (SAME_TRACT, 0, 1, 0),
        (SAME_COUNTY, 2, 0, 1),
        (SAME_STATE, 2, 0, 2), (SAME_STATE, 1, 0, 1), (SAME_STATE, 0, 1, 0),
        (ELSEWHERE, 2, 0, 1), (ELSEWHERE, 1, 0, 3), (ELSEWHERE, 1, 0, 2),
    )  # fmt: skip


def test_counts_by_hand(country: Path) -> None:
    claims = claims_of((HOME, Claim((2, ANY, 1), 1)), (HOME, Claim((1, 0, 3), 1)), (HOME, Claim((ANY, 0, ANY), 2)))
    counted = count_priors(claims, country, STORED, OCCUPIED)
    found = {name: list(zip(prior.count.tolist(), prior.size.tolist(), strict=True)) for name, prior in counted.items()}
    assert found == {
        "block": [(1, 2), (1, 2), (2, 2)],
        "tract": [(2, 4), (1, 4), (4, 4)],
        "county": [(3, 5), (1, 5), (5, 5)],
        "state": [(3, 7), (1, 7), (7, 7)],
        "nation": [(4, 10), (2, 10), (10, 10)],
    }


def test_baselines_of_both_definitions_by_hand(country: Path) -> None:
    claims = claims_of((HOME, Claim((2, ANY, 1), 1)), (HOME, Claim((1, 0, 3), 1)))
    sizes = blocks_of(**{"b" + HOME: 2})
    baselines, unseen = fit_baselines(claims, sizes, country, STORED, PUBLISHED, OCCUPIED)
    priors = [name + ending for name in PRIORS for ending in ("", "_leave_out")] + ["uniform"]
    assert list(baselines.columns) == ["block", "design", "k", "m", *priors]
    expected = {
        "tract": (2 / 4, 1 / 4), "tract_leave_out": (1 / 2, 0), "county": (3 / 5, 1 / 5), "county_leave_out": (2 / 3, 0),
        "state": (3 / 7, 1 / 7), "state_leave_out": (2 / 5, 0), "nation": (4 / 10, 2 / 10),
        "nation_leave_out": (3 / 8, 1 / 8), "uniform": (1 / 6, 1 / 12),
    }  # fmt: skip
    for name, priors_of_claims in expected.items():
        assert baselines[name].tolist() == pytest.approx([2 * p * (1 - p) for p in priors_of_claims], rel=1e-13)
    assert unseen.set_index("prior")["unseen"].to_dict() == {
        name: int(name in ("tract_leave_out", "county_leave_out", "state_leave_out")) for name in priors
    }


def test_a_block_that_is_its_whole_tract_leaves_nothing(tmp_path: Path) -> None:
    folder = store(tmp_path, (HOME, 2, 0, 1), (HOME, 2, 0, 1))
    claims, sizes = claims_of((HOME, Claim((2, 0, 1), 2))), blocks_of(**{"b" + HOME: 2})
    baselines, unseen = fit_baselines(claims, sizes, folder, STORED, PUBLISHED, OCCUPIED)
    assert baselines[["tract", "nation", "tract_leave_out", "nation_leave_out"]].to_numpy().tolist() == [[1, 1, 0, 0]]
    assert unseen.set_index("prior").loc["nation_leave_out", "unseen"] == 1


def test_the_universe_may_hold_vacant_units(country: Path) -> None:
    claims = claims_of((HOME, Claim((0, 1, 0), 1)))
    counted = count_priors(claims, country, STORED, EVERY)
    assert [(int(p.count[0]), int(p.size[0])) for p in counted.values()] == [(1, 3), (2, 6), (2, 7), (3, 10), (3, 13)]


def test_a_claim_of_both_designs_stays_twice_in_order(country: Path) -> None:
    claims = claims_of((ELSEWHERE, Claim((2, ANY, 1), 1)), (HOME, Claim((1, 0, 3), 1)), (ELSEWHERE, Claim((2, ANY, 1), 1)))
    claims["design"] = ["a", "a", "b"]
    sizes = blocks_of(**{"b" + HOME: 2, "b" + ELSEWHERE: 3})
    baselines, _ = fit_baselines(claims, sizes, country, STORED, PUBLISHED, OCCUPIED)
    pd.testing.assert_frame_equal(baselines[["block", "design", "k", "m"]], claims[["block", "design", "k", "m"]])
    assert baselines["state"].iloc[0] == baselines["state"].iloc[2] == pytest.approx(3 * (1 / 3) * (2 / 3) ** 2)


def test_a_claim_that_is_false_of_the_microdata_is_refused(country: Path) -> None:
    claims, sizes = claims_of((HOME, Claim((2, ANY, 1), 2))), blocks_of(**{"b" + HOME: 2})
    with pytest.raises(DataError, match=rf"block {HOME} should hold 2 matching records among 2, .* hold 1 among 2"):
        fit_baselines(claims, sizes, country, STORED, PUBLISHED, OCCUPIED)


def test_a_state_without_microdata_is_named(country: Path) -> None:
    with pytest.raises(DataError, match=r"no file 02\.parquet for state 02"):
        count_priors(claims_of(("02" + HOME[2:], Claim((2, 0, 1), 1))), country, STORED, OCCUPIED)


def test_no_claims_give_no_rows(country: Path) -> None:
    claims = claims_of((HOME, Claim((2, ANY, 1), 1))).iloc[:0]
    baselines, unseen = fit_baselines(claims, blocks_of(**{"b" + HOME: 2}), country, STORED, PUBLISHED, OCCUPIED)
    assert len(baselines) == 0
    assert unseen["unseen"].sum() == 0


def test_uniform_prior_uses_the_codes_of_the_release() -> None:
    claims = claims_of((HOME, Claim((2, ANY, 1), 1)), (HOME, Claim((1, 0, 3), 1)))
    assert _uniform_prior(claims, PUBLISHED).size.tolist() == [2 * 3, 2 * 2 * 3]
    assert _uniform_prior(claims, STORED).size.tolist() == [3 * 4, 3 * 2 * 4]


def test_counts_agree_with_brute_force(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    names = list(STORED.names)
    places = [f"{s:02d}{c:03d}{t:06d}{b:04d}" for s in (1, 4, 56) for c in (1, 3) for t in (1, 2) for b in (1, 2)]
    rows = [(str(rng.choice(places)), *(int(rng.choice(c.codes)) for c in STORED.columns)) for _ in range(600)]
    folder = store(tmp_path, *rows)
    said = []
    for _ in range(80):
        codes = [int(rng.choice(column.codes)) if rng.random() < 0.6 else ANY for column in STORED.columns]
        said.append((str(rng.choice([p for p in places if not p.startswith("04")])), Claim(tuple(codes), 1)))
    counted = count_priors(claims_of(*said), folder, STORED, OCCUPIED)
    records = pd.DataFrame(rows, columns=["block", *names]).query("VACS == 0")
    for name, width in {"block": GEOGRAPHY["block"], **PRIORS}.items():
        for row, (block, claim) in enumerate(said):
            area = records[records["block"].str.startswith(block[:width])]
            assert counted[name].size[row] == len(area)
            assert counted[name].count[row] == claim.predicate(STORED).matches(dict(area.items())).sum()
