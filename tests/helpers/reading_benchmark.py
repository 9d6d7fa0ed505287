"""Readings compared with what a person wrote down about the same file: what is right, what differs, and how badly."""

import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from genverify.core.errors import GenverifyError
from genverify.reading.command import told_of
from genverify.reading.reading import Reading, Table, read
from genverify.reading.source import column_at, read_source

HERE = Path(__file__).parents[1] / "readings"
COUNTED = {"count"}
FIGURES = {"percentage", "rate", "statistic", "money"}


@dataclass(frozen=True)
class Outcome:
    """How a reading compares: right, right with options, partly (nothing placed wrongly), wrong, or refused; and why."""

    name: str
    word: str
    differences: tuple[str, ...] = ()


def expected_files() -> dict[str, Mapping[str, Any]]:
    """What was written down, by the name of its file."""
    return {path.stem: yaml.safe_load(path.read_text()) for path in sorted(HERE.glob("*.yaml"))}


def tables_folder() -> Path | None:
    """The folder of published tables: beside the repository, or where GENVERIFY_TABLES says."""
    folder = Path(os.environ.get("GENVERIFY_TABLES") or Path(__file__).parents[3] / "shared" / "tables")
    return folder if folder.is_dir() else None


def find_file(digest: str) -> Path | None:
    """The file with this digest, whatever its name."""
    folder = tables_folder()
    if not _digests and folder:
        for path in sorted(folder.glob("*")):
            _digests[hashlib.sha256(path.read_bytes()).hexdigest()] = path
    return _digests.get(digest)


_digests: dict[str, Path] = {}


def letters(spec: str) -> Iterator[int]:
    for part in spec.split():
        first, _, last = part.partition("-")
        yield from range(column_at(first), column_at(last or first) + 1)


def lines(spec: str) -> set[int]:
    found = set[int]()
    for part in str(spec).split():
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return found


def judge(name: str, expected: Mapping[str, Any], path: Path) -> Outcome:
    """As it is, and if that differs and options are written down, with them."""
    outcome = compare(name, expected, path, [])
    if outcome.word != "right" and expected.get("options"):
        told = compare(name, expected, path, expected["options"])
        if told.word == "right":
            return Outcome(name, "right with options", outcome.differences)
    return outcome


def compare(name: str, expected: Mapping[str, Any], path: Path, options: list[str]) -> Outcome:
    try:
        reading = read([read_source(path)], told_of(options))
    except GenverifyError as error:
        return Outcome(name, "refused", (str(error),))
    harmless, wrong = list[str](), list[str]()
    for word, cells in expected["roles"].items():
        found = reading.conservation[word]
        if found != cells:
            harmless.append(f"{word}: {found} cells instead of {cells}")
    if not reading.conserved:
        wrong.append("cells are lost")
    _compare_tables(reading, expected, harmless, wrong)
    _compare_totals(reading, expected, harmless, wrong)
    for text, meaning in expected["symbols"].items():
        own = reading.symbols.get(text)
        if own is None:
            (harmless if not reading.met.get(text) else wrong).append(f"symbol {text}: not met")
        elif own.meaning != meaning:
            harmless.append(f"symbol {text}: {own.meaning} ({own.how}) instead of {meaning}")
    word = "wrong" if wrong else "partly" if harmless else "right"
    return Outcome(name, word, tuple([*wrong, *harmless]))


def _compare_tables(reading: Reading, expected: Mapping[str, Any], harmless: list[str], wrong: list[str]) -> None:
    left = [table for table in reading.tables if table.block.body]
    for number, own in enumerate(expected["tables"]):
        columns = {at: role for role, spec in own["columns"].items() for at in letters(spec)}
        body = lines(own["body"]) - lines(own.get("headings", ""))
        table = next((one for one in left if own.get("sheet") in (None, one.sheet) and set(columns) & set(one.block.columns)
                      and body & {at + 1 for at in one.block.body}), None)  # fmt: skip
        if table is None:
            harmless.append(f"table {number + 1} is not found")
            continue
        left.remove(table)
        _compare_table(f"table {number + 1}", table, own, columns, body, harmless, wrong)
    for table in left:
        told = "wrong" if table.counts else "harmless"
        (wrong if told == "wrong" else harmless).append(f"{table.name}: a table that nobody expects")


def _compare_table(
    name: str,
    table: Table,
    own: Mapping[str, Any],
    columns: Mapping[int, str],
    body: set[int],
    harmless: list[str],
    wrong: list[str],
) -> None:
    header = {at + 1 for at in table.block.header}
    if header != lines(own["header"]):
        harmless.append(f"{name}: header rows {sorted(header)} instead of {own['header']}")
    found = {at + 1 for at in table.block.body}
    if found != body:
        harmless.append(f"{name}: {len(found - body)} rows too many in the body, {len(body - found)} missing")
        if found & lines(own["header"]) or header & body:
            wrong.append(f"{name}: a header row is taken for the body, or the other way round")
    for column in table.columns:
        role = columns.get(column.at)
        if role is None or role == column.role:
            continue
        text = f"{name}, column {column.name}: {column.role} instead of {role}"
        (wrong if (role in COUNTED) != (column.role in COUNTED) and column.role != "left out" else harmless).append(text)


def _compare_totals(reading: Reading, expected: Mapping[str, Any], harmless: list[str], wrong: list[str]) -> None:
    wanted = list(expected["totals"])
    for table in reading.tables:
        for number, axis in enumerate(table.axes):
            if not axis.tree:
                continue
            names = {column.name for column in table.columns if column.at in axis.columns} | {f"axis {number + 1}"}
            names |= {"columns"} if not axis.columns and not table.cube else set()
            if hit := next((name for name in wanted if name in names), None):
                wanted.remove(hit)
            else:
                wrong.append(f"{table.name}: a total of {axis.name} that nobody expects")
            if fault := axis.check():
                wrong.append(f"{table.name}: {fault}")
    harmless += [f"no total is found of {name}" for name in wanted]
