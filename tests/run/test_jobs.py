"""A job leaves a record that can be checked; a user's mistake ends in one message."""

import hashlib
import json
import logging
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from genverify.model.errors import ConfigError, DataError
from genverify.model.work import derive_seed, progress
from genverify.run import jobs
from genverify.run.code import code_parts, forget_code
from genverify.run.jobs import Job, digest, digests, run
from studies.country.settings import Synthetic


class Namedlist(list[str]):
    """Snakemake's own list of files, by name only: `run` must turn it into a plain list."""


@pytest.fixture
def described(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """What Snakemake tells a script, in a folder with two input files."""
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text("a")
    Path("b.txt").write_text("b")
    Path("scripts").mkdir()
    Path("envs").mkdir()
    Path("scripts/make_toy.py").write_text("import json\n")
    Path("envs/requirements.lock").write_text("numpy==2\n")
    return SimpleNamespace(
        rule="make_toy",
        input={"one": "a.txt", "many": Namedlist(["a.txt", "b.txt"])},
        output={"result": "out.txt", "record": "out.record.json"},
        params={"settings": {"size": 3}, "seed": 5},
        wildcards={"variant": "paper"},
        log=["toy.log"],
        scriptdir=str(tmp_path / "workflow" / ".." / "scripts"),
    )


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_a_record_says_what_went_in_and_what_came_out(described: SimpleNamespace) -> None:
    def main(job: Job) -> None:
        assert job.input.many == ["a.txt", "b.txt"]
        assert type(job.input.many) is list
        Path(job.output.result).write_text("x" * job.params.settings["size"])
        jobs.log.info("done with %s", job.wildcards.variant)

    before = code_parts(Path("scripts/make_toy.py").resolve())["scripts/make_toy.py"]
    run(main, described)
    record = json.loads(Path("out.record.json").read_text())
    assert record["rule"] == "make_toy"
    assert record["wildcards"] == {"variant": "paper"}
    assert record["params"] == {"settings": {"size": 3}, "seed": 5}
    assert record["inputs"] == {"one": {"a.txt": sha("a")}, "many": {"a.txt": sha("a"), "b.txt": sha("b")}}
    assert record["record"] == "out.record.json"
    assert record["code"] == {"scripts/make_toy.py": before}
    assert record["lock"] == {"envs/requirements.lock": sha("numpy==2\n")}
    assert record["outputs"] == {"result": {"out.txt": sha("xxx")}}
    assert {"python", "numpy", "snakemake"} <= set(record["versions"]) <= set(jobs.PACKAGES) | {"python"}
    assert record["git"] == {"commit": None, "dirty": None}
    assert 0 <= record["seconds"] < 60
    assert Path("toy.log").read_text() == "done with paper\n"


def test_a_record_tells_every_file_of_a_folder_that_was_written(described: SimpleNamespace) -> None:
    def main(job: Job) -> None:
        Path(job.output.folder).mkdir()
        for name in ("x", "y"):
            (Path(job.output.folder) / name).write_text(name)

    described.output = {"folder": "made", "record": "out.record.json"}
    run(main, described)
    told = json.loads(Path("out.record.json").read_text())["outputs"]["folder"]
    assert told == {"made": sha(f"x {sha('x')}\ny {sha('y')}\n"), "made/x": sha("x"), "made/y": sha("y")}


def test_the_code_of_a_record_is_that_of_the_beginning(described: SimpleNamespace) -> None:
    def main(job: Job) -> None:
        Path("scripts/make_toy.py").write_text("edited meanwhile\n")
        Path(job.output.result).write_text("x")

    before = code_parts(Path("scripts/make_toy.py").resolve())
    run(main, described)
    assert json.loads(Path("out.record.json").read_text())["code"] == before
    forget_code()
    assert code_parts(Path("scripts/make_toy.py").resolve()) != before


def test_a_job_without_outputs_leaves_no_record(described: SimpleNamespace) -> None:
    described.output = {}
    run(lambda job: jobs.log.info("looked"), described)
    assert Path("toy.log").read_text() == "looked\n"
    assert not list(Path().rglob("*record.json"))


def test_a_users_mistake_is_one_message(described: SimpleNamespace, capsys: pytest.CaptureFixture[str]) -> None:
    def main(job: Job) -> None:
        raise DataError("units.csv: no column TEN")

    with pytest.raises(SystemExit) as end:
        run(main, described)
    assert end.value.code == 1
    assert Path("toy.log").read_text() == "DataError: units.csv: no column TEN\n"
    assert capsys.readouterr().err == "DataError: units.csv: no column TEN\n"
    assert not Path("out.record.json").exists()


def test_our_own_mistake_keeps_its_traceback_in_the_log(described: SimpleNamespace) -> None:
    def main(job: Job) -> None:
        raise ZeroDivisionError("by hand")

    with pytest.raises(ZeroDivisionError):
        run(main, described)
    text = Path("toy.log").read_text()
    assert "make_toy failed" in text
    assert "Traceback" in text
    assert not Path("out.record.json").exists()


needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")


@needs_full
def test_a_disk_that_fills_while_the_record_is_written_is_named(
    described: SimpleNamespace, capsys: pytest.CaptureFixture[str]
) -> None:
    described.output = {"record": "/dev/full"}
    with pytest.raises(SystemExit) as end:
        run(lambda job: None, described)
    assert end.value.code == 1
    text = capsys.readouterr().err
    assert text.startswith("DiskError: [Errno 28] No space left on device (make_toy writes /dev/full). In short, ")
    assert Path("toy.log").read_text() == text


@needs_full
def test_a_log_on_a_full_disk_is_named_once(described: SimpleNamespace, capsys: pytest.CaptureFixture[str]) -> None:
    described.log = ["/dev/full"]
    with pytest.raises(SystemExit):
        run(lambda job: jobs.log.info("said"), described)
    said, text = capsys.readouterr().err.splitlines()
    assert said == "said"
    assert text.startswith("DiskError: [Errno 28] No space left on device: '/dev/full'. In short, the disk is full")


@needs_full
def test_results_and_log_on_the_same_full_disk(described: SimpleNamespace, capsys: pytest.CaptureFixture[str]) -> None:
    described.log = ["/dev/full"]
    described.output = {"result": "/dev/full", "record": "out.record.json"}
    with pytest.raises(SystemExit):
        run(lambda job: print(Path(job.output.result).write_text("x")), described)
    (text,) = capsys.readouterr().err.splitlines()
    assert "(make_toy writes /dev/full, out.record.json). In short, the disk is full: free space" in text


def test_a_folder_is_digested_by_names_and_contents(tmp_path: Path) -> None:
    folder = tmp_path / "one"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "x").write_text("1")
    (folder / "y").write_text("2")
    before = digest(folder)
    assert before == sha(f"sub/x {sha('1')}\ny {sha('2')}\n")
    (folder / ".snakemake_timestamp").write_text("")
    assert digest(folder) == before
    (folder / "y").rename(folder / "z")
    assert digest(folder) != before
    assert digests({"both": [str(folder / "z")], "single": folder / "z"}) == {
        "both": {str(folder / "z"): sha("2")}, "single": {str(folder / "z"): sha("2")},
    }  # fmt: skip


