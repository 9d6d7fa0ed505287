"""
Checked proofs about a system of sums as programs: the cells are columns, the sums are rows. A proof may use what was shown
before it: that is derived on the way, one row for each end, and what this rests on before that.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from genverify.checker.certificate import (
    ATTAINS,
    EMPTY,
    CellBound,
    CertificateError,
    Leaf,
    Node,
    linear_reader,
    read_cell_bound,
)
from genverify.export.derivation import MOST, Program, Question, Row, Step, TooLarge, leaves, mapped, unique
from genverify.model.linear import OPEN, LinearSystem
from genverify.model.proof_form import AT_LEAST, AT_MOST, NEVER

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
        reader = linear_reader(system.row_place, system.place)
        self.known: Known = {}
        for cell, (lo, hi) in enumerate(zip(system.lo.tolist(), system.hi.tolist(), strict=True)):
            self.known |= {(cell, 1): (hi, -1), (cell, -1): (-lo, -1)}  # s x <= value
        self.proved: list[_ProvedStatement] = []
        for number, text in enumerate(text for text in statements if text["side"] != ATTAINS):  # points are no derivation
            self._take(read_cell_bound(reader, text, f"statement {number}"), number)

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
        goal = {"upper": AT_MOST, "lower": AT_LEAST, EMPTY: NEVER}[said.side]
        words = f"Shown: {said.cell} is {goal} {said.value}" if said.cell else "Shown: no counts fit all sums"
        ends = [(int(system.lo[cell]), int(system.hi[cell])) for cell in column]
        result = Program(
            self.title,
            tuple(f"x{index}" for index in range(len(ends))),
            ends,
            listed,
            ("Cells: x<k> is the count of a cell", *(f"{system.cells[cell]}{_ends(system, cell)}" for cell in column)),
            Question(f"statement_{number}", (words,), goal, said.value),
            {column[system.place[said.cell]]: 1} if said.cell else {},
            parts,
            tuple(steps),
            trees[number],
        )
        if not result.adds_up():
            raise CertificateError(f"statement {number}: the exported proof does not add up")
        return result

    def _published(self, name: str, plain: str, column: Mapping[int, int]) -> Row:
        """A sum that is published; a cell that it names twice counts with both weights."""
        row, vector = self.system.row_place[name], dict[int, int]()
        for cell, part in self._row(name):
            vector[column[cell]] = vector.get(column[cell], 0) + part
        ends = [int(side[row]) for side in (self.system.least, self.system.most)]
        return Row(
            plain, name, {at: part for at, part in vector.items() if part}, *(None if abs(e) == OPEN else e for e in ends)
        )


def _ends(system: LinearSystem, cell: int) -> str:
    lo, hi = int(system.lo[cell]), int(system.hi[cell])
    return f", published {lo}" if lo == hi else f", {lo} or more" if hi == OPEN else f", {lo} to {hi}"
