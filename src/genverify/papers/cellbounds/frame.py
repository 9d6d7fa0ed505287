"""Bounds of the cells of a DataFrame of conditional frequencies or counts."""

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from genverify.papers.cellbounds.conditional import conditionals_of_counts, conditionals_of_fractions
from genverify.papers.cellbounds.exact import bound_cells as bound


def bound_cells(table: pd.DataFrame, N: int) -> pd.DataFrame:
    """
    The least and the greatest count of every cell, from what is published of each row: counts in their proportions, or
    fractions such as "3/20". N is the number of records.

    >>> bound_cells(pd.DataFrame({"yes": ["1/2", "1/3"], "no": ["1/2", "2/3"]}, index=["old", "young"]), 10)
         row column  lower  upper
    0    old    yes      2      2
    1    old     no      2      2
    2  young    yes      2      2
    3  young     no      4      4
    """
    rows, columns = [str(name) for name in table.index], [str(name) for name in table.columns]
    if all(pd.api.types.is_integer_dtype(kind) for kind in table.dtypes):
        conditionals = conditionals_of_counts(rows, columns, table.to_numpy(dtype=np.int64))
    else:
        conditionals = conditionals_of_fractions(rows, columns, [tuple(map(_fraction, row)) for row in table.to_numpy()])
    found = bound(conditionals, N)
    cells = [(row, column) for row in found.rows for column in found.columns]
    return pd.DataFrame(cells, columns=["row", "column"]).assign(lower=found.lower.ravel(), upper=found.upper.ravel())


def _fraction(value: Any) -> Fraction:
    return Fraction(str(value))
