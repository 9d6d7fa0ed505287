"""The numbers of the paper's text, beside ours."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd

from genverify.attack.evaluate import Weights, block_weights, ratio_interval
from genverify.report.pages import statements_table, statements_text
from studies.gtv.summary import PRIORS
from studies.gtv.tables import omission_shares

NAN = float("nan")
BOTH = "both designs"
FIXED_DESIGN = "country_median"
STATE_DESIGN = "state_median"


@dataclass(frozen=True)
class Figure:
    """One of our numbers: what it is about, its value, its 95 % interval, and its value under the leave-block-out prior."""

    scope: str
    ours: float | str
    low: float = NAN
    high: float = NAN
    leave_out: float = NAN


@dataclass(frozen=True)
class Evidence:
    """What the numbers are computed from; households and answers by variant, the rest of the study `paper`."""

    claims: pd.DataFrame
    blocks: pd.DataFrame
    baselines: pd.DataFrame
    sample: pd.DataFrame
    households: Mapping[str, pd.DataFrame]
    answers: Mapping[str, pd.DataFrame]
    names: Sequence[str]
    seed: int

    @cached_property
    def designs(self) -> list[str]:
        return sorted(self.blocks["design"].unique(), reverse=True)

    def singles(self, frame: pd.DataFrame) -> pd.DataFrame:
        return frame[frame["m"] == 1]

    def scopes(self) -> Iterator[tuple[str, list[str]]]:
        """Each design by itself, then all together."""
        yield from ((name, [name]) for name in self.designs)
        if len(self.designs) > 1:
            yield BOTH, self.designs


def share(part: "pd.Series[Any]", whole: "pd.Series[Any] | None", weights: Weights) -> tuple[float, float, float]:
    """total(part) / total(whole) over blocks (default: per block) with its 95 % interval."""
    above = part.to_numpy(dtype=float)[:, None]
    below = np.ones_like(above) if whole is None else whole.to_numpy(dtype=float)[:, None]
    low, high = ratio_interval(above, below, weights)
    return float(above.sum() / below.sum()), float(low[0]), float(high[0])


def _of_blocks(evidence: Evidence, frame: pd.DataFrame, part: str, whole: str | None, factor: float) -> Iterator[Figure]:
    """A share over blocks for each scope, times the factor."""
    for scope, designs in evidence.scopes():
        own = frame[frame["design"].isin(designs)]
        weights = block_weights(list(own["design"]), evidence.seed)
        yield Figure(scope, *(factor * x for x in share(own[part], own[whole] if whole else None, weights)))


def unique_blocks(evidence: Evidence) -> Iterator[Figure]:
    yield from _of_blocks(evidence, evidence.blocks.assign(part=evidence.blocks["unique"].astype(int)), "part", None, 100)


def _households(evidence: Evidence, variant: str, claims: str, k: int) -> pd.DataFrame:
    """One row per block and design: its households, how many of them claims of k columns represent, and whether any."""
    if variant not in evidence.households:
        return evidence.blocks.iloc[:0].assign(households=0, some=0)
    frame = evidence.households[variant]
    chosen = frame[(frame["claims"] == claims) & (frame["grouping"] == "k") & (frame["columns"] == k)]
    return chosen.assign(some=(chosen["households"] > 0).astype(int))


def blocks_with_claim(evidence: Evidence, k: int) -> Iterator[Figure]:
    yield from _of_blocks(evidence, _households(evidence, "paper", "singleton", k), "some", None, 100)


def households_per_block(evidence: Evidence, k: int) -> Iterator[Figure]:
    yield from _of_blocks(evidence, _households(evidence, "paper", "singleton", k), "households", None, 1)


def households_share(evidence: Evidence, k: int, claims: str = "singleton") -> Iterator[Figure]:
    yield from _of_blocks(evidence, _households(evidence, "paper", claims, k), "households", "n_households", 100)


def ablated_share(evidence: Evidence, variant: str, k: int) -> Iterator[Figure]:
    """Of the blocks of the country's median size, as in the paper's ablation."""
    own = _households(evidence, variant, "singleton", k)
    own = own[own["design"] == FIXED_DESIGN]
    if len(own):
        weights = block_weights(list(own["design"]), evidence.seed)
        yield Figure(FIXED_DESIGN, *(100 * x for x in share(own["households"], own["n_households"], weights)))


def ablated_households(evidence: Evidence, variant: str) -> Iterator[Figure]:
    for k in (6, 7, 8):
        own = _households(evidence, variant, "singleton", k)
        own = own[own["design"] == FIXED_DESIGN]
        if len(own):
            weights = block_weights(list(own["design"]), evidence.seed)
            yield Figure(f"{FIXED_DESIGN}, k = {k}", *(len(own) * x for x in share(own["households"], None, weights)))


def answer_share(evidence: Evidence, part: str, nonzero: bool = False) -> Iterator[Figure]:
    """The share of answers of one value among all or the nonzero ones, in the blocks of the country's median size."""
    answers = evidence.answers["paper"]
    answers = answers.assign(nonzero=answers["published"] - answers["zeros"])
    own = evidence.blocks.loc[evidence.blocks["design"] == FIXED_DESIGN, ["block", "design"]].merge(answers, on="block")
    if len(own):
        weights = block_weights(list(own["design"]), evidence.seed)
        yield Figure(FIXED_DESIGN, *(100 * x for x in share(own[part], own["nonzero" if nonzero else "published"], weights)))


