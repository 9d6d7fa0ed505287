"""What single rows say of their cells, again and again until nothing changes; every step is a proof of one row."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from genverify.core.arraytypes import Flags, Ints
from genverify.core.sums import EXACT, Sums, is_open

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


@dataclass(frozen=True)
class Side:
    """
    What the entries of every row add at least (sign 1), or at most, with a minus (sign -1): the part of each entry, and
    their sum by row. An entry without an end adds nothing here and is counted as `endless`; a row whose sum 64 bits might
    not hold is `wide`: it says nothing.
    """

    part: Ints
    total: Ints
    end: Flags
    endless: Ints
    wide: Flags


def _side(known: Known, sign: int) -> Side:
    sums = known.sums
    weights = sign * sums.weights
    ends = np.where(weights > 0, known.lo[sums.columns], known.hi[sums.columns])
    end = is_open(ends)
    ends = np.where(end, 0, ends)
    size, endless = np.zeros(len(sums.rows)), np.zeros(len(sums.rows), dtype=np.int64)
    np.add.at(size, sums.row_of, np.abs(weights.astype(np.float64) * ends))
    np.add.at(endless, sums.row_of, end)
    told = sums.most if sign > 0 else -sums.least
    wide = size + np.where(is_open(told), 0.0, np.abs(told.astype(np.float64))) > EXACT
    part = np.where(wide[sums.row_of], 0, weights * np.where(wide[sums.row_of], 0, ends))
    total = np.zeros(len(sums.rows), dtype=np.int64)
    np.add.at(total, sums.row_of, part)
    return Side(part, total, end, endless, wide | is_open(told))


def _impossible(known: Known) -> tuple[str, int] | None:
    """A row that no counts can meet, with its multiplier."""
    up, down = _side(known, 1), _side(known, -1)
    above = np.flatnonzero((up.total > known.sums.most) & (up.endless == 0) & ~up.wide)
    below = np.flatnonzero((down.total > -known.sums.least) & (down.endless == 0) & ~down.wide)
    if len(above):
        return known.sums.rows[above[0]], 1
    return (known.sums.rows[below[0]], -1) if len(below) else None


def _steps(known: Known) -> Iterator[tuple[int, str, int, dict[str, Any]]]:
    """The bounds that rows improve, from the ends as they are now; of several about one end the best."""
    sums, positive = known.sums, known.sums.weights > 0
    up, down = _room(known, 1), _room(known, -1)  # the most that the entry itself may add, and take
    upper, told_up = np.where(positive, up[0], down[0]), np.where(positive, up[1], down[1])
    lower, told_down = np.where(positive, -down[0], -up[0]), np.where(positive, down[1], up[1])
    better_up, better_down = upper < known.hi[sums.columns], lower > known.lo[sums.columns]
    yield from _best(known, "upper", upper, told_up & better_up, np.where(positive, 1, -1))
    yield from _best(known, "lower", lower, told_down & better_down, np.where(positive, -1, 1))


def _room(known: Known, sign: int) -> tuple[Ints, Flags]:
    """How far each entry may go, in multiples of its weight, by what the others add at least; and whether that is told."""
    sums, side = known.sums, _side(known, sign)
    told = sums.most if sign > 0 else -sums.least
    room = np.where(side.wide, 0, told)[sums.row_of] - (side.total[sums.row_of] - side.part)
    others = side.endless[sums.row_of] - side.end
    return room // np.abs(sums.weights), np.asarray((others == 0) & ~side.wide[sums.row_of])


def _best(
    known: Known, side: str, value: Ints, better: npt.NDArray[np.bool_], y: Ints
) -> Iterator[tuple[int, str, int, dict[str, Any]]]:
    sums = known.sums
    entries = np.flatnonzero(better)
    best = (known.hi if side == "upper" else known.lo).copy()
    (np.minimum if side == "upper" else np.maximum).at(best, sums.columns[entries], value[entries])
    entries = entries[value[entries] == best[sums.columns[entries]]]
    for entry in entries[np.unique(sums.columns[entries], return_index=True)[1]].tolist():
        proof: dict[str, Any] = {"y": {sums.rows[sums.row_of[entry]]: int(y[entry])}}
        if abs(int(sums.weights[entry])) != 1:
            proof["d"] = abs(int(sums.weights[entry]))
        yield int(sums.columns[entry]), side, int(value[entry]), proof
