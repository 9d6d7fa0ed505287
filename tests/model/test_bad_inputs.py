"""Inputs that are wrong end in one clear line and exit code 1, never in a traceback, for every command."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from genverify.attack.generate import GeneratedDatasets, _datasets_frame
from genverify.checker.certificate import read_lines, read_proofs
from genverify.cli import main
from genverify.disclosure.release_data import read_texts
from genverify.disclosure.whatif import plot_what_if
from genverify.model.claims import candidate_claims
from genverify.model.domain import Column, Domain
from genverify.model.errors import DataError, ReleaseError
from genverify.model.files import FileLimits
from genverify.model.release import Schema, read_releases, read_schema, recode
from genverify.model.tablefiles import Expected, open_csv
from genverify.report.figures import save
from studies.gtv.figures import plot_fig2

PEOPLE = "sex,age,home\nf,71,rents\nf,30,owns\nm,33,owns\nm,75,owns\nf,20,rents\n"
RELEASE = """
name: tiny
data: people.csv
columns:
  age: {bins: [65]}
  sex: {codes: {f: woman, m: man}}
tables:
  sex_age: {columns: [sex, age]}
  age_home: {columns: [age, home]}
"""
PROTECT = "protect:\n  - {suppress: 3}\n"
COUNTED = """
name: tiny
counts: counts.csv
columns:
  sex: {codes: {f: woman, m: man}}
  home: {codes: {owns: owns, rents: rents}}
tables:
  both: {columns: [sex, home], totals: true}
