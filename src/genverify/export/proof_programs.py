"""Checked proofs as linear programs that stand on their own: columns, published rows, a statement, and its derivation."""

import re
from collections import ChainMap, Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial, reduce
from operator import and_
from random import Random
from typing import Any

import numpy as np

from genverify.checker import certificate as form
from genverify.checker.certificate import EMPTY, Cases, CellBound, CertificateError, Fork, Leaf, Node, leaves_of
from genverify.checker.linear_proofs import check_system
from genverify.checker.record_proofs import AreaChecker, Cell, Cells, check_block
from genverify.model.areas import BLOCK, AreaReleases, seen_from, together
from genverify.model.arrays import Flags, Ints
from genverify.model.claims import parse_claim
from genverify.model.domain import EVERY, Column, Domain, Exclusions, Predicate, Rule
from genverify.model.errors import DataError
from genverify.model.linear import OPEN, LinearSystem
from genverify.model.proof_form import AT_LEAST, AT_MOST, EXACTLY, NEVER, NOTHING, ExhaustedTotal
from genverify.model.release import TOTAL, Release
from genverify.model.work import derive_seed

MOST = 20_000  # columns of one proof, kinds of records or cells: bounds the size of the files
SIGN = {AT_MOST: 1, AT_LEAST: -1, NEVER: 0}
CLAIM = "claim"
FORBIDDEN = re.compile(r"[^\w.:/+<>=-]+", re.ASCII)
Vector = Mapping[int, int]  # weights by column


class TooLarge(DataError):
    """A proof that a file of readable size cannot hold."""


@dataclass(frozen=True)
class Question:
    """What is to be shown of COUNT, at most m, at least m or never m, by a proof; of records: that meet one of `where`."""

    name: str
    words: tuple[str, ...]
    goal: str
    m: int
    proof: Node
    where: tuple[Predicate, ...] = ()  # `never` of nothing: nothing fits


@dataclass(frozen=True)
class Row:
    """lo <= the weights times the columns <= hi; a row without both is the claim, or the part of a fork."""

    name: str
    words: str
    vector: Mapping[Any, int]  # by column; before the columns are known, by region of records
    lo: int | None = None
    hi: int | None = None


@dataclass(frozen=True)
class Program:
    """A question about `count` in published rows, and its derivation, by steps; no column exceeds `largest`."""

    title: str
    names: tuple[str, ...]
    ends: Sequence[tuple[int, int]]
    rows: Mapping[str, Row]
    columns: tuple[str, ...]
    question: Question
    count: Vector
    parts: Mapping[str, Row]
    steps: tuple[tuple[Row, Node], ...]
    tree: Node
    largest: int | None = None

    @cached_property
    def known(self) -> dict[str, Row]:
        """The rows that a leaf may name: published ones, and those shown on the way."""
        return {**self.rows, **{row.name: row for row, _ in self.steps}}

    def opposes(self, leaf: Leaf, of: Row | None) -> bool:
        """Whether a leaf shows that its case cannot be, and not a bound."""
        return leaf.kind == EMPTY or (of is None and self.question.goal == NEVER)

    def left(self, leaf: Leaf, path: Cases, of: Row | None) -> dict[int, int]:
        """What a leaf leaves of each column: the ends of the columns have to bound it. d target = rows + sides + left."""
        sign = 0 if leaf.kind == EMPTY else 1 if of else SIGN[self.question.goal]
        left = Counter({column: sign * leaf.d * part for column, part in (of.vector if of else self.count).items()})
        terms = [(self.known[name].vector, y) for name, y in leaf.y.items()]
        terms += [(self.parts[part].vector, w) for w, (part, _, _) in zip(leaf.w, path, strict=True) if w]
        for vector, y in terms:
            for column, entry in vector.items():
                left[column] -= y * entry
        return {column: entry for column, entry in left.items() if entry}

    def total(self, leaf: Leaf, path: Cases, of: Row | None) -> int:
        """The most that d times the target can be by a leaf; an error where it uses an end that is not there."""
        result = sum(w * (at if below else at + 1) for w, (_, at, below) in zip(leaf.w, path, strict=True))
        terms = [(self.known[name].hi if y > 0 else self.known[name].lo, y, name) for name, y in leaf.y.items()]
        for column, part in self.left(leaf, path, of).items():
            terms.append((self.ends[column][part > 0], part, self.names[column]))
        for end, weight, name in terms:
            if end is None or abs(end) == OPEN:
                raise DataError(f"the exported proof uses an end of {name}, which has none there")
            result += weight * end
        return result

    def checked(self, where: str) -> "Program":
        """The program; an error where its derivation does not add up."""
        if not self.adds_up():
            raise CertificateError(f"{where}: the exported proof does not add up")
        return self

    def adds_up(self) -> bool:
        """Whether every leaf shows what it has to."""
        for of, tree in (*self.steps, (None, self.tree)):
            for leaf, path in leaves_of(tree):
                wrong = any(w < 0 if below else w > 0 for w, (_, _, below) in zip(leaf.w, path, strict=True))
                most = of.hi or 0 if of else SIGN[self.question.goal] * self.question.m
                if wrong or self.total(leaf, path, of) // leaf.d > (-1 if self.opposes(leaf, of) else most):
                    return False
        return True


