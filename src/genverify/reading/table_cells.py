"""Tables out of the cells of a file: a role for each cell, counts with their labels, and what is left out, cell by cell."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from genverify.model.errors import ConfigError, DataError, refuse_unknown
from genverify.reading import numerals, roles
from genverify.reading.axes import ADDITIVE, COLUMNS, HEADING, STACKED, Axis, RowAxes, column_axis, cube_axis, row_axes
from genverify.reading.blocks import Block, find_blocks
from genverify.reading.numerals import MIXED, NUMBERS, SYMBOL, WHOLE, Number, Numerals, Symbol
from genverify.reading.reading import BLANK, PLACED, Corrections, Figures, Sums, Table
from genverify.reading.roles import COUNT, Body, Column, Facts, Known
from genverify.reading.source import NO_VALUE, Cube, Grid, Sheet, Source, cell_place, column_name
from genverify.reading.totals import Hierarchy, Hints, Question, is_total_word, make_hierarchy, read_hierarchy, rounding

Columns = Sequence[Column]
RowRoles = Mapping[int, list[str]]  # by column: what the figure of each row is, where another column names it
CORNER = r"\s*[\\/|]\s*"  # what stands between the names of rows and columns
HEADING_AT = -1  # the column of headings, which stand in rows of their own
FEW_SYMBOLS = 400  # different texts in place of numbers; a file with more has texts there, not symbols
LONGEST_SYMBOL = 40  # characters
LARGEST_BASE = 10**6  # of rounding; a larger one is refused where the rule is read
CONTEXT = 12  # rows above a table, and on top of its sheet, that can say what is measured


@dataclass
class Tally:
    """What was found so far."""

    cells: int = 0
    roles: Counter[str] = field(default_factory=Counter)
    met: Counter[str] = field(default_factory=Counter)
    like: Counter[str] = field(default_factory=Counter)
    left: dict[tuple[str, str, str], tuple[str, int]] = field(default_factory=dict)
    questions: list[Question] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)
    symbols: dict[str, Symbol] = field(default_factory=dict)
    tags: dict[str, tuple[int, ...]] = field(default_factory=dict)
    places: dict[str, tuple[str, str]] | None = None  # role and reason of every cell, where they are asked for

    def take(self, role: str, why: str, cells: int, places: Iterable[str]) -> None:
        """Cells of one role; their places are looked at only where every cell is to be listed."""
        self.roles[role] += cells
        if self.places is not None:
            self.places |= dict.fromkeys(places, (role, why))

    def leave(
        self, place: str, why: str, remedy: str = "", cells: int = 1, group: str = "", places: Iterable[str] = ()
    ) -> None:
        """Leave cells out; those of one group, with one reason, are told together."""
        if cells:
            self.take(roles.LEFT_OUT, why, cells, places or [place])
            first, known = self.left.get((group or place, why, remedy), (place, 0))
            self.left[group or place, why, remedy] = (first, known + cells)


def read_file(source: Source, told: Corrections, tally: Tally) -> Numerals:
    """The roles, tables and symbols of one more file; the signs of its numbers. What its notes explain is explained."""
    tally.notes, before = [], tally.met.copy()
    told = replace(told, roles={**source.roles, **told.roles}, totals={**source.totals, **told.totals},
                   hierarchies={**source.hierarchies, **told.hierarchies})  # fmt: skip
    texts = source.cube.texts if source.cube else {text for sheet in source.sheets for row in sheet.rows for text in row}
    signs = told.numerals or numerals.decide_numerals(texts)
    if told.decimal and not told.numerals:
        signs = Numerals(told.decimal, "." if told.decimal == "," else ",", "as given")
    if source.cube:
        _read_cube(source, source.cube, signs, told, tally)
    for sheet in source.sheets:
        _read_sheet(source, sheet, signs, told, tally)
    if signs.unsure:
        tally.questions.append(Question(f"{source.name}: {signs.why}", "--decimal . or --decimal ,"))
    given = source.cube.symbols if source.cube else {}
    met = tally.met - before
    for text in sorted(met, key=lambda text: (-met[text], text))[:FEW_SYMBOLS]:
        if text in told.symbols:
            tally.symbols[text] = numerals.told_symbol(text, told.symbols[text])
        elif text in told.known:
            tally.symbols[text] = told.known[text]
        elif text in tally.symbols and tally.symbols[text].how != "suggested":
            continue
        elif text in given:
            meaning = numerals.meaning_of_words(given[text]) or numerals.usual_meaning(text).meaning
            tally.symbols[text] = Symbol(text, meaning, given[text], "named in the file")
        else:
            tally.symbols[text] = numerals.find_legend(text, tally.notes) or numerals.usual_meaning(text)
    return signs


def known_texts(texts: Iterable[str], signs: Numerals, told: Corrections) -> dict[str, tuple[str, Number | None]]:
    """The kind and the number of every text of a sheet; told symbols, and those of the vocabulary, are SYMBOL."""
    result = {"": numerals.parsed("", signs)}
    for text in set(texts):
        kind, number = numerals.parsed(text, signs)
        sign = text in told.symbols or text in told.known
        sign = sign or (kind == numerals.TEXT and len(text) <= LONGEST_SYMBOL and numerals.is_symbol(text))
        result[text] = (numerals.TEXT, None) if text in told.labels else (SYMBOL, None) if sign else (kind, number)
    return result


def _read_sheet(source: Source, sheet: Sheet, signs: Numerals, told: Corrections, tally: Tally) -> None:
    cells = sum(1 for row in sheet.rows for text in row if text)
    tally.cells += cells
    if told.sheets and sheet.name not in told.sheets:
        places = (cell_place(sheet, column, at) for at, row in enumerate(sheet.rows) for column in range(len(row)))
        tally.leave(sheet.name, "this sheet was not asked for", "--sheet", cells, places=places)
        return
    known = known_texts((text for row in sheet.rows for text in row), signs, told)
    kinds = [[known[text][0] for text in row] for row in sheet.rows]
    if told.blocks is not None:
        blocks, tags = list(told.blocks.get(sheet.name, ())), told.tags.get(sheet.name, ())
    else:
        blocks, tags = find_blocks(sheet, kinds, frozenset(row - 1 for row in told.rows))
    if tags:
        tally.tags[sheet.name] = tags
    inside = [set[int]() for _ in sheet.rows]
    name = Path(source.name).stem if len(source.sheets) == 1 else sheet.name
    for number, block in enumerate(blocks):
        for at in (*block.header, *block.body, *block.headings, *block.repeated):
            inside[at] |= set(block.columns)
        given = told.columns_of.get((sheet.name, number))
        own = name if len(blocks) == 1 else f"{name}, table {number + 1}"
        _read_block(own, source.name, sheet, known, block, given, told, tally)
    _outside(sheet, kinds, inside, set(tags), tally)


def _outside(sheet: Sheet, kinds: Grid, inside: Sequence[set[int]], tags: set[int], tally: Tally) -> None:
    """Cells outside of every table: texts are notes, numbers are left out unless they number a text."""
    for at, row in enumerate(kinds):
        rest = [column for column, kind in enumerate(row) if kind != numerals.EMPTY and column not in inside[at]]
        texts = [column for column in rest if row[column] not in NUMBERS]
        for column in rest:
            text, place = sheet.rows[at][column], cell_place(sheet, column, at)
            numbering = column == rest[0] and texts and not inside[at]
            if column in tags:
                tally.take(roles.NOTE, "a tag of the line", 1, [place])
            elif row[column] not in NUMBERS or numbering:
                tally.take(roles.NOTE, "a text outside of every table", 1, [place])
                tally.notes.append((place, text))
                tally.like[text] += row[column] == SYMBOL
            else:
                tally.leave(place, "a number outside of every table", group=f"{sheet.name}!{at + 1}")
        if len(rest) == 2 and len(sheet.rows[at][rest[0]]) <= 12:  # a line of a legend: a symbol and what it means
            tally.notes.append((f"{sheet.name}!{at + 1}", f"{sheet.rows[at][rest[0]]} = {sheet.rows[at][rest[1]]}"))


def _read_block(
    name: str, file: str, sheet: Sheet, known: Known, block: Block, given: Columns | None, told: Corrections,
    tally: Tally,
) -> None:  # fmt: skip
    heads, facts = roles.heads_of(sheet, block), roles.column_facts(sheet, known, block)
    columns = given or roles.find_columns(block, heads, facts, _context(sheet, block), _told_roles(block, heads, told),
                                    {*told.symbols, *told.known})  # fmt: skip
    if told.amounts:
        columns = [replace(column, role=COUNT) if column.role == roles.MONEY else column for column in columns]
    blank = _flagged(columns, facts, tally)
    measured = roles.roles_by_measure(columns, facts)
    _count_cells(sheet, block, columns, facts, measured, tally)
    tally.roles[roles.FLAG] -= len(blank)
    counts, figures = _figures(columns, facts, measured)
    labels, across = [column for column in columns if column.role in roles.LABELS], COLUMNS
    parts = re.split(CORNER, labels[0].head) if len(labels) == 1 < len(counts) and not block.headings else []
    if len(parts) == 2 and all(parts):  # a corner names both axes
        labels, across = [replace(labels[0], head=parts[0])], parts[1]
    axes, rows, population, questions = _row_axes(sheet, block, labels, facts, counts, told)
    if len(counts) > 1:
        axis, asked = column_axis({own.label: own.values for own in counts}, hints_of(told), across)
        axes.append(axis)
        questions += asked
    first = min((own.at for own in counts), default=0)
    for column in columns:
        text = column.role == roles.LABEL and column.at > first and column.why != "as given"
        if text and counts and not given and facts[column.at].share(WHOLE):
            what = f"column {column.name} ({column.head}) is to the right of the counts and has both numbers and texts"
            questions.append(Question(f"{what}: is it a label?", f"--labels {column.name} or --counts {column.name}"))
    keys = list(zip(*rows, strict=True)) if rows else [()] * len(block.body)
    often = Counter(keys)
    excluded = frozenset(row for row, key in enumerate(keys) if often[key] > 1)
    bases = {own.at: tuple(roles.find_base(own.at, [c.at for c in counts], facts)) for own in figures}
    population |= {"period": told.period} if told.period else {}
    counted = [any(own.kinds[row] in (WHOLE, MIXED) for own in counts) for row in range(len(block.body))]
    flags = {column.at: [text for row, text in enumerate(facts[column.at].texts) if text and counted[row]]
             for column in columns if column.role == roles.FLAG}  # fmt: skip
    table = _add_table(
        told, tally, axes, questions, name=name, file=file, sheet=sheet.name, title=block.title, block=block, flags=flags,
        columns=tuple(columns), rows=tuple(rows), counts=tuple(counts), figures=tuple(figures), excluded=excluded,
        population=population, bases=bases, measured=measured, hidden=sheet.hidden,
    )  # fmt: skip
    if excluded and counts:
        _leave_rows(table, sheet, tally)
    places = tally.places if tally.places is not None else {}
    for at, flag, row in blank if places else ():  # the flag of a blank is the symbol itself
        places[cell_place(sheet, flag, block.body[row])] = places.pop(cell_place(sheet, at, block.body[row]))
    for column in columns:
        if column.role in roles.LABELS:
            tally.like.update(text for text in facts[column.at].texts if text and numerals.is_symbol(text))


def _add_table(told: Corrections, tally: Tally, axes: list[Axis], asked: list[Question], **about: Any) -> Table:
    """A table of what was found, with its axes as a user says them; and what is to be asked about it."""
    name = about["name"]
    if names := told.names.get(name):
        if len(names) != len(axes):
            raise ConfigError(f"tables: {name}: {len(names)} columns are named, but it has {len(axes)}")
        axes = [replace(axis, name=own) for axis, own in zip(axes, names, strict=True)]
    given = [_as_given(name, axis, told) for axis in axes]
    answered = [axis.name for axis, own in zip(axes, given, strict=True) if own.tree != axis.tree or name in told.names]
    base = rounding(value for own in about["counts"] for value in own.values)
    table = Table(axes=tuple(given), base=base, **about)
    tally.tables.append(table)
    for one in asked if table.counts else ():  # what adds up matters of counts alone
        if not any(one.text.startswith(f"{axis}: ") for axis in answered):
            tally.questions.append(replace(one, text=f"{name}: {one.text}"))
    doubts = table.block.doubts if BLANK not in told.symbols else ()
    tally.questions += [Question(f"{table.name}: {doubt}", f"--skip ROW or --symbol {BLANK}=suppressed") for doubt in doubts]
    if table.counts and not table.block.header and not table.cube:
        text = f"{table.name}: it has no header row, so its columns have no names"
        tally.questions.append(Question(text, "in the reading file (--write), header"))
    if table.base > 1 and not told.rule:
        text = f"{table.name}: all counts are multiples of {table.base}"
        tally.questions.append(Question(text, f"--rule round={table.base}"))
    return table


def _context(sheet: Sheet, block: Block) -> str:
    top = min((*block.header, *block.body))
    rows = [*range(min(CONTEXT, top)), *range(max(CONTEXT, top - CONTEXT), top)]
    return " ".join(text for at in rows for text in sheet.rows[at][:3] if text)[:4000]


def _told_roles(block: Block, heads: Mapping[int, str], told: Corrections) -> dict[int, str]:
    known = {**told.roles, **dict.fromkeys(told.columns, roles.LEFT_OUT)}
    named = ((column, name) for column in block.columns for name in (column_name(column), heads[column]))
    return {column: known[name] for column, name in named if name in known}


def hints_of(told: Corrections) -> Hints:
    """What is said of sums; by a rule of random rounding a count can be off by nearly twice as much as to the nearest."""
    bases = [(name, int(base)) for name, _, base in (word.partition("=") for word in told.rule) if base.isdecimal()]
    far = [base if name == "round" else 2 * base for name, base in bases if name != "suppress" and base < LARGEST_BASE]
    return Hints(told.totals, told.no_totals, max(far, default=1))


def _as_given(table: str, axis: Axis, told: Corrections) -> Axis:
    own = next((one for one in told.axes_of.get(table, ()) if one.name == axis.name), None)
    if own is not None and axis.name not in told.totals:
        given = replace(axis, kind=own.kind, tree=own.tree, why=own.why, unprinted=own.unprinted)
        if fault := given.check():
            raise DataError(f"{fault}; correct the tree in the reading file")
        return given
    if axis.name in told.hierarchies:
        path, lead = told.hierarchies[axis.name]
        top = told.totals.get(axis.name) or make_hierarchy(axis.tree, axis.labels, table).top
        own_tree = read_hierarchy(path, axis.labels, top, axis.name in told.totals, lead)
        return _with_hierarchy(axis, own_tree, f"as {path.name} says")
    if (table, axis.name) in told.sums:
        return _with_hierarchy(axis, _listed(table, axis, told.sums[table, axis.name]), "as the release file says")
    return axis


def _with_hierarchy(axis: Axis, own: Hierarchy, why: str) -> Axis:
    tree = tuple(sorted(own, key=lambda one: one[0] != own.top))
    several = len(dict(tree)) < len(tree)
    unprinted = tuple(label for label in own.labels if label not in axis.labels)
    return replace(axis, kind=STACKED if several else ADDITIVE, tree=tree, why=why, unprinted=unprinted, off=0)


def _listed(table: str, axis: Axis, sums: Sums) -> Hierarchy:
    """Sums of a release file: a label has sets of parts; without a set it is a part that the table does not print."""
    where, known = f"tables: {table}: sums of {axis.name}", {**dict.fromkeys(axis.labels), **sums}
    for parent, label in ((parent, label) for parent, sets in sums.items() for own in sets for label in own):
        refuse_unknown(label, known, f"{where}: {parent!r} adds up {label!r}, no label of {axis.name}")
    result = make_hierarchy([(parent, own) for parent, sets in sums.items() for own in sets], axis.labels, where)
    top = next((label for label in result.outer(result.parts) if is_total_word(label)), None)
    if top is not None and result.top is None:
        left = next(label for label in axis.labels if label not in result.inside(top))
        raise ConfigError(f"{where}: {left!r} is not a part of {top!r}; add it where it belongs")
    return result


def _row_axes(
    sheet: Sheet, block: Block, labels: list[Column], facts: Body, counts: Sequence[Figures], told: Corrections
) -> RowAxes:
    """The axes of the labels of each row: merged cells cover the rows below, and headings are a column of their own."""
    texts, body = dict[int, Sequence[str]](), set(block.body)
    for column in labels:
        merged = (sheet.covered.get((at, column.at), (-1, 0)) for at in block.body)
        over = [sheet.rows[top][left] if top in body else "" for top, left in merged]
        texts[column.at] = [text or above for text, above in zip(facts[column.at].texts, over, strict=True)]
    _fill_down(texts)
    if block.headings:
        marks = ["", *(block.headings[mark] for mark in sorted(block.headings))]
        texts[HEADING_AT] = [marks[bisect_left(sorted(block.headings), at)] for at in block.body]
        labels = [Column(HEADING_AT, roles.LABEL, HEADING, "rows of the body that hold only a heading"), *labels]
    if not labels:
        return [], [], {}, []
    indents = {column.at: [sheet.indents.get((at, column.at), 0) for at in block.body] for column in labels}
    deeper = {at: own for at, own in indents.items() if len(set(own)) > 1}
    steps = [two - one for one, two in pairwise(block.body)]
    pairs = (zip(steps, pairwise(own), strict=True) for own in deeper.values())
    gap = any(step > 1 and two > one for own in pairs for step, (one, two) in own)
    return row_axes(labels, texts, {own.label: own.values for own in counts}, hints_of(told), deeper, gap)


def _fill_down(texts: dict[int, Sequence[str]]) -> None:
    """A label covers blank rows below it (2020, then nothing) where all rows differ only so."""
    if not texts or len(set(zip(*texts.values(), strict=True))) == len(next(iter(texts.values()))):
        return
    filled = dict(texts)
    for at in [at for at, own in texts.items() if "" in own and own[0]][:-1] or list(texts)[:1]:
        filled[at] = list(accumulate(texts[at], lambda above, text: str(text or above)))
    if len(set(zip(*filled.values(), strict=True))) == len(next(iter(texts.values()))):
        texts |= filled


def _flagged(columns: Columns, facts: dict[int, Facts], tally: Tally) -> list[tuple[int, int, int]]:
    """Counts that a flag says to be withheld (zeros, or blanks) become symbols; of blanks: count, flag and row."""
    counts, moved = [column.at for column in columns if column.role == COUNT], list[tuple[int, int, int]]()
    for flag in (column for column in columns if column.role == roles.FLAG):
        flags = facts[flag.at].texts
        for text in sorted(set(flags) - {""}):
            if not numerals.says("hiding flag", flag.head) and numerals.usual_meaning(text).meaning != numerals.SUPPRESSED:
                continue
            rows = [row for row, own in enumerate(flags) if own == text]
            for at in counts:
                held = {facts[at].texts[row] for row in rows}
                others = any(value for row, value in enumerate(facts[at].values) if flags[row] != text)
                blank = held == {""} and len(counts) == 1
                if not others or not (blank or (held == {"0"} and len(rows) > 1)):
                    continue
                symbol = f"({text})" if blank else f"0 ({text})"
                texts, kinds, values = list(facts[at].texts), list(facts[at].kinds), list(facts[at].values)
                for row in rows:
                    texts[row], kinds[row], values[row] = symbol, SYMBOL, None
                facts[at] = Facts(texts, kinds, values)
                how = f"the flag {text} in column {flag.name}"
                tally.symbols.setdefault(symbol, Symbol(symbol, numerals.SUPPRESSED, "", how))
                moved += [(at, flag.at, row) for row in rows] if blank else []
    return moved


def _figures(columns: Columns, facts: Body, measured: RowRoles) -> tuple[list[Figures], list[Figures]]:
    names = _count_labels([column for column in columns if column.role == COUNT])
    counts, figures = list[Figures](), list[Figures]()
    for column in columns:
        label = names.get(column.at, column.head)
        own, numbers = facts[column.at], facts[column.at].values
        if column.role == COUNT:
            of_rows = measured.get(column.at, [COUNT] * len(own.texts))
            numbers = [value if role == COUNT else None for value, role in zip(numbers, of_rows, strict=True)]
            cells = zip(own.kinds, own.texts, numbers, of_rows, strict=True)
            kinds = [placed(kind, text, value) if role == COUNT else "" for kind, text, value, role in cells]
            counts.append(Figures(own.texts, kinds, numbers, column.at, label))
        elif column.role in (roles.PERCENTAGE, roles.RATE):
            figures.append(Figures(own.texts, own.kinds, numbers, column.at, label))
    return counts, figures


# of people, in a header or a title
SIZE = re.compile(r"[,;:(\[\s]*\bN\s*=\s*([\d,. \u00a0]*\d)\s*[)\]]?\s*$", re.IGNORECASE)
FOOTNOTE = re.compile(r"(?<=[^\W\d])\s*(\[\w{1,2}\]|\([a-z1-9]\)|[\u00b9\u00b2\u00b3\u2070-\u2079]+|[*\u2020\u2021]+)\s*$")


def _count_labels(columns: Columns) -> dict[int, str]:
    heads = {column.at: bare_label(column.head) for column in columns}
    ends = {head.rpartition(" ")[2] for head in heads.values()}
    if len(columns) > 1 and len(ends) == 1 and numerals.pattern("counted").fullmatch(next(iter(ends))):
        heads = {at: head.rpartition(" ")[0] for at, head in heads.items()}
    often = Counter(heads.values())
    again = {column.at: f"{column.head} (column {column.name})".strip() for column in columns}
    return {at: head if head and often[head] < 2 else again[at] for at, head in heads.items()}


def bare_label(text: str) -> str:
    """A label without signs of notes and numbers of people."""
    return FOOTNOTE.sub("", SIZE.sub("", text)).strip() or text


def placed(kind: str, text: str, value: Number | None) -> str:
    """The kind of a cell among counts, EMPTY where it is none that a table holds: a decimal, a negative number, a word."""
    if kind not in PLACED or (kind in (WHOLE, MIXED) and (not isinstance(value, int) or value < 0)):
        return numerals.EMPTY
    return numerals.EMPTY if kind == MIXED and not numerals.PAIRED_MIX.fullmatch(text) else kind


def _leave_rows(table: Table, sheet: Sheet, tally: Tally) -> None:
    """Counts of rows with the same labels are left out, all of them: nothing says which is meant."""
    held = [(own, row) for own in table.counts for row in table.excluded if own.kinds[row] in PLACED]
    symbols = [own.texts[row] for own, row in held if own.kinds[row] not in (WHOLE, MIXED)]
    tally.met.subtract(symbols)
    out = {roles.SYMBOL_ROLE: len(symbols), roles.AMONG_COUNTS: len(symbols), COUNT: len(held) - len(symbols)}
    tally.roles.subtract(out)
    place = f"{table.sheet}!{table.block.body[min(table.excluded)] + 1}"
    remedy = "--labels COLUMN, for what tells them apart"
    places = (cell_place(sheet, own.at, table.block.body[row]) for own, row in held)
    tally.leave(place, "rows with the same labels as another row", remedy, len(held), table.name, places)


def _count_cells(sheet: Sheet, block: Block, columns: Columns, facts: Body, measured: RowRoles, tally: Tally) -> None:
    wanted = set(block.columns)
    for at in (*block.header, *block.headings, *block.repeated):
        texts = {column: text for column, text in enumerate(sheet.rows[at]) if column in wanted and text}
        tally.take(roles.HEADER, "a row of headers", len(texts), [cell_place(sheet, column, at) for column in texts])
        # a header can hold a legend
        tally.notes += [(f"{sheet.name}!{at + 1}", text) for text in texts.values() if len(text) > 12]
    for column in columns:
        own, place = facts[column.at], f"{sheet.name}!{column.name}"
        places = (f"{place}{at + 1}" for at, text in zip(block.body, own.texts, strict=True) if text)
        if column.role == roles.LEFT_OUT:
            tally.leave(place, "skipped, as given", "", own.filled, places=places)
        elif column.role not in roles.FIGURES:
            tally.take(column.role, column.why, own.filled, places)
        else:
            of_rows = measured.get(column.at)
            for row, (text, kind) in enumerate(zip(own.texts, own.kinds, strict=True)):
                if kind:
                    kept = replace(column, role=of_rows[row]) if of_rows else column
                    _count_cell(place, str(block.body[row] + 1), text, kind, own.values[row], kept, tally)


def _count_cell(place: str, row: str, text: str, kind: str, value: Number | None, column: Column, tally: Tally) -> None:
    """The role of one cell in a column of figures; what has none is left out, with what can be done."""
    role = column.role
    if kind in (SYMBOL, numerals.LIMIT, numerals.RANGE):
        tally.take(roles.SYMBOL_ROLE, "in place of a count" if role == COUNT else "in place of a number", 1, [place + row])
        tally.met[text] += 1
        tally.roles[roles.AMONG_COUNTS] += role == COUNT
    elif (kind in NUMBERS or kind == MIXED) and (role != COUNT or placed(kind, text, value)):
        tally.take(role, column.why, 1, [place + row])
    elif text == NO_VALUE:
        tally.leave(place + row, "a formula without a value, or an error", "open the file, let it compute, and save it")
    elif kind in NUMBERS:
        tally.leave(place + row, "a negative number, or one with decimals, among counts", group=place)
    elif kind == MIXED:
        tally.leave(place + row, "a mixed cell that cannot be split into a count", group=place)
    else:
        displayed = text if len(text) <= 30 else f"{text[:27]}..."
        remedy = f"--symbol '{displayed}={numerals.SUPPRESSED}'"
        tally.leave(place + row, f"the text {displayed!r} among numbers", remedy, group=f"{place.split('!')[0]}!{text}")


def _read_cube(source: Source, cube: Cube, signs: Numerals, told: Corrections, tally: Tally) -> None:
    """The cells of a cube: its axes are told by the file; its units say whether it counts."""
    name, filled = Path(source.name).stem, [at for at, text in enumerate(cube.texts) if text]
    said = {roles.LABEL: [f"{axis.name} {at + 1}" for axis in cube.axes for at in range(len(axis.labels))],
            roles.CODE: [f"{axis.name} {at + 1}, its code" for axis in cube.axes for at in range(len(axis.codes))],
            roles.NOTE: [f"note {at + 1}" for at in range(len(cube.notes))]}  # fmt: skip
    for role, places in said.items():
        tally.take(role, f"a {role} of the file", len(places), places)
    tally.notes += [("note", text) for text in cube.notes]
    tally.cells += len(filled) + sum(map(len, said.values()))
    if cube.left_out:
        tally.leave(name, cube.left_out, "", len(filled), places=[f"{name}!value {at + 1}" for at in filled])
        return
    known = known_texts(cube.texts, signs, told)
    kinds = [known[text][0] for text in cube.texts]
    values = [known[text][1] if known[text][0] in NUMBERS else None for text in cube.texts]
    given = told.columns_of.get((name, 0))
    role = given[0].role if given else roles.cube_role(cube, Counter(kinds))
    column = Column(0, role, cube.units, f"units: {cube.units}" if cube.units else "no units are named")
    for at, (text, kind, value) in enumerate(zip(cube.texts, kinds, values, strict=True)):
        if kind:
            _count_cell(f"{name}!value ", str(at + 1), text, kind, value, column, tally)
    axes, questions, step = list[Axis](), list[Question](), len(values)
    for axis in cube.axes:
        step //= len(axis.labels)
        own, asked = cube_axis(axis, step, values if role == COUNT else (), hints_of(told))
        axes.append(own)
        questions += asked
    own_kinds = [placed(*cell) for cell in zip(kinds, cube.texts, values, strict=True)]
    counts = (Figures(cube.texts, own_kinds, values, 0, cube.units or "value"),) if role == COUNT else ()
    _add_table(told, tally, axes, questions, name=name, file=source.name, sheet=name, title=cube.title,
               block=Block((), (), ()), columns=(column,), counts=counts, cube=cube)  # fmt: skip
