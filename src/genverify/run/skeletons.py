"""
The commands `new-study` and `new-reader`: files of a study of one function, or of a reader of one format, which are found,
run, checked and tested as they are.
"""

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
from genverify.run.config import FOLDERS, NAME, config_model
from genverify.run.layout import (
    LIBRARY,
    MODULES,
    PARTS,
    READER_CODE,
    READER_TESTS,
    SCHEMA,
    SCRIPTS,
    SNAKEFILE,
    SOURCE,
    STAGES,
    STUDIES,
    STUDY_TESTS,
)
from genverify.run.registry import ENTRY, studies

CODE = '''"""The study NAME: replace this sentence by what it is about."""

from collections.abc import Iterator

from pydantic import Field

from genverify.model.settings import Section
from genverify.run.registry import Study

STUDY = Study(settings={"NAME": ".ENTRY:Settings"}, folders=("NAME",))


class Settings(Section):
    """What config/NAME.yaml holds."""

    largest: int = Field(ge=2)


def table(settings: Settings) -> Iterator[dict[str, int]]:
    """
    The rows of the table: here, the pairs among some records. Replace this by what the study computes.

    >>> list(table(Settings(largest=3)))
    [{'records': 2, 'pairs': 1}, {'records': 3, 'pairs': 3}]
    """
    for records in range(2, settings.largest + 1):
        yield {"records": records, "pairs": records * (records - 1) // 2}
'''
SCRIPT = '''"""Write the table of the study NAME."""

import pandas as pd

from genverify.run.jobs import Job, log, run
from PACKAGE.NAME.ENTRY import Settings, table


def main(job: Job) -> None:
    found = pd.DataFrame(table(job.settings("NAME", Settings)))
    found.to_csv(job.output.table, index=False)
    log.info("%d rows", len(found))


if __name__ == "__main__":
    run(main, snakemake)  # type: ignore[name-defined]  # noqa: F821  (put there by Snakemake)
'''
STAGE = '''"""
Reads: the section NAME of config/NAME.yaml.
Writes: results/NAME/: the table of the study.
"""

WHOLE.append("NAME")


rule write_NAME:
    """Write the table of the study NAME: replace this sentence by what it shows."""
    output:
        table="results/NAME/table.csv",
        record="results/NAME/table.record.json",
    log:
        "logs/write_NAME.log",
    benchmark:
        "benchmarks/write_NAME.tsv"
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("write_NAME"),
        NAME=setting("NAME"),
    script:
        "../../scripts/NAME/write_NAME.py"


rule NAME:
    """Everything that the study NAME makes."""
    input:
        "results/NAME/table.csv",
'''
SETTINGS = """# yaml-language-server: $schema=schema.json
# The study NAME: `snakemake NAME`.
NAME:
  # the most records among which pairs are counted
  largest: 10
"""
TEST = '''"""The study NAME: its table against pairs that are listed, and its script."""

from itertools import combinations
from pathlib import Path

import pandas as pd

from script_jobs import job, script
from PACKAGE.NAME.ENTRY import Settings, table


def test_pairs_are_those_that_can_be_listed() -> None:
    for row in table(Settings(largest=6)):
        assert row["pairs"] == len(list(combinations(range(row["records"]), 2)))


def test_the_script_writes_the_table(tmp_path: Path) -> None:
    script("write_NAME")(job({}, {"table": tmp_path / "table.csv"}, NAME=Settings(largest=4)))
    assert pd.read_csv(tmp_path / "table.csv")["pairs"].tolist() == [1, 3, 6]
'''
READER = '''"""Files that end in .NAME: replace this sentence by what the format is."""

from pathlib import Path

from genverify.model.errors import DataError
from genverify.model.files import FileLimits
from genverify.reading.source import Sheet, Source, decode, make_source


def read_NAME(path: Path, data: bytes, limits: FileLimits) -> Source:
    """The cells of a file: here, names of columns, then a line a cell, all separated by |. Replace this by the format."""
    rows = [[part.strip() for part in line.split("|")] for line in decode(data)[0].splitlines()]
    limits.check(path, len(rows), len(data))
    for number, row in enumerate(rows, 1):
        if len(row) != len(rows[0]):
            raise DataError(f"line {number}: holds {len(row)} parts, but the first line names {len(rows[0])}")
    return make_source(path, data, "a file .NAME", [Sheet(path.stem, rows)])


SOURCES = {".NAME": read_NAME}
'''
READER_TEST = '''"""Files that end in .NAME: read as what they say, or refused."""

from pathlib import Path

import pytest

from genverify.model.errors import DataError
from genverify.reading.read_command import read_files
from genverify.reading.reading import Corrections

CELLS = "sex|age|count\\nf|young|3\\nf|old|4\\nf|Total|7\\nm|young|*\\nm|old|5\\nm|Total|9\\n"


def test_a_table_is_read(tmp_path: Path) -> None:
    (tmp_path / "people.NAME").write_text(CELLS)
    reading = read_files([tmp_path / "people.NAME"], Corrections())
    (table,) = reading.tables
    assert reading.conserved
    assert table.entries["m", "young"].symbol == "*"
    assert {axis.name: axis.tree for axis in table.axes} == {"sex": (), "age": (("Total", ("young", "old")),)}


def test_a_line_that_is_cut_short_is_named(tmp_path: Path) -> None:
    (tmp_path / "people.NAME").write_text(CELLS.replace("f|old|4", "f|old"))
    with pytest.raises(DataError, match="people.NAME: line 3: holds 2 parts, but the first line names 3"):
        read_files([tmp_path / "people.NAME"], Corrections())
'''


