"""Git is asked about a folder of anybody without running a program that the folder's own settings name."""

import os
import subprocess
from pathlib import Path

import pytest

from genverify.run import jobs

GIT = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, str]:
    """A repository with one commit, and a program that leaves a mark when it runs."""
    home = tmp_path / "audited"
    home.mkdir()
    monkeypatch.chdir(home)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    program = tmp_path / "program.sh"
    program.write_text(f"#!/bin/sh\necho ran >> {tmp_path}/mark\ncat\n")
    program.chmod(0o755)
    (home / "a.txt").write_text("a\n")
    (home / ".gitattributes").write_text("*.txt filter=planted\n")
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*GIT, *words], check=True)
    return tmp_path / "mark", str(program)


@pytest.mark.parametrize(
    "setting", ["core.fsmonitor", "filter.planted.clean", "filter.planted.process", "core.hooksPath", "hook", "include"]
)
def test_no_program_of_the_folder_is_run(planted: tuple[Path, str], setting: str) -> None:
    mark, program = planted
    hooks = Path(".git/hooks")
    hooks.mkdir(exist_ok=True)
    if setting == "hook":
        (hooks / "post-index-change").symlink_to(program)
    elif setting == "core.hooksPath":
        (mark.parent / "hooks").mkdir()
        (mark.parent / "hooks" / "post-index-change").symlink_to(program)
        subprocess.run(["git", "config", setting, str(mark.parent / "hooks")], check=True)
    elif setting == "include":
        (mark.parent / "more").write_text(f'[filter "planted"]\n\tclean = {program}\n\trequired = true\n')
        subprocess.run(["git", "config", "include.path", str(mark.parent / "more")], check=True)
    else:
        subprocess.run(["git", "config", setting, program], check=True)
    Path("a.txt").write_text("b\n")
    _make_look_changed(1000)
    subprocess.run(["git", "status", "--porcelain"], capture_output=True, check=False)
    assert mark.exists(), "the plant does not work: plain git does not run it"
    mark.unlink()
    _make_look_changed(2000)
    found = jobs.git_state()
    assert not mark.exists()
    assert found["dirty"] is True
    assert len(found["commit"]) == 40


def _make_look_changed(time: int) -> None:
    """Other times than those that git remembers: it reads the content again, and renews its index."""
    for name in ("a.txt", ".gitattributes"):
        os.utime(name, (time, time))


def test_a_clean_folder_is_clean_with_a_filter_that_changes_nothing(planted: tuple[Path, str]) -> None:
    subprocess.run(["git", "config", "filter.planted.clean", "cat"], check=True)
    Path("a.txt").touch()
    assert jobs.git_state()["dirty"] is False
