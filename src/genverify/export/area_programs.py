"""
Checked proofs about blocks and the areas that they make up as programs, by their composition: one program about the records
of all blocks, whose first column is the block, with the cells of every block and area, those that count nobody among them.

A certificate about a block alone speaks of the block's own cells, and of what its areas leave to it: at most the count of an
area lies in the block. In the program the cell of the area takes that place; its multiplier is never below 0, so that the
records of other blocks only add to the sum. What rules records out for all blocks at once (`nobody`) is a step of its own.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from genverify.checker import certificate as form
from genverify.checker.admitted import Cells
from genverify.checker.area_proofs import AreaChecker
from genverify.checker.certificate import Certificate, ExhaustedTotal, read_bounds, read_certificate, read_nobody
from genverify.export.derivation import TooLarge
from genverify.export.kinds import Record, Region
from genverify.export.record_programs import Asked, Exporter, Group, RecordRow, alike, questions_of
from genverify.model.areas import BLOCK, AreaReleases, seen_from, together
from genverify.model.domain import EVERY, Predicate


class AreaExporter(Exporter):
    """Makes the programs of a certificate of areas, all of which is checked first."""

    def __init__(self, levels: AreaReleases, certificate: Mapping[str, Any]) -> None:
        self.levels, self.certificate = levels, certificate
        self.checker = AreaChecker(levels, certificate)
        list(self.checker.statements(certificate["statements"]))
        nobody = [said.upper for said in read_nobody(self.checker.release, certificate["nobody"])]
        if not all(isinstance(node, form.Leaf) for node in nobody):
            raise TooLarge("what rules records out for all blocks at once is shown by cases, which is not exported")
        lemmas = [lemma for number in range(len(levels.blocks)) for lemma in self._lemmas(number)]
        super().__init__(
            together(levels, zeros=True), lemmas, nobody=[node for node in nobody if isinstance(node, form.Leaf)]
        )
        self.title = f"Areas {self.release.block}, {self.release.n} records; release {self.checker.release.digest}"
        self.here, self.own, self.own_cells = EVERY, self.checker.release, Cells(self.checker.release)

    def questions(self) -> Iterator[tuple[str, Asked, Group]]:
        """The block of every question, and the question, with the claims that its answer settles."""
        for said in self.certificate["statements"]:
            number = self.checker.number_of[said["block"]]
            for text in (said["alone"], said["together"]):
                if text:
                    self.own = seen_from(self.levels, number) if text is said["alone"] else self.checker.release
                    self.own_cells = Cells(self.own)
                    self.here = Predicate.of({BLOCK: [number + 1]}) if text is said["alone"] else EVERY
                    found = self._placed(read_certificate(self.own, text), number)
                    name = "alone" if text is said["alone"] else "together"
                    for asked, group in questions_of(self.domain, found):
                        question = replace(asked.question, name=f"{name}_{asked.question.name}")
                        yield said["block"], replace(asked, question=question), group

    def _part(self, key: str, part: Predicate | Record | str) -> RecordRow:
        """A part of the block alone is one of its records."""
        if isinstance(part, tuple) and not isinstance(part, str):
            region = alike(self.own_cells, self.own.schema.domain, part, self.here)
            return RecordRow(key, f"records in the same published cells as {part}", ((1, region),) if region else ())
        assert isinstance(part, Predicate)
        return RecordRow(key, f"records with {part & self.here}", ((1, Region.of(part & self.here)),))

    def _lemmas(self, number: int) -> Iterator[ExhaustedTotal]:
        """
        The exhausted totals of a block, by the names of all blocks together. Of an area's cell nobody need lie in the block,
        so that it adds nothing to the parts, and is left out of them.
        """
        release = seen_from(self.levels, number)
        for lemma in read_bounds(release, self.certificate["lemmas"].get(release.block, []), []).lemmas:
            parts = [self._cell(number, name) for name in lemma.cells if not self._of_area(number, name)]
            yield ExhaustedTotal(self._cell(number, lemma.universe), tuple(parts))

    def _of_area(self, number: int, name: str) -> bool:
        return any(name.startswith(f"{area.release.block}/") for area in self.levels.areas_of[number])

    def _cell(self, number: int, name: str) -> str:
        return name if self._of_area(number, name) else f"{self.levels.blocks[number].block}/{name}"

    def _placed(self, certificate: Certificate, number: int) -> Certificate:
        """A certificate about a block alone, by the names of all blocks together."""
        if self.own is self.checker.release:
            return certificate
        pairs: dict[int, form.Node] = {}

        def node(one: form.Node) -> form.Node:
            if id(one) not in pairs:
                pairs[id(one)] = self._node(one, number)
            return pairs[id(one)]

        claims = [replace(one, where=one.where & self.here, lower=node(one.lower), upper=node(one.upper))
                  for one in certificate.claims]  # fmt: skip
        return replace(certificate, claims=tuple(claims))

    def _node(self, node: form.Node, number: int) -> form.Node:
        if isinstance(node, form.Fork):
            return replace(node, below=self._node(node.below, number), above=self._node(node.above, number))
        y = {self._cell(number, name): y for name, y in node.y.items() if y > 0 or not self._of_area(number, name)}
        return replace(node, y=y)
