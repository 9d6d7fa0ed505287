"""`genverify new-study` and `new-reader` in a copy of the repository: their files run and pass what all files must pass."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from genverify.model.errors import ConfigError
from genverify.run.cli.shell import REFUSED
from skeletons import READER, STUDY, files_of, write_reader, write_study
from study_runs import ROOT, copy_repository, environment, snakemake

NAME = "pairs"
ENDING = "dat"
TUTORIALS = ROOT / "docs" / "tutorials"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy with what its tests need, and the new study in it."""
    copy = copy_repository(tmp_path_factory.mktemp("new") / "study")
    (copy / "pyproject.toml").symlink_to(ROOT / "pyproject.toml")
    (copy / "tests" / "studies").mkdir(parents=True)
    for part in ("helpers", "conftest.py", "studies/conftest.py"):
        (copy / "tests" / part).symlink_to(ROOT / "tests" / part)
    said = called(copy, "-m", "genverify", "new-study", NAME)
    assert said.splitlines()[:-1] == [str(path) for path in files_of(STUDY, NAME)]
    said = called(copy, "-m", "genverify", "new-reader", ENDING)
    assert said.splitlines()[:-1] == [str(path) for path in files_of(READER, ENDING)]
    return copy


def called(home: Path, *words: str) -> str:
    done = subprocess.run([sys.executable, *words], cwd=home, env=environment(home), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def tool(name: str) -> str:
    return str(Path(sys.executable).with_name(name))


def test_a_study_is_five_files(home: Path) -> None:
    assert len(files_of(STUDY, NAME)) == 5
    assert all((home / path).is_file() for path in files_of(STUDY, NAME))
    assert f'"{NAME}"' in (home / "config" / "schema.json").read_text()
    assert f"studies/{NAME}" in (home / "docs" / "modules.md").read_text()


def test_everything_asks_for_it(home: Path) -> None:
    assert f"write_{NAME}" in snakemake(home, "-n", "everything")


def test_its_target_is_made_and_audited(home: Path) -> None:
    snakemake(home, "--cores", "1", NAME)
    table = (home / "results" / NAME / "table.csv").read_text().splitlines()
    assert table[:3] == ["records,pairs", "2,1", "3,3"]
    assert "1 result, " in called(home, "-m", "genverify", "audit", f"results/{NAME}/table.csv")


def test_its_settings_are_closed(home: Path) -> None:
    said = snakemake(home, "-n", NAME, "--config", f"{NAME}={{larges: 3}}", right=False)
    assert f"unknown setting {NAME}.larges: did you mean largest?" in said


def test_they_pass_what_every_file_must_pass(home: Path) -> None:
    code = [str(path) for path in (*files_of(STUDY, NAME), *files_of(READER, ENDING)) if path.suffix == ".py"]
    for words in (["ruff", "check", *code], ["ruff", "format", "--check", *code], ["snakefmt", "--check", "workflow"]):
        done = subprocess.run([tool(words[0]), *words[1:]], cwd=home, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    called(home, "-m", "pytest", "-n", "0", *code)


def test_their_types_and_conventions(home: Path) -> None:
    code = [str(path) for path in (*files_of(STUDY, NAME), *files_of(READER, ENDING)) if path.parts[0] in ("src", "scripts")]
    done = subprocess.run(
        [tool("mypy"), *filter(is_python, code)], cwd=home, env=environment(home), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout
    said = snakemake(home, "--lint")
    assert "Congratulations" in said


def is_python(name: str) -> bool:
    return name.endswith(".py")


def test_the_tests_of_conventions_accept_them(home: Path) -> None:
    """They look at the copy: at its packages and modules, its rules and scripts."""
    (home / "tests" / "workflow").mkdir(exist_ok=True)
    names = ("test_packages.py", "test_conventions.py")
    for name in names:
        shutil.copy(ROOT / "tests" / "workflow" / name, home / "tests" / "workflow" / name)
    chosen = f"{NAME} or {ENDING} or twice or everywhere or included or list"
    called(home, "-m", "pytest", "-n", "0", "-k", chosen, *(f"tests/workflow/{name}" for name in names))


def test_a_file_is_read_by_the_new_reader(home: Path) -> None:
    (home / f"people.{ENDING}").write_text("sex|age|count\nf|young|3\nf|old|4\nf|Total|7\n")
    said = called(home, "-m", "genverify", "disclose", f"people.{ENDING}")
    assert re.search(r"^people\.dat: a file \.dat, 1 table", said, re.MULTILINE)


@pytest.mark.parametrize("name", ["csv", "px", "rda", "yaml", "solve", "query", "a-b", "Dat"])
def test_a_reader_that_cannot_be_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=r"cannot name a reader|is taken"):
        write_reader(name, ROOT)


@pytest.mark.parametrize("name", ["Pairs", "two-way", "class", "gtv", "housing", "release", "microdata", "../x", "", "1st"])
def test_a_name_that_cannot_be_given_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=r"cannot name a study|is taken"):
        write_study(name, ROOT)


def test_nothing_is_overwritten(home: Path) -> None:
    words = [sys.executable, "-m", "genverify", "new-study", NAME]
    done = subprocess.run(words, cwd=home, env=environment(home), capture_output=True, text=True)
    assert done.returncode == REFUSED
    assert f"'{NAME}' is taken" in done.stderr


def test_nothing_is_written_outside_a_repository(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no Snakefile is here"):
        write_study(NAME, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("page", "command", "files"),
    [
        ("paper.md", f"genverify new-study {NAME}", files_of(STUDY, NAME)),
        ("reader.md", f"genverify new-reader {ENDING}", files_of(READER, ENDING)),
    ],
)
def test_the_tutorial_says_what_the_command_does(page: str, command: str, files: list[Path]) -> None:
    text = (TUTORIALS / page).read_text()
    assert command in text
    for path in files:
        assert f"`{path}`" in text
