"""The files of an audit in one folder, and their check: the inputs read again, every proof, every file compared."""

import argparse
import gzip
import os
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import yaml
from pydantic import Field, TypeAdapter, ValidationError

from genverify.checker.certificate import one_certificate, read_proofs
from genverify.checker.linear_proofs import check_system
from genverify.disclosure.audit_value import DIALECTS, Audit, Source, read_fail_on
from genverify.disclosure.interpretation import PrintedForm, interpret
from genverify.disclosure.intervals import FeasibilityIntervals
from genverify.disclosure.record_audit import CELL_PROOFS, CLAIM_PROOFS, attack_records, check_area_proofs
from genverify.disclosure.release_data import describe
from genverify.disclosure.sources import (
    LISTS,
    PAIRS,
    SINGLE,
    _moved,
    attack_of,
    described_source,
    input_files,
    printed_form,
    record_source,
)
from genverify.disclosure.suppression import SecondarySuppression
from genverify.disclosure.tables_audit import PROOFS, TablesAudit
from genverify.model.errors import ConfigError, DataError
from genverify.model.files import UNREADABLE, read_yaml, regular_file, sha256_of
from genverify.model.settings import Section, validate
from genverify.model.tablefiles import Expected, need_columns, neutral_frame, open_csv, read_frame
from genverify.solve.linear.search import Ranges

COMMAND, READING, TABLES = "disclose", "reading.yaml", "tables"
OTHERS = {"whatif.csv"}  # what another command may have written to the folder
SHOWN = (".hst", ".csv", ".html", ".parquet")  # files that say something: each must be one that the audit writes
AGAIN = "make the results again"
SEARCH = TypeAdapter(SecondarySuppression)


class ReadingForm(Section):
    """What results were made from (paths relative to the folder), and what searches came to that no proof shows."""

    inputs: dict[str, str]
    form: PrintedForm | None = None
    answers: dict[str, str] = Field(default_factory=dict)
    contributions: str | None = None
    sensitive: list[str] = Field(default_factory=list)
    release: str | None = None
    changes: dict[str, int] = Field(default_factory=dict)
    fail_on: str | None = None
    dialect: str = Field(default="plain", pattern="|".join(DIALECTS))
    limit: str = ""
    not_attained: list[int] = Field(default_factory=list)
    undecided: list[str] = Field(default_factory=list)
    suppression: dict[str, Any] | None = None


def write_files(audit: Audit, part: Path, folder: Path) -> None:
    """All files, into a folder that will be `folder`. The same audit gives the same bytes, so that a check can compare."""
    write_shown(audit, part)
    source = audit.source
    for name, text in source.texts.items():
        (part / TABLES).mkdir(exist_ok=True)
        (part / TABLES / name).write_text(text, encoding="utf-8")
    inputs = {os.path.relpath(file, folder): sha256_of(file) for file in source.inputs}
    inputs |= {f"{TABLES}/{name}": sha256_of(part / TABLES / name) for name in source.texts}
    form = source.form
    if form is not None:
        printed = [f"{TABLES}/{name}" if name in source.texts else os.path.relpath(source.home / name, folder)
                   for name in form.printed]  # fmt: skip
        form = _moved(form, source.home, folder).model_copy(update={"printed": printed})
    reading = ReadingForm(
        inputs=inputs, form=form, answers=dict(source.answers), sensitive=list(source.sensitive),
        contributions=os.path.relpath(source.contributions, folder) if source.contributions else None,
        release=os.path.relpath(source.release, folder) if source.release else None,
        changes=dict(source.changes),
        fail_on=str(audit.fail_on), dialect=audit.dialect, limit=audit.limit, undecided=list(audit.undecided),
        not_attained=audit.not_attained if isinstance(audit, TablesAudit) else [],
        suppression=SEARCH.dump_python(audit.suppression, mode="json", exclude_defaults=True) if audit.suppression else None,
    )  # fmt: skip
    content = reading.model_dump(exclude_defaults=True, mode="json")
    (part / READING).write_text(yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=120), encoding="utf-8")


