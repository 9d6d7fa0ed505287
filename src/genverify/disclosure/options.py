"""The options of `disclose`: what each applies to, its default, and what is nonsense; for the command and for Python."""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

from genverify.disclosure.audit_value import DIALECTS, read_fail_on
from genverify.model.errors import ConfigError, nearest
from genverify.model.files import LIMITS

TABLES, RECORDS, CHECK = "printed tables", "a release file of records or counts", "--check"
BOTH = (TABLES, RECORDS)
ANY = (*BOTH, CHECK)
GROUPS = {
    (TABLES,): f"only for {TABLES} (.xlsx, .ods, .csv, .px, JSON-stat, SDMX-CSV, .rds, tau-Argus, acro, folders, readings)",
    (TABLES, CHECK): f"only for {TABLES}; with --check, where the folder of results does not say it",
    (RECORDS,): f"only for {RECORDS}",
    BOTH: f"for {TABLES} and for {RECORDS}",
    ANY: "for both, and with --check",
}


@dataclass(frozen=True)
class Option:
    """An option: its names, what it applies to, its help, the value where it is not given, and what refuses nonsense."""

    name: str
    applies: tuple[str, ...]
    help: str
    default: Any = None
    valid: Callable[[Any], object] = lambda given: None
    how: Mapping[str, Any] = field(default_factory=dict)
    old: tuple[str, ...] = ()  # former names, which keep working

    @property
    def value(self) -> str:
        return self.name.removeprefix("--").replace("-", "_")

    def words(self, given: Any) -> Any:
        """A value from Python as the command line has it: a mapping or one text where there may be several."""
        if self.how.get("action") != "append" or given is None:
            return Path(given) if self.how.get("type") is Path and given is not None else given
        if isinstance(given, Mapping):
            return [f"{name}={value}" for name, value in given.items()]
        return [given] if isinstance(given, str) else list(given)


def pairs(words: Sequence[str], option: str) -> dict[str, str]:
    """What A=B says, of every word; the first character of A may be = itself."""
    result: dict[str, str] = {}
    for word in words:
        name, equals, value = (word[:1] + word[1:].partition("=")[0], *word[1:].partition("=")[1:]) if word else ("", "", "")
        if not equals or not value:
            raise ConfigError(f"--{option} {word}: write two parts with = between them")
        if result.setdefault(name, value) != value:
            raise ConfigError(f"--{option} {word}: {name!r} was {result[name]!r} before; give it once")
    return result


def _symbols(words: Sequence[str]) -> None:
    from genverify.reading.symbols import told_symbol

    for symbol, meaning in pairs(words, "symbol").items():
        told_symbol(symbol, meaning)


def _reader(option: str) -> Callable[[Any], object]:
    """The function that will read the value of an option: imported when a value is given."""

    def valid(given: Any) -> object:
        from genverify.disclosure.intervals import read_rules
        from genverify.disclosure.link import check_facts, read_rule

        return {"rule": read_rule, "fact": check_facts, "sensitive": read_rules, "fail-on": read_fail_on}[option](given)

    return valid


def _two_parts(name: str) -> Callable[[Sequence[str]], object]:
    return lambda words: pairs(words, name)


def _from(least: int, name: str, what: str) -> Callable[[float], None]:
    def valid(number: float) -> None:
        if not (isfinite(number) and number >= least):
            raise ConfigError(f"--{name} {number}: give {what} from {least}")

    return valid


