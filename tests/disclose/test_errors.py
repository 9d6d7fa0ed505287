"""What is wrong with a release file, its data or its counts is stated in words: what, where, and what to do next."""

from pathlib import Path

import pytest

from genverify.disclosure.record_audit import attack_records as audit
from genverify.disclosure.release_data import describe
from genverify.model.errors import ConfigError, DataError, GenverifyError, ReleaseError
from tiny_release import ATTACK, PEOPLE, YAML, counted, write

CODES = YAML.replace("data: people.csv", "counts: counts.csv").replace(
    "{bins: [65]}", "{codes: {under 65: under 65, 65 and over: 65 and over}}"
).replace("columns:\n", "columns:\n  home: {codes: {owns: owns, rents: rents}}\n", 1)  # fmt: skip


HEAD = PEOPLE.splitlines()[0] + "\n"
COUNTS = "cell,count\nN,5\nsex_age.f.under 65,2\nage_home.under 65.owns,2\n"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("[sex, age]", "[sex, agee]", "has no column 'agee': did you mean age"),
        ("{f: woman, m: man}", "{f: woman}", "line 4: column sex has 'm', which is not among its codes"),
        ("{f: woman, m: man}", "{yes: woman}", "put quotes around yes, no"),
        ("{columns: [sex, age]}", "{columns: [sex, age], where: {home: buys}}", "sex_age: column home has no code 'buys'"),
        ("{columns: [sex, age]}", "{colums: [sex, age]}", "unknown setting tables.sex_age.colums: did you mean columns"),
        ("{columns: [sex, age]}", "{columns: []}", "setting tables.sex_age.columns"),
        ("{columns: [sex, age]}", "{columns: [sex], groups: {age: {x: ['1']}}}", "no column of this table"),
        ("name: tiny", "name: ../../etc", "use letters, digits, _ and - only"),
        ("  sex_age:", "  ../x:", "use letters, digits, _ and - only"),
        ("data: people.csv", "data: nobody.csv", "nobody.csv does not exist"),
        ("data: people.csv", "", "give either data"),
        ("{bins: [65]}", "{bins: [65], label: age}\n  home: {bins: [2]}", "home has bins, but 'rents' is not a number"),
        ("age_home: {columns: [age, home]}", "none: {columns: [home], where: {sex: f, age: 65 and over, home: owns}}",
         "table none is empty: no record"),
        ("age_home: {columns: [age, home]}", "t: {columns: [sex], across: true}", "no area column is named"),
        ("name: tiny", "name: tiny\npredicates: [{cell: N, where: {sex: f}}]", "two cells are called 'N'"),
        ("name: tiny", "name: tiny\nprotect: [{round: 3, random_round: 3}]", "give one of round, random_round"),
    ],
)  # fmt: skip
def test_a_wrong_release_file_is_refused_in_words(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert old in YAML
    with pytest.raises(GenverifyError) as raised:
        describe(write(tmp_path, YAML.replace(old, new, 1)))
    assert words in str(raised.value)


@pytest.mark.parametrize(
    ("people", "words"),
    [
        (PEOPLE.replace("33", ""), "column age has 1 missing values, the first in line 4; fill them"),
        ("sex,age,home\n", "holds no rows"),
        (HEAD + "".join(f"f,70,{i / 7:.3f},n\n" for i in range(30)), "column home is not discrete: 30 different"),
        (HEAD + "".join(f"f,70,street {i},n\n" for i in range(70)), "list its codes"),
    ],
)  # fmt: skip
def test_wrong_microdata_are_refused_in_words(tmp_path: Path, people: str, words: str) -> None:
    with pytest.raises(DataError) as raised:
        describe(write(tmp_path, people=people))
    assert words in str(raised.value)


def test_missing_values_can_have_a_code(tmp_path: Path) -> None:
    text = YAML.replace("{bins: [65]}", "{bins: [65], missing: not stated}")
    described = describe(write(tmp_path, text, PEOPLE.replace("33", "NA")))
    assert counted(described)["sex_age.m.not stated"] == 1


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("under 65,2\n", "under 65,-2\n", "line 3: the count '-2' is negative"),
        ("under 65,2\n", "under 65,2.5\n", "line 3: the count '2.5' is not a whole number"),
        ("under 65,2\n", "under 65,*\n", "line 3: the count '*' is not a whole number"),
        ("under 65,2\n", "under 65,9\n", "sex_age.f.under 65 counts 9, but there are only 5 people"),
        ("sex_age.f.under 65", "sex_age.f.under 66", "did you mean sex_age.f.under 65"),
        ("N,5\n", "", "the number of people is not given; add a row with cell N"),
        ("age_home.under 65.owns,2\n", "", "table age_home is empty: no count of it is given"),
        ("N,5\n", "N,5\nsex_age.f.under 65,2\n", "is duplicated"),
        ("cell,count", "cell,counts", "has no column 'count': did you mean counts"),
    ],
)
def test_wrong_counts_are_refused_in_words(tmp_path: Path, old: str, new: str, words: str) -> None:
    with pytest.raises(ReleaseError if "column" not in words else DataError) as raised:
        describe(write(tmp_path, CODES, COUNTS.replace(old, new, 1), "counts.csv"))
    assert words in str(raised.value)


def test_contradictory_tables_are_named(tmp_path: Path) -> None:
    counts = COUNTS + "sex_age.m.under 65,2\nage_home.under 65.rents,1\n"
    described = describe(write(tmp_path, CODES, counts, "counts.csv"))
    with pytest.raises(ReleaseError, match=r"contradict each other: .*sex_age\.m\.under 65 = 2") as raised:
        audit(described, ATTACK)
    assert "age_home.under 65.owns = 2" in str(raised.value)


def test_config_errors_are_those_of_the_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="describes no tables"):
        describe(write(tmp_path, "name: a\ndata: people.csv\n"))
