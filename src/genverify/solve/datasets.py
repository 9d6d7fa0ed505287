"""Datasets that fit a program: from class counts to records, exchanges of two records, the farthest from another."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations_with_replacement, product
from math import comb, prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import block_array, csr_array, diags_array, eye_array

from genverify.model.arrays import EXACT, Flags, Floats, Ints, positions, row_bytes, row_keys, row_weights
from genverify.model.claims import Codes
from genverify.model.linear import within
from genverify.solve.admissible import Atoms
from genverify.solve.program import Program, RecordSystem, WrongAnswer, recounted, sparse_system
from genverify.solve.solvers.base import Answer, Optimal, Solver, best_point, maximise_integers


def draw_records(program: Program, classes: Ints, rng: np.random.Generator, by_raw: bool = False) -> Codes:
    """
    Datasets of the given classes, one row of records each: a random type of each class, a random code of each atom; sorted
    records, of the shape (datasets, N, columns). `by_raw` makes every record of a class equally likely, where otherwise
    every type is.
    """
    order, starts, sizes = program.grouped
    types = order[_pick_raw(program, classes, rng) if by_raw else starts[classes] + _pick(rng, sizes[classes])]
    if program.types.records is not None:
        codes, key = program.types.records
        drawn_in_order: Codes = codes[np.take_along_axis(types, np.argsort(key[types], axis=1, kind="stable"), axis=1)]
        return drawn_in_order
    columns, indices = [_codes_of(atoms) for atoms in program.types.atoms], program.types.table.T[:, types]
    drawn = _pick(rng, np.array([column.size[at] for column, at in zip(columns, indices, strict=True)]))
    chosen = zip(columns, indices, drawn, strict=True)
    records = np.stack([column.codes[column.first[at] + index] for column, at, index in chosen], axis=-1)
    [keys] = row_keys([records.reshape(-1, records.shape[2])])
    in_order = np.argsort(keys.reshape(types.shape), axis=1, kind="stable")
    return np.take_along_axis(records, in_order[:, :, None], axis=1)


def draw_dataset(program: Program, z: Ints, rng: np.random.Generator, by_raw: bool = False) -> Codes:
    """One dataset with the given class counts."""
    classes = np.repeat(np.arange(program.classes), z)
    records: Codes = draw_records(program, classes[None, :], rng, by_raw)[0]
    return records


def _pick_raw(program: Program, classes: Ints, rng: np.random.Generator) -> Ints:
    """An index among the types sorted by class, each type as often as it stands for records."""
    order, starts, _ = program.grouped
    ends = np.cumsum(program.types.raw[order])
    first = (ends - program.types.raw[order])[starts]
    sizes = np.append(first[1:], ends[-1:]) - first
    return np.searchsorted(ends, first[classes] + _pick(rng, sizes[classes]), side="right")


def _pick(rng: np.random.Generator, sizes: Ints) -> Ints:
    """A random index into each list of the given sizes; no draw where there is no choice."""
    if (sizes == 1).all():
        return np.zeros(sizes.shape, dtype=np.int64)
    return rng.integers(0, sizes)


class _Codes(NamedTuple):
    """The codes of a column, atom after atom; where those of each atom begin, and how many; the atom of each code, or -1."""

    codes: Codes
    first: Ints
    size: Ints
    atom: Ints


@lru_cache(maxsize=1024)
def _codes_of(atoms: Atoms) -> _Codes:
    codes = np.array([code for atom in atoms for code in atom], dtype=np.int16)
    size = np.array([len(atom) for atom in atoms], dtype=np.int64)
    atom_of = np.full(int(codes.max(initial=-1)) + 2, -1, dtype=np.int64)  # the last entry: a code that no atom holds
    atom_of[codes] = np.repeat(np.arange(len(atoms)), size)
    return _Codes(codes, np.cumsum(size) - size, size, atom_of)


def list_records(program: Program, z: Ints) -> Iterator[Codes]:
    """Every dataset with the given class counts, one by one."""
    order, starts, sizes = program.grouped
    pools = []
    for c in np.flatnonzero(z).tolist():
        kinds = [record for t in order[starts[c] : starts[c] + sizes[c]].tolist() for record in records_of_type(program, t)]
        pools.append(combinations_with_replacement(kinds, int(z[c])))
    for parts in product(*pools):
        records = np.array([record for part in parts for record in part], dtype=np.int16).reshape(
            -1, len(program.types.atoms)
        )
        yield records[np.lexsort(records.T[::-1])]


def records_of_type(program: Program, t: int) -> Iterator[tuple[int, ...]]:
    return product(*(atoms[index] for atoms, index in zip(program.types.atoms, program.types.table[t], strict=True)))


def datasets_of(program: Program, z: Ints) -> int:
    """How many datasets have the given class counts."""
    return prod(comb(int(program.raw[c]) + int(z[c]) - 1, int(z[c])) for c in np.flatnonzero(z).tolist())


def class_vectors(program: Program, datasets: Codes) -> list[Ints]:
    """The class counts of datasets, each once; a dataset that does not fit the program is an error."""
    # A record that the release rules out (-1) has no class and is not counted. It does not slip through: the counts then
    # add up to less than N, which is a row of the program, and the recount refuses them. Many datasets share their class
    # counts, so each distinct vector is recounted once.
    classes = np.sort(classes_of_records(program, datasets), axis=1)
    # without records there is one vector, and no bytes to compare
    first = np.sort(np.unique(row_bytes(classes), return_index=True)[1]) if classes.shape[1] else np.zeros(1, dtype=np.int64)
    distinct = classes[first]
    dataset, index = np.nonzero(distinct >= 0)
    counts = np.bincount(dataset * program.classes + distinct[dataset, index], minlength=len(distinct) * program.classes)
    counts = counts.reshape(len(distinct), program.classes)
    used = np.flatnonzero(counts.any(axis=0))
    # nothing is negative: a sum below 2**53 is exact in floating-point numbers, and one beyond is above every hi
    fit = within(program.columns[used].T @ counts[:, used].T, program.lo, program.hi)
    for number in first[~fit].tolist():
        raise WrongAnswer(
            f"block {program.release.block}: dataset {number} does not fit the published counts when recounted; nothing "
            "is reported. Generate the datasets again."
        )
    return list(counts)


def classes_of_records(program: Program, datasets: Codes) -> Ints:
    """The class of every record of every dataset; -1 for a record that the release rules out."""
    records = datasets.reshape(-1, datasets.shape[2])
    if program.types.records is not None:
        keys, wanted = row_keys([program.types.records[0], records])
    else:
        atom_of = [_codes_of(atoms).atom for atoms in program.types.atoms]
        known = [
            np.where((codes >= 0) & (codes < len(of) - 1), codes, -1) for of, codes in zip(atom_of, records.T, strict=True)
        ]
        table = np.stack([of[codes] for of, codes in zip(atom_of, known, strict=True)], axis=1)
        keys, wanted = row_keys([program.types.table, table])
    order = np.argsort(keys)
    index = positions(keys[order], wanted)
    # positions gives -1 for a key that is not among the types: it indexes the appended last entry, which is -1 again
    return np.append(program.class_of[order], -1)[index].reshape(datasets.shape[:2])


# Exchanges: two records are replaced by two others that lie, together, in the same cells.

LOOKUPS_AT_ONCE = 200_000  # bounds memory: pairs times classes
CLASSES_PER_WORD = 8  # bounds memory: 64 MB if all classes share a word; 50 to 400 real households have 5 to 85 for a word
TRIED = 4000  # classes in one step: bounds its time, and most pairs have many exchanges
SLOTS = 64  # per class, so that one in 64 of the sums that no class has is looked up in vain
LONGEST_LIST = 2**20  # bounds memory: 4 MB; keys beyond are searched in a sorted array
MOST_ATOMS = 2**15 - 1  # of a 16-bit integer, which holds the atom of a type
# swaps between two looks: more for more records, so that the datasets lie far apart; the most bounds time
RECORDS_PER_SWAP = 5
MOST_SWAPS = 16  # bounds time: blocks of more than 80 records take no more swaps
HASH_BITS = 44  # with up to 2**8 cells per record, sums of hashes are exact in floating-point numbers


def _weighted(table: npt.NDArray[np.int16]) -> Floats:
    """
    The atoms of each type in the columns where types differ, weighted so that their sum tells types apart; exact in
    floating-point numbers. Without such weights few swaps are found, and those that are found are right all the same.
    """
    low, high = table.min(axis=0, initial=MOST_ATOMS).astype(np.int64), table.max(axis=0, initial=0)
    vary = np.flatnonzero(high > low)
    sizes = (high - low + 1)[vary]
    weights = row_weights(sizes) if len(vary) else np.zeros(0, dtype=np.int64)
    if weights is None or (len(vary) and weights[-1] * sizes[-1] >= EXACT):
        return np.zeros((len(table), len(vary)))
    least: Floats = (table[:, vary] - low[vary]) * weights.astype(np.float64)
    return least


class _Known:
    """The class of the type with each key: looked up in a list of all keys where that is short, else by a search."""

    def __init__(self, keys: Ints, class_of: Ints) -> None:
        self.most = int(keys.max(initial=0))
        self.listed: npt.NDArray[np.int32] | None = None
        if self.most < LONGEST_LIST:
            self.listed = np.full(self.most + 1, -1, dtype=np.int32)
            self.listed[keys] = class_of
            return
        in_order = np.argsort(keys, kind="stable")
        self.keys, self.class_of_key = keys[in_order], np.append(class_of[in_order], -1)

    def classes(self, keys: Ints) -> Ints:
        """The class of the type with each key, from 0 on; -1 where no type has it."""
        if self.listed is None:
            return self.class_of_key[positions(self.keys, keys)]
        result = self.listed[np.minimum(keys, self.most)].astype(np.int64)
        result[keys > self.most] = -1
        return result


class Exchange:
    """Finds exchanges by hashed columns: pairs of classes whose hashes have the same sum, then compared in integers."""

    def __init__(self, program: Program, rng: np.random.Generator) -> None:
        self.rng, self.program = rng, program
        # A random weighted sum stands for a whole column: two pairs in the same cells have equal sums, so that a partner is
        # looked up instead of compared cell by cell. Equal sums by chance are found out in _same_cells.
        random = rng.integers(1, 2**HASH_BITS, size=len(program.rows)).astype(np.float64)
        self.hashed: Ints = (program.columns @ random).astype(np.int64)
        order = np.argsort(self.hashed, kind="stable")
        self.sorted, self.order = self.hashed[order], np.append(order, -1)
        self.weighted = _weighted(program.types.table)
        self.key: Ints = self.weighted.sum(axis=1).astype(np.int64)
        self.known = _Known(self.key, program.class_of)
        # The last bits of a hash come first: most sums belong to no class, and a short table of bits says so.
        self.mask = (1 << min(30, (SLOTS * program.classes).bit_length())) - 1
        self.low = (self.hashed & self.mask).astype(np.int32)
        self.taken = np.zeros(self.mask + 1, dtype=bool)
        self.taken[self.low] = True

    def mix(self, points: Ints) -> Ints:
        """Several swaps and a step in each dataset: far enough for another look at them."""
        for _ in range(min(MOST_SWAPS, 1 + self.program.n // RECORDS_PER_SWAP)):
            points = self.swap(points)
        return self.step(points)

    def swap(self, points: Ints) -> Ints:
        """
        Exchanges in several datasets at once (rows of classes): records are paired at random, in all datasets alike, and the
        two of a pair swap their codes in random columns where that leaves every cell as it was.
        """
        half, order = points.shape[1] // 2, self.rng.permutation(points.shape[1])
        one_places, other_places = order[:half], order[half : 2 * half]
        ones, others = points[:, one_places], points[:, other_places]
        news, partners = self._swapped(self._some_type(ones), self._some_type(others))
        # -1, no such type, looks up the last hash: the sum may be equal by chance, so it is asked for by itself
        same = self.hashed[news] + self.hashed[partners] == self.hashed[ones] + self.hashed[others]
        same &= (news >= 0) & (partners >= 0) & (news != ones) & (news != others)
        which, pair = np.nonzero(same)
        news, partners = news[which, pair], partners[which, pair]
        right = self._same_cells(ones[which, pair], others[which, pair], news, partners)
        which, pair, moved = which[right], pair[right], points.copy()
        moved[which, one_places[pair]], moved[which, other_places[pair]] = news[right], partners[right]
        return moved

    def _swapped(self, first: Ints, second: Ints) -> tuple[Ints, Ints]:
        """The classes of two types after they swapped their codes in random columns; -1 where no type has the codes."""
        chance = self.rng.integers(0, 256, (*first.shape, 1), dtype=np.uint8)
        chosen = self.rng.integers(0, 256, (*first.shape, self.weighted.shape[1]), dtype=np.uint8) < chance
        change = np.einsum("wpc,wpc->wp", self.weighted[second] - self.weighted[first], chosen).astype(np.int64)
        return self.known.classes(self.key[first] + change), self.known.classes(self.key[second] - change)

    def _some_type(self, classes: Ints) -> Ints:
        order, starts, sizes = self.program.grouped
        if len(order) == len(sizes):  # every class is one type
            return classes
        types: Ints = order[starts[classes] + self.rng.integers(0, sizes[classes])]
        return types

    def step(self, points: Ints) -> Ints:
        """One random exchange in each of several datasets (rows of classes); the same records where the pair has none."""
        if points.shape[1] < 2:
            return points
        walkers = np.arange(len(points))
        indices = self.rng.random(points.shape).argpartition(1, axis=1)[:, :2].T
        ones, others = points[walkers, indices[0]], points[walkers, indices[1]]
        which, new = self._partners(self.hashed[ones] + self.hashed[others], self._some())
        partner = self._class_of(self.hashed[ones[which]] + self.hashed[others[which]] - self.hashed[new])
        fresh = (partner >= 0) & (new != ones[which]) & (new != others[which])
        which, new, partner = which[fresh], new[fresh], partner[fresh]
        choices = np.bincount(which, minlength=len(points))
        pick = (np.cumsum(choices) - choices + self.rng.random(len(points)) * choices).astype(np.int64)
        moving = np.flatnonzero(choices)
        pick = pick[moving]
        right = self._same_cells(ones[moving], others[moving], new[pick], partner[pick])
        moving, pick = moving[right], pick[right]
        moved = points.copy()
        moved[moving, indices[0][moving]], moved[moving, indices[1][moving]] = new[pick], partner[pick]
        return moved

    def _some(self) -> Ints:
        """The classes that a step tries: all, or a random part of many, because most pairs have many exchanges."""
        if self.program.classes <= TRIED:
            return np.arange(self.program.classes)
        return np.unique(self.rng.integers(0, self.program.classes, size=TRIED))

    def improve(self, z: Ints, c: Ints) -> Ints | None:
        """A point with a larger c z, one exchange away; None where there is none."""
        order = self.by_word[c[self.by_word] == c.max(initial=0)]
        distinct, starts, sizes = np.unique(self.word[order], return_index=True, return_counts=True)
        looked_at = max(len(distinct), len(order) // CLASSES_PER_WORD, 1)
        for ones, others in self._pairs(z, c, max(1, LOOKUPS_AT_ONCE // looked_at)):
            # one that lies in a cell in which neither of the two lies has no partner
            pair, group = np.nonzero(distinct & ~(self.word[ones] | self.word[others])[:, None] == 0)
            many = sizes[group]
            new = order[np.repeat(starts[group] - np.cumsum(many) + many, many) + np.arange(many.sum())]
            pair = np.repeat(pair, many)
            wanted = self.hashed[ones[pair]] + self.hashed[others[pair]] - self.hashed[new]
            maybe = np.flatnonzero(self.taken[wanted & self.mask])
            maybe = maybe[np.lexsort((new[maybe], pair[maybe]))]
            pair, new, partner = pair[maybe], new[maybe], self._class_of(wanted[maybe])
            useful = np.flatnonzero((partner >= 0) & (c[new] + c[partner] > c[ones[pair]] + c[others[pair]]))[:10]
            pair, new, partner = pair[useful], new[useful], partner[useful]
            right = np.flatnonzero(self._same_cells(ones[pair], others[pair], new, partner))
            if len(right):
                first, moved = right[0], z.copy()
                changed = [ones[pair[first]], others[pair[first]], new[first], partner[first]]
                np.add.at(moved, changed, [-1, -1, 1, 1])
                return moved
        return None

    @cached_property
    def word(self) -> npt.NDArray[np.uint64]:
        """The 64 cells that tell most classes apart, one bit each."""
        none = np.zeros(self.program.classes, np.uint64)
        return none if self.cells is None else max(self.cells.T, key=lambda bits: len(np.unique(bits)), default=none)

    @cached_property
    def by_word(self) -> Ints:
        return np.argsort(self.word, kind="stable")

    def _pairs(self, z: Ints, c: Ints, step: int) -> Iterator[tuple[Ints, Ints]]:
        """The pairs of records that an exchange could improve, each pair of classes once."""
        used = np.flatnonzero(z)
        ones, others = (used[side] for side in np.triu_indices(len(used)))
        useful = np.flatnonzero((c[ones] + c[others] < 2 * c.max(initial=0)) & ((ones != others) | (z[ones] > 1)))
        for at in range(0, len(useful), step):
            yield ones[useful[at : at + step]], others[useful[at : at + step]]

    def _partners(self, sums: Ints, among: Ints) -> tuple[Ints, Ints]:
        """For each sum of two hashes, the classes (of some) that may be one of two with this sum: a quick look only."""
        low, wanted = self.low[among], (sums & self.mask).astype(np.int32)
        step = max(1, LOOKUPS_AT_ONCE // max(1, len(low)))
        parts = []
        for at in range(0, len(sums), step):
            slots = wanted[at : at + step, None] - low
            slots &= np.int32(self.mask)
            which, new = np.divmod(np.flatnonzero(self.taken.take(slots)), len(low))
            parts.append((which + at, among[new]))
        if not parts:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        return np.concatenate([which for which, _ in parts]), np.concatenate([new for _, new in parts])

    def _class_of(self, wanted: Ints) -> Ints:
        return self.order[positions(self.sorted, wanted)]

    def _same_cells(self, ones: Ints, others: Ints, new: Ints, partners: Ints) -> npt.NDArray[np.bool_]:
        """Whether two pairs of classes lie in exactly the same cells."""
        if self.cells is None:
            A = self.program.A
            return np.asarray((A[:, ones] + A[:, others] == A[:, new] + A[:, partners]).all(axis=0))
        # one of the two lies in the same cells, and so do both
        a, b, c, d = (self.cells[classes] for classes in (ones, others, new, partners))
        return np.asarray((((a ^ b) == (c ^ d)) & ((a & b) == (c & d))).all(axis=1))

    @cached_property
    def cells(self) -> npt.NDArray[np.uint64] | None:
        """The cells of each class, one bit each; None where records add other numbers than 0 and 1 to some cell."""
        if self.program.system.largest > 1:
            return None
        packed = np.packbits(self.program.A.astype(bool, copy=False), axis=0)
        bytes_ = np.zeros((self.program.classes, -(-len(packed) // 8) * 8), dtype=np.uint8)
        bytes_[:, : len(packed)] = packed.T
        return bytes_.view(np.uint64)


def random_walk(program: Program, starts: Sequence[Ints], walkers: int, rng: np.random.Generator) -> Iterator[Ints]:
    """Datasets that walk side by side, a row of the classes of their records each: the starts, then far enough apart."""
    exchange = Exchange(program, rng)
    points = np.array([np.repeat(np.arange(program.classes), starts[walker % len(starts)]) for walker in range(walkers)])
    while True:
        yield points
        points = exchange.mix(points)


# Solution variability: how far a fitting dataset can be from another (subsidized housing, equation 3).


@dataclass(frozen=True)
class Variability:
    """solvar(D*), the largest L1 distance from D*, and the share of records that can differ; not `exact`: those found."""

    solvar: int
    share: float
    exact: bool


def solution_variability(program: Program, records: Codes, solver: Solver) -> Variability:
    """
    The most that a fitting dataset can differ from `records` (D*).

    The distance is 2 (N - overlap). Records of a class can all move to a type that D* does not use; only where D* uses every
    type of a class do they overlap, and least if they all take the type that D* has fewest of: min(z_c, s_c).
    """
    floors = _floors(program, records)
    used = np.flatnonzero(floors)
    bins = np.full(program.classes, -1, dtype=np.int64)
    bins[used] = np.arange(len(used))
    return farthest(program, bins, floors[used], solver, f"block {program.release.block}")


def farthest(
    program: RecordSystem, bins: Ints, held: Ints, solver: Solver, where: str, counted: Flags | None = None
) -> Variability:
    """
    The most that a dataset that fits can differ from D*, which has `held[b]` records in each bin b that it uses.

    `bins` gives the bin of each variable, -1 for those that D* does not use. The distance is the records of both less twice
    their overlap, the sum of min(z_b, s_b). `counted`: only these variables count, of which a dataset may have any number.
    """
    n, included = program.n, np.ones(len(bins), dtype=bool) if counted is None else counted
    if counted is None and (len(held) == 0 or n == 0):
        return Variability(2 * n, 1.0 if n else 0.0, exact=True)
    # With |z| fixed, only the overlap is to be small. Else |z| - 2 overlap is to be large.
    objective = np.zeros(len(bins)) if counted is None else included.astype(np.float64)
    answer = _least_overlap(program, bins, held, objective, 1.0 if counted is None else 2.0, solver)
    point = best_point(answer)
    if point is None:
        return Variability(0, 0.0, exact=False)
    z = recounted(program, point[: len(bins)], f"{where}: the farthest dataset does not fit the counts when recounted")
    counts = np.bincount(bins[bins >= 0], weights=z[bins >= 0], minlength=len(held)).astype(np.int64)
    overlap = int(np.minimum(counts, held).sum())
    both = 2 * n if counted is None else int(z[included].sum() + held.sum())
    distance = both - 2 * overlap
    share = 1 - overlap / n if counted is None else distance / both if both else 0.0
    return Variability(distance, share, isinstance(answer, Optimal))


def _floors(program: Program, records: Codes) -> Ints:
    """For each class of which D* uses every record type: how often it uses the rarest; 0 for the other classes."""
    distinct, counts = np.unique(records, axis=0, return_counts=True)
    used: dict[int, list[int]] = {}
    for c, count in zip(classes_of_records(program, distinct[None])[0].tolist(), counts.tolist(), strict=True):
        used.setdefault(c, []).append(count)
    floors = np.zeros(program.classes, dtype=np.int64)
    for c, times in used.items():
        floors[c] = min(times) if len(times) == program.raw[c] else 0
    return floors


def _least_overlap(
    program: RecordSystem, bins: Ints, held: Ints, objective: Floats, weight: float, solver: Solver
) -> Answer:
    """The objective less weight times sum o_b, o_b >= min(z_b, s_b): o >= z - (m - s) b, o >= s b, b binary and z_b <= m."""
    U, C, inside = len(held), len(bins), np.flatnonzero(bins >= 0)
    pick = csr_array((np.ones(len(inside)), (bins[inside], inside)), shape=(U, C))
    one, scaled = eye_array(U, format="csr"), diags_array(held.astype(np.float64))
    spare = diags_array(np.maximum(_most(program, bins, U) - held, 0.0))
    published, none = csr_array(program.A.astype(np.float64)), csr_array((len(program.A), U))
    parts: list[list[Any]] = [[published, none, none], [-pick, spare, one], [None, -scaled, one]]
    lo, hi = np.append(program.lo, np.zeros(2 * U)), np.append(program.hi, np.full(2 * U, np.inf))
    upper = np.concatenate([program.upper, np.ones(U), np.full(U, program.n)])
    system = sparse_system(csr_array(block_array(parts)), lo, hi, upper)
    return maximise_integers(solver, system, np.concatenate([objective, np.zeros(U), np.full(U, -weight)]))


def _most(program: RecordSystem, bins: Ints, number: int) -> Floats:
    """The most records that a bin can have: a row to which each record of the bin adds something limits them."""
    most = np.full(number, float(program.n))
    for b in range(number):
        least = program.A[:, bins == b].min(axis=1)
        rows = np.flatnonzero(least > 0)
        most[b] = min(most[b], (program.hi[rows] // least[rows]).min(initial=program.n))
    return most
