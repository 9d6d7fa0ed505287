"""A table of conditional frequencies as its reduced counts (section 2.1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import gcd, lcm

import numpy as np

from genverify.core.arraytypes import Ints
from genverify.core.errors import DataError
from genverify.papers.cellbounds.numbers import Numbers, check_labels, check_N, check_not_negative

LARGEST = 2**53


@dataclass(frozen=True)
class Conditionals:
    """
    P(column | row), exact: the reduced counts r_ij, the least whole numbers in the right proportions in each row.

    A row of zeros is an empty row, for which no conditionals exist.

    >>> table = conditionals_of_counts(("Alpha", "Beta"), ("low", "high"), np.array([[3, 1], [20, 5]]))
    >>> table.reduced.tolist(), table.sums.tolist(), table.total
    ([[3, 1], [4, 1]], [4, 5], 9)
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    reduced: Ints

    @cached_property
    def sums(self) -> Ints:
        """r_i, the reduced sum of each row."""
        sums: Ints = self.reduced.sum(axis=1)
        return sums

    @property
    def total(self) -> int:
        """R, the reduced total."""
        return int(self.sums.sum())

    def remainder(self, N: int) -> int:
        """N - R, which the rows share in multiples of their reduced sums; an error where N is too small."""
        check_N(N)
        if self.total > N:
            raise DataError(
                f"N = {N} is too small: the fractions alone need {self.total} records (the reduced sums of the "
                f"{len(self.rows)} rows added up). Check --total; if the values are rounded, say so with --decimals."
            )
        return N - self.total


def conditionals_of_counts(rows: Sequence[str], columns: Sequence[str], counts: Ints) -> Conditionals:
    """The conditionals of a table of counts: each row divided by its greatest common divisor."""
    check_labels(rows, columns)
    check_not_negative(rows, columns, counts)
    divisors = np.maximum(np.gcd.reduce(counts, axis=1), 1)
    return Conditionals(tuple(rows), tuple(columns), counts // divisors[:, None])


def conditionals_of_fractions(rows: Sequence[str], columns: Sequence[str], fractions: Sequence[Numbers]) -> Conditionals:
    """The conditionals of exact fractions: each row times its least common denominator."""
    check_labels(rows, columns)
    return Conditionals(
        tuple(rows),
        tuple(columns),
        np.array([_reduced(row, columns, values) for row, values in zip(rows, fractions, strict=True)], dtype=np.int64),
    )


def _reduced(row: str, columns: Sequence[str], values: Numbers) -> list[int]:
    for column, value in zip(columns, values, strict=True):
        if value < 0:
            raise DataError(f"row {row!r}, column {column!r}: {value} is negative")
    total = sum(values)
    if total != 1:
        raise DataError(
            f"row {row!r}: the fractions sum to {total} (about {float(total):.6g}), not to 1. Correct the row, or say "
            "with --decimals how the values were rounded"
        )
    denominator = lcm(*(value.denominator for value in values))
    if denominator > LARGEST:
        raise DataError(f"row {row!r}: the common denominator {denominator} is above {LARGEST}; give simpler fractions")
    reduced = [int(value * denominator) for value in values]
    return [count // gcd(*reduced) for count in reduced]


def aggregate(table: Ints, names: Sequence[str], given: Sequence[str], response: Sequence[str]) -> Ints:
    """
    A multi-way table of counts as a two-way one, rows = given, columns = response; every other variable is summed out.

    Bounds of such a partial table are bounds of sums of cells of the full one.

    >>> aggregate(np.arange(8).reshape(2, 2, 2), ("A", "B", "C"), ("C",), ("A",)).tolist()
    [[2, 10], [4, 12]]
    """
    for name in [*given, *response]:
        if name not in names:
            raise DataError(f"no variable {name!r}; the table has {', '.join(names)}")
    kept = [*given, *response]
    if len(set(kept)) != len(kept):
        raise DataError(f"a variable is named twice among {', '.join(kept)}")
    out = tuple(axis for axis, name in enumerate(names) if name not in kept)
    order = [name for name in names if name in kept]
    summed: Ints = table.sum(axis=out).transpose([order.index(name) for name in kept])
    rows = int(np.prod(summed.shape[: len(given)], dtype=np.int64))
    return summed.reshape(rows, -1)
