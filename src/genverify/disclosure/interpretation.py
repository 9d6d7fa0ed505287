"""Tables of a reading to be audited: what its symbols, blanks and percentages mean, who is counted, and what stays open."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, partial
from itertools import groupby, permutations, product
from math import ceil, floor, prod
from operator import itemgetter
from os.path import abspath
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from genverify.disclosure import link as linking
from genverify.disclosure.link import EXACT, LEVELS, Labels, PrintedTable, Share, Value, anonymous, link, name_of, percent_of
from genverify.disclosure.release_form import Text, as_list
from genverify.model.errors import ConfigError, DataError, nearest
from genverify.model.files import LIMITS, FileLimits, read_yaml
from genverify.model.linear import EXACT as EXACT_SUMS
from genverify.model.linear import Row
from genverify.model.settings import Section, validate
from genverify.reading.axes import MEASURES, STACKED, TIME, Axis
from genverify.reading.numerals import MIXED, PAIRED_MIX, SURE_SYMBOL, Symbol, is_period, is_symbol, told_symbol
from genverify.reading.read_command import READ_OPTIONS, corrections_of, describe, read_files
from genverify.reading.reading import BLANK, Corrections, Entry, Figures, Reading, Table, entry_at, write_reading
from genverify.reading.roles import COUNT, FLAG, MONEY, PERCENTAGE, RATE, STATISTIC
from genverify.reading.table_cells import SIZE
from genverify.reading.totals import Hierarchy, Question, make_hierarchy, surely_rounded

# Percentages beside counts: of what they are, found by the printed numbers or told, and each as a fact with its rounding.
#
# A percentage may be of its row, of its column or of everyone. Where the header does not say it, the one that agrees with
# the counts that are printed is taken, and where nothing can be compared the one by which they make up 100. Where none or
# several do, the percentages are left out: that is said, and nothing is called safe.

OF_ROW, OF_COLUMN, EVERYONE, OF_COUNTS = "row", "column", "everyone", "counts"
KINDS = (OF_COLUMN, OF_ROW, EVERYONE)
SAID = {OF_ROW: r"\brow\b", OF_COLUMN: r"\bcol(umn)?\b", EVERYONE: r"of (the )?(grand )?total|of all|of everyone"}
NONE = "none"
BY_CHANCE = 0.01  # that percentages agree by chance with what they are not of, where another whole cannot be compared
SURE = 0.8  # from this part of the percentages on, the others are contradictions and no other meaning
WORDS = {OF_COLUMN: "their column", OF_ROW: "their row", EVERYONE: "everyone", OF_COUNTS: "counts of another column"}
Values = Mapping[Labels, Value]


@dataclass(frozen=True)
class PercentageReading:
    """Percentages of one table whose meaning is known: what each is of, and the table with a note that says so."""

    table: PrintedTable
    shares: tuple[tuple[Share, str], ...]
    decimals: int = 0  # how many of a percentage are used


def meaning(table: PrintedTable, values: Values, rule: Sequence[str], told: str | None) -> PercentageReading:
    """What the percentages of a table are of; those that cannot be facts are left out, with the reason as a note."""
    shares, why = [share for share in table.shares if share.number], ", as you asked" if told == NONE else ""
    if told is None and any(word not in (EXACT, LEVELS) and not word.startswith("suppress") for word in rule):
        why = ": they may be of rounded counts; percent_of in the reading file says that they are of the true ones"
    if why or not shares:
        return PercentageReading(_left_out(table, f"{len(shares)} percentages left out{why}") if shares else table, ())
    result, notes, compared = list[tuple[Share, str]](), list[str](), _Comparison(table, values)
    for head in dict.fromkeys((share.head, share.of) for share in shares):
        own = [share for share in shares if (share.head, share.of) == head]
        kind, how = (told, "as given") if told else (head[1], "by the header") if head[1] else compared.inferred(own)
        if not told and all(share.whole is not None for share in own):
            kind, how = OF_COUNTS, "it agrees with the counts"
        if not kind:
            why = f"{len(own)} percentages left out ({head[0]}): {how}; say it with percent_of in the reading file"
            table = _left_out(table, why)
            continue
        compared.refuse_wrong(own, kind)
        result += [(share, kind) for share in own]
        notes.append(f"{len(own)} percentages ({head[0]}) are of {WORDS[kind]} ({how}): used as facts, rounded as printed")
    largest = max((max(value.lo, value.hi or 0) for value in values.values()), default=0)
    space = EXACT_SUMS // (4 * 100 * max(largest, 1))  # a row has 100 times the part and at most 100 times the whole, halved
    most = len(str(space)) - 1 if space else 0  # decimals with which a row of whole multiples stays within 64 bits
    if fine := [share for share, _ in result if share.decimals > most]:
        why = f"the decimals after the first {most} of {len(fine)} percentages, too many to compute with exactly"
        table = _left_out(table, f"{why} (the first is {fine[0].entry.text} at {fine[0].entry.place})")
    return PercentageReading(table.noted(*notes), tuple(result), most)


def _left_out(table: PrintedTable, what: str) -> PrintedTable:
    return replace(table.noted(what), left_out=(*table.left_out, f"{table.name}: {what}"))


class _Comparison:
    def __init__(self, table: PrintedTable, values: Values) -> None:
        self.table, self.values = table, values
        self.whole_of = cache(self._whole)  # there may be thousands of percentages of one whole
        parts = {c: table.sums.get(c, Hierarchy()).parts for c in table.columns}
        self.finest = {c: [own for own in table.labels(c) if own not in totals] for c, totals in parts.items()}

    def inferred(self, shares: Sequence[Share]) -> tuple[str, str]:
        """The one kind that the numbers leave; one that nothing speaks against is open unless chance hardly explains it."""
        columns = {kind: frozenset(across(self.table, shares[0].labels, kind)) for kind in KINDS}
        kinds = {columns[kind]: kind for kind in reversed(KINDS) if columns[kind]}.values()  # the row of one count is itself
        tested = {kind: [fits for share in shares if (fits := self.fits(share, kind)) is not None] for kind in kinds}
        best = [kind for kind in kinds if tested[kind] and sum(tested[kind]) >= SURE * len(tested[kind])]
        best = [kind for kind in best if all(tested[kind])] or best
        silent = [kind for kind in kinds if not tested[kind]]
        chance = self.by_luck(shares, best[0]) if len(best) == 1 else 1.0
        if not any(tested.values()):  # not one count can be compared: the percentages themselves must tell
            sums = {kind: self.make_100(shares, kind) for kind in kinds}
            best, silent = [kind for kind in kinds if sums[kind][0]], [kind for kind in kinds if sums[kind][0] is None]
            chance = sums[best[0]][1] if best else 1.0
        if len(best) == 1 and (not silent or chance < BY_CHANCE):
            return best[0], "it agrees with the counts"
        if best:
            return "", f"they could be of {' or of '.join(WORDS[kind] for kind in KINDS if kind in (*best, *silent))}"
        if not any(tested.values()):
            return "", "no printed count can be compared with them, and they do not make up 100 in one way"
        return "", "they agree with no counts of their row, their column or everyone"

    def by_luck(self, shares: Sequence[Share], kind: str) -> float:
        """How likely counts taken at random up to their wholes would agree with their percentages as well."""
        chance = 1.0
        for share in (share for share in shares if self.fits(share, kind)):
            whole, (low, high), ends = self.whole(share, kind), share.ends, self.values[share.labels]
            if whole and whole[0] == whole[1] and ends.lo == ends.hi:
                agreeing = floor(high * whole[0] / 100) - ceil(low * whole[0] / 100) + 1
                chance *= min(1.0, agreeing / (whole[0] + 1))
        return chance

    def make_100(self, shares: Sequence[Share], kind: str) -> tuple[bool | None, float]:
        """Whether percentages make up 100 over the parts of their whole (None: not shown), and how likely by chance."""
        chance, fits, parts = 1.0, list[bool](), defaultdict[Labels, list[Share]](list)
        for share in shares:
            if self.is_whole(share, kind):
                fits.append(share.ends[0] <= 100 <= share.ends[1])
            elif all(label in self.finest[c] for c, label in across(self.table, share.labels, kind).items()):
                parts[self.rest(share, kind)].append(share)
        for rest, own in parts.items():
            if prod(len(self.finest[c]) for c, label in zip(self.table.columns, rest, strict=True) if not label) == len(own):
                low, high = (sum(ends) for ends in zip(*(share.ends for share in own), strict=True))
                fits.append(low <= 100 <= high)
                chance *= min(1.0, float(high - low) / 100)
        return all(fits) if fits else None, chance

    def refuse_wrong(self, shares: Sequence[Share], kind: str) -> None:
        for share in (share for share in shares if self.fits(share, kind) is False):
            count, whole = self.values[share.labels].lo, self.whole(share, kind)
            what = f"{share.entry.text} as a percentage of {WORDS[kind]} contradicts the counts next to it"
            remedy = "percent_of: row, column, everyone or none, for the table in the reading file (--write)"
            of = f"({count} of {whole[0] if whole else '?'}); correct one, or say what percentages are of: {remedy}"
            raise DataError(f"{share.entry.place}: {what} {of}")

    def fits(self, share: Share, kind: str) -> bool | None:
        """Whether a percentage agrees with its count and its whole; None where they do not tell."""
        if kind == OF_COUNTS:
            return None  # the reading compared them
        count, whole = self.values[share.labels], self.whole(share, kind)
        if count.hi is None or whole is None or whole[0] <= 0 or self.is_whole(share, kind):
            return None
        return bool(100 * count.hi >= share.ends[0] * whole[0] and 100 * count.lo <= share.ends[1] * whole[1])

    def is_whole(self, share: Share, kind: str) -> bool:
        return all(label in self.table.totals(column) for column, label in across(self.table, share.labels, kind).items())

    def rest(self, share: Share, kind: str) -> Labels:
        """The labels of a percentage without those that its whole adds up."""
        named = across(self.table, share.labels, kind)
        return tuple("" if c in named else own for c, own in zip(self.table.columns, share.labels, strict=True))

    def whole(self, share: Share, kind: str) -> tuple[int, int] | None:
        """The ends of the whole of a percentage: its printed total, or the sum of its parts."""
        return self.whole_of(self.rest(share, kind), frozenset(across(self.table, share.labels, kind)))

    def _whole(self, labels: Labels, across: frozenset[str]) -> tuple[int, int] | None:
        sets = list[Sequence[str]]()
        for column, label in zip(self.table.columns, labels, strict=True):
            sums = self.table.sums.get(column, Hierarchy())
            outer = sums.outer(dict.fromkeys(sums.parts))[:1] or sums.outer(self.table.labels(column))
            sets.append(outer if column in across else [label])
        known = [self.values.get(own) for own in product(*sets)]
        if any(value is None or value.hi is None for value in known) or not known:
            return None
        return sum(value.lo for value in known if value), sum(value.hi or 0 for value in known if value)


def across(table: PrintedTable, labels: Labels, kind: str) -> dict[str, str]:
    """The columns of a table over which the whole of a percentage is added up, with their labels."""
    named = list(zip(table.columns, labels, strict=True))
    return dict({OF_COLUMN: named[: table.rows], OF_ROW: named[table.rows :], EVERYONE: named}[kind])


def share_facts(placed: linking.TableCells, meant: PercentageReading) -> Iterator[Row]:
    """Every percentage as two rows: at least and at most what it was rounded from."""
    linked = dict(zip(placed.table.columns, placed.labels, strict=False))  # columns that keep it to some people come after
    for share, kind in meant.shares:
        part = placed.keys[share.labels]
        if kind == OF_COUNTS and share.whole is not None:
            whole = placed.keys[share.whole]
        else:
            summed = {linked[column] for column in across(placed.table, share.labels, kind)}
            whole = tuple(own for own in part if own[0] not in summed)
        if part == whole:
            continue
        text, (low, high) = f"{share.entry.place}: {share.number} % of {name_of(whole)}", share.ends
        if share.decimals > meant.decimals:  # less is used than is printed, never more
            scale = 10**meant.decimals
            low, high = Fraction(floor(low * scale), scale), Fraction(ceil(high * scale), scale)
        yield from linking.between(text, {name_of(part): Fraction(100)}, name_of(whole), max(low, Fraction(0)), high)


# Tables of a reading to be audited: the files, what is said of them, and the tables of counts that follow.

Sums = dict[Text, list[Text] | list[list[Text]]]
FEW_SHARED = 0.75  # districts stand in one region each; the labels of a crosstab stand in all of its groups
MOST_SAID = 8  # open points of a message
# what a flag says of a count that may be seen: normal, free, estimated, ...
PUBLISHED = frozenset(("", "A", "F", "E", "P", "R"))
WHEN = re.compile(
    r"(?<!\d)(?:19|20)\d\d(?!\d)|(?<![a-z])(?:q[1-4]|[hw]\d{1,2}|week \d+|wave \d+|january|february|march|april|may|june"
    r"|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sep|oct|nov|dec)(?![a-z])",
    re.IGNORECASE,
)


class PrintedTableForm(Section):
    columns: list[Text] | None = None
    sums: dict[Text, Sums] = Field(default_factory=dict)
    percent_of: Literal["row", "column", "everyone", "counts", "none"] | None = None


class Exemption(Section):
    """A cell, or a table, that is not judged: who says so, and why; with a file, only where this file is read."""

    cell: Text = ""
    table: Text = ""
    file: str = ""
    who: Annotated[str, Field(min_length=1)]
    why: Annotated[str, Field(min_length=1)]


class TeamForm(Section):
    """What a team can say of all its tables, in a risk file too."""

    symbols: dict[Text, Text] = Field(default_factory=dict)  # with their meaning; not all need to be met
    rule: list[str] = Field(default_factory=list)
    tolerance: int = Field(default=0, ge=0, le=1_000)
    same_people: bool = False
    inside: dict[Text, Text] = Field(default_factory=dict)
    previous: list[str] = Field(default_factory=list)  # files or folders of earlier releases
    exempt: list[Exemption] = Field(default_factory=list)


class RiskForm(TeamForm):
    """The risk file that a team has beside its releases: when a table is unsafe; options go before what it says."""

    fail_on: str = "exact"
    minimum_frequency: int = Field(default=0, ge=0)  # printed counts below it, but 0, are unsafe
    width: int = Field(default=1, ge=1)  # of the least feasibility interval that a suppressed cell needs

    @property
    def threshold(self) -> str:
        known = f"range<{self.width}" if self.width > 1 and self.fail_on == "exact" else self.fail_on
        return f"{known},count<{self.minimum_frequency}" if self.minimum_frequency else known


def read_risk(path: Path | None) -> RiskForm:
    risk = validate(RiskForm, read_yaml(path), str(path)) if path else RiskForm()
    return risk.but(previous=[abspath(path.parent / name) for name in risk.previous]) if path else risk


class PrintedForm(TeamForm):
    """Printed tables and what is said of them, by options or in a release file."""

    printed: Annotated[list[str], BeforeValidator(as_list), Field(min_length=1)]
    title: str = ""
    marks: dict[Text, Text] = Field(default_factory=dict)
    totals: dict[Text, Text] = Field(default_factory=dict)
    no_totals: list[Text] = Field(default_factory=list)
    totals_from: list[Text] = Field(default_factory=list)
    labels: list[Text] = Field(default_factory=list)
    sheets: list[Text] = Field(default_factory=list)
    label_columns: list[Text] = Field(default_factory=list)
    count_columns: list[Text] = Field(default_factory=list)
    skip: list[Text] = Field(default_factory=list)
    period: str = ""
    decimal: Literal[".", ","] | None = None
    partial: bool = False
    amounts: bool = False
    hierarchies: dict[Text, str] = Field(default_factory=dict)
    facts: list[str] = Field(default_factory=list)
    tables: dict[Text, PrintedTableForm] = Field(default_factory=dict)
    without: list[str] = Field(default_factory=list)
    max_rows: int = Field(default=LIMITS.rows, ge=1)
    max_bytes: int = Field(default=LIMITS.size, ge=1)


@dataclass(frozen=True)
class Interpretation:
    """The reading, the tables of counts in it, what every symbol means, what stays open, and the system that they form."""

    form: PrintedForm
    reading: Reading
    tables: tuple[PrintedTable, ...]
    symbols: Mapping[str, Symbol]
    linked: linking.LinkedTables
    percent_of: Mapping[str, str] = field(default_factory=dict)
    open: tuple[str, ...] = ()

    @property
    def left_out(self) -> tuple[str, ...]:
        """What stands in the files and is no part of the system: of it, nothing is said."""
        sums = [contradictory(self.form.without)] if self.form.without else []
        return tuple(dict.fromkeys([*self.open, *(one for table in self.tables for one in table.left_out), *sums]))


def is_printed(path: Path) -> bool:
    """Whether a file names printed tables, or is a reading of some."""
    return path.suffix.lower() in (".yaml", ".yml") and bool({"printed", "reading"} & set(read_yaml(path)))


def read_printed(path: Path, changes: Mapping[str, Any]) -> PrintedForm:
    """A release file of printed tables; of a reading file, what it says beside the reading."""
    text = read_yaml(path)
    if "reading" in text:
        held = [table for file in text.get("files") or () for table in file.get("tables") or () if "percent_of" in table]
        tables = {str(table["name"]): {"percent_of": table["percent_of"]} for table in held}
        text = {"printed": [path.name], **(text.get("disclose") or {}), "tables": tables}
    return validate(PrintedForm, text | dict(changes), str(path))


def interpret(form: PrintedForm, folder: Path, ask: Callable[[str], str] | None = None) -> Interpretation:
    """Read the files, as they are and as told, and link their tables of counts."""
    limits = replace(LIMITS, rows=form.max_rows, size=form.max_bytes)
    files, older = [folder / name for name in form.printed], [folder / name for name in form.previous]
    reading = read_files(files, corrections(form, folder), limits, older)
    asked, of = list(_open(reading, form)), {own.name: own for own in reading.tables}
    earlier = {source.name for source in reading.sources if source.earlier}
    tables = [replace(_counts(reading, own, form), earlier=own.file in earlier) for own in reading.tables if own.counts]
    tables = [_with_population(table, of[table.name].population, tables) for table in tables]
    if all(table.earlier for table in tables):
        beside = "".join(f"; {one}" for source in reading.sources for one in source.left_out)
        named = ", ".join(Path(name).name for name in form.printed)
        asked.append(Question(f"{named}: no table with counts was found{beside}", "--counts COLUMN, or another file"))
    known = [table.name for table in tables]
    for name in (name for name in (*form.tables, *form.inside, *form.inside.values()) if name not in known):
        raise ConfigError(f"no table is called {name!r}: {nearest(name, known)}")
    for word in form.totals_from:
        tables = _with_total_from(tables, word)
    asked += _of_other_people(tables) if not form.same_people else []
    symbols = _symbols(reading, tables, form, ask)
    left = [f"{one.text} ({one.option})" for one in asked]
    if asked and not form.partial:
        more = f"; and {len(left) - MOST_SAID} more" if len(left) > MOST_SAID else ""
        remedy = "Answer with these options; with --allow-partial what is open is left out, and nothing is called safe"
        raise DataError(f"{'; '.join(left[:MOST_SAID])}{more}. {remedy}")
    tables = [_kept_to(table, form.inside) for table in (_apart(tables) if form.partial else tables)]
    rule, meanings = linking.read_rule(form.rule), {text: linking.symbol_value(own) for text, own in symbols.items()}
    values, meant = dict[tuple[int, Labels], Value](), list[PercentageReading]()
    for at, table in enumerate(tables):
        said: Values = {labels: linking.value_of(entry, meanings, rule) for labels, entry in table.entries.items()}
        if LEVELS in form.rule or (form.partial and not form.rule):
            table, said = _with_levels(table, said, of[table.name].rounded)
        values |= {(at, labels): value for labels, value in said.items()}
        meant.append(meaning(table, said, form.rule, form.tables.get(table.name, PrintedTableForm()).percent_of))
    tables = [_separate(one.table, tables, one, bool(form.facts)) for one in meant]
    for table in tables:
        _refuse_many(table, limits)
    facts, percentages = partial(linking.read_facts, form.facts), lambda at, placed: share_facts(placed, meant[at])
    linked = linking.without_sums(link(tables, values, facts, percentages, form.tolerance), form.without)
    given = {one.table.name: one.shares[0][1] for one in meant if one.shares}
    left += [f"{source.name}: {one}" for source in reading.sources for one in source.left_out]
    for own in (own for own in reading.tables if not own.counts):
        if figures := [c.head or c.name for c in own.columns if c.role in (PERCENTAGE, RATE, STATISTIC, MONEY)]:
            left.append(f"{own.name}: {', '.join(map(repr, figures[:4]))}: no counts")
    return Interpretation(form, reading, tuple(tables), symbols, linked, given, tuple(left))


def _with_levels(table: PrintedTable, values: Values, bases: Mapping[str, Mapping[str, int]]) -> tuple[PrintedTable, Values]:
    """A table of which some levels were rounded: what their counts say; percentages of them may be of rounded counts."""
    said, coarse = dict(values), set[Labels]()
    for labels, entry in table.entries.items():
        named = zip(table.columns, labels, strict=True)
        base = max((bases.get(column, {}).get(label, 1) for column, label in named), default=1)
        if base > 1 and entry.number is not None:  # to a multiple of the base: halves may have gone either way
            said[labels] = Value(max(0, said[labels].lo - base // 2), (said[labels].hi or 0) + base // 2, False)
            coarse.add(labels)
    fine = tuple(own for own in table.shares if own.whole is not None and not {own.labels, own.whole} & coarse)
    if coarse and (lost := len(table.shares) - len(fine)):
        table = _left_out(table, f"{lost} percentages left out: they may be of counts that were rounded")
        table = replace(table, shares=fine)
    return table, said


def contradictory(sums: Sequence[str]) -> str:
    listed = "; ".join([*sums[:3], *([f"and {len(sums) - 3} more"] if len(sums) > 3 else [])])
    remedy = "correct the file, or --tolerance 1, --rule, --no-total LABEL, --inside SMALL=LARGE"
    return f"{len(sums)} sums that contradict each other (proof checked): {listed} ({remedy})"


def corrections(form: PrintedForm, folder: Path) -> Corrections:
    """What a form says of how its files are to be read."""
    sums = {(name, column): {parent: [own] if own and isinstance(own[0], str) else own for parent, own in listed.items()}
            for name, table in form.tables.items() for column, listed in table.sums.items()}  # fmt: skip
    names = {name: own.columns for name, own in form.tables.items() if own.columns}
    known = {text: told_symbol(text, word) for text, word in form.symbols.items()}
    said = {key: getattr(form, key) for key in (*(key for _, _, key, _ in READ_OPTIONS), "period", "decimal")}
    return corrections_of(said, folder, sums=sums, names=names, amounts=form.amounts, known=known)


def _open(reading: Reading, form: PrintedForm) -> Iterator[Question]:
    """What the reading leaves open: questions (of symbols and rounding see elsewhere), and cells that have no place."""
    yield from (one for one in reading.questions if not one.option.startswith(("--symbol", "--rule")))
    for left in reading.left_out:
        if left.remedy != "--sheet" and not left.why.startswith("skipped, as given"):
            yield Question(f"{left.place}: {left.cells} cells: {left.why}", left.remedy or "correct the file, or --skip ROW")
    for table in (table for table in reading.tables if table.counts):
        for text in dict.fromkeys(label for axis in table.axes for label in _like_symbols(axis) if label not in form.labels):
            what = f"{table.name}: {text!r} is among labels or headers, but looks like a symbol for a count"
            yield Question(what, f"--label '{text}' if it is a label")
        for name, text in table.population.items():
            if is_symbol(text) and text not in form.labels:
                what = f"{table.name}: {text!r} is in every row of {name!r}, and may be a symbol for a count"
                yield Question(what, f"--symbol '{text}=suppressed', or --label '{text}' if it is a label")
        where = f"{table.file}: table {table.name}"
        numbers = {n for own in table.counts for n in own.values if isinstance(n, int) and n}
        if not form.rule and (base := surely_rounded(numbers)) > 1:
            text = f"{where}: all its counts are multiples of {base}: were they rounded?"
            yield Question(text, f"--rule round={base}, --rule random={base}, or --rule {EXACT} if they were not")
        for axis, bases in table.rounded.items() if not form.rule else ():
            displayed = f"{len(bases)} labels of {axis} ({', '.join(list(bases)[:3])}{', ...' if len(bases) > 3 else ''})"
            text = f"{where}: the counts of {displayed} are multiples of {max(bases.values())}, others are not"
            yield Question(f"{text}: were they rounded?", f"--rule {LEVELS}, or --rule {EXACT} if they were not")
        for own in (own for own in table.axes if own.off > form.tolerance):
            text = f"{table.name}: the sums of {own.name} agree only up to rounding to whole numbers ({own.why})"
            yield Question(text, f"--tolerance {own.off}")


def _separate(table: PrintedTable, tables: Sequence[PrintedTable], meant: PercentageReading, facts: bool) -> PrintedTable:
    """The table with the columns whose labels are not added up: nothing is printed of their sum, and nothing said."""
    everywhere = {column for column in table.columns if all(column in one.columns for one in tables)}
    alone = set() if facts else {c for c in everywhere if len(tables) == 1 or not anonymous(c)}
    whole = {column for share, kind in meant.shares if kind != OF_COUNTS for column in across(table, share.labels, kind)}
    open_ = {column for column in table.columns if column not in table.sums or table.sums[column].top is None}
    return replace(table, separate=frozenset(((table.separate | alone) & open_) - whole))


def _refuse_many(table: PrintedTable, limits: FileLimits) -> None:
    """An error for too many cells: all that printed ones are parts of, or, if these are fewer, all combinations."""
    above = list[int]()
    for column in table.columns:
        sums, depth = table.sums.get(column, Hierarchy()), 1
        level = {child for _, own in sums for child in own}
        while level:
            depth, level = depth + 1, {child for parent, own in sums if parent in level for child in own}
        above.append(depth + (sums.top is None and column not in table.separate))
    if prod(len(table.labels(column)) + 1 for column in table.columns) > limits.cells:
        limits.check_combinations(table.source, (len(table.entries), *above), f"table {table.name}")


def _like_symbols(axis: Axis) -> Iterator[str]:
    numbers = sum(label.isdecimal() for label in axis.labels)
    for label in axis.labels:
        if SURE_SYMBOL.fullmatch(label) or (2 * numbers > len(axis.labels) > numbers and is_symbol(label)):
            yield label


def _counts(reading: Reading, table: Table, form: PrintedForm) -> PrintedTable:
    """A table of a reading as counts with their labels, percentages beside them, and what is left out of it."""
    several = len({own.sheet for own in reading.tables if own.file == table.file}) > 1
    where = f"{table.file}, {table.sheet}!" if several else f"{table.file}, "
    left, held = list(_beside_counts(table)), {**table.entries}
    if table.blanks and form.partial and BLANK not in form.marks:
        left.append(f"{table.name}: {len(table.blanks)} blank cells among the counts")
    else:
        held |= table.blanks  # where nothing says what a blank means, it is asked about with the symbols
    entries, sums = {labels: _in_file(where, entry) for labels, entry in held.items()}, dict[str, Hierarchy]()
    for axis in table.axes:
        tree = axis.tree if axis.off <= form.tolerance or not form.partial else ()
        levels = make_hierarchy(tree, axis.labels, f"{table.file}: {axis.name}")
        sums[axis.name] = replace(levels, top="") if any(parent == "" for parent, _ in tree) else levels
    beside = list(_shares(table, where, wide=len(table.counts) > 1))
    rates = {column.at for column in table.columns if column.role == RATE}
    for figures in table.figures:
        if figures.at not in rates and _part_of(table, figures)[0] is None:
            left.append(f"{table.name}: percentages ({figures.label}): it is not clear of which counts to their left")
    shares = tuple(own for own in beside if own.labels in entries and (own.whole is None or own.whole in entries))
    if lost := len(beside) - len(shares):
        left.append(f"{table.name}: {lost} percentages next to cells that are not counts")
    # times, measures without a name that makes them parts, and breakdowns of which some do not add up
    apart = frozenset(axis.name for axis in table.axes if axis.kind in (TIME, STACKED)
                      or (axis.kind == MEASURES and (axis.columns or anonymous(axis.name))))  # fmt: skip
    parts, names = {name: own for name, own in sums.items() if own.parts}, tuple(axis.name for axis in table.axes)
    result = PrintedTable(table.name, table.file, names, entries, parts, {}, table.title, shares, max(len(table.rows), 1),
                         tuple(left), separate=apart)  # fmt: skip
    return _with_sizes(result, table)


def _with_population(table: PrintedTable, about: Mapping[str, str], tables: Sequence[PrintedTable]) -> PrintedTable:
    """A table with one label in every row of a column that other tables count by: it counts these people, not everyone."""
    for column, label in about.items():
        others = [own for own in tables if column in own.columns and own is not table]
        tops = {own.sums[column].top for own in others if column in own.sums}
        if others and column not in table.columns and label not in tops:
            shares = tuple(replace(share, labels=(*share.labels, label), whole=share.whole and (*share.whole, label))
                           for share in table.shares)  # fmt: skip
            entries = {(*labels, label): entry for labels, entry in table.entries.items()}
            table = replace(table, columns=(*table.columns, column), entries=entries, shares=shares,
                            separate=table.separate | {column})  # fmt: skip
    return table


def _in_file(where: str, entry: Entry) -> Entry:
    return entry._replace(place=where + entry.place.rpartition("!")[2])


def _beside_counts(table: Table) -> Iterator[str]:
    """What stands beside the counts of a table and is no count nor percentage; what is not used of its axes."""
    for column in table.columns:
        filled = [text for own in table.figures if own.at == column.at for text in own.texts if text] or table.block.body
        if column.role in (RATE, STATISTIC, MONEY):
            yield f"{table.name}: column {column.head or column.name!r}: no counts ({len(filled)} cells)"
        for flag, often in Counter(table.flags.get(column.at, ()) if column.role == FLAG else ()).items():
            if flag.upper() not in PUBLISHED:
                yield f"{table.name}: the flag {flag!r} next to {often} printed counts: what does it mean?"
    for head, often in Counter(column.head for column in table.columns if column.role == COUNT and column.head).items():
        if often > 1:  # a total may stand among them
            yield f"{table.name}: {often} columns of counts are headed {head!r}: how they add up is not known"
    others = Counter(role for own in table.measured.values() for role in own if role != COUNT)
    yield from (f"{table.name}: {often} cells that a measure names a {role}" for role, often in others.items())
    for axis in (axis for axis in table.axes if axis.kind == TIME and len(axis.labels) > 1):
        yield f"{table.name}: by {axis.name}: what one period says about another (running totals, the same people)"
    for (outer, above), (inner, below) in permutations(zip(table.axes, table.rows, strict=False), 2):
        totals = dict(inner.tree)
        pairs = {own for own in zip(above, below, strict=True) if own[1] not in totals}
        inside = len({label for _, label in pairs})
        if FEW_SHARED * len(pairs) <= inside > len({label for label, _ in pairs}) > 1:
            yield f"{table.name}: nearly every {inner.name} is in one {outer.name}: not used, since some may be elsewhere"


def _shares(table: Table, where: str, wide: bool) -> Iterator[Share]:
    """Percentages beside counts: in columns, each of the counts at its left, or in brackets behind a count."""
    named = {own.at: own.label for own in table.counts}
    roles = {column.at: column.role for column in table.columns}
    for own in (own for own in table.figures if roles[own.at] == PERCENTAGE):
        part, whole = _part_of(table, own)
        if part is None:
            continue
        for row, (text, value) in enumerate(zip(own.texts, own.values, strict=True)):
            if value is None or row in table.excluded or not table.block.body:
                continue
            key = table.keys[row]
            labels, of = (*key, named[part]) if wide else key, (*key, named[whole]) if whole is not None else None
            head = own.label.removeprefix(named[part]).strip() or own.label
            entry = entry_at(table.address(row, own.at), text if percent_of(text) else f"{value} %")
            said = next((kind for kind, words in SAID.items() if re.search(words, own.label.lower())), "")
            yield Share(labels, _in_file(where, entry), head, said, of)
    for labels, row, own in table.cells() if not table.cube else ():
        pair = PAIRED_MIX.fullmatch(own.texts[row]) if own.kinds[row] == MIXED else None
        if pair and pair[3] and pair[4]:
            entry = entry_at(table.address(row, own.at), f"{pair[3].replace(',', '.')} %")
            yield Share(labels, _in_file(where, entry), "in brackets")


def _part_of(table: Table, own: Figures) -> tuple[int | None, int | None]:
    """The counts that percentages are of, and their whole: by numbers, by the header, else by the place; None where open."""
    bases = table.bases.get(own.at, ())
    if len(bases) == 1:
        return bases[0]
    named = {count.at: count for count in table.counts}
    held = [at for at, count in named.items() if re.search(rf"\b{re.escape(count.label)}\b", own.label, re.IGNORECASE)]
    longest = max((len(named[at].label) for at in held), default=0)
    if len(held := [at for at in held if len(named[at].label) == longest]) == 1:
        return held[0], None
    kinds = dict.fromkeys(named, COUNT) | {figure.at: PERCENTAGE for figure in table.figures}
    runs = [[at for at, _ in run] for _, run in groupby(sorted(kinds.items()), key=itemgetter(1))]
    at = next(number for number, run in enumerate(runs) if own.at in run)
    counts, shares = runs[at - 1], runs[at]
    if at == 0 or len(counts) == len(shares):
        return min(named) if at == 0 else counts[shares.index(own.at)], None
    near = named[counts[-1]]
    seen = any(a is not None and b is not None for a, b in zip(own.values, near.values, strict=True))
    return near.at if len(counts) == 1 or seen else None, None


def _with_sizes(found: PrintedTable, table: Table) -> PrintedTable:
    """The numbers of people that headers and titles name (`Drug A, N = 98`), as a total where none is printed."""
    labels, wide = {own.at: own.label for own in table.counts}, len(table.counts) > 1
    heads: list[tuple[Labels, str]] = [((labels[c.at],) if wide else (), c.head) for c in table.columns if c.at in labels]
    heads += [((), table.title)] if not wide else []
    sizes = [(own, named[1]) for own, head in heads if (named := SIZE.search(head))][: None if wide else 1]
    if not sizes or len(table.rows) != 1:
        return found
    axis = found.columns[0]
    sums = found.sums.get(axis, Hierarchy())
    if sums.top:
        return replace(found, left_out=(*found.left_out, f"{found.name}: N = {sizes[0][1]} in a header, as well as a total"))
    place = f"{table.file}, N in a header or title"
    entries = {("Total", *own): Entry(size, place, int(re.sub(r"\D", "", size))) for own, size in sizes}
    inner = {label: own for label, own in sums.parts.items() if label}
    whole = Hierarchy("Total", {"Total": sums.parts.get("", (sums.outer(found.labels(axis)),)), **inner})
    notes = [f"N = {size} from the header or the title" for _, size in sizes]
    return replace(found, entries={**found.entries, **entries}, sums={**found.sums, axis: whole}).noted(*notes)


def _symbols(
    reading: Reading, tables: Sequence[PrintedTable], form: PrintedForm, ask: Callable[[str], str] | None
) -> dict[str, Symbol]:
    """What each symbol among the counts means; where it is only suggested it is asked for, or is an error: never assumed."""
    places = [(entry.symbol, entry.place) for table in tables for entry in table.entries.values() if entry.number is None]
    met, result, unknown = Counter(text for text, _ in places), dict[str, Symbol](), list[str]()
    for text in met:
        own = reading.symbols.get(text) if text else told_symbol("", form.marks[BLANK]) if BLANK in form.marks else None
        if own is not None and not own.how.startswith(("suggested", "not in")):
            result[text] = own
        elif ask is not None:
            what = f"What does {text or BLANK} mean ({met[text]} times)?"
            word = ask(f"{what} suppressed, missing, 0, a range such as 1-4, <5: ")
            result[text] = replace(told_symbol(text, word), how="answered")
        else:
            unknown.append(text)
    for text in unknown[:1]:
        listed = ", ".join(f"{text or BLANK} ({met[text]} times)" for text in unknown)
        words = [f"--symbol '{text or BLANK}={reading.symbols[text].meaning if text else 'suppressed'}'" for text in unknown]
        asked = f"what do these symbols mean: {listed}? Say so, for instance {' '.join(words)}"
        known = "suppressed (any count), missing (not stated), 0, a range such as 1-4, or a limit such as <5 or >=3"
        raise DataError(f"{dict(reversed(places))[text]}: {asked}. A symbol means {known}")
    return result


def _dates(table: PrintedTable) -> frozenset[str]:
    """The years, quarters and months that the name of a file, a table or a title speaks of."""
    texts = (Path(table.source).stem, table.name, table.title, *(c for c in table.columns if WHEN.fullmatch(c)))
    return frozenset(own.title() for own in WHEN.findall(" ".join(texts).replace("_", " ")))


def _of_other_people(tables: Sequence[PrintedTable]) -> list[Question]:
    """A question where tables are of several periods: the people of one year are not those of another."""
    dated, option = [table for table in tables if _dates(table)], "--same-people if they count the same people"
    timed, rest = ([table for table in tables if bool(_times(table)) is by_time] for by_time in (True, False))
    for other in (table for table in dated if _dates(table) != _dates(dated[0])):
        one, first, second = dated[0], *(", ".join(sorted(_dates(own))) for own in (dated[0], other))
        text = f"{one.source}: table {one.name} is of {first}, and {other.source}: table {other.name} of {second}"
        return [Question(f"{text}: these may be different people", option)]
    if timed and rest:
        text = f"{timed[0].source}: table {timed[0].name} counts by {_times(timed[0])[0]!r}, and {rest[0].source}: table "
        return [Question(f"{text}{rest[0].name} does not: which period is it of?", option)]
    return []


def _times(table: PrintedTable) -> list[str]:
    return [column for column in table.columns if len(own := table.labels(column)) > 1 and all(map(is_period, own))]


def _apart(tables: Sequence[PrintedTable]) -> list[PrintedTable]:
    """Tables that may be about other people (of another period, or with other counts of the same cells) stand apart."""
    names, groups = list[str](), defaultdict[str, list[PrintedTable]](list)
    for table in tables:
        name = ", ".join(sorted(_dates(table))) + (" by time" if _times(table) else "")
        while any(_differ(table, other) for other in groups.get(name, ())) and not table.earlier:
            name = f"{name} +".strip()
        groups[name].append(table)
        names.append(name or "undated")
    pairs = zip(tables, names, strict=True)
    return [replace(table, apart=name) for table, name in pairs] if len(groups) > 1 else list(tables)


def _differ(one: PrintedTable, other: PrintedTable) -> bool:
    if set(one.columns) != set(other.columns):
        return False
    order = [other.columns.index(column) for column in one.columns]
    pairs = ((one.entries.get(tuple(own[at] for at in order)), entry) for own, entry in other.entries.items())
    return any(same and None not in (same.number, entry.number) and same.number != entry.number for same, entry in pairs)


def _with_total_from(tables: Sequence[PrintedTable], word: str) -> list[PrintedTable]:
    """The tables, where a label of one file is the total of another's labels (`--total-from other.csv:Scotland`)."""
    file, colon, label = word.partition(":")
    given = [table for table in tables if Path(table.source).name == Path(file).name]
    if not colon or not given:
        near = nearest(file, sorted({Path(table.source).name for table in tables}))
        raise ConfigError(f"--total-from {word}: write FILE:LABEL, with one of the files that are read: {near}")
    held = [(table, c) for table in given for c in table.columns if label in table.labels(c)]
    if not held:
        known = [own for table in given for c in table.columns for own in table.labels(c)]
        raise ConfigError(f"--total-from {word}: {file} has no such label: {nearest(label, known[:200])}")
    source, across = held[0]
    rest, result = [c for c in source.columns if c != across], list[PrintedTable]()
    totals = [(dict(zip(source.columns, labels, strict=True)), entry) for labels, entry in source.entries.items()]
    for table in tables:
        free = [c for c in table.columns if c not in rest]
        whole = table.sums.get(free[0], Hierarchy()) if free else Hierarchy()
        if table in given or set(rest) - set(table.columns) or len(free) != 1 or whole.top:
            result.append(replace(table, apart=f"those of {file}") if table in given else table)
            continue
        held_rest = {tuple(labels[table.columns.index(c)] for c in rest) for labels in table.entries}
        added = {tuple(labels.get(c, label) for c in table.columns): entry for labels, entry in totals
                 if labels[across] == label and tuple(labels[c] for c in rest) in held_rest}  # fmt: skip
        labels = table.labels(free[0])
        sums = make_hierarchy([(label, whole.outer(labels)), *whole], (*labels, label), f"{table.source}: {free[0]}")
        result.append(replace(table, entries={**table.entries, **added}, sums={**table.sums, free[0]: sums}))
    if all(one.sums is other.sums for one, other in zip(result, tables, strict=True)):
        both = f"{' and '.join(rest)} and one more column without a total"
        raise ConfigError(f"--total-from {word}: no other table has {both}")
    return result


