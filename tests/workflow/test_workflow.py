"""The whole workflow in fresh copies of the repository, on a country of six states and twelve blocks."""

import hashlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from studies.country.store import read_microdata
from study_runs import STATES, copy_repository, environment, planned_jobs, shrink_country, snakemake

SMALL: dict[str, Any] = {
    "microdata": {"synthetic": {"country": "country", "households": 6000}},
    "sample": {
        "designs": {
            "state_median": {"size": "state_median", "blocks_per_state": 1},
            "country_median": {"size": "country_median", "blocks_per_state": 1},
        },
        "batches": 3,
    },
    "generate": {"datasets": 10},
}
TARGETS = ["figures/fig2.pdf", "results/paper/claims.parquet"]
RELEASES = [f"results/{variant}/release/000.parquet" for variant in ("no_ones", "no_zeros")]
MAY_DIFFER = re.compile(r"record\.json$|^(logs|benchmarks|\.snakemake)/|\.snakemake_timestamp$")


def make(home: Path, *words: str) -> str:
    return snakemake(home, *words, "--configfile", "small.yaml")


def planned(home: Path, *words: str) -> dict[str, int]:
    """The jobs of a dry run, by rule."""
    return by_rule(make(home, "-n", *TARGETS, *RELEASES, *words))


def by_rule(said: str) -> dict[str, int]:
    return {rule: number for rule, number in planned_jobs(said).items() if rule != "total"}


