"""From what a user has to an audit; the files of an audit in one folder, and their check."""

import argparse
import gzip
import os
import sys
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import yaml
from pydantic import Field, TypeAdapter, ValidationError

from genverify.checker.certificate import ATTAINS, one_certificate, read_proofs
from genverify.checker.linear_proofs import check_system
from genverify.disclosure import interpretation, record_audit
from genverify.disclosure.audit_value import DIALECTS, Audit, SecondarySuppression, Source, read_fail_on
from genverify.disclosure.disclose_command import OPTIONS, RECORDS, TABLES, settle
from genverify.disclosure.interpretation import Interpretation, PrintedForm, contradictory, interpret, is_printed, written
from genverify.disclosure.intervals import ContradictionError, FeasibilityIntervals, find_intervals
from genverify.disclosure.link import without_files, without_sums
from genverify.disclosure.protection import Protection, ProtectionOptions, protected_audit
from genverify.disclosure.record_audit import CELL_PROOFS, CLAIM_PROOFS, Attack, RecordsAudit, attack_records
from genverify.disclosure.release_data import ReleaseDescription, describe
from genverify.disclosure.release_form import prior_files, source_of
from genverify.disclosure.tables_audit import PROOFS, TablesAudit, tables_source, undecided_cells
from genverify.model.errors import ConfigError, DataError, refusing
from genverify.model.files import UNREADABLE, file_name, read_yaml, regular_file, sha256_of, write_whole, written_folder
from genverify.model.settings import DATASETS, Section, validate
from genverify.model.tablefiles import Expected, need_columns, neutral_frame, open_csv, plain_text, read_frame
from genverify.model.work import CellProgress
from genverify.reading.read_command import read_files
from genverify.reading.reading import Reading, write_reading
from genverify.solve.linear.search import Ranges, Work
from genverify.solve.program_settings import DEFAULT

FORMED = [option for option in OPTIONS if option.key in PrintedForm.model_fields]  # options that release files have too
FEW_CONTRADICTORY, LARGEST_SHARE = 200, 10  # sums that are left out: so many, or one of so many; a total is taken as one
# where nine of ten of its sums agree, and tables in which more contradict each other are not what they were read as
CALLS = 8  # of a search for every node above the one that it is at
Frames = Mapping[str, pd.DataFrame]
Given = str | Path | Sequence[str | Path] | pd.DataFrame | Frames | Reading
Talk = Callable[..., None]
T = TypeVar("T")


def disclose(tables: Given, **options: Any) -> Audit:
    """
    What tables give away: an audit with `cells`, `answer`, `report()`, `check()` and `write(folder)`, of paths of tables or
    of a release file, of a frame (or several, by name), or of a reading (gv.read). Options are those of the command,
    `symbol={"*": "suppressed"}` for --symbol; one that does not apply is an error.
    """
    settings = settle(options, kind_of(tables))
    return audit_of(tables, settings).suppress(settings.search_seconds)


def protect_tables(tables: Given, out: str | Path, rule: str, **options: Any) -> TablesAudit:
    """Protected tables in a folder with their certificate, and their audit; options are those of the command `protect`."""
    own = {name: options.pop(name) for name in ("width", "cost", "method", "base") if name in options}
    asked = ProtectionOptions(rule, contributions=options.get("contributions"), **own)
    if kind_of(tables) == RECORDS:
        raise ConfigError("protect takes printed tables; for records, list protections in the release file (what-if)")
    settings = settle({**options, **({"sensitive": ["contributors=1"]} if asked.contributions else {})}, TABLES)
    understood, source = _printed_source(tables, settings)
    with written_folder(Path(out), PROTECT) as part:
        audit = protected_audit(understood, source, asked, settings, part)
        write_files(audit, part, part)
    return audit


def read(tables: str | Path | Sequence[str | Path], **options: Any) -> Reading:
    """What files hold, as `genverify read` says it; options are those of the command, `labels="C"` for --labels."""
    form, home = printed_form(_paths(tables), settle(options, TABLES))
    return read_files([home / name for name in form.printed], interpretation.corrections(form, home))


def kind_of(given: Given) -> str:
    first = _paths(given)[0] if not isinstance(given, pd.DataFrame | Mapping | Reading) else Path()
    return RECORDS if first.suffix.lower() in (".yaml", ".yml") and not is_printed(first) else TABLES


def _paths(given: Any) -> list[Path]:
    if not isinstance(given, str | Path | Sequence):
        raise ConfigError(f"{type(given).__name__}: give paths, frames or a reading; a release has verbs, release.attack()")
    paths = [Path(given)] if isinstance(given, str | Path) else [Path(path) for path in given]
    if not paths:
        raise ConfigError("no tables are given")
    return paths


