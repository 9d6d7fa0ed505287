"""Which files a script's behaviour depends on: the script, every module of the package that it imports, and templates."""

import os
import re
from collections.abc import Iterable, Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path

from genverify.run.layout import repository

PACKAGE = Path(__file__).parents[1]
TEMPLATE = re.compile(r"""["']([\w./-]+\.(?:j2|css|html|js))["']""")
# Snakemake asks for the digests of a hundred scripts at every start, and on a cluster in every job: a parser takes a second
# for that, these lines a hundredth of it. A test compares them with the parser on every file of the repository.
IMPORT = re.compile(r"\n[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)|import[ \t]+([^\n]*))")
COMMENT = re.compile(r"#.*")


def code_files(script: Path) -> list[str]:
    """The script, the modules of this package that it imports, directly or not, and the templates that these name."""
    return sorted(from_here(Path(file)) for file in _covered(str(script)))


def _covered(script: str) -> set[str]:
    # files as texts: a hundred scripts reach a hundred modules each, and a Path takes ten times longer to look up
    found = {script}
    todo = [script]
    while todo:
        new = _file(todo.pop())[1] - found
        found |= new
        todo += [file for file in new if file.endswith(".py")]
    return found


def from_here(path: Path) -> str:
    """The path as seen from the current folder, if it lies below it, or below the repository that the folder links to."""
    below = [folder for folder in (Path.cwd(), repository()) if path.is_relative_to(folder)]
    return str(path.relative_to(below[0]) if below else path)


def find_script(folder: Path, name: str) -> Path:
    """The script of a rule, in whichever drawer of the folder it lies; its place in the folder itself if it is nowhere."""
    return _scripts(folder).get(f"{name}.py", folder / f"{name}.py")


@cache
def _scripts(folder: Path) -> dict[str, Path]:
    """The scripts below a folder by name; of two of one name the first."""
    return {path.name: path for path in sorted(folder.rglob("*.py"), reverse=True)}


@cache
def code_digest(script: Path) -> str:
    """One digest over the content of all these files: a job's setting, so that it runs again when one of them changes."""
    return joint_digest(_file(file)[0] for file in _covered(str(script)))


def joint_digest(digests: Iterable[str]) -> str:
    """One short digest for many, whatever the order in which a folder lists their files."""
    return sha256(b"".join(map(bytes.fromhex, sorted(digests)))).hexdigest()[:16]


def forget_code() -> None:
    """Read the files again: what was known of them is kept for the life of a process."""
    for known in (code_digest, _scripts, _file, _module_files, _listed):
        known.cache_clear()


@cache
def _file(file: str) -> tuple[str, frozenset[str]]:
    """The digest of a file, and the files that it names: one reading for both."""
    content = Path(file).read_bytes()
    return sha256(content).hexdigest(), frozenset(_named(content.decode()) if file.endswith(".py") else ())


def _named(text: str) -> Iterator[str]:
    """The modules of this package and the templates that a text names."""
    for name in imported_names(text):
        yield from _module_files(name)
    for name in TEMPLATE.findall(text):
        if (PACKAGE / name).is_file():
            yield str(PACKAGE / name)


def imported_names(text: str) -> set[str]:
    """
    The modules that a text imports, and whatever it imports from one, which may be a module too.

    >>> sorted(imported_names("import os, json as j\\nfrom a.b import (\\n    c,  # why\\n    d as e,\\n)\\n"))
    ['a.b', 'a.b.c', 'a.b.d', 'json', 'os']
    """
    names: set[str] = set()
    for module, listed, plain in IMPORT.findall(f"\n{text}"):
        words = COMMENT.sub("", plain or listed).strip("() \t\n").split(",")
        found = [word.split()[0] for word in words if word.strip()]
        names.update(found if plain else [module, *(f"{module}.{name}" for name in found)])
    return {name for name in names if not name.startswith(".")}


@cache
def _module_files(name: str) -> list[str]:
    """The files of a module of this package: the module itself and the __init__ of every package above it."""
    first, *below = name.split(".")
    if first != PACKAGE.name:
        return []
    folder = str(PACKAGE)
    files = _those(folder, "__init__.py")
    for place, part in enumerate(below, 1):
        files += _those(folder, f"{part}.py") if place == len(below) else []
        if part not in _listed(folder):
            return files
        folder = f"{folder}{os.sep}{part}"
        files += _those(folder, "__init__.py")
    return files


def _those(folder: str, name: str) -> list[str]:
    return [f"{folder}{os.sep}{name}"] if name in _listed(folder) else []


@cache
def _listed(folder: str) -> frozenset[str]:
    """What stands in a folder, nothing where there is none: thousands of names are looked up in a hundred folders."""
    try:
        with os.scandir(folder) as found:
            return frozenset(entry.name for entry in found if entry.is_file() or entry.is_dir())
    except (FileNotFoundError, NotADirectoryError):
        return frozenset()
