"""What many tests share: the census as data files, a toy domain, and a whole toy study made by the library."""

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from genverify.attack import ProgramSettings, generate_block, proofs_dict, verify_block
from genverify.domain import DomainFile, read_domain
from genverify.prooffile import write_proofs
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
