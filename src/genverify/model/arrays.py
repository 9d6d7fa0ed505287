"""Kinds of arrays, rows of an array as single keys, and the places of keys in a sorted list."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from genverify.model.errors import DataError

# Names of the kinds of arrays that the library works with.

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


Keys = npt.NDArray[np.generic]
ROOM = 2**62  # keys of rows and their sums of two stay within 64 bits
EXACT = 2**53  # floating-point numbers hold whole numbers up to here


def row_weights(sizes: Ints) -> Ints | None:
    """A weight per column, so that different rows of codes below the sizes have different sums; None beyond 62 bits."""
    if np.prod(sizes.astype(np.float64)) >= ROOM:
        return None
    return np.concatenate([[1], np.cumprod(sizes)[:-1]])


def weighted_keys(rows: npt.NDArray[np.integer], weights: Ints | None) -> Keys:
    """A key per row (the last axis), in the order of the last column, then the one before: a sum, or a record of codes."""
    if weights is not None:
        return rows @ weights
    # No integer is wide enough: a structured scalar per row still sorts and compares as one value, only more slowly. Columns
    # are reversed because NumPy compares fields from the first on, and the last column is to weigh most.
    records = np.dtype([(f"c{column}", np.int64) for column in range(rows.shape[-1])])
    return np.ascontiguousarray(rows[..., ::-1], np.int64).view(records)[..., 0]


def row_keys(parts: Sequence[npt.NDArray[np.integer]]) -> list[Keys]:
    """Rows as single keys that sort as the rows do: integers where the codes leave room for them, else records of codes."""
    widths = {part.shape[1] for part in parts}
    if len(widths) != 1:
        raise DataError(f"rows of {' and '.join(map(str, sorted(widths)))} columns cannot match: give the same columns")
    full = [part for part in parts if len(part)]
    if not full:
        return [np.zeros(0, np.int64) for _ in parts]
    low = np.min([part.min(axis=0) for part in full], axis=0).astype(np.int64)
    sizes = (np.max([part.max(axis=0) for part in full], axis=0) - low + 1)[::-1]
    weights = row_weights(sizes)
    if weights is not None and np.prod(sizes.astype(np.float64)) < EXACT:
        # a product of floating-point numbers is much faster, and exact here
        return [((part - low) @ weights[::-1].astype(np.float64)).astype(np.int64) for part in parts]
    return [weighted_keys((part - low)[:, ::-1], weights) for part in parts]


def row_bytes(rows: npt.NDArray[np.generic]) -> npt.NDArray[np.void]:
    """A key per row that is the same for the same numbers; NumPy finds distinct ones faster than distinct rows."""
    packed = np.ascontiguousarray(rows)
    return packed.view(np.dtype((np.void, packed.shape[1] * packed.itemsize))).ravel()


def positions(known: Keys, wanted: Keys) -> Ints:
    """The place of each wanted key among the known ones, which are sorted; -1 where it is not among them."""
    if not len(known):
        return np.full(wanted.shape, -1)
    # searchsorted gives len(known) for what is larger than all: clipped, it is compared with the last one and refused
    index = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return np.where(known[index] == wanted, index, -1)
