"""
A printed table as it was understood: its columns with their labels, what adds up to what, and the text of every cell.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from genverify.model.errors import DataError, nearest
from genverify.model.files import LIMITS, FileLimits

Labels = tuple[str, ...]
MOST_DIGITS = 16  # more than a count may have that can be computed with; what is larger is no number to be read at all
TOTAL_WORDS = {"total", "totals", "grand total", "sum", "all", "overall", "_t", "t", "together", "both sexes", "all ages",
               "everyone", "all persons", "all people", "insgesamt", "totaal", "totalt", "ensemble"}  # fmt: skip
NUMBER = re.compile(r"[+-]?(\d{1,3}([,'\u00a0\u202f \u2009]\d{3})+|\d{1,3}(\.\d{3}){2,}|\d+)([.,]\d+)?")
PERCENT = re.compile(r"[+-]?\d[\d.,]*\s*%")
BOTH = re.compile(r"([\d,. \u00a0\u202f]*\d)\s*\(\s*([\d.,]+)\s*%\s*\)")
LIMIT = re.compile(r"(<|<=|\u2264|less than|fewer than|under|>|>=|\u2265|at least|more than)\s*(\d+)", re.IGNORECASE)
# a text that is a symbol wherever it stands, and one that is a symbol among counts but may be a label: N for north, none
SYMBOL = re.compile(
    r"[*\u2020#^~:.\u2026/-]{1,4}|[\u2010-\u2015]|[\[(](?:[a-z*.:-]{1,3}|low|high)[\])]"
    r"|[\[(]?(?:conf|supp?|suppressed|confidential|redacted|masked|hidden|withheld|not (?:shown|disclosed|available))[\])]?",
    re.IGNORECASE,
)
MARK = re.compile(rf"{SYMBOL.pattern}|\.{{0,2}}[A-Za-z]|[\[(]?n/?a[\])]?|nan|null|none", re.IGNORECASE)
YEAR = re.compile(r"(?:19|20)\d\d")
DAY = re.compile(rf"{YEAR.pattern}(?:-\d\d(?:-\d\d)?)?")


@dataclass(frozen=True)
class Entry:
    """The text of one cell, and where it stands."""

    text: str
    place: str


LABEL, TOTAL, PARTS = "label", "total", "parts"


@dataclass(frozen=True)
class Doubt:
    """
    A text that may mean something else than was read, with a message that says where it stands and what settles it. `kind`
    is LABEL (it may be a symbol), TOTAL (it may be a total, by its name) or PARTS (what it adds up is unclear).
    """

    kind: str
    text: str
    message: str


Parts = tuple[str, ...]


@dataclass(frozen=True)
class Hierarchy:
    """
    What adds up to what in one column. Every label that adds up others has one set of parts, or several where breakdowns are
    stacked (sex, then region, under one total); each set is a tree of its own. `top` is the label that means everyone, None
    where there is none. `doubts` are of labels that look like totals where that could not be decided: they must be told.
    """

    top: str | None = None
    parts: Mapping[str, tuple[Parts, ...]] = field(default_factory=dict)
    doubts: tuple[Doubt, ...] = ()

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
                    raise DataError(f"{where}: {shown_label(parent)} would be {how}; a total is none of its own parts")
                for label in sorted(below):
                    if label in seen:
                        both = f"in {seen[label]!r} and in {child!r}" if seen[label] != child else "as a part"
                        raise DataError(
                            f"{where}: {shown_label(parent)} would count {label!r} twice ({both}); list it once, or say "
                            "what adds up to what: --hierarchy COLUMN=FILE.hrc, or `sums` in the release file (--write)"
                        )
                    seen[label] = child
        return self


def shown_label(label: str) -> str:
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


OF_ROW, OF_COLUMN, EVERYONE = "row", "column", "everyone"


@dataclass(frozen=True)
class Share:
    """A percentage beside the count with these labels; `of` what it is by its header (row, column, everyone, or unsaid)."""

    labels: Labels
    entry: Entry
    head: str
    of: str = ""


@dataclass(frozen=True)
class Told:
    """What is told before a file is read: how much it may hold, and its decimal sign where that is known."""

    limits: FileLimits = LIMITS
    decimal: str = ""


@dataclass(frozen=True)
class PrintedTable:
    """
    A table: its columns (names of what is counted by), the labels of each in order, and the text of every cell by labels.

    `sums` says of a column what adds up to what; `where` keeps the table to some people (column: label);
    `notes` says how it was understood, for the user to confirm. `shares` are percentages beside the counts, and `rows` says
    how many of the columns stand at the left, as rows. `left_out` names what stands in the file and is no part of the table;
    `doubts` are readings that may be wrong: each must be told before anything is said of the table.
    """

    name: str
    source: str
    columns: tuple[str, ...]
    entries: Mapping[Labels, Entry]
    sums: Mapping[str, Hierarchy] = field(default_factory=dict)
    where: Mapping[str, str] = field(default_factory=dict)
    title: str = ""
    notes: tuple[str, ...] = ()
    shares: tuple[Share, ...] = ()
    rows: int = 1
    left_out: tuple[str, ...] = ()
    doubts: tuple[Doubt, ...] = ()

    @cached_property
    def lines(self) -> Mapping[str, Mapping[str, Sequence[Labels]]]:
        """For each column, the cells with each of its labels, both in order."""
        found: dict[str, dict[str, list[Labels]]] = {column: {} for column in self.columns}
        for labels in self.entries:
            for column, label in zip(self.columns, labels, strict=True):
                found[column].setdefault(label, []).append(labels)
        return found

    def labels(self, column: str) -> tuple[str, ...]:
        return tuple(self.lines[column])

    def totals(self, column: str) -> tuple[str, ...]:
        return tuple(self.sums[column].parts) if column in self.sums else ()

    def noted(self, *notes: str) -> "PrintedTable":
        return replace(self, notes=(*self.notes, *notes))


def make_table(
    name: str, source: str, columns: Sequence[str], entries: Iterable[tuple[Labels, Entry]], title: str = ""
) -> PrintedTable:
    """A table; an error where two cells have the same labels."""
    held: dict[Labels, Entry] = {}
    for labels, entry in entries:
        check_digits(entry)
        if labels in held:
            shown = ", ".join(f"{column}: {label}" for column, label in zip(columns, labels, strict=True))
            raise DataError(
                f"{entry.place}: a second cell for {shown} ({held[labels].text!r} at {held[labels].place}, now "
                f"{entry.text!r}); give its row or column another label"
            )
        held.setdefault(labels, entry)
    if not any(entry.text for entry in held.values()):
        raise DataError(f"{source}: table {name} holds no counts")
    return PrintedTable(name, source, tuple(columns), held, title=title)


def is_total(label: str) -> bool:
    """
    Whether a label names a total of everything.

    >>> is_total("Total"), is_total("All ages"), is_total("Both sexes"), is_total("Allergies")
    (True, True, True, False)
    """
    text = " ".join(label.lower().strip(" :.*").split())
    return text in TOTAL_WORDS or re.fullmatch(r"(grand )?total( persons| people| number| count)?", text) is not None


def may_be_total(label: str) -> bool:
    """
    Whether a label may name a total: only numbers can tell `All races` from `All other races`.

    >>> may_be_total("All other races"), may_be_total("Persons"), may_be_total("Allergies")
    (True, True, False)
    """
    text = " ".join(label.lower().strip(" :.*").split())
    return not is_total(label) and (text.startswith("all ") or text in ("persons", "people", "both"))


PERIOD = re.compile(
    r"(?<!\d)(?:19|20)\d\d(?!\d)|(?<![a-z])(?:q[1-4]|[hw]\d{1,2}|week \d+|wave \d+|january|february|march|april|may|june"
    r"|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sep|oct|nov|dec)(?![a-z])",
    re.IGNORECASE,
)
TIME = {"year", "years", "date", "period", "time", "time_period", "month", "quarter", "week", "day", "jahr"}


def periods(text: str) -> frozenset[str]:
    """
    The years, quarters and months that a title or a name speaks of.

    >>> sorted(periods("pop_2019 Q1, 1234 people"))
    ['2019', 'Q1']
    """
    return frozenset(found.title() for found in PERIOD.findall(text))


def is_time(column: str, labels: Sequence[str]) -> bool:
    """Whether a column tells periods apart: its counts are of other people, or of the same ones again."""
    return column.strip().lower() in TIME or (len(labels) > 1 and all(DAY.fullmatch(label) for label in labels))


def check_digits(entry: Entry) -> None:
    """An error for a number too long to be a count or a percentage."""
    if len(entry.text) > MOST_DIGITS and sum(map(str.isdigit, entry.text)) > MOST_DIGITS:
        raise DataError(
            f"{entry.place}: {entry.text[:20]}... has more than {MOST_DIGITS} digits, too many for a count; give it in "
            "thousands or millions, or correct it"
        )


def is_number(text: str) -> bool:
    """Whether a text is a number, whole or not."""
    return NUMBER.fullmatch(text.strip()) is not None


def number_of(text: str) -> int | None:
    """
    A whole number as it is printed; None where the text is none.

    >>> number_of("1,234"), number_of("12 345"), number_of("7"), number_of("3.5"), number_of("*"), number_of("1.234.567")
    (1234, 12345, 7, None, None, 1234567)
    """
    text = text.strip()
    if len(text) > 3 * MOST_DIGITS or not NUMBER.fullmatch(text):
        return None
    plain = re.sub(r"[,'\u00a0\u202f \u2009](?=\d{3}(\D|$))", "", text)
    plain = re.sub(r"\.(?=\d{3}\.|\d{3}$)", "", plain) if plain.count(".") > 1 else plain
    plain = re.sub(r"[.,]0+$", "", plain)
    return int(plain) if re.fullmatch(r"[+-]?\d+", plain) else None


def is_percentage(text: str) -> bool:
    """
    >>> is_percentage("12.5 %"), is_percentage("12.5"), is_percentage("12"), is_percentage("row %")
    (True, False, False, False)
    """
    return bool(PERCENT.fullmatch(text.strip()))


def is_value(text: str) -> bool:
    """Whether a text can stand in the body of a table: a number, a number with its percentage, a limit, or a mark."""
    text = text.strip()
    return bool(
        NUMBER.fullmatch(text)
        or is_percentage(text)
        or BOTH.fullmatch(text)
        or LIMIT.fullmatch(text)
        or MARK.fullmatch(text)
    )


# Which labels of a table add up others: by their names, by the numbers, by indents, by intervals inside intervals.

BAND = re.compile(r"(\d{1,9})\s*(?:-|\u2013|to|bis|a)\s*(\d{1,9})(?:\s*(?:years?|yrs?))?", re.IGNORECASE)
FROM = re.compile(
    r"(\d{1,9})\s*(?:\+|and over|and above|or more|and older|plus|years and over)(?:\s*years?)?", re.IGNORECASE
)
UNDER = re.compile(r"(?:under|less than|below|<)\s*(\d{1,9})(?:\s*years?)?", re.IGNORECASE)
ONLY_SOME = re.compile(r"(of which|including|thereof|incl)\b", re.IGNORECASE)  # of the line above it, not all
FAR = 10**6  # stands for no upper end: above any age, size or year in a label


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
