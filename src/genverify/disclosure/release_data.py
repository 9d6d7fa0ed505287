"""A release as its file describes it: schema, what is published of each area, records and priors where given."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import pairwise, product
from operator import and_
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from genverify.attack.probability import WEIGHT, prior_from_sample, prior_of
from genverify.disclosure import release_form
from genverify.disclosure.release_form import ColumnForm, PublishedForm, ReleaseForm, RuleForm, TableForm, read_form
from genverify.model import tablefiles
from genverify.model.arrays import Ints
from genverify.model.domain import EVERY, Column, Domain, Predicate, Rule
from genverify.model.errors import (
    ConfigError,
    DataError,
    GenverifyError,
    ReleaseError,
    naming,
    nearest,
    needed,
    refuse_unknown,
)
from genverify.model.files import LIMITS, FileLimits, one_line
from genverify.model.query import Query
from genverify.model.release import LARGEST_COUNT, TOTAL, Release, Schema
from genverify.model.tablefiles import Expected, naming_unreadable, need_columns, neutral, neutral_frame, open_csv
from genverify.model.tabulate import releases_of
from genverify.model.work import derive_seed
from genverify.protect.publishing import SUPPRESSED, publish
from genverify.solve.counting.prior import Prior, recoded

# Columns of a user's file: texts as they are written, and the integer codes that the attack works with.

MISSING = ("", "NA", "NaN", "nan", "null", "None")
MOST_CODES = 60  # distinct values: a column of more is a number to be binned, and the error says how
ROWS_AT_ONCE = 10_000  # the size is looked at after each piece, so that a packed file cannot fill the memory unseen
CodeTexts: TypeAlias = "pd.Series[str]"


@dataclass(frozen=True)
class Coding:
    """
    A column and its texts: the first text has code 1, the second 2, and so on.

    >>> Coding(Column("SEX", "sex", (1, 2), ("female", "male")), ("f", "m")).code("m", "table t")
    2
    """

    column: Column
    texts: tuple[str, ...]

    @cached_property
    def code_of(self) -> Mapping[str, int]:
        return dict(zip(self.texts, self.column.codes, strict=True))

    def code(self, text: str, where: str) -> int:
        refuse_unknown(text, self.code_of, f"{where}: column {self.column.name} has no code {text!r}")
        return self.code_of[text]


@dataclass(frozen=True)
class Codings:
    by_name: Mapping[str, Coding]

    @property
    def domain(self) -> Domain:
        return Domain(tuple(coded.column for coded in self.by_name.values()))

    def __getitem__(self, name: str) -> Coding:
        refuse_unknown(name, self.by_name, f"unknown column {name!r}")
        return self.by_name[name]

    def predicate(self, where: Mapping[str, Sequence[str]], location: str) -> Predicate:
        """A condition in texts as one in codes; an error names `location` and what is unknown."""
        with naming(location):
            return Predicate.of({name: [self[name].code(text, location) for text in texts] for name, texts in where.items()})


def read_texts(path: Path, limits: FileLimits = LIMITS) -> pd.DataFrame:
    """A CSV or Parquet file with every value as text, spaces at the ends taken off; the index is the line of the file."""
    expected = Expected("a table", "a CSV with a header or Parquet is expected", limits)
    with naming_unreadable(path, expected):
        frame = _read_parquet(path, limits) if path.suffix == ".parquet" else open_csv(path, expected).frame()
    if not len(frame):
        raise DataError(f"{path}: holds no rows")
    return frame


def _read_parquet(path: Path, limits: FileLimits) -> pd.DataFrame:
    """Every value as text; a file that is broken is a ValueError."""
    pa = needed("pyarrow", f"{path}: a Parquet file", "or save it as CSV")
    pq = needed("pyarrow.parquet", f"{path}: a Parquet file")
    try:
        with pq.ParquetFile(path) as file:
            limits.check(path, file.metadata.num_rows, 0)
            pieces, size = [], 0
            for piece in file.iter_batches(ROWS_AT_ONCE):  # few bytes of a file can stand for many values
                size += piece.nbytes
                limits.check(path, 0, size)
                pieces.append(piece)
            frame: pd.DataFrame = pa.Table.from_batches(pieces, file.schema_arrow).to_pandas().astype(object)
    except pa.ArrowException as error:
        raise ValueError(one_line(error)) from None
    frame.columns = pd.Index([str(name).strip() for name in frame.columns])
    if not frame.columns.is_unique:
        doubled = frame.columns[frame.columns.duplicated()][0]
        raise DataError(f"{path}: two columns are called {doubled!r}; give each column its own name")
    frame.index = pd.RangeIndex(2, len(frame) + 2)  # as the lines of a CSV
    texts: pd.DataFrame = frame.apply(lambda column: column.map(lambda own: tablefiles.plain_text(own).strip())).astype(str)
    return texts


def prepared(values: CodeTexts, form: ColumnForm, path: Path) -> CodeTexts:
    """A column of the data with its missing values named and its numbers binned, as the release file says."""
    missing, name = values.isin(MISSING) & ~values.isin(list(form.codes or ())), values.name
    if missing.any() and form.missing is None:
        lost = f"{int(missing.sum())} missing values, the first in line {values.index[missing][0]}"
        remedy = f"fill them, leave these rows out, or give them a code: columns: {{{name}: {{missing: not stated}}}}"
        raise DataError(f"{path}: column {name} has {lost}; {remedy}")
    filled = values.mask(missing, form.missing) if form.missing is not None else values
    if form.bins is None:
        return filled
    given = filled[~missing]
    numbers, labels = pd.to_numeric(given, errors="coerce"), bin_labels(form.bins)
    for line, bad in given[numbers.isna()].items():
        raise DataError(f"{path}: line {line}: column {name} has bins, but {bad!r} is not a number")
    interval = np.searchsorted(np.array(form.bins, dtype=float), numbers.to_numpy(dtype=float), side="right")
    binned = pd.Series([labels[at] for at in interval], index=given.index, name=name)
    return binned.reindex(values.index).where(~missing, filled)


def bin_labels(edges: Sequence[float]) -> list[str]:
    if list(edges) != sorted(set(edges)):
        raise DataError(f"bins {list(edges)}: the edges must rise")
    whole = all(float(edge).is_integer() for edge in edges)
    between = [f"{low:g} to {high - 1:g}" if whole else f"{low:g} to under {high:g}" for low, high in pairwise(edges)]
    labels = [f"under {edges[0]:g}", *between, f"{edges[-1]:g} and over"]  # each from its edge to below the next
    if len(set(labels)) < len(labels):
        raise DataError(f"bins {list(edges)}: two of them would have the same label; give edges that differ in 6 digits")
    return labels


def coding(name: str, form: ColumnForm, values: "CodeTexts | None", where: str) -> Coding:
    """The codes of a column: as listed, or the bins, or the texts of the data (numbers in order, then words in order)."""
    if form.codes is None and form.bins is None and values is None:
        raise DataError(f"{where}: column {name} lists no codes; without data, give columns: {{{name}: {{codes: ...}}}}")
    texts = bin_labels(form.bins) if form.bins is not None else sorted(set(() if values is None else values), key=_order)
    labels = dict(form.codes) if form.codes is not None else dict(zip(texts, texts, strict=True))
    if form.codes is None and form.bins is None:  # the texts of the data, if they are few enough to be codes
        fractions = [text for text in texts if _order(text)[0] == 0 and not float(text).is_integer()]
        if len(texts) > MOST_CODES or len(fractions) > 5:
            edges = "give its edges", "bins: [18, 40, 65]"
            hint, example = edges if _order(texts[0])[0] == 0 else ("list its codes", "codes: ...")
            values_ = f"{len(texts)} different values such as {texts[0]} and {texts[-1]}"
            raise DataError(f"{where}: column {name} is not discrete: {values_}; {hint}, columns: {{{name}: {{{example}}}}}")
    if form.missing is not None:
        labels.setdefault(form.missing, form.missing)
    numbers = tuple(range(1, len(labels) + 1))
    return Coding(Column(name, form.label or name, numbers, tuple(labels.values())), tuple(labels))


def _order(text: str) -> tuple[int, float, str]:
    try:
        number = float(text)
    except ValueError:
        return 1, 0.0, text
    return (0, number, text) if np.isfinite(number) else (1, 0.0, text)


def encode(values: CodeTexts, coding: Coding, path: Path) -> npt.NDArray[np.int64]:
    """The codes of a column of the data; an error names the first text that has none, and its line."""
    codes, name = values.map(coding.code_of), coding.column.name
    for line, bad in values[codes.isna()].items():
        near = nearest(bad, list(coding.texts))
        raise DataError(f"{path}: line {line}: column {name} has {bad!r}, which is not among its codes: {near}")
    return np.asarray(codes, dtype=np.int64)


# The cells of a release: every line of every table that a release file describes, with a stable id.

ALL = "all"
CELLS = "cells"
SIZES = "area_sizes"


Line = tuple[Query, bool]  # of a table, before areas: its cell as a user writes it, and if it is counted across all areas


def lines_of(form: ReleaseForm, codings: Codings) -> list[Line]:
    """Every line in the order of the file; an error where two lines have the same id."""
    lines = [line for name, table in form.tables.items() for line in _table(name, table, codings)]
    for cell in form.predicates:
        predicate = codings.predicate(cell.where, f"cell {cell.cell}")
        lines.append((Query(cell.cell, CELLS, cell.label or _label(predicate, codings), predicate), cell.across))
    seen = {TOTAL}
    for query, _ in lines:
        if query.id in seen:
            raise DataError(f"two cells are called {query.id!r} (N counts everyone); rename one of table {query.table}")
        seen.add(query.id)
    return lines


def _table(name: str, table: TableForm, codings: Codings) -> Iterator[Line]:
    location = f"table {name}"
    if name in (CELLS, SIZES):
        raise DataError(f"{location}: this name is taken; choose another")
    if len(set(table.columns)) < len(table.columns):
        raise DataError(f"{location}: a column is duplicated among {table.columns}")
    filtered = codings.predicate(table.where, location)
    totals = table.columns if table.totals is True else table.totals or []
    for column in (*table.groups, *totals):
        if column not in table.columns:
            known = nearest(column, table.columns)
            raise DataError(f"{location}: groups or totals of {column!r}, no column of this table: {known}")
    words = [_words(column, table, codings, location, column in totals) for column in table.columns]
    title = [f"of those with {_label(filtered, codings)}"] if table.where else []
    for line in product(*words):
        texts, labels, conditions = zip(*line, strict=True)
        predicate = reduce(and_, conditions, filtered)
        if all(codes for _, codes in predicate.clauses):
            label = ", ".join([*filter(None, labels), *title]) or "everyone"
            yield Query(".".join([name, *texts]), name, label, predicate), table.across


def _words(column: str, table: TableForm, codings: Codings, location: str, total: bool) -> list[tuple[str, str, Predicate]]:
    """Each group of one column, each code that stands in none, the total where asked: part of the id, label, condition."""
    refuse_unknown(column, codings.by_name, f"{location}: unknown column {column!r}")
    coding, grouped, words = codings[column], dict[str, str](), defaultdict[str, list[str]](list)
    for label, texts in table.groups.get(column, {}).items():
        if label in coding.code_of and label not in texts:
            raise DataError(f"{location}: the group {label!r} of {column} has the name of a code outside it; rename it")
        for text in texts:
            if text in grouped:
                raise DataError(f"{location}: {text!r} is in two groups of {column}, {grouped[text]!r} and {label!r}")
            coding.code(text, location)
            grouped[text] = label
    for text in coding.texts:
        words[grouped.get(text, text)].append(text)
    made = list[tuple[str, str, Predicate]]()
    for word, texts in words.items():
        meaning = word if word in grouped.values() else coding.column.meaning[coding.code_of[texts[0]]]
        made.append((word, f"{coding.column.label}: {meaning}", codings.predicate({column: texts}, location)))
    return [*made, *([(ALL, "", EVERY)] if total else [])]


def _label(predicate: Predicate, codings: Codings) -> str:
    named = ((codings[name].column, codes) for name, codes in predicate.clauses)
    parts = (f"{column.label}: {' or '.join(column.meaning[code] for code in codes)}" for column, codes in named)
    return ", ".join(parts) or "everyone"


def rules_of(rules: Sequence[RuleForm], codings: Codings) -> tuple[Rule, ...]:
    result = []
    for rule in rules:
        *then, when = (codings.predicate(part, f"rule {rule.name}") for part in (*rule.then, rule.when))
        result.append(Rule(rule.name, when, tuple(then)))
    return tuple(result)


def area_queries(lines: Sequence[Line], area: str, codes: Mapping[str, int]) -> list[Query]:
    """The queries of a release whose areas are one column of its records: sizes, lines per area, lines across areas."""
    inside = {text: Predicate.of({area: [code]}) for text, code in codes.items()}
    queries = [Query(f"{SIZES}.{text}", SIZES, f"{area}: {text}", own) for text, own in inside.items()]
    for query, across in lines:
        queries += [query] if across else [
            Query(f"{text}/{query.id}", query.table, f"{query.label}, {area}: {text}", query.predicate & own)
            for text, own in inside.items()
        ]  # fmt: skip
    return queries


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
        names = [f"{area}/{cell}" if area else cell for area, cell in zip(frame["area"], frame["cell"], strict=True)]
        sizes = {f"{SIZES}.{area}": n for area, n in totals.items()}  # the sizes of the areas are published too
        ends = {side: [*frame[side], *sizes.values()] for side in ("lo", "hi")}
        frame = pd.DataFrame({"cell": [*names, *sizes], **ends, "area": WHOLE}, index=[*frame.index, *range(len(sizes))])
        totals = {WHOLE: sum(totals.values())}
    for line, cell in frame["cell"][~frame["cell"].isin(list(schema.position))].items():
        near = nearest(cell, list(schema.position)).partition(" (known")[0]
        hint = near if near.startswith("did") else "disclose --cells lists them"
        raise ReleaseError(f"{source}: line {line}: {cell!r} is not a cell that the release file describes; {hint}")
    releases = tuple(_release(frame[frame["area"] == block], block, n, schema, source) for block, n in totals.items())
    given = {query.table for release in releases for query in release.queries}
    for table in (query.table for query in schema.queries if query.table not in given):
        raise ReleaseError(f"{source}: table {table} is empty: no count of it is given; add them or leave the table out")
    return releases


def _parsed(texts: pd.DataFrame, source: Path, form: ReleaseForm) -> pd.DataFrame:
    """Cells with the least and the greatest count behind each, and the line that they stand in."""
    ranged = {"lo", "hi"} <= set(texts.columns)
    if "count" in texts and {"lo", "hi"} & set(texts.columns):
        both = f"has count and also {'lo and hi' if ranged else 'one of lo and hi'}, and they might disagree"
        raise ReleaseError(f"{source}: {both}; give count where counts are exact, else lo and hi")
    need_columns(source, texts, ["cell", *(["lo", "hi"] if ranged else ["count"]), *(["area"] if form.area else [])])
    named = {neutral(one.cell): one.cell for one in form.predicates}  # as the template of cells writes them
    cells = texts["cell"].map(lambda cell: named.get(cell, cell))
    frame = pd.DataFrame({"cell": cells, "area": texts["area"] if form.area else ""}, index=texts.index)
    ends = (_whole(texts[side], source) for side in ("lo", "hi")) if ranged else _known(texts, source, form)
    frame["lo"], frame["hi"] = ends
    for at, row in frame[frame["lo"] > frame["hi"]].iterrows():
        raise ReleaseError(f"{source}: line {at}: lo is {row['lo']}, above hi")
    for at, row in frame[frame.duplicated(["area", "cell"])].iterrows():
        raise ReleaseError(f"{source}: line {at}: cell {row['cell']!r} is duplicated")
    return frame


def _known(texts: pd.DataFrame, source: Path, form: ReleaseForm) -> tuple[Ints, Ints]:
    how, counts, size = form.published_as.how, texts["count"], (texts["cell"] == TOTAL).to_numpy()
    hidden = counts.isin(MARKS | {f"<{how.suppress}"}) if how.suppress else counts.isin([])
    values = _whole(counts.mask(hidden, "0"), source)
    values[hidden.to_numpy()] = SUPPRESSED
    try:
        lo, hi = how.known(values)
    except ReleaseError as error:
        raise ReleaseError(f"{source}: {error}; check published_as in the release file") from None
    exact = np.maximum(values, 0)  # the number of people
    return np.where(size, exact, lo), np.where(size, exact, hi)


def _whole(values: "pd.Series[str]", source: Path) -> Ints:
    """Whole numbers from 0; an error names the line of the first value that is none."""
    for line, wrong in values[~values.str.fullmatch(r"\+?\d{1,12}")].items():
        problem = "is negative" if wrong.startswith("-") and len(wrong) > 1 else "is not a whole number"
        hidden = "suppressed ones have * as count (and published_as: {suppress: 5})"
        remedy = f"give whole numbers from 0, leave out cells that are not published; {hidden}"
        raise ReleaseError(f"{source}: line {line}: the count {wrong!r} {problem}; {remedy}")
    return np.array(values.tolist(), dtype=np.int64)


def _totals(frame: pd.DataFrame, form: ReleaseForm, areas: Coding, source: Path) -> dict[str, int]:
    """The number of people of each area: from the release file, or from the rows whose cell is N."""
    rows = frame[frame["cell"] == TOTAL]
    totals = dict(zip(rows["area"], rows["hi"].astype(int), strict=True))
    if isinstance(form.total, Mapping):
        totals |= form.total
    elif form.total is not None and len(areas.texts) == 1:
        totals[areas.texts[0]] = form.total
    for area in (area for area in areas.texts if area not in totals):
        which = f"{source}: the number of people{f' of area {area}' if form.area else ''} is not given"
        raise ReleaseError(f"{which}; add a row with cell {TOTAL}, or `total` to the release file")
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
    """The priors that a release file names: each a table with the columns of the release and `weight`, or a sample."""
    domain = codings.domain
    if form.priors and WEIGHT in domain.names:
        raise DataError(f"column {WEIGHT!r} of the release would be taken for the weights of a prior; rename it")
    priors = list[Prior]()
    for (prior, one), file in zip(form.priors.items(), release_form.prior_files(path), strict=True):
        texts, table = read_texts(file, form.limits), pd.DataFrame()
        need_columns(file, texts.columns, [*domain.names, *([] if one.sample else [WEIGHT])])
        for name in domain.names:  # it may hold the texts of the release or, where it bins numbers, the numbers
            known = texts[name].isin(codings[name].texts).all()
            values = texts[name] if known else prepared(texts[name], form.columns.get(name) or ColumnForm(), file)
            table[name] = encode(values, codings[name], file)
        given = texts[WEIGHT] if WEIGHT in texts else pd.Series("1", texts.index)
        table[WEIGHT] = pd.to_numeric(given, errors="coerce").to_numpy()
        for line, weight in given[~(np.isfinite(table[WEIGHT]) & (table[WEIGHT] >= 0)).to_numpy()].items():
            raise DataError(f"{file}: line {line}: weight {weight!r} is not a number from 0 on")
        of_sample = one.sample is not None
        priors.append(prior_from_sample(table, domain, prior) if of_sample else prior_of(table, domain, prior, one.floor))
    return tuple(priors)


def merged(prior: Prior, domain: Domain, column: str, code: Mapping[int, int]) -> Prior:
    """The prior in the codes of a coarser column: weights that fall together add up, those of unlisted records included."""
    index = domain.names.index(column)
    records = prior.records.copy()
    records[:, index] = [code[one] for one in records[:, index].tolist()]
    if prior.sample is not None:
        return recoded(prior, domain, records)
    rows, where = np.unique(records, axis=0, return_inverse=True)
    weights = np.bincount(where.ravel(), prior.weights, minlength=len(rows)).astype(np.float64)
    fine, listed = Counter(code.values()), np.bincount(where.ravel(), minlength=len(rows))
    weights += prior.floor * (np.array([fine[one] for one in rows[:, index].tolist()]) - listed)
    return replace(prior, domain=domain, records=rows, weights=weights)


WHOLE = "all"
MOST_VALUES = 3_000_000  # of an area, records times columns: its generated datasets then take a few gigabytes
RESERVED = {"block", "area", "k", "m", "effective_k", "proof"}


@dataclass(frozen=True)
class ReleaseDescription:
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
    source = release_form.source_of(path, form)
    texts = read_texts(source, form.limits)
    try:
        described = _described(form, texts, source)
        columns = len(described.schema.domain.columns)
        for one in described.releases:  # so that its generated datasets fit into memory
            if one.n > LARGEST_COUNT or one.n * columns > MOST_VALUES:
                most = f"at most {LARGEST_COUNT:,} records and {MOST_VALUES:,} values (records times columns) are handled"
                large = f"area {one.block}: {one.n:,} records of {columns} columns are too many for the memory"
                raise DataError(f"{large}; {most}. Split the release into smaller areas, or leave columns out.")
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
    if form.min_k > (most := len(codings.by_name)):
        few = f"min_k is {form.min_k}, but the tables name only {most} columns, so no claim would be looked for"
        raise ConfigError(f"{few}; give min_k from 1 to {most}")
    lines = lines_of(form, codings)
    areas = _areas(form, texts, source)
    coupled = any(across for _, across in lines)
    if coupled and form.area is None:
        raise DataError("a table is counted across areas, but no area column is named; leave out `across`, or add `area`")
    if coupled:
        codings = Codings({str(form.area): areas, **codings.by_name})
    queries = area_queries(lines, str(form.area), areas.code_of) if coupled else [query for query, _ in lines]
    schema = Schema(codings.domain, rules_of(form.rules, codings), tuple(queries))
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
    columns = {name: prepared(data[name], column, source) for name, column in used.items()}
    return Codings({name: coding(name, column, columns[name], str(source)) for name, column in used.items()})


def _used(form: ReleaseForm) -> list[str]:
    """The columns that some table, cell or rule names: those listed first, in their order, then the others as they come."""
    named: list[Iterable[str]] = [[*table.columns, *table.where] for table in form.tables.values()]
    named += [cell.where for cell in form.predicates]
    named += [part for rule in form.rules for part in (rule.when, *rule.then)]
    used = dict.fromkeys(name for names in named for name in names)
    if form.area in used:
        raise DataError(f"column {form.area} is the area of the release, so no table can name it: all are counted per area")
    for name in sorted(RESERVED & set(used)):
        raise DataError(f"column {name!r}: this name is taken by the results; rename the column")
    return [*(name for name in form.columns if name in used), *(name for name in used if name not in form.columns)]


def _areas(form: ReleaseForm, texts: pd.DataFrame, source: Path) -> Coding:
    if form.area is None:
        return coding(WHOLE, ColumnForm(codes={WHOLE: WHOLE}), None, "area")
    column = form.columns.get(form.area) or ColumnForm()
    if form.data is not None:
        return coding(form.area, column, prepared(texts[form.area], column, source), str(source))
    need_columns(source, texts, ["area"])
    return coding(form.area, column, texts["area"][texts["area"] != ""], str(source))


def _records(data: pd.DataFrame, codings: Codings, form: ReleaseForm, coupled: bool, source: Path) -> pd.DataFrame:
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
    rngs = [np.random.default_rng(derive_seed(seed, "publish", name, one.block)) for one in releases]
    return tuple(publish(one, how, rng, (SIZES,)) for one, rng in zip(releases, rngs, strict=True))


def template(path: Path, changes: Mapping[str, Any] | None = None) -> str:
    """The cells as CSV lines with an empty count; with areas, those of one area (to be repeated) and those across."""
    form = read_form(path, changes)
    source = path.parent / str(form.data or form.counts)
    data = read_texts(source, form.limits) if form.data else None
    with naming(path):
        lines = lines_of(form, column_codings(form, data, source))
    areas = ["area", *("" if across else "area" for _, across in lines)]
    result = pd.DataFrame({"area": areas, "cell": [TOTAL, *(query.id for query, _ in lines)], "count": ""})
    return str(neutral_frame(result if form.area else result.drop(columns="area")).to_csv(index=False, lineterminator="\n"))
