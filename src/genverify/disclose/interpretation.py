"""Printed tables to be audited: what their symbols and percentages mean, and corrections of how they were read."""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import permutations
from math import ceil, floor, prod
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BeforeValidator, Field

from genverify.disclose.link import (
    EXACT,
    Fact,
    Key,
    LinkedTables,
    TableCells,
    Value,
    between,
    complete_marks,
    link,
    meaning_of,
    name_of,
    read_facts,
    read_rule,
    refuse_rounded,
    rounded,
    shown,
    value_of,
)
from genverify.disclose.read.choose import read_tables
from genverify.disclose.read.grid import FEW_SHARED
from genverify.disclose.read.printed_table import (
    EVERYONE,
    LABEL,
    OF_COLUMN,
    OF_ROW,
    PERIOD,
    Entry,
    Hierarchy,
    Labels,
    PrintedTable,
    Share,
    Told,
    is_time,
    is_total,
    is_value,
    make_hierarchy,
    periods,
    with_total,
    without_totals,
)
from genverify.disclose.read.tool_formats import hierarchy
from genverify.disclose.release_form import Text, as_list
from genverify.model.errors import ConfigError, DataError, nearest
from genverify.model.files import LIMITS, read_yaml
from genverify.model.linear import EXACT as EXACT_SUMS
from genverify.model.settings import Section, validate

# Percentages beside counts: of what they are, found by the printed numbers or told, and each as a fact with its rounding.
#
# A percentage may be of its row, of its column or of everyone. Where the header does not say it, the one that agrees with
# the counts that are printed is taken, and where nothing can be compared the one by which they make up 100. Where none or
# several do, the percentages are left out: that is said, and nothing is called safe.

KINDS = (OF_COLUMN, OF_ROW, EVERYONE)
NONE = "none"
SURE = 0.8  # from this part of the percentages on, the others are contradictions and no other meaning
WORDS = {OF_COLUMN: "their column", OF_ROW: "their row", EVERYONE: "everyone"}
Values = Mapping[Labels, Value]


@dataclass(frozen=True)
class PercentageReading:
    """Percentages of one table whose meaning is known: what each is of, and the table with a note that says so."""

    table: PrintedTable
    shares: tuple[tuple[Share, str], ...]
    decimals: int = 0  # how many of a percentage are used


def percent_of(text: str) -> str | None:
    """
    The number of a percentage as it is printed, or None.

    >>> percent_of("12,5 %"), percent_of("7"), percent_of("*")
    ('12.5', '7', None)
    """
    plain = text.strip().removesuffix("%").strip().replace(",", ".")
    return plain if re.fullmatch(r"\d+(\.\d+)?", plain) else None


def meaning(table: PrintedTable, values: Values, rule: Sequence[str], told: str | None) -> PercentageReading:
    """What the percentages of a table are of; those that cannot be facts are left out, with the reason as a note."""
    shares = [share for share in table.shares if percent_of(share.entry.text) is not None]
    odd = [s.entry for s in table.shares if percent_of(s.entry.text) is None and s.entry.text and not is_value(s.entry.text)]
    table = (
        _left_out(table, f"{len(odd)} texts among the percentages, the first {odd[0].text!r} at {odd[0].place}")
        if odd
        else table
    )
    if not shares:
        return PercentageReading(table, ())
    if told == NONE:
        return PercentageReading(_left_out(table, f"{len(shares)} percentages left out, as told"), ())
    if told is None and any(word != EXACT and not word.startswith("suppress") for word in rule):
        why = "they may be of rounded counts; percent_of in the release file says that they are of the true ones"
        return PercentageReading(_left_out(table, f"{len(shares)} percentages left out: {why}"), ())
    found, notes = list[tuple[Share, str]](), list[str]()
    for head in dict.fromkeys((share.head, share.of) for share in shares):
        own = [share for share in shares if (share.head, share.of) == head]
        kind, how = (told, "as told") if told else (head[1], "by the header") if head[1] else _inferred(table, own, values)
        if not kind:
            why = f"{len(own)} percentages left out ({head[0]}): {how}; say it with percent_of in the release file"
            table = _left_out(table, why)
            continue
        _refuse_wrong(table, own, values, kind)
        found += [(share, kind) for share in own]
        notes.append(f"{len(own)} percentages ({head[0]}) are of {WORDS[kind]} ({how}): facts, rounded as printed")
    most = usable_decimals(values)
    if fine := [share for share, _ in found if _decimals(share) > most]:
        why = f"the decimals after the first {most} of {len(fine)} percentages, too many to be computed with exactly"
        table = _left_out(table, f"{why} (the first is {fine[0].entry.text} at {fine[0].entry.place})")
    return PercentageReading(table.noted(*notes), tuple(found), most)