def audit_of(given: Given, settings: argparse.Namespace, talk: Talk = lambda *lines: None, ask: bool = False) -> Audit:
    """The audit, without a search for secondary suppressions; what was understood is said before the work begins."""
    if kind_of(given) == RECORDS:
        first, *more = _paths(given)
        if more:
            raise ConfigError(f"{more[0]}: a release file is given alone")
        return _records_audit(first, limits_of(settings), settings.fail_on, settings.dialect)
    understood, source = _printed_source(given, settings, ask)
    talk(*source.understood)
    if settings.write:
        moved = _moved(understood.form, source.home, settings.write.parent)
        write_whole(settings.write, written(replace(understood, form=moved)))
        talk(f"{settings.write}: what was understood; correct it and give it to disclose")
    source = replace(source, contributions=settings.contributions, sensitive=tuple(settings.sensitive))
    linked, without, fail_on = understood.linked, list(understood.form.without), read_fail_on(settings.fail_on)
    most, progress = max(FEW_CONTRADICTORY, len(linked.sums.rows) // LARGEST_SHARE), CellProgress(settings.json)
    while True:
        try:
            exposed = find_intervals(linked, Work(seconds=settings.seconds), progress)
            break
        except ContradictionError as error:  # what cannot all be right is left out, and the rest is answered
            if len(without) + len(error.rows) > most or error.earlier:
                raise
            without += error.rows
            linked = without_sums(linked, error.rows)
    if without:
        form, left = source.form.model_copy(update={"without": without}), (*source.left_out, contradictory(without))
        source = replace(source, form=form, left_out=left)
    audit = TablesAudit(
        exposed=exposed, source=source, fail_on=fail_on, dialect=settings.dialect, limit=exposed.ranges.limit,
        undecided=undecided_cells(exposed, fail_on.width),
    )  # fmt: skip
    return replace(audit, given_by=given_by(audit, Work(seconds=settings.seconds)))


def given_by(audit: TablesAudit, work: Work) -> dict[str, tuple[str, ...]]:
    """The cells that are unsafe only because of earlier releases: by the file that is enough for it, or by all together."""
    linked = audit.exposed.linked
    files = dict.fromkeys(own.table.source for own in linked.placed if own.table.earlier)

    def unsafe(without: Collection[str]) -> set[str]:
        seen = replace(audit, exposed=find_intervals(without_files(linked, without), work)) if without else audit
        return {row["cell"] for row in seen.unsafe_cells}

    new = unsafe(()) - unsafe(files) if files else set()
    alone = {file: new & unsafe(files.keys() - {file}) for file in files} if new else {}
    alone[" and ".join(files)] = alone.get(" and ".join(files), set()) | (new - set().union(*alone.values()))
    return {file: tuple(sorted(cells)) for file, cells in alone.items() if cells}


# printed tables


def printed_form(paths: Sequence[Path], settings: argparse.Namespace) -> tuple[PrintedForm, Path]:
    """The release of the command line, or of a release file changed by it; paths are relative to the second value."""
    changes = {option.key: option.in_form(getattr(settings, option.value)) for option in FORMED}
    changes |= {"amounts": settings.contributions is not None}
    changes |= {"previous": [os.path.abspath(path) for path in settings.previous]}
    team = {*interpretation.TeamForm.model_fields}  # what a risk file says of the tables
    risk = interpretation.read_risk(settings.risk).model_dump(include=team, exclude_defaults=True)
    changes = risk | {name: change for name, change in changes.items() if change}
    if len(paths) == 1 and is_printed(paths[0]):
        return interpretation.read_printed(paths[0], changes), paths[0].parent
    return validate(PrintedForm, {"printed": [str(path) for path in paths], **changes}, "the command line"), Path()


def _printed_source(given: Any, settings: argparse.Namespace, ask: bool = False) -> tuple[Interpretation, Source]:
    answers: dict[str, str] = {}

    def asked(question: str) -> str:
        answers[question] = input(question)
        return answers[question]

    if isinstance(given, pd.DataFrame | Mapping | Reading):
        texts, files = _texts(given), _files(given) if isinstance(given, Reading) else []
        with TemporaryDirectory() as folder:
            for name, text in texts.items():
                (Path(folder) / name).write_text(text, encoding="utf-8")
            form, _ = printed_form([*map(Path, texts), *files], settings)
            understood = interpret(form, Path(folder))
        older = _inside([Path(name) for name in form.previous])
        return understood, tables_source(understood, texts=texts, inputs=(*files, *older))
    paths = _paths(given)
    form, home = printed_form(paths, settings)
    files = [*input_files(form, home, settings.contributions), *(path for path in paths if is_printed(path))]
    if settings.write and settings.write.exists() and any(settings.write.samefile(file) for file in files):
        raise ConfigError(f"--write {settings.write}: this file is read, and would be lost; give another name")
    understood = interpret(form, home, asked if ask and sys.stdin.isatty() and sys.stdout.isatty() else None)
    return understood, tables_source(understood, home=home, inputs=tuple(files), answers=answers)


def _texts(given: pd.DataFrame | Frames | Reading) -> dict[str, str]:
    """Frames as tables, and a reading as the file that it is written to, by the names of the files."""
    if isinstance(given, Reading):
        return {"reading.yaml": write_reading(given)}
    frames = {"table": given} if isinstance(given, pd.DataFrame) else given
    return {f"{file_name(str(name))}.csv": _csv(frame) for name, frame in frames.items()}


def _files(reading: Reading) -> list[Path]:
    """Where the files of a reading lie: they are read again, and must be the same."""
    for source in (source for source in reading.sources if source.path is None):
        raise ConfigError(f"{source.name}: this reading does not say where the file lies; make it with gv.read")
    return [source.path.absolute() for source in reading.sources if source.path]


def _csv(frame: pd.DataFrame) -> str:
    """A frame as a table of texts: labels in its index come first, whole numbers have no decimals, nothing is blank."""
    if not isinstance(frame, pd.DataFrame):
        raise ConfigError(f"{type(frame).__name__}: give a frame, or frames by name")
    named = frame if isinstance(frame.index, pd.RangeIndex) else frame.reset_index()
    return str(named.astype(object).map(plain_text).to_csv(index=False))


def input_files(form: PrintedForm, home: Path, contributions: Path | None) -> list[Path]:
    """Every file that is read because it is named; of a folder, its files."""
    files = _inside([home / name for name in (*form.printed, *form.hierarchies.values(), *form.previous)])
    files += [contributions] if contributions else []
    for file in (file for file in files if not file.exists()):
        raise DataError(f"{file}: there is no such file or folder")
    return files


def _inside(paths: Sequence[Path]) -> list[Path]:
    files = [sorted(file for file in path.iterdir() if file.is_file()) if path.is_dir() else [path] for path in paths]
    return [file for part in files for file in part if not file.name.startswith(".")]


def _moved(form: PrintedForm, home: Path, folder: Path) -> PrintedForm:
    printed, previous = ([os.path.relpath(home / name, folder) for name in names] for names in (form.printed, form.previous))
    hierarchies = {column: os.path.relpath(home / name, folder) for column, name in form.hierarchies.items()}
    return form.model_copy(update={"printed": printed, "hierarchies": hierarchies, "previous": previous})


# records and their counts


def _records_audit(path: Path, changes: Mapping[str, Any], fail_on: str | None, dialect: str) -> RecordsAudit:
    described = describe(path, changes)
    source, attack = record_source(path, changes, described), attack_of(described)
    return attack_records(described, attack, source=source, fail_on=read_fail_on(fail_on), dialect=dialect)


def record_source(path: Path, changes: Mapping[str, Any], described: ReleaseDescription) -> Source:
    form = described.form
    tables = [f"table {name}: {' x '.join(table.columns)}" for name, table in form.tables.items()]
    files = (path, source_of(path, form), *prior_files(path))
    return Source(title=form.title or form.name, understood=tuple(tables), inputs=files, home=path.parent, release=path,
                  changes=dict(changes))  # fmt: skip


def attack_of(described: ReleaseDescription) -> Attack:
    sys.setrecursionlimit(max(sys.getrecursionlimit(), CALLS * DEFAULT.nodes))  # each node of a search lies in another
    return Attack(DEFAULT.proving("the audit of a release"), DATASETS, described.form.min_k, described.form.seed)


def limits_of(settings: argparse.Namespace) -> dict[str, int]:
    """The limits that the command line sets in place of those of the release file."""
    return {name: getattr(settings, name) for name in ("max_rows", "max_bytes") if getattr(settings, name) is not None}


COMMAND, PROTECT, READING, STORED_TABLES = "disclose", "protect", "reading.yaml", "tables"
OTHERS = {"whatif.csv"}  # what another command may have written to the folder
SHOWN = (".hst", ".csv", ".html", ".parquet")  # files that say something: each must be one that the audit writes
AGAIN = "make the results again"
SEARCH, PROTECTION = TypeAdapter(SecondarySuppression), TypeAdapter(Protection)


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
    given_by: dict[str, list[str]] = Field(default_factory=dict)
    suppression: dict[str, Any] | None = None
    protection: dict[str, Any] | None = None


def write_files(audit: Audit, part: Path, folder: Path) -> None:
    """All files, into a folder that will be `folder`. The same audit gives the same bytes, so that a check can compare."""
    write_shown(audit, part)
    source, form = audit.source, audit.source.form
    for name, text in source.texts.items():
        (part / STORED_TABLES).mkdir(exist_ok=True)
        (part / STORED_TABLES / name).write_text(text, encoding="utf-8")
    inputs = {os.path.relpath(file, folder): sha256_of(file) for file in source.inputs}
    inputs |= {f"{STORED_TABLES}/{name}": sha256_of(part / STORED_TABLES / name) for name in source.texts}
    if form is not None:
        printed = [f"{STORED_TABLES}/{name}" if name in source.texts else os.path.relpath(source.home / name, folder)
                   for name in form.printed]  # fmt: skip
        form = _moved(form, source.home, folder).model_copy(update={"printed": printed})
    chosen, made = audit.suppression, audit.protected_by
    reading = ReadingForm(
        inputs=inputs, form=form, answers=dict(source.answers), sensitive=list(source.sensitive),
        contributions=os.path.relpath(source.contributions, folder) if source.contributions else None,
        release=os.path.relpath(source.release, folder) if source.release else None, changes=dict(source.changes),
        fail_on=str(audit.fail_on), dialect=audit.dialect, limit=audit.limit, undecided=list(audit.undecided),
        not_attained=audit.not_attained if isinstance(audit, TablesAudit) else [],
        given_by={file: list(own) for file, own in audit.given_by.items()},
        suppression=SEARCH.dump_python(chosen, mode="json", exclude_defaults=True) if chosen else None,
        protection=PROTECTION.dump_python(made, mode="json", exclude={"points", "of"}) if made else None,
    )  # fmt: skip
    content = reading.model_dump(exclude_defaults=True, mode="json")
    (part / READING).write_text(yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=120), encoding="utf-8")


