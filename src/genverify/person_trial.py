"""The trial on person records: claims proved from block tables with age in years and in bands, and RAP-RANK beside them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from genverify.attack import ProgramSettings
from genverify.groups import Group
from genverify.jobs import progress
from genverify.merge import merge_codes
from genverify.ranking import match_curve, rank_rows, unique_rows
from genverify.rap import RapSettings, reconstruct
from genverify.release import Schema
from genverify.seeds import derive_seed
from genverify.trial import KnownBlock, known_blocks, sum_up, try_blocks

Reading = tuple[Schema, pd.DataFrame]


def readings(schema: Schema, records: pd.DataFrame, column: str, groups: Sequence[Group]) -> dict[str, Reading]:
    """The records as they are, and with the codes of one column merged into groups: the same tables, fewer codes."""
    coarse, merged = merge_codes(schema, column, groups)
    label = schema.domain[column].label
    banded = records.assign(**{column: merged[records[column].to_numpy()]})
    return {f"{label} as it is": (schema, records), f"{label} in {len(groups)} groups": (coarse, banded)}


def try_readings(
    found: Mapping[str, Reading], program: ProgramSettings, rap: RapSettings, settings: Mapping[str, int], seed: int
) -> pd.DataFrame:
    """For each reading: verified claims by k, whom they single out, and RAP-RANK's mean match rate on some blocks."""
    parts = []
    for name, (schema, records) in found.items():
        blocks = list(known_blocks(records, schema, settings["max_persons"]))
        tried = progress(blocks, f"blocks tried, {name}")
        part = sum_up(try_blocks(tried, program, settings["datasets"], settings["min_k"], seed))
        part.insert(0, "reading", name)
        rates = match_rate(_drawn(blocks, settings["raprank_blocks"], seed), settings["raprank_runs"], rap, seed)
        parts.append(part.assign(**rates))
    return pd.concat(parts, ignore_index=True)


def _drawn(blocks: Sequence[KnownBlock], count: int, seed: int) -> list[KnownBlock]:
    """Some of the blocks, at random, the same for every reading."""
    rng = np.random.default_rng(derive_seed(seed, "raprank", "blocks"))
    chosen = rng.choice(len(blocks), min(count, len(blocks)), replace=False)
    return [blocks[place] for place in np.sort(chosen)]


def match_rate(blocks: Sequence[KnownBlock], runs: int, settings: RapSettings, seed: int) -> dict[str, Any]:
    """RAP-RANK with whole blocks as D: the mean over blocks of MATCH-RATE at k = u."""
    rates = []
    for known in progress(list(blocks), "blocks ranked"):
        release, block = known.release, known.release.block
        seeds = [derive_seed(seed, "rap", block, str(run)) for run in range(runs)]
        predicates = [query.predicate for query in release.queries]
        rows = reconstruct(release.schema.domain, predicates, release.lo, release.n, seeds, settings).union
        ranked = rank_rows(rows, derive_seed(seed, "rank", block))
        rates.append(float(match_curve(ranked, known.records, unique_rows(known.records), [1.0])[0]))
    return {"raprank_blocks": len(rates), "raprank_runs": runs, "raprank_match_rate": float(np.mean(rates))}