def usable_decimals(values: Values) -> int:
    """The decimals of percentages beside these counts with which a row of whole multiples stays within 64 bits."""
    largest = max((max(value.lo, value.hi or 0) for value in values.values()), default=0)
    room = EXACT_SUMS // (4 * 100 * max(largest, 1))  # a row has 100 times the part and at most 100 times the whole, halved
    return len(str(room)) - 1 if room else 0


def _decimals(share: Share) -> int:
    return len(str(percent_of(share.entry.text)).partition(".")[2])


def _left_out(table: PrintedTable, what: str) -> PrintedTable:
    return replace(table.noted(what), left_out=(*table.left_out, f"{table.name}: {what}"))


def _inferred(table: PrintedTable, shares: Sequence[Share], values: Values) -> tuple[str, str]:
    tested = {kind: [fits for share in shares if (fits := _fits(table, share, values, kind)) is not None] for kind in KINDS}
    best = [kind for kind in KINDS if tested[kind] and sum(tested[kind]) >= SURE * len(tested[kind])]
    best = [kind for kind in best if all(tested[kind])] or best
    if not any(tested.values()):  # not one count can be compared: the percentages themselves must tell
        best = [kind for kind in KINDS if _make_100(table, shares, kind)]
    if len(best) == 1 or (best and len(table.columns) == 1):
        return best[0], "it agrees with the counts"
    if best:
        return "", f"they could be of {' or of '.join(WORDS[kind] for kind in best)}"
    if not any(tested.values()):
        return "", "no printed count can be compared with them, and they do not make up 100 in one way"
    return "", "they agree with no counts of their row, their column or everyone"


def _make_100(table: PrintedTable, shares: Sequence[Share], kind: str) -> bool:
    """Whether percentages make up 100 over all parts of their whole, and are 100 of the whole itself, wherever it shows."""
    parts: dict[Labels, list[Share]] = {}
    fits = list[bool]()
    for share in shares:
        across = dict(_across(table, share.labels, kind))
        if _is_whole(table, share.labels, kind):
            low, high = rounded(str(percent_of(share.entry.text)))
            fits.append(low <= 100 <= high)
        elif all(label in _finest(table, column) for column, label in across.items()):
            rest = tuple("" if c in across else own for c, own in zip(table.columns, share.labels, strict=True))
            parts.setdefault(rest, []).append(share)
    for rest, own in parts.items():
        wanted = prod(len(_finest(table, c)) for c, label in zip(table.columns, rest, strict=True) if not label)
        if wanted == len(own):
            ends = [rounded(str(percent_of(share.entry.text))) for share in own]
            fits.append(sum(low for low, _ in ends) <= 100 <= sum(high for _, high in ends))
    return bool(fits) and all(fits)


def _finest(table: PrintedTable, column: str) -> tuple[str, ...]:
    return tuple(label for label in table.labels(column) if label not in table.totals(column))


def _refuse_wrong(table: PrintedTable, shares: Sequence[Share], values: Values, kind: str) -> None:
    for share in shares:
        if _fits(table, share, values, kind) is False:
            count, whole = values[share.labels], _whole_value(table, share.labels, values, kind)
            raise DataError(
                f"{share.entry.place}: {share.entry.text} as a percentage of {WORDS[kind]} contradicts the counts beside it "
                f"({count.lo} of {whole[0] if whole else '?'}); correct one, or say what percentages are of: percent_of: "
                "row, column, everyone or none, for the table in the release file (--write)"
            )


def _fits(table: PrintedTable, share: Share, values: Values, kind: str) -> bool | None:
    """Whether a percentage agrees with its count and its whole; None where they do not tell."""
    count, whole = values[share.labels], _whole_value(table, share.labels, values, kind)
    if count.hi is None or whole is None or whole[0] <= 0 or _is_whole(table, share.labels, kind):
        return None
    low, high = rounded(str(percent_of(share.entry.text)))
    return bool(Fraction(100 * count.hi, whole[0]) >= low and Fraction(100 * count.lo, whole[1]) <= high)


