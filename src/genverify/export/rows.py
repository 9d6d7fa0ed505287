"""
A checked proof as a program that stands on its own: classes of records over the whole domain, published cells and
exclusions as rows.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

import numpy as np

from genverify.checker import certificate as form
from genverify.checker.admitted import Cell, Cells
from genverify.checker.certificate import (
    Certificate,
    CertificateError,
    ExhaustedTotal,
    Node,
    ProvedBound,
    Statement,
    read_bounds,
)
from genverify.model.arrays import Flags
from genverify.model.domain import EVERY, Column, Domain, Predicate, Rule
from genverify.model.errors import DataError
from genverify.model.release import TOTAL, Release
from genverify.model.work import derive_seed

# Kinds of records over the whole domain: records that the rows of a program do not tell apart form one class.
#
# Nothing is left out: every record of the domain lies in exactly one class, also those that a zero cell or a rule excludes.

MOST = 20_000  # classes of one claim, a column each in every format: bounds the size of the files
Bits = int
Record = tuple[int, ...]


class TooManyClasses(DataError):
    """A proof whose cells distinguish more kinds of records than a readable file can hold."""


@dataclass(frozen=True)
class Region:
    """
    The records that meet one of some conditions, and none of some others.

    >>> renting = Predicate.of({"TEN": [3]})
    >>> Region((Predicate(()),), (renting,)).holds({"TEN": 3}), Region((renting,)).holds({"TEN": 3})
    (False, True)
    """

    any_of: tuple[Predicate, ...]
    unless: tuple[Predicate, ...] = ()

    @classmethod
    def of(cls, when: Predicate, unless: Iterable[Predicate] = ()) -> "Region":
        """Records that meet `when` and none of the others, which are narrowed to it: elsewhere they do not matter."""
        narrowed = dict.fromkeys(when & other for other in unless)
        return cls((when,), tuple(p for p in narrowed if all(codes for _, codes in p.clauses)))

    @property
    def predicates(self) -> tuple[Predicate, ...]:
        return (*self.any_of, *self.unless)

    def holds(self, record: dict[str, int]) -> bool:
        """Whether a record lies in the region."""
        return any(_met(p, record) for p in self.any_of) and not any(_met(p, record) for p in self.unless)


def _met(predicate: Predicate, record: dict[str, int]) -> bool:
    return all(record[name] in codes for name, codes in predicate.clauses)


@dataclass(frozen=True)
class Kind:
    """A class of records: how many there are in the domain, one of them, and which regions hold them, one bit each."""

    size: int
    example: Record
    inside: Bits


Edge = tuple[Bits, tuple[int, ...]]  # the state before a column, and the codes of the column that lead on


class Kinds:
    """
    The classes of the whole domain, by which of the regions hold a record.

    Column after column, partial records that leave the same conditions possible are taken together, so that the product of
    the columns is never built.
    """

    def __init__(self, domain: Domain, regions: Sequence[Region]) -> None:
        self.walk = walk = _Walk(domain, [p for region in regions for p in region.predicates])
        masks = [(_mask(walk.bit, region.any_of), _mask(walk.bit, region.unless)) for region in regions]
        self.states: dict[Bits, list[Bits]] = {}
        for state in walk.sizes:
            inside = sum(1 << place for place, (some, none) in enumerate(masks) if state & some and not state & none)
            self.states.setdefault(inside, []).append(state)
        if len(self.states) > MOST:
            raise TooManyClasses(_too_many(len(self.states)))
        self.inside = list(self.states)

    def described(self) -> list[Kind]:
        """Every class with its size and a record of it, in the order of `inside`."""
        sizes, draw = self.walk.sizes, self.walk.draw
        return [
            Kind(sum(sizes[state] for state in states), draw(states[0], None), inside)
            for inside, states in self.states.items()
        ]

    def draw(self, inside: Bits, random: Random) -> Record:
        """A record of a class, at random."""
        return self.walk.draw(random.choice(self.states[inside]), random)


def _mask(bit: dict[Predicate, int], predicates: Iterable[Predicate]) -> Bits:
    return sum(1 << place for place in {bit[p] for p in predicates})


class _Walk:
    """The columns one after the other; a state has one bit per condition that the columns so far allow."""

    def __init__(self, domain: Domain, predicates: Iterable[Predicate]) -> None:
        self.domain = domain
        self.bit = {predicate: place for place, predicate in enumerate(dict.fromkeys(predicates))}
        self.sizes: dict[Bits, int] = {(1 << len(self.bit)) - 1: 1}
        self.layers: list[dict[Bits, list[Edge]]] = []
        for column in domain.columns:
            self._add(self._atoms(column))

    def _atoms(self, column: Column) -> list[tuple[Bits, tuple[int, ...]]]:
        """The codes of a column by the conditions that they allow."""
        free = sum(1 << place for p, place in self.bit.items() if column.name not in p.where)
        named = [(place, set(p.where[column.name])) for p, place in self.bit.items() if column.name in p.where]
        atoms: dict[Bits, list[int]] = {}
        for code in column.codes:
            atoms.setdefault(free | sum(1 << place for place, codes in named if code in codes), []).append(code)
        return [(mask, tuple(codes)) for mask, codes in atoms.items()]

    def _add(self, atoms: Sequence[tuple[Bits, tuple[int, ...]]]) -> None:
        sizes: dict[Bits, int] = {}
        layer: dict[Bits, list[Edge]] = {}
        for state, size in self.sizes.items():
            for mask, codes in atoms:
                after = state & mask
                sizes[after] = sizes.get(after, 0) + size * len(codes)
                layer.setdefault(after, []).append((state, codes))
        if len(sizes) > 10 * MOST:
            raise TooManyClasses(_too_many(len(sizes)))
        self.sizes = sizes
        self.layers.append(layer)

    def draw(self, state: Bits, random: Random | None) -> Record:
        """A record that ends in a state: the first one, or one drawn at random."""
        codes = []
        for layer in reversed(self.layers):
            state, allowed = random.choice(layer[state]) if random else layer[state][0]
            codes.append(random.choice(allowed) if random else allowed[0])
        return tuple(reversed(codes))


def _too_many(count: int) -> str:
    return (
        f"the cells that the proof names tell {count} or more kinds of records apart, over the limit of {MOST}; this claim "
        "cannot be exported. Check it with `genverify check`"
    )


# A proof as a program that stands on its own: classes of records over the whole domain, published cells as rows, a goal,
# and a derivation in which every leaf is one linear combination of rows and of z >= 0.

AT_MOST, AT_LEAST, NEVER = "at most", "at least", "never"
CLAIM = "claim"
Path = tuple[tuple[str, int, bool], ...]  # of each fork above: its part, its t, whether we are below it


@dataclass(frozen=True)
class Row:
    """
    A row of a program: lo <= the sum over all records of what each adds <= hi. A record adds the weights of the regions that
    hold it. A row without lo and hi is the claim, or the part of a fork.
    """

    name: str
    words: str
    parts: tuple[tuple[int, Region], ...]
    lo: int | None = None
    hi: int | None = None


@dataclass(frozen=True)
class Question:
    """
    What is to be shown of COUNT(where), the number of records that meet one of some conditions: that it is at most m, at
    least m, or never m. `never` without a condition: no dataset fits at all.
    """

    name: str
    words: tuple[str, ...]
    goal: str
    where: tuple[Predicate, ...]
    m: int
    proof: form.Node


@dataclass(frozen=True)
class Leaf:
    """A combination of rows (multipliers by key) and of the sides of the forks above, all over d."""

    empty: bool
    rows: Mapping[str, int]
    sides: tuple[int, ...]
    d: int


@dataclass(frozen=True)
class Fork:
    """At most `at` records lie in a part, or more."""

    part: str
    at: int
    below: "RowNode"
    above: "RowNode"


RowNode = Leaf | Fork


@dataclass(frozen=True)
class Program:
    """Published rows and parts of forks by key, the classes, what a record of each adds to each row, the derivation."""

    release: Release
    question: Question
    rows: Mapping[str, Row]
    parts: Mapping[str, Row]
    kinds: Sequence[Kind]
    added: Mapping[str, Sequence[int]]
    tree: RowNode

    @property
    def count(self) -> Sequence[int]:
        """1 for the classes that the claim counts."""
        return self.added[CLAIM]

    def excess(self, leaf: Leaf, path: Path) -> list[int]:
        """What a record of each class adds to the combination beyond what it must: d times the claim, or nothing."""
        terms = [*leaf.rows.items(), *((part, w) for w, (part, _, _) in zip(leaf.sides, path, strict=True))]
        found = [-self.sign(leaf) * leaf.d * counted for counted in self.count]
        for key, y in terms:
            if y:
                found = [value + y * coefficient for value, coefficient in zip(found, self.added[key], strict=True)]
        return found

    def sign(self, leaf: Leaf) -> int:
        """A leaf shows sign x COUNT <= total / d; 0 if it shows that there is no such dataset."""
        return 0 if leaf.empty else {AT_MOST: 1, AT_LEAST: -1, NEVER: 0}[self.question.goal]

    def total(self, leaf: Leaf, path: Path) -> int:
        """The most that the combination of a leaf can sum to over a dataset that fits."""
        found = 0
        for key, y in leaf.rows.items():
            side = self.rows[key].hi if y > 0 else self.rows[key].lo
            found += y * (side or 0)
        return found + sum(w * (at if below else at + 1) for w, (_, at, below) in zip(leaf.sides, path, strict=True))

    def shows(self, leaf: Leaf, path: Path) -> bool:
        """Whether a leaf shows what the goal asks for, or that its case cannot be."""
        total, sign = self.total(leaf, path), self.sign(leaf)
        return total < 0 if sign == 0 else total // leaf.d <= sign * self.question.m


def leaves(node: RowNode, path: Path = ()) -> Iterator[tuple[Leaf, Path]]:
    """Every leaf with the forks above it, outermost first."""
    if isinstance(node, Leaf):
        yield node, path
    else:
        yield from leaves(node.below, (*path, (node.part, node.at, True)))
        yield from leaves(node.above, (*path, (node.part, node.at, False)))


# What rules records out, as rows that a proof may add: zero cells, totals that their parts exhaust, structural rules.

CELL, RULE = "cell:", "rule:"


@dataclass(frozen=True)
class Exclusion:
    """Rows that add up to at most 0, although every record of the region adds 1 or more and no record less than 0."""

    region: Region
    rows: tuple[tuple[str, int], ...]


def cell_rows(release: Release, cells: Mapping[str, Cell]) -> dict[str, Row]:
    """The published cells, and the structural rules as cells that hold nobody."""
    labels, domain = {TOTAL: "all records", **{query.id: query.label for query in release.queries}}, release.schema.domain
    rows = {
        CELL + name: Row(name, _words(cell, labels[name]), _parts(cell, domain), cell.lo, cell.hi)
        for name, cell in cells.items()
    }
    for place, rule in enumerate(release.schema.rules):  # by place: two rules may have one name
        broken = ((1, Region.of(rule.when, rule.one_of)),)
        rows[f"{RULE}{place}"] = Row(RULE + rule.name, f"broken by nobody: {_rule_words(rule)}", broken, 0, 0)
    return rows


def _words(cell: Cell, label: str) -> str:
    return f"sum of {cell.sums}, {label}" if cell.sums else label


def _rule_words(rule: Rule) -> str:
    options = " or ".join(f"({option})" for option in rule.one_of) or "nothing"
    return f"if {rule.when} then {options}"


def _parts(cell: Cell, domain: Domain) -> tuple[tuple[int, Region], ...]:
    """What a record adds to a cell: 1 inside it, or its code in the summed column."""
    if cell.sums is None:
        return ((1, Region.of(cell.predicate)),)
    codes = [code for code in domain[cell.sums].codes if code > 0]
    inside = [(code, cell.predicate & Predicate.of({cell.sums: [code]})) for code in codes]
    return tuple((code, Region.of(p)) for code, p in inside if all(allowed for _, allowed in p.clauses))


class Exclusions:
    """All exclusions of a block, and which of them hold which records."""

    def __init__(self, release: Release, cells: Mapping[str, Cell], lemmas: Sequence[ExhaustedTotal]) -> None:
        domain = release.schema.domain
        found = [
            Exclusion(Region.of(cell.adding(domain)), ((CELL + name, 1),)) for name, cell in cells.items() if cell.hi == 0
        ]
        for lemma in lemmas:
            parts = [cells[name].predicate for name in lemma.cells]
            rows = ((CELL + lemma.universe, 1), *((CELL + name, -1) for name in lemma.cells))
            found.append(Exclusion(Region.of(cells[lemma.universe].predicate, parts), rows))
        for place, rule in enumerate(release.schema.rules):
            found.append(Exclusion(Region.of(rule.when, rule.one_of), ((f"{RULE}{place}", 1),)))
        self.all = found
        self.predicates = list(dict.fromkeys(p for one in found for p in one.region.predicates))
        at = {predicate: row for row, predicate in enumerate(self.predicates)}
        self.when = [at[one.region.any_of[0]] for one in found]
        self.unless = {row: [at[p] for p in one.region.unless] for row, one in enumerate(found) if one.region.unless}
        self.allowed = [self._allowed(column.name, max(column.codes)) for column in domain.columns]

    def _allowed(self, name: str, largest: int) -> Flags:
        """Whether each condition allows each code of a column."""
        flags = np.ones((len(self.predicates), largest + 1), dtype=bool)
        for row, predicate in enumerate(self.predicates):
            if name in predicate.where:
                flags[row] = False
                flags[row, [code for code in predicate.where[name] if code <= largest]] = True
        return flags

    def holding(self, records: Sequence[Record]) -> Flags:
        """Whether each exclusion (rows) holds each record."""
        codes = np.array(records, dtype=np.int64).reshape(len(records), len(self.allowed))
        met: Flags = np.ones((len(self.predicates), len(records)), dtype=bool)
        for column, allowed in enumerate(self.allowed):
            met &= allowed[:, codes[:, column]]
        held: Flags = met[self.when]
        for row, unless in self.unless.items():
            held[row] &= ~met[unless].any(axis=0)
        return held


# From a checked proof to a program over the whole domain.
#
# Our checker looks at live records only; here nothing is left out beforehand. Where a leaf is short on records that cannot
# exist, the rows that rule them out join its combination: a zero cell, or a total less the cells that exhaust it, M times,
# M the largest shortage there. Both add at most 0 to the total.

SAMPLES = 50  # records to look at where a leaf is short
Table = tuple[Kinds, dict[str, list[int]]]


class Exporter:
    """Makes the programs of one block; its proofs were checked before."""

    def __init__(self, release: Release, lemmas: Sequence[form.ExhaustedTotal]) -> None:
        self.release, self.domain = release, release.schema.domain
        self.cells = Cells(release)
        self.known = cell_rows(release, self.cells)
        self.exclusions = Exclusions(release, self.cells, lemmas)

    def program(self, question: Question) -> Program:
        """The program of a question: every row that its derivation names, every class, and multipliers that are enough."""
        parts: dict[str, Row] = {}
        tree = self._tree(question.proof, parts)
        claim = _claim(question)
        rows = {key: self.known[key] for leaf, _ in leaves(tree) for key in leaf.rows if key != CLAIM}
        rows |= {CLAIM: claim} if claim.lo is not None else {}
        bare = {**rows, **parts, CLAIM: claim}
        chosen = self._needed(Program(self.release, question, rows, parts, (), {}, tree), bare)
        rows |= {key: self.known[key] for one in chosen for key, _ in one.rows}
        kinds, added = tabulate(self.domain, {**rows, **parts, CLAIM: claim})
        program = Program(self.release, question, rows, parts, kinds.described(), added, tree)
        found = replace(program, tree=_raised(program, tree, chosen))
        for leaf, path in leaves(found.tree):
            if min(found.excess(leaf, path), default=0) < 0 or not found.shows(leaf, path):
                raise CertificateError(f"block {self.release.block}, {question.name}: the exported proof does not add up")
        return found

    def _tree(self, node: form.Node, parts: dict[str, Row]) -> RowNode:
        """The proof with the keys of rows; the parts of its forks are added to `parts`."""
        if isinstance(node, form.Leaf):
            rows = {CELL + name: y for name, y in node.y.items() if y} | ({CLAIM: node.c} if node.c else {})
            return Leaf(node.kind == form.EMPTY, rows, node.w, node.d)
        key = f"fork{len(parts) + 1}"
        parts[key] = self._part(key, node.part)
        return Fork(key, node.at, self._tree(node.below, parts), self._tree(node.above, parts))

    def _part(self, key: str, part: Predicate | Record) -> Row:
        if isinstance(part, Predicate):
            return Row(key, f"records with {part}", ((1, Region.of(part)),))
        region = self._alike(part)
        named = ", ".join(f"{name}={code}" for name, code in zip(self.domain.names, part, strict=True))
        return Row(key, f"records in the same published cells as {named}", ((1, region),) if region else ())

    def _alike(self, record: Record) -> Region | None:
        """The records that lie in the same published cells as one; None where that one cannot exist."""
        held = dict(zip(self.domain.names, record, strict=True))
        when, unless = EVERY, []
        for cell in self.cells.values():
            adding = cell.adding(self.domain)
            if not Region((adding,)).holds(held):
                unless.append(adding)
            elif cell.hi == 0:
                return None
            else:
                when = when & cell.predicate & Predicate.of({cell.sums: [held[cell.sums]]} if cell.sums else {})
        return Region.of(when, unless)

    def _needed(self, program: Program, rows: Mapping[str, Row]) -> list[Exclusion]:
        """Few exclusions that hold every record on which some leaf is short, each of them needed."""
        random = Random(derive_seed(0, "export", self.release.block, program.question.name))
        chosen: list[Exclusion] = []
        while True:
            regions = {f"exclusion{place}": Row("", "", ((1, one.region),)) for place, one in enumerate(chosen)}
            kinds, added = tabulate(self.domain, {**rows, **regions})
            wrong = _short(replace(program, added=added))
            held = [{place for place, key in enumerate(regions) if added[key][kind]} for kind in wrong]
            left = [kinds.inside[kind] for kind, by in zip(wrong, held, strict=True) if not by]
            if not left:
                return [chosen[place] for place in _cover(held)]
            chosen += self._more(program, [kinds.draw(random.choice(left), random) for _ in range(SAMPLES)])

    def _more(self, program: Program, records: Sequence[Record]) -> list[Exclusion]:
        """Exclusions that hold all of these records."""
        holding = self.exclusions.holding(records)
        held = [set(by.nonzero()[0].tolist()) for by in holding.T]
        for record, by in zip(records, held, strict=True):
            if not by:
                named = ", ".join(f"{name}={code}" for name, code in zip(self.domain.names, record, strict=True))
                where = f"block {self.release.block}, {program.question.name}"
                raise CertificateError(f"{where}: the proof is short on a record that is possible, {named}")
        return [self.exclusions.all[place] for place in _cover(held)]


def _claim(question: Question) -> Row:
    """The claim as a row; where a count is to be impossible, it is assumed to be m."""
    m = question.m if question.goal == NEVER and question.where else None
    parts = ((1, Region(question.where)),) if question.where else ()
    return Row(CLAIM, " or ".join(f"({where})" for where in question.where), parts, m, m)


def tabulate(domain: Domain, rows: Mapping[str, Row]) -> Table:
    """The classes that some rows tell apart, and what a record of each class adds to each row."""
    place: dict[Region, int] = {}
    for row in rows.values():
        for _, region in row.parts:
            place.setdefault(region, len(place))
    kinds, found = Kinds(domain, list(place)), {}
    for key, row in rows.items():
        parts = [(weight, place[region]) for weight, region in row.parts]
        found[key] = [sum(weight for weight, bit in parts if inside >> bit & 1) for inside in kinds.inside]
    return kinds, found


def _short(program: Program) -> list[int]:
    """The classes on which some leaf adds less than it must."""
    found: set[int] = set()
    for leaf, path in leaves(program.tree):
        found |= {kind for kind, value in enumerate(program.excess(leaf, path)) if value < 0}
    return sorted(found)


def _cover(held: Sequence[set[int]]) -> list[int]:
    """
    Few numbers that hit every set: the most frequent first, then less those that the others make needless.

    >>> _cover([{1, 2}, {2, 3}, {4}])
    [2, 4]
    """
    left, chosen = list(held), list[int]()
    while left:
        counts: dict[int, int] = {}
        for by in left:
            for place in by:
                counts[place] = counts.get(place, 0) + 1
        best = min(counts, key=lambda place: (-counts[place], place))
        chosen.append(best)
        left = [by for by in left if best not in by]
    for place in reversed(list(chosen)):
        others = set(chosen) - {place}
        if all(by & others for by in held):
            chosen.remove(place)
    return chosen


def _raised(program: Program, tree: RowNode, chosen: Sequence[Exclusion]) -> RowNode:
    """The derivation with the exclusions in it: each leaf takes as much of them as it is short."""
    made = iter([_with(program, leaf, program.excess(leaf, path), chosen) for leaf, path in leaves(tree)])
    return _replaced(tree, made)


def _replaced(node: RowNode, made: Iterator[Leaf]) -> RowNode:
    if isinstance(node, Leaf):
        return next(made)
    below = _replaced(node.below, made)
    return Fork(node.part, node.at, below, _replaced(node.above, made))


def _with(program: Program, leaf: Leaf, excess: Sequence[int], chosen: Sequence[Exclusion]) -> Leaf:
    rows, left = dict(leaf.rows), list(excess)
    for one in chosen:
        added = [sum(sign * program.added[key][kind] for key, sign in one.rows) for kind in range(len(left))]
        more = max((-value for value, inside in zip(left, added, strict=True) if inside and value < 0), default=0)
        if more:
            left = [value + more * inside for value, inside in zip(left, added, strict=True)]
            for key, sign in one.rows:
                rows[key] = rows.get(key, 0) + sign * more
    return Leaf(leaf.empty, {key: y for key, y in rows.items() if y}, leaf.sides, leaf.d)


# What a certificate shows, one question at a time: two for each proof of claims, one for all else.

Group = Sequence[Statement]
LISTED = 10  # claims of a group that are named in the head of a file
INDEX = "index.csv"


def claims_by_proof(certificate: Certificate) -> dict[tuple[int, int], list[Statement]]:
    """The claims by the number of their proof and their m: what is shown of one group is shown at once."""
    groups: dict[tuple[int, int], list[Statement]] = {}
    for claim in certificate.claims:
        assert claim.proof is not None
        groups.setdefault((claim.proof, claim.m), []).append(claim)
    return groups


def questions_of(domain: Domain, certificate: Certificate) -> Iterator[tuple[Question, Group]]:
    """Every question of a certificate, with the statements that its answer settles."""
    for number, (key, group) in enumerate(claims_by_proof(certificate).items()):
        for question in claim_questions(domain, group, f"claims_{number}_proof_{key[0]}"):
            yield question, group
    for number, said in enumerate(certificate.impossible):
        words = (f"Shown: never exactly {_records(said.m)} with", *conditions(domain, said.where))
        yield Question(f"impossible_{number}", words, NEVER, (said.where,), said.m, said.lower), [said]
    for number, said in enumerate(certificate.at_least):
        yield bound_question(domain, f"bound_{number}", said, AT_LEAST, said.lower), [said]
    if certificate.contradiction is not None:
        words = ("Shown: no dataset fits the published counts; they contradict each other",)
        yield Question("contradiction", words, NEVER, (), 0, certificate.contradiction), []


def claim_questions(domain: Domain, group: Group, name: str) -> list[Question]:
    """
    The two halves of claims with one proof: at least m records match all that the claims say, at most m match any of them.

    Each claim of the group counts no fewer records than the first and no more than the second: exactly m.
    """
    m, first = group[0].m, group[0]
    every, some = _all_of(group), shortest([claim.where for claim in group])
    lower = [f"Shown: at least {_records(m)} with", *conditions(domain, every)]
    upper = [f"Shown: at most {_records(m)} with", *conditions(domain, some[0])]
    for other in some[1:]:
        upper += ["  or", *conditions(domain, other)]
    if len(group) > 1:
        both = [
            f"By both halves, m = {m} of each of {len(group)} claims:",
            *(f"  {claim.where}" for claim in group[:LISTED]),
        ]
        both += [f"  and {len(group) - LISTED} more, listed in {INDEX}"] if len(group) > LISTED else []
        lower, upper = [*lower, *both], [*upper, *both]
    return [
        Question(f"{name}_at_least", tuple(lower), AT_LEAST, (every,), m, first.lower),
        Question(f"{name}_at_most", tuple(upper), AT_MOST, tuple(some), m, first.upper),
    ]


def bound_questions(
    release: Release, lemmas: Sequence[Mapping[str, object]], bounds: Sequence[ProvedBound]
) -> list[Question]:
    """Bounds of counts, such as the range of a cell that is not published, each on one side."""
    certificate, domain = read_bounds(release, lemmas, bounds), release.schema.domain
    sides = {"lower": AT_LEAST, "upper": AT_MOST}
    return [
        bound_question(domain, f"bound_{place}", said, sides[bound.side], said.lower)
        for place, (bound, said) in enumerate(zip(bounds, certificate.claims, strict=True))
    ]


def bound_question(domain: Domain, name: str, said: Statement, goal: str, proof: Node) -> Question:
    words = (f"Shown: {goal} {_records(said.m)} with", *conditions(domain, said.where))
    return Question(name, words, goal, (said.where,), said.m, proof)


def find_claim(certificate: Certificate, where: Predicate, m: int, block: str) -> Statement:
    """The claim with these conditions; an error if the certificate has no proof of it."""
    for claim in certificate.claims:
        if set(claim.where.clauses) == set(where.clauses) and claim.m == m:
            return claim
    raise DataError(
        f"block {block}: the claim {where}, m = {m} is not among its {len(certificate.claims)} claims with a proof. Ask "
        "`genverify explain` what is known of it"
    )


def _records(m: int) -> str:
    return f"{m} record" if m == 1 else f"{m} records"


def _all_of(group: Group) -> Predicate:
    found = group[0].where
    for claim in group[1:]:
        found = found & claim.where
    return found


def shortest(conditions: Sequence[Predicate]) -> list[Predicate]:
    """
    The conditions that no other one is part of: whoever meets one of all meets one of these.

    >>> one, two = Predicate.of({"A": [1], "B": [2]}), Predicate.of({"A": [1]})
    >>> [str(found) for found in shortest([one, two])]
    ['A=1']
    """
    least: list[Predicate] = []
    for one in sorted(dict.fromkeys(conditions), key=lambda one: (len(one.clauses), one.clauses)):
        if not any(set(other.clauses) <= set(one.clauses) for other in least):
            least.append(one)
    return least


def conditions(domain: Domain, where: Predicate) -> list[str]:
    """A condition in the words of the domain, one line for each column."""
    found = []
    for name, codes in where.clauses:
        column = domain[name]
        meanings = " or ".join(column.meaning.get(code, "no such code") for code in codes)
        found.append(f"  {column.label}: {meanings} ({name} = {'|'.join(map(str, codes))})")
    return found or ["  no condition: every record"]
