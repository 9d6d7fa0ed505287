"""Every proof behind some results, checked again; and every table that repeats what they show, compared with them."""

import gc
import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from genverify.attack.generate import read_datasets
from genverify.checker.certificate import read_proofs
from genverify.checker.linear_proofs import check_system
from genverify.checker.record_proofs import CheckSummary, effective_sizes
from genverify.checker.stored import checked_blocks, stored_blocks
from genverify.disclose.area_spec import AreaSettings, AreaTables, read_area_tables
from genverify.disclose.area_tables import COLUMNS, Part, alone_ranges, batch_of, read_areas, read_inside, rows_of, system_of
from genverify.model.arrays import Flags, Ints, row_bytes
from genverify.model.claims import ATTACKED, CONTRADICTORY, UNDECIDED, Codes, candidate_claims
from genverify.model.errors import DataError
from genverify.model.linear import LinearSystem
from genverify.model.proof_form import LINEAR, RECORDS
from genverify.model.release import Release, Schema, empty_ranges, read_schema
from genverify.model.tablefiles import read_frame, read_pieces
from genverify.model.tabulate import tabulate
from genverify.run.provenance.records import AuditError, Record, Records, normal, reading_tables
from genverify.run.registry import ProofKind, load, proof_kinds

# What tables say of claims and blocks, compared with what the checker concluded from the proofs.

Matrix = npt.NDArray[np.int64]
NULL = -(2**40)  # what stands for no value: no code, no count and no number of a proof is this small
VERDICTS = ("verified", "refuted", "undecided", "uncertified")
STATUSES = (ATTACKED, CONTRADICTORY, UNDECIDED)
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


def claim_rows(path: Path, frame: pd.DataFrame, names: Sequence[str]) -> Matrix:
    """The claims of a table as rows; a column that is missing, or holds other than whole numbers, is an error."""
    columns = ["k", "m", "effective_k", "proof", *names]
    if not len(frame):
        return np.zeros((0, len(columns)), dtype=np.int64)
    return np.column_stack([whole_numbers(path, frame, column) for column in columns])


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


def truth_values(path: Path, frame: pd.DataFrame, column: str) -> Flags:
    """A column of truth values."""
    if column not in frame or frame[column].dtype != bool:
        raise AuditError(f"{path}: no column {column!r} of truth values. {VERIFY_AGAIN} {path}")
    return frame[column].to_numpy(dtype=bool)


def ordered(rows: Matrix) -> Matrix:
    """The rows in an order that depends on nothing but themselves."""
    return rows[np.lexsort(rows.T[::-1])]


def digest_rows(rows: Matrix) -> str:
    """One digest for the claims of a block."""
    return sha256(np.ascontiguousarray(rows).tobytes()).hexdigest()


def by_block(frame: pd.DataFrame, rows: Matrix) -> dict[str, Matrix]:
    """The rows of each block, ordered."""
    if not len(frame):
        return {}
    places = frame.groupby(frame["block"].astype(str), sort=False).indices
    return {str(block): ordered(rows[own]) for block, own in places.items()}


def compare_claims(path: Path, listed: Mapping[str, Matrix], proven: Mapping[str, Matrix]) -> None:
    """The claims of a table are the proven ones: none altered, added, repeated or left out."""
    for block in sorted(listed.keys() | proven.keys()):
        empty = np.zeros((0, 0), dtype=np.int64)
        claimed, shown = listed.get(block, empty), proven.get(block, empty)
        if len(claimed) == len(shown) and (not len(claimed) or np.array_equal(claimed, shown)):
            continue
        raise AuditError(f"{path}: block {block}: {_difference(claimed, shown)}. {VERIFY_AGAIN} {path}")


def _difference(claimed: Matrix, shown: Matrix) -> str:
    listed, proven = [{tuple(row) for row in rows.tolist()} for rows in (claimed, shown)]
    if listed - proven:
        claim = min(listed - proven)
        return f"a claim with k = {claim[0]} and m = {claim[1]} is listed, but no proof shows it as listed"
    if proven - listed:
        claim = min(proven - listed)
        return f"a claim with k = {claim[0]} and m = {claim[1]} is proven, but it is not listed"
    return "a claim is duplicated"


def without_proof(path: Path, listed: Mapping[str, Matrix], proven: Mapping[str, Matrix]) -> dict[str, Matrix]:
    """The claims of the one-hot program, which gives no proofs: none of them names one, and there is none."""
    for block, rows in proven.items():
        if len(rows) or (listed.get(block, rows)[:, 3] != NULL).any():
            raise AuditError(f"{path}: block {block}: a proof, though the one-hot program gives none. {VERIFY_AGAIN} {path}")
    return {block: listed.get(block, rows) for block, rows in proven.items()}


