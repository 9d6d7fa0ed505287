"""Files from anybody: what could exhaust the machine, leave the folder or pass for something else is refused."""

import gzip
import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from genverify.bounds.count_tables import read_multiway, read_printed
from genverify.checker import certificate as prooffile
from genverify.checker.certificate import read_proofs
from genverify.disclosure.release_data import read_texts
from genverify.model import files as textfiles
from genverify.model import tablefiles as csvfile
from genverify.model.domain import DomainFile
from genverify.model.errors import ConfigError, DataError, ReleaseError
from genverify.model.files import read_json, read_yaml
from genverify.model.release import Schema, make_release, read_releases, read_schema
from genverify.model.settings import merge
from genverify.run.config import parse_config
from studies.country import ppmf
from studies.country import ppmf as chunks
from studies.country.people import read_country

BOMB = "a: &a [1, 2, 3, 4, 5, 6, 7, 8, 9]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: {c: 1, d: 2, c: 3}\n", "line 2: the key 'c' is duplicated"),
        ("release:\n  tables: all\nrelease:\n  tables: []\n", "line 3: the key 'release' is duplicated"),
        ("1: a\n0x1: b\n", "line 2: the key '1' is duplicated"),
        (BOMB, "line 7: its aliases stand for more than 1000000 values"),
        ("a: &a [1, *a]\n", "line 1: an alias is inside what it names"),
        ("a: " + "[" * 100_000, "line 1: nested more than 100 levels deep"),
        ("".join(" " * depth + "a:\n" for depth in range(200)), "line 101: nested more than 100 levels deep"),
        ("? [a, b]\n: 1\n", "not valid YAML"),
        ("a: !!python/object/apply:os.system [ls]\n", "not valid YAML"),
        ("a: 2020-99-99\n", "not valid YAML"),
        ("- 1\n", "holds no settings"),
    ],
)
def test_yaml_that_is_meant_badly(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "tables.yaml"
    path.write_text(text)
    with pytest.raises(DataError) as error:
        read_yaml(path)
    assert str(error.value).startswith(f"{path}: ")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_yaml_with_honest_anchors_is_read(tmp_path: Path) -> None:
    path = tmp_path / "tables.yaml"
    path.write_text("x: &x {p: 1, q: 2}\ny: {<<: *x, p: 3}\nz: [*x, *x]\n")
    assert read_yaml(path) == {"x": {"p": 1, "q": 2}, "y": {"p": 3, "q": 2}, "z": [{"p": 1, "q": 2}] * 2}


def test_files_are_read_up_to_a_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(textfiles, "LARGEST_BYTES", 100)
    (tmp_path / "a.yaml").write_text("a: " + "x" * 100)
    for read in (read_yaml, read_json):
        with pytest.raises(DataError, match=r"a.yaml: larger than 100 bytes, too large for a file of settings"):
            read(tmp_path / "a.yaml")


@pytest.mark.parametrize("text", ["", "{", "[]", "3", '{"a": 1, "a": 2}', '{"a": ' + "[" * 100_000, "\udcff"])
def test_broken_json(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.json").write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(DataError, match=r"a.json: (not valid JSON|an object is expected)"):
        read_json(tmp_path / "a.json")


@pytest.mark.parametrize(
    "name",
    [
        "..",
        "../up",
        "a/b",
        "",
        "x" * 65,
        "Microdata",
        "a\nb",
        "a\0b",
        "caf\u00e9",
        "-rf",
        "_",
        ".hidden",
        "$HOME",
        "{batch}",
        "a|b",
    ],
)
@pytest.mark.parametrize("section", ["variants", "designs", "all_blocks"])
def test_names_that_leave_their_folder(config: dict[str, Any], section: str, name: str) -> None:
    design = {"designs": {name: {"size": 3, "blocks_per_state": 1}}, "all_blocks": {name: {"states": "all", "up_to": 3}}}
    change = {"variants": {name: {}}} if section == "variants" else {"sample": {section: design[section]}}
    with pytest.raises(ConfigError, match="cannot be a name, which becomes part of paths: use letters, digits"):
        parse_config(merge(config, change))


@pytest.mark.parametrize(
    "change",
    [
        {"sample": {"batches": 10**9}},
        {"seed": 2**64},
        {"microdata": {"synthetic": {"households": 10**12}}},
        {"release": {"withhold": [10**9]}},
        {"program": {"seconds": float("inf")}},
        {"program": {"seconds": float("nan")}},
    ],
)
def test_settings_without_bounds(config: dict[str, Any], change: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=r"config.yaml: setting "):
        parse_config(merge(config, change))


@pytest.mark.parametrize("fips", ["..", "1", "a1", "\u0661\u0662", "01/"])
def test_states_are_two_digits(root: Path, tmp_path: Path, fips: str) -> None:
    country = shutil.copytree(root / "data" / "synthetic", tmp_path / "country")
    text = (country / "states.yaml").read_text().replace('"01":', f'"{fips}":', 1)
    (country / "states.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=r"states.yaml, state .*: give two digits"):
        read_country(country)


def counts(made_study: Path, change: Callable[[pd.DataFrame], Any], path: Path) -> Path:
    frame = pd.read_parquet(made_study / "release" / "000.parquet")
    frame["query"] = frame["query"].astype(str)
    changed = change(frame)
    (frame if changed is None else changed).to_parquet(path, index=False)
    return path


def put(value: Any, kind: Any, column: str = "count") -> Callable[[pd.DataFrame], None]:
    def change(frame: pd.DataFrame) -> None:
        frame[column] = frame[column].astype(kind)
        frame.loc[2, column] = value

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put(np.nan, float), "is not a whole number"),
        (put(np.inf, float), "is not a whole number"),
        (put(1.5, float), "is not a whole number"),
        (put(-1, np.int64), "below 0"),
        (put(2**62, np.int64), "is more than 1000000, more than any block holds"),
        (put(2**63, np.uint64), "is more than 1000000, more than any block holds"),
        (put(2**64 - 1, np.uint64), "is more than 1000000, more than any block holds"),
        (put(1e300, float), "is more than 1000000, more than any block holds"),
        (put("3", str), "the column count holds values of type str"),
        (put(True, bool), "the column count holds values of type bool"),
        (put(None, object, "query"), "has no block or no query"),
        (lambda frame: pd.concat([frame, frame.head(1)]), "is duplicated"),
    ],
)
def test_counts_that_are_none(made_study: Path, toy_schema: Schema, tmp_path: Path, change: Any, message: str) -> None:
    path = counts(made_study, change, tmp_path / "000.parquet")
    with pytest.raises(ReleaseError) as error:
        list(read_releases(path, toy_schema))
    assert str(error.value).startswith(f"{path}: ")
    assert message in str(error.value)


