"""Every proof behind some results, checked again; and every claim of their tables, looked up among the proven ones."""

import gc
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pandas as pd

from genverify.certificate import check_block
from genverify.errors import DataError
from genverify.housing.check import Detection
from genverify.prooffile import read_proofs
from genverify.provenance.records import AuditError, Record
from genverify.release import Release, Schema, read_releases, read_schema

Claim = tuple[str, tuple[int, ...], int]  # block, a code per column (-1: any), m


@dataclass(frozen=True)
class Batch:
    """The proofs of some blocks, the release that they speak of, and the claims that rest on them, if they are listed."""

    schema: Path
    counts: Path
    proofs: Path
    claims: Path | None = None


def batches_of(jobs: Iterable[Record]) -> list[Batch]:
    """What the jobs of a chain proved: those with an output `proofs`, from the inputs `schema` and `counts`."""
    found = []
    for record in jobs:
        schema, counts = record.named("inputs", "schema"), record.named("inputs", "counts")
        proofs = [path for path in record.named("outputs", "proofs") if path.endswith(".jsonl.gz")]
        if len(schema) == len(counts) == len(proofs) == 1:
            claims = [Path(path) for path in record.named("outputs", "claims")]
            found.append(Batch(Path(schema[0]), Path(counts[0]), Path(proofs[0]), claims[0] if claims else None))
    return found


def detections_of(jobs: Iterable[Record]) -> list[Detection]:
    """The detections of a chain: jobs with an output `proofs` about the input `statistics`."""
    found = []
    for record in jobs:
        inputs = [record.named("inputs", name) for name in ("statistics", "housing_domain", "published")]
        outputs = [record.named("outputs", name) for name in ("blocks", "proofs")]
        if all(len(paths) == 1 for paths in (*inputs, *outputs)):
            statistics, domain, published, blocks, proofs = (Path(paths[0]) for paths in (*inputs, *outputs))
            reading = str(record.params["condition"]["reading"])
            found.append(Detection(statistics, blocks, proofs, domain, published, reading))
    return found


def check_proofs(batches: Sequence[Batch]) -> Counter[str]:
    """How many blocks, claims and proofs are right, several batches at a time; an error names the first that is not."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    total: Counter[str] = Counter()
    if min(cores, len(batches)) <= 1:
        return sum(map(check_batch, batches), total)
    largest_first = sorted(batches, key=lambda batch: -batch.proofs.stat().st_size)
    # a batch makes millions of small values and no circles, which the collector would count again and again
    with ProcessPoolExecutor(min(cores, len(batches)), get_context("spawn"), gc.disable) as pool:
        try:
            return sum(pool.map(check_batch, largest_first), total)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def check_batch(batch: Batch) -> Counter[str]:
    """Check the proofs of a batch, and that its table of claims holds the proven claims and no other."""
    total: Counter[str] = Counter()
    proven: set[Claim] = set()
    names: tuple[str, ...] = ()
    for release, found in matched([batch.proofs], batch.schema, batch.counts):
        checked = check_block(release, found)
        total.update(blocks=1, claims=checked.claims, proofs=checked.proofs)
        names = release.schema.domain.names
        proven |= {_claim(release.block, said, names) for said in found["claims"]}
    if batch.claims:
        _compare(batch.claims, _listed(batch.claims, names), proven)
    return total


def matched(files: Sequence[Path], schema: Path, counts: Path) -> Iterator[tuple[Release, dict[str, Any]]]:
    """Every block's release with its proofs; a block on one side only is an error. `counts`: a file, or a folder of them."""
    known = _schema(schema.resolve(), schema.stat().st_mtime_ns) if schema.exists() else read_schema(schema)
    for file in files:
        own = counts / file.name.replace(".jsonl.gz", ".parquet") if counts.is_dir() else counts
        releases = {release.block: release for release in read_releases(own, known)}
        for found in read_proofs(file):
            if found["block"] not in releases:
                raise DataError(f"{file}: block {found['block']} is not in {own}, or stands twice in the proofs")
            yield releases.pop(found["block"]), found
        if releases:
            raise DataError(f"{file}: block {next(iter(releases))} of {own} has no entry")


@cache
def _schema(path: Path, changed: int) -> Schema:
    """Read once by each worker, unless it was changed: the batches of a variant share it."""
    return read_schema(path)


def _claim(block: str, said: Any, names: Sequence[str]) -> Claim:
    return block, tuple(map(said["where"].get, names, repeat(-1))), said["m"]


def _listed(path: Path, names: Sequence[str]) -> set[Claim]:
    """The claims of a table that say which proof they rest on."""
    frame = pd.read_parquet(path)
    if "proof" not in frame or not len(frame):
        return set()
    frame = frame[frame["proof"].notna() & (frame["proof"] >= 0)]
    codes = frame[list(names)].astype("Int64").fillna(-1).to_numpy(dtype=int).tolist()
    return set(zip(frame["block"].astype(str), map(tuple, codes), frame["m"].astype(int).tolist(), strict=True))


def _compare(path: Path, listed: set[Claim], proven: set[Claim]) -> None:
    for block, _, m in sorted(listed ^ proven):
        which = "listed, but its proof proves another one" if (listed - proven) else "proven, but it is not listed"
        raise AuditError(f"{path}: block {block}: a claim with m = {m} is {which}. Verify the batch again.")
