"""Which labels of a table add up others: by their names, by the numbers, by indents, by intervals inside intervals."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from genverify.core.errors import DataError, nearest
from genverify.disclosure.readers.model import Hierarchy, Labels, Parts, PrintedTable, is_total, make_hierarchy, number_of

BAND = re.compile(r"(\d+)\s*(?:-|\u2013|to|bis|a)\s*(\d+)(?:\s*(?:years?|yrs?))?", re.IGNORECASE)
FROM = re.compile(r"(\d+)\s*(?:\+|and over|and above|or more|and older|plus|years and over)(?:\s*years?)?", re.IGNORECASE)
UNDER = re.compile(r"(?:under|less than|below|<)\s*(\d+)(?:\s*years?)?", re.IGNORECASE)
FAR = 10**6


def find_totals(
    table: PrintedTable, named: Mapping[str, str] | None = None, indents: Mapping[str, int] | None = None
) -> PrintedTable:
    """The table with what adds up to what, and a note on how each total was recognised."""
    sums, notes = dict(table.sums), list[str]()
    for column in table.columns:
        if column in sums:
            continue
        found, how = _guess(table, column, indents or {})
        if column in (named or {}):
            found, how = with_total(table, column, found, (named or {})[column])
        if found.parts or found.doubts:
            sums[column] = found
            notes += [f"{column}: {how}"] if how else []
    return replace(table, sums=sums, notes=(*table.notes, *notes))


def with_total(table: PrintedTable, column: str, guess: Hierarchy, total: str) -> tuple[Hierarchy, str]:
    """What adds up to what where the total is told; subtotals stay as they were recognised."""
    labels = table.labels(column)
    if total not in labels:
        raise DataError(f"{table.source}: {column} has no label {total!r}: {nearest(total, list(labels))}")
    inner = {label: sets for label, sets in guess.parts.items() if label not in (guess.top, total)}
    beside = [label for label in labels if is_total(label) and label not in (total, *inner)]
    doubts = {label: own for label, own in guess.doubts.items() if label != total}
    doubts |= dict.fromkeys(beside, f"looks like a total too, beside {total!r}")
    found = Hierarchy(total, inner)
    outer = tuple(label for label in found.outer(labels) if label != total)
    told = Hierarchy(total, {total: (outer,), **inner}, doubts).checked(f"{table.source}: {column}")
    return told, "; ".join([f"{total!r} is the total, as told", *_told(inner)])


def _told(inner: Mapping[str, tuple[Parts, ...]]) -> list[str]:
    return [f"{label!r} adds up {len(sets[0])} others" for label, sets in inner.items()]


def _guess(table: PrintedTable, column: str, indents: Mapping[str, int]) -> tuple[Hierarchy, str]:
    labels, doubts = table.labels(column), dict[str, str]()
    inner: dict[str, Parts] = {}
    for label, children in _by_indent(labels, indents):
        if _agreement(table, column, label, children) is None:
            doubts[label] = "does not add up the lines that stand further in below it"
        else:
            inner[label] = children
    plain = list[str]()
    for label, sets in _by_name(labels):
        agree = [(children, _agreement(table, column, label, children)) for children in sets]
        shown = [children for children, lines in agree if lines]
        if shown:
            inner[label] = shown[0]
        elif any(lines == 0 for _, lines in agree):
            doubts[label] = "looks like a subtotal, and no line that is printed whole shows of what"
        else:
            plain.append(label)
    inner |= dict(by_interval(labels))
    parts = {label: (children,) for label, children in inner.items()}
    outer, how = Hierarchy(None, parts).outer(labels), _told(parts)
    total = [label for label in outer if is_total(label)]
    if len(total) > 1:
        doubts |= {label: f"looks like the total of {column}, and so does {_other(label, total)!r}" for label in total}
    elif total:
        how += [f"{total[0]!r} is the total (by its name)"]
    else:
        found = _by_position(table, column, [label for label in labels if label not in inner])
        total = [found] if found in outer else []
        how += [f"{total[0]!r} is the total (it adds up the others)"] if total else []
    if len(total) == 1:
        own = tuple(label for label in outer if label != total[0])
        parts = {total[0]: (own,), **parts} if own else parts
        if plain and not _agreement(table, column, total[0], own):
            doubts |= dict.fromkeys(
                plain, "looks like a subtotal, and adds up neither the labels before it nor those after it"
            )
    sums = [(label, own) for label, sets in parts.items() for own in sets]
    try:
        guess = make_hierarchy(sums, labels, f"{table.source}: {column}")
    except DataError as error:  # what was recognised cannot all be so: it must be told
        return Hierarchy(doubts={**doubts, sums[0][0]: f"has parts that overlap ({error})"}), ""
    return replace(guess, doubts=doubts), "; ".join(how)


def _other(label: str, labels: Sequence[str]) -> str:
    return next(other for other in labels if other != label)


def _by_name(labels: Sequence[str]) -> Iterator[tuple[str, list[Parts]]]:
    """Labels called like subtotals (`Subtotal`, `Total owned`, `Owned, total`), with what may add up to each: the labels
    right before it, or right after."""
    others: list[str] = []
    for at, label in enumerate(labels):
        if is_total(label):
            continue
        if not re.search(r"\b(sub-?total|total)\b|\btotal_|_total\b", label, re.IGNORECASE):
            others.append(label)
            continue
        sets = [own for own in (tuple(others), tuple(_until_total(labels[at + 1 :]))) if len(own) > 1]
        if sets:
            yield label, sets
        others = []


def _until_total(labels: Sequence[str]) -> Iterator[str]:
    for label in labels:
        if re.search(r"\btotal\b", label, re.IGNORECASE):
            return
        yield label


def _by_indent(labels: Sequence[str], indents: Mapping[str, int]) -> Iterator[tuple[str, Parts]]:
    """A label followed by labels that stand further in adds them up."""
    for at, label in enumerate(labels):
        own = indents.get(label, 0)
        inside = []
        for other in labels[at + 1 :]:
            if indents.get(other, 0) <= own:
                break
            inside.append(other)
        children = [other for other in inside if indents.get(other, 0) == min(indents.get(x, 0) for x in inside)]
        if len(children) > 1 and not is_total(label):
            yield label, tuple(children)


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
    for label, (low, high) in bands.items():
        chain, at = list[str](), low
        while at <= high:
            inside = [(band, other) for other, band in bands.items() if other != label and band[0] == at and band[1] <= high]
            inside = [(band, other) for band, other in inside if band != (low, high)]
            if not inside:
                break
            band, other = max(inside)
            chain, at = [*chain, other], band[1] + 1
        if at > high and len(chain) > 1:
            yield label, tuple(chain)


def _by_position(table: PrintedTable, column: str, labels: Sequence[str]) -> str | None:
    """The last or the first label, if it adds up all others in every line that is printed whole, and there are some."""
    for label in (labels[-1], labels[0]) if len(labels) > 2 else ():
        lines = _agreement(table, column, label, tuple(other for other in labels if other != label), near=0)
        if lines is not None and lines >= 2:
            return label
    return None


def _agreement(table: PrintedTable, column: str, label: str, children: Parts, near: int = 3) -> int | None:
    """
    The lines printed whole, and not all 0, in which a label adds up others; None where a line says that it does not. Printed
    counts may be rounded: each may be `near` off.
    """
    at, agree = table.columns.index(column), 0
    for labels, entry in table.entries.items():
        total = number_of(entry.text) if labels[at] == label else None
        if total is None:
            continue
        parts = [_value(table, labels, at, child) for child in children]
        known = [part for part in parts if part is not None]
        if sum(known) > total + near * len(parts):
            return None
        if len(known) == len(parts):
            if abs(sum(known) - total) > near * len(parts):
                return None
            agree += total > 0
    return agree


def _value(table: PrintedTable, labels: Labels, at: int, label: str) -> int | None:
    entry = table.entries.get((*labels[:at], label, *labels[at + 1 :]))
    return number_of(entry.text) if entry else None
