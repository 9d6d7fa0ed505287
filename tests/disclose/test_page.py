"""The page that works offline: up to date with its sources, written by the command, its modules tested by node."""

import json
import re
import runpy
import shutil
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from io import BytesIO
from pathlib import Path
from zipfile import BadZipFile

import pytest

from genverify.cli import main
from genverify.disclosure.disclose_command import PAGE
from genverify.reading.source import cell_text
from workbooks import odd_workbook

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "page"
WRITTEN = {"genverify/reading/write_back.py"}  # the page reads tables, and writes none


def test_the_page_is_up_to_date_with_its_sources() -> None:
    done = subprocess.run([sys.executable, str(SOURCES / "build.py"), "--check"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "up to date\n")


def test_what_the_page_holds_of_others_is_the_locked_packages() -> None:
    """Where the packages are installed (make page, or npm ci), byte by byte; everywhere, by their versions and licences."""
    lock = json.loads((SOURCES / "package-lock.json").read_text())["packages"]
    assert {"node_modules/highs", "node_modules/pyodide"} <= set(lock)
    assert all(own["integrity"].startswith("sha512-") and "resolved" not in own for name, own in lock.items() if name)
    text = PAGE.read_text(encoding="utf-8")
    highs, pyodide = (lock[f"node_modules/{name}"]["version"] for name in ("highs", "pyodide"))
    assert f"npm package\nhighs {highs} (MIT licence)" in text
    assert f"with Pyodide {pyodide}\n(npm package pyodide, Mozilla Public License 2.0)" in text
    assert "Python Software Foundation" in text
    assert "Copyright (c) 2026 HiGHS" in text
    assert "Copyright (c) 2017-2021 Ingy d\u00f6t Net" in text
    assert PAGE.stat().st_size < 8.2e6
    installed = SOURCES / "node_modules"
    if (installed / "pyodide").exists():
        build = runpy.run_path(str(SOURCES / "build.py"))
        files = {"wasm": "highs/build/highs.wasm", "python": "pyodide/pyodide.asm.wasm"}
        for part, file in files.items():
            assert build["unpacked"](build["part"](text, part)) == (installed / file).read_bytes()
        assert build["from_page"](text).solver == (installed / "highs/build/highs.js").read_text().strip()


def test_the_reading_in_the_page_is_that_of_the_library() -> None:
    """Module by module, and all that the reader imports; what is replaced is named, and no module of the reading is."""
    build = runpy.run_path(str(SOURCES / "build.py"))
    held = json.loads(build["unpacked"](build["part"](PAGE.read_text(encoding="utf-8"), "sources")))
    library = {path for path in held if path.startswith("genverify/")}
    assert {f"genverify/reading/{path.name}" for path in (ROOT / "src/genverify/reading").glob("*.py")} - WRITTEN <= library
    assert {"genverify/disclosure/interpretation.py", "genverify/disclosure/link.py", "genverify/model/linear.py"} <= library
    assert all(held[path] == (ROOT / "src" / path).read_text(encoding="utf-8") for path in library)
    replaced = runpy.run_path(str(SOURCES / "src/reader/stand_ins.py"))["REPLACED"]
    assert not any(name.startswith("genverify.reading") for name in replaced)


def test_the_policy_allows_no_network_and_no_other_script() -> None:
    found = re.search(r'Content-Security-Policy" content="([^"]*)"', PAGE.read_text(encoding="utf-8"))
    assert found
    policy = dict(part.strip().split(" ", 1) for part in found[1].split(";"))
    assert policy["default-src"] == "'none'"
    assert re.fullmatch(r"'sha256-\S{44}' 'wasm-unsafe-eval'", policy["script-src"])
    assert re.fullmatch(r"'sha256-\S{44}'", policy["style-src"])
    assert policy["worker-src"] == "blob:"
    assert set(policy) == {"default-src", "script-src", "style-src", "worker-src", "base-uri", "form-action"}


def test_the_command_writes_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["page"]) == 0
    assert (tmp_path / "genverify.html").read_bytes() == PAGE.read_bytes()
    assert main(["page"]) != 0
    assert "is there already; --force replaces it" in capsys.readouterr().err
    assert main(["page", "--force"]) == 0
    assert main(["page", "audit.html"]) == 0
    assert (tmp_path / "audit.html").exists()


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_the_modules_pass_their_own_tests() -> None:
    done = subprocess.run(["node", "--test", "tests/"], cwd=SOURCES, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert "\n# fail 0\n" in done.stdout


def test_workbooks_are_read_as_the_package_reads_them(tmp_path: Path) -> None:
    """The page's reader of workbooks and the package that the library uses: the same sheets, texts and merged cells."""
    package = pytest.importorskip("python_calamine")
    spec = spec_from_file_location("page_workbooks", SOURCES / "src/reader/python_calamine.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    odd_workbook().save(tmp_path / "book.xlsx")
    shared = ROOT.parent / "shared" / "tables"
    files = [
        tmp_path / "book.xlsx",
        *(path for path in (shared.glob("*") if shared.is_dir() else ()) if path.suffix in (".xlsx", ".ods")),
    ]
    for path in files:
        ours, theirs = (own.CalamineWorkbook.from_filelike(BytesIO(path.read_bytes())) for own in (module, package))
        assert [(one.name, one.visible) for one in ours.sheets_metadata] == [
            (one.name, str(one.visible)) for one in theirs.sheets_metadata
        ]
        for name in ours.parts:
            one, other = (book.get_sheet_by_name(name) for book in (ours, theirs))
            texts = [
                [[cell_text(value) for value in row] for row in sheet.to_python(skip_empty_area=False)]
                for sheet in (one, other)
            ]
            assert texts[0] == texts[1], (path, name)
            assert sorted(one.merged_cell_ranges or ()) == sorted(other.merged_cell_ranges or ())
    for bad in (b"", b"PK", b"PK\x03\x04", b"\xd0\xcf\x11\xe0"):
        with pytest.raises((module.WorkbookError, BadZipFile)):
            module.CalamineWorkbook.from_filelike(BytesIO(bad))
