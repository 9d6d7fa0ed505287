"""Claims that are not certain but likely: found by exact draws, each with its exact probability."""

from collections.abc import Collection

import numpy as np
import pandas as pd

from genverify.attack.posterior import Counted, count_release
from genverify.core.arrays import row_weights, weighted_keys
from genverify.core.arraytypes import Flags, Floats
from genverify.core.claims import ANY, Claim, Codes, column_subsets
from genverify.solve.counting.diagram import Budget, TooManyStates
from genverify.solve.counting.prior import Prior
from genverify.solve.program import Program
from genverify.solve.recount import WrongAnswer

SOME = Budget(states=100_000, moves=400_000, seconds=30.0)
DRAWS = 60
SLACK = 0.1  # draws that make a claim look a little less likely than it is do not hide it


def count_some(program: Program) -> Counted | None:
    """The datasets that fit, counted; None where that takes more than a few seconds."""
    try:
        return count_release(program, SOME)
    except TooManyStates:
        return None


def probable_singletons(
    counted: Counted,
    prior: Prior,
    verified: Collection[Claim],
    min_k: int,
    least: float,
    seed: int,
    decided: bool = True,
) -> pd.DataFrame:
    """
    Claims about exactly one record that are not verified and have at least this probability, the likeliest first:
    a code per column (none where any will do), k and probability.

    `decided`: no candidate was left open. A verified claim whose probability is not 1, or the reverse, is a bug: an error.
    """
    program, posterior = counted.program, counted.posterior(prior)
    codes = likely_singletons(posterior.draw(DRAWS, np.random.default_rng(seed)), min_k, max(least - SLACK, 1 / DRAWS))
    known = {claim.codes for claim in verified if claim.m == 1}
    sure = np.array([tuple(row) in known for row in codes.tolist()], dtype=bool)
    chance = posterior.probabilities(codes, np.ones(len(codes), dtype=np.int64))
    _hold(program, chance, sure, decided and prior.rules_nothing_out)
    codes, chance = codes[~sure], chance[~sure]
    frame = pd.DataFrame(codes, columns=list(program.types.domain.names)).astype("Int16").mask(codes == ANY)
    frame = frame.assign(k=(codes != ANY).sum(axis=1), probability=chance)
    frame.insert(0, "block", program.release.block)
    return frame[frame["probability"] >= least].sort_values(["probability", "k"], ascending=False, kind="stable")


def _hold(program: Program, chance: Floats, sure: Flags, both: bool) -> None:
    """
    An error unless the verified claims have probability 1 and, where everything is decided and the prior rules no record
    out, no other has.
    """
    if (chance[sure] != 1).any() or (both and (chance[~sure] == 1).any()):
        raise WrongAnswer(
            f"block {program.release.block}: what is verified and what has probability 1 differ. One of the two is wrong: "
            "nothing is reported. Please report this as a bug."
        )


def likely_singletons(datasets: Codes, min_k: int, least: float) -> Codes:
    """The claims with m = 1 that hold in at least this share of the datasets (K, N, columns), a row of codes each."""
    K, N, width = datasets.shape
    if N == 0:
        return np.zeros((0, width), dtype=np.int16)
    records = datasets.reshape(K * N, width).astype(np.int64)
    weights = row_weights(records.max(axis=0) + 1)
    found = [np.zeros((0, width), dtype=np.int16)]
    for columns in column_subsets(width, min_k):
        chosen = list(columns)
        keys = weighted_keys(records[:, chosen], None if weights is None else weights[chosen]).reshape(K, N)
        order = np.argsort(keys, axis=1)
        ranked = np.take_along_axis(keys, order, axis=1)
        apart = ranked[:, 1:] != ranked[:, :-1]
        edge = np.ones((K, 1), dtype=bool)
        single = np.concatenate([edge, apart], axis=1) & np.concatenate([apart, edge], axis=1)
        _, first, times = np.unique(ranked[single], return_index=True, return_counts=True)
        places = (np.arange(K)[:, None] * N + order)[single][first[times >= least * K]]
        codes = np.full((len(places), width), ANY, dtype=np.int16)
        codes[:, chosen] = records[places][:, chosen]
        found.append(codes)
    return np.concatenate(found)
