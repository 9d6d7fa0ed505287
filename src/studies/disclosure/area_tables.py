"""Counts of areas that were rounded or suppressed: read, bounded exactly, and their proofs checked again."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from math import log2
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pydantic import Field

from genverify.checker.certificate import read_proofs
from genverify.checker.linear_proofs import check_linear, check_system
from genverify.model.arrays import Flags, Floats, Ints
from genverify.model.errors import DataError
from genverify.model.files import read_yaml
from genverify.model.linear import LinearSystem, Row, make_system, select
from genverify.model.proof_form import LINEAR, new_certificate
from genverify.model.settings import Section, validate
from genverify.model.tablefiles import Expected, naming_unreadable, need_columns, open_csv, refuse_row
from genverify.protect.publishing import Publishing
from genverify.report.pages import bullets, document, markdown_table
from genverify.run.provenance.recheck import PROOFS, ProofTally, one_file
from genverify.run.provenance.records import AuditError, Record, reading_tables
from genverify.solve.linear.ranges import all_ranges, propagate
from genverify.solve.linear.search import Ranges, Work
from studies.disclosure.settings import AreaSettings


class AreaTables(Section):
    """A file of tables of areas; data/nz/tables.yaml is one."""

    title: str
    source: str
    base: int = Field(ge=2)
    sums: dict[str, dict[str, list[str]]]
    at_most: dict[str, dict[str, list[list[str]]]] = Field(default_factory=dict)
    same: list[list[str]] = Field(default_factory=list)

    @property
    def name_of(self) -> dict[str, str]:
        """The name under which a cell stands: of totals that are one number, the first."""
        return {name: names[0] for names in self.same for name in names}


def read_area_tables(path: Path) -> AreaTables:
    return validate(AreaTables, read_yaml(path), str(path))


# A larger area with its small ones as a system of sums: the tables of each, and every count as the sum over small areas.

Printed = Mapping[str, int | None]  # cell: its printed count; None where it is suppressed


@dataclass(frozen=True)
class Part:
    """A larger area (the first) and its small ones: what is printed of each, cells by variable/group."""

    areas: tuple[Printed, ...]
    has_larger: bool = True


def system_of(part: Part, spec: AreaTables, geography: bool = True) -> LinearSystem:
    """The counts of a part; cell `3:tenure/total` is that of its fourth area. Without geography every area stands alone."""
    rows: list[Row] = []
    cells: dict[str, tuple[int, int]] = {}
    for at, printed in enumerate(part.areas):
        ends = _ends(printed, spec)
        cells |= {f"{at}:{name}": end for name, end in ends.items()}
        rows += _table_rows(at, ends, spec)
    if geography and part.has_larger and len(part.areas) > 1:
        rows += _geography(part, cells)
    return make_system(cells, rows)


@lru_cache(maxsize=100_000)
def rounded_ends(count: int, base: int) -> tuple[int, int]:
    """The true counts that random rounding to a base may have printed so."""
    lo, hi = Publishing(rounding="random", base=base).known(np.array([count]))
    return int(lo[0]), int(hi[0])


def _ends(printed: Printed, spec: AreaTables) -> dict[str, tuple[int, int]]:
    """What is known of every cell of an area by the rule of rounding; a total that is printed twice must fit both."""
    name_of, ceiling = spec.name_of, max((count or 0 for count in printed.values()), default=0) + spec.base - 1
    result: dict[str, tuple[int, int]] = {}
    for name, count in printed.items():
        if count is None:
            lo, hi = 0, ceiling
        else:
            if count % spec.base:
                raise DataError(f"{name}: the count {count} is not a multiple of {spec.base}: check base in its file")
            lo, hi = rounded_ends(count, spec.base)
        cell = name_of.get(name, name)
        before = result.get(cell, (0, ceiling))
        result[cell] = (max(lo, before[0]), min(hi, before[1]))
    return result


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


# Counts of areas from tidy files: area, variable, group, count; suppressed ones are empty.

COUNTS = Expected("counts of areas", "set the paths of the study, e.g. snakemake nz --configfile mine.yaml")
NEEDED = ("area", "variable", "group", "count")


def read_areas(path: Path) -> pd.DataFrame:
    """The tidy counts of a file (Parquet or CSV), with the name of each cell."""
    frame = _read(path)
    need_columns(path, frame, NEEDED)
    variable, group = frame["variable"].astype(str), frame["group"].astype("object").fillna("").astype(str)
    count = pd.to_numeric(frame["count"], errors="coerce").astype("Int64")
    cell = variable.where(group == "", variable + "/" + group)
    result = pd.DataFrame({"area": frame["area"].astype(str), "cell": cell, "count": count})
    doubled = result.duplicated(["area", "cell"])
    refuse_row(path, result["area"], doubled, "has two counts of one group; keep one")
    refuse_row(path, count, (count < 0).fillna(False), "is negative")
    return result


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
    result: dict[str, dict[str, int | None]] = {}
    for area, cell, count in zip(chosen["area"], chosen["cell"], chosen["count"].astype(object), strict=True):
        result.setdefault(area, {})[cell] = None if count is pd.NA or count is None else int(count)
    return dict(result)


def batch_of(small: pd.DataFrame, larger: pd.DataFrame, inside: dict[str, str], batch: int, batches: int) -> list[Part]:
    """The larger areas of a batch with their small ones; small areas without a larger one are in the first, without sums."""
    names, members = set(larger["area"]), dict[str, list[str]]()
    for area in sorted(small["area"].unique()):
        name = inside.get(area, "")
        members.setdefault(name if name in names else "", []).append(area)
    chosen = sorted(names)[batch::batches]
    lost = members.get("", []) if batch == 0 else []
    printed = printed_by_area(small, [*lost, *(area for name in chosen for area in members.get(name, []))])
    above = printed_by_area(larger, chosen)
    result = [Part(tuple(printed[area] for area in lost), has_larger=False)] if lost else []
    return result + [Part((above[name], *(printed[area] for area in members.get(name, [])))) for name in chosen]


# The exact range of every count of a part; counts that contradict the rule are found, and left to their areas alone.

NOWHERE = -1  # an upper end below every count: no count fits
COLUMNS = ["level", "cell", "printed", "rule_lo", "rule_hi", "alone_lo", "alone_hi", "lo", "hi", "attained", "contradicts"]


def bound_part(part: Part, spec: AreaTables, work: Work) -> tuple[pd.DataFrame, dict[str, Any]]:
    """
    Ranges with geography where counts fit the rule, else of each area by itself; what fits nowhere is marked. The rows of
    the counts (no area is named), and the system with the checked statements.
    """
    sums, alone = system_of(part, spec), system_of(part, spec, geography=False)
    by_area = alone_ranges(alone)
    together = all_ranges(sums, work)
    contradiction = together.empty
    assert check_linear(sums, together.statements).empty == contradiction
    result = by_area if contradiction else together
    proved = rows_of(part, spec, alone, by_area, (result.lo, result.hi), contradiction, result.exact)
    rows = pd.DataFrame(proved, columns=COLUMNS)
    proof = new_certificate(LINEAR, sums.digest[:16], sums.digest) | {"statements": list(together.statements)}
    return rows, proof


def alone_ranges(sums: LinearSystem) -> Ranges:
    """Every area by itself: its tables are trees of sums, of which single rows say all. NOWHERE where nothing fits."""
    known = propagate(sums)
    check_linear(sums, known.statements)
    lo, hi = known.lo, known.hi
    if known.empty:
        areas = np.array([int(cell.partition(":")[0]) for cell in sums.cells])
        of_row = areas[sums.columns[sums.start[:-1]]]
        for area in np.unique(areas):
            cells = np.flatnonzero(areas == area)
            chosen = select(sums, cells, np.flatnonzero(of_row == area))
            part = propagate(chosen)
            check_linear(chosen, part.statements)
            lo[cells], hi[cells] = part.lo, NOWHERE if part.empty else part.hi
    return Ranges(lo, hi, lo, hi, (), False)


def rows_of(
    part: Part, spec: AreaTables, sums: LinearSystem, alone: Ranges,
    ranges: tuple[Sequence[int] | Ints, Sequence[int] | Ints], contradiction: bool, exact: Flags | None = None,
) -> Iterator[tuple[Any, ...]]:  # fmt: skip
    """What the table says of each count: the range by the rule, by its area, as found (its ends), and if it is exact."""
    name_of = spec.name_of
    for at, printed in enumerate(part.areas):
        level = "larger" if at == 0 and part.has_larger else "small"
        for name, count in printed.items():
            if name in name_of and name_of[name] != name:
                continue  # the same number as another total
            cell = sums.place[f"{at}:{name}"]
            lo, hi = rounded_ends(count, spec.base) if count is not None else (0, int(sums.hi[cell]))
            ends = (alone.lo, alone.hi, *ranges)
            attained = exact is not None and bool(exact[cell]) and not contradiction
            wrong = "area" if alone.hi[cell] == NOWHERE else "geography" if contradiction else ""
            yield level, name, count, lo, hi, *(int(end[cell]) for end in ends), attained, wrong


def work_of(seconds: float) -> Work:
    return replace(Work(), seconds=seconds, nodes=500, leaves=50)


# The proofs about counts of areas, checked again; and their table of ranges, compared with them.


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


# Rounded counts of areas: how likely each count is, given its table, and what came out over all areas.


# How likely each count is, given the printed counts of its table and the probabilities of random rounding.
#
# Before anything is seen every table of counts is equally likely. A table is a tree of sums: what the groups below say of a
# total, and what the rest says of a group, are convolutions. The answer depends on the printed counts only through their
# differences to the sums of their parts, and through which of them are near 0; equal cases are worked out once.

SURE = (0.9, 0.95)


@dataclass(frozen=True)
class Chances:
    """Weights of the counts start, start + 1, ..."""

    start: int
    weights: Floats

    def plus(self, other: "Chances") -> "Chances":
        return Chances(self.start + other.start, np.convolve(self.weights, other.weights))

    def minus(self, other: "Chances") -> "Chances":
        return Chances(self.start - other.start - len(other.weights) + 1, np.convolve(self.weights, other.weights[::-1]))

    def times(self, other: "Chances") -> "Chances":
        """Of a count that both speak of."""
        start = max(self.start, other.start)
        end = min(self.start + len(self.weights), other.start + len(other.weights))
        if end <= start:
            return Chances(start, np.zeros(1))
        mine, theirs = (one.weights[start - one.start : end - one.start] for one in (self, other))
        return Chances(start, mine * theirs)

    @property
    def shares(self) -> Floats:
        total = self.weights.sum()
        return self.weights / total if total > 0 else self.weights


def _rounding_chances(printed: int, base: int) -> Chances:
    """How likely a printed count is for each true one: 1 if it is the count itself, else by how near it is."""
    start = max(0, printed - base + 1)
    return Chances(start, 1 - np.abs(np.arange(start, printed + base) - printed) / base)


class Tree:
    """A table as a tree of sums: its posterior for printed counts, remembered by what it depends on."""

    def __init__(self, sums: Mapping[str, Sequence[str]], base: int) -> None:
        self.sums, self.base = sums, base
        parts = {part for entry in sums.values() for part in entry}
        self.top = next(total for total in sums if total not in parts)
        self.groups = list(dict.fromkeys([*sums, *parts]))
        self.known: dict[tuple[int, ...], dict[str, Floats]] = {}

    def posterior(self, printed: Mapping[str, int]) -> dict[str, Floats]:
        """The chances of the counts that each group may have, in order."""
        differences = [printed[total] - sum(printed[part] for part in parts) for total, parts in self.sums.items()]
        key = (*differences, *(min(printed[group], 2 * self.base) for group in self.groups))
        if key not in self.known:
            up: dict[str, Chances] = {}
            self._up(self.top, printed, up)
            result = {self.top: up[self.top].shares}
            self._down(self.top, Chances(0, np.ones(up[self.top].start + len(up[self.top].weights))), printed, up, result)
            self.known[key] = result
        return self.known[key]

    def _up(self, group: str, printed: Mapping[str, int], up: dict[str, Chances]) -> Chances:
        chosen = _rounding_chances(printed[group], self.base)
        if group in self.sums:
            chosen = chosen.times(reduce(Chances.plus, [self._up(part, printed, up) for part in self.sums[group]]))
        up[group] = chosen
        return chosen

    def _down(
        self, group: str, rest: Chances, printed: Mapping[str, int], up: Mapping[str, Chances], result: dict[str, Floats]
    ) -> None:
        said = rest.times(_rounding_chances(printed[group], self.base))
        for part in self.sums.get(group, ()):
            others = reduce(Chances.plus, [up[other] for other in self.sums[group] if other != part], Chances(0, np.ones(1)))
            outside = said.minus(others)
            result[part] = up[part].times(outside).shares
            self._down(part, outside, printed, up, result)


def posterior_rows(areas: Sequence[Printed], spec: AreaTables, level: str) -> pd.DataFrame:
    """For every table, over all areas that print it whole: how many counts, how sure the likeliest value is, bits left."""
    rows = []
    for variable, sums in spec.sums.items():
        tree, tally = Tree(sums, spec.base), _Tally()
        for printed in areas:
            counts = {group: count for group in tree.groups if (count := printed.get(f"{variable}/{group}")) is not None}
            if len(counts) == len(tree.groups):
                tally.add(tree.posterior(counts), counts, spec.base)
        rows.append({"level": level, "table": variable, **tally.row()})
    return pd.DataFrame(rows)


class _Tally:
    def __init__(self) -> None:
        self.counts, self.impossible, self.likeliest, self.bits, self.before, self.sure = 0, 0, 0.0, 0.0, 0.0, [0, 0]

    def add(self, chances: Mapping[str, Floats], printed: Mapping[str, int], base: int) -> None:
        for group, shares in chances.items():
            if shares.sum() == 0:
                self.impossible += 1
                continue
            best = float(shares.max())
            self.counts += 1
            self.likeliest += best
            self.bits += _bits(shares)
            self.before += _bits(_rounding_chances(printed[group], base).shares)
            self.sure = [n + (best >= least) for n, least in zip(self.sure, SURE, strict=True)]

    def row(self) -> dict[str, float]:
        n = max(self.counts, 1)
        return {
            "counts": self.counts, "impossible": self.impossible, "mean_chance_of_likeliest": self.likeliest / n,
            "bits_by_rule": self.before / n, "bits_by_table": self.bits / n,
            **{f"chance_over_{round(100 * least)}": n_sure for least, n_sure in zip(SURE, self.sure, strict=True)},
        }  # fmt: skip


def _bits(shares: Floats) -> float:
    return -float(sum(share * log2(share) for share in shares.tolist() if share > 0))


# What came out over all areas: never one of them.


def summary_frame(rows: pd.DataFrame) -> pd.DataFrame:
    """By level and table, and in all: counts, narrower and pinned ones, suppressed ones that follow, contradictions."""
    named = rows.assign(table=rows["cell"].str.partition("/")[0])
    totals = (((level, "all tables"), group) for level, group in named.groupby("level"))
    groups = [*named.groupby(["level", "table"], sort=True), *totals]
    return pd.DataFrame([{"level": level, "table": table, **_counts(group)} for (level, table), group in groups])


def _counts(rows: pd.DataFrame) -> dict[str, int]:
    fits = rows[rows["contradicts"] != "area"]
    displayed, hidden = fits[fits["printed"].notna()], fits[fits["printed"].isna()]
    width, rule, alone = (displayed[f"{name}hi"] - displayed[f"{name}lo"] for name in ("", "rule_", "alone_"))
    open_ = hidden["rule_hi"] - hidden["rule_lo"]
    return {
        "counts": len(displayed), "narrower": int((width < rule).sum()),
        "narrower_by_table_alone": int((alone < rule).sum()),
        "pinned": int((width == 0).sum()), "pinned_by_table_alone": int((alone == 0).sum()),
        "suppressed": len(hidden), "suppressed_pinned": int(((hidden["hi"] == hidden["lo"]) & (open_ > 0)).sum()),
        "suppressed_within_rule": int((hidden["hi"] - hidden["lo"] <= 4).sum()),
        "ends_not_attained": int((~fits["attained"]).sum()),
        "contradict_in_area": int((rows["contradicts"] == "area").sum()),
        "contradict_by_geography": int((rows["contradicts"] == "geography").sum()),
    }  # fmt: skip


WORDS = {
    "counts": "printed counts", "narrower": "narrower than the rule", "pinned": "pinned", "suppressed": "suppressed",
    "suppressed_pinned": "suppressed, yet known", "contradict_in_area": "area contradicts",
    "contradict_by_geography": "geography contradicts",
}  # fmt: skip
CHANCES = {
    "mean_chance_of_likeliest": "chance of the likeliest", "bits_by_rule": "bits by rule", "bits_by_table": "bits by table",
    "chance_over_90": "over 90 %", "chance_over_95": "over 95 %",
}  # fmt: skip
NOTES = (
    "Ranges are exact: counts that fit all tables of a larger area and its small ones meet both ends, recounted; proofs in "
    "whole numbers that nothing lies outside were checked (results/nz/proofs); `ends_not_attained` counts those where not.",
    "`narrower than the rule`: fewer counts are possible than the rounding of this count alone would leave.",
    "`geography contradicts`: counts of a larger area and its small ones that fit no counts together, because one of them "
    "contradicts itself or by their sums; their ranges are those of each area alone.",
    "Chances: before anything is seen, all tables of counts are equally likely; only tables that are printed whole.",
    "Aggregates over areas; no area is named, here or in the files behind this page.",
)


def summary_page(table: pd.DataFrame, chances: pd.DataFrame, spec: AreaTables) -> str:
    displayed = table[["level", "table", *WORDS]].rename(columns=WORDS)
    numbers = chances.rename(columns=CHANCES)
    for name in list(CHANCES.values())[:3]:
        numbers[name] = numbers[name].map(lambda value: f"{value:.3f}")
    parts = ["## What each count can be", _table(displayed), "## How likely each count is", _table(numbers)]
    return document("Rounded counts of areas", f"{spec.title} ({spec.source})", [*parts, bullets(NOTES)])


def _table(frame: pd.DataFrame) -> str:
    named = frame.assign(table=frame["table"].str.replace("_", " "))
    return markdown_table(list(named), named.to_numpy().tolist(), left=2)
