"""PUMS files as the Census Bureau gives them become codes of the study: on a handful of made-up households."""

from pathlib import Path

import pandas as pd
import pytest

from genverify.model.errors import DataError
from studies.country.surveys import count_pums

# SERIALNO, NP, TEN, HHT, NOC, PARTNER
UNITS = [
    ("1", 3, 1, 1, 1, 0),
    ("2", 1, 3, 6, 0, 0),
    ("3", 2, 3, 3, 1, 0),
    ("4", 2, 2, 5, 0, 1),
    ("5", 0, None, None, None, None),
]
UNITS += [("6", 9, 4, 2, 0, 0), ("7", 2, 3, 5, 0, 0)]
# SERIALNO, SPORDER, AGEP, SEX, RAC1P, HISP
PEOPLE = [("1", 1, 40, 1, 1, 1), ("1", 2, 70, 2, 1, 1), ("1", 3, 5, 1, 1, 1), ("2", 1, 85, 2, 2, 1), ("3", 1, 24, 2, 8, 2)]
PEOPLE += [("3", 2, 1, 1, 8, 2), ("4", 1, 59, 1, 6, 1), ("4", 2, 60, 2, 1, 1), ("7", 1, 30, 1, 7, 1), ("7", 2, 31, 1, 1, 1)]
PEOPLE += [("6", place, 64, 1, 5, 1) for place in range(1, 10)]
EXPECTED = {
    (1, 3, 1, 1, 1, 3, 1, 1, 1), (3, 1, 6, 5, 1, 9, 2, 0, 1), (3, 2, 3, 6, 2, 1, 6, 1, 0), (2, 2, 5, 4, 1, 5, 4, 0, 0),
    (4, 7, 2, 11, 1, 6, 3, 0, 0), (3, 2, 5, 12, 1, 2, 5, 0, 0),
}  # fmt: skip


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    units, people = tmp_path / "psam_husa.csv", tmp_path / "psam_pusa.csv"
    pd.DataFrame(UNITS, columns=["SERIALNO", "NP", "TEN", "HHT", "NOC", "PARTNER"]).to_csv(units, index=False)
    pd.DataFrame(PEOPLE, columns=["SERIALNO", "SPORDER", "AGEP", "SEX", "RAC1P", "HISP"]).to_csv(people, index=False)
    return units, people


def test_households_are_recoded(files: tuple[Path, Path]) -> None:
    found = count_pums([files[0]], [files[1]])
    assert found["households"].tolist() == [1] * 6
    assert set(found.drop(columns="households").itertuples(index=False, name=None)) == EXPECTED


def test_detailed_type_of_newer_files_is_taken_as_it_is(files: tuple[Path, Path]) -> None:
    units = pd.read_csv(files[0]).drop(columns=["NOC", "PARTNER"])
    units.assign(HHT2=[2, 5, 6, 4, None, 11, 12]).to_csv(files[0], index=False)
    assert set(count_pums([files[0]], [files[1]])["HHT2"]) == {2, 4, 5, 6, 11, 12}


def test_mistakes_are_named(files: tuple[Path, Path]) -> None:
    units, people = files
    with pytest.raises(DataError, match=r"psam_husa\.csv: has no column 'SPORDER'"):
        count_pums([units], [units])
    whole = pd.read_csv(units)
    whole.drop(columns="NOC").to_csv(units, index=False)
    with pytest.raises(DataError, match=r"neither HHT2 nor NOC"):
        count_pums([units], [people])
    whole.assign(SERIALNO="other").to_csv(units, index=False)
    with pytest.raises(DataError, match="give files of the same survey"):
        count_pums([units], [people])
    with pytest.raises(DataError, match=r"cannot be read as a CSV file of PUMS \(No such"):
        count_pums([units.with_name("none.csv")], [people])
