"""The compact program of a release: z counts the records of each class, lo <= A z <= hi; points are recounted."""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from math import prod
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from scipy.sparse import csc_array, csr_array, vstack

from genverify.model.arrays import Flags, Floats, Ints, row_bytes
from genverify.model.claims import ANY, Codes
from genverify.model.domain import Predicate, Rule
from genverify.model.errors import GenverifyError
from genverify.model.linear import LinearSystem
from genverify.model.release import TOTAL, Release, Schema, cached
from genverify.solve import admissible

# What the blocks of a study share: the atoms of the published cells, and where each cell lies among them.

Columns = tuple[int, ...]
KEPT_ATOMS = 64  # grids of a schema: bounds memory
KEPT_UNIVERSES = 10_000  # of the grids: bounds memory


class Grids:
    """
    The queries of a schema in grids: the product of the atoms of the columns that a query names. Releases that publish
    different queries of it share this as long as the published ones tell the same codes apart.
    """

    def __init__(
        self, schema: Schema, added: Sequence[Predicate], columns: Sequence[Columns], atoms: tuple[admissible.Atoms, ...]
    ):
        self.domain, self.schema, self.added, self.columns, self.atoms = schema.domain, schema, added, columns, atoms
        # what is asked for again and again; kept here, so that it goes with these grids
        self.shape, self.wide, self.held = cache(self._shape), cache(self._wide), cache(self._held)
        self.places = lru_cache(maxsize=KEPT_UNIVERSES)(self._places)

    def _shape(self, columns: Columns) -> tuple[int, ...]:
        return tuple(len(self.atoms[column]) for column in columns)

    def _wide(self, columns: Columns) -> bool:
        return prod(self.shape(columns)) > admissible.GRID_LIMIT

    @cached_property
    def rules(self) -> list[admissible.ExcludedCombinations]:
        """What the structural rules rule out, whatever the counts."""
        return admissible.rule_tests(self.domain, self.atoms, self.schema.rules)

    def _held(self, query: int) -> Ints:
        """The flat places in its grid of the records that add to a query; none are listed of a grid that is too large."""
        columns = self.columns[query]
        return np.zeros(0, dtype=np.int64) if self.wide(columns) else self.places(columns, query)

    def _places(self, columns: Columns, query: int) -> Ints:
        if not columns:
            return np.zeros(1, dtype=np.int64)
        index = np.ravel_multi_index(
            admissible.box(self.domain, self.atoms, columns, self.added[query]), self.shape(columns)
        )
        return np.asarray(index, dtype=np.int64).ravel()


