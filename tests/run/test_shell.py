"""Habits that every command has: --help, --json, --quiet, exit codes, no colours, talk and errors where they belong."""

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from genverify.cli import main
from genverify.run.cli.commands import FORMS, OLD_NAMES, completion, groups, parser
from genverify.run.cli.shell import DONE, EXIT_CODES, INTERNAL, NO, REFUSED, STOPPED, leaves

# every command in an install without any extra: what it says, in one line each
LIGHT = """
import io, sys
from contextlib import redirect_stderr, redirect_stdout
from genverify.model.errors import EXTRAS
sys.modules.update(dict.fromkeys(EXTRAS))
from genverify.cli import main
for words in [["completion", "bash"], ["audit", "figures/fig3.pdf"], ["estimate", "households", "x.csv"], ["reference"],
              *([name, "--help"] for name in sys.argv[1:])]:
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(out):
        try:
            status = main(words)
        except SystemExit as end:
            status = end.code
    print(*[*words, ""][:2], status, out.getvalue().strip().replace("\\n", " "), sep="|")
"""
NAMES = [name for group in groups() for name in group.lines]
TABLE = "area,f,m,Total\nA,*,4,7\nB,5,*,9\nTotal,8,8,16\n"
PLAIN = "area,f,m,Total\nA,3,40,43\nB,50,60,110\nTotal,53,100,153\n"
SHARES = "education,Low,Medium\nAlpha,3/4,1/4\nBeta,1/2,1/2\n"
RELEASE = """
name: toy
data: people.csv
synthetic: true
tables: {both: {columns: [sex, age]}}
protect: [{suppress: 2}]
"""
PEOPLE = "sex,age\nf,old\nf,young\nm,old\nm,old\n"
PROGRAM = "Minimize\n obj: x\nSubject To\n c1: x + y = 1\n c2: x - y = 1\nBounds\n x <= 3\n y <= 3\nGenerals\n x y\nEnd\n"

