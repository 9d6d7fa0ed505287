"""What is published about the blocks of some tracts and about the tracts, with a column read as it is or in bins."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from genverify.model.areas import Area, AreaReleases, make_levels
from genverify.model.domain import EVERY, DomainFile
from genverify.model.errors import DataError
from genverify.model.files import read_yaml
from genverify.model.query import groups_of
from genverify.model.release import Recoding, Release, Schema, build_schema, recode
from genverify.model.settings import ReleaseSettings, merge
from genverify.model.tabulate import releases_of
from genverify.model.work import derive_seed
from studies.gtv.settings import SyntheticTracts, TractTables

TRACT_DIGITS = 11  # of a GEOID: state 2, county 3, tract 6


def read_tables(paths: Sequence[Path]) -> dict[str, Any]:
    """The table files, each laid over those before it."""
    text: dict[str, Any] = {}
    for path in paths:
        text = merge(text, read_yaml(path))
    return text


def schema_of(domain: DomainFile, text: Mapping[str, Any], tables: Sequence[str], universe: str = "everything") -> Schema:
    settings = ReleaseSettings(
        tables_file="", universe=universe, tables=list(tables), groups={}, structural_zeros=False, withhold=[]
    )
    return build_schema(domain, text, settings)


@dataclass(frozen=True)
class Reading:
    """How claims read the records: with the codes of one column merged, or as they are."""

    blocks: Recoding | None
    tracts: Recoding | None

    def release(self, release: Release, level: str) -> Release:
        recoding = self.blocks if level == "block" else self.tracts
        return recoding.release(release) if recoding else release

    def records(self, records: pd.DataFrame) -> pd.DataFrame:
        if self.blocks is None:
            return records
        column = self.blocks.column
        code = np.arange(max(self.blocks.code) + 1)
        code[list(self.blocks.code)] = list(self.blocks.code.values())
        return records.assign(**{column: code[records[column].to_numpy()].astype(np.int16)})


def _make_reading(text: Mapping[str, Any], blocks: Schema, tracts: Schema, name: str | None) -> Reading:
    if name is None:
        return Reading(None, None)
    groups = groups_of(text, blocks.domain, name)
    columns = {column for group in groups for column in group.predicate.columns}
    if len(columns) != 1:
        raise DataError(f"tracts.readings: the list {name} is about {len(columns)} columns; give one about a single column")
    [column] = columns
    merged = {group.label: group.predicate.where[column] for group in groups if len(group.predicate.where[column]) > 1}
    return Reading(recode(blocks, column, merged), recode(tracts, column, merged))


@dataclass(frozen=True)
class Publication:
    """What is published about some tracts, and the records behind it, as claims read them."""

    levels: Sequence[AreaReleases]
    records: pd.DataFrame

    @property
    def blocks(self) -> list[Release]:
        return [block for one in self.levels for block in one.blocks]

    @property
    def tracts(self) -> list[Release]:
        return [one.areas[0].release for one in self.levels]


def publish_tracts(
    records: pd.DataFrame, domain: DomainFile, text: Mapping[str, Any], published: TractTables, name: str
) -> Publication:
    """The counts of the blocks and tracts of some records, under the reading of this name."""
    blocks, tracts = (
        schema_of(domain, text, part, published.universe) for part in (published.block_tables, published.tract_tables)
    )
    reading = _make_reading(text, blocks, tracts, published.readings[name])
    return Publication(list(_tract_levels(records, blocks, tracts, reading)), reading.records(records))


def _tract_levels(records: pd.DataFrame, blocks: Schema, tracts: Schema, reading: Reading) -> Iterator[AreaReleases]:
    for tract, group in records.groupby(records["block"].str[:TRACT_DIGITS], sort=True):
        table = pa.Table.from_pandas(group, preserve_index=False)
        of_blocks = [reading.release(release, "block") for release in releases_of(table, EVERY, blocks)]
        whole = pa.Table.from_pandas(group.assign(block=str(tract)), preserve_index=False)
        [of_tract] = (reading.release(release, "tract") for release in releases_of(whole, EVERY, tracts))
        yield make_levels(of_blocks, [Area("tract", of_tract, tuple(range(len(of_blocks))))])


def sample_tracts(
    records: pd.DataFrame, domain: DomainFile, published: TractTables, chosen: SyntheticTracts, seed: int
) -> pd.DataFrame:
    """The records of some tracts that are in the universe of the tables, without those of their largest blocks."""
    for name, codes in domain.universe(published.universe).keeps.clauses:
        records = records[records[name].isin(list(codes))]
    records = records.assign(block=records["block"].astype(str))
    part = choose_tracts(records, chosen.tracts, chosen.records, derive_seed(seed, "tracts", "sample"))
    rest: pd.DataFrame = part[part.groupby("block")["block"].transform("size") <= published.largest_block]
    return rest.reset_index(drop=True)


def choose_tracts(records: pd.DataFrame, number: int, least: int, seed: int) -> pd.DataFrame:
    """The records of some tracts, drawn from those with at least a number of records."""
    tract = records["block"].str[:TRACT_DIGITS]
    sizes = tract.value_counts().sort_index()
    large = sizes.index[sizes >= least].to_numpy()
    if len(large) < number:
        raise DataError(
            f"only {len(large)} tracts have {least} records or more, of {number} wanted: lower tracts.synthetic_persons or "
            "tracts.synthetic_households"
        )
    chosen = np.random.default_rng(seed).choice(large, number, replace=False)
    rest: pd.DataFrame = records[tract.isin(chosen)].reset_index(drop=True)
    return rest


def batch_of_tracts(blocks: Sequence[Release], tracts: Sequence[Release], batch: int, batches: int) -> list[AreaReleases]:
    """Every n-th tract with its blocks."""
    inside: dict[str, list[Release]] = {}
    for block in blocks:
        inside.setdefault(block.block[:TRACT_DIGITS], []).append(block)
    part = [(tract, inside.get(tract.block, [])) for tract in tracts[batch::batches]]
    for tract, here in part:
        if not here:
            raise DataError(f"tract {tract.block} has no blocks among the counts; give them, or leave the tract out")
    return [make_levels(here, [Area("tract", tract, tuple(range(len(here))))]) for tract, here in part]
