"""Blocks whose records are known, with the release that was tabulated from them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from genverify.core.arraytypes import Ints
from genverify.core.coarsen import merge_codes
from genverify.core.errors import DataError
from genverify.core.files import read_yaml
from genverify.core.predicates import EVERY
from genverify.core.release import Release, Schema, read_study
from genverify.core.settings import ReleaseSettings
from genverify.core.tabulate import releases_of
from genverify.core.vocabulary import Group, groups_of
from genverify.microdata.person_records import read_person_records


@dataclass(frozen=True)
class KnownBlock:
    """The release of a block, and the records (rows, columns) that it was tabulated from."""

    release: Release
    records: Ints


def read_known(
    domain: Path, settings: ReleaseSettings, tables: Path, records: Path, list_name: str | None
) -> tuple[Schema, pd.DataFrame]:
    """The schema of a study of persons and the records of a user's file, read as the groups of this list (None: as is)."""
    schema = read_study(domain, settings)
    groups = groups_of(read_yaml(tables), schema.domain, list_name)
    return read_as(schema, read_person_records(records, schema.domain), groups)


def read_as(schema: Schema, records: pd.DataFrame, groups: Sequence[Group]) -> tuple[Schema, pd.DataFrame]:
    """Schema and records with the codes of a column merged into these groups; as they are, if there are none."""
    if not groups:
        return schema, records
    column = groups[0].predicate.columns[0]
    coarse, merged = merge_codes(schema, column, groups)
    return coarse, records.assign(**{column: merged[records[column].to_numpy()]})


def known_blocks(records: pd.DataFrame, schema: Schema, most: int) -> Iterator[KnownBlock]:
    """The blocks of up to `most` records, tabulated in one pass; the records are sorted by block."""
    sizes = records.groupby("block", sort=True)["block"].transform("size")
    chosen = records[sizes <= most]
    if chosen.empty:
        raise DataError(f"no block has up to {most} records: raise persons.claims.max_persons in config/persons.yaml")
    rows, start = chosen[list(schema.domain.names)].to_numpy(dtype=np.int64), 0
    for release in releases_of(pa.Table.from_pandas(chosen, preserve_index=False), EVERY, schema):
        yield KnownBlock(release, rows[start : start + release.n])
        start += release.n
