"""The rooms of the library: each imports only from those before it; papers do not know each other."""

from functools import cache
from pathlib import Path

import pytest

from genverify.run.code import code_files, imported_names

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "genverify"
ROOMS = ["core", "reading", "microdata", "solve", "checker", "protect", "attack", "show", "papers", "disclosure", "run"]
PAPERS = ["gtv", "raprank", "cellbounds", "housing", "mechanisms"]
DOOR = {"__init__.py", "__init__.pyi", "__main__.py", "cli.py", "py.typed"}
FINDERS = {"highspy", "gurobipy", "scipy", "jax"}
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path.parent != PACKAGE)


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts)


@cache
def imports(path: Path) -> set[tuple[str, ...]]:
    """The modules of the library that a file imports, wherever in it, as parts of their names; and packages from outside."""
    return {tuple(name.split(".")) for name in imported_names(path.read_text())}


def of_library(path: Path) -> set[tuple[str, ...]]:
    return {parts[1:] for parts in imports(path) if parts[0] == "genverify" and len(parts) > 1}


def test_the_folder_list_is_the_list_of_rooms() -> None:
    assert {path.name for path in PACKAGE.iterdir() if path.name != "__pycache__"} == {*ROOMS, *DOOR}
    rooms = {path.name for path in (PACKAGE / "papers").iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert rooms == set(PAPERS)


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_imports_only_from_its_room_and_those_before_it(path: Path) -> None:
    room = ROOMS.index(name_of(path).split(".")[0])
    later = {".".join(parts) for parts in of_library(path) if ROOMS.index(parts[0]) > room}
    assert not later


@pytest.mark.parametrize("paper", PAPERS)
def test_papers_do_not_know_each_other(paper: str) -> None:
    for path in sorted((PACKAGE / "papers" / paper).rglob("*.py")):
        others = {".".join(parts) for parts in of_library(path) if parts[0] == "papers" and parts[1:2] != (paper,)}
        assert not others, name_of(path)


@pytest.mark.parametrize("room", ["core", "solve", "checker", "attack"])
def test_the_attack_never_sees_microdata(room: str) -> None:
    """Neither itself nor through anything that it imports."""
    for path in sorted((PACKAGE / room).rglob("*.py")):
        assert not [used for used in code_files(path) if "/microdata/" in used], name_of(path)


def test_the_checker_imports_core_only_and_nothing_that_finds_proofs() -> None:
    for path in sorted((PACKAGE / "checker").rglob("*.py")):
        for used in code_files(path):
            assert Path(used).resolve().relative_to(PACKAGE).parts[0] in {"__init__.py", "core", "checker"}, name_of(path)
            assert not FINDERS & {parts[0] for parts in imports(ROOT / used)}, used


def test_exported_proofs_rest_on_core_and_checker_only() -> None:
    """What writes a proof for other checkers shares nothing with what found it, and the VIPR checker nothing with either."""
    for path in sorted((PACKAGE / "show" / "export").rglob("*.py")):
        assert {parts[0] for parts in of_library(path)} <= {"core", "checker", "show"}, name_of(path)
        assert {parts[:2] for parts in of_library(path) if parts[0] == "show"} <= {("show", "export")}, name_of(path)
    assert {parts[:2] for parts in of_library(PACKAGE / "checker" / "vipr.py")} == {("core", "errors")}
