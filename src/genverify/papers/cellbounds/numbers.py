"""Numbers and labels of a printed table, read exactly and checked."""

import re
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from genverify.core.errors import DataError

Numbers = Sequence[Fraction]
LONGEST = 16
LARGEST_N = 10**9
WHOLE = re.compile(r"[+-]?\d+")
FRACTION = re.compile(r"[+-]?\d+\s*/\s*\d+")
DECIMAL = re.compile(r"[+-]?(\d+\.\d*|\.\d+|\d+)")


def read_number(text: str) -> Fraction:
    """
    A whole number, a fraction or a decimal, exactly.

    >>> read_number("3/20") == read_number("0.15") == read_number(" .150 ")
    True
    """
    text = text.strip()
    if len(text) > LONGEST:
        raise ValueError(f"{text[:LONGEST]}... is too long for a number here (at most {LONGEST} characters)")
    if FRACTION.fullmatch(text):
        above, below = (int(part) for part in text.split("/"))
        if below == 0:
            raise ValueError(f"{text} has the denominator 0")
        return Fraction(above, below)
    if DECIMAL.fullmatch(text):
        return Fraction(Decimal(text))
    raise ValueError(f"{text!r} is no number: write a count (15), a fraction (3/20) or a decimal (0.15)")


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
            raise DataError(f"{what} label {twice!r} stands there twice; give each {what} its own label, or add them up")


def check_N(N: int) -> None:
    """A number of records for which the sums, a bit each, fit into memory."""
    if not 1 <= N <= LARGEST_N:
        raise DataError(f"N = {N}: give a number of records from 1 to {LARGEST_N:,}")


def check_not_negative(rows: Sequence[str], columns: Sequence[str], counts: npt.NDArray[np.int64]) -> None:
    if (counts < 0).any():
        row, column = np.argwhere(counts < 0)[0]
        raise DataError(f"row {rows[row]!r}, column {columns[column]!r}: the count {counts[row, column]} is negative")