def compare_verified(path: Path, proven: Mapping[str, Matrix], columns: int) -> pd.DataFrame:
    """The table of blocks of a verification: every block once, the claims counted, no candidate without a verdict."""
    frame = block_rows(path, proven)
    tally = {f"{name}_k{k}": whole_numbers(path, frame, f"{name}_k{k}")
             for name in ("candidates", *VERDICTS) for k in range(1, columns + 1)}  # fmt: skip
    by_program = whole_numbers(path, frame, "decided_lp") + whole_numbers(path, frame, "decided_ip")
    for at, block in enumerate(frame["block"]):
        counted = np.bincount(proven[block][:, 0], minlength=columns + 1)
        decided = 0
        for k in range(1, columns + 1):
            row = {name: int(tally[f"{name}_k{k}"][at]) for name in ("candidates", *VERDICTS)}
            if row["verified"] != counted[k]:
                problem = f"{row['verified']} verified claims of k = {k} are counted, {counted[k]} are proven"
                raise AuditError(f"{path}: block {block}: {problem}. {VERIFY_AGAIN} {path}")
            if row["candidates"] != sum(row[verdict] for verdict in VERDICTS) or min(row.values()) < 0:
                raise AuditError(
                    f"{path}: block {block}: not every candidate of k = {k} has one verdict. {VERIFY_AGAIN} {path}"
                )
            decided += row["candidates"] - row["undecided"]
        if by_program[at] != decided:
            raise AuditError(
                f"{path}: block {block}: {by_program[at]} decisions for {decided} claims. {VERIFY_AGAIN} {path}"
            )
    return frame


def compare_statuses(
    path: Path, releases: Mapping[str, Release], proven: Mapping[str, Matrix], contradicted: Collection[str]
) -> None:
    """What became of blocks with protected counts: contradictory where that is proved, and claims nowhere else."""
    frame = block_rows(path, {**releases, **dict.fromkeys(contradicted)})
    sizes = whole_numbers(path, frame, "n_households")
    for block, status, n in zip(frame["block"], frame["status"], sizes, strict=True):
        wrong = (status == CONTRADICTORY) != (block in contradicted) or status not in STATUSES
        wrong |= status != ATTACKED and len(proven.get(block, ())) > 0
        if wrong or (block in releases and n != releases[block].n):
            raise AuditError(
                f"{path}: block {block}: status {status!r} and {n} households are not what is proved. {VERIFY_AGAIN} {path}"
            )


def block_rows(path: Path, blocks: Mapping[str, object]) -> pd.DataFrame:
    """A table with a row per block; it has each of the given blocks once, and no other."""
    frame = pd.read_parquet(path)
    if not blocks and not len(frame):
        return frame
    if "block" not in frame:
        raise AuditError(f"{path}: no column 'block'. {VERIFY_AGAIN} {path}")
    frame = frame.assign(block=frame["block"].astype(str))
    odd = sorted(set(frame["block"]) ^ set(blocks)) or sorted(frame.loc[frame["block"].duplicated(), "block"])
    if odd:
        raise AuditError(f"{path}: block {odd[0]} is missing, duplicated, or none of this batch. {VERIFY_AGAIN} {path}")
    return frame


# The tables of a variant, compared with the batches that they were put together from.

COLLECT_AGAIN = "Put it together again: snakemake --force"
Key = tuple[str, str]  # design and block


@dataclass(frozen=True)
class CollectedTables:
    """The claims and the blocks of a variant, the sample that they are about, and the batches that they come from."""

    claims: Path
    blocks: Path
    sample: Path
    verified: tuple[Path, ...]
    generated: tuple[Path, ...]


def collection_of(record: Record) -> CollectedTables | None:
    """What a job put together, if it read batches of claims and wrote all of them."""
    named = [record.named("outputs", name) for name in ("claims", "blocks")] + [record.named("inputs", "sample")]
    parts = [tuple(map(Path, record.named("inputs", name))) for name in ("verified", "generated")]
    if record.named("inputs", "claims") and all(len(paths) == 1 for paths in named):
        claims, blocks, sample = (Path(paths[0]) for paths in named)
        return CollectedTables(claims, blocks, sample, *parts)
    return None


