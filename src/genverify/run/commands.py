"""Commands about a study's blocks: explain a claim, say what cannot exist or how likely it is, check proofs and files."""

import argparse
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from genverify.core.errors import DataError
from genverify.run.layout import HOUSING_DATA, STUDY
from genverify.show.export import command as export_command

if TYPE_CHECKING:
    from genverify.checker.form import ProvedBound
    from genverify.core.release import Release
    from genverify.papers.housing.attack.check import Detection


def add_parser(commands: Any) -> None:
    """Add the commands about blocks and their claims."""
    explain = commands.add_parser("explain", help="say which published cells force a claim about a block")
    explain.add_argument("block", help="15-digit GEOID of the block")
    explain.add_argument("claim", help="for instance TEN=3,HHSIZE=1,THHRACE=2,m=1 (m = 1 if left out)")
    explain.add_argument("--study", type=Path, default=STUDY, help="results of a variant (%(default)s)")
    explain.add_argument(
        "--tracts", type=Path, help="results about whole tracts, e.g. results/tracts/synthetic_persons/bins"
    )
    explain.set_defaults(run=_explain)
    excluded = commands.add_parser("excluded", help="say which counts of records of a block cannot exist")
    excluded.add_argument("block", help="15-digit GEOID of the block")
    excluded.add_argument("claim", help="for instance TEN=3,HHSIZE=1 (m is not needed)")
    excluded.add_argument("--study", type=Path, default=STUDY, help="results of a variant (%(default)s)")
    excluded.set_defaults(run=_excluded)
    layout = commands.add_parser("check-ppmf", help="check a PPMF file against the layout that is read")
    layout.add_argument("file", type=Path, help="the unit or the person file (.csv, .txt, .gz or .zip)")
    layout.add_argument("--persons", action="store_true", help="it is the person file")
    layout.add_argument("--rows", type=int, default=1_000_000, metavar="N", help="rows that are read (%(default)s; 0: all)")
    layout.add_argument("--domain", type=Path, help="columns and codes (as config.yaml names them)")
    layout.set_defaults(run=_check_ppmf)
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
    housing = commands.add_parser("check-housing", help="check the proofs of the blocks that must hold a violation")
    housing.add_argument("folder", type=Path, help="results of a condition, e.g. results/housing/none")
    housing.add_argument("--reading", choices=["appendix_e", "exact"], default="appendix_e", help="(%(default)s)")
    housing.add_argument("--data", type=Path, default=HOUSING_DATA, help="domain and published (%(default)s)")
    housing.set_defaults(run=_check_housing)


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
    export_command.add_parser(commands, _housing_blocks, _bounds)


def _check_housing(options: argparse.Namespace) -> None:
    from genverify.papers.housing.attack.check import check_detection

    started = time.monotonic()
    total = check_detection(_detection(options.folder, options.data, options.reading))
    proved = f"{total['violation']} blocks with a violation, {total['contradiction']} with counts that contradict each other"
    print(f"{proved}: all proofs right ({time.monotonic() - started:.1f} s)")
    print(f"{total['possible']} blocks possible, {total['undecided']} undecided: without a proof, as they claim nothing")


def _detection(home: Path, data: Path, reading: str) -> "Detection":
    from genverify.papers.housing.attack.check import Detection

    statistics, blocks, proofs = (home / name for name in ("statistics.parquet", "blocks.parquet", "proofs.jsonl.gz"))
    return Detection(statistics, blocks, proofs, data / "domain.yaml", data / "published.yaml", reading)


def _housing_blocks(options: argparse.Namespace) -> "Iterator[tuple[Release, Mapping[str, Any]]]":
    """The certificates of the blocks that must hold a violation, each with its release."""
    from genverify.papers.housing.attack.check import certified_parts

    return certified_parts(_detection(options.proofs.parent, HOUSING_DATA, options.reading))


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
    if options.tracts:
        from genverify.papers.gtv.tracts.explain import explain_in_tract

        lines = explain_in_tract(options.tracts, options.block, options.claim)
    else:
        from genverify.attack.words.command import explain_claim

        lines = explain_claim(options.study, options.block, options.claim)
    for line in lines:
        print(line)


def _excluded(options: argparse.Namespace) -> None:
    from genverify.papers.gtv.excluded.multiplicities import say_excluded

    for line in say_excluded(options.study, options.block, options.claim):
        print(line)


def _check_ppmf(options: argparse.Namespace) -> None:
    from genverify.microdata.ppmf_check import check_layout
    from genverify.run.config import parse_config, read_shipped

    config = parse_config(read_shipped(Path()))
    domain = options.domain or Path(config.persons.domain if options.persons else config.microdata.domain)
    for line in check_layout(options.file, domain, options.persons, options.rows):
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
