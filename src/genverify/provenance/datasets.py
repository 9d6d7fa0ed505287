"""What is said of the datasets that fit a block, held against the generated ones, recounted, and against the proofs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from genverify.claims import Codes, candidate_claims
from genverify.provenance.claimed import Matrix, block_rows, truth_values, whole_numbers
from genverify.provenance.records import AuditError
from genverify.release import Release, Schema
from genverify.tabulate import tabulate

Ints = npt.NDArray[np.int64]
AT_ONCE = 20_000  # records: each becomes a row with a number per query
AGAIN = "Generate the batch again: snakemake --force"


@dataclass(frozen=True)
class Generated:
    """Datasets that fit a block, all different, and how many different class counts they have."""

    datasets: Codes
    class_vectors: int


def compare_generated(
    path: Path, found: Mapping[str, Generated], releases: Mapping[str, Release], proven: Mapping[str, Matrix], unproved: bool
) -> None:
    """
    The table of blocks of a generation: as many different datasets as it says; one solution where it says `unique`, which
    the claims about all columns prove, and nowhere else; two where it says so. Without proofs nothing is unique.
    """
    frame = block_rows(path, releases)
    if not len(frame):
        return
    counts = {name: whole_numbers(path, frame, name) for name in ("n_households", "datasets", "class_vectors")}
    flags = {name: truth_values(path, frame, name) for name in ("complete", "unique", "two_solutions")}
    for at, block in enumerate(frame["block"]):
        rows, many = proven[block], len(found[block].datasets)
        single = not unproved and rows[(rows[:, 4:] >= 0).all(axis=1), 1].sum() == releases[block].n
        right = {
            "n_households": counts["n_households"][at] == releases[block].n,
            "datasets": counts["datasets"][at] == many,
            "class_vectors": counts["class_vectors"][at] == found[block].class_vectors,
            "unique": flags["unique"][at] == bool(single),
            "complete": flags["complete"][at] or not single,
            "two_solutions": flags["two_solutions"][at] == (many >= 2),
        }
        wrong = next((name for name, agrees in right.items() if not agrees), None)
        if wrong:
            raise AuditError(
                f"{path}: block {block}: {wrong} is {frame[wrong].iloc[at]}, which the generated datasets and the proofs do "
                f"not show. {AGAIN} {path}"
            )


def read_generated(path: Path, releases: Mapping[str, Release]) -> dict[str, Generated]:
    """The generated datasets by block, each recounted against its release."""
    frame = pd.read_parquet(path)
    if not releases:
        return {}
    schema = next(iter(releases.values())).schema
    numbers, *columns = (whole_numbers(path, frame, name) for name in ("dataset", *schema.domain.names))
    records = np.column_stack(columns)
    _check_codes(path, schema, records)
    indices = frame.groupby(frame["block"].astype(str), sort=False).indices
    rows = {str(block): np.asarray(own) for block, own in indices.items()}
    odd = sorted(set(rows) ^ set(releases))
    if odd:
        raise AuditError(f"{path}: block {odd[0]} has no dataset, or is none of this batch. {AGAIN} {path}")
    found = {}
    for blocks in _some(rows):
        cells = _cells(schema, records[np.concatenate([rows[block] for block in blocks])])
        for block, own in zip(blocks, np.split(cells, np.cumsum([len(rows[b]) for b in blocks])[:-1]), strict=True):
            found[block] = _fitting(path, releases[block], numbers[rows[block]], records[rows[block]], own)
    return found


def _check_codes(path: Path, schema: Schema, records: Ints) -> None:
    named = dict(zip(schema.domain.names, records.T, strict=True))
    wrong = any(not np.isin(named[column.name], column.codes).all() for column in schema.domain.columns)
    if wrong or any(rule.excludes(named).any() for rule in schema.rules):
        raise AuditError(f"{path}: a record that the domain or a structural rule does not allow. {AGAIN} {path}")


def _some(rows: Mapping[str, Ints]) -> Iterator[list[str]]:
    """Blocks in groups of about AT_ONCE records."""
    group: list[str] = []
    for block in rows:
        group.append(block)
        if sum(len(rows[one]) for one in group) >= AT_ONCE:
            yield group
            group = []
    if group:
        yield group


def _cells(schema: Schema, records: Ints) -> npt.NDArray[np.int32]:
    """What each record adds to every query."""
    kinds, first, place = np.unique(_keys(schema, records), return_index=True, return_inverse=True)
    named = dict(zip(schema.domain.names, records[first].T, strict=True))
    return tabulate(named, np.arange(len(kinds)), schema.domain, schema.queries).astype(np.int32)[place.ravel()]


def _keys(schema: Schema, records: Ints) -> npt.NDArray[np.void]:
    """A value per record, the same for the same codes."""
    narrow = np.ascontiguousarray(records.astype(np.int32))
    return narrow.view(f"V{narrow.shape[1] * narrow.itemsize}").ravel()


def _fitting(path: Path, release: Release, numbers: Ints, records: Ints, cells: npt.NDArray[np.int32]) -> Generated:
    """The datasets of a block: of N records each, different from each other, and all that is published fits them."""
    block, n = f"{path}: block {release.block}", release.n
    datasets, sizes = np.unique(numbers, return_counts=True)
    if (sizes != n).any() or (np.diff(numbers) < 0).any():
        raise AuditError(f"{block}: a generated dataset does not have {n} records. {AGAIN} {path}")
    published = cells[:, release.cells]
    counts = np.add.reduceat(published, np.arange(len(datasets)) * n, axis=0)
    if ((counts < release.lo) | (counts > release.hi)).any():
        raise AuditError(f"{block}: a generated dataset does not fit the published counts. {AGAIN} {path}")
    stacked, classes = records.reshape(len(datasets), n, -1).astype(np.int16), _classes(published).reshape(-1, n)
    if _different([one[np.lexsort(one.T[::-1])] for one in stacked]) < len(datasets):
        raise AuditError(f"{block}: a generated dataset is duplicated. {AGAIN} {path}")
    return Generated(stacked, _different([np.sort(one) for one in classes]))


def _classes(published: npt.NDArray[np.int32]) -> Ints:
    """Records that add the same to every published query are of one class; a number for each."""
    rows = np.ascontiguousarray(published.astype(np.int16))
    return np.unique(rows.view(f"V{rows.shape[1] * rows.itemsize}").ravel(), return_inverse=True)[1].ravel()


def _different(arrays: Sequence[npt.NDArray[np.integer]]) -> int:
    return len({one.tobytes() for one in arrays})


def compare_candidates(path: Path, frame: pd.DataFrame, found: Mapping[str, Generated], min_k: int) -> None:
    """As many candidates of each k as the generated datasets share."""
    for row in frame.to_dict("records"):
        codes, _ = candidate_claims(found[row["block"]].datasets, min_k)
        counted = np.bincount((codes >= 0).sum(axis=1), minlength=codes.shape[1] + 1)
        for k in range(1, codes.shape[1] + 1):
            if row[f"candidates_k{k}"] != counted[k]:
                raise AuditError(
                    f"{path}: block {row['block']}: {row[f'candidates_k{k}']} candidates of k = {k} are counted, the "
                    f"generated datasets share {counted[k]}. {AGAIN} {path}"
                )
