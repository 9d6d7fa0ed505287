"""Are estimates right? Intervals of the chains held against exact probabilities, on blocks that can be counted."""

from collections.abc import Mapping
from time import process_time
from typing import Any

import numpy as np
import pandas as pd

from genverify.attack.estimate import Effort, estimate
from genverify.attack.posterior import count_release
from genverify.core.claims import Codes
from genverify.core.seeds import derive_seed
from genverify.papers.gtv.probability.asked import sampled_claims
from genverify.solve.counting.diagram import Budget, TooManyStates
from genverify.solve.counting.prior import Prior
from genverify.solve.program import Program


def compare_estimates(
    program: Program,
    priors: Mapping[str, Prior],
    starts: Codes,
    effort: Effort,
    budget: Budget,
    min_k: int,
    claims: int,
    seed: int,
) -> list[dict[str, Any]]:
    """
    For every prior: of the claims of one generated dataset that are neither certain nor impossible, how many have their
    exact probability in the interval of the estimate, how far off and how wide it is. No row for a block beyond the budget.
    """
    try:
        counted = count_release(program, budget)
    except TooManyStates:
        return []
    block = program.release.block
    codes, m = sampled_claims(starts[0], min_k, claims, np.random.default_rng(derive_seed(seed, "coverage", block)))
    rows = []
    for name, prior in priors.items():
        exact = counted.posterior(prior).probabilities(codes, m)
        started = process_time()
        found = estimate(program, prior, starts, effort, derive_seed(seed, "coverage", block, name))
        seconds = process_time() - started
        open_ = (exact > 0) & (exact < 1)
        p, low, high = (side[open_] for side in found.probabilities(codes, m))
        truth = exact[open_]
        rows.append(
            {
                "block": block,
                "n_households": program.n,
                "prior": name,
                "claims": int(open_.sum()),
                "inside": int(((low <= truth) & (truth <= high)).sum()),
                "off": float(np.abs(p - truth).mean()) if len(truth) else 0.0,
                "width": float((high - low).mean()) if len(truth) else 0.0,
                "seconds": seconds,
            }
        )
    return rows


def coverage_table(rows: pd.DataFrame) -> pd.DataFrame:
    """By prior: blocks, claims, the share of claims inside their interval, mean error and width, core-seconds per block."""
    parts = []
    for prior, own in rows.groupby("prior", sort=False):
        claims = own["claims"].sum()
        shares = [float((own[name] * own["claims"]).sum() / max(claims, 1)) for name in ("off", "width")]
        parts.append((prior, len(own), claims, 100 * own["inside"].sum() / max(claims, 1), *shares, own["seconds"].mean()))
    return pd.DataFrame(parts, columns=["prior", "blocks", "claims", "inside_percent", "off", "width", "seconds"])
