"""Smoothing of the priors: chosen by predicting blocks from their neighbours, against the priors themselves."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from genverify.model.errors import ConfigError
from genverify.model.release import make_schema
from studies.gtv.probabilities import TIMES, Areas, chosen_smoothing, left_out, predicted, score_smoothing
from studies.gtv.settings import Probability

DOMAIN = make_schema({"A": ["a", "b", "c"], "B": ["x", "y"]}, {"A": ["A"]}).domain
NAMES = list(DOMAIN.names)
CODES = {column.name: column.codes for column in DOMAIN.columns}
SIZES = {column.name: len(column.codes) for column in DOMAIN.columns}
VALUES = [0.1, 1.0, 10.0, 100.0, 1000.0]
BLOCKS = ["010010001001000", "010010001001001", "010010002001000", "560010001001000"]


def households(seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    blocks = rng.choice(BLOCKS, 60)
    return pd.DataFrame({"block": blocks, **{name: rng.choice(CODES[name], 60, p=None) for name in NAMES}})


def counted(records: pd.DataFrame, level: str, area: str) -> pd.DataFrame:
    own = records[records["block"].str.startswith(area)]
    return own.groupby(NAMES).size().rename(TIMES).reset_index().assign(level=level, area=area)


@pytest.mark.parametrize("seed", range(3))
def test_a_household_is_predicted_as_by_the_prior_of_its_block(seed: int) -> None:
    """The formula of the choice and the prior of a block that is left out are the same."""
    records = households(seed)
    nation = counted(records, "nation", "")[[*NAMES, TIMES]]
    smoothing = {"nation": 2.0, "state": 3.0, "tract": 5.0}
    for block in BLOCKS[:2]:
        state = records[records["block"].str.startswith("01")]
        rows = left_out(state, nation, NAMES)
        chance = predicted(rows, smoothing, DOMAIN.size)[rows["block"] == block]
        others = records[records["block"] != block]
        tables = [counted(others, level, area) for level, area in (("nation", ""), ("state", "01"), ("tract", block[:11]))]
        prior = Areas.of(pd.concat(tables), DOMAIN, smoothing).priors(block)["tract"]
        table = {tuple(row): weight for row, weight in zip(prior.records.tolist(), prior.weights.tolist(), strict=True)}
        own = rows.loc[rows["block"] == block, NAMES].itertuples(index=False, name=None)
        assert chance == pytest.approx([table.get(tuple(row), prior.floor) for row in own])


def test_tracts_that_differ_need_little_smoothing_and_alike_ones_much() -> None:
    """Tracts of one kind of household each are best predicted by themselves; tracts drawn from one urn by the nation."""
    rng = np.random.default_rng(1)
    tracts = np.repeat([f"01001{tract:06d}" for tract in range(30)], 40)
    blocks = [f"{tract}{1000 + number % 4}" for number, tract in enumerate(tracts)]
    chosen = {}
    for name, codes in {"apart": np.repeat(rng.choice(CODES["A"], 30), 40), "alike": rng.choice(CODES["A"], 1200)}.items():
        records = pd.DataFrame({"block": blocks, "A": codes, "B": CODES["B"][0]})
        scored = score_smoothing(lambda own=records: [own], SIZES, VALUES)
        chosen[name] = chosen_smoothing(scored)
        best = scored.groupby("level")["nats_per_household"].min()
        assert (
            scored[scored["chosen"]].set_index("level")["nats_per_household"] == best[["nation", "state", "tract"]]
        ).all()
    assert chosen["apart"]["tract"] == 0.1
    assert chosen["alike"]["tract"] >= 100


def test_without_other_blocks_the_wider_area_says_most() -> None:
    nothing = households(1).iloc[:0]
    assert chosen_smoothing(score_smoothing(lambda: [nothing], SIZES, VALUES))["tract"] == 1000.0


def test_what_is_given_has_no_part_in_the_choice() -> None:
    """Tracts differ in A, which is given, and in nothing else: B is best predicted by the nation, though A is not."""
    rng = np.random.default_rng(1)
    tracts = np.repeat([f"01001{tract:06d}" for tract in range(30)], 40)
    blocks = [f"{tract}{1000 + number % 4}" for number, tract in enumerate(tracts)]
    columns = {"A": np.repeat(rng.choice(CODES["A"], 30), 40), "B": rng.choice(CODES["B"], 1200)}
    records = pd.DataFrame({"block": blocks, **columns})
    alone, rest = (score_smoothing(lambda: [records], SIZES, VALUES, given=given) for given in ([], ["A"]))
    assert chosen_smoothing(alone)["tract"] <= 10
    assert chosen_smoothing(rest)["tract"] >= 100


def test_the_loss_given_a_column_is_that_of_the_whole_without_it() -> None:
    """By hand from the priors: -log P(A, B) + log P(A), every household from the other blocks."""
    records = households(3)
    nation = counted(records, "nation", "")[[*NAMES, TIMES]]
    scored = score_smoothing(lambda: [records], SIZES, [2.0], ("nation",), ["A"])
    rows = left_out(records, nation, NAMES).assign(p=lambda rows: predicted(rows, {"nation": 2.0}, DOMAIN.size))
    loss = 0.0
    for block, own in rows.groupby("block"):
        others = records[records["block"] != block]
        of_a = others["A"].value_counts().reindex(own["A"]).fillna(0).to_numpy()
        p_a = (of_a + 2.0 / SIZES["A"]) / (len(others) + 2.0)
        loss -= (own[TIMES] * np.log(own["p"].to_numpy() / p_a)).sum()
    assert scored["nats_per_household"].tolist() == pytest.approx([loss / len(records)])


@pytest.mark.parametrize(
    ("given", "said"), [(["TENN"], "no column 'TENN': did you mean TEN"), (["TEN", "RACE"], "every column is given")]
)
def test_wrong_columns_are_refused(given: list[str], said: str, config: dict[str, Any]) -> None:
    settings = Probability(**{**config["probability"], "given": given})
    with pytest.raises(ConfigError, match=said):
        settings.known_columns(["TEN", "RACE"])
