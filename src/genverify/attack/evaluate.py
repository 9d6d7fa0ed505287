"""Evaluation against the private records: are the claims true, whom do they represent, and how sure are the totals?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from genverify.model.arrays import Flags, Floats, Ints
from genverify.model.claims import ANY, false_claims, matches
from genverify.model.errors import DataError
from genverify.model.work import derive_seed

RESAMPLES = 2000  # of blocks: 50 of them lie beyond each end of a 95 % interval
LIMITS = (2.5, 97.5)
WEIGHTS_AT_ONCE = 10_000_000  # bounds memory: 80 MB of weights
GROUPINGS = ("k", "effective_k")


@dataclass(frozen=True)
class Matches:
    """The claims of one block and its private records: row numbers in both frames, and which record matches which claim."""

    block: str
    claims: Ints
    records: Ints
    flags: Flags


def shared_columns(claims: pd.DataFrame, records: pd.DataFrame) -> list[str]:
    """The columns that the claims speak of: those that the records have too."""
    return [name for name in claims.columns if name in records.columns and name != "block"]


def match_claims(claims: pd.DataFrame, records: pd.DataFrame) -> Iterator[Matches]:
    """Which private records match each claim, block by block; a block of two designs comes once, with the claims of both."""
    names = shared_columns(claims, records)
    codes = claims[names].fillna(ANY).to_numpy(dtype=np.int16)
    values = records[names].to_numpy(dtype=np.int16)
    places = records.groupby("block", observed=True).indices
    for block, of_block in sorted(claims.groupby("block", observed=True).indices.items()):
        rows = np.asarray(of_block, dtype=np.int64)
        positions = np.asarray(places.get(block, []), dtype=np.int64)
        yield Matches(str(block), rows, positions, matches(codes[rows], values[positions]))


def check_against_microdata(claims: pd.DataFrame, records: pd.DataFrame) -> None:
    """An error unless every verified claim is true of its private block: COUNT(a, D) = m."""
    for found in match_claims(claims, records):
        _check_block(found, claims, records)


def _check_block(matched: Matches, claims: pd.DataFrame, records: pd.DataFrame) -> None:
    wrong = np.flatnonzero(false_claims(matched.flags, claims["m"].to_numpy()[matched.claims]))
    if wrong.size:
        claim = claims.iloc[matched.claims[wrong[0]]]
        codes = ", ".join(f"{name}={claim[name]}" for name in shared_columns(claims, records) if pd.notna(claim[name]))
        raise DataError(
            f"block {matched.block}: the verified claim {codes} says m = {claim['m']}, but {matched.flags[wrong[0]].sum()} "
            f"of its {len(matched.records)} private records match. Either the microdata changed after the release was "
            "tabulated: tabulate and attack again. Or the verification is wrong."
        )


def count_households(
    claims: pd.DataFrame, records: pd.DataFrame, household: Flags, sample: pd.DataFrame, columns: int
) -> pd.DataFrame:
    """
    The households that claims represent (footnote 6), by block and design, for claims grouped by k and by effective k.

    `household` marks the records that are households (a vacant unit is none). `sample` lists blocks and designs; a block
    without claims counts 0. Every claim is checked against the records on the way.
    """
    keys = pd.Index(["claims", "grouping", "columns"])
    rows = [row for found in match_claims(claims, records) for row in _block_rows(found, claims, records, household)]
    counted = pd.DataFrame(rows, columns=["block", "design", *keys, "households"])
    grid = pd.MultiIndex.from_tuples(
        [(s, g, v) for s in ("singleton", "all") for g in GROUPINGS for v in range(g == "k", columns + 1)], names=list(keys)
    )
    full = sample[["block", "design", "n_households"]].merge(grid.to_frame(index=False), how="cross")
    full = full.merge(counted, how="left", on=["block", "design", *keys])
    return full.assign(households=full["households"].fillna(0).astype("int32"))


def _block_rows(
    matched: Matches, claims: pd.DataFrame, records: pd.DataFrame, household: Flags
) -> Iterator[tuple[str, str, str, str, int, int]]:
    """For each design, kind of claims and group: the number of households of the block that match one of its claims."""
    _check_block(matched, claims, records)
    flags = matched.flags & household[matched.records]
    of_block = claims.iloc[matched.claims]
    for design in of_block["design"].unique():
        listed = (of_block["design"] == design).to_numpy()
        for kind, meant in (("singleton", of_block["m"].to_numpy() == 1), ("all", of_block["m"].to_numpy() >= 1)):
            for grouping in GROUPINGS:
                values = of_block[grouping].to_numpy()
                for value in np.unique(values[listed & meant]):
                    represented = flags[listed & meant & (values == value)].any(axis=0)
                    yield matched.block, str(design), kind, grouping, int(value), int(represented.sum())


def count_answers(counts: pd.DataFrame, queries: int, total: str) -> pd.DataFrame:
    """How many of the queries each release answers, and how many of these answers are 0 and 1 (`total` is the row of N)."""
    answers = counts[counts["query"].astype(str) != total]
    flags = pd.DataFrame({"published": 1, "zeros": answers["count"] == 0, "ones": answers["count"] == 1}).astype("int32")
    blocks = counts["block"].drop_duplicates().sort_values()
    tally = flags.groupby(answers["block"]).sum().reindex(blocks, fill_value=0)
    tally.insert(0, "queries", queries)
    return tally.rename_axis("block").reset_index()


@dataclass(frozen=True)
class Weights:
    """How often each block stands in each bootstrap sample; of many blocks only some samples are in memory at a time."""

    designs: tuple[str, ...]
    seed: int
    resamples: int

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


def block_weights(designs: Sequence[str], seed: int, resamples: int = RESAMPLES) -> Weights:
    """
    The bootstrap samples of blocks of the given designs.

    >>> block_weights(["a", "a", "b"], 1, resamples=4).totals(np.ones((3, 1), dtype=int))[0].ravel().tolist()
    [3, 3, 3, 3]
    """
    return Weights(tuple(designs), seed, resamples)


def total_interval(values: npt.NDArray[np.number], weights: Weights) -> tuple[Floats, Floats]:
    """95 % interval of the total of each column of values (blocks, columns)."""
    low, high = np.percentile(weights.totals(values)[0], LIMITS, axis=0)
    return low, high


def ratio_interval(part: npt.NDArray[np.number], whole: npt.NDArray[np.number], weights: Weights) -> tuple[Floats, Floats]:
    """95 % interval of total(part) / total(whole) per column; resamples whose whole is 0 say nothing and are left out."""
    above, below = (totals.astype(float) for totals in weights.totals(part, whole))
    ratios = np.divide(above, below, out=np.full(above.shape, np.nan), where=below > 0)
    limits = np.array([_limits(column) for column in ratios.T]).T
    return limits[0], limits[1]


def _limits(values: Floats) -> Floats:
    known = values[~np.isnan(values)]
    return np.percentile(known, LIMITS) if known.size else np.full(2, np.nan)
