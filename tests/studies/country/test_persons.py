"""Persons: those who fit the synthetic households, the PPMF person file, and reconstructed records as a file."""

import gzip
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from genverify.model.domain import Domain, DomainFile, read_domain
from genverify.model.errors import DataError
from studies.country.people import IMPOSSIBLE, PersonModel, draw_persons, possible_types, read_person_model
from studies.country.ppmf import PERSON_RECORD, PERSONS, read_ppmf, write_ppmf
from studies.country.sources import open_persons
from studies.country.store import read_microdata, read_person_records, write_microdata

BANDS = {
    1: (15, 24),
    2: (25, 34),
    3: (35, 44),
    4: (45, 54),
    5: (55, 59),
    6: (60, 64),
    7: (65, 74),
    8: (75, 84),
    9: (85, 115),
}


@pytest.fixture(scope="module")
def domain(root: Path) -> Domain:
    return read_domain(root / "data" / "census" / "persons.yaml").domain


@pytest.fixture(scope="module")
def model(root: Path, domain: Domain) -> PersonModel:
    return read_person_model(root / "data" / "synthetic" / "persons.yaml", domain)


@pytest.fixture(scope="module")
def every_type(census: DomainFile) -> pa.Table:
    """A household of every type that the structural rules allow, each in a block of its own, and a vacant unit."""
    types = possible_types(census).records
    chosen = np.flatnonzero(types["TEN"] == 1)
    columns = {name: codes[chosen].astype(np.int8) for name, codes in types.items()} | {
        "VACS": np.zeros(len(chosen), np.int8)
    }
    table = pa.table({"block": [f"01001{place:010d}" for place in range(len(chosen))], **columns})
    vacant = {name: [0] for name in columns} | {"VACS": [3]}
    empty = pa.table({"block": ["019999999999999"], **{name: pa.array(code, pa.int8()) for name, code in vacant.items()}})
    return pa.concat_tables([table, empty])


@pytest.fixture(scope="module")
def drawn(every_type: pa.Table, model: PersonModel) -> tuple[pd.DataFrame, pd.DataFrame, Counter[str]]:
    misfits: Counter[str] = Counter()
    persons = draw_persons(every_type, model, np.random.default_rng(7), misfits).to_pandas()
    return every_type.to_pandas().set_index("block"), persons, misfits


def test_persons_fit_every_type_of_household(drawn: tuple[pd.DataFrame, pd.DataFrame, Counter[str]]) -> None:
    """All 27,216 types of one tenure: size, minors, people of 65 and over, and the householder's age, race and origin."""
    units, persons, misfits = drawn
    homes = units[units["VACS"] == 0]
    by_home = persons.groupby("block", sort=False)
    assert len(homes) == 1944 * 14
    sizes = by_home.size()[homes.index]
    assert (sizes.clip(upper=7) == homes["HHSIZE"]).all()
    assert sizes.max() > 8
    impossible = (homes["HHSIZE"] == 2) & (homes["TP18"] == 1) & (homes["TP65"] == 1) & homes["THHLDRAGE"].between(2, 6)
    assert misfits == {IMPOSSIBLE: int(impossible.sum())}
    ages = by_home["QAGE"].agg(["min", "max", "first"]).loc[homes.index]
    assert ((ages["min"] < 18) == (homes["TP18"] == 1)).all()
    assert ((ages["max"] >= 65) == (homes["TP65"] == 1))[~impossible].all()
    low, high = (homes["THHLDRAGE"].map({code: ends[side] for code, ends in BANDS.items()}) for side in (0, 1))
    assert ages["first"].between(low, high).all()
    first = by_home.first().loc[homes.index]
    assert (first["CENHISP"] == homes["THHSPAN"]).all()
    assert (first["CENRACE"].clip(upper=7) == homes["THHRACE"]).all()
    assert "019999999999999" not in set(persons["block"])


