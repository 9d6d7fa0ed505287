"""What is said of the datasets that fit a block, held against the generated ones, recounted, and against the proofs."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from genverify.claims import Codes, candidate_claims
from genverify.provenance.claimed import Matrix, block_rows, whole_numbers
from genverify.provenance.records import AuditError
from genverify.release import Release
from genverify.tabulate import tabulate

Ints = npt.NDArray[np.int64]
AGAIN = "Generate the batch again: snakemake --force"


def compare_generated(
    path: Path, datasets: Mapping[str, Codes], releases: Mapping[str, Release], proven: Mapping[str, Matrix]
) -> None:
    """
    The table of blocks of a generation: as many different datasets as it says, all of which fit; one solution where it says
    `unique`, which the claims about all columns prove; two where it says so.
    """
    frame = block_rows(path, releases)
    said = {name: whole_numbers(path, frame, name) for name in ("n_households", "datasets", "class_vectors")}
    flags = (
        {name: frame[name].to_numpy(dtype=bool) for name in ("complete", "unique", "two_solutions")} if len(frame) else {}
    )
    for at, block in enumerate(frame["block"] if len(frame) else []):
        count, rows = len(datasets[block]), proven[block]
        whole = rows[(rows[:, 4:] >= 0).all(axis=1), 1].sum() == releases[block].n
        right = {
            "n_households": said["n_households"][at] == releases[block].n,
            "datasets": said["datasets"][at] == count,
            "class_vectors": 1 <= said["class_vectors"][at] <= count,
            "unique": flags["unique"][at] == bool(whole),
            "complete": flags["complete"][at] or not flags["unique"][at],
            "two_solutions": flags["two_solutions"][at] == (count >= 2),
        }
        wrong = next((name for name, ok in right.items() if not ok), None)
        if wrong:
            raise AuditError(
                f"{path}: block {block}: {wrong} is {frame[wrong].iloc[at]}, which the generated datasets and the proofs "
                f"do not bear out. {AGAIN} {path}"
            )


def read_generated(path: Path, releases: Mapping[str, Release]) -> dict[str, Codes]:
    """The generated datasets by block: different from each other, and each recounted against its release."""
    frame = pd.read_parquet(path)
    if not releases:
        return {}
    schema = next(iter(releases.values())).schema
    columns = np.column_stack([whole_numbers(path, frame, name) for name in schema.domain.names])
    indices = frame.groupby(frame["block"].astype(str), sort=False).indices
    places = {str(block): rows for block, rows in indices.items()}
    odd = sorted(set(places) ^ set(releases))
    if odd:
        raise AuditError(f"{path}: block {odd[0]} has no dataset, or is none of this batch. {AGAIN} {path}")
    return {
        str(b): _fitting(path, releases[str(b)], frame["dataset"].to_numpy()[own], columns[own]) for b, own in places.items()
    }


def _fitting(path: Path, release: Release, numbers: Ints, records: Ints) -> Codes:
    block = f"{path}: block {release.block}"
    datasets, sizes = np.unique(numbers, return_counts=True)
    if (sizes != release.n).any() or (np.diff(numbers) < 0).any():
        raise AuditError(f"{block}: a generated dataset does not have {release.n} records. {AGAIN} {path}")
    domain = release.schema.domain
    named = dict(zip(domain.names, records.T, strict=True))
    counts = tabulate(named, np.arange(len(datasets)) * release.n, domain, release.queries)
    wrong = (counts < release.lo) | (counts > release.hi)
    if wrong.any() or any(rule.excludes(named).any() for rule in release.schema.rules):
        raise AuditError(f"{block}: a generated dataset does not fit the published counts. {AGAIN} {path}")
    stacked = records.reshape(len(datasets), release.n, -1)
    if len({_sorted(one).tobytes() for one in stacked}) < len(datasets):
        raise AuditError(f"{block}: a generated dataset is duplicated. {AGAIN} {path}")
    return stacked.astype(np.int16)


def _sorted(records: Ints) -> Ints:
    return records[np.lexsort(records.T[::-1])]


def compare_candidates(path: Path, frame: pd.DataFrame, datasets: Mapping[str, Codes], min_k: int) -> None:
    """As many candidates of each k as the generated datasets share."""
    for row in frame.to_dict("records"):
        codes, _ = candidate_claims(datasets[row["block"]], min_k)
        counted = np.bincount((codes >= 0).sum(axis=1), minlength=codes.shape[1] + 1)
        for k in range(1, codes.shape[1] + 1):
            if row[f"candidates_k{k}"] != counted[k]:
                raise AuditError(
                    f"{path}: block {row['block']}: {row[f'candidates_k{k}']} candidates of k = {k} are counted, the "
                    f"generated datasets share {counted[k]}. {AGAIN} {path}"
                )
