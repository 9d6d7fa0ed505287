"""The attack on a tract from its block tables, from its tract tables, and from both."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from genverify.attack.attack import attack_release
from genverify.attack.levels import attack_levels
from genverify.attack.verify import Verdict
from genverify.core.claims import Claim
from genverify.core.levels import Levels, make_levels
from genverify.core.seeds import derive_seed
from genverify.solve.settings import ProgramSettings

BLOCKS, TRACT, BOTH = "block tables", "tract tables", "both"


@dataclass(frozen=True)
class Found:
    """What some tables prove of one area (a block, or the whole tract): its claims, and candidates left undecided."""

    tables: str
    area: str
    n: int
    claims: Sequence[Claim]
    undecided: int
    proofs: int
    cells: int


def attack_tract(levels: Levels, settings: ProgramSettings, K: int, min_k: int, seed: int) -> Iterator[Found]:
    """Every block from its own tables and from all; the tract as a whole from its own. Every proof is checked."""
    for block in levels.blocks:
        found = attack_release(block, settings, K, min_k, derive_seed(seed, "generate", block.block))
        open_ = found.counts(Verdict.UNDECIDED).total() + found.counts(Verdict.UNCERTIFIED).total()
        cells = sum(len(half["y"]) for proof in found.certificate["proofs"] for half in proof.values() if "y" in half)
        yield Found(BLOCKS, block.block, block.n, found.claims, open_, len(found.proofs), cells)
    [area] = levels.areas
    whole = make_levels([area.release], [])
    for tables, asked in ((TRACT, whole), (BOTH, levels)):
        seed_here = derive_seed(seed, "tracts", area.release.block)
        for one in attack_levels(asked, settings, K, min_k, seed_here):
            halves = [half for proof in one.proofs for both in proof.certificate["proofs"] for half in both.values()]
            cells = sum(len(half["y"]) for half in halves if "y" in half)
            yield Found(tables, one.block, one.n, one.claims, len(one.undecided), len(halves) // 2, cells)


def claims_frame(tract: str, found: Sequence[Found], names: Sequence[str]) -> pd.DataFrame:
    """The verified claims as rows: tract, tables, area, m, and a code per column (-1: any)."""
    rows = [(tract, one.tables, one.area, claim.m, *claim.codes) for one in found for claim in one.claims]
    frame = pd.DataFrame(rows, columns=["tract", "tables", "area", "m", *names])
    return frame.astype({"m": "int64", **dict.fromkeys(names, "int16")})


def areas_frame(tract: str, found: Sequence[Found], columns: int) -> pd.DataFrame:
    """One row per area and tables: records, how many of them are known in every column, candidates left undecided."""
    rows = [
        (tract, one.tables, one.area, one.n, determined(one.claims, columns), one.undecided, one.proofs, one.cells)
        for one in found
    ]
    names = ["tract", "tables", "area", "records", "determined", "undecided", "proofs", "cells"]
    return pd.DataFrame(rows, columns=names)


def determined(claims: Sequence[Claim], columns: int) -> int:
    """How many records the claims about all columns account for."""
    return sum(claim.m for claim in claims if claim.k == columns)
