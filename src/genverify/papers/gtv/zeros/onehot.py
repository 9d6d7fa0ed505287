"""The paper's own program under a limit: which claims that hold with and without zeros it fails to decide."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from genverify.attack.onehot.attack import decide_onehot
from genverify.attack.verify import Verdict
from genverify.core.claims import Claim
from genverify.core.release import Release
from genverify.papers.gtv.tables.households import PAPER_K
from genverify.papers.gtv.zeros.decide import publish_less, survivors
from genverify.papers.gtv.zeros.households import BlockClaims
from genverify.solve.settings import ProgramSettings
from genverify.solve.solvers.base import WorkLimits
from genverify.solve.solvers.choose import make_solver

ZEROS = (0,)
NO_LIMIT = 2**31 - 1


def choose_claims(
    releases: Sequence[Release], claims: Mapping[str, BlockClaims], settings: ProgramSettings, each: int, seed: int
) -> Iterator[tuple[Release, Claim]]:
    """
    For every k some claims, from as many blocks as possible, that are verified from all counts and also without zeros:
    one that the one-hot program then loses, it loses to its limit alone.
    """
    rng = np.random.default_rng(seed)
    known = [release for release in releases if release.block in claims]
    kept = {
        release.block: survivors(publish_less(release, ZEROS, ()), claims[release.block].claims, settings, check=False)
        for release in known
    }
    for k in PAPER_K:
        found = []
        for place in rng.permutation(len(known)):
            release, own = known[place], claims[known[place].block]
            places = np.flatnonzero(kept[release.block].verified & (own.k == k))
            if len(places):
                found.append((release, own.claims[rng.choice(places)]))
        yield from found[:each]


def decide_both(chosen: Sequence[tuple[Release, Claim]], name: str, nodes: int, seconds: float) -> pd.DataFrame:
    """
    The verdict of the one-hot program on every claim, with all counts and without zeros. The limit is a number of nodes, the
    same on every machine; seconds are a safety net.
    """
    solver, rows = make_solver(name, WorkLimits(NO_LIMIT, nodes, seconds)), []
    for release, claim in chosen:
        told, untold = (decide_onehot(own, [claim], solver)[0] for own in (release, publish_less(release, ZEROS, ())))
        row = {"block": release.block, "k": claim.k, "solver": solver.name}
        row |= {"with_zeros": told.verdict.value, "limit_with_zeros": told.limit or ""}
        rows.append(row | {"without_zeros": untold.verdict.value, "limit_without_zeros": untold.limit or ""})
    columns = ["block", "k", "solver", "with_zeros", "limit_with_zeros", "without_zeros", "limit_without_zeros"]
    return pd.DataFrame(rows, columns=columns)


def verified_by_k(found: pd.DataFrame) -> pd.DataFrame:
    """Claims by k: how many were tried, and verified with and without zeros."""
    flags = found[["k"]].assign(tried=1)
    for name in ("with_zeros", "without_zeros"):
        flags[name] = (found[name] == Verdict.VERIFIED.value).astype("int64")
    return flags.groupby("k").sum().reindex(list(PAPER_K), fill_value=0)