def queries(evidence: Evidence) -> Iterator[Figure]:
    yield Figure("", float(evidence.answers["paper"]["queries"].max()))


def block_size(evidence: Evidence, which: str) -> Iterator[Figure]:
    sizes = evidence.sample.loc[
        evidence.sample["design"] == (STATE_DESIGN if which != "median" else FIXED_DESIGN), "n_households"
    ]
    if len(sizes):
        yield Figure("", float(getattr(sizes, which)()))


def baseline(evidence: Evidence, percentile: float, ks: Sequence[int]) -> Iterator[Figure]:
    """A percentile of the baseline probabilities (equation 4), by design, prior and k."""
    singles = evidence.singles(evidence.baselines)
    for design in evidence.designs:
        for prior in PRIORS:
            for k in ks:
                own = singles[(singles["design"] == design) & (singles["k"] == k)]
                if len(own):
                    yield Figure(f"{design}, {prior}, k = {k}", *_percentiles(own, prior, percentile))


def largest_baseline(evidence: Evidence) -> Iterator[Figure]:
    singles = evidence.singles(evidence.baselines)
    for design in evidence.designs:
        for prior in PRIORS:
            own = singles[singles["design"] == design]
            if len(own):
                yield Figure(f"{design}, {prior}", *_percentiles(own, prior, 100))


def _percentiles(rows: pd.DataFrame, prior: str, percentile: float) -> tuple[float, float, float, float]:
    """100 times the percentile, no interval, and the same where the block is left out of the prior."""
    known = [rows[name].dropna() for name in (prior, f"{prior}_leave_out")]
    found = [100 * float(np.percentile(values, percentile)) if len(values) else NAN for values in known]
    return found[0], NAN, NAN, found[1]


def tract_less_state(evidence: Evidence) -> Iterator[Figure]:
    singles = evidence.singles(evidence.baselines)
    for scope, designs in evidence.scopes():
        own = singles[singles["design"].isin(designs)]
        if len(own):
            tract, state = _percentiles(own, "tract", 50), _percentiles(own, "state", 50)
            yield Figure(scope, tract[0] - state[0], leave_out=tract[3] - state[3])


def effective_k(evidence: Evidence) -> Iterator[Figure]:
    singles = evidence.singles(evidence.claims)
    if len(singles):
        yield Figure(BOTH, float(singles["effective_k"].max()))


def omitted(evidence: Evidence, rank: int) -> Iterator[Figure]:
    """The column that the singleton claims leave out most often (rank 0), next most often (1), by k."""
    singles = evidence.singles(evidence.claims)
    for k, shares in omission_shares(singles, evidence.names).iterrows():
        if shares.sum() > 0:
            ordered = shares.sort_values(ascending=False, kind="stable")
            yield Figure(f"k = {k}, {100 * ordered.iloc[rank]:.1f} % leave it out", str(ordered.index[rank]))