def traced(
    node: Node, parts: dict[str, Any], part: Callable[[str, Any], Any], leaf: Callable[[Leaf, Cases], Leaf],
    prefix: str = "", path: Cases = (),
) -> Node:  # fmt: skip
    """The tree with numbered forks, what `part` makes of each in `parts`, and leaves changed by the forks above them."""
    if isinstance(node, Leaf):
        return leaf(node, path)
    key = f"{prefix}fork{len(parts) + 1}"
    parts[key] = part(key, node.part)
    below, above = (
        traced(side, parts, part, leaf, prefix, (*path, (key, node.at, is_below)))
        for side, is_below in ((node.below, True), (node.above, False))
    )
    return replace(node, part=key, below=below, above=above)


def unique(names: Iterable[str]) -> list[str]:
    """
    A name without spaces and brackets for each, no two alike.

    >>> unique(["a b", "a_b"])
    ['a_b', 'a_b_2']
    """
    result: dict[str, None] = {}
    for part in (FORBIDDEN.sub("_", name) or "_" for name in names):
        name, number = part, 1
        while name in result:
            number += 1
            name = f"{part}_{number}"
        result[name] = None
    return list(result)


# Programs of proofs about a system of sums, which were checked before.

LONGEST = 2_000  # steps of one proof: bounds the size of the files
End = tuple[int, int]  # a cell, and +1 for its upper end or -1 for its lower one
Known = Mapping[End, tuple[int, int]]  # s x <= a value, by which statement or fork (-1: it is published)


@dataclass
class _ProvedStatement:
    """A statement with its derivation from rows ("=name") and earlier statements ("#3"), which it uses; cells of forks."""

    said: CellBound
    sign: int
    parts: dict[str, int] = field(default_factory=dict)
    uses: set[int] = field(default_factory=set)
    tree: Node = field(init=False)