def write_shown(audit: Audit, folder: Path) -> None:
    """The files that show something: cells, cells to suppress, the answer, the report, claims, and the proofs."""
    more = {"suppress.csv": audit.to_suppress} if audit.suppression or audit.protected_by else {}
    texts = {"answer.json": f"{audit.as_json()}\n", "report.html": audit.report()}
    for name, frame in {"cells.csv": audit.cells, **more}.items():
        texts[name] = neutral_frame(frame).to_csv(index=False, lineterminator="\n")
    for name, text in texts.items():
        (folder / name).write_bytes(text.encode("utf-8", "backslashreplace"))
    audit.write_proofs(folder)


def _protection(reading: ReadingForm, certificate: Mapping[str, Any], path: Path) -> Protection | None:
    """How tables were protected, with the points of the certificate, which were recounted."""
    shown = [one for one in certificate["statements"] if one["side"] == ATTAINS]
    points = {"of": {one["cell"]: one["points"] for one in shown}, "points": certificate.get("points", ())}
    about = None if reading.protection is None else {**reading.protection, **points}
    result = _as_written(PROTECTION, about, "protect", path)
    if result and dict(result.ends) != {one["cell"]: (one["lower"], one["upper"]) for one in shown}:
        raise DataError(f"{path}: the intervals of protected cells are not those that the certificate shows; {AGAIN}")
    return result


