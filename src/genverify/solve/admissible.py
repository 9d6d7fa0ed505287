"""Admissible records: which records a release rules out, and the types of all others, codes merged where none differs."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from math import prod

import numpy as np
import numpy.typing as npt

from genverify.model.arrays import Flags, Ints, Keys, row_keys
from genverify.model.domain import EVERY, Domain, Predicate, Rule
from genverify.model.errors import GenverifyError
from genverify.model.proof_form import ExhaustedTotal as ExhaustedTotal
from genverify.model.query import Query
from genverify.model.release import TOTAL, Release, Schema

# Which records a release rules out: zero cells, implied zeros and structural rules.

MOST_CELLS = 2000  # of a family: four million pairs are compared once and kept; of more cells, those of each block are
KEPT_FAMILIES = 1000  # of a schema: bounds memory


def zero_cells(release: Release) -> list[Rule]:
    """Every published cell with count 0, as a rule that no record may break."""
    zero = [q for q, hi in zip(release.queries, release.hi, strict=True) if hi == 0]
    return [Rule(q.id, adding(q, release.schema.domain), ()) for q in zero]


def adding(query: Query, domain: Domain) -> Predicate:
    """The records that add to a query: those inside it, and where a column is summed, with a code above 0."""
    if query.sums is None:
        return query.predicate
    return query.predicate & Predicate.of({query.sums: [code for code in domain[query.sums].codes if code > 0]})


def one_code_each(queries: Sequence[Query], domain: Domain) -> list[Predicate]:
    """Conditions that tell every code of a summed column from the others."""
    summed = dict.fromkeys(query.sums for query in queries if query.sums)
    return [Predicate.of({name: [code]}) for name in summed for code in domain[name].codes]


def lemma_rule(lemma: ExhaustedTotal, predicates: dict[str, Predicate]) -> Rule:
    """A lemma as a rule: a record of the universe lies in one of the cells."""
    when = predicates.get(lemma.universe, EVERY)
    return Rule(f"all of {lemma.universe}", when, tuple(predicates[cell] for cell in lemma.cells))


def implied_zeros(release: Release) -> list[ExhaustedTotal]:
    """
    The lemmas of a release: for each universe (N, or a published cell) and each set of columns, greedily the largest
    disjoint cells inside it, kept where they exhaust its total. Which lemmas are found changes the speed, never a result.
    """
    result = ImpliedZeros(release)
    return [lemma for columns in result.families for lemma in result.lemmas(columns)]


class ImpliedZeros:
    """The cells of a release that count some record, and the lemmas about those that name the same columns."""

    def __init__(self, release: Release) -> None:
        self.release, self.queries = release, release.schema.queries
        # by position in the schema; the whole block comes last
        self.lo, self.hi = np.zeros((2, len(self.queries) + 1), dtype=np.int64)
        self.lo[release.cells], self.hi[release.cells] = release.lo, release.hi
        self.lo[-1] = self.hi[-1] = release.n

    @cached_property
    def universes(self) -> Ints:
        """The cells that count some record, and the whole block."""
        counted = np.flatnonzero(self.lo[:-1] > 0).tolist()
        return np.array([*(cell for cell in counted if not self.queries[cell].sums), len(self.queries)], dtype=np.int64)

    @property
    def families(self) -> list[tuple[str, ...]]:
        """The columns that cells name together, those of the largest counts first."""
        return list(dict.fromkeys(self.queries[cell].predicate.columns for cell in self._largest(self.universes[:-1])))

    def _largest(self, cells: Ints) -> list[int]:
        return sorted(cells.tolist(), key=lambda cell: (-self.lo[cell], self.queries[cell].id))

    def lemmas(self, columns: tuple[str, ...]) -> Iterator[ExhaustedTotal]:
        """The universes that the cells about these columns exhaust."""
        schema = self.release.schema
        members = schema.derived(dict, None, lambda: _families(schema)).get(columns, np.zeros(0, dtype=np.int64))
        positive = self._largest(members[self.lo[members] > 0])
        if not positive:
            return
        if len(members) > MOST_CELLS:
            cells = _Cells(schema, columns, positive)
        else:
            cells = schema.derived(_Cells, columns, lambda: _Cells(schema, columns, members.tolist()), KEPT_FAMILIES)
        rows = [cells.row[cell] for cell in positive]
        inside = cells.inside[rows][:, self.universes]
        # the cheap test first: what does not exhaust the universe does not do so without overlaps either
        enough = self.lo[positive] @ inside >= self.hi[self.universes]
        for index in np.flatnonzero(enough).tolist():
            chosen = cells.disjoint([row for row, held in zip(rows, inside[:, index].tolist(), strict=True) if held])
            universe = int(self.universes[index])
            if chosen and self.lo[chosen].sum() == self.hi[universe]:
                yield ExhaustedTotal(self._name(universe), tuple(self.queries[cell].id for cell in chosen))

    def _name(self, cell: int) -> str:
        return self.queries[cell].id if cell < len(self.queries) else TOTAL


def _families(schema: Schema) -> dict[tuple[str, ...], Ints]:
    """The cells that name each set of columns; sums are none of them."""
    members = defaultdict[tuple[str, ...], list[int]](list)
    for cell, query in enumerate(schema.queries):
        if not query.sums:
            members[query.predicate.columns].append(cell)
    return {columns: np.array(cells) for columns, cells in members.items()}


class _Cells:
    """Cells about the same columns: inside which queries (the whole block comes last) they lie, and which two overlap."""

    def __init__(self, schema: Schema, columns: tuple[str, ...], cells: Sequence[int]) -> None:
        named = set(columns)
        self.listed, self.row = cells, {cell: row for row, cell in enumerate(cells)}
        allowed = np.vstack([schema.allowed, np.ones_like(schema.allowed[:1])])
        self.inside: Flags = _products(allowed[cells], 1 - allowed) == 0
        self.inside &= [*(named.issuperset(query.predicate.columns) for query in schema.queries), True]
        self.inside[np.arange(len(cells)), cells] = False
        starts = np.cumsum([0, *(len(column.codes) for column in schema.domain.columns)]).tolist()
        overlap: Flags = np.ones((len(cells), len(cells)), dtype=bool)
        for start, end in pairwise(starts):
            overlap &= _products(allowed[cells, start:end], allowed[cells, start:end]) > 0
        self.overlaps = [int.from_bytes(np.packbits(row, bitorder="little").tobytes(), "little") for row in overlap]

    def disjoint(self, rows: Sequence[int]) -> list[int]:
        taken, chosen = 0, list[int]()
        for row in rows:
            if not taken & self.overlaps[row]:
                taken |= 1 << row
                chosen.append(self.listed[row])
        return chosen


def _products(rows: npt.NDArray[np.float32], others: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Scalar products of zeros and ones: small whole numbers, whatever flags BLAS raises for lanes that it only pads."""
    with np.errstate(all="ignore"):
        return np.asarray(rows @ others.T)


