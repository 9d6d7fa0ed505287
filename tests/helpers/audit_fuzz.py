"""Forges a small study at random, many times, and asks whether the audit accepts what is false: tests/fuzz/audit.py."""

import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import ceil
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import yaml

from chain import RULES, enter, make_repository, make_study, run_study
from forger import forge_record
from forgeries import FORGERS, forge_one_job, written
from genverify.model.domain import read_domain
from genverify.model.errors import GenverifyError
from genverify.model.release import build_schema
from genverify.model.settings import ReleaseSettings
from genverify.run.config import Config
from genverify.run.provenance import rerun
from genverify.run.provenance.audit import audit, read_config
from genverify.run.provenance.records import Record
from genverify.run.provenance.rerun import Outcome
from genverify.solve.program_settings import ProgramSettings
from reference_set import check_lines, write_reference

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
# of a record: what is recorded of the job's time, and of the commit, which is part of the published digest
TIMES = {"started", "seconds", "git"}
ESCAPED = "accepted, false"
TARGETS = ("figures/fig3.pdf", "results/tables/toy.csv", "results/crate.zip")  # of one variant: its proofs need no pool
DEAR_JOBS = 8  # microdata, sample, release, datasets, claims, their collection, a figure, a table


def make_original(home: Path, seed: int) -> Path:
    """The study that is forged: six blocks of the toy, two variants, from a raw file to figures."""
    schema = build_schema(read_domain(TESTS / "workflow" / "toy" / "domain.yaml"), *_toy())
    settings = ProgramSettings(**yaml.safe_load((ROOT / "config.yaml").read_text())["program"])
    draw = Random(seed)
    codes = [column.codes for column in schema.domain.columns]
    blocks = {f"01001020100100{i}": [tuple(map(draw.choice, codes)) for _ in range(2 + i % 4)] for i in range(6)}
    study, chain = home / "study", home / "chain"
    study.mkdir()
    chain.mkdir()
    make_study(study, schema, settings, blocks)
    make_repository(chain, ROOT)
    (chain / "docs").mkdir()
    (chain / "workflow" / "captions").mkdir()
    (chain / "workflow" / "captions" / "toy.rst").write_text("**Claims.** How many there are of each k.\n")
    listing = {"order": 1, "title": "The toy", "results": {"results/tables/toy.csv": "toy"}}
    (chain / "workflow" / "reference.yaml").write_text(yaml.safe_dump(listing))
    return chain


def _toy() -> tuple[dict[str, Any], ReleaseSettings]:
    tables = TESTS / "workflow" / "toy" / "tables.yaml"
    settings = ReleaseSettings(
        tables_file=str(tables), universe="owners", tables="all", groups={}, structural_zeros=False, withhold=[]
    )
    return yaml.safe_load(tables.read_text()), settings


def told() -> dict[str, Any]:
    """All that the study reports: every file byte by byte, the records without times and digests, the reference set."""
    records = [path for made in ("results", "figures") for path in sorted(Path(made).rglob("*record.json"))]
    jobs = {str(path): json.loads(path.read_text()) for path in records}
    return {
        "jobs": {path: {k: _named(k, v) for k, v in text.items() if k not in TIMES} for path, text in jobs.items()},
        "files": {path: Path(path).read_bytes() for path in [*written(), "data/raw.yaml"]},
        "reference": {path.name: path.read_bytes() for path in sorted(Path("docs/reference").iterdir())},
    }


def _named(key: str, value: Any) -> Any:
    """Of inputs and outputs the names and paths: their digests follow the files, which are compared themselves."""
    return {name: sorted(files) for name, files in value.items()} if key in ("inputs", "outputs") else value


def run(cases: int, seed: int) -> tuple[Counter[str], list[str]]:
    """Try a number of forgeries; the outcomes counted, and the escapes in words."""
    outcomes: Counter[str] = Counter()
    escapes: list[str] = []
    for case, (outcome, words) in enumerate(_cases(cases, seed, FORGERS, dear=False, shares=[0.0])):
        outcomes[outcome] += 1
        escapes += [f"case {case}: {words}"] if outcome == ESCAPED else []
    return outcomes, escapes


