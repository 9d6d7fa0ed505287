"""A proof laid out: which published cells, with their labels and counts, force a claim; and the same in words."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from genverify.attack.words.reasons import Reasons
from genverify.checker.file import Forks
from genverify.core.predicates import EVERY, Predicate, Rule
from genverify.core.release import Release


@dataclass(frozen=True)
class Sum:
    """Cells that are added up (over a common denominator), what follows, and the zeros and totals that this rests on."""

    conclusion: str
    over: int
    cells: tuple[tuple[int, str], ...]
    sides: tuple[tuple[int, bool], ...]
    because: tuple[Rule, ...]


@dataclass(frozen=True)
class Either:
    """Two cases: at most `at` records lie in a part, or more."""

    part: str
    at: int
    below: "Layout"
    above: "Layout"


Layout = Sum | Either

CONCLUSIONS = {
    "at_most": "every record that matches counts at least once in this sum, and no record counts below 0",
    "at_least": "no record counts more in this sum than it matches the claim",
    "cannot_be": "no record counts below 0 in this sum, but the sum is: this case cannot be",
    "never_below": "a count is never below 0",
    "none_matches": "no possible record matches",
}


def lay_out(reasons: Reasons, node: Mapping[str, Any], s: int, matching: Sequence[Predicate], forks: Forks = ()) -> Layout:
    """One half of a proof (s = -1: at least m, s = +1: at most m) about the records that match one of the conditions."""
    if "kind" in node:
        return _lay_out_leaf(reasons, node, s, matching, forks)
    part = str(Predicate.of(node["where"])) if "where" in node else f"in the same published cells as {node['like']}"
    below = lay_out(reasons, node["below"], s, matching, [*forks, (node, True)])
    above = lay_out(reasons, node["above"], s, matching, [*forks, (node, False)])
    return Either(part, node["at"], below, above)


def _lay_out_leaf(reasons: Reasons, leaf: Mapping[str, Any], s: int, matching: Sequence[Predicate], forks: Forks) -> Sum:
    because = tuple(reasons.needed(leaf, s, forks, matching))
    weights = leaf.get("w", [])
    if not leaf["y"] and not any(weights):
        return Sum("never_below" if s < 0 else "none_matches", 1, (), (), because)
    sign = s if leaf["kind"] == "bound" else 1
    conclusion = "cannot_be" if leaf["kind"] != "bound" else "at_least" if s < 0 else "at_most"
    cells = tuple((sign * y, name) for name, y in leaf["y"].items())
    sides = tuple((sign * w, below) for (_, below), w in zip(forks, weights, strict=False) if w)
    return Sum(conclusion, leaf.get("d", 1), cells, sides, because)


def explain_proof(reasons: Reasons, proofs: Mapping[str, Any], claim: Mapping[str, Any]) -> Iterator[str]:
    """The two halves of a verified claim's proof, line by line."""
    where = Predicate.of({name: [code] for name, code in claim["where"].items()})
    proof = proofs["proofs"][claim["proof"]]
    yield f"At least {claim['m']}:"
    yield from _lines(reasons, lay_out(reasons, proof["lower"], -1, [where]), "  ")
    yield f"At most {claim['m']}:"
    yield from _lines(reasons, lay_out(reasons, proof["upper"], +1, [where]), "  ")


def contradiction_cells(release: Release, lemmas: Sequence[Mapping[str, Any]], leaf: Mapping[str, Any]) -> list[str]:
    """The cells with which a leaf shows that no dataset fits: those that it adds up, and the zeros that it needs."""
    reasons = Reasons(release, lemmas)
    needed = reasons.needed(leaf, 0, [], [EVERY])
    return [*(_cell(reasons, name) for name in leaf["y"]), *(_exclusion(reasons, rule) for rule in needed)]


def _cell(reasons: Reasons, name: str) -> str:
    return f"{name} = {reasons.count_text(name)} ({reasons.labels[name]})"


def _exclusion(reasons: Reasons, rule: Rule) -> str:
    if rule.name not in reasons.lemmas:
        return _cell(reasons, rule.name)
    lemma = reasons.lemmas[rule.name]
    parts = " + ".join(f"{cell} ({reasons.count_text(cell)})" for cell in lemma["cells"])
    return f"{parts} = {lemma['universe']} ({reasons.count_text(lemma['universe'])}): nobody else is in {lemma['universe']}"


def _lines(reasons: Reasons, layout: Layout, indent: str) -> Iterator[str]:
    """A layout in words: the cases one below the other, each with its sum and its reasons."""
    if isinstance(layout, Either):
        yield f"{indent}either at most {layout.at} records are {layout.part}:"
        yield from _lines(reasons, layout.below, indent + "  ")
        yield f"{indent}or at least {layout.at + 1} records are {layout.part}:"
        yield from _lines(reasons, layout.above, indent + "  ")
        return
    if layout.cells or layout.sides:
        yield f"{indent}add up{f' (all divided by {layout.over})' if layout.over != 1 else ''}:"
    for y, name in layout.cells:
        yield f"{indent}  {y:+d} x {_cell(reasons, name)}"
    for w, below in layout.sides:
        yield f"{indent}  {w:+d} x the {'at most' if below else 'at least'} above"
    yield indent + CONCLUSIONS[layout.conclusion]
    if layout.because:
        yield f"{indent}because no other record is possible:"
        yield from (f"{indent}  {_exclusion(reasons, rule)}" for rule in layout.because)
