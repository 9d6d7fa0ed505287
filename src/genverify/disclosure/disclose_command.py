"""The commands `disclose`, `protect`, `what-if`, `unique` and `page`; the options of tables, for commands and Python."""

import argparse
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Any

import yaml

from genverify.disclosure.audit_value import read_fail_on
from genverify.model.errors import ConfigError, nearest
from genverify.model.files import LIMITS, read_yaml, written_folder
from genverify.model.work import log, shown_progress
from genverify.reading.read_command import PAIR, READ_OPTIONS, pairs

KINDS: Mapping[str, Mapping[str, Any]] = {
    "file": {"type": Path, "metavar": "FILE"}, "path": {"type": Path}, "paths": {"action": "append", "type": Path},
    "number": {"type": int, "metavar": "N"}, "seconds": {"type": float}, "many": {"action": "append"},
    "flag": {"action": "store_true", "default": None}, "choice": {}, "text": {},
}  # fmt: skip
TEXTS = read_yaml(Path(__file__).with_name("options.yaml"))
TABLES, RECORDS, CHECK = map(str, TEXTS["kinds"])


@dataclass(frozen=True)
class Option:
    """An option: its names, what it applies to, its help, its kind and default, the least of a number."""

    name: str
    applies: Sequence[str]
    help: str
    kind: str
    default: Any = None
    least: int | None = None
    metavar: str | None = None
    choices: Sequence[str] | None = None
    old: Sequence[str] = ()  # former names, which keep working
    form: str = ""  # what a release file calls it, where that is not its own name

    @property
    def value(self) -> str:
        return self.name.removeprefix("--").replace("-", "_")

    @property
    def key(self) -> str:
        return self.form or self.value

    def add(self, parser: Any, default: str = "") -> None:
        """Add it to a parser; it has no default there, so that it is known which are given."""
        given = {"metavar": self.metavar, "choices": self.choices}
        how = {**KINDS[self.kind], **{name: own for name, own in given.items() if own}}
        words = self.help.format(rows=LIMITS.rows, size=LIMITS.size)
        parser.add_argument(self.name, *self.old, help=f"{words}{default}", **how)

    def words(self, given: Any) -> Any:
        """A value from Python as the command line has it: a mapping or one text where there may be several."""
        if given is None or self.kind not in ("many", "paths"):
            return Path(given) if given is not None and self.kind in ("file", "path") else given
        if isinstance(given, Mapping):
            return [f"{name}={value}" for name, value in given.items()]
        return [given] if isinstance(given, str | Path) else list(given)

    def in_form(self, given: Any) -> Any:
        if self.metavar == PAIR:
            return pairs(given, self.name)
        return list(given) if self.kind in ("many", "paths") else given


def _refuse_nonsense(option: Option, given: Any) -> None:
    from genverify.disclosure.intervals import Rule
    from genverify.disclosure.link import check_facts, read_rule
    from genverify.reading.numerals import told_symbol

    if option.least is not None and not (isfinite(given) and given >= option.least):
        what = "a number of seconds" if option.kind == "seconds" else "a whole number"
        raise ConfigError(f"{option.name} {given}: give {what} from {option.least}")
    paired = pairs(given, option.name) if option.metavar == PAIR else {}
    readers: dict[str, Callable[[Any], Any]] = {
        "--rule": read_rule, "--fact": check_facts, "--fail-on": read_fail_on,
        "--sensitive": lambda words: [*map(Rule, words)], "--symbol": lambda _: [*map(told_symbol, paired, paired.values())],
    }  # fmt: skip
    if option.name in readers:
        readers[option.name](given)


OPTIONS = (
    *(Option(names[0], (TABLES, CHECK), text, "many", (), metavar=written, old=names[1:], form=key)
      for names, written, key, text in READ_OPTIONS),
    *(Option(name, **said) for name, said in TEXTS["options"].items()),
)  # fmt: skip


def settle(given: Mapping[str, Any], kind: str) -> argparse.Namespace:
    """All options with their values; an error for one that does not apply to this kind of work, and for nonsense."""
    known, result = {option.value: option for option in OPTIONS}, argparse.Namespace()
    for name in (name for name in given if name not in known):
        raise ConfigError(f"unknown option {name}: {nearest(name, list(known))}")
    for option in OPTIONS:
        value = option.words(given.get(option.value))
        if value is not None:
            if kind not in option.applies:
                what = " and ".join(option.applies)
                raise ConfigError(f"{option.name} applies to {what}, not to {kind}; leave it out")
            _refuse_nonsense(option, value)
        setattr(result, option.value, option.default if value is None else value)
    if result.risk is not None and result.fail_on is None:
        from genverify.disclosure.interpretation import read_risk

        result.fail_on = read_risk(result.risk).threshold
    if (result.contributions is None) != (not result.sensitive):
        raise ConfigError("--contributions and --sensitive go together: the contributions, and the rule for them")
    return result


PATIENCE = 2.0  # seconds without a line about how far the work is


def _command(commands: Any, name: str, run: Callable[..., int | None], **defaults: Any) -> argparse.ArgumentParser:
    said = TEXTS["commands"][name]
    parser: argparse.ArgumentParser = commands.add_parser(name, description=said.get("description"))
    _add(parser, said["arguments"])
    parser.set_defaults(run=run, **defaults)
    return parser


