"""The private households of the housing study: one Parquet file, a row group per state, never the country in memory."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from genverify.core.arraytypes import Ints
from genverify.core.errors import DataError
from genverify.core.seeds import derive_seed
from genverify.microdata.store import read_microdata
from genverify.papers.housing.private.properties import PropertyModel, draw_property, place_properties
from genverify.papers.housing.private.simulate import COLUMNS

SCHEMA = pa.schema([("block", pa.string()), *((name, pa.from_numpy_dtype(kind)) for name, kind in COLUMNS.items())])


def units_of_states(microdata: Path, columns: Collection[str]) -> Iterator[pa.Table]:
    """The units of each state of the store of microdata."""
    for path in sorted(microdata.glob("*.parquet")):
        yield read_microdata(microdata, columns=["block", *columns], states=[path.stem])


def write_households(states: Iterable[pd.DataFrame], path: Path, model: PropertyModel, blocks: int, seed: int) -> int:
    """Write the households of all states, sorted by block, with properties in at most `blocks` blocks; their number."""
    part = path.with_suffix(".part")
    try:
        sizes = write_states((frame.assign(BEDROOMS=0) for frame in states), part)
        wanted = choose_blocks(sizes, blocks, model, seed)
        write_states((with_properties(frame, wanted, model, seed) for frame in read_states(part)), path)
    finally:
        part.unlink(missing_ok=True)
    return len(wanted)


def write_states(states: Iterable[pd.DataFrame], path: Path) -> pd.DataFrame:
    """Write households as they come, a row group per state; the number of households of every block (block, n)."""
    counted, last = [], ""
    with pq.ParquetWriter(path, SCHEMA, compression="zstd") as file:
        for frame in states:
            if frame["block"].iloc[0] <= last:
                raise DataError(f"{path}: block {frame['block'].iloc[0]} comes after {last}: give the states in order")
            last = frame["block"].iloc[-1]
            file.write_table(pa.Table.from_pandas(frame, SCHEMA, preserve_index=False), row_group_size=len(frame))
            counted.append(block_sizes(frame))
    if not counted:
        raise DataError(f"{path}: there is no household to write. Check that the microdata hold occupied units.")
    return pd.concat(counted, ignore_index=True)


def block_sizes(frame: pd.DataFrame) -> pd.DataFrame:
    """The number of households of each block (block, n)."""
    return frame.groupby("block", sort=False).size().rename("n").reset_index()


def choose_blocks(sizes: pd.DataFrame, blocks: int, model: PropertyModel, seed: int) -> dict[str, int]:
    """The blocks that hold a property, at most `blocks`, and how many subsidized households each has."""
    rng = np.random.default_rng(derive_seed(seed, "housing", "properties"))
    chosen, subsidized = place_properties(sizes["n"].to_numpy(), blocks, model, rng)
    return dict(zip(sizes["block"].iloc[chosen], subsidized.tolist(), strict=True))


def read_states(path: Path) -> Iterator[pd.DataFrame]:
    """The households of each state."""
    with pq.ParquetFile(path) as file:
        for group in range(file.num_row_groups):
            yield file.read_row_group(group).to_pandas()


def with_properties(frame: pd.DataFrame, wanted: Mapping[str, int], model: PropertyModel, seed: int) -> pd.DataFrame:
    """The households of a state with the properties of its blocks, each drawn by a seed of its own."""
    bedrooms = np.zeros(len(frame), dtype=np.int64)
    columns: dict[str, Ints] = {name: frame[name].to_numpy().astype(np.int64) for name in ("SIZE", "CHILDREN", "RACE")}
    for block, (start, stop) in block_rows(frame["block"]).items():
        if block in wanted:
            rng = np.random.default_rng(derive_seed(seed, "housing", "property", block))
            own = {name: values[start:stop] for name, values in columns.items()}
            bedrooms[start:stop] = draw_property(own, wanted[block], model, rng)
    return frame.assign(BEDROOMS=bedrooms.astype(COLUMNS["BEDROOMS"]))


def block_rows(blocks: "pd.Series[Any]") -> dict[str, tuple[int, int]]:
    """Where the rows of each block begin and end, of rows sorted by block."""
    values = blocks.to_numpy()
    starts = np.flatnonzero(np.r_[True, values[1:] != values[:-1]])
    stops = np.r_[starts[1:], len(values)]
    return {str(values[a]): (int(a), int(b)) for a, b in zip(starts, stops, strict=True)}


def property_households(frame: pd.DataFrame) -> pd.DataFrame:
    """The households of the blocks that hold a property."""
    return frame[frame["block"].isin(frame.loc[frame["BEDROOMS"] > 0, "block"])].reset_index(drop=True)
