"""
The checker of bounds of counts that are tied by sums: exact integers, no solver, no code shared with what found the proofs.

Bounds are shown one after the other, and each may use those before it. A leaf gives a whole multiplier y to some rows and a
denominator d. For any counts x that fit, with w = d c - y A (c the cell in question, or nothing for a contradiction)

    d c x  =  y A x + w x  <=  sum of y most (y > 0) or y least (y < 0)  +  sum of w hi (w > 0) or w lo (w < 0),

so that c x <= that sum // d. A fork is a split into cases: a cell is at most t, or at least t + 1. Both sides are shown.
An end that nobody told (OPEN) is no number: a leaf that needs one shows nothing, and is refused.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from genverify.checker.certificate import DEEPEST, LARGEST, CertificateError
from genverify.checker.record_proofs import LongRows
from genverify.model.linear import OPEN, LinearSystem

Sparse = dict[int, int]
EMPTY = "empty"
SIDES = ("upper", "lower", EMPTY)
FARTHEST = 2**62  # of a value that is said: ends and sums of a few of them are kept in 64 bits
LONG = 100  # entries of rows from which arrays are faster


@dataclass
class ProvedBounds:
    """The bounds shown so far, and whether it was shown that no counts fit."""

    lo: list[int]
    hi: list[int]
    empty: bool = False


def check_linear(sums: LinearSystem, statements: Sequence[Mapping[str, Any]]) -> ProvedBounds:
    """Check statements in their order; an error names the first that fails. What they show together is handed back."""
    checker = Checking(sums)
    for statement in statements:
        checker.take(statement)
    return checker.shown


def check_at_most(
    sums: LinearSystem, statements: Sequence[Mapping[str, Any]], weights: Mapping[str, int], proof: Any
) -> int:
    """The most that a weighted sum of cells can be by a proof that comes after some statements; all of them are checked."""
    checker = Checking(sums)
    for statement in statements:
        checker.take(statement)
    c = {checker.cell(name, "sum"): _whole(weight, f"sum, {name}") for name, weight in weights.items()}
    return checker.most_of(c, proof, {}, "sum", 0)


class Checking:
    """Checks statements one after the other, as they are made or read."""

    def __init__(self, sums: LinearSystem) -> None:
        self.sums = sums
        self.shown = ProvedBounds(sums.lo.tolist(), sums.hi.tolist())
        self.long, self.number = LongRows(sums), 0
        self.row = {name: at for at, name in enumerate(sums.rows)}
        self.start, self.least, self.most = sums.start.tolist(), sums.least.tolist(), sums.most.tolist()
        if len(self.row) < len(sums.rows) or len(sums.place) < len(sums.cells):
            raise CertificateError("two rows or two cells have one name")

    @cached_property
    def entries(self) -> list[tuple[int, int]]:
        return list(zip(self.sums.columns.tolist(), self.sums.weights.tolist(), strict=True))

    def take(self, text: Mapping[str, Any]) -> None:
        """Check the next statement; an error names it if it fails."""
        check_form(text, f"statement {self.number}")
        self.statement(text, f"statement {self.number}")
        self.number += 1

    def statement(self, text: Mapping[str, Any], place: str) -> None:
        side = text.get("side")
        if side not in SIDES:
            raise CertificateError(f"{place}: side is {side!r}; known: {', '.join(SIDES)}")
        if side == EMPTY:
            if self.most_of({}, text.get("proof"), {}, place, 0) >= 0:
                raise CertificateError(f"{place}: the proof does not show that no counts fit")
            self.shown.empty = True
            return
        cell, value = self.cell(text.get("cell"), place), _whole(text.get("value"), f"{place}, value")
        sign = 1 if side == "upper" else -1
        found = self.most_of({cell: sign}, text.get("proof"), {}, place, 0)
        if found > sign * value:
            relation = "<=" if sign > 0 else ">="
            raise CertificateError(f"{place}: {text['cell']} {relation} {value} is said, but {sign * found} is shown")
        if sign > 0:
            self.shown.hi[cell] = min(self.shown.hi[cell], value)
        else:
            self.shown.lo[cell] = max(self.shown.lo[cell], value)
        self.long.narrow(cell, sign > 0, (self.shown.hi if sign > 0 else self.shown.lo)[cell])
        self.shown.empty |= self.shown.lo[cell] > self.shown.hi[cell]

    def most_of(self, c: Sparse, node: Any, ends: Mapping[int, tuple[int, int]], place: str, depth: int) -> int:
        """The most that c x can be by this proof; `ends` are the cells that the forks above narrow."""
        if not isinstance(node, Mapping):
            raise CertificateError(f"{place}: {type(node).__name__} is no proof")
        if depth > DEEPEST:
            raise CertificateError(f"{place}: more than {DEEPEST} forks above one another")
        if "at" not in node:
            return self.leaf(c, node, ends, place)
        cell, at = self.cell(node.get("cell"), place), _whole(node["at"], f"{place}, at")
        lo, hi = self.ends(cell, ends)
        below = {**ends, cell: (lo, min(hi, at))}
        above = {**ends, cell: (max(lo, at + 1), hi)}
        sides = ((below, "below"), (above, "above"))
        return max(self.most_of(c, node.get(name), own, f"{place}.{name}", depth + 1) for own, name in sides)

    def leaf(self, c: Sparse, leaf: Mapping[str, Any], ends: Mapping[int, tuple[int, int]], place: str) -> int:
        d = _whole(leaf.get("d", 1), f"{place}, d")
        if d <= 0:
            raise CertificateError(f"{place}: d is {d}, not above 0")
        if any(lo > hi for lo, hi in ends.values()):  # this case of the fork holds no counts at all
            return -(10**18)
        if leaf.get("kind") == EMPTY and self.nothing(leaf, ends, place) < 0:
            return -(
                10**18
            )  # the multipliers speak of no cell: even 0 is above what is possible, so this case holds no counts
        w = {cell: d * own for cell, own in c.items()}
        y = self.multipliers(leaf, place)
        total = self.long.most(y, w, ends) if sum(self.start[row + 1] - self.start[row] for row in y) > LONG else None
        if total is None:
            total = sum(self.used(row, own, w, place) for row, own in y.items())
            for cell, own in w.items():
                lo, hi = self.ends(cell, ends)
                if own > 0 and hi == OPEN:
                    raise CertificateError(f"{place}: uses an upper end of {self.sums.cells[cell]}, which has none")
                total += own * (hi if own > 0 else lo)
        return total // d

    def multipliers(self, leaf: Mapping[str, Any], place: str) -> Sparse:
        """The multiplier of each row that a leaf names."""
        found = {}
        for name, y in dict(leaf.get("y", {})).items():
            row = self.row.get(name)
            if row is None:
                raise CertificateError(f"{place}: there is no row {name!r}")
            found[row] = _whole(y, f"{place}, y of {name}")
        return found

    def nothing(self, leaf: Mapping[str, Any], ends: Mapping[int, tuple[int, int]], place: str) -> int:
        """The most that 0 can be by these multipliers: below 0, there are no counts that fit."""
        return self.leaf({}, {key: own for key, own in leaf.items() if key != "kind"}, ends, place)

    def used(self, row: int, y: int, w: Sparse, place: str) -> int:
        """What a row with its multiplier adds to the bound; its cells leave w."""
        if y and abs(self.most[row] if y > 0 else self.least[row]) == OPEN:
            raise CertificateError(f"{place}: uses an end of the row {self.sums.rows[row]!r}, which has none there")
        for column, weight in self.entries[self.start[row] : self.start[row + 1]]:
            w[column] = w.get(column, 0) - y * weight
        return int(y * (self.most[row] if y > 0 else self.least[row]))

    def ends(self, cell: int, ends: Mapping[int, tuple[int, int]]) -> tuple[int, int]:
        lo, hi = self.shown.lo[cell], self.shown.hi[cell]
        own = ends.get(cell, (lo, hi))
        return max(lo, own[0]), min(hi, own[1])

    def cell(self, name: Any, place: str) -> int:
        if name not in self.sums.place:
            raise CertificateError(f"{place}: there is no cell {str(name)[:60]!r}")
        return int(self.sums.place[name])


def check_form(text: Any, place: str) -> None:
    """An error for what is no statement: keys that are not texts, cells and rows that are no names, numbers out of range."""
    if not isinstance(text, Mapping) or not isinstance(text.get("side"), str):
        raise CertificateError(f"{place}: is no statement with a side")
    if text["side"] != EMPTY:
        if not isinstance(text.get("cell"), str):
            raise CertificateError(f"{place}: names no cell")
        value = text.get("value")
        if type(value) is not int or not abs(value) < FARTHEST:
            raise CertificateError(f"{place}: {str(value)[:40]!r} is no whole number below {FARTHEST}")
    open_ = [(text.get("proof"), place)]
    while open_:
        node, here = open_.pop()
        if not isinstance(node, Mapping):
            raise CertificateError(f"{here}: {type(node).__name__} is no proof")
        if "at" not in node:
            if not isinstance(node.get("y", {}), Mapping) or not all(isinstance(row, str) for row in node.get("y", {})):
                raise CertificateError(f"{here}: the multipliers of a leaf are listed by row")
            continue
        if not isinstance(node.get("cell"), str):
            raise CertificateError(f"{here}: a fork names no cell")
        if len(open_) > DEEPEST:
            raise CertificateError(f"{place}: more than {DEEPEST} forks above one another")
        open_ += [(node.get(side), f"{here}.{side}"[:200]) for side in ("above", "below")]


def _whole(value: Any, place: str) -> int:
    if type(value) is not int or abs(value) > LARGEST * LARGEST:
        raise CertificateError(f"{place}: {str(value)[:40]!r} is not a whole number of reasonable size")
    return int(value)
