"""Published counts as a user has them: a CSV with cell and count (or lo and hi), per area where there are several."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from genverify.core.arraytypes import Ints
from genverify.core.csvfile import need_columns
from genverify.core.csvtext import neutral
from genverify.core.errors import ReleaseError, nearest
from genverify.core.release import TOTAL, Release, Schema
from genverify.disclosure.cells import SIZES, area_cell
from genverify.disclosure.codes import Coding
from genverify.disclosure.form import ReleaseForm
from genverify.protect.publishing import SUPPRESSED, Publishing

MARKS = {"", "*", "x", "X", "s", "S", "c", "..", "...", "-"}


def read_counts(
    texts: pd.DataFrame, source: Path, schema: Schema, form: ReleaseForm, areas: Coding, coupled: bool
) -> tuple[Release, ...]:
    """The release of each area (of all areas together where they are coupled) from a file of counts."""
    frame = _parsed(texts, source, form)
    if form.area is None:
        frame["area"] = areas.texts[0]
    totals = _totals(frame, form, areas, source)
    frame = frame[frame["cell"] != TOTAL]
    if coupled:
        frame = _coupled(frame, schema, areas, totals)
    _check_cells(frame, schema, source)
    blocks = {"all": sum(totals.values())} if coupled else totals
    releases = tuple(
        _release(frame if coupled else frame[frame["area"] == block], block, n, schema, source)
        for block, n in blocks.items()
    )
    _refuse_silent(releases, schema, source)
    return releases


def _parsed(texts: pd.DataFrame, source: Path, form: ReleaseForm) -> pd.DataFrame:
    """Cells with the least and the greatest count behind each, and the line that they stand in."""
    ranged = {"lo", "hi"} <= set(texts.columns)
    if "count" in texts and {"lo", "hi"} & set(texts.columns):
        raise ReleaseError(
            f"{source}: has count and also {'lo and hi' if ranged else 'one of lo and hi'}, and they might disagree; give "
            "count where counts are exact, else lo and hi"
        )
    need_columns(source, texts, ["cell", *(["lo", "hi"] if ranged else ["count"]), *(["area"] if form.area else [])])
    named = {neutral(one.cell): one.cell for one in form.predicates}  # as the template of cells writes them
    cells = texts["cell"].map(lambda cell: named.get(cell, cell))
    frame = pd.DataFrame({"cell": cells, "area": texts["area"] if form.area else ""}, index=texts.index)
    if ranged:
        frame["lo"], frame["hi"] = (_whole(texts[side], source) for side in ("lo", "hi"))
    else:
        frame["lo"], frame["hi"] = _known(texts, source, form)
    reverse = frame[frame["lo"] > frame["hi"]]
    if len(reverse):
        raise ReleaseError(f"{source}: line {reverse.index[0]}: lo is {reverse['lo'].iloc[0]}, above hi")
    doubled = frame[frame.duplicated(["area", "cell"])]
    if len(doubled):
        raise ReleaseError(f"{source}: line {doubled.index[0]}: cell {doubled['cell'].iloc[0]!r} is duplicated")
    return frame


def _known(texts: pd.DataFrame, source: Path, form: ReleaseForm) -> tuple[Ints, Ints]:
    how, exact = form.published_as.how, Publishing()
    counts = texts["count"]
    hidden = counts.isin(MARKS | {f"<{how.suppress}"}) if how.suppress else counts.isin([])
    values = _whole(counts.mask(hidden, "0"), source)
    values[hidden.to_numpy()] = SUPPRESSED
    size = (texts["cell"] == TOTAL).to_numpy()
    try:
        lo, hi = how.known(values)
    except ReleaseError as error:
        raise ReleaseError(f"{source}: {error}; check published_as in the release file") from None
    at, to = exact.known(np.maximum(values, 0))
    return np.where(size, at, lo), np.where(size, to, hi)


def _whole(values: "pd.Series[str]", source: Path) -> Ints:
    """Whole numbers from 0; an error names the line of the first value that is none."""
    wrong = values[~values.str.fullmatch(r"\+?\d{1,12}")]
    if len(wrong):
        problem = "is negative" if wrong.iloc[0].startswith("-") and len(wrong.iloc[0]) > 1 else "is not a whole number"
        raise ReleaseError(
            f"{source}: line {wrong.index[0]}: the count {wrong.iloc[0]!r} {problem}; give whole numbers from 0, leave out "
            "cells that are not published; suppressed ones have * as count (and published_as: {suppress: 5})"
        )
    return np.array(values.tolist(), dtype=np.int64)


def _totals(frame: pd.DataFrame, form: ReleaseForm, areas: Coding, source: Path) -> dict[str, int]:
    """The number of people of each area: from the release file, or from the rows whose cell is N."""
    rows = frame[frame["cell"] == TOTAL]
    totals = dict(zip(rows["area"], rows["hi"].astype(int), strict=True))
    if isinstance(form.total, Mapping):
        totals |= form.total
    elif form.total is not None:
        totals |= {areas.texts[0]: form.total} if len(areas.texts) == 1 else {}
    for area in areas.texts:
        if area not in totals:
            raise ReleaseError(
                f"{source}: the number of people{f' of area {area}' if form.area else ''} is not given; add a row with "
                f"cell {TOTAL}, or `total` to the release file"
            )
    return {area: totals[area] for area in areas.texts}


def _coupled(frame: pd.DataFrame, schema: Schema, areas: Coding, totals: Mapping[str, int]) -> pd.DataFrame:
    """Cells under the names that they have where areas are one column; the sizes of the areas are published too."""
    named = frame.assign(
        cell=[area_cell(area, cell) if area else cell for area, cell in zip(frame["area"], frame["cell"], strict=True)]
    )
    sizes = pd.DataFrame(
        {"cell": [f"{SIZES}.{area}" for area in totals], "area": "", "lo": totals.values(), "hi": totals.values()}
    )
    return pd.concat([named, sizes])


def _check_cells(frame: pd.DataFrame, schema: Schema, source: Path) -> None:
    unknown = frame[~frame["cell"].isin(list(schema.position))]
    if len(unknown):
        cell = unknown["cell"].iloc[0]
        near = nearest(cell, list(schema.position)).partition(" (known")[0]
        raise ReleaseError(
            f"{source}: line {unknown.index[0]}: {cell!r} is no cell that the release file describes; "
            f"{near if near.startswith('did') else 'disclose --cells lists them'}"
        )


def _release(frame: pd.DataFrame, block: str, n: int, schema: Schema, source: Path) -> Release:
    cells = np.array([schema.position[cell] for cell in frame["cell"]], dtype=np.int64)
    order = np.argsort(cells)
    above = frame[frame["lo"] > n]
    if len(above):
        raise ReleaseError(
            f"{source}: line {above.index[0]}: {above['cell'].iloc[0]} counts {above['lo'].iloc[0]}, "
            f"but there are only {n} people{f' in area {block}' if block != 'all' else ''}"
        )
    lo, hi = (frame[side].to_numpy(dtype=np.int64)[order] for side in ("lo", "hi"))
    return Release(schema, block, n, cells[order], lo, np.minimum(hi, n))


def _refuse_silent(releases: tuple[Release, ...], schema: Schema, source: Path) -> None:
    """An error for a table of which no count is given."""
    given = {query.table for release in releases for query in release.queries}
    for query in schema.queries:
        if query.table not in given:
            raise ReleaseError(
                f"{source}: table {query.table} is empty: no count of it is given; add them or leave the table out"
            )
