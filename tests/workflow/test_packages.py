"""The packages of the source: each imports only from those before it; studies know the library and the country alone."""

import ast
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from genverify.run.code import code_parts
from genverify.run.registry import Study, studies

ROOT = Path(__file__).parents[2]
SRC = ROOT / "src"
LIBRARY, STUDIES = SRC / "genverify", SRC / "studies"
# what each package of the library may import, besides itself: `run` brings all of it together
PROVING = {"model", "solve", "checker"}
ATTACKING = {*PROVING, "protect", "bounds", "attack"}
MAY_IMPORT = {
    "model": set[str](),
    "solve": {"model"},
    "checker": {"model"},
    "protect": PROVING,
    "bounds": PROVING,
    "attack": PROVING,
    "report": ATTACKING,
    "export": {"model", "checker"},  # what writes a proof for other checkers shares nothing with what found it
    "explorer": {*ATTACKING, "export", "report"},
    "reading": {"model"},
    "disclosure": {*ATTACKING, "export", "report", "reading"},
    "run": {*ATTACKING, "export", "report", "explorer", "reading", "disclosure"},
}
API = {"__init__.py", "__init__.pyi", "__main__.py", "api.py", "cli.py", "py.typed"}
FINDERS = {"highspy", "gurobipy", "scipy", "jax"}
MODULES = sorted(path for path in LIBRARY.rglob("*.py") if path.parent != LIBRARY)


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(SRC).with_suffix("").parts)


@cache
def imports(path: Path) -> set[tuple[str, ...]]:
    """What a file imports, wherever in it, as the parts of names."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names |= {str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)}
    return {tuple(name.split(".")) for name in names}


def of_library(path: Path) -> set[tuple[str, ...]]:
    return {parts[1:] for parts in imports(path) if parts[0] == "genverify" and len(parts) > 1}


def folders(home: Path) -> set[str]:
    return {path.name for path in home.iterdir() if path.name != "__pycache__"}


def test_the_folder_list_is_the_list_of_packages() -> None:
    assert folders(LIBRARY) == {*MAY_IMPORT, *API}
    assert folders(STUDIES) - {"__init__.py"} == {study.name for study in studies()}


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_imports_only_what_its_package_may(path: Path) -> None:
    own = path.relative_to(LIBRARY).parts[0]
    assert {".".join(parts) for parts in of_library(path) if parts[0] not in {own, *MAY_IMPORT[own]}} == set()


def test_the_packages_have_an_order() -> None:
    """No two packages may import each other, by whatever way: each comes after all that it may import."""
    order = list(MAY_IMPORT)
    assert [
        (one, other) for one, used in MAY_IMPORT.items() for other in used if order.index(other) >= order.index(one)
    ] == []


@pytest.mark.parametrize("path", sorted(LIBRARY.rglob("*.py")), ids=name_of)
def test_the_library_imports_no_study(path: Path) -> None:
    assert {parts for parts in imports(path) if parts[0] == "studies"} == set()


@pytest.mark.parametrize("study", studies(), ids=lambda study: study.name)
def test_a_study_imports_no_other_but_what_studies_build_on(study: Study) -> None:
    known = {study.name, *(one.name for one in studies() if one.foundation)}
    code = [*(STUDIES / study.name).rglob("*.py"), *(ROOT / "scripts" / study.name).glob("*.py")]
    assert code
    for path in code:
        others = {parts[1] for parts in imports(path) if parts[0] == "studies" and len(parts) > 1} - known
        assert not others, f"{path.relative_to(ROOT)} imports {others}"


def test_the_country_is_all_that_studies_build_on() -> None:
    assert [study.name for study in studies() if study.foundation] == ["country"]


@pytest.mark.parametrize("package", sorted(PROVING | {"attack"}))
def test_the_attack_never_sees_private_data(package: str) -> None:
    """Neither itself nor through anything that it imports: they lie in the country and in the studies."""
    for path in sorted((LIBRARY / package).rglob("*.py")):
        assert not [used for used in code_parts(path) if "/studies/" in used], name_of(path)


def test_the_checker_rests_on_the_model_only_and_on_nothing_that_finds_proofs() -> None:
    for path in sorted((LIBRARY / "checker").rglob("*.py")):
        for used in code_parts(path):
            assert Path(used).resolve().relative_to(LIBRARY).parts[0] in {"__init__.py", "model", "checker"}, name_of(path)
            assert not FINDERS & {parts[0] for parts in imports(ROOT / used)}, used


def test_the_vipr_checker_shares_no_code_with_the_library() -> None:
    assert {parts[:2] for parts in of_library(ROOT / "docs" / "vipr_checker.py")} == {("model", "errors")}


def test_no_file_name_stands_twice_in_the_library() -> None:
    names = Counter(path.name for path in MODULES if path.name != "__init__.py")
    assert [name for name, times in names.items() if times > 1] == []