def test_a_release_made_by_hand_is_bounded_too(toy_schema: Schema) -> None:
    with pytest.raises(ReleaseError, match="the count of N is 4611686018427387904, more than 1000000"):
        make_release(toy_schema, "010010201001000", {"N": 2**62})


RUINED: dict[str, Callable[[Any, Any, Any], Any]] = {
    "the column 'PET' is not text, or is duplicated": lambda text, column, query: text["columns"].append(column),
    "is duplicated": lambda text, column, query: text["queries"].append(query),
    "the query 'N' is not text, or is duplicated": lambda text, column, query: query.update(id="N"),
    "the query 5 is not text": lambda text, column, query: query.update(id=5),
    "the domain has no column 'CAT'": lambda text, column, query: query.update(where={"CAT": [1]}),
    "column PET has no code 99": lambda text, column, query: query.update(where={"PET": [99]}),
    "column PET has no code nan": lambda text, column, query: query.update(where={"PET": [float("nan")]}),
    "column PET has no code 1.5": lambda text, column, query: query.update(where={"PET": [1.5]}),
    f"column PET has the code {2**70}": lambda text, column, query: column["codes"].update({str(2**70): "many"}),
    "column PET has the code -1": lambda text, column, query: column["codes"].update({"-1": "any"}),
    "no columns": lambda text, column, query: text.update(columns=[], rules=[], queries=[]),
    "KeyError('columns')": lambda text, column, query: text.pop("columns"),
}


