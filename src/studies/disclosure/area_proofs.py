"""The proofs about counts of areas, checked again; and their table of ranges, compared with them."""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from genverify.checker.certificate import read_proofs
from genverify.checker.linear_proofs import check_system
from genverify.model.linear import LinearSystem
from genverify.run.provenance.recheck import PROOFS, ProofTally, one_file
from genverify.run.provenance.records import AuditError, Record, reading_tables
from studies.disclosure.area_tables import (
    COLUMNS,
    AreaTables,
    Part,
    alone_ranges,
    batch_of,
    read_area_tables,
    read_areas,
    read_inside,
    rows_of,
    system_of,
)
from studies.disclosure.settings import AreaSettings

BOUND_AGAIN = "Bound the batch again: snakemake --force"


def check_areas(record: Record, writers: Mapping[str, Record]) -> ProofTally:
    """The proofs of a batch of larger areas with their small ones, and the table of ranges, row by row."""
    ranges, proofs = (one_file(record, name) for name in ("ranges", PROOFS))
    parts, lines, spec = _areas_of(record)
    with reading_tables(proofs):
        proved = [_proved_rows(part, line, spec, proofs) for part, line in zip(parts, lines, strict=True)]
    with reading_tables(ranges):
        listed = pd.read_parquet(ranges)
        _compare(ranges, listed, pd.concat([pd.DataFrame(columns=COLUMNS), *proved], ignore_index=True))
    narrow = listed["attained"] & (listed["lo"] != listed["hi"])
    return ProofTally(Counter(systems=len(parts), ranges=len(listed), attained=int(narrow.sum())))


def open_areas(record: Record) -> Iterator[tuple[LinearSystem, Mapping[str, Any]]]:
    parts, lines, spec = _areas_of(record)
    yield from ((system_of(part, spec), line) for part, line in zip(parts, lines, strict=True))


def _areas_of(record: Record) -> tuple[list[Part], list[dict[str, Any]], AreaTables]:
    """The areas of a batch, from the counts that the job read, and its certificates."""
    names = ("counts", "larger", "areas", "tables", PROOFS)
    counts, larger, areas, tables, proofs = (one_file(record, name) for name in names)
    how, spec = AreaSettings(**record.params["nz"]), read_area_tables(tables)
    inside = read_inside(areas, how.area, how.inside)
    small, large = (read_areas(path) for path in (counts, larger))
    parts = batch_of(small, large, inside, int(record.wildcards["batch"]), how.batches)
    with reading_tables(proofs):
        lines = list(read_proofs(proofs))
    if len(lines) != len(parts):
        raise AuditError(f"{proofs}: {len(lines)} systems, but {len(parts)} larger areas. {BOUND_AGAIN} {proofs}")
    return parts, lines, spec


def _proved_rows(part: Part, line: Mapping[str, Any], spec: AreaTables, path: Path) -> pd.DataFrame:
    """The rows of a part as its proofs show them; whether ends are attained is no part of it."""
    sums, alone = system_of(part, spec), system_of(part, spec, geography=False)
    proved = check_system(sums, line, f"{path}: system {line['about']['name'][:16]}")
    contradiction = proved.empty
    by_area = alone_ranges(alone)
    ends = (by_area.lo, by_area.hi) if contradiction else (proved.lo, proved.hi)
    return pd.DataFrame(rows_of(part, spec, alone, by_area, ends, contradiction), columns=COLUMNS)


def _compare(path: Path, listed: pd.DataFrame, proved: pd.DataFrame) -> None:
    if list(listed.columns) != COLUMNS or len(listed) != len(proved):
        why = f"not the rows and columns of its areas ({len(listed)} rows, not {len(proved)})"
        raise AuditError(f"{path}: {why}. {BOUND_AGAIN} {path}")
    for column in COLUMNS:
        if column == "attained":
            if listed[column].dtype != bool:
                raise AuditError(f"{path}: the column 'attained' holds other than truth values. {BOUND_AGAIN} {path}")
            wrong = listed[column] & (listed["contradicts"] != "")
        else:
            one, other = (frame[column].astype(object).where(frame[column].notna(), None) for frame in (listed, proved))
            wrong = pd.Series([a != b for a, b in zip(one, other, strict=True)], index=listed.index)
        if wrong.any():
            at = int(wrong.to_numpy().argmax())
            raise AuditError(
                f"{path}: row {at} ({listed['level'].iloc[at]} area, {listed['cell'].iloc[at]}): {column} is "
                f"{listed[column].iloc[at]}, which its counts and proofs do not show. {BOUND_AGAIN} {path}"
            )
