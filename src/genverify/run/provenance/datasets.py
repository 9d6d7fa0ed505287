"""What is reported of the datasets that fit a block, compared with the generated ones, recounted, and with the proofs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from genverify.attack.datasetfile import read_datasets
from genverify.core.arrays import row_bytes
from genverify.core.arraytypes import Ints
from genverify.core.claims import Codes, candidate_claims
from genverify.core.release import Release
from genverify.core.tabulate import tabulate
from genverify.run.provenance.claimed import Matrix, block_rows, truth_values, whole_numbers
from genverify.run.provenance.records import AuditError

AT_ONCE = 20  # blocks: every record of theirs becomes a row with a number per query
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
    """The generated datasets by block, recounted against the releases; all different."""
    found = read_datasets(path, list(releases.values()))
    for block, datasets in found.items():
        if _different([one[np.lexsort(one.T[::-1])] for one in datasets]) < len(datasets):
            raise AuditError(f"{path}: block {block}: a generated dataset is duplicated. {AGAIN} {path}")
    vectors: dict[str, int] = {}
    for some in split(list(found), AT_ONCE):
        vectors |= _class_vectors({block: releases[block] for block in some}, found)
    return {block: Generated(datasets, vectors[block]) for block, datasets in found.items()}


def split(blocks: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    """The blocks, some at a time."""
    yield from (blocks[at : at + size] for at in range(0, len(blocks), size))


def _class_vectors(releases: Mapping[str, Release], found: Mapping[str, Codes]) -> dict[str, int]:
    """By block, how many different class counts its datasets have: a class adds the same to every published query."""
    schema = next(iter(releases.values())).schema
    records = np.concatenate([found[block].reshape(-1, len(schema.domain.names)) for block in releases]).astype(np.int64)
    _, first, kind = np.unique(row_bytes(records.astype(np.int32)), return_index=True, return_inverse=True)
    named = dict(zip(schema.domain.names, records[first].T, strict=True))
    added = tabulate(named, np.arange(len(first)), schema.domain, schema.queries)
    ends = np.cumsum([found[block][:, :, 0].size for block in releases])
    kinds = dict(zip(releases, np.split(kind.ravel(), ends[:-1]), strict=True))
    return {
        block: _vectors(added[:, release.cells], kinds[block], found[block].shape) for block, release in releases.items()
    }


def _vectors(added: Ints, kinds: Ints, shape: tuple[int, ...]) -> int:
    used, places = np.unique(kinds, return_inverse=True)
    classes = np.unique(row_bytes(added[used].astype(np.int32)), return_inverse=True)[1].ravel()[places.ravel()]
    return _different([np.sort(one) for one in classes.reshape(shape[:2])])


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
