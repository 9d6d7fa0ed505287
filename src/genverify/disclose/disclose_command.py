"""The commands `disclose`, `what-if` and `page`."""

import argparse
import json
import logging
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from genverify.disclose.tables_command import CHECK, RECORDS, TABLES, add_options, settle
from genverify.model.errors import ConfigError
from genverify.model.files import LIMITS, written_folder
from genverify.model.tablefiles import neutral_frame
from genverify.model.work import log

if TYPE_CHECKING:
    from genverify.disclose.record_audit import Attack, Audit
    from genverify.disclose.release_data import ReleaseDescription
    from genverify.disclose.suppression import Search


PATIENCE = 2.0  # seconds without a line about how far the work is
CALLS = 8  # of a search for every node above the one that it is at


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add both commands to the command line."""
    audit = commands.add_parser(
        "disclose",
        help="say what tables give away: printed ones as they are, or those that a release file describes",
        description="What do these tables give away? Give the tables themselves, or a release file (YAML).",
    )
    audit.add_argument(
        "release", type=Path, nargs="+", metavar="tables", help="files of tables, a folder, or a release file"
    )
    audit.set_defaults(run=run_disclose)
    add_options(audit)
    tried = commands.add_parser("what-if", help="try the protections that a release file lists")
    tried.set_defaults(run=run_what_if, prints="csv")
    add_unique(commands)
    tried.add_argument("release", type=Path, help="a release file (YAML), see examples/")
    tried.add_argument("--out", type=Path, help="folder of the results (a folder `audit` beside the release file)")
    tried.add_argument("--max-rows", type=int, metavar="N", help=f"rows that the data may hold ({LIMITS.rows:,})")
    tried.add_argument("--max-bytes", type=int, metavar="N", help=f"its bytes when unpacked ({LIMITS.size:,})")


def add_unique(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command about programs in files; its library is loaded when it runs."""
    parser = commands.add_parser("unique", help="say whether a reconstruction (an LP or MPS file) has exactly one solution")
    parser.add_argument("program", type=Path, help="a file in LP or MPS format, plain or packed with gzip")
    parser.add_argument("--seconds", type=float, default=300.0, help="limit of the work (%(default)s)")
    parser.set_defaults(run=run_unique)


def run_unique(options: argparse.Namespace) -> None:
    """Say whether a reconstruction has exactly one solution."""
    from genverify.disclose.unique import read_program, unique
    from genverify.solve.linear.search import Work

    found = unique(read_program(options.program), Work(seconds=options.seconds))
    print(f"{found.numbers} numbers, {found.rows} rows: {found.answer}")


def run_disclose(options: argparse.Namespace) -> int:
    """Audit printed tables, or a release that a file describes; 1 where --fail-on says so. With --check, only check."""
    first: Path = options.release[0]
    records = first.suffix.lower() in (".yaml", ".yml") and not _is_printed(first)
    settle(options, CHECK if options.check else RECORDS if records else TABLES)
    if not records:
        from genverify.disclose.tables_command import check_tables, run_tables

        return check_tables(options) if options.check else run_tables(options)
    if len(options.release) > 1:
        raise ConfigError(f"{options.release[1]}: a release file is given alone")
    options.release = first
    return run_check(options) if options.check else run_audit(options)


def _is_printed(path: Path) -> bool:
    from genverify.disclose.interpretation import is_printed

    return is_printed(path)


class _DelayedLines(logging.Filter):
    """Lets lines pass once the work has taken a while: whoever waits wants to know, nobody else."""

    def __init__(self) -> None:
        super().__init__()
        self.started = time.time()

    def filter(self, record: logging.LogRecord) -> bool:
        return record.created - self.started > PATIENCE


@contextmanager
def _progress_shown() -> Iterator[None]:
    """Lines about how far long work is, on the standard error."""
    handler, level = logging.StreamHandler(), log.level
    handler.addFilter(_DelayedLines())
    log.addHandler(handler)
    log.setLevel("INFO")
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(level)


