"""The form of a release file: a closed model of its YAML, the codes of its columns, the cells of its tables."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import pairwise, product
from operator import and_
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
from pydantic import BeforeValidator, Field, field_validator

from genverify.model.domain import EVERY, Column, Predicate, Rule
from genverify.model.errors import ConfigError, DataError, nearest, needed
from genverify.model.files import LIMITS, FileLimits, one_line, read_yaml
from genverify.model.query import Query
from genverify.model.release import LARGEST_COUNT, TOTAL
from genverify.model.settings import Section, validate
from genverify.model.tablefiles import Expected, naming_unreadable, open_csv
from genverify.protect.publishing import Publishing

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
ANSWERS = "put quotes around yes, no, on, off, true and false: YAML reads them as something else"


def as_text(value: Any) -> Any:
    """A code as it stands in the data: numbers become text; a bare yes or no is refused, because YAML changed it."""
    if isinstance(value, bool):
        raise ValueError(ANSWERS)
    return str(value) if isinstance(value, int | float) else value


def as_list(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


def as_name(value: str) -> str:
    if not NAME.fullmatch(value):
        raise ValueError("use letters, digits, _ and - only, and begin with a letter or a digit")
    return value


Text = Annotated[str, BeforeValidator(as_text)]
Texts = Annotated[list[Text], BeforeValidator(as_list), Field(min_length=1)]
Where = dict[str, Texts]
Count = Annotated[int, Field(ge=0, le=LARGEST_COUNT)]
SafeName = Annotated[str, BeforeValidator(as_text), BeforeValidator(lambda value: as_name(str(value)))]


class ColumnForm(Section):
    """A column: its label and its codes with labels; what is left out is read from the data."""

    label: str | None = None
    codes: dict[Text, Text] | None = None
    bins: list[Annotated[float, Field(allow_inf_nan=False)]] | None = Field(default=None, min_length=1)
    missing: Text | None = None


class TableForm(Section):
    """A table: every combination of its columns' codes, some merged under a label, some with totals, of some records."""

    title: str = ""
    columns: list[str] = Field(min_length=1)
    groups: dict[str, dict[Text, Texts]] = Field(default_factory=dict)
    totals: bool | list[str] = False
    where: Where = Field(default_factory=dict)
    across: bool = False


class CellForm(Section):
    """A single published count, by its condition."""

    cell: Text
    where: Where
    label: str = ""
    across: bool = False


class RuleForm(Section):
    """A structural rule: a record that matches `when` matches one of `then`."""

    name: str
    when: Where = Field(default_factory=dict)
    then: Annotated[list[Where], BeforeValidator(as_list), Field(min_length=1)]


class PublishedForm(Section):
    """How counts are published: suppressed below a number, rounded to a base, or with a stated plus-minus."""

    suppress: Count = 0
    zeros: Literal["shown", "hidden"] = "shown"
    round: Count = 0
    random_round: Count = 0
    plus_minus: Count = 0

    @property
    def how(self) -> Publishing:
        given = (("nearest", self.round), ("random", self.random_round), ("stated", self.plus_minus), ("none", 1))
        return Publishing(self.suppress, self.zeros == "shown", *next(one for one in given if one[1]))


class ProtectionForm(PublishedForm):
    """A protection to try: how counts are published, codes merged in a column, tables left out."""

    name: str = ""
    coarsen: dict[str, dict[Text, Texts]] = Field(default_factory=dict)
    drop: Annotated[list[str], BeforeValidator(as_list)] = Field(default_factory=list)


class PriorForm(Section):
    """How likely records are beforehand: a file with the columns of the release and `weight`; the weight of all others."""

    weights: str
    floor: float = Field(default=0.0, ge=0, allow_inf_nan=False)


class SearchForm(Section):
    """The search for secondary suppressions: until no singleton claim of `k` or more columns is left, or a limit is met."""

    k: int = Field(default=2, ge=1)
    cells: int = Field(default=60, ge=0)
    seconds: float = Field(default=60.0, ge=0, allow_inf_nan=False)


