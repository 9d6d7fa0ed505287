"""Generated datasets are recounted when they are read: what does not fit is an error that names it."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from genverify.attack.generate import GeneratedDatasets, _datasets_frame, generate_block
from genverify.attack.verify import verify_block
from genverify.model.domain import Column, Domain, Predicate, Rule
from genverify.model.errors import DataError
from genverify.model.query import Query
from genverify.model.release import Release, Schema, make_release, read_releases
from genverify.model.tabulate import read_datasets
from genverify.solve.datasets import class_vectors
from genverify.solve.program import WrongAnswer, build_program
from genverify.solve.program_settings import ProgramSettings

FIRST, SECOND = "010010201001000", "010010201001001"
NAMES = ("PET", "HOME", "AGE")


@pytest.fixture(scope="module")
def releases(made_study: Path, toy_schema: Schema) -> list[Release]:
    return list(read_releases(made_study / "release" / "000.parquet", toy_schema))


@pytest.fixture(scope="module")
def generated(releases: list[Release], program_settings: ProgramSettings) -> dict[str, GeneratedDatasets]:
    return {release.block: generate_block(release, program_settings, 10, 1) for release in releases}


@pytest.fixture
def path(tmp_path: Path, generated: dict[str, GeneratedDatasets], toy_schema: Schema) -> Path:
    frames = [_datasets_frame({block: found}, toy_schema.domain) for block, found in generated.items()]
    pd.concat(frames, ignore_index=True).to_parquet(tmp_path / "000.parquet", index=False)
    return tmp_path / "000.parquet"


def test_datasets_are_read_as_they_were_written(
    path: Path, releases: list[Release], generated: dict[str, GeneratedDatasets]
) -> None:
    frame = pd.read_parquet(path)
    assert list(frame) == ["block", "dataset", *NAMES]
    assert frame["PET"].dtype == np.int8
    found = read_datasets(path, releases)
    assert list(found) == [FIRST, SECOND]
    assert all(np.array_equal(found[block], generated[block].records) for block in found)


def test_only_the_blocks_asked_for_are_read(path: Path, releases: list[Release]) -> None:
    assert list(read_datasets(path, releases[1:])) == [SECOND]
    assert read_datasets(path, []) == {}


def first_row(frame: pd.DataFrame, column: str, code: object) -> pd.DataFrame:
    values = frame[column].astype(object)
    values.iloc[0] = code
    return frame.assign(**{column: values.infer_objects()})


# each changes the file; the message is what is said about it
CHANGES: dict[str, tuple[Callable[[pd.DataFrame], pd.DataFrame], str]] = {
    "a record of another kind": (
        lambda f: f.assign(HOME=f["HOME"].where(f.index != 0, 3 - f["HOME"])),
        "dataset 0 does not fit",
    ),
    "a code out of the domain": (lambda f: first_row(f, "PET", 9), "dataset 0 has the code 9 of PET"),
    "a negative code": (lambda f: first_row(f, "PET", -1), "dataset 0 has the code -1 of PET"),
    "a code that 16 bits cut": (lambda f: first_row(f, "PET", 2**16 + 1), "dataset 0 has the code 65537 of PET"),
    "a fraction": (lambda f: first_row(f, "PET", 1.5), "dataset 0 has the code 1.5 of PET"),
    "no code": (lambda f: first_row(f, "PET", None), "of PET, which is not in the domain"),
    "a row too few": (lambda f: f.iloc[1:], "dataset 0 has 2 records, not 3"),
    "a row twice": (lambda f: pd.concat([f, f.iloc[:1]]), "dataset 0 has 4 records, not 3"),
    "no dataset of a block": (lambda f: f[f["block"] != FIRST], "block 010010201001000 has no dataset"),
    "no column": (lambda f: f.drop(columns="HOME"), "no column 'HOME'"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_does_not_fit_is_an_error_with_file_and_remedy(change: str, path: Path, releases: list[Release]) -> None:
    changed, said = CHANGES[change]
    changed(pd.read_parquet(path)).to_parquet(path, index=False)
    with pytest.raises(DataError, match=rf"{re.escape(str(path))}.*{re.escape(said)}.*Generate its datasets again"):
        read_datasets(path, releases)


def test_a_file_of_another_kind_is_named(path: Path, releases: list[Release]) -> None:
    path.write_text("no parquet")
    with pytest.raises(DataError, match=r"000\.parquet: not a file of datasets"):
        read_datasets(path, releases)


def test_every_dataset_is_recounted(path: Path, releases: list[Release]) -> None:
    """The last dataset of the last block, and the cell that differs."""
    frame = pd.read_parquet(path)
    frame.loc[frame.index[-1], "HOME"] = 2
    frame.to_parquet(path, index=False)
    with pytest.raises(DataError, match=rf"block {SECOND}, dataset 0 does not fit.* is \d in it, and \d was published"):
        read_datasets(path, releases)


def test_a_broken_rule_is_an_error(path: Path, releases: list[Release]) -> None:
    """The same counts in a schema where nobody with a fish may live in a flat."""
    rule = Rule("no fish in a flat", Predicate.of({"PET": [3], "HOME": [2]}), ())
    strict = replace(releases[0].schema, rules=(rule,))
    with pytest.raises(DataError, match="a record breaks the rule no fish in a flat"):
        read_datasets(path, [replace(release, schema=strict) for release in releases])


def test_large_codes_are_written_as_they_are(tmp_path: Path, program_settings: ProgramSettings) -> None:
    domain = Domain((Column("A", "A", (1, 200), ("low", "high")), Column("B", "B", (0, 1), ("no", "yes"))))
    queries = (
        Query("high", "T", "high", Predicate.of({"A": [200]})),
        Query("both", "T", "b", Predicate.of({"A": [200], "B": [1]})),
    )
    release = make_release(Schema(domain, (), queries), "b", {"N": 3, "high": 2, "both": 1})
    found = generate_block(release, program_settings, 5, 1)
    _datasets_frame({"b": found}, domain).to_parquet(tmp_path / "x.parquet", index=False)
    assert np.array_equal(read_datasets(tmp_path / "x.parquet", [release])["b"], found.records)


@pytest.mark.parametrize("code", [-1, 2, 3, 9])
def test_a_dataset_that_does_not_fit_verifies_nothing(
    code: int, releases: list[Release], generated: dict[str, GeneratedDatasets], program_settings: ProgramSettings
) -> None:
    """In memory too: one that is left out without a word would still remove candidates."""
    datasets = generated[SECOND].records.copy()
    datasets[0, 0, 0] = code
    with pytest.raises(WrongAnswer, match=f"block {SECOND}: dataset 0 does not fit"):
        verify_block(releases[1], datasets, program_settings, 2)


def test_datasets_that_fit_have_their_class_counts_once(
    releases: list[Release], generated: dict[str, GeneratedDatasets]
) -> None:
    program = build_program(releases[0], 1000)
    records = generated[FIRST].records
    found = class_vectors(program, np.concatenate([records, records]))
    assert len(found) == generated[FIRST].class_vectors
    assert all(program.fits(z) for z in found)
