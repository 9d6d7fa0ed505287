"""What the country takes from surveys: estimates of how the columns of a household go together, and how well they fit."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.optimize import minimize

from genverify.model.arrays import Floats, Ints
from genverify.model.domain import DomainFile, Records
from genverify.model.errors import DataError
from studies.country.people import UNIVERSE, Target, margin_of, possible_types, rake
from studies.country.store import read_microdata

# Estimate from surveys how the columns of a household go together: the odds of a log-linear model, shrunk towards 1.

HOUSEHOLDS = "households"
ALMOST_FREE = 100.0  # spread of the log odds of a single column: the national figures decide them anyway
ITERATIONS = 500  # bounds time: the limit of L-BFGS-B
TRIPLES = (
    ("HHSIZE", "HHT2", "TP18"),
    ("HHSIZE", "HHT2", "TP65"),
    ("TEN", "HHSIZE", "HHT2"),
    ("TEN", "HHT2", "TP65"),
    ("HHT2", "THHLDRAGE", "TP18"),
    ("HHSIZE", "THHLDRAGE", "TP65"),
    ("HHSIZE", "HHT2", "THHLDRAGE"),
    ("TEN", "HHT", "THHLDRAGE"),
)
"""Columns of which three have a say together: who can live together at all, and who owns."""


@dataclass(frozen=True)
class Spread:
    """
    How far log odds may lie from 0, as standard deviations: of pairs and of triples of columns, and which triples there are.

    Small spreads keep a table of few households near independence, so that types that the sample lacks keep a chance.
    """

    pairs: float
    triples: float
    which: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Term:
    """A term of the model: its columns, the cell of each type, and the codes of each cell."""

    columns: tuple[str, ...]
    cells: npt.NDArray[np.intp]
    codes: Ints

    def sums(self, weights: Floats) -> Floats:
        return np.bincount(self.cells, weights, minlength=len(self.codes)).astype(np.float64)


@dataclass(frozen=True)
class Survey:
    """Households of a sample: the cell of each row among the cells of its columns, its households and its weight."""

    term: Term
    rows: npt.NDArray[np.intp]
    households: Ints
    weights: Floats

    def counts(self, values: Floats | Ints) -> Floats:
        return np.bincount(self.rows, values, minlength=len(self.term.codes)).astype(np.float64)


def term_of(columns: Sequence[str], records: Records) -> Term:
    """The cells that the types take in these columns."""
    codes = np.stack([records[name] for name in columns], axis=1).astype(np.int64)
    kinds, cells = np.unique(codes, axis=0, return_inverse=True)
    return Term(tuple(columns), cells.reshape(-1), kinds)


def read_survey(table: pd.DataFrame, name: str, file: DomainFile, targets: Sequence[Target]) -> Survey:
    """A survey from counts of distinct households, its weights raked to the national figures about its columns."""
    records = possible_types(file).records
    columns = [column for column in records if column in table]
    if HOUSEHOLDS not in table or len(columns) < 2:
        raise DataError(f"{name}: needs the column {HOUSEHOLDS} and two or more of {', '.join(records)}")
    term = term_of(columns, records)
    rows = pd.MultiIndex.from_arrays(list(term.codes.T)).get_indexer(pd.MultiIndex.from_frame(table[columns]))
    households = table[HOUSEHOLDS].to_numpy(np.int64)
    if (rows < 0).any():
        first = int(np.argmax(rows < 0))
        codes = ", ".join(f"{column}={table[column].iloc[first]}" for column in columns)
        raise DataError(f"{name}, row {first + 2}: no household can have {codes}; correct the row")
    if (households < 1).any():
        first = int(np.argmax(households < 1))
        raise DataError(f"{name}, row {first + 2}: {HOUSEHOLDS} must be 1 or more, not {households[first]}")
    own = {column: table[column].to_numpy() for column in columns}
    margins = [margin_of(file, target, own) for target in targets if target.columns <= set(columns)]
    weights = households.sum() * rake(households.astype(float), margins, rounds=500, tolerance=1e-7)
    return Survey(term, rows, households, weights)


@dataclass(frozen=True)
class Estimate:
    """Log odds of each term, and the joint distribution over the types that they give."""

    terms: tuple[Term, ...]
    logs: tuple[Floats, ...]
    joint: Floats


def estimate(surveys: Sequence[Survey], records: Records, spread: Spread) -> Estimate:
    """
    The log-linear model that maximises the likelihood of all surveys less a penalty on large log odds.

    A survey that lacks columns is compared with the distribution summed over them, so a large survey of few columns and a
    small one of all serve together, and no margin has to be met that another contradicts.
    """
    names = tuple(records)
    chosen = [*combinations(names, 1), *combinations(names, 2), *spread.which]
    terms = tuple(term_of(columns, records) for columns in chosen)
    spreads = {1: ALMOST_FREE, 2: spread.pairs, 3: spread.triples}
    penalty = np.concatenate([np.full(len(t.codes), spreads[len(t.columns)] ** -2.0) for t in terms])
    ends = np.cumsum([len(term.codes) for term in terms])[:-1]
    observed = [survey.counts(survey.weights) for survey in surveys]
    total = sum(counts.sum() for counts in observed)

    def negative(theta: Floats) -> tuple[float, Floats]:
        joint = joint_of(terms, np.split(theta, ends))
        value, per_type = -0.5 * float(penalty @ theta**2), -total * joint
        for survey, counts in zip(surveys, observed, strict=True):
            expected = survey.term.sums(joint)
            seen = counts > 0
            value += float(counts[seen] @ np.log(expected[seen]))
            ratio = np.divide(counts, expected, out=np.zeros_like(counts), where=seen)
            per_type += joint * ratio[survey.term.cells]
        slope = np.concatenate([term.sums(per_type) for term in terms]) - penalty * theta
        return -value, -slope

    start = np.zeros(penalty.size)
    result = minimize(negative, start, jac=True, method="L-BFGS-B", options={"maxiter": ITERATIONS, "maxcor": 20})
    logs = tuple(np.split(result.x, ends))
    return Estimate(terms, logs, joint_of(terms, logs))


def joint_of(terms: Sequence[Term], logs: Sequence[Floats]) -> Floats:
    """The distribution over the types: the product of the odds of all terms."""
    log = np.zeros(terms[0].cells.size)
    for term, values in zip(terms, logs, strict=True):
        log += values[term.cells]
    weights = np.exp(log - log.max())
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def odds_table(fitted: Estimate, surveys: Sequence[Survey]) -> pd.DataFrame:
    """One row per cell of a term: columns, codes, odds, and what the largest survey of these columns has there."""
    pieces = []
    for term, logs in zip(fitted.terms, fitted.logs, strict=True):
        survey = max((s for s in surveys if set(term.columns) <= set(s.term.columns)), key=lambda s: int(s.households.sum()))
        sample, weighted = margin_counts(survey, term)
        piece = pd.DataFrame({"codes": [" ".join(map(str, codes)) for codes in term.codes.tolist()]})
        piece.insert(0, "columns", " ".join(term.columns))
        odds, percent = [f"{value:.4g}" for value in np.exp(logs)], (100 * weighted / weighted.sum()).round(3)
        pieces.append(piece.assign(odds=odds, sample=sample.astype(np.int64), percent=percent))
    return pd.concat(pieces, ignore_index=True)


def margin_counts(survey: Survey, term: Term) -> tuple[Floats, Floats]:
    """Households of the sample, and their weights, in each cell of a term."""
    columns = [survey.term.columns.index(name) for name in term.columns]
    codes = pd.MultiIndex.from_arrays(list(survey.term.codes[:, columns].T))
    cell = pd.MultiIndex.from_arrays(list(term.codes.T)).get_indexer(codes)[survey.rows]
    size = len(term.codes)
    households, weights = (np.bincount(cell, values, minlength=size) for values in (survey.households, survey.weights))
    return households.astype(np.float64), weights.astype(np.float64)


# How well the households of a country fit surveys: margins of two and three columns, cell by cell.

WAYS = (2, 3)
SHIPPED = "odds.csv"


@dataclass(frozen=True)
class Reference:
    """A margin of a survey: its columns, its shares by the codes of these columns, and the households of the sample."""

    survey: str
    columns: tuple[str, ...]
    shares: "pd.Series[float]"
    sample: int


def distinct_households(store: Path, file: DomainFile) -> pd.DataFrame:
    """The occupied households of a country as counts of distinct ones, a state in memory at a time."""
    names, found = [name for name in file.domain.names if name != "VACS"], []
    for path in sorted(store.glob("*.parquet")):
        units = read_microdata(store, columns=["block", *file.domain.names], states=[path.stem]).to_pandas()
        kept = units[file.universe(UNIVERSE).keeps.matches(dict(units.items()))]
        found.append(kept.groupby(names).size().rename(HOUSEHOLDS).reset_index())
    return pd.DataFrame(pd.concat(found).groupby(names)[HOUSEHOLDS].sum().reset_index())


def shipped_margins(odds: Path) -> Iterator[Reference]:
    """The margins of two and three columns whose percentages stand beside the odds."""
    table = pd.read_csv(odds)
    for words, rows in table.groupby("columns", sort=False):
        columns = tuple(str(words).split())
        if len(columns) in WAYS:
            codes = [tuple(map(int, text.split())) for text in rows["codes"]]
            shares = pd.Series(rows["percent"].to_numpy() / 100, pd.MultiIndex.from_tuples(codes, names=columns))
            yield Reference(SHIPPED, columns, shares, int(rows["sample"].sum()))


def survey_margins(table: pd.DataFrame, name: str, file: DomainFile, targets: Sequence[Target]) -> Iterator[Reference]:
    """Every margin of two and three columns of a survey, weighted to the national figures."""
    weights = read_survey(table, name, file, targets).weights
    columns = [column for column in file.domain.names if column in table]
    for ways in WAYS:
        for chosen in combinations(columns, ways):
            yield Reference(name, chosen, shares_of(table, weights, chosen), int(table[HOUSEHOLDS].sum()))


def shares_of(
    table: pd.DataFrame, weights: "np.ndarray[tuple[int], np.dtype[np.float64]]", columns: Sequence[str]
) -> "pd.Series[float]":
    """The shares of the combinations of codes that occur."""
    sums = pd.Series(weights).groupby([table[name].to_numpy() for name in columns]).sum()
    return (sums / sums.sum()).rename_axis(list(columns))


def compare_cells(country: pd.DataFrame, references: Sequence[Reference]) -> pd.DataFrame:
    """One row per cell of every margin: survey, columns, codes, percent of the survey and of the country."""
    rows = []
    for reference in references:
        ours = shares_of(country, country[HOUSEHOLDS].to_numpy(dtype=np.float64), reference.columns)
        both = pd.concat([reference.shares, ours], axis=1, keys=["survey_percent", "percent"]).fillna(0.0) * 100
        codes = [" ".join(map(str, code)) for code in both.index]
        told = both.reset_index(drop=True).assign(survey=reference.survey, columns=" ".join(reference.columns), codes=codes)
        rows.append(told.assign(ways=len(reference.columns), sample=reference.sample))
    return pd.concat(rows, ignore_index=True)


def fit_table(cells: pd.DataFrame, label: str) -> pd.DataFrame:
    """One row per margin: percent in other cells, what a sample would show `by_chance`, the `largest` difference."""
    away = (cells["survey_percent"] - cells["percent"]).abs()
    share = cells["percent"] / 100
    noise = 100 * np.sqrt(share * (1 - share) / cells["sample"] * 2 / np.pi)
    keys = ["survey", "ways", "columns", "sample"]
    table = cells.assign(distance=away / 2, by_chance=noise / 2, largest=away).groupby(keys, sort=False)
    sums = {"distance": ("distance", "sum"), "by_chance": ("by_chance", "sum"), "largest": ("largest", "max")}
    found = table.agg(cells=("codes", "size"), **sums)
    return found.round(3).reset_index().assign(data=label)
