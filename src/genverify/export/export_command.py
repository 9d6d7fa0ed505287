"""Exported proofs as files, and the command `export`."""

import argparse
import csv
import io
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from genverify.export.checker_formats import coq_text, opb_text, pbp_text, smt_text, vipr_text
from genverify.export.proof_programs import CLAIM, INDEX, Export, Program, Proved, TooLarge, claim_export, exports_of
from genverify.model.errors import DataError, refuse_unknown
from genverify.model.files import ONE_WORD, file_name
from genverify.model.release import TOTAL, Release
from genverify.model.tablefiles import neutral
from genverify.model.work import SAY_EVERY, ProgressLog

# Exported proofs as files: a folder or a zip archive with an index, complete or not there; same proofs, same bytes.

FORMATS: Mapping[str, Mapping[str, Callable[[Program], str]]] = {
    "vipr": {"vipr": vipr_text},
    "opb": {"opb": opb_text, "pbp": pbp_text},
    "smt2": {"smt2": smt_text},
    "coq": {"v": coq_text},
}
README = "README.txt"
TOO_LARGE = "not exported: too large"
TEXT = """Proofs of claims about published tables, exported by genverify. {data}

Each file opens with what it shows, in words. index.csv lists every claim with its files and the published cells that they
name. A claim "exactly m" is shown by two files: at least m records, and at most m. A claim that is "not exported" is proved
all the same (`genverify check`), but a file would be too large to read.

{how}
"""
HOW = {
    "vipr": "Format VIPR 1.0. Check a file with viprchk (the program VIPR), or with any other checker of the format.",
    "opb": "Format OPB with VeriPB 2.0 proofs: veripb FILE.opb FILE.pbp",
    "smt2": "Format SMT-LIB 2: cvc5 FILE, or z3 FILE. The answer unsat means that the claim holds in every dataset.",
    "coq": "Coq: compile proofs/Checker.v of genverify, then coqc -Q proofs Genverify FILE. Each file is a theorem.",
}
LONG_AGO = (1980, 1, 1, 0, 0, 0)
Put = Callable[[str, str], None]


def readme(format: str, data: str = "") -> str:
    """What stands in the README of an archive; `data` says where the counts come from."""
    return TEXT.format(data=data, how=HOW[format])


class Line(NamedTuple):
    """A line of the index: what is shown of a block, the files that show it, the published cells that they name."""

    block: str
    shown: str
    m: int | None
    claim: str
    files: tuple[str, ...]
    cells: tuple[str, ...]


def write_files(exports: Iterable[Export], format: str, put: Put, leave_out: bool = True) -> Iterator[Line]:
    """Hand over the files of some programs; a line for each statement. What is too large is an error, or left out."""
    refuse_unknown(format, FORMATS, f"unknown format {format!r}")
    for one in exports:
        try:
            texts, cells = dict[str, str](), dict[str, None]()
            folder = file_name(one.block, ONE_WORD)  # an index lists files with spaces between them
            for program in (make() for make in one.programs):
                for ending, text in FORMATS[format].items():
                    texts[f"{folder}/{program.question.name}.{ending}"] = text(program)
                cells |= {name: None for name in program.rows if name not in (TOTAL, CLAIM)}
        except TooLarge:
            if not leave_out:
                raise
            yield from (Line(one.block, TOO_LARGE, m, claim, (), ()) for _, m, claim in one.said)
            continue
        for name, content in texts.items():
            put(name, content)
        yield from (Line(one.block, goal, m, claim, tuple(texts), tuple(cells)) for goal, m, claim in one.said)


class ExportSummary(NamedTuple):
    """How many statements an export shows, in how many files, and how many were left out because they are too large."""

    statements: int
    files: int
    left_out: int

    def __str__(self) -> str:
        left = f"; {self.left_out} too large and left out (index.csv lists them)" if self.left_out else ""
        return f"{self.statements} claims and other statements, {self.files} files{left}"


def write_export(out: Path, proved: Iterable[Proved], format: str, words: str) -> ExportSummary:
    """All proofs of some certificates in a folder or zip archive; what it holds."""
    return _write(out, (one for pair in proved for one in exports_of(*pair)), format, words, leave_out=True)


