"""Exported proofs as files, and the commands `export` and `check-vipr`."""

import argparse
import csv
import io
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from genverify.checker.certificate import Certificate, Statement, read_certificate
from genverify.checker.record_proofs import check_block
from genverify.export.formats import block_folder, coq_text, opb_text, pbp_text, smt_text, vipr_text
from genverify.export.rows import CLAIM, INDEX, Exporter, Program, Question, TooManyClasses, questions_of
from genverify.model.errors import DataError, nearest
from genverify.model.release import TOTAL, Release
from genverify.model.tablefiles import neutral

if TYPE_CHECKING:
    from genverify.checker.certificate import ProvedBound


# Exported proofs as files: a folder or a zip archive with an index, complete or not there; same proofs, same bytes.

FORMATS: Mapping[str, Mapping[str, Callable[[Program], str]]] = {
    "vipr": {"vipr": vipr_text},
    "opb": {"opb": opb_text, "pbp": pbp_text},
    "smt2": {"smt2": smt_text},
    "coq": {"v": coq_text},
}
README = "README.txt"
COLUMNS = ("block", "shown", "m", "claim", "files", "cells")
EXACTLY, NOTHING, TOO_LARGE = "exactly", "no dataset fits", "not exported: too many kinds of records"
TEXT = """Proofs of claims about published tables, exported by genverify. {data}

Each file opens with what it shows, in words. index.csv lists every claim with its files and the published cells that they
name. A claim "exactly m" is shown by two files: at least m records, and at most m. A claim that is "not exported" is proved
all the same (`genverify check`), but its cells tell so many kinds of records apart that a file would be too large to read.

{how}
"""
HOW = {
    "vipr": "Format VIPR 1.0. Check a file with viprchk (the program VIPR), or all of them with `genverify check-vipr`.",
    "opb": "Format OPB with VeriPB 2.0 proofs: veripb FILE.opb FILE.pbp",
    "smt2": "Format SMT-LIB 2: cvc5 FILE, or z3 FILE. The answer unsat means that the claim holds in every dataset.",
    "coq": "Coq: compile proofs/Checker.v of genverify, then coqc -Q proofs Genverify FILE. Each file is a theorem.",
}
LONG_AGO = (1980, 1, 1, 0, 0, 0)
Put = Callable[[str, str], None]


def readme(format: str, data: str = "") -> str:
    """What stands in the README of an archive; `data` says where the counts come from."""
    return TEXT.format(data=data, how=HOW[format])


@dataclass(frozen=True)
class Line:
    """A line of the index: what is shown of a block, the files that show it, the published cells that they name."""

    block: str
    shown: str
    m: int | None
    claim: str
    files: tuple[str, ...]
    cells: tuple[str, ...]


def export_block(release: Release, proofs: Mapping[str, Any], format: str, put: Put) -> Iterator[Line]:
    """Check the proofs of a block, hand over the files of all that are not too large, and list what they show."""
    check_block(release, proofs)
    certificate = read_certificate(release, proofs)
    questions = questions_of(release.schema.domain, certificate)
    yield from export_questions(release, certificate, questions, format, put, leave_out=True)


def export_questions(
    release: Release,
    certificate: Certificate,
    questions: Iterable[tuple[Question, Sequence[Statement]]],
    format: str,
    put: Put,
    leave_out: bool = False,
) -> Iterator[Line]:
    """
    Hand over the files of some questions; a line for each statement that they settle. One that is too large is an error, or
    left out, and its line says so.
    """
    if format not in FORMATS:
        raise DataError(f"unknown format {format!r}: {nearest(format, list(FORMATS))}")
    exporter = Exporter(release, certificate.lemmas)
    settled: dict[tuple[str, int | None, str], tuple[list[str], dict[str, None]]] = {}
    too_large: list[tuple[str, int | None, str]] = []
    for statements, halves in groupby(questions, key=itemgetter(1)):
        asked = [question for question, _ in halves]
        try:
            programs = [exporter.program(question) for question in asked]
        except TooManyClasses:
            if not leave_out:
                raise
            too_large += _settled(asked[0], statements)
            continue
        for question, program in zip(asked, programs, strict=True):
            names = [f"{block_folder(release.block)}/{question.name}.{ending}" for ending in FORMATS[format]]
            for name, text in zip(names, FORMATS[format].values(), strict=True):
                put(name, text(program))
            for said in _settled(question, statements):
                files, cells = settled.setdefault(said, ([], {}))
                files += names
                cells |= {row.name: None for row in program.rows.values() if row.name not in (TOTAL, CLAIM)}
    for (shown, m, claim), (files, cells) in settled.items():
        yield Line(release.block, shown, m, claim, tuple(files), tuple(cells))
    yield from (Line(release.block, TOO_LARGE, m, claim, (), ()) for _, m, claim in too_large)


