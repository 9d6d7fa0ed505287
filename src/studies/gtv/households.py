"""The households that verified claims represent (footnote 6), and the answers that were published."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from genverify.attack.evaluate import Evaluation, check_evaluation, evaluate
from genverify.model.arrays import Flags

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
    """How many of the queries each release answers, and how many of these answers are 0 and 1 (`total` is the row of N)."""
    answers = counts[counts["query"].astype(str) != total]
    flags = pd.DataFrame({"published": 1, "zeros": answers["count"] == 0, "ones": answers["count"] == 1}).astype("int32")
    blocks = counts["block"].drop_duplicates().sort_values()
    tally = flags.groupby(answers["block"]).sum().reindex(blocks, fill_value=0)
    tally.insert(0, "queries", queries)
    return tally.rename_axis("block").reset_index()
