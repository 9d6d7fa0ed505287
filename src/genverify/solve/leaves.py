"""Proofs as they are found: exact integer multipliers out of a solver's floating-point ones, and branching trees."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf, lcm
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from genverify.core.arraytypes import Floats, Ints
from genverify.core.predicates import Predicate
from genverify.core.release import Release
from genverify.solve.exclusions import Lemma
from genverify.solve.program import COUNTED

DENOMINATORS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 15, 16, 18, 20, 24, 30, 36, 40, 42, 48, 60, 72, 84, 120)
CLOSE = 1e-5
SIMPLE = 500  # of a single multiplier; sums of a column lead to denominators that the list has not
LARGEST_DENOMINATOR = 100_000
LARGEST_SUM = 2**52  # of a column; integers up to 2**53 are exact in floating-point numbers


@dataclass(frozen=True)
class Part:
    """
    A part of the records that a fork counts: those that match a condition (`where`), or those that lie in the same
    published cells as a given record (`like`).
    """

    where: Predicate | None = None
    like: tuple[int, ...] | None = None

    def as_dict(self) -> dict[str, Any]:
        return {"where": self.where.where} if self.where else {"like": list(self.like or ())}


@dataclass(frozen=True)
class Branch:
    """A row that a side of a fork adds: the number of records in a part (these classes) is at most hi, or at least lo."""

    inside: npt.NDArray[np.bool_]
    lo: int | None
    hi: int | None

    @property
    def range(self) -> tuple[float, float]:
        return (-inf if self.lo is None else self.lo, inf if self.hi is None else self.hi)


@dataclass(frozen=True)
class Leaf:
    """Multipliers over a common denominator: on published cells by id, on branch rows in order. kind: bound or empty."""

    kind: str
    denominator: int
    cells: Mapping[str, int]
    branches: tuple[int, ...]

    def as_dict(self) -> dict[str, Any]:
        found: dict[str, Any] = {"kind": self.kind, "y": {cell: y for cell, y in self.cells.items() if cell != COUNTED}}
        if COUNTED in self.cells:
            found["c"] = self.cells[COUNTED]
        if self.denominator != 1:
            found["d"] = self.denominator
        if self.branches:
            found["w"] = list(self.branches)
        return found


@dataclass(frozen=True)
class Fork:
    """Either at most `at` records lie in a part, or more: both sides are proved."""

    part: Part
    at: int
    below: "Node"
    above: "Node"

    def as_dict(self) -> dict[str, Any]:
        return {**self.part.as_dict(), "at": self.at, "below": self.below.as_dict(), "above": self.above.as_dict()}


Node = Leaf | Fork


def certificate_of(release: Release, lemmas: Iterable[Lemma] = ()) -> dict[str, Any]:
    """A certificate about a release that proves nothing yet, in the form that the checker reads."""
    shown = [lemma.as_dict() for lemma in lemmas]
    return {"block": release.block, "release": release.digest, "lemmas": shown, "proofs": [], "claims": []}


class Rows(Protocol):
    """What a proof adds up: the rows of a program, the first of which holds every record once, and its classes."""

    @property
    def rows(self) -> tuple[str, ...]: ...

    @property
    def lo(self) -> Ints: ...

    @property
    def hi(self) -> Ints: ...

    @property
    def columns(self) -> csr_array: ...

    @property
    def largest(self) -> int: ...


def exact_leaf(program: Rows, branches: Sequence[Branch], y: Floats, c: Ints, b: int, kind: str) -> Leaf | None:
    """
    Integer multipliers Y and a denominator D with  Y A >= D c  on every class and  bound(Y) < D (b + 1).

    If rounding leaves some class short, the shortfall is added on the N row, which holds every record.
    """
    scale = 1.0 if kind == "bound" else _farkas_scale(y)
    largest = LARGEST_SUM // (len(y) * program.largest)
    for denominator in _denominators(y * scale):
        wanted = y * scale * denominator
        if not np.abs(wanted).max(initial=0) <= largest:
            return None
        Y = np.rint(wanted).astype(np.int64)
        if np.abs(wanted - Y).max(initial=0) > CLOSE * denominator:
            continue
        _one_sided(program, branches, Y)
        short = int((denominator * c - _summed(program, branches, Y)).max(initial=0))
        # Row 0 is N with coefficient 1 everywhere: adding the shortfall there makes every class right, at the price of a
        # bound that is higher by N times the shortfall. Whether it is still low enough is asked next, in integers.
        Y[0] += max(short, 0)
        if _bound(program, branches, Y) < denominator * (b + 1):
            return _leaf(program, Y, denominator, kind)
    return None


def _summed(program: Rows, branches: Sequence[Branch], Y: Ints) -> Ints:
    """What the multipliers add up to on each class, in exact integers."""
    rows = len(program.rows)
    # floating-point numbers hold integers up to 2**53 exactly, and `largest` keeps every sum below that
    summed = (program.columns @ Y[:rows].astype(np.float64)).astype(np.int64)
    for branch, w in zip(branches, Y[rows:].tolist(), strict=True):
        summed += w * branch.inside
    return summed


def _denominators(y: Floats) -> Iterator[int]:
    """The usual denominators, then the one that these multipliers have together."""
    yield from DENOMINATORS
    yield _common_denominator(y)


def _common_denominator(y: Floats) -> int:
    """
    The denominator of all multipliers together, each read as the simplest fraction near it; 1 where that grows too large.

    >>> _common_denominator(np.array([2 / 13, -1 / 26, 3.0]))
    26
    """
    denominator = lcm(*{Fraction(value).limit_denominator(SIMPLE).denominator for value in y[np.abs(y) > CLOSE].tolist()})
    return denominator if denominator <= LARGEST_DENOMINATOR else 1


def _farkas_scale(y: Floats) -> float:
    # A Farkas proof has no scale of its own; with the smallest multiplier at 1 the others are often integers.
    sizes = np.abs(y)
    smallest = sizes[sizes > 1e-9].min(initial=inf)
    return 1.0 / smallest if smallest < inf else 1.0


def _one_sided(program: Rows, branches: Sequence[Branch], Y: Ints) -> None:
    """Multipliers on rows with one side only, those of branches, take the sign that the side allows."""
    for row, branch in enumerate(branches, len(program.rows)):
        if (branch.hi is None and Y[row] > 0) or (branch.lo is None and Y[row] < 0):
            Y[row] = 0


def _bound(program: Rows, branches: Sequence[Branch], Y: Ints) -> int:
    """The most that the multipliers can add up to, in Python's integers, which do not overflow."""
    total, rows = 0, len(program.rows)
    for row in np.flatnonzero(Y).tolist():
        y = int(Y[row])
        if row < rows:
            total += y * int(program.hi[row] if y > 0 else program.lo[row])
        else:
            side = branches[row - rows].hi if y > 0 else branches[row - rows].lo
            total += y * side if side is not None else 0
    return total


def _leaf(program: Rows, Y: Ints, denominator: int, kind: str) -> Leaf:
    rows = len(program.rows)
    cells = {program.rows[row]: int(Y[row]) for row in np.flatnonzero(Y[:rows]).tolist()}
    return Leaf(kind, denominator, cells, tuple(int(w) for w in Y[rows:]))
