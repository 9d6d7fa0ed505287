"""The commands `new-study` and `new-reader`: files of a study or a reader, which are found, run and tested as they are."""

import argparse
import keyword
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from genverify.model.errors import ConfigError
from genverify.reading.source import TEXTS, WORKBOOKS, sources
from genverify.run import layout
from genverify.run.config import FOLDERS, NAME, config_model
from genverify.run.registry import ENTRY, studies

# what is written, with PACKAGE, ENTRY and NAME in place of their values
FOLDER = Path(__file__).with_name("skeleton")
STUDY = ("study.py", "script.py", "stage.smk", "settings.yaml", "test_study.py")
READER = ("reader.py", "test_reader.py")


def add_parser(commands: Any) -> None:
    parser = commands.add_parser("new-study", help="write the files of a new study, which runs as it is")
    parser.add_argument("name", help="letters, digits and _, e.g. pairs: of its folders, its settings and its target")
    parser.set_defaults(run=_new_study)
    reader = commands.add_parser("new-reader", help="write a reader of one more kind of files of tables, and its test")
    reader.add_argument("name", help="how such files end, without the dot, e.g. dat; of the module, too")
    reader.set_defaults(run=_new_reader)


def _new_study(options: argparse.Namespace) -> None:
    print(*write_study(options.name, Path()), sep="\n")
    print(f"next: snakemake {options.name}; then put your function into {study_files(options.name)[0]}")


def _new_reader(options: argparse.Namespace) -> None:
    code, test = write_reader(options.name, Path())
    print(code, test, sep="\n")
    print(f"next: put your format into {code}, then give disclose a file that ends in .{options.name}")


def study_files(name: str) -> list[Path]:
    """The files of a study: code and registration, script, stage, settings, test."""
    return [
        layout.STUDIES / name / f"{ENTRY}.py",
        layout.SCRIPTS / name / f"write_{name}.py",
        layout.STAGES / name / f"{name}.smk",
        layout.PARTS / f"{name}.yaml",
        layout.STUDY_TESTS / name / f"test_{name}.py",
    ]


def write_study(name: str, home: Path) -> list[Path]:
    """Write the files of a study; and, since they follow from the code, the schema of settings and the page of modules."""
    _check_name(name, home, "study", study_files(name))
    folders = {*FOLDERS, *(folder for study in studies() for folder in study.folders)}
    if name in folders | config_model().model_fields.keys() | {study.name for study in studies()}:
        raise _taken(name, "a study, a section of settings or a folder of results has it")
    _write(study_files(name), STUDY, name, home)
    for words, path in ((["config-schema"], layout.SCHEMA), (["modules"], layout.MODULES)):
        (home / path).write_text(_said(words, home))  # by a new process: this one has read the studies before
    return study_files(name)


def reader_files(name: str) -> list[Path]:
    """The files of a reader: code with its registration, and test."""
    return [layout.READER_CODE / f"{name}.py", layout.READER_TESTS / f"test_{name}.py"]


def write_reader(name: str, home: Path) -> list[Path]:
    """Write the files of a reader of files that end in its name; and the page of modules, which follows from the code."""
    _check_name(name, home, "reader", reader_files(name))
    if f".{name}" in {*sources(), *TEXTS, *WORKBOOKS, ".px", ".json", ".hrc", ".yaml"}:
        raise _taken(name, f"files that end in .{name} are read")
    if same := [path for path in (home / layout.LIBRARY).rglob(f"{name}*") if path.stem == name]:
        raise _taken(name, f"{same[0].relative_to(home)} is there")
    _write(reader_files(name), READER, name, home)
    (home / layout.MODULES).write_text(_said(["modules"], home))
    return reader_files(name)


def _check_name(name: str, home: Path, what: str, files: Sequence[Path]) -> None:
    """A name that can stand wherever it will stand, for files that are not there yet; in the folder of the repository."""
    if not (home / layout.SNAKEFILE).exists():
        raise ConfigError(f"no {layout.SNAKEFILE} is here: a {what} is written into the folder of the repository")
    if not NAME.fullmatch(name) or not name.isidentifier() or name != name.lower() or keyword.iskeyword(name):
        raise ConfigError(f"{name!r} cannot name a {what}: use small letters, digits and _, a letter first")
    if there := [path for path in files if (home / path).exists()]:
        raise _taken(name, f"{there[0]} is there")


def _taken(name: str, where: str) -> ConfigError:
    return ConfigError(f"{name!r} is taken ({where}): give another name")


def _write(files: Sequence[Path], templates: Sequence[str], name: str, home: Path) -> None:
    package = ".".join(layout.STUDIES.relative_to(layout.SOURCE).parts)
    for path, template in zip(files, templates, strict=True):
        text = (FOLDER / f"{template}.txt").read_text()
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text(text.replace("PACKAGE", package).replace("ENTRY", ENTRY).replace("NAME", name))


def _said(words: list[str], home: Path) -> str:
    environment = {**os.environ, "PYTHONPATH": str((home / layout.SOURCE).resolve())}
    program = [sys.executable, "-m", "genverify", *words]
    done = subprocess.run(program, cwd=home, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise ConfigError(f"genverify {' '.join(words)} failed with the new files: {done.stderr.strip()}")
    return done.stdout
