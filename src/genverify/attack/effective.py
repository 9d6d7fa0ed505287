"""Effective k: how many columns of a claim say something that the others do not already force."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from genverify.core.claims import ANY, Claim, Codes, matches
from genverify.solve.program import Program


def effective_k(program: Program, claims: Sequence[Claim], records: Codes) -> list[int]:
    """
    The size of the smallest sub-claim that forces the rest of the claim among the live types.

    Each claim describes some of the given records; one search per record serves all its claims.
    """
    described: dict[int, list[int]] = {}
    for index, claim in enumerate(claims):
        of_claim = matches(np.array([claim.codes], dtype=np.int16), records)
        described.setdefault(int(np.argmax(of_claim)), []).append(index)
    sizes = [0] * len(claims)
    for record, indices in described.items():
        forced = _forced(program, records[record].tolist())
        for index in indices:
            sizes[index] = _smallest(forced, _mask(claims[index].codes))
    return sizes


def _mask(codes: Sequence[int]) -> int:
    return sum(1 << column for column, code in enumerate(codes) if code != ANY)


def _forced(program: Program, record: Sequence[int]) -> npt.NDArray[np.int64]:
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


def _smallest(forced: npt.NDArray[np.int64], named: int) -> int:
    """The least number of columns of `whole` that force all the others."""
    subsets = np.arange(len(forced))
    enough = (subsets & ~named == 0) & ((named & ~subsets & ~forced) == 0)
    return int(np.bitwise_count(subsets[enough]).min())
