"""What many tests share: the census as data files, a toy domain, a toy study, a chain of recorded jobs."""

import importlib.util
import os
import shutil
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from genverify import code, jobs
from genverify.attack import ProgramSettings, generate_block, proofs_dict, verify_block
from genverify.domain import DomainFile, read_domain
from genverify.jobs import Job
from genverify.prooffile import read_proofs, write_proofs
from genverify.release import Schema, build_schema, counts_frame, make_release, write_schema
from genverify.tabulate import tabulate

ROOT = Path(__file__).parents[1]
TOY = ROOT / "tests" / "workflow" / "toy"
# two blocks of the toy, as (PET, HOME, AGE): what is true of the first by hand stands in test_tabulate.py
TOY_BLOCKS = {
    "010010201001000": [(1, 1, 1), (2, 1, 3), (3, 2, 2)],
    "010010201001001": [(1, 1, 1), (1, 1, 1), (1, 1, 1), (1, 1, 1)],
}


@pytest.fixture(scope="session")
def small_explorer() -> ModuleType:
    """The helper that makes a small study for the explorer, and the explorer itself."""
    spec = importlib.util.spec_from_file_location("explorer_study", ROOT / "tests" / "explorer_study.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def explorer(
    tmp_path_factory: pytest.TempPathFactory,
    small_explorer: ModuleType,
    toy_schema: Schema,
    program_settings: ProgramSettings,
) -> Path:
    """A small explorer, its study beside it in `study`; tests only read it."""
    home = tmp_path_factory.mktemp("explorer")
    small_explorer.write_study(home / "study", small_explorer.hostile_schema(toy_schema), program_settings)
    return Path(small_explorer.build(home / "study", home / "page", TOY))


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def census() -> DomainFile:
    return read_domain(ROOT / "data" / "census" / "domain.yaml")


@pytest.fixture(scope="session")
def census_tables() -> dict[str, Any]:
    text: dict[str, Any] = yaml.safe_load((ROOT / "data" / "census" / "tables.yaml").read_text())
    return text


@pytest.fixture
def config() -> dict[str, Any]:
    """A fresh copy of config.yaml."""
    text: dict[str, Any] = yaml.safe_load((ROOT / "config.yaml").read_text())
    return text


@pytest.fixture(scope="session")
def release_settings() -> dict[str, Any]:
    """The release settings of the paper's study."""
    settings: dict[str, Any] = yaml.safe_load((ROOT / "config.yaml").read_text())["release"]
    return settings


@pytest.fixture(scope="session")
def program_settings() -> ProgramSettings:
    return ProgramSettings(**yaml.safe_load((ROOT / "config.yaml").read_text())["program"])


@pytest.fixture(scope="session")
def toy() -> Path:
    """The folder of the toy domain and its tables."""
    return TOY


@pytest.fixture(scope="session")
def toy_settings() -> dict[str, Any]:
    return {
        "tables_file": str(TOY / "tables.yaml"),
        "universe": "owners",
        "tables": "all",
        "groups": {},
        "structural_zeros": False,
        "withhold": [],
    }


@pytest.fixture(scope="session")
def toy_schema(toy_settings: dict[str, Any]) -> Schema:
    tables = yaml.safe_load((TOY / "tables.yaml").read_text())
    return build_schema(read_domain(TOY / "domain.yaml"), tables, toy_settings)


@pytest.fixture(scope="session")
def toy_records() -> dict[str, list[tuple[int, int, int]]]:
    return TOY_BLOCKS


@pytest.fixture(scope="session")
def made_study(tmp_path_factory: pytest.TempPathFactory, toy_schema: Schema, program_settings: ProgramSettings) -> Path:
    """Release and proofs of the toy blocks, in the layout of results/{variant}; tests that change it copy it first."""
    study = tmp_path_factory.mktemp("study")
    (study / "release").mkdir()
    (study / "proofs").mkdir()
    write_schema(toy_schema, study / "release" / "schema.json")
    frames, proofs = [], []
    for block, records in TOY_BLOCKS.items():
        columns = dict(zip(toy_schema.domain.names, np.array(records).T, strict=True))
        counts = tabulate(columns, np.array([0]), toy_schema.domain, toy_schema.queries)
        frames.append(counts_frame(toy_schema, [block], np.array([len(records)]), counts, []))
        known = dict(zip(frames[-1]["query"].astype(str), frames[-1]["count"].tolist(), strict=True))
        release = make_release(toy_schema, block, known)
        datasets = generate_block(release, program_settings, 10, 1).records
        proofs.append(proofs_dict(verify_block(release, datasets, program_settings, 1)))
    pd.concat(frames, ignore_index=True).to_parquet(study / "release" / "000.parquet", index=False)
    write_proofs(proofs, study / "proofs" / "000.jsonl.gz")
    return study


# A chain of results made by real jobs, for the tests of what is told about them.
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
