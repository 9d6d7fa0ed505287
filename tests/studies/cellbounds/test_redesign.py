"""Redesigned tables disclose nothing, with as few merges as any; sentences of the paper; tables of its real shapes."""

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from genverify.bounds.count_tables import read_printed
from genverify.bounds.propositions import Design, disclosed_cells, named, redesign
from genverify.model.errors import DataError
from genverify.model.files import read_yaml
from studies.cellbounds.benchmarks import _read_adult, _stand_in, open_shapes, time_shape
from studies.cellbounds.settings import Shape
from studies.cellbounds.tables import sentences_table, solutions

tables = st.integers(2, 4).flatmap(
    lambda rows: st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=rows, max_size=rows)
)


@given(tables, st.booleans())
@settings(max_examples=60, deadline=None, derandomize=True)
def test_no_design_with_fewer_merges_discloses_nothing(cells: list[list[int]], ordered: bool) -> None:
    counts = np.array(cells)
    if not counts.sum():
        return
    steps = list(redesign(counts, None, ordered))
    *before, last = steps
    assert all(step.fewest for step in steps)
    assert all(step.disclosed for step in before)
    assert disclosed_cells(last.design.counts(counts), None) == last.disclosed
    assert last.design.counts(counts).sum() == counts.sum()
    assert len(last.design.columns) >= 2
    if len(steps) == 3:  # all tables with one merge, written out
        assert all(disclosed_cells(one, None) for one in merged_once(counts, ordered))


def merged_once(counts: np.ndarray, ordered: bool) -> list[np.ndarray]:
    found = []
    for turned in (counts, counts.T):
        for a, b in combinations(range(len(turned)), 2):
            if not ordered or b == a + 1:
                joined = np.vstack([np.delete(turned, [a, b], axis=0), turned[a] + turned[b]])
                found.append(joined if turned is counts else joined.T)
    return found


def test_few_designs_are_followed_and_that_is_said() -> None:
    counts = np.array([[15, 1, 3, 1], [20, 10, 10, 15], [3, 10, 10, 2], [12, 14, 7, 2]])
    assert [step.disclosed for step in redesign(counts)] == [16, 3, 0]
    assert [step.fewest for step in redesign(counts, followed=1)][2:] in ([False], [False, False])


def test_only_small_counts_matter_where_that_is_asked_for() -> None:
    counts = np.array([[40, 41], [1, 30]])
    assert disclosed_cells(counts, None) == 4
    assert disclosed_cells(counts, 3) == 1


def test_merged_groups_have_names() -> None:
    assert named(((0, 2), (1,)), ["a", "b", "c"]) == "a + c"
    assert Design(((0,),), ((0,), (1,))).cells == 2


def test_a_table_without_records_is_refused() -> None:
    with pytest.raises(DataError, match="nothing to disclose"):
        list(redesign(np.zeros((2, 2), dtype=np.int64)))


def test_the_sentences_of_the_paper_and_its_slips(root: Path) -> None:
    data = root / "data" / "cellbounds"
    names = ("table1", "table2", "table3", "table6", "table7", "table9")
    found = sentences_table(
        {n: read_printed(data / f"{n}.csv") for n in names}, read_yaml(data / "paper.yaml")["sentences"], ""
    )
    wrong = found.loc[~found["equal"]].set_index("key")["ours"].to_dict()
    assert wrong == {"table6_3_2b": "1, 2, 3, 5, 6, 7, 8, 9", "table7_3_2d": "none", "table7_first_sum": "28"}
    assert (found.loc[~found["equal"], "note"] != "").all()


def test_tables_with_these_conditionals_are_counted() -> None:
    assert solutions([2, 3], 6) == 2  # three twos, or two threes
    assert solutions([5], 3) == 0


ADULT = {
    "columns": ["age", "job", "income"],
    "cells": 8,
    "records": 4,
    "variables": {
        "age": {"below": {"young": 25}, "else": "old"},
        "job": {"groups": {"state": ["Federal-gov"]}, "else": "other"},
        "income": {"groups": {"over": [">50K", ">50K."]}, "else": "under"},
    },
}


def adult_files(folder: Path) -> list[Path]:
    (folder / "adult.data").write_text("24, Federal-gov, <=50K\n30, ?, >50K\n\n")
    (folder / "adult.test").write_text("|1x3 Cross validator\n25, Private, >50K.\n70, Federal-gov, <=50K.\n")
    return [folder / "adult.data", folder / "adult.test"]


def test_the_files_of_a_user_are_grouped(tmp_path: Path) -> None:
    table = _read_adult(adult_files(tmp_path), ADULT)
    assert table.names == ("age", "job", "income")
    assert table.counts.tolist() == [[[0, 1], [0, 0]], [[0, 1], [2, 0]]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("24, Private, >50K\n", "1 records in 8 cells, where the paper's table has 4"),
        ("age;job\n", "record 1: not 3 values"),
    ],
)
def test_another_file_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "a.data").write_text(text)
    with pytest.raises(DataError, match=message):
        _read_adult([tmp_path / "a.data"], ADULT)


def shape(**change: Any) -> Shape:
    text = {"levels": [2, 2, 2], "records": 4, "files": [], "adult": False, "responses": [1, 2]}
    return Shape(**{**text, **change})


def test_shapes_without_a_file_are_stand_ins_and_called_so(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("A,B,C,count\na,b,c,3\nx,y,z,1\n")
    given_, other = shape(files=[str(tmp_path / "table.csv")]), shape(records=50)
    read, drawn = open_shapes({"mine": given_, "none": other}, ADULT, 1)
    assert (read[2], drawn[2]) == ("file of the user", "synthetic stand-in of the same shape")
    assert (drawn[1].counts.shape, drawn[1].total) == ((2, 2, 2), 50)
    lines = list(time_shape(*read, given_.responses, 1))
    assert [line["rows"] for line in lines] == [2, 2]
    with pytest.raises(DataError, match=r"8 cells and 4 records; .*shapes.mine says 8 and 5"):
        list(open_shapes({"mine": given_.but(records=5)}, ADULT, 1))


def test_stand_ins_repeat() -> None:
    one, again = (_stand_in([3, 4], 100, np.random.default_rng(5)).counts for _ in range(2))
    assert (one == again).all()
