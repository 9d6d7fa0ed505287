"""Exchanges: two records are replaced by two others that lie, together, in the same cells."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from genverify.core.arrays import positions
from genverify.solve.program import Program

Ints = npt.NDArray[np.int64]
LOOKUPS_AT_ONCE = 2_000_000


class Exchange:
    """Finds exchanges by hashed columns: pairs of classes whose hashes have the same sum, then compared in integers."""

    def __init__(self, program: Program, rng: np.random.Generator) -> None:
        self.rng = rng
        self.columns = np.ascontiguousarray(program.A.T)
        weights = rng.integers(1, 2**60 // max(1, len(program.rows)), size=len(program.rows), dtype=np.int64)
        # A random weighted sum stands for a whole column: two pairs in the same cells have equal sums, so that a partner is
        # looked up instead of compared cell by cell. Equal sums by chance are found out in _exchanged.
        self.hashed = self.columns.astype(np.int64) @ weights
        order = np.argsort(self.hashed, kind="stable")
        self.sorted, self.order = self.hashed[order], np.append(order, -1)

    def step(self, z: Ints) -> Ints:
        """A random exchange, or the same point where the drawn pair of records has none."""
        records = np.repeat(np.arange(len(z)), z)
        if len(records) < 2:
            return z
        one, other = self.rng.choice(records, 2, replace=False)
        classes = np.arange(len(z))
        partner = self._partner(self.hashed[one] + self.hashed[other] - self.hashed)
        fresh = np.flatnonzero((partner >= 0) & (classes != one) & (classes != other))
        if len(fresh) == 0:
            return z
        pick = fresh[self.rng.integers(len(fresh))]
        moved = self._exchanged(z, int(one), int(other), int(pick), int(partner[pick]))
        return z if moved is None else moved

    def improve(self, z: Ints, c: Ints) -> Ints | None:
        """A point with a larger c z, one exchange away; None where there is none."""
        best = np.flatnonzero(c == c.max(initial=0))
        for ones, others in self._pairs(z, c, max(1, LOOKUPS_AT_ONCE // max(1, len(best)))):
            partner = self._partner((self.hashed[ones] + self.hashed[others])[:, None] - self.hashed[best][None, :])
            gain = c[best][None, :] + c[partner] - (c[ones] + c[others])[:, None]
            for pair, new in np.argwhere((partner >= 0) & (gain > 0))[:10]:
                moved = self._exchanged(z, int(ones[pair]), int(others[pair]), int(best[new]), int(partner[pair, new]))
                if moved is not None:
                    return moved
        return None

    def _pairs(self, z: Ints, c: Ints, step: int) -> Iterator[tuple[Ints, Ints]]:
        """The pairs of records that an exchange could improve."""
        records = np.repeat(np.arange(len(z)), z)
        ones, others = (records[side] for side in np.triu_indices(len(records), k=1))
        useful = np.flatnonzero(c[ones] + c[others] < 2 * c.max(initial=0))
        for at in range(0, len(useful), step):
            yield ones[useful[at : at + step]], others[useful[at : at + step]]

    def _partner(self, wanted: Ints) -> Ints:
        """The class with each wanted hash, or -1."""
        return self.order[positions(self.sorted, wanted)]

    def _exchanged(self, z: Ints, one: int, other: int, new_one: int, new_other: int) -> Ints | None:
        """The point after the exchange, if the two pairs lie in exactly the same cells."""
        if (self.columns[one] + self.columns[other] != self.columns[new_one] + self.columns[new_other]).any():
            return None
        moved = z.copy()
        np.add.at(moved, [one, other, new_one, new_other], [-1, -1, 1, 1])
        return moved