def measure(cases: int, seed: int, share: float) -> tuple[float, float, int]:
    """
    Every job dear, and one of them forged in a way that no proof contradicts: how often an audit caught it that ran a share
    of the jobs again, the chance that it states, and how many escaped an audit that ran all of them again. Without the crate
    and the reference set, which repeat what other jobs wrote.
    """
    found = list(_cases(cases, seed, (forge_one_job,), dear=True, shares=[share, 1.0]))
    caught = sum(outcome != ESCAPED for outcome, _ in found[::2]) / cases
    return caught, ceil(share * DEAR_JOBS) / DEAR_JOBS, sum(outcome == ESCAPED for outcome, _ in found[1::2])


def _cases(
    cases: int, seed: int, forgers: Sequence[Callable[[Random], str]], dear: bool, shares: Sequence[float]
) -> Iterator[tuple[str, str]]:
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        original = make_original(Path(folder), seed)
        enter(original, patch, Path(folder) / "study")
        run_study()
        if dear:
            make_dear()
        config = read_config([])  # which no forger touches
        write_reference(config)
        patch.setattr(rerun, "rerun_jobs", RepeatedJobs(rerun.rerun_jobs))
        accepted(config)
        truth = told()
        for case in range(cases):
            home = Path(folder) / "forged"
            shutil.copytree(original, home)
            enter(home, patch, Path(folder) / "study")
            draw = Random(f"{seed} {case}")
            words = draw.choice(forgers)(draw)
            for share in shares:
                yield judge(not accepted(config, False, share, case, dear), truth), words
            patch.chdir(original)
            shutil.rmtree(home)


class RepeatedJobs:
    """Runs a job again once; what it gave then is what it gives from the same inputs, settings, wildcards and code."""

    def __init__(self, run: Callable[..., Iterator[Outcome]]) -> None:
        self.run, self.known = run, dict[str, Outcome]()

    def __call__(self, jobs: Sequence[Record], *more: Any) -> Iterator[Outcome]:
        keys = {job.path: self.key(job) for job in jobs}
        new = [job for job in jobs if keys[job.path] not in self.known]
        # what is known first: an audit that ends with it starts no process; the others together, in one
        for job in (job for job in jobs if job not in new):
            yield replace(self.known[keys[job.path]], record=job)
        for outcome in self.run(new, *more) if new else ():
            self.known[keys[outcome.record.path]] = outcome
            yield outcome

    @staticmethod
    def key(job: Record) -> str:
        given = [job.text[part] for part in ("rule", "wildcards", "params", "code", "inputs", "lists")]
        return json.dumps([given, {name: sorted(files) for name, files in job.text["outputs"].items()}])


def make_dear() -> None:
    """By their rules and by their records."""
    Path("workflow/times.yaml").write_text(yaml.safe_dump({"seconds": dict.fromkeys(RULES, 99.0)}))
    for path in (path for made in ("results", "figures") for path in Path(made).rglob("*record.json")):
        forge_record(str(path), lambda text: text.update(seconds=99.0))


def judge(refused: bool, truth: dict[str, Any]) -> str:
    """What came of a case."""
    false = told() != truth
    outcomes = {(True, True): "refused, false", (True, False): "refused, nothing reported is false",
                (False, True): ESCAPED, (False, False): "accepted, nothing reported is false"}  # fmt: skip
    return outcomes[refused, false]


def accepted(config: Config, expect: bool = True, share: float = 0.0, seed: int = 0, dear: bool = False) -> bool:
    """Whether the audit accepts the results of the study where we are, and its reference set."""
    try:
        list(audit(config, TARGETS[: 2 if dear else None], share=share, seed=seed))
        list(() if dear else check_lines(config, strict=True))
    except GenverifyError:
        if expect:
            raise
        return False
    return True
