"""Ingesting a file in the PPMF layout as a piece of work on its own, so that its speed and memory can be measured."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import process_time

import pyarrow as pa

from genverify.core.domain import Domain
from genverify.microdata.ppmf import read_ppmf
from genverify.microdata.store import write_microdata


def ingest_ppmf(units: Path, folder: Path, domain: Domain) -> Iterator[dict[str, float]]:
    """Read the unit file and write the store of microdata: rows kept and rejected, and the seconds of all its threads."""
    started, rejected = process_time(), Counter[str]()
    written = write_microdata(read_ppmf(units, domain, rejected), folder, domain)
    yield {"rows": written["rows"], "rejected": rejected.total(), "cpu_s": process_time() - started}


def enlarged(tables: Sequence[pa.Table], rows: int) -> Iterator[pa.Table]:
    """Every table again and again before the next one, so that all of them together have the given number of rows."""
    total, read, written = sum(table.num_rows for table in tables), 0, 0
    for table in tables:
        read += table.num_rows
        while written < (upto := rows * read // total):
            part = table.slice(0, upto - written)
            written += part.num_rows
            yield part
