"""Files of printed tables by their names: a file, several, or a folder of them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from genverify.disclose.read.printed_table import PrintedTable, Told
from genverify.disclose.read.tool_formats import is_argus, read_argus
from genverify.disclose.read.workbook import read_rdata
from genverify.model.errors import ConfigError, DataError
from genverify.model.files import regular_file

Reader = Callable[[Path, Told], list[PrintedTable]]
HOME, TABLE = "genverify.disclose.read", "READERS"  # each module of this package may hold a table: ending, reader
BESIDE = (".hrc",)
TOLD = Told()


@cache
def readers() -> dict[str, Reader]:
    """What reads the files of an ending: from the tables of all modules beside this one, so that no list names them."""
    found: dict[str, Reader] = {}
    for one in iter_modules(import_module(HOME).__path__):
        module = f"{HOME}.{one.name}"
        for end, reader in getattr(import_module(module), TABLE, {}).items():
            if end in found:
                raise ConfigError(f"{module} and {found[end].__module__} both read files that end in {end}: let one of them")
            found[end] = reader
    return found


def read_tables(paths: Sequence[Path], told: Told = TOLD) -> list[PrintedTable]:
    """Every table of some files and folders, each with a name of its own."""
    found: list[PrintedTable] = []
    for path in _files(paths):
        try:
            own = _reader(path)(path, told)
        except RecursionError:
            raise DataError(f"{path}: is nested too deeply to be read") from None
        for table in own:
            told.limits.check_combinations(
                table.source, (len(table.labels(c)) for c in table.columns), f"table {table.name}"
            )
        found += own
    if not found:
        raise DataError(f"{', '.join(map(str, paths))}: holds no file of tables; known: {', '.join(readers())}")
    return _named_apart(found)


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            own = sorted(file for file in path.iterdir() if file.is_file() and not file.name.startswith("."))
            yield from _of_session(own)
        elif path.exists():
            yield regular_file(path)
        else:
            raise DataError(f"{path}: there is no such file or folder")


def _of_session(files: Sequence[Path]) -> list[Path]:
    """The files of a folder to read: those that another one names are read with it."""
    if any(file.name == "results.json" for file in files):
        return [file for file in files if file.name == "results.json"]
    tabs = {file.stem for file in files if file.suffix == ".tab"}
    kept = [
        file for file in files if not (file.suffix in (".rda", *BESIDE) and (file.suffix in BESIDE or file.stem in tabs))
    ]
    return [file for file in kept if _ending(file) or file.suffix.lower() == ".rda"]


def _ending(path: Path) -> str | None:
    name = path.name.lower()
    return next((end for end in sorted(readers(), key=len, reverse=True) if name.endswith(end)), None)


def _reader(path: Path) -> Reader:
    if path.suffix.lower() == ".rda":
        return read_argus if is_argus(path) else read_rdata
    end = _ending(path)
    if end is None:
        hint = "; save it as .xlsx" if path.suffix.lower() == ".xls" else ""
        raise DataError(
            f"{path}: files of this kind are not read{hint}; known: {', '.join(readers())}, .rda, or a release file (.yaml)"
        )
    return readers()[end]


def _named_apart(tables: Sequence[PrintedTable]) -> list[PrintedTable]:
    taken: set[str] = set()
    named = []
    for table in tables:
        name, number = table.name, 2
        while name in taken:
            name, number = f"{table.name}_{number}", number + 1
        taken.add(name)
        named.append(replace(table, name=name))
    return named
