"""The numbers of the paper's text, beside ours."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from genverify.attack.evaluate import Weights, ratio_interval
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


def _of_blocks(evidence: Evidence, frame: pd.DataFrame, part: str, whole: str | None, factor: float = 100, *,
               scopes: Iterable[tuple[str, list[str]]] = ()) -> Iterator[Figure]:  # fmt: skip
    """For each scope total(part) / total(whole) over its blocks (without a whole: per block), times the factor."""
    for scope, designs in scopes or evidence.scopes():
        chosen = frame[frame["design"].isin(designs)]
        if len(chosen):
            above = chosen[[part]].to_numpy(dtype=float)
            below = chosen[[whole]].to_numpy(dtype=float) if whole else np.ones_like(above)
            low, high = ratio_interval(above, below, Weights(list(chosen["design"]), evidence.seed))
            yield Figure(scope, *(factor * float(x) for x in (above.sum() / below.sum(), low[0], high[0])))


def unique_blocks(evidence: Evidence) -> Iterator[Figure]:
    yield from _of_blocks(evidence, evidence.blocks, "unique", None)


def _households(evidence: Evidence, variant: str, claims: str, k: int) -> pd.DataFrame:
    """One row per block and design: its households, how many of them claims of k columns represent, and whether any."""
    if variant not in evidence.households:
        return evidence.blocks.iloc[:0].assign(households=0, some=False)
    frame = evidence.households[variant]
    chosen = frame[(frame["claims"] == claims) & (frame["grouping"] == "k") & (frame["columns"] == k)]
    return chosen.assign(some=chosen["households"] > 0)


def represented(
    evidence: Evidence, k: int, part: str, whole: str | None = None, factor: float = 100, claims: str = "singleton"
) -> Iterator[Figure]:
    """Households that claims of k columns represent, or blocks with some: a share, or a number per block."""
    yield from _of_blocks(evidence, _households(evidence, "paper", claims, k), part, whole, factor)


def ablated_share(evidence: Evidence, variant: str, k: int) -> Iterator[Figure]:
    """Of the blocks of the country's median size, as in the paper's ablation."""
    frame = _households(evidence, variant, "singleton", k)
    yield from _of_blocks(evidence, frame, "households", "n_households", scopes=[(FIXED_DESIGN, [FIXED_DESIGN])])


def ablated_households(evidence: Evidence, variant: str) -> Iterator[Figure]:
    for k in (6, 7, 8):
        frame = _households(evidence, variant, "singleton", k)
        blocks = int((frame["design"] == FIXED_DESIGN).sum())
        scopes = [(f"{FIXED_DESIGN}, k = {k}", [FIXED_DESIGN])]
        yield from _of_blocks(evidence, frame, "households", None, blocks, scopes=scopes)


def answer_share(evidence: Evidence, part: str, whole: str = "published") -> Iterator[Figure]:
    """The share of answers of one value among all or the nonzero ones, in the blocks of the country's median size."""
    answers = evidence.answers["paper"]
    answers = answers.assign(nonzero=answers["published"] - answers["zeros"])
    frame = evidence.blocks[["block", "design"]].merge(answers, on="block")
    yield from _of_blocks(evidence, frame, part, whole, scopes=[(FIXED_DESIGN, [FIXED_DESIGN])])


def queries(evidence: Evidence) -> Iterator[Figure]:
    yield Figure("", float(evidence.answers["paper"]["queries"].max()))


def block_size(evidence: Evidence, which: str) -> Iterator[Figure]:
    design = STATE_DESIGN if which != "median" else FIXED_DESIGN
    sizes = evidence.sample.loc[evidence.sample["design"] == design, "n_households"]
    if len(sizes):
        yield Figure("", float(getattr(sizes, which)()))


def baseline(evidence: Evidence, percentile: float, ks: Sequence[int] = ()) -> Iterator[Figure]:
    """A percentile of the baseline probabilities (equation 4), by design, prior and k (without any: over all of them)."""
    singles = evidence.singles(evidence.baselines)
    for design, prior, k in product(evidence.designs, PRIORS, ks or (None,)):
        rows = singles[(singles["design"] == design) & (k is None or singles["k"] == k)]
        if len(rows):
            yield Figure(f"{design}, {prior}" + (f", k = {k}" if k else ""), *_percentiles(rows, prior, percentile))