_PAIR = {"action": "append", "metavar": "A=B"}
_LABEL = {"action": "append", "metavar": "LABEL"}
_COLUMNS = {"action": "append", "metavar": "C,D"}
_RULE = {"action": "append", "metavar": "RULE"}
_FILE = {"type": Path, "metavar": "FILE"}
_NUMBER = {"type": int, "metavar": "N"}
_FLAG = {"action": "store_true", "default": None}
OPTIONS = (
    Option("--symbol", (TABLES, CHECK), "what a symbol means, e.g. '*=suppressed', '*=1-4', '-=0', 'blank=suppressed'", (),
           _symbols, _PAIR, ("--mark",)),
    Option("--sheet", (TABLES, CHECK), "read this sheet only", (), how={"action": "append", "metavar": "NAME"}),
    Option("--labels", (TABLES, CHECK), "columns (letters or headers) that hold labels", (), how=_COLUMNS),
    Option("--counts", (TABLES, CHECK), "columns that hold counts", (), how=_COLUMNS),
    Option("--skip", (TABLES, CHECK), "rows and columns that are not read, e.g. 59,C", (), how=_COLUMNS),
    Option("--period", (TABLES, CHECK), "the period of a table that does not name it", "", how={"metavar": "TEXT"}),
    Option("--rule", (TABLES, CHECK), "how numbers were treated: round=5, random=3, random-nonzero=3, midpoint=6, key=2, "
           "suppress=5", (), _reader("rule"), _RULE),
    Option("--total", (TABLES, CHECK), "the label that is the total of a column, e.g. 'sex=Both sexes'", (),
           _two_parts("total"), _PAIR),
    Option("--no-total", (TABLES, CHECK), "a label that is no total although its name may say so", (), how=_LABEL),
    Option("--total-from", (TABLES, CHECK), "the total stands in another file: other.csv:LABEL", (),
           how={"action": "append", "metavar": "FILE:LABEL"}),
    Option("--tolerance", (TABLES, CHECK), "how far a printed total may be from the sum of its parts", 0,
           _from(0, "tolerance", "a whole number"), _NUMBER),
    Option("--label", (TABLES, CHECK), "a label or a header that looks like a symbol of a count, e.g. '<1'", (), how=_LABEL),
    Option("--decimal", (TABLES, CHECK), "the decimal sign, where the numbers do not tell it", how={"choices": (".", ",")}),
    Option("--same-people", (TABLES, CHECK), "tables of several periods count the same people", False, how=_FLAG),
    Option("--hierarchy", (TABLES, CHECK), "a .hrc file for a column, e.g. 'industry=nace.hrc'", (),
           _two_parts("hierarchy"), _PAIR),
    Option("--inside", (TABLES, CHECK), "a table counts some of the people of another: SMALL=LARGE", (),
           _two_parts("inside"), _PAIR),
    Option("--fact", (TABLES, CHECK), "a fact beside the counts, e.g. 'sex=f >= 3'", (), _reader("fact"),
           {"action": "append", "metavar": "TEXT"}),
    Option("--contributions", (TABLES,), "CSV with labels, contributor and value of every contribution, for magnitude "
           "tables", how=_FILE),
    Option("--sensitive", (TABLES,), "a rule for contributions: dominance=2,80 or p=10 or contributors=3", (),
           _reader("sensitive"), _RULE),
    Option("--write", (TABLES,), "save what was understood as a reading file, to be corrected", how=_FILE),
    Option("--seconds", (TABLES, CHECK), "processor seconds for ranges", 120.0, _from(0, "seconds", "a number of seconds"),
           {"type": float}),
    Option("--cells", (RECORDS,), "only print the cells that the file describes, as a CSV to fill in", False, how=_FLAG),
    Option("--search-seconds", BOTH, "processor seconds for secondary suppressions (60, or as the release says)", None,
           _from(0, "search-seconds", "a number of seconds"), {"type": float}),
    Option("--dialect", BOTH, "status codes in cells.csv", "plain", how={"choices": tuple(DIALECTS)}),
    Option("--fail-on", BOTH, "exit with 1 for: exact, range<3, singled-out", None, _reader("fail-on"), {"metavar": "WHAT"}),
    Option("--allow-partial", BOTH, "go on without what stays open or is left out of the reading: nothing is then called "
           "safe, and with --fail-on it is no reason to fail", False, how=_FLAG),
    Option("--max-rows", ANY, f"rows that the data may hold ({LIMITS.rows:,})", None,
           _from(1, "max-rows", "a whole number"), _NUMBER),
    Option("--max-bytes", ANY, f"its bytes when unpacked ({LIMITS.size:,})", None, _from(1, "max-bytes", "a whole number"),
           _NUMBER),
    Option("--out", ANY, "folder of the results (a folder `audit` beside the tables or the release file)",
           how={"type": Path}),
    Option("--json", ANY, "print the answer as JSON, and nothing else", False, how=_FLAG),
    Option("--check", ANY, "only check the folder of results: read the tables again, check the proofs, compare all that is "
           "shown; nothing is written", False, how=_FLAG),
)  # fmt: skip


def add_options(parser: argparse.ArgumentParser) -> None:
    """Every option in the group of what it applies to; none has a default yet, so that it is known which are given."""
    groups = {applies: parser.add_argument_group(title) for applies, title in GROUPS.items()}
    for option in OPTIONS:
        default = f" ({option.default})" if option.default else ""
        groups[option.applies].add_argument(option.name, *option.old, help=f"{option.help}{default}", **option.how)


def settle(given: Mapping[str, Any], kind: str) -> argparse.Namespace:
    """All options with their values; an error for one that does not apply to this kind of work, and for nonsense."""
    known = {option.value: option for option in OPTIONS}
    for name in given:
        if name not in known:
            raise ConfigError(f"unknown option {name}: {nearest(name, list(known))}")
    result = argparse.Namespace()
    for option in OPTIONS:
        value = option.words(given.get(option.value))
        if value is not None and kind not in option.applies:
            what = " and ".join(option.applies)
            raise ConfigError(f"{option.name} applies to {what}, not to {kind}; leave it out")
        if value is not None:
            option.valid(value)
        setattr(result, option.value, option.default if value is None else value)
    if (result.contributions is None) != (not result.sensitive):
        raise ConfigError("--contributions and --sensitive go together: the contributions, and the rule for them")
    return result
