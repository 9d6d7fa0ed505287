"""The verbs of the API, in labels throughout, added to values of the packages below, which know nothing of them."""

import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, fields
from html import escape
from itertools import islice
from math import prod
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
import pandas as pd

from genverify.attack import explain as explanations
from genverify.attack import probability as probabilities
from genverify.attack.generate import WALKERS, starting_points
from genverify.attack.verify import VerifiedBlock, check_verified, claim_columns, verify_block
from genverify.checker.record_proofs import CheckSummary
from genverify.disclosure.record_audit import Attack, bounded_cells
from genverify.disclosure.release_data import MOST_CODES, RESERVED, Coding, Codings, ReleaseDescription
from genverify.disclosure.release_form import ReleaseForm
from genverify.model import release as published
from genverify.model.claims import ANY, Claim, Codes, claim_of
from genverify.model.errors import ConfigError, DataError, nearest, needed, refuse_unknown, refusing
from genverify.model.release import TOTAL, Schema, make_schema
from genverify.model.settings import DATASETS, validate
from genverify.model.tablefiles import plain_text
from genverify.model.work import log, shown_progress
from genverify.protect.publishing import Publishing, publish
from genverify.solve.bounds import Bounder
from genverify.solve.counting.diagram import Budget
from genverify.solve.counting.prior import Prior
from genverify.solve.datasets import draw_records, random_walk
from genverify.solve.program import program_of
from genverify.solve.program_settings import DEFAULT, ProgramSettings

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_COLUMNS = 16  # the attack looks at every set of columns, 65,536 of 16; each further column doubles time and memory
LOOKS = 8  # at datasets on their random walk, WALKERS at a time: what holds in all of them is proved or refuted afterwards
ROWS = 20  # of a table in a notebook; frame() has all
KINDS = {"string", "integer", "boolean", "categorical"}  # of values that a column can hold, as pandas calls them
MARGIN = "All"  # what pandas.crosstab calls a total
# seconds in place of a minute: what is not counted by then is proved or estimated; gv.probability takes a larger budget
QUICK = Budget(states=100_000, moves=2_000_000, seconds=0.3)
FEW_DRAWS = probabilities.Effort(chains=6, draws=8, records=12, between=1)
Bins: TypeAlias = int | Sequence[float] | pd.IntervalIndex
Tables: TypeAlias = Iterable[str | Sequence[str]]
Counts: TypeAlias = "pd.DataFrame | pd.Series[Any]"


