"""Table 1 beside the paper's, how the simulated properties compare, and the numbers of the text (sections 3.2 and 4.2)."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from genverify.model.errors import DataError
from genverify.report.pages import cell, document, markdown_table, statements_table, statements_text
from studies.housing.evaluate import SUBSIDY, in_violation, summarise_blocks, with_key
from studies.housing.households import (
    HouseholdFile,
    PropertyModel,
    block_sizes,
    choose_blocks,
    property_households,
    read_states,
    with_properties,
)
from studies.housing.settings import Condition

# How the simulated properties compare with the numbers that the paper gives of its own.


def simulation_table(
    ours: Mapping[str, float], again: Sequence[Mapping[str, float]], paper: Mapping[str, float], label: str
) -> pd.DataFrame:
    """One row per number: ours, the paper's and the difference; its mean and standard deviation over other draws."""
    frame = pd.DataFrame({"measure": list(ours), "ours": list(ours.values())})
    frame["paper"] = frame["measure"].map(dict(paper)).astype(float)
    others = pd.DataFrame(again, columns=list(ours)).astype(float)
    mean, deviation = others.mean().round(2).to_numpy(), others.std().round(2).to_numpy()
    frame = frame.assign(difference=(frame["ours"] - frame["paper"]).round(2), draws_mean=mean, draws_deviation=deviation)
    return frame.assign(draws=len(again), data=label)


def draw_again(
    path: Path, model: PropertyModel, occupancy: Mapping[int, int], blocks: int, seeds: Iterable[int]
) -> list[dict[str, float]]:
    """The same numbers of other properties in the same country, one draw per seed (a state in memory at a time): chance."""
    sizes = pd.concat([block_sizes(frame) for frame in read_states(path)], ignore_index=True)
    chosen = [(choose_blocks(sizes, blocks, model, seed), seed) for seed in seeds]
    union = {block for wanted, _ in chosen for block in wanted}
    kept = [frame[frame["block"].isin(union)] for frame in read_states(path)]

    def states(wanted: Mapping[str, int], seed: int) -> Iterator[pd.DataFrame]:
        return (with_properties(frame, wanted, model, seed) for frame in kept if len(frame))

    return [measures(states(*draw), occupancy) for draw in chosen]


def measures(states: Iterable[pd.DataFrame], occupancy: Mapping[int, int]) -> dict[str, float]:
    """What the paper says of its simulation, of the households of all states."""
    found: Counter[str] = Counter()
    for households in map(property_households, states):
        subsidized = households[households["BEDROOMS"] > 0]
        limit = subsidized["BEDROOMS"].astype(int).map(dict(occupancy)).fillna(np.inf)
        against = subsidized[subsidized["SIZE"] > limit]
        found.update(blocks=households["block"].nunique(), households=len(households), subsidized_households=len(subsidized))
        found.update(violations=len(against), blocks_with_violation=against["block"].nunique())
    shares = {"subsidized_per_block": _ratio(found["subsidized_households"], found["blocks"])}
    shares["subsidized_percent"] = _ratio(100 * found["subsidized_households"], found["households"])
    shares["violation_percent"] = _ratio(100 * found["violations"], found["subsidized_households"])
    shares["blocks_with_violation_percent"] = _ratio(100 * found["blocks_with_violation"], found["blocks"])
    return {**found, **shares}


def _ratio(count: int, of: int) -> float:
    return round(count / of, 2) if of else 0.0


# Table 1 beside the paper's, and every condition of the study: what was flagged, what is true, and what chance gives.

Frames = Mapping[str, pd.DataFrame]  # by condition
CONDITIONS = {"none": "none_all", "swapping": "swapping_all", "dp": "dp_all"}
"""The columns of Table 1, and their conditions: all blocks, of which only some are reconstructed elsewhere."""
COUNTS = ("blocks_with_violation", "putative_blocks")
RATES = ("block_precision", "block_recall")
WORDS = {
    "blocks_with_violation": "Blocks with a violation or more",
    "putative_blocks": "Putative blocks with a violation or more",
    "block_precision": "Block-level precision",
    "block_recall": "Block-level recall",
}
CONFIGURATIONS = {"distinct": "distinct configurations", "once": "distinct configurations, recall over households"}
HOW = (
    "Counts, with their share of blocks. Precision: flagged blocks that hold a violation. Recall: blocks with a violation, "
    "flagged. The first row is the precision of chance, the second its recall. The paper's are 10,224 other blocks."
)


