"""How the page reads: the library's own reading in a browser, held to the command on the same files and corrections."""

import json
from pathlib import Path
from typing import Any

import pytest

from genverify.model.errors import GenverifyError
from genverify.reading.read_command import describe, read_files, told_of
from genverify.reading.reading import write_reading
from page_visit import PageVisit
from random_tables import random_table
from workbooks import odd_workbook

HERE = Path(__file__).parents[1]
SHARED = HERE.parents[1] / "shared" / "tables"
READABLE = (".csv", ".json", ".px")
LARGEST = 2_000_000  # bytes of a table here: larger ones take the browser of a busy machine half a minute
TABLE = "ward,code,young,old,Total,note\nNorth,1,*,5,8,\nSouth,2,7,2,9,x\nEast,3,1,2,3,\nTotal,9,11,9,20,\n"


def by_python(paths: list[Path], words: list[str]) -> dict[str, Any]:
    """What the command says of files: its lines, and the reading file, with the role of every column, row and symbol."""
    try:
        found = read_files(paths, told_of(words))
    except GenverifyError as error:
        return {"problem": str(error).replace(f"{paths[0].parent}/", "")}
    return {"line": found.line(), "lines": list(describe(found)), "reading_file": write_reading(found)}


def same(visit: PageVisit, paths: list[Path], words: list[str] | None = None) -> dict[str, Any]:
    """The reading of the page, which is that of the command."""
    found, expected = (
        visit.read({path.name: path.read_bytes() for path in paths}, words or []),
        by_python(paths, words or []),
    )
    assert {name: found.get(name) for name in expected} == expected, paths
    return found


@pytest.mark.skipif(not SHARED.is_dir(), reason="no ../shared/tables beside the repository")
def test_published_tables_are_read_as_the_command_reads_them(opened: PageVisit) -> None:
    opened.page.set_default_timeout(120_000)
    files = [path for path in sorted(SHARED.iterdir()) if path.suffix in READABLE and path.name != "README.csv"]
    kept = [path for path in files if path.stat().st_size < LARGEST]
    assert len(kept) >= 30
    for path in kept:
        same(opened, [path])


def test_workbooks_are_read_as_the_command_reads_them(opened: PageVisit, tmp_path: Path) -> None:
    odd_workbook().save(tmp_path / "book.xlsx")
    found = same(opened, [tmp_path / "book.xlsx"])
    assert len(found["sheets"]) == 3
    files = [path for path in sorted(SHARED.iterdir()) if path.suffix in (".xlsx", ".ods")] if SHARED.is_dir() else []
    opened.page.set_default_timeout(120_000)
    for path in (own for own in files if own.stat().st_size < LARGEST):
        same(opened, [path])


def test_random_and_false_answer_tables_are_read_as_the_command_reads_them(opened: PageVisit, tmp_path: Path) -> None:
    cases = json.loads((HERE / "data" / "false_answers.json").read_text(encoding="utf-8"))
    texts = [{"table.csv": random_table(number).text} for number in range(200)] + [case["files"] for case in cases]
    opened.page.set_default_timeout(120_000)
    for files in texts:
        for name, text in files.items():
            (tmp_path / name).write_text(text, encoding="utf-8")
        same(opened, [tmp_path / name for name in files])


@pytest.mark.parametrize(("clicked", "words"), [
    ([("B", "It holds counts")], ["--counts", "B"]),
    ([("C", "It holds labels")], ["--labels", "C"]),
    ([("F", "Leave it out"), ("3", "Leave it out")], ["--skip", "3,F"]),
    ([("4", "East is the total of ward")], ["--total", "ward=East"]),
    ([("5", "Total is not a total")], ["--no-total", "Total"]),
    ([("C", "young is the total of columns")], ["--total", "columns=young"]),
    ([("B", "It holds labels"), ("B", "as it was read")], []),
])  # fmt: skip
def test_a_click_is_the_option(opened: PageVisit, tmp_path: Path, clicked: list[tuple[str, str]], words: list[str]) -> None:
    """The page after clicks on columns and rows says what the command says with the options that it shows."""
    (tmp_path / "table.csv").write_text(TABLE, encoding="utf-8")
    opened.fill("")
    opened.fill(TABLE)
    for head, choice in clicked:
        opened.click(head, choice)
    expected = by_python([tmp_path / "table.csv"], words)
    assert opened.page.inner_text("#line") == expected["line"]
    if not words:
        assert opened.page.locator("#corrections").count() == 0
        return
    assert opened.page.inner_text("#command") == f"genverify read table.csv {words[0]} {words[1]}"
    lines = opened.page.inner_text("#lines").splitlines()
    assert lines
    assert all(f" {line}\n" in expected["reading_file"] for line in lines)
    assert expected["reading_file"] != by_python([tmp_path / "table.csv"], [])["reading_file"]


