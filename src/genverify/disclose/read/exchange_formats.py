"""Formats of statistical offices: PC-Axis and JSON-stat."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

from genverify.disclose.read.printed_table import Entry, PrintedTable, Told, find_totals, make_table
from genverify.model.errors import DataError
from genverify.model.files import refuse_duplicates
from genverify.model.tablefiles import decoded

# PC-Axis files (.px): keywords in capitals, the values of every variable, then the data in order.

PIECE = re.compile(r'"[^"]*"|[^";]+|;')
KEYWORD = re.compile(r"\s*([A-Z0-9-]{1,40})(?:\[\w{1,20}\])?(?:\(([^)]*)\))?\s*=", re.DOTALL)
QUOTED = re.compile(r'"([^"]*)"')


def _statements(text: str) -> Iterator[str]:
    """The statements of a file: what stands between semicolons outside of quotation marks; one cut short is none."""
    pieces: list[str] = []
    for piece in PIECE.findall(text):
        if piece == ";":
            yield "".join(pieces)
            pieces = []
        else:
            pieces.append(piece)


def read_px(path: Path, told: Told) -> list[PrintedTable]:
    """The table of a PC-Axis file."""
    told.limits.check(path, 0, path.stat().st_size)
    text, _ = decoded(path.read_bytes(), path)
    said: dict[tuple[str, str], str] = {}
    for statement in _statements(text):
        if found := KEYWORD.match(statement):
            said.setdefault((found[1], (QUOTED.findall(found[2] or "") or [""])[0]), statement[found.end() :])
    if ("DATA", "") not in said:
        raise DataError(f"{path}: has no DATA=...; (with its semicolon), so it is no PC-Axis file, or it is cut short")
    columns = [name for key in ("STUB", "HEADING") for name in QUOTED.findall(said.get((key, ""), ""))]
    labels = []
    for column in columns:
        if ("VALUES", column) not in said:
            raise DataError(f'{path}: VALUES("{column}") is missing')
        labels.append(QUOTED.findall(said["VALUES", column]))
    told.limits.check_combinations(path, map(len, labels), "the table")
    data = re.findall(r'"[^"]*"|[^\s",;]+', said["DATA", ""])
    cells = list(product(*labels))
    if len(data) != len(cells):
        raise DataError(f"{path}: DATA holds {len(data)} values, but the variables have {len(cells)} combinations")
    entries = [
        (cell, Entry(value.strip('"'), f"{path}, value {at}"))
        for at, (cell, value) in enumerate(zip(cells, data, strict=True), 1)
    ]
    table = make_table(path.stem, str(path), columns, entries, " ".join(QUOTED.findall(said.get(("TITLE", ""), ""))))
    named = {column: QUOTED.findall(said["ELIMINATION", column]) for column in columns if ("ELIMINATION", column) in said}
    totals = {column: found[0] for column, found in named.items() if found}
    return [replace(find_totals(table, totals), notes=("PC-Axis", *find_totals(table, totals).notes))]


# JSON-stat datasets (2.0, and the older bundle).


def read_json(path: Path, told: Told) -> list[PrintedTable]:
    """The datasets of a JSON-stat file, or the outputs of an acro session (results.json)."""
    from genverify.disclose.read.tool_formats import acro_tables, is_acro

    told.limits.check(path, 0, path.stat().st_size)
    try:
        text = json.loads(path.read_bytes(), object_pairs_hook=refuse_duplicates)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: is not valid JSON ({error})") from None
    if is_acro(text):
        return acro_tables(text, path, told)
    datasets = _datasets(text)
    if not datasets:
        raise DataError(
            f"{path}: is neither a JSON-stat dataset (class, id, size, dimension, value) nor acro's results.json"
        )
    try:
        return [_table(name or path.stem, dataset, path, told) for name, dataset in datasets]
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
        raise DataError(f"{path}: not a whole JSON-stat dataset ({type(error).__name__}: {error})") from None


def _datasets(text: Any) -> list[tuple[str, Any]]:
    if not isinstance(text, dict):
        return []
    if "dimension" in text and "value" in text:
        return [("", text)]
    return [
        (str(name), own) for name, own in text.items() if isinstance(own, dict) and "dimension" in own and "value" in own
    ]


def _table(name: str, dataset: Any, path: Path, told: Told) -> PrintedTable:
    dimension = dataset["dimension"]
    columns = list(dataset.get("id") or dimension["id"])
    sizes = list(dataset.get("size") or dimension["size"])
    labels = [_labels(dimension[column]["category"]) for column in columns]
    if [len(own) for own in labels] != sizes:
        raise DataError(f"{path}: size is {sizes}, but the dimensions have {[len(own) for own in labels]} categories")
    told.limits.check_combinations(path, sizes, f"dataset {name}")
    cells = list(product(*labels))
    values, status = dataset["value"], dataset.get("status") or {}
    if isinstance(values, list) and len(values) != len(cells):
        raise DataError(f"{path}: {len(values)} values for {len(cells)} combinations of categories")
    entries = [
        (cell, Entry(_text(_at(values, at), _at(status, at)), f"{path}, value {at}")) for at, cell in enumerate(cells)
    ]
    flags = Counter(str(_at(status, at)) for at in range(len(cells)) if _at(status, at) and _at(values, at) is not None)
    left = [f"{name}: the status {own!r} beside {times} printed counts: what does it mean?" for own, times in flags.items()]
    shown = [str(dimension[column].get("label") or column) for column in columns]
    table = make_table(name, str(path), shown, entries, str(dataset.get("label") or "")).noted("JSON-stat")
    return find_totals(replace(table, left_out=tuple(left)))


def _labels(category: Any) -> list[str]:
    index = category.get("index") or list(category["label"])
    codes = list(index) if isinstance(index, list) else sorted(index, key=index.__getitem__)
    words = category.get("label") or {}
    return [str(words.get(code, code)) for code in codes]


def _at(values: Any, at: int) -> Any:
    if isinstance(values, list):
        return values[at] if at < len(values) else None
    return values.get(str(at)) if isinstance(values, dict) else values


def _text(value: Any, status: Any) -> str:
    if value is None:
        return f"status {status}" if status else ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


READERS = {".px": read_px, ".json": read_json}
