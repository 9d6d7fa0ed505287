"""`snakemake` and `snakemake -s workflow/Snakefile` are one workflow: the same jobs, the same records, the same report."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from study_runs import copy_repository, dry_run, snakemake

BESIDE = ["-s", "workflow/Snakefile"]
# a page with a caption, and a figure with another: jobs without microdata
PAGE, FIGURE = "results/report/cellbounds_table5.html", "figures/cellbounds.pdf"
RECORDS = ["results/report/cellbounds_table5.record.json", "figures/cellbounds.record.json"]
OF_THE_RUN = {"started", "seconds"}
CAPTION = r'"caption": "([^"]{40})'


def jobs(said: str) -> list[str]:
    """Every job of a dry run with its files and wildcards, sorted; their order and their numbers are by chance."""
    found = re.findall(r"^(?:rule|localrule|checkpoint) \w+:\n(?:    .*\n)+", said, re.MULTILINE)
    return sorted(re.sub(r"^    jobid: .*\n", "", job, flags=re.MULTILINE) for job in found)


def records(home: Path) -> list[dict[str, Any]]:
    found = [json.loads((home / path).read_text()) for path in RECORDS]
    return [{name: value for name, value in record.items() if name not in OF_THE_RUN} for record in found]


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository in which two results were made with the Snakefile on top."""
    home = copy_repository(tmp_path_factory.mktemp("home"))
    snakemake(home, PAGE, FIGURE)
    return home


def test_both_plan_the_same_jobs() -> None:
    first, second = (jobs(dry_run("--forceall", *words)) for words in ([], BESIDE))
    assert first == second
    assert any(job.startswith("rule verify_claims:") for job in first)


def test_neither_makes_again_what_the_other_made(ran: Path) -> None:
    assert "Nothing to be done" in snakemake(ran, "-n", PAGE, FIGURE, *BESIDE)


def test_both_leave_the_same_records(ran: Path) -> None:
    first = records(ran)
    snakemake(ran, PAGE, FIGURE, "--forceall", *BESIDE)
    assert records(ran) == first
    assert all(record["code"] and record["lock"] for record in first)


def test_another_folder_of_results_is_the_same_study(ran: Path, tmp_path: Path) -> None:
    """With `--directory` settings, data, code and lock are those of the Snakefile's folder; records name them as there."""
    first = records(ran)
    snakemake(ran, PAGE, FIGURE, "--directory", str(tmp_path))
    assert records(tmp_path) == first
    (tmp_path / "config.yaml").unlink()
    (tmp_path / "config.yaml").write_text((ran / "config.yaml").read_text() + "seeed: 3\n")
    assert "unknown setting seeed" in snakemake(ran, PAGE, "--directory", str(tmp_path), right=False)


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ('tracts={"batches": 2}', ""),
        ('sample={"all_blocks": {"one": {"states": ["13"], "up_to": 20}}}', ""),
        ("housing={batches: many}", "setting housing.batches = 'many'"),
    ],
)
def test_numbers_on_the_command_line_are_numbers(told: str, said: str) -> None:
    assert said in dry_run("results/tables/tracts.csv", "--config", told, right=not said)


def test_both_find_the_captions_of_a_report(ran: Path) -> None:
    for name, words in {"top.html": [], "beside.html": BESIDE}.items():
        snakemake(ran, PAGE, FIGURE, "--report", name, *words)
    top, beside = (sorted(re.findall(CAPTION, (ran / name).read_text())) for name in ("top.html", "beside.html"))
    assert len(top) == 2
    assert beside == top