# a command that works: its words, and how its standard output reads
WORKS = {
    "disclose": (["disclose", "printed.csv", "--mark", "*=suppressed"], "text"),
    "audit-release": (["audit-release", "toy.yaml"], "text"),
    "disclose --cells": (["disclose", "toy.yaml", "--cells"], "csv"),
    "what-if": (["what-if", "toy.yaml"], "csv"),
    "protect": (["protect", "plain.csv", "--rule", "minimum 5", "--out", "safe"], "text"),
    "read": (["read", "printed.csv"], "text"),
    "page": (["page", "page.html", "--force"], "text"),
    "unique": (["unique", "program.lp"], "text"),
    "bounds": (["bounds", "shares.csv", "--given", "rows", "--total", "20"], "csv"),
    "check": (["check", "study/proofs", "study/release"], "text"),
    "explain": (["explain", "BLOCK", "PET=1", "--study", "study"], "text"),
    "excluded": (["excluded", "BLOCK", "PET=1", "--study", "study"], "text"),
    "probability": (["probability", "BLOCK", "PET=1", "--study", "study"], "text"),
    "export": (["export", "study/proofs", "--to", "proofs.zip"], "text"),
    "check-vipr": (["check-vipr", "vipr.zip"], "text"),
    "config-schema": (["config-schema"], "json"),
    "modules": (["modules"], "text"),
    "rooms": (["rooms"], "text"),
    "completion": (["completion", "bash"], "script"),
}
# a command that needs the results of a study, where there are none
FAILS = {
    "progress": ["progress"],
    "ablation": ["ablation", "odd", "release.round=5"],
    "new-study": ["new-study", "pairs"],
    "new-reader": ["new-reader", "dat"],
    "check-ppmf": ["check-ppmf", "none.csv"],
    "check-housing": ["check-housing", "none"],
    "audit": ["audit"],
    "reference": ["reference"],
    "estimate": ["estimate", "children", "a.csv", "b.csv"],
    "estimate-persons": ["estimate-persons", "a.csv", "--out", "b"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, made_study: Path) -> Path:
    home = tmp_path_factory.mktemp("anywhere")
    files = {
        "printed.csv": TABLE, "plain.csv": PLAIN, "shares.csv": SHARES, "toy.yaml": RELEASE,
        "people.csv": PEOPLE, "program.lp": PROGRAM
    }  # fmt: skip
    for name, text in files.items():
        (home / name).write_text(text)
    shutil.copytree(made_study, home / "study")
    assert main(["export", home / "study" / "proofs", "--to", home / "vipr.zip", "--quiet"]) == DONE
    return home


@pytest.fixture
def said(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Run a command in a folder that is no repository: its exit code and what it wrote."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr("modules.PACKAGES", ["genverify/checker"])  # to read all modules takes seconds
    block = next(iter(json.loads(line)["about"]["name"] for line in _proofs(folder)))

    def run(words: list[str], *more: str) -> tuple[int, str, str]:
        Path("proofs.zip").unlink(missing_ok=True)
        status = main([block if word == "BLOCK" else word for word in [*words, *more]])
        return (status, *capsys.readouterr())

    return run


def _proofs(folder: Path) -> list[str]:
    import gzip

    return gzip.decompress((folder / "study" / "proofs" / "000.jsonl.gz").read_bytes()).decode().splitlines()


def test_every_command_is_tried() -> None:
    assert {name.split()[0] for name in (*WORKS, *FAILS)} == {*NAMES, *OLD_NAMES}


@pytest.mark.parametrize(("old", "new"), OLD_NAMES.items())
def test_an_old_name_says_what_the_new_one_says(old: str, new: str, said: Callable[..., tuple[int, str, str]]) -> None:
    assert old not in NAMES
    words = WORKS[old][0][1:]
    assert said([old, *words, "--json"]) == said([new, *words, "--json"])
    assert said([old, *words])[0] == DONE


def test_the_help_without_imports_says_what_the_commands_say() -> None:
    (real,) = (action for action in parser()._actions if isinstance(action, argparse._SubParsersAction))
    lines = {action.dest.split(" ")[0]: action.help for action in real._choices_actions}
    assert lines == {name: line for group in groups() for name, line in group.lines.items()}
    for one in leaves(real):
        options = one._option_string_actions
        assert {"--json", "--quiet", "-q", "--help"} <= options.keys(), one.prog
        assert one.format_help()


@pytest.mark.parametrize("name", WORKS)
def test_a_command_that_works(name: str, said: Callable[..., tuple[int, str, str]]) -> None:
    words, reads = WORKS[name]
    status, out, _ = said(words)
    assert status == DONE
    assert out
    assert "\x1b" not in out

    status, quiet, err = said(words, "--quiet")
    assert (status, err) == (DONE, "")
    assert quiet == ("" if reads == "text" else out)

    status, found, err = said(words, "--json", "--quiet")
    assert (status, err) == (DONE, "")
    document = json.loads(found)
    if reads == "csv":
        assert len(document["rows"]) == len(out.splitlines()) - 1 > 0
        assert list(document["rows"][0]) == out.splitlines()[0].split(",")
    elif "lines" in document:
        assert document["command"] == OLD_NAMES.get(name, words[0])
        assert len(document["lines"]) == len(out.splitlines())


@pytest.mark.parametrize("name", FAILS)
def test_a_command_that_needs_the_repository_says_so(name: str, said: Callable[..., tuple[int, str, str]]) -> None:
    status, out, err = said(FAILS[name])
    assert (status, out) == (REFUSED, "")
    assert "not the folder of the repository" in err
    assert len(err.splitlines()) == 1
    status, out, quiet = said(FAILS[name], "--json", "--quiet")
    assert (status, quiet) == (REFUSED, err)
    error = json.loads(out)["error"]
    assert f"{error['kind']}: {error['message']}\n" == err


def test_mistakes_end_with_their_code(said: Callable[..., tuple[int, str, str]]) -> None:
    status, out, err = said(["bounds", "none.csv", "--given", "rows", "--total", "3"])
    assert (status, out) == (REFUSED, "")
    assert "none.csv" in err
    assert "repository" not in err
    assert said(WORKS["disclose"][0], "--fail-on", "exact", "--quiet") == (NO, "", "")
    for words in (["no-such-command"], ["bounds"], ["bounds", "--no-such-option"]):
        with pytest.raises(SystemExit) as stopped:
            main(words)
        assert stopped.value.code == REFUSED
    assert all(f"{code} " in parser([]).format_help() for code in EXIT_CODES)


def test_a_stop_by_hand(said: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(options: argparse.Namespace) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("genverify.bounds.bounds_command.run", stop)
    assert said(WORKS["bounds"][0]) == (STOPPED, "", "stopped\n")


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (TypeError("no\x1b[2J"), INTERNAL, "internal error, please report it"),
        (MemoryError(), REFUSED, "the memory is not enough"),
        (RecursionError("deep"), REFUSED, "nested too deeply"),
        (FileNotFoundError(2, "No such file or directory", "here.csv"), REFUSED, "'here.csv'"),
    ],
)
def test_every_error_ends_in_one_line(
    said: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch, error: Exception, status: int, words: str
) -> None:
    def fail(options: argparse.Namespace) -> int:
        raise error

    monkeypatch.setattr("genverify.bounds.bounds_command.run", fail)
    found, out, err = said(WORKS["bounds"][0])
    assert (found, out, len(err.splitlines())) == (status, "", 1)
    assert words in err
    assert "\x1b" not in err
    found, out, _ = said(WORKS["bounds"][0], "--json")
    assert words in json.loads(out)["error"]["kind"] + json.loads(out)["error"]["message"]
    assert "Traceback" in said(WORKS["bounds"][0], "--debug")[2]
    monkeypatch.setenv("GENVERIFY_DEBUG", "1")
    assert "Traceback" in said(WORKS["bounds"][0])[2]


def test_an_error_while_the_command_line_is_read_ends_in_one_line(
    said: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("genverify.bounds.bounds_command.add_parser", None)
    status, out, err = said(WORKS["bounds"][0])
    assert (status, out, len(err.splitlines())) == (INTERNAL, "", 1)


def test_what_a_terminal_would_obey_is_shown_as_numbers(said: Callable[..., tuple[int, str, str]], folder: Path) -> None:
    (folder / "hostile.csv").write_text("area\x1b]0;owned\x07,f,m,Total\nA\x9b2J,*,4,7\nB\u202e,5,4,9\nTotal,8,8,16\n")
    for more in ([], ["--json"]):
        status, out, err = said(["disclose", "hostile.csv", "--mark", "*=suppressed", "--out", "hostile"], *more)
        assert status == DONE
        assert "\\u009b2J" in out
        assert not set(out + err) & set("\x1b\x07\x9b\u202e")
    assert json.loads(out)["unsafe_cells"][0]["cell"].count("\x9b") == 1


def test_a_missing_extra_is_named(said: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    Path("book.xlsx").write_bytes(b"PK")
    status, out, err = said(["disclose", "book.xlsx"])
    assert (status, out) == (REFUSED, "")
    assert 'book.xlsx: a workbook needs the library python_calamine; install it: pip install "genverify[formats]"' in err


def test_versions(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == DONE
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["genverify", "HiGHS", "Gurobi", "Python"]


def test_help_imports_no_library() -> None:
    heavy = "{'numpy', 'pandas', 'pydantic', 'yaml'} & {*sys.modules}"
    code = f"import sys, genverify.cli as cli; cli.parser(['--help']); print(*{heavy})"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "\n"


def test_a_reader_that_has_seen_enough_is_no_error(folder: Path) -> None:
    command = [sys.executable, "-m", "genverify", *WORKS["bounds"][0]]
    done = subprocess.run(
        ["bash", "-c", 'set -o pipefail; "$@" | true', "_", *command], cwd=folder, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


BASH = """
{script}
try() {{ COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _genverify; echo "${{COMPREPLY[*]}}"; }}
try genverify bou
try genverify bounds --giv
try genverify bounds --rounding ''
try genverify completion z
"""


def test_bash_completes(tmp_path: Path) -> None:
    script = tmp_path / "try.sh"
    script.write_text(BASH.format(script=completion(parser(), "bash")))
    done = subprocess.run(["bash", script], capture_output=True, text=True, check=True)
    first, second, third, fourth = done.stdout.splitlines()
    assert (first, second, fourth) == ("bounds", "--given", "zsh")
    assert "nearest" in third.split()
    assert done.stderr == ""


def test_zsh_has_every_command_and_option(tmp_path: Path) -> None:
    script = completion(parser(), "zsh")
    assert script.startswith("autoload -U +X bashcompinit && bashcompinit\n")
    assert all(f"      {name})\n" in script for name in NAMES)
    assert "--fail-on" in script
    zsh = shutil.which("zsh")
    if zsh is None:
        pytest.skip("zsh is not installed: its completion is written, but not read by zsh here")
    (tmp_path / "_genverify").write_text(script)
    subprocess.run([zsh, "-n", tmp_path / "_genverify"], check=True)
    assert FORMS["completion"]["options"]["shell"]["choices"] == ["bash", "zsh"]


def test_without_any_extra_every_command_works_or_names_the_extra(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", LIGHT, *NAMES], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = [line.split("|", 3) for line in done.stdout.splitlines()]
    assert len(lines) == len(NAMES) + 4
    for command, first, status, said in lines:
        extra = 'install it: pip install "genverify[' in said
        outside = command in ("audit", "estimate", "reference") and "this is not the folder of the repository" in said
        assert status == "0" or extra or outside, (command, first, said)
    assert all(name in lines[0][3] for name in NAMES)


@pytest.mark.parametrize("words", [["--mark", "-=0"], ["--mark=-=0"]])
def test_a_dash_can_be_a_mark(words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "printed.csv").write_text("area,f,m,Total\nA,-,7,7\nB,5,4,9\nTotal,5,11,16\n")
    assert main(["disclose", str(tmp_path / "printed.csv"), *words, "--out", str(tmp_path / "out")]) == 0, (
        capsys.readouterr()
    )
