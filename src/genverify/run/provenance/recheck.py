"""Every proof behind results, checked again, with every table that repeats what it shows; proofs opened by their path."""

import gc
import gzip
import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from genverify.checker.certificate import read_proofs
from genverify.checker.linear_proofs import check_system
from genverify.checker.record_proofs import CheckSummary, effective_sizes
from genverify.checker.stored import checked_blocks, stored_blocks
from genverify.model.arrays import Ints
from genverify.model.errors import MALFORMED, DataError, refusing
from genverify.model.linear import LinearSystem, system_of
from genverify.model.proof_form import LINEAR, RECORDS
from genverify.model.release import Release, Schema, read_schema
from genverify.model.tablefiles import read_frame, table_file, table_names
from genverify.run.jobs import cores
from genverify.run.layout import load
from genverify.run.provenance.records import AuditError, Record, Records, find_records, is_made, normal, reading_tables
from genverify.run.registry import ProofKind, proof_kinds

if TYPE_CHECKING:
    from genverify.export.proof_programs import Proved

# What tables say of claims and blocks, compared with what the checker concluded from the proofs.

NULL = -(2**40)  # what stands for no value: no code, no count and no number of a proof is this small
KEYS = ("k", "m", "effective_k", "proof")
ODD = {"listed": "proven, but it is not listed", "proven": "listed, but no proof shows it as listed"}
VERIFY_AGAIN = "Verify the batch again: snakemake --force"


Claims = tuple[pd.DataFrame, set[str]]  # a row each, whole numbers beside the block; and all blocks, also without claims


def _checked_records(batches: Iterable[tuple[Path, Path]], schema: Schema) -> tuple[Counter[str], Claims]:
    """What the proofs of some batches (counts, proofs) show: how many of each thing, and the claims."""
    columns, total, blocks = [*KEYS, *schema.domain.names], Counter[str](), dict[str, int]()
    parts = [np.empty((0, len(columns)), dtype=np.int64)]
    for counts, proofs in batches:
        for block in checked_blocks(counts, proofs, schema):
            total.update(blocks=1, claims=block.checked.claims, proofs=block.checked.proofs)
            parts.append(_proven_rows(block.checked, columns))
            blocks[block.release.block] = len(parts[-1])
    rows = pd.DataFrame(np.concatenate(parts), columns=columns)
    return total, (rows.assign(block=[block for block, number in blocks.items() for _ in range(number)]), {*blocks})


def _proven_rows(checked: CheckSummary, columns: Sequence[str]) -> Ints:
    """The claims of a certificate as rows: k, m, effective k, number of the proof, a code per column (NULL: any)."""
    sizes = effective_sizes(checked.types, [one.where for one in checked.statements]) if checked.types else []
    rows = np.full((len(sizes), len(columns)), NULL, dtype=np.int64)
    for row, one, size in zip(rows, checked.statements, sizes, strict=True):
        row[: len(KEYS)] = len(one.where.clauses), one.m, size, NULL if one.proof is None else one.proof
        for name, codes in one.where.clauses:
            row[columns.index(name)] = codes[0]
    return rows


def _compare_claims(path: Path, frame: pd.DataFrame, proved: Claims, onehot: bool = False) -> int:
    """The claims of a table are the proven ones, none altered, added, repeated or left out; how many rest on a solver."""
    proven, blocks = proved
    keys = ["block", *proven.columns.drop("block")]
    listed = pd.DataFrame({column: whole_numbers(path, frame, column) for column in keys[1:]})
    listed["block"] = frame["block"].astype(str).to_list()
    if onehot:  # which gives no proofs: none of its claims names one, and there is none
        for block in [*proven["block"], *listed["block"][listed["proof"] != NULL]]:
            raise AuditError(f"{path}: block {block}: a proof, though the one-hot program gives none. {VERIFY_AGAIN} {path}")
        proven = listed[listed["block"].isin(blocks)]
    # a block that was drawn for several designs has the same claims in each
    designs = frame["design"].astype(str).to_list() if "design" in frame else [""] * len(frame)
    tables = [own for _, own in listed.groupby(designs)]
    unlisted = proven[~proven["block"].isin(listed["block"])]
    for claimed, shown in [(unlisted[:0], unlisted), *((one, proven[proven["block"].isin(one["block"])]) for one in tables)]:
        counts = pd.concat([one.value_counts(keys, sort=False) for one in (claimed, shown)], axis=1).fillna(0).sort_index()
        wrong = counts.set_axis(["listed", "proven"], axis=1)[counts.iloc[:, 0] != counts.iloc[:, 1]]
        if len(wrong):
            wrong, said = wrong.loc[[block := wrong.index[0][0]]], "a claim is duplicated"
            for side, words in ODD.items():
                for _, k, m, *_ in wrong.index[wrong[side] == 0][:1]:
                    said = f"a claim with k = {k} and m = {m} is {words}"
            raise AuditError(f"{path}: block {block}: {said}. {VERIFY_AGAIN} {path}")
    return int((proven["proof"] == NULL).sum())


