"""Five published files of different shapes, counted again by pandas and openpyxl alone: suppressed cells, and sums."""

import re
from collections.abc import Callable, Iterator
from itertools import product
from math import prod
from pathlib import Path

import openpyxl
import pandas as pd
import pytest

from genverify.reading.reading import Reading, Table, read
from genverify.reading.source import read_source

TABLES = Path(__file__).parents[3] / "shared" / "tables"
pytestmark = pytest.mark.skipif(not TABLES.is_dir(), reason="the published tables are not beside the repository")


def counted(reading: Reading) -> tuple[int, int]:
    """Symbols among the counts, and sums of which the total and all parts are printed, as numbers or as symbols."""
    symbols = sum(entry.number is None for table in reading.tables for entry in table.entries.values())
    return symbols, sum(len(list(_sums(table))) for table in reading.tables)


def _sums(table: Table) -> Iterator[tuple[str, ...]]:
    for at, axis in enumerate(table.axes):
        for parent, children in axis.tree:
            for labels in table.entries:
                parts = [(*labels[:at], child, *labels[at + 1 :]) for child in children]
                if labels[at] == parent and all(part in table.entries for part in parts):
                    yield labels


def boards_by_day(path: Path) -> tuple[int, int]:
    """A line for each day, a column for each board, no total."""
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    return int((frame.iloc[:, 1:] == "*").to_numpy().sum()), 0


def workbook(path: Path) -> tuple[int, int]:
    """Sheets with a line for each day; the last column of each is the country: one sum in every line."""
    symbols = sums = 0
    for sheet in openpyxl.load_workbook(path, data_only=True).worksheets:
        for row in sheet.iter_rows(values_only=True):
            cells = [cell for cell in row[1:] if cell is not None and str(cell).strip()]
            values = [cell for cell in cells if cell == "*" or isinstance(cell, int | float)]
            if len(values) > 10:
                symbols += values.count("*")
                sums += 1
    return symbols, sums


def levels(path: Path) -> tuple[int, int]:
    """Local authorities in regions in a country, all in one list, with counts and percentages by turns."""
    frame = pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8-sig")
    counts = [name for name in frame.columns[11:] if "percent" not in name]
    whole = frame[counts].apply(lambda own: own.str.fullmatch(r"\d+"))
    symbols = int((~whole & (frame[counts] != "")).to_numpy().sum())
    names, sums = frame["region_name"].where(frame["la_name"] == "", ""), 0
    capital = {"Inner London", "Outer London"}
    for _, year in frame.groupby("time_period"):
        regions = set(names[year.index]) - {""}
        sums += len(counts) * (bool(regions) + (capital <= regions))
    local = frame[frame["la_name"] != ""]
    labels = local["la_name"].where(local.groupby("la_name")["new_la_code"].transform("nunique") == 1,
                                    local["la_name"] + local["new_la_code"])  # fmt: skip
    for region in set(local["region_name"]):
        inside = set(labels[local["region_name"] == region])
        for year in set(frame["time_period"]):
            now = (local["region_name"] == region) & (local["time_period"] == year)
            sums += len(counts) * (set(labels[now]) == inside)
    return symbols, sums


def schools(path: Path) -> tuple[int, int]:
    """Groups of pupils of schools by cohort; lines with the same labels stand twice and are no part of it."""
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    key = ["Demographic", "DBN", "School Name", "Cohort"]
    frame = frame[~frame.duplicated(key, keep=False)]
    counts = [name for name in frame.columns if name.endswith(" - n") or name == "Total Cohort"]
    across = ["Total Grads - n", "Advanced Regents - n", "Regents w/o Advanced - n", "Local - n"]
    sums = int((frame[across] != "").all(axis=1).sum())
    rows = {own: set(part["Demographic"]) for own, part in frame.groupby(key[1:])}
    for pair in ({"Male", "Female"}, {"English Language Learners", "English Proficient Students"}):
        sums += len(counts) * sum({"Total Cohort", *pair} <= held for held in rows.values())
    return int((frame[counts] == "s").to_numpy().sum()), sums


def cube(path: Path) -> tuple[int, int]:
    """A PC-Axis file: names, labels and cells by three patterns; sums of every total with all other labels of its axis."""
    text = path.read_bytes().decode("latin-1")
    names = [
        name for key in ("STUB", "HEADING") for name in re.findall(r'"([^"]*)"', re.findall(rf"{key}=([^;]*);", text)[0])
    ]
    labels = [re.findall(r'"([^"]*)"', re.findall(rf'VALUES\("{re.escape(name)}"\)=([^;]*);', text)[0]) for name in names]
    cells = re.findall(r'"[^"]*"|[\d.-]+', text.split("DATA=")[1])
    assert len(cells) == prod(map(len, labels)) == len(list(product(*labels)))
    totals = [own for own in labels if {own[0], own[-1]} & {"Total", "Todas las edades"}]
    return sum(not re.fullmatch(r"\d+", cell) for cell in cells), sum(len(cells) // len(own) for own in totals)


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("scot_covid_hospital_confirmed_by_board.csv", boards_by_day),
        ("phs_covid_board_level.xlsx", workbook),
        ("dfe_cpp_duration_d5.csv", levels),
        ("us_nyc_graduation_outcomes.csv", schools),
        ("icane_es_14001.px", cube),
    ],
)
def test_suppressed_cells_and_sums_are_those_of_another_program(name: str, count: Callable[[Path], tuple[int, int]]) -> None:
    assert counted(read([read_source(TABLES / name)])) == count(TABLES / name)
