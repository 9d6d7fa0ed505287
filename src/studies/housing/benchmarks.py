"""How long detection and the most likely reconstructions take, in seconds of one core."""

from collections.abc import Callable, Iterable, Sequence
from time import process_time
from typing import Any

import pandas as pd

from genverify.solve.program_settings import ProgramSettings
from studies.housing.detect import DetectionResult, detect_block
from studies.housing.joint_program import Row, prior_of, read_block
from studies.housing.reconstruct import reconstruct_block
from studies.housing.settings import HousingBenchmark

Blocks = Sequence[tuple[str, Row]]


def time_housing(
    blocks: Blocks, prior: pd.DataFrame, given: dict[str, Any], own: HousingBenchmark, program: ProgramSettings
) -> pd.DataFrame:
    """Detection with its proofs checked, then the top t of flagged blocks; `given` says how the statistics are read."""
    file, percentages, reading = given["file"], given["percentages"], given["reading"]
    found: list[DetectionResult] = []

    def detect(block: str, row: Row) -> None:
        found.append(detect_block(row, block, file, percentages, reading, program))
        found[-1].check()

    rows = [_timed("detection", blocks[: own.detection_blocks], detect)]
    flagged = {one.block for one in found if one.flagged}
    chosen = [(block, row) for block, row in blocks if block in flagged][: own.top_blocks]

    def reconstruct(block: str, row: Row) -> None:
        release = read_block(row, block, file, percentages, reading)
        reconstruct_block(release, prior_of(prior, block), given["top"], program, given["search"], given["seed"])

    rows.append(_timed(f"top {given['top']}", chosen, reconstruct))
    paper = given["paper_times"]["top"]
    rate = paper["blocks"] / (paper["hours"] * 3600 * paper["cores"])
    return pd.DataFrame(rows).assign(paper_blocks_per_core_second=[float("nan"), round(rate, 6)])


def _timed(work: str, blocks: Iterable[tuple[str, Row]], do: Callable[[str, Row], Any]) -> dict[str, Any]:
    """The seconds of one core for all blocks, and for the slowest."""
    started, times = process_time(), []
    for block, row in blocks:
        at = process_time()
        do(block, row)
        times.append(process_time() - at)
    spent = process_time() - started
    rate = len(times) / max(spent, 1e-9)
    return {"work": work, "blocks": len(times), "core_seconds": round(spent, 3), "blocks_per_core_second": round(rate, 3),
            "slowest_seconds": round(max(times, default=0.0), 3)}  # fmt: skip
