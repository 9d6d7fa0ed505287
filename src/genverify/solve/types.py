"""Record types: every record that the release does not rule out, with codes that nothing distinguishes merged."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product

import numpy as np
import numpy.typing as npt

from genverify.core.domain import Domain
from genverify.core.errors import GenverifyError
from genverify.core.predicates import Flags, Predicate, Rule

Places = npt.NDArray[np.int16]
Atoms = tuple[tuple[int, ...], ...]
GRID_LIMIT = 100_000


class TooManyTypes(GenverifyError):
    """The release leaves more record types open than the stated limit."""


@dataclass(frozen=True)
class Types:
    """
    The live record types. Codes of a column that no cell or rule distinguishes form an atom; `table` holds, per type and
    column, the place of its atom.
    """

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
    def raw(self) -> npt.NDArray[np.int64]:
        """How many records of the domain each type stands for."""
        sizes = np.ones(len(self.table), dtype=np.int64)
        for column, atoms in enumerate(self.atoms):
            sizes *= np.array([len(atom) for atom in atoms], dtype=np.int64)[self.table[:, column]]
        return sizes


@lru_cache(maxsize=20_000)
def _places(atoms: Atoms, codes: tuple[int, ...]) -> tuple[int, ...]:
    """The places of the atoms that the codes hold."""
    return tuple(place for place, atom in enumerate(atoms) if atom[0] in codes)


@lru_cache(maxsize=20_000)
def _atom_flags(atoms: Atoms, codes: tuple[int, ...]) -> Flags:
    return np.array([atom[0] in codes for atom in atoms], dtype=bool)


def live_types(domain: Domain, cells: Sequence[Predicate], rules: Sequence[Rule], limit: int) -> Types:
    """All types of the domain that break no rule, column by column; an error beyond `limit` types."""
    rules = _split_rules(rules)
    clauses: dict[str, list[tuple[int, ...]]] = {name: [] for name in domain.names}
    for predicate in [*cells, *(p for rule in rules for p in (rule.when, *rule.one_of))]:
        for name, codes in predicate.clauses:
            clauses[name].append(codes)
    atoms = [_atoms(column.codes, clauses[column.name]) for column in domain.columns]
    groups = _group_rules(rules)
    atoms = [_alive(domain.names[column_index], found, groups) for column_index, found in enumerate(atoms)]
    # Types are built column by column, and rules act as soon as their columns are there: columns with few atoms come first,
    # so that the table stays small while most rules still wait for a column.
    order = sorted(range(len(atoms)), key=lambda column_index: (len(atoms[column_index]), column_index))
    table = np.zeros((1, len(atoms)), dtype=np.int16)
    done: set[str] = set()
    for column_index in order:
        choices = len(atoms[column_index])
        # before the rules act the table may be larger than the limit, but not without end: memory is the limit here
        if len(table) * choices > 8 * limit:
            raise TooManyTypes(_too_many(limit))
        table = np.repeat(table, choices, axis=0)
        table[:, column_index] = np.tile(np.arange(choices, dtype=np.int16), len(table) // choices if choices else 0)
        done.add(domain.names[column_index])
        for columns in [c for c in groups if domain.names[column_index] in c and done.issuperset(c)]:
            table = table[~_broken(domain, atoms, table, columns, groups[columns])]
        if len(table) > limit:
            raise TooManyTypes(_too_many(limit))
    return Types(domain, tuple(atoms), table)


def _too_many(limit: int) -> str:
    return (
        f"the release leaves more than {limit} record types open. Raise program.max_types in config.yaml, or publish "
        "or know more (zero counts, totals, structural rules)."
    )


def _split_rules(rules: Sequence[Rule]) -> list[Rule]:
    """Rules with one option, clause by clause, so that each can act as soon as its columns are known."""
    split = []
    for rule in rules:
        if len(rule.one_of) == 1:
            split += [Rule(rule.name, rule.when, (Predicate((clause,)),)) for clause in rule.one_of[0].clauses]
        else:
            split.append(rule)
    return split


def _atoms(codes: Sequence[int], clauses: Sequence[tuple[int, ...]]) -> Atoms:
    """The codes of a column, those together that every clause takes or leaves together."""
    groups: dict[tuple[bool, ...], list[int]] = {}
    distinct = [set(clause) for clause in dict.fromkeys(clauses)]
    for code in codes:
        groups.setdefault(tuple(code in clause for clause in distinct), []).append(code)
    return tuple(tuple(group) for group in groups.values())


def _group_rules(rules: Sequence[Rule]) -> dict[tuple[str, ...], list[Rule]]:
    groups: dict[tuple[str, ...], list[Rule]] = {}
    for rule in rules:
        columns = {name for predicate in (rule.when, *rule.one_of) for name in predicate.columns}
        groups.setdefault(tuple(sorted(columns)), []).append(rule)
    return groups


def _alive(name: str, atoms: Atoms, groups: dict[tuple[str, ...], list[Rule]]) -> Atoms:
    """The atoms of a column that its own one-column rules allow."""
    rules = [*groups.get((name,), []), *groups.get((), [])]
    dead = _grid([atoms], (name,), rules)
    return tuple(atom for atom, gone in zip(atoms, dead, strict=True) if not gone)


def _broken(domain: Domain, atoms: Sequence[Atoms], table: Places, columns: tuple[str, ...], rules: list[Rule]) -> Flags:
    """Which types break a rule about these columns: looked up in the product of their atoms where that is small."""
    places = [domain.names.index(name) for name in columns]
    of_columns = [atoms[column] for column in places]
    if int(np.prod([len(of_column) for of_column in of_columns])) > GRID_LIMIT:
        return _broken_rows(of_columns, table[:, places], columns, rules)
    flags: Flags = _grid(of_columns, columns, rules)[tuple(table[:, column] for column in places)]
    return flags


def _grid(atoms: Sequence[Atoms], columns: tuple[str, ...], rules: Sequence[Rule]) -> Flags:
    """Which combinations of the columns' atoms break a rule."""
    shape = tuple(len(of_column) for of_column in atoms)
    grid: Flags = np.zeros(shape, dtype=bool)
    grid.reshape(-1)[list(_zero_places(atoms, columns, shape, rules))] = True
    for rule in rules:
        if rule.one_of:
            allowed = np.zeros(shape, dtype=bool)
            for option in rule.one_of:
                allowed |= _box(atoms, columns, option)
            grid |= _box(atoms, columns, rule.when) & ~allowed
    return grid


