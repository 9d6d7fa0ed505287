"""
The checker of bounds of counts that are tied by sums: exact integers, no solver, no code shared with what found the proofs.

Bounds are shown one after the other, and each may use those before it. A leaf gives a whole multiplier y to some rows and a
denominator d. For any counts x that fit, with w = d c - y A (c the cell in question, or nothing for a contradiction)

    d c x  =  y A x + w x  <=  sum of y most (y > 0) or y least (y < 0)  +  sum of w hi (w > 0) or w lo (w < 0),

so that c x <= that sum // d. A fork is a split into cases: a cell is at most t, or at least t + 1. Both sides are shown.
An end that nobody stated (OPEN) is not a number: a leaf that needs one shows nothing, and is refused.

The opposite of a bound is a statement that a cell attains two ends: two points, whole counts of all cells, which are put
into every row and compared with every end. Nothing is said of them but what this recount shows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from genverify.checker import certificate as form
from genverify.checker.certificate import CertificateError
from genverify.model.arrays import Ints
from genverify.model.errors import naming
from genverify.model.linear import OPEN, LinearSystem
from genverify.model.proof_form import LINEAR

LONG = 100  # entries of rows from which arrays are faster
WIDE = 2**60  # sums beyond it are left to Python's integers
Sparse = dict[int, int]
Text = Mapping[str, Any]
Narrowed = Mapping[int, tuple[int, int]]
NONE = -(10**18)  # the most that a sum can be where no counts fit at all


@dataclass
class ProvedBounds:
    """The bounds shown so far, and whether it was shown that no counts fit."""

    lo: list[int]
    hi: list[int]
    empty: bool = False
    attained: dict[str, tuple[int, int]] = field(default_factory=dict)  # of cells: counts that fit are as low, and as high


def check_system(system: LinearSystem, certificate: Mapping[str, Any], path: str) -> ProvedBounds:
    """Check a certificate about a system; what its statements show together is handed back."""
    form.require_about(certificate, path, (LINEAR,), system.digest)
    with naming(path, CertificateError):
        return check_linear(system, certificate["statements"], certificate.get("points", ()))


def check_linear(sums: LinearSystem, statements: Sequence[Mapping[str, Any]], points: Any = ()) -> ProvedBounds:
    """Check statements in their order; an error names the first that fails. What they show together is handed back."""
    checker = Checking(sums, points)
    for statement in statements:
        checker.take(statement)
    return checker.shown


def check_at_most(sums: LinearSystem, statements: Sequence[Text], weights: Mapping[str, int], proof: Any) -> int:
    """The most that a weighted sum of cells can be by a proof that comes after some statements; all of them are checked."""
    checker = Checking(sums)
    for statement in statements:
        checker.take(statement)
    c = {checker.cell(name, "sum"): int(weight) for name, weight in weights.items()}
    return checker.most_of(c, checker.reader.node(proof, "sum", (form.BOUND, form.EMPTY)), {})


@dataclass
class _Residual:
    """What multipliers leave (w = -y A) of the cells of their rows, in order; the part of the rows; the bound itself."""

    cells: Ints
    w: Ints
    rows: int
    uses: tuple[bool, bool]  # lower ends, upper ends
    total: int | None = None
    moves: tuple[int, int] = (-1, -1)


class Checking:
    """Checks statements one after the other, as they are made or read."""

    def __init__(self, sums: LinearSystem, points: Any = ()) -> None:
        self.sums, self.open = sums, [at for at, (lo, hi) in enumerate(zip(sums.lo, sums.hi, strict=True)) if lo != hi]
        self.points = form.read_points(points, len(self.open))
        self.recounted = dict[int, list[int]]()
        self.shown = ProvedBounds(sums.lo.tolist(), sums.hi.tolist())
        self.number, self.low, self.high = 0, sums.lo.astype(np.int64), sums.hi.astype(np.int64)
        self.moves = [0, 0]  # how often a lower and an upper end moved
        self.known = dict[tuple[tuple[int, int], ...], _Residual]()  # of single rows all, of several the last: bounds memory
        self.several: tuple[tuple[int, int], ...] = ()
        self.row = {name: at for at, name in enumerate(sums.rows)}
        self.reader = form.linear_reader(self.row, sums.place)
        self.start, self.least, self.most = sums.start.tolist(), sums.least.tolist(), sums.most.tolist()
        if len(self.row) < len(sums.rows) or len(sums.place) < len(sums.cells):
            raise CertificateError("two rows or two cells have one name")

    @cached_property
    def entries(self) -> list[tuple[int, int]]:
        return list(zip(self.sums.columns.tolist(), self.sums.weights.tolist(), strict=True))

    def take(self, text: Mapping[str, Any]) -> None:
        """Check the next statement; an error names it if it fails."""
        path, self.number = f"statement {self.number}", self.number + 1
        if isinstance(text, Mapping) and text.get("side") == form.ATTAINS:
            name, lower, upper, points = form.read_attained(text, path, len(self.points))
            cell = self.cell(name, path)
            low, high = (self.point(number)[cell] for number in points)
            if low > lower or high < upper:
                words = f"{name} is said to be {lower} or less and {upper} or more"
                raise CertificateError(f"{path}: {words}, but the points have {low} and {high}")
            self.shown.attained[name] = (lower, upper)
            return
        said = form.read_cell_bound(self.reader, text, path)
        if said.side == form.EMPTY:
            if self.most_of({}, said.proof, {}) >= 0:
                raise CertificateError(f"{said.path}: the proof does not show that no counts fit")
            self.shown.empty = True
            return
        cell, sign = self.cell(said.cell, said.path), 1 if said.side == "upper" else -1
        result = self.most_of({cell: sign}, said.proof, {})
        if result > sign * said.value:
            relation = "<=" if sign > 0 else ">="
            raise CertificateError(f"{said.path}: {said.cell} {relation} {said.value} is said, but {sign * result} is shown")
        if sign > 0:
            self.high[cell] = self.shown.hi[cell] = min(self.shown.hi[cell], said.value)
        else:
            self.low[cell] = self.shown.lo[cell] = max(self.shown.lo[cell], said.value)
        self.moves[sign > 0] += 1
        self.shown.empty |= self.shown.lo[cell] > self.shown.hi[cell]

    def point(self, number: int) -> list[int]:
        """All counts of a point, once it is recounted that they fit what is published: ends and rows, in whole numbers."""
        if number not in self.recounted:
            x = self.sums.lo.tolist()
            for cell, count in zip(self.open, self.points[number], strict=True):
                x[cell] = count
            for cell, (lo, hi) in enumerate(zip(self.sums.lo.tolist(), self.sums.hi.tolist(), strict=True)):
                if not lo <= x[cell] or (hi != OPEN and x[cell] > hi):
                    raise CertificateError(f"point {number}: {x[cell]} of {self.sums.cells[cell]} is not from {lo} to {hi}")
            for row, (least, most) in enumerate(zip(self.least, self.most, strict=True)):
                total = sum([weight * x[cell] for cell, weight in self.entries[self.start[row] : self.start[row + 1]]])
                if (least != -OPEN and total < least) or (most != OPEN and total > most):
                    raise CertificateError(f"point {number}: the row {self.sums.rows[row]!r} is not met")
            self.recounted[number] = x
        return self.recounted[number]

    def most_of(self, c: Sparse, node: form.Node, ends: Narrowed) -> int:
        """The most that c x can be by this proof; `ends` are the cells that the forks above narrow."""
        if isinstance(node, form.Leaf):
            return self.leaf(c, node, ends)
        cell = self.cell(node.part, node.path)
        lo, hi = self.ends(cell, ends)
        below = {**ends, cell: (lo, min(hi, node.at))}
        above = {**ends, cell: (max(lo, node.at + 1), hi)}
        return max(self.most_of(c, node.below, below), self.most_of(c, node.above, above))

    def leaf(self, c: Sparse, leaf: form.Leaf, ends: Narrowed) -> int:
        if ends and any(lo > hi for lo, hi in ends.values()):  # this case of the fork holds no counts at all
            return NONE
        if leaf.kind == form.EMPTY and self.leaf({}, replace(leaf, kind=form.BOUND), ends) < 0:
            return NONE  # the multipliers speak of no cell: even 0 is above what is possible
        w = {cell: leaf.d * weight for cell, weight in c.items()}
        y = {self.row[name]: y for name, y in leaf.y.items()}
        entries = sum([self.start[row + 1] - self.start[row] for row in y])
        total = self.by_arrays(y, w, ends) if entries > LONG else None
        if total is None:
            total = sum([self.used(row, times, w, leaf.path) for row, times in y.items()])
            for cell, weight in w.items():
                if not weight:
                    continue
                lo, hi = self.ends(cell, ends)
                if weight > 0 and hi == OPEN:
                    raise CertificateError(f"{leaf.path}: uses an upper end of {self.sums.cells[cell]}, which has none")
                total += weight * (hi if weight > 0 else lo)
        return total // leaf.d

    def used(self, row: int, y: int, w: Sparse, path: str) -> int:
        """What a row with its multiplier adds to the bound; its cells leave w."""
        if y and abs(self.end(row, y)) == OPEN:
            raise CertificateError(f"{path}: uses an end of the row {self.sums.rows[row]!r}, which has none there")
        for column, weight in self.entries[self.start[row] : self.start[row + 1]]:
            w[column] = w.get(column, 0) - y * weight
        return y * self.end(row, y)

    def end(self, row: int, y: int) -> int:
        return int((self.most if y > 0 else self.least)[row])

    def ends(self, cell: int, ends: Narrowed) -> tuple[int, int]:
        lo, hi = self.shown.lo[cell], self.shown.hi[cell]
        low, high = ends.get(cell, (lo, hi))
        return max(lo, low), min(hi, high)

    def cell(self, name: Any, path: str) -> int:
        if name not in self.sums.place:
            raise CertificateError(f"{path}: there is no cell {str(name)[:60]!r}")
        return int(self.sums.place[name])

    # Leaves whose rows have many cells, by arrays. Many statements have the same multipliers, each for another cell: what
    # these add up to is kept until an end that it uses moves, and only the cells in question are looked at anew.

    def by_arrays(self, y: Sparse, c: Sparse, ends: Narrowed) -> int | None:
        """The most that c x can be by these multipliers; none where 64 bits might not hold it, or an end is not there."""
        if max(map(abs, y.values()), default=0) * self.sums.largest * len(y) > WIDE:
            return None
        if any(abs(self.end(row, times)) == OPEN for row, times in y.items()):
            return None
        known = self.residual(y)
        moves = self.moves[0] * known.uses[0], self.moves[1] * known.uses[1]
        if known.total is None or known.moves != moves:
            reach = np.where(known.w > 0, self.high[known.cells], self.low[known.cells])
            size = np.abs(known.w).astype(np.float64) * np.abs(reach)
            if (reach[known.w > 0] == OPEN).any() or float(size.sum()) > WIDE:
                return None
            known.total, known.moves = int((known.w * reach).sum()) + known.rows, moves
        total = known.total
        for cell in {*c, *ends}:
            (low, high), at = self.ends(cell, ends), int(np.searchsorted(known.cells, cell))
            before = int(known.w[at]) if at < len(known.cells) and known.cells[at] == cell else 0
            after = before + c.get(cell, 0)
            if after > 0 and high == OPEN:
                return None
            total += after * (high if after > 0 else low) - before * (self.shown.hi if before > 0 else self.shown.lo)[cell]
        return total

    def residual(self, y: Sparse) -> _Residual:
        key = tuple(y.items())
        if key not in self.known:
            parts = [slice(self.start[row], self.start[row + 1]) for row in y]
            added = [times * self.sums.weights[part] for times, part in zip(y.values(), parts, strict=True)]
            cells, at = np.unique(np.concatenate([self.sums.columns[part] for part in parts]), return_inverse=True)
            w = np.zeros(len(cells), dtype=np.int64)
            np.subtract.at(w, at.ravel(), np.concatenate(added))
            if len(y) > 1:
                self.known.pop(self.several, None)
                self.several = key
            rows = sum(times * self.end(row, times) for row, times in y.items())
            self.known[key] = _Residual(cells, w, rows, (bool((w < 0).any()), bool((w > 0).any())))
        return self.known[key]
