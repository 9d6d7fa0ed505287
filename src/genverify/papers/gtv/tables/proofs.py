"""What the proofs of a study are like: how claims were decided, and how many cells a proof needs."""

from collections import Counter
from collections.abc import Iterable, Iterator

import pandas as pd

from genverify.attack.tables import WITHOUT_PROOF
from genverify.checker.file import leaves
from genverify.checker.stored import CheckedBlock


def proof_summary(blocks: pd.DataFrame, checked: Iterable[CheckedBlock]) -> pd.DataFrame:
    """One row per figure, over the distinct blocks of a study."""
    blocks = blocks.drop_duplicates("block")
    by_verdict = {name: int(blocks.filter(regex=rf"^{name}_k\d+$").to_numpy().sum()) for name in
                  ("candidates", "verified", "refuted", "undecided", "uncertified")}  # fmt: skip
    halves: Counter[tuple[int, int, int]] = Counter()
    proved = 0
    for block in checked:
        halves.update(_halves(block))
        proved += len(block.proofs["claims"])
    total = max(1, halves.total())
    unproved = {"verified claims without proof": int(blocks[WITHOUT_PROOF].sum())} if WITHOUT_PROOF in blocks else {}
    decided = int(blocks["decided_lp"].sum()), int(blocks["decided_ip"].sum())
    rows = {
        "blocks": len(blocks),
        **{f"{name} claims": count for name, count in by_verdict.items()},
        "verified claims with a checked proof": proved,
        **unproved,
        "% decided by a linear program or a dataset already seen": 100 * decided[0] / max(1, sum(decided)),
        "% decided by integer search": 100 * decided[1] / max(1, sum(decided)),
        "proofs (two halves each)": halves.total() // 2,
        "% of halves that branch": 100 * sum(n for (ends, _, _), n in halves.items() if ends > 1) / total,
        "mean number of positive cells in a half": sum(cells * n for (_, cells, _), n in halves.items()) / total,
        "% of halves with denominator 1": 100 * sum(n for (_, _, d), n in halves.items() if d == 1) / total,
    }
    return pd.DataFrame({"figure": list(rows), "value": [round(value, 3) for value in rows.values()]})


def _halves(block: CheckedBlock) -> Iterator[tuple[int, int, int]]:
    """Of each half of each proof: its leaves, the published cells with a count above 0 that it names, its denominator."""
    positive = {query.id for query, hi in zip(block.release.queries, block.release.hi, strict=True) if hi > 0}
    for proof in block.proofs["proofs"]:
        for half in (proof["lower"], proof["upper"]):
            ends = [leaf for leaf, _ in leaves(half)]  # a proof by the linear program alone is one leaf
            named = {cell for leaf in ends for cell in leaf["y"]} & positive
            yield len(ends), len(named), max(leaf.get("d", 1) for leaf in ends)
