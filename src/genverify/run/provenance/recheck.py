"""Every proof behind some results, checked again; and every table that repeats what they show, compared with them."""

import gc
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from multiprocessing import get_context
from pathlib import Path

import pandas as pd

from genverify.checker.stored import checked_blocks
from genverify.core.release import Release, Schema, empty_ranges, read_schema
from genverify.papers.housing.attack.check import Detection
from genverify.run.provenance.claimed import (
    NULL,
    Matrix,
    by_block,
    claim_rows,
    compare_claims,
    compare_statuses,
    compare_verified,
    digest_rows,
    proven_rows,
    without_proof,
)
from genverify.run.provenance.datasets import compare_candidates, compare_generated, read_generated
from genverify.run.provenance.records import AuditError, Record, Records, reading_tables

PROOFS = "proofs"
ONEHOT = "onehot"


@dataclass(frozen=True)
class Batch:
    """
    The proofs of some blocks, the release that they speak of, and the tables that repeat them: the claims, the blocks of the
    verification, the generated datasets and the blocks of the generation; or, of protected counts, what became of each
    block. `unproved`: the one-hot program gives no proofs.
    """

    schema: Path
    counts: Path
    proofs: Path
    claims: Path | None = None
    verified: Path | None = None
    datasets: Path | None = None
    generated: Path | None = None
    min_k: int = 1
    unproved: bool = False
    statuses: Path | None = None


@dataclass(frozen=True)
class Found:
    """What was found right: how many blocks, claims, proofs, claims without proof; and a digest of each block's claims."""

    counts: Counter[str] = field(default_factory=Counter)
    claims: dict[str, str] = field(default_factory=dict)

    def __add__(self, other: "Found") -> "Found":
        return Found(self.counts + other.counts, self.claims | other.claims)


def batches_of(jobs: Iterable[Record], records: Records) -> dict[str, Batch]:
    """What the jobs of a chain proved, by job record; proofs without what they are about are an error."""
    found = {}
    for record in jobs:
        if not record.named("outputs", PROOFS) or record.named("inputs", "statistics"):
            continue
        found[record.path] = _batch(record, records)
    return found


def _batch(record: Record, records: Records) -> Batch:
    schema, counts, proofs, datasets = (_one(record, name) for name in ("schema", "counts", PROOFS, "datasets"))
    if not (schema and counts and proofs):
        raise AuditError(f"{record.path}: names proofs, but not one schema and one file of counts that they are about.")
    verified = _one(record, "blocks") if datasets else None
    generated = _one(records.writer(str(datasets)), "blocks") if datasets else None
    min_k = record.params.get("verify", {}).get("min_k", 1)
    unproved = record.params.get("program", {}).get("formulation") == ONEHOT
    claims = _one(record, "claims")
    statuses = None if datasets else _one(record, "blocks")
    return Batch(schema, counts, proofs, claims, verified, datasets, generated, min_k, unproved, statuses)


def _one(record: Record, name: str) -> Path | None:
    """The one input or output of a name."""
    paths = record.named("inputs", name) + record.named("outputs", name)
    return Path(paths[0]) if len(paths) == 1 else None


def detections_of(jobs: Iterable[Record]) -> list[Detection]:
    """The detections of a chain: jobs with an output `proofs` about the input `statistics`."""
    found = []
    for record in jobs:
        inputs = [record.named("inputs", name) for name in ("statistics", "housing_domain", "published")]
        outputs = [record.named("outputs", name) for name in ("blocks", PROOFS)]
        if all(len(paths) == 1 for paths in (*inputs, *outputs)):
            statistics, domain, published, blocks, proofs = (Path(paths[0]) for paths in (*inputs, *outputs))
            reading = str(record.params["condition"]["reading"])
            found.append(Detection(statistics, blocks, proofs, domain, published, reading))
    return found


def check_proofs(batches: Sequence[Batch]) -> Iterator[Found]:
    """What is right of each batch, several at a time; an error names the first that is not."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if min(cores, len(batches)) <= 1:
        yield from map(check_batch, batches)
        return
    # a batch makes millions of small values and no circles, which the collector would count again and again
    with ProcessPoolExecutor(min(cores, len(batches)), get_context("spawn"), gc.disable) as pool:
        try:
            yield from pool.map(check_batch, batches)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def check_batch(batch: Batch) -> Found:
    """Check the proofs of a batch, and that its tables say what they show and nothing else."""
    total: Counter[str] = Counter()
    proven: dict[str, Matrix] = {}
    releases: dict[str, Release] = {}
    contradicted = empty_ranges(batch.counts)
    for block in checked_blocks(batch.counts, batch.proofs, known_schema(batch.schema)):
        name, checked = block.release.block, block.checked
        total.update(blocks=1, claims=checked.claims, proofs=checked.proofs)
        releases[name] = block.release
        proven[name] = proven_rows(checked, block.release.schema.domain.names)
        contradicted |= {name} if checked.contradiction else set()
    if batch.statuses:
        with reading_tables(batch.statuses):
            compare_statuses(batch.statuses, releases, proven, contradicted)
    if batch.claims:
        with reading_tables(batch.claims):
            proven = _compare_tables(batch, releases, proven)
    unproved = sum(int((rows[:, 3] == NULL).sum()) for rows in proven.values())
    return Found(total + Counter(unproved=unproved), {block: digest_rows(rows) for block, rows in proven.items()})


def _compare_tables(batch: Batch, releases: dict[str, Release], proven: dict[str, Matrix]) -> dict[str, Matrix]:
    """The tables of a batch, against what is proven; returns what they list, claims without proof included."""
    assert batch.claims is not None
    names = next((release.schema.domain.names for release in releases.values()), ())
    frame = pd.read_parquet(batch.claims)
    listed = by_block(frame, claim_rows(batch.claims, frame, names))
    if batch.unproved:
        proven = without_proof(batch.claims, listed, proven)
    compare_claims(batch.claims, listed, proven)
    if batch.verified and batch.datasets and batch.generated:
        verified = compare_verified(batch.verified, proven, len(names))
        datasets = read_generated(batch.datasets, releases)
        compare_generated(batch.generated, datasets, releases, proven, batch.unproved)
        compare_candidates(batch.verified, verified, datasets, batch.min_k)
    return proven


def known_schema(path: Path) -> Schema:
    """A schema, read once by each worker, unless it was changed: the batches of a variant share it."""
    return _schema(path.resolve(), path.stat().st_mtime_ns) if path.exists() else read_schema(path)


@cache
def _schema(path: Path, changed: int) -> Schema:
    return read_schema(path)