@_progress_shown()
def run_audit(options: argparse.Namespace) -> int:
    """Audit a release and say in a few lines what came out; 1 where --fail-on says so."""
    from genverify.disclose.record_report import write_audit
    from genverify.disclose.release_data import describe, template

    started = time.monotonic()
    if options.cells:
        options.prints = "csv"
        print(template(options.release, _limits(options)), end="")
        return 0
    described = describe(options.release, _limits(options))
    folder = result_folder(options)
    one, many = described.form.unit

    def say(found: "Audit") -> None:
        if options.json:
            return
        claims = f"{len(found.claims)} verified claims, {len(found.singles)} about exactly one {one}"
        print(f"{described.people} {many}, {claims} ({time.monotonic() - started:.1f} s)", flush=True)

    with written_folder(folder, "disclose") as part:
        found, search = write_audit(described, attack_of(described), part, say)
    unsafe = unsafe_count(found, options.fail_on)
    if options.json:
        print(_as_json(found, search, folder, options.fail_on, unsafe))
        return int(bool(unsafe))
    if options.fail_on:
        print(f"{unsafe} {'claims' if options.fail_on == 'singled-out' else 'cells'} are unsafe by {options.fail_on}")
    remaining = f"{search.left} are left" + (f", {search.undecided} undecided" if search.undecided else "")
    print(f"withhold {len(search.steps)} cells: of {search.before} such claims with k >= {search.k}, {remaining}")
    print(f"{folder / 'report.html'} ({time.monotonic() - started:.1f} s)")
    return int(bool(unsafe))


@_progress_shown()
def run_check(options: argparse.Namespace) -> int:
    """Check the results of a release file, and write nothing."""
    from genverify.disclose.record_report import check_audit
    from genverify.disclose.release_data import describe

    described = describe(options.release, _limits(options))
    for line in check_audit(described, attack_of(described), result_folder(options)):
        print(line)
    return 0


def unsafe_count(found: "Audit", fail_on: str | None) -> int:
    """What --fail-on names, counted: claims about exactly one, or cells that are not printed exactly and known too well."""
    from genverify.disclose.answer import read_fail_on
    from genverify.disclose.record_audit import known_within

    if fail_on is None:
        return 0
    told = read_fail_on(fail_on)
    return len(found.singles) if told.singled_out else known_within(found.ranges, told.width)


def _as_json(found: "Audit", search: "Search", folder: Path, fail_on: str | None, unsafe: int) -> str:
    """What was found, in numbers, and where the whole of it lies."""
    withheld = [{"area": step.block, "cell": step.cell} for step in search.steps]
    singles = {"all": len(found.singles), "searched": search.before, "left": search.left, "undecided": search.undecided}
    numbers: dict[str, object] = {"people": found.described.people, "claims": len(found.claims), "singleton_claims": singles}
    if fail_on:
        numbers |= {"fail_on": fail_on, "unsafe": unsafe, "safe": not unsafe}
    return json.dumps({**numbers, "withhold": withheld, "k": search.k, "report": str(folder / "report.html")}, indent=1)


def run_what_if(options: argparse.Namespace) -> None:
    """Try the protections of a release and print the table."""
    from genverify.disclose.record_report import write_what_if
    from genverify.disclose.release_data import describe

    described = describe(options.release, _limits(options))
    if not described.form.protect:
        raise ConfigError(
            f"{options.release}: lists no protections to try; add protect, for instance protect: [{{suppress: 5}}]"
        )
    with written_folder(result_folder(options), "what-if") as part:
        found = write_what_if(described, attack_of(described), part)
    print(neutral_frame(found).to_csv(index=False), end="")


def _limits(options: argparse.Namespace) -> dict[str, int]:
    """The limits that the command line sets in place of those of the release file."""
    return {name: getattr(options, name) for name in ("max_rows", "max_bytes") if getattr(options, name) is not None}


def result_folder(options: argparse.Namespace) -> Path:
    """The folder of the results."""
    return Path(options.out or options.release.parent / "audit")


def attack_of(described: "ReleaseDescription") -> "Attack":
    """The attack with the limits of the command line."""
    from genverify.disclose.record_audit import Attack
    from genverify.model.settings import DATASETS
    from genverify.solve.program_settings import DEFAULT

    sys.setrecursionlimit(max(sys.getrecursionlimit(), CALLS * DEFAULT.nodes))  # each node of a search lies in another
    return Attack.of(described, DEFAULT, DATASETS)


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
