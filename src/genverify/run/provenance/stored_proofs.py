"""
Stored proofs of any model, from the path of their files: opened with what they are about, checked, and put into words.

What proofs about records are about lies in the folder of the release; those of tables lie beside their system, and are tied
to the tables by `disclose --check`; of all others, the record of the job that wrote them names the files, and their kind
says how these are read.
"""

import gzip
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from genverify.checker.certificate import read_proofs
from genverify.checker.stored import checked_blocks, stored_blocks
from genverify.model.errors import DataError
from genverify.model.linear import LinearSystem, system_of
from genverify.model.proof_form import LINEAR, RECORDS
from genverify.model.release import read_schema
from genverify.model.tablefiles import read_frame, table_file, table_names

if TYPE_CHECKING:
    from genverify.export.export_command import Proved
    from genverify.run.provenance.records import Record
    from genverify.run.registry import ProofKind

ENDING, CLAIMS, SYSTEM = ".jsonl.gz", "claims", "system.json.gz"
CELLS = "cells.proofs.gz"  # of an audited release, beside its folder of proofs: both ends of every cell


def proof_files(path: Path) -> list[Path]:
    """The files of proofs that a path means: itself, those of the folder, or those of `proofs` in a folder of results."""
    if not path.exists():
        raise DataError(f"{path}: there is no such file or folder; give a folder of results that holds proofs")
    if not path.is_dir():
        return [path]
    for place in (path, path / "proofs"):
        files = sorted(file for file in place.glob(f"*{ENDING}") if place != path or file.name != f"explained{ENDING}")
        if files:
            return files
    raise DataError(f"{path}: no files of proofs (*{ENDING})")


def model_of(files: Sequence[Path]) -> str:
    """The one model of some files of proofs; an error where they hold no certificate, several models, or no statement."""
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
    return next(iter(statements))


def open_proofs(path: Path, release: Path | None, name: str | None) -> Iterator["Proved"]:
    """Every certificate of a path with what it is about, or those of one block or system, by its name."""
    files, count = proof_files(path), 0
    for one in _opened(files, model_of(files), release, name):
        if name in (None, one[1]["about"]["name"]):
            count += 1
            yield one
    if name and not count:
        raise DataError(f"{path}: no proofs of block {name}")


def _opened(files: Sequence[Path], model: str, release: Path | None, name: str | None) -> Iterator["Proved"]:
    if model == RECORDS:
        folder = release or release_of(files[0])
        schema = read_schema(folder / "schema.json")
        for file in [*files, *cell_proofs(files)]:
            yield from stored_blocks(counts_of(file, files, folder), file, schema, {name} if name else None)
    elif model == LINEAR and files[0].with_name(SYSTEM).exists():
        system = read_system(files[0].with_name(SYSTEM))
        yield from ((system, certificate) for certificate in read_proofs(files[0]))
    else:
        from genverify.run.registry import load

        for kind, record in map(job_of, files):
            yield from load(kind.open)(record)


def cell_proofs(files: Sequence[Path]) -> list[Path]:
    """The proofs about cells that lie beside a folder of proofs about claims."""
    path = files[0].parent.parent / CELLS
    return [path] if files[0].parent.name == "proofs" and path.exists() else []


def counts_of(file: Path, files: Sequence[Path], release: Path) -> Path:
    """The counts that a file of proofs is about: those of its batch; proofs about cells are about the only batch."""
    return table_file(release, (files[0] if file.name == CELLS else file).name.removesuffix(ENDING))


def release_of(file: Path) -> Path:
    """The folder of the release beside the folder of proofs."""
    return file.parent.parent / "release"


def read_system(path: Path) -> LinearSystem:
    """The system that proofs about tables lie beside."""
    try:
        return system_of(json.loads(gzip.decompress(path.read_bytes())))
    except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path}: not a system of sums ({error}); make the results again") from None


def job_of(file: Path) -> "tuple[ProofKind, Record]":
    """The kind of a file of proofs, and the record of the job that wrote it."""
    from genverify.run.provenance.recheck import kind_of_record
    from genverify.run.provenance.records import find_records, normal

    record = find_records([str(file.parent.parent)]).writer(normal(file))
    return kind_of_record(record), record


