"""What a proof rests on: the published cells without which it would not stand."""

from collections.abc import Mapping
from typing import Any

from genverify.attack.words.reasons import Reasons
from genverify.checker.file import leaves
from genverify.core.predicates import Predicate
from genverify.core.release import TOTAL


def proof_cells(reasons: Reasons, proofs: Mapping[str, Any], claim: Mapping[str, Any]) -> list[str]:
    """The published cells that the proof of a claim rests on: those that it adds up, and the zeros and totals it needs."""
    where = [Predicate.of({name: [code] for name, code in claim["where"].items()})]
    cells: dict[str, None] = {}
    for side, s in (("lower", -1), ("upper", +1)):
        for leaf, forks in leaves(proofs["proofs"][claim["proof"]][side]):
            cells |= dict.fromkeys(leaf["y"])
            for rule in reasons.needed(leaf, s, forks, where):
                lemma = reasons.lemmas.get(rule.name)
                cells |= dict.fromkeys([*lemma["cells"], lemma["universe"]] if lemma else [rule.name])
    return [cell for cell in cells if cell != TOTAL]
