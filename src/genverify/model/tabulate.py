"""Tabulation: the answers Q(D) of every block in one pass (equation 2); marginals; files of datasets, recounted."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from genverify.model.arrays import Flags, Ints, row_bytes
from genverify.model.claims import Codes
from genverify.model.domain import Domain, Predicate, Records
from genverify.model.errors import DataError
from genverify.model.query import Query
from genverify.model.release import Release, Schema, counts_frame, range_words

if TYPE_CHECKING:
    import pyarrow as pa


Table: TypeAlias = "pa.Table | pd.DataFrame"
ROWS_AT_ONCE = 50_000  # bounds memory, whatever the number of records


def tabulate(records: Records, starts: Ints, domain: Domain, queries: Sequence[Query]) -> Ints:
    """The count of every query (column) in every block (row) of sorted records; `starts`: the first record of each block."""
    counts = np.zeros((len(starts), len(queries)), dtype=np.int64)
    bounds = np.append(starts, len(next(iter(records.values()))))
    groups, summed = _groups(domain, queries), [number for number, query in enumerate(queries) if query.sums]
    for first, last in _chunks(bounds):
        rows = slice(int(bounds[first]), int(bounds[last]))
        indices = {column.name: _code_places(column.codes)[records[column.name][rows]] for column in domain.columns}
        block = np.repeat(np.arange(last - first), np.diff(bounds[first : last + 1]))
        for group in groups:
            counts[first:last, group.members] = group.counts(indices, block, last - first)
        for number in summed:
            here, query = {name: codes[rows] for name, codes in records.items()}, queries[number]
            added = here[query.sums or ""].astype(np.int64) * query.predicate.matches(here)
            counts[first:last, number] = np.bincount(block, weights=added).astype(np.int64)
    return counts


def _chunks(bounds: Ints) -> Iterator[tuple[int, int]]:
    first, last = 0, len(bounds) - 1
    while first < last:
        stop = int(np.searchsorted(bounds, bounds[first] + ROWS_AT_ONCE, side="right")) - 1
        stop = min(max(stop, first + 1), last)
        yield first, stop
        first = stop


def _code_places(codes: Sequence[int]) -> npt.NDArray[np.int32]:
    index = np.zeros(max(codes) + 1, dtype=np.int32)
    index[list(codes)] = np.arange(len(codes))
    return index


@dataclass(frozen=True)
class _Group:
    """
    The queries about one set of columns. Combinations of codes that lie in the same queries are of one kind: `kind_of` each
    combination, and `inside`, which kinds lie in each query: without scipy, which jobs that tabulate need for nothing else.
    """

    columns: tuple[str, ...]
    sizes: tuple[int, ...]
    members: Ints
    kind_of: Ints
    inside: Flags

    def counts(self, places: Mapping[str, npt.NDArray[np.int32]], block: Ints, blocks: int) -> Ints:
        """How many records of each block lie in each query: the records of each kind, added up over the kinds of a query."""
        cell = np.zeros(len(block), dtype=np.int32)
        for name, size in zip(self.columns, self.sizes, strict=True):
            cell = cell * np.int32(size) + places[name]
        held = np.bincount(self.kind_of[cell] * blocks + block, minlength=self.inside.shape[1] * blocks)
        kinds = held.reshape(-1, blocks)
        return np.stack([kinds[inside].sum(axis=0) for inside in self.inside], axis=1)


def _groups(domain: Domain, queries: Sequence[Query]) -> list[_Group]:
    members: dict[tuple[str, ...], list[int]] = {}
    for number, query in ((number, query) for number, query in enumerate(queries) if not query.sums):
        members.setdefault(query.predicate.columns, []).append(number)
    return [_group(domain, queries, columns, numbers) for columns, numbers in members.items()]


def _group(domain: Domain, queries: Sequence[Query], columns: tuple[str, ...], numbers: Sequence[int]) -> _Group:
    codes = [np.array(domain[name].codes) for name in columns]
    inside = np.array([_grid_flags(queries[number].predicate, codes) for number in numbers]).T
    # Which queries a combination of codes lies in is a row of flags, and combinations with equal rows are of one kind.
    # Packed to bits and viewed as one void scalar, a row is compared as a few bytes; np.unique over rows (axis=0) would
    # compare it flag by flag. The order of the kinds has no meaning: `inside` is indexed by it and nothing else.
    _, first, kind_of = np.unique(row_bytes(np.packbits(inside, axis=1)), return_index=True, return_inverse=True)
    return _Group(columns, tuple(map(len, codes)), np.array(numbers), kind_of.ravel().astype(np.int64), inside[first].T)


def _grid_flags(predicate: Predicate, codes: Sequence[Ints]) -> Flags:
    """Whether each combination of codes of the predicate's columns lies in it, the last column varying fastest."""
    flags: Flags = np.ones(1, dtype=bool)
    for (_, allowed), of_column in zip(predicate.clauses, codes, strict=True):
        flags = np.logical_and.outer(flags, np.isin(of_column, allowed)).ravel()
    return flags


def tabulate_blocks(records: Table, keeps: Predicate, schema: Schema, withhold: Sequence[int]) -> pd.DataFrame:
    """The published counts (block, query, count) of every block of a table of microdata, sorted by block."""
    blocks, sizes, counts = tabulate_counts(records, keeps, schema)
    return counts_frame(schema, blocks, sizes, counts, withhold)


