"""
Rules for magnitude tables whose contributions the owner knows: (n, k) dominance, p %, a least number of contributors.

A rule is applied to every printed cell, and to what can be worked out although nobody printed it: where a sum has several
withheld parts, the parts together are known, and so is who is large among their contributors.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from genverify.core.csvfile import Expected, need_columns, open_csv, refuse_row
from genverify.core.errors import ConfigError
from genverify.core.limits import FileLimits
from genverify.disclosure.exposed import Exposed
from genverify.disclosure.linked import Key, Linked

CONTRIBUTOR, VALUE = "contributor", "value"


@dataclass(frozen=True)
class Rule:
    """
    When a sum of contributions gives one of them away.

    >>> Rule("dominance", 2, Fraction(80)).broken({"a": 70, "b": 15, "c": 15})
    True
    >>> Rule("p", 1, Fraction(10)).broken({"a": 50, "b": 30, "c": 20})
    False
    """

    kind: str
    n: int
    k: Fraction

    def broken(self, contributions: Mapping[str, int]) -> bool:
        sizes = sorted(contributions.values(), reverse=True)
        total = sum(sizes)
        if self.kind == "contributors":
            return 0 < len(sizes) < self.n
        if self.kind == "dominance":
            return total > 0 and 100 * sum(sizes[: self.n]) > self.k * total
        return bool(sizes) and 100 * (total - sum(sizes[:2])) < self.k * sizes[0]


@dataclass(frozen=True)
class Broken:
    """A sum that breaks a rule: the cells in it (one, or withheld ones whose sum is known), and the rule in words."""

    cells: tuple[str, ...]
    printed: bool
    rule: str


def read_rules(words: Sequence[str]) -> list[tuple[str, Rule]]:
    """
    >>> read_rules(["dominance=2,80"])[0][1]
    Rule(kind='dominance', n=2, k=Fraction(80, 1))
    """
    found = []
    for word in words:
        if match := re.fullmatch(r"dominance=(\d+),(\d+(?:\.\d+)?)", word):
            found.append((word, Rule("dominance", int(match[1]), Fraction(match[2]))))
        elif match := re.fullmatch(r"p=(\d+(?:\.\d+)?)", word):
            found.append((word, Rule("p", 1, Fraction(match[1]))))
        elif match := re.fullmatch(r"contributors=(\d+)", word):
            found.append((word, Rule("contributors", int(match[1]), Fraction(0))))
        else:
            raise ConfigError(
                f"--sensitive {word}: give dominance=2,80 (n, k), p=10 (per cent) or contributors=3 (the fewest)"
            )
    return found


def read_contributions(path: Path, linked: Linked, limits: FileLimits) -> list[tuple[dict[str, str], str, int]]:
    """The labels, the contributor and the value of every line of a CSV file."""
    frame = open_csv(path, Expected("contributions", limits=limits)).frame()
    need_columns(path, frame, (CONTRIBUTOR, VALUE))
    refuse_row(path, frame[VALUE], ~frame[VALUE].str.isdecimal(), "is not a whole number from 0")
    columns = [str(name) for name in frame if name in linked.columns]
    labels = (dict(zip(columns, row, strict=True)) for row in frame[columns].itertuples(index=False, name=None))
    return list(zip(labels, frame[CONTRIBUTOR], map(int, frame[VALUE]), strict=True))


def broken_rules(
    exposed: Exposed, contributions: Sequence[tuple[Mapping[str, str], str, int]], rules: Sequence[tuple[str, Rule]]
) -> list[Broken]:
    """Printed cells that break a rule, then sums of withheld cells that can be worked out and break it."""
    linked = exposed.linked
    inside = {linked.cell(key): _inside(linked, key, contributions) for key in linked.printed}
    found = []
    for cells, printed in _known_sums(exposed):
        together = _sum(inside[cell] for cell in cells if cell in inside)
        for name, rule in rules:
            if all(cell in inside for cell in cells) and rule.broken(together):
                found.append(Broken(tuple(linked.sums.cells[cell] for cell in cells), printed, name))
    return found


def _known_sums(exposed: Exposed) -> Iterator[tuple[tuple[int, ...], bool]]:
    """Every cell that is printed or known exactly; and the withheld parts of every sum whose other parts are known."""
    sums, ranges = exposed.linked.sums, exposed.ranges
    for cell in exposed.printed.values():
        if ranges.lo[cell] == ranges.hi[cell]:
            yield (cell,), not exposed.unclear[cell]
    seen = set()
    for row in range(len(sums.rows)):
        cells = sums.columns[sums.start[row] : sums.start[row + 1]]
        weights = sums.weights[sums.start[row] : sums.start[row + 1]]
        open_ = tuple(int(c) for c, w in zip(cells, weights, strict=True) if ranges.lo[c] < ranges.hi[c] and w == 1)
        closed = all(ranges.lo[c] == ranges.hi[c] for c, w in zip(cells, weights, strict=True) if w != 1)
        if len(open_) > 1 and closed and open_ not in seen:
            seen.add(open_)
            yield open_, False


def _inside(linked: Linked, key: Key, contributions: Iterable[tuple[Mapping[str, str], str, int]]) -> dict[str, int]:
    """The contributors of a cell with what each adds."""
    finest = {column: set(_finest(linked, column, label)) for column, label in key}
    found: dict[str, int] = {}
    for labels, contributor, value in contributions:
        if all(labels.get(column) in finest[column] for column in finest):
            found[contributor] = found.get(contributor, 0) + value
    return found


def _finest(linked: Linked, column: str, label: str) -> Iterator[str]:
    yield label
    for parent, children in linked.columns[column].sums:
        if parent == label:
            for child in children:
                yield from _finest(linked, column, child)


def _sum(parts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for part in parts:
        for contributor, value in part.items():
            total[contributor] = total.get(contributor, 0) + value
    return total
