"""The attack on a tract from its block tables, from its tract tables, and from both."""

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from genverify.attack.attack import attack_release
from genverify.attack.levels import LevelsAttack
from genverify.attack.verify import Verdict
from genverify.core.claims import Claim
from genverify.core.frames import stack
from genverify.core.levels import Levels, make_levels
from genverify.core.seeds import derive_seed
from genverify.core.timing import progress
from genverify.papers.gtv.tracts.settings import BLOCKS, BOTH, TRACT, TractTables
from genverify.solve.datasets import draw_dataset
from genverify.solve.jointbounds import CHECKS
from genverify.solve.settings import ProgramSettings
from genverify.solve.variability import Variability, solution_variability

log = logging.getLogger(__name__)
DATASETS = 20  # of a block from its own tables
LARGEST_SEARCHED = 20_000_000  # coefficients of a tract's program up to which its solution variability is asked for


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


@dataclass(frozen=True)
class TractFound:
    """What came out of a tract: by area, the proofs from both levels as lines of a file, and what it took as a whole."""

    found: Sequence[Found]
    proofs: Sequence[Mapping[str, Any]]
    whole: Mapping[str, Any]


@dataclass(frozen=True)
class TractsFound:
    """What came out of some tracts, as tables and as lines of a file of proofs."""

    claims: pd.DataFrame
    areas: pd.DataFrame
    whole: pd.DataFrame
    proofs: Sequence[Mapping[str, Any]]


def attack_tracts(
    tracts: Sequence[Levels], names: Sequence[str], settings: ProgramSettings, asked: TractTables, seed: int
) -> TractsFound:
    """Attack one tract after the other; `names` are the columns of a record."""
    found = []
    for levels in progress(tracts, "tracts attacked"):
        one = attack_tract(levels, settings, asked, seed)
        found.append(one)
        log.info("tract %s", ", ".join(f"{name}: {value}" for name, value in one.whole.items()))
    claims = [claims_frame(one.whole["tract"], one.found, names) for one in found]
    areas = [areas_frame(one.whole["tract"], one.found, len(names)) for one in found]
    return TractsFound(
        stack([claims_frame("", [], names), *claims]),
        stack([areas_frame("", [], len(names)), *areas]),
        pd.DataFrame([one.whole for one in found]),
        [line for one in found for line in one.proofs],
    )


def attack_tract(levels: Levels, settings: ProgramSettings, asked: TractTables, seed: int) -> TractFound:
    """Every block from its own tables and from all; the tract as a whole from its own. Every proof is checked."""
    [area] = levels.areas
    found = list(_blocks_alone(levels, settings, asked, seed))
    seed_here = derive_seed(seed, "tracts", area.release.block)
    if area.release.n <= asked.largest_block:
        [one] = LevelsAttack(make_levels([area.release], []), settings, asked.datasets, seed_here).blocks(asked.min_k)
        found.append(_found(TRACT, one.block, one.n, one.claims, one.undecided, one.certificates))
    numbers = np.flatnonzero(levels.sizes <= asked.largest_block).tolist()
    attack = LevelsAttack(levels, settings, asked.datasets, seed_here, numbers)
    lines: list[Mapping[str, Any]] = [{"block": area.release.block, "shared": attack.shared}]
    for one in attack.blocks(asked.min_k):
        found.append(_found(BOTH, one.block, one.n, one.claims, one.undecided, one.certificates))
        lines.append({"block": one.block, "alone": one.alone, "together": one.together})
    return TractFound(found, lines, _whole(attack, found, lines, settings, seed_here))


def _blocks_alone(levels: Levels, settings: ProgramSettings, asked: TractTables, seed: int) -> Iterator[Found]:
    for block in [block for block in levels.blocks if block.n <= asked.largest_block]:
        one = attack_release(block, settings, DATASETS, asked.min_k, derive_seed(seed, "generate", block.block))
        open_ = [d.claim for d in one.decisions if d.verdict in (Verdict.UNDECIDED, Verdict.UNCERTIFIED)]
        yield _found(BLOCKS, block.block, block.n, one.claims, open_, [one.certificate])


def _found(
    tables: str,
    area: str,
    n: int,
    claims: Sequence[Claim],
    open_: Sequence[Claim],
    certificates: Sequence[Mapping[str, Any]],
) -> Found:
    proofs = [proof for certificate in certificates for proof in certificate["proofs"]]
    cells = sum(len(half["y"]) for proof in proofs for half in proof.values() if "y" in half)
    return Found(tables, area, n, claims, len(open_), len(proofs), cells)


def _whole(
    attack: LevelsAttack, found: Sequence[Found], lines: Sequence[Mapping[str, Any]], settings: ProgramSettings, seed: int
) -> dict[str, Any]:
    both = [one for one in found if one.tables == BOTH]
    columns = len(attack.levels.schema.domain.names)
    known = sum(determined(one.claims, columns) for one in both)
    unique = known == int(attack.levels.sizes.sum())
    variability = Variability(0, 0.0, exact=True) if unique else _variability(attack, settings, seed)
    return {
        "tract": lines[0]["block"],
        "persons": int(attack.levels.sizes.sum()),
        "blocks": len(attack.levels.blocks),
        "blocks_not_asked": len(attack.levels.blocks) - len(both),
        "one_solution": unique,
        "solvar": variability.solvar if variability else -1,
        "solvar_exact": bool(variability and variability.exact),
        "classes": attack.joint.A.shape[1],
        "rows": attack.joint.A.shape[0],
        "datasets": len(attack.datasets),
        "linear_programs": attack.bounder.linear_programs,
        "searches": attack.bounder.searches,
        "cells_of_nobody": sum(len(proof["y"]) for proof in attack.shared["nobody"] if "y" in proof),
        "together": sum(len(line["together"]["claims"]) for line in lines[1:] if line["together"]),
        "proof_bytes": sum(len(json.dumps(line, separators=(",", ":"))) for line in lines),
    }


def _variability(attack: LevelsAttack, settings: ProgramSettings, seed: int) -> Variability | None:
    """How far another dataset of the whole tract can be from the first one; None where the tract is too large to ask."""
    rows, classes = attack.joint.A.shape
    if rows * classes > LARGEST_SEARCHED or not attack.joint.alike:
        return None
    program = attack.joint.program()
    records = draw_dataset(program, attack.datasets[0], np.random.default_rng(seed))
    return solution_variability(program, records, settings.make_solver(CHECKS))


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
