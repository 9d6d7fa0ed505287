"""Files of printed tables by their names: a file, several, or a folder of them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from genverify.disclose.read.exchange_formats import read_json, read_px
from genverify.disclose.read.grid import read_parquet, read_text
from genverify.disclose.read.printed_table import PrintedTable, Told
from genverify.disclose.read.tool_formats import is_argus, read_argus
from genverify.disclose.read.workbook import read_rdata, read_xlsx
from genverify.model.errors import DataError
from genverify.model.files import regular_file

Reader = Callable[[Path, Told], list[PrintedTable]]
READERS: dict[str, Reader] = {
    ".csv": read_text, ".tsv": read_text, ".txt": read_text, ".csv.gz": read_text, ".xlsx": read_xlsx, ".xlsm": read_xlsx,
    ".px": read_px, ".json": read_json, ".rds": read_rdata, ".rdata": read_rdata, ".tab": read_argus,
    ".parquet": read_parquet,
}  # fmt: skip
BESIDE = (".hrc",)
TOLD = Told()


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
        raise DataError(f"{', '.join(map(str, paths))}: holds no file of tables; known: {', '.join(READERS)}")
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
    return next((end for end in sorted(READERS, key=len, reverse=True) if name.endswith(end)), None)


def _reader(path: Path) -> Reader:
    if path.suffix.lower() == ".rda":
        return read_argus if is_argus(path) else read_rdata
    end = _ending(path)
    if end is None:
        hint = "; save it as .xlsx" if path.suffix.lower() == ".xls" else ""
        raise DataError(
            f"{path}: files of this kind are not read{hint}; known: {', '.join(READERS)}, .rda, or a release file (.yaml)"
        )
    return READERS[end]


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
