"""Are the probabilities right? Claims and rows held against the private blocks: reliability, scores, match rates."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from genverify.attack.truth import match_claims
from genverify.core.arraytypes import Flags, Floats
from genverify.core.seeds import derive_seed
from genverify.papers.gtv.probability.priors import PRIORS, SINGLED, TIMES
from genverify.papers.gtv.probability.worlds import expected

BINS = 10
RESAMPLES = 1000
CLOSEST = 1e-4  # a probability of 0 or 1 that is wrong would cost an endless log score
CLAIMS, ROWS = "claims", "rows"
GENERATED, RAP = "generated", "RAP-RANK"
EXACT = "exact"
SOURCES = (*PRIORS, GENERATED)
LEVELS = (1.0, 0.99, 0.9, 0.5)
GRID = np.linspace(0.05, 1, 20)


def true_claims(claims: pd.DataFrame, records: pd.DataFrame) -> pd.DataFrame:
    """Every claim with whether it is true of its private block, and the record that a true one with m = 1 is about."""
    true, about = np.zeros(len(claims), dtype=bool), np.full(len(claims), -1, dtype=np.int64)
    for found in match_claims(claims[["block", "m", *_columns(claims, records)]], records):
        held = found.flags.sum(axis=1)
        true[found.claims] = held == claims["m"].to_numpy()[found.claims]
        first = found.records[found.flags.argmax(axis=1)] if len(found.records) else np.zeros(len(held), dtype=np.int64)
        about[found.claims] = np.where(held == 1, first, -1)
    return claims.assign(true=true, about=about)


def _columns(claims: pd.DataFrame, records: pd.DataFrame) -> list[str]:
    return [name for name in claims.columns if name in records.columns and name != "block"]


def true_rows(rows: pd.DataFrame, records: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Every row with whether it is in its private block."""
    there = records[["block", *names]].drop_duplicates().assign(true=True)
    return rows.merge(there, on=["block", *names], how="left").assign(true=lambda f: f["true"].eq(True))


def scores(frame: pd.DataFrame, sources: Sequence[str], about: str, seed: int) -> pd.DataFrame:
    """Brier and log score of every source of probabilities, with intervals (95 %, blocks resampled); small is good."""
    found = []
    for source in sources:
        p, true = frame[source].to_numpy(dtype=np.float64), frame["true"].to_numpy(dtype=np.float64)
        near = np.clip(p, CLOSEST, 1 - CLOSEST)
        losses = {"Brier score": (p - true) ** 2, "log score": -np.log(np.where(true > 0, near, 1 - near))}
        for name, loss in losses.items():
            mean, low, high = _mean(frame["block"], loss, np.ones(len(loss)), derive_seed(seed, name, source))
            found.append((about, source, name, mean, low, high, len(loss)))
    return pd.DataFrame(found, columns=["about", "source", "score", "value", "low", "high", "n"])


def reliability(frame: pd.DataFrame, sources: Sequence[str], about: str, seed: int) -> pd.DataFrame:
    """
    By tenths of the probability: its mean, and the share that is true with an interval (95 %, blocks resampled); and, where
    there are worlds of draws, between which ends that share would lie (95 %) if the probabilities were right.
    """
    found = []
    for source in sources:
        bins = np.minimum((frame[source] * BINS).astype(int), BINS - 1)
        places = np.where(_apart(frame, source), BINS, bins)
        for place in np.unique(places).tolist():
            rows = frame[places == place]
            true = rows["true"].to_numpy(dtype=np.float64)
            mean, low, high = _mean(rows["block"], true, np.ones(len(rows)), derive_seed(seed, source, str(place)))
            ends = expected(rows, source, derive_seed(seed, "worlds", source, str(place)), RESAMPLES)
            found.append((about, source, place, rows[source].mean(), mean, low, high, len(rows), *ends))
    names = ["about", "source", "bin", "p", "true", "low", "high", "n", "expected_low", "expected_high"]
    return pd.DataFrame(found, columns=names)


