"""Effective k: how many columns of a claim say something that the others do not already force."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from genverify.core.claims import ANY, Claim, Codes, matches
from genverify.solve.program import Program

Ints = npt.NDArray[np.int64]


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
    named = (codes != ANY) @ (1 << np.arange(codes.shape[1]))
    sizes = np.zeros(len(claims), dtype=np.int64)
    for record in np.unique(described).tolist():
        own = described == record
        sizes[own] = _smallest(_forced(program, kinds[record].tolist()), named[own])
    return sizes.tolist()


def _forced(program: Program, record: Sequence[int]) -> Ints:
    """For every subset of columns, as a bit mask: the columns whose code in the record it forces among the live types."""
    types = program.types
    agrees = np.zeros(len(types), dtype=np.int64)
    other = []
    for column, (code, atoms, at) in enumerate(zip(record, types.atoms, types.table.T, strict=True)):
        agrees |= np.array([(code in atom) << column for atom in atoms])[at]
        other.append(np.flatnonzero(np.array([atom != (code,) for atom in atoms])[at]))
    # `free` of a set holds the columns in which some type differs that agrees with the record on just this set; then each
    # column in turn adds to the sets without it what is free with it, because those types agree on the smaller set as well.
    free = np.zeros(1 << len(record), dtype=np.int64)
    for column, differ in enumerate(other):
        free[agrees[differ]] |= 1 << column
    for bit in range(len(record)):
        halves = free.reshape(-1, 2, 1 << bit)
        halves[:, 0] |= halves[:, 1]
    return ~free & ((1 << len(record)) - 1)


def _smallest(forced: Ints, named: Ints) -> Ints:
    """Of each set of columns, as a bit mask: the least number of them that force all the others."""
    subsets = np.arange(len(forced))
    size = np.bitwise_count(subsets).astype(np.int64)
    distinct, place = np.unique(named, return_inverse=True)
    enough = (subsets & ~distinct[:, None] == 0) & (distinct[:, None] & ~(subsets | forced) == 0)
    smallest: Ints = np.where(enough, size, len(forced)).min(axis=1)[place]
    return smallest
