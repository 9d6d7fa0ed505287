"""What is published: archives that hold the library and nothing else, one version, the same bytes each time."""

import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

pytest.importorskip("flit_core", reason="the build backend is not installed")
ROOT = Path(__file__).parents[2]
DIST = runpy.run_path(str(ROOT / "envs" / "dist.py"))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    made: tuple[Path, Path] = DIST["build"](ROOT, tmp_path_factory.mktemp("dist"))
    return made


def test_archives_hold_the_library_and_nothing_else(built: tuple[Path, Path]) -> None:
    wheel, sdist = built
    DIST["check_wheel"](wheel, ROOT)
    DIST["check_sdist"](sdist, ROOT)
    with ZipFile(wheel) as packed:
        names = packed.namelist()
    assert {
        "genverify/disclosure/options.yaml",
        "genverify/disclosure/page.html",
        "genverify/disclosure/report.html.j2",
        "genverify/py.typed",
        "genverify/reading/words.yaml",
    } <= set(names)
    assert [name for name in names if name.startswith(("studies", "tests"))] == []


@pytest.mark.parametrize(("name", "said"), [
    ("genverify/secret.csv", "genverify/secret.csv does not belong there"),
    ("studies/study.py", "studies/study.py does not belong there"),
])  # fmt: skip
def test_a_stray_file_is_refused(built: tuple[Path, Path], tmp_path: Path, name: str, said: str) -> None:
    copy = tmp_path / built[0].name
    shutil.copyfile(built[0], copy)
    with ZipFile(copy, "a") as packed:
        packed.writestr(name, "x")
    with pytest.raises(SystemExit, match=said):
        DIST["check_wheel"](copy, ROOT)


def test_a_missing_file_is_refused(built: tuple[Path, Path], tmp_path: Path) -> None:
    copy = tmp_path / built[0].name
    with ZipFile(built[0]) as packed, ZipFile(copy, "w") as less:
        for own in packed.namelist():
            if not own.endswith("report.html.j2"):
                less.writestr(own, packed.read(own))
    with pytest.raises(SystemExit, match=r"genverify/disclosure/report\.html\.j2 is missing"):
        DIST["check_wheel"](copy, ROOT)


@pytest.mark.parametrize("name", sorted(DIST["STATED"]))
def test_every_file_states_the_version_of_pyproject(tmp_path: Path, name: str) -> None:
    version = DIST["stated_version"](ROOT)
    for other in ("pyproject.toml", *DIST["STATED"]):
        (tmp_path / other).parent.mkdir(exist_ok=True)
        shutil.copyfile(ROOT / other, tmp_path / other)
    assert DIST["stated_version"](tmp_path) == version
    text = (tmp_path / name).read_text().replace(version, "9.9.9")
    (tmp_path / name).write_text(text)
    with pytest.raises(SystemExit, match=f"{name}: states version 9.9.9, pyproject.toml {version}"):
        DIST["stated_version"](tmp_path)


def test_the_command_needs_no_repository_state(tmp_path: Path) -> None:
    """Its options are read, and the help names what is checked."""
    done: Any = subprocess.run(
        [sys.executable, str(ROOT / "envs/dist.py"), "--help"], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0
    assert "--no-install" in done.stdout