# Record types: every record that the release does not rule out, with codes that nothing distinguishes merged.

Places = npt.NDArray[np.int16]
Atoms = tuple[tuple[int, ...], ...]
GRID_LIMIT = 100_000  # bounds memory: a byte per cell of a grid; larger ones are tested rule by rule


class TooManyTypes(GenverifyError):
    """The release leaves more record types open than the stated limit."""


@dataclass(frozen=True)
class Types:
    """The live record types; codes that nothing distinguishes form an atom, `table` has the atom of each type and column."""

    domain: Domain
    atoms: tuple[Atoms, ...]
    table: Places

    def __len__(self) -> int:
        return len(self.table)

    def inside(self, predicate: Predicate) -> Flags:
        """Whether each type lies in a published cell (or another condition that does not split an atom)."""
        flags: Flags = np.ones(len(self.table), dtype=bool)
        for name, codes in predicate.clauses:
            column = self.domain.names.index(name)
            flags &= _atom_flags(self.atoms[column], codes)[self.table[:, column]]
        return flags

    def coefficients(self, predicate: Predicate, sums: str | None) -> Flags | npt.NDArray[np.int64]:
        """What a record of each type adds to a query: 1 inside its condition, or its code in the column that is summed."""
        inside = self.inside(predicate)
        if sums is None:
            return inside
        column = self.domain.names.index(sums)
        return np.array([atom[0] for atom in self.atoms[column]], dtype=np.int64)[self.table[:, column]] * inside

    @cached_property
    def raw(self) -> Ints:
        """How many records of the domain each type stands for."""
        sizes = np.ones(len(self.table), dtype=np.int64)
        for column, atoms in enumerate(self.atoms):
            sizes *= np.array([len(atom) for atom in atoms], dtype=np.int64)[self.table[:, column]]
        return sizes

    @cached_property
    def records(self) -> tuple[Places, Keys] | None:
        """The record that each type stands for, and a key that sorts as the records do; None where some type has several."""
        if not len(self.table) or (self.raw > 1).any():
            return None
        first = [np.array([atom[0] for atom in atoms], dtype=np.int16) for atoms in self.atoms]
        codes = np.stack([codes[indices] for codes, indices in zip(first, self.table.T, strict=True)], axis=1)
        return codes, row_keys([codes])[0]