def _apart(frame: pd.DataFrame, source: str) -> Flags:
    """What is certain stands apart: proofs say so, not a prior, and not draws that all agree."""
    ones = (frame[source] == 1).to_numpy()
    if source not in PRIORS or "numbers" not in frame.columns:
        return ones
    proved = (frame["numbers"] == EXACT).to_numpy()
    return ones & (proved | frame["verified"].to_numpy() if "verified" in frame.columns else proved)


def _mean(blocks: pd.Series, values: Floats, weights: Floats, seed: int) -> tuple[float, float, float]:
    """The mean of values, and an interval from resampling whole blocks: what is said of one block hangs together."""
    place, names = pd.factorize(blocks)
    sums = np.bincount(place, values, minlength=len(names))
    sizes = np.bincount(place, weights, minlength=len(names))
    drawn = np.random.default_rng(seed).multinomial(len(names), np.full(len(names), 1 / len(names)), size=RESAMPLES)
    low, high = np.percentile((drawn @ sums) / np.maximum(drawn @ sizes, 1e-12), [2.5, 97.5])
    return float(sums.sum() / sizes.sum()), float(low), float(high)


def match_rates(rankings: Mapping[str, Mapping[str, Floats]], seed: int) -> pd.DataFrame:
    """
    For every source the mean match rate over blocks of the k = x u likeliest rows (u: distinct private rows of the block).

    `rankings` gives for each source and block whether each ranked row is private, the likeliest first, up to u rows.
    """
    found = []
    for source, blocks in rankings.items():
        curves = np.array([_curve(hits) for hits in blocks.values()])
        for x, values in zip(GRID, curves.T, strict=True):
            names = pd.Series(list(blocks))
            mean, low, high = _mean(names, values, np.ones(len(values)), derive_seed(seed, source, f"{x:.2f}"))
            found.append((source, x, mean, low, high, len(values)))
    return pd.DataFrame(found, columns=["source", "x", "rate", "low", "high", "blocks"])


def _curve(hits: Floats) -> Floats:
    k = np.maximum(np.ceil(GRID * len(hits) - 1e-9).astype(np.int64), 1)
    rates: Floats = np.cumsum(hits)[k - 1] / k
    return rates


def ranked_hits(rows: pd.DataFrame, by: str, distinct: Mapping[str, int], seed: int) -> dict[str, Floats]:
    """Whether each of the u likeliest rows of a block is private; ties in a drawn order, rows that are missing as misses."""
    found = {}
    for block, of_block in rows.groupby("block", sort=True):
        ties = np.random.default_rng(derive_seed(seed, "ties", by, str(block))).permutation(len(of_block))
        best = of_block["true"].to_numpy()[np.lexsort((ties, -of_block[by].to_numpy(dtype=np.float64)))]
        u = distinct[str(block)]
        found[str(block)] = np.concatenate([best[:u], np.zeros(max(0, u - len(best)))]).astype(np.float64)
    return found


def area_rows(areas: pd.DataFrame, blocks: Sequence[str], width: int, most: int) -> pd.DataFrame:
    """The commonest records of the area of each block (the first digits of its id): a guess without the release."""
    by_area = {str(area): rows.nlargest(most, TIMES) for area, rows in areas.groupby("area") if len(str(area)) == width}
    return pd.concat([by_area[block[:width]].assign(block=block) for block in blocks if block[:width] in by_area])


def singled_out(claims: pd.DataFrame, records: int, seed: int) -> pd.DataFrame:
    """
    For every prior and level: singleton claims with at least that probability, the share of them that is false, and the
    private households that true ones single out. The first level, certainty, is what is proved, whatever the prior.
    """
    found = []
    single = claims[claims["m"] == 1]
    for source in SINGLED:
        for level in LEVELS:
            said = single[single["verified"]] if level == 1 else single[single[source] >= level]
            false = ~said["true"].to_numpy()
            share = _mean(said["block"], false.astype(np.float64), np.ones(len(said)), seed) if len(said) else (np.nan,) * 3
            households = said.loc[said["true"], "about"].nunique()
            found.append((source, level, len(said), int(false.sum()), *share, households, 100 * households / records))
    names = ["prior", "level", "statements", "false", "false_share", "low", "high", "households", "percent"]
    return pd.DataFrame(found, columns=names)
