"""
Conditional distributions of sizes and children from a user's sample of households (the paper: 2010 PUMS).

A csv file with a row per household and the columns
  SIZE      persons of the household, 1 or more
  CHILDREN  persons under 18 among them
  RACE      race and origin of the householder, 1 to 14 as in data/housing/domain.yaml
  WEIGHT    optional: how many households the row stands for (default 1)
The 2010 PUMS file itself is one of fixed columns, with a row per person below that of its household: count the persons under
18 of each household first. Rows of vacant units (SIZE 0) are passed over, and so are households without an adult.
"""

from collections import Counter
from pathlib import Path

import pandas as pd

from genverify.core.errors import DataError
from genverify.papers.housing.private.conditionals import ANY, LARGEST, Conditionals, Distribution
from genverify.papers.housing.published.csv_columns import read_columns, whole_numbers
from genverify.papers.housing.published.statistics import RACES

COLUMNS = {"SIZE": ["SIZE"], "CHILDREN": ["CHILDREN"], "RACE": ["RACE"]}
SETTING = "housing.pums"


def read_pums(path: Path, another_child: float) -> Conditionals:
    """The empirical distributions, by race and origin of the householder, and over all of them."""
    counts: Counter[tuple[int, int, int]] = Counter()
    for rows in read_columns(path, COLUMNS, SETTING, ["WEIGHT"]):
        counts.update(_count(rows, path))
    if not counts:
        raise DataError(f"{path}: holds no household; see {SETTING} in config/housing.yaml")
    sizes: dict[tuple[int, int], Counter[int]] = {}
    children: dict[tuple[int, int], Counter[int]] = {}
    for (size, minors, race), weight in counts.items():
        for group in (race, ANY):
            if size >= LARGEST:
                sizes.setdefault((group, int(minors > 0)), Counter())[size] += weight
            if minors:
                children.setdefault((group, size), Counter())[minors] += weight
    of_sizes, of_children = ({key: Distribution.of(found) for key, found in table.items()} for table in (sizes, children))
    return Conditionals("RACE", {race: race for race in range(1, RACES + 1)}, of_sizes, of_children, another_child)


def _count(rows: pd.DataFrame, path: Path) -> Counter[tuple[int, int, int]]:
    """How many households there are of each size, number of children and race."""
    frame = pd.DataFrame({name: whole_numbers(rows, name, path) for name in rows.columns}, index=rows.index)
    if "WEIGHT" not in frame:
        frame["WEIGHT"] = 1
    frame = frame[frame["SIZE"] > 0]
    wrong = (frame["CHILDREN"] > frame["SIZE"]) | ~frame["RACE"].between(1, RACES)
    if wrong.any():
        row = wrong.index[int(wrong.argmax())]
        values = ", ".join(f"{name}={frame[name][row]}" for name in COLUMNS)
        raise DataError(
            f"{path}, row {row}: {values}: at most SIZE persons are under 18, and RACE is a number from 1 to {RACES}. "
            "Correct it."
        )
    kept = frame[(frame["CHILDREN"] < frame["SIZE"]) & (frame["WEIGHT"] > 0)]
    found = kept.groupby(["SIZE", "CHILDREN", "RACE"], as_index=False)["WEIGHT"].sum()
    return Counter({(size, minors, race): weight for size, minors, race, weight in found.to_numpy().tolist()})
