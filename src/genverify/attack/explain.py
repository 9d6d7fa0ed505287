"""What a sum of published cells rests on: few zero cells and totals that rule out every record that it does not fit."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from genverify.checker.file import Forks
from genverify.core.arraytypes import Flags, Ints
from genverify.core.predicates import EVERY, Predicate, Rule
from genverify.core.release import TOTAL, Release
from genverify.core.seeds import derive_seed
from genverify.solve.exclusions import one_code_each, zero_cells
from genverify.solve.types import Types, live_types

MAX_TYPES = 2_000_000
WITNESSES = 400


class Reasons:
    """The zero cells and totals of a block, ready to say which of them a leaf of a proof needs."""

    def __init__(self, release: Release, lemmas: Sequence[Mapping[str, Any]]) -> None:
        self.release = release
        self.predicates = {TOTAL: EVERY, **{query.id: query.predicate for query in release.queries}}
        self.labels = {TOTAL: "all records", **{query.id: query.label for query in release.queries}}
        self.counts = {TOTAL: release.n} | {q.id: int(hi) for q, hi in zip(release.queries, release.hi, strict=True)}
        self.least = {TOTAL: release.n} | {q.id: int(lo) for q, lo in zip(release.queries, release.lo, strict=True)}
        self.lemmas = {f"lemma {place}": lemma for place, lemma in enumerate(lemmas)}
        self.sums = {query.id: query.sums for query in release.queries}
        self.rules = zero_cells(release)
        for name, lemma in self.lemmas.items():
            cells = tuple(self.predicates[cell] for cell in lemma["cells"])
            self.rules.append(Rule(name, self.predicates[lemma["universe"]], cells))
        self.conditions = list(dict.fromkeys(p for rule in self.rules for p in (rule.when, *rule.one_of)))
        self.place = {predicate: place for place, predicate in enumerate(self.conditions)}
        self.allowed = [self._allowed(place) for place in range(len(release.schema.domain.columns))]

    def count_text(self, name: str) -> str:
        """The count of a cell, or the range that it is known to lie in."""
        least, most = self.least[name], self.counts[name]
        return f"{most}" if least == most else f"{least} to {most}"

    def _allowed(self, column: int) -> Flags:
        """Whether each condition allows each code of a column."""
        described = self.release.schema.domain.columns[column]
        flags = np.ones((len(self.conditions), max(described.codes) + 1), dtype=bool)
        for row, predicate in enumerate(self.conditions):
            if described.name in predicate.where:
                flags[row] = False
                flags[row, list(predicate.where[described.name])] = True
        return flags

    def excluded(self, records: Ints) -> Flags:
        """Whether each rule excludes each record."""
        inside: Flags = np.ones((len(self.conditions), len(records)), dtype=bool)
        for allowed, codes in zip(self.allowed, records.T, strict=True):
            inside &= allowed[:, codes]
        found = np.zeros((len(self.rules), len(records)), dtype=bool)
        for place, rule in enumerate(self.rules):
            found[place] = inside[self.place[rule.when]]
            for option in rule.one_of:
                found[place] &= ~inside[self.place[option]]
        return found

    def needed(self, leaf: Mapping[str, Any], s: int, forks: Forks, matching: Sequence[Predicate]) -> list[Rule]:
        """
        The rules that exclude every record for which the leaf's sum is wrong, each of them needed.

        `matching`: the sum is about the records that match one of these. Rules are chosen that exclude most of a sample of
        the wrong records; then all records are looked at, and what is left over joins the sample.
        """
        rng = np.random.default_rng(derive_seed(0, "reasons", self.release.block))
        chosen: list[int] = []
        seen = np.zeros((len(self.rules), 0), dtype=bool)
        while True:
            types, wrong = self.wrong(leaf, s, forks, matching, chosen)
            if not wrong.any():
                return [self.rules[place] for place in self._spared(leaf, s, forks, matching, chosen, seen)]
            seen = np.hstack([seen, self.excluded(_sample(types, wrong, rng))])
            more = _cover(seen, chosen)
            if not more:
                return [self.rules[place] for place in chosen]
            chosen += more

    def _spared(
        self, leaf: Mapping[str, Any], s: int, forks: Forks, matching: Sequence[Predicate], chosen: list[int], seen: Flags
    ) -> list[int]:
        """The chosen rules less those without which no wrong record comes back."""
        for place in list(chosen):
            fewer = [other for other in chosen if other != place]
            if seen[fewer].any(axis=0).all() and not self.wrong(leaf, s, forks, matching, fewer)[1].any():
                chosen = fewer
        return chosen

    def wrong(
        self, leaf: Mapping[str, Any], s: int, forks: Forks, matching: Sequence[Predicate], chosen: Sequence[int]
    ) -> tuple[Types, Flags]:
        """The records, were only these rules known, and which of them the leaf's sum does not fit."""
        parts = [Predicate.of(fork["where"]) if "where" in fork else self.alike(fork["like"]) for fork, _ in forks]
        cells = [self.predicates[name] for name in leaf["y"]]
        rules = [*(self.rules[place] for place in chosen), *self.release.schema.rules]
        domain = self.release.schema.domain
        single = one_code_each(self.release.queries, domain)
        types = live_types(domain, [*cells, *parts, *matching, *single], rules, MAX_TYPES)
        v: Ints = np.zeros(len(types), dtype=np.int64)
        for (name, y), predicate in zip(leaf["y"].items(), cells, strict=True):
            v += y * types.coefficients(predicate, self.sums.get(name))
        for predicate, w in zip(parts, leaf.get("w", []), strict=False):
            v += w * types.inside(predicate)
        target = leaf.get("d", 1) * s if leaf["kind"] == "bound" else 0
        matches: Flags = np.zeros(len(types), dtype=bool)
        for predicate in matching if target else ():
            matches |= types.inside(predicate)
        return types, v < target * matches

    def alike(self, record: Sequence[int]) -> Predicate:
        """The record itself: close enough for words, the checker takes all records in the same cells."""
        return Predicate.of({name: [code] for name, code in zip(self.release.schema.domain.names, record, strict=True)})


