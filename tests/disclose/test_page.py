"""The page that works offline: up to date with its sources, written by the command, its modules tested by node."""

import json
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from genverify.cli import main
from genverify.disclose.disclose_command import PAGE

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "page"


def test_the_page_is_up_to_date_with_its_sources() -> None:
    done = subprocess.run([sys.executable, str(SOURCES / "build.py"), "--check"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "up to date\n")


def test_the_solver_in_the_page_is_the_locked_package() -> None:
    """Where the package is installed (make page, or npm ci), byte by byte; everywhere, by its version and licence."""
    lock = json.loads((SOURCES / "package-lock.json").read_text())["packages"]
    assert {name for name in lock if name} == {"node_modules/highs"}
    highs = lock["node_modules/highs"]
    assert highs["integrity"].startswith("sha512-")
    assert "resolved" not in highs
    text = PAGE.read_text(encoding="utf-8")
    assert f"npm package highs\n{highs['version']} (MIT licence)" in text
    assert "Copyright (c) 2026 HiGHS" in text
    installed = SOURCES / "node_modules/highs"
    if installed.exists():
        build = runpy.run_path(str(SOURCES / "build.py"))
        assert build["unpacked"](build["part"](text, "wasm")) == (installed / "build/highs.wasm").read_bytes()
        assert build["from_page"](text).loader == (installed / "build/highs.js").read_text().strip()


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
