"""A larger area with its small ones as a system of sums: the tables of each, and every count as the sum over small areas."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from genverify.core.errors import DataError
from genverify.core.sums import Row, Sums, make_sums
from genverify.disclosure.areas.spec import AreaTables
from genverify.protect.publishing import Publishing

Printed = Mapping[str, int | None]  # cell: its printed count; None where it is suppressed


@dataclass(frozen=True)
class Part:
    """A larger area (the first) and its small ones: what is printed of each, cells by variable/group."""

    areas: tuple[Printed, ...]
    has_larger: bool = True


def system_of(part: Part, spec: AreaTables, geography: bool = True) -> Sums:
    """The counts of a part; cell `3:tenure/total` is that of its fourth area. Without geography every area stands alone."""
    rows: list[Row] = []
    cells: dict[str, tuple[int, int]] = {}
    for at, printed in enumerate(part.areas):
        ends = _ends(printed, spec)
        cells |= {f"{at}:{name}": own for name, own in ends.items()}
        rows += _table_rows(at, ends, spec)
    if geography and part.has_larger and len(part.areas) > 1:
        rows += _geography(part, cells)
    return make_sums(cells, rows)


@lru_cache(maxsize=100_000)
def rounded_ends(count: int, base: int) -> tuple[int, int]:
    """
    The true counts that random rounding to a base may have printed so.

    >>> rounded_ends(0, 3), rounded_ends(6, 3)
    ((0, 2), (4, 8))
    """
    lo, hi = Publishing(rounding="random", base=base).known(np.array([count]))
    return int(lo[0]), int(hi[0])


def _ends(printed: Printed, spec: AreaTables) -> dict[str, tuple[int, int]]:
    """What is known of every cell of an area by the rule of rounding; a total that is printed twice must fit both."""
    name_of, ceiling = spec.name_of, max((count or 0 for count in printed.values()), default=0) + spec.base - 1
    found: dict[str, tuple[int, int]] = {}
    for name, count in printed.items():
        if count is None:
            lo, hi = 0, ceiling
        else:
            if count % spec.base:
                raise DataError(f"{name}: the count {count} is no multiple of {spec.base}; check base in the file of tables")
            lo, hi = rounded_ends(count, spec.base)
        own = name_of.get(name, name)
        before = found.get(own, (0, ceiling))
        found[own] = (max(lo, before[0]), min(hi, before[1]))
    return found


def _table_rows(at: int, ends: Mapping[str, tuple[int, int]], spec: AreaTables) -> Iterator[Row]:
    name_of = spec.name_of

    def cell(variable: str, group: str) -> str:
        name = f"{variable}/{group}"
        return f"{at}:{name_of.get(name, name)}"

    for variable, sums in spec.sums.items():
        for total, parts in sums.items():
            if f"{variable}/{parts[0]}" in ends:
                weights = {cell(variable, part): 1 for part in parts}
                yield f"{at}:{variable}/{total} =", {**weights, cell(variable, total): -1}, 0, 0
    for variable, limits in spec.at_most.items():
        for total, sets in limits.items():
            for number, parts in enumerate(sets):
                if all(f"{variable}/{part}" in ends for part in parts):
                    weights = {cell(variable, part): 1 for part in parts}
                    yield f"{at}:{variable}/{total} >= {number}", {**weights, cell(variable, total): -1}, -(10**9), 0


def _geography(part: Part, cells: Mapping[str, tuple[int, int]]) -> Iterator[Row]:
    """Every count of the larger area is the sum of the same count over its small ones, where all of them have it."""
    for larger in [name for name in cells if name.startswith("0:")]:
        name = larger[2:]
        small = [f"{at}:{name}" for at in range(1, len(part.areas))]
        if all(cell in cells for cell in small):
            yield f"{name} over areas", {**dict.fromkeys(small, 1), larger: -1}, 0, 0


def parts_of(inside: Mapping[str, str], small: Mapping[str, Printed], larger: Mapping[str, Printed]) -> list[Part]:
    """The larger areas in order, each with its small ones; small areas without a larger one stand together, without sums."""
    members: dict[str, list[str]] = {}
    for area in small:
        members.setdefault(inside.get(area, ""), []).append(area)
    found = []
    for name in sorted({*members, *larger}):
        own: Sequence[Printed] = [small[area] for area in sorted(members.get(name, []))]
        if name in larger:
            found.append(Part((larger[name], *own)))
        elif own:
            found.append(Part(tuple(own), has_larger=False))
    return found
