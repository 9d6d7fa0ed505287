"""In which order classes are counted: row by row, so that rows close early and few are open at a time."""

from collections.abc import Callable

import numpy as np

from genverify.core.arraytypes import Flags, Ints
from genverify.solve.counting.system import System

Taste = Callable[[float, float, float], tuple[float, ...]]

TASTES: tuple[Taste, ...] = (
    lambda count, classes, frontier: (classes, count),
    lambda count, classes, frontier: (count, classes),
    lambda count, classes, frontier: (frontier + count * np.log2(classes + 1), classes),
)
"""
What makes a row the next one to be closed, the smallest first: few classes, a small count, or a small frontier after it (the
bits that what is left of the open rows takes). No taste is best everywhere, so they are raced.
"""


def orders(system: System) -> list[Ints]:
    """An order of the classes for each taste, each once."""
    useful = np.flatnonzero(system.most > 0)
    found = {order.tobytes(): order for order in (_order(system, useful, taste) for taste in TASTES)}
    return list(found.values())


def _order(system: System, useful: Ints, taste: Taste) -> Ints:
    """Rows are closed one after another; a row's classes come together, those that are alike side by side."""
    touches = system.A[:, useful] > 0
    bits = np.log2(system.hi + 1.0)
    left: Flags = np.ones(len(useful), dtype=bool)
    opened: Flags = np.zeros(len(touches), dtype=bool)
    groups = [np.zeros(0, dtype=np.int64)]
    while left.any():
        row, opened = _next_row(touches, left, opened, system.hi, bits, taste)
        group = np.flatnonzero(left & touches[row])
        groups.append(useful[group[np.lexsort(system.A[:, useful[group]])]])
        left[group] = False
    return np.concatenate(groups)


def _next_row(touches: Flags, left: Flags, opened: Flags, hi: Ints, bits: Ints, taste: Taste) -> tuple[int, Flags]:
    """The row to close next, and the rows that are open after it."""
    classes = (touches & left).sum(axis=1)
    rows = np.flatnonzero(classes)
    inside = (touches[rows] & left).astype(np.float32)
    # a row is open after the next one is closed if it was begun, now or before, and some class is still to come
    shared = inside @ touches.T.astype(np.float32)
    frontier = (opened | (shared > 0)) & (classes[None, :] > shared)
    best = min(range(len(rows)), key=lambda i: taste(int(hi[rows[i]]), int(classes[rows[i]]), float(bits @ frontier[i])))
    return int(rows[best]), frontier[best]
