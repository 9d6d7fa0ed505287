"""The exact range of every count of a part; counts that contradict the rule are found, and left to their areas alone."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from genverify.checker.sums import check_sums
from genverify.core.arraytypes import Flags, Ints
from genverify.core.sums import Sums, select
from genverify.disclosure.areas.spec import AreaTables
from genverify.disclosure.areas.system import Part, rounded_ends, system_of
from genverify.solve.sums.parts import all_ranges
from genverify.solve.sums.propagate import propagate
from genverify.solve.sums.work import Ranges, Work

NOWHERE = -1
COLUMNS = ["level", "cell", "printed", "rule_lo", "rule_hi", "alone_lo", "alone_hi", "lo", "hi", "attained", "contradicts"]


@dataclass(frozen=True)
class Bounded:
    """The rows of a part's counts (no area is named), and its system with the checked statements."""

    rows: pd.DataFrame
    proof: dict[str, Any]


def bound_part(part: Part, spec: AreaTables, work: Work) -> Bounded:
    """Ranges with geography where counts fit the rule; else of each area by itself; what fits nowhere is marked."""
    sums, alone = system_of(part, spec), system_of(part, spec, geography=False)
    by_area = alone_ranges(alone)
    together = all_ranges(sums, work)
    shown = check_sums(sums, together.statements)
    contradiction = together.empty
    assert shown.empty == contradiction
    found = by_area if contradiction else together
    rows = pd.DataFrame(
        rows_of(part, spec, alone, by_area, (found.lo, found.hi), contradiction, found.exact), columns=COLUMNS
    )
    return Bounded(
        rows,
        {
            "block": sums.digest[:16],
            "system": sums.digest,
            "statements": list(together.statements),
            "contradiction": contradiction,
        },
    )


def alone_ranges(sums: Sums) -> Ranges:
    """Every area by itself: its tables are trees of sums, of which single rows say all. NOWHERE where nothing fits."""
    known = propagate(sums)
    check_sums(sums, known.statements)
    lo, hi = known.lo, known.hi
    if known.empty:
        areas = np.array([int(cell.partition(":")[0]) for cell in sums.cells])
        of_row = areas[sums.columns[sums.start[:-1]]]
        for area in np.unique(areas):
            cells = np.flatnonzero(areas == area)
            own = select(sums, cells, np.flatnonzero(of_row == area))
            part = propagate(own)
            check_sums(own, part.statements)
            lo[cells], hi[cells] = part.lo, NOWHERE if part.empty else part.hi
    return Ranges(lo, hi, lo, hi, (), False)


def rows_of(
    part: Part,
    spec: AreaTables,
    sums: Sums,
    alone: Ranges,
    found: tuple[Sequence[int] | Ints, Sequence[int] | Ints],
    contradiction: bool,
    exact: Flags | None = None,
) -> Iterator[tuple[Any, ...]]:
    """What the table says of each count: the range by the rule, by its area, as found (its ends), and if it is exact."""
    name_of = spec.name_of
    for at, printed in enumerate(part.areas):
        level = "larger" if at == 0 and part.has_larger else "small"
        for name, count in printed.items():
            if name in name_of and name_of[name] != name:
                continue  # the same number as another total
            cell = sums.place[f"{at}:{name}"]
            lo, hi = rounded_ends(count, spec.base) if count is not None else (0, int(sums.hi[cell]))
            ends = (alone.lo, alone.hi, *found)
            attained = exact is not None and bool(exact[cell]) and not contradiction
            wrong = "area" if alone.hi[cell] == NOWHERE else "geography" if contradiction else ""
            yield level, name, count, lo, hi, *(int(end[cell]) for end in ends), attained, wrong


def work_of(seconds: float) -> Work:
    return replace(Work(), seconds=seconds, nodes=500, leaves=50)