def _as_written(form: TypeAdapter[T], value: Any, who: str, path: Path) -> T | None:
    try:
        return None if value is None else form.validate_python(value)
    except ValidationError as error:
        raise DataError(f"{path}: not what {who} writes ({error.errors()[0]['msg']}); {AGAIN}") from None


# The check of a folder of results.


def holds_results(folder: Path) -> bool:
    return any((folder / name).is_file() for name in (READING, PROOFS))


def check_folder(folder: Path, named: Sequence[Path], settings: argparse.Namespace) -> Iterator[str]:
    """Check all that a folder shows against what was published, without a solver; then search whether more is known."""
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
            raise DataError(f"{folder}: has no {READING}, so its tables are not known; name them, and give the options "
                            "that say how they are read, such as --symbol")  # fmt: skip
        form, home = printed_form(named, settings)
        return ReadingForm(inputs={}, form=form), home
    for option in (option for option in FORMED if getattr(settings, option.value)):
        raise ConfigError(f"{option.name}: with --check, {path} says how the tables were read; leave this out")
    reading = validate(ReadingForm, read_yaml(path), str(path))
    if (reading.form is None) == (reading.release is None):
        raise DataError(f"{path}: names neither printed tables nor a release file; {AGAIN}")
    listed = {folder / name: recorded for name, recorded in reading.inputs.items()}
    for file, recorded in listed.items():
        if not file.exists():
            raise DataError(f"{file}: missing, so {folder} cannot be checked against its tables; put the file back")
        if sha256_of(file) != recorded:
            raise DataError(f"{file}: not the file that {path} names (another SHA-256); {AGAIN}")
    contributions = folder / reading.contributions if reading.contributions else None
    used = input_files(reading.form, folder, contributions) if reading.form else [folder / str(reading.release)]
    known = [*listed, *(folder / name for name in (reading.form.printed if reading.form else ()))]
    for file in [*used, *named]:
        if not file.exists() or not any(file.samefile(other) for other in known):
            raise DataError(f"{folder}: its results are not about {file}")
    return reading, folder


