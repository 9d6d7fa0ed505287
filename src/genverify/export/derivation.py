"""
An exported proof: a system of linear rows over whole numbers, what is to be shown of it, and a derivation in which every
leaf is one linear combination of rows (y), of the sides of the forks above (w), and of the ends of columns, all over d. The
part of a fork is known by its name.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from genverify.checker.certificate import EMPTY, Leaf, Node
from genverify.model.errors import DataError
from genverify.model.linear import OPEN
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
    """
    A name without spaces and brackets.

    >>> plain("north area/by sex.f")
    'north_area/by_sex.f'
    """
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
