"""What adds up to what among labels: a checked hierarchy, from sums that are listed, from a .hrc file, or from intervals."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from genverify.model.errors import DataError
from genverify.model.files import regular_file
from genverify.model.tablefiles import decoded

Parts = tuple[str, ...]


@dataclass(frozen=True)
class Hierarchy:
    """
    What adds up to what in one column. Every label that adds up others has one set of parts, or several where breakdowns are
    stacked (sex, then region, under one total); each set is a tree of its own. `top` is the label that means everyone, None
    where there is none.
    """

    top: str | None = None
    parts: Mapping[str, tuple[Parts, ...]] = field(default_factory=dict)

    def __iter__(self) -> Iterator[tuple[str, Parts]]:
        """Every sum: a label, and one set of its parts."""
        return ((label, own) for label, sets in self.parts.items() for own in sets)

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(label for parent, own in self for label in (parent, *own)))

    def outer(self, labels: Iterable[str]) -> Parts:
        """Those of some labels that are part of no other."""
        inner = {child for _, own in self for child in own}
        return tuple(label for label in labels if label not in inner)

    def inside(self, label: str) -> set[str]:
        """A label and everything that it adds up, over all levels."""
        found, open_ = {label}, [label]
        while open_:
            new = {child for own in self.parts.get(open_.pop(), ()) for child in own} - found
            found |= new
            open_ += new
        return found

    def finest(self, labels: Iterable[str]) -> set[frozenset[str]]:
        """The sets of labels without parts that some labels come down to: one, unless breakdowns are stacked."""
        found = {frozenset[str]()}
        for label in labels:
            sets = self.parts.get(label)
            below = {frozenset((label,))} if not sets else set().union(*(self.finest(own) for own in sets))
            both = {one | other for one in found for other in below}
            found = set(sorted(both, key=sorted)[:2])  # two are enough to show that it is not one
        return found

    def checked(self, where: str) -> "Hierarchy":
        """The same, if no sum counts a label twice, or its own total; an error names the label and where it comes from."""
        for parent, own in self:
            seen: dict[str, str] = {}
            for child in own:
                below = self.inside(child)
                if parent in below:
                    how = "itself" if child == parent else f"part of its part {child!r}"
                    raise DataError(f"{where}: {named(parent)} would be {how}; a total is none of its own parts")
                for label in sorted(below):
                    if label in seen:
                        both = f"in {seen[label]!r} and in {child!r}" if seen[label] != child else "as a part"
                        raise DataError(
                            f"{where}: {named(parent)} would count {label!r} twice ({both}); list it once, or say "
                            "what adds up to what: --hierarchy COLUMN=FILE.hrc, or `sums` in the release file (--write)"
                        )
                    seen[label] = child
        return self


def named(label: str) -> str:
    return repr(label) if label else "everyone"


def make_hierarchy(sums: Iterable[tuple[str, Sequence[str]]], labels: Iterable[str], where: str) -> Hierarchy:
    """A checked hierarchy; its top is the one label that is no part and that adds up, over some levels, all others."""
    parts: dict[str, tuple[Parts, ...]] = {}
    for parent, children in sums:
        own = tuple(children)
        if own and own not in parts.get(parent, ()):
            parts[parent] = (*parts.get(parent, ()), own)
    found = Hierarchy(None, parts).checked(where)
    tops = [label for label in found.outer(parts) if found.inside(label).issuperset(labels)]
    return replace(found, top=tops[0] if tops else None)


BAND = re.compile(r"(\d{1,9})\s*(?:-|\u2013|to|bis|a)\s*(\d{1,9})(?:\s*(?:years?|yrs?))?", re.IGNORECASE)
FROM = re.compile(
    r"(\d{1,9})\s*(?:\+|and over|and above|or more|and older|plus|years and over)(?:\s*years?)?", re.IGNORECASE
)
UNDER = re.compile(r"(?:under|less than|below|<)\s*(\d{1,9})(?:\s*years?)?", re.IGNORECASE)
FAR = 10**6  # stands for no upper end: above any age, size or year in a label


def interval(label: str) -> tuple[int, int] | None:
    """
    A label as an interval of whole numbers.

    >>> interval("15 to 19"), interval("65+"), interval("Under 15"), interval("women")
    ((15, 19), (65, 1000000), (0, 14), None)
    """
    text = label.strip()
    if found := BAND.fullmatch(text):
        return (int(found[1]), int(found[2])) if int(found[1]) <= int(found[2]) else None
    if found := FROM.fullmatch(text):
        return int(found[1]), FAR
    if found := UNDER.fullmatch(text):
        return 0, int(found[1]) - 1
    return None


def by_interval(labels: Sequence[str]) -> Iterator[tuple[str, Parts]]:
    """A label whose interval is made up of others: 0-9 is 0-4 and 5-9."""
    bands = {label: band for label in labels if (band := interval(label))}
    starting: dict[int, list[tuple[tuple[int, int], str]]] = {}
    for label, band in bands.items():
        starting.setdefault(band[0], []).append((band, label))
    for label, (low, high) in bands.items():
        chain, at = list[str](), low
        while at <= high:
            inside = [(band, other) for band, other in starting.get(at, ()) if band[1] <= high and band != (low, high)]
            if not inside:
                break
            band, other = max(inside)
            chain, at = [*chain, other], band[1] + 1
        if at > high and len(chain) > 1:
            yield label, tuple(chain)


def read_hierarchy(path: Path, labels: Sequence[str], total: str | None, told: bool = True, lead: str = "@") -> Hierarchy:
    """
    What adds up to what by a .hrc file: a label with one more lead string than the one above lies inside it. The total may
    stand in the file, as the one label without a lead string, or be left out of it; one that was not told but guessed gives
    way to the file. Labels that the table does not print are parts all the same, of unknown size.
    """
    if not path.exists():
        raise DataError(f"{path}: the hierarchy is missing")
    if not lead:
        raise DataError(f"{path}: the string that leads its lower levels (HIERLEADSTRING) is empty; give one, such as @")
    line_of: dict[str, int] = {}
    children: dict[str, list[str]] = {}
    above: list[str] = []
    roots: list[str] = []
    for number, line in enumerate(decoded(regular_file(path).read_bytes(), path)[0].splitlines(), 1):
        if not line.strip():
            continue
        depth = 0
        while line.startswith(lead) and depth <= len(above):
            line, depth = line[len(lead) :], depth + 1
        label = line.strip()
        if label in line_of:
            raise DataError(
                f"{path}, line {number}: {label!r} stands here a second time (line {line_of[label]}); list it once"
            )
        if depth > len(above):
            raise DataError(f"{path}, line {number}: {label!r} stands more than one level below the line above it")
        line_of[label] = number
        above = [*above[:depth], label]
        (children.setdefault(above[depth - 1], []) if depth else roots).append(label)
    if total in line_of and roots != [total]:
        if told:
            raise DataError(
                f"{path}, line {line_of[total]}: {total!r} is the total, and cannot be a part; let it stand alone without a "
                "lead string, or leave it out"
            )
        total = None
    if total is None or total in line_of:
        total = roots[0] if len(roots) == 1 else None
    else:
        children[total] = roots
    lacking = [label for label in labels if label != total and label not in line_of]
    if lacking:
        raise DataError(f"{path}: lacks {lacking[0]!r}, which the table prints; give it a line where it belongs")
    return _printed_part(children, total, roots, set(labels), str(path))


def _printed_part(
    children: Mapping[str, Sequence[str]], top: str | None, roots: Sequence[str], labels: set[str], where: str
) -> Hierarchy:
    """The smallest part of a hierarchy with all printed labels; of what has none below it, the parts are not needed."""
    whole = Hierarchy(top, {label: (tuple(own),) for label, own in children.items() if own}).checked(where)
    used = {label for label in {*whole.labels, *roots} if whole.inside(label) & labels}
    below = roots if top is None else children.get(top, ())
    while top not in labels and len(inner := [label for label in below if label in used]) == 1:
        top = inner[0]
        below = children.get(top, ())
    kept = whole.inside(top) if top is not None else set(whole.labels)
    adding = {label for label in kept if (whole.inside(label) - {label}) & labels}
    return Hierarchy(top, {label: own for label, own in whole.parts.items() if label in adding})
