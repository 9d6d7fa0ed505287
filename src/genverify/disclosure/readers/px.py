"""PC-Axis files (.px): keywords in capitals, the values of every variable, then the data in order."""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

from genverify.core.csvfile import decoded
from genverify.core.errors import DataError
from genverify.disclosure.readers.model import Entry, PrintedTable, Told, make_table
from genverify.disclosure.readers.totals import find_totals

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
