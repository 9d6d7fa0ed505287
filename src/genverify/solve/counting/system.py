"""The rows that a count of solutions must keep: those that follow from others are dropped, if integers say so."""

from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np

from genverify.core.arraytypes import Ints
from genverify.solve.recount import Fitting

DENOMINATOR = 1_000
WHOLE = 2**62  # products and sums below it stay what they are in 64 bits


@dataclass(frozen=True)
class System:
    """
    z >= 0 integer with lo <= A z <= hi, A >= 0, without rows that say nothing new. `most` is the largest count of each
    class; `contradictory`: two rows ask for different things, so nothing fits.
    """

    A: Ints
    lo: Ints
    hi: Ints
    most: Ints
    contradictory: bool = False


def system_of(program: Fitting) -> System:
    """The rows of a program, the smallest counts first, without those that are sums of others with one count each."""
    A = program.A.astype(np.int64)
    kept, contradictory = _independent(A, program.lo, program.hi)
    A, lo, hi = A[kept], program.lo[kept].astype(np.int64), program.hi[kept].astype(np.int64)
    return System(A, lo, hi, _most(A, hi), contradictory or bool((lo > hi).any() or (hi < 0).any()))


def _independent(A: Ints, lo: Ints, hi: Ints) -> tuple[list[int], bool]:
    """The rows to keep, in the order of their counts, and whether a row that follows from them has another count."""
    # Rows with small counts are kept before large ones: what is left of a small count soon is nothing, and a state that asks
    # for more than that dies early. A total that is the sum of its parts adds nothing to them.
    order = sorted(range(len(A)), key=lambda row: (int(hi[row]), int((A[row] > 0).sum()), row))
    fixed: list[int] = []
    ranges: list[int] = []
    contradictory = False
    for row in order:
        if lo[row] != hi[row]:
            ranges.append(row)
            continue
        said = _said(A[fixed], A[row], lo[fixed])
        if said is None:
            fixed.append(row)
        else:
            contradictory |= said != int(lo[row])
    return sorted(fixed + ranges, key=order.index), contradictory


def _said(known: Ints, row: Ints, counts: Ints) -> Fraction | None:
    """The count that the known rows imply for a row which is a sum of them; None where it is not, recounted in integers."""
    if not row.any():
        return Fraction(0)
    if not len(known):
        return None
    guess = np.linalg.lstsq(known.T.astype(np.float64), row.astype(np.float64), rcond=None)[0]
    shares = [Fraction(float(value)).limit_denominator(DENOMINATOR) for value in guess]
    scale = lcm(*(share.denominator for share in shares))
    exact = [int(share * scale) for share in shares]
    # A guess that is no sum has denominators without a common multiple that 64 bits hold. The row is then kept, which is
    # always right: a row too many costs time, no answer.
    if max(sum(map(abs, exact)) * int(max(known.max(), counts.max())), scale * int(row.max())) >= WHOLE:
        return None
    whole = np.array(exact, dtype=np.int64)
    if not np.array_equal(whole @ known, row * scale):
        return None
    return Fraction(int(whole @ counts), scale)


def _most(A: Ints, hi: Ints) -> Ints:
    """What the rows that a class adds to leave for it."""
    if not len(A):
        return np.zeros(A.shape[1], dtype=np.int64)
    room = np.where(A > 0, hi[:, None] // np.maximum(A, 1), np.iinfo(np.int64).max)
    most: Ints = np.maximum(room.min(axis=0), -1)
    return most