class CellExporter:
    """Makes the programs of statements about a system."""

    def __init__(self, title: str, system: LinearSystem, statements: Sequence[Mapping[str, Any]]) -> None:
        self.title, self.system, self.starts = title, system, system.start.tolist()
        self.entries = list(zip(system.columns.tolist(), system.weights.tolist(), strict=True))
        reader, proving = form.linear_reader(system.row_place, system.place), {"upper": 1, "lower": -1, EMPTY: 0}
        self.known: dict[End, tuple[int, int]] = {}
        for cell, (lo, hi) in enumerate(zip(system.lo.tolist(), system.hi.tolist(), strict=True)):
            self.known |= {(cell, 1): (hi, -1), (cell, -1): (-lo, -1)}
        self.proved: list[_ProvedStatement] = []
        for number, text in enumerate(text for text in statements if text["side"] != form.ATTAINS):  # points derive nothing
            said = form.read_cell_bound(reader, text, f"statement {number}")
            one = _ProvedStatement(said, proving[said.side])
            c = {system.place[said.cell]: one.sign} if one.sign else {}
            one.tree = traced(said.proof, one.parts, lambda _, part: system.place[part], partial(self._leaf, c, one))
            self.proved.append(one)
            for cell, sign in c.items():
                if sign * said.value < self.known[cell, sign][0]:
                    self.known[cell, sign] = sign * said.value, number

    def _leaf(self, c: Mapping[int, int], one: _ProvedStatement, leaf: Leaf, path: Cases) -> Leaf:
        """The leaf, with what it takes from forks as sides, and from earlier statements as rows; the rest is published."""
        narrowed: dict[End, tuple[int, int]] = {}  # of a cell that a fork splits: the end, and the number of the fork
        for index, (key, at, below) in enumerate(path):
            end, value = (one.parts[key], 1 if below else -1), at if below else -at - 1
            if value < narrowed.get(end, self.known[end])[0]:
                narrowed[end] = value, index
        known = ChainMap(narrowed, self.known)
        nothing = [cell for cell, s in narrowed if known[cell, s][0] + known[cell, -s][0] < 0]  # no count is left of it
        if nothing:
            shown, ends = Leaf(leaf.path, EMPTY, {}, 1), {(nothing[0], 1): 1, (nothing[0], -1): 1}
        else:
            shown, ends = self._added(c, leaf, known)
        sides, taken = [0] * len(path), {f"={name}": y for name, y in shown.y.items()}
        for end, weight in ends.items():
            number = known[end][1]
            if end in narrowed:
                sides[number] += end[1] * weight
            elif number >= 0:
                one.uses.add(number)
                taken[f"#{number}"] = taken.get(f"#{number}", 0) + weight
        return replace(shown, y=taken, w=tuple(sides))

    def _added(self, c: Mapping[int, int], leaf: Leaf, known: Known) -> tuple[Leaf, dict[End, int]]:
        """The leaf as it shows something, of no cell or of that in question, and the ends that bound what its rows leave."""
        rows, most, least = {name: y for name, y in leaf.y.items() if y}, self.system.most, self.system.least
        for wanted in ({}, c) if leaf.kind == EMPTY else (c,):
            left = Counter({cell: leaf.d * part for cell, part in wanted.items()})
            for name, y in rows.items():
                for cell, part in self._row(name):
                    left[cell] -= y * part
            ends = {(cell, 1 if part > 0 else -1): abs(part) for cell, part in left.items() if part}
            total = sum(y * int((most if y > 0 else least)[self.system.row_place[name]]) for name, y in rows.items())
            if wanted or leaf.kind != EMPTY or total + sum(weight * known[end][0] for end, weight in ends.items()) < 0:
                return replace(leaf, y=rows, kind=form.BOUND if wanted else leaf.kind), ends
        raise CertificateError(f"{leaf.path}: shows nothing")

    def _row(self, name: str) -> list[tuple[int, int]]:
        row = self.system.row_place[name]
        return self.entries[self.starts[row] : self.starts[row + 1]]

    def program(self, number: int) -> Program:
        """The program of a statement: the rows and cells that it rests on, directly or by what was shown before."""
        needed, left, system = {number}, [number], self.system
        while left:
            left += sorted(more := self.proved[left.pop()].uses - needed)
            needed |= more
        if len(needed) > LONGEST:
            raise TooLarge(f"statement {number} rests on {len(needed) - 1} others, over the limit of {LONGEST}")
        proved = {index: self.proved[index] for index in sorted(needed)}
        every = (name for one in proved.values() for leaf, _ in leaves_of(one.tree) for name in leaf.y)
        rows = list(dict.fromkeys(name[1:] for name in every if name[0] == "="))
        named = {system.place[one.said.cell] for one in proved.values() if one.sign}
        named |= {cell for name in rows for cell, _ in self._row(name)}
        cells = sorted(named | {cell for one in proved.values() for cell in one.parts.values()})
        if len(cells) > MOST:
            raise TooLarge(f"statement {number} is about {len(cells)} cells, over the limit of {MOST}")
        column, plain = {cell: at for at, cell in enumerate(cells)}, dict(zip(rows, unique(rows), strict=True))
        final = {f"={name}": part for name, part in plain.items()} | {f"#{index}": f"shown#{index}" for index in needed}

        def renamed(leaf: Leaf, path: Cases) -> Leaf:
            return replace(leaf, y={final[name]: y for name, y in leaf.y.items()})

        parts, steps = dict[str, Row](), list[tuple[Row, Node]]()
        for index, one in proved.items():
            forks, prefix = dict[str, Row](), "" if index == number else f"s{index}_"
            tree = traced(one.tree, forks, partial(self._part, one, column), renamed, prefix)
            vector = {column[system.place[one.said.cell]]: one.sign} if one.sign else {}
            words = f"{one.said.cell} {'<=' if one.sign > 0 else '>='} {one.said.value}"
            parts |= forks
            steps.append((Row(f"shown#{index}", words, vector, hi=one.sign * one.said.value), tree))
        _, tree = steps.pop()  # what is asked rests on all others, which come before it
        said, ends = proved[number].said, [(int(system.lo[cell]), int(system.hi[cell])) for cell in cells]
        goal = {"upper": AT_MOST, "lower": AT_LEAST, EMPTY: NEVER}[said.side]
        shown = f"Shown: {said.cell} is {goal} {said.value}" if said.cell else "Shown: no counts fit all sums"
        told = (f"published {lo}" if lo == hi else f"{lo} or more" if hi == OPEN else f"{lo} to {hi}" for lo, hi in ends)
        listed = [f"{system.cells[cell]}, {words}" for cell, words in zip(cells, told, strict=True)]
        about = ("Cells: x<k> is the count of a cell", *listed)
        count = {column[system.place[said.cell]]: 1} if said.cell else {}
        question = Question(f"statement_{number}", (shown,), goal, said.value, proved[number].said.proof)
        published = dict[str, Row]()
        for name, row in ((name, system.row_place[name]) for name in rows):
            weights = Counter[int]()  # a cell that a sum names twice counts with both weights
            for cell, part in self._row(name):
                weights[column[cell]] += part
            least, most = (None if abs(end) == OPEN else end for end in (int(system.least[row]), int(system.most[row])))
            filled = {at: part for at, part in weights.items() if part}
            published[plain[name]] = Row(plain[name], name, filled, least, most)
        names = tuple(f"x{at}" for at in range(len(cells)))
        result = Program(self.title, names, ends, published, about, question, count, parts, tuple(steps), tree)
        return result.checked(f"statement {number}")

    def _part(self, one: _ProvedStatement, column: Mapping[int, int], key: str, part: str) -> Row:
        cell = one.parts[part]
        return Row(key, f"the cell {self.system.cells[cell]}", {column[cell]: 1})


