"""Evaluation against the private records: are the claims true, whom do they represent, and how sure are the totals?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pandas as pd

from genverify.model.arrays import Flags, Floats, Ints
from genverify.model.claims import ANY, Codes, false_claims, matches
from genverify.model.errors import DataError
from genverify.model.work import derive_seed

RESAMPLES = 2000  # of blocks: 50 of them lie beyond each end of a 95 % interval
LIMITS = (2.5, 97.5)
WEIGHTS_AT_ONCE = 10_000_000  # bounds memory: 80 MB of weights


@dataclass(frozen=True)
class Evaluation:
    """The claims of a block and its private records: row numbers, which record matches which claim, how many should."""

    block: str
    claims: Ints
    records: Ints
    flags: Flags
    m: Ints

    @cached_property
    def false(self) -> Flags:
        """The claims that are not true of the block: COUNT(a, D) != m."""
        return false_claims(self.flags, self.m)

    @property
    def single(self) -> Flags:
        """The claims about one record."""
        return np.asarray(self.m == 1)

    @property
    def about(self) -> Ints:
        """The place, among those of the block, of the one record that matches each claim; -1 where not just one does."""
        first = self.flags.argmax(axis=1) if self.flags.shape[1] else np.zeros(len(self.flags), dtype=np.int64)
        return np.where(self.flags.sum(axis=1) == 1, first, -1)

    def represented(self, chosen: Flags | None = None) -> int:
        """How many records match one of the chosen claims (footnote 6), or of all."""
        return int((self.flags if chosen is None else self.flags[chosen]).any(axis=0).sum())

    def by_k(self, k: Ints, columns: int) -> pd.DataFrame:
        """Claims, those with m = 1, false ones and records singled out: for every number k of columns, and 0 for any."""
        rows = []
        for value in range(columns + 1):
            part = (k == value) | (value == 0)
            single = part & self.single
            rows.append((value, part.sum(), single.sum(), self.false[part].sum(), self.represented(single)))
        return pd.DataFrame(rows, columns=["k", "claims", "singletons", "false_claims", "singled_out"])


def shared_columns(claims: pd.DataFrame, records: pd.DataFrame) -> list[str]:
    """The columns that the claims speak of: those that the records have too."""
    return [name for name in claims.columns if name in records.columns and name != "block"]


def evaluate(claims: pd.DataFrame, records: pd.DataFrame) -> Iterator[Evaluation]:
    """The claims beside the private records, block by block; a block of two designs comes once, with the claims of both."""
    names = shared_columns(claims, records)
    codes, m = claims[names].fillna(ANY).to_numpy(dtype=np.int16), claims["m"].to_numpy()
    values = records[names].to_numpy(dtype=np.int16)
    indices = records.groupby("block", observed=True).indices
    for block, of_block in sorted(claims.groupby("block", observed=True).indices.items()):
        rows = np.asarray(of_block, dtype=np.int64)
        positions = np.asarray(indices.get(block, []), dtype=np.int64)
        yield Evaluation(str(block), rows, positions, matches(codes[rows], values[positions]), m[rows])


def evaluate_codes(block: str, codes: Codes, m: Ints, records: npt.NDArray[np.integer]) -> Evaluation:
    """Claims about one block as codes, beside its records."""
    return Evaluation(block, np.arange(len(codes)), np.arange(len(records)), matches(codes, records), m)


def check_against_microdata(claims: pd.DataFrame, records: pd.DataFrame) -> None:
    """An error unless every verified claim is true of its private block: COUNT(a, D) = m."""
    for evaluation in evaluate(claims, records):
        check_evaluation(evaluation, claims, records)


def check_evaluation(evaluation: Evaluation, claims: pd.DataFrame, records: pd.DataFrame) -> None:
    """An error unless the claims of a block are true of its private records."""
    wrong = np.flatnonzero(evaluation.false)
    if wrong.size:
        claim = claims.iloc[evaluation.claims[wrong[0]]]
        codes = ", ".join(f"{name}={claim[name]}" for name in shared_columns(claims, records) if pd.notna(claim[name]))
        raise DataError(
            f"block {evaluation.block}: the verified claim {codes} says m = {claim['m']}, but "
            f"{evaluation.flags[wrong[0]].sum()} of its {len(evaluation.records)} private records match. Either the "
            "microdata changed after the release was tabulated: tabulate and attack again. Or the verification is wrong."
        )


@dataclass(frozen=True)
class Weights:
    """
    How often each block, of these designs, stands in each bootstrap sample; of many blocks some samples are held at a time.

    >>> Weights(["a", "a", "b"], 1, resamples=4).totals(np.ones((3, 1), dtype=int))[0].ravel().tolist()
    [3, 3, 3, 3]
    """

    designs: Sequence[str]
    seed: int
    resamples: int = RESAMPLES

    def parts(self) -> Iterator[Ints]:
        """The weights (samples, blocks), some samples at a time; every design is resampled by itself."""
        labels = np.asarray(self.designs, dtype=str)
        rows_of = {str(design): np.flatnonzero(labels == design) for design in np.unique(labels)}
        rngs = {design: np.random.default_rng(derive_seed(self.seed, "bootstrap", design)) for design in rows_of}
        step = max(1, WEIGHTS_AT_ONCE // max(1, len(labels)))
        for first in range(0, self.resamples, step):
            weights = np.zeros((min(step, self.resamples - first), len(labels)), dtype=np.int64)
            for design, rows in rows_of.items():
                shares = np.full(len(rows), 1 / len(rows))
                weights[:, rows] = rngs[design].multinomial(len(rows), shares, size=len(weights))
            yield weights

    def totals(self, *values: npt.NDArray[np.number]) -> list[npt.NDArray[np.number]]:
        """The total of each column of each of the values (blocks, columns) in every sample."""
        parts = [[weights @ one for one in values] for weights in self.parts()]
        return [np.concatenate(rows) for rows in zip(*parts, strict=True)]


def total_interval(values: npt.NDArray[np.number], weights: Weights) -> tuple[Floats, Floats]:
    """95 % interval of the total of each column of values (blocks, columns)."""
    low, high = np.percentile(weights.totals(values)[0], LIMITS, axis=0)
    return low, high


def ratio_interval(part: npt.NDArray[np.number], whole: npt.NDArray[np.number], weights: Weights) -> tuple[Floats, Floats]:
    """95 % interval of total(part) / total(whole) per column; resamples whose whole is 0 say nothing and are left out."""
    above, below = (totals.astype(float) for totals in weights.totals(part, whole))
    ratios = np.divide(above, below, out=np.full(above.shape, np.nan), where=below > 0)
    known = [column[~np.isnan(column)] for column in ratios.T]
    low, high = np.array([np.percentile(one, LIMITS) if one.size else (np.nan, np.nan) for one in known]).T
    return low, high
