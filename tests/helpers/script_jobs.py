"""Scripts of the workflow in tests: their modules by name, jobs made of plain values, and what they run is digested."""

import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from pathlib import Path
from types import CodeType, FrameType, ModuleType, SimpleNamespace
from typing import Any

import pandas as pd

from genverify.model.settings import Section
from genverify.run import code
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
    """The main of a script, which must run nothing that its digest leaves out: a job would not run again for it."""
    main: Callable[[Job], None] = load_script(name).main

    @wraps(main)
    def traced(job: Job) -> None:
        executed: set[CodeType] = set()

        def note(frame: FrameType, event: str, _: Any) -> None:
            if event == "call":
                executed.add(frame.f_code)

        before = sys.getprofile()
        sys.setprofile(note)
        try:
            main(job)
        finally:
            sys.setprofile(before)
        assert main.__code__ in executed
        left_out = undigested(find_script(SCRIPTS, name), executed)
        assert not left_out, f"{name} ran what its digest does not cover: {left_out}"

    return traced


def undigested(path: Path, executed: Iterable[CodeType]) -> list[str]:
    """The functions of the packages that ran, and that the digest of a script does not cover."""
    reached = code.reached(str(path))
    lines = {
        file: {line for number in numbers for line in lines_of(file, number)}
        for file, numbers in reached.items()
        if numbers is not None
    }
    functions = [one for one in executed if one.co_flags & inspect.CO_OPTIMIZED]  # no bodies of modules and classes
    own = [one for one in functions if Path(one.co_filename).is_relative_to(code.SRC)]
    return sorted(
        f"{one.co_filename}:{one.co_firstlineno} {one.co_name}"
        for one in own
        if one.co_filename not in reached or one.co_firstlineno not in lines.get(one.co_filename, [one.co_firstlineno])
    )


def lines_of(file: str, number: int) -> set[int]:
    """The lines of a piece in its file; of a class without its methods."""
    pieces = code._source(file).pieces
    methods = (pieces[method] for numbers in pieces[number].methods.values() for method in numbers)
    lines = set(range(pieces[number].start, pieces[number].end + 1))
    return lines.difference(*(range(method.start, method.end + 1) for method in methods))


def job(inputs: dict[str, Any], outputs: dict[str, Any], wildcards: dict[str, str] | None = None, **params: Any) -> Job:
    """A job as Snakemake would describe it: paths as texts, settings as plain values, the folders of its outputs made."""
    for path in outputs.values():
        for one in path if isinstance(path, list) else [path]:
            Path(one).parent.mkdir(parents=True, exist_ok=True)
    plain = {name: value.model_dump() if isinstance(value, Section) else value for name, value in params.items()}
    return Job("toy", _texts(inputs), _texts(outputs), SimpleNamespace(**plain), SimpleNamespace(**(wildcards or {})))


def _texts(files: dict[str, Any]) -> SimpleNamespace:
    return SimpleNamespace(**{k: list(map(str, v)) if isinstance(v, list) else str(v) for k, v in files.items()})


def sampled(home: Path) -> dict[str, Path]:
    """What sampling writes."""
    return {name: home / f"{name}.parquet" for name in ("blocks", "sizes", "batches", "nation")}


def in_one_batch(sample: Path) -> Path:
    """A file of batches for a sample that was written by hand: all its blocks in the first."""
    path = sample.with_name("batches.parquet")
    pd.read_parquet(sample)[["block"]].drop_duplicates().assign(batch=0).to_parquet(path)
    return path


def publish(store: dict[str, Any], schema: Path, counts: Path, release: Any) -> None:
    """The schema, and the counts of the batch that a file of counts is named for (of the first, if it has another name)."""
    batch = counts.stem if counts.stem.isdigit() else "000"
    script("describe_release")(job({"domain": store["domain"]}, {"schema": schema}, release=release))
    script("tabulate_release")(job({**store, "schema": schema}, {"counts": counts}, {"batch": batch}, release=release))


def evaluate(home: Path, domain: Path, found: dict[str, Path], batches: Sequence[str], release: Any) -> None:
    """Baselines, households and the summary of claims that were collected; `found`: the sample and the verified blocks."""
    private = {"microdata": home / "microdata", "domain": domain, "claims": home / "claims.parquet"}
    schema, counts = home / "release" / "schema.json", [home / "release" / f"{batch}.parquet" for batch in batches]
    kinds = ("baselines", "unseen")
    fitted = [{kind: home / "baselines" / f"{batch}.{kind}.parquet" for kind in kinds} for batch in batches]
    for batch, outputs in zip(batches, fitted, strict=True):
        of_batch = {"claims": home / "claims" / f"{batch}.parquet", "blocks": home / "generated" / f"{batch}.blocks.parquet"}
        script("fit_baselines")(job({**private, **of_batch, "nation": home / "nation.parquet"}, outputs, release=release))
    script("count_households")(
        job({**private, "sample": found["sample"], "schema": schema, "counts": counts},
            {"households": home / "households.parquet", "answers": home / "answers.parquet"}, release=release, sample=SAMPLE)
    )  # fmt: skip
    script("summarise_claims")(
        job({"schema": schema, "claims": home / "claims.parquet", "sample": found["sample"],
             **{kind: [outputs[kind] for outputs in fitted] for kind in kinds}},
            {"summary": home / "summary.json", "baselines": home / "baselines.parquet", "unseen": home / "unseen.csv"})
    )  # fmt: skip
