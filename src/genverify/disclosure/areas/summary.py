"""What came out over all areas: never one of them."""

import pandas as pd

from genverify.disclosure.areas.spec import AreaTables
from genverify.show.markdown import bullets, document, markdown_table


def summary_frame(rows: pd.DataFrame) -> pd.DataFrame:
    """By level and table, and in all: counts, narrower and pinned ones, suppressed ones that follow, contradictions."""
    named = rows.assign(table=rows["cell"].str.partition("/")[0])
    groups = [
        *named.groupby(["level", "table"], sort=True),
        *(((level, "all tables"), own) for level, own in named.groupby("level")),
    ]
    return pd.DataFrame([{"level": level, "table": table, **_counts(own)} for (level, table), own in groups])


def _counts(rows: pd.DataFrame) -> dict[str, int]:
    fits = rows[rows["contradicts"] != "area"]
    shown, hidden = fits[fits["printed"].notna()], fits[fits["printed"].isna()]
    width, rule, alone = (shown[f"{name}hi"] - shown[f"{name}lo"] for name in ("", "rule_", "alone_"))
    open_ = hidden["rule_hi"] - hidden["rule_lo"]
    return {
        "counts": len(shown), "narrower": int((width < rule).sum()), "narrower_by_table_alone": int((alone < rule).sum()),
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
    """The page: ranges, then chances."""
    shown = table[["level", "table", *WORDS]].rename(columns=WORDS)
    numbers = chances.rename(columns=CHANCES)
    for name in list(CHANCES.values())[:3]:
        numbers[name] = numbers[name].map(lambda value: f"{value:.3f}")
    parts = ["## What each count can be", _table(shown), "## How likely each count is", _table(numbers)]
    return document("Rounded counts of areas", f"{spec.title} ({spec.source})", [*parts, bullets(NOTES)])


def _table(frame: pd.DataFrame) -> str:
    named = frame.assign(table=frame["table"].str.replace("_", " "))
    return markdown_table(list(named), named.to_numpy().tolist(), left=2)
