"""Protected counts of blocks: households swapped before they are counted, counts noised before they are published."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from genverify.core.domain import read_domain
from genverify.core.errors import ConfigError, DataError, nearest
from genverify.core.predicates import Predicate, Rule
from genverify.core.release import Release, Schema, ranges_frame
from genverify.core.seeds import derive_seed
from genverify.core.settings import ReleaseSettings
from genverify.core.tabulate import tabulate_counts
from genverify.microdata.sample import batch_of
from genverify.microdata.store import GEOGRAPHY, read_microdata
from genverify.papers.gtv.protected.kinds import possible_schema
from genverify.papers.gtv.protected.measure import Noise, describe, make_noise
from genverify.papers.gtv.protected.settings import Protection, SwapColumns
from genverify.protect.swapping import Records, swap_areas

BLOCKS_OF_A_TRACT = 10 ** (GEOGRAPHY["block"] - GEOGRAPHY["tract"])


@dataclass(frozen=True)
class Swapping:
    """Which share of the records of a state change places; `key` are the columns partners share, `size` counts persons."""

    rate: float
    key: Sequence[str]
    size: str

    def swapped(self, records: pa.Table, columns: Sequence[str], state: str, seed: int) -> pa.Table:
        """The records of a state: every place as it was, some of them with the columns of another."""
        block = records["block"].cast(pa.string()).cast(pa.int64()).to_numpy()
        values = {name: records[name].to_numpy().astype(np.int64) for name in columns}
        for name in (*self.key, self.size):
            if name not in values:
                raise ConfigError(f"config.yaml: protected.swapping: no column {name!r}: {nearest(name, list(columns))}")
        key, attributes = np.column_stack([values[name] for name in self.key]), np.column_stack(list(values.values()))
        seen = Records(block, block // BLOCKS_OF_A_TRACT, key, attributes, values[self.size])
        source = swap_areas(np.full(len(block), state), seen, self.rate, seed)
        moved = records.select(list(columns)).take(pa.array(source))
        return moved.append_column("block", records["block"])


@dataclass(frozen=True)
class Source:
    """The blocks whose counts are published, the microdata that they are counted in, and what is counted."""

    microdata: Path
    domain: Path
    release: ReleaseSettings
    blocks: Collection[str]


@dataclass(frozen=True)
class ProtectedCounts:
    """Published counts (block, query, lo, hi), the schema that says which records are possible, and the protection."""

    possible: Schema
    counts: pd.DataFrame
    how: Mapping[str, Any]

    def batches(self, number: int) -> list[pd.DataFrame]:
        """The counts, dealt out by block."""
        batches = self.counts["block"].map(batch_of(self.counts["block"], number))
        return [self.counts[batches == batch] for batch in range(number)]


def protect_counts(
    source: Source, how: Protection, swapping: SwapColumns, max_types: int, seed: int, purpose: str
) -> ProtectedCounts:
    """The counts of the blocks under a protection: households swapped, then counted, then noise on the counts."""
    possible = possible_schema(source.domain, source.release)
    noise = make_noise(possible, how.noise, max_types)
    keeps = read_domain(source.domain).universe(source.release.universe).keeps
    swap = Swapping(how.swap, swapping.key, swapping.size)
    records = read_blocks(source.microdata, source.blocks, keeps, possible.domain.names, swap, seed)
    return ProtectedCounts(possible, publish(records, possible, noise, seed, purpose), describe(how, noise))


def read_blocks(
    folder: Path, blocks: Collection[str], keeps: Predicate, columns: Sequence[str], swapping: Swapping, seed: int
) -> pa.Table:
    """The records of the given blocks as they are to be counted; swapping looks at the whole of every state with a block."""
    if swapping.rate == 0:
        return _kept(read_microdata(folder, blocks=blocks), keeps)
    parts = []
    for state in sorted({block[: GEOGRAPHY["state"]] for block in blocks}):
        records = _kept(read_microdata(folder, states=[state]), keeps)
        moved = swapping.swapped(records, columns, state, seed)
        wanted = np.isin(moved["block"].cast(pa.string()).to_numpy(zero_copy_only=False), list(blocks))
        parts.append(moved.filter(pa.array(wanted)))
    return pa.concat_tables(parts).unify_dictionaries()


def _kept(records: pa.Table, keeps: Predicate) -> pa.Table:
    flags = keeps.matches({name: records[name].to_numpy() for name in keeps.columns}) if keeps.columns else None
    return records if flags is None else records.filter(pa.array(flags))


def publish(records: pa.Table, schema: Schema, noise: Noise | None, seed: int, purpose: str) -> pd.DataFrame:
    """What is published about every block, as ranges of counts (block, query, lo, hi); exact ones without noise."""
    if noise:
        _check_possible(records, schema.rules)
    names, sizes, counts = tabulate_counts(records, Predicate(()), schema)
    cells = np.flatnonzero(noise.published) if noise else np.arange(len(schema.queries))
    releases = []
    for block, n, own in zip(names, sizes.tolist(), counts, strict=True):
        rng = np.random.default_rng(derive_seed(seed, "noise", purpose, block))
        lo, hi = noise.publish(own, n, rng) if noise else (own, own)
        releases.append(Release(schema, block, n, cells, lo[cells], hi[cells]))
    return ranges_frame(releases)


def _check_possible(records: pa.Table, rules: Sequence[Rule]) -> None:
    """An error if a record breaks a rule: noise is scaled to replacements of records that can exist."""
    columns: Mapping[str, Any] = {name: records[name].to_numpy() for name in records.column_names if name not in GEOGRAPHY}
    for rule in rules:
        wrong = np.flatnonzero(rule.excludes(columns))
        if wrong.size:
            raise DataError(
                f"{wrong.size} records break the rule {rule.name!r}, the first of them in block "
                f"{records['block'][int(wrong[0])]}, so the noise would not have the stated guarantee. Correct "
                "the rules of the domain file, or the records."
            )
