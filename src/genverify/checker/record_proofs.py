"""The checker: does a proof show what it claims? Exact integers, no solver, and no code shared with what found it."""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from genverify.checker import certificate as form
from genverify.checker.certificate import CertificateError
from genverify.model.areas import BLOCK, AreaReleases, seen_from, together
from genverify.model.arrays import Flags, Ints
from genverify.model.domain import EVERY, Domain, Predicate, Rule
from genverify.model.proof_form import AREAS, AT_LEAST, AT_MOST, HOUSING, NEVER, NOTHING, ExhaustedTotal
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
        self.queries, self.place = self.published.queries, self.published.position
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

    def told_apart(self) -> Iterator[Predicate]:
        """What the cells tell apart; where a column is summed, each code of it."""
        yield from self.published.predicates
        for name in sorted(self.published.summed):
            yield from (Predicate.of({name: [code]}) for code in self.domain[name].codes)

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
Atoms = list[list[tuple[int, ...]]]
Bits = int  # a set of types, the bit of a type at its place: one number of any length, compared with others in one step
MOST = 4_000_000  # bounds memory: two bytes per type and column, a bit per condition; beyond, the checker refuses
AT_ONCE = 1_000_000  # bounds memory within a step: partial records times atoms, a bit per condition


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

    def codes(self, name: str) -> Ints:
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
            self.clauses[clause] = _bits_of(some[self.table[column]]), _bits_of(other[self.table[column]])
        return self.clauses[clause]

    def example(self, place: int) -> str:
        """A record of a type, in words."""
        codes = [atoms[at][0] for atoms, at in zip(self.atoms, self.table[:, place], strict=True)]
        return ", ".join(f"{name}={code}" for name, code in zip(self.domain.names, codes, strict=True))


