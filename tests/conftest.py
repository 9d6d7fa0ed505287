"""What many tests share: the census as data files, a toy domain, a toy study, a chain of recorded jobs."""

import importlib.util
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from chain import enter, forget_code, make_repository, run_study
from genverify.attack import ProgramSettings, generate_block, proofs_dict, verify_block
from genverify.domain import DomainFile, read_domain
from genverify.prooffile import write_proofs
from genverify.release import Schema, build_schema, counts_frame, make_release, write_schema
from genverify.results import claims_frame, datasets_frame, generated_row, stack, verified_row
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
    """The toy blocks, released and attacked, in the layout of results/{variant}; tests that change it copy it first."""
    study = tmp_path_factory.mktemp("study")
    (study / "release").mkdir()
    (study / "proofs").mkdir()
    write_schema(toy_schema, study / "release" / "schema.json")
    for folder in ("generated", "claims"):
        (study / folder).mkdir()
    frames, proofs, datasets, generated, claims, verified = [], [], [], [], [], []
    for block, records in TOY_BLOCKS.items():
        columns = dict(zip(toy_schema.domain.names, np.array(records).T, strict=True))
        counts = tabulate(columns, np.array([0]), toy_schema.domain, toy_schema.queries)
        frames.append(counts_frame(toy_schema, [block], np.array([len(records)]), counts, []))
        known = dict(zip(frames[-1]["query"].astype(str), frames[-1]["count"].tolist(), strict=True))
        release = make_release(toy_schema, block, known)
        made = generate_block(release, program_settings, 10, 1)
        found = verify_block(release, made.records, program_settings, 1)
        proofs.append(proofs_dict(found))
        datasets.append(datasets_frame(block, made, toy_schema.domain.names))
        generated.append(pd.DataFrame([generated_row(release, made)]))
        claims.append(claims_frame(found))
        verified.append(pd.DataFrame([verified_row(found, program_settings.solver)]))
    write_proofs(proofs, study / "proofs" / "000.jsonl.gz")
    tables = {"release/000": frames, "generated/000": datasets, "generated/000.blocks": generated, "claims/000": claims,
              "claims/000.blocks": verified}  # fmt: skip
    for name, parts in tables.items():
        stack(parts).to_parquet(study / f"{name}.parquet", index=False)
    return study


@pytest.fixture(scope="module")
def original_chain(tmp_path_factory: pytest.TempPathFactory, root: Path, made_study: Path) -> Path:
    """A small repository in which two variants ran."""
    home = tmp_path_factory.mktemp("chain")
    with pytest.MonkeyPatch.context() as patch:
        make_repository(home, root)
        enter(home, patch, made_study)
        run_study()
    return home


@pytest.fixture
def chain_study(original_chain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made_study: Path) -> Iterator[Path]:
    """A copy of the small repository, and we are in it."""
    home = tmp_path / "home"
    shutil.copytree(original_chain, home)
    enter(home, monkeypatch, made_study)
    yield home
    forget_code()