def _tables_again(folder: Path, home: Path, reading: ReadingForm) -> Audit:
    assert reading.form is not None
    understood = interpret(reading.form, home, reading.answers.__getitem__ if reading.answers else None)
    sums, certificate = understood.linked.sums, one_certificate(folder / PROOFS)
    proved = check_system(sums, certificate, str(folder / PROOFS))
    if proved.empty:
        raise DataError(f"{folder / PROOFS}: these proofs show a contradiction; there are no intervals to show")
    lo, hi = np.array(proved.lo, dtype=np.int64), np.array(proved.hi, dtype=np.int64)
    chosen = _as_written(SEARCH, reading.suppression, "a search", folder / READING)
    names = [*reading.undecided, *(chosen.cells if chosen else ())]
    if not set(reading.not_attained) <= set(range(len(lo))) or not set(names) <= set(sums.cells):
        raise DataError(f"{folder / READING}: names a cell that the tables do not have; {AGAIN}")
    least = lo.copy()
    least[reading.not_attained] -= 1  # so that it is not attained
    contributions = home / reading.contributions if reading.contributions else None
    source = tables_source(understood, home=home, contributions=contributions, sensitive=tuple(reading.sensitive))
    bounds = tuple(one for one in certificate["statements"] if one["side"] != ATTAINS)
    exposed = FeasibilityIntervals(understood.linked, Ranges(lo, hi, least, hi, bounds, False, reading.limit))
    return TablesAudit(
        exposed=exposed, source=source, fail_on=read_fail_on(reading.fail_on),
        dialect=reading.dialect, limit=reading.limit, undecided=tuple(reading.undecided), suppression=chosen,
        given_by=reading.given_by, protected_by=_protection(reading, certificate, folder / READING),
    )  # fmt: skip


def _records_again(folder: Path, reading: ReadingForm) -> Audit:
    """The attack, made again, and the stored proofs, checked without a solver against the release as it is read now."""
    audit = _records_audit(folder / str(reading.release), reading.changes, reading.fail_on, reading.dialect)
    releases = audit.described.releases
    claims, cells = (list(read_proofs(folder / name)) for name in (CLAIM_PROOFS, CELL_PROOFS))
    if not len(claims) == len(cells) == len(releases):
        raise DataError(f"{folder}: not one certificate for each area of the release; {AGAIN}")
    record_audit.check_area_proofs(releases, claims, cells)
    if search := _as_written(SEARCH, reading.suppression, "a search", folder / READING):
        known = {(release.block, query.id) for release in releases for query in release.queries}
        if not {(step.area, step.cell) for step in search.steps} <= known or search.k != audit.described.form.search.k:
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
                raise DataError(f"{folder / name}: differs from what is proved; {AGAIN}")
    others = {file.name for file in folder.iterdir() if file.suffix in SHOWN} - {str(name) for name in names} - OTHERS
    for other in sorted(others):
        raise DataError(f"{folder / other}: no proof supports this file; remove it")


def _content(path: Path) -> object:
    """What a file holds: the bytes of packed files depend on who packed them."""
    with refusing((*UNREADABLE, EOFError, zlib.error), f"{path}: broken", AGAIN):
        if path.suffix == ".parquet":
            return read_frame(path).to_csv()
        content = regular_file(path).read_bytes()
        return gzip.decompress(content) if path.suffix == ".gz" else content


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
        raise DataError(f"{path}: {row[0]}: differs from what is proved")
