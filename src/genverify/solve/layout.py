"""What the blocks of a study share: the atoms of the published cells, and where each cell lies among them."""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from functools import cache, cached_property, lru_cache
from math import prod

import numpy as np

from genverify.core.arraytypes import Flags, Ints
from genverify.core.kept import kept
from genverify.core.predicates import Predicate, Rule
from genverify.core.release import TOTAL, Release, Schema
from genverify.solve.exclusions import Implied, Lemma, adding, lemma_rule, one_code_each
from genverify.solve.types import GRID_LIMIT, Atoms, Excluded, Types, atoms_of, box, flat_places, rule_tests

Columns = tuple[int, ...]
KEPT_ATOMS = 64
KEPT_UNIVERSES = 10_000


class Grids:
    """
    The queries of a schema in grids: the product of the atoms of the columns that a query names. Releases that publish
    different queries of it share this as long as the published ones tell the same codes apart.
    """

    def __init__(self, schema: Schema, added: Sequence[Predicate], columns: Sequence[Columns], atoms: tuple[Atoms, ...]):
        self.domain, self.schema, self.added, self.columns, self.atoms = schema.domain, schema, added, columns, atoms

    @cache  # noqa: B019  (grids live as long as the study)
    def shape(self, columns: Columns) -> tuple[int, ...]:
        return tuple(len(self.atoms[column]) for column in columns)

    @cache  # noqa: B019
    def wide(self, columns: Columns) -> bool:
        """Whether the grid of these columns is too large to be written out."""
        return prod(self.shape(columns)) > GRID_LIMIT

    @cached_property
    def rules(self) -> list[Excluded]:
        """What the structural rules rule out, whatever the counts."""
        return rule_tests(self.domain, self.atoms, self.schema.rules)

    @cache  # noqa: B019
    def held(self, query: int) -> Ints:
        """The flat places in its grid of the records that add to a query; none are listed of a grid that is too large."""
        columns = self.columns[query]
        return np.zeros(0, dtype=np.int64) if self.wide(columns) else self.places(columns, query)

    @lru_cache(maxsize=KEPT_UNIVERSES)  # noqa: B019
    def places(self, columns: Columns, query: int) -> Ints:
        """The flat places of a query in the grid of some columns."""
        if not columns:
            return np.zeros(1, dtype=np.int64)
        index = np.ravel_multi_index(box(self.domain, self.atoms, columns, self.added[query]), self.shape(columns))
        return np.asarray(index, dtype=np.int64).ravel()