class _Queries:
    """The conditions of a schema's queries, and the grids of the atoms that some of them make."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.added = [admissible.adding(query, schema.domain) for query in schema.queries]
        names = {name: column for column, name in enumerate(schema.domain.names)}
        self.columns = [tuple(sorted(names[name] for name in predicate.columns)) for predicate in self.added]
        self.stated = [predicate for rule in schema.rules for predicate in (rule.when, *rule.one_of)]
        # clauses by number: which of them a release names decides the atoms, whichever of its queries name them
        self.clauses: dict[tuple[str, tuple[int, ...]], int] = {}
        said = [[self.clauses.setdefault(clause, len(self.clauses)) for clause in p.clauses] for p in self.added]
        self.clause = np.array([number for numbers in said for number in numbers], dtype=np.int64)
        self.query = np.repeat(np.arange(len(said)), [len(numbers) for numbers in said])
        self.summed = np.array([query.sums is not None for query in schema.queries], dtype=bool)
        self.grids: OrderedDict[tuple[bytes, bytes], Grids] = OrderedDict()

    def grids_of(self, cells: Ints) -> Grids:
        published = np.zeros(len(self.added), dtype=bool)
        published[cells] = True
        named = np.zeros(len(self.clauses), dtype=bool)
        named[self.clause[published[self.query]]] = True
        key = named.tobytes(), np.flatnonzero(published & self.summed).tobytes()
        return cached(self.grids, key, lambda: self.grids_for(cells), KEPT_ATOMS)

    def grids_for(self, cells: Ints, extra: Sequence[Predicate] = ()) -> Grids:
        """The grids of the atoms that these queries and other conditions make."""
        queries = [self.schema.queries[cell] for cell in cells]
        single = admissible.one_code_each(queries, self.schema.domain)
        conditions = [*(self.added[cell] for cell in cells.tolist()), *self.stated, *single, *extra]
        return Grids(self.schema, self.added, self.columns, admissible.atoms_of(self.schema.domain, conditions))


class Layout:
    """The published queries of a release in their grids: a block's counts say which places nobody takes."""

    def __init__(self, queries: _Queries, cells: Ints, grids: Grids) -> None:
        self.schema, self.domain, self.cells, self.grids = queries.schema, queries.schema.domain, cells.tolist(), grids
        self.atoms = grids.atoms
        self.queries = [self.schema.queries[cell] for cell in self.cells]
        self.columns = [queries.columns[cell] for cell in self.cells]
        self.position = {query.id: index for index, query in enumerate(self.queries)}
        self.families = {columns: family for family, columns in enumerate(dict.fromkeys(self.columns))}
        self.family: Ints = np.array([self.families[columns] for columns in self.columns], dtype=np.int64)
        sizes = [0 if grids.wide(columns) else prod(grids.shape(columns)) for columns in self.families]
        self.start = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        # the places of all queries in one row of all grids
        held = [grids.held(cell) for cell in self.cells]
        self.held_by: Ints = np.repeat(np.arange(len(held)), [len(indices) for indices in held])
        flat = np.concatenate(held) if held else np.zeros(0, dtype=np.int64)
        self.held: Ints = flat + self.start[self.family[self.held_by]]

    def excluded(self, release: Release) -> tuple[list[admissible.ExcludedCombinations], list[admissible.ExhaustedTotal]]:
        """
        What zero counts, lemmas and structural rules rule out, one grid for each set of columns, and the lemmas that were
        needed. Lemmas are sought only where the counts leave records open that lie in no cell of these columns.
        """
        zero, counted = release.hi == 0, release.lo > 0
        dead, covered = np.zeros((2, self.start[-1]), dtype=bool)
        dead[self.held[zero[self.held_by]]] = True
        covered[self.held[(zero | counted)[self.held_by]]] = True
        alive = [np.ones(len(atoms), dtype=bool) for atoms in self.atoms]
        result, used, implied = [*self.grids.rules], list[admissible.ExhaustedTotal](), admissible.ImpliedZeros(release)
        every, named = list(self.families), dict.fromkeys([*self.family[zero].tolist(), *self.family[counted].tolist()])
        for family in sorted(named, key=lambda family: len(every[family])):
            columns = every[family]
            if self.grids.wide(columns):
                lemmas = list(implied.lemmas(self._names(columns)))
                zeros = np.flatnonzero(zero & (self.family == family)).tolist()
                rules = [Rule(self.queries[index].id, self.grids.added[self.cells[index]], ()) for index in zeros]
                predicates = {query.id: query.predicate for query in self.queries}
                rules += [admissible.lemma_rule(lemma, predicates) for lemma in lemmas]
                result.append(admissible.ExcludedCombinations(columns, None, tuple(rules)))
                used += lemmas
                continue
            own_dead, own_covered = (flags[self.start[family] : self.start[family + 1]] for flags in (dead, covered))
            if not own_covered.all() and self._open(columns, own_covered, alive):
                used += self._apply_lemmas(columns, own_dead, implied)
            if own_dead.any():
                result.append(admissible.ExcludedCombinations(columns, own_dead.reshape(self.grids.shape(columns))))
                if len(columns) == 1:
                    alive[columns[0]] &= ~own_dead
        return result, used

    def _names(self, columns: Columns) -> tuple[str, ...]:
        return tuple(sorted(self.domain.names[column] for column in columns))

    def _open(self, columns: Columns, covered: Flags, alive: Sequence[Flags]) -> bool:
        """Whether a place is left that no zero and no positive count holds, of atoms that are not ruled out already."""
        left = ~covered.reshape(self.grids.shape(columns))
        for axis, column in enumerate(columns):
            left &= alive[column].reshape(-1, *(1,) * (len(columns) - axis - 1))
        return bool(left.any())

    def _apply_lemmas(
        self, columns: Columns, dead: Flags, implied: admissible.ImpliedZeros
    ) -> list[admissible.ExhaustedTotal]:
        """Mark the places of a grid that lemmas rule out; the lemmas that say so of places which no zero count names."""
        used = []
        for lemma in implied.lemmas(self._names(columns)):
            left = ~dead
            for cell in lemma.cells:
                left[self.grids.held(self.cells[self.position[cell]])] = False
            if lemma.universe != TOTAL:
                inside = np.zeros(len(left), dtype=bool)
                inside[self.grids.places(columns, self.cells[self.position[lemma.universe]])] = True
                left &= inside
            if left.any():
                used.append(lemma)
                dead |= left
                if dead.all():
                    break
        return used

    def added_by(self, types: admissible.Types, chosen: Sequence[int]) -> Iterator[Flags | Ints]:
        """What a record of each type adds to each of the chosen queries."""
        flat: dict[Columns, tuple[Ints, Flags]] = {}
        for index in chosen:
            query, columns = self.queries[index], self.columns[index]
            if query.sums or self.grids.wide(columns):
                yield types.coefficients(query.predicate, query.sums)
                continue
            if columns not in flat:
                shape = self.grids.shape(columns)
                flat[columns] = admissible.flat_places(types.table.T, columns, shape), np.zeros(prod(shape), dtype=bool)
            at, grid = flat[columns]
            held = self.grids.held(self.cells[index])
            grid[held] = True
            yield grid[at]
            grid[held] = False


