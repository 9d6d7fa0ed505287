"""Tables 1 to 7 beside the paper's, the households that claims represent, calibration, and what the proofs are like."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from statistics import median_low
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from genverify.attack.evaluate import (
    Evaluation,
    Weights,
    check_evaluation,
    evaluate,
    ratio_interval,
    total_interval,
)
from genverify.attack.explain import Phrases
from genverify.attack.verify import WITHOUT_PROOF
from genverify.checker.certificate import leaves
from genverify.checker.stored import CheckedBlock
from genverify.model.arrays import Flags
from genverify.model.claims import ANY
from genverify.model.domain import Domain, Predicate
from genverify.model.errors import DataError
from genverify.model.release import Release, Schema
from genverify.model.tabulate import tabulate_counts
from genverify.report.pages import bullets, cell, document, markdown_table
from studies.country.store import GEOGRAPHY, read_microdata

# How microdata compare with the national figures, and with the answers that the paper saw on blocks of ten households.

PAPER_BLOCK = 10  # households: the size of block that Table 5 of the paper describes
PAPER_ANSWERS = {0: 90.88, 1: 3.40}


def calibration(
    microdata: Path, sizes: pd.DataFrame, schema: Schema, keeps: Predicate, targets: Mapping[str, Any]
) -> pd.DataFrame:
    """One row per figure: what it is, in these data, and the national figure or the paper's."""
    rows = [*_answers(microdata, sizes, schema, keeps), *_sizes(sizes), *_marginals(microdata, schema, keeps, targets)]
    frame = pd.DataFrame(rows, columns=["figure", "here", "reference", "source"])
    return frame.assign(difference=(frame["here"] - frame["reference"]).round(2))


def _answers(microdata: Path, sizes: pd.DataFrame, schema: Schema, keeps: Predicate) -> Iterator[tuple[Any, ...]]:
    blocks = set(sizes.loc[sizes["n"] == PAPER_BLOCK, "block"])
    if not blocks:
        return
    _, _, counts = tabulate_counts(read_microdata(microdata, blocks=blocks), keeps, schema)
    for answer, percent in PAPER_ANSWERS.items():
        here = round(100 * float((counts == answer).mean()), 2)
        yield f"% of answers that are {answer}, blocks of {PAPER_BLOCK} ({len(blocks)})", here, percent, "paper, Table 5"


def _sizes(sizes: pd.DataFrame) -> Iterator[tuple[Any, ...]]:
    medians = sizes.groupby("state")["n"].apply(median_low)
    yield "smallest state median block size", float(medians.min()), 2.0, "paper, Figure 2"
    yield "largest state median block size", float(medians.max()), 20.0, "paper, Figure 2"
    yield "national median block size", float(median_low(sizes["n"])), 10.0, "paper, section 3.1.1"
    yield "households", float(sizes["n"].sum()), float("nan"), ""
    yield "inhabited blocks", float(len(sizes)), float("nan"), ""


