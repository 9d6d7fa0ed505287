"""How surprising claims verified from protected counts are: the baselines of section 3.2, the release taken as true."""

from pathlib import Path

import numpy as np
import pandas as pd

from genverify.core.domain import Domain
from genverify.core.predicates import Predicate
from genverify.microdata.distinct import Types
from genverify.papers.gtv.baselines import binomial, count_priors

SHOWN = ("tract", "state", "nation")
QUANTILES = {"median": 0.5, "p75": 0.75, "p90": 0.9, "max": 1.0}
COLUMNS = ["k", "claims", *(f"{prior}_{name}" for prior in SHOWN for name in QUANTILES)]


def surprise(
    claims: pd.DataFrame, blocks: pd.DataFrame, microdata: Path, domain: Domain, keeps: Predicate, nation: Types
) -> pd.DataFrame:
    """
    For each k, how likely claims about one household are under each prior: median, percentiles, maximum.

    The priors are those of the private records: noise falls on blocks and hardly on the shares of a tract or state.
    """
    one = claims[claims["m"] == 1].reset_index(drop=True) if len(claims) else claims
    if one.empty:
        return pd.DataFrame(columns=COLUMNS)
    n = one["block"].map(blocks.groupby("block")["n_households"].first()).to_numpy(dtype=np.int64)
    priors = count_priors(one, microdata, domain, keeps, nation)
    chances = pd.DataFrame({name: binomial(n, one["m"].to_numpy(dtype=np.int64), priors[name]) for name in SHOWN})
    by_k = chances.groupby(one["k"])
    found = {f"{prior}_{name}": by_k[prior].quantile(share) for prior in SHOWN for name, share in QUANTILES.items()}
    return pd.DataFrame({"claims": by_k.size(), **found}).reset_index()[COLUMNS]
