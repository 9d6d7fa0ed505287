"""Priors of a release file: what a user's weights say about likely claims, in the report and in the what-if."""

from pathlib import Path

import pandas as pd
import pytest

from genverify.disclosure.record_audit import Attack, attack_records
from genverify.disclosure.release_data import describe
from genverify.disclosure.whatif import protected, what_if
from genverify.model.errors import ConfigError, DataError, GenverifyError
from genverify.solve.program_settings import DEFAULT

ATTACK = Attack(DEFAULT.but(max_types=100_000, iterations=100_000, seconds=60.0), 20, 1, 1)
# one old woman and one old man, one of whom rents; nobody says which
PEOPLE = """sex,age,home
f,71,rents
m,75,owns
f,30,owns
f,20,owns
"""
WEIGHTS = """sex,age,home,weight
f,70,rents,19
f,70,owns,1
m,70,rents,1
m,70,owns,1
f,under 65,owns,1
"""
YAML = """
name: tiny
data: people.csv
show_claims: true
columns: {age: {bins: [65]}, sex: {codes: {f: woman, m: man}}, home: {codes: {owns: owns, rents: rents}}}
tables: {sex_age: {columns: [sex, age]}, age_home: {columns: [age, home]}}
priors: {survey: {weights: weights.csv}}
protect: [{coarsen: {age: {any age: [under 65, 65 and over]}}}]
"""


def write(folder: Path, text: str = YAML, weights: str = WEIGHTS) -> Path:
    (folder / "people.csv").write_text(PEOPLE)
    (folder / "weights.csv").write_text(weights.replace("under 65", "30"))
    (folder / "release.yaml").write_text(text)
    return folder / "release.yaml"


def test_weights_make_likely_what_is_even_without_them(tmp_path: Path) -> None:
    """P(the old woman rents) is 1/2 if all kinds are alike, and 19 * 1 / (19 * 1 + 1 * 1) with the weights."""
    table = what_if(describe(write(tmp_path)), ATTACK, 2)
    row = table.iloc[0]
    assert row["singleton_claims"] == row["singleton_claims_90"] == row["singleton_claims_99"]
    # an old woman who rents and a woman who rents, an old man who owns, a man who owns
    assert row["singleton_claims_90_survey"] == row["singleton_claims_90"] + 4
    assert row["singleton_claims_99_survey"] == row["singleton_claims_99"]
    assert list(table["protection"]) == ["as published", "merge age"]
    assert table["singleton_claims_50_survey"].dtype == "Int64"


def test_the_report_names_the_prior_of_every_number(tmp_path: Path) -> None:
    described = describe(write(tmp_path))
    page = attack_records(described, ATTACK).suppress(5.0).report()
    assert "(the uniform prior):" in page
    assert "With the weights of the prior <b>survey</b>" in page
    assert page.count("95.0 %") >= 2


def test_weights_of_merged_codes_add_up(tmp_path: Path) -> None:
    described = describe(write(tmp_path))
    (prior,) = protected(described, described.form.protect[0]).priors
    weights = {tuple(row): weight for row, weight in zip(prior.records.tolist(), prior.weights.tolist(), strict=True)}
    age, sex, home = (prior.domain.names.index(name) for name in ("age", "sex", "home"))
    owners = [weight for row, weight in weights.items() if row[sex] == 1 and row[home] == 1]
    assert owners == [2.0]
    assert {row[age] for row in weights} == {1}


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ("sex,age,weight\nf,70,1\n", r"weights\.csv: has no column 'home'"),
        ("sex,age,home,weight\nf,70,rents,-1\n", r"weights\.csv: line 2: weight '-1' is not a number from 0 on"),
        ("sex,age,home,weight\nf,70,rents,many\n", r"weights\.csv: line 2: weight 'many' is not a number"),
        ("sex,age,home,weight\nx,70,rents,1\n", r"weights\.csv: line 2: column sex has 'x'"),
    ],
)
def test_wrong_tables_of_weights_are_named(tmp_path: Path, weights: str, said: str) -> None:
    with pytest.raises(DataError, match=said):
        describe(write(tmp_path, weights=weights))


def test_a_prior_without_a_record_that_must_exist_needs_a_floor(tmp_path: Path) -> None:
    only_women = "\n".join(line for line in WEIGHTS.splitlines() if not line.startswith("m"))
    with pytest.raises(GenverifyError, match=r"prior survey gives probability 0 to the release.*floor"):
        what_if(describe(write(tmp_path, weights=only_women)), ATTACK, 2)
    floor = YAML.replace("weights.csv}", "weights.csv, floor: 0.1}")
    assert isinstance(what_if(describe(write(tmp_path, floor, only_women)), ATTACK, 2), pd.DataFrame)


def test_merged_codes_carry_the_floor_of_what_the_table_does_not_list(tmp_path: Path) -> None:
    """Old women who rent are listed with 0, young ones are not listed: together they weigh what the floor gives them."""
    text = YAML.replace("weights.csv}", "weights.csv, floor: 0.5}")
    described = describe(write(tmp_path, text, "sex,age,home,weight\nf,70,rents,0\nm,70,owns,2\nm,20,owns,1\n"))
    (prior,) = protected(described, described.form.protect[0]).priors
    sex, home = (prior.domain.names.index(name) for name in ("sex", "home"))
    found = {(row[sex], row[home]): w for row, w in zip(prior.records.tolist(), prior.weights.tolist(), strict=True)}
    assert found == {(1, 2): 0.5, (2, 1): 3.0}


def test_a_missing_file_of_weights_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"priors: .*nowhere\.csv does not exist"):
        describe(write(tmp_path, YAML.replace("weights.csv", "nowhere.csv")))


def test_a_sample_is_a_prior_that_says_how_it_held(tmp_path: Path) -> None:
    """Records of a survey, a row each: no floor is needed, and the report says what became of left-out records."""
    text = YAML.replace("weights: weights.csv", "sample: weights.csv")
    rows = ["sex,age,home", *["f,70,rents", "f,30,owns", "m,70,owns", "f,70,rents"] * 10]
    described = describe(write(tmp_path, text, "\n".join(rows) + "\n"))
    (prior,) = described.priors
    assert prior.rules_nothing_out
    assert prior.weights.sum() == 40
    page = attack_records(described, ATTACK).suppress(5.0).report()
    assert "<b>survey</b> (on 10 blocks of left-out records" in page
    assert what_if(described, ATTACK, 2)["singleton_claims_50_survey"].notna().all()


@pytest.mark.parametrize("prior", ["{}", "{weights: weights.csv, sample: weights.csv}", "{sample: weights.csv, floor: 0.1}"])
def test_a_prior_is_weights_or_a_sample(tmp_path: Path, prior: str) -> None:
    with pytest.raises(ConfigError, match="priors: survey: give either weights"):
        describe(write(tmp_path, YAML.replace("{weights: weights.csv}", prior)))
