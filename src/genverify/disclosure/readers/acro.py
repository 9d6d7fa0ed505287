"""The outputs of an acro session: results.json and the CSV files that it names."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from genverify.core.errors import DataError
from genverify.core.files import regular_file
from genverify.disclosure.readers.grid import tables_of
from genverify.disclosure.readers.model import PrintedTable, Told
from genverify.disclosure.readers.text import read_grid

HIDDEN = "suppressed"


def is_acro(text: Any) -> bool:
    return isinstance(text, dict) and isinstance(text.get("results"), dict) and "version" in text


def acro_tables(text: Any, path: Path, told: Told) -> list[PrintedTable]:
    """The tables among the outputs; cells that acro left empty because of a threshold have the mark `suppressed`."""
    found = []
    for name, output in text["results"].items():
        if not isinstance(output, dict) or output.get("type") != "table":
            continue
        files = [str(one) for one in output.get("output", []) if str(one).endswith(".csv")]
        for place, file in enumerate(files):
            own = path.parent / Path(file).name
            if not own.exists():
                raise DataError(f"{path}: output {name} names {file}, which is not in the same folder")
            grid, indents, _ = read_grid(regular_file(own), told)
            hidden = "suppress" in str(output.get("summary", "")).lower() or bool(output.get("outcome"))
            called = name if len(files) == 1 else f"{name}_{place}"
            tables = tables_of(_counts_only(grid), called, str(own), indents)
            found += [_marked(table) if hidden else table for table in tables]
    if not found:
        raise DataError(f"{path}: names no output of type table with a CSV file")
    return [table.noted("an acro session") for table in found]


def _counts_only(grid: list[list[str]]) -> list[list[str]]:
    """Whole numbers without the .0 that a column with gaps gets."""
    return [[text.removesuffix(".0") if text.removesuffix(".0").isdecimal() else text for text in row] for row in grid]


def _marked(table: PrintedTable) -> PrintedTable:
    entries = {labels: replace(entry, text=entry.text or HIDDEN) for labels, entry in table.entries.items()}
    return replace(table, entries=entries)
