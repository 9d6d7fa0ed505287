"""`genverify new-study` in a copy of the repository: its files run, are audited, and pass what every file here must pass."""

import subprocess
import sys
from pathlib import Path

import pytest

from genverify.model.errors import ConfigError
from genverify.run.new_study import study_files, write_study
from study_runs import ROOT, copy_repository, environment, snakemake

NAME = "pairs"
TUTORIAL = ROOT / "docs" / "tutorials" / "paper.md"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy with what its tests need, and the new study in it."""
    copy = copy_repository(tmp_path_factory.mktemp("new") / "study")
    (copy / "pyproject.toml").symlink_to(ROOT / "pyproject.toml")
    (copy / "docs").mkdir()
    (copy / "tests" / "papers").mkdir(parents=True)
    for part in ("helpers", "conftest.py", "papers/conftest.py"):
        (copy / "tests" / part).symlink_to(ROOT / "tests" / part)
    said = called(copy, "-m", "genverify", "new-study", NAME)
    assert said.splitlines()[:-1] == [str(path) for path in study_files(NAME)]
    return copy


def called(home: Path, *words: str) -> str:
    done = subprocess.run([sys.executable, *words], cwd=home, env=environment(home), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def tool(name: str) -> str:
    return str(Path(sys.executable).with_name(name))


def test_a_study_is_five_files(home: Path) -> None:
    assert len(study_files(NAME)) == 5
    assert all((home / path).is_file() for path in study_files(NAME))
    assert f'"{NAME}"' in (home / "config" / "schema.json").read_text()
    assert f"papers/{NAME}" in (home / "docs" / "rooms.md").read_text()


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


def test_it_passes_what_every_file_must_pass(home: Path) -> None:
    code = [str(path) for path in study_files(NAME) if path.suffix == ".py"]
    for words in (["ruff", "check", *code], ["ruff", "format", "--check", *code], ["snakefmt", "--check", "workflow"]):
        done = subprocess.run([tool(words[0]), *words[1:]], cwd=home, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    called(home, "-m", "pytest", "-n", "0", *code[:1], code[-1])


def test_its_types_and_conventions(home: Path) -> None:
    code = [str(path) for path in study_files(NAME) if path.suffix == ".py"][:2]
    done = subprocess.run([tool("mypy"), *code], cwd=home, env=environment(home), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    said = snakemake(home, "--lint")
    assert "Congratulations" in said


@pytest.mark.parametrize("name", ["Pairs", "two-way", "class", "gtv", "housing", "release", "microdata", "../x", "", "1st"])
def test_a_name_that_cannot_be_given_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=r"cannot name a study|is taken"):
        write_study(name, ROOT)


def test_nothing_is_overwritten(home: Path) -> None:
    words = [sys.executable, "-m", "genverify", "new-study", NAME]
    done = subprocess.run(words, cwd=home, env=environment(home), capture_output=True, text=True)
    assert done.returncode == 1
    assert f"'{NAME}' is taken" in done.stderr


def test_nothing_is_written_outside_a_repository(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no Snakefile is here"):
        write_study(NAME, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_tutorial_says_what_the_command_does() -> None:
    text = TUTORIAL.read_text()
    assert f"genverify new-study {NAME}" in text
    for path in study_files(NAME):
        assert f"`{path}`" in text
