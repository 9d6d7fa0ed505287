"""Published tables against what a person wrote down about each (tests/readings), where they lie beside the repository."""

import hashlib
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
import yaml

from expected_readings import Outcome, benchmark, disclosed, expected_readings, files_by_digest, judge
from genverify.disclosure.sources import disclose
from genverify.reading.read_command import read_files, told_of
from genverify.reading.reading import AMONG_COUNTS, cell_roles, write_reading

ROOT = Path(__file__).parents[2]
EXPECTED = expected_readings(ROOT / "tests/readings")
TABLES = Path(os.environ.get("GENVERIFY_TABLES") or ROOT.parent / "shared/tables")
here = pytest.mark.skipif(not TABLES.is_dir(), reason="the published tables do not lie in ../shared/tables")
LARGE = 1_000_000  # bytes of a file whose round trip takes long


def files() -> Iterator[tuple[str, Path]]:
    found = files_by_digest(TABLES)
    for name, expected in EXPECTED.items():
        assert expected["sha256"] in found, f"{name}: no file has the digest that is written down"
        yield name, found[expected["sha256"]]


@pytest.fixture(scope="module")
def outcomes() -> dict[str, Outcome]:
    """What is read in each file, beside what was written down: read once for all tests."""
    return {name: judge(EXPECTED[name], path) for name, path in files()}


def test_expected_readings_hold_no_data() -> None:
    """What is written down names rows, columns, roles and symbols, and counts cells; it holds no cell of a table."""
    assert len(EXPECTED) == 39
    for name, expected in EXPECTED.items():
        assert set(expected) <= {"sha256", "cells", "roles", "tables", "symbols", "totals", "options"}, name


@here
def test_real_tables_are_read_as_a_person_reads_them(outcomes: dict[str, Outcome]) -> None:
    assert {name: own.differences for name, own in outcomes.items() if own.word in ("wrong", "refused")} == {}
    words = [own.word for own in outcomes.values()]
    differ = {name: own.differences for name, own in outcomes.items() if own.word != "right"}
    assert words.count("right") >= 33, differ
    assert words.count("right") + words.count("right with options") >= 38, differ


@here
def test_reading_files_of_real_tables_give_the_same_reading(outcomes: dict[str, Outcome], tmp_path: Path) -> None:
    for name, path in files():
        reading = outcomes[name].reading
        if reading is not None and path.stat().st_size < LARGE:
            file = tmp_path / f"{name}.yaml"
            file.write_text(write_reading(reading), encoding="utf-8")
            again = read_files([file, path], told_of([]))
            assert again.conserved, name
            one_by_one = Counter(cell.role for cell in cell_roles(reading))
            assert one_by_one == {role: often for role, often in reading.roles.items() if often and role != AMONG_COUNTS}, (
                name
            )
            assert write_reading(again) == write_reading(reading), name
            assert (again.roles, again.questions) == (reading.roles, reading.questions), name


@here
@pytest.mark.parametrize(
    ("name", "suppressed", "known"),
    [
        ("us_nass_bees_2020", 3, 3),
        ("phs_covid_board_level", 533, 27),
        ("scot_covid_cumulative_cases_by_board", 144, 0),
        ("us_nyc_sat_results_2012", 57, 0),
    ],
)
def test_real_tables_are_answered_in_numbers_of_cells(name: str, suppressed: int, known: int) -> None:
    found = disclosed(dict(files())[name], EXPECTED[name].get("options", ()))
    assert (found["suppressed"], found["known_exactly"]) == (suppressed, known), found["disclose"]
    assert found["disclose_cpu_seconds"] < 60


@here
def test_boards_with_the_national_file_as_their_total() -> None:
    """Hospital boards, and a column of another file that adds them up on every day."""
    found = dict(files())
    boards, nation = found["scot_covid_hospital_confirmed_by_board"], found["scot_covid_national_hospital_care"]
    label = "COVID-19 patients in hospital - Confirmed - Length of stay 28 days or less"
    audit = disclose([boards, nation], symbol={"*": "suppressed", "NA": "missing"}, total_from=[f"{nation.name}:{label}"],
                     allow_partial=True, search_seconds=0)  # fmt: skip
    assert (audit.counts["suppressed"], audit.counts["suppressed_known_exactly"]) == (2029, 33)
    assert audit.safe is False


def test_readings_are_compared_and_timed(tmp_path: Path) -> None:
    """Of two files, one is read as it is written down, and of the other one column is written down wrongly."""
    text = b"area,n\na,5\nb,*\nc,7\n"
    for name, role in (("right", "count"), ("wrong", "statistic")):
        folder = tmp_path / "tables"
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.csv").write_bytes(text + f"{name},9\n".encode())
        digest = hashlib.sha256((folder / f"{name}.csv").read_bytes()).hexdigest()
        expected = {"sha256": digest, "roles": {"labels": 6, "counts": 3, "symbols": 1, "left out": 0}, "totals": [],
                    "symbols": {"*": "suppressed"},
                    "tables": [{"header": "1", "body": "2-5", "columns": {"label": "A", role: "B"}}]}  # fmt: skip
        (tmp_path / "expected").mkdir(exist_ok=True)
        (tmp_path / "expected" / f"{name}.yaml").write_text(yaml.safe_dump(expected))
    found = pd.DataFrame(benchmark(tmp_path / "expected", tmp_path / "tables")).set_index("name")
    assert found["outcome"].to_dict() == {"right": "right", "wrong": "wrong"}
    assert "count instead of statistic" in found.loc["wrong", "differences"]
