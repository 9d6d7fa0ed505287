"""The command line. The commands stand in run/parsers.py, what they share in run/shell.py."""

import sys
from collections.abc import Sequence

from genverify.core.extras import MissingExtra, naming_missing_extras
from genverify.run.parsers import GROUPS, parser
from genverify.run.shell import refuse, run_command, with_values


def main(words: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; `genverify --help` lists them."""
    words = sys.argv[1:] if words is None else [str(word) for word in words]
    words = with_values(words)
    try:
        with naming_missing_extras(f"genverify {' '.join(words[:1])}"):
            options = parser(words).parse_args(words)
    except MissingExtra as error:
        return refuse(error, words[0], "--json" in words)
    group = next(group for group in GROUPS if options.command in (*group.lines, *group.aliases))
    return run_command(options, group.study)
