"""What the columns of a table hold: labels, codes, periods, counts, percentages and other statistics, flags and notes."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from itertools import pairwise, permutations

from genverify.reading import numerals
from genverify.reading.blocks import Block
from genverify.reading.numerals import LIMIT, MIXED, NUMBERS, PERCENT, PERIOD, SYMBOL, TEXT, WHOLE, Number, pattern, says
from genverify.reading.source import Cube, Sheet, column_name

ROLES = LABEL, CODE, PERIOD_OF, MEASURE, COUNT, PERCENTAGE, RATE, STATISTIC, MONEY, FLAG, NOTE, ROW_NUMBER, LEFT_OUT = (
    "label", "code", "period", "measure", "count", "percentage", "rate", "statistic", "money", "flag", "note", "row number",
    "left out",
)  # fmt: skip
LABELS = frozenset((LABEL, CODE, PERIOD_OF, MEASURE))
FIGURES = frozenset((COUNT, PERCENTAGE, RATE, STATISTIC, MONEY))
HEADER, SYMBOL_ROLE = "header", "symbol"
AMONG_COUNTS = "symbol among counts"  # counted beside the roles: these symbols stand in the tables
# the six words of the line of conservation, and the roles that each adds up
CONSERVATION: Mapping[str, tuple[str, ...]] = {
    "labels": (LABEL, CODE, PERIOD_OF, MEASURE, HEADER),
    "counts": (COUNT,),
    "symbols": (SYMBOL_ROLE,),
    "statistics": (PERCENTAGE, RATE, STATISTIC, MONEY),
    "notes": (NOTE, FLAG, ROW_NUMBER),
    "left out": (LEFT_OUT,),
}

Rules = Iterator[tuple[object, str, str]]  # whether one holds, the role that it gives, and why: the first one decides
NAMED_FIGURES = ((PERCENTAGE, "percent"), (RATE, "rate"), (STATISTIC, "statistic"))  # roles, and how words.yaml calls them
DAY = re.compile(r"(19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])")  # as 20200131
MOST_CLASSES = 130  # different numbers that stand for classes: ages to 120 and a few more
PROBE = 80  # rows in which a percentage is compared with counts
MOST_BASES = 40  # counts beside a percentage that are tried as its part and its whole: the work grows with their square
LEAST = 5  # rows that must agree before numbers decide
AT_THE_RIGHT = "short codes at the right of the numbers"
MANY_WORDS = 10  # different words in a column of numbers; more are no symbols
LONG = "long texts"
LONG_TEXT = 80  # characters of a text that is a remark rather than a label


@dataclass(frozen=True)
class Column:
    """A column of a table: its role, its header, and why."""

    at: int
    role: str
    head: str
    why: str

    @property
    def name(self) -> str:
        return column_name(self.at)


@dataclass(frozen=True)
class Facts:
    """What a column's body holds, in order of rows: texts, their kinds, and their numbers (None where there is none)."""

    texts: Sequence[str]
    kinds: Sequence[str]
    values: Sequence[Number | None]

    @cached_property
    def often(self) -> Mapping[str, int]:
        return Counter(self.kinds)

    @property
    def filled(self) -> int:
        return len(self.texts) - self.often.get("", 0)

    def share(self, *kinds: str) -> float:
        return sum(self.often.get(kind, 0) for kind in kinds) / max(1, self.filled)


Body = Mapping[int, Facts]  # of a table, by column
Known = Mapping[str, tuple[str, Number | None]]  # the kind and the number of texts


def heads_of(sheet: Sheet, block: Block) -> dict[int, str]:
    """The header of each column, from the top; a merged cell, or the one at the left where labels repeat, covers blanks."""

    def text(row: int, column: int) -> str:
        row, column = sheet.covered.get((row, column), (row, column))
        return sheet.rows[row][column] if row < len(sheet.rows) and column < len(sheet.rows[row]) else ""

    parts = {column: [text(row, column) for row in block.header] for column in block.columns}
    joined = {column: _join(own) for column, own in parts.items()}
    if len(set(joined.values())) < len(joined) and len(block.header) > 1:
        for level in range(len(block.header) - 1):
            last = ""
            for column in block.columns:
                if parts[column][level] or not any(parts[column]):
                    last = parts[column][level]
                elif not any(parts[column][:level]):
                    parts[column][level] = last
        joined = {column: _join(own) for column, own in parts.items()}
    return joined


