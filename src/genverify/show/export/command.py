"""The commands `export` and `check-vipr`."""

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from genverify.core.errors import DataError

if TYPE_CHECKING:
    from genverify.checker.form import ProvedBound
    from genverify.core.release import Release
    from genverify.show.export.write import Written

FORMATS = ("vipr", "opb", "smt2", "coq")
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
    export.add_argument("--format", choices=FORMATS, default="vipr", help="(%(default)s)")
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
    from genverify.show.export.write import readme, write_export

    started, out = time.monotonic(), options.to or Path(f"{options.format}.zip")
    words = readme(options.format)
    if options.claim or options.range:
        written = (_one_claim if options.claim else _one_range)(options, out, words)
    else:
        blocks = _asked(options)
        written = write_export(out, _counted(blocks), options.format, words)
    spent = time.monotonic() - started
    print(f"{out}: {written} ({spent:.1f} s)")


def _one_claim(options: argparse.Namespace, out: Path, words: str) -> "Written":
    from genverify.checker.check import check_block
    from genverify.checker.form import read_certificate
    from genverify.core.claims import parse_claim
    from genverify.show.export.questions import INDEX, claim_questions, find_claim
    from genverify.show.export.write import Written, export_questions, index_text, writing

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
    return Written(1, len(line.files), 0)


def _one_range(options: argparse.Namespace, out: Path, words: str) -> "Written":
    from genverify.checker.form import read_bounds
    from genverify.show.export.questions import INDEX, bound_questions
    from genverify.show.export.write import Written, export_questions, index_text, writing

    release, _ = _one_block(options)
    lemmas, bounds = options.bounds(release, options.range)
    certificate = read_bounds(release, lemmas, bounds)
    questions = zip(bound_questions(release, lemmas, bounds), ([said] for said in certificate.claims), strict=True)
    with writing(out, words) as put:
        lines = list(export_questions(release, certificate, questions, options.format, put))
        put(INDEX, index_text(lines))
    return Written(len(lines), sum(len(line.files) for line in lines), 0)


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
    from genverify.core.release import read_schema
    from genverify.core.tablefile import table_file

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
    from genverify.checker.vipr import check_archive

    started = time.monotonic()
    count = sum(map(check_archive, options.files))
    if not count:
        raise DataError(f"{options.files[0]}: holds no certificate (*.vipr)")
    print(f"{count} VIPR certificates: all right ({time.monotonic() - started:.1f} s)")
