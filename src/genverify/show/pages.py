"""Tables as small HTML pages, for the report: from the Markdown that this package writes, or from a CSV file."""

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import groupby
from pathlib import Path

import pandas as pd

from genverify.show.markdown import cell

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #1d2528; background: #fff; margin: 1.5rem }
h1 { font-size: 1.25rem } h2 { font-size: 1.05rem } p { max-width: 70ch }
table { border-collapse: collapse; margin: 0 0 1.2rem }
td, th { padding: .25rem .7rem; border-bottom: 1px solid #dcdad3; text-align: right; vertical-align: top }
th { border-bottom: 2px solid #5a6569 } .left { text-align: left }
"""
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>{style}</style></head><body>
{body}
</body></html>
"""


def table_page(path: Path) -> str:
    """The page of a table: of its readable form where there is one (.md), otherwise of the CSV file as it stands."""
    parts = markdown_parts(path.read_text()) if path.suffix == ".md" else csv_parts(pd.read_csv(path))
    return PAGE.format(title=escape(path.stem), style=STYLE, body="\n".join(parts))


def csv_parts(frame: pd.DataFrame) -> Iterator[str]:
    """The table, below the name of the data that it was made from."""
    if "data" in frame and len(frame):
        yield f"<p>Data: <b>{escape(str(frame['data'].iloc[0]))}</b>.</p>"
        frame = frame.drop(columns="data")
    left = [not pd.api.types.is_numeric_dtype(kind) for kind in frame.dtypes]
    rows = [[escape(cell(value)) for value in row] for row in frame.astype(object).itertuples(index=False)]
    yield html_table([escape(str(name)) for name in frame.columns], rows, left)


def markdown_parts(text: str) -> Iterator[str]:
    """
    Titles, tables, lists and paragraphs; what is text stays text.

    >>> print(*markdown_parts("# A < B\\n\\n| k | **ours** |\\n| :-- | --: |\\n| 6 | 1.5 |"), sep="\\n")
    <h1>A &lt; B</h1>
    <table><tr><th class="left">k</th><th><b>ours</b></th></tr>
    <tr><td class="left">6</td><td>1.5</td></tr></table>
    """
    for kind, group in groupby((line for line in text.splitlines() if line.strip()), key=_kind):
        lines = list(group)
        if kind == "|":
            header, marks, *rows = [_cells(line) for line in lines]
            yield html_table(header, rows, [mark.startswith(":") for mark in marks])
        elif kind == "-":
            yield "<ul>" + "".join(f"<li>{_words(line[1:])}</li>" for line in lines) + "</ul>"
        elif kind == "#":
            yield from (f"<h{depth}>{_words(line[depth:])}</h{depth}>" for line in lines for depth in [len(line.split()[0])])
        else:
            yield from (f"<p>{_words(line)}</p>" for line in lines)


def html_table(header: Sequence[str], rows: Iterable[Sequence[str]], left: Sequence[bool]) -> str:
    """A table of cells that are HTML already."""

    def row(cells: Sequence[str], tag: str) -> str:
        marks = [' class="left"' if aligned else "" for aligned in left]
        return "<tr>" + "".join(f"<{tag}{mark}>{text}</{tag}>" for mark, text in zip(marks, cells, strict=True)) + "</tr>"

    return "<table>" + "\n".join([row(header, "th"), *(row(cells, "td") for cells in rows)]) + "</table>"


def _kind(line: str) -> str:
    return line[0] if line[0] in "|-#" else ""


def _cells(line: str) -> list[str]:
    parts = re.split(r"(?<!\\)\|", line.strip())[1:-1]
    return [_words(part.replace("\\|", "|")) for part in parts]


def _words(text: str) -> str:
    marked = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", escape(text.strip()))
    return re.sub(r"`(.+?)`", r"<code>\1</code>", marked)
