"""Files of other disclosure tools: tau-Argus tables with metadata and hierarchies, acro sessions."""

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from genverify.disclose.read.grid import read_grid, tables_of
from genverify.disclose.read.printed_table import Entry, Hierarchy, PrintedTable, Told, make_hierarchy, make_table
from genverify.model.errors import DataError
from genverify.model.files import regular_file
from genverify.model.tablefiles import decoded

# tau-Argus tables (.tab) with their metadata (.rda, a text) and hierarchies (.hrc).

SAFE = {"", "s", "S", "z", "Z"}


@dataclass
class Variable:
    """A variable of the metadata: its tags by name."""

    name: str
    tags: dict[str, str] = field(default_factory=dict)


def is_argus(path: Path) -> bool:
    """Whether a file called .rda is the text that tau-Argus writes, and no R data."""
    with path.open("rb") as file:
        head = file.read(3)
    return head not in (b"RDX", b"RDA", b"BZh", b"\xfd7z") and not head.startswith(b"\x1f\x8b")


def read_argus(path: Path, told: Told) -> list[PrintedTable]:
    """The table of a .tab file; the .rda file of the same name says what its fields are."""
    table, meta = path.with_suffix(".tab"), path.with_suffix(".rda")
    for file in (table, meta):
        if not file.is_file():
            raise DataError(f"{path}: {file.name} is missing; a tau-Argus table is a .tab file with its .rda file beside it")
        told.limits.check(file, 0, regular_file(file).stat().st_size)
    separator, variables = _metadata(decoded(meta.read_bytes(), meta)[0], meta)
    columns = [variable for variable in variables if "RECODEABLE" in variable.tags or "RECODABLE" in variable.tags]
    numeric = [at for at, variable in enumerate(variables) if "NUMERIC" in variable.tags or "FREQUENCY" in variable.tags]
    status = next((at for at, variable in enumerate(variables) if "STATUS" in variable.tags), None)
    counts = next(
        (at for at, variable in enumerate(variables) if "FREQUENCY" in variable.tags), numeric[0] if numeric else None
    )
    if not columns or counts is None:
        raise DataError(f"{meta}: names no <RECODEABLE> variable, or no <FREQUENCY> or <NUMERIC> one")
    entries, last = [], max(counts, *(variables.index(own) for own in columns))
    for number, row in enumerate(_lines(table, separator), 1):
        if not row:
            continue
        if len(row) < len(variables) - 1 or len(row) <= last:
            raise DataError(f"{table}, line {number}: {len(row)} fields, but {meta.name} names {len(variables)}")
        hidden = status is not None and status < len(row) and row[status].strip() not in SAFE
        text = f"status {row[status].strip()}" if hidden and status is not None else row[counts].strip()
        entries.append((tuple(row[variables.index(own)].strip() for own in columns), Entry(text, f"{table}, line {number}")))
    found = make_table(table.stem, str(table), [variable.name for variable in columns], entries)
    sums = {variable.name: _sums(variable, found, path.parent) for variable in columns}
    return [replace(found, sums=sums).noted(f"tau-Argus, counts in {variables[counts].name}")]


def _lines(table: Path, separator: str) -> list[list[str]]:
    if len(separator) != 1 or separator in '\r\n"':
        raise DataError(f"{table}: its metadata name {separator!r} as <SEPARATOR>; one sign is needed, such as a comma")
    try:
        return list(csv.reader(decoded(table.read_bytes(), table)[0].splitlines(), delimiter=separator))
    except csv.Error as error:
        raise DataError(f"{table}: cannot be read as separated text ({error}); check its quotation marks") from None


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
        raise DataError(f"{path}: names no variable")
    return separator, variables


def _sums(variable: Variable, table: PrintedTable, folder: Path) -> Hierarchy:
    """The total of a variable, and the levels of its hierarchy."""
    total = variable.tags.get("TOTCODE", "Total")
    labels = table.labels(variable.name)
    if "HIERCODELIST" in variable.tags:
        named = total if total in labels or "TOTCODE" in variable.tags else None
        path = _beside(folder, variable.tags["HIERCODELIST"])
        return hierarchy(path, labels, named, lead=variable.tags.get("HIERLEADSTRING", "@"))
    others = tuple(label for label in labels if label != total)
    return make_hierarchy([(total, others)] if total in labels else [], labels, f"{table.source}: {variable.name}")


def _beside(folder: Path, name: str) -> Path:
    """The file of a hierarchy that the metadata name: it lies in their folder; no other file is opened for them."""
    path = folder / name
    if (
        Path(name).name != name
        or path.suffix.lower() != ".hrc"
        or (path.exists() and path.resolve().parent != folder.resolve())
    ):
        raise DataError(f"{folder}: the hierarchy {name!r} is no .hrc file in the folder of the table; put it there")
    return path


