"""From what a user has to an audit: files of tables, frames, a reading of them, or a release file of records or counts."""

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd

from genverify.disclosure.audit_value import Audit, Source, read_fail_on
from genverify.disclosure.interpretation import (
    Interpretation,
    PrintedForm,
    contradictory,
    corrections,
    interpret,
    is_printed,
    read_printed,
    summary,
    written,
)
from genverify.disclosure.intervals import ContradictionError, find_intervals
from genverify.disclosure.link import without_sums
from genverify.disclosure.options import RECORDS, TABLES, pairs, settle
from genverify.disclosure.record_attack import Attack
from genverify.disclosure.record_audit import attack_records
from genverify.disclosure.release_data import ReleaseDescription, describe
from genverify.disclosure.release_form import plain_text, prior_files, source_of
from genverify.disclosure.tables_audit import TablesAudit, undecided_cells
from genverify.model.errors import ConfigError, DataError
from genverify.model.files import file_name, write_whole
from genverify.model.settings import DATASETS, validate
from genverify.model.work import CellProgress
from genverify.reading.read_command import read_files
from genverify.reading.reading import Reading
from genverify.reading.reading_file import write_reading
from genverify.solve.linear.search import Work
from genverify.solve.program_settings import DEFAULT

PAIRS = {"symbol": "marks", "total": "totals", "hierarchy": "hierarchies", "inside": "inside"}
LISTS = {"rule": "rule", "fact": "facts", "label": "labels", "no_total": "no_totals", "total_from": "totals_from",
         "sheet": "sheets", "labels": "label_columns", "counts": "count_columns", "skip": "skip"}  # fmt: skip
SINGLE = {"decimal": "decimal", "same_people": "same_people", "period": "period", "tolerance": "tolerance",
          "allow_partial": "partial", "max_rows": "max_rows", "max_bytes": "max_bytes"}  # fmt: skip
FEW_CONTRADICTORY, LARGEST_SHARE = 200, 10  # sums that are left out: so many, or one of so many; a total is taken as one
# where nine of ten of its sums agree, and tables in which more contradict each other are not what they were read as
CALLS = 8  # of a search for every node above the one that it is at
Frames = Mapping[str, pd.DataFrame]
Given = str | Path | Sequence[str | Path] | pd.DataFrame | Frames | Reading
Talk = Callable[[str], None]


def disclose(tables: Given, **options: Any) -> Audit:
    """
    What tables give away: an audit with `cells`, `answer`, `report()`, `check()` and `write(folder)`.

    `tables` are paths of tables as they are printed, a release file, a frame (or several, by name), or a reading (gv.read).
    Options are those of the command, `symbol={"*": "suppressed"}` for --symbol; one that does not apply is an error.

    >>> table = pd.DataFrame({"area": ["A", "B", "Total"], "men": ["*", "5", "9"], "women": ["3", "*", "7"],
    ...                       "Total": ["7", "9", "16"]})
    >>> found = disclose(table, symbol={"*": "suppressed"}, search_seconds=0)
    >>> next(found.lines())
    '2 of your 2 suppressed cells are known exactly.'
    """
    settings = settle(options, kind_of(tables))
    return audit_of(tables, settings).suppress(settings.search_seconds)


def read(tables: str | Path | Sequence[str | Path], **options: Any) -> Reading:
    """What files hold, as `genverify read` says it; options are those of the command, `labels="C"` for --labels."""
    form, home = printed_form(_paths(tables), settle(options, TABLES))
    return read_files([home / name for name in form.printed], corrections(form, home))


def kind_of(given: Given) -> str:
    """What the options apply to."""
    first = _paths(given)[0] if not isinstance(given, pd.DataFrame | Mapping | Reading) else Path()
    return RECORDS if first.suffix.lower() in (".yaml", ".yml") and not is_printed(first) else TABLES


def _paths(given: Any) -> list[Path]:
    paths = [Path(given)] if isinstance(given, str | Path) else [Path(path) for path in given]
    if not paths:
        raise ConfigError("no tables are given")
    return paths


