"""What reruns a job: the modules that the digest of its script may cover, and the definitions in them."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from genverify.run import code
from genverify.run.code import code_digest, code_parts, find_script, forget_code

ROOT = Path(__file__).parents[2]
ALWAYS = ("genverify/model/", "genverify/run/jobs", "genverify/run/code", "genverify/run/layout")
PROVING = ("genverify/solve/", "genverify/checker/")
COUNTING = "genverify/solve/counting/"
COUNT = ("generate_datasets",)
MAY_COVER = {
    # by walks or by exact draws, which count; no verification; of the explanations only the cells that an error names
    "generate_datasets": (
        *PROVING,
        *(f"genverify/attack/{name}" for name in ("generate", "onehot", "probability", "explain")),
        "studies/gtv/probabilities",  # the one function that chooses between the two
    ),
    # no explanations, no counting; what files of datasets hold stands beside the walks
    "verify_claims": (*PROVING, *(f"genverify/attack/{name}" for name in ("verify", "generate", "onehot"))),
    "rank_areas": ("studies/raprank/", "studies/country/store"),  # no program, no exchange
    "plot_solvar": ("studies/gtv/figures", "studies/gtv/summary", "genverify/report/figures"),
    "detect_housing": (*PROVING, "studies/housing/", "studies/country/store"),
    "write_cellbounds_table": ("studies/cellbounds/", "genverify/bounds/", "genverify/report/"),
}


@pytest.mark.parametrize("script", MAY_COVER)
def test_a_digest_covers_no_more_than_its_work(script: str) -> None:
    files = [Path(file).resolve() for file in code_parts(find_script(ROOT / "scripts", script))]
    modules = [str(file.relative_to(ROOT / "src")) for file in files if file.is_relative_to(ROOT / "src")]
    others = [
        name for name in modules if not name.endswith("__init__.py") and not name.startswith(ALWAYS + MAY_COVER[script])
    ]
    assert others == []
    assert script in COUNT or not [name for name in modules if name.startswith(COUNTING)]


def test_what_every_job_runs_covers_no_attack() -> None:
    """run/jobs.py is in every digest: what it imports reruns everything."""
    files = code_parts(ROOT / "src" / "genverify" / "run" / "jobs.py")
    assert [
        name for name in files if not name.startswith(tuple(f"src/{one}" for one in (*ALWAYS, "genverify/__init__")))
    ] == []


STUDIED = ("generate_datasets", "verify_claims", "plot_verified")


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A copy of the code, which a test may change."""
    home = tmp_path_factory.mktemp("copied")
    for part in ("src", "scripts"):
        shutil.copytree(ROOT / part, home / part, ignore=shutil.ignore_patterns("__pycache__"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(code, "SRC", home / "src")
        forget_code()
        code.keep_digests(home / "scripts")
        yield home
    forget_code()


@pytest.mark.parametrize(
    ("old", "new", "rerun"),
    [
        (r"def check_verified\((.|\n)*?:\n(?= {4}\S)", r"\g<0>    pass\n", {"verify_claims"}),
        (r"def draw_records\((.|\n)*?:\n(?= {4}\S)", r"\g<0>    pass\n", {"generate_datasets"}),
        (r"\nLARGEST_COUNT = (?=1_)", r"\g<0>1 + ", {"generate_datasets", "verify_claims"}),
        (r"\ndef class_vectors\(", r"\n# a comment\g<0>", set()),
    ],
)
def test_an_edited_definition_reruns_the_jobs_that_reach_it(copied: Path, old: str, new: str, rerun: set[str]) -> None:
    def digests() -> dict[str, str]:
        forget_code()
        return {name: code_digest(find_script(copied / "scripts", name)) for name in STUDIED}

    (path,) = [path for path in (copied / "src").rglob("*.py") if re.search(old, path.read_text())]
    before, text = digests(), path.read_text()
    path.write_text(re.sub(old, new, text, count=1))
    try:
        after = digests()
    finally:
        path.write_text(text)
    assert path.read_text() == text
    assert {name for name in STUDIED if before[name] != after[name]} == rerun


TRACED = (
    *("ingest_microdata", "sample_blocks", "tabulate_release", "generate_datasets", "verify_claims", "collect_claims"),
    *("fit_baselines", "count_households", "summarise_claims", "plot_verified"),  # figure 3, and one target of each paper
    *("rank_areas", "write_cellbounds_table", "detect_housing", "plot_rr_frontier"),
)


@pytest.mark.parametrize("name", TRACED)
def test_the_scripts_are_traced(name: str) -> None:
    """A test runs them by `script`, which refuses what their digests do not cover."""
    tests = [*(ROOT / "tests" / "scripts").rglob("*.py"), *(ROOT / "tests" / "helpers").rglob("*.py")]
    assert any(f'script("{name}")(' in path.read_text() for path in tests)
