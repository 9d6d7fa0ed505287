"""What the attack sees of an area: counts about it, and where its blocks are distinguished, counts about each block."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from genverify.model.arrays import Ints
from genverify.model.domain import EVERY, Domain, Predicate
from genverify.model.release import Release, Schema, counts_frame, read_releases
from genverify.model.tabulate import tabulate_counts
from studies.raprank.areas import BLOCK, BlockCounts, with_block


@dataclass(frozen=True)
class Target:
    """
    An area to reconstruct: the domain of its records, their number, and the published answers.

    With blocks distinguished, the last column of the domain is BLOCK. Their counts are `blocks`, whose sizes give each
    row its block, or, if RAP has to learn the blocks, queries as all others.
    """

    area: str
    domain: Domain
    rows: int
    predicates: tuple[Predicate, ...]
    counts: Ints
    blocks: BlockCounts | None = None

    @property
    def published(self) -> int:
        """How many counts are published."""
        return len(self.predicates) + (self.blocks.counts.size if self.blocks else 0)


def publish_areas(private: pd.DataFrame, areas: pd.DataFrame, of_area: Schema, of_block: Schema | None) -> pd.DataFrame:
    """The counts (block, query, count, area) of every area, and by `of_block` of each of its blocks, empty ones too."""
    names = list(private["area"].unique())
    parts = [_counts(private, names, "area", of_area).assign(area=lambda frame: frame["block"])]
    if of_block is not None:
        area_of = areas[areas["area"].isin(names)].set_index("block")["area"]
        blocks = _counts(private, list(area_of.index), "block", of_block)
        parts.append(blocks.assign(area=blocks["block"].map(area_of)))
    both = pd.concat([part.astype({"query": "str"}) for part in parts], ignore_index=True)
    return both.sort_values(["area", "block"], kind="stable", ignore_index=True).astype({"query": "category"})


def both_schemas(of_area: Schema, of_block: Schema | None) -> Schema:
    """One schema with the queries about an area, and those about its blocks."""
    return Schema(of_area.domain, of_area.rules, of_area.queries + (of_block.queries if of_block else ()))


def _counts(private: pd.DataFrame, wanted: list[str], key: str, schema: Schema) -> pd.DataFrame:
    """The counts of every wanted area or block; one without records counts 0 everywhere."""
    table = pa.table({"block": private[key].astype("str"), **{name: private[name] for name in schema.domain.names}})
    result, sizes, counts = tabulate_counts(table, EVERY, schema)
    wanted = sorted(wanted)
    indices = pd.Index(wanted).get_indexer(pd.Index(result))
    n, full = np.zeros(len(wanted), dtype=np.int64), np.zeros((len(wanted), len(schema.queries)), dtype=np.int64)
    n[indices], full[indices] = sizes, counts
    return counts_frame(schema, wanted, n, full, [])


def read_targets(counts: Path, schema: Schema, learned: bool = False) -> Iterator[Target]:
    """The areas of a counts file: what is published of each, and of the blocks whose ids begin with its id."""
    releases: list[Release] = []
    for release in read_releases(counts, schema):
        if releases and not release.block.startswith(releases[0].block):
            yield make_target(releases, learned)
            releases = []
        releases.append(release)
    if releases:
        yield make_target(releases, learned)


def make_target(releases: list[Release], learned: bool = False) -> Target:
    """The target of an area's release, followed by those of its blocks if they are distinguished."""
    area, *blocks = releases
    domain = with_block(area.schema.domain, [b.block for b in blocks]) if blocks else area.schema.domain
    known = {query.predicate: int(count) for query, count in zip(area.queries, area.lo, strict=True)}
    if learned:
        for index, block in enumerate(blocks):
            here = Predicate.of({BLOCK: [index]})
            known[here] = block.n
            known |= {query.predicate & here: int(count) for query, count in zip(block.queries, block.lo, strict=True)}
    counts = np.array(list(known.values()), dtype=np.int64)
    return Target(area.block, domain, area.n, tuple(known), counts, _blocks(blocks) if blocks and not learned else None)


def _blocks(blocks: list[Release]) -> BlockCounts:
    """The counts of the blocks, of queries that ask the same the first."""
    first: dict[Predicate, int] = {}
    for index, query in enumerate(blocks[0].queries):
        first.setdefault(query.predicate, index)
    counts = np.array([block.lo for block in blocks], dtype=np.int64)[:, list(first.values())]
    return BlockCounts(np.array([block.n for block in blocks], dtype=np.int64), tuple(first), counts)