def _join(parts: Sequence[str]) -> str:
    return " ".join(dict.fromkeys(" ".join(part.split()) for part in parts if part))


def column_facts(sheet: Sheet, known: Known, block: Block) -> dict[int, Facts]:
    """The cells of each column in the body; `known` has the kind and the number of every text."""
    rows, result = [sheet.rows[at] for at in block.body], dict[int, Facts]()
    for column in block.columns:
        texts = [row[column] if column < len(row) else "" for row in rows]
        cells = [known[text] for text in texts]
        result[column] = Facts(texts, [kind for kind, _ in cells], [number for _, number in cells])
    return result


def _words(head: str) -> str:
    return re.sub(r"[_.\-/]+", " ", head)


def find_columns(
    block: Block, heads: Mapping[int, str], facts: Body, context: str, told: Mapping[int, str], signs: Collection[str]
) -> list[Column]:
    """The role of every column; `told` are roles and `signs` symbols of a user, `context` is the text around the table."""
    valued = list[int]()
    for column in block.columns:
        own, left = facts[column], column == block.columns[0]
        limits = left and own.share(LIMIT, numerals.RANGE) > 0.5  # labels such as 0-4
        remark = says("note head", _words(heads[column])) and not own.share(*NUMBERS)
        if (_is_valued(own) or (not left and _is_hidden(own, signs))) and not remark and not limits:
            valued.append(column)
    first = min(valued, default=0)
    valued += [c for c in block.columns if c not in valued and c > first and valued and _only_symbols(facts[c], heads[c])]
    texts = [c for c in block.columns if c not in valued and facts[c].filled and not says("note head", _words(heads[c]))]
    money = says("money context", context)
    counted = _counted_rows(texts, heads, facts, told)

    def measured(own: Facts) -> Facts:
        """A column in the rows that count, where another column says what each row measures."""
        rows = range(len(own.texts)) if counted is None else counted
        return Facts([own.texts[row] for row in rows], [own.kinds[row] for row in rows], [own.values[row] for row in rows])

    result = dict[int, Column]()
    for column in block.columns:
        head, own = heads[column], facts[column]
        if column in told:
            role, why = told[column], "as given"
        elif not own.filled:
            role, why = NOTE, "nothing below its header"
        elif column in valued:
            unit = says("unit context", context)
            classed = all(result[c].role in LABELS for c in result)  # so far, from the left, only labels
            left = column == block.columns[0]
            role, why = _first(_valued_rules(column, head, measured(own), left, texts, money, unit, classed))
        else:
            role, why = _first(_text_rules(column, head, own, max(valued, default=0)))
        result[column] = Column(column, role, head, why)
    _find_codes(result, facts)
    _by_numbers(result, facts)
    _settle_labels(result, facts, block)
    return [result[column] for column in block.columns]


def _is_valued(own: Facts) -> bool:
    """Whether a column holds values: mostly numbers, limits, mixed cells or signs; letters only beside numbers."""
    numbers = own.share(*NUMBERS, MIXED, LIMIT)
    if own.share(*NUMBERS, MIXED) == 0:
        signs = sum((k == SYMBOL and not text.isalnum()) or k == LIMIT for text, k in zip(own.texts, own.kinds, strict=True))
        return own.filled > 0 and signs > own.filled / 2
    if own.share(numerals.RANGE) > own.share(*NUMBERS, MIXED):
        return False
    words = {text for text, kind in zip(own.texts, own.kinds, strict=True) if kind == TEXT}
    if len(words) > max(MANY_WORDS, own.filled / 20):  # many different texts are labels, also where numbers stand among them
        return False
    return numbers + own.share(SYMBOL) > 0.5 or own.share(TEXT, PERIOD) < 0.2


