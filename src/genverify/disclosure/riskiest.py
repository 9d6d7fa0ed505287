"""The riskiest cells: how many proofs rest on each published cell."""

from collections import Counter
from typing import Any

import pandas as pd

from genverify.attack.words.reasons import Reasons
from genverify.attack.words.support import proof_cells
from genverify.core.release import Release
from genverify.disclosure.cells import SIZES

MOST_PROOFS = 300


def riskiest_cells(releases: tuple[Release, ...], proofs: tuple[dict[str, Any], ...]) -> pd.DataFrame:
    """
    Published cells with the number of proofs of singleton claims that use them, most used first.

    Claims that share a proof count once. Of each area at most MOST_PROOFS proofs are looked at, in order.
    """
    rows = []
    for release, proof in zip(releases, proofs, strict=True):
        used = _used(release, proof)
        for query, lo, hi in zip(release.queries, release.lo.tolist(), release.hi.tolist(), strict=True):
            if used[query.id] and query.table != SIZES:
                rows.append((release.block, query.id, query.label, lo, hi, used[query.id]))
    frame = pd.DataFrame(rows, columns=["block", "cell", "label", "lo", "hi", "proofs"])
    return frame.sort_values(["proofs", "block", "cell"], ascending=[False, True, True], ignore_index=True)


def _used(release: Release, proofs: dict[str, Any]) -> Counter[str]:
    """How many proofs of singleton claims rest on each cell."""
    first: dict[int, dict[str, Any]] = {}
    for claim in proofs["claims"]:
        if claim["m"] == 1:
            first.setdefault(claim["proof"], claim)
    used: Counter[str] = Counter()
    reasons = Reasons(release, proofs["lemmas"])
    for claim in list(first.values())[:MOST_PROOFS]:
        used.update(proof_cells(reasons, proofs, claim))
    return used
