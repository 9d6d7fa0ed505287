"""The API: what `import genverify as gv` offers, and that it has no defaults of its own."""

import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pandas as pd
import pytest

import genverify as gv
from genverify.model.errors import DataError
from genverify.model.settings import DATASETS
from genverify.solve.program_settings import DEFAULT, ProgramSettings


def test_every_name_of_the_api_is_there() -> None:
    for name in gv.__all__:
        assert callable(getattr(gv, name)), name
    assert {"attack_release", "check", "explain", "make_schema", "make_release", "bound_cells"} <= set(dir(gv))
    with pytest.raises(AttributeError, match="no attribute 'atack'"):
        gv.atack  # noqa: B018


def test_the_types_of_the_api_are_those_of_its_names(tmp_path: Path, root: Path) -> None:
    """The example of the README is right in the eyes of mypy, and every name is known to it."""
    _, _, rest = (root / "README.md").read_text().partition("## I write Python\n")
    code = dedent(rest.partition("\n## ")[0])
    assert "gv.check(" in code
    (tmp_path / "example.py").write_text(code + "".join(f"print(gv.{name})\n" for name in gv.__all__))
    words = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--config-file",
        str(root / "pyproject.toml"),
        "--follow-imports=silent",
    ]
    done = subprocess.run([*words, str(tmp_path / "example.py")], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_nothing_is_imported_before_it_is_asked_for() -> None:
    """So that a module depends on what it imports, and not on the whole library."""
    code = "import sys, genverify; print([name for name in sys.modules if name.startswith('genverify.')])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout == "[]\n"


def test_defaults_are_those_of_the_configuration(config: dict[str, Any]) -> None:
    assert ProgramSettings(**config["program"]) == DEFAULT
    assert config["generate"]["datasets"] == DATASETS


SCHEMA = gv.make_schema({"sex": ["f", "m"], "age": ["young", "old"]}, {"all": ["sex", "age"]})


def test_a_release_of_a_frame_is_attacked_and_explained() -> None:
    release = gv.release_of(SCHEMA, pd.DataFrame({"sex": ["f", "m", "m"], "age": ["old", "old", "young"]}))
    found = gv.attack_release(release)
    assert gv.check(release, found.certificate).claims == len(found.claims) == len(gv.claims_frame(found)) == 7
    texts = [gv.explain(found, claim).splitlines()[0] for claim in found.claims]
    assert "exactly 1 record with sex: m, age: young" in texts
    assert "exactly 2 records with sex: m" in texts
    with pytest.raises(DataError, match="exactly 2 records with sex: f is not among the verified claims"):
        gv.explain(found, gv.Claim((0, -1), 2))


def test_records_that_do_not_fit_the_schema_are_named() -> None:
    with pytest.raises(DataError, match="the records have no column 'age'"):
        gv.release_of(SCHEMA, pd.DataFrame({"sex": ["f"]}))
    with pytest.raises(DataError, match=r"column age: 'olt' is none of its values: .*old"):
        gv.release_of(SCHEMA, pd.DataFrame({"sex": ["f"], "age": ["olt"]}))


def test_cells_of_a_frame_of_counts_are_bounded() -> None:
    found = gv.bound_cells(pd.DataFrame({"yes": [3, 20], "no": [1, 5]}, index=["a", "b"]), 29)
    assert (found["lower"] <= pd.Series([3, 1, 20, 5])).all()
    assert (found["upper"] >= pd.Series([3, 1, 20, 5])).all()