def check_collection(collection: CollectedTables, proven: Mapping[str, str], names: Sequence[str]) -> None:
    """
    Every claim of every sampled block stands in the table once for each design that the block was drawn for, as it was
    proven, and no other; the same for the rows of blocks. `proven`: for each block the digest of its claims.
    """
    sample = pd.read_parquet(collection.sample, columns=["block", "design"]).astype(str)
    nothing = digest_rows(np.zeros((0, 4 + len(names)), dtype=np.int64))
    wanted = {(design, block): proven[block] for block, design in _pairs(sample, proven, collection)}
    wanted = {key: digest for key, digest in wanted.items() if digest != nothing}
    for (design, block), rows in listed_claims(collection.claims, names):
        if wanted.pop((design, block), None) != digest_rows(rows):
            raise _wrong(collection.claims, design, block, "the claims are not those that were proven, or are listed twice")
    for design, block in wanted:
        raise _wrong(collection.claims, design, block, "its claims were proven and are not listed")
    _compare_blocks(collection, sample)


def _pairs(sample: pd.DataFrame, proven: Mapping[str, str], collection: CollectedTables) -> Iterable[Key]:
    odd = sorted(set(sample["block"]) ^ set(proven))
    if odd:
        raise AuditError(
            f"{collection.claims}: block {odd[0]} is in the sample or among the proofs, not in both. {COLLECT_AGAIN} "
            f"{collection.claims}"
        )
    return zip(sample["block"], sample["design"], strict=True)


def listed_claims(path: Path, names: Sequence[str]) -> Iterator[tuple[Key, Matrix]]:
    """The claims of a table by design and block; the rows of a block stand together, so one is held at a time."""
    key: Key | None = None
    parts: list[Matrix] = []
    for frame in read_pieces(path):
        rows = claim_rows(path, frame, names)
        for own, places in _runs(path, frame):
            if own != key and key is not None:
                yield key, ordered(np.concatenate(parts))
                parts = []
            key, parts = own, [*parts, rows[places]]
    if key is not None:
        yield key, ordered(np.concatenate(parts))


def _runs(path: Path, frame: pd.DataFrame) -> Iterator[tuple[Key, slice]]:
    """Rows that follow each other and are about one design and block."""
    if not len(frame):
        return
    missing = {"design", "block"} - set(frame.columns)
    if missing:
        raise AuditError(f"{path}: no column {sorted(missing)[0]!r}. {COLLECT_AGAIN} {path}")
    design, block = (frame[name].astype(str).to_numpy(dtype=object) for name in ("design", "block"))
    starts = np.flatnonzero(np.append(True, (design[1:] != design[:-1]) | (block[1:] != block[:-1])))
    for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(frame)], strict=True):
        yield (str(design[start]), str(block[start])), slice(start, end)


def _compare_blocks(collection: CollectedTables, sample: pd.DataFrame) -> None:
    """The rows of blocks, column by column, against those of the batches."""
    parts = [_stacked(paths) for paths in (collection.generated, collection.verified)]
    wanted = sample.merge(parts[0].merge(parts[1], on="block"), on="block")
    found = pd.read_parquet(collection.blocks)
    wanted, found = (_sorted(frame) for frame in (wanted, found))
    if list(wanted.columns) != list(found.columns) or len(wanted) != len(found):
        raise AuditError(
            f"{collection.blocks}: not the rows and columns of its batches ({len(found)} rows, not {len(wanted)}). "
            f"{COLLECT_AGAIN} {collection.blocks}"
        )
    for column in wanted.columns:
        differs = (wanted[column] != found[column]) & (wanted[column].notna() | found[column].notna())
        if differs.any() or wanted[column].dtype != found[column].dtype:
            row = found[differs].iloc[0] if differs.any() else found.iloc[0]
            raise _wrong(collection.blocks, row["design"], row["block"], f"{column} is not what its batch says")


def _stacked(paths: Sequence[Path]) -> pd.DataFrame:
    frames = [frame for frame in map(pd.read_parquet, paths) if len(frame)]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame({"block": pd.Series([], dtype="str")})


