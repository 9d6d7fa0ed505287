"""Exported proofs as linear programs with their derivations, and those of checked proofs about a system of sums."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from genverify.checker import certificate as form
from genverify.checker.certificate import EMPTY, CellBound, CertificateError, Leaf, Node
from genverify.model.errors import DataError
from genverify.model.linear import OPEN, LinearSystem
from genverify.model.proof_form import AT_LEAST, AT_MOST, NEVER

MOST = 20_000  # columns of one proof, kinds of records or cells: bounds the size of the files
SIGN = {AT_MOST: 1, AT_LEAST: -1, NEVER: 0}
CLAIM = "claim"
FORBIDDEN = re.compile(r"[^\w.:/+<>=-]+", re.ASCII)
Vector = Mapping[int, int]  # weights by column
Path = tuple[tuple[str, int, bool], ...]  # of each fork above: its part, its t, whether we are below it


class TooLarge(DataError):
    """A proof that a file of readable size cannot hold."""


@dataclass(frozen=True)
class Question:
    """What is to be shown of COUNT: that it is at most m, at least m, or never m. `never` of nothing: nothing fits."""

    name: str
    words: tuple[str, ...]
    goal: str
    m: int

    def called(self, prefix: str) -> "Question":
        return replace(self, name=f"{prefix}{self.name}")


@dataclass(frozen=True)
class Row:
    """lo <= the sum of the weights times the columns <= hi; a row without both is the claim, or the part of a fork."""

    name: str
    words: str
    vector: Vector
    lo: int | None = None
    hi: int | None = None


@dataclass(frozen=True)
class Step:
    """A row that is shown on the way: its sum is at most hi."""

    row: Row
    tree: Node


@dataclass(frozen=True)
class Program:
    """A question about `count` in published rows, columns with their ends, and its derivation. None exceeds `largest`."""

    title: str
    names: tuple[str, ...]
    ends: Sequence[tuple[int, int]]
    rows: Mapping[str, Row]
    columns: tuple[str, ...]
    question: Question
    count: Vector
    parts: Mapping[str, Row]
    steps: tuple[Step, ...]
    tree: Node
    largest: int | None = None

    @cached_property
    def known(self) -> dict[str, Row]:
        """The rows that a leaf may name: published ones, and those shown on the way."""
        return {**self.rows, **{step.row.name: step.row for step in self.steps}}

    def target(self, leaf: Leaf, of: Row | None) -> dict[int, int]:
        """d times what a leaf bounds from above: the row of a step, the count with the sign of the goal, or nothing."""
        sign = 0 if leaf.kind == EMPTY else 1 if of else SIGN[self.question.goal]
        return {column: sign * leaf.d * part for column, part in (of.vector if of else self.count).items()} if sign else {}

    def bound(self, leaf: Leaf, of: Row | None) -> int:
        """What the target of a leaf must not exceed: the right side of what is to be shown."""
        return -1 if self.opposes(leaf, of) else of.hi or 0 if of else SIGN[self.question.goal] * self.question.m

    def opposes(self, leaf: Leaf, of: Row | None) -> bool:
        """Whether a leaf shows that its case cannot be, and not a bound."""
        return leaf.kind == EMPTY or (of is None and self.question.goal == NEVER)

    def left(self, leaf: Leaf, path: Path, of: Row | None) -> dict[int, int]:
        """What a leaf leaves of each column: the ends of the columns have to bound it. d target = rows + sides + left."""
        left = self.target(leaf, of)
        terms = [(self.known[name].vector, y) for name, y in leaf.y.items()]
        terms += [(self.parts[part].vector, w) for w, (part, _, _) in zip(leaf.w, path, strict=True) if w]
        for vector, y in terms:
            for column, entry in vector.items():
                left[column] = left.get(column, 0) - y * entry
        return {column: entry for column, entry in left.items() if entry}

    def total(self, leaf: Leaf, path: Path, of: Row | None) -> int:
        """The most that d times the target can be by a leaf; an error where it uses an end that is not there."""
        result = sum(w * (at if below else at + 1) for w, (_, at, below) in zip(leaf.w, path, strict=True))
        for name, y in leaf.y.items():
            end = self.known[name].hi if y > 0 else self.known[name].lo
            result += y * _known_end(end, name)
        for column, part in self.left(leaf, path, of).items():
            end = self.ends[column][part > 0]
            result += part * _known_end(None if abs(end) == OPEN else end, self.names[column])
        return result

    def adds_up(self) -> bool:
        """Whether every leaf shows what it has to."""
        for of, tree in [*((step.row, step.tree) for step in self.steps), (None, self.tree)]:
            for leaf, path in leaves(tree):
                if any(w < 0 if below else w > 0 for w, (_, _, below) in zip(leaf.w, path, strict=True)):
                    return False
                if self.total(leaf, path, of) // leaf.d > self.bound(leaf, of):
                    return False
        return True


def _known_end(end: int | None, name: str) -> int:
    if end is None:
        raise DataError(f"the exported proof uses an end of {name}, which has none there")
    return end


def leaves(node: Node, path: Path = ()) -> Iterator[tuple[Leaf, Path]]:
    """Every leaf with the forks above it, outermost first."""
    if isinstance(node, Leaf):
        yield node, path
    else:
        yield from leaves(node.below, (*path, (str(node.part), node.at, True)))
        yield from leaves(node.above, (*path, (str(node.part), node.at, False)))


def mapped(node: Node, change: Callable[[Leaf], Leaf], prefix: str = "") -> Node:
    """The same forks, with a prefix to the names of their parts, above changed leaves."""
    if isinstance(node, Leaf):
        return change(node)
    below, above = (mapped(side, change, prefix) for side in (node.below, node.above))
    return replace(node, part=f"{prefix}{node.part}", below=below, above=above)


def plain(name: str) -> str:
    """A name without spaces and brackets."""
    return FORBIDDEN.sub("_", name) or "_"


def unique(names: Iterable[str]) -> list[str]:
    """
    A plain name for each, no two alike.

    >>> unique(["a b", "a_b"])
    ['a_b', 'a_b_2']
    """
    result: dict[str, None] = {}
    for part in map(plain, names):
        name, number = part, 1
        while name in result:
            number += 1
            name = f"{part}_{number}"
        result[name] = None
    return list(result)


LONGEST = 2_000  # steps of one proof: bounds the size of the files
End = tuple[int, int]  # a cell, and +1 for its upper end or -1 for its lower one
Known = dict[End, tuple[int, int]]  # the value of an end, and the statement that shows it (-1: it is published)


@dataclass(frozen=True)
class _ProvedStatement:
    """A statement with its derivation: rows and the numbers of earlier statements ("#3") with their multipliers."""

    said: CellBound
    tree: Node
    parts: Mapping[str, int]
    uses: frozenset[int]


class CellExporter:
    """Makes the programs of statements about a system, which were checked before."""

    def __init__(self, title: str, system: LinearSystem, statements: Sequence[Mapping[str, Any]]) -> None:
        self.title, self.system = title, system
        self.starts = system.start.tolist()
        self.entries = list(zip(system.columns.tolist(), system.weights.tolist(), strict=True))
        reader = form.linear_reader(system.row_place, system.place)
        self.known: Known = {}
        for cell, (lo, hi) in enumerate(zip(system.lo.tolist(), system.hi.tolist(), strict=True)):
            self.known |= {(cell, 1): (hi, -1), (cell, -1): (-lo, -1)}  # s x <= value
        self.proved: list[_ProvedStatement] = []
        for number, text in enumerate(text for text in statements if text["side"] != form.ATTAINS):  # points derive nothing
            self._take(form.read_cell_bound(reader, text, f"statement {number}"), number)

    def _take(self, said: CellBound, number: int) -> None:
        parts, uses = dict[str, int](), set[int]()
        sign = 0 if said.side == EMPTY else 1 if said.side == "upper" else -1
        cell = self.system.place[said.cell] if sign else -1
        tree = self._tree({cell: sign} if sign else {}, said.proof, (), parts, uses)
        self.proved.append(_ProvedStatement(said, tree, parts, frozenset(uses)))
        if sign and sign * said.value < self.known[cell, sign][0]:
            self.known[cell, sign] = sign * said.value, number

    def _tree(
        self, c: Mapping[int, int], node: Node, above: tuple[tuple[int, int, bool], ...], parts: dict[str, int],
        uses: set[int],
    ) -> Node:  # fmt: skip
        """The proof with explicit multipliers on the sides of forks and on what was shown before."""
        if isinstance(node, Leaf):
            return self._leaf(c, node, above, uses)
        cell, key = self.system.place[str(node.part)], f"fork{len(parts) + 1}"
        parts[key] = cell
        below, over = (
            self._tree(c, side, (*above, (cell, node.at, is_below)), parts, uses)
            for side, is_below in ((node.below, True), (node.above, False))
        )
        return replace(node, part=key, below=below, above=over)

    def _leaf(self, c: Mapping[int, int], leaf: Leaf, above: tuple[tuple[int, int, bool], ...], uses: set[int]) -> Leaf:
        narrowed: dict[End, tuple[int, int]] = {}  # of a cell that a fork splits: the end, and the number of the fork
        for index, (cell, at, below) in enumerate(above):
            key, value = (cell, 1 if below else -1), at if below else -at - 1
            if value < narrowed.get(key, self.known[key])[0]:
                narrowed[key] = value, index
        for cell, s in narrowed:
            if self._end((cell, s), narrowed) + self._end((cell, -s), narrowed) < 0:  # no count is left in this case
                return self._used(Leaf(leaf.path, EMPTY, {}, 1), {(cell, 1): 1, (cell, -1): 1}, narrowed, len(above), uses)
        rows, most, least = {name: y for name, y in leaf.y.items() if y}, self.system.most, self.system.least
        for wanted in ({}, c) if leaf.kind == EMPTY else (c,):
            left = {cell: leaf.d * part for cell, part in wanted.items()}
            for name, y in rows.items():
                for cell, part in self._row(name):
                    left[cell] = left.get(cell, 0) - y * part
            ends = {(cell, 1 if part > 0 else -1): abs(part) for cell, part in left.items() if part}
            total = sum(y * int((most if y > 0 else least)[self.system.row_place[name]]) for name, y in rows.items())
            total += sum(weight * self._end(key, narrowed) for key, weight in ends.items())
            if wanted or leaf.kind != EMPTY or total < 0:
                shown = replace(leaf, y=rows, kind="bound" if wanted else leaf.kind)
                return self._used(shown, ends, narrowed, len(above), uses)
        raise CertificateError(f"{leaf.path}: shows nothing")

    def _end(self, key: End, narrowed: Mapping[End, tuple[int, int]]) -> int:
        return narrowed.get(key, self.known[key])[0]

    def _used(
        self, leaf: Leaf, ends: Mapping[End, int], narrowed: Mapping[End, tuple[int, int]], forks: int, uses: set[int]
    ) -> Leaf:
        """The leaf, with what it takes from forks as sides, and from earlier statements as rows; the rest is published."""
        sides, taken = [0] * forks, {f"={name}": y for name, y in leaf.y.items()}
        for key, end in ends.items():
            if key in narrowed:
                sides[narrowed[key][1]] += key[1] * end
            elif (number := self.known[key][1]) >= 0:
                uses.add(number)
                taken[f"#{number}"] = taken.get(f"#{number}", 0) + end
        return replace(leaf, y=taken, w=tuple(sides))

    def program(self, number: int) -> Program:
        """The program of a statement: the rows and cells that it rests on, directly or by what was shown before."""
        needed, left = {number}, [number]
        while left:
            left += sorted(more := self.proved[left.pop()].uses - needed)
            needed |= more
        if len(needed) > LONGEST:
            raise TooLarge(f"statement {number} rests on {len(needed) - 1} others, over the limit of {LONGEST}")
        steps = [self.proved[index] for index in sorted(needed)]
        rows = dict.fromkeys(name[1:] for one in steps for leaf, _ in leaves(one.tree) for name in leaf.y if name[0] == "=")
        named = {self.system.place[one.said.cell] for one in steps if one.said.cell}
        named |= {cell for name in rows for cell, _ in self._row(name)}
        cells = sorted(named | {cell for one in steps for cell in one.parts.values()})
        if len(cells) > MOST:
            raise TooLarge(f"statement {number} is about {len(cells)} cells, over the limit of {MOST}")
        return self._assembled(number, sorted(needed), list(rows), {cell: at for at, cell in enumerate(cells)})

    def _row(self, name: str) -> list[tuple[int, int]]:
        row = self.system.row_place[name]
        return self.entries[self.starts[row] : self.starts[row + 1]]

    def _assembled(self, number: int, needed: Sequence[int], rows: Sequence[str], column: Mapping[int, int]) -> Program:
        system, plain = self.system, dict(zip(rows, unique(rows), strict=True))
        listed = {plain[name]: self._published(name, plain[name], column) for name in rows}
        renamed = {f"={name}": part for name, part in plain.items()} | {f"#{index}": f"shown#{index}" for index in needed}
        parts, steps, trees = dict[str, Row](), list[Step](), dict[int, Node]()
        for index in needed:
            one, prefix = self.proved[index], "" if index == number else f"s{index}_"
            for key, cell in one.parts.items():
                parts[prefix + key] = Row(prefix + key, f"the cell {system.cells[cell]}", {column[cell]: 1})
            trees[index] = mapped(
                one.tree, lambda leaf: replace(leaf, y={renamed[name]: y for name, y in leaf.y.items()}), prefix
            )
            if index != number:
                sign = 1 if one.said.side == "upper" else -1
                vector = {column[system.place[one.said.cell]]: sign}
                words = f"{one.said.cell} {'<=' if sign > 0 else '>='} {one.said.value}"
                steps.append(Step(Row(f"shown#{index}", words, vector, hi=sign * one.said.value), trees[index]))
        said = self.proved[number].said
        named = [system.place[said.cell]] if said.cell else []
        goal = {"upper": AT_MOST, "lower": AT_LEAST, EMPTY: NEVER}[said.side]
        words = f"Shown: {said.cell} is {goal} {said.value}" if said.cell else "Shown: no counts fit all sums"
        ends = [(int(system.lo[cell]), int(system.hi[cell])) for cell in column]
        about = ("Cells: x<k> is the count of a cell", *(f"{system.cells[cell]}{_ends(system, cell)}" for cell in column))
        names, count = tuple(f"x{index}" for index in column.values()), {column[cell]: 1 for cell in named}
        question = Question(f"statement_{number}", (words,), goal, said.value)
        result = Program(self.title, names, ends, listed, about, question, count, parts, tuple(steps), trees[number])
        if not result.adds_up():
            raise CertificateError(f"statement {number}: the exported proof does not add up")
        return result

    def _published(self, name: str, plain: str, column: Mapping[int, int]) -> Row:
        """A sum that is published; a cell that it names twice counts with both weights."""
        row, vector = self.system.row_place[name], dict[int, int]()
        for cell, part in self._row(name):
            vector[column[cell]] = vector.get(column[cell], 0) + part
        ends = [int(side[row]) for side in (self.system.least, self.system.most)]
        filled = {at: part for at, part in vector.items() if part}
        return Row(plain, name, filled, *(None if abs(end) == OPEN else end for end in ends))


def _ends(system: LinearSystem, cell: int) -> str:
    lo, hi = int(system.lo[cell]), int(system.hi[cell])
    return f", published {lo}" if lo == hi else f", {lo} or more" if hi == OPEN else f", {lo} to {hi}"
