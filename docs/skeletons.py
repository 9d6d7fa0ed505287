"""The commands `new-study` and `new-reader`: files of a study or a reader, which are found, run and tested as they are."""

import argparse
import keyword
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from genverify.model.errors import ConfigError
from genverify.reading.source import sources
from genverify.run import layout
from genverify.run.config import FOLDERS, NAME, config_model
from genverify.run.registry import ENTRY, studies

# the files that are written, with the templates of their texts, both with NAME for the name that is given
FOLDER = Path(__file__).with_name("skeleton")
STUDY = {  # code and registration, script, stage, settings, test
    layout.STUDIES / "NAME" / f"{ENTRY}.py": "study.py",
    layout.SCRIPTS / "NAME" / "write_NAME.py": "script.py",
    layout.STAGES / "NAME" / "NAME.smk": "stage.smk",
    layout.PARTS / "NAME.yaml": "settings.yaml",
    layout.STUDY_TESTS / "NAME" / "test_NAME.py": "test_study.py",
}
READER = {layout.READER_CODE / "NAME.py": "reader.py", layout.READER_TESTS / "test_NAME.py": "test_reader.py"}


def new_study(options: argparse.Namespace) -> None:
    files = write_study(name := options.name, Path())
    print(*files, f"next: snakemake {name}; then put your function into {files[0]}", sep="\n")


def new_reader(options: argparse.Namespace) -> None:
    files = write_reader(options.name, Path())
    print(*files, f"next: put your format into {files[0]}, then give disclose a file that ends in .{options.name}", sep="\n")


def files_of(templates: Mapping[Path, str], name: str) -> list[Path]:
    return [Path(str(path).replace("NAME", name)) for path in templates]


def write_study(name: str, home: Path) -> list[Path]:
    """Write the files of a study; and, since they follow from the code, the schema of settings and the page of modules."""
    _check_name(name, home, "study", STUDY)
    folders = {*FOLDERS, *(folder for study in studies() for folder in study.folders)}
    if name in folders | config_model().model_fields.keys() | {study.name for study in studies()}:
        raise _taken(name, "a study, a section of settings or a folder of results has it")
    return _write(STUDY, name, home, {"config-schema": layout.SCHEMA, "modules": layout.MODULES})


def write_reader(name: str, home: Path) -> list[Path]:
    """Write the files of a reader of files that end in its name; and the page of modules, which follows from the code."""
    _check_name(name, home, "reader", READER)
    if f".{name}" in {*sources(), ".hrc", ".yaml"}:
        raise _taken(name, f"files that end in .{name} are read")
    if same := [path for path in (home / layout.LIBRARY).rglob(f"{name}*") if path.stem == name]:
        raise _taken(name, f"{same[0].relative_to(home)} is there")
    return _write(READER, name, home, {"modules": layout.MODULES})


def _check_name(name: str, home: Path, what: str, templates: Mapping[Path, str]) -> None:
    """A name that can stand wherever it will stand, for files that are not there yet; in the folder of the repository."""
    if not (home / layout.SNAKEFILE).exists():
        raise ConfigError(f"no {layout.SNAKEFILE} is here: a {what} is written into the folder of the repository")
    if not NAME.fullmatch(name) or not name.isidentifier() or name != name.lower() or keyword.iskeyword(name):
        raise ConfigError(f"{name!r} cannot name a {what}: use small letters, digits and _, a letter first")
    if there := [path for path in files_of(templates, name) if (home / path).exists()]:
        raise _taken(name, f"{there[0]} is there")


def _taken(name: str, where: str) -> ConfigError:
    return ConfigError(f"{name!r} is taken ({where}): give another name")


def _write(templates: Mapping[Path, str], name: str, home: Path, printed: Mapping[str, Path]) -> list[Path]:
    """The files, then those that commands print: by new processes, as this one has read the modules and studies before."""
    package = ".".join(layout.STUDIES.relative_to(layout.SOURCE).parts)
    files = files_of(templates, name)
    for path, template in zip(files, templates.values(), strict=True):
        text = (FOLDER / f"{template}.txt").read_text()
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text(text.replace("PACKAGE", package).replace("ENTRY", ENTRY).replace("NAME", name))
    environment = {**os.environ, "PYTHONPATH": str((home / layout.SOURCE).resolve())}
    for command, target in printed.items():
        program = [sys.executable, "-m", "genverify", command]
        done = subprocess.run(program, cwd=home, env=environment, capture_output=True, text=True)
        if done.returncode:
            raise ConfigError(f"genverify {command} failed with the new files: {done.stderr.strip()}")
        (home / target).write_text(done.stdout)
    return files
