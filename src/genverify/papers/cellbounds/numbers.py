"""Numbers and labels of a printed table, read exactly and checked."""

import re
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from genverify.core.errors import DataError

Numbers = Sequence[Fraction]
LONGEST = 16
LARGEST_N = 10**9
WHOLE = re.compile(r"[+-]?\d+")
NUMBER = re.compile(r"[+-]?(\d+\s*/\s*\d+|\d+\.?\d*|\.\d+)")  # no exponents: 1e999999999 would fill the memory


def read_number(text: str) -> Fraction:
    """
    A whole number, a fraction or a decimal, exactly.

    >>> read_number("3/20") == read_number("0.15") == read_number(" .150 ")
    True
    """
    text = text.strip()
    if len(text) > LONGEST:
        raise ValueError(f"{text[:LONGEST]}... is too long for a number here (at most {LONGEST} characters)")
    if not NUMBER.fullmatch(text):
        raise ValueError(f"{text!r} is not a number: write a count (15), a fraction (3/20) or a decimal (0.15)")
    try:
        return Fraction("".join(text.split()))
    except ZeroDivisionError:
        raise ValueError(f"{text} has the denominator 0") from None


def is_whole(text: str) -> bool:
    """Whether a number is written as a whole one (`1.0` is not)."""
    return WHOLE.fullmatch(text.strip()) is not None


def check_labels(rows: Sequence[str], columns: Sequence[str]) -> None:
    """At least one row and one column, and no label twice."""
    if not rows or not columns:
        raise DataError(f"an empty table ({len(rows)} rows, {len(columns)} columns of numbers): nothing to bound")
    for what, labels in (("row", rows), ("column", columns)):
        twice = next((label for label, times in Counter(labels).items() if times > 1), None)
        if twice is not None:
            raise DataError(f"{what} label {twice!r} is duplicated; give each {what} its own label, or add them up")


def check_N(N: int) -> None:
    """A number of records for which the sums, a bit each, fit into memory."""
    if not 1 <= N <= LARGEST_N:
        raise DataError(f"N = {N}: give a number of records from 1 to {LARGEST_N:,}")


def check_not_negative(rows: Sequence[str], columns: Sequence[str], counts: npt.NDArray[np.int64]) -> None:
    if (counts < 0).any():
        row, column = np.argwhere(counts < 0)[0]
        raise DataError(f"row {rows[row]!r}, column {columns[column]!r}: the count {counts[row, column]} is negative")