def layout_of(release: Release, extra: Sequence[Predicate] = ()) -> Layout:
    """The layout of what a release publishes, shared by blocks that publish the same; `extra` must not split a type."""
    schema, cells = release.schema, release.cells
    queries = schema.derived(_Queries, None, lambda: _Queries(schema))
    if extra:
        return Layout(queries, cells, queries.grids_for(cells, extra))
    return schema.derived(Layout, cells.tobytes(), lambda: Layout(queries, cells, queries.grids_of(cells)))


# One linear system for all that counts records: z >= 0 counts those of each class (or type), and lo <= A z <= hi.

Matrix = npt.NDArray[np.int8] | npt.NDArray[np.int64]
COUNTED = "COUNT"
T = TypeVar("T")


def matrix_of(system: LinearSystem) -> csr_array:
    """The weights of a system, a line per row; kept with it as its own properties are."""
    shape = len(system.start) - 1, len(system.lo)
    return _kept(system, "matrix", lambda: csr_array((system.weights, system.columns, system.start), shape=shape))


def by_column(system: LinearSystem) -> csc_array:
    """The same, a line per column."""
    return _kept(system, "by_column", lambda: matrix_of(system).tocsc())


def _kept(system: LinearSystem, name: str, make: Callable[[], T]) -> T:
    if name not in vars(system):
        vars(system)[name] = make()
    made: T = vars(system)[name]
    return made


def sparse_system(A: csr_array, least: Any, most: Any, hi: Any, rows: tuple[str, ...] = ()) -> LinearSystem:
    """A system of counts from 0 on, by its matrix; its columns have no names."""
    zero, start, columns = np.zeros(A.shape[1], dtype=np.int64), A.indptr.astype(np.int64), A.indices.astype(np.int64)
    return LinearSystem((), zero, hi, rows, start, columns, A.data, least, most)


class RecordSystem:
    """
    All datasets that fit what is published: z >= 0 integer with lo <= A z <= hi, in which no class or type of records has
    more than `upper`. `rows` names the published cell of each row; the first row is N.
    """

    rows: tuple[str, ...]
    A: Any
    lo: Ints
    hi: Ints

    @property
    def n(self) -> int:
        return int(self.lo[0])

    @property
    def upper(self) -> Ints:
        return np.full(self.A.shape[1], self.n, dtype=np.int64)

    @cached_property
    def system(self) -> LinearSystem:
        matrix = self.A if isinstance(self.A, csr_array) else self.columns.T.tocsr().astype(np.int64)
        return sparse_system(matrix, self.lo, self.hi, self.upper, self.rows)

    @cached_property
    def columns(self) -> csr_array:
        """
        The coefficients of each class, one sparse row per class: most classes lie in few cells. They are floating-point
        numbers, because linear programs need them; integers up to 2**53 are exact.
        """
        if isinstance(self.A, csr_array):
            return self.A.T.tocsr().astype(np.float64)
        by_class = np.ascontiguousarray(self.A.T)  # of programs, that is how the numbers lie in memory
        return sparse_rows(by_class != 0, by_class)

    def counted(self, z: Ints) -> Ints:
        """What a dataset counts in every row, in integers."""
        used = np.flatnonzero(z)
        return self.A @ z if isinstance(self.A, csr_array) else self.A[:, used].astype(np.int64) @ z[used]

    def fits(self, z: Ints) -> bool:
        """Whether a dataset satisfies every row, recounted in integers."""
        return self.system.fits(z)


# The compact program of a release.


