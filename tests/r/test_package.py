"""The R package, installed into an empty library: its own tests run with this Python, where R and reticulate are there."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "r"
NEEDED = ("reticulate", "jsonlite", "testthat")
RUN = """library(testthat); library(genverify)
tests <- file.path(commandArgs(TRUE)[1], "tests", "testthat")
test_dir(tests, package = "genverify", reporter = "summary", stop_on_failure = TRUE)
cat("available:", gv_available(), "\\n")"""


def missing() -> str:
    """Why the tests of R cannot run here; empty where they can."""
    if shutil.which("Rscript") is None:
        return "R is not installed (Debian: r-base-core r-cran-reticulate r-cran-testthat r-cran-jsonlite)"
    if not sysconfig.get_config_var("Py_ENABLE_SHARED") and sys.platform == "linux":
        return "this Python was built without its shared library, which reticulate loads"
    asked = " ".join(f'if (!requireNamespace("{name}", quietly = TRUE)) cat("{name} ");' for name in NEEDED)
    absent = subprocess.run(["Rscript", "-e", asked], capture_output=True, text=True, check=True).stdout.strip()
    return f"R packages are not installed: {absent}" if absent else ""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The package in an empty library."""
    if reason := missing():
        pytest.skip(reason)
    home = tmp_path_factory.mktemp("library")
    places = {"R_LIBS": str(home), "RETICULATE_PYTHON": sys.executable, "PYTHONPATH": str(ROOT / "src")}
    found = {**os.environ, **places, "NOT_CRAN": "true", "LC_ALL": "C.UTF-8"}
    install = ["R", "CMD", "INSTALL", "--no-docs", "--no-byte-compile", "--no-test-load", "-l", str(home), str(PACKAGE)]
    done = subprocess.run(install, capture_output=True, text=True, env=found, cwd=home)
    assert done.returncode == 0, done.stderr
    return found


def test_a_python_that_cannot_be_started_is_not_called_a_missing_package(
    environment: dict[str, str], tmp_path: Path
) -> None:
    """As with reticulate 1.28 and Python 3.12, whose config.py ends in an error: here it always does."""
    (tmp_path / "python").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "python").chmod(0o755)
    own = {**environment, "RETICULATE_PYTHON": str(tmp_path / "python")}
    asked = 'genverify::gv_check(".")'
    done = subprocess.run(["Rscript", "-e", asked], capture_output=True, text=True, env=own, cwd=tmp_path)
    assert done.returncode != 0
    assert "cannot start this Python" in done.stderr, done.stderr
    assert "is not found" not in done.stderr


def test_a_folder_of_the_same_name_is_not_the_python_package(environment: dict[str, str], tmp_path: Path) -> None:
    """Python takes any folder for an empty package, and `R CMD check` runs beside one called genverify."""
    (tmp_path / "genverify").mkdir()
    python = getattr(sys, "_base_executable", sys.executable)
    own = {name: value for name, value in environment.items() if name != "PYTHONPATH"} | {"RETICULATE_PYTHON": python}
    there = subprocess.run([python, "-c", "import genverify.cli"], capture_output=True, cwd=tmp_path).returncode == 0
    asked = ["Rscript", "-e", "cat(genverify::gv_available())"]
    done = subprocess.run(asked, capture_output=True, text=True, env=own, cwd=tmp_path)
    assert done.stdout == str(there).upper(), done.stderr


def test_the_package_passes_its_own_tests_with_this_python(environment: dict[str, str], tmp_path: Path) -> None:
    done = subprocess.run(
        ["Rscript", "-e", RUN, str(PACKAGE)], capture_output=True, text=True, env=environment, cwd=tmp_path
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "available: TRUE" in done.stdout, done.stdout + done.stderr
    assert "Skipped" not in done.stdout, done.stdout


def test_every_exported_function_has_a_help_page_that_names_its_arguments() -> None:
    exported = re.findall(r"^export\((\w+)\)", (PACKAGE / "NAMESPACE").read_text(), re.MULTILINE)
    pages = [path.read_text() for path in (PACKAGE / "man").glob("*.Rd")]
    code = "\n".join(path.read_text() for path in (PACKAGE / "R").glob("*.R"))
    assert len(exported) == 9
    for name in exported:
        page = next(text for text in pages if f"\\alias{{{name}}}" in text)
        signature = re.search(rf"^{name} <- function\((.*?)\) \{{$", code, re.MULTILINE | re.DOTALL)
        assert signature
        described = re.findall(r"[\w.]+", " ".join(re.findall(r"\\item\{(.*?)\}", page)))
        arguments = [part.partition("=")[0].strip() for part in re.sub(r"c\(.*?\)", "", signature[1]).split(",")]
        assert [argument for argument in arguments if argument and argument not in described] == [], name


def test_the_version_is_that_of_the_python_package() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert f"Version: {version}\n" in (PACKAGE / "DESCRIPTION").read_text()
