"""Which classes a claim speaks of: F, all of whose types match it, and T, with at least one type that can."""

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, vstack

from genverify.core.arraytypes import Flags, Ints
from genverify.core.claims import ANY, Codes
from genverify.core.predicates import Predicate
from genverify.solve.program import Program

CELLS_AT_ONCE = 5_000_000


def matched_classes(program: Program, codes: Codes) -> tuple[csr_array, csr_array]:
    """F and T of each claim, a sparse row of ones per claim, a column per class: COUNT(a) ranges from F z to T z."""
    step = max(1, CELLS_AT_ONCE // max(1, len(program.types)))
    parts = [_matched(program, codes[at : at + step]) for at in range(0, len(codes), step)]
    if len(parts) == 1:
        return parts[0]
    F, T = (csr_array(vstack([part[side] for part in parts], format="csr")) for side in (0, 1))
    return F, T


def _matched(program: Program, codes: Codes) -> tuple[csr_array, csr_array]:
    order, starts, sizes = program.grouped
    can, must = matching_types(program, codes, order)
    if len(order) == len(sizes):  # every class is one type
        reached = _sparse(can)
        return (reached if must is can else _sparse(must)), reached
    counted = np.add.reduceat(must.view(np.int8), starts, axis=1, dtype=np.int32)
    return _sparse(counted == sizes), _sparse(np.logical_or.reduceat(can, starts, axis=1))


def _sparse(flags: Flags) -> csr_array:
    """Flags as a sparse matrix of ones."""
    places = np.flatnonzero(flags)
    starts = np.searchsorted(places, np.arange(len(flags) + 1) * flags.shape[1])
    columns = places - np.repeat(np.arange(len(flags)) * flags.shape[1], np.diff(starts))
    ones = np.ones(len(places), dtype=np.int64)
    return csr_array((ones, columns.astype(np.int32), starts.astype(np.int32)), shape=flags.shape)


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


def matching_types(program: Program, codes: Codes, order: Ints) -> tuple[Flags, Flags]:
    """
    Per claim and type (in the given order): whether some record of the type matches the claim, and whether all do. Both are
    the same array where no claim tells the records of a type apart.
    """
    table, names = program.types.table[order], [np.unique(column, return_inverse=True) for column in codes.T]
    can, must = (np.full((len(codes), -(-len(table) // 8)), 255, dtype=np.uint8) for _ in range(2))
    apart = False
    for places, atoms, (asked, row) in zip(table.T, program.types.atoms, names, strict=True):
        some = np.array([[code == ANY or code in atom for atom in atoms] for code in asked.tolist()], dtype=bool)
        every = np.array([[code == ANY or atom == (code,) for atom in atoms] for code in asked.tolist()], dtype=bool)
        apart |= not np.array_equal(some, every)
        # eight types to a byte: most of the work is to go through all types of all claims
        for flags, found in ((some, can), (every, must)):
            if not flags.all():
                found &= np.packbits(flags[:, places], axis=1)[row]
    reached = _unpacked(can, len(table))
    return reached, _unpacked(must, len(table)) if apart else reached


def _unpacked(bits: npt.NDArray[np.uint8], length: int) -> Flags:
    return np.unpackbits(bits, axis=1, count=length).view(np.bool_)
