"""A small chain of results made by real jobs, for the tests of what is told about them."""

import os
import shutil
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
import yaml

from genverify import code, jobs
from genverify.jobs import Job
from genverify.prooffile import read_proofs

RULES = """
rule {name}:
    params:
        code=code_of("{name}"),
        {settings}
"""
SETTINGS = {
    "make_store": 'seed=setting("seed")',
    "publish": 'release=setting("release")',
    "verify": 'verify=setting("verify")',
}
NAMES = ("PET", "HOME", "AGE")


def make_store(job: Job) -> None:
    Path(job.output.store).mkdir(parents=True)
    for state in ("01", "02"):
        (Path(job.output.store) / f"{state}.csv").write_text(f"{state} {Path(job.input.raw).read_text()}")


def publish(job: Job) -> None:
    made = Path(os.environ["MADE_STUDY"]) / "release"
    shutil.copy(made / "schema.json", job.output.schema)
    frame = pd.read_parquet(made / "000.parquet")
    frame.to_parquet(job.output.counts, index=False)


def verify(job: Job) -> None:
    made = Path(os.environ["MADE_STUDY"]) / "proofs" / "000.jsonl.gz"
    shutil.copy(made, job.output.proofs)
    rows = [{"block": block["block"], "m": said["m"], "proof": said["proof"], **said["where"]}
            for block in read_proofs(made) for said in block["claims"]]  # fmt: skip
    frame = pd.DataFrame(rows)
    frame[list(NAMES)] = frame[list(NAMES)].astype("Int16")
    frame.to_parquet(job.output.claims, index=False)


def plot(job: Job) -> None:
    for name in ("pdf", "png"):
        Path(getattr(job.output, name)).write_text(f"{name} of {job.input.claims}")


def start(main: Callable[[Job], None], inputs: Any, outputs: Any, record: str, **more: Any) -> None:
    """Run a job as Snakemake would, in the current folder."""
    for path in [*outputs.values(), record]:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    name = main.__name__
    params = {"code": code.code_digest(Path.cwd() / "scripts" / f"{name}.py"), **more.get("params", {})}
    jobs.run(
        main,
        SimpleNamespace(
            rule=name, input=inputs, output={**outputs, "record": record}, params=params, log=[],
            wildcards=more.get("wildcards", {}), scriptdir=str(Path.cwd() / "workflow" / ".." / "scripts"),
        ),
    )  # fmt: skip


def run_variant(config: dict[str, Any], variant: str, figure: str) -> None:
    home, wildcards = f"results/{variant}", {"variant": variant, "batch": "000"}
    release = {**config["release"], **(config["variants"][variant] or {}).get("release", {})}
    schema, counts = f"{home}/release/schema.json", f"{home}/release/000.parquet"
    start(publish, {"store": "results/store", "raw": "data/raw.yaml"}, {"schema": schema, "counts": counts},
          f"{home}/release/record.json", params={"release": release}, wildcards={"variant": variant})  # fmt: skip
    start(verify, {"schema": schema, "counts": counts},
          {"claims": f"{home}/claims.parquet", "proofs": f"{home}/proofs/000.jsonl.gz"},
          f"{home}/claims.record.json", params={"verify": config["verify"]}, wildcards=wildcards)  # fmt: skip
    start(plot, {"claims": f"{home}/claims.parquet"}, {"pdf": f"figures/{figure}.pdf", "png": f"figures/{figure}.png"},
          f"figures/{figure}.record.json")  # fmt: skip


@pytest.fixture(scope="module")
def original_chain(tmp_path_factory: pytest.TempPathFactory, root: Path, made_study: Path) -> Path:
    """A small repository in which two variants ran."""
    home = tmp_path_factory.mktemp("chain")
    for folder in ("scripts", "workflow", "envs", "data", "src/kit"):
        (home / folder).mkdir(parents=True)
    shutil.copy(root / "config.yaml", home)
    (home / "Snakefile").write_text("")
    for name in ("make_store", "publish", "verify", "plot"):
        (home / "scripts" / f"{name}.py").write_text("import kit.shapes\n")
        with (home / "workflow" / "all.smk").open("a") as stages:
            stages.write(RULES.format(name=name, settings=SETTINGS.get(name, "")))
    (home / "src" / "kit" / "__init__.py").write_text("")
    (home / "src" / "kit" / "shapes.py").write_text("round = 1\n")
    (home / "envs" / "requirements.lock").write_text("numpy==2\n")
    (home / "data" / "raw.yaml").write_text("a: 1\n")
    listed = sha256(b"a: 1\n").hexdigest()
    (home / "data" / "sources.csv").write_text(f"file,version,sha256\ndata/raw.yaml,1,{listed}\nunits (not shipped),1,\n")
    with pytest.MonkeyPatch.context() as patch:
        enter(home, patch, made_study)
        config = yaml.safe_load(Path("config.yaml").read_text())
        start(make_store, {"raw": "data/raw.yaml"}, {"store": "results/store"}, "results/store.record.json",
              params={"seed": config["seed"]})  # fmt: skip
        run_variant(config, "paper", "fig3")
        run_variant(config, "no_ones", "ablation")
    return home


def enter(home: Path, patch: pytest.MonkeyPatch, made_study: Path) -> None:
    patch.chdir(home)
    patch.setenv("MADE_STUDY", str(made_study))
    patch.setattr(code, "PACKAGE", home / "src" / "kit")
    code.code_digest.cache_clear()
    code._imported.cache_clear()


@pytest.fixture
def chain_study(original_chain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made_study: Path) -> Iterator[Path]:
    """A copy of the small repository, and we are in it."""
    home = tmp_path / "home"
    shutil.copytree(original_chain, home)
    enter(home, monkeypatch, made_study)
    yield home
    code.code_digest.cache_clear()
    code._imported.cache_clear()
