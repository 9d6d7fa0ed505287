"""
Checked proofs about records as programs that stand on their own: kinds of records over the whole domain are columns,
published cells and exclusions are rows.

Our checker looks at live records only; here nothing is left out beforehand. Where a leaf is short on records that cannot
exist, the rows that rule them out join its combination M times, M the largest shortage there: a zero cell or a rule, in
which nobody counts, or a total less the cells that exhaust it. Each adds at most 0 to the total.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from operator import and_
from random import Random
from typing import Any

import numpy as np

from genverify.checker import certificate as form
from genverify.checker.certificate import EMPTY, CertificateError, Fork, Leaf, Node
from genverify.checker.record_proofs import AreaChecker, Cell, Cells
from genverify.export import cell_programs as programs
from genverify.export.cell_programs import CLAIM, MOST, SIGN, Path, Program, Question, Row, Step, TooLarge, leaves
from genverify.model.areas import BLOCK, AreaReleases, seen_from, together
from genverify.model.arrays import Flags, Ints
from genverify.model.domain import EVERY, Column, Domain, Exclusions, Predicate, Rule
from genverify.model.linear import OPEN
from genverify.model.proof_form import AT_LEAST, AT_MOST, EXACTLY, NEVER, NOTHING
from genverify.model.release import TOTAL, Release
from genverify.model.work import derive_seed

# Kinds of records over the whole domain: records that the rows of a program do not tell apart form one kind.
#
# Every record of the domain lies in exactly one kind, also those that a zero cell or a rule excludes. Of the zero cells and
# rules that exclude a record, one is enough: it counts in the row of that one only, so that kinds stay few.

Bits = int
Record = tuple[int, ...]
Edge = tuple[Bits, tuple[int, ...]]  # the state before a column, and the codes of the column that lead on


@dataclass(frozen=True)
class Region:
    """The records that meet one of some conditions, and none of some others."""

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


class Kinds:
    """
    The kinds of the whole domain, by the regions that hold a record (bits) and what excludes it (none: -1).

    They are found column after column; a state has one bit per condition that is still allowed, or the one bit of its
    exclusion. `states` has those of each kind.
    """

    def __init__(self, domain: Domain, regions: Sequence[Region], exclusions: Sequence[Region] = ()) -> None:
        part = list(dict.fromkeys(p for region in regions for p in region.predicates))
        self.bit = {predicate: index for index, predicate in enumerate(part)}
        self.regions = (1 << len(part)) - 1
        # every exclusion has bits of its own: of its conditions, and one that says that it is known to hold
        self.place, self.predicates = list(range(len(part))), part
        tests, won = list[tuple[int, Bits, Bits, Bits]](), dict[Bits, int]()
        position = {name: index for index, name in enumerate(domain.names)}
        for number, region in enumerate(exclusions):
            first = len(self.predicates) + len(won)
            bits = [1 << first + index for index in range(len(region.predicates) + 1)]
            known = max((position[name] for p in region.predicates for name in p.columns), default=0)
            tests.append((known, bits[0], sum(bits[1:-1]), bits[-1]))
            won[bits[-1]] = number
            self.place = [*self.place, *range(first, first + len(region.predicates))]
            self.predicates = [*self.predicates, *region.predicates]
        self.won, self.sizes = won, {sum(1 << index for index in self.place): 1}
        self.layers: list[dict[Bits, list[Edge]]] = []
        for number, column in enumerate(domain.columns):
            self._add(self._atoms(column), [test for test in tests if test[0] == number])
        masks = [(self._mask(region.any_of), self._mask(region.unless)) for region in regions]
        self.states: dict[tuple[Bits, int], list[Bits]] = {}
        for state in self.sizes:
            inside = sum(1 << index for index, (some, none) in enumerate(masks) if state & some and not state & none)
            self.states.setdefault((inside, won.get(state & ~self.regions, -1)), []).append(state)
        if len(self.states) > MOST:
            raise TooLarge(_too_many(len(self.states)))
        self.keys = list(self.states)

    def words(self) -> Iterator[str]:
        """The codes of one record of each kind, and how many different ones there are."""
        for states in self.states.values():
            yield f"{' '.join(map(str, self._record(states[0], None)))} ({sum(self.sizes[state] for state in states)})"

    def draw(self, key: tuple[Bits, int], random: Random) -> Record:
        """A record of a kind, at random."""
        return self._record(random.choice(self.states[key]), random)

    def _mask(self, predicates: Iterable[Predicate]) -> Bits:
        return sum(1 << index for index in {self.bit[p] for p in predicates})

    def _atoms(self, column: Column) -> list[tuple[Bits, tuple[int, ...]]]:
        listed = list(zip(self.place, self.predicates, strict=True))
        free = sum(self.won) + sum(1 << index for index, p in listed if column.name not in p.where)
        named = [(index, set(p.where[column.name])) for index, p in listed if column.name in p.where]
        atoms: dict[Bits, list[int]] = {}
        for code in column.codes:
            atoms.setdefault(free | sum(1 << index for index, codes in named if code in codes), []).append(code)
        return [(mask, tuple(codes)) for mask, codes in atoms.items()]

    def _add(self, atoms: Sequence[tuple[Bits, tuple[int, ...]]], tests: Sequence[tuple[int, Bits, Bits, Bits]]) -> None:
        sizes: dict[Bits, int] = {}
        layer: dict[Bits, list[Edge]] = {}
        for state, size in self.sizes.items():
            for mask, codes in atoms:
                after = self._settled(state & mask, tests)
                sizes[after] = sizes.get(after, 0) + size * len(codes)
                layer.setdefault(after, []).append((state, codes))
        if len(sizes) > 10 * MOST:
            raise TooLarge(_too_many(len(sizes)))
        self.sizes = sizes
        self.layers.append(layer)

    def _settled(self, state: Bits, tests: Sequence[tuple[int, Bits, Bits, Bits]]) -> Bits:
        """The state once the exclusions that are known from here on are looked at: the first one that holds stands alone."""
        for _, when, unless, won in tests:
            if state & when and not state & unless:
                return state & self.regions | won
            state &= ~(when | unless)
        return state

    def _record(self, state: Bits, random: Random | None) -> Record:
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


# Programs of proofs about a release.

SAMPLES = 50  # records to look at where a leaf is short
Parts = tuple[tuple[int, Region], ...]  # a record adds the weights of the regions that hold it


@dataclass(frozen=True)
class _RecordRow:
    """A row as a sum over records: what a record adds, and the ends that are published."""

    name: str
    words: str
    parts: Parts
    lo: int | None = None
    hi: int | None = None


@dataclass(frozen=True)
class Asked:
    """A question about the records that meet one of some conditions, and its proof."""

    question: Question
    where: tuple[Predicate, ...]
    proof: Node


@dataclass(frozen=True)
class _Exclusion:
    """
    Rows that add up to at most 0, though every record of the region adds 1 or more, no record less than 0; or one row by
    itself, in which only those count whom no other such row of a program holds.
    """

    region: Region
    rows: tuple[tuple[str, int], ...] = ()
    row: _RecordRow | None = None


def _exclusions_of(release: Release, cells: Mapping[str, Cell], lemmas: Sequence[form.ExhaustedTotal]) -> list[_Exclusion]:
    """What rules records out: zero cells, totals that their parts exhaust, structural rules."""
    domain, labels = release.schema.domain, _labels(release)
    matches = []
    for name, cell in ((name, cell) for name, cell in cells.items() if cell.hi == 0):
        words = f"{_words(cell, labels[name])}, of these those in no zero cell above"
        matches.append(_Exclusion(Region.of(cell.adding(domain)), row=_RecordRow(name, words, (), 0, 0)))
    for lemma in lemmas:
        parts = [cells[name].predicate for name in lemma.cells]
        rows = ((lemma.universe, 1), *((name, -1) for name in lemma.cells))
        matches.append(_Exclusion(Region.of(cells[lemma.universe].predicate, parts), rows))
    for rule in release.schema.rules:
        options = " or ".join(f"({option})" for option in rule.one_of) or "nothing"
        row = _RecordRow(f"rule:{rule.name}", f"broken by nobody: if {rule.when} then {options}", (), 0, 0)
        matches.append(_Exclusion(Region.of(rule.when, rule.one_of), row=row))
    return matches


def _labels(release: Release) -> dict[str, str]:
    return {TOTAL: "all records", **{query.id: query.label for query in release.queries}}


def _words(cell: Cell, label: str) -> str:
    return f"sum of {cell.sums}, {label}" if cell.sums else label


def _cell_parts(cell: Cell, domain: Domain) -> Parts:
    """What a record adds to a cell: 1 inside it, or its code in the summed column."""
    if cell.sums is None:
        return ((1, Region.of(cell.predicate)),)
    codes = [code for code in domain[cell.sums].codes if code > 0]
    inside = [(code, cell.predicate & Predicate.of({cell.sums: [code]})) for code in codes]
    return tuple((code, Region.of(p)) for code, p in inside if all(allowed for _, allowed in p.clauses))


@dataclass
class _Draft:
    """A program that is being made: its rows by name, parts of forks, exclusions, and what a record of each kind adds."""

    asked: Asked
    rows: dict[str, _RecordRow]
    parts: dict[str, _RecordRow]
    nobody: list[int]
    chosen: list[_Exclusion] = field(default_factory=list)

    def tabulate(self, domain: Domain, needed: Mapping[str, _RecordRow]) -> None:
        """The kinds that the rows tell apart, and what a record of each adds to each row."""
        rows = {**self.rows, **{name: needed[name] for one in self.chosen for name, _ in one.rows}, **self.parts}
        rows[CLAIM] = _RecordRow(CLAIM, "", ((1, Region(self.asked.where)),) if self.asked.where else ())
        index: dict[Region, int] = {}
        for _, region in (part for row in rows.values() for part in row.parts):
            index.setdefault(region, len(index))
        self.zero = [one for one in self.chosen if one.row]
        self.kinds = Kinds(domain, list(index), [one.region for one in self.zero])
        inside = [key[0] for key in self.kinds.keys]
        held = {bit: np.array([state >> bit & 1 for state in inside], dtype=np.int64) for bit in index.values()}
        nothing = np.zeros(len(inside), dtype=np.int64)
        self.added = {name: sum((w * held[index[r]] for w, r in row.parts), nothing) for name, row in rows.items()}
        self.excluded = np.array([key[1] for key in self.kinds.keys], dtype=np.int64)

    def sum(self, terms: Iterable[tuple[str, int]]) -> Ints:
        """What a record of each kind adds to a sum of rows."""
        return sum((times * self.added[name] for name, times in terms), 0 * self.excluded)


class Exporter:
    """The programs of checked proofs about a release; `nobody` are proofs of their own that rule records out by a sum."""

    def __init__(self, release: Release, lemmas: Sequence[form.ExhaustedTotal], nobody: Sequence[Leaf] = ()) -> None:
        self.release, self.domain, self.nobody = release, release.schema.domain, nobody
        self.cells, self.title = Cells(release), f"Block {release.block}, {release.n} records; release {release.digest}"
        self.here, self.own, self.own_cells = EVERY, release, self.cells
        labels = _labels(release)
        self.known = {
            name: _RecordRow(name, _words(cell, labels[name]), _cell_parts(cell, self.domain), cell.lo, cell.hi)
            for name, cell in self.cells.items()
        }
        self.excluding = _exclusions_of(release, self.cells, lemmas)
        rules = [Rule("", one.region.any_of[0], one.region.unless) for one in self.excluding]
        self.exclusions = Exclusions(self.domain, rules)

    def program(self, asked: Asked) -> Program:
        """The program of a question: every row that its derivation names, every kind, and multipliers that are enough."""
        parts: dict[str, _RecordRow] = {}
        trees, draft = [self._tree(asked.proof, parts)], _Draft(asked, {}, parts, [])
        self._search(draft, trees)
        return self._finished(draft, trees)

    def _tree(self, node: Node, parts: dict[str, _RecordRow]) -> Node:
        """The proof with the names of rows; the parts of its forks are added to `parts`."""
        if isinstance(node, Leaf):
            return replace(node, y={name: y for name, y in node.y.items() if y} | ({CLAIM: node.c} if node.c else {}))
        key = f"fork{len(parts) + 1}"
        parts[key] = self._part(key, node.part)
        below, above = (self._tree(side, parts) for side in (node.below, node.above))
        return replace(node, part=key, below=below, above=above)

    def _part(self, key: str, part: Predicate | Record | str) -> _RecordRow:
        """The part of a fork: `own` is the release that the proof is about, whose records lie `here` among all."""
        if isinstance(part, Predicate):
            return _RecordRow(key, f"records with {part & self.here}", ((1, Region.of(part & self.here)),))
        assert not isinstance(part, str)
        domain = self.own.schema.domain
        region = alike(self.own_cells, domain, part, self.here)
        words = f"records in the same published cells as {_named(domain, part)}"
        return _RecordRow(key, words, ((1, region),) if region else ())

    def _search(self, draft: _Draft, trees: list[Node]) -> None:
        """Add exclusions, few at a time, until every record on which some leaf is short is excluded; `trees` may grow."""
        random = Random(derive_seed(0, "export", self.release.block, draft.asked.question.name))
        while True:
            names = {name for tree in trees for leaf, _ in leaves(tree) for name in leaf.y if name != CLAIM}
            draft.rows = {name: self.known[name] for name in self.known if name in names}
            draft.tabulate(self.domain, self.known)
            lemmas = [one for one in draft.chosen if not one.row]
            covered = (draft.excluded >= 0) | (draft.sum(term for one in lemmas for term in one.rows) > 0)
            short = [self._short(draft, tree, number) for number, tree in enumerate(trees)]
            main = short[0] & ~covered
            for number in draft.nobody:
                main &= draft.sum(self.nobody[number].y.items()) < self.nobody[number].d
            left = np.flatnonzero(main | (np.array(short[1:], dtype=bool).reshape(-1, len(main)).any(axis=0) & ~covered))
            if not len(left):
                used = set(draft.excluded[np.array(short, dtype=bool).any(axis=0)].tolist())
                spared = [one for number, one in enumerate(draft.zero) if number in used]
                if len(spared) < len(draft.zero):
                    draft.chosen = [*lemmas, *spared]
                    draft.tabulate(self.domain, self.known)
                return
            indices = [draft.kinds.keys[random.choice(left.tolist())] for _ in range(SAMPLES)]
            self._more(draft, trees, [draft.kinds.draw(key, random) for key in indices])

    def _more(self, draft: _Draft, trees: list[Node], records: Sequence[Record]) -> None:
        """Exclusions that hold all of these records, or proofs that nobody is like them."""
        flags = self.exclusions.of(np.array(records, dtype=np.int64))
        held, added = [set(by.nonzero()[0].tolist()) for by in flags.T], list[int]()
        for record, by in zip(records, held, strict=True):
            worth = [number for number, leaf in enumerate(self.nobody) if self._worth(leaf, record)]
            if by or set(worth) & set(added):
                continue
            number = next((one for one in worth if one not in draft.nobody), -1)
            if number < 0:
                where, named = f"block {self.release.block}, {draft.asked.question.name}", _named(self.domain, record)
                raise CertificateError(f"{where}: the proof is short on a record that is possible, {named}")
            added.append(number)
            draft.nobody.append(number)
            trees.append(self.nobody[number])
        draft.chosen += [self.excluding[index] for index in cover([by for by in held if by])]

    def _worth(self, leaf: Leaf, record: Record) -> bool:
        held = dict(zip(self.domain.names, record, strict=True))
        return sum(y * w for name, y in leaf.y.items() for w, r in self.known[name].parts if r.holds(held)) >= leaf.d

    def _excess(self, draft: _Draft, leaf: Leaf, path: Path, number: int) -> Ints:
        """What a record of each kind adds to a leaf beyond what it must; `number` 0 is the proof itself, else of nobody."""
        result = draft.sum([*leaf.y.items(), *((part, w) for w, (part, _, _) in zip(leaf.w, path, strict=True))])
        if number:
            return result - leaf.d * (draft.sum(self.nobody[draft.nobody[number - 1]].y.items()) >= leaf.d)
        return result if leaf.kind == EMPTY else result - SIGN[draft.asked.question.goal] * leaf.d * draft.added[CLAIM]

    def _short(self, draft: _Draft, tree: Node, number: int) -> Flags:
        """The kinds on which some leaf adds less than it must."""
        result: Flags = np.zeros(len(draft.excluded), dtype=bool)
        for leaf, path in leaves(tree):
            result |= self._excess(draft, leaf, path, number) < 0
        return result

    def _finished(self, draft: _Draft, trees: Sequence[Node]) -> Program:
        asked, columns = draft.asked, list(draft.kinds.words())
        needed = {name: self.known[name] for name in self.known if name in draft.added}
        listed: list[tuple[_RecordRow, Ints]] = [(row, draft.added[name]) for name, row in needed.items()]
        if asked.where and asked.question.goal == NEVER:
            m = asked.question.m
            words = " or ".join(f"({where})" for where in asked.where)
            listed.append((_RecordRow(CLAIM, words, (), m, m), draft.added[CLAIM]))
        zero = [(one.row, (draft.excluded == number).astype(np.int64)) for number, one in enumerate(draft.zero) if one.row]
        listed += zero
        names = programs.unique(row.name for row, _ in listed)
        rows = {
            name: Row(name, row.words, _sparse(added), row.lo, row.hi)
            for name, (row, added) in zip(names, listed, strict=True)
        }
        plain = dict(zip([*needed, *([CLAIM] if len(listed) > len(needed) + len(zero) else [])], names, strict=False))
        helpers = [(added, {names[len(listed) - len(zero) + index]: 1}) for index, (_, added) in enumerate(zero)]
        for one in (one for one in draft.chosen if not one.row):
            helpers.append((draft.sum(one.rows), {plain[name]: sign for name, sign in one.rows}))
        steps = []
        for index, number in enumerate(draft.nobody):
            leaf = trees[1 + index]
            assert isinstance(leaf, Leaf)
            inside = (draft.sum(self.nobody[number].y.items()) >= leaf.d).astype(np.int64)
            nobody = Row(f"nobody{number}", "records that a sum of cells rules out", _sparse(inside), hi=0)
            excess = self._excess(draft, leaf, (), 1 + index)
            steps.append(Step(nobody, _raised(leaf, excess, helpers[: len(draft.chosen)], plain)))
            helpers.append((inside, {nobody.name: 1}))
        made = iter([_raised(leaf, self._excess(draft, leaf, path, 0), helpers, plain) for leaf, path in leaves(trees[0])])
        tree, count = programs.mapped(trees[0], lambda _: next(made)), _sparse(draft.added[CLAIM]) if asked.where else {}
        parts = {key: Row(key, row.words, _sparse(draft.added[key])) for key, row in draft.parts.items()}
        head = "Kinds of records over the whole domain: z<k> counts the records of kind k, alike in every row; one record "
        head += f"of each, as codes of {' '.join(self.domain.names)}, and how many different ones there are"
        counts, ends = tuple(f"z{index}" for index in range(len(columns))), [(0, OPEN)] * len(columns)
        result = Program(self.title, counts, ends, rows, (head, *columns), asked.question, count, parts, tuple(steps), tree,
                         self.release.n)  # fmt: skip
        if not result.adds_up():
            raise CertificateError(f"block {self.release.block}, {asked.question.name}: the exported proof does not add up")
        return result


def alike(cells: Mapping[str, Cell], domain: Domain, record: Record, here: Predicate = EVERY) -> Region | None:
    """The records that lie in the same published cells as one; None where that one cannot exist."""
    held = dict(zip(domain.names, record, strict=True))
    when, unless = here, []
    for cell in cells.values():
        adding = cell.adding(domain)
        if not Region((adding,)).holds(held):
            unless.append(adding)
        elif cell.hi == 0:
            return None
        else:
            when = when & cell.predicate & Predicate.of({cell.sums: [held[cell.sums]]} if cell.sums else {})
    return Region.of(when, unless)


def _named(domain: Domain, record: Record) -> str:
    return ", ".join(f"{name}={code}" for name, code in zip(domain.names, record, strict=True))


def _sparse(values: Ints) -> dict[int, int]:
    return {int(index): int(values[index]) for index in np.flatnonzero(values)}


def cover(held: Sequence[set[int]]) -> list[int]:
    """
    Few numbers that hit every set: the most frequent first, then less those that the others make needless.

    >>> cover([{1, 2}, {2, 3}, {4}])
    [2, 4]
    """
    left, chosen = list(held), list[int]()
    while left:
        counts = Counter(index for by in left for index in by)
        best = min(counts, key=lambda index: (-counts[index], index))
        chosen.append(best)
        left = [by for by in left if best not in by]
    for index in reversed(list(chosen)):
        others = set(chosen) - {index}
        if all(by & others for by in held):
            chosen.remove(index)
    return chosen


def _raised(leaf: Leaf, excess: Ints, helpers: Sequence[tuple[Ints, Mapping[str, int]]], plain: Mapping[str, str]) -> Leaf:
    rows, left = {plain[name]: y for name, y in leaf.y.items()}, excess
    for added, names in helpers:
        more = int((-left[(added > 0) & (left < 0)]).max(initial=0))
        if more:
            left = left + more * added
            for name, sign in names.items():
                rows[name] = rows.get(name, 0) + sign * more
    return replace(leaf, y={name: y for name, y in rows.items() if y})


# What a certificate shows, one question at a time: two for each proof of claims, one for all else.

Group = Sequence[form.Statement]
LISTED = 10  # claims of a group that are named in the head of a file
INDEX = "index.csv"


def questions_of(domain: Domain, certificate: form.Certificate) -> Iterator[tuple[list[Asked], Group]]:
    """The questions of a certificate: the two halves of claims with one proof, or one by itself; the statements settled."""
    groups: dict[tuple[int | None, int], list[form.Statement]] = {}
    for claim in certificate.claims:
        groups.setdefault((claim.proof, claim.m), []).append(claim)
    for number, ((proof, _), group) in enumerate(groups.items()):
        yield claim_questions(domain, group, f"claims_{number}_proof_{proof}"), group
    for name, goals in (("impossible", {NEVER: "never exactly"}), ("bound", {AT_LEAST: AT_LEAST, AT_MOST: AT_MOST})):
        stated = [(goal, said) for goal in goals for said in certificate.statements[goal]]
        for number, (goal, said) in enumerate(stated):
            words = (f"Shown: {goals[goal]} {_records(said.m)} with", *conditions(domain, said.where))
            yield [Asked(Question(f"{name}_{number}", words, goal, said.m), (said.where,), said.lower)], [said]
    for said in certificate.statements[NOTHING]:
        words = ("Shown: no dataset fits the published counts; they contradict each other",)
        yield [Asked(Question("contradiction", words, NEVER, 0), (), said.lower)], []


def claim_questions(domain: Domain, group: Group, name: str) -> list[Asked]:
    """The halves of claims with one proof: at least m records match all of the claims, and at most m any of them."""
    m, first = group[0].m, group[0]
    every, some = reduce(and_, (claim.where for claim in group)), shortest([claim.where for claim in group])
    lower = [f"Shown: at least {_records(m)} with", *conditions(domain, every)]
    upper = [f"Shown: at most {_records(m)} with", *conditions(domain, some[0])]
    for other in some[1:]:
        upper += ["  or", *conditions(domain, other)]
    if len(group) > 1:
        both = [f"By both halves, m = {m} of each of {len(group)} claims:"]
        both += [f"  {claim.where}" for claim in group[:LISTED]]
        both += [f"  and {len(group) - LISTED} more, listed in {INDEX}"] if len(group) > LISTED else []
        lower, upper = [*lower, *both], [*upper, *both]
    return [
        Asked(Question(f"{name}_at_least", tuple(lower), AT_LEAST, m), (every,), first.lower),
        Asked(Question(f"{name}_at_most", tuple(upper), AT_MOST, m), tuple(some), first.upper),
    ]


def _records(m: int) -> str:
    return f"{m} record" if m == 1 else f"{m} records"


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
    result = []
    for name, codes in where.clauses:
        column = domain[name]
        meanings = " or ".join(column.meaning.get(code, "no such code") for code in codes)
        result.append(f"  {column.label}: {meanings} ({name} = {'|'.join(map(str, codes))})")
    return result or ["  no condition: every record"]


# Proofs about blocks and the areas that they make up: one program about the records of all blocks, whose first column is the
# block, with the cells of every block and area, those that count nobody among them.
#
# A certificate about a block alone speaks of the block's own cells, and of what its areas leave to it: at most an area's
# count lies in the block. The program has the cell of the area instead; its multiplier is never below 0, so that the
# records of other blocks only add to the sum. What rules records out for all blocks at once (`nobody`) is a step of its own.


class AreaExporter(Exporter):
    """Makes the programs of a certificate of areas, all of which is checked first."""

    def __init__(self, levels: AreaReleases, certificate: Mapping[str, Any]) -> None:
        self.levels, self.certificate = levels, certificate
        self.checker = AreaChecker(levels, certificate)
        list(self.checker.statements(certificate["statements"]))
        nobody = [said.upper for said in form.read_nobody(self.checker.release, certificate["nobody"])]
        leaves_alone = [node for node in nobody if isinstance(node, Leaf)]
        if len(leaves_alone) < len(nobody):
            raise TooLarge("what rules records out for all blocks at once is shown by cases, which is not exported")
        lemmas = [lemma for number in range(len(levels.blocks)) for lemma in self._lemmas(number)]
        super().__init__(together(levels, zeros=True), lemmas, leaves_alone)
        self.title = f"Areas {self.release.block}, {self.release.n} records; release {self.checker.release.digest}"

    def questions(self) -> Iterator[tuple[str, list[Asked], Group]]:
        """The same of every block, with its name."""
        for said in self.certificate["statements"]:
            number = self.checker.number_of[said["block"]]
            views = {"alone": (seen_from(self.levels, number), Predicate.of({BLOCK: [number + 1]})),
                     "together": (self.checker.release, EVERY)}  # fmt: skip
            for name, (self.own, self.here) in views.items():
                if said[name]:
                    self.own_cells = Cells(self.own)
                    certificate = self._placed(form.read_certificate(self.own, said[name]), number)
                    for asked, group in questions_of(self.domain, certificate):
                        halves = [replace(one, question=one.question.called(f"{name}_")) for one in asked]
                        yield said["block"], halves, group

    def _lemmas(self, number: int) -> Iterator[form.ExhaustedTotal]:
        """The exhausted totals of a block; an area's cell, which may hold nobody of the block, is left out of the parts."""
        release = seen_from(self.levels, number)
        for lemma in form.read_lemmas(release, self.certificate["lemmas"].get(release.block, [])):
            parts = [self._cell(number, name) for name in lemma.cells if not self._of_area(number, name)]
            yield form.ExhaustedTotal(self._cell(number, lemma.universe), tuple(parts))

    def _of_area(self, number: int, name: str) -> bool:
        return any(name.startswith(f"{area.release.block}/") for area in self.levels.areas_of[number])

    def _cell(self, number: int, name: str) -> str:
        return name if self._of_area(number, name) else f"{self.levels.blocks[number].block}/{name}"

    def _placed(self, certificate: form.Certificate, number: int) -> form.Certificate:
        if self.own is self.checker.release:
            return certificate
        node = partial(self._node, number, {})
        claims = [replace(one, where=one.where & self.here, lower=node(one.lower), upper=node(one.upper))
                  for one in certificate.claims]  # fmt: skip
        return replace(certificate, statements={**certificate.statements, EXACTLY: tuple(claims)})

    def _node(self, number: int, known: dict[int, Node], node: Node) -> Node:
        """A node by the names of all blocks; claims that share a proof still share it."""
        if id(node) not in known and isinstance(node, Fork):
            below, above = (self._node(number, known, side) for side in (node.below, node.above))
            known[id(node)] = replace(node, below=below, above=above)
        elif id(node) not in known and isinstance(node, Leaf):
            rows = {name: y for name, y in node.y.items() if y > 0 or not self._of_area(number, name)}
            known[id(node)] = replace(node, y={self._cell(number, name): y for name, y in rows.items()})
        return known[id(node)]
