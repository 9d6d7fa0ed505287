"""What every command has in common: loaded when asked for, `--json`, `--quiet`, exit codes, one message for a mistake."""

import argparse
import csv
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, nullcontext, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from importlib import import_module
from io import StringIO
from typing import Any

from genverify.core.errors import DataError, GenverifyError, naming_disk_errors
from genverify.core.extras import MissingExtra, naming_missing_extras
from genverify.run.layout import SNAKEFILE

DONE, NO, USAGE, STOPPED = 0, 1, 2, 130
EXIT_CODES = {
    DONE: "done",
    NO: "not done, with one message that says why; or the answer is no (a wrong proof, what --fail-on names)",
    USAGE: "the command line cannot be read: an unknown command or option",
    STOPPED: "stopped by Ctrl-C",
}
VALUE = re.compile(r"-(?![-\w.]|$)|--=")
Subparsers = Any  # argparse has no public name for what add_subparsers returns


@dataclass(frozen=True)
class Group:
    """Commands that one function adds (`module:function`), with their lines in the help; `study`: about the repository."""

    add: str
    lines: Mapping[str, str]
    aliases: Mapping[str, str] = field(default_factory=dict)
    study: bool = False

    def load(self, commands: Subparsers) -> bool:
        module, _, function = self.add.partition(":")
        getattr(import_module(module), function)(commands)
        return True


def build(parser: argparse.ArgumentParser, groups: Sequence[Group], words: Sequence[str] | None) -> Subparsers:
    """
    Add the commands: those of the group that the words ask for, the others as a line of the help alone; without words, all.

    Nothing is imported that is not asked for, so that `--help` is quick and a missing extra troubles only who needs it.
    """
    commands = parser.add_subparsers(required=True, metavar="command", dest="command")
    asked = next((word for word in words or () if not word.startswith("-")), None)
    for group in groups:
        wanted = asked in group.lines or asked in group.aliases
        try:
            with naming_missing_extras():
                loaded = (words is None or wanted) and group.load(commands)
        except MissingExtra:
            if wanted:
                raise
            loaded = False
        if not loaded:
            for name, line in group.lines.items():
                commands.add_parser(name, help=line)
    for own in leaves(commands):
        _share(own)
    return commands


def leaves(commands: Subparsers) -> Iterator[argparse.ArgumentParser]:
    """The parsers of all commands, and of commands inside commands, once each."""
    for parser in dict.fromkeys(commands.choices.values()):
        inside = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
        for one in inside:
            yield from leaves(one)
        if not inside:
            yield parser


def _share(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("every command")
    if "--json" not in parser._option_string_actions:
        group.add_argument("--json", action="store_true", help="print what was found as one JSON document")
    group.add_argument("-q", "--quiet", action="store_true", help="no talk and no progress: only CSV or JSON, and errors")


def run_command(options: argparse.Namespace, study: bool) -> int:
    """Run a command; a mistake ends in one message on the standard error, and with --json in a document too."""
    try:
        with naming_missing_extras(f"genverify {options.command}"), naming_disk_errors():
            return _finish(options, *_output(options, study))
    except GenverifyError as error:
        return refuse(error, options.command, options.json)
    except BrokenPipeError:  # the reader (`head`, say) has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return STOPPED


def refuse(error: GenverifyError, command: str, as_json: bool) -> int:
    """Say what went wrong, in one message, and with --json in a document too; the exit code."""
    print(f"{type(error).__name__}: {error}", file=sys.stderr)
    if as_json:
        print(_document(command, {"error": {"kind": type(error).__name__, "message": str(error)}}), end="")
    return NO


def with_values(words: Sequence[str]) -> list[str]:
    """
    The words, with values that begin with a dash tied to their options. argparse takes them for options, though none of ours
    begins so; it does read negative numbers.

    >>> with_values(["disclose", "a.csv", "--mark", "-=0", "--seconds", "-1", "-q"])
    ['disclose', 'a.csv', '--mark=-=0', '--seconds', '-1', '-q']
    """
    found: list[str] = []
    for word in words:
        option = found[-1] if found else ""
        if VALUE.match(word) and option.startswith("--") and "=" not in option:
            found[-1] = f"{option}={word}"
        else:
            found.append(word)
    return found


def _output(options: argparse.Namespace, study: bool) -> tuple[int, str]:
    """The exit code, and what the command printed where it is held back: with --json and --quiet."""
    held = StringIO() if options.json or options.quiet else None
    with ExitStack() as stack:
        stack.enter_context(redirect_stdout(held) if held else nullcontext())
        stack.enter_context(redirect_stderr(StringIO()) if options.quiet else nullcontext())
        status = int(_in_place(options, study) or DONE)
    return status, held.getvalue() if held else ""


def _in_place(options: argparse.Namespace, study: bool) -> int | None:
    """Run; what goes wrong with a command about the repository outside it is said to be so."""
    if not study or SNAKEFILE.exists():
        status: int | None = options.run(options)
        return status
    try:
        return options.run(options)  # type: ignore[no-any-return]
    except (GenverifyError, FileNotFoundError) as error:
        raise DataError(
            f"{error}. `genverify {options.command}` looks at the results of a study, and this is not the folder of the "
            f"repository (no {SNAKEFILE} is here)"
        ) from None


def _finish(options: argparse.Namespace, status: int, text: str) -> int:
    prints = getattr(options, "prints", "text")
    if options.json or prints != "text":
        print(_as_json(options, text, prints) if options.json else text, end="")
    sys.stdout.flush()
    return status


def _as_json(options: argparse.Namespace, text: str, prints: str) -> str:
    """What a command printed as one document: JSON as it is, the rows of a CSV, or the lines of a text."""
    if prints == "json" or text.startswith("{"):
        return text
    return _document(options.command, {"rows": csv_rows(text)} if prints == "csv" else {"lines": text.splitlines()})


def _document(command: str, found: Mapping[str, Any]) -> str:
    return json.dumps({"command": command, **found}, indent=1, ensure_ascii=False) + "\n"


def csv_rows(text: str) -> list[dict[str, Any]]:
    """
    The rows of a CSV; a column of whole numbers alone as numbers, so that codes such as 007 stay texts.

    >>> csv_rows("row,lower\\n007,3\\n")
    [{'row': '007', 'lower': 3}]
    """
    rows = list(csv.DictReader(StringIO(text)))
    whole = [name for name in (rows[0] if rows else ()) if all(_is_whole(row[name]) for row in rows)]
    return [{name: int(value) if name in whole else value for name, value in row.items()} for row in rows]


def _is_whole(text: str | None) -> bool:
    return bool(text) and str(text).removeprefix("-").isdecimal() and str(int(str(text))) == text
