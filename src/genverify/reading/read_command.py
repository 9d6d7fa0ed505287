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
from genverify.reading.reading import Corrections, Reading, Table, cell_roles, is_reading, read, read_reading, write_reading
from genverify.reading.roles import COUNT, LABEL
from genverify.reading.source import files_of, read_source

SHOWN = 12  # lines of one kind; the reading file has all
WIDE = 96  # characters of a line about a column


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to the command line."""
    own = commands.add_parser(
        "read",
        description="What do these files say? Every cell gets a role and a reason; nothing is concluded from them yet.",
    )
    files = "tables (CSV, Excel, ODS, PC-Axis, JSON-stat, R, ...), a folder, or a reading file"
    own.add_argument("files", type=Path, nargs="+", metavar="FILE", help=files)
    own.add_argument("--write", type=Path, metavar="READING", help="write the reading as YAML, to be corrected and reread")
    own.add_argument("--cells", type=Path, metavar="CSV", help="write the role of every cell and why, one line each")
    own.add_argument("--max-rows", type=int, metavar="N", help=f"rows that a file may hold ({LIMITS.rows:,})")
    own.add_argument("--max-bytes", type=int, metavar="N", help=f"bytes of the data when unpacked ({LIMITS.size:,})")
    add_options(own)
    own.set_defaults(run=run_read)


PAIR, COLUMN_LIST = "A=B", "C,D"
# names, how a value is written, key in a release file, and help of the options that `disclose` has too; each may be repeated
READ_OPTIONS: tuple[tuple[tuple[str, ...], str, str, str], ...] = (
    (("--symbol", "--mark"), PAIR, "marks", "what a symbol means, e.g. '*=suppressed', '*=1-4', '-=0', 'blank=suppressed'"),
    (("--sheet",), "NAME", "sheets", "read this sheet only"),
    (("--labels",), COLUMN_LIST, "label_columns", "columns (letters or headers) that hold labels"),
    (("--counts",), COLUMN_LIST, "count_columns", "columns that hold counts"),
    (("--skip",), COLUMN_LIST, "skip", "rows and columns that are not read, e.g. 59,C"),
    (("--rule",), "RULE", "rule",
     "how numbers were treated: round=5, random=3, random-nonzero=3, midpoint=6, key=2, suppress=5"),
    (("--total",), PAIR, "totals", "the label that is the total of a column, e.g. 'sex=Both sexes'"),
    (("--no-total",), "LABEL", "no_totals", "a label that is not a total, whatever its name says"),
    (("--label",), "LABEL", "labels", "a label or a header that looks like a symbol of a count, e.g. '<1'"),
    (("--hierarchy",), PAIR, "hierarchies", "a .hrc file for a column, e.g. 'industry=nace.hrc'"),
)  # fmt: skip


def add_options(own: argparse.ArgumentParser) -> None:
    """The options that say how files are to be read."""
    for names, written, key, text in READ_OPTIONS:
        own.add_argument(*names, metavar=written, dest=key, help=text, action="append", default=[])
    own.add_argument("--period", default="", metavar="TEXT", help="the period of a table that does not name it")
    own.add_argument("--decimal", choices=(".", ","), help="the decimal sign, where the numbers do not show it")


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
    paired = {key: pairs(getattr(options, key), names[0]) for names, written, key, _ in READ_OPTIONS if written == PAIR}
    return corrections_of({**vars(options), **paired})


def corrections_of(said: Mapping[str, Any], folder: Path = Path(), **others: Any) -> Corrections:
    """What options say, by their keys in a release file; columns and rows may be listed with commas."""
    rows, columns = ([one for one in _listed(said["skip"]) if one.isdigit() == number] for number in (True, False))
    roles = dict.fromkeys(_listed(said["label_columns"]), LABEL) | dict.fromkeys(_listed(said["count_columns"]), COUNT)
    return Corrections(
        frozenset(said["sheets"]), roles, frozenset(map(int, rows)), frozenset(columns), said["period"], said["totals"],
        frozenset(said["no_totals"]), frozenset(said["labels"]),
        {column: (folder / file, "@") for column, file in said["hierarchies"].items()},
        symbols=said["marks"], rule=tuple(said["rule"]), decimal=said["decimal"] or "", **others,
    )  # fmt: skip


def _listed(words: Sequence[str]) -> list[str]:
    return [part.strip() for word in words for part in word.split(",") if part.strip()]


def pairs(words: Sequence[str], option: str) -> dict[str, str]:
    """What A=B says, of every word; the first character of A may be = itself."""
    result: dict[str, str] = {}
    for word in words:
        rest, _, value = word[1:].partition("=")
        name = word[:1] + rest
        if not value:
            raise ConfigError(f"{option} {word}: write two parts with = between them")
        if result.setdefault(name, value) != value:
            raise ConfigError(f"{option} {word}: {name!r} was {result[name]!r} before; give it once")
    return result


def read_files(paths: Sequence[Path], told: Corrections, limits: Any = LIMITS, previous: Sequence[Path] = ()) -> Reading:
    """The reading of files, or of a reading file, as told by options; and of earlier releases."""
    files = [path for path in files_of(paths) if not is_reading(path)]
    root = commonpath([abspath(path.parent) for path in files]) if files else ""
    sources = [replace(read_source(path, limits), name=relpath(path, root), path=path) for path in files]
    readings = [path for path in paths if is_reading(path)]
    if len(readings) > 1:
        raise ConfigError(f"{readings[1]}: a second reading file; give one")
    own = dict[str, Corrections]()
    if readings:
        sources, own = read_reading(readings[0], sources, limits, told)
    for path in files_of(previous):  # their names have a folder, wherever they lie: a check reads them from elsewhere
        name = f"{Path(abspath(path)).parent.name}/{path.name}"
        if is_reading(path) or name in {source.name for source in sources}:
            raise ConfigError(f"--previous {path}: is a reading file, or called like another file; give the tables alone")
        sources.append(replace(read_source(path, limits), name=name, path=path, earlier=True))
    return read(sources, told, own)


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
            lines.writerow(("file", "place", "role", "why"))
            lines.writerows([neutral(text) for text in cell] for cell in cell_roles(reading))
        print(f"written: {options.cells}")
    return 0


def describe(reading: Reading) -> Iterator[str]:
    """A reading as lines: tables with their columns and axes, symbols, what was left out, questions, and conservation."""
    for source in reading.sources:
        yield f"{source.name}: {source.form}, {_count(len([t for t in reading.tables if t.file == source.name]), 'table')}"
    for table in reading.tables[:SHOWN]:
        yield from _describe_table(table)
    yield from _more(reading.tables, "tables (--write has all)")
    for text, own in list(reading.symbols.items())[:SHOWN]:
        said = f': "{own.said}"' if own.said else ""
        yield f"symbol {text}  {own.meaning} ({own.how}{said}), {_count(reading.met[text], 'cell')}"
    often = sorted(reading.labels_like_symbols.items(), key=lambda one: -one[1])[:SHOWN]
    if like := ", ".join(f"{text} ({times:,})" for text, times in often):
        yield f"texts that could be symbols, found among labels or notes: {like}"
    yield from (f"note: {one}" for one in reading.said)
    for left in reading.left_out[:SHOWN]:
        remedy = f" ({left.remedy})" if left.remedy else ""
        yield f"left out: {left.place}: {_count(left.cells, 'cell')}: {left.why}{remedy}"
    yield from _more(reading.left_out, "reasons")
    yield from (f"question: {one.text}. If so: {one.option}" for one in reading.questions[:SHOWN])
    yield from _more(reading.questions, "questions")
    yield reading.line()
    if not reading.conserved:
        raise DataError("cells were lost while reading; this is a bug in genverify: please report it with the file")


def _more(items: Sequence[Any], what: str) -> list[str]:
    return [f"... and {len(items) - SHOWN} more {what}"] if len(items) > SHOWN else []


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
    yield from (f"    {line}" for line in _more(axis.tree, "sums"))
