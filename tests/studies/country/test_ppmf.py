"""The reader of the PPMF unit file: what it reads, what it drops, and what it says about bad input."""

import gzip
import re
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import yaml

from genverify.model.domain import Domain, parse_domain
from genverify.model.errors import DataError
from studies.country import ppmf as chunks
from studies.country.ppmf import read_ppmf, write_ppmf

HEADER = "RTYPE,TABBLKST,TABBLKCOU,TABTRACTCE,TABBLK,TEN,VACS,HHSIZE,HHT,HHT2,THHSPAN,THHLDRAGE,THHRACE,TP18,TP65"
ROW = "2,01,001,020100,1000,1,0,2,1,02,1,5,01,0,0"
COUPLE = {"TEN": 1, "VACS": 0, "HHSIZE": 2, "HHT": 1, "HHT2": 2, "THHSPAN": 1, "THHLDRAGE": 5, "THHRACE": 1}
COUPLE |= {"TP18": 0, "TP65": 0}


@pytest.fixture(scope="module")
def domain() -> Domain:
    path = Path(__file__).parents[3] / "data" / "census" / "domain.yaml"
    return parse_domain(yaml.safe_load(path.read_text())).domain


def households(domain: Domain, rows: int, seed: int = 0) -> pa.Table:
    generator = np.random.default_rng(seed)
    blocks = [f"{state:02d}{block:013d}" for state, block in generator.integers(1, [57, 10**6], (rows, 2))]
    codes = {c.name: pa.array(generator.choice(c.codes, rows).astype(np.int8)) for c in domain.columns}
    return pa.table({"block": blocks, **codes})


def read(path: Path, domain: Domain) -> pa.Table:
    return pa.concat_tables(read_ppmf(path, domain, {}))


def message(path: Path, domain: Domain) -> str:
    with pytest.raises(DataError) as caught:
        read(path, domain)
    return str(caught.value)


def text_file(folder: Path, *lines: str, name: str = "units.csv") -> Path:
    path = folder / name
    path.write_bytes("".join(f"{line}\n" for line in lines).encode())
    return path


@pytest.mark.parametrize("delimiter", ["|", ","])
@pytest.mark.parametrize("name", ["units.txt", "units.csv.gz", "units.zip"])
def test_round_trip(tmp_path: Path, domain: Domain, name: str, delimiter: str) -> None:
    table = households(domain, 5000)
    assert write_ppmf([table[:1000], table[1000:]], tmp_path / name, delimiter) == 5000
    assert read(tmp_path / name, domain).equals(table)
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", ["units.txt", "units.csv.gz", "units.zip"])
def test_written_twice_the_bytes_are_the_same(tmp_path: Path, domain: Domain, name: str) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        write_ppmf([households(domain, 500)], tmp_path / folder / name)
    assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_a_written_record_has_the_27_fields(tmp_path: Path) -> None:
    alone = COUPLE | {"HHSIZE": 1, "HHT": 6, "HHT2": 5, "THHRACE": 7, "TP65": 1, "THHLDRAGE": 9}
    rows = [{"block": "010010201001000", **COUPLE}, {"block": "560459513003245", **alone}]
    write_ppmf([pa.Table.from_pylist(rows)], tmp_path / "units.txt")
    assert (tmp_path / "units.txt").read_text().splitlines() == [
        "SCHEMA_TYPE_CODE|SCHEMA_BUILD_ID|TABBLKST|TABBLKCOU|TABTRACTCE|TABBLKGRPCE|TABBLK|RTYPE|GQTYPE|TEN|VACS|HHSIZE|"
        "HHT|HHT2|CPLT|UPART|MULTG|THHLDRAGE|THHSPAN|THHRACE|PAOC|TP18|TP60|TP65|TP75|PAC|HHSEX",
        "MUD|0|01|001|020100|1|1000|2|000|1|0|2|1|02|0|0|0|5|1|01|0|0|0|0|0|0|0",
        "MUD|0|56|045|951300|3|3245|2|000|1|0|1|6|05|0|0|0|9|1|07|0|0|0|1|0|0|2",
    ]


def test_a_table_without_a_column_is_not_written(tmp_path: Path, domain: Domain) -> None:
    table = households(domain, 3).drop_columns(["TP65"])
    with pytest.raises(DataError, match=r"units.txt: records without column TP65: known: block, TEN, VACS"):
        write_ppmf([table], tmp_path / "units.txt")
    assert not list(tmp_path.iterdir())


def test_columns_are_found_by_name_and_group_quarters_dropped(tmp_path: Path, domain: Domain) -> None:
    path = text_file(
        tmp_path,
        "# vintage 2023-04-03",
        "\ufeff" + HEADER.replace("RTYPE,", "NOTE,RTYPE,").replace(",", "|"),
        "x|" + ROW.replace(",", "|"),
        "# a remark | in between",
        "",
        "x|4|01|001|020100|1000|0|0|0|0|00|0|0|XX|0|0",
        "#",
        "y|" + ROW.replace(",", "|").replace("|02|1|5|01|", "|2|1|5|1|"),
    )
    rejected: Counter[str] = Counter()
    seen: list[int] = []
    table = pa.concat_tables(read_ppmf(path, domain, rejected, seen.append))
    assert table.to_pylist() == [{"block": "010010201001000", **COUPLE}] * 2
    assert table.schema.types == [pa.string(), *[pa.int8()] * 10]
    assert rejected == {"group quarters": 1}
    assert seen == [3]


