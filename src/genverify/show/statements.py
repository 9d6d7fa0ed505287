"""The statements of a paper's text beside ours: one table, and the same as a page."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from genverify.core.errors import DataError
from genverify.show.markdown import document, markdown_table

Entry = Mapping[str, Any]


def statements_table(
    statements: Mapping[str, Entry], computed: Collection[str], rows_of: Callable[[str, Entry], Iterable[Entry]], label: str
) -> pd.DataFrame:
    """Every statement of the file of the paper's numbers, with the rows that it has; an error unless all are computed."""
    unknown = sorted(statements.keys() ^ set(computed))
    if unknown:
        raise DataError(f"the statement {unknown[0]!r} is not both in the file of the paper's numbers and computed here")
    rows = [
        {"key": key, "where": entry["where"], "statement": entry["statement"], **row}
        for key, entry in statements.items()
        for row in rows_of(key, entry)
    ]
    return pd.DataFrame(rows).assign(data=label)


def statements_text(title: str, lead: str, table: pd.DataFrame, shown: Sequence[str], label: str) -> str:
    """The columns of the table that are shown, as Markdown."""
    rows = markdown_table(shown, table[list(shown)].astype(object).to_numpy(), left=4)
    return document(title, label, [lead, rows])
