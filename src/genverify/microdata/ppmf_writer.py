"""Files in the layout of the PPMF of housing units or of persons, so that its reader can be tried on other microdata."""

import zipfile
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pcsv

from genverify.core.errors import DataError, nearest
from genverify.microdata.ppmf import PERSONS, UNITS

UNIT_FIELDS = """
SCHEMA_TYPE_CODE SCHEMA_BUILD_ID TABBLKST TABBLKCOU TABTRACTCE TABBLKGRPCE TABBLK RTYPE GQTYPE TEN VACS HHSIZE HHT HHT2
CPLT UPART MULTG THHLDRAGE THHSPAN THHRACE PAOC TP18 TP60 TP65 TP75 PAC HHSEX
"""
PERSON_FIELDS = """
SCHEMA_TYPE_CODE SCHEMA_BUILD_ID TABBLKST TABBLKCOU TABTRACTCE TABBLKGRPCE TABBLK EPNUM RTYPE GQTYPE RELSHIP QSEX QAGE
CENHISP CENRACE LIVE_ALONE
"""


@dataclass(frozen=True)
class RecordLayout:
    """
    The fields of a file and which of them the microdata tell, with the width that their codes are padded to. The others
    hold what `neutral` says, or 0 (not in universe).
    """

    fields: tuple[str, ...]
    columns: Mapping[str, int]
    neutral: Mapping[str, str]


UNIT_RECORD = RecordLayout(
    tuple(UNIT_FIELDS.split()),
    {
        "TEN": 1,
        "VACS": 1,
        "HHSIZE": 1,
        "HHT": 1,
        "HHT2": 2,
        "THHSPAN": 1,
        "THHLDRAGE": 1,
        "THHRACE": 2,
        "TP18": 1,
        "TP65": 1,
    },
    {"SCHEMA_TYPE_CODE": "MUD", "RTYPE": str(UNITS.housing_unit), "GQTYPE": "000"},
)
PERSON_RECORD = RecordLayout(
    tuple(PERSON_FIELDS.split()),
    {"QSEX": 1, "QAGE": 1, "CENHISP": 1, "CENRACE": 2},
    {"SCHEMA_TYPE_CODE": "MPD", "RTYPE": str(PERSONS.housing_unit), "GQTYPE": "000", "EPNUM": "999999999", "RELSHIP": "99"}
    | {"LIVE_ALONE": "9"},
)

_SLICES = {"TABBLKST": (0, 2), "TABBLKCOU": (2, 5), "TABTRACTCE": (5, 11), "TABBLKGRPCE": (11, 12), "TABBLK": (11, 15)}
_MALE = {"HHT": (2, 4, 5), "HHT2": (9, 10, 11, 12)}
_FEMALE = {"HHT": (3, 6, 7), "HHT2": (5, 6, 7, 8)}


def write_ppmf(tables: Iterable[pa.Table], path: Path, delimiter: str = "|", layout: RecordLayout = UNIT_RECORD) -> int:
    """Write records in the layout of the unit or the person file (gzip or zip by the name of the file); how many rows."""
    rows = 0
    part = path.with_name(path.name + ".part")
    options = pcsv.WriteOptions(include_header=False, delimiter=delimiter, quoting_style="none", batch_size=65536)
    with ExitStack() as leftover:
        leftover.callback(part.unlink, missing_ok=True)
        with ExitStack() as stack:
            sink = _create(path, part, stack)
            sink.write((delimiter.join(layout.fields) + "\n").encode())
            for table in tables:
                pcsv.write_csv(_records(path, table, layout), sink, options)
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


def _records(path: Path, table: pa.Table, layout: RecordLayout) -> pa.Table:
    """The fields of each record as text."""
    for name in ("block", *layout.columns):
        if name not in table.column_names:
            raise DataError(f"{path}: records without column {name}: {nearest(name, table.column_names)}. Add it.")
    block = table["block"].cast(pa.string())
    fields = {name: pa.repeat(layout.neutral.get(name, "0"), table.num_rows) for name in layout.fields}
    fields |= {name: pc.utf8_slice_codeunits(block, *ends) for name, ends in _SLICES.items()}
    for name, width in layout.columns.items():
        fields[name] = pa.array([f"{code:0{width}d}" for code in range(128)]).take(table[name])
    if "HHSEX" in fields:
        fields["HHSEX"] = pc.coalesce(_sex(table, "HHT"), _sex(table, "HHT2"), pa.scalar("0"))
    return pa.table(fields)


def _sex(table: pa.Table, name: str) -> pa.ChunkedArray:
    """The sex of the householder (1 male, 2 female), null where the household type does not tell it."""
    texts = ["1" if code in _MALE[name] else "2" if code in _FEMALE[name] else None for code in range(128)]
    return pa.array(texts).take(table[name])
