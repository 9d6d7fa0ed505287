"""The dynamic program over classes in plain Python, states in a dictionary: what the fast one is compared with."""

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.integer]


def count_by_dictionary(A: Ints, lo: Ints, hi: Ints) -> tuple[int, int]:
    """The number of class vectors that fit, and of moves that it took; classes in the order of their first row."""
    order = sorted(range(A.shape[1]), key=lambda c: int((A[:, c] > 0).argmax()))
    columns = [tuple(A[:, c].tolist()) for c in order]
    limit, least = tuple(hi.tolist()), lo.tolist()
    states, moves = {tuple([0] * len(hi)): 1}, 0
    for column, rest in zip(columns, _later(columns, limit), strict=True):
        after: dict[tuple[int, ...], int] = {}
        for state, ways in states.items():
            while all(s <= h for s, h in zip(state, limit, strict=True)):
                moves += 1
                if all(s + r >= least_ for s, r, least_ in zip(state, rest, least, strict=True)):
                    after[state] = after.get(state, 0) + ways
                state = tuple(s + a for s, a in zip(state, column, strict=True))
        states = after
    return sum(states.values()), moves


def _later(columns: list[tuple[int, ...]], limit: tuple[int, ...]) -> list[list[int]]:
    """After each class, the most that the later ones can add to every row."""
    later = [[0] * len(limit)]
    for column in reversed(columns):
        most = min(h // a for h, a in zip(limit, column, strict=True) if a)
        later.append([rest + most * a for rest, a in zip(later[-1], column, strict=True)])
    return later[::-1][1:]
