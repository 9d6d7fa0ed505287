"""The households of the study of withheld zeros: as sampled, or with one household of every block given some codes."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from genverify.core.arraytypes import Ints
from genverify.core.domain import DomainFile
from genverify.core.errors import ConfigError
from genverify.core.seeds import derive_seed
from genverify.microdata.store import read_microdata


def read_households(
    folder: Path, blocks: Collection[str], domain: DomainFile, universe: str, codes: Mapping[str, int], seed: int
) -> pd.DataFrame:
    """The households of the blocks, sorted by block; where codes are given, one of every block at least has them."""
    records = read_microdata(folder, blocks=blocks).to_pandas()
    kept = records[domain.universe(universe).keeps.matches(dict(records.items()))].astype({"block": str})
    kept = kept.sort_values("block", kind="stable", ignore_index=True)
    for name, code in codes.items():
        if code not in domain.domain[name].codes:
            raise ConfigError(f"config/zeros.yaml: zeros.records gives {name} the code {code}, which it does not have")
    return force_codes(kept, codes, seed) if codes else kept


def force_codes(records: pd.DataFrame, codes: Mapping[str, int], seed: int) -> pd.DataFrame:
    """The records with the codes put into one record, drawn at random, of every block that has none with all of them."""
    wanted = np.logical_and.reduce([records[name].to_numpy() == code for name, code in codes.items()])
    places = {str(block): np.asarray(rows, dtype=np.int64) for block, rows in records.groupby("block").indices.items()}
    chosen = [_draw(places[block], block, seed) for block in sorted(places) if not wanted[places[block]].any()]
    return records.assign(**{name: _replaced(records[name].to_numpy(), chosen, code) for name, code in codes.items()})


def _draw(rows: Ints, block: str, seed: int) -> int:
    return int(rows[np.random.default_rng(derive_seed(seed, "zeros", block)).integers(len(rows))])


def _replaced(codes: Any, rows: Sequence[int], code: int) -> Any:
    changed = codes.copy()
    changed[list(rows)] = code
    return changed
