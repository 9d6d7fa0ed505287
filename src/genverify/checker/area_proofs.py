"""
The checker of proofs about blocks and the areas that they make up.

Every block has its own live records: those that lie in no cell of the block or of its areas that counts 0. Multipliers on
the cells of all blocks and areas give each of them a value, as in checker.check. Those on an area's cells are prices; those
on a block's own cells bound what its records are worth at these prices. First it is shown which records no block can have
(`nobody`): a sum below d that gives each of them at least d, and no other live record less than 0. Proofs about a block
alone, and about all blocks together, need not speak of these records any more.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from genverify.checker import record_proofs
from genverify.checker.certificate import CertificateError, read_lemmas, read_nobody, require_about
from genverify.checker.record_proofs import AdmissibleTypes, Cells, CheckSummary, ProofChecker, SharedConditions, check_block
from genverify.model.areas import BLOCK, AreaReleases, seen_from, together
from genverify.model.arrays import Flags
from genverify.model.domain import Domain, Predicate
from genverify.model.proof_form import AREAS

KEYS = {"version", "about", "model", "lemmas", "nobody", "statements"}
PARTS = ("alone", "together")


class AreaChecker:
    """
    Checks what all blocks share once (the lemmas of each block, and which records nobody has), and then what is proved
    about each block: a statement is the block with two certificates about records, one from what its own tables and its
    areas leave to it (`alone`), one from the cells of all blocks and areas (`together`).
    """

    def __init__(self, levels: AreaReleases, shared: Mapping[str, Any]) -> None:
        self.levels, self.release = levels, together(levels)
        require_about(shared, self.release.block, (AREAS,), self.release.digest)
        if set(shared) != KEYS:
            raise CertificateError(f"{self.release.block}: the keys of a certificate of areas are {', '.join(sorted(KEYS))}")
        if not isinstance(shared["lemmas"], Mapping):
            kind = type(shared["lemmas"]).__name__
            raise CertificateError(f"{self.release.block}: lemmas are listed by block, not as {kind}")
        self.number_of = {block.block: number for number, block in enumerate(levels.blocks)}
        conditions = SharedConditions(levels.schema.domain, _conditions(levels))
        self.own = [self._live(number, conditions, shared["lemmas"]) for number in range(len(levels.blocks))]
        self.types = _joined(self.release.schema.domain, self.own)
        gone = self._nobody(shared["nobody"])
        ends = np.cumsum([0, *(len(types) for types in self.own)])
        self.own = [_without(types, gone[at : at + len(types)]) for types, at in zip(self.own, ends, strict=False)]
        self.types = _without(self.types, gone)

    def statements(self, stated: Sequence[Any]) -> Iterator[tuple[int, list[CheckSummary]]]:
        """The number of each block that is spoken of, once, and what is proved about it."""
        left = set(self.number_of)
        for index, said in enumerate(stated):
            where = f"{self.release.block}, statement {index}"
            if not isinstance(said, Mapping) or set(said) != {"block", *PARTS}:
                raise CertificateError(f"{where}: is not a statement about a block, with the keys block, {', '.join(PARTS)}")
            if said["block"] not in left:
                raise CertificateError(f"{where}: {str(said['block'])[:40]!r} is not one of the blocks, or is listed twice")
            left.remove(said["block"])
            yield self.number_of[said["block"]], self.check(self.number_of[said["block"]], said["alone"], said["together"])

    def check(self, number: int, alone: Mapping[str, Any] | None, together: Mapping[str, Any] | None) -> list[CheckSummary]:
        """All that is proved about a block."""
        result = [self.alone(number, alone)] if alone else []
        return result + ([self.together(together)] if together else [])

    def alone(self, number: int, certificate: Mapping[str, Any]) -> CheckSummary:
        """What is proved about a block from its own cells, and from what its areas leave to it."""
        return check_block(seen_from(self.levels, number), certificate, self.own[number])

    def together(self, certificate: Mapping[str, Any]) -> CheckSummary:
        """What is proved from the cells of all blocks and areas."""
        return check_block(self.release, certificate, self.types)

    def own_where(self, number: int, where: Predicate) -> dict[str, int]:
        """What a claim says of the records of a block, without the block; an error where it is about another one."""
        said = {name: codes[0] for name, codes in where.clauses}
        if said.pop(BLOCK, number + 1) != number + 1:
            raise CertificateError(f"block {self.levels.blocks[number].block}: a proof is about another block")
        return said

    def _live(self, number: int, conditions: SharedConditions, lemmas: Mapping[str, Any]) -> AdmissibleTypes:
        release = seen_from(self.levels, number)
        known = read_lemmas(release, lemmas.get(release.block, []))
        cells = record_proofs.checked_cells(release, known)
        return record_proofs.live_records(release, cells, conditions, known, ())

    def _nobody(self, proofs: Any) -> Flags:
        """The live records that the proofs rule out: where the sum is below d, nobody is worth d or more."""
        gone: Flags = np.zeros(len(self.types), dtype=bool)
        checker = ProofChecker(Cells(self.release), self.types)
        for said in read_nobody(self.release, proofs):
            proved = checker.proof(said.upper, 1, said)
            if proved.limit is None or proved.limit > 0:
                raise CertificateError(f"{said.path}: the proof allows {proved.limit} records")
            gone |= ~record_proofs.flags_of(proved.open, len(self.types))
        return gone


def _conditions(levels: AreaReleases) -> tuple[Predicate, ...]:
    """All that some cell tells apart, the same for every block, so that their live records can be put together."""
    domain, result = levels.schema.domain, dict[Predicate, None]()
    releases = {(id(r.schema), r.cells.tobytes()): r for r in (*levels.blocks, *(area.release for area in levels.areas))}
    for release in releases.values():
        cells = Cells(release)
        for query in release.queries:
            result[query.predicate] = None
            if query.sums is not None:
                result[cells[query.id].adding(domain)] = None
                result |= dict.fromkeys(Predicate.of({query.sums: [code]}) for code in domain[query.sums].codes)
    return tuple(result)


def _joined(domain: Domain, part: Sequence[AdmissibleTypes]) -> AdmissibleTypes:
    block = np.repeat(np.arange(len(part)), [len(types) for types in part]).astype(np.int16)
    table = np.vstack([block[None, :], np.concatenate([types.table for types in part], axis=1)])
    return AdmissibleTypes(domain, [[(code,) for code in domain.columns[0].codes], *part[0].atoms], table)


def _without(types: AdmissibleTypes, gone: Flags) -> AdmissibleTypes:
    return AdmissibleTypes(types.domain, types.atoms, types.table[:, ~gone])
