"""Releases: files that hold what is published and nothing else."""

import gc
import json
import pickle
import weakref
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from genverify.model.domain import DomainFile
from genverify.model.errors import ReleaseError
from genverify.model.release import (
    Schema,
    build_schema,
    counts_frame,
    make_release,
    read_releases,
    read_schema,
    write_schema,
)
from genverify.model.settings import ReleaseSettings
from genverify.solve.program import layout_of

BLOCK = "010010201001000"


def published(schema: Schema, counts: list[list[int]], withhold: list[int]) -> pd.DataFrame:
    """The published rows of blocks A, B, ... of 5 records with the given counts of the first queries (the others 0)."""
    table = np.zeros((len(counts), len(schema.queries)), dtype=np.int64)
    for row, known in zip(table, counts, strict=True):
        row[: len(known)] = known
    return counts_frame(schema, ["A", "B", "C"][: len(counts)], np.full(len(counts), 5), table, withhold)


@pytest.mark.parametrize(("universe", "zeros"), [("occupied", False), ("housing_units", False), ("housing_units", True)])
def test_a_schema_is_read_as_it_was_written(
    tmp_path: Path,
    census: DomainFile,
    census_tables: dict[str, Any],
    release_settings: ReleaseSettings,
    universe: str,
    zeros: bool,
) -> None:
    settings = release_settings.but(universe=universe, structural_zeros=zeros)
    schema = build_schema(census, census_tables, settings)
    assert len(schema.rules) == (len(census.rules) if zeros else {"occupied": 0, "housing_units": 2}[universe])
    write_schema(schema, tmp_path / "schema.json")
    assert read_schema(tmp_path / "schema.json") == schema
    write_schema(read_schema(tmp_path / "schema.json"), tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "schema.json").read_bytes()


def test_a_schema_without_tables_is_read_as_it_was_written(tmp_path: Path, toy_schema: Schema) -> None:
    bare = Schema(toy_schema.domain, (), ())
    write_schema(bare, tmp_path / "schema.json")
    assert read_schema(tmp_path / "schema.json") == bare


@pytest.mark.parametrize("content", ["", "{", "[]", '{"columns": []}', '{"columns": [1], "rules": [], "queries": []}'])
def test_a_file_that_is_no_schema_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "schema.json").write_text(content)
    with pytest.raises(ReleaseError, match=r"schema\.json: not a release schema .*; rerun the tabulation"):
        read_schema(tmp_path / "schema.json")
    with pytest.raises(ReleaseError, match=r"none\.json: not a release schema"):
        read_schema(tmp_path / "none.json")


def test_a_schema_holds_no_count(tmp_path: Path, toy_schema: Schema) -> None:
    write_schema(toy_schema, tmp_path / "schema.json")
    text = json.loads((tmp_path / "schema.json").read_text())
    assert set(text) == {"columns", "rules", "queries"}
    assert all(set(query) == {"id", "table", "label", "where"} for query in text["queries"])


@pytest.mark.parametrize(
    ("withhold", "left"),
    [([], [0, 1, 2, 3]), ([1], [0, 2, 3]), ([0], [1, 2, 3]), ([0, 1], [2, 3]), ([0, 1, 2, 3], [])],
)
def test_withheld_answers_have_no_row(toy_schema: Schema, withhold: list[int], left: list[int]) -> None:
    rows = published(toy_schema, [[0, 1, 2, 3], [3, 3, 3, 3]], withhold)
    first = rows[rows["block"] == "A"]
    shown = first[first["query"].isin(["T1.cat", "T1.dog", "T1.fish", "T1A.cat"])]
    assert shown["count"].tolist() == left
    assert not set(withhold) & set(rows.loc[rows["query"] != "N", "count"])
    assert rows.loc[rows["query"] == "N", "count"].tolist() == [5, 5]


def test_n_is_published_even_where_answers_of_its_size_are_not(toy_schema: Schema) -> None:
    rows = published(toy_schema, [[5, 1]], [5, 0])
    assert rows[["query", "count"]].astype(str).to_numpy().tolist() == [["N", "5"], ["T1.dog", "1"]]


def test_what_is_withheld_leaves_no_trace(tmp_path: Path, toy_schema: Schema) -> None:
    """A count that changes from one withheld answer to another changes no byte of the release."""
    for name, count in (("one", 0), ("other", 1)):
        rows = published(toy_schema, [[2, count, 2], [3, 2, count]], [0, 1])
        rows.to_parquet(tmp_path / f"{name}.parquet", index=False)
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "other.parquet").read_bytes()
    release = next(read_releases(tmp_path / "one.parquet", toy_schema))
    assert [query.id for query in release.queries] == ["T1.cat", "T1.fish"]


