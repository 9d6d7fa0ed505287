"""The commands `disclose`, `unique` and `page`; the options of `disclose`, for the command and for Python."""

import argparse
import logging
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

from genverify.disclosure.audit_value import DIALECTS, read_fail_on
from genverify.model.errors import ConfigError, nearest
from genverify.model.files import LIMITS, written_folder
from genverify.model.work import log
from genverify.reading.read_command import PAIR, READ_OPTIONS, pairs

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


KEYS = {names[0]: key for names, _, key, _ in READ_OPTIONS} | {
    "--total-from": "totals_from", "--fact": "facts", "--allow-partial": "partial",
}  # fmt: skip


@dataclass(frozen=True)
class Option:
    """An option: its names, what it applies to, its help, its default, and the least of a number."""

    name: str
    applies: tuple[str, ...]
    help: str
    default: Any = None
    least: int | None = None  # of a number
    how: Mapping[str, Any] = field(default_factory=dict)
    old: tuple[str, ...] = ()  # former names, which keep working

    @property
    def value(self) -> str:
        return self.name.removeprefix("--").replace("-", "_")

    @property
    def key(self) -> str:
        """What a release file calls it."""
        return KEYS.get(self.name, self.value)

    def words(self, given: Any) -> Any:
        """A value from Python as the command line has it: a mapping or one text where there may be several."""
        if self.how.get("action") != "append" or given is None:
            return Path(given) if self.how.get("type") is Path and given is not None else given
        if isinstance(given, Mapping):
            return [f"{name}={value}" for name, value in given.items()]
        return [given] if isinstance(given, str | Path) else list(given)

    def in_form(self, given: Any) -> Any:
        """A value as a release file has it."""
        if self.how.get("metavar") == PAIR:
            return pairs(given, self.name)
        return list(given) if self.how.get("action") == "append" else given


def _refuse_nonsense(option: Option, given: Any) -> None:
    from genverify.disclosure.intervals import Rule
    from genverify.disclosure.link import check_facts, read_rule
    from genverify.reading.numerals import told_symbol

    if option.least is not None and not (isfinite(given) and given >= option.least):
        what = "a number of seconds" if option.how["type"] is float else "a whole number"
        raise ConfigError(f"{option.name} {given}: give {what} from {option.least}")
    if option.how.get("metavar") == PAIR:
        for name, value in pairs(given, option.name).items():
            if option.name == "--symbol":
                told_symbol(name, value)
    for word in given if option.name == "--sensitive" else ():
        Rule(word)
    if reader := {"--rule": read_rule, "--fact": check_facts, "--fail-on": read_fail_on}.get(option.name):
        reader(given)