def test_sexes_and_children_are_those_of_the_household_type(drawn: tuple[pd.DataFrame, pd.DataFrame, Counter[str]]) -> None:
    units, persons, _ = drawn
    homes = units[units["VACS"] == 0]
    by_home = persons.groupby("block", sort=False)
    first = by_home["QSEX"].first()[homes.index]
    assert (first[homes["HHT"].isin([2, 4, 5])] == 1).all()
    assert (first[homes["HHT"].isin([3, 6, 7])] == 2).all()
    second = by_home["QSEX"].nth(1).set_axis(homes.index[homes["HHSIZE"] > 1])
    married = homes.index[homes["HHT"] == 1]
    assert (second[married] + first[married] == 3).all()
    parents = homes.index[homes["HHT2"].isin([1, 3, 6, 10])]
    assert (by_home["QAGE"].last()[parents] < 18).all()
    partner = by_home["QAGE"].nth(1).set_axis(second.index)
    assert (partner[homes.index[homes["HHT2"].isin([1, 2, 3, 4])]] >= 15).all()


def test_the_same_seed_gives_the_same_persons(every_type: pa.Table, model: PersonModel) -> None:
    few = every_type.slice(0, 500)
    one, two, other = (draw_persons(few, model, np.random.default_rng(seed), {}) for seed in (1, 1, 2))
    assert one.equals(two)
    assert not one.equals(other)


def test_both_sources_give_the_same_store(
    tmp_path: Path, root: Path, domain: Domain, census: DomainFile, every_type: pa.Table
) -> None:
    """Synthetic households of two states, their persons, and these persons again through a file in the PPMF layout."""
    other = every_type.slice(0, 300).to_pandas()
    other["block"] = "56" + other["block"].str.slice(2)
    tables = [every_type.slice(0, 2000), pa.Table.from_pandas(other, preserve_index=False)]
    write_microdata(tables, tmp_path / "homes", census.domain)
    model = root / "data" / "synthetic" / "persons.yaml"
    label, persons = open_persons(tmp_path / "homes", model, True, 1, domain, Counter())
    assert label == "synthetic microdata"
    written = write_microdata(persons, tmp_path / "persons", domain)
    assert list(written["states"]) == ["01", "56"]
    stored = read_microdata(tmp_path / "persons")
    for delimiter, name in (("|", "persons.txt"), (",", "persons.csv.gz")):
        write_ppmf([stored], tmp_path / name, delimiter, PERSON_RECORD)
        label, read = open_persons(tmp_path / name, model, True, 1, domain, Counter())
        assert label == f"PPMF file {name}"
        assert pa.concat_tables(read).equals(stored.select(["block", *domain.names]))
    header, row = (tmp_path / "persons.txt").read_text().splitlines()[:2]
    assert len(header.split("|")) == len(row.split("|")) == 16
    assert row.split("|")[0] == "MPD"


HEADER = "TABBLKST|TABBLKCOU|TABTRACTCE|TABBLK|RTYPE|QSEX|QAGE|CENHISP|CENRACE"
ROW = "01|001|020100|1000|3|2|30|1|01"


def person_file(folder: Path, *rows: str) -> Path:
    path = folder / "persons.txt"
    path.write_text("".join(f"{row}\n" for row in rows))
    return path


def test_group_quarters_are_kept_or_dropped(tmp_path: Path, root: Path, domain: Domain) -> None:
    path = person_file(tmp_path, HEADER, ROW, ROW.replace("|3|2|", "|5|1|"), ROW.replace("|30|", "|115|"))
    for kept, ages in ((True, [30, 30, 115]), (False, [30, 115])):
        rejected: Counter[str] = Counter()
        _, tables = open_persons(path, root / "data" / "synthetic" / "persons.yaml", kept, 1, domain, rejected)
        assert pa.concat_tables(tables)["QAGE"].to_pylist() == ages
        assert rejected == ({} if kept else {"group quarters": 1})


