"""What the page shows of one block: its published counts, and its verified claims in groups that share a proof."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from genverify.core.arraytypes import Ints
from genverify.core.claims import ANY
from genverify.core.errors import DataError
from genverify.core.frames import read_blocks
from genverify.core.release import Release
from genverify.show.explorer.packing import levels, mask_width, pack

PRIORS = ("tract", "tract_leave_out", "county", "state", "nation", "uniform")


def block_entry(release: Release, claims: pd.DataFrame, proofs: Sequence[Any]) -> dict[str, Any]:
    """A block as plain values: N, the counts that are not 0, what is withheld, the groups of claims."""
    return {"n": release.n, **_published(release), "groups": _groups(release, claims, proofs)}


def _published(release: Release) -> dict[str, Any]:
    """Cells and counts in turn (a range where the count is not exact); cells that are not published."""
    counts: list[Any] = []
    for cell, lo, hi in zip(release.cells.tolist(), release.lo.tolist(), release.hi.tolist(), strict=True):
        if hi:
            counts += [cell, hi if lo == hi else [lo, hi]]
    known = set(release.cells.tolist())
    return {"counts": counts, "withheld": [cell for cell in range(len(release.schema.queries)) if cell not in known]}


def _groups(release: Release, claims: pd.DataFrame, proofs: Sequence[Any]) -> list[dict[str, Any]]:
    """Claims about fewest households first, then those that say most; a claim without a proof is a group of its own."""
    names = list(release.schema.domain.names)
    proof = claims["proof"].fillna(-1).to_numpy(dtype=np.int64)
    keys = np.where(proof >= 0, proof, -1 - np.arange(len(claims)))
    codes = claims[names].fillna(ANY).to_numpy(dtype=np.int64)
    m, k, effective = (claims[name].to_numpy(dtype=np.int64) for name in ("m", "k", "effective_k"))
    priors = [levels(claims[prior].to_numpy(dtype=np.float64)) for prior in PRIORS]
    forms = [((codes != ANY) << np.arange(len(names))).sum(axis=1), effective, *priors]
    order = np.lexsort((-effective, -k, keys))
    rows = np.split(order, np.flatnonzero(np.diff(keys[order])) + 1) if len(order) else []
    found = sorted(rows, key=lambda own: (m[own[0]], -k[own[0]], -effective[own[0]], keys[own[0]]))
    return [_group(int(keys[own[0]]), int(m[own[0]]), codes[own[0]], [part[own] for part in forms], proofs) for own in found]


def _group(key: int, m: int, codes: Ints, forms: Sequence[Ints], proofs: Sequence[Any]) -> dict[str, Any]:
    """The longest claim of a group with its proof, and every form of it: columns, effective k and baselines, packed."""
    entry: dict[str, Any] = {"m": m, "codes": codes.tolist(), "forms": pack(forms, form_widths(len(codes)))}
    if key >= 0:
        entry |= {"id": key, "proof": proofs[key]}
    return entry


def form_widths(columns: int) -> list[int]:
    """Characters of a packed form: its columns, its effective k, its probability under each prior."""
    return [mask_width(columns), 1, *[2] * len(PRIORS)]


def claims_by_block(
    claims: Path, baselines: Path, blocks: Collection[str]
) -> tuple[Mapping[str, pd.DataFrame], pd.DataFrame]:
    """
    The claims of each of the blocks with their probabilities, and of a block that has none.

    A claim is listed once although its block may serve two designs.
    """
    listed, likely = read_blocks(claims, blocks), read_blocks(baselines, blocks)
    if not listed[["block", "k", "m"]].equals(likely[["block", "k", "m"]]):
        raise DataError(f"{baselines}: it has not a row for each row of {claims}. Make both again.")
    joined = pd.concat([listed, likely[list(PRIORS)]], axis=1)
    first = joined.groupby("block")["design"].transform("first")
    return {str(block): rows for block, rows in joined[joined["design"] == first].groupby("block")}, joined.iloc[:0]
