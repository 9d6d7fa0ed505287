"""Pages from templates, where text stays text; tables as pages, from the Markdown that this package writes or from CSV."""

import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from genverify.show.markdown import cell

DOCUMENT = "show/page/document.html.j2"
# what other templates extend, import and include: named in a module, so that a change of it runs a job again
SHARED = {"layout": "show/page/layout.html.j2", "tables": "show/page/table.html.j2", "style": "show/page/style.css"}
TEMPLATES = Environment(
    loader=PackageLoader("genverify", ""), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
)
TEMPLATES.globals |= SHARED
Part = tuple[str, Any]


def render(template: str, **values: Any) -> str:
    """A whole page from a template of this package; every value is escaped."""
    return TEMPLATES.get_template(template).render(values) + "\n"


def table_page(path: Path) -> str:
    """The page of a table: of its readable form where there is one (.md), otherwise of the CSV file as it stands."""
    parts = markdown_parts(path.read_text()) if path.suffix == ".md" else csv_parts(pd.read_csv(path))
    return render(DOCUMENT, title=path.stem, parts=parts)


def csv_parts(frame: pd.DataFrame) -> Iterator[Part]:
    """The table, below the name of the data that it was made from."""
    if "data" in frame and len(frame):
        yield "p", [Markup("Data: <b>{}</b>.").format(frame["data"].iloc[0])]
        frame = frame.drop(columns="data")
    right = [at for at, kind in enumerate(frame.dtypes) if pd.api.types.is_numeric_dtype(kind)]
    yield "table", (list(frame), frame.astype(object).map(cell).to_numpy().tolist(), right)


def markdown_parts(text: str) -> Iterator[Part]:
    """
    Titles, tables, lists and paragraphs, each with its tag.

    >>> list(markdown_parts("# A < B\\n\\n| k | **ours** |\\n| :-- | --: |\\n| 6 | 1.5 |"))
    [('h1', [Markup('A &lt; B')]), ('table', ([Markup('k'), Markup('<b>ours</b>')], [[Markup('6'), Markup('1.5')]], [1]))]
    """
    for mark, group in groupby((line for line in text.splitlines() if line.strip()), key=_mark):
        if mark == "|":
            head, marks, *rows = map(_cells, group)
            yield "table", (head, rows, [at for at, aligned in enumerate(marks) if not aligned.startswith(":")])
        else:
            yield {"-": "li", "": "p"}.get(mark, f"h{len(mark)}"), [_words(line[len(mark) :]) for line in group]


def _mark(line: str) -> str:
    return "".join(re.findall(r"^(?:\||-|#+)", line))


def _cells(line: str) -> list[Markup]:
    parts = re.split(r"(?<!\\)\|", line.strip())[1:-1]
    return [_words(part.replace("\\|", "|")) for part in parts]


def _words(text: str) -> Markup:
    marked = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", str(escape(text.strip())))
    return Markup(re.sub(r"`(.+?)`", r"<code>\1</code>", marked))
