"""Which files a script's behaviour depends on: the script, every module of the package that it imports, and templates."""

import ast
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
TEMPLATES = (".j2", ".css", ".html", ".js")


def code_files(script: Path) -> list[str]:
    """The script, the modules of this package that it imports, directly or not, and the templates that these name."""
    found: set[Path] = set()
    todo = [script]
    while todo:
        file = todo.pop()
        if file not in found:
            found.add(file)
            todo.extend(_imported(file) if file.suffix == ".py" else ())
    return sorted(map(from_here, found))


def from_here(path: Path) -> str:
    """The path as seen from the current folder, if it lies below it."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def find_script(folder: Path, name: str) -> Path:
    """The script of a rule, in whichever drawer of the folder it lies; its place in the folder itself if it is nowhere."""
    return next(iter(sorted(folder.rglob(f"{name}.py"))), folder / f"{name}.py")


@cache
def code_digest(script: Path) -> str:
    """One digest over the content of all these files: a job's setting, so that it runs again when one of them changes."""
    return joint_digest(sha256(Path(file).read_bytes()).hexdigest() for file in code_files(script))


def joint_digest(digests: Iterable[str]) -> str:
    """One short digest for many, whatever the order in which a folder lists their files."""
    return sha256(b"".join(map(bytes.fromhex, sorted(digests)))).hexdigest()[:16]


@cache
def _imported(file: Path) -> tuple[Path, ...]:
    names: set[str] = set()
    templates: list[Path] = []
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and str(node.value).endswith(TEMPLATES):
            templates.append(PACKAGE / str(node.value))
    return (*(path for name in sorted(names) for path in _module_files(name)), *filter(Path.is_file, templates))


def _module_files(name: str) -> list[Path]:
    """The files of a module of this package: the module itself and the __init__ of every package above it."""
    parts = name.split(".")
    if parts[0] != PACKAGE.name:
        return []
    files = [PACKAGE.parent.joinpath(*parts[:depth], "__init__.py") for depth in range(1, len(parts) + 1)]
    files.append(PACKAGE.parent.joinpath(*parts).with_suffix(".py"))
    return [file for file in files if file.is_file()]