def test_quotes_windows_line_ends_and_no_last_line_end(tmp_path: Path, domain: Domain) -> None:
    path = tmp_path / "units.csv"
    quoted = ",".join(f'"{field}"' for field in ROW.split(","))
    path.write_bytes(f"{HEADER}\r\n{ROW}\r\n\r\n{quoted}".encode())
    assert read(path, domain).to_pylist() == [{"block": "010010201001000", **COUPLE}] * 2


def test_many_chunks_keep_order_and_row_numbers(tmp_path: Path, domain: Domain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "CHUNK_BYTES", 3000)
    table = households(domain, 2000)
    path = tmp_path / "units.txt"
    write_ppmf([table], path)
    assert len(list(read_ppmf(path, domain, {}))) > 20
    assert read(path, domain).equals(table)
    lines = path.read_text().splitlines()
    lines.insert(700, "# a comment")
    lines[1500] = lines[1500].replace("MUD|0|", "MUD|0|x")
    assert f"{path}, row 1501: TABBLKST 'x" in message(text_file(tmp_path, *lines, name="units.txt"), domain)


BAD_ROWS = {
    "unknown code": (ROW.replace(",5,01,", ",5,08,"), "row 4: THHRACE '08' is not a code of this column (race of"),
    "not a number": (ROW.replace(",5,01,", ",N,01,"), "row 4: THHLDRAGE 'N' is not a code of this column (age of"),
    "empty code": (ROW.replace(",5,01,", ",,01,"), "row 4: THHLDRAGE '' is not a code of this column"),
    "unknown record type": (ROW.replace("2,01,", "3,01,", 1), "row 4: RTYPE '3' is not a record type"),
    "state without its zero": (ROW.replace("2,01,", "2,1,", 1), "row 4: TABBLKST '1' is not 2 digits. Give all"),
    "county too long": (ROW.replace(",001,", ",0001,"), "row 4: TABBLKCOU '0001' is not 3 digits"),
    "tract with a point": (ROW.replace(",020100,", ",0201.0,"), "row 4: TABTRACTCE '0201.0' is not 6 digits"),
    "block not digits": (ROW.replace(",1000,", ",1O00,"), "row 4: TABBLK '1O00' is not 4 digits"),
    "too few fields": (ROW[:-2], "row 4: 14 fields but the header has 15"),
    "too many fields": (ROW + ",0", "row 4: 16 fields but the header has 15"),
}


@pytest.mark.parametrize("case", BAD_ROWS)
def test_a_bad_row_is_named(tmp_path: Path, domain: Domain, case: str) -> None:
    row, expected = BAD_ROWS[case]
    path = text_file(tmp_path, "# comment", HEADER, ROW, row, ROW)
    said = message(path, domain)
    assert said.startswith(f"{path}, {expected}")
    assert re.search(r"(Correct|Use|Give) ", said)


def test_a_quote_that_is_not_closed(tmp_path: Path, domain: Domain) -> None:
    path = text_file(tmp_path, "NOTE," + HEADER, f'"a,{ROW}', f'b",{ROW}', f"c,{ROW}")
    assert message(path, domain).startswith(f"{path}, row")


BAD_HEADERS = {
    "missing column": (HEADER.replace("THHRACE", "HHRACE"), "row 1: the header has no column THHRACE: did you mean HHRACE?"),
    "duplicate name": (HEADER + ",TEN", "row 1: the header names column 'TEN' twice. Rename or drop"),
    "semicolons": (HEADER.replace(",", ";"), "row 1: the header is separated by ';', not by ',' or '|'"),
    "tabs": (HEADER.replace(",", "\t"), r"row 1: the header is separated by '\t', not by ',' or '|'"),
}


@pytest.mark.parametrize("case", BAD_HEADERS)
def test_a_bad_header_is_named(tmp_path: Path, domain: Domain, case: str) -> None:
    header, expected = BAD_HEADERS[case]
    path = text_file(tmp_path, header, ROW)
    assert message(path, domain).startswith(f"{path}, {expected}")


def test_no_file_no_bytes_no_header_no_rows(tmp_path: Path, domain: Domain) -> None:
    assert "nowhere.csv: no such file. Check the path" in message(tmp_path / "nowhere.csv", domain)
    assert "units.csv: the file is empty (0 bytes). Fetch it again." in message(text_file(tmp_path), domain)
    assert "units.csv: no header line." in message(text_file(tmp_path, "# nothing else"), domain)
    assert "units.csv: the header is there but no rows follow" in message(text_file(tmp_path, HEADER), domain)
    assert "no rows follow" in message(text_file(tmp_path, HEADER, "# only a comment", ""), domain)


def test_truncated_archives(tmp_path: Path, domain: Domain) -> None:
    path = tmp_path / "units.csv.gz"
    path.write_bytes(gzip.compress("\n".join([HEADER, *[ROW] * 1000]).encode())[:-20])
    assert f"{path}: the compressed data break off or are damaged after row 0 (" in message(path, domain)
    path = tmp_path / "units.zip"
    write_ppmf([households(domain, 100)], path)
    path.write_bytes(path.read_bytes()[:-30])
    assert f"{path}: a broken or truncated zip file (" in message(path, domain)


def test_a_zip_with_two_files(tmp_path: Path, domain: Domain) -> None:
    path = tmp_path / "units.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("units.csv", f"{HEADER}\n{ROW}\n")
        archive.writestr("persons.csv", "QAGE\n")
    assert message(path, domain).startswith(f"{path}: the zip holds 2 files (units.csv, persons.csv). Give one")
