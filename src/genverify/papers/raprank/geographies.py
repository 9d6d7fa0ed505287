"""Baselines of the paper: the rows of the nation, and of the state, county and tract of an area, ranked by frequency."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from genverify.core.arraytypes import Ints
from genverify.core.domain import Domain
from genverify.core.predicates import Predicate
from genverify.core.seeds import derive_seed
from genverify.microdata.distinct import NOTHING, Radix, Types, types_of_state
from genverify.microdata.store import GEOGRAPHY
from genverify.papers.raprank.ranking import Codes, ConfidenceSet, rank_counts

NATIONAL = "national"
WIDTHS = {"tract": GEOGRAPHY["tract"], "county": GEOGRAPHY["county"], "state": GEOGRAPHY["state"], NATIONAL: 0}
"""The baselines from the finest to the coarsest, and how many digits of an area's id name them."""


def baselines_above(area: str) -> dict[str, str]:
    """
    The geographies that contain an area and are larger than it, by name.

    >>> baselines_above("01001000100")
    {'county': '01001', 'state': '01', 'national': ''}
    """
    return {name: area[:width] for name, width in WIDTHS.items() if width < len(area)}


def count_rows(microdata: Path, areas: list[str], domain: Domain, keeps: Predicate) -> dict[str, Types]:
    """
    The distinct rows of every geography above the areas ("" is the nation), and how often each occurs.

    One state is in memory at a time, and of the nation its distinct rows. As in the paper they hold the area itself.
    """
    radix = Radix(domain)
    wanted = {geography for area in areas for geography in baselines_above(area).values()}
    counted, nation = {}, NOTHING
    for state in sorted(path.stem for path in microdata.glob("*.parquet")):
        inside = pd.Index(sorted(g for g in wanted if g and g.startswith(state)), dtype="str")
        local, whole = types_of_state(microdata, state, radix, keeps, inside)
        for place, geography in enumerate(inside):
            counted[str(geography)] = _of_area(local, radix, place)
        nation += whole
    return counted | ({"": nation} if "" in wanted else {})


def _of_area(types: Types, radix: Radix, place: int) -> Types:
    first, last = np.searchsorted(types.keys, [place * radix.total, (place + 1) * radix.total])
    return Types(types.keys[first:last] - place * radix.total, types.times[first:last])


def rank_types(types: Types, domain: Domain, seed: int, most: int) -> ConfidenceSet:
    """The most frequent rows of a geography in order, at most `most` of them."""
    radix = Radix(domain)
    rows: Codes = np.stack([radix.codes(types.keys, column) for column in range(len(domain.names))], axis=1)
    return rank_counts(rows, types.times, seed, most)


def populate_blocks(ranked: ConfidenceSet, blocks: Ints, seed: int, most: int) -> ConfidenceSet:
    """
    The rows with a BLOCK as the paper populates it: as in D (`blocks`: the block of each row of D), apart from the rest.

    Exact: the frequency of (row, block) is the product of both. The `most` best pairs need the `most` best rows only.
    """
    codes, times = np.unique(blocks, return_counts=True)
    rows = np.repeat(ranked.rows[:most], len(codes), axis=0)
    pairs = np.column_stack([rows, np.tile(codes, len(rows) // len(codes))]).astype(np.int64)
    return rank_counts(pairs, np.outer(ranked.frequency[:most], times).ravel(), seed, most)


def rank_geographies(
    counted: dict[str, Types], domain: Domain, areas: dict[str, int], seed: int
) -> Iterator[tuple[str, ConfidenceSet]]:
    """Every geography with its ranking, as long as the longest list that one of its areas asks for (area: rows wanted)."""
    for geography, types in counted.items():
        most = max(wanted for area, wanted in areas.items() if area.startswith(geography))
        yield geography, rank_types(types, domain, derive_seed(seed, "ties", "geography", geography), most)
