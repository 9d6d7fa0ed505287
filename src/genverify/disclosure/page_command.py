"""The command `page`: write the page that works offline, one HTML file, to where it is wanted."""

import argparse
import shutil
from pathlib import Path
from typing import Any

from genverify.core.errors import ConfigError

PAGE = Path(__file__).with_name("page.html")
NAME = Path("genverify.html")


def add_parser(commands: Any) -> None:
    """Register the command."""
    parser = commands.add_parser(
        "page",
        help="write the page that audits a table in a browser, without a network",
        description="One HTML file: paste a table, and read what it gives away, with proofs checked in the browser.",
    )
    parser.add_argument("to", type=Path, nargs="?", default=NAME, metavar="FILE", help="where to (%(default)s)")
    parser.add_argument("--force", action="store_true", help="replace a file that is there")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Write the page; a file that is there stays, unless told otherwise."""
    to = options.to / NAME if options.to.is_dir() else options.to
    if to.exists() and not options.force:
        raise ConfigError(f"{to} is there already; --force replaces it")
    shutil.copyfile(PAGE, to)
    print(f"{to}: open it in a browser; it needs no network")