def _settled(question: Question, statements: Sequence[Statement]) -> list[tuple[str, int | None, str]]:
    """What a question helps to show: exactly m by two of them, all else by one."""
    if not statements:
        return [(NOTHING, None, "")]
    return [(question.goal if one.proof is None else EXACTLY, one.m, str(one.where)) for one in statements]


class ExportSummary(NamedTuple):
    """How many statements an export shows, in how many files, and how many were left out because they are too large."""

    statements: int
    files: int
    left_out: int

    def __str__(self) -> str:
        left = f"; {self.left_out} too large and left out (index.csv lists them)" if self.left_out else ""
        return f"{self.statements} claims and other statements, {self.files} files{left}"


def write_export(out: Path, blocks: Iterable[tuple[Release, Mapping[str, Any]]], format: str, words: str) -> ExportSummary:
    """All proofs of some blocks in a folder or zip archive; what it holds."""
    lines: list[Line] = []
    with writing(out, words) as put:
        for release, proofs in blocks:
            lines.extend(export_block(release, proofs, format, put))
        put(INDEX, index_text(lines))
    left_out = sum(line.shown == TOO_LARGE for line in lines)
    return ExportSummary(len(lines) - left_out, len({file for line in lines for file in line.files}), left_out)


def join_exports(out: Path, archives: Iterable[Path], words: str) -> ExportSummary:
    """Several archives in one, with one index; what it holds."""
    count, head, rows = 0, "", list[str]()
    with writing(out, words) as put:
        for path in archives:
            with ZipFile(path) as archive:
                for name in archive.namelist():
                    text = archive.read(name).decode()
                    if name == INDEX:
                        head, *own = text.splitlines(keepends=True)
                        rows += own
                    elif name != README:
                        put(name, text)
                        count += 1
        put(INDEX, "".join([head, *rows]))
    left_out = sum(f",{TOO_LARGE}," in row for row in rows)
    return ExportSummary(len(rows) - left_out, count, left_out)


@contextmanager
def writing(out: Path, words: str) -> Iterator[Put]:
    """A place for files, with a README once all is well; after an error, nothing is left of it."""
    part = out.with_name(f".{out.name}.part")
    if out.exists() and out.is_dir():
        raise DataError(f"{out}: the folder exists; remove it, or name another with --to")
    _remove(part)
    try:
        with _zip(part) if out.suffix == ".zip" else _folder(part) as put:
            yield put
            put(README, words)
        os.replace(part, out)
    finally:
        _remove(part)