def block_table(judged: Mapping[str, pd.DataFrame], paper: Mapping[str, Mapping[str, float]], label: str) -> pd.DataFrame:
    """Table 1: counts of blocks, precision and recall, ours and the paper's; then the blocks and the counts' shares."""
    missing = [name for name in CONDITIONS.values() if name not in judged]
    if missing:
        where = "housing.conditions in config/housing.yaml"
        raise DataError(f"Table 1 needs the condition {missing[0]!r}: name it under {where}")
    columns = {name: _rows(summarise_blocks(judged[condition])) for name, condition in CONDITIONS.items()}
    columns |= {f"paper_{name}": _rows(paper[name]) for name in CONDITIONS}
    measures = list(columns["none"])
    values = {name: pd.Series([rows[measure] for measure in measures], dtype=object) for name, rows in columns.items()}
    return pd.DataFrame({"measure": measures, **values, "data": label})


def _rows(values: Mapping[str, float]) -> dict[str, float]:
    rows = {name: values[name] for name in COUNTS} | {name: round(values[name], 4) for name in RATES}
    shares = {f"{name}_share": round(values[name] / values["blocks"], 4) for name in COUNTS}
    return rows | {"blocks": values["blocks"], **shares}


def block_text(table: pd.DataFrame, label: str) -> str:
    """Table 1 as Markdown, counts with their shares as the paper prints them."""
    values = table.set_index("measure")
    columns = [name for name in table.columns if name not in ("measure", "data")]
    rows = [[WORDS[measure], *(_shown(values, measure, column) for column in columns)] for measure in WORDS]
    header = ["", *(name.replace("paper_", "paper: ") for name in columns)]
    return document("Subsidized housing, Table 1", label, [HOW, markdown_table(header, rows)])


def _shown(values: pd.DataFrame, measure: str, column: str) -> str:
    if measure in RATES:
        return _percent(values.loc[measure, column])
    return f"{cell(values.loc[measure, column])} ({_percent(values.loc[f'{measure}_share', column])})"


def _percent(share: Any) -> str:
    return "" if np.isnan(share) else f"{100 * share:.1f} %"


def condition_table(
    judged: Frames, curves: Frames, totals: Frames, conditions: Mapping[str, Condition], label: str
) -> pd.DataFrame:
    """A row per condition: protection, reading, blocks flagged, chance, and what each key finds if reconstructed."""
    rows = []
    for name, settings in conditions.items():
        row = {"condition": name, **dict(settings), **summarise_blocks(judged[name])}
        found = int((judged[name]["found"] > 0).sum()) if name in curves else 0
        # violations that the bounds of the flagged blocks add up to
        proved = int(judged[name].loc[judged[name]["flagged"], "least_violations"].sum())
        row |= {"reconstructed": found, "proved_violations": proved}
        rows.append(row | (_households(curves[name], totals[name]) if name in curves else {}))
    return pd.DataFrame(rows).round(4).assign(data=label)


def _households(curves: pd.DataFrame, totals: pd.DataFrame) -> dict[str, float]:
    """With all putative violations joined: how many, the true ones, precision, recall, and the precision of chance."""
    found: dict[str, float] = {}
    for row in totals.to_dict("records"):
        stem = f"{row['key']}_{row['scope']}"
        last = final(curves, row["key"], row["scope"])
        found |= {f"{stem}_{name}": last[name] for name in ("putative", "true", "precision", "recall")}
        found[f"{stem}_chance"] = _share(row["true"], row["households"])
        found[f"{stem}_chance_flagged"] = _share(row["flagged_violations"], row["flagged_households"])
    return found


def final(curves: pd.DataFrame, key: str, scope: str) -> dict[str, float]:
    """The end of a curve, k = |V-hat|: all putative violations are included."""
    own = curves[(curves["key"] == key) & (curves["scope"] == scope)]
    empty = {"putative": 0, "true": 0, "precision": float("nan"), "recall": 0.0}
    return {name: own[name].iloc[-1] for name in empty} if len(own) else empty


def _share(part: float, whole: float) -> float:
    return part / whole if whole else float("nan")