@pytest.mark.parametrize("message", RUINED)
def test_a_schema_that_is_none(made_study: Path, tmp_path: Path, message: str) -> None:
    text = json.loads((made_study / "release" / "schema.json").read_text())
    RUINED[message](text, text["columns"][0], text["queries"][0])
    (tmp_path / "schema.json").write_text(json.dumps(text))
    with pytest.raises(ReleaseError) as error:
        read_schema(tmp_path / "schema.json")
    assert str(error.value).startswith(f"{tmp_path / 'schema.json'}: not a release schema (")
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"block": "' + b"x" * 2000 + b'"}\n', "line 1: longer than 1000 bytes"),
        (b"[" * 900 + b"\n", "line 1: not valid JSON"),
        (b"[]\n", "line 1: holds no object"),
        (b"\xff\xfe\n", "line 1: not valid JSON"),
    ],
)
def test_proofs_that_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, message: str) -> None:
    monkeypatch.setattr(prooffile, "LONGEST_LINE", 1000)
    path = tmp_path / "000.jsonl.gz"
    path.write_bytes(gzip.compress(content))
    with pytest.raises(DataError) as error:
        list(read_proofs(path))
    assert message in str(error.value)
    path.write_bytes(gzip.compress(content)[:-6])
    with pytest.raises(DataError):
        list(read_proofs(path))


def units(census: DomainFile) -> tuple[str, str]:
    head = ",".join(["RTYPE", *ppmf.GEOGRAPHY, *census.domain.names])
    return head, ",".join(["2", "01", "001", "020100", "1000", *(str(column.codes[-1]) for column in census.domain.columns)])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("9" * 40_000, "row 3: no end of line within "),
        ("9" * 4_000, "row 3: 1 fields but the header has 15"),
        ("{row}" + "9" * 4_500, "row 3: TP65 '1999"),
        ('"' + "9" * 4_000 + '"', "row 3: 1 fields"),
    ],
)
def test_a_line_without_end(
    census: DomainFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, message: str
) -> None:
    """With a chunk of 10 kB in place of 8 MB: what is read ahead stays within two chunks, however long the line is."""
    monkeypatch.setattr(chunks, "CHUNK_BYTES", 10_000)
    head, row = units(census)
    (tmp_path / "units.csv").write_text(f"{head}\n{row}\n{line.replace('{row}', row)}\n{row}\n")
    with pytest.raises(DataError) as error:
        list(ppmf.read_ppmf(tmp_path / "units.csv", census.domain, Counter()))
    assert message in str(error.value)
    assert len(str(error.value)) < 400


@pytest.mark.parametrize("place", ["header", "row"])
def test_a_field_longer_than_any(census: DomainFile, tmp_path: Path, place: str) -> None:
    head, row = units(census)
    long = "9" * 200_000
    text = f"{head},{long}\n{row}\n" if place == "header" else f"{head}\n{row}\n{long}\n"
    (tmp_path / "units.csv").write_text(text)
    with pytest.raises(DataError, match=r"row \d: not a row of fields \(field larger than field limit"):
        list(ppmf.read_ppmf(tmp_path / "units.csv", census.domain, Counter()))


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("read", [read_texts, read_printed, read_multiway], ids=["release", "table", "tables"])
def test_a_line_without_end_in_a_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read: Callable[[Path], Any], packed: bool
) -> None:
    monkeypatch.setattr(csvfile, "LONGEST_LINE", 1000)
    text = b"area,count\n5a,3\n5a," + b"9" * 1000 + b"\n"
    path = tmp_path / ("counts.csv.gz" if packed else "counts.csv")
    path.write_bytes(gzip.compress(text) if packed else text)
    with pytest.raises(DataError, match=r"counts\.csv.*, line 3: longer than 1000 bytes, too long for a row") as error:
        read(path)
    assert len(str(error.value)) < 400
