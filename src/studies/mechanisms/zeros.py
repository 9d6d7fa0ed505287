"""How many records the zeros of a release rule out (appendix A: all that could have populated the cell), by block size."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from genverify.model.domain import Domain, Rule
from genverify.model.errors import DataError
from genverify.model.release import Release
from genverify.model.work import derive_seed
from genverify.solve.admissible import implied_zeros, lemma_rule, live_types, zero_cells

PUBLISHED, IMPLIED, STRUCTURAL = "published", "implied", "structural"
LEFT = {
    PUBLISHED: "after published zeros",
    IMPLIED: "after implied zeros as well",
    STRUCTURAL: "after structural zeros as well",
}
BY_SIZE = "all blocks of this size"


def records_left(domain: Domain, rules: Sequence[Rule], limit: int) -> int:
    """How many records of the domain break no rule."""
    return int(live_types(domain, [], rules, limit).raw.sum())


def count_left(release: Release, structural: Sequence[Rule], limit: int) -> dict[str, int]:
    """What is left after published zeros, after those that totals imply (by lemmas), after impossible records as well."""
    predicates = {query.id: query.predicate for query in release.queries}
    zeros, lemmas = zero_cells(release), implied_zeros(release)
    published = [*zeros, *release.schema.rules]
    implied = [*published, *(lemma_rule(lemma, predicates) for lemma in lemmas)]
    rules = {PUBLISHED: published, IMPLIED: implied, STRUCTURAL: [*implied, *structural]}
    left = {name: records_left(release.schema.domain, rule, limit) for name, rule in rules.items()}
    return {"zeros": len(zeros), "lemmas": len(lemmas), **left}


def draw_sizes(sizes: pd.DataFrame, wanted: Sequence[int], blocks: int, seed: int, unit: str = "households") -> list[str]:
    """A number of blocks of each size, or all if there are fewer; `sizes` has one row per block: block and n."""
    drawn = []
    for n in wanted:
        fitting = np.sort(sizes.loc[sizes["n"] == n, "block"].to_numpy(dtype=str))
        if not len(fitting):
            near = sizes["n"].iloc[(sizes["n"] - n).abs().argmin()]
            raise DataError(
                f"privacy.zeros.{unit}: no block has {n} {unit}; the nearest size is {near}. Ask for sizes that "
                "exist in config/mechanisms.yaml, or use more microdata."
            )
        rng = np.random.default_rng(derive_seed(seed, "zeros", str(n)))
        drawn += rng.choice(fitting, min(blocks, len(fitting)), replace=False).tolist()
    return sorted(drawn)


def summarise_left(
    blocks: pd.DataFrame, sample: pd.DataFrame | None, records: int, steps: Sequence[str] = tuple(LEFT)
) -> pd.DataFrame:
    """
    What is left by size of the block, then by design: the least and the most, the median and the quartiles over the blocks.

    `blocks` has one row per block (block, n and what `count_left` says), `sample` names the blocks of each design, and
    `records` is the size of the domain; `steps`: which of LEFT are told.
    """
    groups = [(BY_SIZE, n, group) for n, group in blocks.groupby("n")]
    if sample is not None:
        designs = sample[["block", "design"]].merge(blocks, on="block")
        groups += [(str(design), group["n"].mean(), group) for design, group in designs.groupby("design")]
    rows = [_summary(of, n, group, known, records) for of, n, group in groups for known in steps]
    return pd.DataFrame(rows)


def _summary(of: str, n: Any, part: pd.DataFrame, known: str, records: int) -> Mapping[str, Any]:
    left = part[known]
    quartiles = {"lower_quartile": float(left.quantile(0.25)), "upper_quartile": float(left.quantile(0.75))}
    shares = {"left_percent": 100 * left.median() / records, "ruled_out_percent": 100 * (1 - left.median() / records)}
    return {"blocks_of": of, "households": float(n), "blocks": len(part), "known": LEFT[known], "domain": records,
            "least": int(left.min()), "median": float(left.median()), **quartiles, "most": int(left.max()),
            **{name: round(float(share), 6) for name, share in shares.items()}}  # fmt: skip
