"""The options of `disclose`: what each applies to, its default, and what is nonsense; the help and the check of both."""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

from genverify.core.errors import ConfigError
from genverify.core.limits import LIMITS

DIALECTS = ("plain", "sdctable", "sbs", "argus")
TABLES, RECORDS, CHECK = "printed tables", "a release file of records or counts", "--check"
BOTH = (TABLES, RECORDS)
ANY = (*BOTH, CHECK)
GROUPS = {
    (TABLES,): f"only for {TABLES} (.xlsx, .csv, .px, JSON-stat, SDMX-CSV, .rds, tau-Argus, acro, or a folder)",
    (TABLES, CHECK): f"only for {TABLES}; with --check, where the folder of results does not say it",
    (RECORDS,): f"only for {RECORDS}",
    BOTH: f"for {TABLES} and for {RECORDS}",
    ANY: "for both, and with --check",
}


@dataclass(frozen=True)
class Option:
    """An option: its name, what it applies to, its help, the value where it is not given, and what refuses nonsense."""

    name: str
    applies: tuple[str, ...]
    help: str
    default: Any = None
    valid: Callable[[Any], object] = lambda given: None
    how: Mapping[str, Any] = field(default_factory=dict)

    @property
    def value(self) -> str:
        return self.name.removeprefix("--").replace("-", "_")


def pairs(words: Sequence[str], option: str) -> dict[str, str]:
    """What A=B says, of every word; the first character of A may be = itself."""
    found: dict[str, str] = {}
    for word in words:
        name, equals, value = (word[:1] + word[1:].partition("=")[0], *word[1:].partition("=")[1:]) if word else ("", "", "")
        if not equals or not value:
            raise ConfigError(f"--{option} {word}: write two parts with = between them")
        if found.setdefault(name, value) != value:
            raise ConfigError(f"--{option} {word}: {name!r} was {found[name]!r} before; give it once")
    return found


def _marks(words: Sequence[str]) -> None:
    from genverify.disclosure.marks import meaning_of

    for mark, meaning in pairs(words, "mark").items():
        meaning_of(meaning, f"--mark {mark}")


def _rules(words: Sequence[str]) -> None:
    from genverify.disclosure.marks import read_rule

    read_rule(words)


def _facts(words: Sequence[str]) -> None:
    from genverify.disclosure.facts import check_facts

    check_facts(words)


def _sensitive(words: Sequence[str]) -> None:
    from genverify.disclosure.contributions import read_rules

    read_rules(words)


def _fail_on(text: str) -> None:
    from genverify.disclosure.answer import read_fail_on

    read_fail_on(text)


def _seconds(name: str) -> Callable[[float], None]:
    def valid(seconds: float) -> None:
        if not (isfinite(seconds) and seconds >= 0):
            raise ConfigError(f"--{name} {seconds}: give a number of seconds from 0")

    return valid


def _from_one(name: str) -> Callable[[int], None]:
    def valid(number: int) -> None:
        if number < 1:
            raise ConfigError(f"--{name} {number}: give a whole number from 1")

    return valid


_PAIR = {"action": "append", "metavar": "A=B"}
_LABEL = {"action": "append", "metavar": "LABEL"}
_FLAG = {"action": "store_true", "default": None}
OPTIONS = (
    Option("--mark", (TABLES, CHECK), "what a mark means, e.g. '*=suppressed', '*=1-4', '-=0', 'blank=suppressed'", (),
           _marks, _PAIR),
    Option("--rule", (TABLES, CHECK), "how numbers were treated: round=5, random=3, random-nonzero=3, midpoint=6, key=2, "
           "suppress=5", (), _rules, {"action": "append", "metavar": "RULE"}),
    Option("--total", (TABLES, CHECK), "the label that is the total of a column, e.g. 'sex=Both sexes'", (),
           lambda given: pairs(given, "total"), _PAIR),
    Option("--no-total", (TABLES, CHECK), "a label that is no total although its name may say so", (), how=_LABEL),
    Option("--label", (TABLES, CHECK), "a label or a header that looks like a symbol for a count, e.g. '<1'", (),
           how=_LABEL),
    Option("--decimal", (TABLES, CHECK), "the decimal sign, where the numbers do not tell it",
           how={"choices": (".", ",")}),
    Option("--same-people", (TABLES, CHECK), "tables of several periods count the same people", False, how=_FLAG),
    Option("--hierarchy", (TABLES, CHECK), "a .hrc file for a column, e.g. 'industry=nace.hrc'", (),
           lambda given: pairs(given, "hierarchy"), _PAIR),
    Option("--inside", (TABLES, CHECK), "a table counts some of the people of another: SMALL=LARGE", (),
           lambda given: pairs(given, "inside"), _PAIR),
    Option("--fact", (TABLES, CHECK), "a fact beside the counts, e.g. 'sex=f >= 3'", (), _facts,
           {"action": "append", "metavar": "TEXT"}),
    Option("--contributions", (TABLES,), "CSV with labels, contributor and value of every contribution, for magnitude "
           "tables", how={"type": Path, "metavar": "FILE"}),
    Option("--sensitive", (TABLES,), "a rule for contributions: dominance=2,80 or p=10 or contributors=3", (), _sensitive,
           {"action": "append", "metavar": "RULE"}),
    Option("--dialect", (TABLES,), "status codes in cells.csv", "plain", how={"choices": DIALECTS}),
    Option("--write", (TABLES,), "save what was understood as a release file, to be corrected",
           how={"type": Path, "metavar": "FILE"}),
    Option("--seconds", (TABLES, CHECK), "limit of the search for ranges", 120.0, _seconds("seconds"), {"type": float}),
    Option("--search-seconds", (TABLES,), "limit of the search for cells to withhold", 60.0, _seconds("search-seconds"),
           {"type": float}),
    Option("--cells", (RECORDS,), "only print the cells that the file describes, as a CSV to fill in", False, how=_FLAG),
    Option("--fail-on", BOTH, "exit with 1 for: exact, range<3, singled-out", None, _fail_on, {"metavar": "WHAT"}),
    Option("--allow-partial", (TABLES,), "with --fail-on: what was left out of the reading is no reason to fail", False,
           how=_FLAG),
    Option("--max-rows", ANY, f"rows that the data may hold ({LIMITS.rows:,})", None, _from_one("max-rows"),
           {"type": int, "metavar": "N"}),
    Option("--max-bytes", ANY, f"its bytes when unpacked ({LIMITS.size:,})", None, _from_one("max-bytes"),
           {"type": int, "metavar": "N"}),
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
        groups[option.applies].add_argument(option.name, help=f"{option.help}{default}", **option.how)


def settle(options: argparse.Namespace, kind: str) -> None:
    """Refuse options that do not apply to this kind of work, and nonsense; then fill in the defaults."""
    given = [option for option in OPTIONS if getattr(options, option.value) is not None]
    for option in given:
        if kind not in option.applies:
            what = " and ".join(option.applies)
            raise ConfigError(f"{option.name} applies to {what}, not to {kind}; leave it out")
        option.valid(getattr(options, option.value))
    if (options.contributions is None) != (not options.sensitive):
        raise ConfigError("--contributions and --sensitive go together: the contributions, and the rule for them")
    for option in OPTIONS:
        if option not in given:
            setattr(options, option.value, option.default)