def whole_numbers(path: Path, frame: pd.DataFrame, column: str) -> Ints:
    """A column of whole numbers, NULL where it has no value."""
    if column not in frame:
        raise AuditError(f"{path}: no column {column!r}, so it cannot be compared with the proofs. {VERIFY_AGAIN} {path}")
    values = frame[column]
    if not pd.api.types.is_integer_dtype(values.dtype) and values.notna().any():
        raise AuditError(f"{path}: the column {column!r} holds {values.dtype}, not whole numbers. {VERIFY_AGAIN} {path}")
    if not len(values) or values.isna().all():
        return np.full(len(values), NULL, dtype=np.int64)
    return values.to_numpy(dtype=np.int64, na_value=NULL)


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
        "genverify.run.provenance.recheck:_open_records",
        "{blocks} blocks, {claims} claims, {proofs} proofs",
        {"unproved": "{} claims of the one-hot program rest on the solver, without proof"},
    ),
}
ONEHOT = "onehot"


class ProofTally(NamedTuple):
    """What was found right: how many of each thing; and the files that say nothing else, if not all that the job wrote."""

    counts: Counter[str]
    files: tuple[Path, ...] = ()


class _Proving(NamedTuple):
    """A job that wrote proofs, their kind, and the jobs that wrote what it read."""

    kind: ProofKind
    record: Record
    writers: Mapping[str, Record]

    def check(self) -> ProofTally:
        with reading_tables(self.record.target):
            tally: ProofTally = load(self.kind.check)(self.record, self.writers)
        return tally


def kind_of(files: Collection[str]) -> ProofKind | None:
    """The kind of the proofs of a job that names these files; the one that asks for most, where several fit."""
    fitting = [kind for kind in (*KINDS.values(), *proof_kinds().values()) if set(kind.files) <= set(files)]
    return max(fitting, key=lambda kind: len(kind.files), default=None)


def jobs_with_proofs(jobs: Iterable[Record], records: Records) -> dict[str, _Proving]:
    """What the jobs of a chain proved, by job record; proofs of no kind that can be checked are an error."""
    result = {}
    for record in (record for record in jobs if record.named("outputs", PROOFS)):
        writers = {path: records.writer(path) for path in record.inputs if is_made(path)}
        result[record.path] = _Proving(_kind_of_record(record), record, writers)
    return result


def _kind_of_record(record: Record) -> ProofKind:
    """The kind of the proofs that a job wrote, by the files that it names."""
    kind = kind_of([name for part in ("inputs", "outputs") for name in record.text[part] if record.named(part, name)])
    if kind is None:
        advice = "Register how they are checked: PROOFS in proofs.py of the study."
        raise AuditError(f"{record.path}: names proofs, but not the files that proofs of any kind are about. {advice}")
    return kind


def one_file(record: Record, name: str) -> Path:
    """The only input or output of a name; proofs about several, or about none, are refused."""
    if (path := _one(record, name)) is None:
        raise AuditError(f"{record.path}: names proofs, but not one file {name!r} that they are about.")
    return path


def _open_records(record: Record) -> Iterator[tuple[Release, Mapping[str, Any]]]:
    """The certificates of a job about records, each with its release."""
    schema, counts, proofs = (one_file(record, name) for name in ("schema", "counts", PROOFS))
    return stored_blocks(counts, proofs, read_schema(schema))


