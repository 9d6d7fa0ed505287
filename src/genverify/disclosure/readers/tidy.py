"""Tidy tables: a line for every cell with its labels and its count, SDMX-CSV among them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from genverify.core.errors import DataError
from genverify.disclosure.readers.grid import SHARES, STATISTIC, Grid, label_doubts, one_axis
from genverify.disclosure.readers.model import Entry, PrintedTable, Share, check_digits, is_number, is_value, make_table
from genverify.disclosure.readers.totals import find_totals

VALUES = ("obs_value", "count", "counts", "value", "n", "freq", "frequency", "number", "households", "persons", "people")
FLAGS = ("conf_status", "obs_status", "status", "flag", "flags", "obs_flag")
APART = ("variable", "table", "dataset", "dataflow", "structure_id", "structure")  # one table for each of its values
IGNORED = ("dataflow", "structure", "structure_id", "action", "freq", "unit_measure", "unit_mult", "decimals", "obs_status",
           "conf_status", "status", "flag", "flags", "obs_flag")  # fmt: skip
OPEN = {"", "A", "F", "E", "P", "R"}  # what a status says of a count that may be seen: normal, free, estimated, ...


def is_tidy(grid: Grid) -> bool:
    """Whether a grid has a line for every cell: a column called so holds the values, and another one repeats itself."""
    head = [text.lower() for text in grid[0]]
    value = value_column(head)
    rows = [row for row in grid[1:] if any(row)]
    if len(set(head)) < len(head):  # two columns of one name: counts side by side
        return False
    if value is None or len(head) < 2 or not rows or any(len(row) != len(head) for row in rows):
        return False
    if head[value] == "obs_value":
        return True
    others = [at for at, name in enumerate(head) if at != value and name not in FLAGS and name not in SHARES]
    numeric = [at for at in others if all(is_value(row[at]) for row in rows) and any(is_number(row[at]) for row in rows)]
    words = [at for at in others if at not in numeric]
    if numeric and words and len({tuple(row[at] for at in words) for row in rows}) == len(rows):
        return False  # the words alone tell the lines apart, so that the numbers beside them are counts, and no labels
    return (len(others) > 1 and bool(words)) or (len(others) == 1 and len(head) <= 3)


def value_column(head: Sequence[str]) -> int | None:
    """The column of the values by its name; the first of the usual names that is there."""
    return next((head.index(name) for name in VALUES if name in head and not (name == "freq" and "obs_value" in head)), None)


def tidy_tables(grid: Grid, name: str, source: str) -> list[PrintedTable]:
    """The tables of a tidy grid: one, or one for each value of a column called table or variable."""
    head = [text.lower() for text in grid[0]]
    value = value_column(head)
    assert value is not None
    flag = next((head.index(known) for known in FLAGS if known in head), None)
    apart = next((at for at, own in enumerate(head) if own in APART and own not in ("dataflow",)), None)
    rows = [(number, row) for number, row in enumerate(grid[1:], 2) if any(row)]
    shares = [at for at, own in enumerate(head) if own in SHARES]
    other = [at for at, own in enumerate(head) if at not in (value, apart, *shares) and STATISTIC.search(own)]
    labels = [at for at, own in enumerate(head) if at not in (value, apart, *shares, *other) and own not in IGNORED]
    constant = [at for at in labels if len({row[at] for _, row in rows}) == 1]
    told = [at for at in labels if at not in constant] or labels[:1]
    codes = {
        told[a]: told[b]
        for a, b in one_axis([grid[0][at] for at in told], [[row[at] for at in told] for _, row in rows]).items()
    }
    told = [at for at in told if at not in codes]
    doubts = label_doubts(((text, source) for text in grid[0] if text), "headers")
    for at in (*told, *([apart] if apart is not None else [])):
        doubts += label_doubts(((row[at], f"{source}, line {number}") for number, row in rows), "labels")
    found = []
    flagged = [_flagged(row, value, flag) for _, row in rows]
    meant = Counter(own for own in flagged if own)
    for part in dict.fromkeys(row[apart] for _, row in rows) if apart is not None else [""]:
        own = [(number, row) for number, row in rows if apart is None or row[apart] == part]
        labels = [at for at in told if any(row[at] for _, row in own)]  # what a table leaves empty, it is not counted by
        entries = [
            (tuple(row[at] for at in labels), _entry(row, value, flag, f"{source}, line {number}")) for number, row in own
        ]
        for (number, _), (texts, entry) in zip(own, entries, strict=True):
            if entry.text and not is_value(entry.text) and not entry.text.startswith("status "):
                raise DataError(f"{source}, line {number}: the value {entry.text!r} is neither a number nor a mark")
            if "" in texts:
                raise DataError(
                    f"{source}, line {number}: {grid[0][labels[texts.index('')]]} is empty; every line needs its labels"
                )
        table = make_table(part or name, source, [grid[0][at] for at in labels], entries)
        notes = ["a line for each cell; " + f"counts in {grid[0][value]}"]
        notes += (
            [f"the same in every line: {', '.join(f'{grid[0][at]} = {rows[0][1][at]}' for at in constant)}"]
            if constant
            else []
        )
        beside = [
            Share(tuple(row[at] for at in labels), Entry(row[share], f"{source}, line {number}"), grid[0][share])
            for number, row in own
            for share in shares
        ]
        for share in beside:
            check_digits(share.entry)
        notes += [f"{grid[0][code]} is the code of {grid[0][name]}: one column" for code, name in codes.items()]
        left = [f"{table.name}: column {grid[0][at]!r}: no counts ({len(own)} cells)" for at in other]
        left += [
            f"{table.name}: the flag {word!r} beside {times} printed counts: what does it mean?"
            for word, times in meant.items()
        ]
        read = replace(
            table, notes=tuple(notes), shares=tuple(beside), rows=len(labels), doubts=tuple(doubts), left_out=tuple(left)
        )
        found.append(find_totals(read))
    return found


def _flagged(row: Sequence[str], value: int, flag: int | None) -> str:
    """A flag beside a printed count that may say that the count is none: of `0` beside N, nobody knows what it is."""
    return row[flag] if flag is not None and row[flag].upper() not in OPEN and is_number(row[value]) else ""


def _entry(row: Sequence[str], value: int, flag: int | None, place: str) -> Entry:
    """The text of a value; where it is not there or NaN, the status says why."""
    text = row[value]
    if flag is not None and row[flag] not in OPEN and (not text or text.lower() == "nan"):
        return Entry(f"status {row[flag]}", place)
    return Entry(text, place)
