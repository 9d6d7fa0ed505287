"""Ablations on a country of six states and a few blocks: what each publishes, what comes out of it, what runs again."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from study_runs import copy_repository, environment, planned_jobs, shrink_country, snakemake

SMALL: dict[str, Any] = {
    "microdata": {"synthetic": {"country": "country", "households": 6000, "likeness": "urn"}},
    "sample": {
        "designs": {
            "state_median": {"size": "state_median", "blocks_per_state": 1, "states": ["01", "19"]},
            "country_median": None,
            "fours": {"size": 4, "blocks_per_state": 1, "states": ["56"]},
        },
        "batches": 1,
    },
    "generate": {"datasets": 5},
}
VARIANTS = """variants:
  paper: {}
  no_h12: {release: {without: [H12*]}}
  rounded: {release: {round: 5}}
  suppressed: {release: {suppress: 3}}
  reseeded: {generate: {datasets: 3}, seed: 5}
"""
LESS = ["no_h12", "rounded", "suppressed"]
TARGETS = [
    *(f"results/tables/compare/paper/{name}.csv" for name in (*LESS, "reseeded")),
    "results/tables/table5_fours.csv",
    "results/tables/table7_state_median.csv",
    "results/tables/no_h12/table6.csv",
    "figures/fig3.svg",
    "figures/suppressed/fig4_state_median.png",
    "figures/rounded/fig5.pdf",
]
OPTIONS = ("--configfile", "small.yaml")
CLAIMS = "results/paper/claims.parquet"
# the medians are one job, the design `fours` is another
TABULATED = {"describe_release": 1, "tabulate_release": 2}
ATTACKED = {"generate_datasets": 2, "verify_claims": 2, "collect_claims": 1}


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = copy_repository(tmp_path_factory.mktemp("ablations"))
    shrink_country(home, SMALL)
    settings = home / "config.yaml"
    settings.write_text(settings.read_text().partition("variants:")[0] + VARIANTS)
    snakemake(home, *TARGETS, *OPTIONS)
    return home


def counts(home: Path, variant: str) -> pd.DataFrame:
    files = sorted((home / "results" / variant / "release").glob("*.parquet"))
    return pd.concat(map(pd.read_parquet, files)).astype({"query": str})


def planned(home: Path, *words: str) -> dict[str, int]:
    return {rule: n for rule, n in planned_jobs(snakemake(home, "-n", *words, *OPTIONS)).items() if rule != "total"}


def test_blocks_are_drawn_from_the_states_of_each_design(ran: Path) -> None:
    files = [ran / "results" / "sample" / name for name in ("blocks.parquet", "designs/fours.parquet")]
    sample = pd.concat(map(pd.read_parquet, files))
    states = sample.groupby("design")["state"].apply(sorted).to_dict()
    assert states == {"state_median": ["01", "19"], "fours": ["56"]}


def test_tables_are_left_out_and_all_others_stay(ran: Path) -> None:
    whole, less = (
        json.loads((ran / "results" / name / "release" / "schema.json").read_text()) for name in ("paper", "no_h12")
    )
    assert {query["table"] for query in less["queries"]} == {
        query["table"] for query in whole["queries"] if not query["table"].startswith("H12")
    }


@pytest.mark.parametrize(("variant", "least", "most"), [("rounded", [1, 6], [5, 10]), ("suppressed", [1], [2])])
def test_counts_are_published_as_ranges_around_the_true_ones(ran: Path, variant: str, least: Any, most: Any) -> None:
    both = counts(ran, variant).merge(counts(ran, "paper"), on=["block", "query"], validate="1:1")
    assert ((both["lo"] <= both["count"]) & (both["count"] <= both["hi"])).all()
    exact = both[both["lo"] == both["hi"]]
    assert {"N"} <= set(exact["query"])
    assert (exact["count"] == 0).any()
    open_ = both[both["lo"] < both["hi"]]
    assert set(open_["lo"]) <= set(least)
    assert set(open_["hi"]) <= set(most)
    assert (open_["count"] > 0).all()


@pytest.mark.parametrize("variant", LESS)
def test_whoever_publishes_less_discloses_no_more(ran: Path, variant: str) -> None:
    table = pd.read_csv(ran / "results" / "tables" / "compare" / "paper" / f"{variant}.csv")
    by_k = table[table["grouping"] == "k"]
    assert (by_k["difference"] == by_k["second"] - by_k["first"]).all()
    assert (by_k["difference"] <= 0).all()
    assert set(table["design"]) == {"state_median", "fours"}
    assert (table["low"] <= table["high"]).all()


def test_what_is_verified_depends_on_neither_seed_nor_number_of_datasets(ran: Path) -> None:
    table = pd.read_csv(ran / "results" / "tables" / "compare" / "paper" / "reseeded.csv")
    assert (table[["difference", "low", "high"]] == 0).all(axis=None)
    assert table["first"].sum() > 0
    generated = [(ran / "results" / name / "generated" / "000.parquet").read_bytes() for name in ("paper", "reseeded")]
    assert generated[0] != generated[1]


def test_tables_and_figures_of_a_design_and_a_variant(ran: Path) -> None:
    table5 = pd.read_csv(ran / "results" / "tables" / "table5_fours.csv")
    assert set(table5["design"]) == {"fours"}
    assert {*LESS, "paper", "reseeded"} == set(table5["variant"])
    assert set(pd.read_csv(ran / "results" / "tables" / "table7_state_median.csv")["design"]) == {"state_median"}
    assert "variant no_h12" in (ran / "results" / "tables" / "no_h12" / "table6.md").read_text()
    for name in ("fig3", "suppressed/fig4_state_median", "rounded/fig5", "compare/paper/rounded"):
        beginnings = [(ran / "figures" / f"{name}.{end}").read_bytes()[:5] for end in ("pdf", "png", "svg")]
        assert beginnings == [b"%PDF-", b"\x89PNG\r", b"<?xml"], name


def test_an_edited_variant_runs_alone(ran: Path) -> None:
    assert planned(ran, *TARGETS) == {}
    settings = ran / "config.yaml"
    before = settings.read_text()
    settings.write_text(before.replace("round: 5", "round: 10"))
    jobs = planned(ran, "results/tables/compare/paper/rounded.csv", "results/tables/compare/paper/no_h12.csv")
    settings.write_text(before)
    assert jobs == {**TABULATED, **ATTACKED, "count_households": 1, "compare_variants": 1}


def test_an_added_design_attacks_its_new_blocks_only(ran: Path) -> None:
    """A block that another design has is attacked with that one; in the end all is as if it had been made from nothing."""
    sizes = pd.read_parquet(ran / "results" / "sample" / "sizes.parquet")
    every = int(((sizes["state"] == "56") & (sizes["n"] == 4)).sum())
    change = f"sample={{designs: {{more: {{size: 4, blocks_per_state: {every}, states: ['56']}}}}}}"
    grown, fresh = (("--config", f"study={name}") for name in ("grown", "fresh"))
    snakemake(ran, CLAIMS, *grown, *OPTIONS)
    folders = [ran / "runs" / name / "results" for name in ("grown", "fresh")]
    before = {path: path.stat().st_mtime_ns for path in folders[0].rglob("00[01]*") if path.is_file()}
    added = ("sample_added", "tabulate_release", "generate_datasets", "verify_claims", "collect_claims")
    assert planned(ran, CLAIMS, *grown, change) == dict.fromkeys(added, 1)
    for study in (grown, fresh):
        snakemake(ran, CLAIMS, *study, change, *OPTIONS)
    assert {path: path.stat().st_mtime_ns for path in before} == before
    for name in ("claims.parquet", "release/000.parquet", "release/001.parquet", "release/002.parquet"):
        one, other = ((folder / "paper" / name).read_bytes() for folder in folders)
        assert one == other, name
    totals = counts(ran / "runs" / "grown", "paper").query("query == 'N'")
    samples = [pd.read_parquet(folders[0] / "sample" / "designs" / f"{name}.parquet") for name in ("fours", "more")]
    both = set(samples[0]["block"])
    assert both < set(samples[1]["block"])
    assert totals["block"].is_unique
    assert len(totals) == 2 + every
    claims = pd.read_parquet(folders[0] / "paper" / "claims.parquet")
    shared = [claims[(claims["design"] == name) & claims["block"].isin(both)] for name in ("fours", "more")]
    assert len(shared[0]) == len(shared[1]) > 0


def test_two_variants_are_compared_by_name(ran: Path) -> None:
    words = ("compare", "--config", "first=paper")
    assert "Nothing to be done" in snakemake(ran, *words, "second=rounded", *OPTIONS)
    said = snakemake(ran, *words, "second=no_h21", *OPTIONS, right=False)
    assert "compare: second=no_h21 is no variant: did you mean no_h12?" in said
    assert "second=None is no variant" in snakemake(ran, *words, *OPTIONS, right=False)


def test_the_whole_study_is_audited(ran: Path) -> None:
    """Cheap jobs are run again and give the same bytes, SVG among them."""
    said = snakemake(ran, "audit", *OPTIONS)
    assert re.search(r"^\d+ results, \d+ files, all accounted for", said, re.MULTILINE)


def test_a_study_beside_it_shares_the_private_data_and_nothing_else(ran: Path) -> None:
    beside = ("--config", "study=beside", "generate={datasets: 4}")
    jobs = planned(ran, CLAIMS, *beside)
    assert jobs == {"sample_blocks": 1, "sample_added": 1, **TABULATED, **ATTACKED}
    before = {path: path.read_bytes() for path in (ran / "results" / "paper").rglob("*.parquet")}
    snakemake(ran, CLAIMS, *beside, *OPTIONS)
    one, other = (home / "results" / "microdata" / "01.parquet" for home in (ran, ran / "runs" / "beside"))
    assert one.samefile(other)
    assert not (ran / "runs" / "beside" / "results" / "no_h12").exists()
    assert {path: path.read_bytes() for path in before} == before
    assert "ingest_microdata" in planned(ran, CLAIMS, *beside, "seed=2")  # no longer equal
    words = [sys.executable, "-m", "genverify", "audit", CLAIMS, "--configfile", "small.yaml", "own.yaml"]
    (ran / "runs" / "beside" / "own.yaml").write_text("generate: {datasets: 4}")
    done = subprocess.run(words, cwd=ran / "runs" / "beside", env=environment(ran), capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "all accounted for" in done.stdout
    assert planned(ran, *TARGETS) == {}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            "variants={odd: {release: {without: [H21]}}}",
            "odd: release.without: unknown table 'H21': did you mean",
        ),
        ("variants={odd: {release: {without: [H1]}}}", "counts all records is none of these: that is N"),
        ("variants={odd: {sample: {batches: 2}}}", "variants.odd cannot change 'sample': all variants share it"),
        ("variants={odd: {microdata: {source: ppmf}}}", "(a study of its own: --config study=NAME)"),
        ("variants={odd: {relaese: {withhold: [1]}}}", "variants.odd cannot change 'relaese': did you mean release?"),
        ("variants={a/b: {}}", "'a/b' cannot be a name, which becomes part of paths"),
        ("sample={designs: {a/b: {size: 4, blocks_per_state: 1}}}", "'a/b' cannot be a name, which becomes part of paths"),
        ("study=a/b", "--config study=a/b: give a name of letters, digits and _"),
    ],
)
def test_a_mistake_is_named_before_the_first_job(ran: Path, change: str, said: str) -> None:
    assert said in snakemake(ran, "-n", "figures/fig3.pdf", "--config", change, *OPTIONS, right=False)


@pytest.mark.parametrize(
    ("design", "said"),
    [
        (
            "{size: 900, blocks_per_state: 1, states: ['56']}",
            "state 56, design odd: 1 blocks of 900 households wanted, 0 exist (blocks by size: none of a near size). "
            "Ask for fewer blocks, another size or other states",
        ),
        ("{size: 4, blocks_per_state: 1, states: ['57']}", "design odd: the microdata hold no state '57': "),
    ],
)
def test_a_design_that_cannot_be_drawn_is_refused_before_its_first_job(ran: Path, design: str, said: str) -> None:
    change = ("--config", "study=odd", f"sample={{designs: {{odd: {design}}}}}")
    assert said in snakemake(ran, "-n", "results/sample/designs/odd.parquet", *change, *OPTIONS, right=False)


def test_the_command_writes_a_variant_and_says_what_it_would_run(ran: Path) -> None:
    settings = ran / "config" / "ablations.yaml"
    assert not settings.exists()

    def ablation(*words: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "genverify", "ablation", *words]
        done = subprocess.run(command, cwd=ran, env=environment(ran), capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    code, said = ablation("no_h13", "release.without=[H13*]", "verify.min_k=7")
    assert code == 0, said
    variant = {"release": {"without": ["H13*"]}, "verify": {"min_k": 7}}
    assert yaml.safe_load(settings.read_text()) == {"variants": {"no_h13": variant}}
    assert "config/ablations.yaml: variants.no_h13\n" in said
    assert "run it: snakemake results/tables/compare/paper/no_h13.csv" in said
    assert re.search(r"^time: about \d+", said, re.MULTILINE)
    assert re.search(r"^jobs: \d+ \(.*1 compare_variants", said, re.MULTILINE)
    wrong = {
        "no_h13 release.round=5": "variants has a 'no_h13' already",
        "odd release.rond=5": "unknown setting release.rond: did you mean round?",
        "odd release.without=[H99]": "unknown table 'H99'",
        "odd round": "'round' is not a change: write key=value",
        "odd/even release.round=5": "'odd/even' cannot be a name",
        "odd --design size=0 blocks_per_state=1": "setting sample.designs.odd",
        "odd --design size=900 blocks_per_state=1": "1 blocks of 900 households wanted, 0 exist",
        "odd --design size=4 blocks_per_state=1 states=['99']": "design odd: the microdata hold no state '99'",
        "a/b --design size=4": "'a/b' cannot be a name",
    }
    after = settings.read_text()
    for words, why in wrong.items():
        code, said = ablation(*words.split())
        assert code != 0, words
        assert why in said
        assert settings.read_text() == after
    settings.unlink()
