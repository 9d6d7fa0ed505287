"""
Which whole numbers round to a printed value: everything in integers, in halves of the last decimal.

A printed value P (in units of the last of d decimals) stands for a range of fractions around it. Rules:
nearest    at most half a unit away, ties either way: whoever rounded half up, half even or half down is covered
half_up    a tie went up
half_even  a tie went to the even last digit
either     up or down to a neighbouring value (consistent rounding, which preserves row sums): less than a unit away
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from genverify.core.arraytypes import Ints
from genverify.core.errors import ConfigError, nearest

RULES = ("nearest", "half_up", "half_even", "either")
MOST_DECIMALS = 9  # 2 * 10**9 * N stays below 2**63


@dataclass(frozen=True)
class Rounding:
    """
    Rounding to a number of decimals by a rule.

    >>> [bool(Rounding(2).fits(33, n, m)) for n, m in ((3, 1), (4, 1), (200, 65), (200, 67))]
    [True, False, True, True]
    """

    decimals: int
    rule: str = "nearest"

    def __post_init__(self) -> None:
        if not 0 <= self.decimals <= MOST_DECIMALS:
            raise ConfigError(f"decimals = {self.decimals}: give a whole number from 0 to {MOST_DECIMALS}")
        if self.rule not in RULES:
            raise ConfigError(f"unknown rounding rule {self.rule!r}: {nearest(self.rule, list(RULES))}")

    @property
    def one(self) -> int:
        """The printed value of 1, in halves of the last decimal."""
        return 2 * int(10**self.decimals)

    def ends(self, printed: Ints) -> tuple[Ints, Ints]:
        """Where the range of fractions of each printed value begins and ends, in halves of the last decimal."""
        away = 2 if self.rule == "either" else 1
        return 2 * printed - away, 2 * printed + away

    def closed(self, printed: Ints) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """Whether each range holds its own beginning and its own end."""
        every = np.ones(printed.shape, dtype=bool)
        even = printed % 2 == 0
        return {
            "nearest": (every, every),
            "half_up": (every, ~every),
            "half_even": (even, even),
            "either": (~every, ~every),
        }[self.rule]

    def counts(self, printed: Ints, totals: Ints) -> tuple[Ints, Ints]:
        """The least and the greatest count of each cell (column) at each total (row); none fits where least > greatest."""
        low, high = self.ends(printed)
        with_low, with_high = self.closed(printed)
        n = totals[:, None]
        least = (n * low - with_low) // self.one + 1
        greatest = (n * high - ~with_high) // self.one
        return np.maximum(least, 0), np.minimum(greatest, n)

    def fits(self, printed: int, total: int, count: int) -> bool:
        """Whether count / total can be printed so."""
        least, greatest = self.counts(np.array([printed]), np.array([total]))
        return bool(least[0, 0] <= count <= greatest[0, 0])

    def printed(self, counts: Ints) -> Ints:
        """The printed values of the conditionals of counts (no row empty); `either` rounds down, `nearest` half up."""
        totals = counts.sum(axis=1, keepdims=True)
        down, rest = np.divmod(counts * (self.one // 2), totals)
        if self.rule == "either":
            return down
        tie_up = down % 2 == 1 if self.rule == "half_even" else np.ones_like(down, dtype=bool)
        up: Ints = down + ((2 * rest > totals) | ((2 * rest == totals) & tie_up))
        return up