def _is_whole(table: PrintedTable, labels: Labels, kind: str) -> bool:
    return all(label in table.totals(column) for column, label in _across(table, labels, kind))


def _across(table: PrintedTable, labels: Labels, kind: str) -> list[tuple[str, str]]:
    """The columns of a table over which the whole of a percentage is added up."""
    named = list(zip(table.columns, labels, strict=True))
    return {OF_COLUMN: named[: table.rows], OF_ROW: named[table.rows :], EVERYONE: named}[kind]


def _whole_value(table: PrintedTable, labels: Labels, values: Values, kind: str) -> tuple[int, int] | None:
    """The ends of the whole: its printed total, or the sum of its parts."""
    found: list[Labels] = [labels]
    for column, _ in _across(table, labels, kind):
        at = table.columns.index(column)
        parts = _parts(table, column)
        found = [(*own[:at], part, *own[at + 1 :]) for own in found for part in parts]
    known = [values.get(own) for own in found]
    if any(value is None or value.hi is None for value in known) or not known:
        return None
    return sum(value.lo for value in known if value), sum(value.hi or 0 for value in known if value)


def _parts(table: PrintedTable, column: str) -> tuple[str, ...]:
    """The total of a column, or without one the labels that nothing adds up."""
    sums = table.sums.get(column, ())
    children = {child for _, own in sums for child in own}
    tops = [parent for parent, _ in sums if parent not in children]
    return tuple(tops[:1]) or tuple(label for label in table.labels(column) if label not in children)


def share_facts(placed: TableCells, meant: PercentageReading) -> Iterator[Fact]:
    """Every percentage as two rows: at least and at most what it was rounded from."""
    table = placed.table
    linked = dict(zip(table.columns, placed.columns, strict=False))  # columns that keep it to some people come after
    for share, kind in meant.shares:
        part = placed.keys[share.labels]
        across = {linked[column] for column, _ in _across(table, share.labels, kind)}
        whole: Key = tuple(own for own in part if own[0] not in across)
        if part == whole:
            continue
        number = str(percent_of(share.entry.text))
        text = f"{share.entry.place}: {number} % of {name_of(whole)}"
        low, high = rounded(number)
        if _decimals(share) > meant.decimals:  # less is used than is printed, never more
            scale = 10**meant.decimals
            low, high = Fraction(floor(low * scale), scale), Fraction(ceil(high * scale), scale)
        yield from between(text, {name_of(part): Fraction(100)}, name_of(whole), max(low, Fraction(0)), high)


# Printed tables to be audited: the files, what their marks and numbers mean, and corrections of how they were read.

Sums = dict[Text, list[Text] | list[list[Text]]]


class PrintedTableForm(Section):
    """Corrections of how one table was read: names of its columns in order, what adds up to what, what percentages mean."""

    columns: list[Text] | None = None
    sums: dict[Text, Sums] = Field(default_factory=dict)
    percent_of: Literal["row", "column", "everyone", "none"] | None = None


class PrintedForm(Section):
    """A release of printed tables: `genverify disclose tables.xlsx --write release.yaml` writes one."""

    printed: Annotated[list[str], BeforeValidator(as_list), Field(min_length=1)]
    title: str = ""
    marks: dict[Text, Text] = Field(default_factory=dict)
    rule: list[str] = Field(default_factory=list)
    totals: dict[Text, Text] = Field(default_factory=dict)
    no_totals: list[Text] = Field(default_factory=list)
    labels: list[Text] = Field(default_factory=list)
    decimal: Literal[".", ","] | None = None
    same_people: bool = False
    hierarchies: dict[Text, str] = Field(default_factory=dict)
    inside: dict[Text, Text] = Field(default_factory=dict)
    facts: list[str] = Field(default_factory=list)
    tables: dict[Text, PrintedTableForm] = Field(default_factory=dict)
    max_rows: int = Field(default=LIMITS.rows, ge=1)
    max_bytes: int = Field(default=LIMITS.size, ge=1)


