"""Re-identification of reconstructed violations: precision, recall and match rate by hand, and against plain loops."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from genverify.model.errors import DataError
from housing_study import FILE
from studies.housing.evaluate import (
    count_violations,
    curves,
    draw_sample,
    identify,
    in_violation,
    knows_subsidy,
    rank_reconstructed,
    rank_sample,
    read_found,
    reidentify,
    sampling_curves,
)

A, B, C = "010010201001000", "010010201001001", "130010201001000"
HUD = ["SUBSIDIZED", "BEDROOMS", "RACE", "CHILD"]
RACE_CHILD = ["RACE", "CHILD"]


def households(*rows: tuple[str, int, int, int, int]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["block", "BEDROOMS", "SIZE", "CHILDREN", "RACE"])


# In A two households look alike in every key, one of them in violation. The other violation of A is alone in the key `hud`;
# in the key without bedrooms it looks like a household that is not subsidized. B has a violation that nobody flags.
PRIVATE = households(
    (A, 1, 3, 1, 2), (A, 1, 2, 1, 2), (A, 2, 5, 0, 1), (A, 0, 5, 0, 1), (A, 3, 5, 2, 8),
    (B, 1, 3, 1, 2), (B, 3, 4, 0, 1),
)  # fmt: skip
# Two reconstructions of A: both hold a Black household with a child (the first one two), one a White violation, and one a
# Hispanic one, which is not there.
RECONSTRUCTED = pd.DataFrame(
    [
        (A, 0, 1, 3, 1, 2, 2), (A, 0, 2, 5, 0, 1, 1), (A, 0, 3, 5, 0, 8, 2),
        (A, 1, 1, 4, 2, 2, 1), (A, 1, 1, 3, 0, 8, 1), (A, 1, 3, 5, 0, 1, 3),
    ],
    columns=["block", "rank", "BEDROOMS", "SIZE", "CHILDREN", "RACE", "count"],
)  # fmt: skip
FOUND = pd.Series({A: 2})


def of_scope(found: pd.DataFrame, scope: str, *columns: str) -> list[list[Any]]:
    return found.loc[found["scope"] == scope, list(columns)].to_numpy().tolist()


def found_with(names: list[str]) -> pd.DataFrame:
    identified = identify(PRIVATE, "key", names, FILE)
    ranked = rank_reconstructed(count_violations(RECONSTRUCTED, FILE), FOUND, identified, FILE, 1)
    return curves(ranked, identified, "block", "toy")


def test_who_is_in_violation_and_what_a_key_knows() -> None:
    assert in_violation(PRIVATE, FILE).tolist() == [True, False, True, False, False, True, False]
    assert knows_subsidy(HUD, FILE)
    assert knows_subsidy(["BEDROOMS"], FILE)
    assert not knows_subsidy(RACE_CHILD, FILE)


def test_reconstructed_violations_are_counted_in_all_and_in_the_most_likely() -> None:
    counted = count_violations(RECONSTRUCTED, FILE)
    assert counted[["BEDROOMS", "SIZE", "CHILDREN", "RACE", "times", "first"]].to_numpy().tolist() == [
        [1, 3, 0, 8, 1, 0], [1, 3, 1, 2, 2, 2], [1, 4, 2, 2, 1, 0], [2, 5, 0, 1, 1, 1],
    ]  # fmt: skip


def test_the_key_of_hud_by_hand() -> None:
    found = found_with(HUD)
    best = found[found["scope"] == "all"].iloc[0]
    # three Black households in two reconstructions; both look-alikes are joined, one of them rightly; V has three households
    assert best[["frequency", "putative", "true"]].tolist() == [1.5, 2, 1]
    assert best[["precision", "recall", "match_rate"]].tolist() == pytest.approx([1 / 2, 1 / 3, 1])
    last = found[found["scope"] == "all"].iloc[-1]
    assert last[["k", "putative", "true"]].tolist() == [3, 3, 2]
    assert last[["precision", "recall", "match_rate"]].tolist() == pytest.approx([2 / 3, 2 / 3, 2 / 3])


def test_unique_households_by_hand() -> None:
    unique = found_with(HUD)
    unique = unique[unique["scope"] == "unique"]
    assert unique["putative"].iloc[0] == 0
    assert np.isnan(unique["precision"].iloc[0])  # nobody unique is joined yet
    # unique in `hud`: the White violation and the Hispanic household of A, both households of B
    assert unique.iloc[-1][["putative", "true", "precision", "recall"]].tolist() == [1, 1, 1, 1 / 2]


def test_configurations_by_hand() -> None:
    """Look-alikes count once, and rightly so if one of them is in violation; what matches nobody is left out."""
    distinct = found_with(HUD)
    distinct = distinct[distinct["scope"] == "distinct"]
    assert distinct[["putative", "true"]].iloc[[0, -1]].to_numpy().tolist() == [[1, 1], [2, 2]]
    assert distinct["recall"].iloc[-1] == pytest.approx(2 / 3)


def test_configurations_over_households_by_hand() -> None:
    """As many true configurations as with `distinct`; recall is over every household in violation, look-alikes too."""
    twice = pd.concat([PRIVATE, PRIVATE[PRIVATE["block"] == A].iloc[:1]], ignore_index=True)  # one more in violation, alike
    identified = identify(twice, "key", HUD, FILE)
    ranked = rank_reconstructed(count_violations(RECONSTRUCTED, FILE), FOUND, identified, FILE, 1)
    once = curves(ranked, identified, "block", "toy").query("scope == 'once'").iloc[-1]
    assert once[["putative", "true", "precision"]].tolist() == [2, 2, 1]
    assert once["recall"] == pytest.approx(2 / 4)


def test_without_bedrooms_the_neighbours_are_joined_as_well() -> None:
    found = found_with(RACE_CHILD)
    assert of_scope(found, "all", "putative", "true")[-1] == [4, 2]  # the White household that is not subsidized came along
    assert of_scope(found, "unique", "putative", "true")[-1] == [0, 0]
    identified = identify(PRIVATE, "key", RACE_CHILD, FILE)
    assert len(identified.households) == len(PRIVATE)
    assert (identified.true("all"), identified.true("unique")) == (3, 1)


def test_ties_are_drawn_whatever_the_order_of_the_rows() -> None:
    identified = identify(PRIVATE, "key", HUD, FILE)
    counted = count_violations(RECONSTRUCTED, FILE)
    once = rank_reconstructed(counted, FOUND, identified, FILE, 3)
    again = rank_reconstructed(counted[::-1].reset_index(drop=True), FOUND, identified, FILE, 3)
    pd.testing.assert_frame_equal(once, again)
    orders = {tuple(rank_reconstructed(counted, FOUND, identified, FILE, seed)["RACE"]) for seed in range(20)}
    assert orders == {(2, 1, 8), (2, 8, 1)}


def test_blocks_with_fewer_reconstructions_are_ranked_by_the_same_measure() -> None:
    more = pd.concat([RECONSTRUCTED, RECONSTRUCTED[RECONSTRUCTED["rank"] == 0].assign(block=B)], ignore_index=True)
    identified = identify(PRIVATE, "key", HUD, FILE)
    ranked = rank_reconstructed(count_violations(more, FILE), pd.Series({A: 2, B: 1}), identified, FILE, 1)
    assert ranked[["block", "frequency"]].to_numpy().tolist()[:3] == [[B, 2.0], [A, 1.5], [B, 1.0]]


def test_only_flagged_blocks_are_searched_but_recall_is_over_all_violations() -> None:
    more = pd.concat([RECONSTRUCTED, RECONSTRUCTED.assign(block=B)], ignore_index=True)
    attack = ("toy", {A}, count_violations(more, FILE), pd.Series({A: 2, B: 2}))
    found, totals = reidentify(PRIVATE, *attack, {"hud": HUD}, FILE, 1)
    assert found[found["scope"] == "all"].iloc[-1][["putative", "true"]].tolist() == [3, 2]
    assert found[found["scope"] == "all"]["recall"].iloc[-1] == pytest.approx(2 / 3)
    assert totals.to_numpy().tolist() == [
        ["hud", "all", 6, 3, 3, 4, 2], ["hud", "unique", 4, 2, 2, 2, 1], ["hud", "distinct", 5, 3, 3, 3, 2],
        ["hud", "once", 5, 3, 3, 3, 2],
    ]  # fmt: skip


def test_nothing_reconstructed_gives_no_curve() -> None:
    none = count_violations(RECONSTRUCTED[:0], FILE)
    found, totals = reidentify(PRIVATE, "toy", set(), none, pd.Series(dtype=int), {"hud": HUD}, FILE, 1)
    assert found.empty
    assert totals["flagged_households"].tolist() == [0, 0, 0, 0]


def test_the_sampling_attack_with_everybody_in_the_sample() -> None:
    identified = identify(PRIVATE, "key", HUD, FILE)
    ranked = rank_sample(PRIVATE, identified, FILE, 1.0, 1)
    # of the three Black households of the state with a child and one bedroom two are in violation; the White one is alone
    assert ranked[["RACE", "times"]].to_numpy().tolist() == [[1, 1], [2, 2]]
    assert ranked["frequency"].tolist() == pytest.approx([1, 2 / 3])
    found = sampling_curves(PRIVATE, {"hud": HUD}, FILE, 1.0, 1)
    assert of_scope(found, "all", "putative", "true") == [[1, 1], [4, 3]]


def test_a_sample_is_drawn_state_by_state() -> None:
    many = pd.concat([PRIVATE.assign(block=A)] * 10 + [PRIVATE.assign(block=C)] * 5, ignore_index=True)
    drawn = draw_sample(many, 0.2, 1)
    assert drawn["block"].value_counts().to_dict() == {A: 14, C: 7}
    alone = draw_sample(many[many["block"] == C], 0.2, 1)
    pd.testing.assert_frame_equal(alone, drawn[drawn["block"] == C].reset_index(drop=True))
    pd.testing.assert_frame_equal(draw_sample(many, 0.2, 1), drawn)


@pytest.mark.parametrize("names", [HUD, RACE_CHILD, ["SUBSIDIZED", *RACE_CHILD]])
@pytest.mark.parametrize("seed", range(3))
def test_curves_are_what_plain_loops_find(names: list[str], seed: int) -> None:
    rng = np.random.default_rng(seed)
    draw = rng.integers([0, 1, 0, 1], [4, 6, 2, 15], (60, 4))
    private = pd.DataFrame(draw, columns=["BEDROOMS", "SIZE", "CHILDREN", "RACE"]).assign(block=rng.choice([A, B, C], 60))
    guessed = pd.DataFrame(
        rng.integers([0, 1, 0, 1], [4, 6, 2, 15], (80, 4)), columns=["BEDROOMS", "SIZE", "CHILDREN", "RACE"]
    )
    guessed = guessed.assign(block=rng.choice([A, B, C], 80), rank=0, count=rng.integers(1, 3, 80))
    identified = identify(private, "key", names, FILE)
    ranked = rank_reconstructed(count_violations(guessed, FILE), pd.Series({A: 1, B: 2, C: 3}), identified, FILE, seed)
    found = curves(ranked, identified, "block", "toy")

    def shown(rows: pd.DataFrame) -> list[tuple[Any, ...]]:
        return list(zip(rows["block"], *(FILE.values(name, rows) for name in names), strict=True))

    known = private if names == RACE_CHILD else private[private["BEDROOMS"] > 0]
    keys, true = shown(known), in_violation(known, FILE)
    order = list(ranked[["block", *names]].itertuples(index=False, name=None))
    assert set(order) == set(shown(guessed[in_violation(guessed, FILE)]))
    for scope in ("all", "unique"):
        chosen = [scope == "all" or keys.count(key) == 1 for key in keys]
        whole = sum(t for t, c in zip(true, chosen, strict=True) if c)
        assert whole > 0
        for k, row in enumerate(found[found["scope"] == scope].to_dict("records"), 1):
            joined = [t for key, t, c in zip(keys, true, chosen, strict=True) if c and key in order[:k]]
            assert (row["putative"], row["true"]) == (len(joined), sum(joined))
            assert row["recall"] == pytest.approx(sum(joined) / whole)
            violating = {key for key, t, c in zip(keys, true, chosen, strict=True) if t and c}
            assert row["match_rate"] == pytest.approx(sum(key in violating for key in order[:k]) / k)


def test_a_key_that_does_not_exist() -> None:
    with pytest.raises(DataError, match="no attribute 'CHILDS' of a household: did you mean CHILD"):
        identify(PRIVATE, "key", ["RACE", "CHILDS"], FILE)


def test_reconstructions_of_a_block_without_their_number() -> None:
    with pytest.raises(DataError, match=f"block {A} has reconstructions, but no row that says how many"):
        rank_reconstructed(
            count_violations(RECONSTRUCTED, FILE), pd.Series({B: 1}), identify(PRIVATE, "k", HUD, FILE), FILE, 1
        )


def test_a_block_in_two_batches(tmp_path: Any) -> None:
    pd.DataFrame({"block": [A], "found": [2]}).to_parquet(tmp_path / "000.parquet")
    pd.DataFrame({"block": [B, A], "found": [0, 2]}).to_parquet(tmp_path / "001.parquet")
    with pytest.raises(DataError, match=f"block {A} is in two batches"):
        read_found([str(tmp_path / "000.parquet"), str(tmp_path / "001.parquet")])
    assert read_found([str(tmp_path / "001.parquet")]).to_dict() == {A: 2}
