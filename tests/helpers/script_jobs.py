"""Scripts of the workflow in tests: their modules by name, and jobs made of plain values."""

import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from genverify.core.closed import Section
from genverify.run.code import find_script
from genverify.run.jobs import Job

SCRIPTS = Path(__file__).parents[2] / "scripts"
SAMPLE = {"universe": "owners", "designs": {}, "all_blocks": {}, "batches": 1, "blocks_per_batch": 250}


def load_script(name: str) -> ModuleType:
    """A script as a module."""
    spec = importlib.util.spec_from_file_location(f"script_{name}", find_script(SCRIPTS, name))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def script(name: str) -> Callable[[Job], None]:
    """The main of a script."""
    main: Callable[[Job], None] = load_script(name).main
    return main


def job(inputs: dict[str, Any], outputs: dict[str, Any], wildcards: dict[str, str] | None = None, **params: Any) -> Job:
    """A job as Snakemake would describe it: paths as texts, settings as plain values, the folders of its outputs made."""
    for path in outputs.values():
        for one in path if isinstance(path, list) else [path]:
            Path(one).parent.mkdir(parents=True, exist_ok=True)
    plain = {name: value.model_dump() if isinstance(value, Section) else value for name, value in params.items()}
    return Job("toy", _texts(inputs), _texts(outputs), SimpleNamespace(**plain), SimpleNamespace(**(wildcards or {})))


def _texts(files: dict[str, Any]) -> SimpleNamespace:
    return SimpleNamespace(**{k: list(map(str, v)) if isinstance(v, list) else str(v) for k, v in files.items()})


def evaluate(home: Path, domain: Path, found: dict[str, Path], batches: Sequence[str], release: Any) -> None:
    """Baselines, households and the summary of claims that were collected; `found`: the sample and the verified blocks."""
    private = {"microdata": home / "microdata", "domain": domain, "claims": home / "claims.parquet"}
    schema, counts = home / "release" / "schema.json", [home / "release" / f"{batch}.parquet" for batch in batches]
    script("fit_baselines")(
        job({**private, "blocks": found["blocks"]},
            {"baselines": home / "baselines.parquet", "unseen": home / "unseen.csv"}, release=release)
    )  # fmt: skip
    script("count_households")(
        job({**private, "sample": found["sample"], "schema": schema, "counts": counts},
            {"households": home / "households.parquet", "answers": home / "answers.parquet"}, release=release, sample=SAMPLE)
    )  # fmt: skip
    script("summarise_claims")(
        job({"schema": schema, "claims": home / "claims.parquet", "baselines": home / "baselines.parquet"},
            {"summary": home / "summary.json"})
    )  # fmt: skip