@dataclass(frozen=True)
class Interpretation:
    """The tables as they were understood, the meaning of every mark and how it is known, and the system that they form."""

    form: PrintedForm
    tables: tuple[PrintedTable, ...]
    marks: Mapping[str, Value]
    how: Mapping[str, str]
    linked: LinkedTables
    percent_of: Mapping[str, str] = field(default_factory=dict)

    @property
    def left_out(self) -> tuple[str, ...]:
        """What stands in the files and is no part of the system: of it, nothing is said."""
        return tuple(dict.fromkeys(one for table in self.tables for one in table.left_out))


def is_printed(path: Path) -> bool:
    """Whether a release file names printed tables."""
    return path.suffix.lower() in (".yaml", ".yml") and "printed" in read_yaml(path)


def read_printed(path: Path, changes: Mapping[str, Any]) -> PrintedForm:
    return validate(PrintedForm, read_yaml(path) | dict(changes), str(path))


def interpret(form: PrintedForm, folder: Path, ask: Callable[[str], str] | None = None) -> Interpretation:
    """Read the tables, correct the reading as told, and link them."""
    limits = replace(LIMITS, rows=form.max_rows, size=form.max_bytes)
    paths = [folder / name for name in form.printed]
    tables = _placed(read_tables(paths, Told(limits, form.decimal or "")), paths)
    if not form.same_people:
        _refuse_periods(tables)
    for name in (*form.tables, *form.inside, *form.inside.values()):
        if name not in {table.name for table in tables}:
            raise ConfigError(f"no table is called {name!r}: {nearest(name, [table.name for table in tables])}")
    tables = [_corrected(table, form, folder) for table in tables]
    known = list(dict.fromkeys(column for table in tables for column in table.columns))
    for option, column in [*(("total", own) for own in form.totals), *(("hierarchy", own) for own in form.hierarchies)]:
        if column not in known:
            raise ConfigError(f"--{option} {column}: no table has this column: {nearest(column, known)}")
    labels = list(dict.fromkeys(label for table in tables for column in table.columns for label in table.labels(column)))
    for label in form.no_totals:
        if label not in labels:
            raise ConfigError(f"--no-total {label}: no table has this label: {nearest(label, labels)}")
    tables = [_kept_to(table, form.inside) for table in tables]
    tables = [_with_nested(_with_periods(table)) for table in tables]
    _refuse_doubts(tables, form)
    given = {("" if mark == "blank" else mark): meaning_of(word, f"marks, {mark}") for mark, word in form.marks.items()}
    marks, how = complete_marks(tables, given, ask)
    refuse_rounded(tables, form.rule)
    rule = read_rule(form.rule)
    values, meant = dict[tuple[int, Labels], Value](), list[PercentageReading]()
    for at, table in enumerate(tables):
        own = {labels: value_of(entry, marks, rule) for labels, entry in table.entries.items()}
        values |= {(at, labels): value for labels, value in own.items()}
        meant.append(meaning(table, own, form.rule, form.tables.get(table.name, PrintedTableForm()).percent_of))
    tables = [one.table for one in meant]
    linked = link(
        tables, values, lambda columns: read_facts(form.facts, columns), lambda at, placed: share_facts(placed, meant[at])
    )
    return Interpretation(form, tuple(tables), marks, how, linked, {o.table.name: o.shares[0][1] for o in meant if o.shares})


def _placed(tables: Sequence[PrintedTable], paths: Sequence[Path]) -> list[PrintedTable]:
    """The tables with places below the folder that all files share: what is proved is the same wherever that lies."""
    folders = {path if path.is_dir() else path.parent for path in paths}
    root = os.path.commonpath([os.path.abspath(folder) for folder in folders])
    starts = {"" if folder == Path() else f"{folder}{os.sep}": os.path.relpath(folder, root) for folder in folders}

    def short(text: str) -> str:
        start = max((start for start in starts if text.startswith(start)), key=len)
        return text.removeprefix(start) if starts[start] == "." else f"{starts[start]}{os.sep}{text.removeprefix(start)}"

    def moved(entry: Entry) -> Entry:
        return Entry(entry.text, short(entry.place))

    if set(starts) == {""}:
        return list(tables)
    return [
        replace(
            table,
            source=short(table.source),
            entries={labels: moved(entry) for labels, entry in table.entries.items()},
            shares=tuple(replace(share, entry=moved(share.entry)) for share in table.shares),
        )
        for table in tables
    ]


