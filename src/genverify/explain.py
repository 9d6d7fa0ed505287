"""A proof in words: which published cells, with their labels and counts, force a claim."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from genverify.predicates import EVERY, Predicate, Rule
from genverify.program.types import Types, live_types
from genverify.release import TOTAL, Release

Ints = npt.NDArray[np.int64]
MAX_TYPES = 2_000_000
Forks = list[tuple[Mapping[str, Any], bool]]


def explain_proof(release: Release, proofs: Mapping[str, Any], claim: Mapping[str, Any]) -> Iterator[str]:
    """The two halves of a verified claim's proof, line by line."""
    where = Predicate.of({name: [code] for name, code in claim["where"].items()})
    proof = proofs["proofs"][claim["proof"]]
    words = _Words(release, proofs["lemmas"], where)
    yield f"At least {claim['m']}:"
    yield from words.node(proof["lower"], -1, "  ", [])
    yield f"At most {claim['m']}:"
    yield from words.node(proof["upper"], +1, "  ", [])


def contradiction_cells(release: Release, lemmas: Sequence[Mapping[str, Any]], leaf: Mapping[str, Any]) -> list[str]:
    """The cells with which a leaf shows that no dataset fits: those that it adds up, and the zeros that it needs."""
    words = _Words(release, lemmas, EVERY)
    return [*(words.cell(name) for name in leaf["y"]), *(words.exclusion(rule) for rule in words.needed(leaf, 0, []))]


def proof_cells(release: Release, proofs: Mapping[str, Any], claim: Mapping[str, Any]) -> list[str]:
    """The published cells that the proof of a claim rests on: those that it adds up, and the zeros and totals it needs."""
    words = _Words(release, proofs["lemmas"], Predicate.of({name: [code] for name, code in claim["where"].items()}))
    found: dict[str, None] = {}
    for side, s in (("lower", -1), ("upper", +1)):
        for leaf, forks in _leaves(proofs["proofs"][claim["proof"]][side], []):
            found |= dict.fromkeys(leaf["y"])
            for rule in words.needed(leaf, s, forks):
                lemma = words.lemmas.get(rule.name)
                found |= dict.fromkeys([*lemma["cells"], lemma["universe"]] if lemma else [rule.name])
    return [cell for cell in found if cell != TOTAL]


def added_cells(proof: Mapping[str, Any]) -> set[str]:
    """The published cells that a proof adds up, in either half."""
    return {cell for half in proof.values() for leaf, _ in _leaves(half, []) for cell in leaf["y"]} - {TOTAL}


def _leaves(node: Mapping[str, Any], forks: Forks) -> Iterator[tuple[Mapping[str, Any], Forks]]:
    """Every leaf of a proof with the forks above it."""
    if "kind" in node:
        yield node, forks
    else:
        yield from _leaves(node["below"], [*forks, (node, True)])
        yield from _leaves(node["above"], [*forks, (node, False)])


