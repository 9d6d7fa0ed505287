"""
Checked proofs about records as programs that stand on their own: kinds of records over the whole domain are columns,
published cells and exclusions are rows.

Our checker looks at live records only; here nothing is left out beforehand. Where a leaf is short on records that cannot
exist, the rows that rule them out join its combination M times, M the largest shortage there: a zero cell or a rule, in
which nobody counts, or a total less the cells that exhaust it. Each adds at most 0 to the total.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

import numpy as np

from genverify.checker import certificate as form
from genverify.checker.admitted import Cell, Cells
from genverify.checker.certificate import CertificateError
from genverify.export.derivation import (
    AT_LEAST,
    AT_MOST,
    CLAIM,
    NEVER,
    SIGN,
    Fork,
    Leaf,
    Path,
    Program,
    Question,
    Row,
    RowNode,
    Step,
    leaves,
    system_of,
    unique,
)
from genverify.export.kinds import Kinds, Record, Region
from genverify.model.arrays import Flags, Ints
from genverify.model.domain import EVERY, Domain, Predicate, Rule
from genverify.model.linear import OPEN
from genverify.model.release import TOTAL, Release
from genverify.model.work import derive_seed

SAMPLES = 50  # records to look at where a leaf is short
Parts = tuple[tuple[int, Region], ...]  # a record adds the weights of the regions that hold it


@dataclass(frozen=True)
class RecordRow:
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
    proof: form.Node


@dataclass(frozen=True)
class Exclusion:
    """Rows that add up to at most 0, though every record of the region adds 1 or more, no record less than 0; or one row."""

    region: Region
    rows: tuple[tuple[str, int], ...] = ()
    row: RecordRow | None = None


def zero_row(name: str, words: str, region: Region) -> Exclusion:
    """Nobody lies in a region: a row by itself, in which only those count whom no other such row of a program holds."""
    return Exclusion(region, row=RecordRow(name, words, (), 0, 0))


def exclusions_of(release: Release, cells: Mapping[str, Cell], lemmas: Sequence[form.ExhaustedTotal]) -> list[Exclusion]:
    """What rules records out: zero cells, totals that their parts exhaust, structural rules."""
    domain, labels = release.schema.domain, _labels(release)
    found = [
        zero_row(name, f"{_words(cell, labels[name])}, of these those in no zero cell above", Region.of(cell.adding(domain)))
        for name, cell in cells.items()
        if cell.hi == 0
    ]
    for lemma in lemmas:
        parts = [cells[name].predicate for name in lemma.cells]
        rows = ((lemma.universe, 1), *((name, -1) for name in lemma.cells))
        found.append(Exclusion(Region.of(cells[lemma.universe].predicate, parts), rows))
    return found + [zero_row(f"rule:{r.name}", _rule_words(r), Region.of(r.when, r.one_of)) for r in release.schema.rules]


def _labels(release: Release) -> dict[str, str]:
    return {TOTAL: "all records", **{query.id: query.label for query in release.queries}}


def _words(cell: Cell, label: str) -> str:
    return f"sum of {cell.sums}, {label}" if cell.sums else label


def _rule_words(rule: Rule) -> str:
    options = " or ".join(f"({option})" for option in rule.one_of) or "nothing"
    return f"broken by nobody: if {rule.when} then {options}"


def _cell_parts(cell: Cell, domain: Domain) -> Parts:
    """What a record adds to a cell: 1 inside it, or its code in the summed column."""
    if cell.sums is None:
        return ((1, Region.of(cell.predicate)),)
    codes = [code for code in domain[cell.sums].codes if code > 0]
    inside = [(code, cell.predicate & Predicate.of({cell.sums: [code]})) for code in codes]
    return tuple((code, Region.of(p)) for code, p in inside if all(allowed for _, allowed in p.clauses))


class Exclusions:
    """All exclusions of a release, and which of them hold which records."""

    def __init__(self, domain: Domain, found: Sequence[Exclusion]) -> None:
        self.all = list(found)
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

    def holding(self, records: Sequence[Record]) -> list[set[int]]:
        """The exclusions that hold each record."""
        codes = np.array(records, dtype=np.int64).reshape(len(records), len(self.allowed))
        met: Flags = np.ones((len(self.predicates), len(records)), dtype=bool)
        for column, allowed in enumerate(self.allowed):
            met &= allowed[:, codes[:, column]]
        held: Flags = met[self.when]
        for row, unless in self.unless.items():
            held[row] &= ~met[unless].any(axis=0)
        return [set(by.nonzero()[0].tolist()) for by in held.T]


@dataclass
class _Draft:
    """A program that is being made: its rows by name, parts of forks, exclusions, and what a record of each kind adds."""

    asked: Asked
    rows: dict[str, RecordRow]
    parts: dict[str, RecordRow]
    nobody: list[int]
    chosen: list[Exclusion] = field(default_factory=list)

    def tabulate(self, domain: Domain, needed: Mapping[str, RecordRow]) -> None:
        """The kinds that the rows tell apart, and what a record of each adds to each row."""
        rows = {**self.rows, **{name: needed[name] for one in self.chosen for name, _ in one.rows}, **self.parts}
        rows[CLAIM] = RecordRow(CLAIM, "", ((1, Region(self.asked.where)),) if self.asked.where else ())
        place: dict[Region, int] = {}
        for _, region in (part for row in rows.values() for part in row.parts):
            place.setdefault(region, len(place))
        self.zero = [one for one in self.chosen if one.row]
        self.kinds = Kinds(domain, list(place), [one.region for one in self.zero])
        inside = [key[0] for key in self.kinds.keys]
        held = {bit: np.array([state >> bit & 1 for state in inside], dtype=np.int64) for bit in place.values()}
        nothing = np.zeros(len(inside), dtype=np.int64)
        self.added = {name: sum((w * held[place[r]] for w, r in row.parts), nothing) for name, row in rows.items()}
        self.excluded = np.array([key[1] for key in self.kinds.keys], dtype=np.int64)


class Exporter:
    """
    Makes the programs of proofs about a release, which were checked before. `nobody` are proofs that rule records out by a
    sum that is rounded: a step of its own, where a program needs it.
    """

    def __init__(
        self, release: Release, lemmas: Sequence[form.ExhaustedTotal], others: Sequence[Exclusion] = (),
        nobody: Sequence[form.Leaf] = (),
    ) -> None:  # fmt: skip
        self.release, self.domain, self.nobody = release, release.schema.domain, nobody
        self.cells, self.title = Cells(release), f"Block {release.block}, {release.n} records; release {release.digest}"
        labels = _labels(release)
        self.known = {
            name: RecordRow(name, _words(cell, labels[name]), _cell_parts(cell, self.domain), cell.lo, cell.hi)
            for name, cell in self.cells.items()
        }
        self.exclusions = Exclusions(self.domain, [*exclusions_of(release, self.cells, lemmas), *others])

    def program(self, asked: Asked) -> Program:
        """The program of a question: every row that its derivation names, every kind, and multipliers that are enough."""
        parts: dict[str, RecordRow] = {}
        tree = self._tree(asked.proof, parts)
        draft = _Draft(asked, {}, parts, [])
        trees = [tree]
        self._search(draft, trees)
        return self._finished(draft, trees)

    def _tree(self, node: form.Node, parts: dict[str, RecordRow]) -> RowNode:
        """The proof with the names of rows; the parts of its forks are added to `parts`."""
        if isinstance(node, form.Leaf):
            rows = {name: y for name, y in node.y.items() if y} | ({CLAIM: node.c} if node.c else {})
            return Leaf(node.kind == form.EMPTY, rows, node.w, node.d)
        key = f"fork{len(parts) + 1}"
        parts[key] = self._part(key, node.part)
        return Fork(key, node.at, self._tree(node.below, parts), self._tree(node.above, parts))

    def _part(self, key: str, part: Predicate | Record | str) -> RecordRow:
        if isinstance(part, Predicate):
            return RecordRow(key, f"records with {part}", ((1, Region.of(part)),))
        assert not isinstance(part, str)
        region = alike(self.cells, self.domain, part)
        named = ", ".join(f"{name}={code}" for name, code in zip(self.domain.names, part, strict=True))
        return RecordRow(key, f"records in the same published cells as {named}", ((1, region),) if region else ())

    def _search(self, draft: _Draft, trees: list[RowNode]) -> None:
        """Add exclusions, few at a time, until every record on which some leaf is short is excluded; `trees` may grow."""
        random = Random(derive_seed(0, "export", self.release.block, draft.asked.question.name))
        while True:
            names = {name for tree in trees for leaf, _ in leaves(tree) for name in leaf.rows if name != CLAIM}
            draft.rows = {name: self.known[name] for name in self.known if name in names}
            draft.tabulate(self.domain, self.known)
            lemmas = [one for one in draft.chosen if not one.row]
            covered = (draft.excluded >= 0) | (sum((self._of(draft, one) for one in lemmas), 0 * draft.excluded) > 0)
            short = [self._short(draft, tree, number) for number, tree in enumerate(trees)]
            main = short[0] & ~covered
            for number in draft.nobody:
                main &= self._value(draft, number) < self.nobody[number].d
            left = np.flatnonzero(main | (np.array(short[1:], dtype=bool).reshape(-1, len(main)).any(axis=0) & ~covered))
            if not len(left):
                used = set(draft.excluded[np.array(short, dtype=bool).any(axis=0)].tolist())
                spared = [one for number, one in enumerate(draft.zero) if number in used]
                if len(spared) < len(draft.zero):
                    draft.chosen = [*lemmas, *spared]
                    draft.tabulate(self.domain, self.known)
                return
            places = [draft.kinds.keys[random.choice(left.tolist())] for _ in range(SAMPLES)]
            self._more(draft, trees, [draft.kinds.draw(key, random) for key in places])

    def _more(self, draft: _Draft, trees: list[RowNode], records: Sequence[Record]) -> None:
        """Exclusions that hold all of these records, or proofs that nobody is like them."""
        held, added = self.exclusions.holding(records), list[int]()
        for record, by in zip(records, held, strict=True):
            worth = [number for number, leaf in enumerate(self.nobody) if self._worth(leaf, record)]
            if by or set(worth) & set(added):
                continue
            number = next((one for one in worth if one not in draft.nobody), -1)
            if number < 0:
                named = ", ".join(f"{name}={code}" for name, code in zip(self.domain.names, record, strict=True))
                where = f"block {self.release.block}, {draft.asked.question.name}"
                raise CertificateError(f"{where}: the proof is short on a record that is possible, {named}")
            added.append(number)
            draft.nobody.append(number)
            leaf = self.nobody[number]
            trees.append(Leaf(False, dict(leaf.y), (), leaf.d))
        draft.chosen += [self.exclusions.all[place] for place in cover([by for by in held if by])]

    def _worth(self, leaf: form.Leaf, record: Record) -> bool:
        held = dict(zip(self.domain.names, record, strict=True))
        return sum(y * w for name, y in leaf.y.items() for w, r in self.known[name].parts if r.holds(held)) >= leaf.d

    def _of(self, draft: _Draft, one: Exclusion) -> Ints:
        """What a record of each kind adds to the rows of an exhausted total."""
        return sum((sign * draft.added[name] for name, sign in one.rows), 0 * draft.excluded)

    def _value(self, draft: _Draft, number: int) -> Ints:
        return sum((y * draft.added[name] for name, y in self.nobody[number].y.items()), 0 * draft.excluded)

    def _excess(self, draft: _Draft, leaf: Leaf, path: Path, number: int) -> Ints:
        """What a record of each kind adds to a leaf beyond what it must; `number` 0 is the proof itself, else of nobody."""
        found = 0 * draft.excluded
        if number:
            found = found - leaf.d * (self._value(draft, draft.nobody[number - 1]) >= leaf.d)
        elif not leaf.empty:
            found = found - SIGN[draft.asked.question.goal] * leaf.d * draft.added[CLAIM]
        terms = [*leaf.rows.items(), *((part, w) for w, (part, _, _) in zip(leaf.sides, path, strict=True))]
        return found + sum((y * draft.added[name] for name, y in terms if y), 0 * found)

    def _short(self, draft: _Draft, tree: RowNode, number: int) -> Flags:
        """The kinds on which some leaf adds less than it must."""
        found: Flags = np.zeros(len(draft.excluded), dtype=bool)
        for leaf, path in leaves(tree):
            found |= self._excess(draft, leaf, path, number) < 0
        return found

    def _finished(self, draft: _Draft, trees: Sequence[RowNode]) -> Program:
        """The program, with the exclusions in its leaves as often as these are short."""
        asked, kinds = draft.asked, list(draft.kinds)
        needed = {name: self.known[name] for name in self.known if name in draft.added}
        listed: list[tuple[RecordRow, Ints]] = [(row, draft.added[name]) for name, row in needed.items()]
        if asked.where and asked.question.goal == NEVER:
            m = asked.question.m
            words = " or ".join(f"({where})" for where in asked.where)
            listed.append((RecordRow(CLAIM, words, (), m, m), draft.added[CLAIM]))
        zero = [(one.row, (draft.excluded == number).astype(np.int64)) for number, one in enumerate(draft.zero) if one.row]
        listed += zero
        names = unique(row.name for row, _ in listed)
        rows = {
            name: Row(name, row.words, _sparse(added), row.lo, row.hi)
            for name, (row, added) in zip(names, listed, strict=True)
        }
        plain = dict(zip([*needed, *([CLAIM] if len(listed) > len(needed) + len(zero) else [])], names, strict=False))
        helpers = [(added, {names[len(listed) - len(zero) + place]: 1}) for place, (_, added) in enumerate(zero)]
        for one in draft.chosen:
            if not one.row:
                helpers.append((self._of(draft, one), {plain[name]: sign for name, sign in one.rows}))
        steps = []
        for place, number in enumerate(draft.nobody):
            leaf = trees[1 + place]
            assert isinstance(leaf, Leaf)
            inside = (self._value(draft, number) >= leaf.d).astype(np.int64)
            raised = _raised(leaf, self._excess(draft, leaf, (), 1 + place), helpers[: len(draft.chosen)], plain)
            steps.append(
                Step(Row(f"nobody{number}", "records that a sum of cells leaves no room for", _sparse(inside), hi=0), raised)
            )
            helpers.append((inside, {f"nobody{number}": 1}))
        made = iter([_raised(leaf, self._excess(draft, leaf, path, 0), helpers, plain) for leaf, path in leaves(trees[0])])
        head = f"one record of each, as codes of {' '.join(self.domain.names)}, and how many different ones there are"
        columns = [f"{' '.join(map(str, kind.example))} ({kind.size})" for kind in kinds]
        found = Program(
            self.title,
            system_of([(0, OPEN)] * len(kinds), rows.values(), "z"),
            rows,
            (
                f"Kinds of records over the whole domain: z<k> counts the records of kind k, alike in every row; {head}",
                *columns,
            ),
            asked.question,
            _sparse(draft.added[CLAIM]) if asked.where else {},
            {key: Row(key, row.words, _sparse(draft.added[key])) for key, row in draft.parts.items()},
            tuple(steps),
            _replaced(trees[0], made),
            self.release.n,
        )
        if not found.adds_up():
            raise CertificateError(f"block {self.release.block}, {asked.question.name}: the exported proof does not add up")
        return found


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


def _sparse(values: Ints) -> dict[int, int]:
    return {int(place): int(values[place]) for place in np.flatnonzero(values)}


def cover(held: Sequence[set[int]]) -> list[int]:
    """
    Few numbers that hit every set: the most frequent first, then less those that the others make needless.

    >>> cover([{1, 2}, {2, 3}, {4}])
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


