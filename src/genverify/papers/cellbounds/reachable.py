"""
Which sums can be reached: sets of whole numbers from 0 as the bits of one Python integer.

A negative integer has infinitely many leading ones, so it stands for a set that holds everything from some number on.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from genverify.core.arraytypes import Flags

T = TypeVar("T")
ZERO_ALONE = 1


@dataclass(frozen=True)
class Steps:
    """
    The numbers start, start + step, ...: `terms` of them (None: without end).

    >>> members(add(ZERO_ALONE, [Steps(0, 3, 2)], 20), 20)
    [0, 3]
    """

    start: int
    step: int
    terms: int | None


def add(sums: int, choices: Iterable[Steps], limit: int) -> int:
    """
    Every sum of a number of the set and one of the choices (ordered by their start), up to the limit.

    >>> members(add(add(1, [Steps(0, 3, None)], 20), [Steps(0, 5, None)], 20), 10)
    [0, 3, 5, 6, 8, 9, 10]
    """
    found = 0
    for choice in choices:
        if choice.start >= full_from(found, limit):
            break
        found |= _extend(sums, choice.step, choice.terms, limit) << choice.start
    return _cut(found, limit)


def full_from(sums: int, limit: int) -> int:
    """
    The number from which the set holds everything; limit + 1 where that is not known.

    >>> full_from(add(add(1, [Steps(0, 3, None)], 20), [Steps(0, 5, None)], 20), 20)
    8
    """
    return min((~sums).bit_length(), limit + 1) if sums < 0 else limit + 1


def _cut(sums: int, limit: int) -> int:
    return sums if sums < 0 else sums & ((2 << limit) - 1)


def _extend(sums: int, step: int, terms: int | None, limit: int) -> int:
    """The set plus 0, step, 2 step, ...: each turn doubles how many steps are covered."""
    end = full_from(sums, limit)
    mask = (1 << end) - 1
    low = sums & mask
    most = end // step + 1
    wanted = most if terms is None else min(terms, most)
    covered = 1
    while covered < wanted:
        more = min(covered, wanted - covered)
        low |= (low << more * step) & mask
        covered += more
    if sums < 0:
        return low | -1 << end
    return _saturate(low, step) if terms is None else low


def _saturate(sums: int, step: int) -> int:
    """A set that is closed under +step and holds `step` numbers in a row holds everything after them."""
    # Bit i of `run` says that i, i + 1, ..., i + length - 1 are all in the set; shifted by `more` and intersected, it says
    # so of length + more numbers. The lowest such i is run & -run, and minus a power of two has all bits from there on.
    run, length = sums, 1
    while run and length < step:
        more = min(length, step - length)
        run &= run >> more
        length += more
    return sums | -(run & -run) if run else sums


def leave_one_out(items: Sequence[T], combine: Callable[[int, T], int], sums: int = ZERO_ALONE) -> list[int]:
    """
    For each item, the sums of all the others: halves are added to each other's context, so that `combine` is called
    about n log n times instead of n squared.

    >>> leave_one_out([1, 2, 4], lambda sums, shift: sums << shift)
    [64, 32, 8]
    """
    if len(items) <= 1:
        return [sums] * len(items)
    half = len(items) // 2
    left, right = items[:half], items[half:]
    with_left = with_right = sums
    for item in left:
        with_left = combine(with_left, item)
    for item in right:
        with_right = combine(with_right, item)
    return leave_one_out(left, combine, with_right) + leave_one_out(right, combine, with_left)


def flags_of(sums: int, length: int) -> Flags:
    """Whether each of 0, 1, ..., length - 1 is in the set."""
    low = sums & ((1 << length) - 1)
    packed = np.frombuffer(low.to_bytes(length // 8 + 1, "little"), dtype=np.uint8)
    flags: Flags = np.unpackbits(packed, bitorder="little")[:length].astype(bool)
    return flags


def members(sums: int, largest: int) -> list[int]:
    """The numbers of the set up to the largest."""
    return [int(place) for place in np.flatnonzero(flags_of(sums, largest + 1))]


def runs_of(sums: int, limit: int) -> Iterator[Steps]:
    """
    A set as runs of numbers in a row; the last one without end where the set has none.

    >>> list(runs_of(0b1011, 10))
    [Steps(start=0, step=1, terms=2), Steps(start=3, step=1, terms=1)]
    """
    end = full_from(sums, limit)
    text = bin((sums & ((1 << end) - 1)) | 1 << end)[:2:-1]
    for found in re.finditer("1+", text):
        yield Steps(found.start(), 1, found.end() - found.start())
    if sums < 0:
        yield Steps(end, 1, None)