_FILE = {"type": Path, "metavar": "FILE"}
_NUMBER = {"type": int, "metavar": "N"}
_FLAG = {"action": "store_true", "default": None}
OPTIONS = (
    *(Option(names[0], (TABLES, CHECK), text, (), how={"action": "append", "metavar": written}, old=names[1:])
      for names, written, _, text in READ_OPTIONS),
    Option("--period", (TABLES, CHECK), "the period of a table that does not name it", "", how={"metavar": "TEXT"}),
    Option("--total-from", (TABLES, CHECK), "the total is in another file: other.csv:LABEL", (),
           how={"action": "append", "metavar": "FILE:LABEL"}),
    Option("--tolerance", (TABLES, CHECK), "how far a printed total may be from the sum of its parts", 0, 0, _NUMBER),
    Option("--decimal", (TABLES, CHECK), "the decimal sign, where the numbers do not show it", how={"choices": (".", ",")}),
    Option("--same-people", (TABLES, CHECK), "tables of several periods count the same people", False, how=_FLAG),
    Option("--inside", (TABLES, CHECK), "a table counts some of the people of another: SMALL=LARGE", (),
           how={"action": "append", "metavar": PAIR}),
    Option("--fact", (TABLES, CHECK), "a known fact besides the counts, e.g. 'sex=f >= 3'", (),
           how={"action": "append", "metavar": "TEXT"}),
    Option("--contributions", (TABLES,), "CSV with labels, contributor and value of every contribution, for magnitude "
           "tables", how=_FILE),
    Option("--sensitive", (TABLES,), "a rule for contributions: dominance=2,80 or p=10 or contributors=3", (),
           how={"action": "append", "metavar": "RULE"}),
    Option("--previous", (TABLES, CHECK), "an earlier release about the same people: a file or a folder", (),
           how={"action": "append", "type": Path, "metavar": "PATH"}),
    Option("--risk", (TABLES,), "a risk file (YAML): thresholds, symbols, exempt cells; exits with 1 where they are not met",
           how=_FILE),
    Option("--write", (TABLES,), "save how the files were read, as a reading file that can be corrected", how=_FILE),
    Option("--seconds", (TABLES, CHECK), "work for the intervals, counted: about a second of one core each", 120.0, 0,
           {"type": float}),
    Option("--cells", (RECORDS,), "only print the cells that the file describes, as a CSV to fill in", False, how=_FLAG),
    Option("--search-seconds", BOTH, "processor seconds for secondary suppression (60, or as the release says)", None, 0,
           {"type": float}),
    Option("--dialect", BOTH, "status codes in cells.csv", "plain", how={"choices": tuple(DIALECTS)}),
    Option("--fail-on", BOTH, "exit with 1 if a count is known exactly (exact), in an interval narrower than 3 (range<3), "
           "or to be 1 (singled-out); with count<5 also if a printed count is below 5", how={"metavar": "WHAT"}),
    Option("--allow-partial", BOTH, "go on although something is unclear or was not read: no table is then called "
           "safe, and --fail-on does not fail for it", False, how=_FLAG),
    Option("--max-rows", ANY, f"rows that the data may hold ({LIMITS.rows:,})", None, 1, _NUMBER),
    Option("--max-bytes", ANY, f"bytes of the data when unpacked ({LIMITS.size:,})", None, 1, _NUMBER),
    Option("--out", ANY, "folder of the results (default: a folder `audit` next to the tables or the release file)",
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
            _refuse_nonsense(option, value)
        setattr(result, option.value, option.default if value is None else value)
    if result.risk is not None and result.fail_on is None:
        from genverify.disclosure.interpretation import read_risk

        result.fail_on = read_risk(result.risk).threshold
    if (result.contributions is None) != (not result.sensitive):
        raise ConfigError("--contributions and --sensitive go together: the contributions, and the rule for them")
    return result


PATIENCE = 2.0  # seconds without a line about how far the work is


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the commands about tables to the command line."""
    audit = commands.add_parser(
        "disclose",
        help="audit tables, printed or described by a release file: what do they give away?",
        description="What do these tables give away? Give the tables themselves, or a release file (YAML).",
    )
    audit.add_argument(
        "release", type=Path, nargs="+", metavar="tables", help="files of tables, a folder, or a release file"
    )
    audit.set_defaults(run=run_disclose)
    add_options(audit)
    parser = commands.add_parser("unique", help="test whether a reconstruction (an LP or MPS file) has exactly one solution")
    parser.add_argument("program", type=Path, help="a file in LP or MPS format, plain or packed with gzip")
    parser.add_argument("--seconds", type=float, default=300.0, help="limit of the work (%(default)s)")
    parser.set_defaults(run=run_unique)


def run_unique(options: argparse.Namespace) -> None:
    """Say whether a reconstruction has exactly one solution."""
    from genverify.disclosure.unique import read_program, unique
    from genverify.solve.linear.search import Work

    result = unique(read_program(options.program), Work(seconds=options.seconds))
    print(f"{result.numbers} numbers, {result.rows} rows: {result.answer}")


@contextmanager
def _progress_shown() -> Iterator[None]:
    """Lines about how far long work is, on the standard error, once it has taken a while."""
    handler, level, started = logging.StreamHandler(), log.level, time.time()
    handler.addFilter(lambda record: record.created - started > PATIENCE)
    log.addHandler(handler)
    log.setLevel("INFO")
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(level)


@_progress_shown()
def run_disclose(options: argparse.Namespace) -> int:
    """Say what tables give away; 1 where --fail-on says so. With --check, only check."""
    from genverify.disclosure.release_data import template
    from genverify.disclosure.sources import COMMAND, audit_of, check_folder, kind_of, limits_of, write_files

    started, paths = time.monotonic(), options.release
    kind = kind_of(paths)
    given = {option.value: getattr(options, option.value) for option in OPTIONS}
    settings = settle(given, CHECK if options.check else kind)
    folder = result_folder(paths[0], settings.out)
    if settings.check:
        for line in check_folder(folder, paths, settings):
            print(line)
        print(f"checked in {time.monotonic() - started:.1f} s")
        return 0
    if settings.cells:
        options.prints = "csv"
        print(template(paths[0], limits_of(settings)), end="")
        return 0

    def talk(line: str) -> None:
        if not settings.json:
            print(line, flush=True)

    with written_folder(folder, COMMAND) as part:
        audit = audit_of(paths, settings, talk, ask=True)
        for line in ("", *audit.lines(), *audit.reasons()):
            talk(line)
        audit = audit.suppress(settings.search_seconds)
        for line in audit.advice():
            talk(line)
        write_files(audit, part, folder)
    talk(f"{folder / 'report.html'}, cells.csv, proofs ({time.monotonic() - started:.1f} s)")
    if settings.json:
        print(audit.as_json())
    return int(bool(settings.fail_on) and audit.fails(settings.allow_partial))


def result_folder(first: Path, out: Path | None) -> Path:
    """The folder of the results: as told, or that of results, or one beside the tables."""
    from genverify.disclosure.sources import holds_results

    if out:
        return out
    return first if holds_results(first) else (first if first.is_dir() else first.parent) / "audit"


# The command `page`: write the page that works offline, one HTML file, to where it is wanted.

PAGE = Path(__file__).with_name("page.html")
NAME = Path("genverify.html")


def add_page_parser(commands: Any) -> None:
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
