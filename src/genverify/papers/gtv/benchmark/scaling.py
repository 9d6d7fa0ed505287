"""How the attack grows with the block: larger blocks put together from the blocks of a tract, each attacked and timed."""

from collections.abc import Iterator, Mapping, Sequence
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from genverify.attack.block import check_verified, decide_block
from genverify.attack.generate import generate
from genverify.attack.verify import Verdict
from genverify.core.errors import DataError
from genverify.core.measure import Measured
from genverify.core.predicates import Predicate
from genverify.core.release import Release
from genverify.core.timing import watch
from genverify.solve.settings import ProgramSettings

COLUMNS = [
    "n_households", "structural_zeros", "repeat", "types", "classes", "rows", "generate_s", "verify_s", "check_s", "cpu_s",
    "candidates", "verified", "undecided", "uncertified", "peak_memory_mb", "finished",
]  # fmt: skip


def draw_tract(sizes: pd.DataFrame, households: int, rng: np.random.Generator) -> list[str]:
    """
    The blocks of a random tract, in random order, until they hold at least a given number of households.

    `sizes` has one row per block: block, tract and n.
    """
    totals = sizes.groupby("tract")["n"].sum().sort_index()
    large = totals.index[totals >= households]
    if len(large) == 0:
        raise DataError(
            f"no tract has {households} households (the largest has {totals.max()}). Ask for smaller blocks in "
            "config/benchmark.yaml (benchmark.scaling.households)."
        )
    own = sizes[sizes["tract"] == large[int(rng.integers(len(large)))]].sort_values("block")
    mixed = own.iloc[rng.permutation(len(own))]
    needed = int(np.searchsorted(mixed["n"].to_numpy().cumsum(), households)) + 1
    return [str(block) for block in mixed["block"].iloc[:needed]]


def merge_blocks(records: pa.Table, blocks: Sequence[str], keeps: Predicate, households: int, name: str) -> pa.Table:
    """The first households of the blocks, taken in the given order, as one block of this name."""
    frame = records.to_pandas()
    frame = frame[keeps.matches(dict(frame.items()))]
    order = frame["block"].astype(str).map({block: place for place, block in enumerate(blocks)})
    merged = frame.loc[order.sort_values(kind="stable").index].iloc[:households]
    return pa.Table.from_pandas(merged.assign(block=name), preserve_index=False)


def attack_stages(release: Release, settings: ProgramSettings, K: int, min_k: int, seed: int) -> Iterator[dict[str, Any]]:
    """The whole attack on a block, with the seconds of each stage as soon as it is over."""
    started = process_time()
    with watch() as spent:
        bounder = settings.bounder(release)
    built = bounder.program
    yield {"types": len(built.types), "classes": built.classes, "rows": len(built.rows)}
    with watch() as walked:
        records = generate(bounder, K, seed).records
    yield {"generate_s": spent.seconds + walked.seconds, "cpu_s": process_time() - started}
    with watch() as spent:
        found = decide_block(release, records, settings, min_k)
    verdicts = {verdict.value: found.counts(verdict).total() for verdict in Verdict if verdict is not Verdict.REFUTED}
    yield {"verify_s": spent.seconds, "cpu_s": process_time() - started, "candidates": len(found.candidates), **verdicts}
    with watch() as spent:
        check_verified(found)
    yield {"check_s": spent.seconds, "cpu_s": process_time() - started}


def scaling_frame(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """One row per case, seconds and memory rounded; what a case did not reach stays empty."""
    frame = pd.DataFrame(list(rows)).reindex(columns=COLUMNS)
    seconds = [name for name in COLUMNS if name.endswith("_s")]
    frame[seconds] = frame[seconds].astype(float).round(4)
    frame["peak_memory_mb"] = frame["peak_memory_mb"].astype(float).round(1)
    counts = ["types", "classes", "rows", "candidates", "verified", "undecided", "uncertified"]
    frame[counts] = frame[counts].astype("Int64")
    return frame


def scaling_row(households: int, structural: bool, repeat: int, measured: Measured) -> dict[str, Any]:
    """The row of one case."""
    case = {"n_households": households, "structural_zeros": structural, "repeat": repeat}
    return {**case, **measured.values, "peak_memory_mb": measured.peak_memory_mb, "finished": measured.ended}