def tabulate_counts(records: Table, keeps: Predicate, schema: Schema) -> tuple[list[str], Ints, Ints]:
    """The blocks of a table of microdata in order, their sizes, and the count of every query in each."""
    columns = {name: records[name].to_numpy() for name in {*schema.domain.names, *keeps.columns}}
    rest = np.flatnonzero(keeps.matches(columns)) if keeps.columns else np.arange(len(records))
    names, block = _blocks(records["block"])
    block = block[rest]
    order = rest[np.argsort(block, kind="stable")]
    sizes = np.bincount(block, minlength=len(names))
    starts = (np.cumsum(sizes) - sizes)[sizes > 0]
    sorted_ = {name: columns[name][order] for name in schema.domain.names}
    return names[sizes > 0].tolist(), sizes[sizes > 0], tabulate(sorted_, starts, schema.domain, schema.queries)


def _blocks(ids: Any) -> tuple[npt.NDArray[np.object_], Ints]:
    """The blocks in order, and the place among them of the block of each record."""
    if isinstance(ids, pd.Series):
        index, result = pd.factorize(ids)
    else:
        coded = ids.combine_chunks()
        coded = coded if hasattr(coded, "dictionary") else coded.dictionary_encode()
        index, result = coded.indices.to_numpy(), coded.dictionary.to_pylist()
    names, order = np.unique(np.array(list(result), dtype=object), return_inverse=True)
    return names, order[index]


def releases_of(records: Table, keeps: Predicate, schema: Schema) -> Iterator[Release]:
    """The release of every block of a table of microdata, in order, every count published."""
    cells = np.arange(len(schema.queries))
    for block, n, row in zip(*tabulate_counts(records, keeps, schema), strict=True):
        yield Release(schema, block, int(n), cells, row, row)


# Files of generated datasets, recounted against the release when they are read.


def read_datasets(path: Path, releases: Sequence[Release]) -> dict[str, Codes]:
    """The generated records (K, N, columns) of each block; an error for one that does not fit: it would hide claims."""
    if not releases:
        return {}
    domain = releases[0].schema.domain
    frame = _read(path, domain)
    codes, numbers = frame[list(domain.names)].to_numpy(dtype=np.int16), frame["dataset"].to_numpy()
    rows = frame.groupby("block", observed=True).indices
    none = np.zeros(0, dtype=np.int64)
    rows_of = {release.block: rows.get(release.block, none) for release in releases}
    result = {r.block: _of_block(path, r, codes[rows_of[r.block]], numbers[rows_of[r.block]]) for r in releases}
    for block, dataset, why in _misfits(releases, result):
        raise DataError(_wrong(path, f"block {block}, dataset {dataset} does not fit the release: {why}"))
    return result


def _wrong(path: Path, why: str) -> str:
    return f"{path}: {why}. Generate its datasets again: delete this file and give the same command."


def _read(path: Path, domain: Domain) -> pd.DataFrame:
    """The rows of a file: block, dataset, and codes of the domain only."""
    try:
        frame = pd.read_parquet(path)
    except (OSError, ValueError) as error:
        raise DataError(_wrong(path, f"not a file of datasets ({error})")) from None
    for name in ("block", "dataset", *domain.names):
        if name not in frame:
            raise DataError(_wrong(path, f"no column {name!r}"))
    for column in domain.columns:
        wrong = ~frame[column.name].isin(column.codes).to_numpy()
        if wrong.any():
            block, dataset, code = frame.loc[wrong, ["block", "dataset", column.name]].iloc[0].tolist()
            where = f"block {block}, dataset {dataset}"
            raise DataError(_wrong(path, f"{where} has the code {code} of {column.name}, which is not in the domain"))
    return frame


def _of_block(path: Path, release: Release, codes: Codes, numbers: Ints) -> Codes:
    """The records of a block, those of each dataset together: N of each."""
    if len(codes) == 0:
        if release.n:
            raise DataError(_wrong(path, f"block {release.block} has no dataset"))
        return codes.reshape(1, 0, codes.shape[1])  # the one dataset of an area of nobody has no row
    datasets, sizes = np.unique(numbers, return_counts=True)
    wrong = np.flatnonzero(sizes != release.n)
    if len(wrong):
        dataset, size = datasets[wrong[0]], sizes[wrong[0]]
        raise DataError(_wrong(path, f"block {release.block}, dataset {dataset} has {size} records, not {release.n}"))
    return codes[np.argsort(numbers, kind="stable")].reshape(-1, release.n, codes.shape[1])


def _misfits(releases: Sequence[Release], datasets: dict[str, Codes]) -> Iterator[tuple[str, int, str]]:
    """The block, number and reason of every dataset that breaks a rule or a published count, all counted in integers."""
    releases, schema = [release for release in releases if release.n], releases[0].schema
    if not releases:
        return
    records = np.concatenate([datasets[release.block].reshape(-1, len(schema.domain.names)) for release in releases])
    named = dict(zip(schema.domain.names, records.T, strict=True))
    sizes = np.repeat([release.n for release in releases], [len(datasets[release.block]) for release in releases])
    counts = tabulate(named, np.cumsum(sizes) - sizes, schema.domain, schema.queries)
    broken = {rule.name: np.add.reduceat(rule.excludes(named), np.cumsum(sizes) - sizes) for rule in schema.rules}
    first = 0
    for release in releases:
        of_block = slice(first, first + len(datasets[release.block]))
        for name, times in broken.items():
            for dataset in np.flatnonzero(times[of_block]).tolist():
                yield release.block, dataset, f"a record breaks the rule {name}"
        own, first = counts[of_block][:, release.cells], of_block.stop
        for dataset, cell in np.argwhere((own < release.lo) | (own > release.hi)).tolist():
            published = range_words(release.lo[cell], release.hi[cell])
            why = f"{release.queries[cell].id} is {int(own[dataset, cell])} in it, and {published} was published"
            yield release.block, dataset, why
