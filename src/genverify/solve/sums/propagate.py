"""What single rows say of their cells, again and again until nothing changes; every step is a proof of one row."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from genverify.core.arraytypes import Ints
from genverify.core.sums import CEILING, Sums

PASSES = 50
Statement = dict[str, Any]
Check = Callable[[Statement], None]  # a statement is checked when it is made, or later


def trusting(statement: Statement) -> None:
    """Leave the check to whoever uses the statements."""


@dataclass
class Known:
    """The ends of every cell so far, the statements that show them, and whether no counts fit."""

    sums: Sums
    lo: Ints
    hi: Ints
    statements: list[Statement] = field(default_factory=list)
    empty: bool = False
    check: Check = trusting

    def say(self, cell: int, side: str, value: int, proof: dict[str, Any]) -> None:
        """Another bound with its proof, in effect from here on."""
        self.state({"cell": self.sums.cells[cell], "side": side, "value": int(value), "proof": proof})
        if side == "upper":
            self.hi[cell] = min(self.hi[cell], value)
        else:
            self.lo[cell] = max(self.lo[cell], value)

    def contradict(self, proof: dict[str, Any]) -> None:
        self.state({"side": "empty", "proof": proof})
        self.empty = True

    def state(self, statement: Statement) -> None:
        self.check(statement)
        self.statements.append(statement)


def propagate(sums: Sums, passes: int = PASSES, check: Check = trusting) -> Known:
    """The ends that single rows imply; with small weights of 1 on a tree of sums these are the exact ranges."""
    known = Known(sums, sums.lo.copy(), sums.hi.copy(), check=check)
    for _ in range(passes):
        row = _impossible(known)
        if row is not None:
            name, y = row
            known.contradict({"y": {name: y}})
            return known
        steps = list(_steps(known))
        if not steps:
            return known
        for cell, side, value, proof in steps:
            if (value < known.hi[cell]) if side == "upper" else (value > known.lo[cell]):
                known.say(cell, side, value, proof)
                if known.lo[cell] > known.hi[cell]:
                    known.empty = True
                    return known
    return known


def _activities(known: Known) -> tuple[Ints, Ints, Ints, Ints]:
    """The least and the greatest part of every entry, and their sums by row."""
    sums = known.sums
    low, high = known.lo[sums.columns], known.hi[sums.columns]
    small = np.where(sums.weights > 0, sums.weights * low, sums.weights * high)
    large = np.where(sums.weights > 0, sums.weights * high, sums.weights * low)
    least, most = np.zeros(len(sums.rows), dtype=np.int64), np.zeros(len(sums.rows), dtype=np.int64)
    np.add.at(least, sums.row_of, small)
    np.add.at(most, sums.row_of, large)
    return small, large, least, most


def _impossible(known: Known) -> tuple[str, int] | None:
    """A row that no counts can meet, with its multiplier."""
    _, _, least, most = _activities(known)
    above, below = np.flatnonzero(least > known.sums.most), np.flatnonzero(most < known.sums.least)
    if len(above):
        return known.sums.rows[above[0]], 1
    return (known.sums.rows[below[0]], -1) if len(below) else None


def _steps(known: Known) -> Iterator[tuple[int, str, int, dict[str, Any]]]:
    """The bounds that rows improve, from the ends as they are now; of several about one end the best."""
    sums = known.sums
    small, large, least, most = _activities(known)
    weight, size = sums.weights, np.abs(sums.weights)
    room_up = sums.most[sums.row_of] - (least[sums.row_of] - small)  # the most that the entry itself may add
    room_down = sums.least[sums.row_of] - (most[sums.row_of] - large)
    upper = np.where(weight > 0, room_up // size, (-room_down) // size)
    lower = np.where(weight > 0, -((-room_down) // size), -(room_up // size))
    yield from _best(known, "upper", upper, upper < known.hi[sums.columns], np.where(weight > 0, 1, -1))
    yield from _best(known, "lower", lower, lower > known.lo[sums.columns], np.where(weight > 0, -1, 1))


def _best(
    known: Known, side: str, value: Ints, better: npt.NDArray[np.bool_], y: Ints
) -> Iterator[tuple[int, str, int, dict[str, Any]]]:
    sums = known.sums
    entries = np.flatnonzero(better & (np.abs(value) < CEILING))
    best = (known.hi if side == "upper" else known.lo).copy()
    (np.minimum if side == "upper" else np.maximum).at(best, sums.columns[entries], value[entries])
    entries = entries[value[entries] == best[sums.columns[entries]]]
    for entry in entries[np.unique(sums.columns[entries], return_index=True)[1]].tolist():
        proof: dict[str, Any] = {"y": {sums.rows[sums.row_of[entry]]: int(y[entry])}}
        if abs(int(sums.weights[entry])) != 1:
            proof["d"] = abs(int(sums.weights[entry]))
        yield int(sums.columns[entry]), side, int(value[entry]), proof
