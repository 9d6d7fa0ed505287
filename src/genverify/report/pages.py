"""Pages from templates and tables as Markdown, where text stays text; the statements of a paper beside ours."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from genverify.model.errors import DataError

# Tables as readable Markdown.


def markdown_table(header: Sequence[Any], rows: Iterable[Sequence[Any]], left: int = 1) -> str:
    """
    A Markdown table; the first `left` columns are aligned left, the others right.

    >>> print(markdown_table(["k", "ours"], [["6", 1.5]]))
    | k | ours |
    | :-- | --: |
    | 6 | 1.5 |
    """
    marks = [":--"] * left + ["--:"] * (len(header) - left)
    lines = ([cell(value).replace("|", "\\|") for value in row] for row in [list(header), marks, *map(list, rows)])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def cell(value: Any) -> str:
    """A value as text: whole numbers with thousands commas, nothing for what is not known."""
    if isinstance(value, float | np.floating):
        if np.isnan(value):
            return ""
        return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.4g}"
    return f"{value:,}" if isinstance(value, int | np.integer) and not isinstance(value, bool) else str(value)


def document(title: str, label: str, parts: Iterable[str]) -> str:
    """A page: title, the data that it was made from, and its parts."""
    return "\n\n".join([f"# {title}", f"Data: **{label}**.", *parts]) + "\n"


def bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


# Pages from templates, where text stays text; tables as pages, from the Markdown that this package writes or from CSV.

DOCUMENT = "report/templates/document.html.j2"
# what other templates extend, import and include: named in a module, so that a change of it runs a job again
SHARED = {
    "layout": "report/templates/layout.html.j2",
    "tables": "report/templates/table.html.j2",
    "style": "report/templates/style.css",
}
TEMPLATES = Environment(loader=PackageLoader("genverify", ""), autoescape=True, undefined=StrictUndefined,
                        trim_blocks=True, lstrip_blocks=True)  # fmt: skip
TEMPLATES.globals |= SHARED
Part = tuple[str, Any]


def render(template: str, **values: Any) -> str:
    """A whole page from a template of this package; every value is escaped."""
    return TEMPLATES.get_template(template).render(values) + "\n"


def table_page(path: Path) -> str:
    """The page of a table: of its readable form where there is one (.md), otherwise of the CSV file as it stands."""
    parts = _markdown_parts(path.read_text()) if path.suffix == ".md" else _csv_parts(pd.read_csv(path))
    return render(DOCUMENT, title=path.stem, parts=parts)


def _csv_parts(frame: pd.DataFrame) -> Iterator[Part]:
    """The table, below the name of the data that it was made from."""
    if "data" in frame and len(frame):
        yield "p", [Markup("Data: <b>{}</b>.").format(frame["data"].iloc[0])]
        frame = frame.drop(columns="data")
    right = [at for at, kind in enumerate(frame.dtypes) if pd.api.types.is_numeric_dtype(kind)]
    yield "table", (list(frame), frame.astype(object).map(cell).to_numpy().tolist(), right)


def _markdown_parts(text: str) -> Iterator[Part]:
    """
    Titles, tables, lists and paragraphs, each with its tag.

    >>> list(_markdown_parts("# A < B\\n\\n| k | **ours** |\\n| :-- | --: |\\n| 6 | 1.5 |"))
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


# The statements of a paper's text beside ours: one table, and the same as a page.

Entry = Mapping[str, Any]


def statements_table(
    statements: Mapping[str, Entry], computed: Collection[str], rows_of: Callable[[str, Entry], Iterable[Entry]], label: str
) -> pd.DataFrame:
    """Every statement of the file of the paper's numbers, with the rows that it has; an error unless all are computed."""
    unknown = sorted(statements.keys() ^ set(computed))
    if unknown:
        raise DataError(f"the statement {unknown[0]!r} is not both in the file of the paper's numbers and computed here")
    rows = list[Entry]()
    for key, entry in statements.items():
        head = {"key": key, "where": entry["where"], "statement": entry["statement"]}
        rows += [{**head, **row} for row in rows_of(key, entry)]
    return pd.DataFrame(rows).assign(data=label)


def statements_text(title: str, lead: str, table: pd.DataFrame, displayed: Sequence[str], label: str) -> str:
    """The columns of the table that are shown, as Markdown."""
    rows = markdown_table(displayed, table[list(displayed)].astype(object).to_numpy(), left=4)
    return document(title, label, [lead, rows])
