"""What a release says and which records it leaves open, as the checker sees them: found column by column."""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from genverify.model.arrays import Flags
from genverify.model.domain import EVERY, Domain, Predicate, Rule
from genverify.model.errors import GenverifyError
from genverify.model.release import TOTAL, Release, cached

# What a release says, as the checker reads it: the published cells, by id.


class Cell(NamedTuple):
    """A published cell: lo <= COUNT(predicate) <= hi; with `sums`, the sum of the records' codes in a column lies there."""

    predicate: Predicate
    lo: int
    hi: int
    sums: str | None = None

    def adding(self, domain: Domain) -> Predicate:
        """The records that add to the cell."""
        if self.sums is None:
            return self.predicate
        return self.predicate & Predicate.of({self.sums: [code for code in domain[self.sums].codes if code > 0]})


class Cells(Mapping[str, Cell]):
    """N and the published cells, by id; a cell is made when it is asked for, since most are zeros that no proof names."""

    def __init__(self, release: Release) -> None:
        self.published, self.lo, self.hi, self.domain = release.published, release.lo, release.hi, release.schema.domain
        self.queries, self.place = self.published.queries, self.published.place
        self.made = {TOTAL: Cell(EVERY, int(release.n), int(release.n))}

    def __getitem__(self, name: str) -> Cell:
        if name not in self.made:
            index = self.place[name]
            query, lo, hi = self.queries[index], int(self.lo[index]), int(self.hi[index])
            self.made[name] = Cell(query.predicate, lo, hi, query.sums)
        return self.made[name]

    def __iter__(self) -> Iterator[str]:
        yield from (*self.place, TOTAL)

    def __len__(self) -> int:
        return len(self.place) + 1

    @property
    def empty(self) -> list[Predicate]:
        """The conditions that nobody meets: those of cells that count nobody."""
        zero = np.flatnonzero(self.hi == 0).tolist()
        if not self.published.summed:
            return [self.published.predicates[index] for index in zero]
        return [self[self.queries[index].id].adding(self.domain) for index in zero]


# The records that a release leaves open.

Words = npt.NDArray[np.uint64]
Table = npt.NDArray[np.int16]
Places = npt.NDArray[np.int64]
Atoms = list[list[tuple[int, ...]]]
Bits = int  # a set of types, the bit of a type at its place: one number of any length, compared with others in one step
MOST = 4_000_000  # bounds memory: two bytes per type and column, a bit per condition; beyond, the checker refuses
AT_ONCE = 1_000_000  # bounds memory within a step: partial records times atoms, a bit per condition


class TooManyRecords(GenverifyError):
    """More records are live than the checker can hold."""


@dataclass(frozen=True)
class AdmissibleTypes:
    """The live records by atoms, codes that no condition tells apart: `table` has the atom of each column and type."""

    domain: Domain
    atoms: Atoms
    table: Table
    known: dict[Predicate, Flags] = field(default_factory=dict, compare=False)
    clauses: dict[tuple[str, tuple[int, ...]], tuple[Bits, Bits]] = field(default_factory=dict, compare=False)

    def __len__(self) -> int:
        return int(self.table.shape[1])

    def inside(self, predicate: Predicate) -> Flags:
        """Which types a condition holds; it must be one of those that made the atoms."""
        if predicate not in self.known:
            flags: Flags = np.ones(len(self), dtype=bool)
            for name, codes in predicate.clauses:
                column = self.domain.names.index(name)
                flags &= _held(self.atoms[column], codes)[self.table[column]]
            self.known[predicate] = flags
        return self.known[predicate]

    def codes(self, name: str) -> Places:
        """The code of each type in a column all of whose codes some condition tells apart."""
        column = self.domain.names.index(name)
        return np.asarray(np.array([atom[0] for atom in self.atoms[column]], dtype=np.int64)[self.table[column]])

    def touched(self, where: Predicate, among: Bits) -> Bits:
        """Of these types, those with at least one record that matches."""
        for clause in where.clauses:
            if not among:
                break
            among &= self.clause(clause)[0]
        return among

    def missed(self, where: Predicate, among: Bits) -> Bits:
        """Of these types, those with at least one record that does not match."""
        missed = 0
        for clause in where.clauses:
            missed |= self.clause(clause)[1]
        return missed & among

    def clause(self, clause: tuple[str, tuple[int, ...]]) -> tuple[Bits, Bits]:
        """The types with a record that meets a clause, and those with a record that does not."""
        if clause not in self.clauses:
            column, codes = self.domain.names.index(clause[0]), clause[1]
            some = np.array([any(code in codes for code in atom) for atom in self.atoms[column]], dtype=bool)
            other = np.array([any(code not in codes for code in atom) for atom in self.atoms[column]], dtype=bool)
            self.clauses[clause] = bits_of(some[self.table[column]]), bits_of(other[self.table[column]])
        return self.clauses[clause]

    def example(self, place: int) -> str:
        """A record of a type, in words."""
        codes = [atoms[at][0] for atoms, at in zip(self.atoms, self.table[:, place], strict=True)]
        return ", ".join(f"{name}={code}" for name, code in zip(self.domain.names, codes, strict=True))


