"""The command `bounds`: what it prints, and what it says of tables that cannot be."""

import subprocess
import sys
from pathlib import Path

import pytest

from genverify.cli import main

PEOPLE = """sex,age,smokes,count
f,young,no,3
f,young,yes,1
f,old,yes,2
m,young,no,2
m,old,no,4
m,old,yes,2
"""


@pytest.fixture
def write(tmp_path: Path):  # type: ignore[no-untyped-def]
    def to(text: str, name: str = "table.csv") -> str:
        (tmp_path / name).write_text(text)
        return str(tmp_path / name)

    return to


def said(capsys: pytest.CaptureFixture[str], *words: object) -> list[str]:
    assert main(["bounds", *map(str, words)]) == 0
    return capsys.readouterr().out.splitlines()


def refused(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    assert main(["bounds", *map(str, words)]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    return output.err.strip()


def test_counts_fractions_and_decimals_are_bounded_alike(capsys, write) -> None:  # type: ignore[no-untyped-def]
    """Reduced sums 4 and 2, N - R = 8: the multipliers are (0, 4), (1, 2) and (2, 0)."""
    texts = ["3,1\nb,1,1", "6,2\nb,3,3", "3/4,1/4\nb,2/4, 1/2", "0.75,.25\nb,0.50,1/2"]
    for text in texts:
        found = said(capsys, write(f"row,x,y\na,{text}\n"), "--given", "rows", "--total", 14)
        assert found == ["row,column,lower,upper", "a,x,3,9", "a,y,1,3", "b,x,1,5", "b,y,1,5"], text


def test_given_columns_turns_the_table(capsys, write) -> None:  # type: ignore[no-untyped-def]
    found = said(capsys, write("row,x,y\na,3,1\nb,1,1\n"), "--given", "columns")
    assert found == ["row,column,lower,upper", "a,x,3,3", "b,x,1,1", "a,y,1,1", "b,y,1,1"]


def test_the_example_of_the_paper(capsys, root: Path) -> None:  # type: ignore[no-untyped-def]
    second = root / "data" / "cellbounds" / "table2.csv"
    bounds = said(capsys, second, "--given", "rows", "--total", 130)
    assert bounds[:4] == ["row,column,lower,upper", "Alpha,Low,15,45", "Alpha,Medium,1,3", "Alpha,High,3,9"]
    totals = said(capsys, second, "--given", "rows", "--show", "totals")
    assert totals[:7] == [
        "row,multiplier,total",
        "Alpha,0,20",
        "Alpha,1,40",
        "Alpha,2,60",
        "Beta,0,10",
        "Beta,2,30",
        "Beta,4,50",
    ]
    prior = said(capsys, second, "--given", "rows", "--prior", "Alpha", "Low,Medium", "-", "28", "--show", "totals")
    assert prior == ["row,multiplier,total", "Alpha,0,20", "Beta,4,50", "Gamma,0,25", "Delta,0,35"]
    disclosure = said(capsys, second, "--given", "rows", "--show", "disclosure")
    assert disclosure[1:3] == ["Alpha,20,0,3.1; 3.4,2,3.1,", "Beta,10,0,3.1,4,3.1,"]
    assert disclosure[3:] == ["Gamma,25,0,3.1,0,3.2 (d),3.2 (d)", "Delta,35,0,3.1,0,3.2 (c),3.2 (c)"]


def test_rounded_conditionals(capsys, root: Path, write) -> None:  # type: ignore[no-untyped-def]
    third = root / "data" / "cellbounds" / "table3.csv"
    words = ("--given", "rows", "--total", 135, "--decimals", 3, "--rounding", "either")
    assert said(capsys, third, *words)[1:3] == ["Alpha,Low,15,15", "Alpha,Medium,1,1"]
    assert said(capsys, third, *words, "--show", "totals") == ["row,total", "Alpha,20", "Beta,55", "Gamma,25", "Delta,35"]
    assert said(capsys, third, *words, "--show", "disclosure")[1] == "Alpha,20,20,True"
    counts = write("row,x,y\na,1,2\nb,0,0\n")
    assert said(capsys, counts, "--given", "rows", "--decimals", 0) == [
        "row,column,lower,upper", "a,x,0,1", "a,y,2,3", "b,x,0,0", "b,y,0,0",
    ]  # fmt: skip


def test_variables_that_are_not_named_are_summed_out(capsys, write) -> None:  # type: ignore[no-untyped-def]
    people = write(PEOPLE)
    found = said(capsys, people, "--given", "sex", "--response", "smokes")
    assert found == ["row,column,lower,upper", "f,no,1,5", "f,yes,1,5", "m,no,3,9", "m,yes,1,3"]
    both = said(capsys, people, "--given", "sex,age", "--response", "smokes")
    assert [line.rsplit(",", 3)[0] for line in both[1::2]] == ['"f,old"', '"f,young"', '"m,old"', '"m,young"']


def test_marginals_of_one_file_and_published_ones_say_the_same(capsys, write) -> None:  # type: ignore[no-untyped-def]
    one = said(capsys, write(PEOPLE), "--marginals", "sex,age", "--marginals", "age,smokes")
    sex_age = write("sex,age,count\nf,old,2\nf,young,4\nm,old,6\nm,young,2\n", "sex_age.csv")
    age_smokes = write("age,smokes,count\nold,no,4\nold,yes,4\nyoung,no,5\nyoung,yes,1\n", "age_smokes.csv")
    assert one == said(capsys, sex_age, age_smokes)
    assert one == [
        "sex,age,smokes,lower,upper,exact", "f,old,no,0,2,yes", "f,old,yes,0,2,yes", "f,young,no,3,4,yes",
        "f,young,yes,0,1,yes", "m,old,no,2,4,yes", "m,old,yes,2,4,yes", "m,young,no,1,2,yes", "m,young,yes,0,1,yes",
    ]  # fmt: skip
    records = "sex,age\nf,old\nf,old\nm,young\n"
    assert said(capsys, write(records), "--marginals", "sex", "--marginals", "age")[1:] == [
        "f,old,1,2,yes", "f,young,0,1,yes", "m,old,0,1,yes", "m,young,0,1,yes",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "words", "message"),
    [
        ("row,x,y\na,1/2,1/2\nb,1/2,1/3\n", ("--total", 9), "row 'b': the fractions sum to 5/6 (about 0.833333), not to 1"),
        ("row,x,y\na,0.333,0.333\n", ("--total", 9), "say with --decimals how the values were rounded"),
        ("row,x,y\na,1/2,1/2\n", (), "--total N is needed"),
        ("row,x,y\na,1/2,1/2\n", ("--total", 1), "N = 1 is too small: the fractions alone need 2 records"),
        ("row,x,y\na,1/2,1/2\n", ("--total", 3), "no table has these conditionals and this N"),
        ("row,x,y\na,1/2,1/2\n", ("--total", 0), "N = 0: give a number of records from 1 to 1,000,000,000"),
        ("row,x,y\na,8,2\n", ("--total", 7), "row 'a', column 'x': the count 8 is above N = 7"),
        ("row,x,y\n", (), "an empty table"),
        ("", (), "table.csv: the file is empty"),
        ("row,x,y\na,1,many\n", (), "line 2, column 'y': 'many' is not a number"),
        ("row,x,y\na,1,\n", (), "line 2, column 'y': '' is not a number"),
        ("row,x,y\na,1,1/0\n", (), "1/0 has the denominator 0"),
        ("row,x,y\na,1\n", (), "line 2, column 'y': '' is not a number"),
        ("row,x,y\na,1,2\na,2,1\n", (), "row label 'a' is duplicated"),
        ("row,x,x\na,1,2\n", (), "2 columns are called 'x'"),
        ("row,x,y\na,1,-2\n", (), "row 'a', column 'y': the count -2 is negative"),
        ("row,x,y\na,3/2,-1/2\n", ("--total", 9), "row 'a', column 'y': -1/2 is negative"),
        ("row,x,y,total\na,1,2,3\n", (), "the last column ('total') adds up the others; leave it out"),
        ("row,x,y\na,1,2\nTotal,1,2\n", (), "the last row ('Total') adds up the others; leave it out"),
        ("row,x,y\na,123456789012345678,1\n", (), "too long for a number"),
        ("row,x,y\na,0.25,0.75\n", ("--total", 9, "--decimals", 1), "0.25 is not a proportion from 0 to 1 with 1 decimals"),
        ("row,x,y\na,0.3,0.3\n", ("--total", 9, "--decimals", 1), "row 'a': no counts with a total up to 9 round to these"),
        ("row,x,y\na,0.3,0.7\nb,0.4,0.6\n", ("--total", 6, "--decimals", 1), "N = 6 is too small"),
        ("row,x,y\na,1,2\n", ("--decimals", 12), "decimals = 12: give a whole number from 0 to 9"),
        ("row,x,y\na,1,2\n", ("--decimals", 1, "--prior", "a", "x", "0", "1"), "--prior goes with exact fractions"),
        ("row,x,y\na,1,2\n", ("--prior", "a", "x", "zero", "1"), "'zero' is not a whole number"),
        ("row,x,y\na,1,2\n", ("--prior", "a", "z", "0", "1"), "no column 'z'"),
        ("row,x,y\na,2,4\n", ("--prior", "a", "x", "5", "5"), "no table has these conditionals and this N"),
        ("row,x,y\na,2,4\n", ("--prior", "a", "y", "5", "5"), "no multiple of the fractions has y at least 5 and at most 5"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(capsys, write, text: str, words: tuple[object, ...], message: str) -> None:  # type: ignore[no-untyped-def]
    found = refused(capsys, write(text), "--given", "rows", *words)
    assert message in found
    assert found.startswith(("DataError: ", "ConfigError: "))
    assert "\n" not in found


def test_marginals_that_cannot_be(capsys, write) -> None:  # type: ignore[no-untyped-def]
    ab, bc = write("A,B,count\n1,1,2\n1,2,1\n", "ab.csv"), write("B,C,count\n1,1,1\n2,1,2\n", "bc.csv")
    assert "no dataset fits the published counts. These contradict each other" in refused(capsys, ab, bc)
    assert "counts 4 records but A,B counts 3" in refused(capsys, ab, write("B,C,count\n1,1,4\n", "more.csv"))
    assert "say --given rows" in refused(capsys, ab)
    assert "row 3: A '' is empty" in refused(capsys, write("A,B\n1,1\n,2\n"), "--marginals", "A", "--marginals", "B")
    assert "row 2: count 'x' is not a whole number" in refused(capsys, write("A,count\n1,x\n"), "--marginals", "A")
    assert "of at most 15 digits" in refused(capsys, write(f"A,count\n1,{10**20}\n"), "--marginals", "A")
    assert "did you mean A1?" in refused(capsys, write("A1,B\n1,1\n"), "--marginals", "A", "--marginals", "B")
    ages = "\n".join(f"{age / 7},{age}" for age in range(1500))
    assert "Bin it into fewer" in refused(
        capsys, write(f"income,id\n{ages}\n"), "--marginals", "income", "--marginals", "id"
    )
    assert "--given goes with one table" in refused(capsys, ab, bc, "--given", "rows")
    assert "give rows or columns" in refused(capsys, ab, "--given", "A")
    assert "cannot be read as CSV" in refused(capsys, "nowhere.csv", "--given", "rows")


def test_counts_that_do_not_sum_to_the_total_are_proportions(capsys, write) -> None:  # type: ignore[no-untyped-def]
    assert main(["bounds", write("row,x,y\na,1,2\n"), "--given", "rows", "--total", "6"]) == 0
    output = capsys.readouterr()
    assert output.out.splitlines()[1:] == ["a,x,2,2", "a,y,4,4"]
    assert "sum to 3, not to 6: they are read as proportions" in output.err


def test_a_reader_who_has_seen_enough_is_no_error(write) -> None:  # type: ignore[no-untyped-def]
    table = write("row,x,y\n" + "".join(f"{row},1,{row}\n" for row in range(1, 6000)))
    command = [sys.executable, "-m", "genverify", "bounds", table, "--given", "rows"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "row,column,lower,upper\n"
        process.stdout.close()
        assert process.stderr.read() == ""
