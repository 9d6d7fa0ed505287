"""The exact range of every count of a part; counts that contradict the rule are found, and left to their areas alone."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from genverify.checker.sums import check_sums
from genverify.core.sums import Sums, select
from genverify.disclosure.areas.spec import AreaTables
from genverify.disclosure.areas.system import Part, system_of
from genverify.protect.publishing import Publishing
from genverify.solve.sums.parts import all_ranges
from genverify.solve.sums.ranges import Ranges, Work

COLUMNS = ["level", "cell", "printed", "rule_lo", "rule_hi", "alone_lo", "alone_hi", "lo", "hi", "attained", "contradicts"]


@dataclass(frozen=True)
class Bounded:
    """The rows of a part's counts (no area is named), and its system with the checked statements."""

    rows: pd.DataFrame
    proof: dict[str, Any]


def bound_part(part: Part, spec: AreaTables, work: Work) -> Bounded:
    """Ranges with geography where the part's counts fit the rule; else each area by itself, and what fits nowhere is marked."""
    sums, alone = system_of(part, spec), system_of(part, spec, geography=False)
    by_area = _alone(alone, work)
    together = all_ranges(sums, work)
    shown = check_sums(sums, together.statements)
    contradiction = together.empty
    if contradiction:
        assert shown.empty
        together = by_area
    rows = pd.DataFrame(_rows(part, spec, alone, by_area, together, contradiction), columns=COLUMNS)
    return Bounded(
        rows,
        {
            "block": sums.digest[:16],
            "system": sums.digest,
            "statements": list(together.statements),
            "contradiction": contradiction,
        },
    )


def _alone(sums: Sums, work: Work) -> Ranges:
    """Every area by itself; the parts that contradict themselves are left as printed, the others bounded."""
    found = all_ranges(sums, work)
    if not found.empty:
        check_sums(sums, found.statements)
        return found
    areas = np.array([int(cell.partition(":")[0]) for cell in sums.cells])
    of_row = areas[sums.columns[sums.start[:-1]]]
    lo, hi, least, most = sums.lo.copy(), sums.hi.copy(), sums.lo - 1, sums.hi + 1
    for area in np.unique(areas):
        cells, rows = np.flatnonzero(areas == area), np.flatnonzero(of_row == area)
        own = select(sums, cells, rows)
        part = all_ranges(own, work)
        check_sums(own, part.statements)
        if not part.empty:
            lo[cells], hi[cells], least[cells], most[cells] = part.lo, part.hi, part.least, part.most
        else:
            hi[cells] = -1  # no count fits
    return Ranges(lo, hi, least, most, (), False)


def _rows(
    part: Part, spec: AreaTables, sums: Sums, alone: Ranges, found: Ranges, contradiction: bool
) -> Iterator[tuple[Any, ...]]:
    rule, name_of = Publishing(rounding="random", base=spec.base), spec.name_of
    for at, printed in enumerate(part.areas):
        level = "larger" if at == 0 and part.has_larger else "small"
        for name, count in printed.items():
            if name in name_of and name_of[name] != name:
                continue  # the same number as another total
            cell = sums.place[f"{at}:{name}"]
            lo, hi = (int(x[0]) for x in rule.known(np.array([count]))) if count is not None else (0, int(sums.hi[cell]))
            ends = (alone.lo, alone.hi, found.lo, found.hi)
            attained = bool(found.exact[cell])
            wrong = "area" if alone.hi[cell] < 0 else "geography" if contradiction else ""
            yield level, name, count, lo, hi, *(int(end[cell]) for end in ends), attained, wrong


def work_of(seconds: float) -> Work:
    return replace(Work(), seconds=seconds, nodes=500, leaves=50)
