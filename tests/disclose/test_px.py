"""Files that end in .px: read as what they say, or refused."""

from pathlib import Path

import pytest

from genverify.disclose.read.choose import read_tables
from genverify.model.errors import DataError

CELLS = "sex|age|count\nf|young|3\nf|old|4\nf|Total|7\nm|young|*\nm|old|5\nm|Total|9\n"


def test_a_table_is_read(tmp_path: Path) -> None:
    (tmp_path / "people.px").write_text(CELLS)
    (table,) = read_tables([tmp_path / "people.px"])
    assert table.columns == ("sex", "age")
    assert {labels: entry.text for labels, entry in table.entries.items()}["m", "young"] == "*"
    assert table.sums["age"].top == "Total"


def test_a_line_that_is_cut_short_is_named(tmp_path: Path) -> None:
    (tmp_path / "people.px").write_text(CELLS.replace("f|old|4", "f|old"))
    with pytest.raises(DataError, match="line 3: holds 2 parts, but the first line names 3"):
        read_tables([tmp_path / "people.px"])