COMPUTED: dict[str, Callable[[Evidence], Iterator[Figure]]] = {
    "queries": queries,
    "smallest_block": partial(block_size, which="min"),
    "largest_block": partial(block_size, which="max"),
    "country_median": partial(block_size, which="median"),
    "unique_blocks": unique_blocks,
    "blocks_k8": partial(blocks_with_claim, k=8),
    "blocks_k6": partial(blocks_with_claim, k=6),
    "per_block_k8": partial(households_per_block, k=8),
    "effective_k": effective_k,
    "median": partial(baseline, percentile=50, ks=(6, 7, 8, 9)),
    "median_k10": partial(baseline, percentile=50, ks=(10,)),
    "percentile75": partial(baseline, percentile=75, ks=(6, 7, 8, 9, 10)),
    "percentile90": partial(baseline, percentile=90, ks=(6, 7, 8, 9, 10)),
    "maximum": largest_baseline,
    "tract_or_state": tract_less_state,
    "households_k8": partial(households_share, k=8),
    "households_k6": partial(households_share, k=6),
    "no_ones_k6": partial(ablated_share, variant="no_ones", k=6),
    "no_zeros_ones": partial(ablated_households, variant="no_zeros_ones"),
    "zeros": partial(answer_share, part="zeros"),
    "ones": partial(answer_share, part="ones"),
    "ones_of_nonzero": partial(answer_share, part="ones", nonzero=True),
    "most_omitted": partial(omitted, rank=0),
    "next_omitted": partial(omitted, rank=1),
    "all_k8": partial(households_share, k=8, claims="all"),
    "all_k6": partial(households_share, k=6, claims="all"),
}


def numbers_table(evidence: Evidence, statements: Mapping[str, Mapping[str, Any]], label: str) -> pd.DataFrame:
    """Every statement of the paper's text with our numbers, one row per scope, and whether they agree."""

    def rows(key: str, entry: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        yield from (_row(entry, figure) for figure in list(COMPUTED[key](evidence)) or [Figure("", NAN)])

    return statements_table(statements, COMPUTED, rows, label)


def _row(entry: Mapping[str, Any], figure: Figure) -> dict[str, Any]:
    missing = (
        ""
        if isinstance(figure.ours, str) or not np.isnan(figure.ours)
        else "this study has no such blocks, claims or variant"
    )
    row = {"scope": figure.scope, "paper": entry["paper"]}
    numbers = {name: _rounded(getattr(figure, name)) for name in ("ours", "low", "high", "leave_out")}
    agrees = "" if missing else judge(figure, entry)
    return (
        row | numbers | {"agrees": agrees, "why": why(agrees, figure, entry), "remark": missing or entry.get("remark", "")}
    )


def why(agrees: str, figure: Figure, entry: Mapping[str, Any]) -> str:
    """Where ours differs: a run in which it agrees, as the file names it by the beginning of the scope; else it is open."""
    if agrees != "no":
        return "agrees" if agrees else "not judged"
    if not np.isnan(figure.leave_out) and judge(replace(figure, ours=figure.leave_out), entry) == "yes":
        return "measured: agrees where the block is left out of its prior (column leave_out)"
    known = [f"measured: {text}" for scope, text in entry.get("measured", {}).items() if figure.scope.startswith(scope)]
    return known[0] if known else f"open: {entry['open']}" if "open" in entry else "open"


def _rounded(value: float | str) -> float | str:
    return value if isinstance(value, str) else round(value, 4)


def judge(figure: Figure, entry: Mapping[str, Any]) -> str:
    """
    Whether our number agrees with the paper's words; empty where the paper gives nothing to measure by.

    >>> judge(Figure("", 41.0), {"at_least": 35, "at_most": 45})
    'yes'
    """
    if "equals" in entry:
        return "yes" if figure.ours == entry["equals"] else "no"
    ours, tests = float(figure.ours), []
    if "about" in entry:
        low, high = (ours, ours) if np.isnan(figure.low) else (figure.low, figure.high)
        tests.append(low <= entry["about"] <= high)
    tests += [ours >= entry["at_least"]] if "at_least" in entry else []
    tests += [ours <= entry["at_most"]] if "at_most" in entry else []
    return "" if not tests else "yes" if all(tests) else "no"


def numbers_text(table: pd.DataFrame, label: str) -> str:
    """The numbers as Markdown."""
    shown = ["where", "statement", "scope", "paper", "ours", "low", "high", "leave_out", "agrees", "why"]
    lead = (
        "low and high: 95 % block-bootstrap interval. leave_out: the same under a prior without the block itself. agrees: "
        "ours is what the paper's words say (ranges: data/papers/generate_then_verify.yaml), on these data; no replication. "
        "why: agrees; measured, with a run in which it does; open: none does; not judged: the "
        "paper gives nothing to measure by, or this study has no such blocks."
    )
    return statements_text("Numbers of the paper's text", lead, table, shown, label)
