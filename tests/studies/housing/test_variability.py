"""Solution variability over chosen attributes against all datasets of small blocks, and blocks measured as a whole."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from genverify.model.arrays import Ints
from genverify.model.errors import GenverifyError
from genverify.model.release import Release
from genverify.solve.admissible import TooManyTypes
from genverify.solve.program_settings import DEFAULT
from housing_cases import SOLVER, fitting_datasets, households_frame, small_program, statistics_frame
from studies.housing import variability as module
from studies.housing.evaluate import in_violation
from studies.housing.households import HouseholdFile, read_household_file
from studies.housing.joint_program import Prior, TypeProgram, read_block, read_percentages
from studies.housing.reconstruct import most_likely
from studies.housing.variability import (
    every_type,
    measure_block,
    variability,
    variability_frame,
)

BLOCK = "010010001001001"
SETTINGS = DEFAULT.but(max_types=100_000, iterations=100_000, seconds=30.0)


@pytest.fixture
def file(root: Path) -> HouseholdFile:
    return read_household_file(root / "data" / "housing" / "domain.yaml")


def statistics(households: list[tuple[int, int, int, int]]) -> dict[str, int]:
    row = statistics_frame(households_frame(BLOCK, households)).iloc[0].to_dict()
    return {name: int(value) for name, value in row.items() if name != "block"}


def release_of(root: Path, file: HouseholdFile, row: dict[str, int]) -> Release:
    percentages = read_percentages(root / "data" / "housing" / "published.yaml")
    return read_block(row, BLOCK, file, percentages, "appendix_e")


def histogram(types: pd.DataFrame, z: Any, attributes: list[str], file: HouseholdFile) -> Counter[tuple[int, ...]]:
    values = list(zip(*(file.values(name, types).tolist() for name in attributes), strict=True))
    held: Counter[tuple[int, ...]] = Counter()
    for key, count in zip(values, z.tolist(), strict=True):
        held[key] += count
    return held


def likely_dataset(seed: int) -> tuple[TypeProgram, pd.DataFrame, Ints]:
    """A small program, its types and the likeliest dataset."""
    program = small_program(seed)
    first = most_likely(program, SOLVER).z
    assert first is not None
    types = pd.DataFrame(program.codes, columns=list(program.names))
    return program, types, first


@pytest.mark.parametrize("attributes", [["BEDROOMS", "SIZE", "CHILDREN"], ["SIZE"], ["BEDROOMS", "CHILD"], ["SUBSIDIZED"]])
@pytest.mark.parametrize("seed", range(12))
def test_the_farthest_dataset_is_found(file: HouseholdFile, seed: int, attributes: list[str]) -> None:
    program, types, first = likely_dataset(seed)
    found = variability(program, types.assign(count=first)[first > 0], attributes, file, SOLVER, "here")
    own = histogram(types, first, attributes, file)
    farthest = 0
    for z in fitting_datasets(program):
        other = histogram(types, z, attributes, file)
        farthest = max(farthest, sum(abs(own[key] - other[key]) for key in own | other))
    assert found.exact
    assert found.solvar == farthest
    assert found.share == pytest.approx(farthest / (2 * program.n))


@pytest.mark.parametrize("attributes", [["BEDROOMS", "SIZE", "CHILDREN"], ["SIZE"], ["BEDROOMS", "CHILD"]])
@pytest.mark.parametrize("seed", range(12))
def test_the_farthest_violations_are_found(file: HouseholdFile, seed: int, attributes: list[str]) -> None:
    program, types, first = likely_dataset(seed)
    tight = replace(file, occupancy={1: 1, 2: 2})  # so that small blocks have violations
    against = in_violation(types, tight)
    found = variability(program, types.assign(count=first)[first > 0], attributes, tight, SOLVER, "here", violations=True)
    own = histogram(types[against], first[against], attributes, tight)
    distances = []
    for z in fitting_datasets(program):
        other = histogram(types[against], z[against], attributes, tight)
        distances.append(sum(abs(own[key] - other[key]) for key in own | other))
    assert found.exact
    assert found.solvar == max(distances)


HOUSEHOLDS = [(1, 1, 0, 1), (1, 2, 0, 1), (2, 3, 1, 2), (0, 2, 0, 1), (0, 4, 2, 2)]


def test_every_type_holds_the_true_households_and_none_that_breaks_a_count(root: Path, file: HouseholdFile) -> None:
    program = every_type(release_of(root, file, statistics(HOUSEHOLDS)), 100_000)
    known = {tuple(codes) for codes in program.codes.tolist()}
    assert set(HOUSEHOLDS) <= known
    assert all(children <= size and race in (1, 2) and bedrooms != 3 for bedrooms, size, children, race in known)
    z = np.array([HOUSEHOLDS.count(tuple(codes)) for codes in program.codes.tolist()])
    assert program.fits(z)


def prior(configurations: list[tuple[int, int, int]]) -> Prior:
    return Prior("01", np.array(configurations), np.arange(1, len(configurations) + 1))


def test_a_block_is_measured_over_both_sets_of_attributes(root: Path, file: HouseholdFile) -> None:
    release = release_of(root, file, statistics(HOUSEHOLDS))
    own = prior([(s, c, r) for _, s, c, r in HOUSEHOLDS])
    every, simple, *violations = measure_block(release, own, file, ["SIZE"], SETTINGS)
    assert (every["attributes"], simple["attributes"]) == ("all", "simple")
    assert [row["attributes"] for row in violations] == ["violations", "violations_simple"]
    assert simple["solvar"] == 0  # every size is published
    assert every["solvar"] > 0
    assert every["exact"]
    assert simple["exact"]


def test_a_prior_that_knows_no_fitting_household_does_not_stop_the_measure(root: Path, file: HouseholdFile) -> None:
    release = release_of(root, file, statistics(HOUSEHOLDS))
    rows = measure_block(release, prior([(1, 0, 1)]), file, ["SIZE"], SETTINGS)
    assert [row["solvar"] for row in rows][1] == 0
    frame = variability_frame([{"block": release.block, "n": 5, "n_s": 3, **row} for row in rows])
    assert frame.columns.tolist() == ["block", "attributes", "solvar", "share", "exact", "records", "n", "n_s"]


@pytest.mark.parametrize(
    "odd",
    [{"HUD_BLACK": 100, "HUD_N": 3, "RACE_1": 5, "RACE_2": 0}, {"HUD_ONE_ADULT": 90, "HUD_TWO_ADULTS": 90}],
    ids=["races", "children"],
)
def test_counts_that_no_dataset_fits_are_not_measured(root: Path, file: HouseholdFile, odd: dict[str, int]) -> None:
    release = release_of(root, file, statistics(HOUSEHOLDS) | odd)
    rows = measure_block(release, prior([(1, 0, 1)]), file, ["SIZE"], SETTINGS)
    assert [row["solvar"] for row in rows] == [None] * 4
    frame = variability_frame([{"block": release.block, "n": 5, "n_s": 3, **row} for row in rows])
    assert frame["solvar"].isna().all()
    assert not frame["exact"].any()


def test_a_search_among_usual_sizes_is_exact_only_where_all_can_differ(
    file: HouseholdFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LARGE", 0)
    for seed in range(12):
        program = small_program(seed)
        first = most_likely(program, SOLVER).z
        types = pd.DataFrame(program.codes, columns=list(program.names)).assign(count=first)
        found = variability(program, types[types["count"] > 0], ["BEDROOMS", "CHILDREN"], file, SOLVER, "here")
        assert found.exact == (found.solvar == 2 * program.n)


def test_a_block_of_too_many_types_is_refused(root: Path, file: HouseholdFile) -> None:
    with pytest.raises(
        TooManyTypes, match=r"block 010010001001001: .* more than 10 types of household; raise program.max_types"
    ):
        every_type(release_of(root, file, statistics(HOUSEHOLDS)), 10)


def test_an_unknown_attribute_is_named(file: HouseholdFile) -> None:
    program = small_program(1)
    first = pd.DataFrame(program.codes, columns=list(program.names)).assign(count=1)
    with pytest.raises(GenverifyError, match="CHILDS"):
        variability(program, first, ["CHILDS"], file, SOLVER, "here")
