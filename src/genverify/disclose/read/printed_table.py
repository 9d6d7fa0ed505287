"""A printed table as it was understood: its columns with their labels, what adds up to what, and the text of every cell."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from genverify.core.errors import DataError
from genverify.core.limits import LIMITS, FileLimits

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
