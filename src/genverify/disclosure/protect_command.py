"""The command `protect`: tables in, a protected release with its certificate out."""

import argparse
from pathlib import Path
from typing import Any

from genverify.disclosure.disclose_command import OPTIONS, TABLES
from genverify.model.errors import ConfigError

LEFT_OUT = {"--rule", "--sensitive", "--write", "--out", "--json", "--check", "--fail-on", "--dialect", "--search-seconds"}


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to the command line; tables are read as `disclose` reads them."""
    parser = commands.add_parser(
        "protect",
        help="make tables safe: suppress cells at the least cost, or round, with a certificate of protection",
        description="Which cells must not be known, and what to suppress so that they are not. The protected tables, in the "
        "format that came in, and a certificate of it are written to a folder; `genverify check` checks it.",
    )
    parser.add_argument("tables", type=Path, nargs="+", help="files of tables, or a folder")
    parser.add_argument("--rule", required=True, metavar="RULE", help="sensitive cells: 'minimum 5' (1 to 4), 'cells "
                        "FILE.csv'; with --contributions: 'p 10', 'dominance 2 80', 'contributors 3'")  # fmt: skip
    parser.add_argument("--width", type=int, default=1, metavar="N", help="two possible counts of a sensitive cell are "
                        "at least so far apart (%(default)s)")  # fmt: skip
    parser.add_argument("--cost", default="1", help="of a suppressed cell: 1, count, log, or a CSV with columns cell "
                        "and cost (%(default)s: the fewest cells)")  # fmt: skip
    parser.add_argument("--method", choices=("suppress", "round"), default="suppress", help="round: controlled rounding")
    parser.add_argument("--base", type=int, default=5, metavar="N", help="of rounding (%(default)s)")
    parser.add_argument("--out", type=Path, default=Path("safe"), help="folder of the protected release (%(default)s)")
    for option in _reading_options():
        parser.add_argument(option.name, *option.old, help=option.help, **option.how)
    parser.set_defaults(run=run_protect)


def _reading_options() -> list[Any]:
    return [option for option in OPTIONS if TABLES in option.applies and option.name not in LEFT_OUT]


def run_protect(options: argparse.Namespace) -> None:
    """Protect the tables, write the folder, and say what was done."""
    from genverify.disclosure.sources import protect_tables

    given = {option.value: getattr(options, option.value) for option in _reading_options()}
    asked = {name: getattr(options, name) for name in ("width", "cost", "method", "base")}
    if any(path.resolve() == options.out.resolve() for path in options.tables):
        raise ConfigError(f"--out {options.out}: the tables are read from there; give another folder")
    given = {name: value for name, value in given.items() if value is not None}
    audit = protect_tables(options.tables, options.out, options.rule, **asked, **given)
    for line in audit.protected_by.lines() if audit.protected_by else ():
        print(line)
    for line in audit.lines():
        print(line)
    print(f"{options.out}/tables: publish these. The other files name the sensitive cells: they are for the office.")
