"""Forges a small study at random, many times, and asks whether the audit accepts what is false: tests/fuzz/audit.py."""

import json
import shutil
from collections import Counter
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
import pytest
import yaml

from chain import enter, make_repository, make_study, run_study
from forgeries import ALL_BLOCKS, ALL_CLAIMS, CLAIMS, FORGERS, GENERATED, VERIFIED, rows_of
from genverify.model.domain import read_domain
from genverify.model.errors import GenverifyError
from genverify.model.release import build_schema
from genverify.model.settings import ReleaseSettings
from genverify.run.config import Config
from genverify.run.provenance.audit import audit, read_config, repository
from genverify.solve.program_settings import ProgramSettings

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
# not statements about the blocks that anything else in the study could contradict: how the work was done
HOW = {"types", "classes", "solver", "decided_lp", "decided_ip", "limits", "complete"}
# of a record: what is recorded of the job's time, and of the commit, which is part of the published digest
TIMES = {"started", "seconds", "git"}
ESCAPED = "accepted, false"


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
    return chain


def _toy() -> tuple[dict[str, Any], ReleaseSettings]:
    tables = TESTS / "workflow" / "toy" / "tables.yaml"
    settings = ReleaseSettings(
        tables_file=str(tables), universe="owners", tables="all", groups={}, structural_zeros=False, withhold=[]
    )
    return yaml.safe_load(tables.read_text()), settings


def statements(path: str, leave_out: set[str]) -> Counter[str]:
    """What a table says, row by row, whatever their order."""
    rows = [{k: v for k, v in row.items() if k not in leave_out} for row in rows_of(pd.read_parquet(path))]
    return Counter(json.dumps(row, sort_keys=True, default=str) for row in rows)


def told() -> dict[str, Any]:
    """
    All that the study reports. Claims without the number of their proof, which may change with the file of proofs. Datasets
    are what the attack found, and others that fit are as good.
    """
    reported = {CLAIMS: {"proof"}, ALL_CLAIMS: {"proof"}, VERIFIED: HOW, GENERATED: HOW, ALL_BLOCKS: HOW}
    records = [path for made in ("results", "figures") for path in sorted(Path(made).rglob("*record.json"))]
    jobs = {str(path): json.loads(path.read_text()) for path in records}
    return {
        "tables": {path: statements(path, leave_out) for path, leave_out in reported.items()},
        "jobs": {path: {k: _named(k, v) for k, v in text.items() if k not in TIMES} for path, text in jobs.items()},
    }


def _named(key: str, value: Any) -> Any:
    """Of inputs and outputs the names and paths: their digests follow the files, which are compared themselves."""
    return {name: sorted(files) for name, files in value.items()} if key in ("inputs", "outputs") else value


def run(cases: int, seed: int) -> tuple[Counter[str], list[str]]:
    """Try a number of forgeries; the outcomes counted, and the escapes in words."""
    outcomes: Counter[str] = Counter()
    escapes: list[str] = []
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        original = make_original(Path(folder), seed)
        enter(original, patch, Path(folder) / "study")
        run_study()
        config = read_config([])  # which no forger touches
        accepted(config)
        truth = told()
        for case in range(cases):
            home = Path(folder) / "forged"
            shutil.copytree(original, home)
            enter(home, patch, Path(folder) / "study")
            outcome, words = one_case(Random(f"{seed} {case}"), config, truth)
            outcomes[outcome] += 1
            escapes += [f"case {case}: {words}"] if outcome == ESCAPED else []
            patch.chdir(original)
            shutil.rmtree(home)
    return outcomes, escapes


def one_case(draw: Random, config: Config, truth: dict[str, Any]) -> tuple[str, str]:
    """Forge, then audit: what came of it, and what was done."""
    words = draw.choice(FORGERS)(draw)
    refused = not accepted(config, expect=False)
    false = told() != truth
    outcomes = {(True, True): "refused, false", (True, False): "refused, nothing reported is false",
                (False, True): ESCAPED, (False, False): "accepted, nothing reported is false"}  # fmt: skip
    return outcomes[refused, false], words


def accepted(config: Config, expect: bool = True) -> bool:
    """Whether the audit accepts the figure of the study where we are."""
    try:
        list(audit(repository(), config, ["figures/fig3.pdf"]))
    except GenverifyError:
        if expect:
            raise
        return False
    return True