BAD_PERSONS = {
    "missing column": ((HEADER.replace("QAGE", "AGE"), ROW), "row 1: the header has no column QAGE: did you mean AGE?"),
    "age 116": ((HEADER, ROW.replace("|30|", "|116|")), "row 2: QAGE '116' is not a code of this column (age: 0 to 115)"),
    "race 64": ((HEADER, ROW, ROW[:-2] + "64"), "row 3: CENRACE '64' is not a code of this column (race: 1 to 63)"),
    "sex 3": ((HEADER, ROW.replace("|3|2|", "|3|3|")), "row 2: QSEX '3' is not a code of this column (sex: 1, 2)"),
    "a unit": ((HEADER, ROW.replace("|3|2|", "|2|2|")), "row 2: RTYPE '2' is not a record type of a person file. Use 3 for"),
    "breaks off": ((HEADER, ROW, ROW[:20]), "row 3: 5 fields but the header has 9"),
}


@pytest.mark.parametrize("case", BAD_PERSONS)
def test_a_bad_person_file_is_explained(tmp_path: Path, domain: Domain, case: str) -> None:
    rows, message = BAD_PERSONS[case]
    path = person_file(tmp_path, *rows)
    with pytest.raises(DataError) as caught:
        list(read_ppmf(path, domain, {}, kind=PERSONS))
    assert str(caught.value).startswith(f"{path}, {message}")


RECORDS = "block,sex,age,white,black,aian,asian,nhpi,other,hispanic\n"
RECORD = "010010201001000,2,30,1,0,0,1,0,0,1\n"


def test_flags_make_the_code_of_race(tmp_path: Path, domain: Domain) -> None:
    path = tmp_path / "records.csv.gz"
    path.write_bytes(gzip.compress((RECORDS + RECORD + "010010201000999,1,0,0,0,0,0,0,1,0\n").encode()))
    found = read_person_records(path, domain)
    assert found.columns.tolist() == ["block", "QSEX", "QAGE", "CENHISP", "CENRACE"]
    assert found.to_numpy().tolist() == [["010010201000999", 1, 0, 1, 6], ["010010201001000", 2, 30, 2, 9]]


BAD_RECORDS = {
    "missing column": (RECORDS.replace("asian", "asia") + RECORD, ": has no column 'asian': did you mean asia?"),
    "age 116": (
        RECORDS + RECORD + RECORD.replace(",30,", ",116,"),
        ", row 3: age 116 is outside 0 to 115. Correct the row.",
    ),
    "no race": (
        RECORDS + RECORD.replace(",1,0,0,1,0,0,1", ",0,0,0,0,0,0,1"),
        ", row 2: the sum of race flags 0 names no race",
    ),
    "flag 2": (RECORDS + RECORD.replace(",30,1,", ",30,2,"), ", row 2: white 2 is neither 0 nor 1"),
    "sex 0": (RECORDS + RECORD.replace(",2,30,", ",0,30,"), ", row 2: sex 0 is outside 1 to 2"),
    "short block": (RECORDS + RECORD[1:], ", row 2: block '10010201001000' is not 15 digits"),
    "breaks off": (RECORDS + RECORD[:20], ", row 2: white nan is neither 0 nor 1"),
}


@pytest.mark.parametrize("case", BAD_RECORDS)
def test_bad_records_are_explained(tmp_path: Path, domain: Domain, case: str) -> None:
    text, message = BAD_RECORDS[case]
    path = tmp_path / "records.csv"
    path.write_text(text)
    with pytest.raises(DataError) as caught:
        read_person_records(path, domain)
    assert f"{path}{message}" in str(caught.value)


def test_a_truncated_archive_of_records(tmp_path: Path, domain: Domain) -> None:
    path = tmp_path / "records.csv.gz"
    path.write_bytes(gzip.compress((RECORDS + RECORD * 1000).encode())[:-10])
    with pytest.raises(DataError, match="cannot be read as a file of person records"):
        read_person_records(path, domain)


def test_a_wrong_file_of_assumptions(tmp_path: Path, root: Path, domain: Domain) -> None:
    text = (root / "data" / "synthetic" / "persons.yaml").read_text()
    path = tmp_path / "persons.yaml"
    path.write_text(text.replace("white+black:", "white+blck:"))
    with pytest.raises(DataError, match=r"unknown set 'white\+blck': did you mean white\+black"):
        read_person_model(path, domain)
    path.write_text("nation: {}\n")
    with pytest.raises(DataError, match="not a file of persons"):
        read_person_model(path, domain)
