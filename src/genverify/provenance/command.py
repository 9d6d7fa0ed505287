"""The command `audit`, and where this repository keeps what it looks at."""

import argparse
from pathlib import Path
from typing import Any

from genverify.config import merge, parse_config
from genverify.provenance.audit import audit
from genverify.provenance.layout import Layout
from genverify.settings import Config
from genverify.textfiles import read_yaml


def repository() -> Layout:
    """The layout of this repository, seen from its root."""
    stages = [Path("Snakefile"), *sorted(Path("workflow").glob("*.smk"))]
    results, figures = Path("results"), Path("figures")
    lock, sources = Path("envs") / "requirements.lock", Path("data") / "sources.csv"
    return Layout((str(results), str(figures)), (figures, results / "tables"), sources, lock, Path("scripts"), stages)


def add_parser(commands: Any) -> None:
    """Add `audit` to the commands."""
    parser = commands.add_parser("audit", help="walk from results back to the raw data; check every file, setting and proof")
    parser.add_argument("results", nargs="*", help="for instance figures/fig3.pdf (default: every figure and table)")
    parser.add_argument("--configfile", nargs="+", action="extend", type=Path, default=[], metavar="FILE",
                        help="laid over config.yaml, as for Snakemake")  # fmt: skip
    parser.add_argument("--without-proofs", action="store_true", help="do not check the proofs again (quicker)")
    parser.set_defaults(run=_audit)


def read_config(changes: list[Path]) -> Config:
    """config.yaml with other files laid over it."""
    text = read_yaml(Path("config.yaml"))
    for path in changes:
        text = merge(text, read_yaml(path))
    return parse_config(text)


def _audit(options: argparse.Namespace) -> None:
    for line in audit(repository(), read_config(options.configfile), options.results, not options.without_proofs):
        print(line, flush=True)
