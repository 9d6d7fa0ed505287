"""Tabulation: the answers Q(D) of every block, all blocks in one pass (equation 2)."""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from genverify.domain import Domain
from genverify.predicates import Predicate, Records
from genverify.release import Schema, counts_frame
from genverify.tables import Query

Ints = npt.NDArray[np.int64]
ROWS_AT_ONCE = 200_000


def tabulate(records: Records, starts: Ints, domain: Domain, queries: Sequence[Query]) -> Ints:
    """
    The count of every query in every block: one row per block, one column per query.

    Records are sorted by block; `starts` holds the first record of each block, and no block is empty.
    """
    counts = np.zeros((len(starts), len(queries)), dtype=np.int64)
    total = len(next(iter(records.values())))
    bounds = np.append(starts, total)
    tables = _lookups(domain, queries)
    for first, last in _chunks(bounds):
        rows = slice(int(bounds[first]), int(bounds[last]))
        offsets = bounds[first:last] - bounds[first]
        for columns, members, lookup in tables:
            cell = _cell(records, rows, domain, columns)
            counts[first:last, members] = np.add.reduceat(lookup[cell], offsets, axis=0)
    return counts


def _chunks(bounds: Ints) -> Iterator[tuple[int, int]]:
    """Ranges of blocks that hold about ROWS_AT_ONCE records each."""
    first, last = 0, len(bounds) - 1
    while first < last:
        stop = int(np.searchsorted(bounds, bounds[first] + ROWS_AT_ONCE, side="right")) - 1
        stop = min(max(stop, first + 1), last)
        yield first, stop
        first = stop


def _lookups(domain: Domain, queries: Sequence[Query]) -> list[tuple[tuple[str, ...], Ints, npt.NDArray[np.int32]]]:
    """For every set of columns: which queries use it, and whether each combination of codes lies in each of them."""
    members: dict[tuple[str, ...], list[int]] = {}
    for place, query in enumerate(queries):
        members.setdefault(query.predicate.columns, []).append(place)
    tables = []
    for columns, places in members.items():
        shape = [len(domain[name].codes) for name in columns]
        flat = np.indices(shape).reshape(len(shape), int(np.prod(shape, dtype=np.int64)))
        grid = {name: np.array(domain[name].codes)[axis] for name, axis in zip(columns, flat, strict=True)}
        lookup = [queries[place].predicate.matches(grid) if columns else [True] for place in places]
        tables.append((columns, np.array(places), np.array(lookup).T.astype(np.int32)))
    return tables


def _cell(records: Records, rows: slice, domain: Domain, columns: Sequence[str]) -> Ints:
    """The place of each record in the product of its columns' codes."""
    cell = np.zeros(rows.stop - rows.start, dtype=np.int64)
    for name in columns:
        codes = np.array(domain[name].codes)
        place = np.zeros(int(codes.max()) + 1, dtype=np.int64)
        place[codes] = np.arange(len(codes))
        cell = cell * len(codes) + place[records[name][rows]]
    return cell


def tabulate_blocks(records: pa.Table, keeps: Predicate, schema: Schema, withhold: Sequence[int]) -> pd.DataFrame:
    """The published counts (block, query, count) of every block of a table of microdata, sorted by block."""
    blocks, sizes, counts = tabulate_counts(records, keeps, schema)
    return counts_frame(schema, blocks, sizes, counts, withhold)


def tabulate_counts(records: pa.Table, keeps: Predicate, schema: Schema) -> tuple[list[str], Ints, Ints]:
    """The blocks of a table of microdata in order, their sizes, and the count of every query in each."""
    frame = records.to_pandas()
    frame = frame[keeps.matches(dict(frame.items()))].sort_values("block", kind="stable")
    blocks, starts, sizes = np.unique(frame["block"].to_numpy(dtype=str), return_index=True, return_counts=True)
    columns = {name: frame[name].to_numpy() for name in schema.domain.names}
    return blocks.tolist(), sizes, tabulate(columns, starts, schema.domain, schema.queries)