@dataclass(frozen=True)
class Program(RecordSystem):
    """
    All datasets that fit a release. Types with the same coefficients in every row form a class, because no published figure
    distinguishes them: `class_of` gives the class of each type.
    """

    release: Release
    types: admissible.Types
    lemmas: tuple[admissible.ExhaustedTotal, ...]
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
    def raw(self) -> Ints:
        """How many records of the domain each class stands for."""
        counted = np.zeros(self.classes, dtype=np.int64)
        np.add.at(counted, self.class_of, self.types.raw)
        return counted

    @cached_property
    def row_of(self) -> dict[bytes, int]:
        """The row that counts exactly the records of some classes, by the numbers of these classes as bytes."""
        parts = np.split(self.system.columns, self.system.start[1:-1])
        counts = np.flatnonzero(self.A.max(axis=1, initial=0) <= 1).tolist()
        return {parts[row].tobytes(): row for row in reversed(counts)}

    def member(self, c: int) -> int:
        """A type of a class, which stands for the others."""
        order, starts, _ = self.grouped
        return int(order[starts[c]])


def program_of(release: Release, max_types: int) -> Program:
    """The compact program of a release; asked for again, as verification does after generation, the last one is used."""
    if _last and (_last[0].release is not release or len(_last[0].types) > max_types):
        _last.clear()
    if not _last:
        _last.append(build_program(release, max_types))
    return _last[0]


_last: list[Program] = []


def build_program(release: Release, max_types: int, counted: tuple[Predicate, int] | None = None) -> Program:
    """Types not ruled out, a row per distinct cell, equal columns merged; `counted` adds a row: who matches a condition."""
    layout = layout_of(release, [counted[0]] if counted else ())
    excluded, lemmas = layout.excluded(release)
    types = admissible.walk_types(release.schema.domain, layout.atoms, excluded, max_types)
    rows, flags, lo, hi = _distinct_rows(release, types, layout)
    if counted:
        rows, flags = (*rows, COUNTED), np.concatenate([flags, types.inside(counted[0])[None, :].astype(flags.dtype)])
        lo, hi = np.append(lo, counted[1]), np.append(hi, counted[1])
    A, class_of = classes_of(flags)
    return Program(release, types, tuple(lemmas), rows, A, lo, hi, class_of)


def _distinct_rows(
    release: Release, types: admissible.Types, layout: Layout
) -> tuple[tuple[str, ...], Flags | Ints, Ints, Ints]:
    """One row for each distinct set of types and range: of cells that say the same, the first stays."""
    rows: dict[tuple[bytes, int, int], tuple[str, Flags | Ints]] = {}
    everyone: Flags = np.ones(len(types), dtype=bool)
    # N comes first: solve.bounds corrects multipliers on row 0, which holds every record with the coefficient 1.
    rows[everyone.tobytes(), release.n, release.n] = TOTAL, everyone
    published = np.flatnonzero(release.hi > 0).tolist()
    for index, added in zip(published, layout.added_by(types, published), strict=True):
        key = added.tobytes(), int(release.lo[index]), int(release.hi[index])
        rows.setdefault(key, (layout.queries[index].id, added))
    names, flags = zip(*rows.values(), strict=True)
    lo, hi = ([key[side] for key in rows] for side in (1, 2))
    return tuple(names), np.array(flags), np.array(lo, dtype=np.int64), np.array(hi, dtype=np.int64)


def classes_of(flags: Flags | Ints) -> tuple[Matrix, Ints]:
    """The distinct columns of a matrix (in order of first appearance), and the column that each type has."""
    if flags.shape[1] == 0:
        return np.zeros(flags.shape, dtype=np.int8), np.zeros(0, dtype=np.int64)
    # As in model.tabulate, a column of flags becomes a few bytes, so that equal columns are found by one sort of scalars.
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


# Which classes a claim speaks of: F, all of whose types match it, and T, with at least one type that can.

CELLS_AT_ONCE = 5_000_000  # bounds memory: claims times types, a byte each and some copies


