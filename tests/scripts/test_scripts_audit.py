"""The scripts that look at a study from outside: audit, plan and crate, each main on a small chain of recorded jobs."""

import importlib.util
import logging
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import yaml

from genverify.jobs import Job
from genverify.provenance.crate import check_crate
from genverify.provenance.records import AuditError


def script(root: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"script_{name}", root / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def job(inputs: dict[str, Any], outputs: dict[str, Any], **params: Any) -> Job:
    return Job("toy", SimpleNamespace(**inputs), SimpleNamespace(**outputs), SimpleNamespace(**params), SimpleNamespace())


def said(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == "genverify"]


def test_audit(root: Path, chain_study: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "genverify")
    text = yaml.safe_load(Path("config.yaml").read_text())
    script(root, "audit").main(job({}, {}, study=text))
    assert said(caplog)[-1].startswith("4 results, 22 files, all accounted for (")
    assert "proofs: 4 blocks, " in said(caplog)[-3]
    Path("figures/fig3.pdf").write_text("another")
    with pytest.raises(AuditError, match=r"figures/fig3.pdf: not as figures/fig3.record.json says"):
        script(root, "audit").main(job({}, {}, study=text))


def test_plan(root: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, config: dict[str, Any]) -> None:
    caplog.set_level(logging.INFO, "genverify")
    monkeypatch.chdir(root)
    module = script(root, "plan")
    monkeypatch.setattr(module, "dry_run", lambda study: "plot_fig3    1\nverify_claims   25\ntotal   26\n")
    module.main(job({}, {}, study=config, batches=25))
    assert "jobs: 26 (25 verify_claims, 1 plot_fig3)" in said(caplog)
    assert any(line.startswith("time: about ") for line in said(caplog))


def test_write_crate(root: Path, chain_study: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "genverify")
    Path("LICENSE").write_text("do what you like")
    inputs = {
        "figures": ["figures/fig3.pdf", "figures/ablation.pdf"], "tables": [], "examples": [],
        "workflow": ["Snakefile", "workflow/all.smk"], "lock": "envs/requirements.lock", "sources": "data/sources.csv",
        "licence": "LICENSE",
    }  # fmt: skip
    script(root, "write_crate").main(job(inputs, {"crate": "results/crate.zip"}, study={"seed": 1}))
    found = check_crate(Path("results/crate.zip"))
    assert said(caplog) == [f"{found['File']} files, 8 runs"]