class ReleaseForm(Section):
    """A release: where its counts come from, its columns, rules and tables, how published, what to try, what a record is."""

    name: SafeName
    title: str = ""
    unit: tuple[str, str] = ("person", "people")
    synthetic: bool = False
    show_claims: bool = False
    data: str | None = None
    counts: str | None = None
    area: str | None = None
    total: Count | dict[Text, Count] | None = None
    columns: dict[str, ColumnForm | None] = Field(default_factory=dict)
    rules: list[RuleForm] = Field(default_factory=list)
    tables: dict[SafeName, TableForm] = Field(default_factory=dict)
    predicates: list[CellForm] = Field(default_factory=list)
    published_as: PublishedForm = PublishedForm()
    protect: list[ProtectionForm] = Field(default_factory=list)
    priors: dict[SafeName, PriorForm] = Field(default_factory=dict)
    search: SearchForm = SearchForm()
    min_k: int = Field(default=1, ge=1)
    seed: int = Field(default=1, ge=0)
    max_rows: int = Field(default=LIMITS.rows, ge=1)
    max_bytes: int = Field(default=LIMITS.size, ge=1)

    @property
    def limits(self) -> FileLimits:
        """How much the file of data or counts may hold."""
        return replace(LIMITS, rows=self.max_rows, size=self.max_bytes)

    @field_validator("unit", mode="before")
    @classmethod
    def _pair(cls, value: Any) -> Any:
        return tuple(value) if isinstance(value, list) else value


def read_form(path: Path, changes: Mapping[str, Any] | None = None) -> ReleaseForm:
    """The form of a release file with some settings changed, checked as far as it can be without the data."""
    form = validate(ReleaseForm, read_yaml(path) | dict(changes or {}), str(path))
    if (form.data is None) == (form.counts is None):
        raise ConfigError(f"{path}: give either data (microdata to tabulate) or counts (the published counts), as a path")
    if not form.tables and not form.predicates:
        raise ConfigError(f"{path}: describes no tables; add tables, or predicates")
    for where, one in [("published_as", form.published_as), *((f"protect {p.name}", p) for p in form.protect)]:
        if sum(bool(x) for x in (one.round, one.random_round, one.plus_minus)) > 1:
            raise ConfigError(f"{path}: {where}: give one of round, random_round and plus_minus")
    return form


def prior_files(path: Path) -> list[Path]:
    """The tables of weights that a release file names, relative to it."""
    files = [path.parent / prior.weights for prior in read_form(path).priors.values()]
    for file in files:
        if not file.is_file():
            raise DataError(f"{path}: priors: {file} does not exist; weights are paths relative to the release file")
    return files


def source_of(path: Path, form: ReleaseForm | None = None) -> Path:
    """The file of microdata or counts that a release file, or its form where it was read already, names relative to it."""
    form = form or read_form(path)
    source = path.parent / str(form.data or form.counts)
    if not source.is_file():
        raise DataError(f"{path}: {source} does not exist; data and counts are paths relative to the release file")
    return source


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
        if text not in self.code_of:
            raise DataError(f"{where}: column {self.column.name} has no code {text!r}: {nearest(text, list(self.texts))}")
        return self.code_of[text]


@dataclass(frozen=True)
class Codings:
    """The columns of a release by name."""

    by_name: Mapping[str, Coding]

    def __getitem__(self, name: str) -> Coding:
        if name not in self.by_name:
            raise DataError(f"unknown column {name!r}: {nearest(name, list(self.by_name))}")
        return self.by_name[name]

    def predicate(self, where: Mapping[str, Sequence[str]], location: str) -> Predicate:
        """A condition in texts as one in codes; an error names `location` and what is unknown."""
        try:
            return Predicate.of({name: [self[name].code(text, location) for text in texts] for name, texts in where.items()})
        except DataError as error:
            message = str(error)
            raise DataError(message if message.startswith(location) else f"{location}: {message}") from None


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
    texts: pd.DataFrame = frame.apply(lambda column: column.map(lambda own: plain_text(own).strip())).astype(str)
    return texts


