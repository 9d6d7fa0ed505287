"""How RAP converges with BLOCK: errors and match rates after more and more steps, its blocks known or learned."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from genverify.model.arrays import Floats
from genverify.model.release import Release, Schema, read_releases
from genverify.model.work import progress
from studies.raprank.areas import match_curve, rank_rows, unique_rows
from studies.raprank.evaluate import HOLDOUT, started
from studies.raprank.published import Target, make_target
from studies.raprank.rank import rank_target, start_of
from studies.raprank.settings import Convergence, RapSettings

READ_AT = 0.1  # the share of candidates at which a match rate is compared, beside all of them


def most_blocks(counts: Sequence[Path], schema: Schema) -> tuple[Target, Target]:
    """The area with the most blocks: with its blocks known, and as RAP has to learn them."""
    areas: dict[str, list[Release]] = {}
    for path in counts:
        area = ""
        for release in read_releases(path, schema):
            area = area if area and release.block.startswith(area) else release.block
            areas.setdefault(area, []).append(release)
    _, most = max(areas.items(), key=lambda item: (len(item[1]), item[0]))
    return make_target(most), make_target(most, learned=True)


def converge(
    known: Target,
    learned: Target,
    private: pd.DataFrame,
    holdout: pd.DataFrame,
    settings: RapSettings,
    own: Convergence,
    seed: int,
) -> pd.DataFrame:
    """One row per way and number of steps: both errors (per row, and per count), match rates; the holdout beside them."""
    rows, other = start_of(private, known), start_of(holdout, known)
    u = unique_rows(rows, other)
    ways = (("known", known, None), ("known", known, other), ("learned", learned, None))
    records = []
    for blocks, target, start in ways:
        for steps in progress(own.steps, f"numbers of steps, blocks {blocks}"):
            never = settings.but(steps=steps, tolerance=0.0, patience=steps)
            name = ("convergence", blocks, "random" if start is None else HOLDOUT)
            ranked, runs = rank_target(target, name, own.runs, seed, never, start)
            row: dict[str, Any] = {"blocks_are": blocks, "source": started(name[2]), "steps": steps, "runs": own.runs}
            for word, errors in (("relaxed", runs.relaxed_errors), ("rounded", runs.rounded_errors)):
                row[f"{word}_error"] = float(errors.mean())
                row[f"{word}_rms_count"] = float(errors.mean() * np.sqrt(known.rows / known.published))
            records.append(row | _rates(match_curve(ranked, rows, u, [READ_AT, 1.0])))
    base = _rates(match_curve(rank_rows(other, seed), rows, u, [READ_AT, 1.0]))
    records.append({"blocks_are": "known", "source": HOLDOUT, **base})
    shape: dict[str, Any] = {
        "rows": known.rows,
        "of_blocks": len(known.domain.columns[-1].codes),
        "counts": known.published,
        "u": u,
    }
    return pd.DataFrame(records).assign(**shape)


def _rates(rates: Floats) -> dict[str, float]:
    return {f"match_rate at {READ_AT:g}": float(rates[0]), "match_rate at 1": float(rates[1])}
