"""Certainty against confidence: what rankings suggest about a whole block, and what verified claims guarantee."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from genverify.attack.evaluate import evaluate
from genverify.model.arrays import Floats, row_keys
from genverify.model.errors import DataError
from genverify.model.work import derive_seed
from studies.raprank.areas import Codes, ConfidenceSet, count_holders, match_curve, rank_rows, unique_rows
from studies.raprank.evaluate import X, grid_of, mean_interval

RAP, GENERATED, PROVED = "RAP-RANK", "generated datasets", "proved"
SINGLED_OUT, ANY_NUMBER = "singled out (m = 1)", "in a claim (any m)"
BINS = 10  # of a tenth each: the usual diagram of calibration


@dataclass(frozen=True)
class Ranking:
    """Rows in order of confidence, and in which share of the runs or datasets each appears."""

    ranked: ConfidenceSet
    shares: Floats


@dataclass(frozen=True)
class WholeBlockRankings:
    """A whole block: its private rows, the rankings of rows by source, and the rows that full-row claims prove."""

    block: str
    private: Codes
    rankings: Mapping[str, Ranking]
    proved: Codes

    @property
    def u(self) -> int:
        return unique_rows(self.private)


def _read_ranking(rows: pd.DataFrame, names: Sequence[str], runs: int) -> Ranking:
    """The ranked rows of a block as `rank_release` wrote them."""
    return Ranking(ConfidenceSet(_codes(rows, names), rows["frequency"].to_numpy()), rows["runs"].to_numpy() / runs)


def _rank_datasets(datasets: Codes, seed: int) -> Ranking:
    """The rows of the generated datasets of a block by frequency, which reflects how they were generated: no posterior."""
    ranked = rank_rows(datasets.reshape(-1, datasets.shape[-1]), seed)
    return Ranking(ranked, count_holders(ranked.rows, datasets) / len(datasets))


def _full_rows(claims: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """The claims about all columns, each once: block, m and a code per column."""
    full = claims[claims["k"] == len(names)]
    return full[["block", "m", *names]].drop_duplicates().astype(dict.fromkeys(names, np.int16)).reset_index(drop=True)


def _check_full_rows(full: pd.DataFrame, datasets: pd.DataFrame, names: Sequence[str]) -> None:
    """An error unless every verified full row appears, m times, in every generated dataset of its block."""
    copies = datasets.groupby(["block", "dataset", *names], observed=True).size().rename("copies").reset_index()
    joined = full.reset_index().merge(copies, on=["block", *names])
    agree = joined[joined["copies"] == joined["m"]].groupby("index").size().reindex(full.index, fill_value=0)
    wrong = full[agree != full["block"].map(datasets.groupby("block")["dataset"].nunique()).fillna(0)]
    if len(wrong):
        raise DataError(
            f"block {wrong['block'].iloc[0]}: a verified claim about all columns (m = {wrong['m'].iloc[0]}) does not hold "
            "in every generated dataset. The datasets belong to another release: generate again. Or the proof is wrong."
        )


def _suggested_curves(blocks: Sequence[WholeBlockRankings], grid: Floats, seed: int) -> pd.DataFrame:
    """The mean over blocks of the match rate of the k = x u best rows, by ranking, and of proved rows, which come first."""
    curves: dict[str, list[Floats]] = {}
    for block in blocks:
        for source, ranking in block.rankings.items():
            curves.setdefault(source, []).append(match_curve(ranking.ranked, block.private, block.u, grid))
        curves.setdefault(PROVED, []).append(match_curve(rank_rows(block.proved, seed), block.private, block.u, grid))
    frames = []
    for source, rows in curves.items():
        mean, low, high = mean_interval(np.array(rows), seed)
        frames.append(pd.DataFrame({"source": source, X: grid, "value": mean, "low": low, "high": high, "n": len(rows)}))
    return pd.concat(frames, ignore_index=True).assign(part="match rate")


def reliability(blocks: Sequence[WholeBlockRankings]) -> pd.DataFrame:
    """Rows by the share of runs that hold them (tenths, and all runs apart): which share is private, and which proved."""
    frames = []
    for source in blocks[0].rankings:
        rows = pd.concat([_row_flags(block, block.rankings[source]) for block in blocks], ignore_index=True)
        for word in ("private", "proved"):
            binned = rows.groupby("bin")[word].agg(["mean", "size"]).reset_index()
            name = source if word == "private" else f"{source}, {PROVED}"
            frames.append(pd.DataFrame({"source": name, X: binned["bin"], "value": binned["mean"], "n": binned["size"]}))
    return pd.concat(frames, ignore_index=True).assign(part="reliability")


def _row_flags(block: WholeBlockRankings, ranking: Ranking) -> pd.DataFrame:
    middles = (np.minimum(np.ceil(ranking.shares * BINS), BINS) - 0.5) / BINS
    ranked, private, proved = row_keys([ranking.ranked.rows, block.private, block.proved])
    flags = {"private": np.isin(ranked, private), "proved": np.isin(ranked, proved)}
    return pd.DataFrame({"bin": np.where(ranking.shares >= 1, 1.0, middles), **flags})


def coverage(claims: pd.DataFrame, records: pd.DataFrame, blocks: Sequence[WholeBlockRankings]) -> pd.DataFrame:
    """Private records that claims about k columns cover, and those whose full row is among the u best of each ranking."""
    claims = claims.drop(columns="design").drop_duplicates()
    ks = range(int(claims["k"].min()), int(claims["k"].max()) + 1) if len(claims) else range(0)
    covered = {(word, k): 0 for word in (SINGLED_OUT, ANY_NUMBER) for k in ks}
    for part in evaluate(claims, records):
        of_block = claims["k"].to_numpy()[part.claims]
        for word, k in covered:
            covered[word, k] += part.represented((of_block == k) & (part.single | (word == ANY_NUMBER)))
    rows: list[tuple[str, float, int]] = [(word, k, count) for (word, k), count in covered.items()]
    for source in blocks[0].rankings:
        pairs = (row_keys([block.private, block.rankings[source].ranked.rows[: block.u]]) for block in blocks)
        rows.append((source, np.nan, sum(int(np.isin(private, best).sum()) for private, best in pairs)))
    shares = [(source, k, count / len(records)) for source, k, count in rows]
    return pd.DataFrame(shares, columns=["source", X, "value"]).assign(n=len(records), part="coverage")


def certainty_numbers(
    records: pd.DataFrame, ranked: pd.DataFrame, datasets: pd.DataFrame, claims: pd.DataFrame, names: Sequence[str],
    runs: int, points: int, seed: int,
) -> pd.DataFrame:  # fmt: skip
    """All numbers of the figure: part, source, x, value, its interval, and how many blocks, rows or records it is about."""
    claims = claims[claims["proof"].notna()]  # what rests on a solver alone is not certain
    full = _full_rows(claims, names)
    _check_full_rows(full, datasets, names)
    parts = [dict(iter(frame.groupby("block"))) for frame in (records, ranked, datasets, full)]
    blocks = []
    for block in map(str, parts[1]):
        held, ties = parts[2][block].sort_values("dataset", kind="stable"), derive_seed(seed, "ties", "generated", block)
        count = held["dataset"].nunique()
        rankings = {
            RAP: _read_ranking(parts[1][block], names, runs),
            GENERATED: _rank_datasets(_codes(held, names).reshape(count, -1, len(names)), ties),
        }
        proved = parts[3].get(block, full.iloc[:0])
        blocks.append(WholeBlockRankings(block, _codes(parts[0][block], names), rankings, _codes(proved, names)))
    numbers = [_suggested_curves(blocks, grid_of(points), seed), reliability(blocks), coverage(claims, records, blocks)]
    return pd.concat(numbers, ignore_index=True)[["part", "source", X, "value", "low", "high", "n"]]


def _codes(rows: pd.DataFrame, names: Sequence[str]) -> Codes:
    return rows[list(names)].to_numpy(dtype=np.int64)
