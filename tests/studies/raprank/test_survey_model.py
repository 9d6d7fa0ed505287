"""A model of synthetic persons: estimated from rows made by hand, rounded, drawn, and refused where the input is bad."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from genverify.cli import main
from genverify.model.errors import DataError
from genverify.model.files import read_yaml
from studies.raprank.survey_model import (
    BASE,
    BLANK,
    LEAST,
    draw_codes,
    draw_persons,
    estimate_model,
    read_model,
    read_persons,
    write_model,
)

TASKS: dict[str, Any] = {
    "numerical": ["AGE"],
    "bands": {"AGE": [0, 15, 65, 96]},
    "tasks": {"work": {"columns": ["AGE", "JOB", "SEX"]}},
}


def survey(path: Path, n: int = 400) -> Path:
    """Nobody below 15 has a job (empty), most others have job 1, few job 2, and one person job 3."""
    rng = np.random.default_rng(3)
    age, sex = rng.integers(0, 90, n), rng.integers(1, 3, n)
    job = np.where(age < 15, np.nan, np.where(rng.random(n) < 0.1, 2.0, 1.0))
    job[np.flatnonzero(age >= 15)[0]] = 3
    pd.DataFrame({"AGE": age, "JOB": job, "SEX": sex}).to_csv(path, index=False)
    return path


@pytest.fixture
def persons(tmp_path: Path) -> pd.DataFrame:
    return read_persons([survey(tmp_path / "persons.csv")], TASKS)


def test_numbers_become_bands_and_empty_fields_a_code(persons: pd.DataFrame) -> None:
    assert set(persons["AGE"]) == {0, 15, 65}
    assert set(persons.loc[persons["AGE"] == 0, "JOB"]) == {BLANK}


def test_counts_are_rounded_and_no_code_vanishes(persons: pd.DataFrame) -> None:
    model = estimate_model(persons, TASKS["bands"], 1)
    counts = model.counts
    assert (counts["persons"] % BASE == 0).all()
    assert (counts["persons"] > 0).all()
    for name in persons:
        assert set(counts.loc[counts["column"] == name, "code"]) == set(persons[name])
    with_parent = counts[counts["first"] > BLANK - 1]
    for (name, first), part in with_parent.groupby(["column", "first"]):
        behind = persons[persons[model.parents[str(name)][0]] == first]
        assert len(behind) >= LEAST
        real = part["code"].map(behind[str(name)].value_counts())
        assert ((part["persons"] - real).abs() < BASE).all()


def test_what_never_occurs_is_never_drawn(persons: pd.DataFrame) -> None:
    model = estimate_model(persons, TASKS["bands"], 1)
    assert model.parents["JOB"] == ("AGE",) or model.parents["AGE"] == ("JOB",)
    drawn = draw_codes(model, 5000, np.random.default_rng(1))
    assert ((drawn["AGE"] == 0) == (drawn["JOB"] == BLANK)).all()
    assert abs((drawn["JOB"] == 1).mean() - (persons["JOB"] == 1).mean()) < 0.05


def test_a_written_model_draws_the_same_persons(persons: pd.DataFrame, tmp_path: Path) -> None:
    model = estimate_model(persons, TASKS["bands"], 1)
    write_model(model, tmp_path / "model", "a test")
    again = read_model(tmp_path / "model")
    ours, theirs = (pd.concat(draw_persons(each, {"06": 30, "48": 20}, 1)) for each in (model, again))
    turned = pd.concat(draw_persons(model, {"48": 20, "06": 30}, 1))
    assert turned.equals(ours), "a record keeps no order of settings, and the audit draws from the record"
    pd.testing.assert_frame_equal(ours, theirs)
    assert ours["ST"].value_counts().to_dict() == {6: 30, 48: 20}
    assert ours["AGE"].between(0, 95).all()
    assert (ours["JOB"].isna() == (ours["AGE"] < 15)).all()


def test_a_survey_without_a_column_of_a_task_is_refused(tmp_path: Path) -> None:
    pd.DataFrame({"AGE": [3] * 60, "SEX": [1] * 60}).to_csv(tmp_path / "short.csv", index=False)
    with pytest.raises(DataError, match=r"short\.csv.*JOB"):
        read_persons([tmp_path / "short.csv"], TASKS)


def test_text_few_persons_and_missing_bands_are_refused(tmp_path: Path) -> None:
    path = survey(tmp_path / "few.csv", 20)
    with pytest.raises(DataError, match=r"few\.csv: 20 persons; a model is estimated from 50 or more"):
        read_persons([path], TASKS)
    path.write_text("AGE,JOB,SEX\n" + "30,1,x\n" * 60)
    with pytest.raises(DataError, match=r"few\.csv: SEX of person 1 is 'x', not a number"):
        read_persons([survey(tmp_path / "first.csv"), path], TASKS)
    with pytest.raises(DataError, match="no bands of AGE"):
        read_persons([path], TASKS | {"bands": {}})


def test_a_model_without_counts_of_a_column_is_refused(persons: pd.DataFrame, tmp_path: Path) -> None:
    write_model(estimate_model(persons, TASKS["bands"], 1), tmp_path, "a test")
    counts = pd.read_csv(tmp_path / "counts.csv")
    counts[counts["column"] != "SEX"].to_csv(tmp_path / "counts.csv", index=False)
    with pytest.raises(DataError, match=r"no counts above 0 of SEX; estimate it again"):
        read_model(tmp_path)


def test_the_shipped_model_is_rounded_and_has_all_columns_of_the_tasks(root: Path) -> None:
    model = read_model(root / "data" / "acs" / "persons")
    tasks = read_yaml(root / "data" / "acs" / "tasks.yaml")
    assert set(model.parents) == {name for task in tasks["tasks"].values() for name in task["columns"]}
    assert (model.counts["persons"] % BASE == 0).all()
    groups = model.counts[model.counts["first"] > BLANK - 1].groupby(["column", "first", "second"])["persons"].sum()
    assert groups.min() > LEAST / 2  # at least fifty before rounding


def test_the_command_writes_a_model_with_its_fit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "tasks.yaml").write_text(yaml.safe_dump(TASKS))
    path = survey(tmp_path / "persons.csv")
    main(["estimate-persons", str(path), "--tasks", str(tmp_path / "tasks.yaml"), "--out", str(tmp_path / "model")])
    assert "from 400 persons; total variation of margins" in capsys.readouterr().out
    fit = pd.read_csv(tmp_path / "model" / "fit.csv")
    assert fit["ways"].tolist() == [2, 2, 3, 3]
    assert fit["mean"].between(0, 0.2).all()
