"""The command `excluded`."""

import argparse
from pathlib import Path
from typing import Any

from genverify.run.layout import STUDY


def add_parser(commands: Any) -> None:
    """Add `excluded` to the commands."""
    excluded = commands.add_parser("excluded", help="say which counts of records of a block cannot exist")
    excluded.add_argument("block", help="15-digit GEOID of the block")
    excluded.add_argument("claim", help="for instance TEN=3,HHSIZE=1 (m is not needed)")
    excluded.add_argument("--study", type=Path, default=STUDY, help="results of a variant (%(default)s)")
    excluded.set_defaults(run=_excluded)


def _excluded(options: argparse.Namespace) -> None:
    from genverify.papers.gtv.excluded.multiplicities import say_excluded

    for line in say_excluded(options.study, options.block, options.claim):
        print(line)