def _refuse_doubts(tables: Sequence[PrintedTable], form: PrintedForm) -> None:
    """An error for the first reading that may be wrong and that nobody settled."""
    for table in tables:
        doubts = [*table.doubts, *(doubt for own in table.sums.values() for doubt in own.doubts)]
        for doubt in doubts:
            if doubt.kind != LABEL or doubt.text not in form.labels:
                raise DataError(doubt.message)


def _with_periods(table: PrintedTable) -> PrintedTable:
    """What one date tells of the next is left out, and that is said."""
    timed = [column for column in table.columns if is_time(column, table.labels(column)) and len(table.labels(column)) > 1]
    left = [
        f"{table.name}: by {column}: what one period tells of another (running totals, the same people)" for column in timed
    ]
    return replace(table, left_out=(*table.left_out, *left)) if left else table


def _with_nested(table: PrintedTable) -> PrintedTable:
    """Districts inside regions: that a district has nobody in another region is not used, and that is said."""
    left = []
    for (at, outer), (below, inner) in permutations(enumerate(table.columns), 2):
        pairs = {(labels[at], labels[below]) for labels in table.entries if labels[below] not in table.totals(inner)}
        inside = len({label for _, label in pairs})
        if FEW_SHARED * len(pairs) <= inside > len({label for label, _ in pairs}) > 1:
            left.append(f"{table.name}: nearly each {inner} stands in one {outer}: that it has none elsewhere is not used")
    return replace(table, left_out=(*table.left_out, *left)) if left else table


def _dated(table: PrintedTable) -> Iterator[str]:
    """What may say of which period a table is: its file, name, title, and the section that names its column of labels."""
    yield from (Path(table.source.partition(", sheet ")[0]).stem, table.name, table.title)
    yield from (column for column in table.columns if PERIOD.fullmatch(column))


def _refuse_periods(tables: Sequence[PrintedTable]) -> None:
    """An error where tables are of several periods: the people of one year are not those of another."""
    found = {at: periods(" ".join(_dated(table))) for at, table in enumerate(tables)}
    told = {at: own for at, own in found.items() if own}
    first = next(iter(told), None)
    other = next((at for at, own in told.items() if first is not None and own != told[first]), None)
    tell = "Give them one after the other; if they count the same people, say --same-people"
    if first is not None and other is not None:
        one, two = tables[first], tables[other]
        raise DataError(
            f"{one.source}: table {one.name} is of {', '.join(sorted(told[first]))}, and "
            f"{two.source}: table {two.name} of {', '.join(sorted(told[other]))}: these may be other people. {tell}"
        )
    timed = [[column for column in table.columns if is_time(column, table.labels(column))] for table in tables]
    if any(timed) and not all(timed):
        at = next(at for at, own in enumerate(timed) if own)
        raise DataError(
            f"{tables[at].source}: table {tables[at].name} counts by {timed[at][0]!r}, and "
            f"{tables[timed.index([])].source}: table {tables[timed.index([])].name} does not: of which period is it? {tell}"
        )


def _corrected(table: PrintedTable, form: PrintedForm, folder: Path) -> PrintedTable:
    told = form.tables.get(table.name, PrintedTableForm())
    if told.columns is not None:
        if len(told.columns) != len(table.columns):
            raise ConfigError(
                f"tables: {table.name}: {len(told.columns)} columns are named, but it has {len(table.columns)}"
            )
        names = dict(zip(table.columns, told.columns, strict=True))
        table = replace(table, columns=tuple(told.columns), sums={names[c]: own for c, own in table.sums.items()})
    sums = dict(table.sums)
    for column, total in form.totals.items():
        if column in table.columns:
            sums[column], _ = with_total(table, column, sums.get(column, Hierarchy()), total)
    for column, found in list(sums.items()):
        if told_none := [label for label in table.labels(column) if label in form.no_totals]:
            sums[column] = without_totals(table, column, found, told_none)
    for column, file in form.hierarchies.items():
        if column in table.columns:
            top = sums[column].top if column in sums else None
            sums[column] = hierarchy(folder / file, table.labels(column), top, told=column in form.totals)
    for column, own in told.sums.items():
        if column not in table.columns:
            raise ConfigError(f"tables: {table.name}: sums of {column!r}: {nearest(column, list(table.columns))}")
        sums[column] = _told(table, column, own)
    return replace(table, sums=sums)


