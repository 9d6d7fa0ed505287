"""What every command has in common: loaded when asked for, `--json`, `--quiet`, exit codes, one message for a mistake."""

import argparse
import csv
import json
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from types import MappingProxyType
from typing import Any, TextIO

from genverify.model.errors import DataError, GenverifyError, MissingExtra, naming_disk_errors, naming_missing_extras
from genverify.run.layout import SNAKEFILE, load

DONE, NO, REFUSED, INTERNAL, STOPPED = 0, 1, 2, 70, 130
EXIT_CODES = {
    DONE: "done",
    NO: "done, and the answer is no: what --fail-on names was found",
    REFUSED: "not done, with one message that says why: a mistake in a file or in the command line, a wrong proof",
    INTERNAL: "an error of the program itself; --debug shows where",
    STOPPED: "stopped by Ctrl-C",
}
DEBUG = "GENVERIFY_DEBUG"  # set to anything, it is --debug for every command
# what a terminal, or a program that shows texts from right to left, would obey; half characters, which no file can hold
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
VALUE = re.compile(r"-(?![-\w.]|$)|--=")
WHOLE = re.compile("0|-?[1-9][0-9]*")
TYPES = {"path": Path, "int": int, "float": float}  # of options in commands.toml
Subparsers = Any  # argparse has no public name for what add_subparsers returns


@dataclass(frozen=True)
class Group:
    """Commands that one function adds (`module:function`), with their lines in the help; `study`: about the repository."""

    add: str
    lines: Mapping[str, str]
    study: bool = False
    form: Mapping[str, Any] = field(default_factory=dict)  # of commands.toml: the function runs it, imported only then

    def load(self, commands: Subparsers) -> None:
        if "options" not in self.form:
            load(self.add)(commands)
            return
        (name,) = self.lines
        form = argparse.RawDescriptionHelpFormatter
        parser = commands.add_parser(name, description=self.form.get("about"), formatter_class=form)
        for words, how in self.form["options"].items():
            parser.add_argument(*words.split(), **{key: TYPES.get(value, value) if key == "type" else value
                                                   for key, value in how.items()})  # fmt: skip
        parser.set_defaults(run=lambda options: load(self.add)(options), prints=self.form.get("prints", "text"))


class _Commands(argparse._SubParsersAction):  # type: ignore[type-arg]
    """Commands whose line in the help is that of their group: what adds one need not say it again."""

    lines: Mapping[str, str] = MappingProxyType({})

    def add_parser(self, name: str, **how: Any) -> argparse.ArgumentParser:
        parser: argparse.ArgumentParser = super().add_parser(name, **{"help": self.lines.get(name), **how})
        return parser


def build(parser: argparse.ArgumentParser, groups: Sequence[Group], words: Sequence[str] | None) -> None:
    """Add the commands of the group that the words ask for (without words, all), of the others a line of the help alone."""
    commands: Subparsers = parser.add_subparsers(required=True, metavar="command", dest="command", action=_Commands)
    commands.lines = {name: line for group in groups for name, line in group.lines.items()}
    asked = next((word for word in words or () if not word.startswith("-")), None)
    for group in groups:
        wanted = asked in group.lines
        with suppress(*() if wanted else (MissingExtra, DataError)), naming_missing_extras():
            if words is None or wanted:
                group.load(commands)
        for name in (name for name in group.lines if name not in commands.choices):  # not asked for, or an extra is missing
            commands.add_parser(name)
    for leaf in leaves(commands):
        _share(leaf)


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
    group.add_argument("--debug", action="store_true", help="with an error, show where in the program it arose")
    group.add_argument("-q", "--quiet", action="store_true", help="print only CSV or JSON, and errors")


