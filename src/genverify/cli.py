"""The command line. The commands stand in run/parsers.py, what they share in run/shell.py."""

import sys
from collections.abc import Sequence

from genverify.run.parsers import groups, parser
from genverify.run.shell import run_command


def main(words: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; `genverify --help` lists them."""
    words = sys.argv[1:] if words is None else [str(word) for word in words]
    options = parser(words).parse_args(words)
    group = next(group for group in groups() if options.command in (*group.lines, *group.aliases))
    return run_command(options, group.study)
