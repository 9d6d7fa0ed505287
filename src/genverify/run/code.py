"""Which files a script's behaviour depends on: the script, every module of the package that it imports, and templates."""

import re
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
TEMPLATE = re.compile(r"""["']([\w./-]+\.(?:j2|css|html|js))["']""")
# Snakemake asks for the digests of a hundred scripts at every start, and on a cluster in every job: a parser takes a second
# for that, these lines a hundredth of it. A test compares them with the parser on every file of the repository.
IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)|import[ \t]+([^\n]*))", re.MULTILINE)
COMMENT = re.compile(r"#.*")


def code_files(script: Path) -> list[str]:
    """The script, the modules of this package that it imports, directly or not, and the templates that these name."""
    return sorted(from_here(Path(file)) for file in _covered(str(script)))


def _covered(script: str) -> set[str]:
    # files as texts: a hundred scripts reach a hundred modules each, and a Path takes ten times longer to look up
    found = {script}
    todo = [script]
    while todo:
        new = _imported(todo.pop()) - found
        found |= new
        todo += [file for file in new if file.endswith(".py")]
    return found


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
    return joint_digest(map(_digest, _covered(str(script))))


def joint_digest(digests: Iterable[str]) -> str:
    """One short digest for many, whatever the order in which a folder lists their files."""
    return sha256(b"".join(map(bytes.fromhex, sorted(digests)))).hexdigest()[:16]


def forget_code() -> None:
    """Read the files again: what was known of them is kept for the life of a process."""
    for known in (code_digest, _digest, _imported, _module_files):
        known.cache_clear()


@cache
def _digest(file: str) -> str:
    return sha256(Path(file).read_bytes()).hexdigest()


@cache
def _imported(file: str) -> frozenset[str]:
    text = Path(file).read_text()
    templates = (str(PACKAGE / name) for name in TEMPLATE.findall(text) if (PACKAGE / name).is_file())
    modules = (path for name in imported_names(text) for path in _module_files(name))
    return frozenset([*modules, *templates])


def imported_names(text: str) -> set[str]:
    """
    The modules that a text imports, and whatever it imports from one, which may be a module too.

    >>> sorted(imported_names("import os, json as j\\nfrom a.b import (\\n    c,  # why\\n    d as e,\\n)\\n"))
    ['a.b', 'a.b.c', 'a.b.d', 'json', 'os']
    """
    names: set[str] = set()
    for module, listed, plain in IMPORT.findall(text):
        words = COMMENT.sub("", plain or listed).strip("() \t\n").split(",")
        found = [word.split()[0] for word in words if word.strip()]
        names.update(found if plain else [module, *(f"{module}.{name}" for name in found)])
    return {name for name in names if not name.startswith(".")}


@cache
def _module_files(name: str) -> list[str]:
    """The files of a module of this package: the module itself and the __init__ of every package above it."""
    parts = name.split(".")
    if parts[0] != PACKAGE.name:
        return []
    files = [PACKAGE.parent.joinpath(*parts[:depth], "__init__.py") for depth in range(1, len(parts) + 1)]
    files.append(PACKAGE.parent.joinpath(*parts).with_suffix(".py"))
    return [str(file) for file in files if file.is_file()]
