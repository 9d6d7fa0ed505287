"""The attack's results as tables."""

from pathlib import Path

import pandas as pd
import pytest

from genverify.attack.generate import GeneratedDatasets, _generated_row, generate_block
from genverify.attack.verify import VerifiedBlock, _verified_row, claim_columns, claims_frame, verify_block
from genverify.model.claims import ANY, Claim
from genverify.model.release import Release, Schema, read_releases
from genverify.model.tablefiles import by_design
from genverify.solve.program_settings import ProgramSettings

FIRST, SECOND = "010010201001000", "010010201001001"


@pytest.fixture(scope="module")
def releases(made_study: Path, toy_schema: Schema) -> dict[str, Release]:
    return {release.block: release for release in read_releases(made_study / "release" / "000.parquet", toy_schema)}


@pytest.fixture(scope="module")
def generated(releases: dict[str, Release], program_settings: ProgramSettings) -> dict[str, GeneratedDatasets]:
    return {block: generate_block(release, program_settings, 10, 1) for block, release in releases.items()}


@pytest.fixture(scope="module")
def verified(
    releases: dict[str, Release], generated: dict[str, GeneratedDatasets], program_settings: ProgramSettings
) -> dict[str, VerifiedBlock]:
    return {b: verify_block(releases[b], generated[b].records, program_settings, 2) for b in releases}


def test_what_is_known_of_the_number_of_datasets(
    releases: dict[str, Release], generated: dict[str, GeneratedDatasets]
) -> None:
    assert _generated_row(releases[FIRST], generated[FIRST]) == {
        "block": FIRST, "n_households": 3, "datasets": 4, "class_vectors": 2, "complete": True, "unique": False,
        "two_solutions": True,
    }  # fmt: skip
    assert _generated_row(releases[SECOND], generated[SECOND]) == {
        "block": SECOND, "n_households": 4, "datasets": 1, "class_vectors": 1, "complete": True, "unique": True,
        "two_solutions": False,
    }  # fmt: skip


def test_claims_are_rows_with_a_null_for_any_value() -> None:
    frame = claim_columns([Claim((3, ANY, 0), 1), Claim((ANY, 2, ANY), 4)], ["A", "B", "C"])
    assert frame["k"].tolist() == [2, 1]
    assert frame["m"].tolist() == [1, 4]
    assert frame["A"].isna().tolist() == [False, True]
    assert frame["C"].tolist()[0] == 0
    assert frame["B"].tolist()[1] == 2
    assert frame["C"].isna().tolist() == [False, True]
    assert str(frame["A"].dtype) == "Int16"


def test_a_block_without_claims_has_the_same_columns() -> None:
    one, none = claim_columns([Claim((1, 2, ANY), 1)], ["A", "B", "C"]), claim_columns([], ["A", "B", "C"])
    assert len(none) == 0
    assert none.dtypes.equals(one.dtypes)


def test_the_claims_of_a_toy_block(verified: dict[str, VerifiedBlock]) -> None:
    frame = claims_frame(verified[FIRST])
    assert list(frame) == ["block", "k", "m", "PET", "HOME", "AGE", "effective_k", "proof"]
    whole = frame[frame["k"] == 3]
    assert whole[["block", "m", "PET", "HOME", "AGE", "effective_k"]].to_numpy().tolist() == [[FIRST, 1, 3, 2, 2, 1]]
    assert len(frame) == 7
    assert frame["proof"].between(0, len(verified[FIRST].certificate["proofs"]) - 1).all()
    assert set(frame["proof"]) == set(range(len(verified[FIRST].certificate["proofs"])))


def test_what_became_of_the_candidates(verified: dict[str, VerifiedBlock], program_settings: ProgramSettings) -> None:
    row = _verified_row(verified[FIRST], program_settings)
    assert "without_proof" not in row
    assert (row["block"], row["solver"], row["limits"]) == (FIRST, "highs", "")
    assert [row[f"candidates_k{k}"] for k in (1, 2, 3)] == [0, 6, 1]
    assert [row[f"verified_k{k}"] for k in (1, 2, 3)] == [0, 6, 1]
    for verdict in ("refuted", "undecided", "uncertified"):
        assert [row[f"{verdict}_k{k}"] for k in (1, 2, 3)] == [0, 0, 0]
    assert row["decided_lp"] + row["decided_ip"] == 7
    assert row["classes"] == 5  # cat or dog x young or aged in a house; fish, flat, middle-aged
    assert _verified_row(verified[SECOND], program_settings)["classes"] == 1


def test_a_block_of_two_designs_has_its_rows_twice() -> None:
    sample = pd.DataFrame({"block": ["2", "1", "2", "3"], "design": ["b", "b", "a", "a"], "n_households": [1, 1, 1, 1]})
    first, second = pd.DataFrame({"block": ["2", "2"], "x": [9, 8]}), pd.DataFrame({"block": ["1"], "x": [7]})
    found = by_design(sample, [first, second])
    assert found.to_numpy().tolist() == [["2", "a", 9], ["2", "a", 8], ["1", "b", 7], ["2", "b", 9], ["2", "b", 8]]
    assert list(found) == ["block", "design", "x"]
    assert by_design(sample.iloc[::-1], [second, first]).equals(found)