def check_records(record: Record, writers: Mapping[str, Record]) -> ProofTally:
    """The proofs of a job about the records behind a release; its table of claims says what they show and nothing else."""
    schema, counts, proofs = (one_file(record, name) for name in ("schema", "counts", PROOFS))
    total, proved = _checked_records([(counts, proofs)], read_schema(schema))
    if (claims := _one(record, "claims")) is None:
        return ProofTally(total, (proofs,))
    with reading_tables(claims):
        onehot = record.params.get("program", {}).get("formulation") == ONEHOT
        unproved = _compare_claims(claims, pd.read_parquet(claims), proved, onehot)
    return ProofTally(total + Counter(unproved=unproved), (proofs,) if unproved else (proofs, claims))


def _one(record: Record, name: str) -> Path | None:
    paths = record.named("inputs", name) + record.named("outputs", name)
    return Path(paths[0]) if len(paths) == 1 else None


def check_proofs(jobs: Sequence[_Proving]) -> Iterator[ProofTally]:
    """What is right of each job's proofs, several at a time; an error names the first that is not."""
    workers = min(cores(), len(jobs))
    if workers <= 1:
        yield from map(_Proving.check, jobs)
        return
    # a batch makes millions of small values and no circles, which the collector would count again and again
    with ProcessPoolExecutor(workers, get_context("spawn"), gc.disable) as pool:
        try:
            yield from pool.map(_Proving.check, jobs)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


# Stored proofs of any model, from the path of their files: opened with what they are about, checked, and put into words.
#
# What proofs about records are about lies in the folder of the release; those of tables beside their system, and are tied
# to the tables by `disclose --check`; of all others, the record of the job that wrote them names the files, and their kind
# says how these are read.

ENDING, SYSTEM = ".jsonl.gz", "system.json.gz"
CELLS = "cells.proofs.gz"  # of an audited release, beside its folder of proofs: both ends of every cell


def _proof_files(path: Path) -> tuple[list[Path], str]:
    """The files of proofs that a path means (itself, those of the folder, or of `proofs` in it), and their one model."""
    if not path.exists():
        raise DataError(f"{path}: there is no such file or folder; give a folder of results that holds proofs")
    listed = sorted(file for file in path.glob(f"*{ENDING}") if file.name != f"explained{ENDING}")
    files = (listed or sorted((path / PROOFS).glob(f"*{ENDING}"))) if path.is_dir() else [path]
    if not files:
        raise DataError(f"{path}: no files of proofs (*{ENDING})")
    statements: Counter[str] = Counter()
    for file in files:
        for certificate in read_proofs(file):
            statements[certificate["model"]] += len(certificate["statements"])
            if statements.total() and len(statements) == 1:
                break
    if len(statements) != 1:
        held = f"certificates of {' and '.join(statements)}" if statements else "no certificate"
        raise DataError(f"{files[0]}: holds {held}; give files of one model")
    if not statements.total():
        raise DataError(f"{files[0]}: shows nothing: not one of its certificates has a statement")
    return files, next(iter(statements))


def open_proofs(path: Path, release: Path | None, name: str | None) -> Iterator["Proved"]:
    """Every certificate of a path with what it is about, or those of one block or system, by its name."""
    count = 0
    for one in _opened(*_proof_files(path), release, name):
        if name in (None, one[1]["about"]["name"]):
            count += 1
            yield one
    if name and not count:
        raise DataError(f"{path}: no proofs of block {name}")


def _opened(files: Sequence[Path], model: str, release: Path | None, name: str | None) -> Iterator["Proved"]:
    if model == RECORDS:
        folder = release or files[0].parent.parent / "release"
        schema = read_schema(folder / "schema.json")
        for file in [*files, *_cell_proofs(files)]:
            yield from stored_blocks(_counts_of(file, files, folder), file, schema, {name} if name else None)
    elif model == LINEAR and (beside := files[0].with_name(SYSTEM)).exists():
        with refusing((*MALFORMED, OSError, EOFError), f"{beside}: not a system of sums", "make the results again"):
            system = system_of(json.loads(gzip.decompress(beside.read_bytes())))
        yield from ((system, certificate) for certificate in read_proofs(files[0]))
    else:
        for kind, record in map(_job_of, files):
            yield from load(kind.open)(record)


def _cell_proofs(files: Sequence[Path]) -> list[Path]:
    """The proofs about cells that lie beside a folder of proofs about claims."""
    path = files[0].parent.parent / CELLS
    return [path] if files[0].parent.name == PROOFS and path.exists() else []


def _counts_of(file: Path, files: Sequence[Path], release: Path) -> Path:
    """The counts that a file of proofs is about: those of its batch; proofs about cells are about the only batch."""
    return table_file(release, (files[0] if file.name == CELLS else file).name.removesuffix(ENDING))


