"""The action and the hook, run in a shell as those systems would run them."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
UNSAFE = "clinic,women,men,Total\nNorth,*,4,7\nSouth,5,*,9\nTotal,8,8,16\n"
SAFE = "clinic,women,men,Total\nNorth,*,*,7\nSouth,*,*,9\nTotal,8,8,16\n"
SYMBOL = "--symbol '*=suppressed'"


@pytest.fixture
def shell(tmp_path: Path) -> dict[str, str]:
    """A shell in which `genverify` and `python` are those of this environment."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, words in {"genverify": f"{sys.executable} -m genverify", "python": sys.executable}.items():
        (folder / name).write_text(f'#!/bin/sh\nexec {words} "$@"\n')
        (folder / name).chmod(0o755)
    return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT / "src")}


def run_action(folder: Path, shell: dict[str, str], **inputs: str) -> tuple[int, str, str]:
    """The last step of action.yml with these inputs: its exit code, the annotations and the summary."""
    text = yaml.safe_load((ROOT / "action.yml").read_text())
    given = {name: part.get("default", "") for name, part in text["inputs"].items()} | inputs
    step = text["runs"]["steps"][-1]
    env = {name: given[value.split("inputs.")[1].split(" ")[0]] for name, value in step["env"].items()}
    script = step["run"].replace("${{ github.action_path }}", str(ROOT))
    summary = folder / "summary.md"
    env = {**shell, **env, "GITHUB_STEP_SUMMARY": str(summary)}
    done = subprocess.run(["bash", "-c", script], cwd=folder, env=env, capture_output=True, text=True)
    return done.returncode, done.stderr, summary.read_text()


def test_the_action_names_unsafe_cells_and_not_their_values(tmp_path: Path, shell: dict[str, str]) -> None:
    (tmp_path / "a table.csv").write_text(UNSAFE)
    code, annotations, summary = run_action(tmp_path, shell, tables="'a table.csv'", options=SYMBOL)
    assert code == 1
    cell = "clinic=North, columns=women"
    assert f"::error file=a table.csv::{cell} (B2) can be worked out from what is published" in annotations
    assert "2 suppressed cells can be worked out" in summary
    assert "Suppress as well" in summary
    assert "clinic=North, columns=women: 3" not in annotations + summary


def test_the_action_lets_a_safe_table_pass_and_stops_at_a_mistake(tmp_path: Path, shell: dict[str, str]) -> None:
    (tmp_path / "t.csv").write_text(SAFE)
    code, annotations, summary = run_action(tmp_path, shell, tables="t.csv", options=SYMBOL)
    assert (code, "::error" in annotations) == (0, False)
    assert summary.startswith("## Tables to be published: safe")
    code, annotations, summary = run_action(tmp_path, shell, tables="t.csv")
    assert code == 2
    assert "::error::t.csv, B2: what do these symbols mean" in annotations
    assert "could not be audited" in summary


def test_nothing_in_an_input_is_run(tmp_path: Path, shell: dict[str, str]) -> None:
    (tmp_path / "t.csv").write_text(SAFE)
    run_action(tmp_path, shell, tables="t.csv; touch here $(touch there)", options=SYMBOL)
    assert not {"here", "there"} & {path.name for path in tmp_path.iterdir()}


def hook(name: str) -> list[str]:
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    (words,) = [shlex.split(own["entry"]) for own in hooks if own["id"] == name]
    return words


@pytest.mark.parametrize(("table", "code"), [(SAFE, 0), (UNSAFE, 1)])
def test_the_hook_stops_an_unsafe_commit(table: str, code: int, tmp_path: Path, shell: dict[str, str]) -> None:
    (tmp_path / "t.csv").write_text(table)
    words = [*hook("genverify-disclose"), "--symbol", "*=suppressed", "t.csv"]
    assert subprocess.run(words, cwd=tmp_path, env=shell, capture_output=True).returncode == code
    (tmp_path / "risk.yaml").write_text("symbols: {'*': suppressed}\n")
    words = [*hook("genverify-risk"), "t.csv"]
    assert subprocess.run(words, cwd=tmp_path, env=shell, capture_output=True).returncode == code
    assert shutil.which("genverify", path=shell["PATH"])


def test_the_action_takes_earlier_releases_and_a_risk_file(tmp_path: Path, shell: dict[str, str]) -> None:
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables/t.csv").write_text(SAFE)
    (tmp_path / "earlier ones").mkdir()
    (tmp_path / "earlier ones/u.csv").write_text("clinic,women,men\nNorth,3,*\nSouth,*,*\n")
    code, annotations, summary = run_action(tmp_path, shell, tables="tables", options=SYMBOL, previous="'earlier ones'")
    assert code == 1
    assert "::error file=tables/t.csv::" in annotations  # from the root of the repository: GitHub shows it at the file
    assert "can be worked out from what is published and earlier ones/u.csv" in annotations
    assert "4 suppressed cells can be worked out" in summary
    (tmp_path / "risk.yaml").write_text("symbols: {'*': suppressed}\nminimum_frequency: 8\n")
    assert run_action(tmp_path, shell, tables="tables", risk="risk.yaml")[0] == 1  # 7 is printed
    assert run_action(tmp_path, shell, tables="tables", risk="risk.yaml", **{"fail-on": "exact"})[0] == 0
    (tmp_path / "risk.yaml").write_text("symbols: {'*': suppressed}\nminimum_frequency: 7\n")
    assert run_action(tmp_path, shell, tables="tables", risk="risk.yaml")[0] == 0


def test_the_airlock_holds_what_an_earlier_release_undoes(tmp_path: Path, shell: dict[str, str]) -> None:
    """The example as it lies there: safe alone, unsafe beside what was released; then released without that file."""
    folder = shutil.copytree(ROOT / "examples/airlock", tmp_path / "airlock")
    gate = ["bash", str(folder / "gate.sh")]
    held = subprocess.run(gate, env=shell, capture_output=True, text=True)
    assert (held.returncode, held.stdout) == (1, "hold: see audit/report.html\n")
    answer = json.loads((folder / "audit.json").read_text())
    assert {file: len(cells) for file, cells in answer["previous"].items()} == {
        "released/clinics_by_age.csv": 0, "released/clinics_by_sex.csv": 4,
    }  # fmt: skip
    (folder / "released/clinics_by_sex.csv").unlink()
    assert subprocess.run(gate, env=shell, capture_output=True, text=True).stdout == "release\n"
    (folder / "risk.yaml").write_text("minimum_frequncy: 5\n")
    held = subprocess.run(gate, env=shell, capture_output=True, text=True)
    assert (held.returncode, held.stdout) == (2, "not audited: see audit.json\n")
    assert "did you mean minimum_frequency" in (folder / "audit.json").read_text()