def _marginals(microdata: Path, schema: Schema, keeps: Predicate, targets: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    wanted = [(name, Predicate.of({c: v for c, v in line.items() if c != "percent"}), float(line["percent"]))
              for name, lines in targets.items() for line in lines]  # fmt: skip
    result: npt.NDArray[np.int64] = np.zeros(len(wanted) + 1, dtype=np.int64)
    for path in sorted(microdata.glob("*.parquet")):
        records = read_microdata(microdata, columns=list(schema.domain.names), states=[path.stem]).to_pandas()
        rest = records[keeps.matches(dict(records.items()))]
        columns = dict(rest.items())
        result += [len(rest), *(int(predicate.matches(columns).sum()) for _, predicate, _ in wanted)]
    for (name, predicate, percent), count in zip(wanted, result[1:], strict=True):
        yield f"{name}: % with {predicate}", round(100 * float(count / result[0]), 2), percent, "2010 Census, approximate"


# Table 6: which combinations of columns make up the verified singleton claims.

TOP = 5  # rows: the combinations with most claims
NOTES = (
    "Claims of both designs together; a block of both designs counts twice, as among the paper's 500 blocks.",
    "low and high: 95 % interval, 2,000 bootstrap samples of the blocks of each design, for this combination.",
    "The paper's percentage is that of the same rank, not of the same combination, unless `paper says` names what it omits.",
    "Only what the paper's words say for certain is compared: the tick marks of its Table 6 cannot all be read.",
)


def column_table(
    claims: pd.DataFrame, sample: pd.DataFrame, names: Sequence[str], paper: Mapping[int, Any], seed: int, label: str
) -> pd.DataFrame:
    """The most common combinations of k columns, with marks per column, percentages and what the paper says of the rank."""
    singles = claims[claims["m"] == 1]
    blocks = pd.MultiIndex.from_frame(sample[["design", "block"]])
    weights = Weights(list(sample["design"]), seed)
    rows = []
    for k in sorted(singles["k"].unique(), reverse=True):
        part = singles[singles["k"] == k]
        printed = paper.get(int(k), [])
        for rank, row in enumerate(_top(part, blocks, weights, names)):
            rows.append(
                {"k": int(k), "rank": rank + 1, **row, **_compare(row, printed[rank] if rank < len(printed) else {}, names)}
            )
    return pd.DataFrame(rows).assign(data=label)


def _top(claims: pd.DataFrame, blocks: pd.MultiIndex, weights: Weights, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    sets, which = np.unique(~claims[list(names)].notna().to_numpy(), axis=0, return_inverse=True)
    counts = np.bincount(which, minlength=len(sets))
    chosen = np.argsort(-counts, kind="stable")[:TOP]
    index = blocks.get_indexer(pd.MultiIndex.from_frame(claims[["design", "block"]]))
    tally = np.zeros((len(blocks), len(sets)), dtype=np.int64)
    np.add.at(tally, (index, which), 1)
    low, high = ratio_interval(tally[:, chosen], tally.sum(axis=1, keepdims=True).repeat(len(chosen), axis=1), weights)
    for rank, one in enumerate(chosen):
        ticks = {name: "" if left_out else "✓" for name, left_out in zip(names, sets[one], strict=True)}
        shares = (counts[one] / len(claims), low[rank], high[rank])
        yield ticks | dict(zip(("percent", "low", "high"), (round(100 * float(x), 2) for x in shares), strict=True))


def _compare(row: Mapping[str, Any], printed: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    percent = printed.get("percent", np.nan)
    result = {"omits": " ".join(name for name in names if not row[name]), "paper_percent": percent,
             "difference": round(row["percent"] - percent, 2)}  # fmt: skip
    if "omits" not in printed:
        return result | {"paper_says": "", "agrees": ""}
    omitted = [name for name in printed["omits"] if name in names]
    agrees = "yes" if all(not row[name] for name in omitted) else "no"
    return result | {"paper_says": "omits " + (" and ".join(omitted) or "none"), "agrees": agrees}


def column_text(table: pd.DataFrame, names: Sequence[str], label: str) -> str:
    displayed = ["k", *names, "percent", "low", "high", "paper_percent", "difference", "paper_says", "agrees"]
    header = [name.replace("_", " ") for name in displayed]
    title = "Table 6. The most common combinations of columns among the verified singleton claims"
    return document(title, label, [markdown_table(header, table[displayed].to_numpy()), bullets(NOTES)])


def omission_shares(claims: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """The share of claims that leave each column out (columns), by k (rows)."""
    return claims[list(names)].isna().groupby(claims["k"].to_numpy()).mean()


# Table 1: verified singleton claims in plain English.

EXAMPLES = 8  # rows of the table: one page
LEAST_K = 8  # columns that an example names at least
STATE = GEOGRAPHY["state"]


def require_synthetic(manifest: Path, what: str) -> None:
    """An error unless the microdata are synthetic: claims about single households of real data are not printed."""
    source = json.loads(manifest.read_text())["source"]
    if source != "synthetic":
        raise DataError(
            f"{manifest}: the microdata come from {source!r}. {what} describes single households, so it is made from "
            "synthetic microdata only: set microdata.source to synthetic in config.yaml, or leave it out."
        )


def choose_examples(claims: pd.DataFrame, vary: tuple[str, ...]) -> pd.DataFrame:
    """
    Singleton claims of many columns that differ from each other, one per state, by a fixed rule.

    One after the other, the claim is taken whose k, effective k and codes were taken least often; an open column counts
    as taken once. Of equals: the larger effective k, then the larger k, then the order of the file.
    """
    known = ["k", "effective_k", *vary]
    left = claims[(claims["m"] == 1) & (claims["k"] >= LEAST_K)].drop_duplicates(["block", *_codes(claims)])
    left = left.sort_values(["effective_k", "k"], ascending=False, kind="stable")
    taken = {name: Counter({ANY: 1}) for name in known}
    chosen: list[int] = []
    while len(chosen) < EXAMPLES and len(left):
        values = left[known].fillna(ANY).astype(int)
        scores = sum((values[name].map(taken[name]) for name in known), start=pd.Series(0, index=left.index))
        index = int(scores.argmin())
        chosen.append(int(left.index[index]))
        for name in known:
            taken[name][int(values[name].iloc[index])] += 1
        left = left[left["block"].str.slice(0, STATE) != left["block"].iloc[index][:STATE]]
    return claims.loc[chosen]


def _codes(claims: pd.DataFrame) -> list[str]:
    return [name for name in claims.columns if str(claims[name].dtype) == "Int16"]


def table1(chosen: pd.DataFrame, domain: Domain, phrases: Phrases, label: str) -> pd.DataFrame:
    """The chosen claims: where, what is known in words, k and effective k, and the statement of the block's proofs."""
    rows = []
    for _, claim in chosen.iterrows():
        known = {name: int(claim[name]) for name in domain.names if pd.notna(claim[name])}
        where = {name: claim["block"][:width] for name, width in GEOGRAPHY.items()}
        rows.append(where | {"k": claim["k"], "effective_k": claim["effective_k"], "claim": phrases.describe(known),
                             "unknown": " ".join(name for name in domain.names if name not in known),
                             "proof": claim["proof"]})  # fmt: skip
    columns = [*GEOGRAPHY, "k", "effective_k", "claim", "unknown", "proof"]
    return pd.DataFrame(rows, columns=columns).sort_values("block", ignore_index=True).assign(data=label)


def table1_text(table: pd.DataFrame, label: str) -> str:
    indices = table["block"].str.slice(11) + ", " + table["tract"].str.slice(5) + ", " + table["county"].str.slice(2)
    rows = zip(indices + ", " + table["state"], table["claim"], table["k"], table["effective_k"], strict=True)
    header = ["Block, tract, county, state (FIPS)", "Reconstructed information", "k", "effective k"]
    lead = (
        "Each line is true of exactly one household of its block, in every dataset that fits the published tables. The "
        "households are invented, and the numbers of blocks, tracts and counties name no real place."
    )
    return document("Table 1. Verified singleton claims (m = 1)", label, [lead, markdown_table(header, rows, left=2)])


# Tables 4, 5 and 7: households represented among verified claims, beside the paper's numbers.

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
    values = np.column_stack([table.index.get_level_values("n_households").to_numpy(), table.to_numpy()])
    low, high = total_interval(values, Weights([design] * len(table), seed))
    heads = ["households", *map(int, table.columns)]
    for statistic, divisor, digits in (("total", 1, 1), ("average", len(table), 3)):
        printed = _printed(paper.get(design, {}), statistic, grouping)
        for index, head in enumerate(heads):
            ours = [float(part[index]) / divisor for part in (values.sum(axis=0), low, high)]
            yield grouping, design, statistic, head, *figures(ours, printed.get(head, np.nan), digits)


def _printed(paper: Mapping[str, Any], statistic: str, grouping: str) -> dict[Any, float]:
    if not paper:
        return {}
    return {"households": paper["households"][statistic], **(paper[statistic] if grouping == "k" else {})}


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
    heads = list(dict.fromkeys(table["columns"]))
    some = set(table.loc[table["high"] > 0, "columns"])
    while len(heads) > len(PAPER_K) + 1 and heads[-1] not in some:
        heads.pop()
    lines = []
    for key, rows in table.groupby(keys, sort=False):
        result = rows.set_index("columns").loc[heads]
        name = ", ".join(str(part).replace("_", " ") for part in key)
        lines.append([f"**{name}**", *result["ours"]])
        lines.append(["95 % interval", *map(_span, result["low"], result["high"])])
        if result["paper"].notna().sum() > 1:
            lines += [["the paper's number", *result["paper"]], ["difference", *result["difference"]]]
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
    counts: pd.DataFrame, answers: pd.DataFrame, design: str, grouping: str, paper: Mapping[str, Any], seed: int,
    variant: str,
) -> Iterator[tuple[Any, ...]]:  # fmt: skip
    part = counts[counts["design"] == design]
    if part.empty:
        raise DataError(f"variant {variant}: no block of design {design}, which Table 5 is about; add it to sample.designs.")
    table = pivot(part, "singleton", grouping)
    weights = Weights([design] * len(table), seed)
    asked = answers.set_index("block").loc[table.index.get_level_values("block")]
    missing, whole = (column.to_numpy()[:, None] for column in (asked["queries"] - asked["published"], asked["queries"]))
    shares = (missing.sum() / whole.sum(), *(side[0] for side in ratio_interval(missing, whole, weights)))
    removed = [100 * float(share) for share in shares]
    yield grouping, variant, "removed_percent", *figures(removed, paper.get("removed", np.nan), 2)
    low, high = total_interval(table.to_numpy(), weights)
    by_k = paper.get("total", {}) if grouping == "k" else {}
    for index, head in enumerate(map(int, table.columns)):
        ours = (float(table.iloc[:, index].sum()), float(low[index]), float(high[index]))
        yield grouping, variant, head, *figures(ours, by_k.get(head, np.nan), 1)


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


# Two variants compared: the same blocks, so that the interval is one of the difference.

COMPARED = ["first", "second", "difference", "low", "high", "percent"]


def comparison_table(first: pd.DataFrame, second: pd.DataFrame, seed: int, label: str) -> pd.DataFrame:
    """Households that the claims of two variants represent, by design and number of columns, and the difference."""
    rows = []
    for claims, grouping, design in product(("singleton", "all"), GROUPED, sorted(first["design"].unique())):
        left, right = (pivot(counts[counts["design"] == design], claims, grouping) for counts in (first, second))
        if not left.index.equals(right.index):
            raise DataError(f"design {design}: the two variants are not about the same blocks; make both again")
        change = (right - left).to_numpy()
        low, high = total_interval(change, Weights([design] * len(change), seed))
        for index, columns in enumerate(map(int, left.columns)):
            before, after = int(left.iloc[:, index].sum()), int(right.iloc[:, index].sum())
            percent = round(100 * (after - before) / before, 2) if before else np.nan
            limits = round(float(low[index]), 1), round(float(high[index]), 1)
            rows.append((claims, grouping, design, columns, before, after, after - before, *limits, percent))
    return pd.DataFrame(rows, columns=["claims", "grouping", "design", "columns", *COMPARED]).assign(data=label)


def comparison_text(table: pd.DataFrame, first: str, second: str, label: str) -> str:
    parts = []
    for (claims, grouping), rows in table.groupby(["claims", "grouping"], sort=False):
        shown = rows[["design", "columns", *COMPARED]].to_numpy()
        parts.append(f"## {str(claims).capitalize()} claims, by {GROUPED[str(grouping)]}")
        parts.append(markdown_table(["design", "columns", first, second, *COMPARED[2:]], shown))
    notes = [
        f"difference: households of {second} less those of {first}; percent: of those of {first}.",
        "low and high: 95 % interval of the difference, 2,000 bootstrap samples of the blocks of each design.",
    ]
    title = f"Households represented among the verified claims: {first} and {second}"
    return document(title, label, [*parts, bullets(notes)])


# What the proofs of a study are like: how claims were decided, and how many cells a proof needs.


def proof_summary(blocks: pd.DataFrame, checked: Iterable[CheckedBlock]) -> pd.DataFrame:
    """One row per figure, over the distinct blocks of a study."""
    blocks = blocks.drop_duplicates("block")
    by_verdict = {name: int(blocks.filter(regex=rf"^{name}_k\d+$").to_numpy().sum()) for name in
                  ("candidates", "verified", "refuted", "undecided", "uncertified")}  # fmt: skip
    halves: Counter[tuple[int, int, int]] = Counter()
    proved = 0
    for block in checked:
        halves.update(_halves(block))
        proved += len(block.proofs["statements"])
    total = max(1, halves.total())
    unproved = {"verified claims without proof": int(blocks[WITHOUT_PROOF].sum())} if WITHOUT_PROOF in blocks else {}
    decided = int(blocks["decided_lp"].sum()), int(blocks["decided_ip"].sum())
    rows = {
        "blocks": len(blocks),
        **{f"{name} claims": count for name, count in by_verdict.items()},
        "verified claims with a checked proof": proved,
        **unproved,
        "% decided by a linear program or a dataset already seen": 100 * decided[0] / max(1, sum(decided)),
        "% decided by integer search": 100 * decided[1] / max(1, sum(decided)),
        "proofs (two halves each)": halves.total() // 2,
        "% of halves that branch": 100 * sum(n for (ends, _, _), n in halves.items() if ends > 1) / total,
        "mean number of positive cells in a half": sum(cells * n for (_, cells, _), n in halves.items()) / total,
        "% of halves with denominator 1": 100 * sum(n for (_, _, d), n in halves.items() if d == 1) / total,
    }
    return pd.DataFrame({"figure": list(rows), "value": [round(value, 3) for value in rows.values()]})


def _halves(block: CheckedBlock) -> Iterator[tuple[int, int, int]]:
    """Of each half of each proof: its leaves, the published cells with a count above 0 that it names, its denominator."""
    positive = {query.id for query, hi in zip(block.release.queries, block.release.hi, strict=True) if hi > 0}
    for proof in block.proofs["proofs"]:
        for half in (proof["lower"], proof["upper"]):
            ends = [leaf for leaf, _ in leaves(half)]  # a proof by the linear program alone is one leaf
            named = {cell for leaf in ends for cell in leaf["y"]} & positive
            yield len(ends), len(named), max(leaf.get("d", 1) for leaf in ends)


# Tables 2 and 3: what is published, in the paper's own form.

PAPER_TABLE3 = {1: 4, 2: 10, 3: 8, 4: 2}
QUERIES_REMARK = (
    "the paper counts 4 sets of one column; P21, H6 and H9 use one column alone here, and fall into sets that "
    "exist already if they are written with the clause TEN in 1..4"
)


def table2(release: Release, table: str, label: str) -> pd.DataFrame:
    """The published lines of one table for one block: number, condition, words and count."""
    rows = [(query, low) for query, low in zip(release.queries, release.lo, strict=True) if query.table == table]
    lines = [(number, query.id, str(query.predicate), query.label, n) for number, (query, n) in enumerate(rows, 1)]
    columns = ["query", "id", "condition", "words", "count"]
    return pd.DataFrame(lines, columns=columns).assign(block=release.block, data=label)


def table2_text(table: pd.DataFrame, label: str) -> str:
    displayed = table[["query", "id", "condition", "words", "count"]]
    title = f"Table 2. What one table publishes about block {table['block'].iloc[0]}" if len(table) else "Table 2"
    return document(title, label, [markdown_table(list(displayed), displayed.to_numpy().tolist(), left=4)])


def table3_text(table: pd.DataFrame, label: str) -> str:
    displayed = table[["k", "ours", "paper"]]
    title = "Table 3. Sets of k columns that the published tables cross"
    shown = markdown_table(list(displayed), displayed.to_numpy().tolist())
    return document(title, label, [shown, f"k = 1: {QUERIES_REMARK}."])


def table3(schema: Schema) -> pd.DataFrame:
    """The number of distinct sets of k columns among the published queries, ours and the paper's."""
    sets = Counter(len(columns) for columns in {query.predicate.columns for query in schema.queries})
    rows = [
        {"k": str(k), "ours": sets[k], "paper": PAPER_TABLE3.get(k, 0), "remark": QUERIES_REMARK if k == 1 else ""}
        for k in sorted(sets.keys() | PAPER_TABLE3.keys())
    ]
    total = {"k": "total", "ours": sum(sets.values()), "paper": sum(PAPER_TABLE3.values()), "remark": ""}
    return pd.DataFrame([*rows, total])


# The households that verified claims represent (footnote 6), and the answers that were published.

GROUPINGS = ("k", "effective_k")


def count_households(
    claims: pd.DataFrame, records: pd.DataFrame, household: Flags, sample: pd.DataFrame, columns: int
) -> pd.DataFrame:
    """
    The households that claims represent (footnote 6), by block and design, for claims grouped by k and by effective k.

    `household` marks the records that are households (a vacant unit is none). `sample` lists blocks and designs; a block
    without claims counts 0. Every claim is checked against the records on the way.
    """
    keys = pd.Index(["claims", "grouping", "columns"])
    rows = [row for part in evaluate(claims, records) for row in _block_rows(part, claims, records, household)]
    counted = pd.DataFrame(rows, columns=["block", "design", *keys, "households"])
    grid = pd.MultiIndex.from_tuples(
        [(s, g, v) for s in ("singleton", "all") for g in GROUPINGS for v in range(g == "k", columns + 1)], names=list(keys)
    )
    full = sample[["block", "design", "n_households"]].merge(grid.to_frame(index=False), how="cross")
    full = full.merge(counted, how="left", on=["block", "design", *keys])
    return full.assign(households=full["households"].fillna(0).astype("int32"))


def _block_rows(
    evaluation: Evaluation, claims: pd.DataFrame, records: pd.DataFrame, household: Flags
) -> Iterator[tuple[str, str, str, str, int, int]]:
    check_evaluation(evaluation, claims, records)
    part = replace(evaluation, flags=evaluation.flags & household[evaluation.records])
    of_block = claims.iloc[part.claims]
    for design in of_block["design"].unique():
        listed = (of_block["design"] == design).to_numpy()
        for kind, meant in (("singleton", part.single), ("all", part.m >= 1)):
            for grouping in GROUPINGS:
                values = of_block[grouping].to_numpy()
                for value in np.unique(values[listed & meant]):
                    households = part.represented(listed & meant & (values == value))
                    yield part.block, str(design), kind, grouping, int(value), households


def count_answers(counts: pd.DataFrame, queries: int, total: str) -> pd.DataFrame:
    """How many of the queries each release answers exactly, and how many of these answers are 0 and 1 (`total`: N's)."""
    if "lo" in counts:
        counts = counts[counts["lo"] == counts["hi"]].rename(columns={"lo": "count"})
    answers = counts[counts["query"].astype(str) != total]
    flags = pd.DataFrame({"published": 1, "zeros": answers["count"] == 0, "ones": answers["count"] == 1}).astype("int32")
    blocks = counts["block"].drop_duplicates().sort_values()
    tally = flags.groupby(answers["block"]).sum().reindex(blocks, fill_value=0)
    tally.insert(0, "queries", queries)
    return tally.rename_axis("block").reset_index()
