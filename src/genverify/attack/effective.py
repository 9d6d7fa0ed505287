"""Effective k: how many columns of a claim say something that the others do not already force."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from genverify.core.claims import ANY, Claim, Codes, matches
from genverify.core.predicates import Flags
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
    matched = np.full((1, -(-len(types) // 64)), ~np.uint64(0))
    for bits in _packed(np.array(can)):
        matched = np.concatenate([matched, matched & bits])
    forced = np.zeros(len(matched), dtype=np.int64)
    for column, bits in enumerate(_packed(~np.array(must))):
        forced |= (~(matched & bits).any(axis=1)).astype(np.int64) << column
    return forced


def _packed(flags: Flags) -> npt.NDArray[np.uint64]:
    """Rows of flags as bits, 64 to a number, the last one filled up with zeros."""
    padded = np.zeros((len(flags), -(-flags.shape[1] // 64) * 64), dtype=bool)
    padded[:, : flags.shape[1]] = flags
    return np.packbits(padded, axis=1).view(np.uint64)


def _smallest(forced: Ints, named: Ints) -> Ints:
    """Of each set of columns, as a bit mask: the least number of them that force all the others."""
    subsets = np.arange(len(forced))
    size = np.bitwise_count(subsets).astype(np.int64)
    distinct, place = np.unique(named, return_inverse=True)
    enough = (subsets & ~distinct[:, None] == 0) & (distinct[:, None] & ~(subsets | forced) == 0)
    smallest: Ints = np.where(enough, size, len(forced)).min(axis=1)[place]
    return smallest