def _zero_places(
    atoms: Sequence[Atoms], columns: tuple[str, ...], shape: tuple[int, ...], rules: Sequence[Rule]
) -> Iterator[int]:
    """The places, in the flattened grid, of the cells that nobody may lie in."""
    for rule in rules:
        if not rule.one_of:
            where = rule.when.where
            held = [
                _places(of_column, where[name]) if name in where else tuple(range(len(of_column)))
                for name, of_column in zip(columns, atoms, strict=True)
            ]
            for place in product(*held) if all(held) else ():
                flat = 0
                for size, at in zip(shape, place, strict=True):
                    flat = flat * size + at
                yield flat


def _box(atoms: Sequence[Atoms], columns: tuple[str, ...], predicate: Predicate) -> Flags:
    """A condition over the product of the columns' atoms (to be broadcast along the columns that it does not name)."""
    box: Flags = np.ones((1,) * len(columns), dtype=bool)
    for name, codes in predicate.clauses:
        axis = columns.index(name)
        box = box & _atom_flags(atoms[axis], codes).reshape([-1 if a == axis else 1 for a in range(len(columns))])
    return box


def _broken_rows(atoms: Sequence[Atoms], table: Places, columns: tuple[str, ...], rules: list[Rule]) -> Flags:
    """The same, type by type: any code of an atom stands for the others."""
    codes = {name: np.array([atom[0] for atom in of_column])[column]
             for name, of_column, column in zip(columns, atoms, table.T, strict=True)}  # fmt: skip
    flags: Flags = np.logical_or.reduce([rule.excludes(codes) for rule in rules])
    return flags