def _is_hidden(own: Facts, signs: Collection[str]) -> bool:
    """Whether a column holds nothing but symbols that a user names, or that are symbols wherever they stand."""
    texts = set(own.texts) - {""}
    return bool(texts) and all(text in signs or numerals.SURE_SYMBOL.fullmatch(text) for text in texts)


def _counted_rows(texts: Sequence[int], heads: Mapping[int, str], facts: Body, told: Mapping[int, str]) -> list[int] | None:
    """The rows that count, where a column of texts says what each row measures; None where none does."""
    for column in texts:
        if (told.get(column) or _first(_text_rules(column, heads[column], facts[column], 0))[0]) == MEASURE:
            names = {text: measure_role(text) for text in set(facts[column].texts)}
            rows = [row for row, text in enumerate(facts[column].texts) if names[text] == COUNT]
            if rows and len(rows) < len(facts[column].texts):
                return rows
    return None


def measure_role(text: str) -> str:
    """The role of figures that a text names."""
    return next((role for role, name in NAMED_FIGURES if says(name, text)), COUNT)


def _only_symbols(own: Facts, head: str) -> bool:
    named = says("flag", _words(head)) or says("note head", _words(head))
    return own.filled > 0 and own.share(SYMBOL) == 1.0 and len(set(own.texts) - {""}) <= 3 and not named


def _valued_rules(
    column: int, head: str, own: Facts, left: bool, texts: Sequence[int], money: bool, unit: bool, classed: bool
) -> Rules:
    """What a column of values can be; `left`: the first one."""
    words, distinct = _words(head), len(set(own.texts) - {""})
    numbers = [value for value in own.values if value is not None]
    whole = [value for value in numbers if isinstance(value, int)]
    yield _is_period(words, own, numbers, left), PERIOD_OF, "its header or its numbers are times"
    yield any(re.fullmatch(r"0\d+", text) for text in own.texts), CODE, "numbers with a leading zero"
    apart, named = distinct == own.filled, says("count", words)
    coded = says("code", words) and not named and (apart or column < max(texts, default=0))
    yield coded, CODE, "its header says so"
    lengths = Counter(len(text) for text in own.texts if text)
    alike = max(lengths, default=0) > 2 and max(lengths.values()) > 0.95 * distinct
    names = left and texts and apart and own.filled == len(whole) >= LEAST and alike
    yield names, CODE, "different numbers of one length, before the names"
    numbered = bool(whole) and whole[0] in (0, 1) and all(b - a == 1 for a, b in pairwise(whole))
    numbered = numbered and left and len(whole) == len(own.texts) and len(words) < 8
    yield numbered and texts, ROW_NUMBER, "it counts the rows"
    alone = left and not texts and (apart or re.search(r"\bage\b", words, re.I))
    yield alone, LABEL, "the first column, different in every row, with no text next to it"
    before = left or (texts and column < max(texts)) or (2 * distinct <= own.filled and classed)
    classes = pattern("class").fullmatch(words.strip()) and distinct <= MOST_CLASSES and before
    yield classes, LABEL, "its header names a classification"
    pairs = [pair for text in set(own.texts) if (pair := numerals.PAIRED_MIX.fullmatch(text)) and not pair[2]]
    shared = sum(bool(pair[4]) for pair in pairs) * 2 > len(pairs) or says("in brackets", head)  # 12 (24 %), or 12 (24)
    both = says("count and share", head) or (own.share(MIXED) > 0.5 and pairs and shared)
    yield both, COUNT, "its header or its cells name a count with its percentage"
    percents = own.share(PERCENT) > 0.5 or (own.share(PERCENT) and own.share(PERCENT, LIMIT) > 0.3)
    yield says("percent", words) or percents, PERCENTAGE, "its header or its cells say so"
    yield says("rate", words), RATE, "its header says so"
    mixed = {sign for text, kind in zip(own.texts, own.kinds, strict=True) if kind == MIXED for sign in text}
    yield own.share(MIXED) > 0.5 and mixed & set("-\u2013:"), STATISTIC, "numbers with intervals, or times"
    yield not named and says("statistic", words), STATISTIC, "its header says so"
    amounts = not says("number of", words) and (money or (not named and says("money", words)))
    yield amounts, MONEY, "its header or the text above says so"
    yield unit and not named, STATISTIC, "amounts in a unit that the text above names; as counts: --counts"
    yield any(value < 0 for value in numbers), STATISTIC, "it has negative numbers"
    yield not numbers, COUNT, "only symbols, in place of numbers"
    some = f" but for {len(numbers) - len(whole):,}" if len(whole) < len(numbers) else ""
    yield len(whole) >= 0.9 * len(numbers), COUNT, f"whole numbers{some}"
    yield True, STATISTIC, "numbers with decimals; as amounts: --counts"


