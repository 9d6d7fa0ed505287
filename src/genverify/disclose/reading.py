"""Printed tables to be audited: the files, what their marks and numbers mean, and corrections of how they were read."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BeforeValidator, Field

from genverify.core.closed import Section, validate
from genverify.core.errors import ConfigError, DataError, nearest
from genverify.core.files import read_yaml
from genverify.core.limits import LIMITS
from genverify.disclosure.facts import read_facts
from genverify.disclosure.form import Text, as_list
from genverify.disclosure.linked import Linked, link
from genverify.disclosure.marks import EXACT, Value, complete_marks, meaning_of, read_rule, refuse_rounded, shown, value_of
from genverify.disclosure.readers.argus import hierarchy
from genverify.disclosure.readers.choose import read_tables
from genverify.disclosure.readers.model import (
    LABEL,
    PERIOD,
    Entry,
    Hierarchy,
    Labels,
    PrintedTable,
    Told,
    is_time,
    is_total,
    make_hierarchy,
    periods,
)
from genverify.disclosure.readers.totals import with_total, without_totals
from genverify.disclosure.shares import Meant, meaning, share_facts

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
class Understood:
    """The tables as they were understood, the meaning of every mark and how it is known, and the system that they form."""

    form: PrintedForm
    tables: tuple[PrintedTable, ...]
    marks: Mapping[str, Value]
    how: Mapping[str, str]
    linked: Linked
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


def understand(form: PrintedForm, folder: Path, ask: Callable[[str], str] | None = None) -> Understood:
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
    values, meant = dict[tuple[int, Labels], Value](), list[Meant]()
    for at, table in enumerate(tables):
        own = {labels: value_of(entry, marks, rule) for labels, entry in table.entries.items()}
        values |= {(at, labels): value for labels, value in own.items()}
        meant.append(meaning(table, own, form.rule, form.tables.get(table.name, PrintedTableForm()).percent_of))
    tables = [one.table for one in meant]
    linked = link(
        tables, values, lambda columns: read_facts(form.facts, columns), lambda at, placed: share_facts(placed, meant[at])
    )
    return Understood(form, tuple(tables), marks, how, linked, {o.table.name: o.shares[0][1] for o in meant if o.shares})


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
        if len(pairs) == inside > len({label for label, _ in pairs}) > 1:
            left.append(f"{table.name}: each {inner} stands in one {outer}: that it has none elsewhere is not used")
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


def written(understood: Understood, folder: Path) -> str:
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


def summary(understood: Understood) -> list[str]:
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
