"""The dynamic program over classes in plain Python, states in a dictionary: what the fast one is compared with."""

from typing import Any

import numpy as np


def count_by_dictionary(A: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> tuple[int, int]:
    """The number of class vectors that fit, and of moves that it took; classes in the order of their first row."""
    order = sorted(range(A.shape[1]), key=lambda c: (A[:, c] > 0).argmax())
    columns = [tuple(A[:, c].tolist()) for c in order]
    limit, least = tuple(hi.tolist()), lo.tolist()
    later: list[Any] = [[0] * len(hi)]
    for column in reversed(columns):
        most = min(h // a for h, a in zip(limit, column, strict=True) if a)
        later.append([rest + most * a for rest, a in zip(later[-1], column, strict=True)])
    later = later[::-1][1:]
    states, moves = {tuple([0] * len(hi)): 1}, 0
    for column, rest in zip(columns, later, strict=True):
        after: dict[tuple[int, ...], int] = {}
        for state, ways in states.items():
            while all(s <= h for s, h in zip(state, limit, strict=True)):
                moves += 1
                if all(s + r >= least_ for s, r, least_ in zip(state, rest, least, strict=True)):
                    after[state] = after.get(state, 0) + ways
                state = tuple(s + a for s, a in zip(state, column, strict=True))
        states = after
    return sum(states.values()), moves
