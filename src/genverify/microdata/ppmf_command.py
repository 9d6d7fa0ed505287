"""The command `check-ppmf`."""

import argparse
from pathlib import Path
from typing import Any


def add_parser(commands: Any) -> None:
    """Add `check-ppmf` to the commands."""
    layout = commands.add_parser("check-ppmf", help="check a PPMF file against the layout that is read")
    layout.add_argument("file", type=Path, help="the unit or the person file (.csv, .txt, .gz or .zip)")
    layout.add_argument("--persons", action="store_true", help="it is the person file")
    layout.add_argument("--rows", type=int, default=1_000_000, metavar="N", help="rows that are read (%(default)s; 0: all)")
    layout.add_argument("--domain", type=Path, help="columns and codes (as config.yaml names them)")
    layout.set_defaults(run=_check_ppmf)


def _check_ppmf(options: argparse.Namespace) -> None:
    from genverify.microdata.ppmf_check import check_layout
    from genverify.microdata.settings import Microdata, Persons
    from genverify.run.config import parse_config, read_shipped
    from genverify.run.settings import section

    config = parse_config(read_shipped(Path()))
    shipped = section(config, Persons).domain if options.persons else section(config, Microdata).domain
    for line in check_layout(options.file, options.domain or Path(shipped), options.persons, options.rows):
        print(line)