def _told(table: PrintedTable, column: str, sums: Sums) -> Hierarchy:
    """
    What adds up to what by a release file: a label has a list of parts, or several lists where breakdowns are stacked; an
    empty list is that of a part which the table does not print.
    """
    labels, where = table.labels(column), f"tables: {table.name}: sums of {column}"
    listed = list[tuple[str, list[str]]]()
    for parent, sets in sums.items():
        flat = [label for label in sets if isinstance(label, str)]
        listed += [(parent, flat)] if flat or not sets else [(parent, own) for own in sets if isinstance(own, list)]
    for parent, own in listed:
        for label in own:
            if label not in labels and label not in sums:
                raise DataError(
                    f"{table.source}: {parent!r} adds up {label!r}, no label of {column}: {nearest(label, list(labels))}"
                )
    found = make_hierarchy(listed, labels, where)
    top = next((label for label in found.outer(found.parts) if is_total(label)), None)
    if top is not None and found.top is None:
        left = [label for label in labels if label not in found.inside(top)]
        raise ConfigError(f"{where}: {left[0]!r} is no part of {top!r}; add it where it belongs")
    return found


def _kept_to(table: PrintedTable, inside: Mapping[str, str]) -> PrintedTable:
    """A table about some of the people of another: one more column says who is among them."""
    where = {}
    name = table.name
    while name in inside:
        where[f"in {name}"] = "yes"
        name = inside[name]
        if f"in {name}" in where:
            raise ConfigError(f"inside: {table.name} would be part of itself")
    return replace(table, where={**table.where, **where}) if where else table


def written(understood: Interpretation, folder: Path) -> str:
    """The reading as a release file, to be corrected and read again."""
    form = understood.form
    marks = {shown(mark): _meaning(value) for mark, value in understood.marks.items()}
    tables = {}
    for table in understood.tables:
        sums = {c: _listed(own, table.labels(c)) for c, own in table.sums.items() if own.parts}
        percent = {"percent_of": understood.percent_of[table.name]} if table.name in understood.percent_of else {}
        tables[table.name] = {"columns": list(table.columns), **({"sums": sums} if sums else {}), **percent}
    text = {
        "printed": form.printed,
        "marks": marks,
        "rule": form.rule,
        "inside": form.inside,
        "no_totals": form.no_totals,
        "labels": form.labels,
        "decimal": form.decimal,
        "same_people": form.same_people,
        "facts": form.facts,
        "tables": tables,
    }
    return yaml.safe_dump({key: own for key, own in text.items() if own}, sort_keys=False, allow_unicode=True, width=120)


def _listed(sums: Hierarchy, labels: Sequence[str]) -> dict[str, list[Any]]:
    """What adds up to what for a release file; a part that the table does not print has an empty list of its own."""
    found = {label: [list(own) for own in sets] if len(sets) > 1 else list(sets[0]) for label, sets in sums.parts.items()}
    return {**found, **{label: [] for label in sums.labels if label not in labels and label not in found}}


def _meaning(value: Value) -> str:
    if value.hi is None:
        return f">={value.lo}" if value.lo else ("suppressed" if value.hidden else "missing")
    return str(value.lo) if value.lo == value.hi else f"{value.lo}-{value.hi}"


def summary(understood: Interpretation) -> list[str]:
    """What was understood, as lines for the user to confirm: tables, columns, totals, marks, assumptions."""
    lines = [f"{'table':<16} {'cells':>6}  columns (labels; what adds up the others)"]
    for table in understood.tables:
        parts = []
        for column in table.columns:
            totals = ", ".join(table.totals(column))
            parts.append(f"{column} ({len(table.labels(column))}; {totals or 'no total'})")
        kept = f", only those {', '.join(table.where)}" if table.where else ""
        lines.append(f"{table.name[:16]:<16} {len(table.entries):>6}  {' x '.join(parts)}{kept}")
        lines += [f"{'':<24}{note}" for note in table.notes]
    for mark, value in understood.marks.items():
        lines.append(f"mark {shown(mark)}: {_meaning(value)} ({understood.how[mark]})")
    rule = " ".join(understood.form.rule) or EXACT
    lines.append(f"numbers: {rule}")
    lines += [f"assumed: {one}" for one in understood.linked.assumed]
    return lines
