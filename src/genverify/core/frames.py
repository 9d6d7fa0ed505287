"""Large tables a piece at a time, so that memory does not grow with the number of blocks."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    import pyarrow as pa

BLOCKS_AT_ONCE = 5_000
FEW_BLOCKS_AT_ONCE = 1_000  # where private records or proofs are read beside their claims
ROWS_PER_GROUP = 250_000


def split_rows(frame: pd.DataFrame, at_once: int) -> Iterator[pd.DataFrame]:
    """The rows of a frame, `at_once` at a time; a frame without rows is one piece."""
    for start in range(0, max(1, len(frame)), at_once):
        yield frame.iloc[start : start + at_once].reset_index(drop=True)


def write_pieces(pieces: Iterable[pd.DataFrame], path: Path) -> int:
    """Write frames of the same columns one below the other; the number of rows. Of pieces without rows one is kept."""
    import pyarrow as pa

    rows = 0
    writer: Any = None
    try:
        for piece in pieces:
            if len(piece) or writer is None:
                table = pa.Table.from_pandas(piece, preserve_index=False)
                writer = _start(writer, table, path) if not rows else writer
                writer.write_table(table, row_group_size=ROWS_PER_GROUP)
                rows += len(piece)
    finally:
        if writer is not None:
            writer.close()
    return rows


def _start(writer: Any, table: "pa.Table", path: Path) -> Any:
    """The file with the columns of the first piece that has rows: those of an empty one may have lost their kind."""
    import pyarrow.parquet as pq

    if writer is not None:
        writer.close()
    return pq.ParquetWriter(path, table.schema)


def read_pieces(path: Path, columns: Sequence[str] | None = None) -> Iterator[pd.DataFrame]:
    """The rows of a file, one row group at a time; a file without rows is one piece."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        if not file.metadata.num_rows:
            yield file.read(columns).to_pandas()
            return
        for group in range(file.num_row_groups):
            yield file.read_row_group(group, columns).to_pandas()


def read_blocks(path: Path, blocks: Collection[str]) -> pd.DataFrame:
    """The rows of a file that are about the given blocks; whole row groups are skipped where none can be."""
    import pyarrow as pa
    import pyarrow.dataset as ds

    wanted = ds.field("block").isin(pa.array(sorted(blocks), pa.string()))
    if blocks:
        wanted &= (ds.field("block") >= min(blocks)) & (ds.field("block") <= max(blocks))
    found: pd.DataFrame = ds.dataset(path, format="parquet").to_table(filter=wanted).to_pandas()
    return found


def stack(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Frames about blocks one below the other; a batch without blocks gives a frame without rows."""
    return pd.concat(list(frames), ignore_index=True) if frames else pd.DataFrame({"block": pd.Series([], dtype="str")})


def collect(sample: pd.DataFrame, paths: Sequence[str]) -> Iterator[pd.DataFrame]:
    """The rows of all batches, by design and block, in pieces that hold the rows of some blocks of the sample."""
    for part_of_sample in split_rows(sample, BLOCKS_AT_ONCE):
        blocks = set(part_of_sample["block"])
        parts = (pd.read_parquet(path) for path in paths)
        yield by_design(part_of_sample, (part[part["block"].isin(blocks)] for part in parts))


def by_design(sample: pd.DataFrame, parts: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Rows about blocks, once for every design that a block was drawn for, sorted by design and block."""
    rows = stack([part for part in parts if len(part)])
    rows["order"] = np.arange(len(rows))
    joined = sample[["block", "design"]].merge(rows, on="block").sort_values(["design", "block", "order"])
    return joined.drop(columns="order").reset_index(drop=True)
