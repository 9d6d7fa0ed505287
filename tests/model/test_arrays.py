"""Keys of rows, and the claims that datasets with very many codes share."""

import numpy as np
import pytest

from genverify.model.arrays import positions, row_bytes, row_keys, row_weights
from genverify.model.claims import candidate_claims

WIDE = 30_000


@pytest.mark.parametrize("most", [3, WIDE])
def test_keys_sort_as_the_rows_do(most: int) -> None:
    rng = np.random.default_rng(1)
    rows = rng.integers(-1, most, (400, 6)).astype(np.int16)
    rows[200:] = rows[rng.integers(0, 200, 200)]
    (keys,) = row_keys([rows])
    distinct, first = np.unique(keys, return_index=True)
    assert (rows[first] == np.unique(rows, axis=0)).all()
    assert (first[positions(distinct, keys)] <= np.arange(400)).all()
    assert len(np.unique(row_bytes(rows))) == len(distinct)


def test_no_weights_where_the_sums_exceed_an_integer() -> None:
    assert row_weights(np.full(6, 2**10)) is not None
    assert row_weights(np.full(6, 2**11)) is None


def test_nothing_is_among_no_keys() -> None:
    assert positions(np.zeros(0, dtype=np.int64), np.arange(3)).tolist() == [-1, -1, -1]


def test_candidates_do_not_depend_on_how_large_the_codes_are() -> None:
    rng = np.random.default_rng(2)
    small = np.repeat(rng.integers(0, 4, (1, 12, 6)), 10, axis=0)
    small = np.where(rng.random(small.shape) < 0.02, rng.integers(0, 4, small.shape), small).astype(np.int16)
    large = np.array([0, 2**13, 2**14, 2**15 - 1], dtype=np.int16)
    codes, m = candidate_claims(small, 1)
    wide_codes, wide_m = candidate_claims(large[small], 1)
    assert len(m) > 50
    assert (wide_codes == np.where(codes < 0, codes, large[codes])).all()
    assert (wide_m == m).all()
