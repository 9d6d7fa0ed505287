"""A reading as printed tables, the form in which they are linked: labels, sums, percentages, and who is counted."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from genverify.reading.axes import PARTS
from genverify.reading.reading import Reading, Table

Labels = tuple[str, ...]


@dataclass(frozen=True)
class PrintedEntry:
    """The text of one cell, a number in plain digits or a symbol, and where it stands."""

    text: str
    place: str


@dataclass(frozen=True)
class PrintedShare:
    """A percentage beside the count with these labels; `of` what it is, where numbers decide it (row), else unsaid."""

    labels: Labels
    entry: PrintedEntry
    head: str
    of: str = ""


@dataclass(frozen=True)
class PrintedTable:
    """
    A table: its columns (names of what is counted by), and the text of every cell by labels.

    `sums` says of a column which label adds up which others: nothing is added up that the reading does not say. `where`
    keeps the table to its own people, and `rows` says how many of the columns stand at the left, as rows.
    """

    name: str
    source: str
    columns: tuple[str, ...]
    entries: Mapping[Labels, PrintedEntry]
    sums: Mapping[str, tuple[tuple[str, tuple[str, ...]], ...]] = field(default_factory=dict)
    where: Mapping[str, str] = field(default_factory=dict)
    title: str = ""
    notes: tuple[str, ...] = ()
    shares: tuple[PrintedShare, ...] = ()
    rows: int = 1

    def labels(self, column: str) -> tuple[str, ...]:
        at = self.columns.index(column)
        return tuple(dict.fromkeys(labels[at] for labels in self.entries))

    def totals(self, column: str) -> tuple[str, ...]:
        return tuple(parent for parent, _ in self.sums.get(column, ()))

    def noted(self, *notes: str) -> "PrintedTable":
        return replace(self, notes=(*self.notes, *notes))


def printed_tables(reading: Reading) -> list[PrintedTable]:
    """
    The tables of counts of a reading. Two are about the same people only where title, population and axes are the same and
    every cell that both print has the same text; else each has people of its own.
    """
    tables = [table for table in reading.tables if table.entries and table.axes]
    groups = list[list[Table]]()
    for table in tables:
        home = next((group for group in groups if all(_same_people(table, other) for other in group)), None)
        if home is None:
            groups.append([table])
        else:
            home.append(table)
    found = []
    for group in groups:
        where = {f"in {group[0].name}": "yes"} if len(groups) > 1 else {}
        found += [_printed(table, where) for table in group]
    return found


def _same_people(one: Table, other: Table) -> bool:
    """Whether two tables count the same people: what is said of them agrees, and so do the cells that both print."""
    if (one.title, one.population) != (other.title, other.population) or not one.title:
        return False
    if [axis.name for axis in one.axes] != [axis.name for axis in other.axes]:
        return False
    common = one.entries.keys() & other.entries.keys()
    return bool(common) and all(one.entries[key].text == other.entries[key].text for key in common)


def _printed(table: Table, where: Mapping[str, str]) -> PrintedTable:
    """One table; labels that are no parts of a printed total stay beside each other, and are not added up."""
    printed = {key: PrintedEntry(str(own.number) if own.number is not None else own.symbol, own.place)
               for key, own in table.entries.items()}  # fmt: skip
    sums = {}
    for at, axis in enumerate(table.axes):
        labels = {key[at] for key in printed}
        kept = tuple(
            (parent, children) for parent, children in axis.tree if parent in labels and labels.issuperset(children)
        )
        if kept:
            sums[axis.name] = kept
    notes = [f"{axis.name}: {axis.kind}, not added up" for axis in table.axes if not axis.tree and axis.kind != PARTS]
    columns = tuple(axis.name for axis in table.axes)
    return PrintedTable(table.name, table.file, columns, printed, sums, dict(where), table.title, tuple(notes),
                        tuple(_shares(table)), rows=max(1, len(table.rows)))  # fmt: skip


def _shares(table: Table) -> Iterator[PrintedShare]:
    """Percentages whose part is known, beside the count of that part."""
    wide = len(table.counts) > 1
    for share in table.shares:
        labels = share.key + ((share.part,) if wide and share.part else ())
        if (share.part or not wide) and labels in table.entries:
            entry = PrintedEntry(share.entry.text, share.entry.place)
            yield PrintedShare(labels, entry, share.head, "row" if share.whole else "")
