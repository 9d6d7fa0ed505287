"""Tables in files: what the light install writes as CSV says the same as Parquet, and a broken CSV is an error."""

import sys
from pathlib import Path

import pandas as pd
import pytest

from genverify.model import tablefiles as tablefile
from genverify.model.errors import MissingExtra, ReleaseError
from genverify.model.release import Release, Schema, ranges_frame, read_releases
from genverify.model.tablefiles import read_frame, table_file, table_names, write_frame


@pytest.fixture
def light(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the library for Parquet were not installed."""
    monkeypatch.setattr(tablefile, "find_spec", lambda name: None)
    monkeypatch.setitem(sys.modules, "pyarrow", None)


def releases(made_study: Path, schema: Schema) -> list[Release]:
    return list(read_releases(made_study / "release" / "000.parquet", schema))


def test_releases_are_the_same_in_both_forms(made_study: Path, toy_schema: Schema, tmp_path: Path) -> None:
    frame = ranges_frame(releases(made_study, toy_schema))
    with pytest.MonkeyPatch.context() as patch:
        one = list(read_releases(write_frame(frame, tmp_path, "000"), toy_schema))
        patch.setattr(tablefile, "find_spec", lambda name: None)
        other = list(read_releases(write_frame(frame, tmp_path, "000"), toy_schema))
    assert [path.name for path in tmp_path.iterdir()] == ["000.codes.csv"], "no stale file is left to be read"
    assert [release.digest for release in one] == [release.digest for release in other]


def test_values_that_are_missing_stay_missing(light: None, tmp_path: Path) -> None:
    frame = pd.DataFrame({"block": ["007", "NA"], "m": [1, 2], "sex": pd.array([None, 3], dtype="Int64")})
    found = read_frame(write_frame(frame, tmp_path, "claims"))
    assert found["block"].tolist() == ["007", "NA"]
    assert found["sex"].isna().tolist() == [True, False]
    assert (found["sex"].dtype, found["sex"][1]) == ("Int64", 3)


@pytest.mark.parametrize("count", ["1.5", "many", "inf", "99999999999999999999999", "-1"])
def test_a_count_that_is_none(count: str, toy_schema: Schema, tmp_path: Path) -> None:
    path = tmp_path / "000.codes.csv"
    path.write_text(f"block,query,count\n1,N,{count}\n")
    with pytest.raises(ReleaseError, match=r"000\.codes\.csv"):
        list(read_releases(path, toy_schema))


def test_parquet_names_its_extra(light: None, tmp_path: Path) -> None:
    (tmp_path / "000.parquet").write_bytes(b"PAR1")
    with pytest.raises(MissingExtra, match=r'pip install "genverify\[parquet\]"'):
        read_frame(tmp_path / "000.parquet")


def test_a_folder_may_hold_either_form(tmp_path: Path) -> None:
    for name in ("001.codes.csv", "000.parquet", "000.codes.csv", "claims.csv"):
        (tmp_path / name).touch()
    assert table_names(tmp_path) == ["000", "001"]
    assert [table_file(tmp_path, name).name for name in ("000", "001", "002")] == [
        "000.parquet",
        "001.codes.csv",
        "002.parquet",
    ]
