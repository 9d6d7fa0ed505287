"""
Symmetric cells once: exchanges of cells and rows that leave a system as it is carry a range, and its proof, from one cell to
another. Multipliers move with their rows; the checker looks at every carried proof as at any other.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from genverify.core.arraytypes import Flags, Ints
from genverify.core.sums import Sums
from genverify.solve.sums.matrix import matrix_of


@dataclass(frozen=True)
class Symmetry:
    """An exchange that leaves a system as it is: where every cell and every row go."""

    cells: Ints
    rows: Ints


@dataclass(frozen=True)
class Carried:
    """A cell whose range is that of another one, by an exchange that leads from that one to it."""

    cell: int
    origin: int
    by: Symmetry


@dataclass(frozen=True)
class Orbits:
    """The cells that stand for all others, and the others, each after the cell that it is carried from."""

    chosen: Flags
    carried: tuple[Carried, ...]


def orbits_of(size: int, exchanges: Sequence[Symmetry]) -> Orbits:
    """
    Which cells some exchanges lead to each other.

    >>> swap = Symmetry(np.array([1, 0, 2]), np.array([0]))
    >>> found = orbits_of(3, [swap])
    >>> found.chosen.tolist(), [(own.cell, own.origin) for own in found.carried]
    ([True, False, True], [(1, 0)])
    """
    chosen, seen, carried = np.zeros(size, dtype=bool), np.zeros(size, dtype=bool), list[Carried]()
    for first in range(size) if exchanges else ():
        if seen[first]:
            continue
        chosen[first] = seen[first] = True
        found = [first]
        for origin in found:
            for exchange in exchanges:
                cell = int(exchange.cells[origin])
                if not seen[cell]:
                    seen[cell] = True
                    found.append(cell)
                    carried.append(Carried(cell, origin, exchange))
    return Orbits(chosen if exchanges else np.ones(size, dtype=bool), tuple(carried))


def leaves_as_it_is(sums: Sums, exchange: Symmetry) -> bool:
    """Whether the exchanged system is the same one, in integers: ends, entries, and ends of rows."""
    cells, rows = exchange.cells, exchange.rows
    ends = ((sums.lo, cells), (sums.hi, cells), (sums.least, rows), (sums.most, rows))
    other = matrix_of(sums)[rows][:, cells]
    return all(np.array_equal(own[to], own) for own, to in ends) and abs(matrix_of(sums) - other).max() == 0


def carried_over(sums: Sums, statement: dict[str, Any], own: Carried) -> dict[str, Any]:
    """What a statement about one cell says about the other."""
    row = {name: sums.rows[own.by.rows[at]] for name, at in _places(sums, statement["proof"])}
    return {**statement, "cell": sums.cells[own.cell], "proof": _moved(sums, statement["proof"], own.by, row)}


def _places(sums: Sums, proof: dict[str, Any]) -> Iterator[tuple[str, int]]:
    if "at" in proof:
        yield from _places(sums, proof["below"])
        yield from _places(sums, proof["above"])
    else:
        yield from ((name, sums.row_place[name]) for name in proof.get("y", {}))


def _moved(sums: Sums, proof: dict[str, Any], by: Symmetry, row: dict[str, str]) -> dict[str, Any]:
    if "at" in proof:
        sides = {name: _moved(sums, proof[name], by, row) for name in ("below", "above")}
        return {**proof, "cell": sums.cells[by.cells[sums.place[proof["cell"]]]], **sides}
    return {**proof, "y": {row[name]: y for name, y in proof.get("y", {}).items()}}
