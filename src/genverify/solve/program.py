"""The compact program of a release: z counts the records of each class, and lo <= A z <= hi."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from genverify.core.arrays import row_bytes
from genverify.core.arraytypes import Flags, Ints
from genverify.core.predicates import Predicate
from genverify.core.release import TOTAL, Release
from genverify.solve.exclusions import Lemma
from genverify.solve.layout import Layout, layout_of
from genverify.solve.types import Types, walk_types

Matrix = npt.NDArray[np.int8] | npt.NDArray[np.int64]
COUNTED = "COUNT"
FEW_POINTS = 4


@dataclass(frozen=True)
class Program:
    """
    All datasets that fit a release: z >= 0 integer with lo <= A z <= hi.

    `rows` names the published cell of each row; the first row is N. Types with the same coefficients in every row form a
    class, because no published figure distinguishes them: `class_of` gives the class of each type.
    """

    release: Release
    types: Types
    lemmas: tuple[Lemma, ...]
    rows: tuple[str, ...]
    A: Matrix
    lo: Ints
    hi: Ints
    class_of: Ints

    @property
    def n(self) -> int:
        return self.release.n

    @property
    def classes(self) -> int:
        return int(self.A.shape[1])

    @cached_property
    def grouped(self) -> tuple[Ints, Ints, Ints]:
        """The types sorted by class, where each class starts among them, and how many types it has."""
        sizes = np.bincount(self.class_of, minlength=self.classes)
        return np.argsort(self.class_of, kind="stable"), np.cumsum(sizes) - sizes, sizes

    @cached_property
    def columns(self) -> csr_array:
        """
        The coefficients of each class, one sparse row per class: most classes lie in few cells. They are floating-point
        numbers, because linear programs need them; integers up to 2**53 are exact.
        """
        flags = np.ascontiguousarray(self.A.T != 0)
        places = np.flatnonzero(flags)
        starts = np.concatenate([[0], np.cumsum(np.count_nonzero(flags, axis=1))])
        rows = places - np.repeat(np.arange(self.classes) * len(self.rows), np.diff(starts))
        added = np.ones(len(rows)) if self.largest == 1 else self.A.T[flags].astype(np.float64)
        return csr_array((added, rows.astype(np.int32), starts.astype(np.int32)), shape=(self.classes, len(self.rows)))

    @cached_property
    def row_of(self) -> dict[bytes, int]:
        """The row that counts exactly the records of some classes, by the numbers of these classes as bytes."""
        rows, classes = np.nonzero(self.A)
        parts = np.split(classes, np.cumsum(np.bincount(rows, minlength=len(self.rows)))[:-1])
        counts = np.flatnonzero(self.A.max(axis=1, initial=0) <= 1).tolist()
        return {parts[row].tobytes(): row for row in reversed(counts)}

    @cached_property
    def largest(self) -> int:
        """The largest coefficient, at least 1."""
        return max(1, int(self.A.max(initial=0)))

    def member(self, c: int) -> int:
        """A type of a class, which stands for the others."""
        order, starts, _ = self.grouped
        return int(order[starts[c]])

    def fits(self, z: Ints) -> bool:
        """Whether class counts satisfy every row, recounted in integers."""
        return bool((z >= 0).all() and self.fit(z[:, None])[0])

    def fit(self, counts: Ints) -> Flags:
        """Whether each column of class counts (none below 0) satisfies every row, recounted in integers."""
        used = np.flatnonzero(counts.any(axis=1))
        # Of many points a sparse product is faster, in floating-point numbers; nothing is negative, so a sum below 2**53 is
        # exact, and one beyond is above every hi.
        few = counts.shape[1] <= FEW_POINTS
        sums = self.A[:, used].astype(np.int64) @ counts[used] if few else self.columns[used].T @ counts[used]
        right = (sums >= self.lo[:, None]) & (sums <= self.hi[:, None])
        return np.asarray(right.all(axis=0))


def program_of(release: Release, max_types: int) -> Program:
    """The compact program of a release; asked for again, as verification does after generation, the last one is used."""
    if _last and (_last[0].release is not release or len(_last[0].types) > max_types):
        _last.clear()
    if not _last:
        _last.append(build_program(release, max_types))
    return _last[0]


_last: list[Program] = []


def build_program(release: Release, max_types: int, counted: tuple[Predicate, int] | None = None) -> Program:
    """
    The compact program: types that are not ruled out, one row per distinct cell, types with equal columns merged.

    `counted` adds a last row: the number of records that match its condition.
    """
    layout = layout_of(release, [counted[0]] if counted else ())
    excluded, lemmas = layout.excluded(release)
    types = walk_types(release.schema.domain, layout.atoms, excluded, max_types)
    rows, flags, lo, hi = _distinct_rows(release, types, layout)
    if counted:
        rows, flags = (*rows, COUNTED), np.concatenate([flags, types.inside(counted[0])[None, :].astype(flags.dtype)])
        lo, hi = np.append(lo, counted[1]), np.append(hi, counted[1])
    A, class_of = classes_of(flags)
    return Program(release, types, tuple(lemmas), rows, A, lo, hi, class_of)


def _distinct_rows(release: Release, types: Types, layout: Layout) -> tuple[tuple[str, ...], Flags | Ints, Ints, Ints]:
    """One row for each distinct set of types and range: of cells that say the same, the first stays."""
    rows: dict[tuple[bytes, int, int], tuple[str, Flags | Ints]] = {}
    everyone: Flags = np.ones(len(types), dtype=bool)
    # N comes first: solve.leaves corrects multipliers on row 0, which holds every record with the coefficient 1.
    rows[everyone.tobytes(), release.n, release.n] = TOTAL, everyone
    published = np.flatnonzero(release.hi > 0).tolist()
    for place, added in zip(published, layout.added_by(types, published), strict=True):
        key = added.tobytes(), int(release.lo[place]), int(release.hi[place])
        rows.setdefault(key, (layout.queries[place].id, added))
    names, flags = zip(*rows.values(), strict=True)
    lo, hi = ([key[side] for key in rows] for side in (1, 2))
    return tuple(names), np.array(flags), np.array(lo, dtype=np.int64), np.array(hi, dtype=np.int64)


def classes_of(flags: Flags | Ints) -> tuple[Matrix, Ints]:
    """The distinct columns of a matrix (in order of first appearance), and the column that each type has."""
    if flags.shape[1] == 0:
        return np.zeros(flags.shape, dtype=np.int8), np.zeros(0, dtype=np.int64)
    # As in core.tabulate, a column of flags becomes a few bytes, so that equal columns are found by one sort of scalars.
    # That sort orders the classes by their bytes; they are put back into the order in which the types bring them,
    # because the solver's path, and with it the proofs and datasets of a study, depends on the order of its columns.
    keys = row_bytes((np.packbits(flags, axis=0) if flags.dtype == bool else flags).T)
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    # one byte per coefficient where they are 0 and 1: of the large programs this is most of the memory
    distinct = flags[:, first[order]]
    return distinct.view(np.int8) if flags.dtype == bool else distinct.astype(np.int64), rank[inverse.ravel()].astype(
        np.int64
    )
