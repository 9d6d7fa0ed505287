"""The command line. The commands stand in run/cli/commands.py, what they share in run/cli/shell.py."""

import argparse
import sys
from collections.abc import Sequence

from genverify.run.cli.commands import groups, parser, with_new_name
from genverify.run.cli.shell import run_command, with_values


def main(words: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; `genverify --help` lists them."""
    given = sys.argv[1:] if words is None else [str(word) for word in words]
    return run_command(with_values(with_new_name(given)), _read)


def _read(words: Sequence[str]) -> tuple[argparse.Namespace, bool]:
    options = parser(words).parse_args(words)
    return options, next(group.study for group in groups() if options.command in group.lines)
