"""A printed table as it was understood: its columns with their labels, what adds up to what, and the text of every cell."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from genverify.core.errors import DataError

Labels = tuple[str, ...]
TOTAL_WORDS = {"total", "totals", "grand total", "sum", "all", "overall", "_t", "t", "together", "both sexes", "all ages",
               "everyone", "all persons", "all people", "persons", "insgesamt", "totaal", "totalt", "ensemble"}  # fmt: skip
NUMBER = re.compile(r"[+-]?(\d{1,3}([,'\u00a0\u202f \u2009]\d{3})+|\d{1,3}(\.\d{3}){2,}|\d+)([.,]\d+)?")
PERCENT = re.compile(r"[+-]?\d[\d.,]*\s*%")
BOTH = re.compile(r"([\d,. \u00a0\u202f]*\d)\s*\(\s*([\d.,]+)\s*%\s*\)")
LIMIT = re.compile(r"(<|<=|\u2264|less than|fewer than|under|>|>=|\u2265|at least|more than)\s*(\d+)", re.IGNORECASE)
MARK = re.compile(
    r"[*\u2020#^~:.\u2026/-]{1,4}|[\u2010-\u2015]|\.{0,2}[A-Za-z]|[\[(][A-Za-z*.:-]{1,3}[\])]|n/?a|nan|null|none|conf|supp?|suppressed"
    r"|confidential|redacted|masked|hidden",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Entry:
    """The text of one cell, and where it stands."""

    text: str
    place: str


Parts = tuple[str, ...]


@dataclass(frozen=True)
class Hierarchy:
    """
    What adds up to what in one column. Every label that adds up others has one set of parts, or several where breakdowns are
    stacked (sex, then region, under one total); each set is a tree of its own. `top` is the label that means everyone, None
    where there is none. `doubts` says of labels that look like totals why that could not be decided: they must be told.
    """

    top: str | None = None
    parts: Mapping[str, tuple[Parts, ...]] = field(default_factory=dict)
    doubts: Mapping[str, str] = field(default_factory=dict)

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
class PrintedTable:
    """
    A table: its columns (names of what is counted by), the labels of each in order, and the text of every cell by labels.

    `sums` says of a column what adds up to what; `where` keeps the table to some people (column: label);
    `notes` says how it was understood, for the user to confirm. `shares` are percentages beside the counts, and `rows` says
    how many of the columns stand at the left, as rows.
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

    def labels(self, column: str) -> tuple[str, ...]:
        at = self.columns.index(column)
        return tuple(dict.fromkeys(labels[at] for labels in self.entries))

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
        if labels in held and held[labels].text != entry.text:
            shown = ", ".join(f"{column}: {label}" for column, label in zip(columns, labels, strict=True))
            raise DataError(
                f"{entry.place}: a second cell for {shown} ({held[labels].text!r} at {held[labels].place}, now "
                f"{entry.text!r}); give its row or column another label"
            )
        held.setdefault(labels, entry)
    if not held:
        raise DataError(f"{source}: table {name} holds no counts")
    return PrintedTable(name, source, tuple(columns), held, title=title)


def is_total(label: str) -> bool:
    """
    Whether a label names a total of everything.

    >>> is_total("Total"), is_total("All ages"), is_total("Both sexes"), is_total("Allergies")
    (True, True, True, False)
    """
    text = " ".join(label.lower().strip(" :.*").split())
    return (
        text in TOTAL_WORDS
        or text.startswith("all ")
        or re.fullmatch(r"(grand )?total( persons| people| number| count)?", text) is not None
    )


def number_of(text: str) -> int | None:
    """
    A whole number as it is printed; None where the text is none.

    >>> number_of("1,234"), number_of("12 345"), number_of("7"), number_of("3.5"), number_of("*"), number_of("1.234.567")
    (1234, 12345, 7, None, None, 1234567)
    """
    text = text.strip()
    if not NUMBER.fullmatch(text):
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
