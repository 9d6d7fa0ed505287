"""What the blocks of a study share: the atoms of the published cells, and where each cell lies among them."""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from functools import cache, cached_property, lru_cache, partial
from math import prod

import numpy as np
import numpy.typing as npt

from genverify.core.predicates import Flags, Predicate, Rule
from genverify.core.release import TOTAL, Release, Schema
from genverify.solve.exclusions import Implied, Lemma, adding, lemma_rule, one_code_each
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

    def excluded(self, release: Release) -> tuple[list[Excluded], list[Lemma]]:
        """
        What zero counts, lemmas and structural rules rule out, one grid for each set of columns, and the lemmas that were
        needed. Lemmas are sought only where the counts leave records open that lie in no cell of these columns.
        """
        zero, counted = (self._by_columns(chosen) for chosen in (release.hi == 0, release.lo > 0))
        found, used, implied = [*self.rules], list[Lemma](), Implied(release)
        alive = [np.ones(len(atoms), dtype=bool) for atoms in self.atoms]
        for columns in sorted({**zero, **counted}, key=len):
            lemmas = partial(implied.lemmas, tuple(sorted(self.domain.names[column] for column in columns)))
            if self.wide(columns):
                own = list(lemmas())
                found.append(Excluded(columns, None, tuple(self._as_rules(zero.get(columns, []), own))))
            else:
                dead, own = self._grid(columns, zero.get(columns, []), counted.get(columns, []), alive, lemmas)
                found.append(Excluded(columns, dead.reshape(self.shape(columns))))
                if len(columns) == 1:
                    alive[columns[0]] &= ~dead
            used += own
        return found, used

    def _by_columns(self, chosen: Flags) -> dict[Columns, list[int]]:
        """The chosen queries by the columns that they name."""
        found: dict[Columns, list[int]] = {}
        for place in np.flatnonzero(chosen).tolist():
            found.setdefault(self.columns[place], []).append(place)
        return found

    def _as_rules(self, zero: Sequence[int], lemmas: Sequence[Lemma]) -> Iterator[Rule]:
        predicates = {query.id: query.predicate for query in self.queries}
        yield from (Rule(self.queries[place].id, self.added[place], ()) for place in zero)
        yield from (lemma_rule(lemma, predicates) for lemma in lemmas)

    def _grid(
        self,
        columns: Columns,
        zero: Sequence[int],
        counted: Sequence[int],
        alive: Sequence[Flags],
        lemmas: Callable[[], Iterator[Lemma]],
    ) -> tuple[Flags, list[Lemma]]:
        """The places of a grid that nobody may take, and the lemmas that say so of places which no zero count names."""
        dead, used = np.zeros(prod(self.shape(columns)), dtype=bool), []
        dead[self._held_by(zero)] = True
        open_ = np.zeros(self.shape(columns), dtype=bool)
        open_[np.ix_(*(alive[column] for column in columns))] = True
        open_ = open_.ravel()
        open_[self._held_by([*zero, *counted])] = False
        for lemma in lemmas() if open_.any() else ():
            left = ~dead
            left[self._held_by([self.place[cell] for cell in lemma.cells])] = False
            if lemma.universe != TOTAL:
                inside = np.zeros(len(left), dtype=bool)
                inside[self._universe(columns, lemma.universe)] = True
                left &= inside
            if left.any():
                used.append(lemma)
                dead |= left
        return dead, used

    def _held_by(self, places: Sequence[int]) -> Ints:
        return np.concatenate([self.held[place] for place in places]) if places else np.zeros(0, dtype=np.int64)

    @lru_cache(maxsize=KEPT_UNIVERSES)  # noqa: B019
    def _universe(self, columns: Columns, universe: str) -> Ints:
        """The flat places of another query in the grid of some columns."""
        return self.places(columns, self.added[self.place[universe]])

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
