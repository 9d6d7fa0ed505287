"""Explanations tried on the same blocks: households singled out, by k, for every answer that may be withheld."""

from collections.abc import Mapping, Sequence

import pandas as pd

from genverify.core.release import Release, Schema
from genverify.core.timing import progress
from genverify.papers.gtv.tables.households import PAPER_K
from genverify.papers.gtv.zeros.gaps import Gap
from genverify.papers.gtv.zeros.households import BlockClaims
from genverify.papers.gtv.zeros.search import Lab, Step
from genverify.solve.settings import ProgramSettings

WITHHELD: Mapping[str, tuple[int, ...]] = {"paper": (), "no_ones": (1,), "no_zeros": (0,), "no_zeros_ones": (0, 1)}
"""The rows of the paper's Table 5, and the answers that each withholds."""


def try_gaps(
    gaps: Mapping[str, Gap],
    releases: Sequence[Release],
    claims: Mapping[str, BlockClaims],
    settings: ProgramSettings,
    rows: Sequence[str] = tuple(WITHHELD),
) -> pd.DataFrame:
    """One row per explanation, row of Table 5, block and k. Every claim counted has a proof that the checker accepted."""
    lab = Lab(releases, claims, settings, check=True)
    parts = [
        _frame(lab, gap, withheld).assign(explanation=name, missing=gap.name, lines=len(gap.cells), withheld=withheld)
        for name, gap in progress(list(gaps.items()), "explanations tried")
        for withheld in rows
    ]
    return pd.concat(parts, ignore_index=True).assign(undecided=lab.undecided)


def _frame(lab: Lab, gap: Gap, withheld: str) -> pd.DataFrame:
    counted = pd.DataFrame(lab.households(gap, WITHHELD[withheld]), columns=list(PAPER_K))
    counted.insert(0, "block", [release.block for release in lab.releases])
    return counted.melt("block", var_name="k", value_name="households").astype({"k": "int64", "households": "int64"})


def steps_frame(steps: Sequence[Step], schema: Schema) -> pd.DataFrame:
    """The sets of gaps that the search kept: what they lack, and the three ways in which they differ from the paper."""
    rows = []
    for step in steps:
        lines = [schema.queries[place].id for place in sorted(step.row.gap.cells)]
        row = {"size": step.size, "missing": step.row.gap.name, "lines": len(lines)}
        row |= {"table5": step.apart.table5, "table4": step.apart.table4, "queries": step.apart.queries}
        row |= {"score": step.apart.score}
        for name, counts in (("published", step.row.published), ("withheld", step.row.withheld)):
            row |= {f"{name}_k{k}": int(count) for k, count in zip(PAPER_K, counts, strict=True)}
        rows.append(row)
    return pd.DataFrame(rows).round(2)