def test_git_is_described(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    git: list[str] = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    Path("a.txt").write_text("a")
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], check=True)
    commit = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
    assert jobs.git_state() == {"commit": commit, "dirty": False}
    Path("a.txt").write_text("b")
    assert jobs.git_state() == {"commit": commit, "dirty": True}


def test_without_git_the_commit_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(*words: Any, **options: Any) -> None:
        raise FileNotFoundError("git")

    monkeypatch.setattr(subprocess, "run", absent)
    assert jobs.git_state() == {"commit": None, "dirty": None}


def test_progress_passes_everything_on_and_says_the_end(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "genverify")
    assert list(progress(["a", "b", "c"], "blocks done")) == ["a", "b", "c"]
    assert len(caplog.messages) == 1
    assert caplog.messages[0].startswith("3 of 3 blocks done, ")
    assert caplog.messages[0].endswith(" 0 s left")
    caplog.clear()
    assert list(progress([], "blocks done")) == []
    assert caplog.messages == []


def test_progress_speaks_now_and_then(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four seconds per item, a word after more than ten: at the third item, then at the sixth and last."""
    caplog.set_level(logging.INFO, "genverify")
    clock = iter(range(0, 100, 4))
    monkeypatch.setattr(jobs.time, "monotonic", lambda: next(clock))
    list(progress(list(range(6)), "blocks"))
    assert caplog.messages == ["3 of 6 blocks, 0.2/s, 12 s left", "6 of 6 blocks, 0.2/s, 0 s left"]


def test_seeds_depend_on_every_word() -> None:
    seeds = {derive_seed(1, "a", "b"), derive_seed(2, "a", "b"), derive_seed(1, "a", "c"), derive_seed(1, "b", "a")}
    assert len(seeds) == 4
    assert all(0 <= seed < 2**64 for seed in seeds)
    assert derive_seed(1, "generate", "010010201001000") == derive_seed(1, "generate", "010010201001000")


def test_settings_are_read_into_the_model_of_their_room() -> None:
    nothing = SimpleNamespace()
    params = SimpleNamespace(
        whole={"country": "c", "likeness": "urn", "households": 1000, "homogeneity": 1.0}, part={"households": 2000}
    )
    job = Job("toy", nothing, nothing, params, nothing)
    assert job.settings("whole", Synthetic).but(households=3000).households == 3000
    part = job.part("part", Synthetic)
    assert part.households == 2000
    with pytest.raises(AttributeError):
        part.country  # noqa: B018
    with pytest.raises(ConfigError, match="toy: part: setting country is missing"):
        job.settings("part", Synthetic)
    params.part = {"housholds": 2000}
    with pytest.raises(ConfigError, match="toy: part: unknown setting housholds"):
        job.part("part", Synthetic)
