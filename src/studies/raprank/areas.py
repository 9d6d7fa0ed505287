"""Confidence sets, the areas of an experiment and what is published of them, geographies above, and the holdout split."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from genverify.model.arrays import Floats, Ints, positions, row_keys
from genverify.model.domain import EVERY, Column, Domain, Predicate
from genverify.model.errors import DataError
from genverify.model.release import Release, Schema, counts_frame, read_releases
from genverify.model.tabulate import tabulate_counts
from genverify.model.work import derive_seed
from studies.country.store import GEOGRAPHY, NOTHING, Radix, Types, types_of_state
from studies.raprank.settings import ResolvedExperiment

# Confidence sets: rows ranked by how often they were reconstructed, and how many of them are private rows (equation 1).

Codes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class ConfidenceSet:
    """The ordered set R: distinct rows (R, columns), the most confident first, and how often each one appeared."""

    rows: Codes
    frequency: Ints


def rank_rows(rows: Codes, seed: int) -> ConfidenceSet:
    """R(X): the distinct rows of a multiset by frequency; ties in an order drawn from the seed, not that of the rows."""
    (keys,) = row_keys([rows])
    _, first, frequency = np.unique(keys, return_index=True, return_counts=True)
    return _rank_counts(rows[first], frequency, seed)


def _rank_counts(rows: Codes, frequency: Ints, seed: int, most: int | None = None) -> ConfidenceSet:
    """R(X) where the distinct rows of X, in an order of their own, and their frequencies are known; at most `most` rows."""
    ties = np.random.default_rng(seed).permutation(len(rows))
    order = np.lexsort((ties, -frequency))[:most]
    return ConfidenceSet(rows[order], frequency[order].astype(np.int64))


def count_holders(rows: Codes, datasets: Codes) -> Ints:
    """How many of the datasets (K, rows, columns) hold each row; a dataset with several copies counts once."""
    ours, theirs = row_keys([rows, datasets.reshape(-1, datasets.shape[-1])])
    held = np.sort(theirs.reshape(datasets.shape[:2]), axis=1)
    first = np.concatenate([np.ones((len(held), 1), dtype=bool), held[:, 1:] != held[:, :-1]], axis=1)
    known, times = np.unique(held[first], return_counts=True)
    return np.append(times, 0)[positions(known, ours)]


def unique_rows(private_rows: Codes, holdout: Codes | None = None) -> int:
    """u: the number of distinct rows of D, or of the holdout where that has fewer."""
    sizes = [len(np.unique(row_keys([rows])[0])) for rows in (private_rows, holdout) if rows is not None]
    return min(sizes)


def match_curve(ranked: ConfidenceSet, private_rows: Codes, u: int, grid: Sequence[float] | Floats) -> Floats:
    """The match rate at k = ceil(x u) for every x of the grid; rows that a list lacks count as misses."""
    if u < 1:
        raise DataError(f"u = {u}: the private dataset, or the holdout, has no rows; leave this block out")
    # The small number keeps x u = 3.0000000000000004, meant as 3, from becoming 4.
    k = np.maximum(np.ceil(np.asarray(grid, float) * u - 1e-9).astype(np.int64), 1)
    ours, theirs = row_keys([ranked.rows, private_rows])
    hits = np.concatenate([[0], np.cumsum(np.isin(ours, theirs))])
    rates: Floats = hits[np.minimum(k, len(ranked.rows))] / k
    return rates


# The areas of an experiment: sampled blocks, six blocks of each state by size, a tract of each state, or states.

SHARES_OF_MAX = {"max": 1, "max/2": 2, "max/4": 4, "max/8": 8, "max/16": 16}
COLUMNS = ["area", "block", "size", "n"]


def draw_areas(sizes: pd.DataFrame, sample: set[str], experiment: ResolvedExperiment, seed: int) -> pd.DataFrame:
    """
    The blocks of every area: area, block, size (the word for which it was drawn) and n, the records of the block.

    `sizes` has one row per block (block, tract, state, n), `sample` the blocks of the study. The draw depends on the data
    and the kind of area, not on the experiment's name: two experiments on the same areas reconstruct the same records.
    """
    totals = sizes.groupby("state")["n"].sum().sort_values(ascending=False, kind="stable")
    states = sorted(map(str, totals.index[: experiment.states]))
    sizes = sizes[sizes["state"].isin(states)]
    kind = experiment.areas
    if kind == "sample":
        drawn = [sizes[sizes["block"].isin(sample)].assign(size=kind)]
    elif kind == "state":
        drawn = [sizes.assign(size=kind)]
    else:
        draw = _blocks_by_size if kind == "block" else _tracts
        seeds = {state: derive_seed(seed, "areas", experiment.data, kind, state) for state in states}
        streams = {state: np.random.default_rng(group) for state, group in seeds.items()}
        drawn = [draw(group, experiment, streams[str(state)]) for state, group in sizes.groupby("state")]
    blocks = pd.concat(drawn, ignore_index=True)
    areas = blocks.assign(area=blocks["block" if kind == "sample" else kind])
    return areas.sort_values(["area", "block"], ignore_index=True)[COLUMNS]


def _blocks_by_size(blocks: pd.DataFrame, experiment: ResolvedExperiment, rng: np.random.Generator) -> pd.DataFrame:
    """The blocks closest in size to the mean, the maximum M, M/2, M/4, M/8 and M/16, each another one."""
    limit = experiment.limit
    fitting = blocks[blocks["n"] <= limit] if limit else blocks
    wanted = {"mean": float(blocks["n"].mean())}
    wanted |= {name: float(fitting["n"].max()) / part for name, part in SHARES_OF_MAX.items()}
    if len(fitting) < len(wanted):
        raise DataError(
            f"state {blocks['state'].iloc[0]}: {len(fitting)} blocks{f' of at most {limit} records' if limit else ''}, "
            f"{len(wanted)} are needed. Raise the limit of the experiment in config/raprank.yaml (raprank.experiments), or "
            "set `states`: the largest ones are taken."
        )
    left = fitting.sort_values("block").iloc[rng.permutation(len(fitting))]
    chosen = []
    for name, size in wanted.items():
        index = int((left["n"] - size).abs().to_numpy().argmin())
        chosen.append(left.iloc[[index]].assign(size=name))
        left = left.drop(left.index[index])
    return pd.concat(chosen)


def _tracts(blocks: pd.DataFrame, experiment: ResolvedExperiment, rng: np.random.Generator) -> pd.DataFrame:
    """Some tracts; where one is larger than the limit, whole blocks of it in random order, each that still fits."""
    chosen, limit = [], experiment.limit or np.inf
    for tract in np.sort(rng.permutation(np.sort(blocks["tract"].unique()))[: experiment.tracts]):
        part, total = blocks[blocks["tract"] == tract].sort_values("block")["n"], 0
        for block, n in part.iloc[rng.permutation(len(part))].items():
            if total + n <= limit:
                total += n
                chosen.append(block)
        if not total:
            raise DataError(
                f"tract {tract}: no block of at most {limit} records. "
                "Raise the limit of the experiment in config/raprank.yaml."
            )
    return blocks.loc[chosen].assign(size="tract")


# Blocks of an area whose sizes are published: each gets its number of rows, and a start is put into that order.


@dataclass(frozen=True)
class BlockCounts:
    """What is published about each block of an area: the number of its rows (B,), and the counts of queries (B, queries)."""

    sizes: Ints
    predicates: tuple[Predicate, ...]
    counts: Ints

    @property
    def block_of_row(self) -> npt.NDArray[np.int32]:
        """The block of each row of the area: as many rows in each as it has."""
        return np.repeat(np.arange(len(self.sizes), dtype=np.int32), self.sizes)


def assign_blocks(rows: Codes, sizes: Ints, seed: int) -> Codes:
    """
    As many of the given rows in every block as it has; their last column is a block, which they keep where there is room.

    Rows are chosen at random; those for which their own block has no room go, in random order, where rows are missing.
    """
    rows = rows[np.random.default_rng(seed).permutation(len(rows))]
    rows = rows[np.argsort(rows[:, -1], kind="stable")]
    stays = np.arange(len(rows)) - np.searchsorted(rows[:, -1], rows[:, -1]) < sizes[rows[:, -1]]
    missing = sizes - np.bincount(rows[stays, -1], minlength=len(sizes))
    moved = np.random.default_rng(seed).permutation(rows[~stays])[: missing.sum()]
    moved[:, -1] = np.repeat(np.arange(len(sizes)), missing)
    placed = np.concatenate([rows[stays], moved])
    return placed[np.argsort(placed[:, -1], kind="stable")]


# Baselines of the paper: the rows of the nation, and of the state, county and tract of an area, ranked by frequency.

NATIONAL = "national"
WIDTHS = {"tract": GEOGRAPHY["tract"], "county": GEOGRAPHY["county"], "state": GEOGRAPHY["state"], NATIONAL: 0}
"""The baselines from the finest to the coarsest, and how many digits of an area's id name them."""


