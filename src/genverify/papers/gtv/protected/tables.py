"""The attack on protected counts as tables: claims verified from the release, and one row per block."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

import pandas as pd

from genverify.attack.tables import claims_frame
from genverify.core.claims import CONTRADICTORY
from genverify.core.release import TOTAL, Release
from genverify.papers.gtv.protected.attack import Attacked


def contradictory_rows(counts: Path, blocks: Collection[str]) -> list[dict[str, Any]]:
    """The rows of blocks that need no attack, because a range of theirs is empty."""
    frame = pd.read_parquet(counts)
    totals = frame[(frame["query"] == TOTAL) & frame["block"].isin(list(blocks))]
    return [_row(str(block), int(n), CONTRADICTORY) for block, n in zip(totals["block"], totals["lo"], strict=True)]


def attacked_row(release: Release, found: Attacked) -> dict[str, Any]:
    """What became of a block."""
    return _row(release.block, release.n, found.status, found.undecided)


def _row(block: str, n: int, status: str, undecided: int = 0) -> dict[str, Any]:
    return {"block": block, "n_households": n, "status": status, "undecided_claims": undecided}


def verified_claims(found: Attacked) -> list[pd.DataFrame]:
    """The claims of a block, if it has any."""
    return [claims_frame(found.verified)] if found.verified and found.verified.claims else []
