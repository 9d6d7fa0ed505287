"""Scripts that look at a study from outside, audit, plan, crate, reference: each main on a small chain of recorded jobs."""

import logging
from pathlib import Path
from typing import Any

import pytest

from crate import check_crate
from genverify.run.config import read_shipped
from genverify.run.provenance.records import AuditError
from script_jobs import job, load_script


def said(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == "genverify"]


def test_audit(root: Path, chain_study: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "genverify")
    text = read_shipped(Path())
    load_script("audit").main(job({}, {}, study=text))
    assert said(caplog)[-1].startswith("5 results, 40 files, all accounted for (")
    assert any(line.startswith("proofs: 4 blocks, ") for line in said(caplog))
    Path("figures/fig3.pdf").write_text("another")
    with pytest.raises(AuditError, match=r"figures/fig3.pdf: not as figures/fig3.record.json says"):
        load_script("audit").main(job({}, {}, study=text))


def test_plan(root: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, config: dict[str, Any]) -> None:
    caplog.set_level(logging.INFO, "genverify")
    monkeypatch.chdir(root)
    module = load_script("plan")
    monkeypatch.setattr(module, "dry_run", lambda study, target: "plot_fig3    1\nverify_claims   25\ntotal   26\n")
    module.main(job({}, {}, study=config, batches=25, target=None, times=str(root / "workflow" / "times.yaml")))
    assert "jobs: 26 (25 verify_claims, 1 plot_fig3)" in said(caplog)
    assert said(caplog)[0].startswith("time: about ")
    assert any(line.startswith("everything (all five papers), time: about ") for line in said(caplog))


def test_write_crate(root: Path, chain_study: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "genverify")
    Path("LICENSE").write_text("do what you like")
    Path("results/audit.json").write_text("{}")
    inputs = {
        "results": ["figures/fig3.pdf", "figures/ablation.pdf"], "audit": ["results/audit.json"],
        "workflow": ["Snakefile", "workflow/all.smk"], "lock": "envs/requirements.lock", "sources": "data/sources.csv",
        "tool": "docs/crate.py", "licence": "LICENSE",
    }  # fmt: skip
    load_script("write_crate").main(job(inputs, {"crate": "results/crate.zip"}, study={"seed": 1}))
    found = check_crate(Path("results/crate.zip"))
    assert said(caplog) == [f"{found['File']} files, 13 runs"]


def test_reference(root: Path, chain_study: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "genverify")
    Path("docs").mkdir()
    Path("workflow/reference.yaml").write_text("absent: {figures/fig3.pdf: a reason}\n")
    load_script("reference").main(job({}, {}, study=read_shipped(Path())))
    assert said(caplog) == ["docs/reference: figures 0, tables 0, 0.0 MB", "absent: figures/fig3.pdf: a reason"]
    assert {path.name for path in Path("docs/reference").iterdir()} == {"README.md", "manifest.json"}
