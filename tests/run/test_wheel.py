"""The light install: the wheel, with no more than its own dependencies, answers in a folder that is no repository."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
import venv
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

import pytest

from genverify.cli import main

HEAVY = ("jax", "optax", "pyarrow", "matplotlib", "seaborn", "snakemake", "gurobipy", "openpyxl", "rocrate", "PIL", "mkdocs")
LINUX_ONLY = ("resource", "fcntl", "pwd", "grp", "termios", "syslog", "posix_ipc")
FILES = {
    "printed.csv": "area,f,m,Total\nA,*,4,7\nB,5,*,9\nTotal,8,8,16\n",
    "shares.csv": "education,Low,Medium\nAlpha,3/4,1/4\nBeta,1/2,1/2\n",
    "toy.yaml": "name: toy\ndata: people.csv\nsynthetic: true\nprotect: [{suppress: 2}]\ntables:\n"
    "  one: {columns: [sex, age]}\n  two: {columns: [age, home]}\n",
    "people.csv": "sex,age,home\nf,old,own\nf,young,rent\nm,old,own\nm,old,rent\n",
    "sitecustomize.py": f"import os, sys\nsys.modules.update(dict.fromkeys({LINUX_ONLY!r}))\ndel os.fork\n",
}
DRIVER = """
import doctest, io, sys
from contextlib import redirect_stderr, redirect_stdout
import genverify
from genverify.cli import main

assert doctest.testmod(genverify).failed == 0
def run(*words):
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = main(words)
    print(status, (out.getvalue() + err.getvalue()).strip().replace("\\n", " | "))

run("disclose", "printed.csv", "--mark", "*=suppressed", "--json", "--out", "printed")
run("disclose", "printed.csv", "--check", "--out", "printed")
run("disclose", "toy.yaml", "--out", "audit")
run("check", "audit/proofs", "audit/release")
run("explain", "all", "sex=1,age=2", "--study", "audit")
run("what-if", "toy.yaml", "--out", "audit", "-q")
run("bounds", "shares.csv", "--given", "rows", "--total", "20")
run("bounds", "people.csv", "--marginals", "sex,age", "--marginals", "age,home")
run("disclose", "book.xlsx")
run("disclose", "people.parquet.yaml")
"""


def light(name: str, seen: set[str]) -> set[str]:
    """The packages that a package needs without any of its extras, itself first."""
    if name in seen:
        return seen
    seen.add(name)
    for line in distribution(name).requires or ():
        if "extra ==" not in line and "sys_platform" not in line and "python_version" not in line:
            light(re.split(r"[^\w.-]", line)[0].lower(), seen)
    return seen


def packages(root: Path) -> set[str]:
    named: list[str] = tomllib.loads((root / "pyproject.toml").read_text())["project"]["dependencies"]
    found: set[str] = set()
    try:
        for line in named:
            light(re.split(r"[^\w.-]", line)[0], found)
    except PackageNotFoundError as missing:
        pytest.skip(f"{missing} is not installed here, so there is nothing to make the environment of")
    return found


def tops(name: str) -> Iterator[Path]:
    """What a package has put into site-packages: its folders and files, shared libraries and metadata among them."""
    own = distribution(name)
    for top in {file.parts[0] for file in own.files or () if file.parts[0] not in ("..", "__pycache__")}:
        yield Path(str(own.locate_file(top)))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Path:
    """The wheel, built by flit without a network."""
    if find_spec("flit_core") is None:
        pytest.skip("flit_core is not installed: the wheel cannot be built without a network")
    home = tmp_path_factory.mktemp("wheel")
    code = f"from flit_core.buildapi import build_wheel; print(build_wheel({str(home)!r}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    return home / done.stdout.split()[-1]


@pytest.fixture(scope="module")
def python(wheel: Path, root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """
    An empty environment into which pip installed the wheel. Its dependencies, and theirs, are links to the packages of this
    environment, so that no network is needed; nothing else can be imported, nor what only Linux has.
    """
    home = tmp_path_factory.mktemp("light")
    venv.create(home, with_pip=False, symlinks=True)
    [site] = home.glob("lib/python*/site-packages")
    for name in packages(root):
        for top in tops(name):
            (site / top.name).symlink_to(top)
    (site / "sitecustomize.py").write_text(FILES["sitecustomize.py"])
    own = home / "bin" / "python"
    command = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(own),
        "install",
        "--no-deps",
        "--no-index",
        "--quiet",
        str(wheel),
    ]
    subprocess.run(command, check=True, capture_output=True, env=clean())
    return own


def clean() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def test_the_wheel_holds_pages_and_types_and_nothing_of_the_studies(wheel: Path) -> None:
    names = ZipFile(wheel).namelist()
    for needed in ("disclosure/report.html.j2", "report/templates/style.css", "py.typed"):
        assert f"genverify/{needed}" in names
    assert not [name for name in names if not name.startswith("genverify") or name.endswith(".pyc")]


def test_the_light_install_answers_anywhere(python: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, text in FILES.items():
        if name != "sitecustomize.py":
            (tmp_path / name).write_text(text)
    # a folder of the user that has the name of ours: Python finds it in the current folder, and it is none of our studies
    (tmp_path / "studies" / "mine").mkdir(parents=True)
    (tmp_path / "studies" / "mine" / "study.py").write_text("raise RuntimeError('this file is not for genverify to run')\n")
    (tmp_path / "book.xlsx").write_bytes(b"PK")
    (tmp_path / "people.parquet").write_bytes(b"PAR1")
    (tmp_path / "people.parquet.yaml").write_text(FILES["toy.yaml"].replace("people.csv", "people.parquet"))
    done = subprocess.run([python, "-c", DRIVER], cwd=tmp_path, capture_output=True, text=True, env=clean())
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    assert [line[0] for line in said] == [*"00000000", "2", "2"], done.stdout
    printed, checked, audited, proved, explained, _, shares, marginals, book, parquet = said
    assert '"suppressed_known_exactly": 2' in printed
    assert "all proofs right" in checked
    assert "verified claims" in audited
    assert "all right | not compared with a table of claims" in proved
    assert "Verified: true of every dataset" in explained
    assert "Alpha,Low,3,12" in shares
    assert "f,old,own,0,1" in marginals
    assert 'needs the library python_calamine; install it: pip install "genverify[formats]"' in book
    assert 'needs the library pyarrow; install it: pip install "genverify[parquet]"' in parquet
    _same_as_with_everything(tmp_path, capsys)


def _same_as_with_everything(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same files from the whole install: that a library is missing changes no answer."""
    for words in (["disclose", "toy.yaml"], ["what-if", "toy.yaml"]):
        assert main([words[0], str(home / words[1]), "--out", str(home / "whole")]) == 0
    capsys.readouterr()
    for name in ("claims.csv", "cells.csv", "suppress.csv", "answer.json", "whatif.csv"):
        assert (home / "whole" / name).read_bytes() == (home / "audit" / name).read_bytes(), name


def test_nothing_heavy_is_there_and_the_command_is(python: Path, tmp_path: Path) -> None:
    code = f"from importlib.util import find_spec; print([name for name in {HEAVY!r} if find_spec(name)])"
    found = subprocess.run([python, "-c", code], cwd=tmp_path, capture_output=True, text=True, env=clean(), check=True)
    assert found.stdout == "[]\n"
    program = shutil.which("genverify", path=str(python.parent))
    assert program
    done = subprocess.run([program, "--version"], cwd=tmp_path, capture_output=True, text=True, env=clean(), check=True)
    assert "HiGHS 1." in done.stdout
    assert 'Gurobi (not installed, pip install "genverify[gurobi]")' in done.stdout
