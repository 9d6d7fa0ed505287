"""Households behind singleton claims, how many of them a release loses, and how far that is from what the paper lost."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from genverify.attack.truth import match_claims
from genverify.core.arraytypes import Flags, Floats, Ints
from genverify.core.claims import ANY, Claim, false_claims
from genverify.core.errors import DataError
from genverify.papers.gtv.tables.households import PAPER_K

COMPARED = PAPER_K[:-1]
"""The k that losses are compared for: at k = 10 the paper has six households to lose."""


def find_households(claims: pd.DataFrame, records: pd.DataFrame) -> pd.DataFrame:
    """The claims with the household that each singles out, as its place in the block; an error if one is false."""
    household = np.full(len(claims), -1, dtype=np.int64)
    for found in match_claims(claims, records):
        if false_claims(found.flags, np.ones(len(found.claims), dtype=np.int64)).any():
            raise DataError(
                f"block {found.block}: a verified singleton claim is false of its records. Either they changed after the "
                "counts were made: publish and attack again. Or the verification is wrong."
            )
        household[found.claims] = found.flags.argmax(axis=1)
    return claims.assign(household=household.astype(np.int32))


def claims_by_block(claims: pd.DataFrame, names: Sequence[str]) -> dict[str, "BlockClaims"]:
    """The claims of every block."""
    return {str(block): BlockClaims(rows, names) for block, rows in claims.groupby("block", sort=True)}


class BlockClaims:
    """The singleton claims of a block, with the k and the household of each."""

    def __init__(self, rows: pd.DataFrame, names: Sequence[str]) -> None:
        codes = rows[list(names)].fillna(ANY).to_numpy(dtype=np.int64)
        self.claims = [Claim(tuple(row), 1) for row in codes.tolist()]
        self.k, self.household = rows["k"].to_numpy(), rows["household"].to_numpy()

    def count(self, verified: Flags) -> Ints:
        """How many households the verified ones among the claims single out, by k (footnote 6)."""
        return np.array([len(np.unique(self.household[verified & (self.k == k)])) for k in PAPER_K], dtype=np.int64)


def losses(before: npt.ArrayLike, after: npt.ArrayLike) -> Floats:
    """
    The share of households that are lost, by k; not known where there are none to lose.

    >>> losses([4, 0], [1, 0]).tolist()
    [0.75, nan]
    """
    whole, left = np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64)
    lost: Floats = np.divide(whole - left, whole, out=np.full(whole.shape, np.nan), where=whole > 0)
    return lost


def paper_losses(variants: Mapping[str, Mapping[str, Mapping[int, int]]], name: str) -> Floats:
    """What a row of the paper's Table 5 loses against its first row."""
    whole, left = ([variants[row]["total"][k] for k in PAPER_K] for row in ("paper", name))
    return losses(whole, left)


def distance(ours: Floats, paper: Floats) -> float:
    """Mean absolute difference of the losses over k = 6 to 9, in points; a k without households counts as no loss."""
    end = len(COMPARED)
    return float(100 * np.abs(np.nan_to_num(ours[:end]) - paper[:end]).mean())


def one_column_later(total: Mapping[int, int]) -> Iterator[int]:
    """A row of the paper as it would be if no claim could name one column that every claim could name before."""
    yield from (total.get(k + 1, 0) for k in PAPER_K)