def add_parser(commands: Any) -> None:
    """Add `new-study` and `new-reader` to the commands."""
    parser = commands.add_parser("new-study", help="write the files of a new study, which runs as it is")
    parser.add_argument("name", help="letters, digits and _, e.g. pairs: of its folders, its settings and its target")
    parser.set_defaults(run=_new_study)
    reader = commands.add_parser("new-reader", help="write a reader of one more kind of files of tables, and its test")
    reader.add_argument("name", help="how such files end, without the dot, e.g. dat; of the module, too")
    reader.set_defaults(run=_new_reader)


def _new_study(options: argparse.Namespace) -> None:
    for path in write_study(options.name, Path()):
        print(path)
    print(f"next: snakemake {options.name}; then put your function into {study_files(options.name)[0]}")


def _new_reader(options: argparse.Namespace) -> None:
    for path in write_reader(options.name, Path()):
        print(path)
    print(
        f"next: put your format into {reader_files(options.name)[0]}, then give disclose a file that ends in .{options.name}"
    )


def study_files(name: str) -> list[Path]:
    """The files of a study: code and registration, script, stage, settings, test."""
    return [
        STUDIES / name / f"{ENTRY}.py",
        SCRIPTS / name / f"write_{name}.py",
        STAGES / name / f"{name}.smk",
        PARTS / f"{name}.yaml",
        STUDY_TESTS / name / f"test_{name}.py",
    ]


def write_study(name: str, home: Path) -> list[Path]:
    """Write the files of a study; and, since they follow from the code, the schema of settings and the page of modules."""
    _check_name(name, home, "study", study_files(name))
    folders = {*FOLDERS, *(folder for study in studies() for folder in study.folders)}
    if name in folders | config_model().model_fields.keys() | {study.name for study in studies()}:
        raise _taken(name, "a study, a section of settings or a folder of results has it")
    _write(study_files(name), (CODE, SCRIPT, STAGE, SETTINGS, TEST), name, home)
    for words, path in ((["config-schema"], SCHEMA), (["modules"], MODULES)):
        (home / path).write_text(_said(words, home))  # by a new process: this one has read the studies before
    return study_files(name)


def reader_files(name: str) -> list[Path]:
    """The files of a reader: code with its registration, and test."""
    return [READER_CODE / f"{name}.py", READER_TESTS / f"test_{name}.py"]


def write_reader(name: str, home: Path) -> list[Path]:
    """Write the files of a reader of files that end in its name; and the page of modules, which follows from the code."""
    _check_name(name, home, "reader", reader_files(name))
    if f".{name}" in {*sources(), *TEXTS, *WORKBOOKS, ".px", ".json", ".hrc", ".yaml"}:
        raise _taken(name, f"files that end in .{name} are read")
    if same := [path for path in (home / LIBRARY).rglob(f"{name}*") if path.stem == name]:
        raise _taken(name, f"{same[0].relative_to(home)} is there")
    _write(reader_files(name), (READER, READER_TEST), name, home)
    (home / MODULES).write_text(_said(["modules"], home))
    return reader_files(name)


def _check_name(name: str, home: Path, what: str, files: Sequence[Path]) -> None:
    """A name that can stand wherever it will stand, for files that are not there yet; in the folder of the repository."""
    if not (home / SNAKEFILE).exists():
        raise ConfigError(f"no {SNAKEFILE} is here: a {what} is written into the folder of the repository")
    if not NAME.fullmatch(name) or not name.isidentifier() or name != name.lower() or keyword.iskeyword(name):
        raise ConfigError(f"{name!r} cannot name a {what}: use small letters, digits and _, a letter first")
    if there := [path for path in files if (home / path).exists()]:
        raise _taken(name, f"{there[0]} is there")


def _taken(name: str, where: str) -> ConfigError:
    return ConfigError(f"{name!r} is taken ({where}): give another name")


def _write(files: Sequence[Path], texts: Sequence[str], name: str, home: Path) -> None:
    package = ".".join(STUDIES.relative_to(SOURCE).parts)
    for path, text in zip(files, texts, strict=True):
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text(text.replace("PACKAGE", package).replace("ENTRY", ENTRY).replace("NAME", name))


def _said(words: list[str], home: Path) -> str:
    environment = {**os.environ, "PYTHONPATH": str((home / SOURCE).resolve())}
    done = subprocess.run(
        [sys.executable, "-m", "genverify", *words], cwd=home, env=environment, capture_output=True, text=True
    )
    if done.returncode:
        raise ConfigError(f"genverify {' '.join(words)} failed with the new files: {done.stderr.strip()}")
    return done.stdout
