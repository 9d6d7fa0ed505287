"""Effective k: how many columns of a claim say something that the others do not already force."""

from collections.abc import Sequence

import numpy as np

from genverify.core.arraytypes import Ints
from genverify.core.claims import ANY, Claim, Codes, matches
from genverify.solve.program import Program

CELLS_AT_ONCE = 2_000_000


def effective_k(program: Program, claims: Sequence[Claim], records: Codes) -> list[int]:
    """
    The size of the smallest sub-claim that forces the rest of the claim among the live types.

    Each claim describes some of the given records; one search per record serves all its claims.
    """
    if not claims:
        return []
    codes = np.array([claim.codes for claim in claims], dtype=np.int16)
    kinds = np.unique(records, axis=0)
    described = np.argmax(matches(codes, kinds), axis=1)
    # a column in which all live types hold the same code says nothing
    vary = [column for column in range(codes.shape[1]) if not _constant(program, column)]
    named = (codes[:, vary] != ANY) @ (1 << np.arange(len(vary)))
    sizes = np.zeros(len(claims), dtype=np.int64)
    asked = np.unique(described)
    step = max(1, CELLS_AT_ONCE // max(1, len(program.types)))
    for at in range(0, len(asked), step):
        some = asked[at : at + step]
        for record, forced in zip(some.tolist(), _forced(program, kinds[some], vary), strict=True):
            own = described == record
            sizes[own] = _smallest(forced, named[own])
    return sizes.tolist()


def _constant(program: Program, column: int) -> bool:
    places = program.types.table[:, column]
    return bool(len(places) and (places == places[0]).all() and len(program.types.atoms[column][places[0]]) == 1)


def _forced(program: Program, records: Codes, vary: Sequence[int]) -> Ints:
    """
    Per record and subset of some columns, as a bit mask: the columns whose code in the record the subset forces among the
    live types.
    """
    # `free` of a set holds the columns in which some type differs that agrees with the record on just this set; then each
    # column in turn adds to the sets without it what is free with it, because those types agree on the smaller set as well.
    free = _free(program, records, vary)
    columns = len(vary)
    for bit in range(columns):
        halves = free.reshape(-1, 2, 1 << bit)
        halves[:, 0] |= halves[:, 1]
    forced: Ints = ~free & ((1 << columns) - 1)
    return forced


def _free(program: Program, records: Codes, vary: Sequence[int]) -> Ints:
    """Per record and set of columns: the columns in which some type differs that agrees with the record on just this set."""
    types = program.types
    agrees, differ = np.zeros((len(records), len(types)), dtype=np.int32), []
    free = np.zeros((len(records), 1 << len(vary)), dtype=np.int64)
    if types.records is not None:  # of types with one record each, one differs wherever it does not agree
        for bit, column in enumerate(vary):
            agrees |= (records[:, column, None] == types.records[0][:, column]).astype(np.int32) << bit
        free[np.arange(len(records))[:, None], agrees] = ~agrees & ((1 << len(vary)) - 1)
        return free
    for bit, column in enumerate(vary):
        codes, atoms, at = records[:, column].tolist(), types.atoms[column], types.table[:, column]
        agrees |= np.array([[(code in atom) << bit for atom in atoms] for code in codes], dtype=np.int32)[:, at]
        differ.append(np.array([[atom != (code,) for atom in atoms] for code in codes])[:, at])
    for bit, flags in enumerate(differ):
        record, type_ = np.nonzero(flags)
        free[record, agrees[record, type_]] |= 1 << bit
    return free


def _smallest(forced: Ints, named: Ints) -> Ints:
    """Of each set of columns, as a bit mask: the least number of them that force all the others."""
    subsets = np.arange(len(forced))
    size = np.bitwise_count(subsets).astype(np.int64)
    distinct, place = np.unique(named, return_inverse=True)
    enough = (subsets & ~distinct[:, None] == 0) & (distinct[:, None] & ~(subsets | forced) == 0)
    smallest: Ints = np.where(enough, size, len(forced)).min(axis=1)[place]
    return smallest
