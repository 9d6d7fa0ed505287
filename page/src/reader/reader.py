"""
The reader of the page: the library's own reading and linking, for files that were dropped or pasted, as JSON.

Nothing is read here a second time: the roles, totals, symbols, questions and the line of conservation are those of
`genverify read`, and the system of sums is that of `genverify disclose`; this file only says what of it the page shows.
"""

import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple
from difflib import unified_diff
from itertools import accumulate
from pathlib import Path
from typing import Any

from genverify.disclosure.interpretation import PrintedForm, PrintedTableForm, interpret, summary
from genverify.disclosure.link import name_of
from genverify.model.errors import ConfigError, DataError, GenverifyError
from genverify.model.files import read_yaml
from genverify.reading.read_command import describe, read_files, told_of
from genverify.reading.reading import Reading, Table, cell_roles, is_reading, write_reading
from genverify.reading.source import Sheet, Source, column_name
from genverify.reading.table_cells import HEADING_AT

FOLDER = Path("/tmp/files")
MOST_ROWS, MOST_COLUMNS = 60, 40  # of a sheet that the page shows; the reading is of all
MOST_LINES = 200  # of one kind in a list
MOST_LABELS = 2000  # of an axis that the page offers as a total
MOST_CELLS = 5000  # of an audit in a browser: beyond, the search takes minutes
DEEPEST = 200  # levels of a JSON file: the stack of a browser holds a few hundred
OLD_EXCEL = b"\xd0\xcf\x11\xe0"  # how .xls files begin
LARGEST = 60 * 2**20  # bytes: beyond, a browser may run out of memory while it reads

# the options of `genverify disclose`, and what they are called in its form
FIELDS = {
    "--labels": "label_columns", "--counts": "count_columns", "--skip": "skip", "--total": "totals",
    "--no-total": "no_totals", "--symbol": "marks", "--rule": "rule", "--label": "labels", "--same-people": "same_people",
    "--allow-partial": "partial",
}  # fmt: skip
PAIRS, FLAGS = ("totals", "marks"), ("same_people", "partial")

last: dict[str, Any] = {}


def answer(question: str) -> str:
    """What the page asks, and the answer, both as JSON; a mistake in a file or an option is an answer too."""
    asked = json.loads(question)
    try:
        tasks: dict[str, Callable[..., Any]] = {"ready": ready, "read": read, "system": system}
        found = tasks[asked.pop("ask")](**asked)
        return json.dumps({"found": found}, ensure_ascii=False)
    except GenverifyError as error:
        return json.dumps({"problem": str(error).replace(f"{FOLDER}/", "")}, ensure_ascii=False)


def clear() -> None:
    """Forget every file and reading."""
    last.clear()
    FOLDER.mkdir(parents=True, exist_ok=True)
    for path in FOLDER.glob("*"):
        path.unlink()


def ready() -> str:
    """An answer as soon as Python runs."""
    return sys.version


