"""A small study for the explorer: three blocks of the toy, one with a name that is hostile, in words that are hostile."""

import importlib.util
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

from genverify.attack.generate import _generated_row, generate_block
from genverify.attack.verify import _verified_row, claims_frame, verify_block
from genverify.checker.certificate import write_proofs
from genverify.model.domain import Domain
from genverify.model.release import Release, Schema, counts_frame, make_release, write_schema
from genverify.model.tablefiles import by_design
from genverify.model.tabulate import tabulate
from genverify.run.code import find_script
from genverify.run.jobs import Job
from genverify.solve.program_settings import ProgramSettings
from studies.gtv.baselines import LEAVE_OUT, PRIORS, UNIFORM
from studies.gtv.tables import count_households

ROOT = Path(__file__).parents[2]
HOSTILE = '01"><img src=x onerror=alert(1)>'
LABEL = "pet <script>alert(1)</script> & 'co'"
BLOCKS = {
    "010010201001000": [(1, 1, 1), (2, 1, 3), (3, 2, 2)],
    "010010201001001": [(1, 1, 1), (1, 1, 1), (1, 1, 1), (1, 1, 1)],
    HOSTILE: [(1, 1, 1), (2, 2, 3), (3, 2, 2), (3, 2, 2)],
    "560010201001000": [(2, 1, 1), (2, 1, 4), (1, 2, 2)],
}
LIKELY, ESTIMATED = "560010201001000", 0.75
OPEN = [(1, 2, 3, 0.99996), (1, None, 3, 0.99), (2, 1, 2, ESTIMATED), (2, None, 2, 0.3)]
"""Claims with m = 1, probable under the tract prior; the second is a shorter form of the first and not likelier."""
SETTINGS: dict[str, Any] = {
    "variant": "paper",
    "phrases": None,
    "places": str(ROOT / "data" / "census" / "places.yaml"),
    "show_households": False,
    "certificates": True,
    "likely": 5,
    "blocks_per_piece": 2,
}
PRIOR_NAMES = [name + end for name in PRIORS for end in ("", LEAVE_OUT)] + [UNIFORM]


def hostile_schema(schema: Schema) -> Schema:
    """The toy with HTML in the label of its first column."""
    first, *others = schema.domain.columns
    return replace(schema, domain=Domain((replace(first, label=LABEL), *others)))


def release_of(schema: Schema, block: str) -> tuple[pd.DataFrame, Release]:
    """The published counts of a block, as rows and as a release."""
    records = BLOCKS[block]
    columns = dict(zip(schema.domain.names, np.array(records).T, strict=True))
    counts = tabulate(columns, np.array([0]), schema.domain, schema.queries)
    frame = counts_frame(schema, [block], np.array([len(records)]), counts, [])
    known = dict(zip(frame["query"].astype(str), frame["count"].tolist(), strict=True))
    return frame, make_release(schema, block, known)


def write_study(folder: Path, schema: Schema, program: ProgramSettings, source: str = "synthetic") -> Path:
    """Everything that the explorer reads, in the layout of results/{variant}; the baselines are made up: row / 1000."""
    folder.mkdir(parents=True, exist_ok=True)
    sample = pd.DataFrame([{"block": b, "state": b[:2], "design": "all", "n_households": len(r)} for b, r in BLOCKS.items()])
    frames, proofs, claims, rows = [], [], [], []
    for block in BLOCKS:
        frame, release = release_of(schema, block)
        generated = generate_block(release, program, 10, 1)
        found = verify_block(release, generated.records, program, 1)
        frames.append(frame)
        proofs.append(found.certificate)
        claims.append(claims_frame(found))
        rows.append(pd.DataFrame([_generated_row(release, generated) | _verified_row(found, program)]))
    write_schema(schema, folder / "schema.json")
    pd.concat(frames, ignore_index=True).to_parquet(folder / "000.parquet", index=False)
    write_proofs(proofs, folder / "000.jsonl.gz")
    label = "synthetic microdata" if source == "synthetic" else "PPMF"
    (folder / "microdata.json").write_text(json.dumps({"source": source, "label": label}))
    write_frames(folder, schema, sample, by_design(sample, claims), by_design(sample, rows))
    write_weighed(folder, schema, by_design(sample, claims))
    return folder


