"""A small repository with a chain of results made by real jobs, for the tests of what is reported about them."""

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

import crate
from genverify.attack.generate import _datasets_frame, _generated_row, generate_block
from genverify.attack.verify import _verified_row, claims_frame, verify_block
from genverify.checker.certificate import write_proofs
from genverify.model.release import Schema, counts_frame, make_release, write_schema
from genverify.model.settings import ReleaseSettings
from genverify.model.tablefiles import by_design, stack
from genverify.model.tabulate import tabulate
from genverify.run import code, jobs
from genverify.run.code import forget_code
from genverify.run.jobs import Job
from genverify.run.provenance.records import find_records, walk
from genverify.solve.program_settings import ProgramSettings

STAGES = """
BATCHES = [f"{batch:03d}" for batch in range(STUDY.sample.batches)]


rule make_store:
    input:
        raw="data/raw.yaml",
    output:
        store=directory("results/store"),
        record="results/store.record.json",
    params:
        code=code_of("make_store"),
        seed=setting("seed"),


rule sample:
    input:
        store="results/store",
    output:
        blocks="results/sample.parquet",
        record="results/sample.record.json",
    params:
        code=code_of("sample"),


rule publish:
    input:
        store="results/store",
        raw=STUDY.microdata.domain,
    output:
        schema="results/{variant}/release/schema.json",
        counts=expand("results/{{variant}}/release/{batch}.parquet", batch=BATCHES),
        record="results/{variant}/release/record.json",
    params:
        code=code_of("publish"),
        release=setting("release"),


rule generate:
    input:
        schema="results/{variant}/release/schema.json",
        counts="results/{variant}/release/{batch}.parquet",
    output:
        datasets="results/{variant}/generated/{batch}.parquet",
        blocks="results/{variant}/generated/{batch}.blocks.parquet",
        record="results/{variant}/generated/{batch}.record.json",
    params:
        code=code_of("generate"),


rule verify:
    input:
        schema="results/{variant}/release/schema.json",
        counts="results/{variant}/release/{batch}.parquet",
        datasets="results/{variant}/generated/{batch}.parquet",
    output:
        claims="results/{variant}/claims/{batch}.parquet",
        blocks="results/{variant}/claims/{batch}.blocks.parquet",
        proofs="results/{variant}/proofs/{batch}.jsonl.gz",
        record="results/{variant}/claims/{batch}.record.json",
    params:
        code=code_of("verify"),
        verify=setting("verify"),


rule collect:
    input:
        sample="results/sample.parquet",
        claims=expand("results/{{variant}}/claims/{batch}.parquet", batch=BATCHES),
        verified=expand("results/{{variant}}/claims/{batch}.blocks.parquet", batch=BATCHES),
        generated=expand("results/{{variant}}/generated/{batch}.blocks.parquet", batch=BATCHES),
    output:
        claims="results/{variant}/claims.parquet",
        blocks="results/{variant}/blocks.parquet",
        record="results/{variant}/claims.record.json",
    params:
        code=code_of("collect"),


rule write_table:
    input:
        claims="results/paper/claims.parquet",
    output:
        table="results/tables/toy.csv",
        record="results/tables/toy.record.json",
    params:
        code=code_of("write_table"),


rule write_crate:
    input:
        results=["figures/fig3.pdf", "results/tables/toy.csv"],
        workflow=["Snakefile", "workflow/all.smk"],
    output:
        crate="results/crate.zip",
        record="results/crate.record.json",
    params:
        code=code_of("write_crate"),


rule plot_fig3:
    input:
        claims="results/paper/claims.parquet",
    output:
        pdf="figures/fig3.pdf",
        png=shown("figures/fig3.png", "Figure 3"),
        record="figures/fig3.record.json",
    params:
        code=code_of("plot_fig3"),


rule plot_ablation:
    input:
        claims="results/no_ones/claims.parquet",
    output:
        pdf="figures/ablation.pdf",
        png="figures/ablation.png",
        record="figures/ablation.record.json",
    params:
        code=code_of("plot_ablation"),
"""
# the same text for every rule
SCRIPT = "import chain\nfrom kit.shapes import size\n\nmain = size and getattr(chain, __name__.removeprefix('script_'))\n"
RULES = ("make_store", "sample", "publish", "generate", "verify", "collect", "write_table", "write_crate", "plot_fig3",
         "plot_ablation")  # fmt: skip


