"""Files of other tools as sources: R data and Parquet, tau-Argus tables with metadata and hierarchies, acro sessions."""

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from genverify.model.errors import DataError, needed
from genverify.model.files import FileLimits, one_line, regular_file
from genverify.reading.source import Grid, Sheet, Source, cell_text, decode, make_source, text_rows

if TYPE_CHECKING:
    import pandas as pd

SAFE = frozenset(("", "s", "S", "z", "Z"))  # codes of tau-Argus for cells that may be printed
SUPPRESSED = "suppressed"  # what stands for a cell that acro left empty


def read_rdata(path: Path, data: bytes, limits: FileLimits) -> Source:
    """The data frames of an R file; of a text called .rda, the tau-Argus table that it describes."""
    if path.suffix.lower() == ".rda" and not data.startswith((b"RDX", b"RDA", b"BZh", b"\xfd7z", b"\x1f\x8b")):
        return read_argus(path, data, limits)
    pyreadr = needed("pyreadr", f"{path}: R data", "or save it as CSV")
    try:
        frames = pyreadr.read_r(str(path))
    except Exception as error:  # the library has errors of its own for each kind of defect
        raise DataError(f"cannot be read as R data ({one_line(error)}); save a data.frame with saveRDS") from None
    if not frames:
        raise DataError("holds no data frame; as.data.frame(table) makes one of a table")
    return make_source(path, data, "R data", [Sheet(str(name or path.stem), _grid(own)) for name, own in frames.items()])


def read_parquet(path: Path, data: bytes, limits: FileLimits) -> Source:
    """A Parquet file, measured before it is unpacked."""
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    try:
        file = ParquetFile(io.BytesIO(data))
        groups = range(file.metadata.num_row_groups)
        limits.check(path, file.metadata.num_rows, sum(file.metadata.row_group(at).total_byte_size for at in groups))
        frame = file.read().to_pandas()
    except (ArrowException, OSError) as error:
        raise DataError(f"cannot be read as Parquet ({one_line(error)})") from None
    return make_source(path, data, "Parquet", [Sheet(path.stem, _grid(frame))])


def _grid(frame: "pd.DataFrame") -> Grid:
    values = frame.astype(object).where(frame.notna(), "").to_numpy().tolist()
    return [[str(name) for name in frame.columns], *([cell_text(value).strip() for value in row] for row in values)]


@dataclass
class Variable:
    """A variable of tau-Argus metadata: its tags by name."""

    name: str
    tags: dict[str, str] = field(default_factory=dict)


def read_argus(path: Path, data: bytes, limits: FileLimits) -> Source:
    """The table of a .tab file; the .rda file of the same name says what its fields are, and names their hierarchies."""
    table, meta = path.with_suffix(".tab"), path.with_suffix(".rda")
    for file in (table, meta):
        if not file.is_file():
            raise DataError(f"{file.name} is missing; a tau-Argus table is a .tab file with its .rda file beside it")
        limits.check(file, 0, regular_file(file).stat().st_size)
    separator, variables = _metadata(decode(meta.read_bytes())[0], meta)
    labels = [own for own in variables if {"RECODEABLE", "RECODABLE"} & set(own.tags)]
    numeric = [at for at, own in enumerate(variables) if {"NUMERIC", "FREQUENCY"} & set(own.tags)]
    counts = next((at for at in numeric if "FREQUENCY" in variables[at].tags), numeric[0] if numeric else None)
    status = next((at for at, own in enumerate(variables) if "STATUS" in own.tags), None)
    if not labels or counts is None:
        raise DataError(f"{meta.name} names no <RECODEABLE> variable, or no <FREQUENCY> or <NUMERIC> one")
    rows: Grid = [[own.name for own in variables]]
    for number, row in enumerate(_lines(table, separator), 1):
        if row and len(row) < len(variables) - 1:
            raise DataError(f"{table.name}, line {number}: {len(row)} fields, but {meta.name} names {len(variables)}")
        if row:
            own = [text.strip() for text in row]
            if status is not None and status < len(own) and own[status] not in SAFE:
                own[counts], own[status] = f"status {own[status]}", ""
            rows.append(own)
    roles = {own.name: "label" if own in labels else "count" if at == counts else "note" for at, own in enumerate(variables)}
    totals = {own.name: own.tags["TOTCODE"] for own in labels if "TOTCODE" in own.tags}
    files = {own.name: (_beside(path.parent, own.tags["HIERCODELIST"]), own.tags.get("HIERLEADSTRING", "@"))
             for own in labels if "HIERCODELIST" in own.tags}  # fmt: skip
    return make_source(path, data, "tau-Argus", [Sheet(table.stem, rows)], roles=roles, totals=totals, hierarchies=files)


