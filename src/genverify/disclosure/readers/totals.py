"""Which labels of a table add up others: by their names, by the numbers, by indents, by intervals inside intervals."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from genverify.core.errors import DataError, nearest
from genverify.disclosure.readers.model import (
    PARTS,
    TOTAL,
    Doubt,
    Hierarchy,
    Labels,
    Parts,
    PrintedTable,
    is_total,
    make_hierarchy,
    may_be_total,
    number_of,
)

BAND = re.compile(r"(\d{1,9})\s*(?:-|\u2013|to|bis|a)\s*(\d{1,9})(?:\s*(?:years?|yrs?))?", re.IGNORECASE)
FROM = re.compile(
    r"(\d{1,9})\s*(?:\+|and over|and above|or more|and older|plus|years and over)(?:\s*years?)?", re.IGNORECASE
)
UNDER = re.compile(r"(?:under|less than|below|<)\s*(\d{1,9})(?:\s*years?)?", re.IGNORECASE)
ONLY_SOME = re.compile(r"(of which|including|thereof|incl)\b", re.IGNORECASE)  # of the line above it, not all
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
    doubts = [
        own
        for own in guess.doubts
        if own.text not in (total, *beside) and not (own.kind == TOTAL and may_be_total(own.text))
    ]
    doubts += [_doubt(table, column, label, f"looks like a total too, beside {total!r}") for label in beside]
    found = Hierarchy(total, inner)
    outer = tuple(label for label in found.outer(labels) if label != total)
    told = Hierarchy(total, {total: (outer,), **inner}, tuple(doubts)).checked(f"{table.source}: {column}")
    return told, "; ".join([f"{total!r} is the total, as told", *_told(inner)])


def without_totals(table: PrintedTable, column: str, guess: Hierarchy, labels: Collection[str]) -> Hierarchy:
    """What adds up to what where some labels are told to be no totals: what they were taken to add up stands beside them."""
    parts = {parent: sets[0] for parent, sets in guess.parts.items()}
    for label in labels:
        below = parts.pop(label, ())
        parts = {
            parent: tuple(part for child in own for part in ((child, *below) if child == label else (child,)))
            for parent, own in parts.items()
        }
    found = make_hierarchy(parts.items(), table.labels(column), f"{table.source}: {column}")
    return replace(found, doubts=tuple(own for own in guess.doubts if own.kind != TOTAL or own.text not in labels))


def _told(inner: Mapping[str, tuple[Parts, ...]]) -> list[str]:
    return [f"{label!r} adds up {len(sets[0])} others" for label, sets in inner.items()]


def _doubt(table: PrintedTable, column: str, label: str, why: str, kind: str = TOTAL) -> Doubt:
    """A label that may add up others, where no number says so: to take it for a total, or not to, would be a guess."""
    name = (
        f"say whether it is the total (--total '{column}={label}') or none (--no-total '{label}'), or "
        if kind == TOTAL
        else "say "
    )
    message = (
        f"{table.source}: table {table.name}: {label!r} of {column} {why}; {name}what adds up to what (--hierarchy "
        f"'{column}=FILE.hrc', or `sums` in the release file)"
    )
    return Doubt(kind, label, message)


def _guess(table: PrintedTable, column: str, indents: Mapping[str, int]) -> tuple[Hierarchy, str]:
    labels, doubts = table.labels(column), dict[str, Doubt]()

    def doubt(label: str, why: str, kind: str = TOTAL) -> None:
        doubts.setdefault(label, _doubt(table, column, label, why, kind))

    inner: dict[str, Parts] = {}
    for label, children in _by_indent(labels, indents):
        below = " and ".join(map(repr, children[:3]))
        if any(map(ONLY_SOME.match, children)):
            doubt(label, f"has {below} further in below it, which may be only some of it", PARTS)
        elif len(children) < 2:
            doubt(label, f"has {below} alone further in below it: a part of it, but not all", PARTS)
        elif _agreement(table, column, label, children) is None:
            doubt(label, f"does not add up the lines that stand further in below it ({below})", PARTS)
        else:
            inner[label] = children
    plain = list[str]()
    for label, sets in _by_name(labels):
        agree = [(children, _agreement(table, column, label, children)) for children in sets]
        shown = [children for children, lines in agree if lines]
        if shown:
            inner[label] = shown[0]
        elif any(lines == 0 for _, lines in agree):
            doubt(label, "looks like a subtotal, and no line that is printed whole shows of what")
        else:
            plain.append(label)
    inner |= dict(by_interval(labels))
    parts = {label: (children,) for label, children in inner.items()}
    outer, how = Hierarchy(None, parts).outer(labels), _told(parts)
    total = [label for label in outer if is_total(label)]
    if not any(map(is_total, labels)):
        perhaps = {label: tuple(other for other in outer if other != label) for label in outer if may_be_total(label)}
        agreed = {label: _agreement(table, column, label, own) for label, own in perhaps.items() if len(own) > 1}
        total = [label for label, lines in agreed.items() if lines]
        for label in [] if total else [label for label, lines in agreed.items() if lines == 0]:
            doubt(label, f"may be the total of {column}, and no numbers decide it")
    if len(total) > 1:
        for label in total:
            doubt(label, f"looks like the total of {column}, and so does {_other(label, total)!r}")
    elif total:
        how += [f"{total[0]!r} is the total (by its name)"]
    else:
        found = _by_position(table, column, [label for label in labels if label not in inner])
        total = [found] if found in outer else []
        how += [f"{total[0]!r} is the total (it adds up the others)"] if total else []
    if len(total) == 1:
        own = tuple(label for label in outer if label != total[0])
        parts = {total[0]: (own,), **parts} if own else parts
        for label in plain if not _agreement(table, column, total[0], own) else ():
            doubt(label, "looks like a subtotal, and adds up neither the labels before it nor those after it")
    sums = [(label, own) for label, sets in parts.items() for own in sets]
    try:
        guess = make_hierarchy(sums, labels, f"{table.source}: {column}")
    except DataError as error:  # what was recognised cannot all be so: it must be told
        doubt(sums[0][0], f"has parts that overlap ({error})", PARTS)
        return Hierarchy(doubts=tuple(doubts.values())), ""
    return replace(guess, doubts=tuple(doubts.values())), "; ".join(how)


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
        sets = [own for own in (tuple(others), tuple(_until_total(labels, at + 1))) if len(own) > 1]
        if sets:
            yield label, sets
        others = []


def _until_total(labels: Sequence[str], begin: int) -> Iterator[str]:
    for label in (labels[at] for at in range(begin, len(labels))):
        if re.search(r"\btotal\b", label, re.IGNORECASE):
            return
        yield label


def _by_indent(labels: Sequence[str], indents: Mapping[str, int]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """A label followed by labels that stand further in, with those of them that stand least so."""
    inside: dict[str, list[str]] = {}
    above: list[str] = []  # the labels that the next one may stand below, each further in than the one before it
    for label in labels if indents else ():
        while above and indents.get(above[-1], 0) >= indents.get(label, 0):
            above.pop()
        if above:
            inside.setdefault(above[-1], []).append(label)
        above.append(label)
    yield from ((label, tuple(children)) for label, children in inside.items() if not is_total(label))


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
    for labels in table.lines[column].get(label, ()):
        total = number_of(table.entries[labels].text)
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
