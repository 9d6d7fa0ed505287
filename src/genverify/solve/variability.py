"""Solution variability: how far a fitting dataset can be from another (subsidized housing, equation 3)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import block_array, csr_array, diags_array, eye_array

from genverify.core.arraytypes import Floats, Ints
from genverify.core.claims import Codes
from genverify.solve.program import Program
from genverify.solve.recount import Fitting, recounted
from genverify.solve.solvers.base import IntegerProgram, Optimal, Solver, best_point


@dataclass(frozen=True)
class Variability:
    """
    solvar(D*), the largest L1 distance of histograms from D*, and the share of records that can differ.

    Where a limit struck (`exact` is false), it is the largest distance that was found: the true one may be larger.
    """

    solvar: int
    share: float
    exact: bool


def solution_variability(program: Program, records: Codes, solver: Solver) -> Variability:
    """
    The most that a fitting dataset can differ from `records` (D*).

    The distance is 2 (N - overlap). Records of a class can all move to a type that D* does not use; only where D* uses every
    type of a class do they overlap, and least if they all take the type that D* has fewest of: min(z_c, s_c).
    """
    floors = _floors(program, records)
    used = np.flatnonzero(floors)
    bins = np.full(program.classes, -1, dtype=np.int64)
    bins[used] = np.arange(len(used))
    return farthest(program, bins, floors[used], solver, f"block {program.release.block}")


def farthest(program: Fitting, bins: Ints, floors: Ints, solver: Solver, where: str) -> Variability:
    """
    The most that a fitting dataset can differ from D*, which has `floors[b]` records in each bin b that it uses.

    `bins` gives the bin of each variable, -1 for those that D* does not use. Least overlap: the sum of min(z_b, s_b).
    """
    n = program.n
    if len(floors) == 0 or n == 0:
        return Variability(2 * n, 1.0 if n else 0.0, exact=True)
    answer = solver.solve(_least_overlap(program, bins, floors))
    point = best_point(answer)
    if point is None:
        return Variability(0, 0.0, exact=False)
    z = recounted(program, point[: len(bins)], f"{where}: the farthest dataset does not fit the counts when recounted")
    counts = np.bincount(bins[bins >= 0], weights=z[bins >= 0], minlength=len(floors)).astype(np.int64)
    overlap = int(np.minimum(counts, floors).sum())
    return Variability(2 * (n - overlap), 1 - overlap / n, isinstance(answer, Optimal))


def _floors(program: Program, records: Codes) -> Ints:
    """For each class of which D* uses every record type: how often it uses the rarest; 0 for the other classes."""
    kinds = np.bincount(program.class_of, weights=program.types.raw, minlength=program.classes).astype(np.int64)
    distinct, counts = np.unique(records, axis=0, return_counts=True)
    used: dict[int, list[int]] = {}
    for record, count in zip(distinct, counts.tolist(), strict=True):
        used.setdefault(_class_of(program, record.tolist()), []).append(count)
    floors = np.zeros(program.classes, dtype=np.int64)
    for c, times in used.items():
        floors[c] = min(times) if len(times) == kinds[c] else 0
    return floors


def _class_of(program: Program, record: list[int]) -> int:
    match = np.ones(len(program.types), dtype=bool)
    for column, code in enumerate(record):
        atoms = program.types.atoms[column]
        match &= np.array([code in atom for atom in atoms])[program.types.table[:, column]]
    return int(program.class_of[np.flatnonzero(match)[0]])


def _least_overlap(program: Fitting, bins: Ints, floors: Ints) -> IntegerProgram:
    """Minimise sum o_b with o_b >= min(z_b, s_b): a binary says which, o >= z - (m - s) b and o >= s b, where z_b <= m."""
    U, C = len(floors), len(bins)
    inside = np.flatnonzero(bins >= 0)
    pick = csr_array((np.ones(len(inside)), (bins[inside], inside)), shape=(U, C))
    most = _most(program, bins, U)
    one, scaled = eye_array(U, format="csr"), diags_array(floors.astype(np.float64))
    spare = diags_array(np.maximum(most - floors, 0.0))
    published, none = csr_array(program.A.astype(np.float64)), csr_array((len(program.A), U))
    parts: list[list[Any]] = [[published, none, none], [-pick, spare, one], [None, -scaled, one]]
    A: Any = block_array(parts)
    free = np.full(2 * U, np.inf)
    return IntegerProgram(
        csr_array(A),
        np.concatenate([program.lo, np.zeros(2 * U)]).astype(np.float64),
        np.concatenate([program.hi.astype(np.float64), free]),
        np.concatenate([np.full(C, program.n), np.ones(U), np.full(U, program.n)]).astype(np.float64),
        np.concatenate([np.zeros(C + U), -np.ones(U)]),
    )


def _most(program: Fitting, bins: Ints, number: int) -> Floats:
    """The most records that a bin can have: a row to which each record of the bin adds something limits them."""
    most = np.full(number, float(program.n))
    for b in range(number):
        least = program.A[:, bins == b].min(axis=1)
        rows = np.flatnonzero(least > 0)
        most[b] = min(most[b], (program.hi[rows] // least[rows]).min(initial=program.n))
    return most
