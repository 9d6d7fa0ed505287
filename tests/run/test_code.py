"""Code as input: a script depends on itself and on every module of the package that it imports."""

import ast
from pathlib import Path

import pytest

from genverify.run import code
from genverify.run.code import TEMPLATE, code_files, forget_code, imported_names


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package `kit`: one module imports another, one stands alone, one lies in a folder below."""
    files = {
        "kit/__init__.py": "",
        "kit/a.py": "from kit.b import thing\nimport os\n",
        "kit/b.py": "thing = 1\n",
        "kit/alone.py": "",
        "kit/inner/__init__.py": "from kit.b import thing\n",
        "kit/inner/deep.py": "import numpy.linalg\n",
        "kit/loop.py": "def f():\n    import kit.loop2\n",
        "kit/loop2.py": "import kit.loop\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.setattr(code, "PACKAGE", tmp_path / "kit")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("text", "modules"),
    [
        ("", []),
        ("import numpy\nimport json\n", []),
        ("import kit\n", ["__init__"]),
        ("import kit.alone\n", ["__init__", "alone"]),
        ("from kit import alone\n", ["__init__", "alone"]),
        ("from kit.a import thing\n", ["__init__", "a", "b"]),
        ("import kit.inner.deep\n", ["__init__", "b", "inner/__init__", "inner/deep"]),
        ("from kit.inner import deep\n", ["__init__", "b", "inner/__init__", "inner/deep"]),
        ("def f():\n    from kit.alone import x\n", ["__init__", "alone"]),
        ("import kit.loop\n", ["__init__", "loop", "loop2"]),
        ("import kitten\n", []),
    ],
)
def test_imports_are_followed_inside_the_package(package: Path, text: str, modules: list[str]) -> None:
    script = package / "script.py"
    script.write_text(text)
    forget_code()
    assert code_files(script) == sorted([*(f"kit/{name}.py" for name in modules), "script.py"])


def parsed(text: str) -> tuple[set[str], set[str]]:
    """The names that a text imports and the files that it names, as the parser of Python finds them."""
    names: set[str] = set()
    nodes = list(ast.walk(ast.parse(text)))
    for node in nodes:
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    texts = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return names, {text for text in texts if text.endswith((".j2", ".css", ".html", ".js"))}


@pytest.mark.parametrize("folder", ["src/genverify", "scripts"])
def test_reading_by_lines_finds_what_the_parser_finds(root: Path, folder: str) -> None:
    """Also the other way round: no text that only looks like an import."""
    for path in (root / folder).rglob("*.py"):
        text = path.read_text()
        names, templates = parsed(text)
        assert imported_names(text) == names, path
        shipped = {name for name in templates if (code.PACKAGE / name).is_file()}
        assert {name for name in TEMPLATE.findall(text) if (code.PACKAGE / name).is_file()} == shipped, path


def test_the_scripts_of_the_workflow(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    files = code_files(root / "scripts" / "gtv" / "tabulate_release.py")
    assert files[0] == "scripts/gtv/tabulate_release.py"
    assert all(name.startswith("src/genverify/") for name in files[1:])
    assert all((root / name).is_file() for name in files)
    below = {"__init__.py", "microdata/__init__.py", "microdata/store.py", "core/release.py", "core/predicates.py"}
    assert {f"src/genverify/{name}" for name in below} <= set(files)
    assert not any("solvers" in name or "figures" in name for name in files)


def test_templates_that_a_module_names_are_followed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    files = code_files(root / "scripts" / "show" / "show_table.py")
    named = ["document.html.j2", "layout.html.j2", "style.css", "table.html.j2"]
    assert [name for name in files if not name.endswith(".py")] == [f"src/genverify/show/page/{name}" for name in named]


def test_every_file_of_the_explorer_page_is_followed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    found = {name for name in code_files(root / "scripts" / "show" / "build_explorer.py") if "/explorer/page/" in name}
    shipped = Path("src/genverify/show/explorer/page").iterdir()
    assert found == {str(path) for path in shipped}
    assert {Path(name).suffix for name in found} == {".html", ".css", ".js"}


def test_files_elsewhere_keep_their_whole_path(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert str(root / "src" / "genverify" / "core" / "errors.py") in code_files(root / "scripts" / "gtv" / "write_table3.py")


def test_a_digest_follows_the_content_of_every_module(package: Path) -> None:
    script = package / "script.py"
    script.write_text("from kit.a import thing\n")
    digests = []
    for text in ("x = 1\n", "x = 2\n", "x = 1\n"):
        (package / "kit" / "b.py").write_text(text)
        forget_code()
        digests.append(code.code_digest(script))
    assert digests[0] == digests[2] != digests[1]
