"""All judgements about the probabilities of a study, from its tables and the private records."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from genverify.microdata.store import GEOGRAPHY
from genverify.papers.gtv.probability.asked import SAMPLED
from genverify.papers.gtv.probability.judge import (
    CLAIMS,
    RAP,
    ROWS,
    SOURCES,
    area_rows,
    match_rates,
    ranked_hits,
    reliability,
    scores,
    singled_out,
    true_claims,
    true_rows,
)
from genverify.papers.gtv.probability.priors import STATE, TIMES, TRACT


@dataclass(frozen=True)
class Judged:
    """Reliability and scores by source, match rates by source, and households singled out by prior and level."""

    reliability: pd.DataFrame
    scores: pd.DataFrame
    rates: pd.DataFrame
    singled_out: pd.DataFrame


def judged(
    claims: pd.DataFrame,
    rows: pd.DataFrame,
    ranked: pd.DataFrame,
    areas: pd.DataFrame,
    records: pd.DataFrame,
    names: Sequence[str],
    runs: int,
    seed: int,
) -> Judged:
    """
    Claims: those drawn at random from one generated dataset of each block. Rows: all that some source lists; where RAP-RANK
    has a part, on the blocks that it was run on, a row that it never found with the frequency 0.
    """
    told = true_claims(claims, records)
    asked = told[told[SAMPLED]]
    ranked = ranked.assign(**{RAP: ranked["runs"] / runs})[["block", *names, RAP]].astype(dict.fromkeys(names, "int16"))
    blocks = set(ranked["block"])
    every = true_rows(rows.astype(dict.fromkeys(names, "int16")), records, names)
    own = every[every["block"].isin(blocks)]
    listed = own.merge(ranked, on=["block", *names], how="left").fillna({RAP: 0.0})
    sources = (*SOURCES, RAP)
    reliable = [reliability(asked, SOURCES, CLAIMS, seed), reliability(every, SOURCES, ROWS, seed)]
    return Judged(
        pd.concat([*reliable, reliability(listed, (RAP,), ROWS, seed)]),
        pd.concat([scores(asked, SOURCES, CLAIMS, seed), scores(listed, sources, ROWS, seed)]),
        _rates(listed, true_rows(ranked, records, names), areas, records, names, seed),
        singled_out(told, len(records), seed),
    )


def _rates(
    listed: pd.DataFrame,
    ranked: pd.DataFrame,
    areas: pd.DataFrame,
    records: pd.DataFrame,
    names: Sequence[str],
    seed: int,
) -> pd.DataFrame:
    """Match rates of every ranking; the guesses without the release take the commonest records of tract and state."""
    blocks = sorted(set(ranked["block"]))
    own = records[records["block"].isin(blocks)]
    sizes = own.drop_duplicates(["block", *names]).groupby("block", observed=True).size()
    distinct = {str(block): int(size) for block, size in sizes.items()}
    rankings = {source: ranked_hits(listed, source, distinct, seed) for source in SOURCES}
    rankings[RAP] = ranked_hits(ranked, RAP, distinct, seed)
    for name in (TRACT, STATE):
        common = area_rows(areas, blocks, GEOGRAPHY[name], max(distinct.values()))
        told = true_rows(common.astype(dict.fromkeys(names, "int16")), records, names)
        rankings[f"{name} alone"] = ranked_hits(told, TIMES, distinct, seed)
    return match_rates(rankings, seed)
