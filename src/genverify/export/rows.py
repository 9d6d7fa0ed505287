"""
From a checked proof to a program over the whole domain.

Our checker looks at live records only; here nothing is left out beforehand. Where a leaf is short on records that cannot
exist, the rows that rule them out join its combination: a zero cell, or a total less the cells that exhaust it, M times,
M the largest shortage there. Both add at most 0 to the total.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random

from genverify.checker import form
from genverify.checker.cells import Cells
from genverify.checker.check import CertificateError
from genverify.core.domain import Domain
from genverify.core.predicates import EVERY, Predicate
from genverify.core.release import Release
from genverify.core.seeds import derive_seed
from genverify.show.export.exclusions import CELL, Exclusion, Exclusions, cell_rows
from genverify.show.export.program import CLAIM, NEVER, Fork, Leaf, Node, Program, Question, Row, leaves
from genverify.show.export.signatures import Kinds, Record, Region

SAMPLES = 50  # records to look at where a leaf is short
Table = tuple[Kinds, dict[str, list[int]]]


class Exporter:
    """Makes the programs of one block; its proofs were checked before."""

    def __init__(self, release: Release, lemmas: Sequence[form.Lemma]) -> None:
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

    def _tree(self, node: form.Node, parts: dict[str, Row]) -> Node:
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


def _raised(program: Program, tree: Node, chosen: Sequence[Exclusion]) -> Node:
    """The derivation with the exclusions in it: each leaf takes as much of them as it is short."""
    made = iter([_with(program, leaf, program.excess(leaf, path), chosen) for leaf, path in leaves(tree)])
    return _replaced(tree, made)


def _replaced(node: Node, made: Iterator[Leaf]) -> Node:
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
