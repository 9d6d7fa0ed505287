"""Which labels of a table add up others: by their names, by the numbers, by indents, by intervals inside intervals."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from genverify.core.errors import DataError, nearest
from genverify.disclosure.readers.model import TOTAL, Doubt, Labels, PrintedTable, is_total, may_be_total, number_of

Sums = tuple[tuple[str, tuple[str, ...]], ...]
BAND = re.compile(r"(\d{1,9})\s*(?:-|\u2013|to|bis|a)\s*(\d{1,9})(?:\s*(?:years?|yrs?))?", re.IGNORECASE)
FROM = re.compile(
    r"(\d{1,9})\s*(?:\+|and over|and above|or more|and older|plus|years and over)(?:\s*years?)?", re.IGNORECASE
)
UNDER = re.compile(r"(?:under|less than|below|<)\s*(\d{1,9})(?:\s*years?)?", re.IGNORECASE)
FAR = 10**6


def find_totals(
    table: PrintedTable, named: Mapping[str, str] | None = None, indents: Mapping[str, int] | None = None
) -> PrintedTable:
    """The table with what adds up to what, and a note on how each total was recognised."""
    sums, notes, doubts = dict(table.sums), list[str](), list[Doubt]()
    for column in table.columns:
        if column in sums:
            continue
        if column not in (named or {}):
            doubts += _doubts(table, column, indents or {})
        found, how = _sums(table, column, (named or {}).get(column), indents or {})
        if found:
            sums[column] = found
            notes.append(f"{column}: {how}")
    return replace(table, sums=sums, notes=(*table.notes, *notes), doubts=(*table.doubts, *doubts))


def _doubts(table: PrintedTable, column: str, indents: Mapping[str, int]) -> Iterator[Doubt]:
    """Labels that may add up others, where no number says so: to take them for totals, or not to, would be a guess."""
    labels = table.labels(column)
    tell = "say what adds up to what with --hierarchy, or in the release file (--write)"
    for label in (own for own in labels if may_be_total(own)):
        others = tuple(other for other in labels if other != label and not is_total(other))
        if not any(map(is_total, labels)) and len(others) > 1 and _adds_up(table, column, label, others) is None:
            message = (
                f"{table.source}: table {table.name}: {label!r} may be the total of {column}, and no numbers decide it; say "
                f"--total '{column}={label}' or --no-total '{label}'"
            )
            yield Doubt(TOTAL, label, message)
    for label, agreed in _named(table, column, labels):
        if None in agreed.values() and True not in agreed.values():
            what = f"{table.source}: table {table.name}: {label!r} may be a subtotal, and no numbers decide it"
            yield Doubt(TOTAL, label, f"{what}; say --no-total '{label}', or {tell}")
    for label, children in _by_indent(labels, indents):
        what = f"{table.source}: table {table.name}: {' and '.join(map(repr, children[:3]))} stand further in than {label!r}"
        if any(re.match(r"of which\b|including\b|thereof\b|incl\b", child, re.IGNORECASE) for child in children):
            yield Doubt(TOTAL, label, f"{what}, and may be only some of it; {tell}")
        elif len(children) < 2:
            yield Doubt(TOTAL, label, f"{what}, alone: it is a part of it, but not all; {tell}")
        elif _adds_up(table, column, label, children) is False:
            yield Doubt(TOTAL, label, f"{what}, but their counts do not add up to it; {tell}")


def _sums(table: PrintedTable, column: str, named: str | None, indents: Mapping[str, int]) -> tuple[Sums, str]:
    labels = table.labels(column)
    if named is not None:
        if named not in labels:
            raise DataError(f"{table.source}: {column} has no label {named!r}: {nearest(named, list(labels))}")
        return ((named, tuple(label for label in labels if label != named)),), f"{named!r} is the total, as told"
    indented = ((label, children) for label, children in _by_indent(labels, indents) if len(children) > 1)
    inner = dict([*indented, *_by_name(table, column, labels), *_by_interval(labels)])
    parts = {child for children in inner.values() for child in children}
    total = [label for label in labels if is_total(label) and label not in parts]
    if not total:
        perhaps = [label for label in labels if may_be_total(label) and label not in parts]
        others = {label: tuple(x for x in labels if x != label and x not in parts) for label in perhaps}
        total = [label for label in perhaps if len(others[label]) > 1 and _adds_up(table, column, label, others[label])]
    if len(total) > 1:
        raise DataError(
            f"{table.source}: table {table.name}: {' and '.join(map(repr, total))} both look like the total of {column}; "
            f"say which one is with --total '{column}={total[0]}', and rename the other"
        )
    how = [f"{label!r} adds up {len(children)} others" for label, children in inner.items()]
    if not total:
        by_numbers = _by_position(table, column, [label for label in labels if label not in inner])
        total = [by_numbers] if by_numbers and by_numbers not in parts else []
        how += [f"{total[0]!r} is the total (it adds up the others)"] if total else []
    else:
        how += [f"{total[0]!r} is the total (by its name)"]
    top = tuple((label, tuple(x for x in labels if x != label and x not in parts)) for label in total)
    return (*top, *inner.items()), "; ".join(how)


def _by_name(table: PrintedTable, column: str, labels: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Subtotals called so: `Subtotal`, `Total owned`, `Owned, total`: the labels right before or after add up to it."""
    for label, agreed in _named(table, column, labels):
        yield from ((label, children) for children, agrees in list(agreed.items())[:1] if agrees)


def _named(
    table: PrintedTable, column: str, labels: Sequence[str]
) -> Iterator[tuple[str, dict[tuple[str, ...], bool | None]]]:
    """Labels called like subtotals, with the sets that may add up to each and what the numbers say, the surest first."""
    others: list[str] = []
    for at, label in enumerate(labels):
        if is_total(label):
            continue
        if not re.search(r"\b(sub-?total|total)\b|\btotal_|_total\b", label, re.IGNORECASE):
            others.append(label)
            continue
        sets = (tuple(others), tuple(_until_total(labels, at + 1)))
        agreed = {own: _adds_up(table, column, label, own) for own in sets if len(own) > 1}
        yield label, dict(sorted(agreed.items(), key=lambda one: one[1] is not True))
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


def _by_interval(labels: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
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
        if _adds_up(table, column, label, tuple(other for other in labels if other != label), sure=True):
            return label
    return None


def _adds_up(table: PrintedTable, column: str, label: str, children: tuple[str, ...], sure: bool = False) -> bool | None:
    """
    Whether the numbers agree that a label adds up others, None where no line is printed whole; with `sure`, two lines must
    say so, and not by zeros.
    """
    at = table.columns.index(column)
    agree = 0
    for labels in table.lines[column].get(label, ()):
        total, parts = number_of(table.entries[labels].text), [_value(table, labels, at, child) for child in children]
        known = [part for part in parts if part is not None]
        if total is None:
            continue
        if sum(known) > total + 3 * len(parts):  # printed counts may be rounded
            return False
        if len(known) == len(parts):
            if sum(known) != total and (sure or abs(sum(known) - total) > 3 * len(parts)):
                return False
            agree += total > 0
    return agree >= 2 if sure else True if agree else None


def _value(table: PrintedTable, labels: Labels, at: int, label: str) -> int | None:
    entry = table.entries.get((*labels[:at], label, *labels[at + 1 :]))
    return number_of(entry.text) if entry else None
