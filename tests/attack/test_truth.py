"""Households represented by claims (footnote 6), claims against the private records, and the block bootstrap."""

import numpy as np
import pandas as pd
import pytest

from genverify.attack.evaluate import (
    Weights,
    check_against_microdata,
    ratio_interval,
    total_interval,
)
from genverify.model.errors import DataError
from studies.gtv.tables import count_answers, count_households

RECORDS = pd.DataFrame(
    [("x", 1, 1, 1), ("x", 1, 2, 1), ("x", 2, 2, 1), ("y", 1, 1, 1), ("y", 1, 1, 0)], columns=["block", "A", "B", "C"]
)
SAMPLE = pd.DataFrame({"block": ["x", "x", "y", "z"], "design": ["d", "e", "d", "d"], "n_households": [3, 3, 2, 4]})


def claim_rows(*rows: tuple[str, str, int, int | None, int | None, int | None, int]) -> pd.DataFrame:
    """Rows of block, design, m, A, B, C and effective k."""
    frame = pd.DataFrame(rows, columns=["block", "design", "m", "A", "B", "C", "effective_k"])
    frame = frame.astype({"A": "Int16", "B": "Int16", "C": "Int16"})
    return frame.assign(k=frame[["A", "B", "C"]].notna().sum(axis=1))


CLAIMS = claim_rows(
    ("x", "d", 1, 2, 2, None, 1),  # the third record
    ("x", "d", 1, 2, None, 1, 1),  # the third record again: one household
    ("x", "d", 1, None, 1, 1, 2),  # the first record
    ("x", "d", 2, 1, None, 1, 1),  # the first and the second
    ("x", "e", 1, 2, 2, None, 1),
    ("y", "d", 1, 1, 1, 1, 1),
)


def households(counted: pd.DataFrame, block: str, design: str, claims: str, grouping: str) -> dict[int, int]:
    rows = counted.query("block == @block and design == @design and claims == @claims and grouping == @grouping")
    return {int(c): int(h) for c, h in zip(rows["columns"], rows["households"], strict=True) if h}


def test_a_household_counts_once_however_many_claims_represent_it() -> None:
    counted = count_households(CLAIMS, RECORDS, np.ones(5, dtype=bool), SAMPLE, 3)
    assert households(counted, "x", "d", "singleton", "k") == {2: 2}
    assert households(counted, "x", "d", "all", "k") == {2: 3}
    assert households(counted, "x", "d", "singleton", "effective_k") == {1: 1, 2: 1}
    assert households(counted, "x", "d", "all", "effective_k") == {1: 3, 2: 1}
    assert households(counted, "x", "e", "all", "k") == {2: 1}
    assert households(counted, "y", "d", "singleton", "k") == {3: 1}


def test_a_block_without_claims_is_there_with_zero() -> None:
    counted = count_households(CLAIMS, RECORDS, np.ones(5, dtype=bool), SAMPLE, 3)
    assert counted.loc[counted["block"] == "z", "households"].tolist() == [0] * 14
    assert len(counted) == 4 * 14


def test_a_record_that_is_no_household_is_not_counted() -> None:
    vacant = np.array([True, True, False, True, True])
    counted = count_households(CLAIMS, RECORDS, vacant, SAMPLE, 3)
    assert households(counted, "x", "d", "singleton", "k") == {2: 1}
    assert households(counted, "x", "e", "singleton", "k") == {}


def test_true_claims_pass_the_check() -> None:
    check_against_microdata(CLAIMS, RECORDS)


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        (("x", "d", 1, 1, None, 1, 1), r"block x: the verified claim A=1, C=1 says m = 1, but 2 of its 3 private records"),
        (("y", "d", 1, 2, None, None, 1), r"block y: .* A=2 says m = 1, but 0 of its 2"),
        (("z", "d", 1, 2, None, None, 1), r"block z: .* but 0 of its 0"),
    ],
)
def test_a_claim_that_is_not_true_of_its_block_is_an_error(
    claim: tuple[str, str, int, int | None, int | None, int | None, int], message: str
) -> None:
    wrong = pd.concat([CLAIMS, claim_rows(claim)], ignore_index=True)
    with pytest.raises(DataError, match=message):
        check_against_microdata(wrong, RECORDS)
    with pytest.raises(DataError, match=message):
        count_households(wrong, RECORDS, np.ones(5, dtype=bool), SAMPLE, 3)


def test_answers_are_counted_without_the_row_of_n() -> None:
    rows = [("x", "N", 1), ("x", "q1", 0), ("x", "q2", 1), ("x", "q3", 4), ("y", "N", 0)]
    found = count_answers(pd.DataFrame(rows, columns=["block", "query", "count"]), 5, "N")
    assert found.to_dict("list") == {
        "block": ["x", "y"],
        "queries": [5, 5],
        "published": [3, 0],
        "zeros": [1, 0],
        "ones": [1, 0],
    }


def test_weights_resample_each_design_by_itself_and_follow_the_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    designs = ["a"] * 3 + ["b"] * 2
    weights = np.concatenate(list(Weights(designs, 7, resamples=50).parts()))
    assert (weights[:, :3].sum(axis=1) == 3).all()
    assert (weights[:, 3:].sum(axis=1) == 2).all()
    monkeypatch.setattr("genverify.attack.evaluate.WEIGHTS_AT_ONCE", 17)
    again = list(Weights(designs, 7, resamples=50).parts())
    assert [len(part) for part in again] == [3] * 16 + [2]
    assert (weights == np.concatenate(again)).all()
    assert (weights[:, :3] == np.concatenate(list(Weights(["a"] * 3, 7, resamples=50).parts()))).all()
    assert (weights != np.concatenate(list(Weights(designs, 8, resamples=50).parts()))).any()


def test_equal_blocks_leave_no_doubt_about_their_total() -> None:
    low, high = total_interval(np.full((4, 1), 3), Weights(["a"] * 4, 1))
    assert (low.tolist(), high.tolist()) == ([12.0], [12.0])


def test_the_interval_is_that_of_the_binomial_for_blocks_of_zero_and_one() -> None:
    values = np.array([[1]] * 50 + [[0]] * 50)
    low, high = total_interval(values, Weights(["a"] * 100, 1))
    assert 39 <= low[0] <= 42  # the total is binomial(100, 1/2): 2.5 % and 97.5 % are 40 and 60
    assert 58 <= high[0] <= 61


def test_a_ratio_leaves_out_resamples_without_a_whole() -> None:
    part, whole = np.array([[2, 0], [0, 0]]), np.array([[4, 0], [0, 0]])
    low, high = ratio_interval(part, whole, Weights(["a"] * 2, 1))
    assert (low[0], high[0]) == (0.5, 0.5)
    assert np.isnan(low[1])
    assert np.isnan(high[1])
