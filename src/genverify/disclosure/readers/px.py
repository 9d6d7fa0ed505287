"""PC-Axis files (.px): keywords in capitals, the values of every variable, then the data in order."""

import re
from dataclasses import replace
from itertools import product
from pathlib import Path

from genverify.core.csvfile import decoded
from genverify.core.errors import DataError
from genverify.core.limits import FileLimits
from genverify.disclosure.readers.model import Entry, PrintedTable, make_table
from genverify.disclosure.readers.totals import find_totals

STATEMENT = re.compile(r'\s*([A-Z0-9-]+)(?:\[\w+\])?(?:\(([^)]*)\))?\s*=\s*((?:"[^"]*"|[^";])*);', re.DOTALL)
QUOTED = re.compile(r'"([^"]*)"')


def read_px(path: Path, limits: FileLimits) -> list[PrintedTable]:
    """The table of a PC-Axis file."""
    limits.check(path, 0, path.stat().st_size)
    text, _ = decoded(path.read_bytes(), path)
    said: dict[tuple[str, str], str] = {}
    for found in STATEMENT.finditer(text):
        said.setdefault((found[1], (QUOTED.findall(found[2] or "") or [""])[0]), found[3])
    if ("DATA", "") not in said:
        raise DataError(f"{path}: has no DATA=...; (with its semicolon), so it is no PC-Axis file, or it is cut short")
    columns = [name for key in ("STUB", "HEADING") for name in QUOTED.findall(said.get((key, ""), ""))]
    labels = []
    for column in columns:
        if ("VALUES", column) not in said:
            raise DataError(f'{path}: VALUES("{column}") is missing')
        labels.append(QUOTED.findall(said["VALUES", column]))
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
