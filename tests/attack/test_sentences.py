"""Claims in plain English: every code has words, open columns are left unsaid."""

from pathlib import Path

import pytest

from genverify.attack.explain import _parse_phrases, read_phrases
from genverify.model.domain import Column, Domain, read_domain
from genverify.model.errors import DataError

ROOT = Path(__file__).parents[2]
DOMAIN = read_domain(ROOT / "data/census/domain.yaml").domain
PHRASES = read_phrases(ROOT / "data/census/phrases.yaml", DOMAIN)
PAIR = Domain((Column("SEX", "sex", (1, 2), ("male", "female")), Column("OLD", "age", (0, 1), ("young", "old"))))
WORDS = {
    "sentences": [
        {"start": "Someone", "slots": [[{"when": {"SEX": [1]}, "say": "male"}, {"when": {"SEX": [2]}, "say": "female"}]]},
        {"start": "They are", "join": "list", "slots": [[{"when": {"OLD": [1]}, "say": "old"}], [{"say": "here"}]]},
    ],
    "unsaid": {"OLD": [0]},
}


@pytest.mark.parametrize("column", DOMAIN.columns, ids=lambda column: column.name)
def test_every_code_of_every_column_has_its_own_words(column: Column) -> None:
    said = {code: PHRASES.describe({column.name: code}) for code in column.codes}
    assert len(set(said.values())) == len(column.codes)
    silent = PHRASES.describe({})
    unsaid = {code for code, text in said.items() if text == silent}
    assert unsaid == ({0} if column.name == "VACS" else set())


def test_a_whole_claim_in_the_style_of_the_papers_table_1() -> None:
    known = {"TEN": 3, "VACS": 0, "HHSIZE": 2, "HHT": 5, "TP18": 0, "TP65": 0, "THHRACE": 2, "THHSPAN": 1, "THHLDRAGE": 2}
    assert PHRASES.describe(known) == (
        "A renting household of two people. It is a nonfamily household of more than one person. No one in it is under 18 "
        "or is 65 years or older. The householder is male, Black, not of Hispanic or Latino origin, and between 25 and "
        "34 years old."
    )


def test_open_columns_are_unsaid_and_an_open_size_is_unknown() -> None:
    known = {"TEN": 4, "HHT": 1, "TP65": 0, "THHSPAN": 2}
    assert PHRASES.describe(known) == (
        "A household of unknown size that neither owns its home nor pays rent. It is a married-couple household. "
        "No one in it is 65 years or older. The householder is of Hispanic or Latino origin."
    )


def test_the_size_of_someone_living_alone_is_not_called_unknown() -> None:
    assert "unknown size" not in PHRASES.describe({"HHT": 4})
    assert "unknown size" not in PHRASES.describe({"HHT2": 5})


def test_a_type_is_not_said_twice() -> None:
    assert PHRASES.describe({"HHSIZE": 3, "HHT": 1, "HHT2": 1}) == (
        "A household of three people. It is a married couple with own children under 18."
    )


def test_a_vacant_unit_has_no_householder() -> None:
    assert PHRASES.describe({"VACS": 1, "TEN": 0, "TP18": 0, "THHRACE": 0}) == "A housing unit that is vacant and for rent."


def test_the_first_fitting_case_speaks() -> None:
    phrases = _parse_phrases(WORDS, PAIR)
    assert phrases.describe({"SEX": 2, "OLD": 1}) == "Someone female. They are old and here."
    assert phrases.describe({"OLD": 0}) == "They are here."


def test_a_code_without_words_is_named() -> None:
    with pytest.raises(DataError, match=r"no words for OLD=0 \(young\)"):
        _parse_phrases(WORDS | {"unsaid": {}}, PAIR)


def test_a_case_about_an_unknown_column_is_named(tmp_path: Path) -> None:
    path = tmp_path / "phrases.yaml"
    path.write_text("sentences: [{slots: [[{when: {SEXX: [1]}, say: x}]]}]")
    with pytest.raises(DataError, match=r"phrases.yaml: a case: .*did you mean SEX\?"):
        read_phrases(path, PAIR)
