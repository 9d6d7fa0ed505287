"""How homogeneous the blocks came out: the shares of answers that are 0 and 1, the figures that the scales are fitted to."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from genverify.core.domain import DomainFile
from genverify.core.queries import Query
from genverify.microdata.settings import Synthetic
from genverify.microdata.synthetic.country import Country
from genverify.microdata.synthetic.country_of import synthesize


@dataclass(frozen=True)
class AnswerShares:
    """Among the answers on blocks of one size: the shares that are 0 and 1, and the number of blocks."""

    likeness: str
    homogeneity: float
    size: int
    blocks: int
    zeros: float
    ones: float


def answer_shares(
    tables: Iterable[pa.Table], queries: Sequence[Query], size: int, likeness: str = "", homogeneity: float = 1.0
) -> AnswerShares:
    """The shares of 0 and 1 among the answers to the queries on the occupied households of every block of this size."""
    answers = block_answers(pa.concat_tables([blocks_of_size(table, size) for table in tables]), queries)
    asked = max(1, answers.size)
    zeros, ones = int((answers == 0).sum()), int((answers == 1).sum())
    return AnswerShares(likeness, homogeneity, size, len(answers), zeros / asked, ones / asked)


def blocks_of_size(table: pa.Table, size: int) -> pa.Table:
    """The occupied households of the blocks that have exactly this many of them."""
    occupied = table.filter(pc.equal(table["VACS"], 0))
    sizes = occupied.group_by("block").aggregate([("block", "count")])
    chosen = sizes.filter(pc.equal(sizes["block_count"], size))["block"].combine_chunks()
    return occupied.filter(pc.is_in(occupied["block"], chosen))


def block_answers(households: pa.Table, queries: Sequence[Query]) -> npt.NDArray[np.int64]:
    """The answers (blocks x queries) on the blocks of these households."""
    coded = households["block"].combine_chunks().dictionary_encode()
    block, blocks = coded.indices.to_numpy(), len(coded.dictionary)
    records = {name: households[name].to_numpy() for name in households.column_names[1:]}
    counts = [np.bincount(block, query.predicate.matches(records), blocks) for query in queries]
    return np.array(counts, dtype=np.int64).reshape(len(queries), blocks).T


def calibrate(
    settings: Synthetic,
    seed: int,
    domain_file: DomainFile,
    country: Country,
    queries: Sequence[Query],
    multipliers: Sequence[float],
    size: int = 10,
) -> Iterator[AnswerShares]:
    """The shares of 0 and 1 on blocks of one size by kind of likeness and multiplier of homogeneity, all from one seed."""
    for kind, multiplier in product(country.likeness, multipliers):
        chosen = settings.model_copy(update={"likeness": kind, "homogeneity": multiplier})
        yield answer_shares(synthesize(chosen, seed, domain_file, country), queries, size, kind, multiplier)
