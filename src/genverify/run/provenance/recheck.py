"""Every proof behind some results, checked again; and every table that repeats what they show, compared with them."""

import gc
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from genverify.checker.record_proofs import CheckSummary, effective_sizes
from genverify.checker.stored import checked_blocks, stored_blocks
from genverify.model.errors import DataError
from genverify.model.proof_form import RECORDS
from genverify.model.release import Release, Schema, read_schema
from genverify.run.jobs import cores
from genverify.run.provenance.records import AuditError, Record, Records, reading_tables
from genverify.run.registry import ProofKind, load, proof_kinds

# What tables say of claims and blocks, compared with what the checker concluded from the proofs.

Matrix = npt.NDArray[np.int64]
NULL = -(2**40)  # what stands for no value: no code, no count and no number of a proof is this small
VERIFY_AGAIN = "Verify the batch again: snakemake --force"


def proven_rows(checked: CheckSummary, names: Sequence[str]) -> Matrix:
    """The claims of a certificate as rows: k, m, effective k, number of the proof, a code per column (NULL: any)."""
    sizes = effective_sizes(checked.types, [one.where for one in checked.statements]) if checked.types else []
    at = {name: 4 + column for column, name in enumerate(names)}
    rows = np.full((len(sizes), 4 + len(names)), NULL, dtype=np.int64)
    for row, one, size in zip(rows, checked.statements, sizes, strict=True):
        row[:4] = len(one.where.clauses), one.m, size, NULL if one.proof is None else one.proof
        for name, codes in one.where.clauses:
            row[at[name]] = codes[0]
    return ordered(rows)


def checked_records(batches: Iterable[tuple[Path, Path]], schema: Schema) -> tuple[Counter[str], dict[str, Matrix]]:
    """What the proofs of some batches (counts, proofs) show: how many of each thing, and the claims of each block."""
    total, proven = Counter[str](), dict[str, Matrix]()
    for counts, proofs in batches:
        for block in checked_blocks(counts, proofs, schema):
            total.update(blocks=1, claims=block.checked.claims, proofs=block.checked.proofs)
            proven[block.release.block] = proven_rows(block.checked, schema.domain.names)
    return total, proven


def listed_claims(path: Path, frame: pd.DataFrame, names: Sequence[str]) -> dict[str, Matrix]:
    """The claims of a table by block; of a block that was drawn for several designs, the same for each of them."""
    result: dict[str, Matrix] = {}
    if not len(frame):
        return result
    rows = np.column_stack([whole_numbers(path, frame, column) for column in ("k", "m", "effective_k", "proof", *names)])
    keys = [name for name in ("design", "block") if name in frame]
    for key, places in frame.groupby(keys, sort=False).indices.items():
        block, claims = str(key[-1] if isinstance(key, tuple) else key), ordered(rows[places])
        if block in result and not np.array_equal(claims, result[block]):
            raise DataError(f"{path}: block {block}: other claims for one design than for another")
        result[block] = claims
    return result


def whole_numbers(path: Path, frame: pd.DataFrame, column: str) -> Matrix:
    """A column of whole numbers, NULL where it has no value."""
    if column not in frame:
        raise AuditError(f"{path}: no column {column!r}, so it cannot be compared with the proofs. {VERIFY_AGAIN} {path}")
    values = frame[column]
    if not pd.api.types.is_integer_dtype(values.dtype) and values.notna().any():
        raise AuditError(f"{path}: the column {column!r} holds {values.dtype}, not whole numbers. {VERIFY_AGAIN} {path}")
    if not len(values) or values.isna().all():
        return np.full(len(values), NULL, dtype=np.int64)
    return values.to_numpy(dtype=np.int64, na_value=NULL)


def ordered(rows: Matrix) -> Matrix:
    """The rows in an order that depends on nothing but themselves."""
    return rows[np.lexsort(rows.T[::-1])]


def compare_claims(path: Path, listed: Mapping[str, Matrix], proven: Mapping[str, Matrix]) -> None:
    """The claims of a table are the proven ones: none altered, added, repeated or left out."""
    for block in sorted(listed.keys() | proven.keys()):
        empty = np.zeros((0, 0), dtype=np.int64)
        claimed, shown = listed.get(block, empty), proven.get(block, empty)
        if len(claimed) == len(shown) and (not len(claimed) or np.array_equal(claimed, shown)):
            continue
        in_table, by_proof = [{tuple(row) for row in rows.tolist()} for rows in (claimed, shown)]
        said = "a claim is duplicated"
        if odd := in_table ^ by_proof:
            k, m, *_ = claim = min(in_table - by_proof or odd)
            where = "listed, but no proof shows it as listed" if claim in in_table else "proven, but it is not listed"
            said = f"a claim with k = {k} and m = {m} is {where}"
        raise AuditError(f"{path}: block {block}: {said}. {VERIFY_AGAIN} {path}")


