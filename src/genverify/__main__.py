"""The command line: check the proofs of a study, explain a claim."""

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from genverify.certificate import check_block
from genverify.errors import DataError, GenverifyError
from genverify.prooffile import read_proofs
from genverify.release import Release, read_releases, read_schema
from genverify.releases import command as releases


def main(words: Sequence[str] | None = None) -> int:
    """Run a command; a mistake ends in one message and exit code 1."""
    options = _parser().parse_args(words)
    try:
        options.run(options)
    except GenverifyError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="genverify", description="What must be true of the people behind these tables?")
    commands = parser.add_subparsers(required=True, metavar="command")
    check = commands.add_parser("check", help="check every proof of a study, in exact integers and without a solver")
    check.add_argument("proofs", type=Path, help="a folder of proofs, e.g. results/paper/proofs, or one .jsonl.gz file")
    check.add_argument("release", type=Path, help="the folder of the release, e.g. results/paper/release")
    check.set_defaults(run=_check)
    explain = commands.add_parser("explain", help="say which published cells force a claim about a block")
    explain.add_argument("block", help="15-digit GEOID of the block")
    explain.add_argument("claim", help="for instance TEN=3,HHSIZE=1,THHRACE=2,m=1 (m = 1 if left out)")
    explain.add_argument("--study", type=Path, default=Path("results/paper"), help="results of a variant (%(default)s)")
    explain.set_defaults(run=_explain)
    releases.add_parser(commands)
    return parser


def _check(options: argparse.Namespace) -> None:
    started = time.monotonic()
    files = sorted(options.proofs.glob("*.jsonl.gz")) if options.proofs.is_dir() else [options.proofs]
    if not files:
        raise DataError(f"{options.proofs}: no files of proofs (*.jsonl.gz)")
    blocks = claims = proofs = 0
    for release, found in _matched(files, options.release):
        checked = check_block(release, found)
        blocks, claims, proofs = blocks + 1, claims + checked.claims, proofs + checked.proofs
    print(f"{blocks} blocks, {claims} claims, {proofs} proofs: all right ({time.monotonic() - started:.1f} s)")


def _matched(files: Sequence[Path], folder: Path) -> Iterator[tuple[Release, dict[str, Any]]]:
    """Every block's release with its proofs; a block on one side only is an error."""
    schema = read_schema(folder / "schema.json")
    for file in files:
        counts = folder / file.name.replace(".jsonl.gz", ".parquet")
        releases = {release.block: release for release in read_releases(counts, schema)}
        for found in read_proofs(file):
            if found["block"] not in releases:
                raise DataError(f"{file}: block {found['block']} is not in {counts}, or stands twice in the proofs")
            yield releases.pop(found["block"]), found
        if releases:
            raise DataError(f"{file}: block {next(iter(releases))} of {counts} has no entry")


def _explain(options: argparse.Namespace) -> None:
    from genverify.explained import explain_claim

    for line in explain_claim(options.study, options.block, options.claim):
        print(line)


if __name__ == "__main__":
    sys.exit(main())
