"""Jobs run again by the audit: a forged file of any kind is named; and what a job may do while it is run again."""

import json
import os
import socket
import sys
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from audit_fuzz import RepeatedJobs
from forger import forge_record, rewrite
from genverify.cli import main
from genverify.model.errors import GenverifyError
from genverify.run.config import Config
from genverify.run.provenance import rerun
from genverify.run.provenance.audit import audit, read_config
from genverify.run.provenance.records import AuditError, read_record
from genverify.run.provenance.rerun import Costs, confine, draw_jobs, link_inputs, read_share, rerun_jobs

TARGETS = ("figures/fig3.pdf", "results/tables/toy.csv", "results/crate.zip")
FIGURE = "figures/fig3.record.json"
MADE = ("results", "figures")
REPEATED = RepeatedJobs(rerun.rerun_jobs)  # a job that nobody changed is run once for all tests


@cache
def config() -> Config:
    return read_config([])


def audited(*targets: str, **how: Any) -> list[str]:
    return list(audit(config(), targets or TARGETS, **how))


@pytest.fixture
def repeated(chain_study: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(rerun, "rerun_jobs", REPEATED)
    return chain_study


def swapped(content: bytes) -> bytes:
    """A column the other way round, or the lines."""
    return b"".join(reversed(content.splitlines(keepends=True)))


# microdata, sample, release, datasets, blocks, claims, proofs, collected tables, a derived table, figures, the crate
FILES = (
    "results/store/01.csv", "results/store/02.csv", "results/sample.parquet", "results/paper/release/000.parquet",
    "results/paper/release/schema.json", "results/paper/generated/000.parquet", "results/paper/generated/000.blocks.parquet",
    "results/paper/claims/000.parquet", "results/paper/claims/000.blocks.parquet", "results/paper/proofs/000.jsonl.gz",
    "results/paper/claims.parquet", "results/paper/blocks.parquet", "results/tables/toy.csv", "figures/fig3.pdf",
    "figures/fig3.png", "results/crate.zip",
)  # fmt: skip
CHANGES: dict[str, Callable[[bytes], bytes]] = {
    "emptied": lambda content: b"",
    "one byte": lambda content: content[:-1] + bytes([content[-1] ^ 1]),
    "longer": lambda content: content + b"\n",
    "of another file": lambda content: Path("envs/requirements.lock").read_bytes(),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("path", FILES)
def test_a_forged_file_of_any_kind_is_named(repeated: Path, path: str, change: str) -> None:
    """Whatever follows from it is left as it was, with digests that fit; the first job that gives another file is named."""
    rewrite(path, CHANGES[change](Path(path).read_bytes()))
    with pytest.raises(GenverifyError) as error:
        audited()
    assert "results/" in str(error.value) or "figures/" in str(error.value)


def test_numbers_of_a_derived_table_are_computed_again(repeated: Path) -> None:
    rewrite("results/tables/toy.csv", Path("results/tables/toy.csv").read_bytes().replace(b"1,", b"3,"))
    with pytest.raises(AuditError, match=r"results/tables/toy.csv: its job write_table, run again .* gives another file"):
        audited("results/tables/toy.csv")


def test_an_emptied_raw_file_is_seen_even_if_the_list_of_sources_fits(repeated: Path) -> None:
    old, sources = sha256(Path("data/raw.yaml").read_bytes()).hexdigest(), Path("data/sources.csv")
    rewrite("data/raw.yaml", b"")
    sources.write_text(sources.read_text().replace(old, sha256(b"").hexdigest()))
    with pytest.raises(AuditError, match=r"results/store/0\d.csv: its job make_store, run again"):
        audited()


def dear(text: dict[str, Any]) -> None:
    text["seconds"] = 1e9


def test_a_forged_time_does_not_make_a_job_dear(repeated: Path) -> None:
    rewrite("figures/fig3.pdf", b"drawn by hand")
    forge_record(FIGURE, dear)
    with pytest.raises(AuditError, match=r"figures/fig3.pdf: its job plot_fig3, run again"):
        audited()


FORGED_RECORDS: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "a wildcard more": (lambda text: text["wildcards"].update(variant="no_ones"), "names the wildcard variant, which no"),
    "no lists": (lambda text: text.pop("lists"), "'lists' is missing"),
    "lists of another kind": (lambda text: text["lists"].update(inputs=[]), "'lists' does not say"),
    "an input twice": (lambda text: text["lists"]["inputs"].update(claims=["a", "a"]), "not in the order of the rule"),
    "a list that no name has": (
        lambda text: text["lists"]["outputs"].update(more=[]),
        "the outputs more are not in the order",
    ),
    "a list in place of a file": (
        lambda text: text["lists"]["outputs"].update(pdf=["figures/fig3.pdf"]),
        "the outputs pdf are not in the order of the rule plot_fig3, or not as it gives them",
    ),
    "no input": (lambda text: text["lists"]["inputs"].update(claims=[]), "not in the order of the rule"),
    "another parameter": (lambda text: text["params"].update(code="0" * 16), "not the code that"),
    "another code": (lambda text: text["code"].update({"scripts/plot_fig3.py": "0" * 64}), "uses of it is not as"),
    "another script": (lambda text: text["code"].update({"scripts/collect.py": "0" * 64}), "uses nothing of it"),
    "another rule": (lambda text: text.update(rule="write_table"), "not those of the rule|does not name|uses"),
    "another seed": (lambda text: text["params"].update(seed=2), "names params seed, which the rule does not have"),
}


@pytest.mark.parametrize("case", FORGED_RECORDS)
def test_a_record_cannot_have_another_job_run(repeated: Path, case: str) -> None:
    change, said = FORGED_RECORDS[case]
    forge_record(FIGURE, change)
    with pytest.raises(AuditError, match=said):
        audited()


def test_inputs_in_another_order_are_refused(repeated: Path) -> None:
    record = "results/crate.record.json"
    forge_record(record, lambda text: text["lists"]["inputs"]["results"].reverse())
    with pytest.raises(AuditError, match="the inputs results are not in the order of the rule write_crate"):
        audited()


def test_a_link_in_place_of_a_result_is_refused(repeated: Path) -> None:
    Path("figures/fig3.pdf").rename("elsewhere.pdf")
    Path("figures/fig3.pdf").symlink_to(repeated / "elsewhere.pdf")
    with pytest.raises(AuditError, match=r"figures/fig3.pdf: a link in place of the file"):
        audited()


# The share of dear jobs


def make_dear() -> None:
    rules = ("make_store", "sample", "publish", "generate", "verify", "collect", "plot_fig3")
    Path("workflow/times.yaml").write_text(json.dumps({"seconds": dict.fromkeys(rules, 99)}))
    for path in (path for made in MADE for path in Path(made).rglob("*record.json")):
        forge_record(str(path), dear)


def test_dear_jobs_are_drawn_and_the_chance_is_said(repeated: Path) -> None:
    make_dear()
    lines = audited("figures/fig3.pdf", share=0.3, seed=1)
    (said,) = (line for line in lines if line.startswith("running again "))
    assert "running again 3 jobs (3000000000.0 s by their records) of the other 7, drawn with seed 1" in said
    assert said.endswith("is caught with 43%")
    assert any(line.startswith("recomputing 0 jobs") for line in lines)
    assert lines[-2].startswith("audited at git unknown: 26 files, ")
    assert lines[-2].endswith("0 of 7 jobs recomputed, 3 of 7 rerun")
    rewrite("figures/fig3.pdf", b"drawn by hand")
    caught = 0
    for seed in range(40):
        try:
            audited("figures/fig3.pdf", share=0.3, seed=seed)
        except AuditError:
            caught += 1
    assert 8 <= caught <= 26
    audited("figures/fig3.pdf", seed=1)
    with pytest.raises(AuditError, match=r"figures/fig3.pdf: its job plot_fig3"):
        audited("figures/fig3.pdf", share=1.0)


def test_shares() -> None:
    assert [read_share(text) for text in ("0", "1", "0.25", "25%", "all")] == [0, 1, 0.25, 0.25, 1]
    for text in ("-1", "2", "x", "nan", "101%", ""):
        with pytest.raises(AuditError, match="a share of the jobs from 0 to 1"):
            read_share(text)
    assert draw_jobs([], 0.5, 1) == []


def test_every_job_is_as_likely_as_any_other() -> None:
    jobs: list[Any] = list(range(10))
    drawn = [job for seed in range(300) for job in draw_jobs(jobs, 0.2, seed)]
    assert len(drawn) == 600
    assert min(map(drawn.count, jobs)) > 30


def test_a_rule_that_is_not_listed_is_cheap_whatever_its_record_says(chain_study: Path) -> None:
    record = read_record(Path(FIGURE))
    assert Costs({}, {}).is_cheap(record)
    assert Costs({"plot_fig3": 5}, {}).is_cheap(record)
    forge_record(FIGURE, dear)
    assert Costs({}, {}).is_cheap(read_record(Path(FIGURE)))
    assert not Costs({"plot_fig3": 5}, {}).is_cheap(read_record(Path(FIGURE)))


# What is said, and is no error


def script(text: str) -> None:
    """Another script of the figure; only to be run, since an audit would refuse it."""
    Path("scripts/plot_fig3.py").write_text(text)


def outcomes(**how: Any) -> Iterator[Any]:
    record = read_record(Path(FIGURE))
    return rerun_jobs([record], {record.path: ()}, **how)


def test_a_job_that_cannot_be_run_here_is_said(chain_study: Path) -> None:
    script("import no_such_library\n")
    (outcome,) = outcomes()
    assert outcome.here == "No module named 'no_such_library'"
    script("def main(job):\n    while True: pass\n")
    (outcome,) = outcomes(stop=1.0)
    assert outcome.here == "stopped after 1 s of a core"
    Path("results/paper/claims.parquet").unlink()
    (outcome,) = outcomes()
    assert outcome.here == "results/paper/claims.parquet is missing"


def test_an_error_of_a_job_is_an_error(chain_study: Path) -> None:
    for text, said in (("raise KeyError('x')", "KeyError: 'x'"), ("raise SystemExit(0)", "SystemExit: 0")):
        script(f"def main(job):\n    {text}\n")
        (outcome,) = outcomes()
        assert outcome.error == said
    script("import os\n\n\ndef main(job):\n    os._exit(3)\n")
    (outcome,) = outcomes()
    assert outcome.error == "the process ended with 3"
    script("def main(job):\n    pass\n")
    (outcome,) = outcomes()
    assert "No such file" in outcome.error


def test_rules_that_never_repeat_are_said(repeated: Path) -> None:
    Path("workflow/times.yaml").write_text("unrepeatable: {plot_fig3: measures times}")
    rewrite("figures/fig3.pdf", b"drawn by hand")
    lines = audited("figures/fig3.pdf")
    assert "not run again: plot_fig3 (measures times)" in lines
    assert "taken on its digest: plot_fig3" in lines


def test_a_missing_raw_file_of_a_user_is_said_first(chain_study: Path) -> None:
    """One that the study ships is an error, as it was; a user's may be too large to keep, or not for everybody."""
    sources = Path("data/sources.csv")
    sources.write_text(sources.read_text().replace("data/raw.yaml", "data/other.yaml"))
    lines = audited("figures/fig3.pdf")
    digest = sha256(Path("data/raw.yaml").read_bytes()).hexdigest()
    assert f"raw data/raw.yaml: 5 bytes, SHA-256 {digest}, as data/sources.csv has it for data/other.yaml" in lines
    sources.write_text("file,version,sha256\n")
    assert f"raw data/raw.yaml: 5 bytes, SHA-256 {digest}, no publisher's digest in data/sources.csv" in audited(TARGETS[0])
    Path("data/raw.yaml").unlink()
    lines = audited("figures/fig3.pdf")
    assert lines[0].startswith("MISSING raw data: data/raw.yaml: what was made from it is taken on the digests")
    assert any(line.startswith("not run again here: ") and "(data/raw.yaml is missing)" in line for line in lines)


# What a job may do


def test_a_job_writes_in_its_folder_only_and_has_no_network(chain_study: Path) -> None:
    forbidden = chain_study / "written.txt"
    attempts = {
        f"open({str(forbidden)!r}, 'w')": "Permission",
        "open('data/raw.yaml', 'a')": "Permission",
        "open('results/paper/claims.parquet', 'wb')": "Permission",
        "__import__('os').remove('results/paper/claims.parquet') or open('figures/fig3.pdf')": "No such file",
        "__import__('socket').create_connection(('127.0.0.1', PORT), 1)": "unreachable|refused|may not",
        "open('results/sample.parquet')": "No such file",
    }
    with socket.create_server(("127.0.0.1", 0)) as server:
        for attempt, said in attempts.items():
            script(f"def main(job):\n    {attempt.replace('PORT', str(server.getsockname()[1]))}\n")
            (outcome,) = outcomes()
            assert any(word in outcome.error for word in said.split("|")), (attempt, outcome)
    assert not forbidden.exists()
    assert Path("results/paper/claims.parquet").stat().st_size > 0


def test_python_guards_where_the_kernel_does_not(chain_study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rerun, "_landlock", lambda folder: False)
    for attempt in (
        f"open({str(chain_study / 'x')!r}, 'w')",
        "__import__('os').mkdir('/x')",
        "__import__('os').system('true')",
    ):
        script(f"def main(job):\n    {attempt}\n")
        (outcome,) = outcomes()
        assert "may not do that" in outcome.error
        assert outcome.guard == rerun.PYTHON
    assert not (chain_study / "x").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="Landlock is part of Linux")
