"""RAP-RANK (Algorithm 1): K reconstructions from what is published, rows ranked by how often they came out; convergence."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from genverify.attack.evaluate import Weights, evaluate, ratio_interval
from genverify.model.arrays import Floats, row_keys
from genverify.model.domain import Domain, Predicate
from genverify.model.errors import DataError
from genverify.model.release import Release, Schema
from genverify.model.work import derive_seed, progress
from studies.country.store import KnownBlock
from studies.raprank.areas import (
    BLOCK,
    Codes,
    ConfidenceSet,
    Target,
    assign_blocks,
    baselines_above,
    codes_of,
    count_holders,
    count_rows,
    make_target,
    match_curve,
    populate_blocks,
    rank_geographies,
    rank_rows,
    read_areas,
    unique_rows,
    with_block,
)
from studies.raprank.rap.reconstruct import Reconstruction, reconstruct
from studies.raprank.settings import Convergence, RapSettings


def rank_target(
    target: Target, names: tuple[str, ...], runs: int, seed: int, settings: RapSettings, start: Codes | None = None
) -> tuple[ConfidenceSet, Reconstruction]:
    """The confidence set of an area and its runs, seeded by `names`, area and number; a start takes rows of a baseline."""
    seeds = [derive_seed(seed, "raprank", *names, target.area, str(run)) for run in range(runs)]
    if start is not None:
        start = _fitted(target, settings.rows or target.rows, start, derive_seed(seed, "start", *names, target.area))
    domain = target.domain
    if target.blocks is not None:  # the blocks of rows are known, and RAP learns the other columns
        domain, start = Domain(domain.columns[:-1]), None if start is None else start[:, :-1]
    try:
        result = reconstruct(domain, target.predicates, target.counts, target.rows, seeds, settings, start, target.blocks)
    except DataError as error:
        raise DataError(f"area {target.area}: {error}") from None
    return rank_rows(result.union, derive_seed(seed, "ties", *names, target.area)), result


def _fitted(target: Target, rows: int, start: Codes, seed: int) -> Codes:
    """As many rows of a baseline as the area has, in the order of its blocks where they are known."""
    if len(start) < rows:
        raise DataError(
            f"area {target.area}: a start at a baseline of {len(start)} rows, but {rows} are to be reconstructed. "
            "Give a baseline with at least as many rows."
        )
    if target.blocks is not None:
        return assign_blocks(start, target.blocks.sizes, seed)
    return start[np.sort(np.random.default_rng(seed).permutation(len(start))[:rows])]


def start_of(baseline: pd.DataFrame, target: Target) -> Codes:
    """The rows of an area's baseline as codes; an error if they are no records of the area's domain."""
    rows = baseline[baseline["area"] == target.area]
    return codes_of(rows, target.domain, f"the baseline of area {target.area}")


def ranked_frame(target: Target, ranked: ConfidenceSet, result: Reconstruction, key: str = "area") -> pd.DataFrame:
    """A confidence set as rows in order: area, frequency (over all runs), the runs that hold it, a code per column."""
    frame = pd.DataFrame(ranked.rows.astype(np.int16), columns=list(target.domain.names))
    frame.insert(0, "runs", count_holders(ranked.rows, result.datasets))
    frame.insert(0, "frequency", ranked.frequency.astype(np.int32))
    frame.insert(0, key, target.area)
    return frame


def runs_row(target: Target, result: Reconstruction, key: str = "area") -> Mapping[str, Any]:
    sizes = {key: target.area, "rows": target.rows, "queries": target.published, "runs": len(result.datasets)}
    relaxed, rounded = (float(np.mean(errors)) for errors in (result.relaxed_errors, result.rounded_errors))
    return sizes | {"steps": int(np.max(result.steps)), "relaxed_error": relaxed, "rounded_error": rounded}


# RAP-RANK on blocks whose records are known: how many of its first rows are true.


def mean_match_rate(every: Sequence[KnownBlock], count: int, runs: int, settings: RapSettings, seed: int) -> dict[str, Any]:
    """RAP-RANK with whole blocks as D, some drawn at random: the mean over blocks of MATCH-RATE at k = u."""
    # the same blocks however their columns are read
    rng, rates = np.random.default_rng(derive_seed(seed, "raprank", "blocks")), []
    blocks = [every[index] for index in np.sort(rng.choice(len(every), min(count, len(every)), replace=False))]
    for known in progress(blocks, "blocks ranked"):
        ranked, _ = rank_target(make_target([known.release]), ("whole",), runs, seed, settings)
        rates.append(float(match_curve(ranked, known.records, unique_rows(known.records), [1.0])[0]))
    persons = sum(len(known.records) for known in blocks)
    return {"ranked_blocks": len(rates), "ranked_persons": persons, "runs": runs, "match_rate": float(np.mean(rates))}


# How RAP converges: errors and match rates after more and more steps; with BLOCK, its blocks known or learned.

READ_AT = (0.1, 1.0)  # the shares of candidates at which match rates are compared: the best ones, and all of them


def most_blocks(counts: Sequence[Path], schema: Schema) -> list[Release]:
    """The area with the most blocks; where none are distinguished, with the most rows."""
    areas = [area for path in counts for area in read_areas(path, schema)]
    return max(areas, key=lambda area: (len(area), area[0].n))


def converge(
    area: list[Release], private: pd.DataFrame, holdout: pd.DataFrame, settings: RapSettings, asked: Convergence, seed: int
) -> pd.DataFrame:
    """One row per way and number of steps: both errors (per row, and per count), match rates; the holdout beside them."""
    known = make_target(area)
    rows, other = start_of(private, known), start_of(holdout, known)
    ways: list[tuple[str, Target, Codes | None]] = [("known" if known.blocks else "none", known, None)]
    if known.blocks:
        ways += [("known", known, other), ("learned", make_target(area, learned=True), None)]
    u = unique_rows(rows, other)

    def rates(ranked: ConfidenceSet) -> dict[str, float]:
        curve = match_curve(ranked, rows, u, READ_AT)
        return {f"match_rate at {x:g}": float(rate) for x, rate in zip(READ_AT, curve, strict=True)}

    records = []
    for blocks, target, start in ways:
        for steps in progress(asked.steps, f"numbers of steps, blocks {blocks}"):
            never = settings.but(steps=steps, tolerance=0.0, patience=steps)
            name = ("convergence", blocks, "random" if start is None else HOLDOUT)
            ranked, runs = rank_target(target, name, asked.runs, seed, never, start)
            row: dict[str, Any] = {"blocks_are": blocks, "source": started(name[2]), "steps": steps, "runs": asked.runs}
            for word, errors in (("relaxed", runs.relaxed_errors), ("rounded", runs.rounded_errors)):
                row[f"{word}_error"] = float(errors.mean())
                row[f"{word}_rms_count"] = float(errors.mean() * np.sqrt(known.rows / known.published))
            records.append(row | rates(ranked))
    records.append({"blocks_are": ways[0][0], "source": HOLDOUT, **rates(rank_rows(other, seed))})
    return pd.DataFrame(records).assign(rows=known.rows, of_blocks=len(area) - 1, counts=known.published, u=u)


# Matches of ranked rows with the private ones, and confidence beside certainty: how often a ranking is right.


HOLDOUT = "holdout"
KEYS = ["area", "state", "size", "source", "u"]
X = "x"


def started(start: str) -> str:
    """The name of RAP-RANK from a start, as a source of rows."""
    return f"RAP-RANK {start}"


@dataclass(frozen=True)
class Area:
    """An area whose reconstruction is judged: D, the holdout, and u, the unique rows of D (of the holdout where fewer)."""

    name: str
    domain: Domain
    private: Codes
    holdout: Codes

    @property
    def u(self) -> int:
        return unique_rows(self.private, self.holdout)


def grid_of(points: int) -> Floats:
    return np.arange(1, points + 1) / points


def _baseline_sets(area: Area, ranked: Mapping[str, ConfidenceSet], seed: int) -> dict[str, ConfidenceSet]:
    """The confidence sets of the geographies above an area, with its blocks populated as in D, and of the holdout."""
    result = {}
    for source, geography in baselines_above(area.name).items():
        result[source] = ranked[geography]
        if BLOCK in area.domain.names:
            index = area.domain.names.index(BLOCK)
            drawn = derive_seed(seed, "ties", "blocks", source, area.name)
            result[source] = populate_blocks(ranked[geography], area.private[:, index], drawn, area.u)
    return result | {HOLDOUT: rank_rows(area.holdout, derive_seed(seed, "ties", HOLDOUT, area.name))}


def _curve_rows(area: Area, sets: Mapping[str, ConfidenceSet], size: str, grid: Floats) -> pd.DataFrame:
    """One row per source and point of the grid: the match rate of its k = ceil(x u) best rows."""
    curves = {source: match_curve(ranked, area.private, area.u, grid) for source, ranked in sets.items()}
    frames = [pd.DataFrame({"source": source, X: grid, "match_rate": curve}) for source, curve in curves.items()]
    frame = pd.concat(frames, ignore_index=True)
    return frame.assign(area=area.name, state=area.name[:2], size=size, u=area.u)[[*KEYS, X, "match_rate"]]


def wide(curves: pd.DataFrame, source: str) -> pd.DataFrame:
    """The curves of a source: a row per area, a column per point of the grid."""
    return curves[curves["source"] == source].pivot(index="area", columns=X, values="match_rate")


def mean_curves(curves: pd.DataFrame, seed: int) -> pd.DataFrame:
    """The mean over areas at every point, for each source, with its 95 % interval (areas drawn again) and their number."""
    rows = []
    for source in curves["source"].unique():
        values = wide(curves, source)
        mean, low, high = mean_interval(values.to_numpy(), seed)
        shape = {"source": source, X: values.columns, "match_rate": mean, "low": low, "high": high, "areas": len(values)}
        rows.append(pd.DataFrame(shape))
    return pd.concat(rows, ignore_index=True)


def mean_interval(values: Floats, seed: int) -> tuple[Floats, Floats, Floats]:
    """The mean of each column (areas, columns) and its 95 % bootstrap interval over areas."""
    weights = Weights(["areas"] * len(values), seed)
    return values.mean(axis=0), *ratio_interval(values, np.ones_like(values), weights)


# Judging the rankings of an experiment: match curves against D, beside those of every baseline.


@dataclass(frozen=True)
class Evidence:
    """What an experiment left behind: areas and their blocks, both halves, ranked rows by start, the domain of counts."""

    areas: pd.DataFrame
    private: pd.DataFrame
    holdout: pd.DataFrame
    ranked: Mapping[str, pd.DataFrame]
    published: Domain
    distinguished: bool

    def judged(self) -> Iterator[Area]:
        """Every area that was split; its domain with its blocks where they are distinguished."""
        blocks, holdout = self.areas.groupby("area")["block"], self.holdout.groupby("area")
        for name, private in self.private.groupby("area"):
            domain = with_block(self.published, sorted(blocks.get_group(name))) if self.distinguished else self.published
            rows = [codes_of(half, domain, f"area {name}") for half in (private, holdout.get_group(name))]
            yield Area(str(name), domain, *rows)


def judge_areas(
    evidence: Evidence, microdata: Path, stored: Domain, keeps: Predicate, points: int, seed: int
) -> pd.DataFrame:
    """The match curves of every area: the geographies above it, the holdout, and RAP-RANK from every start."""
    areas = list(evidence.judged())
    wanted = {area.name: area.u for area in areas}
    counted = count_rows(microdata, list(wanted), stored, keeps)
    geographies = dict(rank_geographies(counted, stored, wanted, seed))
    sizes = evidence.areas.groupby("area")["size"].first()
    ranked = {started(start): dict(iter(rows.groupby("area"))) for start, rows in evidence.ranked.items()}
    frames = []
    for area in areas:
        sets = _baseline_sets(area, geographies, seed)
        for source, of_area in ranked.items():
            rows, where = of_area[area.name], f"ranked rows of area {area.name}"
            sets[source] = ConfidenceSet(codes_of(rows, area.domain, where), rows["frequency"].to_numpy())
        frames.append(_curve_rows(area, sets, str(sizes[area.name]), grid_of(points)))
    return pd.concat(frames, ignore_index=True)


# Certainty against confidence: what rankings suggest about a whole block, and what verified claims guarantee.


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
