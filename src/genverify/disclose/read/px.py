"""Files that end in .px: replace this sentence by what the format is."""

from pathlib import Path

from genverify.disclose.read.printed_table import Entry, PrintedTable, Told, find_totals, make_table
from genverify.model.errors import DataError
from genverify.model.tablefiles import decoded


def read_px(path: Path, told: Told) -> list[PrintedTable]:
    """The table of a file: here, names of columns, then a line a cell, all separated by |. Replace this by the format."""
    told.limits.check(path, 0, path.stat().st_size)
    text, _ = decoded(path.read_bytes(), path)
    rows = [[part.strip() for part in line.split("|")] for line in text.splitlines()]
    entries = []
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(rows[0]):
            raise DataError(f"{path}, line {number}: holds {len(row)} parts, but the first line names {len(rows[0])}")
        entries.append((tuple(row[:-1]), Entry(row[-1], f"{path}, line {number}")))
    table = make_table(path.stem, str(path), rows[0][:-1] if rows else [], entries)
    return [find_totals(table).noted("a file .px")]


READERS = {".px": read_px}