def baselines_above(area: str) -> dict[str, str]:
    """The geographies that contain an area and are larger than it, by name."""
    return {name: area[:width] for name, width in WIDTHS.items() if width < len(area)}


def count_rows(microdata: Path, areas: list[str], domain: Domain, keeps: Predicate) -> dict[str, Types]:
    """Distinct rows of every geography above the areas ("": nation), the area in them, with counts; a state at a time."""
    radix = Radix(domain)
    wanted = {geography for area in areas for geography in baselines_above(area).values()}
    counted, nation = {}, NOTHING
    for state in sorted(path.stem for path in microdata.glob("*.parquet")):
        inside = pd.Index(sorted(g for g in wanted if g and g.startswith(state)), dtype="str")
        local, whole = types_of_state(microdata, state, radix, keeps, inside)
        for index, geography in enumerate(inside):
            first, last = np.searchsorted(local.keys, [index * radix.total, (index + 1) * radix.total])
            counted[str(geography)] = Types(local.keys[first:last] - index * radix.total, local.times[first:last])
        nation += whole
    return counted | ({"": nation} if "" in wanted else {})


def populate_blocks(ranked: ConfidenceSet, blocks: Ints, seed: int, most: int) -> ConfidenceSet:
    """
    The rows with a BLOCK as the paper populates it: as in D (`blocks`: the block of each row of D), apart from the rest.

    Exact: the frequency of (row, block) is the product of both. The `most` best pairs need the `most` best rows only.
    """
    codes, times = np.unique(blocks, return_counts=True)
    rows = np.repeat(ranked.rows[:most], len(codes), axis=0)
    pairs = np.column_stack([rows, np.tile(codes, len(rows) // len(codes))]).astype(np.int64)
    return _rank_counts(pairs, np.outer(ranked.frequency[:most], times).ravel(), seed, most)


def rank_geographies(
    counted: dict[str, Types], domain: Domain, areas: dict[str, int], seed: int
) -> Iterator[tuple[str, ConfidenceSet]]:
    """Every geography with its ranking, as long as the longest list that one of its areas asks for (area: rows wanted)."""
    radix = Radix(domain)
    for geography, types in counted.items():
        most = max(wanted for area, wanted in areas.items() if area.startswith(geography))
        rows: Codes = np.stack([radix.codes(types.keys, column) for column in range(len(domain.names))], axis=1)
        yield geography, _rank_counts(rows, types.times, derive_seed(seed, "ties", "geography", geography), most)


# The holdout split: D, the private half of an area, and the holdout, the other half.

BLOCK = "BLOCK"


def with_block(domain: Domain, blocks: list[str]) -> Domain:
    """The domain with a column BLOCK, whose codes are the places of the blocks in their order."""
    return Domain((*domain.columns, Column(BLOCK, "block", tuple(range(len(blocks))), tuple(blocks))))


def area_records(records: pd.DataFrame, areas: pd.DataFrame, domain: Domain) -> pd.DataFrame:
    """The records of the areas, sorted by area and block, with the place of their block among the blocks of the area."""
    names = list(domain.names)
    indices = areas.assign(**{BLOCK: areas.groupby("area").cumcount().astype(np.int16)})
    joined = indices[["area", "block", BLOCK]].merge(records[["block", *names]], on="block")
    return joined.sort_values(["area", "block", *names], ignore_index=True)


COPIES = 5  # the number of times that unusually many rows stand in their block in the file of RAP-RANK


def repeat_rows(records: pd.DataFrame, names: Sequence[str], share: float, seed: int) -> pd.DataFrame:
    """Records of which about `share` of each block stand in rows that stand five times there; sizes of blocks stay."""
    codes = records[list(names)].to_numpy(copy=True)
    for block, rows in records.groupby("block", sort=True).indices.items():
        rng = np.random.default_rng(derive_seed(seed, "fivefold", str(block)))
        _, first, kind, times = np.unique(codes[rows], axis=0, return_index=True, return_inverse=True, return_counts=True)
        fitting = rng.permutation(np.flatnonzero(times <= COPIES))[: round(share * len(rows) / COPIES)]
        others = rng.permutation(rows[~np.isin(kind.ravel(), fitting)])
        needed = np.repeat(rows[first[fitting]], COPIES - times[fitting])[: len(others)]
        codes[others[: len(needed)]] = codes[needed]
    return records.assign(**{name: codes[:, index] for index, name in enumerate(names)})


def split_areas(records: pd.DataFrame, experiment: ResolvedExperiment, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """D and the holdout of every area: floor(n/2) records at random, and the rest; areas of one record are left out."""
    limit = experiment.limit if experiment.areas == "state" else None
    private, holdout = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for area, rows in records.groupby("area", sort=True).indices.items():
        rng = np.random.default_rng(derive_seed(seed, "split", experiment.data, experiment.areas, str(area)))
        drawn = rng.permutation(rows)[:limit]
        if len(drawn) > 1:
            private.append(np.sort(drawn[: len(drawn) // 2]))
            holdout.append(np.sort(drawn[len(drawn) // 2 :]))
    halves = [records.iloc[np.concatenate(part)].reset_index(drop=True) for part in (private, holdout)]
    return halves[0], halves[1]


def codes_of(rows: pd.DataFrame, domain: Domain, where: str) -> Codes:
    """Records as a table of codes, one column per column of the domain."""
    missing = [name for name in domain.names if name not in rows.columns]
    if missing:
        raise DataError(f"{where}: no column {missing[0]}; the queries speak of {', '.join(domain.names)}")
    codes = rows[list(domain.names)].to_numpy(dtype=np.int64)
    for index, column in enumerate(domain.columns):
        unknown = np.setdiff1d(codes[:, index], column.codes)
        if unknown.size:
            raise DataError(f"{where}: {column.name}={unknown[0]} is not a code of the domain of the queries")
    return codes


@dataclass(frozen=True)
class Target:
    """
    An area to reconstruct: the domain of its records, their number, and the published answers.

    With blocks distinguished, the last column of the domain is BLOCK. Their counts are `blocks`, whose sizes give each
    row its block, or, if RAP has to learn the blocks, queries as all others.
    """

    area: str
    domain: Domain
    rows: int
    predicates: tuple[Predicate, ...]
    counts: Ints
    blocks: BlockCounts | None = None

    @property
    def published(self) -> int:
        return len(self.predicates) + (self.blocks.counts.size if self.blocks else 0)


def publish_areas(private: pd.DataFrame, areas: pd.DataFrame, of_area: Schema, of_block: Schema | None) -> pd.DataFrame:
    """The counts (block, query, count, area) of every area, and by `of_block` of each of its blocks, empty ones too."""
    names = list(private["area"].unique())
    parts = [_counts(private, names, "area", of_area).assign(area=lambda frame: frame["block"])]
    if of_block is not None:
        area_of = areas[areas["area"].isin(names)].set_index("block")["area"]
        blocks = _counts(private, list(area_of.index), "block", of_block)
        parts.append(blocks.assign(area=blocks["block"].map(area_of)))
    both = pd.concat([part.astype({"query": "str"}) for part in parts], ignore_index=True)
    return both.sort_values(["area", "block"], kind="stable", ignore_index=True).astype({"query": "category"})


def both_schemas(of_area: Schema, of_block: Schema | None) -> Schema:
    """One schema with the queries about an area, and those about its blocks."""
    return Schema(of_area.domain, of_area.rules, of_area.queries + (of_block.queries if of_block else ()))


def _counts(private: pd.DataFrame, wanted: list[str], key: str, schema: Schema) -> pd.DataFrame:
    """The counts of every wanted area or block; one without records counts 0 everywhere."""
    table = pa.table({"block": private[key].astype("str"), **{name: private[name] for name in schema.domain.names}})
    result, sizes, counts = tabulate_counts(table, EVERY, schema)
    wanted = sorted(wanted)
    indices = pd.Index(wanted).get_indexer(pd.Index(result))
    n, full = np.zeros(len(wanted), dtype=np.int64), np.zeros((len(wanted), len(schema.queries)), dtype=np.int64)
    n[indices], full[indices] = sizes, counts
    return counts_frame(schema, wanted, n, full, [])


def read_areas(counts: Path, schema: Schema) -> Iterator[list[Release]]:
    """The areas of a counts file: what is published of each, followed by the blocks whose ids begin with its id."""
    releases: list[Release] = []
    for release in read_releases(counts, schema):
        if releases and not release.block.startswith(releases[0].block):
            yield releases
            releases = []
        releases.append(release)
    if releases:
        yield releases


def make_target(releases: list[Release], learned: bool = False) -> Target:
    """The target of an area's release, followed by those of its blocks if they are distinguished."""
    area, *blocks = releases
    domain = with_block(area.schema.domain, [b.block for b in blocks]) if blocks else area.schema.domain
    known = {query.predicate: int(count) for query, count in zip(area.queries, area.lo, strict=True)}
    if learned:
        for index, block in enumerate(blocks):
            here = Predicate.of({BLOCK: [index]})
            known[here] = block.n
            known |= {query.predicate & here: int(count) for query, count in zip(block.queries, block.lo, strict=True)}
    counts = np.array(list(known.values()), dtype=np.int64)
    return Target(area.block, domain, area.n, tuple(known), counts, _blocks(blocks) if blocks and not learned else None)


def _blocks(blocks: list[Release]) -> BlockCounts:
    """The counts of the blocks, of queries that ask the same the first."""
    first: dict[Predicate, int] = {}
    for index, query in enumerate(blocks[0].queries):
        first.setdefault(query.predicate, index)
    counts = np.array([block.lo for block in blocks], dtype=np.int64)[:, list(first.values())]
    return BlockCounts(np.array([block.n for block in blocks], dtype=np.int64), tuple(first), counts)
