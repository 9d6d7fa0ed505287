"""Commands about a study's blocks: explain a claim, say how likely it is, check proofs, watch a run."""

import argparse
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from genverify.core.errors import DataError
from genverify.run.layout import STUDY
from genverify.run.registry import extend
from genverify.show.export import command as export_command

if TYPE_CHECKING:
    from genverify.checker.form import ProvedBound
    from genverify.core.release import Release


def add_parser(commands: Any) -> None:
    """Add the commands about blocks and their claims."""
    explain = commands.add_parser("explain", help="say which published cells force a claim about a block")
    explain.add_argument("block", help="15-digit GEOID of the block")
    explain.add_argument("claim", help="for instance TEN=3,HHSIZE=1,THHRACE=2,m=1 (m = 1 if left out)")
    explain.add_argument("--study", type=Path, default=STUDY, help="results of a variant (%(default)s)")
    explain.set_defaults(run=_explain, answers=extend(explain, "explain"))
    likely = commands.add_parser(
        "probability", help="say how likely a claim about a block is, given its release and a prior"
    )
    likely.add_argument("block", help="15-digit GEOID of the block")
    likely.add_argument("claim", help="for instance TEN=3,HHSIZE=1,THHRACE=2,m=1 (m = 1 if left out)")
    likely.add_argument("--study", type=Path, default=STUDY, help="results of a variant (%(default)s)")
    likely.add_argument(
        "--prior", type=Path, help="table of records (codes) with a column `weight`, .csv or .parquet (uniform)"
    )
    likely.add_argument("--floor", type=float, default=0.0, help="weight of records that the table lacks (%(default)s)")
    likely.add_argument(
        "--states", type=int, default=500_000, help="most states of the count; beyond, an estimate (%(default)s)"
    )
    likely.set_defaults(run=_probability)
    progress = commands.add_parser("progress", help="say how far the study that runs in a folder is, until it is done")
    progress.add_argument(
        "folder", type=Path, nargs="?", default=Path("."), help="where Snakemake was started (%(default)s)"
    )
    progress.set_defaults(run=_progress)


def add_check(commands: Any) -> None:
    """Add `check` to the commands."""
    check = commands.add_parser("check", help="check every proof of a study, in exact integers and without a solver")
    check.add_argument("proofs", type=Path, help="a folder of proofs, e.g. results/paper/proofs, or one .jsonl.gz file")
    check.add_argument("release", type=Path, help="the folder of the release, e.g. results/paper/release")
    check.add_argument("--claims", type=Path, metavar="FILE",
                       help="the table of claims (default: claims.parquet beside the folder of proofs)")  # fmt: skip
    check.set_defaults(run=_check)


def add_export(commands: Any) -> None:
    """Add `export` and `check-vipr`."""
    export_command.add_parser(commands, extend, _bounds)


def _bounds(release: "Release", text: str) -> "tuple[list[dict[str, Any]], list[ProvedBound]]":
    """The lemmas of a release, and the bounds of a count with their proofs, checked."""
    from genverify.attack.verify import Verifier, check_ranges
    from genverify.core.claims import parse_claim
    from genverify.solve.settings import DEFAULT

    where = parse_claim(text, release.schema.domain).predicate(release.schema.domain)
    verifier = Verifier(DEFAULT.bounder(release))
    program, counts = verifier.bounder.program, verifier.range_of(where)
    if counts.limit or not (bounds := counts.proved_bounds(where)):
        raise DataError(f"block {release.block}: the range of {where} has no proof ({counts.limit or 'it says nothing'})")
    check_ranges(program, [(where, counts)])
    return [lemma.as_dict() for lemma in program.lemmas], bounds


def _explain(options: argparse.Namespace) -> None:
    from genverify.attack.words.command import explain_claim

    lines = next((lines for answer in options.answers if (lines := answer(options)) is not None), None)
    for line in lines if lines is not None else explain_claim(options.study, options.block, options.claim):
        print(line)


def _probability(options: argparse.Namespace) -> None:
    from dataclasses import replace

    from genverify.attack.words.probable import probable_claim
    from genverify.solve.counting.diagram import BUDGET

    budget = replace(BUDGET, states=options.states)
    for line in probable_claim(options.study, options.block, options.claim, options.prior, options.floor, budget):
        print(line)


def _progress(options: argparse.Namespace) -> None:
    from genverify.run.progress import watch

    with suppress(KeyboardInterrupt):
        watch(options.folder)


def _check(options: argparse.Namespace) -> None:
    from genverify.run.provenance.stored import check_stored

    started = time.monotonic()
    for line in check_stored(options.proofs, options.release, options.claims):
        print(line)
    print(f"({time.monotonic() - started:.1f} s)")
