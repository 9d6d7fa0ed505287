"""
A user's PPMF file against the layout that is read, before anything is run.

The names of the columns and the record types follow the published description of the file; they are unconfirmed until a real
file was read. So every name that is missing is listed, with the nearest one of the file, and every code that never occurs.
"""

from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from genverify.core.domain import Domain, read_domain
from genverify.core.errors import DataError, nearest
from genverify.microdata.chunks import open_text, read_chunks
from genverify.microdata.ppmf import GEOGRAPHY, PERSONS, UNITS, Kind, read_ppmf


def check_layout(path: Path, domain_file: Path, persons: bool, rows: int) -> Iterator[str]:
    """What the file is, line by line; an error that lists every missing column, or names the first wrong row."""
    domain = read_domain(domain_file).domain
    kind = replace(PERSONS, keeps_group_quarters=True) if persons else UNITS
    header, delimiter = read_names(path)
    yield f"{path}: {kind.name} file, {len(header)} columns separated by {delimiter!r}"
    needed = ["RTYPE", *GEOGRAPHY, *domain.names]
    missing = [name for name in needed if name not in header]
    if missing:
        listed = "; ".join(f"{name}: {nearest(name, list(header))}" for name in missing)
        raise DataError(f"{path}: {len(missing)} of {len(needed)} columns that are read are missing: {listed}. Rename them.")
    yield f"all {len(needed)} columns that are read are there; not read: {_some(set(header) - set(needed))}"
    yield from _read_rows(path, domain, kind, rows)


def read_names(path: Path) -> tuple[list[str], str]:
    """The names in the header, the first line that is no comment, and what separates them."""
    with ExitStack() as stack:
        chunk = next(read_chunks(path, open_text(path, stack)), None)
    for line in (chunk.data if chunk else b"").split(b"\n"):
        text = line.decode("utf-8-sig", errors="replace").strip()
        if text and not text.startswith("#"):
            delimiter = max(",|", key=text.count)
            return [name.strip().strip('"') for name in text.split(delimiter)], delimiter
    raise DataError(f"{path}: no header line. The first line that is no # comment must name the columns.")


def _read_rows(path: Path, domain: Domain, kind: Kind, rows: int) -> Iterator[str]:
    rejected: Counter[str] = Counter()
    seen = 0
    blocks: set[str] = set()
    states: set[str] = set()
    codes: dict[str, set[int]] = {name: set() for name in domain.names}
    for table in read_ppmf(path, domain, rejected, kind=kind):
        seen += table.num_rows
        names = table["block"].unique().to_pylist()
        blocks.update(names)
        states.update(name[:2] for name in names)
        for name in domain.names:
            codes[name].update(np.unique(table[name].to_numpy()).tolist())
        if rows and seen >= rows:
            break
    part = "the first " if rows and seen >= rows else "all "
    yield f"{part}{seen:,} records: {len(blocks):,} blocks in {len(states)} states; left out: {dict(rejected) or 'none'}"
    unseen = {name: sorted(set(domain[name].codes) - found) for name, found in codes.items()}
    told = "; ".join(f"{name} {_some(own)}" for name, own in unseen.items() if own)
    yield f"codes that no record of these has: {told or 'none'}"
    yield "The file can be read. Name it in config.yaml (microdata.ppmf) and set microdata.source: ppmf."


def _some(values: Collection[Any]) -> str:
    shown = sorted(values)
    return (", ".join(map(str, shown[:8])) + (f" and {len(shown) - 8} more" if len(shown) > 8 else "")) or "none"