def read(words: Sequence[str], files: Sequence[str] | None = None) -> dict[str, Any]:
    """The reading of files as told by the words of a command line, and what of it stands otherwise than without them."""
    paths = last["paths"] = [FOLDER / name for name in files] if files is not None else last["paths"]
    for path in paths:
        data = path.read_bytes()
        if data[:4] == OLD_EXCEL or path.suffix.lower() == ".xlsb":
            raise DataError(
                f"{path.name}: this page reads .xlsx and .ods, not older Excel files. Save it as .xlsx, or paste the table; "
                "the command genverify read takes it as it is"
            )
        if data.lstrip()[:1] == b"{":
            depths = accumulate(1 if sign in b"[{" else -1 for sign in re.findall(rb"[\[\]{}]", data))
            if max(depths, default=0) > DEEPEST:
                raise DataError(f"{path.name}: is nested more than {DEEPEST} levels deep; no table of counts is")
        if len(data) > LARGEST:
            raise DataError(f"{path.name}: is larger than {LARGEST // 2**20} MB; use the command genverify read")
    reading = read_files(paths, told_of(words))
    blanks = sum(not text for table in reading.tables for own in table.counts if not table.cube
                 for row, text in enumerate(own.texts) if row not in table.excluded)  # fmt: skip
    lines = list(describe(reading))
    text = write_reading(reading)
    if not words:
        last["text"] = text
    last["reading"] = reading
    return {
        "files": [{"name": one.name, "form": one.form} for one in reading.sources],
        "tables": [_table(table) for table in reading.tables],
        "sheets": list(_sheets(reading)),
        "symbols": [
            {"text": text, "meaning": own.meaning, "how": own.how, "said": own.said, "cells": reading.met[text]}
            for text, own in reading.symbols.items()
        ],
        "blanks": blanks,
        "like": sorted(reading.labels_like_symbols.items(), key=lambda one: -one[1])[:MOST_LINES],
        "left_out": [[left.place, left.cells, left.why, left.remedy] for left in reading.left_out[:MOST_LINES]],
        "questions": [[one.text, one.option] for one in reading.questions[:MOST_LINES]],
        "said": list(reading.said),
        "line": reading.line(),
        "lines": lines,
        "reading_file": text,
        "changed": list(_changed(last.get("text", text), text))[:MOST_LINES],
    }


def _changed(before: str, after: str) -> Iterator[str]:
    """The lines of a reading file that stand otherwise than before, below the name of their axis; reasons are left out."""
    name = ""
    whole = len(after) + len(before)  # all lines around a change: the name of an axis can stand far above
    for line in list(unified_diff(before.splitlines(), after.splitlines(), n=whole, lineterm=""))[3:]:
        sign, own = line[:1], line[1:].strip()
        if own.startswith("- name: ") and sign != "-":
            name = own
        elif sign == "+" and not own.startswith("why: "):
            if name and own.startswith(("kind: ", "tree:", "- [")):
                yield name
                name = ""
            yield own


def _table(table: Table) -> dict[str, Any]:
    across = table.axes[-1] if len(table.counts) > 1 and not table.cube else None  # the axis of the headers of counts
    totals = {own.at: [across.name, own.label, own.label in dict(across.tree)] for own in table.counts if across}
    return {
        "name": table.name, "file": table.file, "sheet": table.sheet, "title": table.title, "hidden": table.hidden,
        "population": dict(table.population), "cells": len(table.entries), "cube": table.cube is not None,
        "columns": [{"name": own.name, "role": own.role, "head": own.head, "why": own.why, "total": totals.get(own.at)}
                    for own in table.columns if own.at != HEADING_AT],
        "axes": [{"name": axis.name, "kind": axis.kind, "why": axis.why, "labels": axis.labels[:MOST_LABELS],
                  "of": len(axis.labels), "columns": axis.columns, "tree": axis.tree} for axis in table.axes],
    }  # fmt: skip


def _sheets(reading: Reading) -> Iterator[dict[str, Any]]:
    """The first rows of every sheet as they are printed, with the role of each cell and of each row."""
    roles: dict[str, tuple[str, str]] = {}
    if any(source.sheets for source in reading.sources):
        roles = {f"{one.file}/{one.place}": (one.role, one.why) for one in cell_roles(reading)}
    for source in reading.sources:
        for sheet in source.sheets:
            tables = [own for own in reading.tables if (own.file, own.sheet) == (source.name, sheet.name)]
            yield _sheet(source, sheet, tables, roles)


