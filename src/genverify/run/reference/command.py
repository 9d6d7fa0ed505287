"""The command `reference`, and where this repository keeps the set."""

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from genverify.core.errors import DataError
from genverify.run.layout import REFERENCE, STAGES
from genverify.run.provenance.command import read_config, repository
from genverify.run.reference.captions import Captions
from genverify.run.reference.check import Finding, altered_files, changes, unlisted_targets, with_results
from genverify.run.reference.listing import read_listing
from genverify.run.reference.manifest import MANIFEST, Entry, read_manifest
from genverify.run.reference.write import Place, write_reference
from genverify.run.settings import Config

REMEDY = "Make the set again: snakemake reference"


def reference_place() -> Place:
    """Where this repository keeps the set, seen from its root."""
    return Place(REFERENCE, STAGES, Captions(STAGES))


def add_parser(commands: Any) -> None:
    """Add `reference` to the commands."""
    parser = commands.add_parser("reference", help="say, without a run, whether docs/reference is current; or make it")
    asked = parser.add_mutually_exclusive_group()
    asked.add_argument("--check", action="store_true", help="say whether it is whole and current (what is done by default)")
    asked.add_argument("--write", nargs="*", metavar="PAPER",
                       help="make it from the results here, of all or of the named papers (the others stay)")  # fmt: skip
    parser.add_argument("--configfile", nargs="+", action="extend", type=Path, default=[], metavar="FILE",
                        help="laid over config.yaml, as for Snakemake")  # fmt: skip
    parser.set_defaults(run=_reference)


def _reference(options: argparse.Namespace) -> None:
    config = read_config(options.configfile)
    lines = check_lines(config) if options.write is None else write_lines(config, options.write)
    for line in lines:
        print(line, flush=True)


def write_lines(config: Config, papers: Sequence[str] = ()) -> Iterator[str]:
    """Make the set, and say what is in it."""
    place = reference_place()
    entries = write_reference(place, repository(), config, papers)
    yield f"{place.folder}: {in_words(entries)}, {bytes_in(place.folder) / 1e6:.1f} MB"
    for target, reason in read_manifest(place.folder / MANIFEST)["absent"].items():
        yield f"absent: {target}: {reason}"


def in_words(entries: dict[str, Entry]) -> str:
    """
    How many figures and tables.

    >>> in_words({"figures/a.pdf": {}, "results/tables/b.csv": {}, "results/tables/c.csv": {}})
    'figures 1, tables 2'
    """
    kinds = Counter(Path(target).suffix for target in entries)
    return f"figures {kinds['.pdf']}, tables {kinds['.csv']}"


def bytes_in(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


def check_lines(config: Config) -> Iterator[str]:
    """What is not whole or not current; an error at the end unless the set shows the study of today's settings and data."""
    place = reference_place()
    manifest = read_manifest(place.folder / MANIFEST)
    wrong = [*altered_files(place.folder, manifest), *unlisted_targets(manifest, read_listing(place.listing))]
    yield from wrong
    layout = repository()
    found = with_results(changes(manifest, layout, config), manifest, layout)
    outdated = [finding for finding in found if finding.is_outdated]
    yield from (f"out of date: {line}" for line in by_target(outdated))
    code = by_target([finding for finding in found if not finding.is_outdated])
    yield from (f"code has changed since, and only a run can say whether it matters: {line}" for line in code)
    yield f"{place.folder}: {in_words(manifest['results'])}, absent {len(manifest['absent'])}"
    if wrong or outdated:
        raise DataError(f"{place.folder}: not whole or out of date, as listed above. {REMEDY}")
    yield "whole, and of the settings and data of today"


def by_target(found: Sequence[Finding]) -> list[str]:
    """
    A line for each result, with all that was found about it.

    >>> by_target([Finding("figures/a.pdf", "code", "plot_a"), Finding("figures/a.pdf", "code", "draw")])
    ['figures/a.pdf: plot_a; draw']
    """
    texts: dict[str, list[str]] = {}
    for finding in found:
        texts.setdefault(finding.target, []).append(finding.text)
    return [f"{target}: {'; '.join(own)}" for target, own in texts.items()]
