"""Audits of a study of tracts and of one of rounded areas: clean as they are made, and refused once a forger was there."""

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from audit_fuzz import RepeatedJobs
from forger import forge_proofs, forge_table
from genverify.cli import main
from genverify.model.errors import GenverifyError
from genverify.model.proof_form import KIND_OF
from genverify.run import code
from genverify.run.code import forget_code
from genverify.run.config import parse_config, read_shipped
from genverify.run.layout import load
from genverify.run.provenance import rerun
from genverify.run.provenance.audit import audit, read_config
from genverify.run.provenance.recheck import KINDS, PROOFS, kind_of
from genverify.run.provenance.records import Stages
from genverify.run.provenance.rerun import read_costs
from genverify.run.registry import proof_kinds
from study_runs import ROOT, copy_repository, snakemake
from vipr_checker import check_archive

TABLES = "title: made up\nsource: synthetic\nbase: 3\nsums: {t: {total: [a, b]}}\n"
SMALL = (
    "area,variable,group,count\ns1,t,a,0\ns1,t,b,3\ns1,t,total,3\n"
    + "s2,t,a,3\ns2,t,b,\ns2,t,total,6\ns3,t,a,0\ns3,t,b,0\ns3,t,total,9\n"
)
LARGER = "area,variable,group,count\nl1,t,a,3\nl1,t,b,6\nl1,t,total,9\nl2,t,a,3\nl2,t,b,0\nl2,t,total,3\n"
INSIDE = "sa1,sa2\ns1,l1\ns2,l1\ns3,l2\n"
SETTINGS = {
    "tracts": {
        "records": "persons.csv",
        "batches": 1,
        "persons": {
            "block_tables": ["P1", "P12", "P14"],
            "tract_tables": ["PCT12", "PCT12A", "PCT12H"],
            "datasets": 5,
            "largest_block": 100,
        },
    },
    "nz": {"tables": "tables.yaml", "counts": "small.csv", "larger": "larger.csv", "areas": "areas.csv", "batches": 1},
}
REPEATED = RepeatedJobs(rerun.rerun_jobs)  # a job that nobody changed is run again once for all tests
TRACTS, AREAS = "results/tracts/records/bins", "results/nz"
OF_TRACTS, OF_AREAS = f"{TRACTS}/checked.csv", "results/tables/rounded_areas.csv"


def persons() -> pd.DataFrame:
    """Two tracts of three blocks with four persons each; one block of young people, whose ages no other block shares."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(0, index=range(24), columns=["white", "black", "aian", "asian", "nhpi", "other", "hispanic"])
    frame["white"] = 1
    frame.insert(0, "block", np.repeat([f"0100102010{tract}100{block}" for tract in (1, 2) for block in (0, 1, 2)], 4))
    frame["age"] = np.concatenate([rng.integers(30, 40, 8), rng.integers(3, 9, 4)] * 2)
    frame["sex"] = rng.integers(1, 3, 24)
    return frame


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository with both studies, made by Snakemake."""
    home = copy_repository(tmp_path_factory.mktemp("other") / "proofs")
    persons().to_csv(home / "persons.csv", index=False)
    texts = {"tables.yaml": TABLES, "small.csv": SMALL, "larger.csv": LARGER, "areas.csv": INSIDE}
    for name, text in {**texts, "mine.yaml": yaml.safe_dump(SETTINGS)}.items():
        (home / name).write_text(text)
    snakemake(home, "--cores", "2", OF_TRACTS, OF_AREAS, "--configfile", "mine.yaml")
    return home