def condition_text(table: pd.DataFrame, label: str) -> str:
    """The conditions as Markdown: a table of blocks, and one of households for each match key."""
    blocks = ["condition", "reading", "blocks", "putative_blocks", "block_precision", "chance_precision", "block_recall"]
    blocks += ["chance_recall", "contradictions", "undecided", "suppressed", "reconstructed", "proved_violations"]
    parts = [HOW, markdown_table(blocks, table[blocks].to_numpy(dtype=object), left=2)]
    stems = [name.removesuffix("_putative") for name in table.columns if name.endswith("_putative")]
    measures = ("putative", "true", "precision", "chance", "chance_flagged", "recall")
    for stem in stems:
        own = table[table[f"{stem}_putative"].notna()]
        rows = own[["condition", *(f"{stem}_{name}" for name in measures)]].to_numpy(dtype=object)
        key, _, scope = stem.rpartition("_")
        what = CONFIGURATIONS.get(scope, f"{scope} households")
        parts += [f"## Key {key}, {what}", markdown_table(["condition", *measures], rows)]
    return document("Subsidized housing, all conditions", label, parts)


NAN = float("nan")
NEAR = 0.05  # share of the records that may differ, below which a block counts as nearly known
UNPROTECTED = "none"
OTHER_DATA = "the paper's are public data, ours {label}"
Part = tuple[float, float]


@dataclass(frozen=True)
class Evidence:
    """What the numbers are computed from; verdicts, curves and totals by condition; variability with no protection."""

    judged: Mapping[str, pd.DataFrame]
    curves: Mapping[str, pd.DataFrame]
    totals: Mapping[str, pd.DataFrame]
    variability: pd.DataFrame
    households: pd.DataFrame
    file: HouseholdFile
    simple: Sequence[str]

    @cached_property
    def private(self) -> pd.DataFrame:
        """Per private household: subsidized, in violation, and unique in its block in the simple attributes."""
        seen = with_key(self.households, self.simple, self.file)
        unique = seen.groupby(["block", *self.simple])["block"].transform("size") == 1
        violates = in_violation(self.households, self.file)
        flags = {"any": True, "subsidized": self.households[SUBSIDY] > 0, "violates": violates, "unique": unique}
        return pd.DataFrame({"block": self.households["block"], **flags})

    def shares(self, attributes: str) -> pd.DataFrame:
        """The variability of the blocks for which it is exact."""
        own = self.variability[self.variability["attributes"] == attributes]
        return own[own["exact"].astype(bool)]

    def blocks_of(self, attributes: str, near: bool) -> set[str]:
        """Blocks with zero variability, or (near) with some, but less than 5 %."""
        own = self.shares(attributes)
        chosen = (own["solvar"] > 0) & (own["share"] < NEAR) if near else own["solvar"] == 0
        return set(own.loc[chosen, "block"])


def blocks(evidence: Evidence, condition: str, part: str, of: str) -> Part:
    found = summarise_blocks(evidence.judged[condition])
    return found[part], found[of]


def subsidized(evidence: Evidence, condition: str) -> Part:
    return float(evidence.private["subsidized"].sum()), len(evidence.private)


def violations(evidence: Evidence, condition: str) -> Part:
    return float(evidence.private["violates"].sum()), float(evidence.private["subsidized"].sum())


def flagged_below(evidence: Evidence, condition: str, n_s: int) -> Part:
    flagged = evidence.judged[condition][evidence.judged[condition]["flagged"]]
    return float((flagged["n_s"] < n_s).sum()), len(flagged)


def false_flags(evidence: Evidence, condition: str) -> Part:
    found = summarise_blocks(evidence.judged[condition])
    return found["putative_blocks"] - found["true_putative_blocks"], found["putative_blocks"]


def all_may_differ(evidence: Evidence, condition: str) -> Part:
    own = evidence.variability[evidence.variability["attributes"] == "all"]
    return float((own["share"] >= 1).sum()), len(own)


def certain_blocks(evidence: Evidence, condition: str, attributes: str, near: bool) -> Part:
    return len(evidence.blocks_of(attributes, near)), evidence.variability["block"].nunique()


def certain_households(evidence: Evidence, condition: str, attributes: str, near: bool, part: str, of: str = "any") -> Part:
    """Households of these blocks that are all that `part` says, among those of `of`, counted in the private blocks."""
    own = evidence.private[evidence.private["block"].isin(evidence.blocks_of(attributes, near))]
    chosen, whole = (own[text.split()].all(axis=1) for text in (f"{part} {of}", of))
    return float(chosen.sum()), float(whole.sum())