def make_study(study: Path, schema: Schema, settings: ProgramSettings, blocks: Mapping[str, Sequence[Any]]) -> None:
    """Blocks of known records, released and attacked, in the layout of results/{variant}."""
    for folder in ("release", "generated", "claims", "proofs"):
        (study / folder).mkdir()
    write_schema(schema, study / "release" / "schema.json")
    proofs: list[dict[str, Any]] = []
    tables: dict[str, list[pd.DataFrame]] = {}
    for block, records in blocks.items():
        columns = dict(zip(schema.domain.names, np.array(records).T, strict=True))
        counts = tabulate(columns, np.array([0]), schema.domain, schema.queries)
        frame = counts_frame(schema, [block], np.array([len(records)]), counts, [])
        known = dict(zip(frame["query"].astype(str), frame["count"].tolist(), strict=True))
        release = make_release(schema, block, known)
        made = generate_block(release, settings, 10, 1)
        found = verify_block(release, made.records, settings, 1)
        proofs.append(found.certificate)
        rows = {
            "release/000": frame,
            "generated/000": _datasets_frame({block: made}, schema.domain),
            "generated/000.blocks": pd.DataFrame([_generated_row(release, made)]),
            "claims/000": claims_frame(found),
            "claims/000.blocks": pd.DataFrame([_verified_row(found, settings)]),
        }
        for name, part in rows.items():
            tables.setdefault(name, []).append(part)
    write_proofs(proofs, study / "proofs" / "000.jsonl.gz")
    for name, parts in tables.items():
        stack(parts).to_parquet(study / f"{name}.parquet", index=False)


def make_store(job: Job) -> None:
    Path(job.output.store).mkdir(parents=True)
    for state in ("01", "02"):
        (Path(job.output.store) / f"{state}.csv").write_text(f"{state} {Path(job.input.raw).read_text()}")


def sample(job: Job) -> None:
    """Every block for one design, the first one for another too."""
    blocks = pd.read_parquet(made("release/000.parquet"))["block"].unique().tolist()
    designs = ["all"] * len(blocks) + ["first"]
    pd.DataFrame({"block": [*blocks, blocks[0]], "design": designs}).to_parquet(job.output.blocks, index=False)


def publish(job: Job) -> None:
    shutil.copy(made("release/schema.json"), job.output.schema)
    shutil.copy(made("release/000.parquet"), job.output.counts[0])


def generate(job: Job) -> None:
    shutil.copy(made("generated/000.parquet"), job.output.datasets)
    shutil.copy(made("generated/000.blocks.parquet"), job.output.blocks)


def verify(job: Job) -> None:
    shutil.copy(made("claims/000.parquet"), job.output.claims)
    shutil.copy(made("claims/000.blocks.parquet"), job.output.blocks)
    shutil.copy(made("proofs/000.jsonl.gz"), job.output.proofs)


def collect(job: Job) -> None:
    drawn = pd.read_parquet(job.input.sample)
    by_design(drawn, map(pd.read_parquet, job.input.claims)).to_parquet(job.output.claims, index=False)
    parts = zip(map(pd.read_parquet, job.input.generated), map(pd.read_parquet, job.input.verified), strict=True)
    by_design(drawn, (one.merge(other, on="block") for one, other in parts)).to_parquet(job.output.blocks, index=False)


def write_table(job: Job) -> None:
    """How many claims there are of each k."""
    counted = pd.read_parquet(job.input.claims).groupby("k").size()
    counted.rename("claims").reset_index().to_csv(job.output.table, index=False)


def write_crate(job: Job) -> None:
    chain = walk(job.input.results, find_records())
    about = {"name": "toy", "description": "a toy", "license": "https://spdx.org/licenses/MIT", "licence_name": "MIT",
             "workflow": "Snakefile", "settings": "config.yaml"}  # fmt: skip
    files = [*job.input.workflow, "config.yaml", *{path for record in chain.jobs for path in record.code}]
    crate.write_crate(Path(job.output.crate), chain, files, {}, about)


def plot_fig3(job: Job) -> None:
    for name in ("pdf", "png"):
        Path(getattr(job.output, name)).write_text(f"{name} of {job.input.claims}")


def plot_ablation(job: Job) -> None:
    plot_fig3(job)


def made(name: str) -> Path:
    """A file of the study that the jobs copy from."""
    return Path(os.environ["MADE_STUDY"]) / name


def start(main: Callable[[Job], None], inputs: Any, outputs: Any, record: str, **more: Any) -> None:
    """Run a job as Snakemake would, in the current folder."""
    listed = [path for value in outputs.values() for path in (value if isinstance(value, list) else [value])]
    for path in [*listed, record]:
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


