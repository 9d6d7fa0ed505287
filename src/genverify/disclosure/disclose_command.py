"""The commands `disclose`, `what-if`, `unique` and `page`."""

import argparse
import logging
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from genverify.disclosure.options import CHECK, OPTIONS, add_options, settle
from genverify.model.errors import ConfigError
from genverify.model.files import LIMITS, written_folder
from genverify.model.tablefiles import neutral_frame
from genverify.model.work import log

PATIENCE = 2.0  # seconds without a line about how far the work is


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the commands about tables to the command line."""
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
    tried.add_argument("release", type=Path, help="a release file (YAML), see examples/")
    tried.add_argument("--out", type=Path, help="folder of the results (a folder `audit` beside the release file)")
    tried.add_argument("--max-rows", type=int, metavar="N", help=f"rows that the data may hold ({LIMITS.rows:,})")
    tried.add_argument("--max-bytes", type=int, metavar="N", help=f"its bytes when unpacked ({LIMITS.size:,})")
    parser = commands.add_parser("unique", help="say whether a reconstruction (an LP or MPS file) has exactly one solution")
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
    from genverify.disclosure.outputs import COMMAND, check_folder, write_files
    from genverify.disclosure.release_data import template
    from genverify.disclosure.sources import audit_of, kind_of, limits_of

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
    from genverify.disclosure.outputs import holds_results

    if out:
        return out
    return first if holds_results(first) else (first if first.is_dir() else first.parent) / "audit"


def run_what_if(options: argparse.Namespace) -> None:
    """Try the protections of a release and print the table."""
    from genverify.disclosure.release_data import describe
    from genverify.disclosure.sources import attack_of, limits_of
    from genverify.disclosure.whatif import write_what_if

    described = describe(options.release, limits_of(options))
    if not described.form.protect:
        raise ConfigError(
            f"{options.release}: lists no protections to try; add protect, for instance protect: [{{suppress: 5}}]"
        )
    with written_folder(result_folder(options.release, options.out), "what-if") as part:
        result = write_what_if(described, attack_of(described), part)
    print(neutral_frame(result).to_csv(index=False), end="")


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