def rest_flagged(evidence: Evidence, condition: str, after: bool) -> Part:
    """Of the blocks that some dataset still fits under the condition: those flagged under it, or with no protection."""
    judged = evidence.judged[condition]
    rest = judged.loc[judged["verdict"] != "contradiction", "block"]
    own = evidence.judged[condition if after else UNPROTECTED]
    return float(own.loc[own["block"].isin(rest), "flagged"].sum()), len(rest)


def end_of_curve(evidence: Evidence, condition: str, key: str, scope: str, measure: str, source: str | None = None) -> Part:
    """Precision (true over putative) or recall (true over all violations) with all putative violations joined."""
    last = final(evidence.curves[source or condition], key, scope)
    whole = last["putative"] if measure == "precision" else _total(evidence, condition, key, scope)["violations"]
    return last["true"], whole


def identified(evidence: Evidence, condition: str, key: str, part: str) -> Part:
    """Unique households of a key among all that it identifies, or violations among the unique ones."""
    unique = _total(evidence, condition, key, "unique")
    whole = _total(evidence, condition, key, "all")["households"] if part == "households" else unique["households"]
    return unique[part], whole


def _total(evidence: Evidence, condition: str, key: str, scope: str) -> dict[str, float]:
    rows = evidence.totals[condition]
    found = rows[(rows["key"] == key) & (rows["scope"] == scope)]
    return {name: found[name].iloc[0] if len(found) else NAN for name in ("households", "violations")}


COMPUTED: dict[str, Callable[..., Part]] = {
    function.__name__: function
    for function in (
        blocks, subsidized, violations, flagged_below, false_flags, all_may_differ, certain_blocks, certain_households,
        rest_flagged, end_of_curve, identified,
    )
}  # fmt: skip
"""What data/housing/numbers.yaml may name, with arguments."""


def numbers_table(
    evidence: Evidence, statements: Mapping[str, Mapping[str, Any]], computed: Mapping[str, Mapping[str, Any]], label: str
) -> pd.DataFrame:
    """
    Every number of the text, once as a count and once as a share where it is both, with ours and the difference. `computed`
    (data/housing/numbers.yaml) names the function of each, with its arguments.
    """

    def rows(key: str, entry: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        for condition, (name, arguments) in product(entry["conditions"], computed[key].items()):
            ours = COMPUTED[name](evidence, condition, **arguments) if condition in evidence.judged else (NAN, NAN)
            yield from ({"condition": condition, **row} for row in _statement_rows(entry, ours, label))

    return statements_table(statements, computed, rows, label)


def _statement_rows(entry: Mapping[str, Any], ours: Part, label: str) -> Iterator[dict[str, Any]]:
    """A count, a share, or both: the paper's, ours, and ours less the paper's."""
    note = [OTHER_DATA.format(label=label)] if entry["on"] == "public" else []
    note += [f"the paper says: {entry['words']}"] if "words" in entry else []
    note += [entry["remark"]] if "remark" in entry else []
    if "count" in entry:
        yield _row("count", entry["count"], ours[0], note)
    if "share" in entry or "of" in entry or "words" in entry:
        share = ours[0] / ours[1] if ours[1] else NAN
        printed = entry.get("share", entry["count"] / entry["of"] if entry.get("of") else NAN)
        yield _row("share", round(printed, 4), round(share, 4), note)


def _row(unit: str, paper: float, ours: float, note: list[str]) -> dict[str, Any]:
    missing = ["this study has no such blocks, households or condition"] if np.isnan(ours) else []
    said = {"difference": round(ours - paper, 4), "note": "; ".join([*note, *missing])}
    return {"unit": unit, "paper": paper, "ours": ours, **said}


def numbers_text(table: pd.DataFrame, label: str) -> str:
    lead = (
        "Counts are about different numbers of blocks: compare the shares. Precision and recall are those with all putative "
        "violations joined, k = |V-hat|, where the paper's text reads its curves. Blocks count as reconstructed for certain "
        "only where their solution variability is exact."
    )
    shown = ["where", "statement", "condition", "unit", "paper", "ours", "difference", "note"]
    return statements_text("Subsidized housing, numbers of the text", lead, table, shown, label)
