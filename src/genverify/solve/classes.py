"""Which classes a claim speaks of: F, all of whose types match it, and T, with at least one type that can."""

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, vstack

from genverify.core.claims import ANY, Codes
from genverify.core.predicates import Flags, Predicate
from genverify.solve.program import Program

Ints = npt.NDArray[np.int64]
CELLS_AT_ONCE = 5_000_000


def matched_classes(program: Program, codes: Codes) -> tuple[csr_array, csr_array]:
    """F and T of each claim, a sparse row of ones per claim, a column per class: COUNT(a) ranges from F z to T z."""
    order, starts, sizes = program.grouped
    step = max(1, CELLS_AT_ONCE // max(1, len(program.types)))
    parts = [_matched(program, codes[at : at + step], order, starts, sizes) for at in range(0, len(codes), step)]
    F, T = (csr_array(vstack([part[side] for part in parts], format="csr")) for side in (0, 1))
    return F, T


def _matched(
    program: Program,
    codes: Codes,
    order: npt.NDArray[np.int64],
    starts: npt.NDArray[np.int64],
    sizes: npt.NDArray[np.int64],
) -> tuple[csr_array, csr_array]:
    can, must = matching_types(program, codes, order)
    counted = np.add.reduceat(must, starts, axis=1, dtype=np.int32)
    reached = np.logical_or.reduceat(can, starts, axis=1)
    return csr_array((counted == sizes).astype(np.int64)), csr_array(reached.astype(np.int64))


def condition_classes(program: Program, predicate: Predicate) -> tuple[Ints, Ints]:
    """F and T of any condition, as 0/1 per class: the number of records that match it ranges from F z to T z."""
    can: Flags = np.ones(len(program.types), dtype=bool)
    must: Flags = np.ones(len(program.types), dtype=bool)
    for column, (name, atoms) in enumerate(zip(program.types.domain.names, program.types.atoms, strict=True)):
        if name in predicate.where:
            codes, places = set(predicate.where[name]), program.types.table[:, column]
            can &= np.array([not codes.isdisjoint(atom) for atom in atoms], dtype=bool)[places]
            must &= np.array([codes.issuperset(atom) for atom in atoms], dtype=bool)[places]
    sizes = program.grouped[2]
    reached, counted = (np.bincount(program.class_of, weights=f, minlength=program.classes) for f in (can, must))
    return (counted == sizes).astype(np.int64), (reached > 0).astype(np.int64)


def matching_types(program: Program, codes: Codes, order: npt.NDArray[np.int64]) -> tuple[Flags, Flags]:
    """Per claim and type (in the given order): whether some record of the type matches the claim, and whether all do."""
    table = program.types.table[order]
    can = np.ones((len(codes), len(table)), dtype=bool)
    must = np.ones((len(codes), len(table)), dtype=bool)
    for column, atoms in enumerate(program.types.atoms):
        asked, row = np.unique(codes[:, column], return_inverse=True)
        some = np.array([[code == ANY or code in atom for atom in atoms] for code in asked], dtype=bool)
        every = np.array([[code == ANY or atom == (code,) for atom in atoms] for code in asked], dtype=bool)
        if not some.all():
            can &= some[:, table[:, column]][row]
        if not every.all():
            must &= every[:, table[:, column]][row]
    return can, must
