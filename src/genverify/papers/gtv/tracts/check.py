"""The stored proofs about tracts, checked again from files: the counts, the proofs, and the claims that they carry."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from genverify.checker.file import read_proofs
from genverify.checker.form import CertificateError
from genverify.checker.levels import LevelsChecker
from genverify.core.claims import ANY
from genverify.core.levels import BLOCK, Levels
from genverify.papers.gtv.tracts.settings import BOTH

Said = set[tuple[int, ...]]


def read_tracts(path: Path) -> Iterator[tuple[Mapping[str, Any], list[Mapping[str, Any]]]]:
    """The proofs of each tract of a file: what its blocks share, and those of each block."""
    shared: Mapping[str, Any] | None = None
    blocks: list[Mapping[str, Any]] = []
    for line in read_proofs(path):
        if "shared" in line:
            if shared is not None:
                yield shared, blocks
            shared, blocks = line, []
        elif shared is None:
            raise CertificateError(f"{path}: block {line['block']} comes before what its tract shares")
        else:
            blocks.append(line)
    if shared is not None:
        yield shared, blocks


def check_tract(
    levels: Levels, shared: Mapping[str, Any], blocks: Sequence[Mapping[str, Any]], claims: pd.DataFrame
) -> dict[str, Any]:
    """Check every proof of a tract; the claims that are reported must be the ones that are proved."""
    names = levels.schema.domain.names
    number_of = {block.block: number for number, block in enumerate(levels.blocks)}
    if not {line["block"] for line in blocks} <= set(number_of) or len({line["block"] for line in blocks}) < len(blocks):
        raise CertificateError(f"{shared['block']}: the proofs are of other blocks than the counts. Verify it again.")
    checker, proved, one_solution, known = LevelsChecker(levels, shared["shared"]), 0, 0, 0
    reported = {str(area): own for area, own in claims[claims["tables"] == BOTH].groupby("area")}
    if not set(reported) <= {line["block"] for line in blocks}:
        raise CertificateError(f"{shared['block']}: claims are reported about a block without proofs")
    for line in blocks:
        number, said = number_of[line["block"]], Said()
        for checked in checker.check(number, line["alone"], line["together"]):
            for statement in checked.statements:
                where = {name: codes[0] for name, codes in statement.where.clauses}
                if where.pop(BLOCK, number + 1) != number + 1:
                    raise CertificateError(f"block {line['block']}: a proof is about another block")
                said.add((statement.m, *(where.get(name, ANY) for name in names)))
        own = reported.get(line["block"])
        rows = set() if own is None else set(own[["m", *names]].itertuples(index=False, name=None))
        if rows != said:
            raise CertificateError(
                f"block {line['block']}: {len(rows ^ said)} claims are reported without proof, or not at all"
            )
        full = sum(m for m, *codes in said if ANY not in codes)
        proved, known = proved + len(said), known + full
        one_solution += full == levels.blocks[number].n
    return {
        "tract": shared["block"], "blocks": len(blocks), "claims": proved, "determined": known, "one_solution": one_solution,
    }  # fmt: skip