def plain_text(value: object) -> str:
    """A value of a frame as a text: nothing where it is missing, whole numbers without decimals."""
    if value is None or value is pd.NA or value != value:
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def prepared(values: CodeTexts, form: ColumnForm, path: Path) -> CodeTexts:
    """A column of the data with its missing values named and its numbers binned, as the release file says."""
    listed = set(form.codes or ())
    missing = values.isin(MISSING) & ~values.isin(listed)
    if missing.any() and form.missing is None:
        raise DataError(
            f"{path}: column {values.name} has {int(missing.sum())} missing values, the first in line "
            f"{values.index[missing][0]}; fill them, leave these rows out, or give them a code: "
            f"columns: {{{values.name}: {{missing: not stated}}}}"
        )
    filled = values.mask(missing, form.missing) if form.missing is not None else values
    if form.bins is None:
        return filled
    given = filled[~missing]
    numbers, labels = pd.to_numeric(given, errors="coerce"), bin_labels(form.bins)
    if numbers.isna().any():
        bad = given[numbers.isna()]
        raise DataError(f"{path}: line {bad.index[0]}: column {values.name} has bins, but {bad.iloc[0]!r} is not a number")
    interval = np.searchsorted(np.array(form.bins, dtype=float), numbers.to_numpy(dtype=float), side="right")
    binned = pd.Series([labels[at] for at in interval], index=given.index, name=values.name)
    return binned.reindex(values.index).where(~missing, filled)


def bin_labels(edges: Sequence[float]) -> list[str]:
    """
    >>> bin_labels([18, 65])
    ['under 18', '18 to 64', '65 and over']
    """
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
        raise DataError(
            f"{where}: column {name} lists no codes; without microdata, give columns: {{{name}: {{codes: ...}}}}"
        )
    texts = bin_labels(form.bins) if form.bins is not None else sorted(set(() if values is None else values), key=_order)
    labels = dict(form.codes) if form.codes is not None else dict(zip(texts, texts, strict=True))
    if form.codes is None and form.bins is None:  # the texts of the data, if they are few enough to be codes
        fractions = [text for text in texts if _order(text)[0] == 0 and not float(text).is_integer()]
        if len(texts) > MOST_CODES or len(fractions) > 5:
            edges, codes = (
                "give its edges, columns: {%s: {bins: [18, 40, 65]}}",
                "list its codes, columns: {%s: {codes: ...}}",
            )
            hint = (edges if _order(texts[0])[0] == 0 else codes) % name
            examples = f"{len(texts)} different values such as {texts[0]} and {texts[-1]}"
            raise DataError(f"{where}: column {name} is not discrete: {examples}; {hint}")
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
    codes = values.map(coding.code_of)
    if codes.isna().any():
        bad = values[codes.isna()]
        raise DataError(
            f"{path}: line {bad.index[0]}: column {coding.column.name} has {bad.iloc[0]!r}, which is not among its codes: "
            f"{nearest(bad.iloc[0], list(coding.texts))}"
        )
    return np.asarray(codes, dtype=np.int64)


# The cells of a release: every line of every table that a release file describes, with a stable id.

ALL = "all"
CELLS = "cells"
SIZES = "area_sizes"


@dataclass(frozen=True)
class Line:
    """A line of a table, before areas: its cell as a user writes it, and whether it is counted across all areas."""

    query: Query
    across: bool


