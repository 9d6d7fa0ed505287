"""Real published tables against what a person wrote down about each (tests/readings); where they lie beside the repository."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from genverify.reading.command import read_files, told_of
from genverify.reading.file import write_reading
from reading_benchmark import Outcome, expected_files, find_file, judge, tables_folder

EXPECTED = expected_files()
here = pytest.mark.skipif(tables_folder() is None, reason="the published tables do not lie in ../shared/tables")
LARGE = 1_000_000  # bytes of a file that only the slow ring reads


def files() -> Iterator[tuple[str, Path]]:
    found = files_by_digest(TABLES)
    for name, expected in EXPECTED.items():
        assert expected["sha256"] in found, f"{name}: no file has the digest that is written down"
        yield name, found[expected["sha256"]]


def test_expected_readings_hold_no_data() -> None:
    """What is written down names rows, columns and roles; a count of a table would be longer than any of these texts."""
    assert len(EXPECTED) == 39
    for name, expected in EXPECTED.items():
        assert set(expected) <= {"sha256", "cells", "roles", "tables", "symbols", "totals", "options"}, name


@here
def test_real_tables_are_read_as_a_person_reads_them() -> None:
    outcomes = {name: judge(EXPECTED[name], path) for name, path in files()}
    wrong = {name: own.differences for name, own in outcomes.items() if own.word in ("wrong", "refused")}
    assert not wrong
    right = sum(own.word == "right" for own in outcomes.values())
    assert right >= 30, {name: own.differences for name, own in outcomes.items() if own.word != "right"}
    assert right + sum(own.word == "right with options" for own in outcomes.values()) >= 36


@here
def test_reading_files_of_real_tables_give_the_same_reading(tmp_path: Path) -> None:
    for name, path in files():
        if path.stat().st_size < LARGE:
            reading = read_files([path], told_of([]))
            file = tmp_path / f"{name}.yaml"
            file.write_text(write_reading(reading), encoding="utf-8")
            again = read_files([file, path], told_of([]))
            assert again.conserved, name
            assert write_reading(again) == write_reading(reading), name
            assert (again.roles, again.questions) == (reading.roles, reading.questions), name