def _write(out: Path, exports: Iterable[Export], format: str, words: str, leave_out: bool) -> ExportSummary:
    with writing(out, words) as put:
        lines, text = list(write_files(exports, format, put, leave_out)), io.StringIO()
        rows = csv.writer(text, lineterminator="\n")
        rows.writerow(Line._fields)
        for line in lines:  # files and cells of a line are separated by spaces and semicolons
            m, cells = "" if line.m is None else line.m, neutral("; ".join(line.cells))
            rows.writerow([neutral(line.block), line.shown, m, line.claim, " ".join(line.files), cells])
        put(INDEX, text.getvalue())
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
                        head, *part = text.splitlines(keepends=True)
                        rows += part
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
        with ZipFile(part, "w", ZIP_DEFLATED, compresslevel=9) if out.suffix == ".zip" else nullcontext() as archive:
            put = partial(_put, archive or part)
            yield put
            put(README, words)
        os.replace(part, out)
    finally:
        _remove(part)


def _put(place: ZipFile | Path, name: str, text: str) -> None:
    if isinstance(place, Path):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    else:
        info = ZipInfo(name, LONG_AGO)
        info.compress_type, info.external_attr = ZIP_DEFLATED, 0o644 << 16
        place.writestr(info, text, ZIP_DEFLATED, 9)


def _remove(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def add_parser(commands: Any, open_proofs: Callable[[Path, Path | None, str | None], Iterator[Proved]],
               bounds: Callable[[Release, str], Mapping[str, Any]]) -> None:  # fmt: skip
    """Add the command: `open_proofs` gives the certificates of a path, `bounds` one of what a release says of a count."""
    export = commands.add_parser("export")
    export.add_argument("proofs", type=Path, help="a folder of proofs or results, e.g. results/paper, or a .jsonl.gz file")
    export.add_argument("release", type=Path, nargs="?",
                        help="the folder of the release (default: the folder release next to the proofs)")  # fmt: skip
    export.add_argument("--format", choices=tuple(FORMATS), default="vipr", help="(%(default)s)")
    export.add_argument("--block", help="only this block or system")
    export.add_argument("--claim", help="only this claim of the block, e.g. TEN=3,HHSIZE=1,m=1 (m = 1 if left out)")
    export.add_argument("--range", metavar="CONDITION",
                        help="in place of a stored proof: the least and the most records of a block that meet a condition, "
                        "e.g. TEN=3,HHSIZE=1; both bounds are found and proved now")  # fmt: skip
    export.add_argument("--to", type=Path, help="a .zip archive or a new folder (default: FORMAT.zip here)")
    export.set_defaults(run=_run_export, open_proofs=open_proofs, bounds=bounds)


def _run_export(options: argparse.Namespace) -> None:
    """Export all proofs, those of a block, or one claim."""
    started, out = time.monotonic(), options.to or Path(f"{options.format}.zip")
    words = readme(options.format)
    if options.claim or options.range:
        if not options.block:
            raise DataError("--claim and --range need --block: name the block that they are about")
        ((published, certificate),) = options.open_proofs(options.proofs, options.release, options.block)
        if not isinstance(published, Release):
            raise DataError(f"--claim and --range are for proofs about records, not of the model {certificate['model']}")
        if options.claim:
            exports = claim_export(published, certificate, options.claim)
        else:
            exports = exports_of(published, options.bounds(published, options.range))
        written = _write(out, exports, options.format, words, leave_out=False)
    else:
        proved = options.open_proofs(options.proofs, options.release, options.block)
        written = write_export(out, _counted(proved), options.format, words)
    print(f"{out}: {written} ({time.monotonic() - started:.1f} s)")


def _counted(proved: Iterator[Proved]) -> Iterator[Proved]:
    clock = ProgressLog(SAY_EVERY)
    for done, one in enumerate(proved):
        if clock.due():
            print(f"{done} certificates", file=sys.stderr, flush=True)
        yield one