def run_study() -> None:
    """Two variants, from the raw file to a figure each."""
    config = yaml.safe_load(Path("config.yaml").read_text())
    start(make_store, {"raw": "data/raw.yaml"}, {"store": "results/store"}, "results/store.record.json",
          params={"seed": config["seed"]})  # fmt: skip
    start(sample, {"store": "results/store"}, {"blocks": "results/sample.parquet"}, "results/sample.record.json")
    run_variant(config, "paper", plot_fig3, "fig3")
    run_variant(config, "no_ones", plot_ablation, "ablation")
    start(write_table, {"claims": "results/paper/claims.parquet"}, {"table": "results/tables/toy.csv"},
          "results/tables/toy.record.json")  # fmt: skip
    results = ["figures/fig3.pdf", "results/tables/toy.csv"]
    start(write_crate, {"results": results, "workflow": ["Snakefile", "workflow/all.smk"]}, {"crate": "results/crate.zip"},
          "results/crate.record.json")  # fmt: skip


def run_variant(config: dict[str, Any], variant: str, draw: Callable[[Job], None], figure: str) -> None:
    home, wildcards = f"results/{variant}", {"variant": variant, "batch": "000"}
    said = {**config["release"], **(config["variants"][variant] or {}).get("release", {})}
    release = ReleaseSettings(**said).model_dump()
    schema, counts, datasets = f"{home}/release/schema.json", f"{home}/release/000.parquet", f"{home}/generated/000.parquet"
    claims, verified, generated = (
        f"{home}/claims/000.parquet",
        f"{home}/claims/000.blocks.parquet",
        f"{home}/generated/000.blocks.parquet",
    )
    start(publish, {"store": "results/store", "raw": "data/raw.yaml"}, {"schema": schema, "counts": [counts]},
          f"{home}/release/record.json", params={"release": release}, wildcards={"variant": variant})  # fmt: skip
    start(generate, {"schema": schema, "counts": counts}, {"datasets": datasets, "blocks": generated},
          f"{home}/generated/000.record.json", wildcards=wildcards)  # fmt: skip
    start(verify, {"schema": schema, "counts": counts, "datasets": datasets},
          {"claims": claims, "blocks": verified, "proofs": f"{home}/proofs/000.jsonl.gz"},
          f"{home}/claims/000.record.json", params={"verify": config["verify"]}, wildcards=wildcards)  # fmt: skip
    batches = {"claims": [claims], "verified": [verified], "generated": [generated]}
    start(collect, {"sample": "results/sample.parquet", **batches},
          {"claims": f"{home}/claims.parquet", "blocks": f"{home}/blocks.parquet"},
          f"{home}/claims.record.json", wildcards={"variant": variant})  # fmt: skip
    start(draw, {"claims": f"{home}/claims.parquet"}, {"pdf": f"figures/{figure}.pdf", "png": f"figures/{figure}.png"},
          f"figures/{figure}.record.json")  # fmt: skip


def make_repository(home: Path, root: Path) -> None:
    """The files that an audit looks at: settings, stages, scripts, a package, the lock and a raw file."""
    for folder in ("scripts", "workflow", "envs", "data", "src/kit"):
        (home / folder).mkdir(parents=True)
    config = yaml.safe_load((root / "config.yaml").read_text())
    config["microdata"]["domain"] = "data/raw.yaml"
    config["sample"]["batches"] = 1
    config["verify"]["min_k"] = 1
    (home / "config.yaml").write_text(yaml.safe_dump(config))
    shutil.copytree(root / "config", home / "config")
    (home / "Snakefile").write_text("")
    (home / "workflow" / "all.smk").write_text(STAGES)
    for name in RULES:
        (home / "scripts" / f"{name}.py").write_text(SCRIPT)
    (home / "src" / "kit" / "__init__.py").write_text("")
    (home / "src" / "kit" / "shapes.py").write_text("size = 1\n\n\ndef unused():\n    return 2\n")
    shutil.copy(root / "envs" / "requirements.lock", home / "envs")
    (home / "data" / "raw.yaml").write_text("a: 1\n")
    listed = sha256(b"a: 1\n").hexdigest()
    (home / "data" / "sources.csv").write_text(f"file,version,sha256\ndata/raw.yaml,1,{listed}\nunits (not shipped),1,\n")


def enter(home: Path, patch: pytest.MonkeyPatch, made_study: Path) -> None:
    """Work in the small repository."""
    patch.chdir(home)
    patch.setenv("MADE_STUDY", str(made_study))
    patch.setattr(code, "SRC", home / "src")
    forget_code()
