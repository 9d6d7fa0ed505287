"""
Percentages beside counts: of what they are, found by the printed numbers or told, and each as a fact with its rounding.

A percentage may be of its row, of its column or of everyone. Where the header does not say it, the one that agrees with the
counts that are printed is taken, and where nothing can be compared the one by which they make up 100. Where none or several
do, the percentages are left out: that is said, and nothing is called safe.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod

from genverify.core.errors import DataError
from genverify.disclosure.facts import between, rounded
from genverify.disclosure.linked import Fact, Key, Placed, name_of
from genverify.disclosure.marks import EXACT, Value
from genverify.disclosure.readers.model import EVERYONE, OF_COLUMN, OF_ROW, Labels, PrintedTable, Share, is_value

KINDS = (OF_COLUMN, OF_ROW, EVERYONE)
NONE = "none"
SURE = 0.8  # from this part of the percentages on, the others are contradictions and no other meaning
WORDS = {OF_COLUMN: "their column", OF_ROW: "their row", EVERYONE: "everyone"}
Values = Mapping[Labels, Value]


@dataclass(frozen=True)
class Meant:
    """Percentages of one table whose meaning is known: what each is of, and the table with a note that says so."""

    table: PrintedTable
    shares: tuple[tuple[Share, str], ...]


def percent_of(text: str) -> str | None:
    """
    The number of a percentage as it is printed, or None.

    >>> percent_of("12,5 %"), percent_of("7"), percent_of("*")
    ('12.5', '7', None)
    """
    plain = text.strip().removesuffix("%").strip().replace(",", ".")
    return plain if re.fullmatch(r"\d+(\.\d+)?", plain) else None


def meaning(table: PrintedTable, values: Values, rule: Sequence[str], told: str | None) -> Meant:
    """What the percentages of a table are of; those that cannot be facts are left out, with the reason as a note."""
    shares = [share for share in table.shares if percent_of(share.entry.text) is not None]
    odd = [s.entry for s in table.shares if percent_of(s.entry.text) is None and s.entry.text and not is_value(s.entry.text)]
    table = (
        _left_out(table, f"{len(odd)} texts among the percentages, the first {odd[0].text!r} at {odd[0].place}")
        if odd
        else table
    )
    if not shares:
        return Meant(table, ())
    if told == NONE:
        return Meant(_left_out(table, f"{len(shares)} percentages left out, as told"), ())
    if told is None and any(word != EXACT and not word.startswith("suppress") for word in rule):
        why = "they may be of rounded counts; percent_of in the release file says that they are of the true ones"
        return Meant(_left_out(table, f"{len(shares)} percentages left out: {why}"), ())
    found, notes = list[tuple[Share, str]](), list[str]()
    for head in dict.fromkeys((share.head, share.of) for share in shares):
        own = [share for share in shares if (share.head, share.of) == head]
        kind, how = (told, "as told") if told else (head[1], "by the header") if head[1] else _inferred(table, own, values)
        if not kind:
            why = f"{len(own)} percentages left out ({head[0]}): {how}; say it with percent_of in the release file"
            table = _left_out(table, why)
            continue
        _refuse_wrong(table, own, values, kind)
        found += [(share, kind) for share in own]
        notes.append(f"{len(own)} percentages ({head[0]}) are of {WORDS[kind]} ({how}): facts, rounded as printed")
    return Meant(table.noted(*notes), tuple(found))


def _left_out(table: PrintedTable, what: str) -> PrintedTable:
    return replace(table.noted(what), left_out=(*table.left_out, f"{table.name}: {what}"))


def _inferred(table: PrintedTable, shares: Sequence[Share], values: Values) -> tuple[str, str]:
    tested = {kind: [fits for share in shares if (fits := _fits(table, share, values, kind)) is not None] for kind in KINDS}
    best = [kind for kind in KINDS if tested[kind] and sum(tested[kind]) >= SURE * len(tested[kind])]
    best = [kind for kind in best if all(tested[kind])] or best
    if not any(tested.values()):  # not one count can be compared: the percentages themselves must tell
        best = [kind for kind in KINDS if _make_100(table, shares, kind)]
    if len(best) == 1 or (best and len(table.columns) == 1):
        return best[0], "it agrees with the counts"
    if best:
        return "", f"they could be of {' or of '.join(WORDS[kind] for kind in best)}"
    if not any(tested.values()):
        return "", "no printed count can be compared with them, and they do not make up 100 in one way"
    return "", "they agree with no counts of their row, their column or everyone"


def _make_100(table: PrintedTable, shares: Sequence[Share], kind: str) -> bool:
    """Whether percentages make up 100 over all parts of their whole, and are 100 of the whole itself, wherever it shows."""
    parts: dict[Labels, list[Share]] = {}
    fits = list[bool]()
    for share in shares:
        across = dict(_across(table, share.labels, kind))
        if _is_whole(table, share.labels, kind):
            low, high = rounded(str(percent_of(share.entry.text)))
            fits.append(low <= 100 <= high)
        elif all(label in _finest(table, column) for column, label in across.items()):
            rest = tuple("" if c in across else own for c, own in zip(table.columns, share.labels, strict=True))
            parts.setdefault(rest, []).append(share)
    for rest, own in parts.items():
        wanted = prod(len(_finest(table, c)) for c, label in zip(table.columns, rest, strict=True) if not label)
        if wanted == len(own):
            ends = [rounded(str(percent_of(share.entry.text))) for share in own]
            fits.append(sum(low for low, _ in ends) <= 100 <= sum(high for _, high in ends))
    return bool(fits) and all(fits)


def _finest(table: PrintedTable, column: str) -> tuple[str, ...]:
    return tuple(label for label in table.labels(column) if label not in table.totals(column))


def _refuse_wrong(table: PrintedTable, shares: Sequence[Share], values: Values, kind: str) -> None:
    for share in shares:
        if _fits(table, share, values, kind) is False:
            count, whole = values[share.labels], _whole_value(table, share.labels, values, kind)
            raise DataError(
                f"{share.entry.place}: {share.entry.text} as a percentage of {WORDS[kind]} contradicts the counts beside it "
                f"({count.lo} of {whole[0] if whole else '?'}); correct one, or say what percentages are of: percent_of: "
                "row, column, everyone or none, for the table in the release file (--write)"
            )


def _fits(table: PrintedTable, share: Share, values: Values, kind: str) -> bool | None:
    """Whether a percentage agrees with its count and its whole; None where they do not tell."""
    count, whole = values[share.labels], _whole_value(table, share.labels, values, kind)
    if count.hi is None or whole is None or whole[0] <= 0 or _is_whole(table, share.labels, kind):
        return None
    low, high = rounded(str(percent_of(share.entry.text)))
    return bool(Fraction(100 * count.hi, whole[0]) >= low and Fraction(100 * count.lo, whole[1]) <= high)


def _is_whole(table: PrintedTable, labels: Labels, kind: str) -> bool:
    return all(label in table.totals(column) for column, label in _across(table, labels, kind))


def _across(table: PrintedTable, labels: Labels, kind: str) -> list[tuple[str, str]]:
    """The columns of a table over which the whole of a percentage is added up."""
    named = list(zip(table.columns, labels, strict=True))
    return {OF_COLUMN: named[: table.rows], OF_ROW: named[table.rows :], EVERYONE: named}[kind]


def _whole_value(table: PrintedTable, labels: Labels, values: Values, kind: str) -> tuple[int, int] | None:
    """The ends of the whole: its printed total, or the sum of its parts."""
    found: list[Labels] = [labels]
    for column, _ in _across(table, labels, kind):
        at = table.columns.index(column)
        parts = _parts(table, column)
        found = [(*own[:at], part, *own[at + 1 :]) for own in found for part in parts]
    known = [values.get(own) for own in found]
    if any(value is None or value.hi is None for value in known) or not known:
        return None
    return sum(value.lo for value in known if value), sum(value.hi or 0 for value in known if value)


def _parts(table: PrintedTable, column: str) -> tuple[str, ...]:
    """The total of a column, or without one the labels that nothing adds up."""
    sums = table.sums.get(column, ())
    children = {child for _, own in sums for child in own}
    tops = [parent for parent, _ in sums if parent not in children]
    return tuple(tops[:1]) or tuple(label for label in table.labels(column) if label not in children)


def share_facts(placed: Placed, meant: Meant) -> Iterator[Fact]:
    """Every percentage as two rows: at least and at most what it was rounded from."""
    table = placed.table
    linked = dict(zip(table.columns, placed.columns, strict=False))  # columns that keep it to some people come after
    for share, kind in meant.shares:
        part = placed.keys[share.labels]
        across = {linked[column] for column, _ in _across(table, share.labels, kind)}
        whole: Key = tuple(own for own in part if own[0] not in across)
        if part == whole:
            continue
        number = str(percent_of(share.entry.text))
        text = f"{share.entry.place}: {number} % of {name_of(whole)}"
        low, high = rounded(number)
        yield from between(text, {name_of(part): Fraction(100)}, name_of(whole), max(low, Fraction(0)), high)