def hierarchy(path: Path, labels: Sequence[str], total: str | None, told: bool = True, lead: str = "@") -> Hierarchy:
    """
    What adds up to what by a .hrc file: a label with one more lead string than the one above lies inside it. The total may
    stand in the file, as the one label without a lead string, or be left out of it; one that was not told but guessed gives
    way to the file. Labels that the table does not print are parts all the same, of unknown size.
    """
    if not path.exists():
        raise DataError(f"{path}: the hierarchy is missing")
    if not lead:
        raise DataError(f"{path}: the string that leads its lower levels (HIERLEADSTRING) is empty; give one, such as @")
    line_of: dict[str, int] = {}
    children: dict[str, list[str]] = {}
    above: list[str] = []
    roots: list[str] = []
    for number, line in enumerate(decoded(regular_file(path).read_bytes(), path)[0].splitlines(), 1):
        if not line.strip():
            continue
        depth = 0
        while line.startswith(lead) and depth <= len(above):
            line, depth = line[len(lead) :], depth + 1
        label = line.strip()
        if label in line_of:
            raise DataError(
                f"{path}, line {number}: {label!r} stands here a second time (line {line_of[label]}); list it once"
            )
        if depth > len(above):
            raise DataError(f"{path}, line {number}: {label!r} stands more than one level below the line above it")
        line_of[label] = number
        above = [*above[:depth], label]
        (children.setdefault(above[depth - 1], []) if depth else roots).append(label)
    if total in line_of and roots != [total]:
        if told:
            raise DataError(
                f"{path}, line {line_of[total]}: {total!r} is the total, and cannot be a part; let it stand alone without a "
                "lead string, or leave it out"
            )
        total = None
    if total is None or total in line_of:
        total = roots[0] if len(roots) == 1 else None
    else:
        children[total] = roots
    lacking = [label for label in labels if label != total and label not in line_of]
    if lacking:
        raise DataError(f"{path}: lacks {lacking[0]!r}, which the table prints; give it a line where it belongs")
    return _printed_part(children, total, roots, set(labels), str(path))


def _printed_part(
    children: Mapping[str, Sequence[str]], top: str | None, roots: Sequence[str], labels: set[str], where: str
) -> Hierarchy:
    """The smallest part of a hierarchy with all printed labels; of what has none below it, the parts are not needed."""
    whole = Hierarchy(top, {label: (tuple(own),) for label, own in children.items() if own}).checked(where)
    used = {label for label in {*whole.labels, *roots} if whole.inside(label) & labels}
    below = roots if top is None else children.get(top, ())
    while top not in labels and len(inner := [label for label in below if label in used]) == 1:
        top = inner[0]
        below = children.get(top, ())
    kept = whole.inside(top) if top is not None else set(whole.labels)
    adding = {label for label in kept if (whole.inside(label) - {label}) & labels}
    return Hierarchy(top, {label: own for label, own in whole.parts.items() if label in adding})


# The outputs of an acro session: results.json and the CSV files that it names.

HIDDEN = "suppressed"


def is_acro(text: Any) -> bool:
    return isinstance(text, dict) and isinstance(text.get("results"), dict) and "version" in text


def acro_tables(text: Any, path: Path, told: Told) -> list[PrintedTable]:
    """The tables among the outputs; cells that acro left empty because of a threshold have the mark `suppressed`."""
    found = []
    for name, output in text["results"].items():
        if not isinstance(output, dict) or output.get("type") != "table":
            continue
        files = [str(one) for one in output.get("output", []) if str(one).endswith(".csv")]
        for place, file in enumerate(files):
            own = path.parent / Path(file).name
            if not own.exists():
                raise DataError(f"{path}: output {name} names {file}, which is not in the same folder")
            grid, indents, _ = read_grid(regular_file(own), told)
            hidden = "suppress" in str(output.get("summary", "")).lower() or bool(output.get("outcome"))
            called = name if len(files) == 1 else f"{name}_{place}"
            tables = tables_of(_counts_only(grid), called, str(own), indents)
            found += [_marked(table) if hidden else table for table in tables]
    if not found:
        raise DataError(f"{path}: names no output of type table with a CSV file")
    return [table.noted("an acro session") for table in found]


def _counts_only(grid: list[list[str]]) -> list[list[str]]:
    """Whole numbers without the .0 that a column with gaps gets."""
    return [[text.removesuffix(".0") if text.removesuffix(".0").isdecimal() else text for text in row] for row in grid]


def _marked(table: PrintedTable) -> PrintedTable:
    entries = {labels: replace(entry, text=entry.text or HIDDEN) for labels, entry in table.entries.items()}
    return replace(table, entries=entries)


READERS = {".tab": read_argus}