# Programs of proofs about records.
#
# Our checker looks at live records only; here nothing is left out beforehand. Where a leaf is short on records that cannot
# exist, the rows that rule them out join its combination M times, M the largest shortage there: a zero cell or a rule, in
# which nobody counts, or a total less the cells that exhaust it. Each adds at most 0 to the total.
#
# Records that the rows of a program do not tell apart form one kind. Every record of the domain lies in exactly one kind,
# also those that a zero cell or a rule excludes. Of the zero cells and rules that exclude a record, one is enough: it counts
# in the row of that one only, so that kinds stay few.

Bits = int
Record = tuple[int, ...]
Edge = tuple[Bits, list[int]]  # the state before a column, and the codes of the column that lead on


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
    The kinds of the whole domain, found column after column: by the regions that hold a record (bits) and what excludes it
    (none: -1). A state has a bit per condition still allowed, or that of its exclusion; `states` are those of a kind.
    """

    def __init__(self, domain: Domain, regions: Sequence[Region], exclusions: Sequence[Region] = ()) -> None:
        part = list(dict.fromkeys(p for region in regions for p in region.predicates))
        self.bit = {predicate: index for index, predicate in enumerate(part)}
        self.regions = (1 << len(part)) - 1
        # every exclusion has bits of its own: of its conditions, and one that says that it is known to hold
        self.listed, tests, self.won = list(enumerate(part)), list[tuple[int, Bits, Bits, Bits]](), dict[Bits, int]()
        position = {name: index for index, name in enumerate(domain.names)}
        for number, region in enumerate(exclusions):
            first = len(self.listed) + number
            when, won = 1 << first, 1 << first + len(region.predicates)
            known = max((position[name] for p in region.predicates for name in p.columns), default=0)
            tests.append((known, when, won - 2 * when, won))
            self.won[won] = number
            self.listed += enumerate(region.predicates, first)
        self.sizes, self.layers = {sum(1 << index for index, _ in self.listed): 1}, list[dict[Bits, list[Edge]]]()
        for number, column in enumerate(domain.columns):
            self._add(column, [test for test in tests if test[0] == number])
        masks = [(self._mask(region.any_of), self._mask(region.unless)) for region in regions]
        self.states: dict[tuple[Bits, int], list[Bits]] = {}
        for state in self.sizes:
            inside = sum(1 << index for index, (some, none) in enumerate(masks) if state & some and not state & none)
            self.states.setdefault((inside, self.won.get(state & ~self.regions, -1)), []).append(state)
        if len(self.states) > MOST:
            raise TooLarge(_too_many(len(self.states)))
        self.keys = list(self.states)

    def words(self) -> Iterator[str]:
        """The codes of one record of each kind, and how many different ones there are."""
        for states in self.states.values():
            yield f"{' '.join(map(str, self.record(states[0], None)))} ({sum(self.sizes[state] for state in states)})"

    def _mask(self, predicates: Iterable[Predicate]) -> Bits:
        return sum(1 << index for index in {self.bit[p] for p in predicates})

    def _add(self, column: Column, tests: Sequence[tuple[int, Bits, Bits, Bits]]) -> None:
        free = sum(self.won) + sum(1 << index for index, p in self.listed if column.name not in p.where)
        named = [(index, set(p.where[column.name])) for index, p in self.listed if column.name in p.where]
        atoms, sizes, layer = dict[Bits, list[int]](), dict[Bits, int](), dict[Bits, list[Edge]]()
        for code in column.codes:
            atoms.setdefault(free | sum(1 << index for index, codes in named if code in codes), []).append(code)
        for state, size in self.sizes.items():
            for mask, codes in atoms.items():
                after = state & mask
                for _, when, unless, won in tests:  # known from here on: the first exclusion that holds stands alone
                    if after & when and not after & unless:
                        after = after & self.regions | won
                        break
                    after &= ~(when | unless)
                sizes[after] = sizes.get(after, 0) + size * len(codes)
                layer.setdefault(after, []).append((state, codes))
        if len(sizes) > 10 * MOST:
            raise TooLarge(_too_many(len(sizes)))
        self.sizes = sizes
        self.layers.append(layer)

    def record(self, state: Bits, random: Random | None) -> Record:
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


SAMPLES = 50  # records to look at where a leaf is short


@dataclass(frozen=True)
class _Exclusion:
    """
    Rows that add up to at most 0, though every record of the region adds 1 or more, no record less than 0; or one row by
    itself, in which only those count whom no other such row of a program holds.
    """

    region: Region
    rows: tuple[tuple[str, int], ...] = ()
    row: Row | None = None


@dataclass
class _Draft:
    """A program that is being made: its tree, parts of forks, rows by name, exclusions, what a record of each kind adds."""

    asked: Question
    tree: Node
    parts: dict[str, Row]
    nobody: list[int] = field(default_factory=list)
    chosen: list[_Exclusion] = field(default_factory=list)

    def tabulate(self, domain: Domain, known: Mapping[str, Row], named: Collection[str]) -> None:
        """The kinds that the rows tell apart, and what a record of each adds to each row."""
        lemmas = [name for one in self.chosen for name, _ in one.rows]
        rows = {name: known[name] for name in known if name in named} | {name: known[name] for name in lemmas} | self.parts
        rows[CLAIM] = Row(CLAIM, "", {Region(self.asked.where): 1} if self.asked.where else {})
        regions = dict.fromkeys(region for row in rows.values() for region in row.vector)
        self.zero = [(one.region, one.row) for one in self.chosen if one.row]
        self.kinds = Kinds(domain, list(regions), [region for region, _ in self.zero])
        inside = [key[0] for key in self.kinds.keys]
        held = {r: np.array([state >> bit & 1 for state in inside], dtype=np.int64) for bit, r in enumerate(regions)}
        nothing = np.zeros(len(inside), dtype=np.int64)
        self.added = {name: sum((w * held[r] for r, w in row.vector.items()), nothing) for name, row in rows.items()}
        self.excluded = np.array([key[1] for key in self.kinds.keys], dtype=np.int64)

    def sum(self, terms: Iterable[tuple[str, int]]) -> Ints:
        """What a record of each kind adds to a sum of rows."""
        return sum((times * self.added[name] for name, times in terms), 0 * self.excluded)

    def excess(self, leaf: Leaf, path: Cases) -> Ints:
        """What a record of each kind adds to a leaf beyond what it must."""
        result = self.sum([*leaf.y.items(), *((part, w) for w, (part, _, _) in zip(leaf.w, path, strict=True))])
        return result if leaf.kind == EMPTY else result - SIGN[self.asked.goal] * leaf.d * self.added[CLAIM]


class Exporter:
    """The programs of checked proofs about a release; `nobody` are proofs of their own that rule records out by a sum."""

    def __init__(self, release: Release, lemmas: Sequence[ExhaustedTotal], nobody: Sequence[Leaf] = ()) -> None:
        self.release, self.domain, self.nobody = release, release.schema.domain, nobody
        self.cells, self.title = Cells(release), f"Block {release.block}, {release.n} records; release {release.digest}"
        self.here, self.own, self.own_cells = EVERY, release, self.cells
        labels = {TOTAL: "all records", **{query.id: query.label for query in release.queries}}
        self.known = dict[str, Row]()
        for name, cell in self.cells.items():
            words = f"sum of {cell.sums}, {labels[name]}" if cell.sums else labels[name]
            self.known[name] = Row(name, words, _added_to(cell, self.domain), cell.lo, cell.hi)
        self.excluding = []
        for name, row in self.known.items():  # what rules records out: zero cells, exhausted totals, structural rules
            if row.hi == 0:
                zero = Row(name, f"{row.words}, of these those in no zero cell above", {}, 0, 0)
                self.excluding.append(_Exclusion(Region.of(self.cells[name].adding(self.domain)), row=zero))
        for lemma in lemmas:
            parts = [self.cells[name].predicate for name in lemma.cells]
            rows = ((lemma.universe, 1), *((name, -1) for name in lemma.cells))
            self.excluding.append(_Exclusion(Region.of(self.cells[lemma.universe].predicate, parts), rows))
        for rule in release.schema.rules:
            options = " or ".join(f"({option})" for option in rule.one_of) or "nothing"
            broken = Row(f"rule:{rule.name}", f"broken by nobody: if {rule.when} then {options}", {}, 0, 0)
            self.excluding.append(_Exclusion(Region.of(rule.when, rule.one_of), row=broken))
        rules = [Rule("", one.region.any_of[0], one.region.unless) for one in self.excluding]
        self.exclusions = Exclusions(self.domain, rules)

    def program(self, asked: Question) -> Program:
        """The program of a question: every row that its derivation names, every kind, and multipliers that are enough."""
        parts: dict[str, Row] = {}

        def with_claim(leaf: Leaf, path: Cases) -> Leaf:
            return replace(leaf, y={name: y for name, y in leaf.y.items() if y} | ({CLAIM: leaf.c} if leaf.c else {}))

        draft = _Draft(asked, traced(asked.proof, parts, self._part, with_claim), parts)
        self._search(draft)
        return self._finished(draft)

    def _part(self, key: str, part: Predicate | Record) -> Row:
        """The part of a fork: `own` is the release that the proof is about, whose records lie `here` among all."""
        if isinstance(part, Predicate):
            return Row(key, f"records with {part & self.here}", {Region.of(part & self.here): 1})
        region = alike(self.own_cells, self.own.schema.domain, part, self.here)
        words = f"records in the same published cells as {_named(self.own.schema.domain, part)}"
        return Row(key, words, {region: 1} if region else {})

    def _search(self, draft: _Draft) -> None:
        """Add exclusions, few at a time, until every record on which some leaf is short is excluded."""
        random = Random(derive_seed(0, "export", self.release.block, draft.asked.name))
        while True:
            trees = [draft.tree, *(self.nobody[number] for number in draft.nobody)]
            names = {name for tree in trees for leaf, _ in leaves_of(tree) for name in leaf.y if name != CLAIM}
            draft.tabulate(self.domain, self.known, names)
            lemmas = [one for one in draft.chosen if not one.row]
            covered = (draft.excluded >= 0) | (draft.sum(term for one in lemmas for term in one.rows) > 0)
            ruled_out = [self._ruled_out(draft, number) for number in draft.nobody]
            short = np.any([draft.excess(leaf, path) < 0 for leaf, path in leaves_of(draft.tree)], axis=0)
            others = np.any([excess < 0 for _, excess in ruled_out], axis=0)
            rest = short & ~np.any([inside for inside, _ in ruled_out], axis=0)
            left = np.flatnonzero((rest | others) & ~covered)
            if not len(left):
                used = set(draft.excluded[short | others].tolist())
                spared = [one for number, one in enumerate(one for one in draft.chosen if one.row) if number in used]
                if len(spared) < len(draft.zero):
                    draft.chosen = [*lemmas, *spared]
                    draft.tabulate(self.domain, self.known, names)
                return
            states = [draft.kinds.states[draft.kinds.keys[random.choice(left.tolist())]] for _ in range(SAMPLES)]
            self._more(draft, [draft.kinds.record(random.choice(some), random) for some in states])

    def _more(self, draft: _Draft, records: Sequence[Record]) -> None:
        """Exclusions that hold all of these records, or proofs that nobody is like them."""
        flags = self.exclusions.of(np.array(records, dtype=np.int64))
        held, added = [set(by.nonzero()[0].tolist()) for by in flags.T], list[int]()
        for record, by in zip(records, held, strict=True):
            worth = [number for number, leaf in enumerate(self.nobody) if self._worth(leaf, record)]
            if by or set(worth) & set(added):
                continue
            number = next((one for one in worth if one not in draft.nobody), -1)
            if number < 0:
                where, named = f"block {self.release.block}, {draft.asked.name}", _named(self.domain, record)
                raise CertificateError(f"{where}: the proof is short on a record that is possible, {named}")
            added.append(number)
            draft.nobody.append(number)
        draft.chosen += [self.excluding[index] for index in cover([by for by in held if by])]

    def _worth(self, leaf: Leaf, record: Record) -> bool:
        held = dict(zip(self.domain.names, record, strict=True))
        terms = [(y * w, region) for name, y in leaf.y.items() for region, w in self.known[name].vector.items()]
        return sum(weight for weight, region in terms if region.holds(held)) >= leaf.d

    def _ruled_out(self, draft: _Draft, number: int) -> tuple[Flags, Ints]:
        """The kinds that a proof of `nobody` rules out, and what a record of each kind adds to it beyond what it must."""
        leaf, added = self.nobody[number], draft.sum(self.nobody[number].y.items())
        return added >= leaf.d, added - leaf.d * (added >= leaf.d)

    def _finished(self, draft: _Draft) -> Program:
        asked, columns = draft.asked, list(draft.kinds.words())
        needed = [name for name in self.known if name in draft.added]
        listed = [(self.known[name], draft.added[name]) for name in needed]
        if asked.where and asked.goal == NEVER:
            m, words = asked.m, " or ".join(f"({where})" for where in asked.where)
            needed, listed = [*needed, CLAIM], [*listed, (Row(CLAIM, words, {}, m, m), draft.added[CLAIM])]
        zero = [(row, (draft.excluded == number).astype(np.int64)) for number, (_, row) in enumerate(draft.zero)]
        names = unique(row.name for row, _ in (*listed, *zero))
        named = zip(names, (*listed, *zero), strict=True)
        rows = {name: replace(row, name=name, vector=_sparse(added)) for name, (row, added) in named}
        plain = dict(zip(needed, names, strict=False))
        helpers = [(added, {name: 1}) for name, (_, added) in zip(names[len(listed) :], zero, strict=True)]
        for one in (one for one in draft.chosen if not one.row):
            helpers.append((draft.sum(one.rows), {plain[name]: sign for name, sign in one.rows}))
        excluding, steps = list(helpers), list[tuple[Row, Node]]()
        for number in draft.nobody:
            inside, excess = self._ruled_out(draft, number)
            nobody = Row(f"nobody{number}", "records that a sum of cells rules out", _sparse(inside.astype(np.int64)), hi=0)
            steps.append((nobody, _raised(self.nobody[number], excess, excluding, plain)))
            helpers.append((inside.astype(np.int64), {nobody.name: 1}))

        def raised(leaf: Leaf, path: Cases) -> Leaf:
            return _raised(leaf, draft.excess(leaf, path), helpers, plain)

        tree = traced(draft.tree, {}, lambda key, _: key, raised)
        parts = {key: replace(row, vector=_sparse(draft.added[key])) for key, row in draft.parts.items()}
        head = "Kinds of records over the whole domain: z<k> counts the records of kind k, alike in every row; one record "
        head += f"of each, as codes of {' '.join(self.domain.names)}, and how many different ones there are"
        counts, ends = tuple(f"z{index}" for index in range(len(columns))), [(0, OPEN)] * len(columns)
        count = _sparse(draft.added[CLAIM]) if asked.where else {}
        return Program(self.title, counts, ends, rows, (head, *columns), asked, count, parts, tuple(steps), tree,
                       self.release.n).checked(f"block {self.release.block}, {asked.name}")  # fmt: skip


def _added_to(cell: Cell, domain: Domain) -> Mapping[Region, int]:
    """What a record adds to a cell: 1 inside it, or its code in the summed column."""
    if cell.sums is None:
        return {Region.of(cell.predicate): 1}
    codes = [code for code in domain[cell.sums].codes if code > 0]
    inside = [(code, cell.predicate & Predicate.of({cell.sums: [code]})) for code in codes]
    return {Region.of(p): code for code, p in inside if all(allowed for _, allowed in p.clauses)}


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


def questions_of(domain: Domain, certificate: form.Certificate) -> Iterator[tuple[list[Question], Group]]:
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
            yield [Question(f"{name}_{number}", words, goal, said.m, said.lower, (said.where,))], [said]
    for said in certificate.statements[NOTHING]:
        words = ("Shown: no dataset fits the published counts; they contradict each other",)
        yield [Question("contradiction", words, NEVER, 0, said.lower)], []


def claim_questions(domain: Domain, group: Group, name: str) -> list[Question]:
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
        Question(f"{name}_at_least", tuple(lower), AT_LEAST, m, first.lower, (every,)),
        Question(f"{name}_at_most", tuple(upper), AT_MOST, m, first.upper, tuple(some)),
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
        lemmas = list[ExhaustedTotal]()
        for number, own in enumerate(seen_from(levels, number) for number in range(len(levels.blocks))):
            for lemma in form.read_lemmas(own, certificate["lemmas"].get(own.block, [])):
                # an area's cell, which may hold nobody of the block, is left out of the parts
                parts = tuple(self._cell(number, name) for name in lemma.cells if not self._of_area(number, name))
                lemmas.append(ExhaustedTotal(self._cell(number, lemma.universe), parts))
        super().__init__(together(levels, zeros=True), lemmas, leaves_alone)
        self.title = f"Areas {self.release.block}, {self.release.n} records; release {self.checker.release.digest}"

    def questions(self) -> Iterator[tuple[str, list[Question], Group]]:
        """The same of every block, with its name."""
        for said in self.certificate["statements"]:
            number = self.checker.number_of[said["block"]]
            views = {"alone": (seen_from(self.levels, number), Predicate.of({BLOCK: [number + 1]})),
                     "together": (self.checker.release, EVERY)}  # fmt: skip
            for name, (self.own, self.here) in views.items():
                if said[name]:
                    self.own_cells, certificate = Cells(self.own), form.read_certificate(self.own, said[name])
                    claims = tuple(replace(one, where=one.where & self.here) for one in certificate.claims)
                    placed = replace(certificate, statements={**certificate.statements, EXACTLY: claims})
                    for asked, group in questions_of(self.domain, placed):
                        for place, one in enumerate(asked):
                            proof = self._node(number, one.proof) if name == "alone" else one.proof
                            asked[place] = replace(one, name=f"{name}_{one.name}", proof=proof)
                        yield said["block"], asked, group

    def _of_area(self, number: int, name: str) -> bool:
        return any(name.startswith(f"{area.release.block}/") for area in self.levels.areas_of[number])

    def _cell(self, number: int, name: str) -> str:
        return name if self._of_area(number, name) else f"{self.levels.blocks[number].block}/{name}"

    def _node(self, number: int, node: Node) -> Node:
        """A proof about a block alone by the names of all blocks."""
        if isinstance(node, Fork):
            return replace(node, below=self._node(number, node.below), above=self._node(number, node.above))
        rows = {name: y for name, y in node.y.items() if y > 0 or not self._of_area(number, name)}
        return replace(node, y={self._cell(number, name): y for name, y in rows.items()})


# All that a certificate shows.

NO_DATASET = "no dataset fits"
Published = Release | LinearSystem | AreaReleases
Proved = tuple[Published, Mapping[str, Any]]  # what is published, and a certificate about it
Said = tuple[str, int | None, str]  # a line of the index: what is shown, m, of what


@dataclass(frozen=True)
class Export:
    """What some programs show together, of a block."""

    block: str
    said: Sequence[Said]
    programs: Sequence[Callable[[], Program]]


def exports_of(published: Published, certificate: Mapping[str, Any]) -> Iterator[Export]:
    """Check a certificate; then all that it shows."""
    if isinstance(published, LinearSystem):
        name = str(certificate["about"]["name"])
        check_system(published, certificate, name)
        cells = CellExporter(f"System {name}, digest {published.digest}", published, certificate["statements"])
        for number, one in enumerate(cells.proved):
            goal = {"upper": AT_MOST, "lower": AT_LEAST}.get(one.said.side, NO_DATASET)
            said = (goal, one.said.value if one.said.cell else None, one.said.cell)
            yield Export(name, [said], [partial(cells.program, number)])
    elif isinstance(published, AreaReleases):
        areas = AreaExporter(published, certificate)
        yield from _exports(areas, areas.questions())
    else:
        check_block(published, certificate)
        result, domain = form.read_certificate(published, certificate), published.schema.domain
        exporter = Exporter(published, result.lemmas)
        yield from _exports(exporter, ((published.block, *one) for one in questions_of(domain, result)))


def _exports(exporter: Exporter, questions: Iterable[tuple[str, list[Question], Group]]) -> Iterator[Export]:
    for block, asked, group in questions:
        goal = EXACTLY if len(asked) > 1 else asked[0].goal
        said: list[Said] = [(goal, one.m, str(one.where)) for one in group] or [(NO_DATASET, None, "")]
        yield Export(block, said, [partial(exporter.program, one) for one in asked])


def claim_export(release: Release, certificate: Mapping[str, Any], text: str) -> Iterator[Export]:
    """One claim of a certificate, which is checked first."""
    domain, result = release.schema.domain, form.read_certificate(release, certificate)
    check_block(release, certificate)
    asked = parse_claim(text, domain)
    where = set(asked.predicate(domain).clauses)
    claim = next((one for one in result.claims if set(one.where.clauses) == where and one.m == asked.m), None)
    if claim is None:
        raise DataError(
            f"block {release.block}: the claim {asked.predicate(domain)}, m = {asked.m} is not among its "
            f"{len(result.claims)} claims with a proof. Ask `genverify explain` what is known of it"
        )
    halves = claim_questions(domain, [claim], "claim")
    yield from _exports(Exporter(release, result.lemmas), [(release.block, halves, [claim])])