def _percentiles(rows: pd.DataFrame, prior: str, percentile: float) -> tuple[float, float, float, float]:
    """100 times the percentile, no interval, and the same where the block is left out of the prior."""
    known = [rows[name].dropna() for name in (prior, f"{prior}_leave_out")]
    both, leave_out = (100 * float(np.percentile(values, percentile)) if len(values) else NAN for values in known)
    return both, NAN, NAN, leave_out


def tract_less_state(evidence: Evidence) -> Iterator[Figure]:
    singles = evidence.singles(evidence.baselines)
    for scope, designs in evidence.scopes():
        rows = singles[singles["design"].isin(designs)]
        if len(rows):
            tract, state = _percentiles(rows, "tract", 50), _percentiles(rows, "state", 50)
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


COMPUTED: dict[str, Callable[..., Iterator[Figure]]] = {
    function.__name__: function
    for function in (
        queries, block_size, unique_blocks, represented, ablated_share, ablated_households, answer_share, baseline,
        tract_less_state, effective_k, omitted,
    )
}  # fmt: skip
"""What `ours` of data/papers/generate_then_verify_why.yaml may name, with arguments."""


def numbers_table(
    evidence: Evidence, statements: Mapping[str, Mapping[str, Any]], reasons: Mapping[str, Mapping[str, Any]], label: str
) -> pd.DataFrame:
    """
    Every statement of the paper's text with our numbers, one row per scope, and whether they agree. `reasons`
    (data/papers/generate_then_verify_why.yaml): how each is computed, and why it differs.
    """

    def rows(key: str, entry: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        entry = {name: said for name, said in entry.items() if name not in ("measured", "open")} | dict(reasons[key])
        for name, arguments in entry["ours"].items():
            yield from (_row(entry, one) for one in list(COMPUTED[name](evidence, **arguments)) or [Figure("", NAN)])

    return statements_table(statements, reasons, rows, label)


def _row(entry: Mapping[str, Any], figure: Figure) -> dict[str, Any]:
    known = isinstance(figure.ours, str) or not np.isnan(figure.ours)
    values = {name: getattr(figure, name) for name in ("ours", "low", "high", "leave_out")}
    numbers = {name: value if isinstance(value, str) else round(value, 4) for name, value in values.items()}
    agrees = judge(figure, entry) if known else ""
    remark = entry.get("remark", "") if known else "this study has no such blocks, claims or variant"
    row = {"scope": figure.scope, "paper": entry["paper"], **numbers}
    return row | {"agrees": agrees, "why": why(agrees, figure, entry), "remark": remark}


def why(agrees: str, figure: Figure, entry: Mapping[str, Any]) -> str:
    """Where ours differs: a run that shows what it depends on, as the file names it by parts of the scope; else open."""
    if agrees != "no":
        return "agrees" if agrees else "not judged"
    if not np.isnan(figure.leave_out) and judge(replace(figure, ours=figure.leave_out), entry) == "yes":
        return "measured: agrees where the block is left out of its prior (column leave_out)"
    parts = set(figure.scope.split(", "))
    known = [f"measured: {text}" for scope, text in entry.get("measured", {}).items() if set(scope.split(", ")) <= parts]
    return known[0] if known else f"open: {entry['open']}" if "open" in entry else "open"


def judge(figure: Figure, entry: Mapping[str, Any]) -> str:
    """Whether our number agrees with the paper's words; empty where the paper gives nothing to measure by."""
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
    columns = ["where", "statement", "scope", "paper", "ours", "low", "high", "leave_out", "agrees", "why"]
    lead = (
        "low and high: 95 % block-bootstrap interval. leave_out: the same under a prior without the block itself. agrees: "
        "ours is what the paper's words say (ranges: data/papers/generate_then_verify.yaml), on these data; no replication. "
        "why: agrees; measured, with a run that shows what it depends on; open, with what was tried; not judged: the "
        "paper gives nothing to measure by, or this study has no such blocks."
    )
    return statements_text("Numbers of the paper's text", lead, table, columns, label)
