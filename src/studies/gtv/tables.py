"""Tables 4, 5 and 7: households represented among verified claims, beside the paper's numbers."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from genverify.attack.truth import Weights, block_weights, ratio_interval, total_interval
from genverify.core.errors import DataError
from genverify.show.markdown import bullets, cell, document, markdown_table

PAPER_K = (6, 7, 8, 9, 10)
FIGURES = ["ours", "low", "high", "paper", "difference"]
GROUPED = {"k": "k columns", "effective_k": "effective k: so many columns force the others"}
REMARK = (
    "low and high: 95 % interval, 2,000 bootstrap samples of the blocks of each design. A household counts once per column "
    "of the table, however many claims represent it (footnote 6); one that claims of several k represent counts under each. "
    "The paper's numbers are of the Privacy-Protected Microdata File: agreement with other data is no replication."
)


def pivot(counts: pd.DataFrame, claims: str, grouping: str) -> pd.DataFrame:
    """Households by block (rows) and number of columns; for k the paper's 6 to 10, for effective k all."""
    chosen = counts[(counts["claims"] == claims) & (counts["grouping"] == grouping)]
    if grouping == "k":
        chosen = chosen[chosen["columns"].isin(PAPER_K)]
    return chosen.pivot(index=["block", "n_households"], columns="columns", values="households").sort_index()


def households_table(counts: pd.DataFrame, claims: str, paper: Mapping[str, Any], seed: int, label: str) -> pd.DataFrame:
    """Table 4 (claims: singleton) or 7 (all): one row per grouping, design, total or average, and number of columns."""
    rows = [
        row
        for grouping in GROUPED
        for design in sorted(counts["design"].unique(), reverse=True)
        for row in _design_rows(counts[counts["design"] == design], design, claims, grouping, paper["designs"], seed)
    ]
    names = ["grouping", "design", "statistic", "columns", *FIGURES]
    return pd.DataFrame(rows, columns=names).assign(claims=claims, data=label)


def _design_rows(
    counts: pd.DataFrame, design: str, claims: str, grouping: str, paper: Mapping[str, Any], seed: int
) -> Iterator[tuple[Any, ...]]:
    table = pivot(counts, claims, grouping)
    households = table.index.get_level_values("n_households").to_numpy()
    values = np.column_stack([households, table.to_numpy()])
    low, high = total_interval(values, block_weights([design] * len(table), seed))
    heads = ["households", *map(int, table.columns)]
    for statistic, divisor, digits in (("total", 1, 1), ("average", len(table), 3)):
        printed = _printed(paper.get(design, {}), statistic, grouping)
        for place, head in enumerate(heads):
            ours = [float(part[place]) / divisor for part in (values.sum(axis=0), low, high)]
            yield grouping, design, statistic, head, *figures(ours, printed.get(head, np.nan), digits)


def _printed(paper: Mapping[str, Any], statistic: str, grouping: str) -> dict[Any, float]:
    if not paper:
        return {}
    by_k = paper[statistic] if grouping == "k" else {}
    return {"households": paper["households"][statistic], **by_k}


def figures(ours: Sequence[float], paper: float, digits: int) -> tuple[float, ...]:
    """Ours with its interval, the paper's number and the difference, rounded."""
    value, low, high = (round(float(number), digits) for number in ours)
    return value, low, high, float(paper), round(value - float(paper), digits)


def households_text(table: pd.DataFrame, title: str, slips: Sequence[str], label: str) -> str:
    """Table 4 or 7 in the paper's layout: design and statistic down, columns across."""
    parts = []
    for grouping, name in GROUPED.items():
        parts += [f"## By {name}", _wide(table[table["grouping"] == grouping], ["design", "statistic"])]
    return document(title, label, [*parts, bullets([REMARK, *slips])])