def _replaced(node: RowNode, made: Iterator[Leaf]) -> RowNode:
    if isinstance(node, Leaf):
        return next(made)
    below = _replaced(node.below, made)
    return Fork(node.part, node.at, below, _replaced(node.above, made))


def _raised(leaf: Leaf, excess: Ints, helpers: Sequence[tuple[Ints, Mapping[str, int]]], plain: Mapping[str, str]) -> Leaf:
    """The leaf with as much of the exclusions as it is short."""
    rows, left = {plain[name]: y for name, y in leaf.rows.items()}, excess
    for added, names in helpers:
        more = int((-left[(added > 0) & (left < 0)]).max(initial=0))
        if more:
            left = left + more * added
            for name, sign in names.items():
                rows[name] = rows.get(name, 0) + sign * more
    return Leaf(leaf.empty, {name: y for name, y in rows.items() if y}, leaf.sides, leaf.d)


# What a certificate shows, one question at a time: two for each proof of claims, one for all else.

Group = Sequence[form.Statement]
LISTED = 10  # claims of a group that are named in the head of a file
INDEX = "index.csv"


def claims_by_proof(certificate: form.Certificate) -> dict[tuple[int, int], list[form.Statement]]:
    """The claims by the number of their proof and their m: what is shown of one group is shown at once."""
    groups: dict[tuple[int, int], list[form.Statement]] = {}
    for claim in certificate.claims:
        assert claim.proof is not None
        groups.setdefault((claim.proof, claim.m), []).append(claim)
    return groups