def _sheet(source: Source, sheet: Sheet, tables: Sequence[Table], roles: Mapping[str, tuple[str, str]]) -> dict[str, Any]:
    width = max((len(row) for row in sheet.rows), default=0)
    of_row = {at: own for table in tables for at, own in _row_roles(table).items()}
    rows = []
    for at, row in enumerate(sheet.rows[:MOST_ROWS]):
        own = [roles.get(f"{source.name}/{sheet.name}!{column_name(column)}{at + 1}", ("", ""))
               for column in range(min(len(row), MOST_COLUMNS))]  # fmt: skip
        outside = (
            "left out" if any(role == "left out" for role, _ in own) else "note" if any(role for role, _ in own) else ""
        )
        role, totals = of_row.get(at, (outside, []))
        rows.append({"texts": row[:MOST_COLUMNS], "roles": [role for role, _ in own], "whys": [why for _, why in own],
                     "role": role, "axes": totals})  # fmt: skip
    return {"file": source.name, "name": sheet.name, "rows": rows, "height": len(sheet.rows), "width": width}


def _row_roles(table: Table) -> dict[int, tuple[str, list[list[Any]]]]:
    """The role of every row of a table; of a row of the body, the axes and labels that it can be the total of."""
    block = table.block
    found: dict[int, tuple[str, list[list[Any]]]] = {at: ("header", []) for at in (*block.header, *block.repeated)}
    found |= {at: ("heading", []) for at in block.headings}
    for row, at in enumerate(block.body[:MOST_ROWS]):
        own = [[axis.name, labels[row], labels[row] in dict(axis.tree)]
               for axis, labels in zip(table.axes, table.rows, strict=False)]  # fmt: skip
        total = any(adds_up for _, _, adds_up in own)
        found[at] = "left out" if row in table.excluded else "total" if total else "body", own
    return found


def system(words: Sequence[str]) -> dict[str, Any]:
    """The system that the tables of the files form, as `genverify disclose` makes it of them with these words."""
    reading: Reading = last["reading"]
    held = sum(len(table.entries) for table in reading.tables)
    if held > MOST_CELLS:
        raise DataError(f"{held:,} counts are too many for this page (at most {MOST_CELLS:,}); use genverify disclose")
    understood = interpret(_form(words), FOLDER)
    linked = understood.linked
    known = len(list(describe(understood.reading)))
    printed = [[name_of(key), [[table.name, entry.text, entry.place, *astuple(value)] for table, entry, value in said]]
               for key, said in linked.printed.items()]  # fmt: skip
    placed = [{"name": one.table.name, "title": one.table.title, "columns": one.table.columns,
               "entries": [[labels, entry.text, name_of(one.keys[labels])] for labels, entry in one.table.entries.items()]}
              for one in linked.placed]  # fmt: skip
    return {
        "sums": linked.sums.as_dict(), "digest": linked.sums.digest, "printed": printed, "placed": placed,
        "joint": linked.joint, "assumed": linked.assumed, "left": understood.left_out,
        "summary": summary(understood)[known:],
    }  # fmt: skip


def _form(words: Sequence[str]) -> PrintedForm:
    """What the words of a command line, and a reading file among the files, say for an audit."""
    paths: list[Path] = last["paths"]
    given: dict[str, Any] = {"printed": [path.name for path in paths]}
    for path in filter(is_reading, paths):
        text = read_yaml(path)
        given |= text.get("disclose") or {}
        held = [own for file in text.get("files") or () for own in file.get("tables") or () if "percent_of" in own]
        given["tables"] = {str(own["name"]): PrintedTableForm(percent_of=own["percent_of"]) for own in held}
    for option, value in zip(words[::2], words[1::2], strict=True):
        name = FIELDS[option]
        if name in FLAGS:
            given[name] = True
        elif name in PAIRS:
            front, _, end = value.rpartition("=") if name == "marks" else value.partition("=")
            given[name] = {**given.get(name, {}), front: end}
        else:
            given[name] = [*given.get(name, []), value]
    known = {name for kind in PrintedForm.__mro__ for name in vars(kind).get("__annotations__", {})}
    if unknown := sorted(set(given) - known):
        raise ConfigError(f"disclose: {unknown[0]}: no such setting in a reading file")
    return PrintedForm(**given)