def _wide(table: pd.DataFrame, keys: list[str]) -> str:
    """Four lines per key (ours, interval, paper, difference), one column per number of columns; empty ends are cut."""
    heads = list(dict.fromkeys(table["columns"]))
    some = set(table.loc[table["high"] > 0, "columns"])
    while len(heads) > len(PAPER_K) + 1 and heads[-1] not in some:
        heads.pop()
    lines = []
    for key, rows in table.groupby(keys, sort=False):
        found = rows.set_index("columns").loc[heads]
        name = ", ".join(str(part).replace("_", " ") for part in key)
        lines.append([f"**{name}**", *found["ours"]])
        lines.append(["95 % interval", *map(_span, found["low"], found["high"])])
        if found["paper"].notna().sum() > 1:
            lines += [["the paper's number", *found["paper"]], ["difference", *found["difference"]]]
    return markdown_table(["", *(head if isinstance(head, str) else f"{head}" for head in heads)], lines)


def _span(low: float, high: float) -> str:
    return f"{cell(low)} to {cell(high)}"


def ablation_table(
    counts: Mapping[str, pd.DataFrame], answers: Mapping[str, pd.DataFrame], paper: Mapping[str, Any], seed: int, label: str
) -> pd.DataFrame:
    """Table 5: per variant the share of queries removed and the households singled out; the paper's variants first."""
    design, printed = paper["design"], paper["variants"]
    order = [*printed, *(name for name in counts if name not in printed)]
    rows = [
        row
        for grouping in GROUPED
        for variant in order
        if variant in counts
        for row in _variant_rows(
            counts[variant], answers[variant], design, grouping, printed.get(variant, {}), seed, variant
        )
    ]
    table = pd.DataFrame(rows, columns=["grouping", "variant", "columns", *FIGURES])
    table.insert(2, "queries", [printed.get(variant, {}).get("queries", "") for variant in table["variant"]])
    return table.assign(in_paper=table["variant"].isin(list(printed)), design=design, data=label)


def _variant_rows(
    counts: pd.DataFrame,
    answers: pd.DataFrame,
    design: str,
    grouping: str,
    paper: Mapping[str, Any],
    seed: int,
    variant: str,
) -> Iterator[tuple[Any, ...]]:
    own = counts[counts["design"] == design]
    if own.empty:
        raise DataError(f"variant {variant}: no block of design {design}, which Table 5 is about; add it to sample.designs.")
    table = pivot(own, "singleton", grouping)
    weights = block_weights([design] * len(table), seed)
    removed = removed_share(answers.set_index("block").loc[table.index.get_level_values("block")], weights)
    yield grouping, variant, "removed_percent", *figures(removed, paper.get("removed", np.nan), 2)
    low, high = total_interval(table.to_numpy(), weights)
    by_k = paper.get("total", {}) if grouping == "k" else {}
    for place, head in enumerate(map(int, table.columns)):
        ours = (float(table.iloc[:, place].sum()), float(low[place]), float(high[place]))
        yield grouping, variant, head, *figures(ours, by_k.get(head, np.nan), 1)


def removed_share(answers: pd.DataFrame, weights: Weights) -> list[float]:
    """The percentage of queries that are not published, with its interval."""
    missing = (answers["queries"] - answers["published"]).to_numpy()[:, None]
    whole = answers["queries"].to_numpy()[:, None]
    low, high = ratio_interval(missing, whole, weights)
    return [100 * float(share) for share in (missing.sum() / whole.sum(), low[0], high[0])]


def ablation_text(table: pd.DataFrame, missing: Sequence[str], label: str) -> str:
    """Table 5 in the paper's layout, with the variants that the paper does not have in a table of their own below."""
    parts = []
    for grouping, name in GROUPED.items():
        parts.append(f"## By {name}")
        for in_paper, head in ((True, ""), (False, "Beyond the paper:")):
            rows = table[(table["grouping"] == grouping) & (table["in_paper"] == in_paper)]
            parts += [head] * bool(head and len(rows)) + ([_wide(rows, ["variant"])] if len(rows) else [])
    notes = [REMARK, "removed_percent: queries whose answers are not published, as a percentage of all."]
    notes += [f"variant {name} of the paper is not among the variants of this study." for name in missing]
    title = "Table 5. Households represented among the verified singleton claims, by published queries"
    return document(f"{title} ({table['design'].iloc[0].replace('_', '-')} blocks)", label, [*parts, bullets(notes)])
