"""A release as its file describes it: its schema, what is published about each area, the records where given."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from genverify.core.csvfile import need_columns
from genverify.core.domain import Domain
from genverify.core.errors import ConfigError, DataError, GenverifyError
from genverify.core.predicates import EVERY
from genverify.core.queries import Query
from genverify.core.release import LARGEST_COUNT, Release, Schema
from genverify.core.seeds import derive_seed
from genverify.core.tabulate import releases_of
from genverify.disclosure.cells import SIZES, Line, area_queries, lines_of, rules_of
from genverify.disclosure.codes import Coding, Codings, coding, encode, prepared, read_texts
from genverify.disclosure.counts import read_counts
from genverify.disclosure.form import ColumnForm, PublishedForm, ReleaseForm, read_form, source_of
from genverify.disclosure.priors import read_priors
from genverify.protect.publishing import publish
from genverify.solve.counting.prior import Prior

WHOLE = "all"
MOST_VALUES = 3_000_000  # of an area, records times columns: its generated datasets then take a few gigabytes
RESERVED = {"block", "area", "k", "m", "effective_k", "proof"}


@dataclass(frozen=True)
class Described:
    """
    A release ready for the attack. `exact` are the true counts where microdata were given, else what is known of them;
    `releases` is what readers see. `coupled`: all areas stand in one program, the area as one more column.
    """

    form: ReleaseForm
    codings: Codings
    schema: Schema
    exact: tuple[Release, ...]
    releases: tuple[Release, ...]
    records: pd.DataFrame | None
    coupled: bool
    priors: tuple[Prior, ...] = ()

    @property
    def people(self) -> int:
        return sum(release.n for release in self.releases)


def describe(path: Path, changes: Mapping[str, Any] | None = None) -> Described:
    """
    Read a release file, some settings changed, and the data or counts that it names; errors begin with the path of the file.
    """
    form = read_form(path, changes)
    source = source_of(path, form)
    texts = read_texts(source, form.limits)
    try:
        described = _described(form, texts, source)
        _refuse_large(described)
        return replace(described, priors=read_priors(path, form, described.codings))
    except GenverifyError as error:
        message = str(error)
        named = message.startswith((str(source), str(path)))
        raise type(error)(message if named else f"{path}: {message}") from None


def _described(form: ReleaseForm, texts: pd.DataFrame, source: Path) -> Described:
    data = texts if form.data is not None else None
    codings = column_codings(form, data, source)
    if not codings.by_name:
        raise DataError("no table, cell or rule names a column, so nothing could be claimed; add a table")
    if form.min_k > len(codings.by_name):
        raise ConfigError(
            f"min_k is {form.min_k}, but the tables name only {len(codings.by_name)} columns, so no claim would be looked "
            f"for; give min_k from 1 to {len(codings.by_name)}"
        )
    lines = lines_of(form, codings)
    areas = _areas(form, texts, source)
    coupled = any(line.across for line in lines)
    if coupled and form.area is None:
        raise DataError("a table is counted across areas, but no area column is named; leave out `across`, or add `area`")
    if coupled:
        codings = Codings({str(form.area): areas, **codings.by_name})
    schema = _schema(form, codings, lines, areas if coupled else None)
    if data is None:
        exact = read_counts(texts, source, schema, form, areas, coupled)
        return Described(form, codings, schema, exact, exact, None, coupled)
    records = _records(data, codings, form, coupled, source)
    exact = tuple(releases_of(records, EVERY, schema))
    _refuse_empty(schema.queries, exact)
    return Described(form, codings, schema, exact, published(exact, form.published_as, form.seed), records, coupled)


def column_codings(form: ReleaseForm, data: pd.DataFrame | None, source: Path) -> Codings:
    """The columns that the release speaks of, with their codes."""
    used = {name: form.columns.get(name) or ColumnForm() for name in _used(form)}
    if data is None:
        return Codings({name: coding(name, column, None, "columns") for name, column in used.items()})
    need_columns(source, data, [*form.columns, *used, *([form.area] if form.area else [])])
    return Codings(
        {name: coding(name, column, prepared(data[name], column, source), str(source)) for name, column in used.items()}
    )


def _used(form: ReleaseForm) -> list[str]:
    """The columns that some table, cell or rule names: those listed first, in their order, then the others as they come."""
    named: list[Iterable[str]] = [[*table.columns, *table.where] for table in form.tables.values()]
    named += [cell.where for cell in form.predicates]
    named += [part for rule in form.rules for part in (rule.when, *rule.then)]
    used = dict.fromkeys(name for names in named for name in names)
    if form.area in used:
        raise DataError(
            f"column {form.area} is the area of the release, so no table can name it: tables are counted per area"
        )
    taken = sorted(RESERVED & set(used))
    if taken:
        raise DataError(f"column {taken[0]!r}: this name is taken by the results; rename the column")
    return [*(name for name in form.columns if name in used), *(name for name in used if name not in form.columns)]


def _areas(form: ReleaseForm, texts: pd.DataFrame, source: Path) -> Coding:
    """The areas as codes; without an area column there is one."""
    if form.area is None:
        return coding(WHOLE, ColumnForm(codes={WHOLE: WHOLE}), None, "area")
    if form.data is not None:
        column = form.columns.get(form.area) or ColumnForm()
        return coding(form.area, column, prepared(texts[form.area], column, source), str(source))
    need_columns(source, texts, ["area"])
    named = texts["area"][texts["area"] != ""]
    return coding(form.area, form.columns.get(form.area) or ColumnForm(), named, str(source))


def _schema(form: ReleaseForm, codings: Codings, lines: list[Line], areas: Coding | None) -> Schema:
    domain = Domain(tuple(found.column for found in codings.by_name.values()))
    rules = rules_of(form.rules, codings)
    if areas is None:
        return Schema(domain, rules, tuple(line.query for line in lines))
    return Schema(domain, rules, tuple(area_queries(lines, str(form.area), areas.code_of)))


def _records(data: pd.DataFrame, codings: Codings, form: ReleaseForm, coupled: bool, source: Path) -> pd.DataFrame:
    """The records in codes, sorted by area, with the area as `block`."""
    frame = pd.DataFrame(index=data.index)
    for name, found in codings.by_name.items():
        frame[name] = encode(prepared(data[name], form.columns.get(name) or ColumnForm(), source), found, source)
    split = form.area is not None and not coupled
    frame["block"] = data[form.area].to_numpy() if split else WHOLE
    return frame.sort_values("block", kind="stable", ignore_index=True)


def _refuse_empty(queries: Iterable[Query], releases: tuple[Release, ...]) -> None:
    """An error for a table all of whose counts are 0: its filter keeps nobody."""
    counts = np.sum([release.hi for release in releases], axis=0)
    held: dict[str, int] = {}
    for query, count in zip(queries, counts, strict=True):
        held[query.table] = held.get(query.table, 0) + int(count)
    for table, total in held.items():
        if total == 0:
            raise DataError(f"table {table} is empty: no record of the data lies in any of its cells; check its filter")


def _refuse_large(described: Described) -> None:
    """An error for an area whose generated datasets would not fit into memory; the checker has the same limit of records."""
    columns = len(described.schema.domain.columns)
    for release in described.releases:
        if release.n > LARGEST_COUNT or release.n * columns > MOST_VALUES:
            raise DataError(
                f"area {release.block}: {release.n:,} records of {columns} columns are too many for the memory; at most "
                f"{LARGEST_COUNT:,} records and {MOST_VALUES:,} values (records times columns) are handled. Split the "
                "release into smaller areas, or leave columns out."
            )


def published(releases: tuple[Release, ...], form: PublishedForm, seed: int, name: str = "release") -> tuple[Release, ...]:
    """What readers see of exact counts; each area draws its own random numbers."""
    how = form.how
    if how == replace(how, suppress=0, rounding="none"):
        return releases
    return tuple(
        publish(r, how, np.random.default_rng(derive_seed(seed, "publish", name, r.block)), (SIZES,)) for r in releases
    )
