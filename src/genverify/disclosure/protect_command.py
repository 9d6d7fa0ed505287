"""The commands `protect` and `what-if`: tables in, a protected release with its certificate out; protections compared."""

import argparse
from pathlib import Path
from typing import Any

import yaml

from genverify.disclosure.disclose_command import OPTIONS, TABLES, result_folder
from genverify.model.errors import ConfigError
from genverify.model.files import written_folder
from genverify.model.tablefiles import neutral_frame
from genverify.model.work import log

LEFT_OUT = {"--rule", "--sensitive", "--write", "--out", "--json", "--check", "--fail-on", "--dialect", "--search-seconds"}
READING = [option for option in OPTIONS if TABLES in option.applies and option.name not in LEFT_OUT]  # as `disclose` reads
ASKED = ("width", "cost", "base")


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the commands to the command line; tables are read as `disclose` reads them."""
    parser = commands.add_parser(
        "protect",
        help="make tables safe: suppress cells at the least cost, round or merge, with a certificate of protection",
        description="Which cells must not be known, and what to suppress so that they are not. The protected tables, in the "
        "format that came in, and a certificate of it are written to a folder; `genverify check` checks it.",
    )
    parser.add_argument("tables", type=Path, nargs="+", help="files of tables, or a folder")
    parser.add_argument("--method", choices=("suppress", "round", "merge"), default="suppress",
                        help="round: controlled rounding; merge: neighbouring categories become one")  # fmt: skip
    parser.add_argument("--out", type=Path, default=Path("safe"), help="folder of the protected release (%(default)s)")
    _add_asked(parser, required=True)
    parser.set_defaults(run=run_protect)
    tried = commands.add_parser(
        "what-if", help="compare the protections that a release file lists, or the usual ones; for tables too"
    )
    tried.add_argument("release", type=Path, nargs="+", help="a release file (YAML), see examples/; or tables, with --rule")
    tried.add_argument("--out", type=Path, help="folder of the results (default: a folder `audit` next to the release file)")
    _add_asked(tried, required=False)
    tried.set_defaults(run=run_what_if, prints="csv")


def _add_asked(parser: argparse.ArgumentParser, required: bool) -> None:
    parser.add_argument("--rule", required=required, metavar="RULE", help="sensitive cells: 'minimum 5' (1 to 4), 'cells "
                        "FILE.csv'; with --contributions: 'p 10', 'dominance 2 80', 'contributors 3'")  # fmt: skip
    parser.add_argument("--width", type=int, default=1, metavar="N", help="two possible counts of a sensitive cell are "
                        "at least so far apart (%(default)s)")  # fmt: skip
    parser.add_argument("--cost", default="1", help="of a suppressed cell: 1, count, log, or a CSV with columns cell "
                        "and cost (%(default)s: the fewest cells)")  # fmt: skip
    parser.add_argument("--base", type=int, default=5, metavar="N", help="of rounding (%(default)s)")
    for option in READING:
        parser.add_argument(option.name, *option.old, help=option.help, **option.how)


def _given(options: argparse.Namespace) -> dict[str, Any]:
    given = {option.value: value for option in READING if (value := getattr(options, option.value)) is not None}
    return {**given, **{name: getattr(options, name) for name in ASKED}}


def run_protect(options: argparse.Namespace) -> None:
    """Protect the tables, write the folder, and say what was done."""
    from genverify.disclosure.sources import protect_tables

    if any(path.resolve() == options.out.resolve() for path in options.tables):
        raise ConfigError(f"--out {options.out}: the tables are read from there; give another folder")
    audit = protect_tables(options.tables, options.out, options.rule, method=options.method, **_given(options))
    for line in audit.protected_by.lines(bool(audit.left_out)) if audit.protected_by else ():
        print(line)
    for line in audit.lines():
        print(line)
    print(f"{options.out}/tables: publish these. The other files name the sensitive cells: keep them confidential.")


def run_what_if(options: argparse.Namespace) -> None:
    """Try the protections that a release lists, or else the usual ones, and print the table."""
    from genverify.disclosure.record_protection import compare_protections, impossible_pairs
    from genverify.disclosure.release_data import describe
    from genverify.disclosure.sources import attack_of, kind_of, limits_of
    from genverify.disclosure.whatif import (
        compare_tables,
        plot_compared_tables,
        what_if,
        write_comparison,
        write_what_if,
    )  # fmt: skip

    first, folder = options.release[0], result_folder(options.release[0], options.out)
    if kind_of(options.release) == TABLES:
        if options.rule is None:
            raise ConfigError("what-if of printed tables needs --rule, which says what is sensitive, such as 'minimum 5'")
        result = compare_tables(options.release, options.rule, **_given(options))
        with written_folder(folder, "what-if") as part:
            write_comparison(result, lambda: plot_compared_tables(result, first.name), part)
        print(neutral_frame(result).to_csv(index=False), end="")
        return
    if options.rule is not None or len(options.release) > 1:
        raise ConfigError("what-if of a release file takes that file alone; --rule and reading options are for tables")
    described = describe(first, limits_of(options))
    attack, k = attack_of(described), described.form.search.k
    result = (what_if if described.form.protect else compare_protections)(described, attack, k)
    with written_folder(folder, "what-if") as part:
        write_what_if(result, described, part)
    print(neutral_frame(result).to_csv(index=False), end="")
    if rules := impossible_pairs(described):
        log.info("No record has these combinations, though chance alone would give ten or more. If nobody can, add rules:")
        log.info("%s", yaml.safe_dump({"rules": [rule.model_dump() for rule in rules]}, sort_keys=False, width=125).rstrip())