"""
COUNTS = "cell,count\nN,5\nboth.f.owns,2\n"


def write(folder: Path, form: str = RELEASE, data: str | bytes = PEOPLE, name: str = "people.csv") -> Path:
    (folder / name).write_bytes(data if isinstance(data, bytes) else data.encode())
    (folder / "release.yaml").write_text(form)
    return folder / "release.yaml"


def refused(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    """What a command that fails says: one line, and nothing of a traceback."""
    assert main([str(word) for word in words]) == 2
    said = capsys.readouterr().err.strip()
    assert len(said.splitlines()) == 1, said
    assert "Traceback" not in said
    assert said.partition(":")[0].endswith("Error")
    return said


BIG = (10**6 + 1, 2**63, 2**64, 10**30)
FORMS = [
    *((f"published_as: {{{kind}: {big}}}", f"{big}: input should be less than or equal to 1000000")
      for kind in ("suppress", "round", "random_round", "plus_minus") for big in BIG),
    ("min_k: 4", "min_k is 4, but the tables name only 3 columns"),
    (f"min_k: {2**70}", "but the tables name only 3 columns"),
    (f"total: {2**70}", "input should be less than or equal to 1000000"),
    ("total: -1", "input should be greater than or equal to 0"),
    ("max_rows: 4", "people.csv: holds more than 4 rows; if that is meant, allow more with --max-rows"),
    ("max_bytes: 50", "people.csv: holds more than 50 bytes when unpacked"),
    ("max_rows: 0", "input should be greater than or equal to 1"),
]  # fmt: skip


@pytest.mark.parametrize("command", ["disclose", "what-if"])
@pytest.mark.parametrize(("line", "words"), FORMS)
def test_settings_of_a_release_that_cannot_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str, words: str, command: str
) -> None:
    said = refused(capsys, command, write(tmp_path, f"{RELEASE}{PROTECT}{line}\n"))
    assert words in said
    assert str(tmp_path) in said


CHANGED = [
    ("[65]", "[.nan]", "input should be a finite number"),
    ("[65]", f"[{10**400}]", "setting columns.age.bins"),
    ("[65]", "[1000000, 1000001, 1000002]", "two of them would have the same label"),
    ("[sex, age]}", "[sex, age], groups: {sex: {f: [m]}}}", "the group 'f' of sex has the name of a code outside it"),
    ("tables:\n  sex_age: {columns: [sex, age]}\n  age_home: {columns: [age, home]}", "predicates: [{cell: c, where: {}}]",
     "no table, cell or rule names a column"),
    ("people.csv", "people.zip", "people.zip: .zip files are not read; give a CSV"),
    ("people.csv", "people.csv.xz", ".xz files are not read"),
    ("people.csv", "people.csv.zst", ".zst files are not read"),
    ("people.csv", "people.tar.gz", ".tar.gz files are not read"),
    ("people.csv", "people.csv.gz", "Not a gzipped file"),
    ("people.csv", "people.parquet", "cannot be read as a table"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "words"), CHANGED)
def test_release_files_that_cannot_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, words: str
) -> None:
    name = new if old == "people.csv" else "people.csv"
    assert words in refused(capsys, "disclose", write(tmp_path, RELEASE.replace(old, new), name=name))


DATA = [
    (PEOPLE.replace("home", "age "), "2 columns are called 'age'; give each column its own name"),
    (PEOPLE.replace("home", "age"), "2 columns are called 'age'"),
    (PEOPLE.replace("rents\n", "rents,\n").replace("owns\n", "owns,\n"), "row 2: 4 fields, but the header names 3"),
    (PEOPLE + "f,1,owns,x,y\n", "people.csv, row 7: 5 fields, but the header names 3 columns"),
    (b"\xff\xfe\x00", "is not text in UTF-8, UTF-16"),
    ("", "people.csv: the file is empty"),
]


@pytest.mark.parametrize(("data", "words"), DATA)
def test_data_that_cannot_be(tmp_path: Path, capsys: pytest.CaptureFixture[str], data: str | bytes, words: str) -> None:
    said = refused(capsys, "disclose", write(tmp_path, RELEASE, data))
    assert words in said
    assert str(tmp_path / "people.csv") in said


COUNTED_BADLY = [
    ("cell,count\nN,999999999999\nboth.f.owns,2\n", "999,999,999,999 records of 2 columns are too many for the memory"),
    ("cell,count\nN,999999999999\nboth.all.all,999999999999\n", "are too many for the memory"),
    ("cell,lo,hi,count\nN,5,5,5\nboth.f.owns,1,2,2\n", "has count and also lo and hi"),
    ("cell,lo,count\nN,5,5\nboth.f.owns,1,2\n", "has count and also one of lo and hi"),
    ("cell,count,count \nN,5,5\nboth.f.owns,1,2\n", "2 columns are called 'count'"),
]


@pytest.mark.parametrize(("counts", "words"), COUNTED_BADLY)
def test_counts_that_cannot_be(tmp_path: Path, capsys: pytest.CaptureFixture[str], counts: str, words: str) -> None:
    said = refused(capsys, "disclose", write(tmp_path, COUNTED, counts, "counts.csv"))
    assert words in said
    assert str(tmp_path) in said


@pytest.mark.parametrize("command", ["disclose", "what-if"])
@pytest.mark.parametrize("out", ["people.csv", "people.csv/x", "a\0b", "x" * 300])
def test_an_output_folder_that_cannot_be_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, out: str
) -> None:
    said = refused(capsys, command, write(tmp_path, RELEASE + PROTECT), "--out", tmp_path / out)
    assert "this folder cannot be made" in said
    assert "give another one with --out" in said
    assert (tmp_path / "people.csv").read_text() == PEOPLE


@pytest.mark.parametrize("name", ["claims.csv", "claims.parquet", "report.html"])
def test_a_folder_in_the_place_of_a_result(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    (tmp_path / "audit" / name).mkdir(parents=True)
    assert "remove it" in refused(capsys, "disclose", write(tmp_path))


PROTECTIONS = [
    ("{coarsen: {zzz: {a: [f]}}}", "protect: coarsen zzz: unknown column"),
    ("{coarsen: {sex: {a: [f, m], b: [m]}}}", "the code 'man' is in two groups"),
    ("{drop: [none]}", "unknown table 'none'"),
]


@pytest.mark.parametrize(("protection", "words"), PROTECTIONS)
def test_protections_that_cannot_be(tmp_path: Path, capsys: pytest.CaptureFixture[str], protection: str, words: str) -> None:
    assert words in refused(capsys, "what-if", write(tmp_path, f"{RELEASE}protect: [{protection}]\n"))


TABLES = [
    ("a,b,c\nx,1/2,1/2\n", ["--given", "rows", "--total", str(2**80)], "N = "),
    ("a,b,c\nx,1/2,1/2\n", ["--given", "rows", "--total", "9", "--max-bytes", "3"], "holds more than 3 bytes"),
    ("sex,sex ,age\nf,f,1\n", ["--marginals", "sex,age"], "2 columns are called 'sex'"),
    ("sex,age\nf,1,\n", ["--marginals", "sex,age"], "row 2: 3 fields, but the header names 2"),
    ("sex,age\nf,1\nf,2\n", ["--marginals", "sex,age", "--max-rows", "1"], "holds more than 1 rows"),
    ("sex,age\nf,1\nm,2,3,4\n", ["--marginals", "sex,age"], "row 3: 4 fields, but the header names 2"),
    ("sex,count\n" + "f,999999999999999\n" * 10_000, ["--marginals", "sex"], "the counts add up to 9,999,999,999,999,990"),
    ("id,age\n" + "".join(f"i{i},{i % 2}\n" for i in range(33_000)), ["--marginals", "id", "--marginals", "age"],
     "id has 33,000 levels, more than 32,767"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "options", "words"), TABLES)
def test_tables_that_cannot_be_bounded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, options: list[str], words: str
) -> None:
    (tmp_path / "table.csv").write_text(text)
    assert words in refused(capsys, "bounds", tmp_path / "table.csv", *options)


@pytest.mark.parametrize("content", [gzip.compress(b"sex,age\n" + b"f,1\n" * 1000, mtime=0)[:-8], b"no gzip"])
def test_a_packed_table_that_is_cut_short(tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes) -> None:
    (tmp_path / "table.csv.gz").write_bytes(content)
    assert "cannot be read as CSV" in refused(capsys, "bounds", tmp_path / "table.csv.gz", "--marginals", "sex,age")


def test_bounds_that_do_not_fit_into_memory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*_: Any) -> Any:
        raise MemoryError("Unable to allocate 3.73 GiB")

    monkeypatch.setattr("genverify.bounds.exact.exact_bounds", none)
    (tmp_path / "table.csv").write_text("a,b,c\nx,1/2,1/2\n")
    said = refused(capsys, "bounds", tmp_path / "table.csv", "--given", "rows", "--total", 10**9)
    assert "give a smaller --total" in said


PROOFS: list[tuple[Callable[[dict[str, Any]], Any], str]] = [
    *((lambda text, value=value: {**text, "about": {**text["about"], "name": value}}, "line 1: does not name what it")
      for value in ([], {}, [[]], {"a": 1}, None, 1, 1.5, True)),
    (lambda text: json.dumps(text).replace('"name"', '"name": "x", "name"', 1), "the key 'name' is duplicated"),
    (lambda text: {**text, "version": 2}, "line 1: the version of the certificate is 2, not 1. Make it again: snakemake"),
    (lambda text: {**text, "version": True}, "line 1: the version of the certificate is True"),
    (lambda text: {"block": "1", "release": "0", "lemmas": [], "proofs": [], "claims": []}, "of a former format, which had"),
    (lambda text: {"block": "1", "shared": {}}, "Make it again: snakemake --force FILE, or the command disclose"),
    (lambda text: {**text, "model": "lists"}, "unknown model 'lists': known: records, linear, areas, housing"),
    (lambda text: {**text, "about": {**text["about"], "kind": "system"}}, "is about release, not about 'system'"),
    (lambda text: {**text, "about": {**text["about"], "digest": "0" * 64}}, "of other counts than these"),
    (lambda text: {**text, "statements": {}}, "has no list of statements"),
    (lambda text: {**text, "statements": []}, "shows nothing"),
    (lambda text: json.dumps(text).replace('"m"', '"m": 7, "m"', 1), "the key 'm' is duplicated"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "words"), PROOFS)
def test_proofs_that_cannot_be_checked(
    made_study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], change: Callable[..., Any], words: str
) -> None:
    proofs = sorted((made_study / "proofs").glob("*.jsonl.gz"))[0]
    first = next(iter(read_proofs(proofs)))
    assert first["statements"]
    changed = change(first)
    line = changed if isinstance(changed, str) else json.dumps(changed)
    (tmp_path / proofs.name).write_bytes(gzip.compress(f"{line}\n".encode()))
    assert words in refused(capsys, "check", tmp_path, made_study / "release")


def test_folders_in_the_place_of_proofs_and_counts(
    made_study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "000.jsonl.gz").mkdir()
    assert "not a file of proofs" in refused(capsys, "check", tmp_path, made_study / "release")
    assert "no files of proofs" in refused(capsys, "check", tmp_path / "000.jsonl.gz", made_study / "release")
    (tmp_path / "release" / "schema.json").mkdir(parents=True)
    assert "not a release schema" in refused(capsys, "check", made_study / "proofs", tmp_path / "release")
    (tmp_path / "release" / "schema.json").rmdir()
    (tmp_path / "release" / "schema.json").write_bytes((made_study / "release" / "schema.json").read_bytes())
    (tmp_path / "release" / "000.parquet").mkdir()
    refused(capsys, "check", made_study / "proofs", tmp_path / "release")


def test_proofs_are_read_up_to_a_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("genverify.checker.certificate.LIMITS", FileLimits(10, 1000, "write fewer"))
    (tmp_path / "000.jsonl.gz").write_bytes(gzip.compress(b'{"block": "' + b"x" * 980 + b'"}\n{"block": "1"}\n'))
    with pytest.raises(DataError, match=r"000.jsonl.gz: holds more than 1,000 bytes when unpacked; if that is meant, write"):
        list(read_lines(tmp_path / "000.jsonl.gz"))


@pytest.mark.parametrize("packed", [False, True])
def test_a_file_of_many_rows_is_refused_before_it_is_read(tmp_path: Path, packed: bool) -> None:
    path = tmp_path / ("rows.csv.gz" if packed else "rows.csv")
    text = b"sex\n" + b"f\n" * 1001
    path.write_bytes(gzip.compress(text) if packed else text)
    assert len(open_csv(path, Expected(limits=FileLimits(rows=1001))).frame()) == 1001
    for limits in (FileLimits(rows=1000), FileLimits(size=2000)):
        with pytest.raises(DataError, match=r"holds more than (1,000 rows|2,000 bytes)"):
            read_texts(path, limits)


def test_a_parquet_file_of_many_rows_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    pd.DataFrame({"sex": ["f" * 100] * 1001}).to_parquet(path)
    assert path.stat().st_size < 10_000
    assert read_texts(path)["sex"].tolist() == ["f" * 100] * 1001
    for limits in (FileLimits(rows=1000), FileLimits(size=50_000)):
        with pytest.raises(DataError, match=r"holds more than (1,000 rows|50,000 bytes)"):
            read_texts(path, limits)


def test_the_limits_of_the_command_line_come_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, RELEASE + "max_rows: 3\n")
    assert "more than 3 rows" in refused(capsys, "disclose", path)
    assert "more than 2 rows" in refused(capsys, "disclose", path, "--cells", "--max-rows", 2)
    assert main(["disclose", str(path), "--cells", "--max-rows", "5"]) == 0


@pytest.mark.parametrize(
    "counts",
    [
        "cell,count\nN,0\nboth.all.all,0\n",
        "cell,count\nN,0\nboth.f.owns,0\n",
        "cell,count\nN,0\nboth.f.all,0\nboth.m.all,0\n",
    ],
)
def test_an_area_of_nobody_has_one_dataset(tmp_path: Path, capsys: pytest.CaptureFixture[str], counts: str) -> None:
    assert main(["disclose", str(write(tmp_path, COUNTED, counts, "counts.csv"))]) == 0
    assert "0 people, 0 verified claims" in capsys.readouterr().out
    cells = pd.read_csv(tmp_path / "audit" / "cells.csv")
    assert (cells[["lower", "upper"]] == 0).all(axis=None)
    assert main(["disclose", str(tmp_path / "audit"), "--check"]) == 0
    assert "shows nothing" in refused(capsys, "check", tmp_path / "audit" / "proofs", tmp_path / "audit" / "release")


def test_somebody_in_an_area_of_nobody_is_a_contradiction(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, COUNTED, "cell,count\nN,3\nboth.all.all,0\n", "counts.csv")
    assert "no dataset fits the published counts" in refused(capsys, "disclose", path)


def test_no_claims_about_no_records() -> None:
    codes, m = candidate_claims(np.zeros((1, 0, 3), dtype=np.int16), 1)
    assert codes.shape == (0, 3)
    assert m.shape == (0,)


def column(codes: tuple[int, ...]) -> Column:
    return Column("A", "a", codes, tuple(map(str, codes)))


@pytest.mark.parametrize("codes", [tuple(range(32_769)), (1, 2**15), (-1, 0), (2**70,)])
def test_codes_beyond_sixteen_bits_are_refused(codes: tuple[int, ...]) -> None:
    with pytest.raises(DataError, match=r"column A has the code -?\d+, not 0 to 32767"):
        Domain((column(codes),))


def test_a_code_listed_twice_is_refused(made_study: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="lists a code twice"):
        Domain((column((1, 1)),))
    text = json.loads((made_study / "release" / "schema.json").read_text())
    text["columns"][0]["codes"]["01"] = "again"
    (tmp_path / "schema.json").write_text(json.dumps(text))
    with pytest.raises(ReleaseError, match="lists a code twice"):
        read_schema(tmp_path / "schema.json")


def test_more_codes_than_sixteen_bits_in_a_release(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    listed = ", ".join(f"{code}: c{code}" for code in range(33_000))
    form = COUNTED.replace("{f: woman, m: man}", f"{{{listed}}}")
    said = refused(capsys, "disclose", write(tmp_path, form, "cell,count\nN,1\nboth.1.owns,1\n", "counts.csv"))
    assert "column sex has the code 32768" in said


@pytest.mark.parametrize(("largest", "kind"), [(127, "int8"), (200, "int16"), (30_000, "int16")])
def test_datasets_are_written_with_room_for_their_codes(largest: int, kind: str) -> None:
    records = np.array([[[largest, 1]]], dtype=np.int16)
    domain = Domain((column((1, largest)), Column("B", "b", (1,), ("b",))))
    frame = _datasets_frame({"1": GeneratedDatasets(records, 1, True)}, domain)
    assert frame["A"].tolist() == [largest]
    assert frame.dtypes[["A", "B"]].astype(str).tolist() == [kind, "int8"]


def test_microdata_have_codes_of_eight_bits() -> None:
    Domain((column((0, 127)),)).check_small()
    with pytest.raises(DataError, match="column A has the code 128, but microdata are stored with eight bits"):
        Domain((column((0, 128)),)).check_small()


def test_counts_in_two_forms_are_refused(made_study: Path, tmp_path: Path) -> None:
    schema = read_schema(made_study / "release" / "schema.json")
    frame = pd.DataFrame({"block": ["1"], "query": ["N"], "count": [3], "lo": [1], "hi": [2]})
    frame.to_parquet(tmp_path / "counts.parquet")
    with pytest.raises(ReleaseError, match="has count and also lo or hi"):
        list(read_releases(tmp_path / "counts.parquet", schema))


def test_a_code_is_merged_once() -> None:
    schema = Schema(Domain((column((1, 2, 3)),)), (), ())
    with pytest.raises(DataError, match="the code '2' is in two groups"):
        recode(schema, "A", {"x": [1, 2], "y": [2, 3]})


ODD = ["5 $ to $ 10", "$\\foo$", "a_b <c> $_{$", "100 $", "\\$ and $"]


@pytest.mark.parametrize("text", ODD)
def test_figures_print_texts_of_users_as_they_are(tmp_path: Path, text: str) -> None:
    rows = {"protection": [text, "as published"], "singleton_claims": [1, 2], "singleton_claims_k2": [0, 1],
            "people_singled_out": [1, 2], "people_singled_out_k2": [0, 1]}  # fmt: skip
    figure = plot_what_if(pd.DataFrame(rows), 2, (text, text), text)
    save(figure, tmp_path / "a.pdf", tmp_path / "a.png")
    drawn = [*figure.texts, *figure.axes[0].get_yticklabels()]
    shown = {artist._preprocess_math(artist.get_text()) for artist in drawn}  # type: ignore[attr-defined]
    assert (text, False) in shown


def test_what_if_with_dollars_in_its_names(tmp_path: Path) -> None:
    form = f"{RELEASE}title: 'a $\\foo$ b'\nunit: ['p$_{{$', 'q$q$']\n{PROTECT}  - {{suppress: 2, name: 'x $_{{$ y'}}\n"
    assert main(["what-if", str(write(tmp_path, form))]) == 0
    assert (tmp_path / "audit" / "whatif.pdf").is_file()


def test_figure_2_without_its_design() -> None:
    blocks = pd.DataFrame({"block": ["1"], "design": ["georgia"], "n_households": [3]})
    with pytest.raises(DataError, match=r"no block of the design state_median, .*; add it to sample\.designs in"):
        plot_fig2(blocks, "synthetic")
