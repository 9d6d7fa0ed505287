"""Solution variability: how far a fitting dataset can be from another (subsidized housing, equation 3)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import block_array, csr_array, eye_array

from genverify.bounds import INTEGRAL, WrongAnswer
from genverify.claims import Codes
from genverify.program.compact import Program
from genverify.solvers.base import IntegerProgram, Solver, Status

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Variability:
    """solvar(D*), the largest L1 distance of histograms from D*, and the share of records that can differ."""

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
    if len(used) == 0 or program.n == 0:
        return Variability(2 * program.n, 1.0 if program.n else 0.0, exact=True)
    answer = solver.solve(_least_overlap(program, used, floors[used]))
    if answer.status is not Status.OPTIMAL or answer.z is None:
        return Variability(0, 0.0, exact=False)
    z = np.rint(answer.z[: program.classes]).astype(np.int64)
    if np.abs(answer.z[: program.classes] - z).max(initial=0) > INTEGRAL or not program.fits(z):
        raise WrongAnswer(f"block {program.release.block}: the farthest dataset does not fit the counts when recounted")
    overlap = int(np.minimum(z[used], floors[used]).sum())
    return Variability(2 * (program.n - overlap), 1 - overlap / program.n, exact=True)


def _floors(program: Program, records: Codes) -> Ints:
    """For each class of which D* uses every record type: how often it uses the rarest; 0 for the other classes."""
    kinds = np.bincount(program.class_of, weights=program.types.raw, minlength=program.classes).astype(np.int64)
    distinct, counts = np.unique(records, axis=0, return_counts=True)
    used: dict[int, list[int]] = {}
    for record, count in zip(distinct, counts.tolist(), strict=True):
        used.setdefault(_class_of(program, record.tolist()), []).append(count)
    floors = np.zeros(program.classes, dtype=np.int64)
    for c, found in used.items():
        floors[c] = min(found) if len(found) == kinds[c] else 0
    return floors


def _class_of(program: Program, record: list[int]) -> int:
    match = np.ones(len(program.types), dtype=bool)
    for column, code in enumerate(record):
        atoms = program.types.atoms[column]
        match &= np.array([code in atom for atom in atoms])[program.types.table[:, column]]
    return int(program.class_of[np.flatnonzero(match)[0]])


def _least_overlap(program: Program, used: Ints, floors: Ints) -> IntegerProgram:
    """Minimise sum o_c with o_c >= min(z_c, s_c): a binary b_c says which of the two, o >= z - N b and o >= s b."""
    U, C, n = len(used), program.classes, program.n
    pick = csr_array((np.ones(U), (np.arange(U), used)), shape=(U, C))
    one = eye_array(U, format="csr")
    scaled = csr_array((floors.astype(np.float64), (np.arange(U), np.arange(U))), shape=(U, U))
    none = csr_array((len(program.rows), U))
    published = csr_array(program.A.astype(np.float64))
    parts: list[list[Any]] = [[published, none, none], [-pick, n * one, one], [None, -scaled, one]]
    A: Any = block_array(parts)
    free = np.full(2 * U, np.inf)
    return IntegerProgram(
        csr_array(A),
        np.concatenate([program.lo, np.zeros(2 * U)]).astype(np.float64),
        np.concatenate([program.hi.astype(np.float64), free]),
        np.concatenate([np.full(C, n), np.ones(U), np.full(U, n)]).astype(np.float64),
        np.concatenate([np.zeros(C + U), -np.ones(U)]),
    )
