"""Files in the layout of the PPMF of housing units, so that its reader can be tried on other microdata."""

import zipfile
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pcsv

from genverify.errors import DataError, nearest
from genverify.microdata.ppmf import HOUSING_UNIT

UNIT_RECORD = """
SCHEMA_TYPE_CODE SCHEMA_BUILD_ID TABBLKST TABBLKCOU TABTRACTCE TABBLKGRPCE TABBLK RTYPE GQTYPE TEN VACS HHSIZE HHT HHT2
CPLT UPART MULTG THHLDRAGE THHSPAN THHRACE PAOC TP18 TP60 TP65 TP75 PAC HHSEX
"""
FIELDS = UNIT_RECORD.split()
UNIT_COLUMNS = ("TEN", "VACS", "HHSIZE", "HHT", "HHT2", "THHSPAN", "THHLDRAGE", "THHRACE", "TP18", "TP65")
NEUTRAL = {"SCHEMA_TYPE_CODE": "MUD", "SCHEMA_BUILD_ID": "0", "RTYPE": str(HOUSING_UNIT), "GQTYPE": "000"}
"""What stands in the fields that the ten columns do not tell; in all others of these, 0 (not in universe)."""

_PADDED = {"HHT2": 2, "THHRACE": 2}
_SLICES = {"TABBLKST": (0, 2), "TABBLKCOU": (2, 5), "TABTRACTCE": (5, 11), "TABBLKGRPCE": (11, 12), "TABBLK": (11, 15)}
_MALE = {"HHT": (2, 4, 5), "HHT2": (9, 10, 11, 12)}
_FEMALE = {"HHT": (3, 6, 7), "HHT2": (5, 6, 7, 8)}


def write_ppmf(tables: Iterable[pa.Table], path: Path, delimiter: str = "|") -> int:
    """Write households in the layout of the unit file (gzip or zip by the name of the file); how many rows."""
    rows = 0
    part = path.with_name(path.name + ".part")
    options = pcsv.WriteOptions(include_header=False, delimiter=delimiter, quoting_style="none", batch_size=65536)
    with ExitStack() as leftover:
        leftover.callback(part.unlink, missing_ok=True)
        with ExitStack() as stack:
            sink = _create(path, part, stack)
            sink.write((delimiter.join(FIELDS) + "\n").encode())
            for table in tables:
                pcsv.write_csv(_unit_records(path, table), sink, options)
                rows += table.num_rows
        part.replace(path)
    return rows


def _create(path: Path, part: Path, stack: ExitStack) -> Any:
    """A stream into a new file; the same rows give the same bytes."""
    if path.suffix == ".zip":
        archive = stack.enter_context(zipfile.ZipFile(part, "w"))
        member = zipfile.ZipInfo(path.with_suffix("").name)
        member.compress_type = zipfile.ZIP_DEFLATED
        return stack.enter_context(archive.open(member, "w", force_zip64=True))
    return stack.enter_context(pa.output_stream(str(part), compression="gzip" if path.suffix == ".gz" else None))


def _unit_records(path: Path, table: pa.Table) -> pa.Table:
    """The 27 fields of each household as text."""
    for name in ("block", *UNIT_COLUMNS):
        if name not in table.column_names:
            raise DataError(f"{path}: records without column {name}: {nearest(name, table.column_names)}. Add it.")
    block = table["block"].cast(pa.string())
    fields = {name: pa.repeat(NEUTRAL.get(name, "0"), table.num_rows) for name in FIELDS}
    fields |= {name: pc.utf8_slice_codeunits(block, *ends) for name, ends in _SLICES.items()}
    for name in UNIT_COLUMNS:
        texts = [f"{code:0{_PADDED.get(name, 1)}d}" for code in range(128)]
        fields[name] = pa.array(texts).take(table[name])
    fields["HHSEX"] = pc.coalesce(_sex(table, "HHT"), _sex(table, "HHT2"), pa.scalar("0"))
    return pa.table(fields)


def _sex(table: pa.Table, name: str) -> pa.ChunkedArray:
    """The sex of the householder (1 male, 2 female), null where the household type does not tell it."""
    texts = ["1" if code in _MALE[name] else "2" if code in _FEMALE[name] else None for code in range(128)]
    return pa.array(texts).take(table[name])
