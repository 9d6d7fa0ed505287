"""Files of generated datasets, recounted against the release when they are read."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from genverify.core.arraytypes import Ints
from genverify.core.claims import Codes
from genverify.core.domain import Domain
from genverify.core.errors import DataError
from genverify.core.release import Release
from genverify.core.tabulate import tabulate


def read_datasets(path: Path, releases: Sequence[Release]) -> dict[str, Codes]:
    """
    The generated records of each block, with shape (K, N, columns). A dataset that does not fit its release is an error: it
    would silently remove candidate claims that hold.
    """
    if not releases:
        return {}
    domain = releases[0].schema.domain
    frame = _read(path, domain)
    codes, numbers = frame[list(domain.names)].to_numpy(dtype=np.int16), frame["dataset"].to_numpy()
    rows = frame.groupby("block", observed=True).indices
    none = np.zeros(0, dtype=np.int64)
    rows_of = {release.block: rows.get(release.block, none) for release in releases}
    found = {r.block: _of_block(path, r, codes[rows_of[r.block]], numbers[rows_of[r.block]]) for r in releases}
    for block, dataset, why in _misfits(releases, found):
        raise DataError(_wrong(path, f"block {block}, dataset {dataset} does not fit the release: {why}"))
    return found


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
    if release.n == 0 and len(codes) == 0:
        return codes.reshape(1, 0, codes.shape[1])  # the one dataset of an area of nobody has no row
    if len(codes) == 0:
        raise DataError(_wrong(path, f"block {release.block} has no dataset"))
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
        yield from _miscounts(release, counts[of_block][:, release.cells])
        first = of_block.stop


def _miscounts(release: Release, counts: Ints) -> Iterator[tuple[str, int, str]]:
    for dataset, cell in np.argwhere((counts < release.lo) | (counts > release.hi)).tolist():
        lo, hi = int(release.lo[cell]), int(release.hi[cell])
        published = f"{lo}" if lo == hi else f"{lo} to {hi}"
        why = f"{release.queries[cell].id} is {int(counts[dataset, cell])} in it, and {published} was published"
        yield release.block, dataset, why
