"""`genverify read`: say what files hold, cell by cell, before anything is concluded from them."""

import argparse
import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from os.path import abspath, commonpath, relpath
from pathlib import Path
from typing import Any

from genverify.model.errors import ConfigError, DataError
from genverify.model.files import LIMITS
from genverify.reading.axes import Axis
from genverify.reading.cells import CellRole, cell_roles
from genverify.reading.reading import Corrections, Reading, Table, read
from genverify.reading.reading_file import is_reading, read_reading, with_options, write_reading
from genverify.reading.roles import COUNT, LABEL
from genverify.reading.source import files_of, read_source

SHOWN = 12  # lines of one kind; the reading file has all
WIDE = 96  # characters of a line about a column


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to the command line."""
    own = commands.add_parser(
        "read",
        help="say what files of tables hold: a role for every cell, totals, symbols, and what is left out",
        description="What do these files say? Every cell gets a role and a reason; nothing is concluded from them yet.",
    )
    files = "tables (CSV, Excel, ODS, PC-Axis, JSON-stat, R, ...), a folder, or a reading file"
    own.add_argument("files", type=Path, nargs="+", metavar="FILE", help=files)
    own.add_argument(
        "--write", type=Path, metavar="READING", help="write the reading as YAML, to be corrected and read again"
    )
    own.add_argument("--cells", type=Path, metavar="CSV", help="write the role of every cell and why, one line each")
    own.add_argument("--max-rows", type=int, metavar="N", help=f"rows that a file may hold ({LIMITS.rows:,})")
    own.add_argument("--max-bytes", type=int, metavar="N", help=f"its bytes when unpacked ({LIMITS.size:,})")
    add_options(own)
    own.set_defaults(run=run_read)


def add_options(own: argparse.ArgumentParser) -> None:
    """The options that say how files are to be read."""
    many: dict[str, Any] = {"action": "append", "default": []}
    own.add_argument("--sheet", metavar="NAME", help="read this sheet only", **many)
    own.add_argument("--labels", metavar="C,D", help="columns (letters or headers) that hold labels", **many)
    own.add_argument("--counts", metavar="C,D", help="columns that hold counts", **many)
    own.add_argument("--skip", metavar="59,C", help="rows and columns that are not read", **many)
    own.add_argument("--period", default="", metavar="TEXT", help="the period of a table that does not name it")
    own.add_argument("--total", metavar="AXIS=LABEL", help="the label that adds up the others of an axis", **many)
    meaning = "what a symbol means: suppressed, missing, 0, 1-4"
    own.add_argument("--symbol", "--mark", metavar="TEXT=MEANING", help=meaning, **many)
    own.add_argument("--no-total", metavar="LABEL", help="a label that is no total although its name may say so", **many)
    own.add_argument("--label", metavar="TEXT", help="a label or header that looks like a symbol for a count", **many)
    own.add_argument("--hierarchy", metavar="AXIS=FILE", help="a .hrc file: what adds up to what", **many)
    own.add_argument("--decimal", choices=(".", ","), help="the decimal sign, where the numbers do not tell it")
    own.add_argument("--rule", metavar="RULE", help="how numbers were treated: round=5, ...", **many)


def told_of(words: Sequence[str] | argparse.Namespace) -> Corrections:
    """
    What the options say.

    >>> told_of(["--symbol", "-=0", "--skip", "59,C"]).symbols
    {'-': '0'}
    """
    if isinstance(words, argparse.Namespace):
        options = words
    else:
        parser = argparse.ArgumentParser(add_help=False)
        add_options(parser)
        options = parser.parse_args([f"{words[at]}={words[at + 1]}" for at in range(0, len(words), 2)])
    given = corrections_of(
        options.sheet, options.labels, options.counts, options.skip, options.period,
        dict(_pair(one, "--total") for one in options.total),
        dict(_pair(one, "--symbol", last=True) for one in options.symbol), options.rule,
    )  # fmt: skip
    return replace(
        given,
        no_totals=frozenset(options.no_total),
        labels=frozenset(options.label),
        hierarchies={name: (Path(file), "@") for name, file in (_pair(one, "--hierarchy") for one in options.hierarchy)},
        decimal=options.decimal or "",
    )


def corrections_of(
    sheets: Sequence[str], labels: Sequence[str], counts: Sequence[str], skip: Sequence[str], period: str,
    totals: Mapping[str, str], symbols: Mapping[str, str], rule: Sequence[str],
) -> Corrections:  # fmt: skip
    """What the options of `read` and `disclose` say; columns and rows may be listed with commas."""
    skipped = _listed(skip)
    return Corrections(
        sheets=frozenset(sheets),
        roles=dict.fromkeys(_listed(labels), LABEL) | dict.fromkeys(_listed(counts), COUNT),
        rows=frozenset(int(one) for one in skipped if one.isdigit()),
        columns=frozenset(one for one in skipped if not one.isdigit()),
        period=period,
        totals=totals,
        symbols=symbols,
        rule=tuple(rule),
    )


def _listed(words: Sequence[str]) -> list[str]:
    return [part.strip() for word in words for part in word.split(",") if part.strip()]


def _pair(word: str, option: str, last: bool = False) -> tuple[str, str]:
    front, sign, end = word.rpartition("=") if last else word.partition("=")
    if not sign or not front or not end:
        raise ConfigError(f"{option} {word}: give NAME=VALUE")
    return front, end


def read_files(paths: Sequence[Path], told: Corrections, limits: Any = LIMITS) -> Reading:
    """The reading of files, or of a reading file, as told by options."""
    files = [path for path in files_of(paths) if not is_reading(path)]
    root = commonpath([abspath(path.parent) for path in files]) if files else ""
    sources = [replace(read_source(path, limits), name=relpath(path, root), path=path) for path in files]
    readings = [path for path in paths if is_reading(path)]
    if len(readings) > 1:
        raise ConfigError(f"{readings[1]}: a second reading file; give one")
    if not readings:
        return read(sources, told)
    found, own = read_reading(readings[0], sources, limits)
    return read(found, told, with_options(own, told))


def run_read(options: argparse.Namespace) -> int:
    """Print the reading of files, and write it where asked."""
    limits = replace(LIMITS, rows=options.max_rows or LIMITS.rows, size=options.max_bytes or LIMITS.size)
    for out in (path for path in (options.write, options.cells) if path):
        if any(out.resolve() == path.resolve() for path in options.files if path != options.write or not is_reading(path)):
            raise ConfigError(f"{out}: is one of the files that are read; give another path")
    reading = read_files(options.files, told_of(options), limits)
    for line in describe(reading):
        print(line)
    if options.write:
        options.write.write_text(write_reading(reading), encoding="utf-8")
        print(f"written: {options.write}")
    if options.cells:
        from genverify.model.tablefiles import neutral  # with pandas, which the reading itself does not need

        with options.cells.open("w", encoding="utf-8", newline="") as file:
            lines = csv.writer(file)
            lines.writerow(CellRole._fields)
            lines.writerows([neutral(text) for text in cell] for cell in cell_roles(reading))
        print(f"written: {options.cells}")
    return 0


def describe(reading: Reading) -> Iterator[str]:
    """A reading as lines: tables with their columns and axes, symbols, what was left out, questions, and conservation."""
    for source in reading.sources:
        yield f"{source.name}: {source.form}, {_count(len([t for t in reading.tables if t.file == source.name]), 'table')}"
    for table in reading.tables[:SHOWN]:
        yield from _describe_table(table)
    if len(reading.tables) > SHOWN:
        yield f"... and {len(reading.tables) - SHOWN} more tables (--write has all)"
    for text, own in list(reading.symbols.items())[:SHOWN]:
        said = f': "{own.said}"' if own.said else ""
        yield f"symbol {text}  {own.meaning} ({own.how}{said}), {_count(reading.met[text], 'cell')}"
    often = sorted(reading.labels_like_symbols.items(), key=lambda one: -one[1])[:SHOWN]
    if like := ", ".join(f"{text} ({times:,})" for text, times in often):
        yield f"texts that could be symbols, and stand among labels or notes: {like}"
    yield from (f"note: {one}" for one in reading.said)
    for left in reading.left_out[:SHOWN]:
        remedy = f" ({left.remedy})" if left.remedy else ""
        yield f"left out: {left.place}: {_count(left.cells, 'cell')}: {left.why}{remedy}"
    if len(reading.left_out) > SHOWN:
        yield f"... and {len(reading.left_out) - SHOWN} more reasons"
    for one in reading.questions[:SHOWN]:
        yield f"question: {one.text}. If so: {one.option}"
    if len(reading.questions) > SHOWN:
        yield f"... and {len(reading.questions) - SHOWN} more questions"
    yield reading.line()
    if not reading.conserved:
        raise DataError("cells were lost in the reading; this is a defect of genverify: please report it with the file")


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _describe_table(table: Table) -> Iterator[str]:
    hidden = " (hidden sheet)" if table.hidden else ""
    yield f"table {table.name}{hidden}" + (f": {table.title[:WIDE]}" if table.title else "")
    for (role, why), run in groupby(table.columns, key=lambda column: (column.role, column.why)):
        columns = list(run)  # neighbours of one role on one line
        name = columns[0].name if len(columns) == 1 else f"{columns[0].name}-{columns[-1].name}"
        heads = ", ".join(column.head for column in columns)
        yield f"  {name:<7} {role:<11} {heads[:48]:<48} {why}"[: WIDE + 40]
    for axis in table.axes:
        yield f"  by {axis.name} ({_count(len(axis.labels), 'label')}): {axis.kind}" + (f"; {axis.why}" if axis.why else "")
        yield from _tree(axis)
    if table.population:
        yield "  of " + ", ".join(f"{name}: {text}" for name, text in table.population.items())[: WIDE + 30]


def _tree(axis: Axis) -> Iterator[str]:
    for parent, children in axis.tree[:SHOWN]:
        parts = " + ".join(children[:6]) + (f" + ... ({len(children)} labels)" if len(children) > 6 else "")
        yield f"    {parent} = {parts}"[: WIDE + 30]
    if len(axis.tree) > SHOWN:
        yield f"    ... and {len(axis.tree) - SHOWN} more sums"