def _is_period(words: str, own: Facts, numbers: Sequence[Number], left: bool) -> bool:
    """Whether numbers are times: years, years with two more digits, months; by the header, or at the left of the table."""
    if own.share(PERIOD) > 0.5 or (left and pattern("purely time").fullmatch(words.strip())):
        return True
    if not numbers or len(numbers) + own.often.get(PERIOD, 0) < 0.95 * own.filled:
        return False
    named = says("time", words) and not says("count", words)
    if any(not isinstance(number, int) for number in numbers):
        return False

    def within(low: int, high: int) -> bool:
        return all(low <= number <= high for number in numbers)

    years = within(1800, 2100)
    dated = named and (years or within(180001, 210099) or within(18000101, 21001231))
    parts = re.search(r"\b(month|quarter|week|day)\b", words, re.I) and within(1, 366)
    days = all(DAY.fullmatch(str(number)) for number in numbers)
    return dated or bool(parts) or days or (years and (left or bool(own.often.get(PERIOD))))


def _first(rules: Rules) -> tuple[str, str]:
    return next((role, why) for holds, role, why in rules if holds)


def _text_rules(column: int, head: str, own: Facts, last: int) -> Rules:
    """What a column of texts can be; `last`: the last one of values."""
    words = _words(head)
    texts = [text for text in own.texts if text]
    distinct = set(texts)
    short = all(len(text) <= 6 for text in distinct)
    notes = says("note head", words) or sum(text.startswith("[note") for text in texts) > len(texts) / 2
    yield notes, NOTE, "its header or its texts say so"
    yield sum(len(text) > LONG_TEXT for text in texts) > len(texts) / 2 and len(distinct) > 1, NOTE, LONG
    yield says("flag", words) and short, FLAG, "its header says so"
    yield column > last > 0 and short and len(distinct) <= 10 and len(texts) > len(distinct), FLAG, AT_THE_RIGHT
    named = says("time", words) and not re.search(r"identifier|type|format|unit|\bages?\b", words, re.I)
    digits = sum(any(c.isdigit() for c in text) for text in distinct)
    dated = digits * 2 > len(distinct) or pattern("purely time").fullmatch(words.strip())
    times = (named and dated and own.share(numerals.RANGE) < 0.5) or own.share(PERIOD) > 0.5
    yield times, PERIOD_OF, "its header or its texts are times"
    roles = {measure_role(text) for text in distinct} if len(distinct) < 30 else set()
    measures = len(distinct) > 1 and (says("measure", words) or (COUNT in roles and PERCENTAGE in roles))
    yield measures, MEASURE, "its texts name what is measured"
    coded = sum(" " not in text and (any(c.isdigit() for c in text) or text.isupper()) for text in distinct)
    yield says("code", words) and coded > len(distinct) / 2, CODE, "its header says so"
    yield True, LABEL, "one text in every row" if len(distinct) == 1 else "texts"