def matched_classes(program: Program, codes: Codes) -> tuple[csr_array, csr_array]:
    """F and T of each claim, a sparse row of ones per claim, a column per class: COUNT(a) ranges from F z to T z."""
    step = max(1, CELLS_AT_ONCE // max(1, len(program.types)))
    parts = [_matched(program, codes[at : at + step]) for at in range(0, len(codes), step)]
    if len(parts) == 1:
        return parts[0]
    F, T = (csr_array(vstack([part[side] for part in parts], format="csr")) for side in (0, 1))
    return F, T


def _matched(program: Program, codes: Codes) -> tuple[csr_array, csr_array]:
    order, starts, sizes = program.grouped
    can, must = _matching_types(program, codes, order)
    if len(order) == len(sizes):  # every class is one type
        reached = sparse_rows(can)
        return (reached if must is can else sparse_rows(must)), reached
    counted = np.add.reduceat(must.view(np.int8), starts, axis=1, dtype=np.int32)
    return sparse_rows(counted == sizes), sparse_rows(np.logical_or.reduceat(can, starts, axis=1))


def sparse_rows(flags: Flags, values: Matrix | None = None) -> csr_array:
    """Flags as a sparse matrix of ones, or what stands there as floating-point numbers."""
    indices = np.flatnonzero(flags)
    starts = np.append(0, np.cumsum(np.count_nonzero(flags, axis=1)))
    columns = indices - np.repeat(np.arange(len(flags)) * flags.shape[1], np.diff(starts))
    data = np.ones(len(indices), dtype=np.int64) if values is None else values.ravel()[indices].astype(np.float64)
    return csr_array((data, columns.astype(np.int32), starts.astype(np.int32)), shape=flags.shape)


def condition_classes(program: Program, predicate: Predicate) -> tuple[Ints, Ints]:
    """F and T of any condition, as 0/1 per class: the number of records that match it ranges from F z to T z."""
    can: Flags = np.ones(len(program.types), dtype=bool)
    must: Flags = np.ones(len(program.types), dtype=bool)
    for column, (name, atoms) in enumerate(zip(program.types.domain.names, program.types.atoms, strict=True)):
        if name in predicate.where:
            codes, indices = set(predicate.where[name]), program.types.table[:, column]
            can &= np.array([not codes.isdisjoint(atom) for atom in atoms], dtype=bool)[indices]
            must &= np.array([codes.issuperset(atom) for atom in atoms], dtype=bool)[indices]
    sizes = program.grouped[2]
    reached, counted = (np.bincount(program.class_of, weights=f, minlength=program.classes) for f in (can, must))
    return (counted == sizes).astype(np.int64), (reached > 0).astype(np.int64)


def _matching_types(program: Program, codes: Codes, order: Ints) -> tuple[Flags, Flags]:
    """
    Per claim and type (in the given order): whether some record of the type matches the claim, and whether all do. Both are
    the same array where no claim tells the records of a type apart.
    """
    table, names = program.types.table[order], [np.unique(column, return_inverse=True) for column in codes.T]
    can, must = (np.full((len(codes), -(-len(table) // 8)), 255, dtype=np.uint8) for _ in range(2))
    apart = False
    for indices, atoms, (asked, row) in zip(table.T, program.types.atoms, names, strict=True):
        some = np.array([[code == ANY or code in atom for atom in atoms] for code in asked.tolist()], dtype=bool)
        every = np.array([[code == ANY or atom == (code,) for atom in atoms] for code in asked.tolist()], dtype=bool)
        apart |= not np.array_equal(some, every)
        # eight types to a byte: most of the work is to go through all types of all claims
        for flags, result in ((some, can), (every, must)):
            if not flags.all():
                result &= np.packbits(flags[:, indices], axis=1)[row]
    reached = _unpacked(can, len(table))
    return reached, _unpacked(must, len(table)) if apart else reached


def _unpacked(bits: npt.NDArray[np.uint8], length: int) -> Flags:
    return np.unpackbits(bits, axis=1, count=length).view(np.bool_)


# A solver's point as integers: what it says counts only after a recount.

INTEGRAL = 1e-6  # above a solver's error; what is nearer to whole is rounded, and recounted


class WrongAnswer(GenverifyError):
    """A solver's answer did not survive the recount in integers."""


def integer_point(point: Floats | None) -> Ints | None:
    """
    The point in integers; None where there is none, or it is not integral.

    >>> integer_point(np.array([1.0000001, 0.0])), integer_point(np.array([0.5]))
    (array([1, 0]), None)
    """
    # infinite, not a number, or beyond 64 bits: whatever the solver says
    if point is None or not (np.abs(point) < 2.0**62).all():
        return None
    z = np.rint(point).astype(np.int64)
    return None if np.abs(point - z).max(initial=0) > INTEGRAL else z


def recounted(program: RecordSystem, point: Floats, problem: str) -> Ints:
    """The point as a dataset that fits; an error with these words where it is not integral, or does not fit."""
    z = integer_point(point)
    if z is None or not program.fits(z):
        raise WrongAnswer(problem)
    return z
