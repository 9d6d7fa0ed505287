"""What the attack has found out about the blocks of a batch, from its files."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from genverify.core.claims import ANY, Codes
from genverify.core.release import Schema
from genverify.papers.gtv.probability.weigh import Claims, Known

OPEN = ("undecided", "uncertified")


def known_of(datasets: Mapping[str, Codes], claims: Path, blocks: Path, schema: Schema) -> dict[str, Known]:
    """Generated datasets and verified claims of every block; a block with undecided claims is not held to all of them."""
    verified = _verified(pd.read_parquet(claims), schema)
    decided = pd.read_parquet(blocks).set_index("block")
    left = decided[[name for name in decided.columns if name.startswith(OPEN)]].sum(axis=1)
    return {
        block: Known(records, verified.get(block, set()), bool(left.get(block, 0) == 0))
        for block, records in datasets.items()
    }


def _verified(claims: pd.DataFrame, schema: Schema) -> dict[str, Claims]:
    found: dict[str, Claims] = {}
    if not len(claims):
        return found
    codes = claims[list(schema.domain.names)].astype("Int16").fillna(ANY).to_numpy(dtype=np.int16)
    for block, row, m in zip(claims["block"], codes.tolist(), claims["m"], strict=True):
        found.setdefault(str(block), set()).add((tuple(row), int(m)))
    return found
