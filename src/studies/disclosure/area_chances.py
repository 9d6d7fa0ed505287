"""Rounded counts of areas: how likely each count is, given its table, and what came out over all areas."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from math import log2

import numpy as np
import pandas as pd

from genverify.model.arrays import Floats
from genverify.report.pages import bullets, document, markdown_table
from studies.disclosure.area_tables import AreaTables, Printed

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