def _add(parser: argparse.ArgumentParser, arguments: Mapping[str, Mapping[str, Any]]) -> None:
    for name, said in arguments.items():
        parser.add_argument(name, **{**KINDS[said["kind"]], **{key: own for key, own in said.items() if key != "kind"}})


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the commands about tables to the command line; `protect` and `what-if` read them as `disclose` does."""
    audit = _command(commands, "disclose", run_disclose)
    groups = {tuple(one["applies"]): audit.add_argument_group(one["title"]) for one in TEXTS["groups"]}
    for option in OPTIONS:
        option.add(groups[tuple(option.applies)], f" ({option.default})" if option.default else "")
    _command(commands, "unique", run_unique)
    for parser in (_command(commands, "protect", run_protect), _command(commands, "what-if", run_what_if, prints="csv")):
        _add(parser, TEXTS["asked"])
        for option in READING:
            option.add(parser)


def run_unique(options: argparse.Namespace) -> None:
    from genverify.disclosure.unique import read_program, unique
    from genverify.solve.linear.search import Work

    result = unique(read_program(options.program), Work(seconds=options.seconds))
    print(f"{result.numbers} numbers, {result.rows} rows: {result.answer}")


@shown_progress(PATIENCE)
def run_disclose(options: argparse.Namespace) -> int:
    """Say what tables give away; 1 where --fail-on says so. With --check, only check."""
    from genverify.disclosure.release_data import template
    from genverify.disclosure.sources import COMMAND, audit_of, check_folder, kind_of, limits_of, write_files

    started, paths = time.monotonic(), options.release
    kind, given = kind_of(paths), {option.value: getattr(options, option.value) for option in OPTIONS}
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

    def talk(*lines: str) -> None:
        if lines and not settings.json:
            print(*lines, sep="\n", flush=True)

    with written_folder(folder, COMMAND) as part:
        audit = audit_of(paths, settings, talk, ask=True)
        talk("", *audit.lines(), *audit.reasons())
        audit = audit.suppress(settings.search_seconds)
        talk(*audit.advice())
        write_files(audit, part, folder)
    talk(f"{folder / 'report.html'}, cells.csv, proofs ({time.monotonic() - started:.1f} s)")
    if settings.json:
        print(audit.as_json())
    return int(bool(settings.fail_on) and audit.fails(settings.allow_partial))


def result_folder(first: Path, out: Path | None) -> Path:
    """The folder of the results: as told, or that of results, or one beside the tables."""
    from genverify.disclosure.sources import holds_results

    return out or (first if holds_results(first) else (first if first.is_dir() else first.parent) / "audit")


# The commands `protect` and `what-if`: tables in, a protected release with its certificate out; protections compared.

LEFT_OUT = {"--rule", "--sensitive", "--write", "--out", "--json", "--check", "--fail-on", "--dialect", "--search-seconds"}
READING = [option for option in OPTIONS if TABLES in option.applies and option.name not in LEFT_OUT]  # as `disclose` reads
ASKED = [name.removeprefix("--") for name in TEXTS["asked"]]


def _given(options: argparse.Namespace) -> dict[str, Any]:
    given = {option.value: value for option in READING if (value := getattr(options, option.value)) is not None}
    return {**given, **{name: getattr(options, name) for name in ASKED}}


def run_protect(options: argparse.Namespace) -> None:
    from genverify.disclosure.sources import protect_tables

    if any(path.resolve() == options.out.resolve() for path in options.tables):
        raise ConfigError(f"--out {options.out}: the tables are read from there; give another folder")
    audit = protect_tables(options.tables, options.out, options.rule, method=options.method, **_given(options))
    made = audit.protected_by.lines(bool(audit.left_out)) if audit.protected_by else ()
    last = f"{options.out}/tables: publish these. The other files name the sensitive cells: keep them confidential."
    print(*made, *audit.lines(), last, sep="\n")


def run_what_if(options: argparse.Namespace) -> None:
    """Try the protections that a release lists, or else the usual ones, and print the table."""
    from genverify.disclosure import sources, whatif
    from genverify.disclosure.release_data import describe

    first, folder = options.release[0], result_folder(options.release[0], options.out)
    if sources.kind_of(options.release) == TABLES:
        if options.rule is None:
            raise ConfigError("what-if of printed tables needs --rule, which says what is sensitive, such as 'minimum 5'")
        result, rules = whatif.compare_tables(options.release, options.rule, **_given(options)), []
        write = partial(whatif.write_comparison, result, partial(whatif.plot_compared_tables, result, first.name))
    else:
        if options.rule is not None or len(options.release) > 1:
            raise ConfigError("what-if of a release file takes that file alone; --rule and reading options are for tables")
        described = describe(first, sources.limits_of(options))
        compare = whatif.what_if if described.form.protect else whatif.compare_protections
        result = compare(described, sources.attack_of(described), described.form.search.k)
        rules, write = whatif.impossible_pairs(described), partial(whatif.write_what_if, result, described)
    with written_folder(folder, "what-if") as part:
        write(part)
    print((folder / "whatif.csv").read_text(encoding="utf-8"), end="")
    if rules:
        log.info("No record has these combinations, though chance alone would give ten or more. If nobody can, add rules:")
        log.info("%s", yaml.safe_dump({"rules": [rule.model_dump() for rule in rules]}, sort_keys=False, width=125).rstrip())


# The command `page`: write the page that works offline, one HTML file, to where it is wanted.

PAGE = Path(__file__).with_name("page.html")
NAME = TEXTS["commands"]["page"]["arguments"]["to"]["default"]


def add_page_parser(commands: Any) -> None:
    _command(commands, "page", run)


def run(options: argparse.Namespace) -> None:
    to = options.to / NAME if options.to.is_dir() else options.to
    if to.exists() and not options.force:
        raise ConfigError(f"{to} is there already; --force replaces it")
    shutil.copyfile(PAGE, to)
    print(f"{to}: open it in a browser; it needs no network")