def _lines(table: Path, separator: str) -> list[list[str]]:
    if len(separator) != 1 or separator in '\r\n"':
        raise DataError(f"{table.name}: its metadata name {separator!r} as <SEPARATOR>; one sign is needed, such as a comma")
    try:
        return list(csv.reader(decode(table.read_bytes())[0].splitlines(), delimiter=separator))
    except csv.Error as error:
        raise DataError(f"{table.name}: cannot be read as separated text ({error}); check its quotation marks") from None


def _metadata(text: str, path: Path) -> tuple[str, list[Variable]]:
    separator, variables = ",", list[Variable]()
    for line in text.splitlines():
        if tag := re.match(r'\s*<(\w+)>\s*"?([^"]*)"?', line):
            if tag[1].upper() == "SEPARATOR":
                separator = tag[2].strip() or ","
            elif variables:
                variables[-1].tags[tag[1].upper()] = tag[2].strip()
        elif line.strip():
            variables.append(Variable(line.split()[0]))
    if not variables:
        raise DataError(f"{path.name} names no variable")
    return separator, variables


def _beside(folder: Path, name: str) -> Path:
    """The file of a hierarchy that the metadata name: it lies in their folder; no other file is opened for them."""
    path = folder / name
    outside = path.exists() and path.resolve().parent != folder.resolve()
    if Path(name).name != name or path.suffix.lower() != ".hrc" or outside:
        raise DataError(f"the hierarchy {name!r} is no .hrc file in the folder of the table; put it there")
    return path


def read_acro(path: Path, data: bytes, limits: FileLimits) -> Source | None:
    """The tables among the outputs of an acro session, each a sheet; None where a JSON file is no session."""
    try:
        text = json.loads(decode(data)[0])
    except (ValueError, RecursionError):
        return None
    if not (isinstance(text, dict) and isinstance(text.get("results"), dict) and "version" in text):
        return None
    sheets = list(_outputs(text["results"], path.parent, limits))
    if not sheets:
        raise DataError("names no output of type table with a CSV file")
    return make_source(path, data, "an acro session", sheets)


def _outputs(results: Mapping[str, Any], folder: Path, limits: FileLimits) -> Iterator[Sheet]:
    for name, output in results.items():
        if not isinstance(output, dict) or output.get("type") != "table":
            continue
        files = [str(one) for one in output.get("output", []) if str(one).endswith(".csv")]
        for at, file in enumerate(files):
            own = folder / Path(file).name
            if not own.exists():
                raise DataError(f"output {name} names {file}, which is not in the same folder")
            limits.check(own, 0, regular_file(own).stat().st_size)
            rows, _ = text_rows(decode(own.read_bytes())[0])
            hidden = "suppress" in str(output.get("summary", "")).lower() or bool(output.get("outcome"))
            yield Sheet(name if len(files) == 1 else f"{name}_{at}", [_counts_only(row, hidden) for row in rows])


def _counts_only(row: Sequence[str], hidden: bool) -> list[str]:
    """Whole numbers without the .0 that a column with gaps gets; what is empty among them was suppressed."""
    own = [text.strip().removesuffix(".0") if text.strip().removesuffix(".0").isdecimal() else text.strip() for text in row]
    among = hidden and any(text.isdecimal() for text in own[1:])
    return [own[0], *(text or SUPPRESSED if among else text for text in own[1:])] if own else own


SOURCES = {
    **dict.fromkeys((".rds", ".rda", ".rdata"), read_rdata),
    ".parquet": read_parquet,
    ".tab": read_argus,
}
