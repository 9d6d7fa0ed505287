"""
What a block costs by its size: core-seconds of each stage and peak memory, by this version or by one checked out beside it.

A process of its own runs `measure_blocks`, with PYTHONPATH at the version to be measured: it uses only what every version
of the attack has.
"""

import gc
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from time import process_time
from typing import Any

import numpy as np
import pandas as pd

from genverify.attack.generate import generate
from genverify.attack.verify import check_verified, claims_frame, decide_block
from genverify.model.errors import DataError
from genverify.model.release import Release
from genverify.solve.program_settings import ProgramSettings

# households of a block, from and to
CLASSES = ((1, 5), (6, 10), (11, 20), (21, 40), (41, 80), (81, 150), (151, 400), (401, 10**6))
STAGES = ("build_s", "generate_s", "verify_s", "check_s")
COUNTS = ("verified", "undecided", "uncertified", "linear_programs", "searches")
WHOLE = "all"
How = tuple[ProgramSettings, int, int, int]  # program, datasets, least k, seed


def named(class_: tuple[int, int]) -> str:
    """The words for a class of sizes."""
    return f"{class_[0]}-{class_[1]}" if class_ != CLASSES[-1] else f"over {class_[0] - 1}"


def draw_classes(sizes: pd.DataFrame, number: int, rng: np.random.Generator) -> dict[str, list[str]]:
    """Some random blocks of each class of sizes, of those that have any; `sizes` has one row per block: block and n."""
    drawn = {}
    for class_ in CLASSES:
        part = sizes.loc[sizes["n"].between(*class_), "block"].astype(str).sort_values().to_numpy()
        if len(part):
            drawn[named(class_)] = sorted(rng.choice(part, min(number, len(part)), replace=False).tolist())
    return drawn


def shares(sizes: pd.DataFrame) -> dict[str, float]:
    return {named(class_): float(sizes["n"].between(*class_).mean()) for class_ in CLASSES}


def costs(releases: Sequence[Release], how: How, version: Path | None) -> pd.DataFrame:
    """The cost of each block, measured in a new process with this version or with the package in another folder."""
    source = Path(__file__).parents[2] if version is None else version
    if not (source / "genverify").is_dir():
        raise DataError(f"{source}: no folder that holds genverify; see benchmark.blocks.before")
    # not run as a program: what a file does when it is imported would count for the code of all that import it
    code = f"import runpy, sys; runpy.run_path(sys.argv[1])[{_measure_blocks.__name__!r}]()"
    command, text = [sys.executable, "-P", "-c", code, __file__], pickle.dumps((list(releases), how))
    environment = {**os.environ, "PYTHONPATH": str(source.resolve())}
    done = subprocess.run(command, input=text, stdout=subprocess.PIPE, check=True, env=environment)
    return pd.DataFrame(json.loads(done.stdout))


def cost(release: Release, settings: ProgramSettings, K: int, min_k: int, seed: int) -> dict[str, Any]:
    """
    The core-seconds of each stage of the attack on one block. As in a study, where generation and verification are jobs,
    verification gets the release anew and builds the program again: these seconds are part of verify_s. `claims` is the
    digest of the table of verified claims.
    """
    at = [process_time()]
    bounder = settings.bounder(release)
    at.append(process_time())
    records = generate(bounder, K, seed).records
    at.append(process_time())
    result = decide_block(replace(release), records, settings, min_k)
    at.append(process_time())
    check_verified(result)
    at.append(process_time())
    spent = dict(zip(STAGES, np.diff(at).tolist(), strict=True))
    verdicts = [decision.verdict.value for decision in result.decisions]
    tallies = {name: verdicts.count(name) for name in COUNTS[:3]}
    work = {name: getattr(result, name, None) for name in COUNTS[3:]}
    size = {"block": release.block, "n_households": release.n, "classes": result.program.classes}
    claims = sha256(claims_frame(result).to_csv(index=False).encode()).hexdigest()
    return {**size, **spent, **tallies, **work, "peak_memory_mb": getrusage(RUSAGE_SELF).ru_maxrss / 1024, "claims": claims}


def cost_rows(version: str, class_: str, blocks: pd.DataFrame) -> dict[str, Any]:
    """The mean cost of the blocks of a class, and how many linear programs and integer searches a verified claim takes."""
    verified = max(1, int(blocks["verified"].sum()))
    row: dict[str, Any] = {"version": version, "households": class_, "blocks": len(blocks)}
    row |= {stage: blocks[stage].mean() for stage in STAGES} | {"total_s": blocks[list(STAGES)].sum(axis=1).mean()}
    row |= {"slowest_s": blocks[list(STAGES)].sum(axis=1).max(), "peak_memory_mb": blocks["peak_memory_mb"].max()}
    row |= {name: int(blocks[name].sum()) for name in COUNTS[:3]}
    return row | {f"{name}_per_verified": blocks[name].sum(min_count=1) / verified for name in COUNTS[3:]}


def country_rows(rows: Sequence[Mapping[str, Any]], share: Mapping[str, float], blocks: int) -> Iterator[dict[str, Any]]:
    """The rows with the share of each class and its core-hours in the country, and one row for the whole of each version."""
    for version in dict.fromkeys(row["version"] for row in rows):
        part = [row for row in rows if row["version"] == version]
        for row in part:
            yield {**row, "share": share[row["households"]], "core_hours": _hours(row, share, blocks)}
        mean = {name: sum(row[name] * share[row["households"]] for row in part) for name in (*STAGES, "total_s")}
        whole = {"version": version, "households": WHOLE, "blocks": sum(row["blocks"] for row in part), **mean}
        yield {**whole, "share": sum(share[row["households"]] for row in part),
               "core_hours": sum(_hours(row, share, blocks) for row in part)}  # fmt: skip


def _hours(row: Mapping[str, Any], share: Mapping[str, float], blocks: int) -> float:
    return float(row["total_s"] * share[row["households"]] * blocks / 3600)


def blocks_frame(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """The table, rounded; `faster` is how many times less a block costs than in the other version."""
    frame = pd.DataFrame(list(rows))
    totals = frame.pivot_table(index="households", columns="version", values="total_s")
    if "before" in totals:
        ratio = frame["households"].map(totals["before"] / totals["now"])
        frame["faster"] = ratio.where(frame["version"] == "now").round(1)
    digits = dict.fromkeys([*STAGES, "total_s", "slowest_s"], 4) | {"peak_memory_mb": 0, "share": 4, "core_hours": 1}
    return frame.round(digits | {f"{name}_per_verified": 2 for name in COUNTS[3:]})


def _measure_blocks() -> None:
    """Read releases and settings from the standard input, write the cost of every block to the standard output."""
    releases, how = pickle.loads(sys.stdin.buffer.read())
    # what a process does once is not the cost of a block: what is looked up, until a first proof was checked, and a look
    # through all that the imports left behind
    any(cost(release, *how)["verified"] for release in releases)
    gc.freeze()
    print(json.dumps([cost(release, *how) for release in releases]))
