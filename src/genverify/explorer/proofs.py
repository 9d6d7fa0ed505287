"""Proofs for the page: the claims that share a proof are one group, laid out once so that it serves them all."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from genverify.explain import CONCLUSIONS, Either, Layout, Sum, lay_out
from genverify.predicates import Predicate, Rule
from genverify.reasons import Reasons
from genverify.release import TOTAL, Release

Where = Mapping[str, int]
ALL = -1
"""The cell that holds every record, beside the places of the queries."""


def lay_out_block(release: Release, found: Mapping[str, Any]) -> dict[str, Any]:
    """The proofs of a block, each laid out as plain values in which cells are places in the list of queries."""
    reasons = Reasons(release, found["lemmas"])
    groups: list[list[Where]] = [[] for _ in found["proofs"]]
    for claim in found["claims"]:
        groups[claim["proof"]].append(claim["where"])
    halves = (_halves(reasons, proof, group) for proof, group in zip(found["proofs"], groups, strict=True))
    return {"block": release.block, "proofs": list(halves)}


def _halves(reasons: Reasons, proof: Mapping[str, Any], group: Sequence[Where]) -> list[Any]:
    """
    At least m match all that the group says, so each claim of it; at most m match even its shortest claims.

    The claims of a group are about the same possible records, so both hold of every one of them.
    """
    every = {name: code for where in group for name, code in where.items()}
    lower = lay_out(reasons, proof["lower"], -1, [_predicate(every)])
    upper = lay_out(reasons, proof["upper"], +1, [_predicate(where) for where in shortest(group)])
    return [_plain(reasons, lower), _plain(reasons, upper)]


def _predicate(where: Where) -> Predicate:
    return Predicate.of({name: [code] for name, code in where.items()})


def shortest(group: Sequence[Where]) -> list[Where]:
    """
    The claims of a group that no other claim of it is part of.

    >>> shortest([{"A": 1, "B": 2}, {"A": 1}, {"B": 2, "C": 3}])
    [{'A': 1}, {'B': 2, 'C': 3}]
    """
    items = [frozenset(where.items()) for where in group]
    least: list[frozenset[tuple[str, int]]] = []
    for item in sorted(set(items), key=len):
        if not any(other <= item for other in least):
            least.append(item)
    return [where for where, item in zip(group, items, strict=True) if item in least]


def _plain(reasons: Reasons, layout: Layout) -> Any:
    if isinstance(layout, Either):
        return [layout.part, layout.at, _plain(reasons, layout.below), _plain(reasons, layout.above)]
    return _plain_sum(reasons, layout)


def _plain_sum(reasons: Reasons, layout: Sum) -> list[Any]:
    """Conclusion, denominator, cells, sides of the cases above, reasons."""
    cells = [part for y, name in layout.cells for part in (y, _place(reasons, name))]
    sides = [[w, int(below)] for w, below in layout.sides]
    because = [_reason(reasons, rule) for rule in layout.because]
    return [list(CONCLUSIONS).index(layout.conclusion), layout.over, cells, sides, because]


def _reason(reasons: Reasons, rule: Rule) -> int | list[int]:
    """A zero cell, or a total that its parts add up to: the total first."""
    if rule.name not in reasons.lemmas:
        return _place(reasons, rule.name)
    lemma = reasons.lemmas[rule.name]
    return [_place(reasons, name) for name in (lemma["universe"], *lemma["cells"])]


def _place(reasons: Reasons, name: str) -> int:
    return ALL if name == TOTAL else reasons.release.schema.position[name]


def lay_out_batch(releases: Mapping[str, Release], proofs: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """The laid-out proofs of every block of a batch."""
    return (lay_out_block(releases[found["block"]], found) for found in proofs)