def _sorted(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.sort_values(["design", "block"]).reset_index(drop=True) if len(frame) else frame


def _wrong(path: Path, design: str, block: str, problem: str) -> AuditError:
    return AuditError(f"{path}: block {block} (design {design}): {problem}. {COLLECT_AGAIN} {path}")


# What is reported of the datasets that fit a block, compared with the generated ones, recounted, and with the proofs.

AT_ONCE = 20  # blocks: every record of theirs becomes a row with a number per query
GENERATE_AGAIN = "Generate the batch again: snakemake --force"


@dataclass(frozen=True)
class RecountedDatasets:
    """Datasets that fit a block, all different, and how many different class counts they have."""

    datasets: Codes
    class_vectors: int


def compare_generated(
    path: Path,
    found: Mapping[str, RecountedDatasets],
    releases: Mapping[str, Release],
    proven: Mapping[str, Matrix],
    unproved: bool,
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
                f"not show. {GENERATE_AGAIN} {path}"
            )


def read_generated(path: Path, releases: Mapping[str, Release]) -> dict[str, RecountedDatasets]:
    """The generated datasets by block, recounted against the releases; all different."""
    found = read_datasets(path, list(releases.values()))
    for block, datasets in found.items():
        if _different([one[np.lexsort(one.T[::-1])] for one in datasets]) < len(datasets):
            raise AuditError(f"{path}: block {block}: a generated dataset is duplicated. {GENERATE_AGAIN} {path}")
    vectors: dict[str, int] = {}
    for some in split(list(found), AT_ONCE):
        vectors |= _class_vectors({block: releases[block] for block in some}, found)
    return {block: RecountedDatasets(datasets, vectors[block]) for block, datasets in found.items()}


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


def compare_candidates(path: Path, frame: pd.DataFrame, found: Mapping[str, RecountedDatasets], min_k: int) -> None:
    """As many candidates of each k as the generated datasets share."""
    for row in frame.to_dict("records"):
        codes, _ = candidate_claims(found[row["block"]].datasets, min_k)
        counted = np.bincount((codes >= 0).sum(axis=1), minlength=codes.shape[1] + 1)
        for k in range(1, codes.shape[1] + 1):
            if row[f"candidates_k{k}"] != counted[k]:
                raise AuditError(
                    f"{path}: block {row['block']}: {row[f'candidates_k{k}']} candidates of k = {k} are counted, the "
                    f"generated datasets share {counted[k]}. {GENERATE_AGAIN} {path}"
                )


def listed_by_block(table: Path, names: tuple[str, ...]) -> dict[str, Matrix]:
    """The claims of a table by block; of a block that was drawn for several designs, the same for each of them."""
    frame = read_frame(table)
    rows = claim_rows(table, frame, names)
    found: dict[str, Matrix] = {}
    keys = [name for name in ("design", "block") if name in frame]
    for key, places in frame.groupby(keys, sort=False).indices.items() if len(frame) else ():
        block = str(key[-1] if isinstance(key, tuple) else key)
        own = ordered(rows[places])
        if block in found and (len(own) != len(found[block]) or (own != found[block]).any()):
            raise DataError(f"{table}: block {block}: other claims for one design than for another")
        found[block] = own
    return found


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
    "areas": ProofKind(
        LINEAR,
        ("counts", "larger", "areas", "tables", "ranges", PROOFS),
        "genverify.run.provenance.recheck:check_areas",
        "genverify.run.provenance.recheck:open_areas",
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
class ProofTally:
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
        kind = kind_of_record(record)
        writers = {path: records.writer(path) for path in record.inputs if records.is_made(path)}
        found[record.path] = Proving(kind, record, writers)
    return found


def kind_of_record(record: Record) -> ProofKind:
    """The kind of the proofs that a job wrote, by the files that it names."""
    kind = kind_of([name for part in ("inputs", "outputs") for name in record.text[part] if record.named(part, name)])
    if kind is None:
        raise AuditError(
            f"{record.path}: names proofs, but not the files that proofs of any kind are about. Register how they are "
            "checked: `proofs` in study.py of the study."
        )
    return kind


def one_file(record: Record, name: str) -> Path:
    """The only input or output of a name; proofs about several, or about none, are refused."""
    found = _one(record, name)
    if found is None:
        raise AuditError(f"{record.path}: names proofs, but not one file {name!r} that they are about.")
    return found


def open_records(record: Record) -> Iterator[tuple[Release, Mapping[str, Any]]]:
    """The certificates of a job about records, each with its release."""
    schema, counts, proofs = (one_file(record, name) for name in ("schema", "counts", PROOFS))
    return stored_blocks(counts, proofs, read_schema(schema))


def check_records(record: Record, writers: Mapping[str, Record]) -> ProofTally:
    """The proofs of a job about the records behind a release."""
    return check_batch(batch_of_record(record, writers))


def batch_of_record(record: Record, writers: Mapping[str, Record]) -> Batch:
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


def check_proofs(jobs: Sequence[Proving]) -> Iterator[ProofTally]:
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


def check_job(job: Proving) -> ProofTally:
    """Check the proofs of a job as its kind says."""
    found: ProofTally = load(job.kind.check)(job.record, job.writers)
    return found


def check_batch(batch: Batch) -> ProofTally:
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
    return ProofTally(
        total + Counter(unproved=unproved), {block: digest_rows(rows) for block, rows in proven.items()}, names
    )


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


# The proofs about rounded counts of areas, checked again: systems rebuilt from the counts, and every range compared.

BOUND_AGAIN = "Bound the batch again: snakemake --force"


def check_areas(record: Record, writers: Mapping[str, Record]) -> ProofTally:
    """The proofs of a batch of larger areas with their small ones, and the table of ranges, row by row."""
    ranges, proofs = (one_file(record, name) for name in ("ranges", PROOFS))
    parts, lines, spec = _areas_of(record)
    with reading_tables(proofs):
        shown = [_shown(part, line, spec, proofs) for part, line in zip(parts, lines, strict=True)]
    with reading_tables(ranges):
        listed = pd.read_parquet(ranges)
        _compare(ranges, listed, pd.concat([pd.DataFrame(columns=COLUMNS), *shown], ignore_index=True))
    narrow = listed["attained"] & (listed["lo"] != listed["hi"])
    return ProofTally(Counter(systems=len(parts), ranges=len(listed), attained=int(narrow.sum())))


def open_areas(record: Record) -> Iterator[tuple[LinearSystem, Mapping[str, Any]]]:
    """The certificates of a batch, each with the system of its areas."""
    parts, lines, spec = _areas_of(record)
    yield from ((system_of(part, spec), line) for part, line in zip(parts, lines, strict=True))


def _areas_of(record: Record) -> tuple[list[Part], list[dict[str, Any]], AreaTables]:
    """The areas of a batch, from the counts that the job read, and its certificates."""
    counts, larger, areas, tables, proofs = (
        one_file(record, name) for name in ("counts", "larger", "areas", "tables", PROOFS)
    )
    how, spec = AreaSettings(**record.params["nz"]), read_area_tables(tables)
    inside = read_inside(areas, how.area, how.inside)
    parts = batch_of(read_areas(counts), read_areas(larger), inside, int(record.wildcards["batch"]), how.batches)
    with reading_tables(proofs):
        lines = list(read_proofs(proofs))
    if len(lines) != len(parts):
        raise AuditError(f"{proofs}: {len(lines)} systems, but {len(parts)} larger areas. {BOUND_AGAIN} {proofs}")
    return parts, lines, spec


def _shown(part: Part, line: Mapping[str, Any], spec: AreaTables, path: Path) -> pd.DataFrame:
    """The rows of a part as its proofs show them; whether ends are attained is no part of it."""
    sums, alone = system_of(part, spec), system_of(part, spec, geography=False)
    proved = check_system(sums, line, f"{path}: system {line['about']['name'][:16]}")
    contradiction = proved.empty
    by_area = alone_ranges(alone)
    ends = (by_area.lo, by_area.hi) if contradiction else (proved.lo, proved.hi)
    return pd.DataFrame(rows_of(part, spec, alone, by_area, ends, contradiction), columns=COLUMNS)


def _compare(path: Path, listed: pd.DataFrame, shown: pd.DataFrame) -> None:
    """The table of ranges against what is shown, column by column."""
    if list(listed.columns) != COLUMNS or len(listed) != len(shown):
        raise AuditError(
            f"{path}: not the rows and columns of its areas ({len(listed)} rows, not {len(shown)}). {BOUND_AGAIN} {path}"
        )
    for column in COLUMNS:
        if column == "attained":
            if listed[column].dtype != bool:
                raise AuditError(f"{path}: the column 'attained' holds other than truth values. {BOUND_AGAIN} {path}")
            wrong = listed[column] & (listed["contradicts"] != "")
        else:
            one, other = (frame[column].astype(object).where(frame[column].notna(), None) for frame in (listed, shown))
            wrong = pd.Series([a != b for a, b in zip(one, other, strict=True)], index=listed.index)
        if wrong.any():
            at = int(wrong.to_numpy().argmax())
            raise AuditError(
                f"{path}: row {at} ({listed['level'].iloc[at]} area, {listed['cell'].iloc[at]}): {column} is "
                f"{listed[column].iloc[at]}, which its counts and proofs do not show. {BOUND_AGAIN} {path}"
            )
