"""What disclose writes: whole or not at all, inside its folder, tied to its tables; and options that do what they say."""

import ast
import gzip
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pandas as pd
import pytest

from genverify.cli import main
from genverify.disclosure.disclose_command import CHECK, OPTIONS, RECORDS, TABLES
from genverify.model.errors import DiskError
from genverify.model.files import file_name, written_folder
from vipr_checker import check_archive

TABLE = "area,f,m,Total\nA,*,4,7\nB,5,*,9\nC,2,3,5\nTotal,*,11,21\n"
MARK = ("--mark", "*=suppressed")
RELEASE = (
    "name: toy\ndata: people.csv\nsynthetic: true\ntables: {both: {columns: [sex, age]}, age: {columns: [age, home]}}\n"
)
PEOPLE = "sex,age,home\nf,old,a\nf,young,b\nm,old,a\nm,old,b\nm,young,b\n"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "t.csv").write_text(TABLE)
    (tmp_path / "toy.yaml").write_text(RELEASE)
    (tmp_path / "people.csv").write_text(PEOPLE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def disclose(*words: object) -> int:
    return main(["disclose", *map(str, words)])


def all_bytes(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


# options

VALUES = {
    "--symbol": "*=suppressed", "--rule": "round=5", "--total": "sex=f", "--hierarchy": "a=b.hrc", "--inside": "a=b",
    "--fact": "sex=f >= 3", "--contributions": "t.csv", "--sensitive": "p=10", "--dialect": "argus", "--write": "new.yaml",
    "--seconds": "3", "--search-seconds": "3", "--fail-on": "exact", "--max-rows": "9", "--max-bytes": "999",
    "--out": "results", "--cells": None, "--json": None, "--check": None, "--no-total": "f", "--label": "<1",
    "--decimal": ",", "--same-people": None, "--allow-partial": None, "--sheet": "s", "--labels": "A", "--counts": "B",
    "--skip": "9", "--period": "2020", "--total-from": "o.csv:All", "--tolerance": "1",
    "--previous": "old", "--risk": "risk.yaml",
}  # fmt: skip


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
def test_an_option_that_does_not_apply_is_an_error(home: Path, capsys: pytest.CaptureFixture[str], option: object) -> None:
    name, before = option.name, all_bytes(home)  # type: ignore[attr-defined]
    words = [name, *([VALUES[name]] if VALUES[name] else [])]
    for kind, inputs in {TABLES: ["t.csv"], RECORDS: ["toy.yaml"], CHECK: ["t.csv", "--check"]}.items():
        if kind in option.applies:  # type: ignore[attr-defined]
            continue
        assert disclose(*inputs, *words) == 2
        said = capsys.readouterr()
        assert f"{name} applies to" in said.err
        assert kind in said.err
    assert all_bytes(home) == before


def test_the_help_lists_every_option_once(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["disclose", "--help"])
    said = capsys.readouterr().out
    assert {option.name for option in OPTIONS} == VALUES.keys()
    assert all(len(re.findall(rf"^  {option.name}(?![\w-])", said, re.MULTILINE)) == 1 for option in OPTIONS)


@pytest.mark.parametrize(
    "words",
    [
        ("--fail-on", "nonsense"), ("--fail-on", "range<0"), ("--fail-on", f"range<{'9' * 5000}"), ("--seconds", "nan"),
        ("--seconds", "-1"), ("--search-seconds", "inf"), ("--max-rows", "0"), ("--rule", "round=x"), ("--symbol", "*"),
        ("--symbol", "*=1", "--mark", "*=2"), ("--fact", "perhaps"), ("--sensitive", "p=10"), ("--contributions", "t.csv"),
    ],
)  # fmt: skip
def test_nonsense_is_an_error_before_any_work(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setattr("genverify.disclosure.sources.interpret", None)
    assert disclose("t.csv", *words) == 2
    assert words[0] in capsys.readouterr().err.replace("the fact", "--fact").replace("rule:", "--rule:")
    if words[0] in ("--fail-on", "--max-rows"):
        assert disclose("toy.yaml", *words) == 2


def test_a_release_of_records_can_fail(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert disclose("toy.yaml", "--fail-on", "singled-out", "--json") == 1
    found = json.loads(capsys.readouterr().out)
    assert found["unsafe"] == found["singleton_claims"]["all"] > 0
    assert found["safe"] is False
    assert disclose("toy.yaml", "--fail-on", "exact") == 0  # every cell is printed exactly, none is recovered
    assert disclose("toy.yaml") == 0
    (home / "toy.yaml").write_text(
        RELEASE.replace("age, home]", "age, home], totals: [age]") + "published_as: {suppress: 3}\n"
    )
    assert disclose("toy.yaml", "--fail-on", "range<9") == 1


# what is written, and where


def test_no_input_is_written_over(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "link.csv").symlink_to("t.csv")
    before = all_bytes(home)
    for words in (
        ["t.csv", "--write", "t.csv"],
        ["t.csv", "--write", "link.csv"],
        ["t.csv", "--write", str(home / "t.csv")],
    ):
        assert disclose(*words, *MARK) == 2
        assert "is read, and would be lost" in capsys.readouterr().err
    assert disclose("t.csv", "--write", "none/new.yaml", *MARK) == 2
    assert "there is no folder none" in capsys.readouterr().err
    assert all_bytes(home) == before
    assert disclose("t.csv", "--write", "new.yaml", *MARK) == 0
    assert disclose("new.yaml", "--write", "new.yaml") == 2


@pytest.mark.parametrize("out", [".", "..", "mine", "t.csv"])
@pytest.mark.parametrize("words", [["disclose", "t.csv", *MARK], ["disclose", "toy.yaml"], ["what-if", "toy.yaml"]])
def test_files_of_others_are_never_replaced(
    home: Path, capsys: pytest.CaptureFixture[str], words: list[str], out: str
) -> None:
    (home / "mine").mkdir()
    (home / "mine" / "cells.csv").write_text("my own")
    (home / "toy.yaml").write_text(RELEASE + "protect: [{suppress: 2}]\n")
    before = all_bytes(home)
    assert main([*words, "--out", out]) == 2
    assert "--out" in capsys.readouterr().err
    assert all_bytes(home) == before


def test_two_commands_share_a_folder(home: Path) -> None:
    (home / "toy.yaml").write_text(RELEASE + "protect: [{suppress: 2}]\n")
    for _ in range(2):
        assert disclose("toy.yaml") == 0
        assert main(["what-if", "toy.yaml"]) == 0
    assert {"report.html", "whatif.csv", "proofs/000.jsonl.gz"} <= all_bytes(home / "audit").keys()
    assert disclose("toy.yaml", "--check") == 0


@pytest.mark.parametrize("words", [["disclose", "t.csv", *MARK], ["disclose", "toy.yaml"], ["what-if", "toy.yaml"]])
@pytest.mark.parametrize("files", [0, 1, 3])
def test_a_full_disk_leaves_the_old_folder(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], files: int
) -> None:
    (home / "toy.yaml").write_text(RELEASE + "protect: [{suppress: 2}]\n")
    assert main(words) == 0
    before, left = all_bytes(home), [files if words[0] == "disclose" else 0]
    real, real_csv = Path.open, pd.DataFrame.to_csv

    def use(path: object) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(28, "No space left on device", str(path))

    def full(path: Path, mode: str = "r", *more: Any, **named: Any) -> Any:
        if "w" in mode:
            use(path)
        return real(path, mode, *more, **named)

    def full_csv(frame: pd.DataFrame, path: Any = None, **named: Any) -> Any:
        if path is not None:
            use(path)
        return real_csv(frame, path, **named)

    (home / "t.csv").write_text(TABLE.replace("C,2,3,5", "C,3,2,5").replace("11,21", "10,21"))
    (home / "people.csv").write_text(PEOPLE + "f,old,a\n")
    changed = all_bytes(home)
    monkeypatch.setattr(Path, "open", full)
    monkeypatch.setattr(pd.DataFrame, "to_csv", full_csv)
    assert main(words) == 2
    assert "the disk is full" in capsys.readouterr().err
    assert all_bytes(home) == changed
    assert {name for name in changed if "audit" in name} == {name for name in before if "audit" in name}


KILLED = """
import os, sys
from pathlib import Path
from genverify.model.files import written_folder

with written_folder(Path("out"), "disclose") as part:
    (part / "cells.csv").write_text("new")
    if sys.argv[1] == "between":
        real = Path.rename
        def rename(path, to):
            real(path, to)
            os._exit(9)
        Path.rename = rename
    else:
        os._exit(9)
"""


@pytest.mark.parametrize("when", ["while writing", "between"])
def test_a_killed_program_leaves_the_old_folder_or_nothing(home: Path, when: str) -> None:
    with written_folder(home / "out", "disclose") as part:
        (part / "cells.csv").write_text("old")
        (part / "report.html").write_text("old")
    old = all_bytes(home / "out")
    done = subprocess.run([sys.executable, "-c", KILLED, when], cwd=home, env={**os.environ})
    assert done.returncode == 9
    assert all_bytes(home / "out") in (old, {})
    if when == "between":  # what was there is beside it, whole
        (kept,) = home.glob(".out.*.old")
        assert all_bytes(kept) == old
    with written_folder(home / "out", "disclose") as part:
        (part / "cells.csv").write_text("new")
    assert set(all_bytes(home / "out")) == {"cells.csv", "files.json"}


def test_an_error_in_the_middle_leaves_nothing(home: Path) -> None:
    def stopped() -> None:
        with written_folder(home / "out", "disclose") as part:
            (part / "cells.csv").write_text("new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert sorted(path.name for path in home.iterdir()) == ["people.csv", "t.csv", "toy.yaml"]
    (home / "out").mkdir()
    (home / "out" / "notes.txt").write_text("mine")
    with pytest.raises(DiskError, match=r"notes\.txt"), written_folder(home / "out", "disclose"):
        pass


NAMES = [
    "../evil",
    "/etc/evil",
    "income/age",
    "..",
    ".",
    "",
    "con",
    "a\0b",
    "x" * 300,
    "\ud800",
    "a\\b",
    "A:B",
    "-rf",
    "~",
    "é",
]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_from_data_is_the_name_of_a_file(tmp_path: Path, name: str) -> None:
    (tmp_path / f"{file_name(name)}.hst").write_text("here")
    assert [path.parent for path in tmp_path.rglob("*")] == [tmp_path]


def test_different_names_give_different_files() -> None:
    names = [*NAMES, *map(file_name, NAMES), "a b", "a_b", "a/b", "a_b-c14cddc033f6"]
    assert len({file_name(name) for name in names}) == len(set(names))


@pytest.mark.parametrize("name", ["../evil", "income/age", "/tmp/evil"])
def test_a_table_called_like_a_path_is_written_inside(home: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    rows = [("A", "f", "*"), ("A", "m", 4), ("A", "Total", 7), ("B", "f", 5), ("B", "m", 4), ("B", "Total", 9)]
    rows += [("Total", "f", 8), ("Total", "m", 8), ("Total", "Total", 16)]
    (home / "tidy.csv").write_text("table,area,sex,count\n" + "".join(f"{name},{a},{s},{n}\n" for a, s, n in rows))
    before = {path for path in home.parent.rglob("*") if "audit" not in path.parts}
    assert disclose("tidy.csv", *MARK) == 0
    assert {path for path in home.parent.rglob("*") if "audit" not in path.parts} == before
    assert list((home / "audit").glob("*.hst"))
    assert disclose("tidy.csv", "--check") == 0


def written_paths(source: Path) -> Iterator[str]:
    """The parts of paths, in calls that write, that are neither constants nor made by file_name: f-strings and sums."""
    writes = {"write_text", "write_bytes", "to_csv", "to_parquet", "open", "mkdir", "savefig", "copyfile", "writestr"}
    tree = ast.parse(source.read_text(encoding="utf-8"))
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        if not (isinstance(call.func, ast.Attribute) and call.func.attr in writes):
            continue
        words = [call.func.value, *call.args] if call.func.attr in ("to_csv", "to_parquet", "savefig") else [call.func.value]
        for part in (part for word in words for part in ast.walk(word)):
            if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Div) and not _safe(part.right):
                yield f"{ast.unparse(part.right)}"


def _safe(part: ast.expr) -> bool:
    if isinstance(part, ast.JoinedStr):
        return all(_safe(one.value) for one in part.values if isinstance(one, ast.FormattedValue))
    called = isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id == "file_name"
    return called or isinstance(part, ast.Constant) or (isinstance(part, ast.Name) and part.id.isupper())


# what else a written path is made of: names of this program, each with the reason why no data can choose it
OWN_NAMES = {
    "model/files.py: name": "a file that lies in the old folder already",
    "disclosure/sources.py: name": "one of two words, or a name of a frame, which passed file_name",
    "disclosure/record_audit.py: part": "one of two words",
    "run/provenance/rerun.py: file": "an input of a job, below the study, or outside of it and then not written",
    "run/layout.py: part": "results, or a folder of notes of Snakemake, below a study whose name is one plain word",
    "run/layout.py: source": "a file of the results here, linked below such a study",
    "export/export_command.py: name": "made by file_name, or a member of an archive that this program wrote",
}


def test_blocks_called_like_paths_are_exported_inside(home: Path) -> None:
    (home / "toy.yaml").write_text(RELEASE + "area: area\n")
    rows = PEOPLE.splitlines()
    (home / "people.csv").write_text("\n".join([f"{rows[0]},area", *(f"{row},../evil" for row in rows[1:])]) + "\n")
    assert disclose("toy.yaml", "--out", "deep/audit") == 0
    assert main(["export", "deep/audit/proofs", "--to", "deep/exported"]) == 0
    assert not [path for path in home.rglob("*evil*") if home / "deep" / "exported" not in path.parents]
    assert list((home / "deep" / "exported").glob("_evil-*/*.vipr"))


def test_every_writer_uses_safe_names() -> None:
    package = Path(main.__code__.co_filename).parent
    parts = [(file.relative_to(package), part) for file in package.rglob("*.py") for part in written_paths(file)]
    assert {f"{file.as_posix()}: {part}" for file, part in parts} == OWN_NAMES.keys()


# what is shown is what is proved


def forge(path: Path, change: Callable[[str], str]) -> None:
    packed = path.suffix == ".gz"
    text = gzip.decompress(path.read_bytes()).decode() if packed else path.read_text()
    assert change(text) != text
    path.write_bytes(gzip.compress(change(text).encode()) if packed else change(text).encode())


FORGED: dict[str, tuple[str, Callable[[str], str], str]] = {
    "a report": ("audit/report.html", lambda text: text.replace("known exactly", "unknown"), "report.html: differs"),
    "cells": ("audit/cells.csv", lambda text: text.replace(",3,3,", ",0,3,"), "cells.csv: differs"),
    "an answer": ("audit/answer.json", lambda text: text.replace('"safe": false', '"safe": true'), "answer.json: differs"),
    "cells to suppress": ("audit/suppress.csv", lambda text: text.splitlines()[0] + "\n", "suppress.csv: differs"),
    "an a-priori file": ("audit/t.hst", lambda text: text.replace('"A"', '"C"'), "t.hst: differs"),
    "a system": ("audit/system.json.gz", lambda text: text.replace("21", "22"), "system.json.gz: differs"),
    "no statements": ("audit/proofs.jsonl.gz", lambda text: re.sub(r'"statements":.*', '"statements":[]}', text),
                      "differs from what"),
    "a false statement": ("audit/proofs.jsonl.gz", lambda text: text.replace('"value":3', '"value":2'), "is said, but"),
    "another system": ("audit/proofs.jsonl.gz", lambda text: re.sub("[0-9a-f]{64}", "0" * 64, text), "of other counts"),
    "another table": ("t.csv", lambda text: text.replace("C,2,3", "C,3,2"), "another SHA-256"),
    "a smaller proposal": (
        "audit/reading.yaml",
        lambda text: re.sub(r"steps:(\n  - area: ''\n    cell: .*)+", "steps: []", text),
        "differs from what",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_result_is_refused(home: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert disclose("t.csv", *MARK, "--fail-on", "exact") == 1
    assert disclose("--check", "t.csv") == disclose("--check", "audit") == 0
    assert "all files show what is proved" in capsys.readouterr().out
    path, change, words = FORGED[name]
    forge(home / path, change)
    before = all_bytes(home)
    assert disclose("--check", "t.csv") == 2
    assert words in capsys.readouterr().err
    assert all_bytes(home) == before


def test_results_of_a_system_of_ones_own_are_refused(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "mine").mkdir()
    mine = TABLE.replace("A,*,4,7", "A,*,4,9").replace("C,2,3,5", "C,2,1,3").replace("11", "9")
    (home / "mine" / "t.csv").write_text(mine)
    assert disclose("t.csv", *MARK) == disclose("mine/t.csv", *MARK) == 0
    for name in ("system.json.gz", "proofs.jsonl.gz", "cells.csv", "report.html"):
        (home / "audit" / name).write_bytes((home / "mine" / "audit" / name).read_bytes())
    assert disclose("--check", "t.csv") == 2
    assert "of other counts than these" in capsys.readouterr().err
    assert disclose("--check", "t.csv", "--out", "mine/audit") == 2
    assert "its results are not about t.csv" in capsys.readouterr().err
    (home / "t.csv").unlink()
    assert disclose("--check", "audit") == 2
    assert "cannot be checked against its tables" in capsys.readouterr().err


def test_ranges_that_are_wider_than_known_are_refused(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing false is stated where less is said than is known: but "safe" would be."""
    from genverify.disclosure import sources
    from genverify.disclosure.intervals import FeasibilityIntervals
    from genverify.solve.linear.search import Ranges

    def nothing(linked: object, *_: object) -> FeasibilityIntervals:
        sums = linked.sums  # type: ignore[attr-defined]
        return FeasibilityIntervals(linked, Ranges(sums.lo, sums.hi, sums.lo, sums.hi, (), False))  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources, "find_intervals", nothing)
        assert disclose("t.csv", *MARK, "--fail-on", "exact") == 0
    assert disclose("--check", "t.csv", "--seconds", "0") == 0
    assert "not searched for again" in capsys.readouterr().out
    assert disclose("--check", "t.csv") == 2
    assert "more is known about this cell than the results show" in capsys.readouterr().err


def test_results_without_a_reading_need_the_tables(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert disclose("t.csv", *MARK) == 0
    assert disclose("--check", "t.csv", *MARK) == 2  # the folder says how they were read
    (home / "audit" / "reading.yaml").unlink()
    assert disclose("--check", "audit") == 2
    assert "so its tables are not known" in capsys.readouterr().err
    assert disclose("--check", "t.csv", *MARK) == 0
    assert "only cells.csv was compared" in capsys.readouterr().out
    forge(home / "audit" / "cells.csv", lambda text: text.replace(",3,3,", ",0,3,"))
    assert disclose("--check", "t.csv", *MARK) == 2
    assert disclose("--check", "t.csv", "--symbol", "*=1-4") == 2


FORGED_AUDIT: dict[str, tuple[str, Callable[[str], str], str]] = {
    "a report": ("audit/report.html", lambda text: text.replace("</h1>", " nothing</h1>"), "report.html: differs"),
    "claims": ("audit/claims.csv", lambda text: text.splitlines()[0] + "\n", "claims.csv: differs"),
    "ranges": ("audit/cells.csv", lambda text: text.replace(",2,2,2,", ",2,1,2,", 1), "cells.csv: differs"),
    "cells": ("audit/cells.csv", lambda text: text.splitlines()[0] + "\n", "cells.csv: differs"),
    "an answer": ("audit/answer.json", lambda text: text.replace('"safe": true', '"safe": null'), "answer.json: differs"),
    "people": ("people.csv", lambda text: text + "f,old,b\n", "another SHA-256"),
    "what is left": ("audit/reading.yaml", lambda text: re.sub(r"\n  left: \d", "\n  left: 7", text), "differs from what"),
    "cells to suppress": ("audit/suppress.csv", lambda text: text.splitlines()[0] + "\n", "suppress.csv: differs"),
    "a range": ("audit/cells.proofs.gz", lambda text: re.sub('(t most",[^}]*},"m":)1', r"\g<1>0", text), "shows only"),
    "no ranges": ("audit/cells.proofs.gz", lambda text: re.sub('"statements":.*', '"statements":[]}', text), "differs"),
    "no side": ("audit/cells.proofs.gz", lambda text: text.replace('"at most"', '"at"'), "is not a statement"),
    "no cell": ("audit/cells.proofs.gz", lambda text: text.replace('"where":', '"were":'), "'where' is missing"),
    "another release": ("audit/cells.proofs.gz", lambda text: re.sub("[0-9a-f]{64}", "0" * 64, text), "of other counts"),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGED_AUDIT)
def test_a_forged_audit_is_refused(home: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert disclose("toy.yaml") == 0
    before = all_bytes(home)
    assert disclose("toy.yaml", "--check") == 0
    assert "all files show what is proved" in capsys.readouterr().out
    path, change, words = FORGED_AUDIT[name]
    forge(home / path, change)
    assert disclose("toy.yaml", "--check") == 2
    assert words in capsys.readouterr().err
    forged = all_bytes(home)
    assert {name for name in forged if forged[name] != before.get(name)} == {path}


def test_check_and_export_take_the_proofs_about_cells(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert disclose("toy.yaml") == 0
    assert main(["check", "audit"]) == 0
    said = re.search(r"cells.proofs.gz: (\d+) ends of cells: all right", capsys.readouterr().out)
    assert said
    assert main(["export", "audit", "--to", "vipr.zip"]) == 0
    with ZipFile(home / "vipr.zip") as archive:
        bounds = [name for name in archive.namelist() if "/bound_" in name]
    assert len(bounds) == int(said[1]) > 0
    assert check_archive(home / "vipr.zip") > 0
    path, change, words = FORGED_AUDIT["a range"]
    forge(home / path, change)
    for command in (["check", "audit"], ["export", "audit", "--to", "other.zip"]):
        assert main(command) == 2
        assert words in capsys.readouterr().err


def test_claims_are_listed_only_where_the_file_says_so(home: Path) -> None:
    assert disclose("toy.yaml") == 0
    head, *rows = (home / "audit" / "claims.csv").read_text().splitlines()
    assert head == "k,effective_k,about_one,claims"
    assert rows
    assert not list((home / "audit").glob("claims.parquet"))
    (home / "toy.yaml").write_text(RELEASE + "show_claims: true\n")
    assert disclose("toy.yaml") == 0
    assert "sex" in (home / "audit" / "claims.csv").read_text().splitlines()[0]
    assert list((home / "audit").glob("claims.*"))


def test_a_label_told_to_be_no_total_is_recorded_and_checked(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "race.csv").write_text("race,men,women\nWhite,10,*\nBlack,5,*\nAll other races,*,2\n")
    assert disclose("race.csv", *MARK) == 2
    assert "'All other races' is called a total, but its parts are not clear" in capsys.readouterr().err
    assert disclose("race.csv", *MARK, "--no-total", "All other race", "--out", "o") == 2
    assert disclose("race.csv", *MARK, "--no-total", "All other races", "--out", "o") == 0
    assert "no_totals:\n  - All other races\n" in (home / "o" / "reading.yaml").read_text()
    assert disclose("race.csv", "--check", "--out", "o") == 0
