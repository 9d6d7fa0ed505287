"""Where tables stand on a sheet: bands of columns, titles, header rows, bodies with their headings, and notes."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise

from genverify.reading import numerals
from genverify.reading.numerals import LIMIT, NUMBERS, PERIOD, RANGE, SYMBOL, TEXT, VALUES, WHOLE, is_symbol, pattern, says
from genverify.reading.source import Grid, Sheet

FIGURES = VALUES - {SYMBOL}
LOOK_AHEAD = 5  # rows with values below a line that say in which columns values stand
WORDS_OF_A_NOTE = 4  # a text of as many words alone in a row below a table is a note, no label of blank counts
LONGEST_TAG = 4  # characters of a tag that says what a line is
MOST_TAGS = 60  # different tags of a column; more are labels
LEAST_SYMBOLS = 4  # of a table without any number: fewer can be a line of a cover page
WORDY = 4  # words: a text of more that stands alone is a sentence, not a label


@dataclass(frozen=True)
class Block:
    """A table on a sheet: its columns, header and body rows, and the rows of its body that only hold a heading."""

    columns: tuple[int, ...]
    header: tuple[int, ...]
    body: tuple[int, ...]
    headings: Mapping[int, str] = field(default_factory=dict)
    repeated: tuple[int, ...] = ()
    title: str = ""
    doubts: tuple[str, ...] = ()


def find_blocks(sheet: Sheet, kinds: Grid, skipped: frozenset[int] = frozenset()) -> tuple[list[Block], tuple[int, ...]]:
    """The tables of a sheet, from the left by columns between blank ones; and the columns of tags, which name every line."""
    if block := _rectangle(sheet, kinds, skipped):
        return [block], ()
    blocks, tags = list[Block](), list[int]()
    for columns in _cut(kinds):
        tags += _tags(sheet, columns)
        blocks += _Scan(sheet, kinds, tuple(column for column in columns if column not in tags), skipped).run()
    return blocks, tuple(tags)


def _rectangle(sheet: Sheet, kinds: Grid, skipped: frozenset[int]) -> Block | None:
    """The one table of a sheet that is nothing else: words in the whole first row, and below it rows of the same columns."""
    rows = [[column for column, kind in enumerate(row) if kind != ""] for row in kinds]
    if len(rows) < 3 or not rows[0] or 0 in skipped:
        return None
    head, width = rows[0], rows[0][-1] + 1
    first = [kinds[0][column] for column in head]
    words = sum(kind in (TEXT, SYMBOL) for kind in first) * 2 > len(first) and not (NUMBERS - {WHOLE}) & set(first)
    wordy = any(len(sheet.rows[0][c].split()) > 4 * WORDY for c in head)
    if len(head) < width - (head[0] > 0) or width < 2 or not words or wordy:
        return None
    body, repeated = list[int](), list[int]()
    for at, row in enumerate(rows[1:], 1):
        if at in skipped or not row:
            continue
        if row[-1] >= width or (len(row) == 1 and width > 2):
            return None
        worded = all(kinds[at][c] in (TEXT, SYMBOL) for c in row) and any(kinds[at][c] == TEXT for c in row[1:])
        if worded and len(row) > 1 and not rows[at - 1]:  # another header, or a legend
            return None
        (repeated if sheet.rows[at][:width] == sheet.rows[0][:width] else body).append(at)
    numbers = sum(kinds[at][column] in FIGURES for at in body[:1000] for column in rows[at])
    below = {column for at in body[:1000] for column in rows[at] if kinds[at][column] in NUMBERS}
    named = any(kinds[0][column] in (TEXT, SYMBOL, PERIOD) for column in below & set(head))
    if numbers < 2 or not named or len(body) * 2 < len(rows) - 1:
        return None
    return Block(tuple(range(width)), (0,), tuple(body), repeated=tuple(repeated))


def runs(numbers: Iterable[int]) -> list[list[int]]:
    """Numbers in order, those that follow each other together."""
    return [[one for _, one in run] for _, run in groupby(enumerate(sorted(numbers)), lambda one: one[1] - one[0])]


def _cut(kinds: Grid) -> Iterator[tuple[int, ...]]:
    """Columns between blank ones, where what stands at the right is a table with labels of its own."""
    joined = list[list[int]]()
    for run in runs({column for row in kinds for column, kind in enumerate(row) if kind != ""}):
        if joined and not (_has_values(kinds, joined[-1]) and _stands_alone(kinds, run)):
            joined[-1] += run
        else:
            joined.append(run)
    yield from map(tuple, joined)


def _has_values(kinds: Grid, columns: Sequence[int]) -> bool:
    return any(row[column] in NUMBERS for row in kinds for column in columns[1:] if column < len(row))


def _stands_alone(kinds: Grid, columns: Sequence[int]) -> bool:
    """Whether columns hold labels of their own at the left of their values, or no values at all."""
    rows = [[row[column] if column < len(row) else "" for column in columns] for row in kinds]
    valued = [row for row in rows if any(kind in VALUES for kind in row[1:])]
    if not valued:
        return not any(kind in NUMBERS for row in rows for kind in row)
    return sum(row[0] not in VALUES and row[0] != "" for row in valued) > len(valued) / 2


def _tags(sheet: Sheet, columns: tuple[int, ...]) -> list[int]:
    """Columns at the left that say of every line, titles too, what it is: short texts, none of them empty."""
    lines = [row for row in sheet.rows if any(row)]
    tags = list[int]()
    for column in columns[:-1]:
        texts = [row[column] if column < len(row) else "" for row in lines]
        if len(lines) < 5 or not all(0 < len(text) <= LONGEST_TAG for text in texts) or len(set(texts)) > MOST_TAGS:
            break
        tags.append(column)
    rest = [column for column in columns if column not in tags]
    titles = 0  # lines that hold, beside their tags, a sentence alone
    for row in lines:
        texts = [row[column] for column in rest if column < len(row) and row[column]]
        titles += len(texts) == 1 and len(texts[0].split()) > WORDY
    return tags if titles >= 2 else []


class _Scan:
    """One pass over the rows of a band, from the top."""

    def __init__(self, sheet: Sheet, kinds: Grid, columns: tuple[int, ...], skipped: frozenset[int]) -> None:
        self.sheet, self.kinds, self.columns, self.skipped = sheet, kinds, columns, skipped
        self.cells = [[column for column in columns if column < len(row) and row[column] != ""] for row in kinds]
        self.valued = [at for at in range(len(kinds)) if at not in skipped and self._has_values(at)]
        self.blocks: list[Block] = []
        self.header: list[int] = []
        self.body: list[int] = []
        self.repeated: list[int] = []
        self.alone: list[int] = []  # rows of the body that hold a label and no value
        self.waiting: list[int] = []  # header rows above a body that has not begun
        self.texts: list[int] = []  # rows with one text, since the last row of a body or header
        self.titles: list[int] = []
        self.gap = True

    def run(self) -> list[Block]:
        ahead = 0
        for at, cells in enumerate(self.cells):
            while ahead < len(self.valued) and self.valued[ahead] <= at:
                ahead += 1
            if not cells:
                self.gap = True
                continue
            if at in self.skipped:
                continue
            below = self._below(ahead)
            if ahead and self.valued[ahead - 1] == at:
                self._valued(at, below)
            elif len(cells) == 1:
                self.texts.append(at)
            elif self._is_header(at, below):
                self._header(at)
            elif (self.waiting and cells[0] not in below and any(column in below for column in cells)) or (
                self.body and not self.waiting and self._looks_like_body(at)
            ):
                self._begin()
                self.body.append(at)
            else:
                self.texts.append(at)
            self.gap = False
        self._close()
        return self.blocks

    def _has_values(self, at: int) -> bool:
        row, cells = self.kinds[at], self.cells[at]
        alone = len(cells) == 1 == len(self.columns)
        return any(row[column] in VALUES for column in (cells if alone else cells[1:]))

    def _below(self, ahead: int) -> frozenset[int]:
        seen, values = Counter[int](), Counter[int]()
        for at in self.valued[ahead : ahead + LOOK_AHEAD]:
            for column in self.cells[at]:
                seen[column] += 1
                values[column] += self.kinds[at][column] in VALUES
        return frozenset(column for column, often in values.items() if often * 2 > seen[column])

    def _texts_of(self, at: int) -> list[str]:
        row = self.sheet.rows[at]
        return [row[column] if column < len(row) else "" for column in self.columns]

    def _is_header(self, at: int, below: frozenset[int]) -> bool:
        cells = self.cells[at]
        over = [column for column in cells if column in below]
        if not any(column in below for column in cells[1:]):
            return False
        texts = [self.sheet.rows[at][column] for column in over]
        if any(self.kinds[at][column] in NUMBERS for column in over):
            return False
        if sum(says("hidden", text) or is_symbol(text) for text in texts) > len(texts) / 2:
            return False  # texts that say that something is hidden stand in place of numbers
        if self._is_repeated(at):
            return True
        stub = cells[0] not in below
        if self.waiting and stub and any(column not in below for column in self.cells[self.waiting[-1]]):
            return len(set(texts)) > 1  # a second line with a label at the left: a header if its texts differ
        if self.body and not self.gap and not self.texts:
            return not stub and len(set(texts)) > 1  # right below a body, a line with a label belongs to the body
        return not (self.body and len(over) > 1 and len(set(texts)) == 1 and stub)  # one text in every column: no header

    def _is_repeated(self, at: int) -> bool:
        return bool(self.header) and self._texts_of(at) == self._texts_of(self.header[-1])

    def _looks_like_body(self, at: int) -> bool:
        """Whether a row of texts has its label where the rows of the body have theirs."""
        first = self.cells[at][0]
        known = {self.kinds[row][self.cells[row][0]] for row in self.body[-LOOK_AHEAD:] if self.cells[row][0] == first}
        texts = [self.sheet.rows[at][column] for column in self.cells[at]]
        if numerals.SIGNS.fullmatch(texts[0]) or any(len(text.split()) > 4 * WORDY for text in texts):  # a legend, or a note
            return False
        return self.kinds[at][first] in known or TEXT in known

    def _header(self, at: int) -> None:
        if not self.waiting and self.body and self._is_repeated(at) and not self.texts:
            self.repeated.append(at)
            return
        texts = self.texts
        if self.body:  # what stands below a blank line after it is the title of what follows
            blank = next((row for row in range(self.body[-1] + 1, at) if not self.cells[row]), at)
            texts = [row for row in texts if row > blank and not self._is_note(row)]
            self._close()
        self.titles += texts
        self.texts = []
        self.waiting.append(at)

    def _valued(self, at: int, below: frozenset[int]) -> None:
        if self.kinds[at][self.cells[at][0]] == TEXT and self._is_note(at) and len(self._label(at).split()) >= WORDY:
            return
        apart = not self.body or self.gap or bool(self.texts)
        if apart and below and (self._is_sequence(at, below) or self._is_lettered(at, below)):
            self._header(at)
            return
        self._begin()
        self.body.append(at)

    def _begin(self) -> None:
        """The header rows that wait are those of the body that begins; texts inside of one belong to it."""
        if self.waiting:
            self.header, self.waiting = self.waiting, []
        elif not self.body:
            self.titles += self.texts
            self.texts = []
        self._take_texts()

    def _is_sequence(self, at: int, below: frozenset[int]) -> bool:
        """Whether the numbers of a row are labels of columns: years, or whole numbers in steps, under no other header."""
        over = [column for column in self.cells[at] if column in below]
        stub = [column for column in self.cells[at] if column not in over]
        first = self.columns[0] if not stub else stub[0]
        right = [column for column in over if column > first] if first not in over else over[over[0] == first :]
        numbers = [self.sheet.rows[at][column] for column in right]
        kinds = {self.kinds[at][column] for column in right}
        named = self.kinds[at][self.cells[at][0]] in (TEXT, PERIOD) or self.cells[at][0] != self.columns[0]
        if len(numbers) < 2 or len(set(numbers)) < len(numbers) or not named:
            return False
        whole = sorted(int(text) for text in numbers if text.isdecimal())
        even = len(whole) > 2 and len({b - a for a, b in pairwise(whole)}) == 1
        if kinds & {TEXT, RANGE}:  # words among numbers in steps: All ages, 12, 13, ..., 50 and over
            return even and kinds <= {TEXT, RANGE, WHOLE, LIMIT}
        last = self.sheet.rows[self.waiting[-1]] if self.waiting else []
        heads = [last[column] for column in over if column < len(last) and last[column]]
        if kinds - {WHOLE} or len(whole) < len(numbers) or (self.waiting and len(set(heads)) == len(over)):
            return False
        return all(1800 <= number <= 2100 for number in whole) or (even and len(heads) < len(over))

    def _is_lettered(self, at: int, below: frozenset[int]) -> bool:
        """Whether a row without numbers is a header of letters (M, F, N, %) that could be symbols as well."""
        over = [column for column in self.cells[at] if column in below]
        texts, kinds = [self.sheet.rows[at][column] for column in over], [self.kinds[at][column] for column in over]
        apart = len(over) > 2 and len(set(texts)) == len(texts)  # [A], [B], [C], ...: no two of them are the same
        letters = all(kind in (TEXT, PERIOD) or (kind == SYMBOL and ((text.isalpha() and len(text) <= 2) or apart))
                      for text, kind in zip(texts, kinds, strict=True))  # fmt: skip
        if not self.body and TEXT in kinds and set(kinds) <= {TEXT, PERIOD, LIMIT, RANGE}:  # Under 5, 5 to 10, All ages
            letters = True
        if not letters or not over or any(says("hidden", text) for text in texts):
            return False
        if self.cells[at][0] in below or TEXT in kinds:  # no label at the left, or a word among the letters
            return not self.body or self.gap
        return not self.waiting and not self.body and len(set(texts)) == len(texts)

    def _take_texts(self) -> None:
        """Rows with one text inside of a body are kept with it, unless they are notes."""
        self.alone += [at for at in self.texts if not self._is_note(at)]
        self.texts = []

    def _is_note(self, at: int) -> bool:
        return bool(pattern("note").match(self._label(at)))

    def _label(self, at: int) -> str:
        return self.sheet.rows[at][self.cells[at][0]]

    def _close(self) -> None:
        if self.body:
            self._take_last()
            held = {column for at in [*self.header, *self.body] for column in self.cells[at]}
            columns = tuple(column for column in self.columns if column in held)
            numbers = sum(self.kinds[at][column] in FIGURES for at in self.body[:1000] for column in self.cells[at][1:])
            symbols = sum(self.kinds[at][column] == SYMBOL for at in self.body for column in self.cells[at][1:])
            if numbers >= 2 or (self.header and (numbers or symbols >= LEAST_SYMBOLS)):
                headings, doubts, plain = self._headings()
                body = sorted([*self.body, *plain])
                title = " / ".join(map(self._label, self.titles))
                rows = tuple(self.header), tuple(body), headings, tuple(self.repeated)
                self.blocks.append(Block(columns, *rows, title[:500], tuple(doubts)))
        self.header, self.body, self.repeated, self.alone, self.texts, self.titles = [], [], [], [], [], []
        self.waiting = []

    def _take_last(self) -> None:
        """Short texts right below the body, where its labels stand, are rows without values rather than notes."""
        at, stub = self.body[-1] + 1, self.cells[self.body[-1]][0]
        while at in self.texts and self.cells[at] == [stub]:
            text = self._label(at)
            if len(text.split()) >= WORDS_OF_A_NOTE or self._is_note(at) or text[-1] in ".:" or not text[0].isalpha():
                return
            self.alone.append(at)
            at += 1

    def _headings(self) -> tuple[dict[int, str], list[str], list[int]]:
        """Which rows with a label alone are headings of the rows below, and which are rows whose values are all empty."""
        if not self.alone:
            return {}, [], []
        alone, body = set(self.alone), self.body
        label = Counter(self.cells[at][0] for at in body).most_common(1)[0][0]
        groups, current = {at: list[str]() for at in [-1, *self.alone]}, -1
        for at in sorted([*alone, *body]):
            if at in alone:
                current = at
            else:
                row = self.sheet.rows[at]
                groups[current].append(row[label] if label < len(row) else "")
        named = [groups[at] for at in self.alone if groups[at]]
        again = len(named) > 1 and bool(set(named[0]) & set(named[1]))
        first = min(body) > min(alone)
        deeper = any(self.sheet.indents.get((at, label), 0) for at in body)
        ends = all(self._label(at).endswith(":") for at in alone)
        corner = [self.sheet.rows[at][label] for at in self.header if label in self.cells[at]]
        sure = bool(corner) and bool(pattern("breakdown").fullmatch(corner[-1]))  # below `Characteristic` stands what it is
        if again or first or deeper or ends or sure:
            headings = {at: self._label(at) for at in self.alone if groups[at]}
            clear = sure or len(headings) > 1 or deeper or ends
            lone = [at for at in headings if not clear and self.cells[at] == [label]]
            doubts = [f"row {at + 1} has a label and no values: a heading, or a row whose counts are blank?" for at in lone]
            return headings, doubts, [at for at in self.alone if at not in headings]
        rows = ", ".join(str(at + 1) for at in self.alone[:5])
        doubt = f"row {rows} has a label and no values: taken as a row without values, not as a heading"
        return {}, [doubt], list(self.alone)