def write_weighed(folder: Path, schema: Schema, claims: pd.DataFrame) -> None:
    """Made-up probabilities of two blocks: of what is verified and of what is not; nothing is likely in the second."""
    names = list(schema.domain.names)
    sure = claims[(claims["block"] == LIKELY) & (claims["m"] == 1)][["block", "m", *names]].assign(verified=True, p=1.0)
    open_ = pd.DataFrame(OPEN, columns=[*names, "p"]).assign(block=LIKELY, m=1, verified=False)
    unlikely = open_.iloc[:1].assign(block="010010201001001", p=0.2)
    frame = pd.concat([sure, open_, unlikely], ignore_index=True).astype(dict.fromkeys(names, "Int16"))
    for prior, part in {"uniform": 0.9, "nation": 0.95, "state": None, "tract": 1.0}.items():
        p = frame["p"].where(frame["verified"], frame["p"] * part) if part else frame["p"].where(frame["verified"])
        frame = frame.assign(**{prior: p, f"{prior}_low": p, f"{prior}_high": p})
    numbers = frame["p"].map(lambda p: "estimated" if p == ESTIMATED else "exact")
    low = frame["tract_low"].where(numbers == "exact", 0.6)
    frame.assign(numbers=numbers, tract_low=low).to_parquet(folder / "weighed.parquet", index=False)


def write_frames(folder: Path, schema: Schema, sample: pd.DataFrame, claims: pd.DataFrame, blocks: pd.DataFrame) -> None:
    names = list(schema.domain.names)
    records = pd.concat([pd.DataFrame(r, columns=names).assign(block=b) for b, r in BLOCKS.items()], ignore_index=True)
    household = np.ones(len(records), dtype=bool)
    households = count_households(claims, records, household, sample, len(names))
    p = np.arange(len(claims)) / 1000
    baselines = claims[["block", "design", "k", "m"]].assign(**dict.fromkeys(PRIOR_NAMES, p))
    for name, frame in {
        "sample": sample,
        "claims": claims,
        "blocks": blocks,
        "households": households,
        "baselines": baselines,
    }.items():
        frame.to_parquet(folder / f"{name}.parquet", index=False)


def run(script: str, inputs: dict[str, Any], outputs: dict[str, Any], **params: Any) -> None:
    """The main of a script on plain files."""
    spec = importlib.util.spec_from_file_location(f"script_{script}", find_script(ROOT / "scripts", script))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.main(
        Job(script, SimpleNamespace(**inputs), SimpleNamespace(**outputs), SimpleNamespace(**params), SimpleNamespace())
    )


def build(study: Path, folder: Path, toy: Path, **settings: Any) -> Path:
    """The explorer of a study, through the mains of both scripts."""
    explained = study / "explained.jsonl.gz"
    release = {"schema": study / "schema.json", "counts": study / "000.parquet"}
    run("explain_claims", {**release, "proofs": study / "000.jsonl.gz"}, {"explained": explained})
    vipr = {**release, "proofs": study / "000.jsonl.gz", "manifest": study / "microdata.json"}
    run("export_proofs", vipr, {"archive": study / "000.zip"})
    frames = {name: study / f"{name}.parquet" for name in ("sample", "claims", "blocks", "households", "baselines")}
    laid_out = {"proofs": [study / "000.jsonl.gz"], "explained": [explained]}
    inputs = {"schema": study / "schema.json", "counts": [study / "000.parquet"], **laid_out, **frames}
    inputs |= {
        "vipr": [study / "000.zip"],
        "weighed": [study / "weighed.parquet"],
        "manifest": study / "microdata.json",
        "domain": toy / "domain.yaml",
        "tables": toy / "tables.yaml",
    }
    folder.mkdir(parents=True, exist_ok=True)
    outputs = {"page": folder / "index.html", "inside": folder / "all_in_one.html", "pieces": folder / "pieces"}
    run("build_explorer", inputs, outputs, explorer=SETTINGS | settings, verify={"min_k": 1})
    return folder