def test_a_correction_that_does_not_work_is_said_and_taken_back(opened: PageVisit) -> None:
    opened.fill("")
    opened.fill(TABLE)
    before = opened.page.inner_text("#line")
    opened.page.select_option("[id='symbol *']", "other")
    opened.page.fill("[aria-label='range of *']", "perhaps")
    opened.page.press("[aria-label='range of *']", "Tab")
    assert "--symbol *=perhaps: not a meaning" in opened.failed()
    assert opened.page.inner_text("#line") == before
    assert opened.page.locator("#corrections").count() == 0


def test_every_cell_has_its_role_and_totals_are_trees(opened: PageVisit) -> None:
    opened.fill("")
    opened.fill(TABLE)
    roles = opened.page.evaluate("""() => [...document.querySelectorAll(".sheet tbody tr")].map((row) =>
      [...row.querySelectorAll("td")].map((cell) => (cell.textContent ? cell.className : "")))""")
    assert roles[0] == ["role-header"] * 6
    assert [row[0] for row in roles[1:]] == ["role-label"] * 4
    assert roles[1][2] == "role-symbol"
    assert [row[4] for row in roles[1:]] == ["role-count"] * 4
    tree = opened.page.evaluate("""() => [...document.querySelectorAll(".tree > li")].map((own) =>
      [own.firstChild.data, [...own.querySelectorAll("li")].map((part) => part.textContent)])""")
    assert ["Total", ["North", "South", "East"]] in tree
    assert ["Total", ["young", "old"]] in tree


def test_a_reading_file_beside_its_table_is_read(opened: PageVisit, tmp_path: Path) -> None:
    """A line of the reading file is corrected: the page reads the table by it, as the command does."""
    table, reading = tmp_path / "table.csv", tmp_path / "reading.yaml"
    table.write_text(TABLE, encoding="utf-8")
    text = by_python([table], [])["reading_file"]
    wrong = '"F": {"role": "left out"'
    assert '"F": {"role": "' in text
    start = text.index('"F": {"role": "')
    reading.write_text(text[:start] + wrong + text[text.index(",", start) :], encoding="utf-8")
    found = same(opened, [table, reading])
    assert "1 left out" in found["line"]
    reading.write_text(text.replace("reading: 1", "reading: 9"), encoding="utf-8")
    assert "is not a reading file" in same(opened, [table, reading])["problem"]


def test_hostile_files_end_with_a_reading_or_words(opened: PageVisit) -> None:
    """Nothing that a file holds ends the thread, leaves its folder, or passes for a table."""
    files = {
        "../../etc/passwd": b"a,b\nx,1\ny,2\n", "nul.csv": b"a,\x00b\nx,1\n", "wide.csv": b"," * 40_000 + b"\n1\n",
        "deep.json": b'{"a":' * 5_000, "deep.yaml": b"a: " + b"[" * 5_000,
        "bomb.yaml": b"a: &a [x, x]\nb: [*a, *a]\n", "no.px": b"DATA=;", "empty.csv": b"",
        "half.csv": b'a,"b\nx,1\n',
    }  # fmt: skip
    for name, data in files.items():
        found = opened.read({name: data})
        assert "problem" in found or " cells = " in found["line"], name
        assert "the reader failed" not in found.get("problem", ""), (name, found)
    assert opened.read({"t.csv": b"a,b\nx,1\ny,2\n"})["line"].startswith("6 cells = ")
