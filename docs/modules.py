"""The page docs/modules.md, which `genverify modules` prints: packages, which imports from which, and every module."""

import argparse
import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from genverify.run.registry import HOME

SRC = Path(__file__).parents[1] / "src"
PACKAGES = ("genverify", HOME)


def print_page(options: argparse.Namespace) -> None:
    print(modules_page(), end="")


def modules_page() -> str:
    """The page: a picture of the imports between packages (Mermaid), then every module."""
    files = [path for package in PACKAGES for path in sorted((SRC / package).rglob("*.py")) if path.name != "__init__.py"]
    modules = {path: path.relative_to(SRC) for path in files}
    packages = dict.fromkeys(_package(module.parts) for module in modules.values())
    arrows = Counter(arrow for path, module in modules.items() for arrow in _arrows(path, _package(module.parts)))
    lines = ["# The modules", "", "Made by `genverify modules`; each arrow says how many imports it stands for.", ""]
    lines += ["```mermaid", "graph TD"]
    lines += [f"  {_id(one)} -->|{times}| {_id(other)}" for (one, other), times in sorted(arrows.items())]
    lines += ["```", ""]
    for package in packages:
        lines += [f"## {package}", "", "| module | what it is |", "| --- | --- |"]
        inside = {path: module for path, module in modules.items() if _package(module.parts) == package}
        lines += [*(f"| `{module}` | {_sentence(path)} |" for path, module in inside.items()), ""]
    return "\n".join(lines)


def _package(parts: tuple[str, ...]) -> str:
    """
    The package of a module, as it is seen from src; each study is one.

    >>> _package(("genverify", "solve", "linear", "ranges.py")), _package(("genverify", "cli.py"))
    ('genverify/solve', 'genverify')
    """
    return "/".join(parts[: min(2, len(parts) - 1)])


def _id(package: str) -> str:
    return f"{package.replace('/', '_')}[{package}]"


def _arrows(path: Path, package: str) -> Iterator[tuple[str, str]]:
    """The other packages that a module imports from, once per import."""
    for node in ast.walk(ast.parse(path.read_text())):
        parts = (node.module or "").split(".") if isinstance(node, ast.ImportFrom) else []
        if parts and parts[0] in PACKAGES:
            other = _package((*parts, "")) if (SRC / Path(*parts[:2])).is_dir() else parts[0]
            if other != package:
                yield package, other


def _sentence(path: Path) -> str:
    text = ast.get_docstring(ast.parse(path.read_text())) or ""
    return text.splitlines()[0].replace("|", "\\|")
