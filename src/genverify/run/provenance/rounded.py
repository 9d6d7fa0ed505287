"""The proofs about rounded counts of areas, checked again: systems rebuilt from the counts, and every range compared."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from genverify.checker.file import read_proofs
from genverify.checker.sums import check_sums
from genverify.disclosure.areas.bound import COLUMNS, alone_ranges, rows_of
from genverify.disclosure.areas.read import batch_of, read_areas, read_inside
from genverify.disclosure.areas.spec import AreaSettings, AreaTables, read_area_tables
from genverify.disclosure.areas.system import Part, system_of
from genverify.run.provenance.recheck import PROOFS, Found, one_file
from genverify.run.provenance.records import AuditError, Record, reading_tables

AGAIN = "Bound the batch again: snakemake --force"


def check_areas(record: Record, writers: Mapping[str, Record]) -> Found:
    """The proofs of a batch of larger areas with their small ones, and the table of ranges, row by row."""
    counts, larger, areas, tables, ranges, proofs = (
        one_file(record, name) for name in ("counts", "larger", "areas", "tables", "ranges", PROOFS)
    )
    how, spec = AreaSettings(**record.params["nz"]), read_area_tables(tables)
    inside = read_inside(areas, how.area, how.inside)
    parts = batch_of(read_areas(counts), read_areas(larger), inside, int(record.wildcards["batch"]), how.batches)
    with reading_tables(proofs):
        lines = list(read_proofs(proofs))
        if len(lines) != len(parts):
            raise AuditError(f"{proofs}: {len(lines)} systems, but {len(parts)} larger areas. {AGAIN} {proofs}")
        shown = [_shown(part, line, spec, proofs) for part, line in zip(parts, lines, strict=True)]
    with reading_tables(ranges):
        listed = pd.read_parquet(ranges)
        _compare(ranges, listed, pd.concat([pd.DataFrame(columns=COLUMNS), *shown], ignore_index=True))
    narrow = listed["attained"] & (listed["lo"] != listed["hi"])
    return Found(Counter(systems=len(parts), ranges=len(listed), attained=int(narrow.sum())))


def _shown(part: Part, line: Mapping[str, object], spec: AreaTables, path: Path) -> pd.DataFrame:
    """The rows of a part as its proofs show them; whether ends are attained is no part of it."""
    sums, alone = system_of(part, spec), system_of(part, spec, geography=False)
    statements, contradiction = line["statements"], line["contradiction"]
    if line["system"] != sums.digest or line["block"] != sums.digest[:16]:
        raise AuditError(f"{path}: system {line['block']}: the proofs are of other counts than these. {AGAIN} {path}")
    if not isinstance(statements, list) or not isinstance(contradiction, bool):
        raise AuditError(f"{path}: system {line['block']}: no list of statements. {AGAIN} {path}")
    proved = check_sums(sums, statements)
    if proved.empty != contradiction:
        said = "contradict each other" if contradiction else "fit"
        raise AuditError(f"{path}: system {line['block']}: that its counts {said} is not what is proved. {AGAIN} {path}")
    by_area = alone_ranges(alone)
    ends = (by_area.lo, by_area.hi) if contradiction else (proved.lo, proved.hi)
    return pd.DataFrame(rows_of(part, spec, alone, by_area, ends, contradiction), columns=COLUMNS)


def _compare(path: Path, listed: pd.DataFrame, shown: pd.DataFrame) -> None:
    """The table of ranges against what is shown, column by column."""
    if list(listed.columns) != COLUMNS or len(listed) != len(shown):
        raise AuditError(
            f"{path}: not the rows and columns of its areas ({len(listed)} rows, not {len(shown)}). {AGAIN} {path}"
        )
    for column in COLUMNS:
        if column == "attained":
            if listed[column].dtype != bool:
                raise AuditError(f"{path}: the column 'attained' holds other than truth values. {AGAIN} {path}")
            wrong = listed[column] & (listed["contradicts"] != "")
        else:
            one, other = (frame[column].astype(object).where(frame[column].notna(), None) for frame in (listed, shown))
            wrong = pd.Series([a != b for a, b in zip(one, other, strict=True)], index=listed.index)
        if wrong.any():
            at = int(wrong.to_numpy().argmax())
            raise AuditError(
                f"{path}: row {at} ({listed['level'].iloc[at]} area, {listed['cell'].iloc[at]}): {column} is "
                f"{listed[column].iloc[at]}, which its counts and proofs do not show. {AGAIN} {path}"
            )
