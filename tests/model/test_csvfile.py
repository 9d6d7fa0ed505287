"""CSV files of users: however they are written, the same table is read, and a mistake is named with its row."""

import gzip
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from genverify.model.errors import DataError
from genverify.model.files import FileLimits
from genverify.model.tablefiles import Expected, open_csv, refuse_row

EXPECTED = Expected("a table of towns", "see towns in config.yaml", FileLimits(rows=100))
TABLE = pd.DataFrame({"town": ["Köln", "a, b", "x"], "count": ["1", "2", ""]})


def write(path: Path, text: str, encoding: str = "utf-8") -> Path:
    raw = text.encode(encoding)
    path.write_bytes(gzip.compress(raw) if path.suffix == ".gz" else raw)
    return path


@pytest.mark.parametrize("name", ["towns.csv", "towns.csv.gz"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_one_table_written_in_many_ways(tmp_path: Path, name: str, encoding: str, delimiter: str) -> None:
    path = write(tmp_path / name, TABLE.to_csv(index=False, sep=delimiter), encoding)
    file = open_csv(path, EXPECTED)
    assert file.names == ("town", "count")
    assert file.frame().reset_index(drop=True).equals(TABLE)
    assert pd.concat(file.pieces(["count"], 2))["count"].tolist() == ["1", "2", ""]


@given(st.lists(st.booleans(), min_size=1, max_size=12), st.integers(1, 4))
def test_rows_are_numbered_by_the_lines_of_the_file(
    tmp_path_factory: pytest.TempPathFactory, full: list[bool], at: int
) -> None:
    lines = ["value,other", *(f"{number},x" if holds else " " for number, holds in enumerate(full, 2))]
    file = open_csv(write(tmp_path_factory.mktemp("csv") / "lines.csv", "\n".join(lines)), EXPECTED)
    frame = file.frame(["value"], texts=[])
    assert frame["value"].astype(int).tolist() == frame.index.tolist() == [n for n, holds in enumerate(full, 2) if holds]
    assert [row for piece in file.pieces(["value"], at) for row in piece.index] == frame.index.tolist()


MISTAKES = {
    "no file": (None, r"cannot be read as a table of towns \(No such file or directory\); see towns in config\.yaml"),
    "empty": ("\n \n", "towns.csv: the file is empty"),
    "no text": ("town,count\na\0,1\n", "is not text in UTF-8"),
    "two equal names": ("town,count, town\na,1,2\n", "line 1: 2 columns are called 'town'"),
    "too many fields": ("town,count\na,1\n\nb,2,3\n", "row 4: 3 fields, but the header names 2 columns"),
    "too many fields in marks": ('town,count\n"a, b",1\n"c, d",1,2\n', "row 3: 3 fields, but"),
    "missing column": ("town,cuont\na,1\n", r"has no column 'count': did you mean cuont\? \(known: town, cuont\)"),
    "too many rows": ("town,count\n" + "a,1\n" * 101, "holds more than 100 rows"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_mistakes_are_named(tmp_path: Path, case: str) -> None:
    text, message = MISTAKES[case]
    if text is not None:
        write(tmp_path / "towns.csv", text)
    with pytest.raises(DataError, match=message):
        open_csv(tmp_path / "towns.csv", EXPECTED).frame(["town", "count"])


def test_texts_in_quotation_marks_may_hold_delimiters_and_line_breaks(tmp_path: Path) -> None:
    path = write(tmp_path / "towns.csv", 'town,count\n"a, b",1\n"c\nd, e, f",2\n')
    assert open_csv(path, EXPECTED).frame()["town"].tolist() == ["a, b", "c\nd, e, f"]


def test_the_first_wrong_value_is_named(tmp_path: Path) -> None:
    frame = open_csv(write(tmp_path / "towns.csv", "town,count\na,1\n\nb,-2\nc,-3\n"), EXPECTED).frame(texts=["town"])
    refuse_row(tmp_path, frame["count"], frame["count"] > 5, "is large")
    with pytest.raises(DataError, match=r", row 4: count -2 is negative\. Correct it"):
        refuse_row(tmp_path, frame["count"], frame["count"] < 0, "is negative. Correct it.")
    with pytest.raises(DataError, match=r", row 5: town 'c' is odd"):
        refuse_row(tmp_path, frame["town"], [False, False, True], "is odd")
