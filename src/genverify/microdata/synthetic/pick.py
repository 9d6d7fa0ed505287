"""Draw from tables of weights: one column of a row for each draw."""

import numpy as np
import numpy.typing as npt

from genverify.core.arraytypes import Floats, Ints


def pick(weights: Floats, row: npt.NDArray[np.intp], uniform: Floats) -> Ints:
    """
    For each draw, a column of its row of weights, with a chance in proportion to the weight.

    >>> pick(np.array([[1.0, 3.0], [1.0, 0.0]]), np.array([0, 0, 1]), np.array([0.2, 0.3, 0.9])).tolist()
    [0, 1, 0]
    """
    cumulated = np.cumsum(weights, axis=1)
    cumulated /= cumulated[:, -1:]
    cumulated += np.arange(len(weights))[:, None]
    found = np.searchsorted(cumulated.ravel(), row + uniform, side="right") - row * weights.shape[1]
    return np.asarray(np.minimum(found, weights.shape[1] - 1), dtype=np.int64)


def pick_cells(by_cell: Floats, f: Floats, g: Floats, row: npt.NDArray[np.intp], uniform: Floats) -> tuple[Ints, Ints]:
    """
    For each draw the cell c and the traits t of a household: its weight is by_cell[c, t] * f[row, c] * g[row, t].

    The traits are drawn first: the table of a row would be large, that of its pairs with the traits that occur is not.
    """
    traits = pick((f @ by_cell) * g, row, uniform[:, 0])
    pairs, pair = np.unique(row * g.shape[1] + traits, return_inverse=True)
    rows, shared = np.divmod(pairs, g.shape[1])
    return pick(f[rows] * by_cell.T[shared], pair, uniform[:, 1]), traits
