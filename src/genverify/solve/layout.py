"""What the blocks of a study share: the atoms of the published cells, and where each cell lies among them."""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from functools import cache, cached_property, lru_cache
from math import prod

import numpy as np
import numpy.typing as npt

from genverify.core.predicates import Flags, Predicate, Rule
from genverify.core.release import TOTAL, Release, Schema
from genverify.solve.exclusions import Lemma, adding, lemma_rule, one_code_each
from genverify.solve.types import GRID_LIMIT, Excluded, Types, atoms_of, box, flat_places, rule_tests

Ints = npt.NDArray[np.int64]
Columns = tuple[int, ...]
KEPT = 8
KEPT_UNIVERSES = 10_000


class Layout:
    """
    The published queries of a study in a grid: the product of the atoms of the columns that a query names.

    A block's counts say which queries are zero; which grid places that rules out is the same for every block.
    """

    def __init__(self, schema: Schema, cells: Ints, extra: Sequence[Predicate] = ()) -> None:
        self.schema, self.domain = schema, schema.domain
        self.queries = [schema.queries[cell] for cell in cells]
        self.added = [adding(query, self.domain) for query in self.queries]
        stated = [predicate for rule in schema.rules for predicate in (rule.when, *rule.one_of)]
        single = one_code_each(self.queries, self.domain)
        self.atoms = atoms_of(self.domain, [*self.added, *stated, *single, *extra])
        self.columns = [self._columns(predicate) for predicate in self.added]
        self.place = {query.id: place for place, query in enumerate(self.queries)}

    def _columns(self, predicate: Predicate) -> Columns:
        return tuple(sorted(self.domain.names.index(name) for name in predicate.columns))

    @cache  # noqa: B019  (a layout lives as long as the study)
    def shape(self, columns: Columns) -> tuple[int, ...]:
        return tuple(len(self.atoms[column]) for column in columns)

    def wide(self, columns: Columns) -> bool:
        """Whether the grid of these columns is too large to be written out."""
        return prod(self.shape(columns)) > GRID_LIMIT

    @cached_property
    def rules(self) -> list[Excluded]:
        """What the structural rules rule out, whatever the counts."""
        return rule_tests(self.domain, self.atoms, self.schema.rules)

    @cached_property
    def held(self) -> list[Ints]:
        """The flat places in its grid of the records that add to each query; none are listed of a grid that is too large."""
        none = np.zeros(0, dtype=np.int64)
        found = zip(self.columns, self.added, strict=True)
        return [none if self.wide(columns) else self.places(columns, predicate) for columns, predicate in found]

    def places(self, columns: Columns, predicate: Predicate) -> Ints:
        """The flat places that a condition holds in the grid of some columns."""
        shape = self.shape(columns)
        index = np.ravel_multi_index(box(self.domain, self.atoms, columns, predicate), shape) if columns else 0
        return np.asarray(index, dtype=np.int64).ravel()

    def excluded(self, release: Release, lemmas: Sequence[Lemma]) -> tuple[list[Excluded], list[Lemma]]:
        """
        What zero counts, lemmas and structural rules rule out, one grid for each set of columns; and the lemmas that rule
        out anything which the zero counts and the lemmas before them do not.
        """
        zero: dict[Columns, list[int]] = {}
        for place in np.flatnonzero(release.hi == 0).tolist():
            zero.setdefault(self.columns[place], []).append(place)
        implied: dict[Columns, list[Lemma]] = {}
        for lemma in lemmas:
            implied.setdefault(self.columns[self.place[lemma.cells[0]]], []).append(lemma)
        found, used = [*self.rules], []
        for columns in {**zero, **implied}:
            places, own = zero.get(columns, []), implied.get(columns, [])
            if self.wide(columns):
                found.append(Excluded(columns, None, tuple(self._as_rules(places, own))))
                used += own
            else:
                dead, needed = self._grid(columns, places, own)
                found.append(Excluded(columns, dead))
                used += needed
        return found, used

    def _as_rules(self, zero: Sequence[int], lemmas: Sequence[Lemma]) -> Iterator[Rule]:
        predicates = {query.id: query.predicate for query in self.queries}
        yield from (Rule(self.queries[place].id, self.added[place], ()) for place in zero)
        yield from (lemma_rule(lemma, predicates) for lemma in lemmas)

    def _grid(self, columns: Columns, zero: Sequence[int], lemmas: Sequence[Lemma]) -> tuple[Flags, list[Lemma]]:
        dead, used = np.zeros(prod(self.shape(columns)), dtype=bool), []
        if zero:
            dead[np.concatenate([self.held[place] for place in zero])] = True
        for lemma in lemmas:
            left = ~dead
            for cell in lemma.cells:
                left[self.held[self.place[cell]]] = False
            fresh = left if lemma.universe == TOTAL else left[self._universe(columns, lemma.universe)]
            if fresh.any():
                used.append(lemma)
                dead |= left if lemma.universe == TOTAL else self._flags(columns, lemma.universe) & left
        return dead.reshape(self.shape(columns)), used

    @lru_cache(maxsize=KEPT_UNIVERSES)  # noqa: B019
    def _universe(self, columns: Columns, universe: str) -> Ints:
        """The flat places of another query in the grid of some columns."""
        return self.places(columns, self.added[self.place[universe]])

    def _flags(self, columns: Columns, universe: str) -> Flags:
        flags = np.zeros(prod(self.shape(columns)), dtype=bool)
        flags[self._universe(columns, universe)] = True
        return flags

    def added_by(self, types: Types, chosen: Sequence[int]) -> Iterator[Flags | Ints]:
        """What a record of each type adds to each of the chosen queries."""
        flat: dict[Columns, Ints] = {}
        for place in chosen:
            query, columns = self.queries[place], self.columns[place]
            if query.sums or self.wide(columns):
                yield types.coefficients(query.predicate, query.sums)
                continue
            if columns not in flat:
                flat[columns] = flat_places(types.table.T, columns, self.shape(columns))
            grid = np.zeros(prod(self.shape(columns)), dtype=bool)
            grid[self.held[place]] = True
            yield grid[flat[columns]]


_LAYOUTS: OrderedDict[tuple[int, bytes], Layout] = OrderedDict()


def layout_of(release: Release) -> Layout:
    """The layout of the queries that a release publishes; blocks that publish the same ones share it."""
    # by identity, which is safe as long as the layout, which holds the schema, is kept
    key = id(release.schema), release.cells.tobytes()
    if key not in _LAYOUTS:
        _LAYOUTS[key] = Layout(release.schema, release.cells)
        if len(_LAYOUTS) > KEPT:
            _LAYOUTS.popitem(last=False)
    _LAYOUTS.move_to_end(key)
    return _LAYOUTS[key]
