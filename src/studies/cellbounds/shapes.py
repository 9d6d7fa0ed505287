"""
Tables of the shapes that the paper tested (section 3.3): 2,880 cells with N = 48,842, and 65,536 cells with N = 21,574.

A user's files are read where they are given; otherwise a stand-in of the same shape is drawn from a mixture of a few classes
of people, which makes some combinations common and leaves most of them empty, as in the real tables. It is called so.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pandas as pd

from genverify.bounds.count_tables import Multiway, read_multiway
from genverify.bounds.exact import aggregate, conditionals_of_counts, exact_bounds
from genverify.model.errors import DataError
from genverify.model.tablefiles import Expected, naming_unreadable
from genverify.model.work import derive_seed
from studies.cellbounds.settings import Shape

CLASSES, SPREAD = 5, 0.5
STAND_IN = "synthetic stand-in of the same shape"


def stand_in(levels: Sequence[int], records: int, rng: np.random.Generator, spread: float = SPREAD) -> Multiway:
    """
    Records over the cells, each of one of a few classes, with the variables apart from each other within a class.

    >>> stand_in([2, 3], 10, np.random.default_rng(0)).counts.sum()
    np.int64(10)
    """
    of_class = rng.choice(CLASSES, records, p=rng.dirichlet(np.ones(CLASSES)))
    indices = []
    for size in levels:
        shares = np.cumsum(rng.dirichlet(np.full(size, spread), CLASSES), axis=1)
        indices.append((rng.random(records)[:, None] > shares[of_class, :-1]).sum(axis=1))
    counts = np.zeros(levels, dtype=np.int64)
    np.add.at(counts, tuple(indices), 1)
    names = tuple(f"V{index + 1}" for index in range(len(levels)))
    return Multiway(names, tuple(tuple(map(str, range(size))) for size in levels), counts)


def read_adult(paths: Sequence[Path], layout: Mapping[str, Any]) -> Multiway:
    """The eight-way table of the UCI Adult files (adult.data, adult.test), grouped as the layout says."""
    names, grouped = list(layout["columns"]), layout["variables"]
    frame = pd.concat([_read(path, names) for path in paths], ignore_index=True)
    columns = {name: _group(frame[name], how, name) for name, how in grouped.items()}
    levels = {name: _levels(how) for name, how in grouped.items()}
    counts = np.zeros([len(level) for level in levels.values()], dtype=np.int64)
    np.add.at(counts, tuple(pd.Index(levels[name]).get_indexer(pd.Index(column)) for name, column in columns.items()), 1)
    if counts.size != layout["cells"] or counts.sum() != layout["records"]:
        raise DataError(
            f"{', '.join(map(str, paths))}: {counts.sum():,} records in {counts.size:,} cells, where the paper's table has "
            f"{layout['records']:,} in {layout['cells']:,}. Name both files, adult.data and adult.test, as they come."
        )
    return Multiway(tuple(levels), tuple(map(tuple, levels.values())), counts)


def _read(path: Path, names: Sequence[str]) -> pd.DataFrame:
    """A file without a header; the first line of adult.test is a remark, and answers of income end in a full stop there."""
    with naming_unreadable(path, Expected("a file of the UCI Adult data")):
        frame = pd.read_csv(path, names=list(names), comment="|", skipinitialspace=True, dtype=str, keep_default_na=False)
    frame = frame[frame["age"] != ""]
    wrong = frame.index[~frame["age"].str.fullmatch(r"\d{1,3}") | frame["income"].isna() | (frame["income"] == "")]
    if len(wrong):
        raise DataError(
            f"{path}, record {int(wrong[0]) + 1}: not {len(names)} values beginning with an age; a UCI Adult file?"
        )
    return frame


def _levels(how: Mapping[str, Any]) -> list[str]:
    return [*map(str, how.get("groups", how.get("below", {}))), str(how["else"])]


def _group(column: "pd.Series[str]", how: Mapping[str, Any], name: str) -> "pd.Series[str]":
    if "groups" in how:
        of = {value: str(group) for group, values in how["groups"].items() for value in values}
        return column.map(of).fillna(str(how["else"]))
    numbers = pd.to_numeric(column, errors="coerce")
    if numbers.isna().any():
        raise DataError(f"column {name}: {column[numbers.isna()].iloc[0]!r} is no number")
    result = pd.Series(str(how["else"]), index=column.index)
    for group, limit in reversed(how["below"].items()):
        result = result.mask(numbers < limit, str(group))
    return result


@dataclass(frozen=True)
class ShapedTable:
    """A table of a shape, and whether it is the user's or a stand-in."""

    name: str
    table: Multiway
    data: str


def open_shapes(shapes: Mapping[str, Shape], adult_layout: Mapping[str, Any], seed: int) -> Iterator[ShapedTable]:
    """The table of every shape: from its files, or a stand-in."""
    for name, shape in shapes.items():
        if not shape.files:
            yield ShapedTable(name, stand_in(shape.levels, shape.records, _rng(seed, name)), STAND_IN)
            continue
        paths = [Path(path) for path in shape.files]
        table = read_adult(paths, adult_layout) if shape.adult else read_multiway(paths[0])
        if table.counts.size != prod(shape.levels) or table.total != shape.records:
            raise DataError(
                f"{paths[0]}: {table.counts.size:,} cells and {table.total:,} records; benchmark.cellbounds.shapes.{name} "
                f"says {prod(shape.levels):,} and {shape.records:,}. Correct levels and records, or the file."
            )
        yield ShapedTable(name, table, "file of the user")


def _rng(seed: int, name: str) -> np.random.Generator:
    return np.random.default_rng(derive_seed(seed, "cellbounds", "shape", name))


def time_shape(shaped: ShapedTable, responses: Sequence[int], repeats: int) -> Iterator[dict[str, Any]]:
    """Seconds for all bounds of rearrangements of a table: its last n variables as the response."""
    names = shaped.table.names
    for number in responses:
        given, response = names[:-number], names[-number:]
        counts = aggregate(shaped.table.counts, names, given, response)
        counts = counts[counts.sum(axis=1) > 0]
        rows, columns = (list(map(str, range(size))) for size in counts.shape)
        seconds = []
        for _ in range(repeats):
            started = process_time()
            known = conditionals_of_counts(rows, columns, counts)
            result = exact_bounds(known, shaped.table.total)
            seconds.append(process_time() - started)
        disclosed = counts[result.disclosed]
        yield {
            "table": shaped.name, "cells": shaped.table.counts.size, "N": shaped.table.total, "responses": number,
            "rows": counts.shape[0], "columns": counts.shape[1], "nonzero_cells": int((counts > 0).sum()),
            "rows_with_reduced_sum_1": int((known.sums == 1).sum()), "disclosed_rows": int(result.disclosed.sum()),
            "disclosed_counts": int((disclosed > 0).sum()), "cpu_s": round(min(seconds), 4), "data": shaped.data,
        }  # fmt: skip
