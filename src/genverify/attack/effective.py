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
    return [int(size) for size in sizes]


def _forced(program: Program, record: Sequence[int]) -> Ints:
    """For every subset of columns, as a bit mask: the columns whose code in the record it forces among the live types."""
    types = program.types
    can, must = [], []
    for code, atoms, at in zip(record, types.atoms, types.table.T, strict=True):
        can.append(np.array([code in atom for atom in atoms], dtype=bool)[at])
        must.append(np.array([atom == (code,) for atom in atoms], dtype=bool)[at])
    # Row s of `matched` flags, in packed bits, the types that agree with the record on the subset s of columns. Each column
    # doubles the rows, those without it and those with it, so that the row number is the subset as a bit mask.
    matched = np.full((1, (len(types) + 7) // 8), 255, dtype=np.uint8)
    for bits in np.packbits(np.array(can), axis=1):
        matched = np.concatenate([matched, matched & bits])
    forced = np.zeros(len(matched), dtype=np.int64)
    for column, bits in enumerate(np.packbits(~np.array(must), axis=1)):
        forced |= (~(matched & bits).any(axis=1)).astype(np.int64) << column
    return forced


def _smallest(forced: Ints, named: Ints) -> Ints:
    """Of each set of columns, as a bit mask: the least number of them that force all the others."""
    subsets = np.arange(len(forced))
    size = np.bitwise_count(subsets).astype(np.int64)
    distinct, place = np.unique(named, return_inverse=True)
    enough = (subsets & ~distinct[:, None] == 0) & (distinct[:, None] & ~(subsets | forced) == 0)
    smallest: Ints = np.where(enough, size, len(forced)).min(axis=1)[place]
    return smallest
