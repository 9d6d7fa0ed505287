"""Counts of areas from tidy files: area, variable, group, count; suppressed ones are empty."""

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from genverify.core.errors import DataError, nearest
from genverify.disclosure.areas.system import Part, Printed, parts_of

NEEDED = ("area", "variable", "group", "count")


def read_areas(path: Path) -> pd.DataFrame:
    """The tidy counts of a file (Parquet or CSV), with the name of each cell."""
    if not path.is_file():
        raise DataError(
            f"{path}: there is no such file; set the paths of the study, e.g. snakemake nz --configfile mine.yaml"
        )
    frame = pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path, dtype=str)
    for name in NEEDED:
        if name not in frame:
            raise DataError(f"{path}: has no column {name!r}: {nearest(name, list(frame.columns))}")
    variable, group = frame["variable"].astype(str), frame["group"].astype("object").fillna("").astype(str)
    count = pd.to_numeric(frame["count"], errors="coerce").astype("Int64")
    cell = variable.where(group == "", variable + "/" + group)
    found = pd.DataFrame({"area": frame["area"].astype(str), "cell": cell, "count": count})
    doubled = found.duplicated(["area", "cell"])
    if doubled.any():
        raise DataError(f"{path}: row {int(doubled.to_numpy().argmax()) + 1}: an area has two counts of one group; keep one")
    if (count < 0).any():
        raise DataError(f"{path}: row {int((count < 0).to_numpy().argmax()) + 1}: the count is negative")
    return found


def read_inside(path: Path, area: str, inside: str) -> dict[str, str]:
    """The larger area of each small one."""
    frame = pd.read_csv(path, dtype=str)
    for name in (area, inside):
        if name not in frame:
            raise DataError(f"{path}: has no column {name!r}: {nearest(name, list(frame.columns))}")
    return dict(zip(frame[area], frame[inside], strict=True))


def printed_by_area(frame: pd.DataFrame, areas: Iterable[str] | None = None) -> dict[str, Printed]:
    """What is printed of every area."""
    chosen = frame if areas is None else frame[frame["area"].isin(set(areas))]
    found: dict[str, dict[str, int | None]] = {}
    for area, cell, count in zip(chosen["area"], chosen["cell"], chosen["count"].astype(object), strict=True):
        found.setdefault(area, {})[cell] = None if count is pd.NA or count is None else int(count)
    return dict(found)


def batch_of(small: pd.DataFrame, larger: pd.DataFrame, inside: dict[str, str], batch: int, batches: int) -> list[Part]:
    """The larger areas of one of so many batches with their small ones; the first has the small ones without a larger."""
    names = sorted(set(larger["area"]))[batch::batches]
    chosen, all_areas = set(names), set(larger["area"])
    lost = {area for area in small["area"].unique() if inside.get(area) not in all_areas} if batch == 0 else set()
    own = [area for area in small["area"].unique() if inside.get(area) in chosen or area in lost]
    known = {area: name for area, name in inside.items() if area not in lost}
    return parts_of(known, printed_by_area(small, own), printed_by_area(larger, names))