def _find_codes(found: dict[int, Column], facts: Body) -> None:
    """Texts without spaces, all with digits, of which each has its own text in another column, are codes of that."""
    labels = [at for at, column in found.items() if column.role == LABEL and column.why == "texts"]
    for at in labels:
        own = set(facts[at].texts) - {""}
        if not all(" " not in text and any(letter.isdigit() for letter in text) for text in own) or len(own) < LEAST:
            continue
        for other in (label for label in labels if label != at and found[label].role == LABEL):
            names = set(facts[other].texts) - {""}
            pairs = set(zip(facts[at].texts, facts[other].texts, strict=True))
            worded = sum(any(letter.isalpha() for letter in text) and not any(map(str.isdigit, text)) for text in names)
            if len(pairs) <= 1.05 * min(len(own), len(names)) and 2 * worded > len(names):
                found[at] = replace(found[at], role=CODE, why=f"codes of the texts in column {column_name(other)}")
                break


def _by_numbers(found: dict[int, Column], facts: Body) -> None:
    """Columns with decimals that are, row by row, a hundred times one count over another are percentages."""
    counts = [c for c, own in found.items() if own.role == COUNT]
    for at, column in list(found.items()):
        if column.why.startswith(("numbers with decimals", "whole numbers but for")):
            of = find_base(at, [c for c in counts if c != at], facts)
            if of:
                why = f"by the numbers: {column_name(of[0][0])} as a percentage of {column_name(of[0][1])}"
                found[at] = replace(column, role=PERCENTAGE, why=why)
    _like_neighbours(found, facts)


def _like_neighbours(found: dict[int, Column], facts: Body) -> None:
    """A column with decimals that nothing decides is what the columns are whose headers begin as its own does."""
    undecided = [at for at, column in found.items() if column.why.startswith("numbers with decimals")]
    nearly = [at for at, column in found.items() if column.why.startswith("whole numbers but for")]
    whole_ = [at for at, column in found.items() if column.role == COUNT and column.why == "whole numbers"]
    if 2 * len(undecided) >= len(nearly) + len(whole_):  # amounts with decimals all around: so are those with few of them
        why = "a few decimals, next to columns with decimals; as counts: --counts"
        found |= {at: replace(found[at], role=STATISTIC, why=why) for at in nearly}
        return
    begins = {at: re.split(r"[_ .:-]", column.head)[0] for at, column in found.items()}
    for at in sorted([*undecided, *nearly]):
        alike = [own.role for c, own in found.items() if c != at and begins[c] == begins[at]]
        beside = Counter(role for role in alike if role in (COUNT, PERCENTAGE))
        role, often = beside.most_common(1)[0] if beside else ("", 0)
        numbers = [value for value in facts[at].values if value is not None]
        whole = sum(isinstance(value, int) for value in numbers)
        fits = 2 * whole > len(numbers) if role == COUNT else all(0 <= value <= 100 for value in numbers)
        if often > 1 and 2 * often > beside.total() and fits:
            why = f"as the other {often} columns whose headers begin with {begins[at]!r}"
            found[at] = replace(found[at], role=role, why=why)


