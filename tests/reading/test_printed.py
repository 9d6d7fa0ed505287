"""Readings as printed tables: what is linked is what was read, and nothing is added up that the reading does not say."""

from pathlib import Path

from genverify.disclosure.linked import link
from genverify.disclosure.marks import Value
from genverify.reading.command import read_files, told_of
from genverify.reading.printed import PrintedTable, printed_tables


def tables_of(folder: Path, *texts: str) -> list[PrintedTable]:
    paths = [folder / f"t{at}.csv" for at in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    return printed_tables(read_files(paths, told_of([])))


def test_crosstab_is_linked_as_it_was_read(tmp_path: Path) -> None:
    tables = tables_of(tmp_path, "area,men,women,Total\nnorth,*,30,42\nsouth,18,*,25\nTotal,30,37,67\n")
    assert tables[0].columns == ("area", "columns")
    assert tables[0].sums == {"area": (("Total", ("north", "south")),), "columns": (("Total", ("men", "women")),)}
    values = {(0, labels): _value(entry.text) for labels, entry in tables[0].entries.items()}
    linked = link(tables, values)  # type: ignore[arg-type]
    assert sum(len(said) for said in linked.printed.values()) == 9
    assert len(linked.sums.rows) == 6  # three of areas, three of columns


def _value(text: str) -> Value:
    return Value(0, None, True) if text == "*" else Value(int(text), int(text), False)


def test_times_are_not_added_up(tmp_path: Path) -> None:
    tables = tables_of(tmp_path, "Date,a,b\n2020-01-01,5,6\n2020-01-02,7,*\n2020-01-03,9,9\n")
    assert tables[0].sums == {}


def test_tables_of_two_years_are_not_the_same_people(tmp_path: Path) -> None:
    text = "Table: people of {0}\n\narea,n,m\na,5,3\nb,7,{1}\n"
    tables = tables_of(tmp_path, text.format(2019, 4), text.format(2020, 6))
    assert [set(table.where) for table in tables] == [{"in t0"}, {"in t1"}]
    same = tables_of(tmp_path, text.format(2019, 4), text.format(2019, 4))
    assert [table.where for table in same] == [{}, {}]


def test_percentages_stand_beside_their_count(tmp_path: Path) -> None:
    lines = "".join(f"p{at},{at + 3},{2 * at + 40},{100 * (at + 3) / (2 * at + 40):.1f}\n" for at in range(9))
    table = tables_of(tmp_path, "place,cases,tests,cases_percent\n" + lines)[0]
    assert [(share.labels, share.of) for share in table.shares[:1]] == [(("p0", "cases"), "row")]