@dataclass(frozen=True, repr=False)
class Release(published.Release):
    """What is published of some records, with its verbs; `exact` are the counts before suppression, where they are known."""

    exact: published.Release | None = None

    def __repr__(self) -> str:
        tables, ranges = len({query.table for query in self.queries}), int((self.lo < self.hi).sum())
        known = f"{len(self.cells)} cells" + (f", {ranges} of them ranges" if ranges else "")
        return f"Release {self.block!r}: {self.n} records, {len(self.schema.domain.names)} columns, {tables} tables, {known}"

    @classmethod
    def of(cls, release: published.Release, exact: published.Release | None = None) -> "Release":
        return cls(release.schema, release.block, release.n, release.cells, release.lo, release.hi, exact)

    @classmethod
    def from_frame(
        cls, records: pd.DataFrame, tables: Tables, bins: Mapping[str, Bins] | None = None, suppress: int | None = None,
        name: str = "data",
    ) -> "Release":  # fmt: skip
        """
        The tables that cross the named columns of some records, a row each: texts, categories, booleans and few whole
        numbers as they are. `bins` cuts columns of numbers as pandas.cut does; `suppress=5` hides counts of 1 to 4.
        """
        if not isinstance(records, pd.DataFrame) or records.empty:
            raise DataError("records: give a pandas.DataFrame with a row for each person")
        crossed, bins = _crossed(tables, list(records.columns)), bins or {}
        _check_suppress(suppress)
        used = [column for column in records.columns if any(column in columns for columns in crossed.values())]
        for column in bins.keys() - set(used):
            raise DataError(f"bins: no table has a column {column!r}: {nearest(column, used)}")
        texts = pd.DataFrame({column: _texts(records[column], bins.get(column)) for column in used})
        schema = _schema({column: texts[column].cat.categories for column in used}, crossed)
        exact = published.release_of(schema, texts.astype(str), name)
        return cls.of(publish(exact, Publishing(suppress or 0), np.random.default_rng(0)), exact)

    @classmethod
    def from_counts(
        cls, tables: Iterable[Counts] | Mapping[Any, Counts], n: int | None = None, suppress: int | None = None,
        name: str = "data",
    ) -> "Release":  # fmt: skip
        """
        Tables of counts as pandas.crosstab or value_counts makes them, the axes named for columns, or else
        {("sex", "age"): frame}. What is missing is not published, or with `suppress=5` a count of 1 to 4. `n` is the number
        of records, where no table is complete.
        """
        _check_suppress(suppress)
        given = tables.items() if isinstance(tables, Mapping) else ((None, table) for table in tables)
        cells = [_cells(table, key) for key, table in given]
        crossed = _crossed([tuple(map(str, table.index.names)) for table in cells], None)
        values: dict[str, dict[str, None]] = {}
        for columns, table in zip(crossed.values(), cells, strict=True):
            for column in columns:
                values.setdefault(column, {}).update(dict.fromkeys(table.index.get_level_values(column)))
        schema, known, sums = _schema(values, crossed), dict[str, tuple[int, int]](), set[int]()
        for (title, columns), table in zip(crossed.items(), cells, strict=True):
            for words, count in zip(table.index, table, strict=True):
                hidden = suppress if suppress and not (count == 0 or count >= suppress) else 0  # too small, or missing
                if hidden or count >= 0:
                    known[".".join([title, *words])] = (1, hidden - 1) if hidden else (int(count), int(count))
            if table.notna().sum() == prod(len(values[column]) for column in columns):
                sums.add(int(table.sum()))
        if n is None and len(sums) != 1:
            raise DataError(
                f"which is the number of records? Complete tables add up to {sorted(sums)}: mend them, or give n"
            )
        known[TOTAL] = (n, n) if n is not None else (sums.pop(),) * 2
        least, most = ({cell: ends[side] for cell, ends in known.items()} for side in (0, 1))
        return cls.of(published.make_release(schema, name, least, "counts", most))

    def attack(self, min_k: int = 1, max_k: int | None = None, seed: int = 1) -> "AttackResult":
        """Every claim about min_k to max_k columns that must hold, each with a proof that the checker accepted."""
        return attack_release(self, min_k=min_k, max_k=max_k, seed=seed)

    def probability(
        self, /, m: int = 1, prior: Prior | pd.DataFrame | None = None, floor: float = 0.0,
        sample: pd.DataFrame | None = None, **values: Any,
    ) -> probabilities.Probability:  # fmt: skip
        """
        How likely exactly m records have these values, by label: release.probability(sex="f", smoker=True). `sample` are
        records of people like these; without it, or a prior, every record is equally likely beforehand.
        """
        claim = claim_of(self.schema.domain, values, m)
        return probabilities.probability(self, claim, prior, floor, QUICK, effort=FEW_DRAWS, sample=sample)

    def what_if(
        self, protections: Sequence[Mapping[str, Any]] | Mapping[str, Any], min_k: int = 1, k: int = 2, seed: int = 1
    ) -> pd.DataFrame:
        """
        What the attack verifies of the release, and under each protection instead: {"suppress": 5}, {"round": 3},
        {"drop": ["sex_age"]}, {"coarsen": {"age": {"grown up": ["18-64", "65+"]}}}, as in the file of a release.
        """
        from genverify.disclosure.whatif import what_if

        given = [protections] if isinstance(protections, Mapping) else protections
        form = validate(ReleaseForm, {"name": "release", "protect": list(map(dict, given))}, "what_if")
        codings = Codings({column.name: Coding(column, column.meanings) for column in self.schema.domain.columns})
        described = ReleaseDescription(form, codings, self.schema, (self.exact or self,), (self,), None, coupled=False)
        return what_if(described, Attack(DEFAULT, DATASETS, min_k, seed), k)

    def bounds(self) -> pd.DataFrame:
        """The least and the most that every cell can count, given all others; proved and checked."""
        rows, _ = bounded_cells(program_of(self, DEFAULT.max_types), DEFAULT, 0)
        return pd.DataFrame(rows)[["table", "cell", "label", "published", "lower", "upper", "known_exactly"]]