@pytest.fixture
def study(made: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The copy as it was made, whatever the test before did to its results."""
    if not (made / "kept").exists():
        shutil.copytree(made / "results", made / "kept")
    shutil.rmtree(made / "results")
    shutil.copytree(made / "kept", made / "results")
    monkeypatch.chdir(made)
    monkeypatch.setattr(code, "SRC", made / "src")
    monkeypatch.setattr(rerun, "rerun_jobs", REPEATED)
    forget_code()
    yield made
    forget_code()


def audited(*targets: str) -> list[str]:
    return list(audit(read_config([Path("mine.yaml")]), targets))


def test_both_studies_are_audited_proof_by_proof(study: Path) -> None:
    (line,) = (line for line in audited(OF_TRACTS, OF_AREAS) if line.startswith("proofs: "))
    claims = pd.read_parquet(f"{TRACTS}/claims/000.parquet")
    both = (claims["tables"] == "both").sum()
    assert both > 0
    assert f"2 tracts, 6 blocks, {both} claims" in line
    assert f"tract tables alone show {len(claims) - both} claims rests on the solver" in line
    assert "2 systems of areas, 15 ranges" in line


def test_check_export_and_explain_take_both_models(study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By the records of the jobs that wrote the proofs; what is exported is accepted by the checker of VIPR."""
    assert main(["check", TRACTS, AREAS]) == 0
    said = capsys.readouterr().out
    assert "2 tracts, 6 blocks" in said
    assert "2 systems of areas, 15 ranges: all right" in said
    for place, folder in enumerate((TRACTS, AREAS)):
        assert main(["export", folder, "--to", str(tmp_path / f"{place}.zip")]) == 0
        assert "left out" not in capsys.readouterr().out
        assert check_archive(tmp_path / f"{place}.zip") > 0
    claims = pd.read_parquet(f"{TRACTS}/claims/000.parquet")
    one = claims[claims["tables"] == "both"].iloc[-1]
    text = ",".join(f"{name}={one[name]}" for name in claims.columns[claims.columns.get_loc("m") + 1 :] if one[name] >= 0)
    assert main(["explain", one["area"], f"{text},m={one['m']}", "--tracts", TRACTS]) == 0
    assert "Verified: true of every dataset" in capsys.readouterr().out
    assert main(["explain", "0:t/a", "--study", AREAS]) == 0
    assert main(["explain", "no such block", "X=1", "--study", TRACTS]) == 2
    assert "no proofs about block no such block" in capsys.readouterr().err
    assert {kind.model for kind in (*KINDS.values(), *proof_kinds().values())} == set(KIND_OF)
    assert all(callable(load(kind.open)) for kind in (*KINDS.values(), *proof_kinds().values()))


def in_proofs(change: Callable[[list[dict[str, Any]]], object], path: str = f"{TRACTS}/proofs/000.jsonl.gz") -> Any:
    return lambda: forge_proofs(path, lambda lines: change(lines) and None)


def in_table(name: str, change: Callable[[pd.DataFrame], pd.DataFrame]) -> Any:
    return lambda: forge_table(f"{TRACTS}/{name}/000.parquet", change)


def in_ranges(change: Callable[[pd.DataFrame], pd.DataFrame]) -> Any:
    return lambda: forge_table(f"{AREAS}/ranges/000.parquet", change)


def first(frame: pd.DataFrame, where: pd.Series, **values: Any) -> pd.DataFrame:  # type: ignore[type-arg]
    """Other values in the first row that is meant."""
    at = frame.index[where][0]
    for name, value in values.items():
        frame.loc[at, name] = value
    return frame


def a_claim_more(frame: pd.DataFrame, tables: str) -> pd.DataFrame:
    row = frame[frame["tables"] == tables].iloc[[0]]
    return pd.concat([frame, row.assign(m=row["m"] + 1)], ignore_index=True)


def multiplier(lines: list[dict[str, Any]]) -> None:
    proof = next(half for line in lines[0]["statements"] for half in line["alone"]["proofs"][0].values() if half.get("y"))
    proof["y"][next(iter(proof["y"]))] += 1


FORGED: dict[str, tuple[Callable[[], None], str]] = {
    "counts": (in_proofs(lambda lines: lines[0]["about"].update(digest="0" * 64)), "of other counts than these"),
    "a tract less": (in_proofs(lambda lines: lines.clear()), "not the proofs of the tracts of this batch"),
    "a block less": (in_proofs(lambda lines: lines[0]["statements"].pop()), "about a block without proofs"),
    "another multiplier": (in_proofs(multiplier), "block 0100102010"),
    "another claim": (
        in_proofs(lambda lines: lines[0]["statements"][0]["alone"]["statements"][0].update(m=9)),
        "block 010010201011000",
    ),
    "a claim of both": (in_table("claims", lambda f: f.assign(m=f["m"] + 1)), "reported without proof"),
    "a claim less": (in_table("claims", lambda f: f[f["tables"] != "both"]), "reported without proof"),
    "a claim twice": (in_table("claims", lambda f: pd.concat([f, f.iloc[[0]]])), "is duplicated"),
    "a claim more": (in_table("claims", lambda f: a_claim_more(f, "block tables")), "is duplicated, or contradicts"),
    "another claim of blocks": (
        in_table("claims", lambda f: first(f, f["tables"] == "block tables", m=9)),
        "contradicts another one",
    ),
    "another tract": (in_table("claims", lambda f: f.assign(tract="01001020199")), "not an area of this batch"),
    "fractions": (in_table("claims", lambda f: f.assign(m=f["m"] + 0.5)), "whole numbers"),
    "records": (in_table("areas", lambda f: f.assign(records=f["records"] + 1)), "records is 5, but 4"),
    "determined": (in_table("areas", lambda f: f.assign(determined=f["determined"] + 1)), "determined is"),
    "number of proofs": (in_table("areas", lambda f: first(f, f["tables"] == "both", proofs=99)), "proofs is 99"),
    "one solution": (in_table("whole", lambda f: f.assign(one_solution=~f["one_solution"])), "one_solution is"),
    "persons": (in_table("whole", lambda f: f.assign(persons=f["persons"] + 1)), "persons is 13, but 12"),
    "a narrower range": (in_ranges(lambda f: first(f, f["lo"] < f["hi"], lo=f["hi"].max())), "lo is"),
    "a wider range": (in_ranges(lambda f: f.assign(hi=f["hi"] + 1)), "hi is"),
    "no contradiction": (in_ranges(lambda f: f.assign(contradicts="")), "contradicts is"),
    "a printed count": (in_ranges(lambda f: first(f, f["printed"] == 3, printed=6)), "printed is 6"),
    "a row less": (in_ranges(lambda f: f.iloc[1:]), "not the rows and columns of its areas"),
    "attained and contradictory": (in_ranges(lambda f: f.assign(attained=True)), "attained is True"),
    "a statement less": (
        in_proofs(lambda lines: lines[0]["statements"].pop(), f"{AREAS}/proofs/000.jsonl.gz"),
        "which its counts and proofs do not show|the proof",
    ),
    "no proof of a contradiction": (
        in_proofs(lambda lines: lines[1]["statements"].clear(), f"{AREAS}/proofs/000.jsonl.gz"),
        "which its counts and proofs do not show",
    ),
    "a system of one's own": (
        in_proofs(lambda lines: lines[0]["about"].update(digest="0" * 64), f"{AREAS}/proofs/000.jsonl.gz"),
        "of other counts than these",
    ),
    "a system less": (in_proofs(lambda lines: lines.pop(), f"{AREAS}/proofs/000.jsonl.gz"), "1 systems, but 2 larger areas"),
}


@pytest.mark.parametrize("case", FORGED)
def test_what_a_forger_made_of_them_is_refused(study: Path, case: str) -> None:
    forge, said = FORGED[case]
    before = Path(OF_AREAS).read_bytes(), sorted(path.read_bytes() for path in Path(AREAS).rglob("*.*"))
    forge()
    same = before == (Path(OF_AREAS).read_bytes(), sorted(path.read_bytes() for path in Path(AREAS).rglob("*.*")))
    with pytest.raises(GenverifyError, match=said):
        audited(OF_TRACTS if same else OF_AREAS)


def test_every_rule_that_writes_proofs_says_how_they_are_checked() -> None:
    """By what it names: one kind, and a function that is there."""
    rules = Stages([ROOT / "Snakefile", *sorted((ROOT / "workflow").rglob("*.smk"))], parse_config(read_shipped(ROOT))).rules
    writing = {
        name: {*rule.get("input", ()), *rule["output"]} for name, rule in rules.items() if PROOFS in rule.get("output", ())
    }
    assert len(writing) >= 5
    for name, files in writing.items():
        kind = kind_of(files)
        assert kind, f"rule {name} writes proofs of no kind: register it (PROOFS, in proofs.py of its study)"
        assert callable(load(kind.check))
        fitting = [other for other in (*KINDS.values(), *proof_kinds().values()) if set(other.files) <= files]
        assert len(fitting) == 1, f"rule {name}: {len(fitting)} kinds fit"


def test_no_rule_writes_proofs_under_another_name() -> None:
    """A file of proofs that is called otherwise would go unchecked."""
    for path in [ROOT / "Snakefile", *sorted((ROOT / "workflow").rglob("*.smk"))]:
        for name in re.findall(r"^        (\w+)=.*proofs[^\n]*\.jsonl\.gz", path.read_text(), re.MULTILINE):
            assert name == PROOFS, f"{path}: {name}"


def test_every_result_says_what_it_states_and_how_that_is_checked() -> None:
    """A sentence, a record, a script of the name of the rule, and a row of the table in docs/audit.md."""
    stages = [ROOT / "Snakefile", *sorted((ROOT / "workflow").rglob("*.smk"))]
    rules, costs = Stages(stages, parse_config(read_shipped(ROOT))).rules, read_costs(ROOT / "workflow" / "times.yaml")
    text = "\n".join(path.read_text() for path in stages)
    documented = (ROOT / "docs" / "audit.md").read_text().partition("## What states something")[2].partition("## What it")[0]
    writing = [name for name, rule in rules.items() if rule.get("output")]
    assert len(writing) > 100
    for name in writing:
        body = re.search(rf"^rule {name}:\n((?:[ \t]+.*\n|\n)+)", text, re.MULTILINE)
        assert body, name
        assert re.match(r'    """[A-Z][^"]{20,}[.?]"""', body[1]), f"rule {name}: say in a sentence what it states"
        assert "record" in rules[name]["output"], f"rule {name}: no record, so no audit sees what it writes"
        assert re.search(rf'script:\n +"[./]+/scripts/[\w/]*/{name}.py"', body[1]), f"rule {name}: no script of its name"
        assert "code" in rules[name]["params"]
        outputs = re.findall(r'"((?:results|figures)/[^"]+)"', body[1].partition("    output:")[2].partition("    log:")[0])
        folders = {
            "/".join(path.replace("{{", "{").replace("}}", "}").split("/")[: 1 + path.startswith("results")])
            for path in outputs
        }
        for folder in {folder for folder in folders if not re.search(r"\.record\.json$|^results/\w+\.json$", folder)}:
            assert f"`{folder}`" in documented, f"rule {name} writes {folder}: give it a row in docs/audit.md"
    assert costs.seconds.keys() | costs.unrepeatable.keys() <= rules.keys()
    assert all(len(reason) > 5 for reason in costs.unrepeatable.values())