def _bits_of(flags: Flags) -> Bits:
    """
    The set of the types that are flagged.

    >>> bin(_bits_of(np.array([True, False, True, True])))
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
        size = self.words * 64  # per column and atom, the conditions that allow it, one bit each
        flags = {name: np.ones((len(atom), size), bool) for name, atom in zip(domain.names, self.atoms, strict=True)}
        held: dict[tuple[str, tuple[int, ...]], Flags] = {}
        for predicate, bit in self.bit.items():
            for clause in predicate.clauses:
                if clause not in held:
                    held[clause] = _held(self.atoms[domain.names.index(clause[0])], clause[1])
                flags[clause[0]][:, bit] = held[clause]
        packed = (np.packbits(flags[name], axis=1, bitorder="little") for name in domain.names)
        self.allowed: list[Words] = [bits.view("<u8").astype(np.uint64).T for bits in packed]


def _walked(block: str, known: _Conditions, never: Sequence[Predicate], rules: Sequence[Rule]) -> Table:
    """All records that break no rule, column after column; a bit per condition says whether the columns so far allow it."""
    # rules as bits: broken where a bit of `when` stands and none of `one_of`; and the steps after which they are asked
    tests = list[tuple[int, int, set[int]]]()
    for rule in (rule for rule in rules if rule.one_of):
        (first, when), options = known.at[rule.when], {known.at[option][1] for option in rule.one_of}
        steps = {known.step_of[name] for predicate in (rule.when, *rule.one_of) for name in predicate.columns}
        tests.append((when, sum(options), {step for step in steps if step >= first}))
    nobody = [0] * len(known.atoms)  # per step, the conditions known from there on that no record may meet
    for predicate in [*never, *(rule.when for rule in rules if not rule.one_of)]:
        step, bit = known.at[predicate]
        nobody[step] |= bit
    table, possible = np.zeros((len(known.atoms), 1), dtype=np.int16), np.full((known.words, 1), ~np.uint64(0))
    for step, column in enumerate(known.order):
        choices = known.allowed[column].shape[1]
        slice_ = max(1, AT_ONCE // max(1, choices))
        tables, rest, total = [table[:, :0]], [possible[:, :0]], 0
        for at in range(0, table.shape[1], slice_):
            bits = (possible[:, at : at + slice_, None] & known.allowed[column][:, None, :]).reshape(known.words, -1)
            indices = np.flatnonzero(~_any(bits, nobody[step]))
            bits = bits[:, indices]
            broken = np.zeros(len(indices), dtype=bool)
            for when, one_of, steps in tests:
                if step in steps:
                    broken |= _any(bits, when) & ~_any(bits, one_of)
            indices, bits = indices[~broken], bits[:, ~broken]
            part = table[:, at + indices // choices]
            part[column] = indices % choices
            tables, rest, total = [*tables, part], [*rest, bits], total + len(indices)
            if total > MOST:
                problem = f"cannot be checked, more than {MOST} kinds of records are live; publish or state more"
                raise CertificateError(f"block {block}: {problem}")
        table, possible = np.concatenate(tables, axis=1), np.concatenate(rest, axis=1)
    return table


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


# What a proof shows.
#
# A record is live if it lies in no published cell that counts 0, breaks no structural rule and is excluded by no lemma.
# Every record of a dataset that fits is live. A leaf gives each live record x a value v(x), a sum of multipliers over the
# cells and parts that hold x, and the published counts bound the sum of v over any dataset that fits: sum v(x) <= total. So
#
#     v(x) >= 0 for all live x,  total < 0              no dataset fits (on this side of the forks)
#     v(x) >= d [x matches a],   total < d (m + 1)      COUNT(a) <= m
#     v(x) >= -d [x matches a],  total < d (1 - m)      COUNT(a) >= m
#
# A fork is a split into cases: at most t records lie in a part, or at least t + 1. Both sides are proved.

Said = form.Statement | str  # what an error names: put into words only where there is one
# what a proof says of any claim: s COUNT(a) <= a limit (None: no dataset fits at all), if no type that is open matches a
# (upper, s = 1), or if every type that is open does (lower, s = -1)
ProvedLimit = tuple[int | None, Bits]


@dataclass(frozen=True)
class CheckSummary:
    """
    What was checked and found right: claims, the proofs that they use, impossible counts, every lower and every upper bound
    m on a COUNT(where), and whether no dataset fits at all; claims as the checker read them, and the records left open.
    """

    claims: int
    proofs: int
    impossible: int
    at_least: tuple[tuple[Predicate, int], ...]
    contradiction: bool
    at_most: tuple[tuple[Predicate, int], ...] = ()
    statements: tuple[form.Statement, ...] = field(default=(), compare=False, repr=False)
    types: AdmissibleTypes | None = field(default=None, compare=False, repr=False)


def check_block(release: Release, proofs: Mapping[str, Any], types: AdmissibleTypes | None = None) -> CheckSummary:
    """Check all proofs of a block against its release; an error names the first that fails. `types`: known live types."""
    certificate = form.read_certificate(release, proofs)
    cells = checked_cells(release, certificate.lemmas)
    if not certificate.roots:  # where nothing is proved, more records may be live than the checker can hold
        return CheckSummary(0, 0, 0, (), False)
    types = _live(release, cells, certificate) if types is None else _fine_enough(types, certificate)
    checker = ProofChecker(cells, types)
    stated, claims = certificate.statements, certificate.claims
    for claim in claims:
        checker.half(claim, 1)
        checker.half(claim, -1)
    for said in stated[NEVER]:
        checker.empty(said.lower, said, said)
    for goal, s in ((AT_LEAST, -1), (AT_MOST, 1)):
        for bound in stated[goal]:
            checker.half(bound, s)
    for said in stated[NOTHING]:
        checker.empty(said.lower, f"block {release.block}, contradiction", None)
    used, nothing = len({id(claim.lower) for claim in claims}), bool(stated[NOTHING])
    least, most = (tuple((one.where, one.m) for one in stated[goal]) for goal in (AT_LEAST, AT_MOST))
    return CheckSummary(len(claims), used, len(stated[NEVER]), least, nothing, most, claims, types)


def checked_cells(release: Release, lemmas: Sequence[ExhaustedTotal]) -> Cells:
    """The published cells; of each lemma, disjoint cells add up to the universe: no record of it lies elsewhere."""
    cells = Cells(release)
    for index, lemma in enumerate(lemmas):
        path = f"block {release.block}, lemmas[{index}]"
        universe, parts = cells[lemma.universe], [cells[name] for name in lemma.cells]
        if any(cell.sums for cell in (universe, *parts)):
            raise CertificateError(f"{path}: a cell that sums a column counts no records")
        codes = [{name: frozenset(allowed) for name, allowed in part.predicate.clauses} for part in parts]
        for i, one in enumerate(codes):
            if not all(name in one and one[name] <= set(allowed) for name, allowed in universe.predicate.clauses):
                raise CertificateError(f"{path}: {lemma.cells[i]} is not inside {lemma.universe}")
            for j in range(i):
                if not any(name in codes[j] and allowed.isdisjoint(codes[j][name]) for name, allowed in one.items()):
                    raise CertificateError(f"{path}: {lemma.cells[i]} and {lemma.cells[j]} are not disjoint")
        total = sum(part.lo for part in parts)
        if total < universe.hi:
            raise CertificateError(f"{path}: the cells add up to {total}, but {lemma.universe} may hold {universe.hi}")
    return cells


def _live(release: Release, cells: Cells, certificate: form.Certificate) -> AdmissibleTypes:
    """The live types, fine enough for every cell and every part of a fork."""
    # blocks that publish the same cells share what follows from these
    key = release.cells.tobytes()
    shared = release.schema.derived(SharedConditions, key, lambda: SharedConditions(cells.domain, cells.told_apart()))
    return live_records(release, cells, shared, certificate.lemmas, _parts(certificate))


def live_records(
    release: Release, cells: Cells, shared: SharedConditions, lemmas: Iterable[ExhaustedTotal],
    parts: Sequence[Predicate],
) -> AdmissibleTypes:  # fmt: skip
    """The records that break no rule, no lemma, and lie in no cell that counts nobody, by types that no part may split."""
    rules = [Rule(x.universe, cells[x.universe].predicate, tuple(cells[cell].predicate for cell in x.cells)) for x in lemmas]
    rules, never = [*rules, *release.schema.rules], cells.empty
    known = shared.including([*parts, *never, *(said for rule in rules for said in (rule.when, *rule.one_of))])
    return AdmissibleTypes(shared.domain, known.atoms, _walked(release.block, known, never, rules))


def _fine_enough(types: AdmissibleTypes, certificate: form.Certificate) -> AdmissibleTypes:
    """Types that were found before; no part of a fork may hold some records of a type only."""
    every = (1 << len(types)) - 1
    for part in _parts(certificate):
        if types.touched(part, every) & types.missed(part, every):
            raise CertificateError(f"a fork on {part} tells records apart that no published cell does")
    return types


def _parts(certificate: form.Certificate) -> list[Predicate]:
    paths = (path for root in certificate.roots for _, path in form.leaves_of(root))
    return [part for part in dict.fromkeys(part for path in paths for part, _, _ in path) if isinstance(part, Predicate)]


class ProofChecker:
    """Checks the proofs of one block; each proof is added up once, whatever number of claims uses it."""

    def __init__(self, cells: Mapping[str, Cell], types: AdmissibleTypes) -> None:
        self.cells, self.types = cells, types
        self.shown: dict[tuple[int, int], ProvedLimit] = {}
        self.alike = cache(self._alike)

    def half(self, statement: form.Statement, s: int) -> None:
        """s COUNT(a) <= s m, by the upper proof (s = 1) or the lower one (s = -1)."""
        side, node = ("upper", statement.upper) if s > 0 else ("lower", statement.lower)
        limit, open_ = self.proof(node, s, statement)
        if limit is not None and limit > s * statement.m:
            relation = "<=" if s > 0 else ">="
            raise CertificateError(f"{statement}: the {side} proof shows only COUNT {relation} {s * limit}")
        wrong = (self.types.touched if s > 0 else self.types.missed)(statement.where, open_)
        if wrong:
            verb = "matches" if s > 0 else "does not match"
            record = self.types.example((wrong & -wrong).bit_length() - 1)
            raise CertificateError(f"{statement}: the {side} proof leaves out a live record that {verb}, like {record}")

    def proof(self, node: form.Node, s: int, said: form.Statement) -> ProvedLimit:
        """What the leaves of a proof show together."""
        key = id(node), s
        if key not in self.shown:
            limit, open_ = None, np.zeros(len(self.types), dtype=bool)
            for leaf, path in form.leaves_of(node):
                if leaf.kind == form.EMPTY:
                    self.nobody(leaf, path, said, None)
                    continue
                v, total = self.sums(leaf, path, said)
                self.at_least(v, 0 if s > 0 else -leaf.d, leaf, said)
                open_ |= v < (leaf.d if s > 0 else 0)
                limit = max(total // leaf.d, total // leaf.d if limit is None else limit)
            self.shown[key] = limit, _bits_of(open_)
        return self.shown[key]

    def empty(self, node: form.Node, said: Said, statement: form.Statement | None) -> None:
        """No dataset fits; or none that also has COUNT(a) = m, for a statement."""
        for leaf, path in form.leaves_of(node):
            self.nobody(leaf, path, said, statement)

    def nobody(self, leaf: form.Leaf, path: form.Cases, said: Said, statement: form.Statement | None) -> None:
        """The values are nowhere negative, but their sum is: there is no such dataset."""
        v, total = self.sums(leaf, path, said)
        if statement and leaf.c:  # c [x matches a], the smaller value where only some records of a type match
            size, every, where = len(self.types), (1 << len(self.types)) - 1, statement.where
            matched = self.types.touched(where, every) & ~(self.types.missed(where, every) if leaf.c > 0 else 0)
            v, total = v + leaf.c * flags_of(matched, size).astype(np.int64), total + leaf.c * statement.m
        self.at_least(v, 0, leaf, said)
        if total >= 0:
            raise CertificateError(f"{said}: {leaf.path}: the sum is {total}, not below 0")

    def _alike(self, record: tuple[int, ...]) -> Flags:
        """The types that lie in the same published cells as a record."""
        held = dict(zip(self.types.domain.names, record, strict=True))
        alike: Flags = np.ones(len(self.types), dtype=bool)
        for cell in self.cells.values():
            inside = all(held[name] in codes for name, codes in cell.predicate.clauses)
            part = (held[cell.sums] if cell.sums else 1) if inside else 0
            if cell.hi:
                alike &= self.added(cell) == part
            elif part:
                alike &= False
        return alike

    def added(self, cell: Cell) -> Ints | Flags:
        """What a record of each type adds to a cell."""
        inside = self.types.inside(cell.predicate)
        return inside * self.types.codes(cell.sums) if cell.sums else inside

    def sums(self, leaf: form.Leaf, path: form.Cases, said: Said) -> tuple[Ints, int]:
        """The value v of each type, and the most that v can sum to over a dataset that fits."""
        v, total = np.zeros(len(self.types), dtype=np.int64), 0
        for name, y in leaf.y.items():
            cell = self.cells[name]
            if cell.sums and abs(y) * max(self.types.domain[cell.sums].codes) > form.LARGEST:
                raise CertificateError(f"{said}: {leaf.path}: the multiplier {y} on {name} is too large")
            v += y * self.added(cell)
            total += y * (cell.hi if y > 0 else cell.lo)
        for w, (part, at, below) in zip(leaf.w, path, strict=True):
            if w < 0 if below else w > 0:
                side = "below" if below else "above"
                raise CertificateError(f"{said}: {leaf.path}: the multiplier {w} has the wrong sign {side} a fork")
            v += w * (self.types.inside(part) if isinstance(part, Predicate) else self.alike(part))
            total += w * (at if below else at + 1)
        return v, total

    def at_least(self, v: Ints, least: int, leaf: form.Leaf, said: Said) -> None:
        if v.min(initial=least) < least:
            index = int(np.argmin(v))
            raise CertificateError(
                f"{said}: {leaf.path}: a live record has the value {v[index]}, below {least}: {self.types.example(index)}"
            )


# Effective k, counted by the checker: the fewest columns of a claim that force all of it among the records left open.

Clause = tuple[str, tuple[int, ...]]


def effective_sizes(types: AdmissibleTypes, claims: Sequence[Predicate]) -> list[int]:
    """The effective k of each claim. Claims that are part of a longer one share its table of subsets."""
    groups: list[tuple[frozenset[Clause], _Subsets]] = []
    result: dict[Predicate, int] = {}
    for claim in sorted(set(claims), key=lambda claim: (-len(claim.clauses), claim.clauses)):
        clauses = frozenset(claim.clauses)
        group = next((subsets for longest, subsets in groups if clauses <= longest), None)
        if group is None:
            group = _Subsets(types, claim.clauses)
            groups.append((clauses, group))
        result[claim] = group.smallest(claim.clauses)
    return [result[claim] for claim in claims]


class _Subsets:
    """For every subset of some clauses, as a bit mask: which of the clauses it forces."""

    def __init__(self, types: AdmissibleTypes, clauses: Sequence[Clause]) -> None:
        self.bit = {clause: 1 << at for at, clause in enumerate(clauses)}
        matched = [(1 << len(types)) - 1]
        for clause in clauses:
            matched += [inside & types.clause(clause)[0] for inside in matched]
        others = [(bit, types.clause(clause)[1]) for clause, bit in self.bit.items()]
        self.forced = [sum(bit for bit, other in others if not inside & other) for inside in matched]
        self.by_size = sorted(range(len(matched)), key=int.bit_count)

    def smallest(self, clauses: Iterable[Clause]) -> int:
        whole = sum(self.bit[clause] for clause in clauses)
        enough = (mask for mask in self.by_size if not mask & ~whole and not whole & ~mask & ~self.forced[mask])
        return next(enough).bit_count()


# A certificate about one of several parts of what is published together (the model `housing`): it shows that some records
# must exist, or that no dataset fits. What holds of every dataset that fits a part holds of all that fit the whole.


def part_of(parts: Sequence[Release], certificate: Mapping[str, Any]) -> Release:
    """The part that a certificate is about, by its digest; an error where it is about none of them."""
    path = f"block {parts[0].block}"
    if form.read_head(certificate, path) != HOUSING:
        raise CertificateError(f"{path}: the model is {certificate['model']}, where {HOUSING} is needed")
    match = next((part for part in parts if part.digest == certificate["about"]["digest"]), None)
    if match is None:
        raise CertificateError(f"{path}: the proofs are of other counts than these, or of other tables. Verify it again.")
    return match


def check_part(parts: Sequence[Release], certificate: Mapping[str, Any]) -> CheckSummary:
    """Check a certificate against the part that it is about."""
    return check_block(part_of(parts, certificate), certificate)


def least_records(checked: CheckSummary, where: Predicate, block: str) -> int | None:
    """The least number of records that meet a condition, 1 or more, if a certificate shows just this; None: none fits."""
    others = checked.claims + checked.impossible + len(checked.at_most)
    if checked.contradiction and not others and not checked.at_least:
        return None
    bounds = checked.at_least
    if others or checked.contradiction or len(bounds) != 1 or bounds[0][0] != where or bounds[0][1] < 1:
        sums = ", ".join(f"COUNT({one}) >= {m}" for one, m in bounds) or "nothing"
        raise CertificateError(
            f"block {block}: the certificate shows {sums}; it takes one statement, COUNT({where}) >= 1 or more, or that no "
            "dataset fits. Make it again."
        )
    return bounds[0][1]


# Proofs about blocks and the areas that they make up.
#
# Every block has its own live records: those that lie in no cell of the block or of its areas that counts 0. Multipliers on
# the cells of all blocks and areas give each of them a value, as above. Those on an area's cells are prices; those on a
# block's own cells bound what its records are worth at these prices. First it is shown which records no block can have
# (`nobody`): a sum below d that gives each of them at least d, and no other live record less than 0. Proofs about a block
# alone, and about all blocks together, need not speak of these records any more.

AREA_KEYS = {"version", "about", "model", "lemmas", "nobody", "statements"}
PARTS = ("alone", "together")


class AreaChecker:
    """
    Checks what all blocks share once, and then what is proved about each block: two certificates about records, one from
    what its own tables and its areas leave to it (`alone`), one from the cells of all blocks and areas (`together`).
    """

    def __init__(self, levels: AreaReleases, shared: Mapping[str, Any]) -> None:
        self.levels, self.release = levels, together(levels)
        form.require_about(shared, self.release.block, (AREAS,), self.release.digest)
        if set(shared) != AREA_KEYS:
            raise CertificateError(
                f"{self.release.block}: the keys of a certificate of areas are {', '.join(sorted(AREA_KEYS))}"
            )
        if not isinstance(shared["lemmas"], Mapping):
            kind = type(shared["lemmas"]).__name__
            raise CertificateError(f"{self.release.block}: lemmas are listed by block, not as {kind}")
        self.number_of = {block.block: number for number, block in enumerate(levels.blocks)}
        areas = (area.release for area in levels.areas)
        releases = {(id(one.schema), one.cells.tobytes()): one for one in (*levels.blocks, *areas)}
        told_apart = (predicate for one in releases.values() for predicate in Cells(one).told_apart())
        conditions = SharedConditions(levels.schema.domain, told_apart)  # one for all blocks, whose types are joined
        self.own = list[AdmissibleTypes]()
        for own in (seen_from(levels, number) for number in range(len(levels.blocks))):
            known = form.read_lemmas(own, shared["lemmas"].get(own.block, []))
            self.own.append(live_records(own, checked_cells(own, known), conditions, known, ()))
        domain, sizes = self.release.schema.domain, [len(types) for types in self.own]
        block = np.repeat(np.arange(len(sizes)), sizes).astype(np.int16)
        table = np.vstack([block[None, :], np.concatenate([types.table for types in self.own], axis=1)])
        self.types = AdmissibleTypes(domain, [[(code,) for code in domain.columns[0].codes], *self.own[0].atoms], table)
        gone: Flags = np.zeros(len(self.types), dtype=bool)  # where the sum is below d, nobody is worth d or more
        checker = ProofChecker(Cells(self.release), self.types)
        for said in form.read_nobody(self.release, shared["nobody"]):
            limit, open_ = checker.proof(said.upper, 1, said)
            if limit is None or limit > 0:
                raise CertificateError(f"{said.path}: the proof allows {limit} records")
            gone |= ~flags_of(open_, len(self.types))
        parts = np.split(gone, np.cumsum(sizes)[:-1])
        self.own = [_without(types, part) for types, part in zip(self.own, parts, strict=True)]
        self.types = _without(self.types, gone)

    def statements(self, stated: Sequence[Any]) -> Iterator[tuple[int, list[CheckSummary]]]:
        """The number of each block that is spoken of, once, and what is proved about it."""
        left = set(self.number_of)
        for index, said in enumerate(stated):
            where = f"{self.release.block}, statement {index}"
            if not isinstance(said, Mapping) or set(said) != {"block", *PARTS}:
                raise CertificateError(f"{where}: is not a statement about a block, with the keys block, {', '.join(PARTS)}")
            if said["block"] not in left:
                raise CertificateError(f"{where}: {str(said['block'])[:40]!r} is not one of the blocks, or is listed twice")
            left.remove(said["block"])
            yield self.number_of[said["block"]], self.check(self.number_of[said["block"]], said["alone"], said["together"])

    def check(self, number: int, alone: Mapping[str, Any] | None, together: Mapping[str, Any] | None) -> list[CheckSummary]:
        """All that is proved about a block."""
        result = [self.alone(number, alone)] if alone else []
        return result + ([self.together(together)] if together else [])

    def alone(self, number: int, certificate: Mapping[str, Any]) -> CheckSummary:
        """What is proved about a block from its own cells, and from what its areas leave to it."""
        return check_block(seen_from(self.levels, number), certificate, self.own[number])

    def together(self, certificate: Mapping[str, Any]) -> CheckSummary:
        """What is proved from the cells of all blocks and areas."""
        return check_block(self.release, certificate, self.types)

    def own_where(self, number: int, where: Predicate) -> dict[str, int]:
        """What a claim says of the records of a block, without the block; an error where it is about another one."""
        said = {name: codes[0] for name, codes in where.clauses}
        if said.pop(BLOCK, number + 1) != number + 1:
            raise CertificateError(f"block {self.levels.blocks[number].block}: a proof is about another block")
        return said


def _without(types: AdmissibleTypes, gone: Flags) -> AdmissibleTypes:
    return AdmissibleTypes(types.domain, types.atoms, types.table[:, ~gone])
