"""How homogeneous the blocks came out: the shares of answers that are 0 and 1, the figures that the scales are fitted to."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from genverify.domain import DomainFile
from genverify.microdata.synthetic.country import Country
from genverify.microdata.synthetic.generate import SyntheticSettings, synthesize
from genverify.tables import Query


@dataclass(frozen=True)
class AnswerShares:
    """Among the answers on blocks of one size: the shares that are 0 and 1, and the number of blocks."""

    homogeneity: float
    size: int
    blocks: int
    zeros: float
    ones: float


def answer_shares(tables: Iterable[pa.Table], queries: Sequence[Query], size: int, homogeneity: float = 1.0) -> AnswerShares:
    """The shares of 0 and 1 among the answers to the queries on the occupied households of every block of this size."""
    blocks = zeros = ones = 0
    for table in tables:
        answers = block_answers(table, queries, size)
        blocks += len(answers)
        zeros += int((answers == 0).sum())
        ones += int((answers == 1).sum())
    asked = max(1, blocks * len(queries))
    return AnswerShares(homogeneity, size, blocks, zeros / asked, ones / asked)


def block_answers(table: pa.Table, queries: Sequence[Query], size: int) -> npt.NDArray[np.int64]:
    """The answers (blocks x queries) on the blocks of a table that have this many occupied households."""
    occupied = table.filter(pc.equal(table["VACS"], 0)).combine_chunks()
    sizes = occupied.group_by("block").aggregate([("block", "count")])
    chosen = sizes.filter(pc.equal(sizes["block_count"], size))["block"]
    block = pc.index_in(occupied["block"], chosen.combine_chunks()).drop_null()
    kept = occupied.filter(pc.is_in(occupied["block"], chosen.combine_chunks()))
    records = {name: kept[name].to_numpy() for name in kept.column_names[1:]}
    counts = [np.bincount(block, query.predicate.matches(records), len(chosen)) for query in queries]
    return np.array(counts, dtype=np.int64).reshape(len(queries), len(chosen)).T


def calibrate(
    settings: SyntheticSettings,
    domain_file: DomainFile,
    country: Country,
    queries: Sequence[Query],
    multipliers: Sequence[float],
    size: int = 10,
) -> Iterator[AnswerShares]:
    """The shares of 0 and 1 on blocks of one size for several multipliers of the homogeneity, all from the same seed."""
    for multiplier in multipliers:
        chosen = replace(settings, homogeneity=multiplier)
        yield answer_shares(synthesize(chosen, domain_file, country), queries, size, multiplier)