def _kept_to(table: PrintedTable, inside: Mapping[str, str]) -> PrintedTable:
    """A table about some of the people of another: one more column says who is among them."""
    where, name = dict[str, str](), table.name
    while name in inside:
        where[f"in {name}"], name = "yes", inside[name]
        if f"in {name}" in where:
            raise ConfigError(f"inside: {table.name} would be part of itself")
    return replace(table, where={**table.where, **where}) if where else table


def written(understood: Interpretation) -> str:
    """The reading as a file, to be corrected and read again, with what was said of it beside the cells."""
    form = understood.form
    beside = form.model_dump(exclude_defaults=True, include={"title", "rule", "inside", "no_totals", "labels", "same_people",
                             "facts", "partial", "tolerance", "totals_from", "without", "previous", "symbols",
                             "exempt"})  # fmt: skip
    beside |= {"marks": {BLANK: form.marks[BLANK]}} if BLANK in form.marks else {}
    own = tuple(source for source in understood.reading.sources if not source.earlier)
    symbols = {**understood.reading.symbols, **understood.symbols}
    return write_reading(replace(understood.reading, sources=own, symbols=symbols), beside, understood.percent_of)


def summary(understood: Interpretation) -> list[str]:
    """What was understood, as lines for the user to confirm."""
    tables = understood.tables
    lines = [*describe(understood.reading), *(f"{table.name}: {note}" for table in tables for note in table.notes)]
    lines.append(f"numbers: {' '.join(understood.form.rule) or EXACT}")
    lines += [f"earlier release: {table.name} ({table.source})" for table in tables if table.earlier]
    for name in dict.fromkeys(table.apart for table in tables if table.apart):
        lines.append(f"people {name}: {', '.join(table.name for table in tables if table.apart == name)}")
    return [*lines, *(f"assumed: {one}" for one in understood.linked.assumed)]