@dataclass(frozen=True, repr=False)
class AttackResult(VerifiedBlock):
    """What an attack verified, with its verbs; claims are numbered from 0, as the rows of frame()."""

    def __repr__(self) -> str:
        release, claims, verdicts = self.program.release, self.claims, Counter(d.verdict.value for d in self.decisions)
        left = sum(verdicts.values()) - verdicts["verified"] - verdicts["refuted"]
        text = f"AttackResult of {release.block!r}: {len(claims)} verified claims about {release.n} records"
        return f"{text}, {sum(claim.m == 1 for claim in claims)} about exactly one; {left} undecided"

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self))}</p>{self.frame().head(ROWS).to_html()}"

    def frame(self) -> pd.DataFrame:
        """The verified claims in labels, a row each; a star where any value will do."""
        domain = self.program.types.domain
        frame = claim_columns(self.claims, domain.names)
        for column in domain.columns:
            frame[column.name] = frame[column.name].fillna(ANY).map({**column.meaning, ANY: "*"})
        return frame

    def explain(self, claim: int | Claim = 0) -> str:
        """A claim, or the claim with this number, in words: the published cells that force it."""
        return explanations.explain(self, claim)

    def plot(self) -> "Axes":
        """How many claims are verified by the number of columns that they name, as bars; those about one record apart."""
        needed("matplotlib", "a plot", "frame() has the claims without it")
        from matplotlib import pyplot

        counts = pd.crosstab([claim.k for claim in self.claims], [claim.m == 1 for claim in self.claims])
        several, one = (counts.get(single, pd.Series(0, counts.index)) for single in (False, True))
        _, axes = pyplot.subplots()
        axes.bar(counts.index, one, label="about exactly one record")
        axes.bar(counts.index, several, bottom=one, label="about several records")
        axes.set(xlabel="columns that a claim names", ylabel="verified claims", xticks=counts.index)
        axes.legend()
        return axes

    def check(self) -> CheckSummary:
        """Every proof checked once more: exact integers, no solver."""
        return check_verified(self)

    def export(self, path: Path | str, format: str = "vipr") -> str:
        """The proofs for other people's checkers (vipr, opb, smt2 or coq), in a folder or a zip archive; what it holds."""
        from genverify.export.export_command import FORMATS, readme, write_export

        refuse_unknown(format, FORMATS, f"unknown format {format!r}", ConfigError)
        return str(write_export(Path(path), [(self.program.release, self.certificate)], format, readme(format)))


def attack_release(
    release: published.Release, settings: ProgramSettings = DEFAULT, K: int = LOOKS * WALKERS, min_k: int = 1, seed: int = 1,
    max_k: int | None = None,
) -> AttackResult:  # fmt: skip
    """Generate, verify and check: every claim that comes out has a proof that the checker accepted."""
    if not isinstance(release, published.Release):
        raise DataError(f"{type(release).__name__}: give a release, as gv.Release.from_frame or gv.read_releases makes it")
    columns = len(release.schema.domain.names)
    if not 1 <= min_k <= (max_k or columns) <= columns:
        raise ConfigError(f"min_k={min_k}, max_k={max_k}: give 1 <= min_k <= max_k <= {columns}, the number of columns")
    with nullcontext() if log.hasHandlers() else shown_progress():  # unless the caller has the log go elsewhere
        datasets = _walked(settings.proving("An attack without a study").bounder(release), K, seed)
        verified = verify_block(release, datasets, settings, min_k, max_k)
    return AttackResult(**{field.name: getattr(verified, field.name) for field in fields(verified)})


class _Verb(ModuleType):
    """The package genverify.attack, which is a verb too: gv.attack(release), as people guess."""

    def __call__(self, release: published.Release, min_k: int = 1, max_k: int | None = None, seed: int = 1) -> AttackResult:
        return attack_release(release, min_k=min_k, max_k=max_k, seed=seed)


sys.modules["genverify.attack"].__class__ = _Verb
attack = cast(_Verb, sys.modules["genverify.attack"])


