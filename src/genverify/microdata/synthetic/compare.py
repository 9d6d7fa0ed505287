"""How well the households of a country fit surveys: margins of two and three columns, cell by cell."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd

from genverify.core.domain import DomainFile
from genverify.microdata.store import read_microdata
from genverify.microdata.synthetic.country import Target
from genverify.microdata.synthetic.estimate import HOUSEHOLDS, read_survey
from genverify.microdata.synthetic.household_types import UNIVERSE

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
    """
    One row per margin: how many percent of the households would have to change their cell (half the sum of the differences).

    `by_chance`: what a sample of that size would show on average, were it drawn from the country. `largest`: in one cell.
    """
    away = (cells["survey_percent"] - cells["percent"]).abs()
    share = cells["percent"] / 100
    noise = 100 * np.sqrt(share * (1 - share) / cells["sample"] * 2 / np.pi)
    keys = ["survey", "ways", "columns", "sample"]
    table = cells.assign(distance=away / 2, by_chance=noise / 2, largest=away).groupby(keys, sort=False)
    found = table.agg(
        cells=("codes", "size"), distance=("distance", "sum"), by_chance=("by_chance", "sum"), largest=("largest", "max")
    )
    return found.round(3).reset_index().assign(data=label)