def without_proof(path: Path, listed: Mapping[str, Matrix], proven: Mapping[str, Matrix]) -> dict[str, Matrix]:
    """The claims of the one-hot program, which gives no proofs: none of them names one, and there is none."""
    for block, rows in proven.items():
        if len(rows) or (listed.get(block, rows)[:, 3] != NULL).any():
            raise AuditError(f"{path}: block {block}: a proof, though the one-hot program gives none. {VERIFY_AGAIN} {path}")
    return {block: listed.get(block, rows) for block, rows in proven.items()}


# Every proof behind some results, checked again; and every table that repeats what they show, compared with them.
#
# A job that writes `proofs` is of a kind, which is known by what it names and says how it is checked: kinds of the library
# are listed here, those of a study in its registration.

PROOFS = "proofs"
KINDS = {
    "records": ProofKind(
        RECORDS,
        ("schema", "counts", PROOFS),
        "genverify.run.provenance.recheck:check_records",
        "genverify.run.provenance.recheck:open_records",
        "{blocks} blocks, {claims} claims, {proofs} proofs",
        {"unproved": "{} claims of the one-hot program rest on the solver, without proof"},
    ),
}
ONEHOT = "onehot"


@dataclass(frozen=True)
class ProofTally:
    """What was found right: how many of each thing; and the files that say nothing else, if not all that the job wrote."""

    counts: Counter[str]
    files: tuple[Path, ...] = ()


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
    result = {}
    for record in (record for record in jobs if record.named("outputs", PROOFS)):
        writers = {path: records.writer(path) for path in record.inputs if records.is_made(path)}
        result[record.path] = Proving(kind_of_record(record), record, writers)
    return result


def kind_of_record(record: Record) -> ProofKind:
    """The kind of the proofs that a job wrote, by the files that it names."""
    kind = kind_of([name for part in ("inputs", "outputs") for name in record.text[part] if record.named(part, name)])
    if kind is None:
        raise AuditError(
            f"{record.path}: names proofs, but not the files that proofs of any kind are about. Register how they are "
            "checked: PROOFS in proofs.py of the study."
        )
    return kind


def one_file(record: Record, name: str) -> Path:
    """The only input or output of a name; proofs about several, or about none, are refused."""
    if (path := _one(record, name)) is None:
        raise AuditError(f"{record.path}: names proofs, but not one file {name!r} that they are about.")
    return path


def open_records(record: Record) -> Iterator[tuple[Release, Mapping[str, Any]]]:
    """The certificates of a job about records, each with its release."""
    schema, counts, proofs = (one_file(record, name) for name in ("schema", "counts", PROOFS))
    return stored_blocks(counts, proofs, read_schema(schema))


def check_records(record: Record, writers: Mapping[str, Record]) -> ProofTally:
    """The proofs of a job about the records behind a release; its table of claims says what they show and nothing else."""
    schema_file, counts, proofs = (one_file(record, name) for name in ("schema", "counts", PROOFS))
    schema = known_schema(schema_file)
    total, proven = checked_records([(counts, proofs)], schema)
    if (claims := _one(record, "claims")) is None:
        return ProofTally(total, (proofs,))
    with reading_tables(claims):
        listed = listed_claims(claims, pd.read_parquet(claims), schema.domain.names)
        if record.params.get("program", {}).get("formulation") == ONEHOT:
            proven = without_proof(claims, listed, proven)
        compare_claims(claims, listed, proven)
    unproved = sum(int((rows[:, 3] == NULL).sum()) for rows in proven.values())
    return ProofTally(total + Counter(unproved=unproved), (proofs,) if unproved else (proofs, claims))


def _one(record: Record, name: str) -> Path | None:
    paths = record.named("inputs", name) + record.named("outputs", name)
    return Path(paths[0]) if len(paths) == 1 else None


def check_proofs(jobs: Sequence[Proving]) -> Iterator[ProofTally]:
    """What is right of each job's proofs, several at a time; an error names the first that is not."""
    workers = min(cores(), len(jobs))
    if workers <= 1:
        yield from map(check_job, jobs)
        return
    # a batch makes millions of small values and no circles, which the collector would count again and again
    with ProcessPoolExecutor(workers, get_context("spawn"), gc.disable) as pool:
        try:
            yield from pool.map(check_job, jobs)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def check_job(job: Proving) -> ProofTally:
    with reading_tables(job.record.target):
        tally: ProofTally = load(job.kind.check)(job.record, job.writers)
    return tally


def known_schema(path: Path) -> Schema:
    """A schema, read once by each worker, unless it was changed: the batches of a variant share it."""
    return _schema(path.resolve(), path.stat().st_mtime_ns) if path.exists() else read_schema(path)


@cache
def _schema(path: Path, changed: int) -> Schema:
    return read_schema(path)
