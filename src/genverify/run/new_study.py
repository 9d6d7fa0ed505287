"""The command `new-study`: the files of a study of one function, which is found, run, checked and tested as they are."""

import argparse
import keyword
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from genverify.model.errors import ConfigError
from genverify.run.config import FOLDERS, NAME, config_model
from genverify.run.layout import PARTS, ROOMS, SCHEMA, SCRIPTS, SNAKEFILE, SOURCE, STAGES, STUDIES, STUDY_TESTS
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

from PACKAGE.NAME.ENTRY import Settings, table
from genverify.run.jobs import Job, log, run


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

from PACKAGE.NAME.ENTRY import Settings, table
from script_jobs import job, script


def test_pairs_are_those_that_can_be_listed() -> None:
    for row in table(Settings(largest=6)):
        assert row["pairs"] == len(list(combinations(range(row["records"]), 2)))


def test_the_script_writes_the_table(tmp_path: Path) -> None:
    script("write_NAME")(job({}, {"table": tmp_path / "table.csv"}, NAME=Settings(largest=4)))
    assert pd.read_csv(tmp_path / "table.csv")["pairs"].tolist() == [1, 3, 6]
'''


def add_parser(commands: Any) -> None:
    """Add `new-study` to the commands."""
    parser = commands.add_parser("new-study", help="write the files of a new study, which runs as it is")
    parser.add_argument("name", help="letters, digits and _, e.g. pairs: of its folders, its settings and its target")
    parser.set_defaults(run=_new_study)


def _new_study(options: argparse.Namespace) -> None:
    for path in write_study(options.name, Path()):
        print(path)
    print(f"next: snakemake {options.name}; then put your function into {study_files(options.name)[0]}")


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
    _check_name(name, home)
    package = ".".join(STUDIES.relative_to(SOURCE).parts)
    for path, text in zip(study_files(name), (CODE, SCRIPT, STAGE, SETTINGS, TEST), strict=True):
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text(text.replace("PACKAGE", package).replace("ENTRY", ENTRY).replace("NAME", name))
    for words, path in ((["config-schema"], SCHEMA), (["rooms"], ROOMS)):
        (home / path).write_text(_said(words, home))  # by a new process: this one has read the studies before
    return study_files(name)


def _check_name(name: str, home: Path) -> None:
    """A name that can stand everywhere where a study has one, and that nothing has yet; in the folder of the repository."""
    if not (home / SNAKEFILE).exists():
        raise ConfigError(f"no {SNAKEFILE} is here: a study is written into the folder of the repository")
    taken = {*FOLDERS, *config_model().model_fields, *(folder for study in studies() for folder in study.folders)}
    taken |= {study.name for study in studies()}
    if not NAME.fullmatch(name) or not name.isidentifier() or name != name.lower() or keyword.iskeyword(name):
        raise ConfigError(f"{name!r} cannot name a study: use small letters, digits and _, a letter first")
    there = [path for path in study_files(name) if (home / path).exists()]
    if name in taken or there:
        where = f"{there[0]} is there" if there else "a study, a section of settings or a folder of results has it"
        raise ConfigError(f"{name!r} is taken ({where}): give another name")


def _said(words: list[str], home: Path) -> str:
    environment = {**os.environ, "PYTHONPATH": str((home / SOURCE).resolve())}
    done = subprocess.run(
        [sys.executable, "-m", "genverify", *words], cwd=home, env=environment, capture_output=True, text=True
    )
    if done.returncode:
        raise ConfigError(f"genverify {' '.join(words)} failed with the new study: {done.stderr.strip()}")
    return done.stdout
