"""A release as its file describes it: schema, what is published of each area, records and priors where given."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from genverify.attack.probability import WEIGHT, prior_of
from genverify.disclosure.release_form import (
    SIZES,
    Coding,
    Codings,
    ColumnForm,
    PublishedForm,
    ReleaseForm,
    area_cell,
    area_queries,
    coding,
    encode,
    lines_of,
    prepared,
    prior_files,
    read_form,
    read_texts,
    rules_of,
    source_of,
)
from genverify.model.arrays import Ints
from genverify.model.domain import EVERY, Domain
from genverify.model.errors import ConfigError, DataError, GenverifyError, ReleaseError, nearest
from genverify.model.release import LARGEST_COUNT, TOTAL, Release, Schema
from genverify.model.tablefiles import need_columns, neutral, neutral_frame
from genverify.model.tabulate import releases_of
from genverify.model.work import derive_seed
from genverify.protect.publishing import SUPPRESSED, publish
from genverify.solve.counting.prior import Prior

# Published counts as a user has them: a CSV with cell and count (or lo and hi), per area where there are several.

MARKS = {"", "*", "x", "X", "s", "S", "c", "..", "...", "-"}


def read_counts(
    texts: pd.DataFrame, source: Path, schema: Schema, form: ReleaseForm, areas: Coding, coupled: bool
) -> tuple[Release, ...]:
    """The release of each area (of all areas together where they are coupled) from a file of counts."""
    frame = _parsed(texts, source, form)
    if form.area is None:
        frame["area"] = areas.texts[0]
    totals = _totals(frame, form, areas, source)
    frame = frame[frame["cell"] != TOTAL]
    if coupled:
        names = [area_cell(area, cell) if area else cell for area, cell in zip(frame["area"], frame["cell"], strict=True)]
        sizes = {f"{SIZES}.{area}": n for area, n in totals.items()}  # the sizes of the areas are published too
        ends = {side: [*frame[side], *sizes.values()] for side in ("lo", "hi")}
        frame = pd.DataFrame({"cell": [*names, *sizes], **ends}, index=[*frame.index, *range(len(sizes))])
    unknown = frame[~frame["cell"].isin(list(schema.position))]
    if len(unknown):
        cell = unknown["cell"].iloc[0]
        near = nearest(cell, list(schema.position)).partition(" (known")[0]
        raise ReleaseError(
            f"{source}: line {unknown.index[0]}: {cell!r} is no cell that the release file describes; "
            f"{near if near.startswith('did') else 'disclose --cells lists them'}"
        )
    blocks = {"all": sum(totals.values())} if coupled else totals
    releases = tuple(
        _release(frame if coupled else frame[frame["area"] == block], block, n, schema, source)
        for block, n in blocks.items()
    )
    given = {query.table for release in releases for query in release.queries}
    for table in (query.table for query in schema.queries if query.table not in given):
        raise ReleaseError(f"{source}: table {table} is empty: no count of it is given; add them or leave the table out")
    return releases


def _parsed(texts: pd.DataFrame, source: Path, form: ReleaseForm) -> pd.DataFrame:
    """Cells with the least and the greatest count behind each, and the line that they stand in."""
    ranged = {"lo", "hi"} <= set(texts.columns)
    if "count" in texts and {"lo", "hi"} & set(texts.columns):
        raise ReleaseError(
            f"{source}: has count and also {'lo and hi' if ranged else 'one of lo and hi'}, and they might disagree; give "
            "count where counts are exact, else lo and hi"
        )
    need_columns(source, texts, ["cell", *(["lo", "hi"] if ranged else ["count"]), *(["area"] if form.area else [])])
    named = {neutral(one.cell): one.cell for one in form.predicates}  # as the template of cells writes them
    cells = texts["cell"].map(lambda cell: named.get(cell, cell))
    frame = pd.DataFrame({"cell": cells, "area": texts["area"] if form.area else ""}, index=texts.index)
    if ranged:
        frame["lo"], frame["hi"] = (_whole(texts[side], source) for side in ("lo", "hi"))
    else:
        frame["lo"], frame["hi"] = _known(texts, source, form)
    for at, row in frame[frame["lo"] > frame["hi"]].iterrows():
        raise ReleaseError(f"{source}: line {at}: lo is {row['lo']}, above hi")
    for at, row in frame[frame.duplicated(["area", "cell"])].iterrows():
        raise ReleaseError(f"{source}: line {at}: cell {row['cell']!r} is duplicated")
    return frame


def _known(texts: pd.DataFrame, source: Path, form: ReleaseForm) -> tuple[Ints, Ints]:
    how, counts = form.published_as.how, texts["count"]
    hidden = counts.isin(MARKS | {f"<{how.suppress}"}) if how.suppress else counts.isin([])
    values = _whole(counts.mask(hidden, "0"), source)
    values[hidden.to_numpy()] = SUPPRESSED
    size = (texts["cell"] == TOTAL).to_numpy()
    try:
        lo, hi = how.known(values)
    except ReleaseError as error:
        raise ReleaseError(f"{source}: {error}; check published_as in the release file") from None
    exact = np.maximum(values, 0)  # the number of people
    return np.where(size, exact, lo), np.where(size, exact, hi)


def _whole(values: "pd.Series[str]", source: Path) -> Ints:
    """Whole numbers from 0; an error names the line of the first value that is none."""
    wrong = values[~values.str.fullmatch(r"\+?\d{1,12}")]
    if len(wrong):
        problem = "is negative" if wrong.iloc[0].startswith("-") and len(wrong.iloc[0]) > 1 else "is not a whole number"
        raise ReleaseError(
            f"{source}: line {wrong.index[0]}: the count {wrong.iloc[0]!r} {problem}; give whole numbers from 0, leave out "
            "cells that are not published; suppressed ones have * as count (and published_as: {suppress: 5})"
        )
    return np.array(values.tolist(), dtype=np.int64)


def _totals(frame: pd.DataFrame, form: ReleaseForm, areas: Coding, source: Path) -> dict[str, int]:
    """The number of people of each area: from the release file, or from the rows whose cell is N."""
    rows = frame[frame["cell"] == TOTAL]
    totals = dict(zip(rows["area"], rows["hi"].astype(int), strict=True))
    if isinstance(form.total, Mapping):
        totals |= form.total
    elif form.total is not None:
        totals |= {areas.texts[0]: form.total} if len(areas.texts) == 1 else {}
    for area in areas.texts:
        if area not in totals:
            raise ReleaseError(
                f"{source}: the number of people{f' of area {area}' if form.area else ''} is not given; add a row with "
                f"cell {TOTAL}, or `total` to the release file"
            )
    return {area: totals[area] for area in areas.texts}


def _release(frame: pd.DataFrame, block: str, n: int, schema: Schema, source: Path) -> Release:
    for at, row in frame[frame["lo"] > n].iterrows():
        where = f" in area {block}" if block != "all" else ""
        raise ReleaseError(f"{source}: line {at}: {row['cell']} counts {row['lo']}, but there are only {n} people{where}")
    cells = np.array([schema.position[cell] for cell in frame["cell"]], dtype=np.int64)
    order = np.argsort(cells)
    lo, hi = (frame[side].to_numpy(dtype=np.int64)[order] for side in ("lo", "hi"))
    return Release(schema, block, n, cells[order], lo, np.minimum(hi, n))


# Priors of a release file: tables of weights in the user's own texts, and what becomes of them when codes are merged.


def read_priors(path: Path, form: ReleaseForm, codings: Codings) -> tuple[Prior, ...]:
    """The priors that a release file names: each a table with the columns of the release and `weight`."""
    domain = Domain(tuple(coded.column for coded in codings.by_name.values()))
    if form.priors and WEIGHT in domain.names:
        raise DataError(f"column {WEIGHT!r} of the release would be taken for the weights of a prior; rename it")
    priors = list[Prior]()
    for (prior, one), file in zip(form.priors.items(), prior_files(path), strict=True):
        texts, table = read_texts(file, form.limits), pd.DataFrame()
        need_columns(file, texts.columns, [*domain.names, WEIGHT])
        for name in domain.names:  # it may hold the texts of the release or, where it bins numbers, the numbers
            known = texts[name].isin(codings[name].texts).all()
            values = texts[name] if known else prepared(texts[name], form.columns.get(name) or ColumnForm(), file)
            table[name] = encode(values, codings[name], file)
        table[WEIGHT] = pd.to_numeric(texts[WEIGHT], errors="coerce").to_numpy()
        for line, weight in texts[WEIGHT][~(np.isfinite(table[WEIGHT]) & (table[WEIGHT] >= 0)).to_numpy()].items():
            raise DataError(f"{file}: line {line}: weight {weight!r} is not a number from 0 on")
        priors.append(prior_of(table, domain, prior, one.floor))
    return tuple(priors)


def merged(prior: Prior, domain: Domain, column: str, code: Mapping[int, int]) -> Prior:
    """The prior in the codes of a coarser column: weights that fall together add up, those of unlisted records included."""
    index = domain.names.index(column)
    records = prior.records.copy()
    records[:, index] = [code[one] for one in records[:, index].tolist()]
    rows, where = np.unique(records, axis=0, return_inverse=True)
    weights = np.bincount(where.ravel(), prior.weights, minlength=len(rows)).astype(np.float64)
    fine, listed = Counter(code.values()), np.bincount(where.ravel(), minlength=len(rows))
    weights += prior.floor * (np.array([fine[one] for one in rows[:, index].tolist()]) - listed)
    return replace(prior, domain=domain, records=rows, weights=weights)


# A release as its file describes it: its schema, what is published about each area, the records where given.

WHOLE = "all"
MOST_VALUES = 3_000_000  # of an area, records times columns: its generated datasets then take a few gigabytes
RESERVED = {"block", "area", "k", "m", "effective_k", "proof"}


@dataclass(frozen=True)
class ReleaseDescription:
    """A release ready for the attack."""

    form: ReleaseForm
    codings: Codings
    schema: Schema
    exact: tuple[Release, ...]  # the true counts where microdata were given, else what is known of them
    releases: tuple[Release, ...]  # what readers see
    records: pd.DataFrame | None
    coupled: bool  # all areas stand in one program, the area as one more column
    priors: tuple[Prior, ...] = ()

    @property
    def people(self) -> int:
        return sum(release.n for release in self.releases)


def describe(path: Path, changes: Mapping[str, Any] | None = None) -> ReleaseDescription:
    """Read a release file, some settings changed, and the data or counts that it names; errors begin with its path."""
    form = read_form(path, changes)
    source = source_of(path, form)
    texts = read_texts(source, form.limits)
    try:
        described = _described(form, texts, source)
        columns = len(described.schema.domain.columns)
        for release in described.releases:  # so that its generated datasets fit into memory
            if release.n > LARGEST_COUNT or release.n * columns > MOST_VALUES:
                raise DataError(
                    f"area {release.block}: {release.n:,} records of {columns} columns are too many for the memory; at most "
                    f"{LARGEST_COUNT:,} records and {MOST_VALUES:,} values (records times columns) are handled. Split the "
                    "release into smaller areas, or leave columns out."
                )
        return replace(described, priors=read_priors(path, form, described.codings))
    except GenverifyError as error:
        message = str(error)
        named = message.startswith((str(source), str(path)))
        raise type(error)(message if named else f"{path}: {message}") from None


def _described(form: ReleaseForm, texts: pd.DataFrame, source: Path) -> ReleaseDescription:
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
    domain = Domain(tuple(coded.column for coded in codings.by_name.values()))
    queries = area_queries(lines, str(form.area), areas.code_of) if coupled else [line.query for line in lines]
    schema = Schema(domain, rules_of(form.rules, codings), tuple(queries))
    if data is None:
        exact = read_counts(texts, source, schema, form, areas, coupled)
        return ReleaseDescription(form, codings, schema, exact, exact, None, coupled)
    records = _records(data, codings, form, coupled, source)
    exact = tuple(releases_of(records, EVERY, schema))
    filled = {query.table for release in exact for query, count in zip(schema.queries, release.hi, strict=True) if count}
    for table in (query.table for query in queries if query.table not in filled):
        raise DataError(f"table {table} is empty: no record of the data lies in any of its cells; check its filter")
    return ReleaseDescription(form, codings, schema, exact, published(exact, form.published_as, form.seed), records, coupled)


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
    for name in sorted(RESERVED & set(used)):
        raise DataError(f"column {name!r}: this name is taken by the results; rename the column")
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


def _records(data: pd.DataFrame, codings: Codings, form: ReleaseForm, coupled: bool, source: Path) -> pd.DataFrame:
    """The records in codes, sorted by area, with the area as `block`."""
    frame = pd.DataFrame(index=data.index)
    for name, coded in codings.by_name.items():
        frame[name] = encode(prepared(data[name], form.columns.get(name) or ColumnForm(), source), coded, source)
    split = form.area is not None and not coupled
    frame["block"] = data[form.area].to_numpy() if split else WHOLE
    return frame.sort_values("block", kind="stable", ignore_index=True)


def published(releases: tuple[Release, ...], form: PublishedForm, seed: int, name: str = "release") -> tuple[Release, ...]:
    """What readers see of exact counts; each area draws its own random numbers."""
    how = form.how
    if how == replace(how, suppress=0, rounding="none"):
        return releases
    return tuple(
        publish(r, how, np.random.default_rng(derive_seed(seed, "publish", name, r.block)), (SIZES,)) for r in releases
    )


def template(path: Path, changes: Mapping[str, Any] | None = None) -> str:
    """The cells as CSV lines with an empty count; with areas, those of one area (to be repeated) and those across."""
    form = read_form(path, changes)
    source = path.parent / str(form.data or form.counts)
    data = read_texts(source, form.limits) if form.data else None
    try:
        lines = lines_of(form, column_codings(form, data, source))
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    areas = ["area", *("" if line.across else "area" for line in lines)]
    result = pd.DataFrame({"area": areas, "cell": [TOTAL, *(line.query.id for line in lines)], "count": ""})
    return str(neutral_frame(result if form.area else result.drop(columns="area")).to_csv(index=False, lineterminator="\n"))