class _Queries:
    """The conditions of a schema's queries, and the grids of the atoms that some of them make."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.added = [adding(query, schema.domain) for query in schema.queries]
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
        """The grids of the atoms that these queries make."""
        published = np.zeros(len(self.added), dtype=bool)
        published[cells] = True
        named = np.zeros(len(self.clauses), dtype=bool)
        named[self.clause[published[self.query]]] = True
        key = named.tobytes(), np.flatnonzero(published & self.summed).tobytes()
        return kept(self.grids, key, lambda: self.grids_for(cells), KEPT_ATOMS)

    def grids_for(self, cells: Ints, extra: Sequence[Predicate] = ()) -> Grids:
        """The grids of the atoms that these queries and other conditions make."""
        queries = [self.schema.queries[cell] for cell in cells]
        single = one_code_each(queries, self.schema.domain)
        conditions = [*(self.added[cell] for cell in cells.tolist()), *self.stated, *single, *extra]
        return Grids(self.schema, self.added, self.columns, atoms_of(self.schema.domain, conditions))


class Layout:
    """The published queries of a release in their grids: a block's counts say which places nobody takes."""

    def __init__(self, queries: _Queries, cells: Ints, grids: Grids) -> None:
        self.schema, self.domain, self.cells, self.grids = queries.schema, queries.schema.domain, cells.tolist(), grids
        self.atoms = grids.atoms
        self.queries = [self.schema.queries[cell] for cell in self.cells]
        self.columns = [queries.columns[cell] for cell in self.cells]
        self.place = {query.id: place for place, query in enumerate(self.queries)}
        self.families = {columns: family for family, columns in enumerate(dict.fromkeys(self.columns))}
        self.family: Ints = np.array([self.families[columns] for columns in self.columns], dtype=np.int64)
        sizes = [0 if grids.wide(columns) else prod(grids.shape(columns)) for columns in self.families]
        self.start = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        # the places of all queries in one row of all grids
        held = [grids.held(cell) for cell in self.cells]
        self.held_by: Ints = np.repeat(np.arange(len(held)), [len(places) for places in held])
        flat = np.concatenate(held) if held else np.zeros(0, dtype=np.int64)
        self.held: Ints = flat + self.start[self.family[self.held_by]]

    def excluded(self, release: Release) -> tuple[list[Excluded], list[Lemma]]:
        """
        What zero counts, lemmas and structural rules rule out, one grid for each set of columns, and the lemmas that were
        needed. Lemmas are sought only where the counts leave records open that lie in no cell of these columns.
        """
        zero, counted = release.hi == 0, release.lo > 0
        dead, covered = np.zeros((2, self.start[-1]), dtype=bool)
        dead[self.held[zero[self.held_by]]] = True
        covered[self.held[(zero | counted)[self.held_by]]] = True
        alive = [np.ones(len(atoms), dtype=bool) for atoms in self.atoms]
        found, used, implied = [*self.grids.rules], list[Lemma](), Implied(release)
        for columns in self._in_order(zero, counted):
            family = self.families[columns]
            if self.grids.wide(columns):
                lemmas = list(implied.lemmas(self._names(columns)))
                own = np.flatnonzero(zero & (self.family == family)).tolist()
                found.append(Excluded(columns, None, tuple(self._as_rules(own, lemmas))))
                used += lemmas
                continue
            own_dead, own_covered = (flags[self.start[family] : self.start[family + 1]] for flags in (dead, covered))
            if not own_covered.all() and self._open(columns, own_covered, alive):
                used += self._apply_lemmas(columns, own_dead, implied)
            if own_dead.any():
                found.append(Excluded(columns, own_dead.reshape(self.grids.shape(columns))))
                if len(columns) == 1:
                    alive[columns[0]] &= ~own_dead
        return found, used

    def _names(self, columns: Columns) -> tuple[str, ...]:
        return tuple(sorted(self.domain.names[column] for column in columns))

    def _in_order(self, zero: Flags, counted: Flags) -> list[Columns]:
        """The sets of columns that have a zero or a positive count, the small sets first."""
        families = dict.fromkeys([*self.family[zero].tolist(), *self.family[counted].tolist()])
        every = list(self.families)
        return sorted((every[family] for family in families), key=len)

    def _as_rules(self, zero: Sequence[int], lemmas: Sequence[Lemma]) -> Iterator[Rule]:
        predicates = {query.id: query.predicate for query in self.queries}
        yield from (Rule(self.queries[place].id, self.grids.added[self.cells[place]], ()) for place in zero)
        yield from (lemma_rule(lemma, predicates) for lemma in lemmas)

    def _open(self, columns: Columns, covered: Flags, alive: Sequence[Flags]) -> bool:
        """Whether a place is left that no zero and no positive count holds, of atoms that are not ruled out already."""
        left = ~covered.reshape(self.grids.shape(columns))
        for axis, column in enumerate(columns):
            left &= alive[column].reshape(-1, *(1,) * (len(columns) - axis - 1))
        return bool(left.any())

    def _apply_lemmas(self, columns: Columns, dead: Flags, implied: Implied) -> list[Lemma]:
        """Mark the places of a grid that lemmas rule out; the lemmas that say so of places which no zero count names."""
        used = []
        for lemma in implied.lemmas(self._names(columns)):
            left = ~dead
            for cell in lemma.cells:
                left[self.grids.held(self.cells[self.place[cell]])] = False
            if lemma.universe != TOTAL:
                inside = np.zeros(len(left), dtype=bool)
                inside[self.grids.places(columns, self.cells[self.place[lemma.universe]])] = True
                left &= inside
            if left.any():
                used.append(lemma)
                dead |= left
                if dead.all():
                    break
        return used

    def added_by(self, types: Types, chosen: Sequence[int]) -> Iterator[Flags | Ints]:
        """What a record of each type adds to each of the chosen queries."""
        flat: dict[Columns, tuple[Ints, Flags]] = {}
        for place in chosen:
            query, columns = self.queries[place], self.columns[place]
            if query.sums or self.grids.wide(columns):
                yield types.coefficients(query.predicate, query.sums)
                continue
            if columns not in flat:
                shape = self.grids.shape(columns)
                flat[columns] = flat_places(types.table.T, columns, shape), np.zeros(prod(shape), dtype=bool)
            at, grid = flat[columns]
            held = self.grids.held(self.cells[place])
            grid[held] = True
            yield grid[at]
            grid[held] = False


_QUERIES: OrderedDict[int, _Queries] = OrderedDict()
_LAYOUTS: OrderedDict[tuple[int, bytes], Layout] = OrderedDict()


def layout_of(release: Release, extra: Sequence[Predicate] = ()) -> Layout:
    """
    The layout of the queries that a release publishes; blocks that publish the same ones share it. `extra` are conditions
    that must not split a type either.
    """
    # by identity, which is safe as long as the schema is kept with what is known of it
    queries = kept(_QUERIES, id(release.schema), lambda: _Queries(release.schema))
    if extra:
        return Layout(queries, release.cells, queries.grids_for(release.cells, extra))
    key = id(release.schema), release.cells.tobytes()
    return kept(_LAYOUTS, key, lambda: Layout(queries, release.cells, queries.grids_of(release.cells)))