def find_base(at: int, counts: Sequence[int], facts: Body) -> list[tuple[int, int]]:
    """The pairs of counts, of those nearest, of which a column is the percentage (or proportion) in every row."""
    counts = sorted(sorted(counts, key=lambda column: abs(column - at))[:MOST_BASES])
    values = {column: facts[column].values for column in (at, *counts)}
    rows = [row for row, value in enumerate(values[at]) if value is not None and value > 0 and value not in (1, 100)]
    step = max(1, len(rows) // PROBE)
    rows = rows[::step][:PROBE]
    fits = []
    for den, num in permutations(counts, 2):
        seen = agree = 0
        for row in rows:
            part, whole, share = values[num][row], values[den][row], values[at][row]
            if part is not None and whole is not None and share is not None and whole > 0:
                seen += 1
                agree += is_share(share, part, whole)
                if seen - agree > 2:
                    break
        if seen >= LEAST and agree >= 0.97 * seen:
            fits.append((num, den))
    return fits


def is_share(share: Number, part: Number, whole: Number) -> bool:
    """Whether a percentage, as far as it is printed, is that of two counts; or a proportion, if it is smaller than one."""
    exponent = share.as_tuple().exponent if isinstance(share, Decimal) else 0
    digits = min(-exponent if isinstance(exponent, int) else 0, 9)
    half = Decimal(10) ** -digits * Decimal("0.5001")
    step = next((step for step in (10, 5) if part % step == 0 == whole % step), 0)  # rounded counts: of unrounded ones
    low = Decimal(part - Decimal(step) / 2) / Decimal(whole + Decimal(step) / 2)
    high = Decimal(part + Decimal(step) / 2) / Decimal(max(whole - Decimal(step) / 2, Decimal("0.5")))
    percent = low * 100 - half <= share <= high * 100 + half
    return percent or (share <= 1 and digits > 1 and low - half <= share <= high + half)


def _settle_labels(found: dict[int, Column], facts: Body, block: Block) -> None:
    """A flag that tells rows apart is a label; and a table needs one: where none is, the first columns that differ."""
    first = min((at for at, column in found.items() if column.role in FIGURES), default=0)
    if not any(column.role == LABEL for at, column in found.items() if at < first):  # long names, where none is shorter
        for at in [at for at, column in found.items() if column.why == LONG and at < first]:
            found[at] = replace(found[at], role=LABEL, why="long texts, and no other column names the rows")
    labels = [at for at, column in found.items() if column.role in LABELS]

    def different(columns: Sequence[int]) -> int:
        """How many rows differ in some columns."""
        return len(set(zip(*(facts[at].texts for at in columns), strict=True)))

    for at in [at for at in labels if at > first and found[at].why != "as given" and first > min(labels)]:
        rest = [label for label in labels if label != at]
        needed = different(labels) > different(rest)
        follows = any(different((at, label)) == different((label,)) > 1 for label in rest)  # as a region follows a place
        if not needed and not follows and found[at].role == LABEL:
            found[at] = replace(found[at], role=NOTE, why="texts at the right of the numbers, by which no rows differ")
            labels = rest
    for at in [at for at, column in found.items() if column.why == AT_THE_RIGHT]:
        known = different(labels) if labels else 1
        role, why = _first(_text_rules(at, found[at].head, facts[at], 0))
        twin = any(different((at, label)) == different((label,)) for label in labels)
        if different((*labels, at)) > known or (role == CODE and twin):
            found[at] = replace(found[at], role=role, why=f"{why}, and rows differ by it")
            labels.append(at)
    if labels:
        return
    for end in range(1, len(block.columns)):  # the fewest columns at the left that tell all rows apart
        front = block.columns[:end]
        if different(front) == len(block.body) and found[front[-1]].why != "as given":
            why = "no column holds texts; the first ones tell all rows apart"
            found |= {at: replace(found[at], role=LABEL, why=why) for at in front}
            return


def cube_role(cube: Cube, often: Mapping[str, int]) -> str:
    """What the numbers of a cube are: by its units, else by whether they are whole."""
    role = measure_role(cube.units or cube.title)
    if role in (PERCENTAGE, RATE) or (role == STATISTIC and cube.units):
        return role
    decimals = often.get(numerals.DECIMAL, 0)
    return STATISTIC if decimals > 0.1 * (often.get(WHOLE, 0) + decimals) else COUNT


def roles_by_measure(columns: Sequence[Column], facts: Body) -> dict[int, list[str]]:
    """Where a column names what each row measures: the role of every row's figures in each column of counts."""
    measure = next((column for column in columns if column.role == MEASURE), None)
    names = {text: measure_role(text) for text in set(facts[measure.at].texts)} if measure else {}
    if measure is None or set(names.values()) == {COUNT}:
        return {}
    result = dict[int, list[str]]()
    for column in (column for column in columns if column.role == COUNT):
        roles = [names[text] for text in facts[measure.at].texts]
        shares = [value for value, role in zip(facts[column.at].values, roles, strict=True) if role == PERCENTAGE]
        own = [value for value in shares if value is not None]
        if any(value > 100 for value in own) and all(isinstance(value, int) for value in own):  # a count beside percentages
            roles = [COUNT if role == PERCENTAGE else role for role in roles]
        result[column.at] = roles
    return result
