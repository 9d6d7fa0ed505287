"""The private records of some blocks, or of whole states, that a universe keeps."""

from collections.abc import Collection
from pathlib import Path

import pandas as pd

from genverify.core.domain import DomainFile
from genverify.microdata.store import read_microdata


def read_records(microdata: Path, domain_file: DomainFile, universe: str, blocks: Collection[str]) -> pd.DataFrame:
    """The records of the blocks that the universe keeps: block, and a code per column."""
    records = read_microdata(microdata, ["block", *domain_file.domain.names], blocks=blocks).to_pandas()
    kept = domain_file.universe(universe).keeps.matches(dict(records.items()))
    chosen: pd.DataFrame = records[kept].reset_index(drop=True)
    return chosen
