"""The workflow from elsewhere: laid out as snakedeploy does it, and as a module, each in a folder that was empty."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml

import warm_snakemake
from study_runs import copy_small, environment

CLAIMS = "results/paper/claims.parquet"
MODULE = """
module genverify:
    snakefile:
        "{snakefile}"
    config:
        {config}


use rule * from genverify
"""
# what the small study of the copies changes, but for the place of the country, which is the user's own
SETTINGS = {
    "microdata": {"synthetic": {"country": "country", "households": 6000, "likeness": "urn"}},
    "sample": {
        "designs": {"state_median": {"blocks_per_state": 1, "states": ["01", "19"]}, "country_median": None},
        "batches": 1,
    },
    "generate": {"datasets": 5},
}


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_small(tmp_path_factory.mktemp("elsewhere") / "clone")


def run(clone: Path, home: Path, *words: str) -> str:
    code, said = warm_snakemake.run(home, ("--cores", "2", *words), environment(clone))
    assert code == 0, said
    return said


def audited(clone: Path, home: Path) -> str:
    words = [sys.executable, "-m", "genverify", "audit", CLAIMS]
    done = subprocess.run(words, cwd=home, env=environment(clone), capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_as_snakedeploy_lays_it_out(clone: Path, tmp_path: Path) -> None:
    """The folder config/ is copied and edited, workflow/Snakefile names the module; everything else is found."""
    shutil.copytree(clone / "config", tmp_path / "config")
    shutil.copytree(clone / "country", tmp_path / "country")
    edited = tmp_path / "config" / "config.yaml"
    whole = yaml.safe_load(edited.read_text())
    for section, change in SETTINGS.items():
        for key, value in change.items():
            whole[section][key] = {**whole[section][key], **value} if isinstance(value, dict) else value
    whole["sample"]["designs"] = {"state_median": {"size": 4, "blocks_per_state": 1, "states": ["01", "19"]}}
    edited.write_text(yaml.safe_dump(whole))
    (tmp_path / "workflow").mkdir()
    text = MODULE.format(snakefile=clone / "workflow" / "Snakefile", config="config")
    (tmp_path / "workflow" / "Snakefile").write_text(f'configfile: "config/config.yaml"\n{text}')
    said = run(clone, tmp_path, CLAIMS)
    assert "is extended" not in said
    assert set(pd.read_parquet(tmp_path / CLAIMS)["block"].str.slice(0, 2)) <= {"01", "19"}
    assert not (tmp_path / "Snakefile").exists()  # it would take the place of the one in workflow/
    assert "Nothing to be done" in run(clone, tmp_path, CLAIMS)
    assert re.search(r"^1 result, \d+ files, all accounted for", audited(clone, tmp_path), re.MULTILINE)


def test_as_a_module_with_a_few_settings(clone: Path, tmp_path: Path) -> None:
    """What the module is not told has its default, found by the place of its Snakefile."""
    shutil.copytree(clone / "country", tmp_path / "country")
    (tmp_path / "Snakefile").write_text(MODULE.format(snakefile=clone / "Snakefile", config=repr(SETTINGS)))
    run(clone, tmp_path, CLAIMS)
    sample = pd.read_parquet(tmp_path / "results" / "sample" / "blocks.parquet")
    assert sample["design"].tolist() == ["state_median"] * 2
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(SETTINGS))
    assert re.search(r"^1 result, \d+ files, all accounted for", audited(clone, tmp_path), re.MULTILINE)