def index_text(lines: Iterable[Line]) -> str:
    """The index as CSV: files and cells of a line are separated by spaces and semicolons."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(COLUMNS)
    for line in lines:
        m = "" if line.m is None else line.m
        cells = neutral("; ".join(line.cells))
        rows.writerow([neutral(line.block), line.shown, m, line.claim, " ".join(line.files), cells])
    return text.getvalue()


@contextmanager
def _zip(path: Path) -> Iterator[Put]:
    with ZipFile(path, "w", ZIP_DEFLATED, compresslevel=9) as archive:

        def put(name: str, text: str) -> None:
            info = ZipInfo(name, LONG_AGO)
            info.compress_type, info.external_attr = ZIP_DEFLATED, 0o644 << 16
            archive.writestr(info, text, ZIP_DEFLATED, 9)

        yield put


@contextmanager
def _folder(path: Path) -> Iterator[Put]:
    path.mkdir(parents=True)

    def put(name: str, text: str) -> None:
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text)

    yield put


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


# The commands `export` and `check-vipr`.

ALL_FORMATS = ("vipr", "opb", "smt2", "coq")
ENDING = ".jsonl.gz"
Block = tuple["Release", Mapping[str, Any]]
Extend = Callable[[argparse.ArgumentParser, str], list[Callable[[argparse.Namespace], "Iterator[Block] | None"]]]
Bounds = Callable[["Release", str], tuple[list[dict[str, Any]], list["ProvedBound"]]]


def add_parser(commands: Any, extend: Extend, bounds: Bounds) -> None:
    """
    Add both commands to the command line. `extend` adds what studies know of proofs of their own: functions of the options
    that give the blocks, or None; `bounds` finds what a release says of a count, as lemmas and checked bounds.
    """
    export = commands.add_parser(
        "export", help="write proofs in the formats of other checkers: VIPR, OPB with VeriPB, SMT-LIB, Coq"
    )
    export.add_argument("proofs", type=Path, help="a folder of proofs, e.g. results/paper/proofs, or one .jsonl.gz file")
    export.add_argument("release", type=Path, nargs="?",
                        help="the folder of the release (default: release beside the folder of proofs)")  # fmt: skip
    export.add_argument("--format", choices=ALL_FORMATS, default="vipr", help="(%(default)s)")
    export.add_argument("--block", help="only this block")
    export.add_argument("--claim", help="only this claim of the block, e.g. TEN=3,HHSIZE=1,m=1 (m = 1 if left out)")
    export.add_argument("--range", metavar="CONDITION",
                        help="in place of a stored proof: the least and the most records of a block that meet a condition, "
                        "e.g. TEN=3,HHSIZE=1; both bounds are found and proved now")  # fmt: skip
    export.add_argument("--to", type=Path, help="a .zip archive or a new folder (default: FORMAT.zip here)")
    export.set_defaults(run=run_export, answers=extend(export, "export"), bounds=bounds)
    check = commands.add_parser("check-vipr", help="check VIPR certificates of any program, in rational numbers")
    check.add_argument("files", type=Path, nargs="+", help="certificates, folders of them, or zip archives")
    check.set_defaults(run=run_check)


def run_export(options: argparse.Namespace) -> None:
    """Export all proofs, those of a block, or one claim."""

    started, out = time.monotonic(), options.to or Path(f"{options.format}.zip")
    words = readme(options.format)
    if options.claim or options.range:
        written = (_one_claim if options.claim else _one_range)(options, out, words)
    else:
        blocks = _asked(options)
        written = write_export(out, _counted(blocks), options.format, words)
    spent = time.monotonic() - started
    print(f"{out}: {written} ({spent:.1f} s)")


def _one_claim(options: argparse.Namespace, out: Path, words: str) -> "ExportSummary":
    from genverify.checker.certificate import read_certificate
    from genverify.checker.record_proofs import check_block
    from genverify.export.rows import INDEX, claim_questions, find_claim
    from genverify.model.claims import parse_claim

    release, proofs = _one_block(options)
    domain = release.schema.domain
    asked = parse_claim(options.claim, domain)
    check_block(release, proofs)
    certificate = read_certificate(release, proofs)
    claim = find_claim(certificate, asked.predicate(domain), asked.m, release.block)
    questions = [(question, [claim]) for question in claim_questions(domain, [claim], "claim")]
    with writing(out, words) as put:
        (line,) = export_questions(release, certificate, questions, options.format, put)
        put(INDEX, index_text([line]))
    return ExportSummary(1, len(line.files), 0)


def _one_range(options: argparse.Namespace, out: Path, words: str) -> "ExportSummary":
    from genverify.checker.certificate import read_bounds
    from genverify.export.rows import INDEX, bound_questions

    release, _ = _one_block(options)
    lemmas, bounds = options.bounds(release, options.range)
    certificate = read_bounds(release, lemmas, bounds)
    questions = zip(bound_questions(release, lemmas, bounds), ([said] for said in certificate.claims), strict=True)
    with writing(out, words) as put:
        lines = list(export_questions(release, certificate, questions, options.format, put))
        put(INDEX, index_text(lines))
    return ExportSummary(len(lines), sum(len(line.files) for line in lines), 0)


def _one_block(options: argparse.Namespace) -> Block:
    if not options.block:
        raise DataError("--claim and --range need --block: name the block that they are about")
    (found,) = _asked(options)
    return found


def _asked(options: argparse.Namespace) -> Iterator[Block]:
    """The blocks that are asked for; an error if the one that is named is not there."""
    own = next((blocks for answer in options.answers if (blocks := answer(options)) is not None), None)
    if own is None:
        own = _blocks(options.proofs, options.release, options.block)
    found = (one for one in own if options.block in (None, one[0].block))
    count = 0
    for one in found:
        count += 1
        yield one
    if options.block and not count:
        raise DataError(f"{options.proofs}: no proofs of block {options.block}")


def _blocks(proofs: Path, release: Path | None, block: str | None) -> Iterator[Block]:
    """The release and the proofs of every block of the files, or of one block."""
    from genverify.checker.stored import stored_blocks
    from genverify.model.release import read_schema
    from genverify.model.tablefiles import table_file

    folder = release or (proofs if proofs.is_dir() else proofs.parent).parent / "release"
    schema = read_schema(folder / "schema.json")
    files = sorted(proofs.glob(f"*{ENDING}")) if proofs.is_dir() else [proofs]
    if not files:
        raise DataError(f"{proofs}: no files of proofs (*{ENDING})")
    for file in files:
        counts = table_file(folder, file.name.removesuffix(ENDING))
        yield from stored_blocks(counts, file, schema, {block} if block else None)


def _counted(blocks: Iterator[Block]) -> Iterator[Block]:
    """The blocks, with a line now and then."""
    reported = time.monotonic()
    for done, block in enumerate(blocks):
        if time.monotonic() - reported > 10:
            reported = time.monotonic()
            print(f"{done} blocks", file=sys.stderr, flush=True)
        yield block


def run_check(options: argparse.Namespace) -> None:
    """Check every certificate of some files, folders or archives."""
    from genverify.checker.vipr_checker import check_archive

    started = time.monotonic()
    count = sum(map(check_archive, options.files))
    if not count:
        raise DataError(f"{options.files[0]}: holds no certificate (*.vipr)")
    print(f"{count} VIPR certificates: all right ({time.monotonic() - started:.1f} s)")
