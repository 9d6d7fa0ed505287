"""Tables 4, 5 and 7 over generators and seeds: the paper's number, ours with its interval, the range over all countries."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from genverify.attack.truth import block_weights, total_interval
from genverify.papers.gtv.generators.count import TABLES
from genverify.papers.gtv.tables.households import PAPER_K
from genverify.show.markdown import bullets, document, markdown_table

COUNTRY_MEDIAN = "country_median"
PAPER_BLOCKS = 250
NOTES = (
    "Households per block. ours: the first generator and seed; low and high: 95 % interval, blocks resampled; least and "
    "most: the range over all generators and seeds: two shares of answers do not determine who lives beside whom.",
    "paper: totals divided by 250 blocks (its own averages of the country-median blocks are divided by 232).",
    "All generators are calibrated to the paper's shares of answers that are 0 and 1 and to nothing else.",
)


@dataclass(frozen=True)
class Country:
    """What came out of one generator and seed: households per block, table and k; and the blocks."""

    likeness: str
    seed: int
    counts: pd.DataFrame
    blocks: pd.DataFrame

    @property
    def name(self) -> str:
        return f"{self.likeness}, seed {self.seed}"


def generators_table(countries: Sequence[Country], printed: Mapping[str, Any], seed: int, label: str) -> pd.DataFrame:
    """One row per design, table and k, and per share of blocks or answers: paper, ours, interval, range, each country."""
    rows = [*_represented(countries, printed, seed), *_shares(countries, printed, seed)]
    names = ["design", "number", "k", "paper", "ours", "low", "high", "least", "most", *(one.name for one in countries)]
    return pd.DataFrame(rows, columns=names).round(3).assign(data=label)


def _represented(countries: Sequence[Country], printed: Mapping[str, Any], seed: int) -> Iterator[tuple[Any, ...]]:
    first = countries[0].counts
    for design in sorted(first["design"].unique()):
        for table in TABLES:
            paper = paper_totals(printed, table, design)
            tables = [_by_block(country.counts, design, table) for country in countries]
            means, (low, high) = np.array([found.mean(axis=0) for found in tables]), _interval(tables[0], design, seed)
            for place, k in enumerate(PAPER_K):
                column = means[:, place]
                figures = (column[0], low[place], high[place], column.min(), column.max(), *column)
                yield design, table, str(k), round(paper.get(k, np.nan) / PAPER_BLOCKS, 3), *figures


def paper_totals(printed: Mapping[str, Any], table: str, design: str) -> Mapping[int, float]:
    """The paper's totals by k; Table 5 is about one design only."""
    nothing: dict[int, float] = {}
    if table in ("Table 4", "Table 7"):
        of_table = printed[table.replace("Table ", "table")]["designs"]
        return of_table[design]["total"] if design in of_table else nothing
    of_table = printed["table5"]
    variant, _ = TABLES[table]
    return of_table["variants"][variant]["total"] if design == of_table["design"] else nothing


def _by_block(counts: pd.DataFrame, design: str, table: str) -> "np.ndarray[Any, np.dtype[np.int64]]":
    chosen = counts[(counts["design"] == design) & (counts["table"] == table)]
    wide = chosen.pivot(index="block", columns="k", values="households").sort_index()
    return wide[list(PAPER_K)].to_numpy(dtype=np.int64)


def _interval(values: "np.ndarray[Any, Any]", design: str, seed: int) -> tuple[Any, Any]:
    low, high = total_interval(values, block_weights([design] * len(values), seed))
    return low / len(values), high / len(values)


def _paper_shares(printed: Mapping[str, Any]) -> dict[str, Any]:
    """What the paper says of its country-median blocks: two numbers, and two in words."""
    variants, numbers = printed["table5"]["variants"], printed["numbers"]
    return {
        "answers of 0, %": variants["no_zeros"]["removed"],
        "answers of 1, %": variants["no_ones"]["removed"],
        "blocks with a k = 8 singleton, %": numbers["blocks_k8"]["paper"],
        "unique blocks, %": numbers["unique_blocks"]["paper"],
    }


def _shares(countries: Sequence[Country], printed: Mapping[str, Any], seed: int) -> Iterator[tuple[Any, ...]]:
    """Shares over the country-median blocks, if there is such a design: the calibrated ones, and two that are not."""
    if COUNTRY_MEDIAN not in set(countries[0].counts["design"]):
        return
    tables = [_of_blocks(country) for country in countries]
    means, (low, high) = np.array([found.mean(axis=0) for found in tables]), _interval(tables[0], COUNTRY_MEDIAN, seed)
    for place, (name, paper) in enumerate(_paper_shares(printed).items()):
        column = means[:, place]
        yield COUNTRY_MEDIAN, name, "", paper, column[0], low[place], high[place], column.min(), column.max(), *column


def _of_blocks(country: Country) -> "np.ndarray[Any, Any]":
    """Per country-median block, in percent: answers that are 0 and 1, whether it has a singleton at k = 8, is unique."""
    counts = country.counts[country.counts["design"] == COUNTRY_MEDIAN]
    eight = counts[(counts["table"] == "Table 4") & (counts["k"] == 8)].set_index("block")["households"] > 0
    blocks = country.blocks.set_index("block").loc[eight.index]
    shares = [blocks["zeros"] / blocks["queries"], blocks["ones"] / blocks["queries"], eight, blocks["unique"]]
    return 100 * np.stack([share.to_numpy(dtype=np.float64) for share in shares], axis=1)


def generators_text(table: pd.DataFrame, label: str) -> str:
    """The table as a page, a section for each design and number."""
    parts = []
    for design, rows in table.groupby("design", sort=False):
        parts += [f"## {design}", markdown_table([*rows.columns[1:-1]], rows.iloc[:, 1:-1].to_numpy().tolist(), left=2)]
    return document("Generators of the synthetic country", label, [*parts, bullets(NOTES)])
