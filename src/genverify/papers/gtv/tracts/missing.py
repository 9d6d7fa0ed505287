"""Which cells are missing for the records that no tables determine: what is known of them, and in which columns it ends."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from genverify.core.arraytypes import Flags
from genverify.core.claims import ANY, matches
from genverify.core.release import Schema
from genverify.papers.gtv.tracts.settings import BOTH

COLUMNS = ["known", "missing", "told_apart", "records", "areas", "cells"]
Known = tuple[int, ...]


def told_apart(schema: Schema) -> dict[str, set[int]]:
    """Per column, the codes that the cells of a schema tell apart from every other code."""
    found = {}
    for column in schema.domain.columns:
        named = [set(q.predicate.where[column.name]) for q in schema.queries if column.name in q.predicate.columns]
        inside = {code: tuple(code in codes for codes in named) for code in column.codes}
        times = Counter(inside.values())
        found[column.name] = {code for code, cells in inside.items() if times[cells] == 1}
    return found


def missing_cells(
    claims: pd.DataFrame, records: pd.DataFrame, names: Sequence[str], apart: Mapping[str, set[int]]
) -> pd.DataFrame:
    """
    The records that block and tract tables together do not determine, by what they tell of them: the largest sets of columns
    that are known together (from which the columns that are missing follow), whether block tables tell their codes of the
    missing columns apart, how many records, in how many blocks, and how many cells of all columns would have to be known.
    """
    claimed = {str(area): own for area, own in claims[claims["tables"] == BOTH].groupby("area")}
    rows = [row for area, own in records.groupby("block") for row in _rows(str(area), own, claimed, names, apart)]
    frame = pd.DataFrame(rows, columns=["known", "missing", "told_apart", "area", "cell"])
    groups = frame.groupby(["known", "missing", "told_apart"], sort=True)
    counted = groups.agg(records=("cell", "size"), areas=("area", "nunique"), cells=("cell", "nunique"))
    return counted.sort_values("records", ascending=False, kind="stable").reset_index()[COLUMNS]


def _rows(
    area: str,
    records: pd.DataFrame,
    claimed: Mapping[str, pd.DataFrame],
    names: Sequence[str],
    apart: Mapping[str, set[int]],
) -> Iterator[tuple[str, str, str, str, tuple[str, ...]]]:
    """Per record that is not determined: what is known and missing, its block, and the cell that would tell."""
    codes = records[list(names)].to_numpy()
    for record, flags in zip(codes.tolist(), _known(claimed.get(area), codes, names), strict=True):
        if flags[-1]:
            continue
        sets = _largest([_columns(mask) for mask in np.flatnonzero(flags).tolist()])
        left = [place for place in range(len(names)) if place not in sets[0]]
        told = all(record[place] in apart[names[place]] for place in left)
        known = "; ".join(", ".join(names[place] for place in places) for places in sets)
        missing = ", ".join(names[place] for place in left)
        yield known, missing, "yes" if told else "no", area, (area, *map(str, record))


def _known(claims: pd.DataFrame | None, records: np.ndarray, names: Sequence[str]) -> Flags:
    """Per record and set of columns (the bits of the place): whether a claim describes the record in these columns."""
    known: Flags = np.zeros((len(records), 2 ** len(names)), dtype=bool)
    if claims is not None:
        codes = claims[list(names)].to_numpy()
        masks = (codes != ANY) @ (1 << np.arange(len(names)))
        claim, record = np.nonzero(matches(codes, records))
        known[record, masks[claim]] = True
    return known


def _columns(mask: int) -> Known:
    return tuple(place for place in range(mask.bit_length()) if mask >> place & 1)


def _largest(sets: Sequence[Known]) -> list[Known]:
    """
    The sets that lie in no other, the largest first; the empty one where there is none.

    >>> _largest([(0,), (1,), (0, 2), (1, 2), (0, 1)])
    [(0, 1), (0, 2), (1, 2)]
    """
    ends = [own for own in sets if not any(set(own) < set(other) for other in sets)]
    return sorted(ends, key=lambda own: (-len(own), own)) or [()]
