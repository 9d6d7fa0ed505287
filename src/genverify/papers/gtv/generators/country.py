"""A country of one generator and one seed: the sampled blocks, and the households that live there."""

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from genverify.core.domain import DomainFile
from genverify.core.predicates import Predicate
from genverify.microdata.sample import choose_blocks
from genverify.microdata.settings import Microdata, Sample
from genverify.microdata.sources import open_source
from genverify.microdata.store import block_sizes, read_microdata, write_microdata


def with_blocks(sample: Sample, per_state: int) -> Sample:
    """The designs of the study, each with the same number of blocks of every state; no design of whole states."""
    designs = {name: design.but(blocks_per_state=per_state) for name, design in sample.designs.items() if design}
    return sample.but(designs=designs, all_blocks={})


def draw_country(
    microdata: Microdata, likeness: str, sample: Sample, seed: int, domain: DomainFile, kept_near: Path
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """
    The sampled blocks (block, design, size) and their records: those that the main study draws with this generator and seed.

    The whole country is kept on disk only while blocks are sampled.
    """
    chosen = microdata.but(source="synthetic", synthetic=microdata.synthetic.but(likeness=likeness))
    _, tables = open_source(chosen, seed, domain, Counter())
    keeps: Predicate = domain.universe(sample.universe).keeps
    with TemporaryDirectory(dir=kept_near) as folder:
        store = Path(folder) / "microdata"
        write_microdata(tables, store, domain.domain)
        blocks = choose_blocks(block_sizes(store, keeps), sample, seed)
        records = read_microdata(store, blocks=set(blocks["block"])).to_pandas()
    return blocks, records[keeps.matches(dict(records.items()))].reset_index(drop=True)