def check_paths(paths: Sequence[Path], claims: Path | None = None) -> Iterator[str]:
    """Check the proofs of every path; a folder of a release belongs to the proofs that stand before it."""
    left = list(paths)
    while left:
        path = left.pop(0)
        release = left.pop(0) if left and (left[0] / "schema.json").exists() else None
        files = proof_files(path)
        model = model_of(files)
        if model == RECORDS:
            yield from check_stored(path, files, release or release_of(files[0]), claims)
        elif model == LINEAR and files[0].with_name(SYSTEM).exists():
            yield from _check_tables(files[0].parent)
        else:
            yield from _check_jobs(files)


def _check_tables(folder: Path) -> Iterator[str]:
    from genverify.run.cli.commands import parser

    options = parser(["disclose"]).parse_args(["disclose", "--check", str(folder)])
    options.run(options)
    yield f"{folder}: all right"


def _check_jobs(files: Sequence[Path]) -> Iterator[str]:
    from genverify.run.registry import load

    total: Counter[str] = Counter()
    for file in files:
        kind, record = job_of(file)
        total += load(kind.check)(record, {}).counts
    yield f"{kind.words.format_map(Counter(total))}: all right"
    yield from (words.format(total[name]) for name, words in kind.unproved.items() if total[name])


def check_stored(path: Path, files: Sequence[Path], release: Path, claims: Path | None) -> Iterator[str]:
    """
    Check proofs about records against the release; then the table of claims against the proofs.

    A batch of the release without proofs is an error. Of one file, or without a table of claims, the last line says what
    was not seen.
    """
    from genverify.run.provenance.recheck import checked_records, compare_claims, listed_claims

    batches = set(table_names(release)) if path.is_dir() else set()
    missing = sorted(batches - {file.name.removesuffix(ENDING) for file in files})
    if missing:
        raise DataError(
            f"{path}: no proofs of batch {missing[0]} ({len(missing)} of {len(batches)} batches of {release} have none). "
            "Verify them, or check single files."
        )
    schema = read_schema(release / "schema.json")
    total, proven = checked_records(((counts_of(file, files, release), file) for file in files), schema)
    yield f"{total['blocks']} blocks, {total['claims']} claims, {total['proofs']} proofs: all right"
    for file in cell_proofs(files) if path.is_dir() else ():
        cells = [block.checked for block in checked_blocks(counts_of(file, files, release), file, schema)]
        yield f"{file}: {sum(len(one.at_least) + len(one.at_most) for one in cells)} ends of cells: all right"
    if not path.is_dir():
        yield f"not seen: other batches of {release} than {path.name}"
    table = claims or (table_file(files[0].parent.parent, CLAIMS) if path.is_dir() else None)
    if table is None or (claims is None and not table.exists()):
        yield "not compared with a table of claims (--claims FILE)"
        return
    compare_claims(table, listed_claims(table, read_frame(table), schema.domain.names), proven)
    yield f"{table}: the claims that are proven, and no other"


def explain_stored(study: Path, name: str, claim: str) -> Iterator[str]:
    """What the stored proofs of a folder of results show of a block and a claim, or of a cell of tables, in words."""
    files = proof_files(study)
    model = model_of(files)
    if model == RECORDS:
        from genverify.attack.explain import explain_claim

        yield from explain_claim(study, name, claim)
    elif model == LINEAR:
        yield from _explain_cell(study, name)
    else:
        from genverify.run.registry import load

        for kind, record in map(job_of, files):
            if lines := list(load(kind.explain)(record, name, claim)):
                yield from lines
                return
        raise DataError(f"{study}: no proofs about block {name}; claims about it were not asked")


def _explain_cell(study: Path, name: str) -> Iterator[str]:
    """The sums that force the ends of a cell, and what these rest on before that."""
    from genverify.checker.linear_proofs import check_system
    from genverify.export.cell_programs import CellExporter
    from genverify.export.checker_formats import in_words

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
