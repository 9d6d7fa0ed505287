"""Tables as readable Markdown."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np


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
