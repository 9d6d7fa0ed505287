"""A file of counts to fill in: every cell that a release file describes."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from genverify.core.csvtext import neutral
from genverify.core.errors import DataError
from genverify.core.release import TOTAL
from genverify.disclosure.cells import lines_of
from genverify.disclosure.codes import read_texts
from genverify.disclosure.describe import column_codings
from genverify.disclosure.form import read_form


def template(path: Path, changes: Mapping[str, Any] | None = None) -> str:
    """The cells as CSV lines with an empty count; with areas, those of one area (to be repeated) and those across."""
    form = read_form(path, changes)
    source = path.parent / str(form.data or form.counts)
    data = read_texts(source, form.limits) if form.data else None
    try:
        lines = lines_of(form, column_codings(form, data, source))
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    rows = [
        ("area" if form.area else "", TOTAL),
        *(("area" if form.area and not line.across else "", line.query.id) for line in lines),
    ]
    if form.area:
        return "area,cell,count\n" + "".join(f"{area},{_quoted(cell)},\n" for area, cell in rows)
    return "cell,count\n" + "".join(f"{_quoted(cell)},\n" for _, cell in rows)


def _quoted(cell: str) -> str:
    """
    >>> _quoted('t.a, b')
    '"t.a, b"'
    """
    text = neutral(cell)
    quoted = text.replace('"', '""')
    return f'"{quoted}"' if set(text) & set(',"\r\n') else text