class _Words:
    """Puts the proofs of one claim into words."""

    def __init__(self, release: Release, lemmas: Sequence[Mapping[str, Any]], where: Predicate) -> None:
        self.release, self.where = release, where
        self.predicates = {TOTAL: EVERY, **{query.id: query.predicate for query in release.queries}}
        self.labels = {TOTAL: "all records", **{query.id: query.label for query in release.queries}}
        known = zip(release.queries, release.lo.tolist(), release.hi.tolist(), strict=True)
        self.counts = {TOTAL: f"{release.n}"} | {q.id: f"{lo}" if lo == hi else f"{lo} to {hi}" for q, lo, hi in known}
        self.rules = [Rule(q.id, q.predicate, ()) for q, hi in zip(release.queries, release.hi, strict=True) if hi == 0]
        self.lemmas: dict[str, Mapping[str, Any]] = {}
        for place, lemma in enumerate(lemmas):
            self.lemmas[f"lemma {place}"] = lemma
            cells = tuple(self.predicates[cell] for cell in lemma["cells"])
            self.rules.append(Rule(f"lemma {place}", self.predicates[lemma["universe"]], cells))

    def cell(self, name: str) -> str:
        return f"{name} = {self.counts[name]} ({self.labels[name]})"

    def exclusion(self, rule: Rule) -> str:
        if rule.name not in self.lemmas:
            return self.cell(rule.name)
        lemma = self.lemmas[rule.name]
        parts = " + ".join(f"{cell} ({self.counts[cell]})" for cell in lemma["cells"])
        return f"{parts} = {lemma['universe']} ({self.counts[lemma['universe']]}): nobody else is in {lemma['universe']}"

    def node(self, node: Mapping[str, Any], s: int, indent: str, forks: Forks) -> Iterator[str]:
        if "kind" in node:
            yield from self.leaf(node, s, indent, forks)
            return
        part = Predicate.of(node["where"]) if "where" in node else f"in the same published cells as {node['like']}"
        yield f"{indent}either at most {node['at']} records are {part}:"
        yield from self.node(node["below"], s, indent + "  ", [*forks, (node, True)])
        yield f"{indent}or at least {node['at'] + 1} records are {part}:"
        yield from self.node(node["above"], s, indent + "  ", [*forks, (node, False)])

    def leaf(self, leaf: Mapping[str, Any], s: int, indent: str, forks: Forks) -> Iterator[str]:
        """The cells that are added up, what every possible record contributes, and the zeros that this rests on."""
        if not leaf["y"] and not any(leaf.get("w", [])):
            yield f"{indent}a count is never below 0" if s < 0 else f"{indent}no possible record matches"
        else:
            sign = s if leaf["kind"] == "bound" else 1
            over = f" (all divided by {leaf['d']})" if leaf.get("d", 1) != 1 else ""
            yield f"{indent}add up{over}:"
            for name, y in leaf["y"].items():
                yield f"{indent}  {sign * y:+d} x {self.cell(name)}"
            for (_, below), w in zip(forks, leaf.get("w", []), strict=False):
                if w:
                    yield f"{indent}  {sign * w:+d} x the {'at most' if below else 'at least'} above"
            yield indent + _CONCLUSION[leaf["kind"], s]
        needed = self.needed(leaf, s, forks)
        if needed:
            yield f"{indent}because no other record is possible:"
            yield from (f"{indent}  {self.exclusion(rule)}" for rule in needed)

    def needed(self, leaf: Mapping[str, Any], s: int, forks: Sequence[tuple[Mapping[str, Any], bool]]) -> list[Rule]:
        """A small set of zero cells and totals that rule out every record for which the sum would be wrong."""
        chosen: list[Rule] = []
        while True:
            types, wrong = self.wrong(leaf, s, forks, chosen)
            if not wrong.any():
                break
            left = [rule for rule in self.rules if rule not in chosen]
            sizes = [_overlap(types, wrong, rule) for rule in left]
            if not sizes or max(sizes) == 0:
                break
            chosen.append(left[int(np.argmax(sizes))])
        for rule in list(chosen):
            fewer = [other for other in chosen if other is not rule]
            if not self.wrong(leaf, s, forks, fewer)[1].any():
                chosen = fewer
        return chosen

    def wrong(
        self, leaf: Mapping[str, Any], s: int, forks: Sequence[tuple[Mapping[str, Any], bool]], rules: Sequence[Rule]
    ) -> tuple[Types, npt.NDArray[np.bool_]]:
        """The records, were only these rules known, and which of them the leaf's sum does not fit."""
        parts = [Predicate.of(fork["where"]) if "where" in fork else self.alike(fork["like"]) for fork, _ in forks]
        cells = [self.predicates[name] for name in leaf["y"]]
        said = [*cells, *parts, self.where]
        types = live_types(self.release.schema.domain, said, [*rules, *self.release.schema.rules], MAX_TYPES)
        v: Ints = np.zeros(len(types), dtype=np.int64)
        for predicate, y in zip(cells, leaf["y"].values(), strict=True):
            v += y * types.inside(predicate)
        for predicate, w in zip(parts, leaf.get("w", []), strict=False):
            v += w * types.inside(predicate)
        target = leaf.get("d", 1) * s if leaf["kind"] == "bound" else 0
        return types, v < target * types.inside(self.where)

    def alike(self, record: Sequence[int]) -> Predicate:
        """The record itself: close enough for words, the checker takes all records in the same cells."""
        return Predicate.of({name: [code] for name, code in zip(self.release.schema.domain.names, record, strict=True)})


_CONCLUSION = {
    ("bound", +1): "every record that matches counts at least once in this sum, and no record counts below 0",
    ("bound", -1): "no record counts more in this sum than it matches the claim",
    ("empty", +1): "no record counts below 0 in this sum, but the sum is: this case cannot be",
    ("empty", -1): "no record counts below 0 in this sum, but the sum is: this case cannot be",
}


def _overlap(types: Types, wrong: npt.NDArray[np.bool_], rule: Rule) -> int:
    """How many records of the wrong types a rule excludes."""
    table = types.table[wrong]
    return _volume(types, table, rule.when) - sum(_volume(types, table, option & rule.when) for option in rule.one_of)


def _volume(types: Types, table: npt.NDArray[np.int16], predicate: Predicate) -> int:
    """The number of records of these types inside a condition that may split atoms."""
    size = np.ones(len(table), dtype=np.int64)
    for column, (name, atoms) in enumerate(zip(types.domain.names, types.atoms, strict=True)):
        allowed = set(predicate.where.get(name, ())) if name in predicate.where else None
        inside = [len(atom) if allowed is None else len(allowed.intersection(atom)) for atom in atoms]
        size *= np.array(inside, dtype=np.int64)[table[:, column]]
    return int(size.sum())
