"""RAP-RANK on blocks whose records are known: how many of its first rows are true."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from genverify.core.seeds import derive_seed
from genverify.core.timing import progress
from genverify.microdata.known import KnownBlock
from genverify.papers.raprank.ranking import match_curve, rank_rows, unique_rows
from genverify.papers.raprank.rap import reconstruct
from genverify.papers.raprank.settings import RapSettings


def draw_blocks(blocks: Sequence[KnownBlock], count: int, seed: int) -> list[KnownBlock]:
    """Some of the blocks, drawn at random: the same ones however their columns are read."""
    rng = np.random.default_rng(derive_seed(seed, "raprank", "blocks"))
    chosen = rng.choice(len(blocks), min(count, len(blocks)), replace=False)
    return [blocks[place] for place in np.sort(chosen)]


def mean_match_rate(blocks: Sequence[KnownBlock], runs: int, settings: RapSettings, seed: int) -> dict[str, Any]:
    """RAP-RANK with whole blocks as D: the mean over blocks of MATCH-RATE at k = u."""
    rates = []
    for known in progress(list(blocks), "blocks ranked"):
        release, block = known.release, known.release.block
        seeds = [derive_seed(seed, "rap", block, str(run)) for run in range(runs)]
        predicates = [query.predicate for query in release.queries]
        rows = reconstruct(release.schema.domain, predicates, release.lo, release.n, seeds, settings).union
        ranked = rank_rows(rows, derive_seed(seed, "rank", block))
        rates.append(float(match_curve(ranked, known.records, unique_rows(known.records), [1.0])[0]))
    persons = sum(len(known.records) for known in blocks)
    return {"ranked_blocks": len(rates), "ranked_persons": persons, "runs": runs, "match_rate": float(np.mean(rates))}
