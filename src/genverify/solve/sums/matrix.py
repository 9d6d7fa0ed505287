"""The weights of a system of sums as sparse matrices, kept with it as its own properties are."""

from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array

from genverify.core.arraytypes import Ints
from genverify.core.sums import Sums

FEW_MOVED = 0.02


def matrix_of(sums: Sums) -> csr_array:
    """A line per row."""
    kept: dict[str, Any] = vars(sums)
    if "matrix" not in kept:
        kept["matrix"] = csr_array((sums.weights, sums.columns, sums.start), shape=(len(sums.rows), len(sums.cells)))
    matrix: csr_array = kept["matrix"]
    return matrix


def by_cell(sums: Sums) -> csc_array:
    """A column for each cell."""
    kept: dict[str, Any] = vars(sums)
    if "by_cell" not in kept:
        kept["by_cell"] = matrix_of(sums).tocsc()
    matrix: csc_array = kept["by_cell"]
    return matrix


def fits_as(sums: Sums, x: Ints, known: Ints) -> bool:
    """Whether these counts fit, as others do that were recounted; where they differ in few cells, only those are."""
    moved = np.flatnonzero(x != known)
    if len(moved) > FEW_MOVED * len(x):
        return sums.fits(x)
    if not ((x[moved] >= sums.lo[moved]) & (x[moved] <= sums.hi[moved])).all():
        return False
    changed = by_cell(sums)[:, moved] @ (x[moved] - known[moved])
    return not changed.any() or sums.fits(x)
