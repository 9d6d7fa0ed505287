"""What many tests share: the census as data files, a toy domain, a toy study, a chain of recorded jobs."""

import gc
import os
import shutil
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

import explorer_study
import study_runs
from chain import enter, make_repository, make_study, run_study
from cheaper import compile_plainly, letters_only
from genverify.model.domain import DomainFile, read_domain
from genverify.model.release import Schema, build_schema
from genverify.model.settings import ReleaseSettings
from genverify.run.code import forget_code
from genverify.run.config import read_shipped
from genverify.run.jobs import log
from genverify.solve.program_settings import ProgramSettings

ROOT = Path(__file__).parents[1]
# the files that take longest, the longest first: a worker that began one of them last would keep the other waiting
LONGEST = (
    "workflow/test_resilience.py",
    "slurm/test_slurm.py",
    "workflow/test_workflow.py",
    "workflow/test_default_study.py",
    "workflow/test_both_snakefiles.py",
    "workflow/test_targets.py",
    "studies/country/test_synthetic.py",
    "attack/test_against_brute_force.py",
    "studies/raprank/test_rap.py",
    "studies/mechanisms/test_matrix_mechanism.py",
    "attack/test_onehot.py",
)
# whole studies, and what needs another program; `make test` leaves them to `make slow`
SLOW = (
    "workflow/test_resilience.py",
    "workflow/test_default_study.py",
    "workflow/test_ablations.py",
    "workflow/test_deployed.py",
    "workflow/test_forgeries.py",
    "workflow/test_skeletons.py",
    "slurm",
    "browser",
    "r",
    "checker/test_coq.py",
    "run/test_wheel.py",
    "run/test_fuzz.py",
)
TOY = ROOT / "tests" / "workflow" / "toy"
# two blocks of the toy, as (PET, HOME, AGE): what is true of the first by hand stands in test_tabulate.py
TOY_BLOCKS = {
    "010010201001000": [(1, 1, 1), (2, 1, 3), (3, 2, 2)],
    "010010201001001": [(1, 1, 1), (1, 1, 1), (1, 1, 1), (1, 1, 1)],
}


compile_plainly()


def pytest_collection_finish() -> None:
    """Modules and tests live to the end: no collection of garbage looks at them again, and collections are rare."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    order = {ROOT / "tests" / name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: order.get(item.path, len(order)))
    slow = [ROOT / "tests" / name for name in SLOW]
    for item in items:
        if any(item.path.is_relative_to(path) for path in slow):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session", autouse=True)
def small_fonts() -> Iterator[None]:
    with letters_only():
        yield


@pytest.fixture(scope="session")
def small_explorer() -> ModuleType:
    """The helper that makes a small study for the explorer, and the explorer itself."""
    return explorer_study


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


@pytest.fixture(scope="session")
def shipped() -> dict[str, Any]:
    return read_shipped(ROOT)


@pytest.fixture
def config(shipped: dict[str, Any]) -> dict[str, Any]:
    """A fresh copy of the shipped configuration."""
    return deepcopy(shipped)


@pytest.fixture(autouse=True)
def quiet_log() -> Iterator[None]:
    """Handlers that jobs add in this process are taken away again: they would write to the closed streams of older tests."""
    yield
    for handler in list(log.handlers):
        handler.close()
        log.removeHandler(handler)


@pytest.fixture(scope="session")
def release_settings() -> ReleaseSettings:
    """The release settings of the paper's study."""
    return ReleaseSettings(**yaml.safe_load((ROOT / "config.yaml").read_text())["release"])


@pytest.fixture(scope="session")
def program_settings() -> ProgramSettings:
    return ProgramSettings(**yaml.safe_load((ROOT / "config.yaml").read_text())["program"])


@pytest.fixture(scope="session")
def toy() -> Path:
    """The folder of the toy domain and its tables."""
    return TOY


@pytest.fixture(scope="session")
def toy_settings() -> ReleaseSettings:
    return ReleaseSettings(
        tables_file=str(TOY / "tables.yaml"),
        universe="owners",
        tables="all",
        groups={},
        structural_zeros=False,
        withhold=[],
    )


@pytest.fixture(scope="session")
def toy_schema(toy_settings: ReleaseSettings) -> Schema:
    tables = yaml.safe_load((TOY / "tables.yaml").read_text())
    return build_schema(read_domain(TOY / "domain.yaml"), tables, toy_settings)


@pytest.fixture(scope="session")
def toy_records() -> dict[str, list[tuple[int, int, int]]]:
    return TOY_BLOCKS


@pytest.fixture(scope="session")
def made_study(tmp_path_factory: pytest.TempPathFactory, toy_schema: Schema, program_settings: ProgramSettings) -> Path:
    """The toy blocks, released and attacked, in the layout of results/{variant}; tests that change it copy it first."""
    study = tmp_path_factory.mktemp("study")
    make_study(study, toy_schema, program_settings, TOY_BLOCKS)
    return study


@pytest.fixture(scope="session")
def plain_study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository in which every block of two states was attacked, undisturbed; tests only read it."""
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own

    def make(home: Path) -> None:
        study_runs.snakemake(study_runs.copy_small(home), "state", "--configfile", "small.yaml")

    return study_runs.made_once(shared, "plain_study", make)


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