def _walked(bounder: Bounder, K: int, seed: int) -> Codes:
    """Some datasets that fit, not all different: random exchanges. Whether there are others is not asked."""
    program, rng = bounder.program, np.random.default_rng(seed)
    walk = random_walk(program, starting_points(bounder, rng), WALKERS, rng)
    return np.concatenate([draw_records(program, points, rng) for points in islice(walk, -(-K // WALKERS))])[:K]


def make_release(schema: Schema, block: str, known: Mapping[str, int], most: Mapping[str, int] | None = None) -> Release:
    """A release from counts by query id (`N`: of all records), the least ones where `most` has the greatest."""
    return Release.of(published.make_release(schema, block, known, most=most))


def release_of(schema: Schema, records: pd.DataFrame, block: str = "data") -> Release:
    """What the tables of a schema publish about records, one row each, with the values that the schema names."""
    return Release.of(published.release_of(schema, records, block))


# Frames as tables of labels.


def _crossed(tables: Tables, known: list[Any] | None) -> dict[str, tuple[str, ...]]:
    """The columns of every table, by its name; of a frame with the `known` columns."""
    tables = [tables] if isinstance(tables, str) else tables
    columns = [(table,) if isinstance(table, str) or not isinstance(table, Iterable) else tuple(table) for table in tables]
    for name in dict.fromkeys(name for table in columns for name in table):
        if known is not None and known.count(name) != 1:
            raise DataError(f"tables: the frame has {known.count(name)} columns {name!r}: {nearest(name, known)}")
        if not isinstance(name, str) or name in RESERVED:
            raise DataError(f"column {name!r}: give it a name that is a text, and none of {', '.join(sorted(RESERVED))}")
    crossed = {"_".join(table): table for table in columns if len(set(table)) == len(table) > 0}
    if not crossed or len(crossed) < len(columns):
        raise DataError(f'tables={columns}: give tables such as [("sex", "age")], each and each of its columns once')
    return crossed


def _check_suppress(suppress: int | None) -> None:
    whole = isinstance(suppress, int | np.integer) and not isinstance(suppress, bool)
    if suppress is not None and not (whole and suppress >= 2):
        raise ConfigError(f"suppress={suppress!r} would hide no count; give the least count that is published, from 2 on")


def _schema(values: Mapping[str, Iterable[str]], crossed: Mapping[str, Sequence[str]]) -> Schema:
    if len(values) > MOST_COLUMNS:
        raise DataError(f"the tables name {len(values)} columns, at most {MOST_COLUMNS} are handled: make several releases")
    schema = make_schema({column: tuple(texts) for column, texts in values.items()}, crossed)
    for cell, times in Counter(query.id for query in schema.queries).most_common(1):
        if times > 1:
            raise DataError(f"two cells are called {cell!r}; rename values that hold a point")
    return schema


def _texts(values: "pd.Series[Any]", bins: Bins | None) -> "pd.Series[Any]":
    """A column as categories of text, in their order."""
    column, missing = f"column {values.name}", values.isna()
    if missing.any():
        first = values.index[missing][0]
        raise DataError(f"{column}: {missing.sum()} values are missing, the first in row {first!r}; use fillna or dropna")
    if bins is not None:
        with refusing((TypeError, ValueError), f"{column}: cannot be cut into bins", "bins are for columns of numbers"):
            values, numbers = pd.cut(values, bins), values
        for value in numbers[values.isna()]:
            raise DataError(f"{column}: {value!r} lies in no bin; widen the first or the last one")
    kind = pd.api.types.infer_dtype(values, skipna=False)
    if kind not in KINDS:
        raise DataError(f"{column}: holds {kind} values; make them text (astype(str)), or cut numbers with bins")
    kinds = values.cat.categories if kind == "categorical" else sorted(values.unique())
    texts = list(map(plain_text, kinds))
    if len(texts) > MOST_CODES or len(set(texts)) < len(texts):
        raise DataError(
            f"{column}: {len(texts)} values, {len(set(texts))} texts; give at most {MOST_CODES}, or bins of numbers"
        )
    return values.astype(pd.CategoricalDtype(kinds)).cat.rename_categories(texts)


def _cells(table: Counts, key: str | Sequence[str] | None) -> "pd.Series[float]":
    """A table of counts with one row per cell, its axes named, its labels as text; not a number where it is missing."""
    if not isinstance(table, pd.DataFrame | pd.Series):
        raise DataError(f"{type(table).__name__}: give tables as pandas.crosstab or value_counts makes them")
    every = list(range(table.columns.nlevels)) if isinstance(table, pd.DataFrame) else []
    long = pd.Series(table.stack(every, future_stack=True) if isinstance(table, pd.DataFrame) else table)
    names = list(long.index.names) if key is None else [key] if isinstance(key, str) else list(key)
    if len(names) != long.index.nlevels or None in names:
        raise DataError(f"a table with axes {names}: name each for its column, or give {{('sex', 'age'): table}}")
    labels = [tuple(map(plain_text, label if isinstance(label, tuple) else (label,))) for label in long.index]
    for label, times in Counter(labels).items():
        if times > 1 or "" in label or MARGIN in label:
            raise DataError(f"table {names}: the row {label} is duplicated, unnamed or a total; give each cell once")
    counts = pd.to_numeric(long, errors="coerce").astype(float)
    for count in long[(counts.isna() & long.notna()) | (counts < 0) | (counts % 1 > 0)]:
        raise DataError(f"table {names}: {count!r} is not a count; give whole numbers, and NaN for what is suppressed")
    return pd.Series(counts.to_numpy(), pd.MultiIndex.from_tuples(labels, names=names))
