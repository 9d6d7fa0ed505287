"""The form of a release file: a closed model of its YAML, the codes of its columns, the cells of its tables."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from genverify.model.errors import ConfigError, DataError
from genverify.model.files import LIMITS, FileLimits, read_yaml
from genverify.model.release import LARGEST_COUNT
from genverify.model.settings import Section, validate
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
    """How likely records are beforehand: `weights`, a file, with `floor` for all others; or `sample`, a file of records."""

    weights: str | None = None
    floor: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    sample: str | None = None

    @property
    def file(self) -> str:
        return self.weights or self.sample or ""


class SearchForm(Section):
    """The search for secondary suppressions: until no singleton claim of `k` or more columns is left, or a limit is met."""

    k: int = Field(default=2, ge=1)
    cells: int = Field(default=60, ge=0)
    seconds: float = Field(default=60.0, ge=0, allow_inf_nan=False)


class ReleaseForm(Section):
    """A release: where its counts come from, its columns, rules and tables, how published, what to try, what a record is."""

    name: SafeName
    title: str = ""
    unit: Annotated[tuple[str, str], Field(strict=False)] = ("person", "people")
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
        return replace(LIMITS, rows=self.max_rows, size=self.max_bytes)


def read_form(path: Path, changes: Mapping[str, Any] | None = None) -> ReleaseForm:
    """The form of a release file with some settings changed, checked as far as it can be without the data."""
    form = validate(ReleaseForm, read_yaml(path) | dict(changes or {}), str(path))
    if (form.data is None) == (form.counts is None):
        raise ConfigError(f"{path}: give either data (microdata to tabulate) or counts (the published counts), as a path")
    if not form.tables and not form.predicates:
        raise ConfigError(f"{path}: describes no tables; add tables, or predicates")
    for name, prior in form.priors.items():
        if (prior.weights is None) == (prior.sample is None) or (prior.sample and prior.floor):
            raise ConfigError(f"{path}: priors: {name}: give either weights, with a floor or not, or a sample")
    for where, one in [("published_as", form.published_as), *((f"protect {p.name}", p) for p in form.protect)]:
        if sum(bool(x) for x in (one.round, one.random_round, one.plus_minus)) > 1:
            raise ConfigError(f"{path}: {where}: give one of round, random_round and plus_minus")
    return form


def prior_files(path: Path) -> list[Path]:
    """The tables of weights that a release file names, relative to it."""
    files = [path.parent / prior.file for prior in read_form(path).priors.values()]
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