def write_shown(audit: Audit, folder: Path) -> None:
    """The files that show something: cells, cells to suppress, the answer, the report, claims, and the proofs."""
    tables = {"cells.csv": audit.cells} | ({"suppress.csv": audit.to_suppress} if audit.suppression else {})
    texts = {name: neutral_frame(frame).to_csv(index=False, lineterminator="\n") for name, frame in tables.items()}
    for name, text in (texts | {"answer.json": f"{audit.as_json()}\n", "report.html": audit.report()}).items():
        (folder / name).write_bytes(text.encode("utf-8", "backslashreplace"))
    audit.write_proofs(folder)


def _suppression(reading: ReadingForm, path: Path) -> SecondarySuppression | None:
    try:
        return None if reading.suppression is None else SEARCH.validate_python(reading.suppression)
    except ValidationError as error:
        raise DataError(f"{path}: not what a search writes ({error.errors()[0]['msg']}); {AGAIN}") from None


# The check of a folder of results.


def holds_results(folder: Path) -> bool:
    return any((folder / name).is_file() for name in (READING, PROOFS))


def check_folder(folder: Path, named: Sequence[Path], settings: argparse.Namespace) -> Iterator[str]:
    """
    Check a folder of results: what was published is read again, every proof about it is checked without a solver, and every
    file that shows something is made again from what is proved, and compared. Then, within --seconds, it is searched whether
    more is known than shown and whether the proposal protects.
    """
    if not holds_results(folder):
        raise DataError(f"{folder}: holds no results of disclose ({READING} and {PROOFS} are missing)")
    reading, home = _reading(folder, named, settings)
    audit = _records_again(folder, reading) if reading.release else _tables_again(folder, home, reading)
    yield audit.proved()
    if (folder / READING).exists():
        compare(folder, audit)
        yield f"about {', '.join(reading.inputs)}; all files show what is proved"
    else:
        _compare_cells(folder, audit)
        yield f"about {', '.join(map(str, named))}; no {READING} here: only cells.csv was compared"
    yield audit.search_again(settings.seconds)


def _reading(folder: Path, named: Sequence[Path], settings: argparse.Namespace) -> tuple[ReadingForm, Path]:
    """How what was published is to be read: as the folder says, its files unchanged; else as the command line says."""
    path, named = folder / READING, [one for one in named if not (one.exists() and one.samefile(folder))]
    if not path.exists():
        if not named:
            raise DataError(f"{folder}: has no {READING}, so it cannot be tied to its tables; name them, and with --symbol "
                            "and the like how they are read")  # fmt: skip
        form, home = printed_form(named, settings)
        return ReadingForm(inputs={}, form=form), home
    if given := [name for name in (*PAIRS, *LISTS, *SINGLE) if getattr(settings, name)]:
        option = given[0].replace("_", "-")
        raise ConfigError(f"--{option}: with --check, {path} says how the tables were read; leave this out")
    reading = validate(ReadingForm, read_yaml(path), str(path))
    if (reading.form is None) == (reading.release is None):
        raise DataError(f"{path}: names neither printed tables nor a release file; {AGAIN}")
    listed = {folder / name: recorded for name, recorded in reading.inputs.items()}
    for file, recorded in listed.items():
        if not file.exists():
            raise DataError(f"{file}: missing, so {folder} cannot be tied to its tables; put the file back")
        if sha256_of(file) != recorded:
            raise DataError(f"{file}: not the file that {path} names (another SHA-256); {AGAIN}")
    contributions = folder / reading.contributions if reading.contributions else None
    used = input_files(reading.form, folder, contributions) if reading.form else [folder / str(reading.release)]
    known = [*listed, *(folder / name for name in (reading.form.printed if reading.form else ()))]
    for file in [*used, *named]:
        if not file.exists() or not any(file.samefile(other) for other in known):
            raise DataError(f"{folder}: its results are about other files than {file}")
    return reading, folder