def _sample(types: Types, wrong: Flags, rng: np.random.Generator) -> Ints:
    """Distinct wrong records as rows of codes: all of them if they are few."""
    # The wrong types may stand for more records than memory holds, so they are never listed. All records are numbered, type
    # after type; numbers are drawn without replacement, and each is decoded: its type by where it falls among the ends, its
    # code in each column as a digit of what is left, in a number system whose bases are the sizes of the type's atoms.
    ends = np.cumsum(types.raw[wrong])
    drawn = np.sort(rng.choice(int(ends[-1]), min(WITNESSES, int(ends[-1])), replace=False, shuffle=False))
    row = np.searchsorted(ends, drawn, side="right")
    rest, table = drawn - np.concatenate([[0], ends])[row], types.table[wrong][row]
    codes = np.zeros(table.shape, dtype=np.int64)
    for column, atoms in enumerate(types.atoms):
        widths = np.array([len(atom) for atom in atoms])
        padded = np.array([[*atom, *[0] * (int(widths.max()) - len(atom))] for atom in atoms])
        at = table[:, column]
        codes[:, column], rest = padded[at, rest % widths[at]], rest // widths[at]
    return codes


def _cover(seen: Flags, chosen: Sequence[int]) -> list[int]:
    """
    Further rules, one after the other the one that excludes most records that no rule excludes yet.

    >>> _cover(np.array([[True, False, False], [False, True, True]]), [0]), _cover(np.zeros((0, 3), dtype=bool), [])
    ([1], [])
    """
    left = ~seen[list(chosen)].any(axis=0)
    more: list[int] = []
    while left.any() and len(seen):  # all blocks together may have no zero cell
        sizes = seen[:, left].sum(axis=1)
        best = int(np.argmax(sizes))
        if sizes[best] == 0:
            break
        more.append(best)
        left &= ~seen[best]
    return more
