"""Tables in a grid of texts, as spreadsheets and CSV files hold them: headers, several tables, titles, notes, sections."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from genverify.core.errors import DataError
from genverify.disclosure.readers.model import (
    BOTH,
    EVERYONE,
    OF_COLUMN,
    OF_ROW,
    Entry,
    PrintedTable,
    Share,
    is_percentage,
    is_value,
    make_table,
    number_of,
)
from genverify.disclosure.readers.totals import find_totals

Grid = list[list[str]]
SIZE = re.compile(r"[,;:(\[\s]*\bN\s*=\s*([\d,. \u00a0]*\d)\s*[)\]]?\s*$", re.IGNORECASE)
FOOTNOTE = re.compile(r"(?<=\D)\s*(\[\w{1,2}\]|\([a-z1-9]\)|[\u00b9\u00b2\u00b3\u2070-\u2079]+|[*\u2020\u2021]+)\s*$")
COUNTS = {"n", "count", "counts", "number", "no.", "no", "freq", "frequency", "value", "obs"}
SHARES = {"%", "percent", "per cent", "percentage", "pct", "share", "row %", "column %", "col %", "proportion",
          "% of row", "% of column", "% of total", "% row", "% column", "% of all"}  # fmt: skip


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
    for block in _blocks(grid):
        if max(sum(bool(text) for text in row) for row in block.grid) < 2:
            title = " ".join(text for row in block.grid for text in row if text)
            continue
        found += _read_block(block, f"{name}{f'_{len(found) + 1}' if found else ''}", source, title, indents or {})
        title = ""
    if not found:
        raise DataError(
            f"{source}: no table was found: a row of headers, a column of labels and a body of counts are needed"
        )
    return found


def _blocks(grid: Grid) -> Iterator[Block]:
    """Rectangles between blank rows, then between blank columns."""
    for rows in _runs([any(row) for row in grid]):
        width = max(len(grid[row]) for row in rows)
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
    while top < bottom and _alone(grid[top]):
        title, top = f"{title} {grid[top][0]}".strip(), top + 1
    notes = list[str]()
    while bottom > top and _alone(grid[bottom - 1]) and not is_value(grid[bottom - 1][0]):
        bottom -= 1
        notes.insert(0, grid[bottom][0])
    body = next((row for row in range(top + 1, bottom) if _is_body(grid[row])), None)
    if body is None:
        place = f"{source}, {block.place(0, 0)}"
        raise DataError(f"{place}: headers without counts below them; give the table a body, or take these rows out")
    labels = _label_columns(grid, body, bottom)
    heads = [_filled(grid[row], labels, row < body - 1) for row in range(top, body)]
    return _sections(block, name, source, title, notes, (body, bottom), labels, heads, indents)


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
    for row in range(*rows):
        texts = block.grid[row]
        if texts[0] and not any(texts[1:]):
            sections.append((texts[0].strip(" :"), []))
        elif any(texts):
            sections[-1][1].append(row)
    held = [(section, own) for section, own in sections if own]
    found = []
    for at, (section, own) in enumerate(held):
        called = name if len(held) == 1 else f"{name}_{at + 1}"
        table = _table(block, called, source, f"{title} {section}".strip(), own, labels, heads, section)
        found.append(find_totals(table.noted(*(f"footnote: {note}" for note in notes)), indents=indents))
    return found


def _table(
    block: Block, name: str, source: str, title: str, rows: list[int], labels: int, heads: list[list[str]], section: str
) -> PrintedTable:
    width, last = len(heads[-1]), heads[-1]
    measured = [column for column in range(labels, width) if any(head[column] for head in heads)]
    shares = [column for column in measured if _is_share(block.grid, rows, column, [head[column] for head in heads])]
    counted = [column for column in measured if column not in shares]
    levels = [head for head in heads if len({_word(head[column]) for column in counted} - {""}) > 1 or len(heads) == 1]
    levels = [head for head in levels if not {_word(head[column]).lower() for column in counted} <= COUNTS] or [last]
    levels = levels if len(counted) > 1 else []
    names = _names(heads, labels, len(levels), section, _above(heads, levels, counted))
    entries, previous, sizes, beside = [], [""] * labels, _sizes(levels, counted, title), list[Share]()
    for row in rows:
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
    for labelled, size in sizes:
        entries.append(((*["Total"] * labels, *labelled), Entry(size, f"{source}, N in a header or title")))
    table = make_table(name, source, names, entries, title)
    return replace(table, shares=tuple(beside), rows=labels).noted(*(f"N = {size} from the header" for _, size in sizes))


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
    return any(_word(head).lower() in SHARES for head in heads) or (
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