def audit_of(given: Given, settings: argparse.Namespace, talk: Talk = lambda line: None, ask: bool = False) -> Audit:
    """The audit, without a search for secondary suppressions; what was understood is said before the work begins."""
    if kind_of(given) == RECORDS:
        first, *more = _paths(given)
        if more:
            raise ConfigError(f"{more[0]}: a release file is given alone")
        described = describe(first, limits_of(settings))
        source = record_source(first, limits_of(settings), described)
        about: dict[str, Any] = {"source": source, "fail_on": read_fail_on(settings.fail_on), "dialect": settings.dialect}
        return attack_records(described, attack_of(described), **about)
    understood, source = _printed_source(given, settings, ask)
    for line in source.understood:
        talk(line)
    if settings.write:
        moved = _moved(understood.form, source.home, settings.write.parent)
        write_whole(settings.write, written(replace(understood, form=moved)))
        talk(f"{settings.write}: what was understood; correct it and give it to disclose")
    source = replace(source, contributions=settings.contributions, sensitive=tuple(settings.sensitive))
    linked, without, fail_on = understood.linked, list(understood.form.without), read_fail_on(settings.fail_on)
    most = max(FEW_CONTRADICTORY, len(linked.sums.rows) // LARGEST_SHARE)
    while True:
        try:
            exposed = find_intervals(linked, Work(seconds=settings.seconds), CellProgress(settings.json))
            break
        except ContradictionError as error:  # what cannot all be right is left out, and the rest is answered
            if len(without) + len(error.rows) > most:
                raise
            without += error.rows
            linked = without_sums(linked, error.rows)
    if without:
        form, left = source.form.model_copy(update={"without": without}), (*source.left_out, contradictory(without))
        source = replace(source, form=form, left_out=left)
    return TablesAudit(
        exposed=exposed, source=source, fail_on=fail_on, dialect=settings.dialect, limit=exposed.ranges.limit,
        undecided=undecided_cells(exposed, fail_on.width),
    )  # fmt: skip


# printed tables


def printed_form(paths: Sequence[Path], settings: argparse.Namespace) -> tuple[PrintedForm, Path]:
    """The release of the command line, or of a release file changed by it; paths are relative to the second value."""
    changes: dict[str, Any] = {name: pairs(getattr(settings, option), option) for option, name in PAIRS.items()}
    changes |= {name: list(getattr(settings, option)) for option, name in LISTS.items()}
    changes |= {name: getattr(settings, option) for option, name in SINGLE.items()}
    changes |= {"amounts": settings.contributions is not None}
    changes = {name: change for name, change in changes.items() if change}
    if len(paths) == 1 and is_printed(paths[0]):
        return read_printed(paths[0], changes), paths[0].parent
    return validate(PrintedForm, {"printed": [str(path) for path in paths], **changes}, "the command line"), Path()


def _printed_source(given: Any, settings: argparse.Namespace, ask: bool) -> tuple[Interpretation, Source]:
    """The tables as they were understood, and what they were read from."""
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
        return understood, described_source(understood, Source(form=form, texts=texts, inputs=tuple(files)))
    paths = _paths(given)
    form, home = printed_form(paths, settings)
    files = [*input_files(form, home, settings.contributions), *(path for path in paths if is_printed(path))]
    if settings.write and settings.write.exists() and any(settings.write.samefile(file) for file in files):
        raise ConfigError(f"--write {settings.write}: this file is read, and would be lost; give another name")
    understood = interpret(form, home, asked if ask and sys.stdin.isatty() and sys.stdout.isatty() else None)
    return understood, described_source(understood, Source(form=form, home=home, inputs=tuple(files), answers=answers))


def described_source(understood: Interpretation, source: Source) -> Source:
    """The source with what was understood of it, in words."""
    return replace(source, title=understood.form.title, understood=tuple(summary(understood)), left_out=understood.left_out)


def _texts(given: pd.DataFrame | Frames | Reading) -> dict[str, str]:
    """Frames as tables, and a reading as the file that it is written to, by the names of the files."""
    if isinstance(given, Reading):
        return {"reading.yaml": write_reading(given)}
    if isinstance(given, pd.DataFrame):
        return {"table.csv": _csv(given)}
    return {f"{file_name(str(name))}.csv": _csv(frame) for name, frame in given.items()}


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
    named = [home / name for name in (*form.printed, *form.hierarchies.values())]
    inside = [sorted(file for file in path.iterdir() if file.is_file()) if path.is_dir() else [path] for path in named]
    files = [file for part in inside for file in part if not file.name.startswith(".")]
    files += [contributions] if contributions else []
    for file in files:
        if not file.exists():
            raise DataError(f"{file}: there is no such file or folder")
    return files


def _moved(form: PrintedForm, home: Path, folder: Path) -> PrintedForm:
    """The form with its paths relative to another folder."""
    printed = [os.path.relpath(home / name, folder) for name in form.printed]
    hierarchies = {column: os.path.relpath(home / name, folder) for column, name in form.hierarchies.items()}
    return form.model_copy(update={"printed": printed, "hierarchies": hierarchies})


# records and their counts


def record_source(path: Path, changes: Mapping[str, Any], described: ReleaseDescription) -> Source:
    """What a release file says, and the files that it names."""
    form = described.form
    tables = [f"table {name}: {' x '.join(table.columns)}" for name, table in form.tables.items()]
    files = (path, source_of(path, form), *prior_files(path))
    return Source(title=form.title or form.name, understood=tuple(tables), inputs=files, home=path.parent, release=path,
                  changes=dict(changes))  # fmt: skip


def attack_of(described: ReleaseDescription) -> Attack:
    """The attack with the limits of the command line."""
    sys.setrecursionlimit(max(sys.getrecursionlimit(), CALLS * DEFAULT.nodes))  # each node of a search lies in another
    return Attack.of(described, DEFAULT, DATASETS)


def limits_of(settings: argparse.Namespace) -> dict[str, int]:
    """The limits that the command line sets in place of those of the release file."""
    return {name: getattr(settings, name) for name in ("max_rows", "max_bytes") if getattr(settings, name) is not None}
