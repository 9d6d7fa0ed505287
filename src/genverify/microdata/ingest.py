"""Ingesting a file in the PPMF layout as a piece of work on its own, so that its speed and memory can be measured."""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa

from genverify.domain import Domain
from genverify.microdata.ppmf import read_ppmf
from genverify.microdata.store import write_microdata


def ingest_ppmf(units: Path, folder: Path, domain: Domain) -> Iterator[dict[str, int]]:
    """Read the unit file and write the store of microdata; says how many rows were kept and how many were not."""
    rejected: Counter[str] = Counter()
    written = write_microdata(read_ppmf(units, domain, rejected), folder, domain)
    yield {"rows": written["rows"], "rejected": rejected.total()}


def repeated(tables: Iterable[pa.Table], rows: int) -> Iterator[pa.Table]:
    """The tables again and again, until there are so many rows."""
    kept = list(tables)
    while rows > 0:
        for table in kept:
            yield table.slice(0, rows)
            rows -= min(rows, table.num_rows)
            if rows == 0:
                return