def _job_of(file: Path) -> tuple[ProofKind, Record]:
    """The kind of a file of proofs, and the record of the job that wrote it."""
    record = find_records([str(file.parent.parent)]).writer(normal(file))
    return _kind_of_record(record), record


def check_paths(paths: Sequence[Path], claims: Path | None = None) -> Iterator[str]:
    """Check the proofs of every path; a folder of a release belongs to the proofs that stand before it."""
    left = list(paths)
    while left:
        path = left.pop(0)
        release = left.pop(0) if left and (left[0] / "schema.json").exists() else None
        files, model = _proof_files(path)
        if model == RECORDS:
            yield from _check_stored(path, files, release or files[0].parent.parent / "release", claims)
        elif model == LINEAR and files[0].with_name(SYSTEM).exists():
            from genverify.run.cli.commands import parser

            options = parser(["disclose"]).parse_args(["disclose", "--check", str(files[0].parent)])
            options.run(options)
            yield f"{files[0].parent}: all right"
        else:
            jobs = [_job_of(file) for file in files]
            total = sum((load(kind.check)(record, {}).counts for kind, record in jobs), Counter[str]())
            yield f"{jobs[0][0].words.format_map(total)}: all right"
            yield from (words.format(total[name]) for name, words in jobs[0][0].unproved.items() if total[name])


def _check_stored(path: Path, files: Sequence[Path], release: Path, claims: Path | None) -> Iterator[str]:
    """Check proofs about records against the release, the table of claims against the proofs; or say what was not seen."""
    batches = set(table_names(release)) if path.is_dir() else set()
    missing = sorted(batches - {file.name.removesuffix(ENDING) for file in files})
    if missing:
        number = f"{len(missing)} of {len(batches)} batches of {release} have none"
        raise DataError(f"{path}: no proofs of batch {missing[0]} ({number}). Verify them, or check single files.")
    schema = read_schema(release / "schema.json")
    total, proved = _checked_records(((_counts_of(file, files, release), file) for file in files), schema)
    yield f"{KINDS[RECORDS].words.format_map(total)}: all right"
    for file in _cell_proofs(files) if path.is_dir() else ():
        cells = [block.checked for block in checked_blocks(_counts_of(file, files, release), file, schema)]
        yield f"{file}: {sum(len(one.at_least) + len(one.at_most) for one in cells)} ends of cells: all right"
    if not path.is_dir():
        yield f"not seen: other batches of {release} than {path.name}"
    table = claims or (table_file(files[0].parent.parent, "claims") if path.is_dir() else None)
    if table is None or (claims is None and not table.exists()):
        yield "not compared with a table of claims (--claims FILE)"
        return
    _compare_claims(table, read_frame(table), proved)
    yield f"{table}: the claims that are proven, and no other"


def explain_stored(study: Path, name: str, claim: str) -> Iterator[str]:
    """What the stored proofs of a folder of results show of a block and a claim, or of a cell of tables, in words."""
    files, model = _proof_files(study)
    if model == RECORDS:
        from genverify.attack.explain import explain_claim

        yield from explain_claim(study, name, claim)
    elif model == LINEAR:
        yield from _explain_cell(study, name)
    else:
        for kind, record in map(_job_of, files):
            if lines := list(load(kind.explain)(record, name, claim)):
                yield from lines
                return
        raise DataError(f"{study}: no proofs about block {name}; claims about it were not asked")


def _explain_cell(study: Path, name: str) -> Iterator[str]:
    """The sums that force the ends of a cell, and what these rest on before that."""
    from genverify.export.checker_formats import in_words
    from genverify.export.proof_programs import CellExporter

    for system, certificate in open_proofs(study, None, None):
        if isinstance(system, LinearSystem) and name in system.place:
            check_system(system, certificate, str(study))
            exporter = CellExporter(str(study), system, certificate["statements"])
            last = {one.said.side: number for number, one in enumerate(exporter.proved) if one.said.cell == name}
            if not last:
                at = system.place[name]
                yield f"{name}: {system.lo[at]} to {system.hi[at]} by itself; no sum says more (all proofs checked)."
            for number in last.values():
                yield from in_words(exporter.program(number))
            return
    raise DataError(f"{study}: no cell {name!r}; cells.csv lists the cells")