def _tables_again(folder: Path, home: Path, reading: ReadingForm) -> Audit:
    """The audit that stored proofs show, about the tables as they are read now."""
    assert reading.form is not None
    understood = interpret(reading.form, home, reading.answers.__getitem__ if reading.answers else None)
    sums = understood.linked.sums
    certificate = one_certificate(folder / PROOFS)
    proved, statements = check_system(sums, certificate, str(folder / PROOFS)), certificate["statements"]
    if proved.empty:
        raise DataError(f"{folder / PROOFS}: these proofs show a contradiction; there are no ranges to show")
    lo, hi = np.array(proved.lo, dtype=np.int64), np.array(proved.hi, dtype=np.int64)
    chosen = _suppression(reading, folder / READING)
    names = [*reading.undecided, *(chosen.cells if chosen else ())]
    if not set(reading.not_attained) <= set(range(len(lo))) or not set(names) <= set(sums.cells):
        raise DataError(f"{folder / READING}: names a cell that the tables do not have; {AGAIN}")
    least = lo.copy()
    least[reading.not_attained] -= 1  # so that it is not attained
    contributions = home / reading.contributions if reading.contributions else None
    source = Source(form=reading.form, home=home, contributions=contributions, sensitive=tuple(reading.sensitive))
    exposed = FeasibilityIntervals(understood.linked, Ranges(lo, hi, least, hi, tuple(statements), False, reading.limit))
    return TablesAudit(
        exposed=exposed, source=described_source(understood, source), fail_on=read_fail_on(reading.fail_on),
        dialect=reading.dialect, limit=reading.limit, undecided=tuple(reading.undecided), suppression=chosen,
    )  # fmt: skip


def _records_again(folder: Path, reading: ReadingForm) -> Audit:
    """The stored proofs, checked without a solver against the release as it is read now; then the attack, made again."""
    path = folder / str(reading.release)
    described = describe(path, reading.changes)
    claims, cells = (list(read_proofs(folder / name)) for name in (CLAIM_PROOFS, CELL_PROOFS))
    if not len(claims) == len(cells) == len(described.releases):
        raise DataError(f"{folder}: not one certificate for each area of the release; {AGAIN}")
    check_area_proofs(described.releases, claims, cells)
    source = record_source(path, reading.changes, described)
    given = {"source": source, "fail_on": read_fail_on(reading.fail_on), "dialect": reading.dialect}
    audit = attack_records(described, attack_of(described), **given)
    if (search := _suppression(reading, folder / READING)) is not None:
        known = {(release.block, query.id) for release in described.releases for query in release.queries}
        if not {(step.area, step.cell) for step in search.steps} <= known or search.k != described.form.search.k:
            raise DataError(f"{folder / READING}: about other cells or claims than those of the release; {AGAIN}")
    return replace(audit, suppression=search)


def compare(folder: Path, audit: Audit) -> None:
    """Every file is what is proved, and there is no other."""
    with TemporaryDirectory() as made:
        write_shown(audit, Path(made))
        names = [path.relative_to(made) for path in sorted(Path(made).rglob("*")) if path.is_file()]
        for name in names:
            if not (folder / name).is_file():
                raise DataError(f"{folder / name}: missing; {AGAIN}")
            if _content(folder / name) != _content(made / name):
                raise DataError(f"{folder / name}: shows something else than what is proved; {AGAIN}")
    others = {file.name for file in folder.iterdir() if file.suffix in SHOWN} - {str(name) for name in names} - OTHERS
    for other in sorted(others):
        raise DataError(f"{folder / other}: nothing that is proved says so; take it away")


def _content(path: Path) -> object:
    """What a file holds: the bytes of packed files depend on who packed them."""
    try:
        if path.suffix == ".parquet":
            return read_frame(path).to_csv()
        content = regular_file(path).read_bytes()
        return gzip.decompress(content) if path.suffix == ".gz" else content
    except (*UNREADABLE, EOFError, zlib.error) as error:
        raise DataError(f"{path}: broken ({error}); {AGAIN}") from None


def _compare_cells(folder: Path, audit: Audit) -> None:
    """The ranges of a cells.csv that another program wrote, the page for instance."""
    path, columns = folder / "cells.csv", ["cell", "lower", "upper"]
    if not path.exists():
        return
    frame = open_csv(path, Expected("cells with their ranges")).frame()
    need_columns(path, frame, columns)
    proved = neutral_frame(audit.cells[columns]).astype(str)
    rows, given = ({tuple(row) for row in part.to_numpy().tolist()} for part in (proved, frame[columns]))
    for row in sorted(rows ^ given):
        raise DataError(f"{path}: {row[0]}: shows something else than what is proved")
