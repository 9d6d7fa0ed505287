"""The command `audit`, and where this repository keeps what they look at."""

import argparse
from collections.abc import Generator
from pathlib import Path
from typing import Any

from genverify.core.closed import merge
from genverify.core.errors import DataError
from genverify.core.files import read_yaml
from genverify.run import layout
from genverify.run.config import parse_config, read_shipped
from genverify.run.provenance.audit import audit
from genverify.run.provenance.layout import Layout
from genverify.run.provenance.published import Summary, compare, read_summary, write_summary
from genverify.run.settings import Config

SETTINGS = (".yaml", ".yml", ".json")


def repository() -> Layout:
    """The layout of this repository, seen from its root."""
    stages = [layout.SNAKEFILE, *sorted(layout.STAGES.rglob("*.smk"))]
    made, shown = (str(layout.RESULTS), str(layout.FIGURES)), (layout.FIGURES, layout.TABLES)
    return Layout(made, shown, layout.SOURCES, layout.LOCK, layout.SCRIPTS, stages)


def add_audit(commands: Any) -> None:
    """Add `audit` to the commands."""
    parser = commands.add_parser("audit", help="walk from results back to the raw data; check every file, setting and proof")
    parser.add_argument("results", nargs="*", help="for instance figures/fig3.pdf (default: every figure and table)")
    parser.add_argument("--configfile", nargs="+", action="extend", type=Path, default=[], metavar="FILE",
                        help="laid over config.yaml, as for Snakemake; results come before it")  # fmt: skip
    parser.add_argument("--without-proofs", action="store_true", help="do not check the proofs again (quicker)")
    parser.add_argument(
        "--write", type=Path, metavar="FILE", help="write the digest of the chain with all it covers, to publish"
    )
    parser.add_argument("--against", type=Path, metavar="FILE", help="say what differs from a chain that was published")
    parser.set_defaults(run=_audit)


def read_config(changes: list[Path]) -> Config:
    """The shipped configuration with other files laid over it."""
    text = read_shipped(Path())
    for path in changes:
        if path.suffix not in SETTINGS:
            raise DataError(
                f"--configfile {path}: not a file of settings. Name results first: genverify audit {path} --configfile ..."
            )
        text = merge(text, read_yaml(path))
    return parse_config(text)


def _audit(options: argparse.Namespace) -> None:
    published = read_summary(options.against) if options.against else None
    config = read_config(options.configfile)
    summary = _printed(audit(repository(), config, options.results, not options.without_proofs))
    if options.write:
        write_summary(summary, options.write)
        print(f"written: {options.write}")
    if published:
        for line in compare(summary, published, options.against):
            print(line, flush=True)


def _printed(lines: Generator[str, None, Summary]) -> Summary:
    """Print the lines as they come; what the audit returns."""
    while True:
        try:
            print(next(lines), flush=True)
        except StopIteration as end:
            found: Summary = end.value
            return found