def test_the_kernel_guards(tmp_path: Path) -> None:
    if (child := os.fork()) == 0:
        guard = confine(tmp_path)
        (tmp_path / "inside").write_text("x")
        try:
            Path("/tmp/outside").write_text("x")
        except PermissionError:
            os._exit(0 if guard == rerun.KERNEL else 2)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


# Levels


def test_the_published_chain_has_the_level_of_every_file(repeated: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "figures/fig3.pdf", "--out", "nowhere/audit.json"]) == 2
    assert "--out nowhere/audit.json: there is no folder nowhere" in capsys.readouterr().err
    assert main(["audit", "figures/fig3.pdf", "--out", "audit.json"]) == 0
    text = json.loads(Path("audit.json").read_text())
    assert text["levels"].keys() == text["files"].keys()
    assert (
        text["levels"]["results/paper/proofs/000.jsonl.gz"] == text["levels"]["results/paper/claims/000.parquet"] == "proved"
    )
    assert text["levels"]["results/paper/claims/000.blocks.parquet"] == text["levels"]["figures/fig3.pdf"] == "recomputed"
    assert text["levels"]["data/raw.yaml"] == text["levels"]["scripts/collect.py"] == "digest"
    assert text["rerun"] == {"recomputed": 7, "rerun": 0, "others": 0}
    assert text["badge"].startswith("audited at git unknown: 26 files, 2 blocks, ")
    make_dear()
    assert main(["audit", "figures/fig3.pdf", "--against", "audit.json"]) == 0
    said = capsys.readouterr().out
    assert "checked there and taken on its digest here: figures/fig3.pdf and " in said
    Path("audit.json").write_text(json.dumps({name: value for name, value in text.items() if name != "levels"}))
    assert main(["audit", "figures/fig3.pdf", "--against", "audit.json"]) == 0
    assert "does not say how far each file was checked" in capsys.readouterr().out
    assert main(["audit", "figures/fig3.pdf", "--rerun", "7"]) == 2
    assert "a share of the jobs from 0 to 1" in capsys.readouterr().err


def test_inputs_may_not_lead_out_of_the_study(tmp_path: Path) -> None:
    with pytest.raises(AuditError, match="leads out of the study"):
        link_inputs(tmp_path / "study", ["results/../../elsewhere/file"])
