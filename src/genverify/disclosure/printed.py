"""Printed tables to be audited: the files, what their marks and numbers mean, and corrections of how they were read."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
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
from genverify.disclosure.marks import Value, complete_marks, meaning_of, read_rule, shown, value_of
from genverify.disclosure.readers.argus import hierarchy
from genverify.disclosure.readers.choose import read_tables
from genverify.disclosure.readers.model import Hierarchy, Labels, PrintedTable, is_total, make_hierarchy
from genverify.disclosure.readers.totals import with_total
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


def is_printed(path: Path) -> bool:
    """Whether a release file names printed tables."""
    return path.suffix.lower() in (".yaml", ".yml") and "printed" in read_yaml(path)


def read_printed(path: Path, changes: Mapping[str, Any]) -> PrintedForm:
    return validate(PrintedForm, read_yaml(path) | dict(changes), str(path))


def understand(form: PrintedForm, folder: Path, ask: Callable[[str], str] | None = None) -> Understood:
    """Read the tables, correct the reading as told, and link them."""
    limits = replace(LIMITS, rows=form.max_rows, size=form.max_bytes)
    tables = read_tables([folder / name for name in form.printed], limits)
    for name in (*form.tables, *form.inside, *form.inside.values()):
        if name not in {table.name for table in tables}:
            raise ConfigError(f"no table is called {name!r}: {nearest(name, [table.name for table in tables])}")
    tables = [_corrected(table, form, folder) for table in tables]
    known = list(dict.fromkeys(column for table in tables for column in table.columns))
    for option, column in [*(("total", own) for own in form.totals), *(("hierarchy", own) for own in form.hierarchies)]:
        if column not in known:
            raise ConfigError(f"--{option} {column}: no table has this column: {nearest(column, known)}")
    tables = [_kept_to(table, form.inside) for table in tables]
    given = {("" if mark == "blank" else mark): meaning_of(word, f"marks, {mark}") for mark, word in form.marks.items()}
    marks, how = complete_marks(tables, given, ask)
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
    for column, file in form.hierarchies.items():
        if column in table.columns:
            top = sums[column].top if column in sums else None
            sums[column] = hierarchy(folder / file, table.labels(column), top, told=column in form.totals)
    for column, own in told.sums.items():
        if column not in table.columns:
            raise ConfigError(f"tables: {table.name}: sums of {column!r}: {nearest(column, list(table.columns))}")
        sums[column] = _told(table, column, own)
    for column, found in sums.items():
        for label, why in found.doubts.items():
            raise DataError(
                f"{table.source}: table {table.name}: {label!r} of {column} {why}. Say which label is the total (--total "
                f"'{column}=LABEL'), or what adds up to what (--hierarchy '{column}=FILE.hrc', or `sums` in the release "
                "file that --write writes), or rename it"
            )
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
        if len(where) > len(inside):
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
    rule = " ".join(understood.form.rule) or "exact"
    lines.append(f"numbers: {rule}")
    lines += [f"assumed: {one}" for one in understood.linked.assumed]
    return lines