@lru_cache(maxsize=20_000)
def _atom_flags(atoms: Atoms, codes: tuple[int, ...]) -> Flags:
    return np.array([atom[0] in codes for atom in atoms], dtype=bool)


@dataclass(frozen=True)
class ExcludedCombinations:
    """Which combinations of the atoms of some columns are ruled out, as a grid, or as rules where a grid is too large."""

    columns: tuple[int, ...]
    dead: Flags | None
    rules: tuple[Rule, ...] = ()


def live_types(domain: Domain, cells: Sequence[Predicate], rules: Sequence[Rule], limit: int) -> Types:
    """All types of the domain that break no rule, column by column; an error beyond `limit` types."""
    conditions = [*cells, *(predicate for rule in rules for predicate in (rule.when, *rule.one_of))]
    atoms = atoms_of(domain, conditions)
    return walk_types(domain, atoms, rule_tests(domain, atoms, rules), limit)


def walk_types(domain: Domain, atoms: Sequence[Atoms], tests: Sequence[ExcludedCombinations], limit: int) -> Types:
    """Every combination of atoms that passes the tests, one column after the other; an error beyond `limit` types."""
    alive = [_alive(column, len(result), tests) for column, result in enumerate(atoms)]
    # Types are built column by column, and tests act as soon as their columns are there: columns with few atoms come first,
    # so that the table stays small while most tests still wait for a column.
    order = sorted(range(len(atoms)), key=lambda column: (len(alive[column]), column))
    step_of = {column: step for step, column in enumerate(order)}
    ready: list[list[ExcludedCombinations]] = [[] for _ in order]
    for test in tests:
        if len(test.columns) > 1:
            ready[max(step_of[column] for column in test.columns)].append(test)
    table = np.zeros((len(atoms), 1), dtype=np.int16)
    for step, column in enumerate(order):
        choices = len(alive[column])
        # before the tests act the table may be larger than the limit, but not without end: memory is the limit here
        if table.shape[1] * choices > 8 * limit:
            raise TooManyTypes(_too_many(limit))
        table = np.repeat(table, choices, axis=1)
        table[column] = np.tile(alive[column], table.shape[1] // choices if choices else 0)
        for test in ready[step]:
            table = table[:, ~_broken(domain, atoms, table, test)]
        if table.shape[1] > limit:
            raise TooManyTypes(_too_many(limit))
    return Types(domain, tuple(atoms), table.T)


def _alive(column: int, atoms: int, tests: Sequence[ExcludedCombinations]) -> Places:
    dead = np.zeros(atoms, dtype=bool)
    for test in tests:
        if test.columns in ((), (column,)):
            assert test.dead is not None
            dead |= test.dead
    return np.flatnonzero(~dead).astype(np.int16)


def _broken(domain: Domain, atoms: Sequence[Atoms], table: Places, test: ExcludedCombinations) -> Flags:
    """Which types fail a test: looked up in its grid; or rule by rule, where any code of an atom stands for the others."""
    if test.dead is not None:
        return test.dead.ravel()[flat_places(table, test.columns, test.dead.shape)]
    codes = {domain.names[column]: np.array([atom[0] for atom in atoms[column]])[table[column]] for column in test.columns}
    return np.asarray(np.logical_or.reduce([rule.excludes(codes) for rule in test.rules]))


def _too_many(limit: int) -> str:
    return (
        f"the release leaves more than {limit} record types open. Raise program.max_types in config.yaml, or publish "
        "or know more (zero counts, totals, structural rules)."
    )


def atoms_of(domain: Domain, conditions: Iterable[Predicate]) -> tuple[Atoms, ...]:
    """The codes of each column, those together that every condition takes or leaves together."""
    clauses: dict[str, dict[tuple[int, ...], None]] = {name: {} for name in domain.names}
    for predicate in conditions:
        for name, codes in predicate.clauses:
            clauses[name][codes] = None
    result = []
    for column in domain.columns:
        groups, distinct = dict[tuple[bool, ...], list[int]](), [set(clause) for clause in clauses[column.name]]
        for code in column.codes:
            groups.setdefault(tuple(code in clause for clause in distinct), []).append(code)
        result.append(tuple(tuple(group) for group in groups.values()))
    return tuple(result)


def rule_tests(domain: Domain, atoms: Sequence[Atoms], rules: Sequence[Rule]) -> list[ExcludedCombinations]:
    """Rules as tests, those about the same columns together."""
    groups: dict[tuple[int, ...], list[Rule]] = {}
    split = list[Rule]()
    for rule in rules:  # with one option, clause by clause, so that each can act as soon as its columns are known
        options = [Predicate((clause,)) for clause in rule.one_of[0].clauses] if len(rule.one_of) == 1 else []
        split += [Rule(rule.name, rule.when, (option,)) for option in options] if len(rule.one_of) == 1 else [rule]
    for rule in split:
        names = {name for predicate in (rule.when, *rule.one_of) for name in predicate.columns}
        groups.setdefault(tuple(sorted(domain.names.index(name) for name in names)), []).append(rule)
    return [_test(domain, atoms, columns, tuple(group)) for columns, group in groups.items()]


def _test(domain: Domain, atoms: Sequence[Atoms], columns: tuple[int, ...], rules: tuple[Rule, ...]) -> ExcludedCombinations:
    shape = tuple(len(atoms[column]) for column in columns)
    if len(columns) > 1 and prod(shape) > GRID_LIMIT:
        return ExcludedCombinations(columns, None, rules)
    dead = np.zeros(shape, dtype=bool)
    for rule in rules:
        allowed = np.zeros(shape, dtype=bool)
        for option in rule.one_of:
            allowed[box(domain, atoms, columns, option)] = True
        when = box(domain, atoms, columns, rule.when)
        dead[when] |= ~allowed[when]
    return ExcludedCombinations(columns, dead)


def box(domain: Domain, atoms: Sequence[Atoms], columns: tuple[int, ...], predicate: Predicate) -> tuple[Ints, ...]:
    """A condition as an index into a grid of the columns' atoms: the atoms of each column that it allows."""
    held = [np.arange(len(atoms[column])) for column in columns]
    for name, codes in predicate.clauses:
        axis = columns.index(domain.names.index(name))
        held[axis] = np.flatnonzero(_atom_flags(atoms[columns[axis]], codes))
    return np.ix_(*held)


def flat_places(table: Places, columns: Sequence[int], shape: Sequence[int]) -> Ints:
    """The index of each type (a column of the table) in the flattened product of some columns' atoms."""
    flat = np.zeros(table.shape[1], dtype=np.int64)
    for column, size in zip(columns, shape, strict=True):
        flat = flat * size + table[column]
    return flat
