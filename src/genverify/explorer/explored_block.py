"""Proofs for the page: the claims that share a proof are one group, laid out once so that it serves them all."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from genverify.attack.words.layout import CONCLUSIONS, Either, Layout, Sum, lay_out
from genverify.attack.words.reasons import Reasons
from genverify.checker.file import Forks
from genverify.checker.stored import CheckedBlock
from genverify.core.errors import DataError
from genverify.core.predicates import Predicate, Rule
from genverify.core.release import TOTAL

Where = Mapping[str, int]
ALL = -1
"""The cell that holds every record, beside the places of the queries."""
SUM = 5
"""The parts of a plain sum; a split into cases has four."""


def lay_out_block(block: CheckedBlock) -> dict[str, Any]:
    """The checked proofs of a block, each laid out as plain values in which cells are places in the list of queries."""
    found = block.proofs
    reasons = Reasons(block.release, found["lemmas"])
    groups: list[list[Where]] = [[] for _ in found["proofs"]]
    for claim in found["claims"]:
        groups[claim["proof"]].append(claim["where"])
    halves = (_halves(reasons, proof, group) for proof, group in zip(found["proofs"], groups, strict=True))
    return {"block": block.release.block, "proofs": list(halves)}


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


class _Unexplained(Reasons):
    """The cells of a block without the search for what a sum rests on."""

    def needed(self, leaf: Mapping[str, Any], s: int, forks: Forks, matching: Sequence[Predicate]) -> list[Rule]:
        return []


def check_layout(block: CheckedBlock, laid_out: Sequence[Any], source: Path) -> None:
    """
    An error unless laid-out proofs add up what the checked ones do, and the zeros and totals that they rest on are there.

    Cells, multipliers and cases are compared; that the named zeros are enough for words is not searched again.
    """
    reasons = _Unexplained(block.release, block.proofs["lemmas"])
    bare = [[_bare(half) for half in _halves(reasons, proof, [])] for proof in block.proofs["proofs"]]
    known = [_reason(reasons, rule) for rule in reasons.rules]
    shown = [[_bare(half) for half in halves] for halves in laid_out]
    if shown != bare or any(why not in known for halves in laid_out for half in halves for why in _because(half)):
        raise DataError(
            f"{source}: block {block.release.block}: the proofs laid out here are not those that were checked. Remove the "
            "file and let Snakemake lay the proofs out again."
        )


def _bare(layout: list[Any]) -> list[Any]:
    """A plain layout without reasons: they are last in a sum, and a split into cases has none of its own."""
    return layout[:4] if _is_sum(layout) else [*layout[:2], *map(_bare, layout[2:])]


def _because(layout: list[Any]) -> Iterator[Any]:
    if _is_sum(layout):
        yield from layout[4]
    else:
        yield from (why for side in layout[2:] for why in _because(side))


def _is_sum(layout: list[Any]) -> bool:
    return len(layout) == SUM