def contents(home: Path) -> dict[str, bytes]:
    """Every file that must be the same on every run."""
    files = [path for part in ("results", "figures") for path in (home / part).rglob("*") if path.is_file()]
    named = {str(path.relative_to(home)): path.read_bytes() for path in files}
    return {name: text for name, text in named.items() if not MAY_DIFFER.search(name)}


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy in which the small study ran once; tests that change a file put it back."""
    home = copy_repository(tmp_path_factory.mktemp("first"))
    shrink_country(home, SMALL)
    make(home, *TARGETS, *RELEASES)
    return home


def test_a_second_run_has_nothing_to_do(ran: Path) -> None:
    assert "Nothing to be done" in make(ran, *TARGETS, *RELEASES)


def test_what_was_made(ran: Path) -> None:
    made = set(contents(ran))
    assert {"figures/fig2.pdf", "figures/fig2.png", "results/paper/claims.parquet", "results/paper/blocks.parquet"} <= made
    assert {f"results/paper/proofs/{batch}.jsonl.gz" for batch in ("000", "001", "002")} <= made
    assert {f"results/microdata/{state}.parquet" for state in STATES} <= made
    blocks = pd.read_parquet(ran / "results" / "paper" / "blocks.parquet")
    sample = pd.read_parquet(ran / "results" / "sample" / "blocks.parquet")
    assert len(blocks) == len(sample) == 12
    assert blocks["n_households"].tolist() == sample["n_households"].tolist()
    assert (blocks[[c for c in blocks if c.startswith(("undecided", "uncertified"))]] == 0).all(axis=None)


def test_every_verified_claim_is_true_of_the_private_block(ran: Path) -> None:
    claims = pd.read_parquet(ran / "results" / "paper" / "claims.parquet")
    assert len(claims) > 500
    units = read_microdata(ran / "results" / "microdata", blocks=set(claims["block"])).to_pandas()
    households = dict(iter(units[units["VACS"] == 0].groupby("block")))
    names = list(units)[4:]
    assert len(names) == 10
    for block, rows in claims.groupby("block"):
        private = households[str(block)][names].to_numpy()
        for codes, k, m in zip(rows[names].to_numpy(dtype=float, na_value=-1), rows["k"], rows["m"], strict=True):
            assert ((private == codes) | (codes == -1)).all(axis=1).sum() == m
            assert (codes != -1).sum() == k >= 6


def test_claims_and_blocks_tell_the_same_numbers(ran: Path) -> None:
    claims = pd.read_parquet(ran / "results" / "paper" / "claims.parquet")
    blocks = pd.read_parquet(ran / "results" / "paper" / "blocks.parquet")
    for k in range(6, 11):
        counted = claims[claims["k"] == k].groupby(["design", "block"]).size()
        for row in blocks.itertuples():
            assert getattr(row, f"verified_k{k}") == counted.get((row.design, row.block), 0)
    assert (claims["effective_k"] <= claims["k"]).all()


def test_the_proofs_are_checked_from_the_command_line(ran: Path) -> None:
    words = [sys.executable, "-m", "genverify", "check", "results/paper/proofs", "results/paper/release"]
    done = subprocess.run(words, cwd=ran, env=environment(ran), capture_output=True, text=True)
    sample = pd.read_parquet(ran / "results" / "sample" / "blocks.parquet")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"{sample['block'].nunique()} blocks, ")


def test_records_chain_from_the_claims_back_to_the_release(ran: Path) -> None:
    """What a job read is what another wrote, digest by digest; and the digests are those of the files."""

    def record(path: str) -> Any:
        return json.loads((ran / path).read_text())

    verified, tabulated = record("results/paper/claims/001.record.json"), record("results/paper/release/001.record.json")
    collected = record("results/paper/claims.record.json")
    name = "results/paper/claims/001.parquet"
    assert collected["inputs"]["claims"][name] == verified["outputs"]["claims"][name]
    name = "results/paper/release/001.parquet"
    assert verified["inputs"]["counts"][name] == tabulated["outputs"]["counts"][name]
    for kind, path in (("claims", "results/paper/claims.parquet"), ("blocks", "results/paper/blocks.parquet")):
        assert collected["outputs"][kind][path] == hashlib.sha256((ran / path).read_bytes()).hexdigest()
    assert verified["wildcards"] == {"variant": "paper", "batch": "001"}
    assert verified["params"]["verify"] == {"min_k": 6}


def test_the_study_is_audited_and_planned(ran: Path) -> None:
    """Both run no other job and change nothing; the audit needs the settings of the run, and sees a changed byte."""
    before = {path: path.stat().st_mtime_ns for path in ran.rglob("results/**/*")}
    assert re.search(r"^2 results, \d+ files, all accounted for", make(ran, "audit"), re.MULTILINE)
    said = snakemake(ran, "audit", right=False)
    assert "made with microdata.synthetic.country = country, but config.yaml says data/synthetic" in said
    words = [sys.executable, "-m", "genverify", "audit", "results/paper/claims.parquet", "--configfile", "small.yaml"]
    done = subprocess.run(words, cwd=ran, env=environment(ran), capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r"3 jobs verify_claims 000\.\.002, variant paper: .*\n.*program: ", done.stdout)
    assert re.search(r"^proofs: \d+ blocks, \d+ claims, \d+ proofs: all right$", done.stdout, re.MULTILINE)
    said = make(ran, "plan")
    assert "design state_median: 1 blocks in each of 6 states (of the microdata)" in said
    assert re.search(r"^jobs: .*\b18 generate_datasets\b", said, re.MULTILINE)
    assert before == {path: path.stat().st_mtime_ns for path in ran.rglob("results/**/*")}


def test_deleted_figures_come_back_with_the_same_bytes(ran: Path) -> None:
    before = contents(ran)
    shutil.rmtree(ran / "figures")
    assert "1 of 1 steps" in make(ran, *TARGETS, *RELEASES)
    assert contents(ran) == before


def downstream(ran: Path, module: str) -> set[str]:
    """The rules whose scripts use something of a module, as the records of the run say."""
    found = set()
    for path in ran.rglob("*record.json"):
        record = json.loads(path.read_text())
        if f"src/{module}" in record["code"]:
            found.add(record["rule"])
    return found


@pytest.mark.parametrize(
    ("module", "old", "new", "rerun"),
    [
        ("studies/gtv/figures.py", "\ndef ", "\n# a comment\ndef ", {}),
        # generation reads the same file, but does not write proofs
        (
            "genverify/checker/certificate.py",
            "def write_proofs(",
            "def write_proofs(*, ",
            {"verify_claims": 3, "collect_claims": 1},
        ),
    ],
)
def test_an_edited_definition_reruns_what_reaches_it_and_what_follows(
    ran: Path, module: str, old: str, new: str, rerun: dict[str, int]
) -> None:
    assert downstream(ran, module) > rerun.keys() - {"collect_claims"}
    path = ran / "src" / module
    before = path.read_bytes()
    path.write_text(path.read_text().replace(old, new, 1))
    try:
        assert planned(ran) == rerun
    finally:
        path.write_bytes(before)


def test_a_touched_module_reruns_nothing(ran: Path) -> None:
    for path in [*(ran / "src").rglob("*.py"), *(ran / "scripts").rglob("*.py")]:
        path.touch()
    assert planned(ran) == {}


@pytest.mark.parametrize(
    ("change", "jobs"),
    [
        ({"variants": {"no_ones": {"release": {"withhold": [1, 2]}}}}, {"describe_release": 1, "tabulate_release": 1}),
        ({"variants": {"no_zeros": {"generate": {"datasets": 20}}, "another": {"release": {"withhold": [3]}}}}, {}),
        ({"verify": {"min_k": 7}}, {"verify_claims": 3, "collect_claims": 1}),
    ],
)
def test_a_changed_setting_reruns_the_jobs_that_use_it(ran: Path, change: dict[str, Any], jobs: dict[str, int]) -> None:
    (ran / "change.yaml").write_text(yaml.safe_dump(change))
    said = snakemake(ran, "-n", *TARGETS, *RELEASES, "--configfile", "small.yaml", "change.yaml")
    assert by_rule(said) == jobs
    if "variants" in change and jobs:
        assert set(re.findall(r"wildcards: variant=(\w+)", said)) == {"no_ones"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"generate": {"datasets": "many"}}, "config.yaml: setting generate.datasets = 'many': "),
        (
            {"variants": {"odd": {"release": {"tables": ["H99"]}}}},
            "config.yaml: variants.odd: release.tables: unknown table 'H99'",
        ),
        ({"microdata": {"source": "ppmf"}}, "microdata.ppmf.units must give the path of the file"),
    ],
)
def test_a_wrong_configuration_is_one_clear_error(ran: Path, change: dict[str, Any], message: str) -> None:
    (ran / "bad.yaml").write_text(yaml.safe_dump(change))
    said = snakemake(ran, "-n", "--configfile", "bad.yaml", right=False)
    assert said.count(message) == 1
    assert "Traceback" not in said


def test_a_wrong_setting_on_the_command_line_is_one_clear_error(ran: Path) -> None:
    said = snakemake(ran, "-n", "--config", "sead=3", right=False)
    assert said.count("config.yaml: unknown setting sead: did you mean seed?") == 1
    assert "Traceback" not in said
