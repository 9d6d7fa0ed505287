"""Survey files: the columns of a task as a discrete table, on a small made-up csv."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from genverify.model.domain import parse_domain
from genverify.model.errors import DataError
from genverify.model.files import read_yaml
from studies.country.surveys import domain_text, read_survey
from studies.raprank.configuration import marginal_queries
from studies.raprank.tables import _count_marginals, survey_task_table

ROWS = [(6, 20, 1, 100.0), (6, 40, 2, 250.0), (48, 60, None, 300.0), (48, 10, 1, None), (6, 30, 9, 200.0)]
TASKS: dict[str, Any] = {
    "state": "ST", "bins": 2, "numerical": ["AGE", "INCOME"],
    "tasks": {
        "all": {"columns": ["AGE", "WORK", "INCOME"]},
        "adults": {"columns": ["WORK"], "keeps": {"AGE": {"above": 18, "at_most": 40}}},
        "wide": {"columns": ["ID"]},
    },
}  # fmt: skip


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    frame = pd.DataFrame(ROWS, columns=["ST", "AGE", "WORK", "INCOME"]).assign(ID=[0.5, 1.5, 2.5, 3.5, 4.5], NAME="x")
    frame.to_csv(tmp_path / "survey.csv", index=False)
    return tmp_path / "survey.csv"


def test_columns_become_codes(survey: Path) -> None:
    table, domain = read_survey([survey], TASKS, "all")
    assert table["block"].to_pylist() == [f"{state}{'0' * 13}" for state in ("06", "06", "48", "48", "06")]
    assert domain["AGE"].meanings == ("10 to 35", "35 to 60")
    assert table["AGE"].to_pylist() == [0, 1, 1, 0, 0]
    assert domain["WORK"].meanings == ("blank", "1", "2", "9")
    assert table["WORK"].to_pylist() == [1, 2, 0, 1, 3]
    assert domain["INCOME"].meanings == ("blank", "100 to 200", "200 to 300")
    assert table["INCOME"].to_pylist() == [1, 2, 2, 0, 2]
    assert parse_domain(domain_text(domain)).domain == domain


def test_rows_that_a_task_keeps(survey: Path) -> None:
    table, _ = read_survey([survey, survey], TASKS, "adults")
    assert table.num_rows == 6


def test_a_column_that_is_not_discrete_is_named(survey: Path) -> None:
    with pytest.raises(DataError, match=r"column ID is not discrete: 5 distinct values.*list it as numerical"):
        read_survey([survey], TASKS, "wide")


@pytest.mark.parametrize(
    ("task", "message"),
    [
        ({"columns": ["AGEP"]}, r"survey\.csv: has no column 'AGEP': did you mean AGE\?"),
        ({"columns": ["NAME"]}, r"survey\.csv, row 2: NAME 'x' is not a number"),
        ({"columns": ["AGE"], "keeps": {"AGE": {"abov": 3}}}, "'abov' is not a limit: did you mean above"),
        ({"columns": ["AGE"], "keeps": {"AGE": {"above": 99}}}, "no row that the task t keeps"),
    ],
)
def test_a_mistake_is_named(survey: Path, task: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_survey([survey], TASKS | {"tasks": {"t": task}}, "t")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"cannot be read as a CSV file of a survey \(No such file"):
        read_survey([tmp_path / "none.csv"], TASKS, "all")


def test_the_tasks_of_the_paper(root: Path, tmp_path: Path) -> None:
    """As many attributes as in the paper's Table 1; on a made-up file the numbers of marginals follow."""
    tasks, paper = read_yaml(root / "data/acs/tasks.yaml"), read_yaml(root / "data/papers/rap_rank.yaml")["tasks"]
    names = {name: task["columns"] for name, task in tasks["tasks"].items()}
    assert {name: len(columns) for name, columns in names.items()} == {n: t["attributes"] for n, t in paper.items()}
    columns = sorted({column for listed in names.values() for column in listed})
    frame = pd.DataFrame({column: [1, 2, 3] for column in columns}).assign(ST=6, AGEP=[19, 25, 34], PINCP=[0, 9, 10])
    frame.to_csv(tmp_path / "acs.csv", index=False)
    table, domain = read_survey([tmp_path / "acs.csv"], tasks, "employment")
    assert table.num_rows == 3
    assert [len(column.codes) for column in domain.columns] == [10] + [3] * 15  # AGEP in ten bins
    assert len(marginal_queries(domain, 2)) == 10 * 45 + 9 * 105


def test_numbers_of_a_task_beside_the_paper(survey: Path) -> None:
    _, domain = read_survey([survey], TASKS, "all")  # 2, 4 and 3 codes
    paper = {"all": {"attributes": 16, "dimension": 108, 2: 5154, 3: 144910}}
    table = survey_task_table({"all": domain, "other": domain}, paper).set_index(["task", "number"])
    assert table.loc["all", "ours"].tolist() == [3, 9, 26, 24]
    assert table.loc["all", "paper"].tolist() == [16, 108, 5154, 144910]
    assert table.loc["other", "paper"].isna().all()
    assert [_count_marginals(domain, ways) for ways in (2, 3)] == [len(marginal_queries(domain, ways)) for ways in (2, 3)]


def test_no_files() -> None:
    with pytest.raises(DataError, match=r"no file of the survey is named; list them in config/raprank\.yaml"):
        read_survey([], TASKS, "all")