def questions_of(domain: Domain, certificate: form.Certificate) -> Iterator[tuple[Asked, Group]]:
    """Every question of a certificate, with the statements that its answer settles."""
    for number, (key, group) in enumerate(claims_by_proof(certificate).items()):
        for asked in claim_questions(domain, group, f"claims_{number}_proof_{key[0]}"):
            yield asked, group
    for number, said in enumerate(certificate.impossible):
        words = (f"Shown: never exactly {_records(said.m)} with", *conditions(domain, said.where))
        yield Asked(Question(f"impossible_{number}", words, NEVER, said.m), (said.where,), said.lower), [said]
    for number, said in enumerate(certificate.at_least):
        yield bound_question(domain, f"bound_{number}", said, AT_LEAST), [said]
    if certificate.contradiction is not None:
        words = ("Shown: no dataset fits the published counts; they contradict each other",)
        yield Asked(Question("contradiction", words, NEVER, 0), (), certificate.contradiction), []


def claim_questions(domain: Domain, group: Group, name: str) -> list[Asked]:
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
        both = [f"By both halves, m = {m} of each of {len(group)} claims:"]
        both += [f"  {claim.where}" for claim in group[:LISTED]]
        both += [f"  and {len(group) - LISTED} more, listed in {INDEX}"] if len(group) > LISTED else []
        lower, upper = [*lower, *both], [*upper, *both]
    return [
        Asked(Question(f"{name}_at_least", tuple(lower), AT_LEAST, m), (every,), first.lower),
        Asked(Question(f"{name}_at_most", tuple(upper), AT_MOST, m), tuple(some), first.upper),
    ]


def bound_question(domain: Domain, name: str, said: form.Statement, goal: str) -> Asked:
    """One side of a count, such as the range of a cell that is not published."""
    words = (f"Shown: {goal} {_records(said.m)} with", *conditions(domain, said.where))
    return Asked(Question(name, words, goal, said.m), (said.where,), said.lower)


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
