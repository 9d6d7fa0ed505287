"""
A proof as a program that stands on its own: classes of records over the whole domain, published cells as rows, a goal, and a
derivation in which every leaf is one linear combination of rows and of z >= 0.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from genverify.checker import form
from genverify.core.predicates import Predicate
from genverify.core.release import Release
from genverify.show.export.signatures import Kind, Region

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
    below: "Node"
    above: "Node"


Node = Leaf | Fork


@dataclass(frozen=True)
class Program:
    """Published rows and parts of forks by key, the classes, what a record of each adds to each row, the derivation."""

    release: Release
    question: Question
    rows: Mapping[str, Row]
    parts: Mapping[str, Row]
    kinds: Sequence[Kind]
    added: Mapping[str, Sequence[int]]
    tree: Node

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


def leaves(node: Node, path: Path = ()) -> Iterator[tuple[Leaf, Path]]:
    """Every leaf with the forks above it, outermost first."""
    if isinstance(node, Leaf):
        yield node, path
    else:
        yield from leaves(node.below, (*path, (node.part, node.at, True)))
        yield from leaves(node.above, (*path, (node.part, node.at, False)))