class _Visible:
    """A stream to which texts from data can be printed: what a terminal would obey is shown as its number instead."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        self.stream.write(visible(text, getattr(self.stream, "encoding", None) or "utf-8"))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def visible(text: str, encoding: str = "utf-8") -> str:
    """
    A text with control characters, and those that the encoding lacks, as numbers: \\u001b, which JSON reads back.

    >>> print(visible("a\\x1b[2Jb"))
    a\\u001b[2Jb
    """
    displayed = UNSEEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    return displayed.encode(encoding, "backslashreplace").decode(encoding)


def run_command(words: Sequence[str], read: Callable[[Sequence[str]], tuple[argparse.Namespace, bool]]) -> int:
    """Run the command that `read` makes of the words, with whether it is about the repository. Every error ends here."""
    command = next((word for word in words if not word.startswith("-")), "")
    options = argparse.Namespace(command=command, json="--json" in words, debug="--debug" in words)
    with redirect_stdout(_Visible(sys.stdout)), redirect_stderr(_Visible(sys.stderr)):
        try:
            with naming_missing_extras(f"genverify {command}"), naming_disk_errors():
                options, study = read(words)
                return _run(options, study)
        except BrokenPipeError:  # the reader (`head`, say) has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return DONE
        except KeyboardInterrupt:
            print("stopped", file=sys.stderr)
            return STOPPED
        except Exception as error:
            return _failed(options, error)


def _failed(options: argparse.Namespace, error: Exception) -> int:
    kind, message, status = type(error).__name__, str(error), REFUSED
    if isinstance(error, MemoryError):
        message = "the memory is not enough for this input; give fewer or smaller tables, or a machine with more memory"
    elif isinstance(error, RecursionError):
        message = "this input is nested too deeply, or holds too much for one search; give fewer or smaller tables"
    elif not isinstance(error, GenverifyError) and not (isinstance(error, OSError) and error.filename):
        message, status = f"{kind}: {message}; nothing was written. With --debug this shows where it arose.", INTERNAL
        kind = "internal error, please report it with the command and, if you may, the file"
    if options.debug or os.environ.get(DEBUG):
        traceback.print_exception(error)
    print(f"{kind}: {message}", file=sys.stderr)
    if options.json:
        print(_document(options.command, {"error": {"kind": kind, "message": message}}), end="")
    return status


def with_values(words: Sequence[str]) -> list[str]:
    """
    The words, with values that begin with a dash tied to their options. argparse takes them for options, though none of ours
    begins so; it does read negative numbers.

    >>> with_values(["disclose", "a.csv", "--mark", "-=0", "--seconds", "-1", "-q"])
    ['disclose', 'a.csv', '--mark=-=0', '--seconds', '-1', '-q']
    """
    result: list[str] = []
    for word in words:
        option = result[-1] if result else ""
        if VALUE.match(word) and option.startswith("--") and "=" not in option:
            result[-1] = f"{option}={word}"
        else:
            result.append(word)
    return result


def _run(options: argparse.Namespace, study: bool) -> int:
    """With --json, what a command printed is one document: JSON as it is, the rows of a CSV, or the lines of a text."""
    held = StringIO()
    out = redirect_stdout(held) if options.json or options.quiet else nullcontext()
    with out, redirect_stderr(StringIO()) if options.quiet else nullcontext():
        try:
            result = options.run(options)
            for line in result if isinstance(result, Iterator) else ():
                print(line, flush=True)
            status = result if isinstance(result, int) else DONE
        except (GenverifyError, FileNotFoundError) as error:
            if not study or SNAKEFILE.exists():
                raise
            why = f"and this is not the folder of the repository (no {SNAKEFILE} is here)"
            said = f"{error}. `genverify {options.command}` looks at the results of a study, {why}"
            raise DataError(said) from None
    text, prints = held.getvalue(), getattr(options, "prints", "text")  # which some commands know only now
    if options.json and prints != "json" and not text.startswith("{"):
        text = _document(options.command, {"rows": _csv_rows(text)} if prints == "csv" else {"lines": text.splitlines()})
    if options.json or prints != "text":
        print(text, end="")
    sys.stdout.flush()
    return status


def _document(command: str, result: Mapping[str, Any]) -> str:
    return json.dumps({"command": command, **result}, indent=1, ensure_ascii=False) + "\n"


def _csv_rows(text: str) -> list[dict[str, Any]]:
    """
    The rows of a CSV; a column of whole numbers alone as numbers, so that codes such as 007 stay texts.

    >>> _csv_rows("row,lower\\n007,3\\n")
    [{'row': '007', 'lower': 3}]
    """
    rows = list(csv.DictReader(StringIO(text)))
    whole = [name for name in (rows[0] if rows else ()) if all(WHOLE.fullmatch(row[name] or "") for row in rows)]
    return [{name: int(value) if name in whole else value for name, value in row.items()} for row in rows]