def lines_of(form: ReleaseForm, codings: Codings) -> list[Line]:
    """Every line in the order of the file; an error where two lines have the same id."""
    lines = [line for name, table in form.tables.items() for line in _table(name, table, codings)]
    for cell in form.predicates:
        predicate = codings.predicate(cell.where, f"cell {cell.cell}")
        lines.append(Line(Query(cell.cell, CELLS, cell.label or _label(predicate, codings), predicate), cell.across))
    seen = {TOTAL}
    for line in lines:
        if line.query.id in seen:
            raise DataError(
                f"two cells are called {line.query.id!r} (N counts everyone); rename one of table {line.query.table}"
            )
        seen.add(line.query.id)
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
            raise DataError(
                f"{location}: groups or totals of {column!r}, no column of this table: {nearest(column, table.columns)}"
            )
    words = [_words(column, table, codings, location, column in totals) for column in table.columns]
    title = [f"of those with {_label(filtered, codings)}"] if table.where else []
    for line in product(*words):
        texts, labels, conditions = zip(*line, strict=True)
        predicate = reduce(and_, conditions, filtered)
        if all(codes for _, codes in predicate.clauses):
            label = ", ".join([*filter(None, labels), *title]) or "everyone"
            yield Line(Query(".".join([name, *texts]), name, label, predicate), table.across)


def _words(column: str, table: TableForm, codings: Codings, location: str, total: bool) -> list[tuple[str, str, Predicate]]:
    """Each group of one column, each code that stands in none, the total where asked: part of the id, label, condition."""
    if column not in codings.by_name:
        raise DataError(f"{location}: unknown column {column!r}: {nearest(column, list(codings.by_name))}")
    coding = codings[column]
    grouped: dict[str, str] = {}
    for label, texts in table.groups.get(column, {}).items():
        if label in coding.code_of and label not in texts:
            raise DataError(
                f"{location}: the group {label!r} of {column} has the name of a code outside it; rename the group"
            )
        for text in texts:
            if text in grouped:
                raise DataError(f"{location}: {text!r} is in two groups of {column}, {grouped[text]!r} and {label!r}")
            coding.code(text, location)
            grouped[text] = label
    words: dict[str, list[str]] = {}
    for text in coding.texts:
        words.setdefault(grouped.get(text, text), []).append(text)
    made = [(ALL, "", EVERY)] if total else []
    for word, texts in reversed(words.items()):
        meaning = word if word in grouped.values() else coding.column.meaning[coding.code_of[texts[0]]]
        made.insert(0, (word, f"{coding.column.label}: {meaning}", codings.predicate({column: texts}, location)))
    return made


def _label(predicate: Predicate, codings: Codings) -> str:
    named = ((codings[name].column, codes) for name, codes in predicate.clauses)
    parts = (f"{column.label}: {' or '.join(column.meaning[code] for code in codes)}" for column, codes in named)
    return ", ".join(parts) or "everyone"


def rules_of(rules: Sequence[RuleForm], codings: Codings) -> tuple[Rule, ...]:
    """The structural rules in codes."""
    result = []
    for rule in rules:
        *then, when = (codings.predicate(part, f"rule {rule.name}") for part in (*rule.then, rule.when))
        result.append(Rule(rule.name, when, tuple(then)))
    return tuple(result)


def area_queries(lines: Sequence[Line], area: str, codes: Mapping[str, int]) -> list[Query]:
    """The queries of a release whose areas are one column of its records: sizes, lines per area, lines across areas."""
    inside = {text: Predicate.of({area: [code]}) for text, code in codes.items()}
    queries = [Query(f"{SIZES}.{text}", SIZES, f"{area}: {text}", own) for text, own in inside.items()]
    for query, across in ((line.query, line.across) for line in lines):
        queries += [query] if across else [
            Query(area_cell(text, query.id), query.table, f"{query.label}, {area}: {text}", query.predicate & own)
            for text, own in inside.items()
        ]  # fmt: skip
    return queries


def area_cell(area: str, cell: str) -> str:
    """The id of a cell of one area, where all areas stand in one program."""
    return f"{area}/{cell}"
