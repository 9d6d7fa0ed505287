"""The explorer of many blocks is built in the memory that few take."""

import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from genverify.checker.certificate import read_lines, read_proofs, write_proofs
from genverify.explorer import explorer_site as build
from genverify.explorer import explorer_site as summary
from genverify.explorer.explorer_site import claims_by_block
from genverify.model.errors import DataError
from genverify.model.release import read_releases, read_schema
from genverify.model.tablefiles import read_blocks

AT_ONCE = 5
FRAMES = ("sample", "claims", "blocks", "households", "baselines")


def multiply(study: Path, folder: Path, times: int) -> Path:
    """A study of that many blocks, five to a batch, each the first block of another with its claims thirty times."""
    folder.mkdir()
    first = pd.read_parquet(study / "sample.parquet")["block"].iloc[0]
    names = [f"01{number:013d}" for number in range(times)]
    for frame in FRAMES:
        rows = pd.read_parquet(study / f"{frame}.parquet")
        own = pd.concat([rows[rows["block"] == first]] * (30 if frame in ("claims", "baselines") else 1))
        pd.concat([own] * times).assign(block=np.repeat(names, len(own))).to_parquet(
            folder / f"{frame}.parquet", index=False
        )
    counts = pd.read_parquet(study / "000.parquet")
    counts = counts[counts["block"] == first]
    proofs = next(found for found in read_proofs(study / "000.jsonl.gz") if found["about"]["name"] == first)
    laid_out = next(found for found in read_lines(study / "explained.jsonl.gz") if found["block"] == first)
    for batch in range(0, times, 5):
        own_names = names[batch : batch + 5]
        pd.concat([counts.assign(block=name) for name in own_names]).to_parquet(folder / f"{batch}.parquet")
        releases = read_releases(folder / f"{batch}.parquet", read_schema(study / "schema.json"))
        named = [
            proofs | {"about": {"kind": "release", "name": release.block, "digest": release.digest}} for release in releases
        ]
        write_proofs(named, folder / f"{batch}.jsonl.gz")
        write_proofs([laid_out | {"block": name} for name in own_names], folder / f"{batch}.explained.jsonl.gz")
    return folder


def peak(study: Path, schema: Path, folder: Path, times: int) -> int:
    """The most memory that the pieces of the explorer take while they are written."""
    folder.mkdir()
    sample, language = pd.read_parquet(study / "sample.parquet"), read_schema(schema)
    told = (sample, study / "blocks.parquet", study / "households.parquet", 1, AT_ONCE)
    ends = ("parquet", "jsonl.gz", "explained.jsonl.gz")
    batches = [tuple(study / f"{batch}.{end}" for end in ends) for batch in range(0, times, 5)]
    tracemalloc.start()
    try:
        entries = build.block_entries(language, batches, study / "claims.parquet", study / "baselines.parquet", AT_ONCE)
        piece = build.write_blocks(folder, entries, 5)
        build.write_lists(folder, summary.figures_by_state(*told), ["all"], piece)
        assert summary.add_up(summary.figures_by_state(*told))["01"]["blocks"] == times
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_ten_times_the_blocks_take_the_same_memory(explorer: Path, tmp_path: Path) -> None:
    study = explorer.parent / "study"
    few, many = (multiply(study, tmp_path / str(times), times) for times in (5, 50))
    peaks = [peak(own, study / "schema.json", tmp_path / f"{own.name}-pieces", int(own.name)) for own in (few, many)]
    written = [sum(file.stat().st_size for file in tmp_path.glob(f"{n}-pieces/*")) for n in (5, 50)]
    assert written[1] > 9 * written[0]
    assert peaks[1] < 2 * peaks[0], peaks  # 1.4 to 1.5, as garbage goes; all blocks at once: 4.7


def test_only_so_many_blocks_are_read_at_once(explorer: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = explorer.parent / "study"
    own = multiply(study, tmp_path / "study", 20)
    asked: list[int] = []

    def counted(path: Path, blocks: set[str]) -> pd.DataFrame:
        asked.append(len(blocks))
        return read_blocks(path, blocks)

    monkeypatch.setattr("genverify.explorer.explorer_site.read_blocks", counted)
    peak(own, study / "schema.json", tmp_path / "pieces", 20)
    assert set(asked) == {AT_ONCE}
    assert len(asked) == 3 * 2 * 20 // AT_ONCE


def test_baselines_of_other_claims_are_refused(explorer: Path, tmp_path: Path) -> None:
    study = explorer.parent / "study"
    frame = pd.read_parquet(study / "baselines.parquet")
    frame.iloc[1:].to_parquet(tmp_path / "baselines.parquet")
    with pytest.raises(DataError, match=r"baselines\.parquet: it has not a row for each row of .*claims\.parquet"):
        claims_by_block(study / "claims.parquet", tmp_path / "baselines.parquet", set(frame["block"]))
