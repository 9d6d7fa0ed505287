"""
Tables in a grid of texts, as spreadsheets and CSV files hold them: crosstabs with headers, titles, notes and sections, or
tidy lines.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pandas as pd

from genverify.disclose.read.printed_table import (
    BOTH,
    EVERYONE,
    LABEL,
    LIMIT,
    MARK,
    OF_COLUMN,
    OF_ROW,
    SYMBOL,
    YEAR,
    Doubt,
    Entry,
    PrintedTable,
    Share,
    Told,
    check_digits,
    find_totals,
    is_number,
    is_percentage,
    is_total,
    is_value,
    make_table,
    number_of,
)
from genverify.model.errors import DataError
from genverify.model.tablefiles import Expected, read_rows

Grid = list[list[str]]
LARGEST_GRID = 20_000_000  # cells of a rectangle, blanks included: some gigabytes
SIZE = re.compile(r"[,;:(\[\s]*\bN\s*=\s*([\d,. \u00a0]*\d)\s*[)\]]?\s*$", re.IGNORECASE)
FOOTNOTE = re.compile(r"(?<=\D)\s*(\[\w{1,2}\]|\([a-z1-9]\)|[\u00b9\u00b2\u00b3\u2070-\u2079]+|[*\u2020\u2021]+)\s*$")
COUNTS = {"n", "count", "counts", "number", "no.", "no", "freq", "frequency", "value", "obs"}
SHARES = {"%", "percent", "per cent", "percentage", "pct", "share", "row %", "column %", "col %", "proportion",
          "% of row", "% of column", "% of total", "% row", "% column", "% of all"}  # fmt: skip
SHARE = re.compile(r"\s*(%|per ?cent(age)?|pct|share|proportion)\s+of\b", re.IGNORECASE)
# columns of numbers that count nobody: they are left out by name
STATISTIC = re.compile(
    r"\b(avg|average|mean|median|mode|rate|ratio|score|index|sd|std|s\.?e\.?|deviation|error|c\.?i\.?|confidence|interval|quartile"
    r"|percentile|minimum|maximum|per (?:\d[\d,. ]*|capita|head))\b",
    re.IGNORECASE,
)
NOTE = re.compile(
    r"(notes?|sources?|quelle|fu(ss|\u00df)note|legend|key)\b|[*\u2020\u2021\u00b9\u00b2\u00b3]|[\[(]\w{1,3}[\])]\s|\d[.)]\s",
    re.IGNORECASE,
)
BREAKDOWN = re.compile(r"groups?|grouping|variables?|characteristics?|breakdown|category|dimension|measure", re.IGNORECASE)
FEW_SHARED = 0.75  # breakdowns share few labels, such as Unknown; the labels of a crosstab stand in all of its groups
ROUNDED = 5  # how far off a printed count may be, where sums of breakdowns are compared
WORDS_OF_A_NOTE = 4  # a text of as many words alone in a row below a table is a note, no label of blank counts
# a decimal comma, a decimal point, and a point that may be either: of `2.000`, nobody can say whether it is 2 or 2,000
COMMA = re.compile(r"\d+,(\d{1,2}|\d{4,})|0,\d+|\d{4,},\d+|\d{1,3}(\.\d{3})+,\d+|\d{1,3}(\.\d{3}){2,}")
POINT = re.compile(r"\d+\.(\d{1,2}|\d{4,})|0\.\d+|\d{4,}\.\d+|\d{1,3}(,\d{3})+\.\d+|\d{1,3}(,\d{3}){2,}")
EITHER, THOUSANDS = re.compile(r"\d{1,3}\.\d{3}"), re.compile(r"\d{1,3},\d{3}")
SWAPPED = str.maketrans(",.", ".,")


def decimal_sign(texts: Iterable[tuple[str, str]], source: str, told: str) -> str:
    """The decimal sign of a file, from all its texts with their places: as told, or as some number shows it."""
    if told:
        return told
    first: dict[str, tuple[str, str]] = {}
    for text, place in texts:
        if ("." in text or "," in text) and is_value(text):
            for number in re.findall(r"\d[\d.,]*", text):
                kinds = {",": COMMA, ".": POINT, "": EITHER, "thousands": THOUSANDS}
                kind = next((sign for sign, form in kinds.items() if form.fullmatch(number)), None)
                if kind is not None:
                    first.setdefault(kind, (text, place))
    if "," not in first or "" in first:  # a comma before three digits is one of thousands, unless others are decimal
        first.pop("thousands", None)
    if len(signs := [sign for sign in first if sign]) == 1 or not first:
        return signs[0] if signs else "."
    shown = " and ".join(f"{text!r} at {place}" for text, place in first.values())
    raise DataError(f"{source}: is the decimal sign a point or a comma? {shown} do not tell; say --decimal . or --decimal ,")


def with_point(text: str, sign: str) -> str:
    """A number with a decimal comma as one with a point: `1.234,5` is 1,234.5."""
    return text.translate(SWAPPED) if sign == "," and is_value(text) else text


def pointed(grid: Grid, source: str, told: str) -> Grid:
    """A grid of texts, its numbers with a decimal point."""
    texts = ((text, f"{letters(at)}{row}") for row, own in enumerate(grid, 1) for at, text in enumerate(own))
    sign = decimal_sign(texts, source, told)
    return [[with_point(text, sign) for text in row] for row in grid] if sign == "," else grid


def label_doubts(texts: Iterable[tuple[str, str]], what: str) -> list[Doubt]:
    """
    Texts that were read as labels (`what`: labels or headers), with their places, and that may be symbols for counts: those
    that are symbols anywhere, and beside numbers those that are symbols among counts.
    """
    own = list(texts)
    numbers = any(is_number(text) for text, _ in own)
    found: dict[str, Doubt] = {}
    for text, place in own:
        if SYMBOL.fullmatch(text) or (numbers and (MARK.fullmatch(text) or LIMIT.fullmatch(text))):
            message = (
                f"{place}: {text!r} was read as one of the {what}, and may be a symbol for a count; if it is a label, say "
                f"--label '{text}'; if not, give the counts a header of their own and each row its label"
            )
            found.setdefault(text, Doubt(LABEL, text, message))
    return list(found.values())


def one_axis(names: Sequence[str], rows: Sequence[Sequence[str]]) -> dict[int, int]:
    """
    Columns of labels that only write another one in codes: each label of one goes with one label of the other.

    >>> one_axis(["code", "name"], [("1a", "Ann"), ("2b", "Bob"), ("3c", "Cy"), ("", "Total")])
    {0: 1}
    """
    dropped: dict[int, int] = {}
    for one in range(len(names)):
        for other in (at for at in range(one + 1, len(names)) if at not in dropped and one not in dropped):
            pairs = {(row[one], row[other]) for row in rows}
            whole = {(a, b) for a, b in pairs if a and b}
            rest = {a or b for a, b in pairs if not (a and b)}
            if len(whole) < 3 or not all(map(is_total, rest)):  # two pairs may go together by chance
                continue
            if len({a for a, _ in whole}) == len(whole) == len({b for _, b in whole}):
                letters_of = [sum(sum(map(str.isalpha, pair[at])) for pair in whole) for at in (0, 1)]
                code, name = (one, other) if letters_of[0] <= letters_of[1] else (other, one)
                dropped[code] = name
    return dropped


@dataclass(frozen=True)
class Block:
    """A rectangle of a grid, and where it begins."""

    grid: Grid
    top: int
    left: int

    def place(self, row: int, column: int) -> str:
        return f"{letters(self.left + column)}{self.top + row + 1}"


def letters(column: int) -> str:
    """
    >>> letters(0), letters(27)
    ('A', 'AB')
    """
    return letters(column // 26 - 1) + chr(65 + column % 26) if column >= 26 else chr(65 + column)


def tables_of(grid: Grid, name: str, source: str, indents: dict[str, int] | None = None) -> list[PrintedTable]:
    """Every table of a grid; an error where there is none."""
    found, title = list[PrintedTable](), ""
    blocks = list(_blocks(grid))
    beside = Counter(block.top for block in blocks)
    for block in blocks:
        if max(sum(bool(text) for text in row) for row in block.grid) < 2:
            _check_alone(block, source, beside[block.top] > 1)
            title = " ".join(text for row in block.grid for text in row if text)
            continue
        found += _read_block(block, f"{name}{f'_{len(found) + 1}' if found else ''}", source, title, indents or {})
        title = ""
    if not found:
        raise DataError(
            f"{source}: no table was found: a row of headers, a column of labels and a body of counts are needed"
        )
    return found


def _check_alone(block: Block, source: str, beside: bool) -> None:
    """An error where a block of one column is neither a title nor a note: a count, a symbol, or labels cut off a table."""
    for row, texts in enumerate(block.grid):
        for column, text in enumerate(texts):
            if text and not YEAR.fullmatch(text) and (is_number(text) or SYMBOL.fullmatch(text) or is_total(text)):
                raise DataError(
                    f"{source}, {block.place(row, column)}: {text!r} stands in no table; take it out, or out of its blank "
                    "rows and columns"
                )
    if beside and len(block.grid) > 1:
        raise DataError(
            f"{source}, {block.place(0, 0)}: a column stands apart from the table; take out the blank column between them"
        )


def _blocks(grid: Grid) -> Iterator[Block]:
    """Rectangles between blank rows, then between blank columns."""
    for rows in _runs([any(row) for row in grid]):
        width = max(len(grid[row]) for row in rows)
        if len(rows) * width > LARGEST_GRID:  # one long row among many short ones
            raise DataError(f"{len(rows)} rows x {width} columns are more than {LARGEST_GRID:,} cells; split the table")
        part = [[*grid[row], *[""] * (width - len(grid[row]))] for row in rows]
        for columns in _runs([any(row[column] for row in part) for column in range(width)]):
            yield Block([[row[column] for column in columns] for row in part], rows.start, columns.start)


def _runs(flags: Sequence[bool]) -> Iterator[range]:
    start = None
    for at, flag in enumerate([*flags, False]):
        if flag and start is None:
            start = at
        elif not flag and start is not None:
            yield range(start, at)
            start = None


def _read_block(block: Block, name: str, source: str, title: str, indents: dict[str, int]) -> list[PrintedTable]:
    grid = block.grid
    top, bottom = 0, len(grid)
    while top < bottom and _alone(grid[top]) and not _is_symbol(grid[top][0]):
        title, top = f"{title} {grid[top][0]}".strip(), top + 1
    notes = list[str]()
    while bottom > top and _alone(grid[bottom - 1]) and not is_value(grid[bottom - 1][0]):
        bottom -= 1
        notes.insert(0, grid[bottom][0])
        if not NOTE.match(notes[0]) and ":" not in notes[0] and len(notes[0].split()) < WORDS_OF_A_NOTE:
            raise DataError(
                f"{source}, {block.place(bottom, 0)}: {notes[0]!r} stands alone in its row: a footnote (put a blank line "
                "before it), or a label whose counts are blank (write a symbol in their cells)?"
            )
    body = next((row for row in range(top + 1, bottom) if _is_body(grid[row])), None)
    if body is None:
        place = f"{source}, {block.place(0, 0)}"
        raise DataError(f"{place}: headers without counts below them; give the table a body, or take these rows out")
    labels = _label_columns(grid, body, bottom)
    _check_heads(block, source, top, body, labels)
    heads = [_filled(grid[row], labels, row < body - 1) for row in range(top, body)]
    return _sections(block, name, source, title, notes, (body, bottom), labels, heads, indents)


def _is_symbol(text: str) -> bool:
    return bool(SYMBOL.fullmatch(text)) or (is_number(text) and not YEAR.fullmatch(text))


def _check_heads(block: Block, source: str, top: int, body: int, labels: int) -> None:
    """An error where a row of counts would be a header, or a row of headers (years, ages) the first of the counts."""
    for row in range(top, body):
        own = [text for text in block.grid[row][labels:] if text]
        numbers = [text for text in own if is_number(text)]
        if numbers and not (len(numbers) == len(own) and _in_order(numbers)):
            at = block.grid[row].index(numbers[0], labels)
            raise DataError(
                f"{source}, {block.place(row, at)}: the number {numbers[0]!r} stands among the headers; give the table "
                "one row of headers that are words, and each row of counts numbers or symbols"
            )
    for row in range(top + 1, body):  # N may say what is counted, or stand for counts: below whole headers it is no header
        above, own = block.grid[row - 1], block.grid[row]
        if own[0] and all(above) and {text.lower() for text in own[1:] if text} == {"n"}:
            raise DataError(
                f"{source}, {block.place(row, 1)}: {own[1]!r}: a header or a symbol for counts? Leave a header out; give a "
                "symbol for counts that is no word for them, such as *"
            )
    first = [text for text in block.grid[body][labels:] if text]
    if len(first) > 1 and all(map(is_number, first)) and _in_order(first) and body > top + 1:
        raise DataError(
            f"{source}, {block.place(body, labels)}: {', '.join(first[:3])}: headers or counts? Write headers in words"
        )


def _in_order(numbers: Sequence[str]) -> bool:
    """Years, or 0, 1, 2, ...: numbers that are labels."""
    known = [number_of(text) for text in numbers]
    steps = [known[0] is not None and number == known[0] + at for at, number in enumerate(known)]
    return all(YEAR.fullmatch(text) for text in numbers) or (len(numbers) > 1 and all(steps))


def _alone(row: Sequence[str]) -> bool:
    return bool(row[0]) and not any(row[1:]) and len(row) > 1


def _is_body(row: Sequence[str]) -> bool:
    """A row of counts: at least half of what stands behind the first column is a value, and something does."""
    filled = [text for text in row[1:] if text]
    if all(text.lower() in COUNTS | SHARES for text in filled):
        return False
    return bool(filled) and 2 * sum(is_value(text) for text in filled) > len(filled)


def _label_columns(grid: Grid, body: int, bottom: int) -> int:
    """How many columns at the left hold labels."""
    width = len(grid[0])
    for column in range(1, width):
        texts = [grid[row][column] for row in range(body, bottom) if grid[row][column]]
        if texts and 2 * sum(is_value(text) for text in texts) >= len(texts):
            return column
    return 1


def _filled(row: Sequence[str], labels: int, spans: bool) -> list[str]:
    """A header row; in rows above the last, a label stands for the empty cells to its right."""
    filled = list(row)
    for column in range(labels + 1, len(row)):
        if spans and not filled[column]:
            filled[column] = filled[column - 1]
    return filled


def _sections(
    block: Block, name: str, source: str, title: str, notes: list[str], rows: tuple[int, int], labels: int,
    heads: list[list[str]], indents: dict[str, int],
) -> list[PrintedTable]:  # fmt: skip
    """One table, or one for each section: a label alone in its row heads the rows below it."""
    sections: list[tuple[str, list[int]]] = [("", [])]
    headed = rows[0] > 0 and _alone(block.grid[rows[0] - 1])  # the first section has its heading too
    for row in range(*rows):
        texts = block.grid[row]
        if texts[0] and not any(texts[1:]):
            if not headed or not sections[-1][1] or is_total(texts[0]):
                raise DataError(
                    f"{source}, {block.place(row, 0)}: {texts[0]!r} stands alone in its row: a heading (then the rows above "
                    "need one too), or a label whose counts are blank (write a symbol in their cells)?"
                )
            sections.append((texts[0].strip(" :"), []))
        elif any(texts):
            sections[-1][1].append(row)
    held = [(section, own) for section, own in sections if own]
    corner = [head[labels - 1] for head in heads[-2:]]
    certain = headed and (len(held) > 1 or BREAKDOWN.fullmatch(corner[0]))  # below `Characteristic` stands what it is
    if len(corner) > 1 and corner[0] and corner[1] not in ("", corner[0]) and not certain:
        raise DataError(
            f"{source}, {block.place(held[0][1][0], labels - 1)}: is the row above ({corner[1]!r}) a header, or a line "
            "whose counts are words? Leave its label blank, or say what stands for its counts with --mark"
        )
    if len(held) == 1 and labels > 1 and (groups := _stacked(block, held[0][1], labels, source)):
        held, labels = list(groups.items()), labels - 1
        block = Block([row[1:] for row in block.grid], block.top, block.left + 1)
        heads = [head[1:] for head in heads]
    found = []
    for at, (section, own) in enumerate(held):
        called = name if len(held) == 1 else f"{name}_{at + 1}"
        table = _table(block, called, source, f"{title} {section}".strip(), own, labels, heads, section)
        found.append(find_totals(table.noted(*(f"footnote: {note}" for note in notes)), indents=indents))
    _check_placed(block, source, [row for _, own in held for row in own], labels, found)
    return found


def _check_placed(block: Block, source: str, rows: Sequence[int], labels: int, tables: Sequence[PrintedTable]) -> None:
    """An error for a text beside the labels that is no count, symbol, percentage or part of a column that is left out."""
    places = {entry.place for table in tables for entry in table.entries.values()}
    places |= {share.entry.place for table in tables for share in table.shares}
    for row in rows:
        for column in range(labels, len(block.grid[row])):
            place = f"{source}, {block.place(row, column)}"
            if block.grid[row][column] and place not in places and not any(table.left_out for table in tables):
                raise DataError(
                    f"{place}: {block.grid[row][column]!r} was not placed; give its row and column their own labels"
                )


def _stacked(block: Block, rows: Sequence[int], labels: int, source: str) -> dict[str, list[int]] | None:
    """
    The rows of each breakdown where a column names several of the same people, one below the other: by age, by sex. Each
    label of the next column lies in one of them, and what they add up to is the same where they are printed whole.
    """
    groups: dict[str, list[int]] = {}
    for row in rows:
        groups.setdefault(block.grid[row][0] or next(reversed(groups), ""), []).append(row)
    sets = [{tuple(block.grid[row][1:labels]) for row in own} for own in groups.values()]
    apart = len(set().union(*sets)) >= FEW_SHARED * sum(map(len, sets))
    if len(groups) < 2 or not apart or any(len(own) < 2 for own in groups.values()) or any(map(is_total, groups)):
        return None
    agree = differ = 0
    for column in range(labels, len(block.grid[0])):
        parts = [[number_of(block.grid[row][column]) for row in own] for own in groups.values()]
        whole = [sum(known) for own in parts if None not in own and (known := [n for n in own if n is not None])]
        near = sorted(abs(one - other) <= ROUNDED * len(rows) for one, other in combinations(whole, 2) if one and other)
        agree, differ = agree + sum(near), differ + len(near) - sum(near)
    if agree and not differ:
        return groups
    if BREAKDOWN.fullmatch(block.grid[rows[0] - 1][0]) if rows[0] else False:
        raise DataError(
            f"{source}, {block.place(rows[0], 0)}: are {', '.join(map(repr, list(groups)[:3]))} breakdowns of the same "
            "people, or parts of a whole? Give each breakdown as a file of its own"
        )
    return None


def _table(
    block: Block, name: str, source: str, title: str, rows: list[int], labels: int, heads: list[list[str]], section: str
) -> PrintedTable:
    width, last = len(heads[-1]), heads[-1]
    measured = [column for column in range(labels, width) if any(head[column] for head in heads)]
    for row, column in ((row, column) for row in rows for column in range(labels, width) if column not in measured):
        if text := block.grid[row][column]:
            raise DataError(f"{source}, {block.place(row, column)}: {text!r} has no header; give its column one")
    shares = [column for column in measured if _is_share(block.grid, rows, column, [head[column] for head in heads])]
    other = [column for column in measured if STATISTIC.search(" ".join(head[column] for head in heads))]
    shares = [column for column in shares if column not in other]
    counted = [column for column in measured if column not in shares and column not in other]
    if not counted:
        raise DataError(
            f"{source}, {block.place(rows[0], labels)}: no column of counts is left beside percentages and rates"
        )
    levels = [head for head in heads if len({_word(head[column]) for column in counted} - {""}) > 1 or len(heads) == 1]
    levels = [head for head in levels if not {_word(head[column]).lower() for column in counted} <= COUNTS] or [last]
    levels = levels if len(counted) > 1 else []
    _check_repeated(block, source, levels, counted)
    names = _names(heads, labels, len(levels), section, _above(heads, levels, counted))
    entries, previous, sizes, beside = [], [""] * labels, _sizes(levels, counted, title), list[Share]()
    doubts = label_doubts(((head[c], source) for head in heads for c in range(labels, width) if head[c]), "headers")
    for column in range(labels):
        texts = [(block.grid[row][column], f"{source}, {block.place(row, column)}") for row in rows]
        doubts += label_doubts([(text, place) for text, place in texts if text], "labels")
    for row in rows:
        if not block.grid[row][labels - 1]:
            raise DataError(f"{source}, {block.place(row, labels - 1)}: a row of counts without a label; give it one")
        own = [text or (previous[at] if at < labels - 1 else "") for at, text in enumerate(block.grid[row][:labels])]
        previous = own
        for column in counted:
            place = f"{source}, {block.place(row, column)}"
            text = block.grid[row][column]
            named = (*map(_word, own), *(_word(head[column]) for head in levels))
            if both := BOTH.fullmatch(text):
                text = both[1]
                beside.append(Share(named, Entry(f"{both[2]} %", place), "in brackets"))
            if text and not is_value(text):
                raise DataError(
                    f"{place}: {text!r} stands among the counts, neither a number nor a mark; correct it, or take it out"
                )
            if (number := number_of(text)) is not None and number < 0:
                raise DataError(f"{place}: the count {text!r} is negative; counts are whole numbers from 0")
            entries.append((named, Entry(text, place)))
        for column in shares:
            place, words = f"{source}, {block.place(row, column)}", [head[column] for head in heads]
            count = _beside(counted, column)
            named = (*map(_word, own), *(_word(head[count]) for head in levels))
            beside.append(Share(named, Entry(block.grid[row][column], place), _head(words), _of(words)))
            check_digits(beside[-1].entry)
    printed = dict(entries)
    for labelled, size in sizes:
        total = (*["Total"] * labels, *labelled)
        if total not in printed or number_of(printed[total].text) != number_of(size):
            entries.append((total, Entry(size, f"{source}, N in a header or title")))
    table = make_table(name, source, names, entries, title)
    left = [
        f"{table.name}: column {_head([head[c] for head in heads])!r}: no counts ({_filled_cells(block, rows, c)} cells)"
        for c in other
    ]
    read = replace(table, shares=tuple(beside), rows=labels, doubts=tuple(doubts), left_out=tuple(left))
    read = read.noted(*(f"N = {size} from the header" for _, size in sizes))
    codes = one_axis(names[:labels], [block.grid[row][:labels] for row in rows]) if labels > 1 else {}
    return without_codes(read, codes)


def _filled_cells(block: Block, rows: Sequence[int], column: int) -> int:
    return sum(bool(block.grid[row][column]) for row in rows)


def _check_repeated(block: Block, source: str, levels: Sequence[Sequence[str]], counted: Sequence[int]) -> None:
    """An error where two columns of counts have the same headers: nothing tells them apart."""
    seen: dict[tuple[str, ...], int] = {}
    for column in counted if levels else ():
        words = tuple(_word(head[column]) for head in levels)
        if words in seen:
            raise DataError(
                f"{source}: columns {letters(block.left + seen[words])} and {letters(block.left + column)} have the same "
                f"header {' / '.join(words)!r}; give each column of counts its own"
            )
        seen[words] = column


def without_codes(table: PrintedTable, codes: Mapping[int, int]) -> PrintedTable:
    """A table without the columns that write another one in codes."""
    if not codes:
        return table
    kept = [at for at in range(len(table.columns)) if at not in codes]
    notes = [f"{table.columns[code]} is the code of {table.columns[name]}: one column" for code, name in codes.items()]
    entries = {tuple(labels[at] for at in kept): entry for labels, entry in table.entries.items()}
    if len(entries) < len(table.entries):
        raise DataError(f"{table.source}: {notes[0]}, but its labels do not tell the rows apart; take one of them out")
    shares = tuple(replace(share, labels=tuple(share.labels[at] for at in kept)) for share in table.shares)
    columns = tuple(table.columns[at] for at in kept)
    return replace(table, columns=columns, entries=entries, shares=shares, rows=table.rows - len(codes)).noted(*notes)


def _beside(counted: Sequence[int], column: int) -> int:
    """The column of counts to which a column of percentages belongs: the next one at its left, else the first."""
    left = [own for own in counted if own < column]
    return left[-1] if left else counted[0]


def _head(words: Sequence[str]) -> str:
    return next((word for word in reversed(words) if word), "%")


def _of(words: Sequence[str]) -> str:
    """What the header of a column of percentages says that they are of; nothing where it does not say."""
    text = " ".join(words).lower()
    if re.search(r"\brow\b", text):
        return OF_ROW
    if re.search(r"\bcol(umn)?\b", text):
        return OF_COLUMN
    return EVERYONE if re.search(r"of (the )?(grand )?total|of all|of everyone", text) else ""


def _is_share(grid: Grid, rows: Sequence[int], column: int, heads: Sequence[str]) -> bool:
    texts = [grid[row][column] for row in rows if grid[row][column]]
    return any(_word(head).lower() in SHARES or SHARE.match(head) for head in heads) or (
        bool(texts) and all(is_percentage(text) for text in texts)
    )


def _sizes(levels: Sequence[Sequence[str]], counted: Sequence[int], title: str) -> list[tuple[tuple[str, ...], str]]:
    """The numbers of people that headers and titles name: `Drug A (N = 98)`."""
    found = []
    for column in counted:
        sizes = [size[1] for head in levels if (size := SIZE.search(head[column]))]
        if sizes:
            found.append((tuple(_word(head[column]) for head in levels), sizes[-1]))
    if size := SIZE.search(title):
        found.append((tuple("Total" for _ in levels), size[1]))
    return list(dict(found).items())


def _above(heads: Sequence[Sequence[str]], levels: Sequence[Sequence[str]], counted: Sequence[int]) -> str:
    """A label that spans all counts names what the row below it shows."""
    words = [{_word(head[column]) for column in counted} for head in heads if head not in levels]
    spanning = [next(iter(own)) for own in words if len(own) == 1]
    return next((word for word in spanning if word and word.lower() not in COUNTS | SHARES), "")


def _names(heads: Sequence[Sequence[str]], labels: int, levels: int, section: str, above: str) -> list[str]:
    """What the columns are called: the corner of the headers says it, or the section; else rows, columns."""
    corner = [next((head[column] for head in reversed(heads) if head[column]), "") for column in range(labels)]
    rows = [section if section and column == labels - 1 else _word(text) for column, text in enumerate(corner)]
    across = [above if levels == 1 else ""] * levels
    if labels == 1 and (parts := re.split(r"\s*[\\/|]\s*", rows[0])) and len(parts) == 2 and levels == 1 and not section:
        rows, across = [parts[0]], [parts[1]]
    names = [name or ("rows" if len(rows) == 1 else f"rows{at + 1}") for at, name in enumerate(rows)]
    names += [name or ("columns" if levels == 1 else f"columns{at + 1}") for at, name in enumerate(across)]
    return [name if name not in names[:at] else f"{name} ({at + 1})" for at, name in enumerate(names)]


def _word(text: str) -> str:
    """
    A label without footnote marks and numbers of people.

    >>> _word("Drug A, N = 98"), _word("Women [1]"), _word("Men*")
    ('Drug A', 'Women', 'Men')
    """
    without = SIZE.sub("", text)
    return " ".join(FOOTNOTE.sub("", without).split()) or " ".join(text.split())


# Tidy tables: a line for every cell with its labels and its count, SDMX-CSV among them.

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


# Data frames as printed tables: tidy, or printed as a table; of R files, and of Parquet files.


def frame_tables(frame: pd.DataFrame, name: str, source: str, note: str, told: Told) -> list[PrintedTable]:
    """Every table of a data frame."""
    texts = frame.astype(object).where(frame.notna(), "")
    values = texts.to_numpy().tolist()
    written = ((value, f"row {number}") for number, row in enumerate(values, 1) for value in row if isinstance(value, str))
    sign = decimal_sign(written, source, told.decimal)
    grid: Grid = [
        [str(column) for column in frame.columns],
        *([_text(with_point(value, sign) if isinstance(value, str) else value) for value in row] for row in values),
    ]
    read = tidy_tables if is_tidy(grid) else tables_of
    return [table.noted(note) for table in read(grid, name, source)]


def _text(value: object) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()


def read_parquet(path: Path, told: Told) -> list[PrintedTable]:
    """The tables of a Parquet file, a line for each cell."""
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    try:
        file = ParquetFile(path)
        told.limits.check(path, file.metadata.num_rows, max(path.stat().st_size, _unpacked(file.metadata)))
        frame = file.read().to_pandas()
    except (ArrowException, OSError) as error:
        raise DataError(f"{path}: cannot be read as Parquet ({error})") from None
    return frame_tables(frame, path.stem, str(path), "a Parquet file", told)


def _unpacked(metadata: Any) -> int:
    return sum(int(metadata.row_group(at).total_byte_size) for at in range(metadata.num_row_groups))


# CSV and other separated text in any common encoding, with any common delimiter: printed as a table, or tidy.


def read_text(path: Path, told: Told) -> list[PrintedTable]:
    """Every table of a text file."""
    grid, indents, how = read_grid(path, told)
    name, source = path.stem.removesuffix(".csv"), str(path)
    tables = tidy_tables(grid, name, source) if is_tidy(grid) else tables_of(grid, name, source, indents)
    return [table.noted(how) for table in tables]


def read_grid(path: Path, told: Told) -> tuple[Grid, dict[str, int], str]:
    """The texts of a separated file with decimal points, how far in the first of each row stands, and how it was read."""
    rows, how = read_rows(path, Expected("separated text", "check its quotation marks", told.limits))
    indents = {cells[0].strip(): len(cells[0]) - len(cells[0].lstrip()) for _, cells in rows if cells and cells[0].strip()}
    grid = [[cell.strip() for cell in cells] for _, cells in rows]
    return pointed(grid, str(path), told.decimal), {label: far for label, far in indents.items() if far}, how


READERS = {**dict.fromkeys((".csv", ".tsv", ".txt", ".csv.gz"), read_text), ".parquet": read_parquet}