def bits_of(flags: Flags) -> Bits:
    """
    The set of the types that are flagged.

    >>> bin(bits_of(np.array([True, False, True, True])))
    '0b1101'
    """
    return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")


def flags_of(bits: Bits, length: int) -> Flags:
    """
    Of this number of types, whether each is in the set.

    >>> flags_of(0b1101, 5).tolist()
    [True, False, True, True, False]
    """
    packed = np.frombuffer(bits.to_bytes(-(-length // 8), "little"), np.uint8)
    return np.unpackbits(packed, count=length, bitorder="little").astype(bool)


class SharedConditions:
    """Conditions that must not split a type, shared by several blocks; what follows from them alone is found once."""

    def __init__(self, domain: Domain, conditions: Iterable[Predicate]) -> None:
        self.domain, self.said = domain, tuple(dict.fromkeys([EVERY, *conditions]))
        self.known: OrderedDict[tuple[Predicate, ...], _Conditions] = OrderedDict()

    def including(self, said: Iterable[Predicate]) -> "_Conditions":
        """These conditions and those of one block."""
        known = self._and(())
        others = tuple(dict.fromkeys(predicate for predicate in said if predicate not in known.at))
        return self._and(others) if others else known

    def _and(self, others: tuple[Predicate, ...]) -> "_Conditions":
        return cached(self.known, others, lambda: _Conditions(self.domain, (*self.said, *others)))


def live_types(
    shared: SharedConditions, never: Sequence[Predicate], rules: Sequence[Rule], parts: Sequence[Predicate] = ()
) -> AdmissibleTypes:
    """Every type that breaks no rule and meets no condition of `never`; `parts` are more that must not split a type."""
    known = shared.including([*parts, *never, *(said for rule in rules for said in (rule.when, *rule.one_of))])
    walk = _Walk(known, never, rules)
    table, possible = np.zeros((len(known.atoms), 1), dtype=np.int16), np.full((known.words, 1), ~np.uint64(0))
    for step in range(len(known.atoms)):
        table, possible = walk.add(table, possible, step)
    return AdmissibleTypes(shared.domain, known.atoms, table)


@dataclass(frozen=True)
class _Test:
    """A rule as bits: broken where a bit of `when` stands and none of `one_of`; to be asked after the listed steps."""

    when: int
    one_of: int
    steps: frozenset[int]


class _Conditions:
    """Conditions as bits, the columns in the order in which they are added, and which atoms each condition allows."""

    def __init__(self, domain: Domain, said: Sequence[Predicate]) -> None:
        self.atoms = _atoms(domain, said)
        self.order = sorted(range(len(self.atoms)), key=lambda column: len(self.atoms[column]))
        self.step_of = {domain.names[column]: step for step, column in enumerate(self.order)}
        self.bit = {predicate: bit for bit, predicate in enumerate(said)}
        # the step from which on a condition is known, and its bit
        self.at = {p: (max((self.step_of[name] for name in p.columns), default=0), 1 << bit) for p, bit in self.bit.items()}
        self.words = len(said) // 64 + 1
        self.allowed = self._allowed(domain)

    def _allowed(self, domain: Domain) -> list[Words]:
        """Per column and atom, the conditions that allow it, one bit each."""
        size = self.words * 64
        flags = {name: np.ones((len(atom), size), bool) for name, atom in zip(domain.names, self.atoms, strict=True)}
        held: dict[tuple[str, tuple[int, ...]], Flags] = {}
        for predicate, bit in self.bit.items():
            for clause in predicate.clauses:
                if clause not in held:
                    held[clause] = _held(self.atoms[domain.names.index(clause[0])], clause[1])
                flags[clause[0]][:, bit] = held[clause]
        packed = (np.packbits(flags[name], axis=1, bitorder="little") for name in domain.names)
        return [bits.view("<u8").astype(np.uint64).T for bits in packed]


class _Walk:
    """Adds column after column to all records at once; a bit per condition says whether the columns so far allow it."""

    def __init__(self, known: _Conditions, never: Sequence[Predicate], rules: Sequence[Rule]) -> None:
        self.order, self.allowed, self.words = known.order, known.allowed, known.words
        self.tests = [self._test(known, rule) for rule in rules if rule.one_of]
        self.never = [0] * len(known.atoms)  # per step, the conditions known from there on that no record may meet
        for predicate in [*never, *(rule.when for rule in rules if not rule.one_of)]:
            step, bit = known.at[predicate]
            self.never[step] |= bit

    def _test(self, known: _Conditions, rule: Rule) -> _Test:
        steps = {known.step_of[name] for predicate in (rule.when, *rule.one_of) for name in predicate.columns}
        first, when = known.at[rule.when]
        one_of = sum({known.at[option][1] for option in rule.one_of})
        return _Test(when, one_of, frozenset(step for step in steps if step >= first))

    def add(self, table: Table, possible: Words, step: int) -> tuple[Table, Words]:
        """Every record with every atom of the next column, without those that break a rule."""
        column = self.order[step]
        choices = self.allowed[column].shape[1]
        slice_ = max(1, AT_ONCE // max(1, choices))
        tables, rest, total = [table[:, :0]], [possible[:, :0]], 0
        for at in range(0, table.shape[1], slice_):
            indices, bits = self._survivors(possible[:, at : at + slice_], column, step)
            part = table[:, at + indices // choices]
            part[column] = indices % choices
            tables, rest, total = [*tables, part], [*rest, bits], total + len(indices)
            if total > MOST:
                raise TooManyRecords(f"more than {MOST} kinds of records are live")
        return np.concatenate(tables, axis=1), np.concatenate(rest, axis=1)

    def _survivors(self, possible: Words, column: int, step: int) -> tuple[Places, Words]:
        bits = (possible[:, :, None] & self.allowed[column][:, None, :]).reshape(self.words, -1)
        indices = np.flatnonzero(~_any(bits, self.never[step]))
        bits = bits[:, indices]
        broken = np.zeros(len(indices), dtype=bool)
        for test in self.tests:
            if step in test.steps:
                broken |= _any(bits, test.when) & ~_any(bits, test.one_of)
        return indices[~broken], bits[:, ~broken]


def _any(bits: Words, mask: int) -> Flags:
    words = np.frombuffer(mask.to_bytes(8 * len(bits), "little"), "<u8").astype(np.uint64)
    named = np.flatnonzero(words)
    return np.asarray((bits[named] & words[named, None]).any(axis=0))


def _atoms(domain: Domain, conditions: Iterable[Predicate]) -> Atoms:
    """The codes of each column, those together that every condition takes or leaves together."""
    clauses = {clause for predicate in conditions for clause in predicate.clauses}
    atoms = []
    for column in domain.columns:
        said = [set(codes) for name, codes in clauses if name == column.name]
        groups: dict[tuple[bool, ...], list[int]] = {}
        for code in column.codes:
            groups.setdefault(tuple(code in clause for clause in said), []).append(code)
        atoms.append([tuple(group) for group in groups.values()])
    return atoms


def _held(atoms: Sequence[tuple[int, ...]], codes: Iterable[int]) -> Flags:
    wanted = set(codes)
    return np.array([atom[0] in wanted for atom in atoms], dtype=bool)
