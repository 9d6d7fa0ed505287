"""Counts of areas from tidy files: area, variable, group, count; suppressed ones are empty."""

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from genverify.core.csvfile import Expected, naming_unreadable, need_columns, open_csv, refuse_row
from genverify.disclosure.areas.system import Part, Printed, parts_of

COUNTS = Expected("counts of areas", "set the paths of the study, e.g. snakemake nz --configfile mine.yaml")
NEEDED = ("area", "variable", "group", "count")


def read_areas(path: Path) -> pd.DataFrame:
    """The tidy counts of a file (Parquet or CSV), with the name of each cell."""
    frame = _read(path)
    need_columns(path, frame, NEEDED)
    variable, group = frame["variable"].astype(str), frame["group"].astype("object").fillna("").astype(str)
    count = pd.to_numeric(frame["count"], errors="coerce").astype("Int64")
    cell = variable.where(group == "", variable + "/" + group)
    found = pd.DataFrame({"area": frame["area"].astype(str), "cell": cell, "count": count})
    doubled = found.duplicated(["area", "cell"])
    refuse_row(path, found["area"], doubled, "has two counts of one group; keep one")
    refuse_row(path, count, (count < 0).fillna(False), "is negative")
    return found


def read_inside(path: Path, area: str, inside: str) -> dict[str, str]:
    """The larger area of each small one."""
    frame = open_csv(path, COUNTS).frame([area, inside])
    return dict(zip(frame[area], frame[inside], strict=True))


def _read(path: Path) -> pd.DataFrame:
    if path.suffix != ".parquet":
        return open_csv(path, COUNTS).frame()
    with naming_unreadable(path, COUNTS):
        frame = pd.read_parquet(path)
    frame.index = pd.RangeIndex(2, len(frame) + 2)  # as the lines of a CSV
    return frame


def printed_by_area(frame: pd.DataFrame, areas: Iterable[str] | None = None) -> dict[str, Printed]:
    """What is printed of every area."""
    chosen = frame if areas is None else frame[frame["area"].isin(set(areas))]
    found: dict[str, dict[str, int | None]] = {}
    for area, cell, count in zip(chosen["area"], chosen["cell"], chosen["count"].astype(object), strict=True):
        found.setdefault(area, {})[cell] = None if count is pd.NA or count is None else int(count)
    return dict(found)


def batch_of(small: pd.DataFrame, larger: pd.DataFrame, inside: dict[str, str], batch: int, batches: int) -> list[Part]:
    """The larger areas of one of the batches with their small ones; the first has the small ones without a larger."""
    names = sorted(set(larger["area"]))[batch::batches]
    chosen, all_areas = set(names), set(larger["area"])
    lost = {area for area in small["area"].unique() if inside.get(area) not in all_areas} if batch == 0 else set()
    own = [area for area in small["area"].unique() if inside.get(area) in chosen or area in lost]
    known = {area: name for area, name in inside.items() if area not in lost}
    return parts_of(known, printed_by_area(small, own), printed_by_area(larger, names))