def test_releases_are_read_as_they_were_written(tmp_path: Path, toy_schema: Schema) -> None:
    published(toy_schema, [[1, 2, 2], [0, 0, 5]], [1]).to_parquet(tmp_path / "000.parquet", index=False)
    one, other = read_releases(tmp_path / "000.parquet", toy_schema)
    assert (one.block, one.n, other.block, other.n) == ("A", 5, "B", 5)
    assert one.cells.tolist() == list(range(1, 16))
    assert one.lo.tolist() == [2, 2] + [0] * 13
    assert other.hi.tolist() == [0, 0, 5] + [0] * 13
    assert [query.id for query in one.queries][:2] == ["T1.dog", "T1.fish"]


@pytest.mark.parametrize(
    ("known", "message"),
    [
        ({"T1.cat": 1}, "counts.csv: block 010010201001000 does not say N, its number of records; add a row with query 'N'"),
        ({"N": 3, "T9.cat": 1}, "counts.csv: block 010010201001000 counts 'T9.cat', which is not a query of the schema"),
        ({"N": 3, "T1.cat": -1}, "counts.csv: block 010010201001000: the count of T1.cat is -1, below 0"),
        ({"N": -3}, "counts.csv: block 010010201001000: the count of N is -3, below 0"),
    ],
)
def test_a_wrong_release_is_explained(toy_schema: Schema, known: dict[str, int], message: str) -> None:
    with pytest.raises(ReleaseError) as error:
        make_release(toy_schema, BLOCK, known, "counts.csv")
    assert str(error.value) == message


def test_counts_come_in_the_order_of_the_schema(toy_schema: Schema) -> None:
    release = make_release(toy_schema, BLOCK, {"T3.aged": 2, "N": 3, "T1.cat": 1})
    assert release.cells.tolist() == [0, 15]
    assert release.lo.tolist() == release.hi.tolist() == [1, 2]
    assert release.n == 3


def test_damaged_counts_are_named(tmp_path: Path, toy_schema: Schema) -> None:
    path = tmp_path / "000.parquet"
    rows = published(toy_schema, [[1, 2, 2]], [])
    rows.to_parquet(path, index=False)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ReleaseError, match=r"000\.parquet: not a file of published counts .*; rerun the tabulation"):
        list(read_releases(path, toy_schema))
    rows.drop(columns="count").to_parquet(path, index=False)
    with pytest.raises(ReleaseError, match=r"000\.parquet: no column 'count'; a counts file has block, query and count"):
        list(read_releases(path, toy_schema))
    with pytest.raises(ReleaseError, match=r"none\.parquet: not a file of published counts"):
        list(read_releases(tmp_path / "none.parquet", toy_schema))


@pytest.mark.parametrize(
    "wrong", [[("A", "N", 3), ("A", "T1.cat", 1), ("A", "T1.cat", 2)], [("A", "N", 3), ("A", "T1.cat", 1.7)]]
)
def test_counts_that_say_two_things_are_refused(
    tmp_path: Path, toy_schema: Schema, wrong: list[tuple[str, str, float]]
) -> None:
    path = tmp_path / "000.parquet"
    pd.DataFrame(wrong, columns=["block", "query", "count"]).to_parquet(path, index=False)
    with pytest.raises(ReleaseError, match=r"000\.parquet.*A.*T1\.cat"):
        list(read_releases(path, toy_schema))


def test_a_missing_count_is_named(tmp_path: Path, toy_schema: Schema) -> None:
    path = tmp_path / "000.parquet"
    rows = pd.DataFrame([("A", "N", 3), ("A", "T1.cat", None)], columns=["block", "query", "count"])
    rows.to_parquet(path, index=False)
    with pytest.raises(ReleaseError, match=r"000\.parquet"):
        list(read_releases(path, toy_schema))


def test_what_is_derived_goes_with_its_schema_and_is_not_pickled(toy_schema: Schema) -> None:
    """Two schemas never share what is derived, the last ones asked for are kept, and another process starts without any."""
    one, other = replace(toy_schema), replace(toy_schema, rules=())
    assert one.derived(list, "key", lambda: [1]) is one.derived(list, "key", lambda: [2])
    assert other.derived(list, "key", lambda: [3]) == [3]
    assert one.derived(tuple, "key", lambda: (4,)) == (4,)
    bare = len(pickle.dumps(replace(toy_schema)))
    one.derived(bytes, "large", lambda: b"x" * 10_000)
    assert len(pickle.dumps(one)) == bare
    assert pickle.loads(pickle.dumps(one)) == one
    layout = weakref.ref(layout_of(make_release(one, "block", {"N": 0})))
    assert layout() is layout_of(make_release(one, "another block", {"N": 0}))
    del one
    gc.collect()
    assert layout() is None
