"""
Every proof behind some results, checked again; and every table that repeats what they show, compared with them.

A job that writes `proofs` is of a kind, which is known by what it names and says how it is checked: kinds of the library are
listed here, those of a study in its registration.
"""

import gc
import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from multiprocessing import get_context
from pathlib import Path

import pandas as pd

from genverify.checker.stored import checked_blocks
from genverify.core.release import Release, Schema, empty_ranges, read_schema
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
from genverify.run.provenance.records import AuditError, Record, Records, normal, reading_tables
from genverify.run.registry import ProofKind, load, proof_kinds

PROOFS = "proofs"
KINDS = {
    "records": ProofKind(
        ("schema", "counts", PROOFS),
        "genverify.run.provenance.recheck:check_records",
        "{blocks} blocks, {claims} claims, {proofs} proofs",
        {"unproved": "{} claims of the one-hot program rest on the solver, without proof"},
    ),
    "areas": ProofKind(
        ("counts", "larger", "areas", "tables", "ranges", PROOFS),
        "genverify.run.provenance.rounded:check_areas",
        "{systems} systems of areas, {ranges} ranges",
        {"attained": "that both ends of {} ranges are attained rests on the solver, without proof"},
    ),
}
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
    """
    What was found right: how many of each thing; and, for tables that are put together of batches, a digest of each block's
    claims, and the columns that they are about.
    """

    counts: Counter[str] = field(default_factory=Counter)
    claims: dict[str, str] = field(default_factory=dict)
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Proving:
    """A job that wrote proofs, their kind, and the jobs that wrote what it read."""

    kind: ProofKind
    record: Record
    writers: Mapping[str, Record]


def kind_of(files: Collection[str]) -> ProofKind | None:
    """The kind of the proofs of a job that names these files; the one that asks for most, where several fit."""
    fitting = [kind for kind in (*KINDS.values(), *proof_kinds().values()) if set(kind.files) <= set(files)]
    return max(fitting, key=lambda kind: len(kind.files), default=None)


def jobs_with_proofs(jobs: Iterable[Record], records: Records) -> dict[str, Proving]:
    """What the jobs of a chain proved, by job record; proofs of no kind that can be checked are an error."""
    found = {}
    for record in jobs:
        if not record.named("outputs", PROOFS):
            continue
        kind = kind_of([name for part in ("inputs", "outputs") for name in record.text[part] if record.named(part, name)])
        if kind is None:
            raise AuditError(
                f"{record.path}: names proofs, but not the files that proofs of any kind are about. Register how they are "
                "checked: `proofs` in study.py of the study."
            )
        writers = {path: records.writer(path) for path in record.inputs if records.is_made(path)}
        found[record.path] = Proving(kind, record, writers)
    return found


def one_file(record: Record, name: str) -> Path:
    """The only input or output of a name; proofs about several, or about none, are refused."""
    found = _one(record, name)
    if found is None:
        raise AuditError(f"{record.path}: names proofs, but not one file {name!r} that they are about.")
    return found


def check_records(record: Record, writers: Mapping[str, Record]) -> Found:
    """The proofs of a job about the records behind a release."""
    return check_batch(batch_of(record, writers))


def batch_of(record: Record, writers: Mapping[str, Record]) -> Batch:
    """The files of such a job."""
    schema, counts, proofs = (one_file(record, name) for name in ("schema", "counts", PROOFS))
    datasets = _one(record, "datasets")
    verified = _one(record, "blocks") if datasets else None
    generated = _one(writers[normal(datasets)], "blocks") if datasets else None
    min_k = record.params.get("verify", {}).get("min_k", 1)
    unproved = record.params.get("program", {}).get("formulation") == ONEHOT
    claims = _one(record, "claims")
    statuses = None if datasets else _one(record, "blocks")
    return Batch(schema, counts, proofs, claims, verified, datasets, generated, min_k, unproved, statuses)


def _one(record: Record, name: str) -> Path | None:
    """The one input or output of a name."""
    paths = record.named("inputs", name) + record.named("outputs", name)
    return Path(paths[0]) if len(paths) == 1 else None


def check_proofs(jobs: Sequence[Proving]) -> Iterator[Found]:
    """What is right of each job's proofs, several at a time; an error names the first that is not."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if min(cores, len(jobs)) <= 1:
        yield from map(check_job, jobs)
        return
    # a batch makes millions of small values and no circles, which the collector would count again and again
    with ProcessPoolExecutor(min(cores, len(jobs)), get_context("spawn"), gc.disable) as pool:
        try:
            yield from pool.map(check_job, jobs)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def check_job(job: Proving) -> Found:
    """Check the proofs of a job as its kind says."""
    found: Found = load(job.kind.check)(job.record, job.writers)
    return found


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
    names = known_schema(batch.schema).domain.names
    return Found(total + Counter(unproved=unproved), {block: digest_rows(rows) for block, rows in proven.items()}, names)


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
