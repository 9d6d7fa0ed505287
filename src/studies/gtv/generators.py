"""Tables 4, 5 and 7 and baselines over generators of the country and seeds, the paper's beside ours with its interval."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain, product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd

from genverify.attack.evaluate import Weights, check_against_microdata, evaluate, total_interval
from genverify.attack.generate import generate_block
from genverify.attack.verify import claim_columns, verify_block
from genverify.model.domain import DomainFile, Predicate
from genverify.model.release import Release
from genverify.report.pages import bullets, document, markdown_table
from genverify.solve.program_settings import ProgramSettings
from studies.country.composition import GROUP
from studies.country.sample import choose_blocks
from studies.country.settings import Microdata, Sample
from studies.country.sources import open_source
from studies.country.store import block_sizes, read_microdata, write_microdata
from studies.gtv.baselines import fit_baselines
from studies.gtv.summary import PRIORS
from studies.gtv.tables import PAPER_K
from studies.gtv.withheld_zeros import WITHHELD, publish_less, survivors

# The attack on a block for Tables 4, 5 and 7 at once: its claims, and which are left where answers are withheld.


def attack_block(
    release: Release, settings: ProgramSettings, K: int, min_k: int, seed: int
) -> tuple[pd.DataFrame, dict[str, object]]:
    """The claims, and which variants' answers verify each (as in Table 5, those about one household); and the block."""
    generated = generate_block(release, settings, K, seed)
    claims = verify_block(release, generated.records, settings, min_k).claims
    frame = claim_columns(claims, release.schema.domain.names)
    frame.insert(0, "block", release.block)
    single = np.array([claim.m == 1 for claim in claims], dtype=bool)
    singles = [claim for claim in claims if claim.m == 1]
    for variant, withhold in WITHHELD.items():
        verified = np.full(len(claims), not withhold)
        if withhold:
            verified[single] = survivors(publish_less(release, withhold, ()), singles, settings, check=True)[0]
        frame[f"verified_{variant}"] = verified
    zeros, ones = (int((release.lo == answer).sum()) for answer in (0, 1))
    row = {"block": release.block, "queries": len(release.schema.queries), "zeros": zeros, "ones": ones}
    return frame, row | {"unique": generated.unique}


# Households that the claims of a country represent (footnote 6), for Tables 4, 5 and 7.

TABLES = {"Table 4": ("paper", True), "Table 7": ("paper", False)}
TABLES |= {f"Table 5, {variant}": (variant, True) for variant in WITHHELD if variant != "paper"}
"""What each table counts: the variant, and whether only claims about a single household."""


def count_represented(claims: pd.DataFrame, records: pd.DataFrame, sample: pd.DataFrame) -> pd.DataFrame:
    """Per sampled block and design, table and k: the households that a claim represents. Every claim is checked."""
    check_against_microdata(claims, records)
    counted = pd.DataFrame(list(_rows(claims, records)), columns=["block", "table", "k", "households"])
    grid = pd.MultiIndex.from_product([list(TABLES), PAPER_K], names=["table", "k"]).to_frame(index=False)
    full = sample[["block", "design", "n_households"]].merge(grid, how="cross")
    full = full.merge(counted, how="left", on=["block", "table", "k"])
    return full.assign(households=full["households"].fillna(0).astype("int32"))


def _rows(claims: pd.DataFrame, records: pd.DataFrame) -> Iterator[tuple[str, str, int, int]]:
    for own in evaluate(claims, records):
        of_block = claims.iloc[own.claims]
        k = of_block["k"].to_numpy()
        for table, (variant, single) in TABLES.items():
            chosen = of_block[f"verified_{variant}"].to_numpy(dtype=bool) & (own.single | (not single))
            for value in np.unique(k[chosen]):
                yield own.block, table, int(value), own.represented(chosen & (k == value))


# A country of one generator and one seed: the sampled blocks, and the households that live there.


def with_blocks(sample: Sample, per_state: int) -> Sample:
    """The designs of the study, each with the same number of blocks of every state; no design of whole states."""
    designs = {name: design.but(blocks_per_state=per_state) for name, design in sample.designs.items() if design}
    return sample.but(designs=designs, all_blocks={})


@contextmanager
def stored_country(microdata: Microdata, likeness: str, seed: int, domain: DomainFile, kept_near: Path) -> Iterator[Path]:
    """The country that the main study draws with this generator and seed, on disk only while it is needed."""
    chosen = microdata.but(source="synthetic", synthetic=microdata.synthetic.but(likeness=likeness))
    _, tables = open_source(chosen, seed, domain, Counter())
    with TemporaryDirectory(dir=kept_near) as folder:
        store = Path(folder) / "microdata"
        write_microdata(tables, store, domain.domain)
        yield store


def draw_country(
    microdata: Microdata, likeness: str, sample: Sample, seed: int, domain: DomainFile, kept_near: Path
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The sampled blocks (block, design, size) of a country, and their records."""
    keeps: Predicate = domain.universe(sample.universe).keeps
    with stored_country(microdata, likeness, seed, domain, kept_near) as store:
        blocks = choose_blocks(block_sizes(store, keeps), sample, seed)
        records = read_microdata(store, blocks=set(blocks["block"])).to_pandas()
    return blocks, records[keeps.matches(dict(records.items()))].reset_index(drop=True)


def singleton_baselines(
    claims: pd.DataFrame, sample: pd.DataFrame, store: Path, file: DomainFile, universe: str
) -> pd.DataFrame:
    """Baseline probabilities (equation 4) of the claims about a single household: block, design, k, a column per prior."""
    singles = claims[claims["m"] == 1].merge(sample[["block", "design"]], on="block")
    chosen = file.universe(universe)
    found, _ = fit_baselines(singles, sample, store, file.domain, file.domain.restrict(chosen.codes), chosen.keeps)
    return found[["block", "design", "k", *PRIORS]]


# Tables 4, 5 and 7 over generators and seeds: the paper's number, ours with its interval, the range over all countries.

COUNTRY_MEDIAN = "country_median"
RACES = {1: "one race and origin", 2: "two", 3: "three or more"}
"""How many combinations of race and origin the households of a block have; few blocks of ten have more than three."""
PERCENTILES = {"median": 50, "percentile75": 75, "percentile90": 90, "maximum": 100}
BASELINE_K = (6, 7, 8, 9)
RESAMPLES = 200  # of blocks, for the intervals of percentiles
Pools = Mapping[str, Sequence[int]]  # a generator, and its countries by number
PAPER_BLOCKS = 250  # of each design in the paper: its totals are divided by it
TABLE_NOTES = (
    "Households per block. A column of a generator: the blocks of its seeds pooled; low and high: 95 % interval, blocks "
    "resampled; least and most: the range over all generators and seeds: two shares of answers do not determine who lives "
    "beside whom.",
    "paper: totals divided by 250 blocks (its own averages of the country-median blocks are divided by 232).",
    "All generators are calibrated to the paper's shares of answers that are 0 and 1 and to nothing else.",
)


@dataclass(frozen=True)
class Country:
    """What came out of one generator and seed: households per block, table and k; the blocks; baselines of single claims."""

    likeness: str
    seed: int
    counts: pd.DataFrame
    blocks: pd.DataFrame
    baselines: pd.DataFrame

    @property
    def name(self) -> str:
        return f"{self.likeness}, seed {self.seed}"

    def by_races(self) -> "Country":
        """The same with further designs: the blocks of ten by the number of races and origins in them (`races`)."""
        words = self.blocks.set_index("block")["races"].clip(upper=max(RACES)).map(RACES)

        def split(frame: pd.DataFrame) -> pd.DataFrame:
            own = frame[frame["design"] == COUNTRY_MEDIAN]
            return pd.concat([frame, own.assign(design=f"{COUNTRY_MEDIAN}, " + own["block"].map(words))], ignore_index=True)

        return replace(self, counts=split(self.counts), baselines=split(self.baselines))


def count_races(records: pd.DataFrame) -> "pd.Series[int]":
    return records.drop_duplicates(["block", *GROUP])["block"].value_counts()


def generators_table(countries: Sequence[Country], printed: Mapping[str, Any], seed: int, label: str) -> pd.DataFrame:
    """One row per design, table and k, share or baseline: paper, each generator with its interval, range, each country."""
    pools: dict[str, list[int]] = {}
    countries = [country.by_races() for country in countries]
    for i, country in enumerate(countries):
        pools.setdefault(country.likeness, []).append(i)
    rows = [*_represented(countries, pools, printed, seed), *_shares(countries, pools, printed, seed)]
    rows += _baselines(countries, pools, printed, seed)
    columns = [name + end for name in pools for end in ("", "_low", "_high")]
    names = ["design", "number", "k", "paper", *columns, "least", "most", *(one.name for one in countries)]
    return pd.DataFrame(rows, columns=names).round(3).assign(data=label)


def _means(tables: Sequence["np.ndarray[Any, Any]"], pools: Pools, design: str, seed: int) -> Iterator[tuple[float, ...]]:
    """For each column of blocks x columns: mean and interval of each pool, the range over countries, and each country."""
    pooled = [np.concatenate([tables[i] for i in members]) for members in pools.values()]
    ends = [_interval(values, design, seed) for values in pooled]
    means = np.array([values.mean(axis=0) for values in tables])
    for c in range(means.shape[1]):
        by_pool = [(values[:, c].mean(), low[c], high[c]) for values, (low, high) in zip(pooled, ends, strict=True)]
        yield *chain.from_iterable(by_pool), means[:, c].min(), means[:, c].max(), *means[:, c]


def _represented(
    countries: Sequence[Country], pools: Pools, printed: Mapping[str, Any], seed: int
) -> Iterator[tuple[Any, ...]]:
    for design, table in product(_designs(countries), TABLES):
        paper = paper_totals(printed, table, design)
        tables = [_by_block(country.counts, design, table) for country in countries]
        for k, figures in zip(PAPER_K, _means(tables, pools, design, seed), strict=True):
            yield design, table, str(k), round(paper.get(k, np.nan) / PAPER_BLOCKS, 3), *figures


def _designs(countries: Sequence[Country]) -> list[str]:
    """The designs of which every country has blocks."""
    return sorted(set.intersection(*(set(country.counts["design"]) for country in countries)))


def paper_totals(printed: Mapping[str, Any], table: str, design: str) -> Mapping[int, float]:
    """The paper's totals by k, beside a part of a design those of all of it; Table 5 is about one design only."""
    nothing: dict[int, float] = {}
    design = design.split(",")[0]
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
    low, high = total_interval(values, Weights([design] * len(values), seed))
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


def _shares(countries: Sequence[Country], pools: Pools, printed: Mapping[str, Any], seed: int) -> Iterator[tuple[Any, ...]]:
    """Shares over the country-median blocks, if there is such a design: the calibrated ones, and two that are not."""
    for design in [name for name in _designs(countries) if name.startswith(COUNTRY_MEDIAN)]:
        rows = _means([_of_blocks(country, design) for country in countries], pools, design, seed)
        for (name, paper), figures in zip(_paper_shares(printed).items(), rows, strict=True):
            yield design, name, "", paper, *figures


def _of_blocks(country: Country, design: str) -> "np.ndarray[Any, Any]":
    """Per block of a design, in percent: answers that are 0 and 1, whether it has a singleton at k = 8, is unique."""
    counts = country.counts[country.counts["design"] == design]
    eight = counts[(counts["table"] == "Table 4") & (counts["k"] == 8)].set_index("block")["households"] > 0
    blocks = country.blocks.set_index("block").loc[eight.index]
    shares = [blocks["zeros"] / blocks["queries"], blocks["ones"] / blocks["queries"], eight, blocks["unique"]]
    return 100 * np.stack([share.to_numpy(dtype=np.float64) for share in shares], axis=1)


def _baselines(
    countries: Sequence[Country], pools: Pools, printed: Mapping[str, Any], seed: int
) -> Iterator[tuple[Any, ...]]:
    """Percentiles of the baseline probabilities of claims about a single household, in percent."""
    for design, prior, (key, percentile), k in product(_designs(countries), PRIORS, PERCENTILES.items(), BASELINE_K):
        rows = [one.baselines[(one.baselines["design"] == design) & (one.baselines["k"] == k)] for one in countries]
        blocks = [one.counts.loc[one.counts["design"] == design, "block"].unique() for one in countries]
        figures = list[float]()
        for members in pools.values():  # two countries may name two blocks alike
            apart = pd.concat([rows[i].assign(block=f"{i}/" + rows[i]["block"]) for i in members])
            every = pd.Index([f"{i}/{block}" for i in members for block in blocks[i]])
            figures += [_percentile(apart[prior], percentile), *_resampled(apart, prior, percentile, every, seed)]
        each = pd.Series([_percentile(part[prior], percentile) for part in rows])
        name = f"baseline under the {prior} prior, {key}, %"
        yield design, name, str(k), printed["numbers"][key]["paper"], *figures, each.min(), each.max(), *each


def _percentile(values: "pd.Series[float]", percentile: float) -> float:
    return 100 * float(np.percentile(values, percentile)) if len(values) else np.nan


def _resampled(rows: pd.DataFrame, prior: str, percentile: float, blocks: pd.Index, seed: int) -> tuple[float, float]:
    """95 % interval of a percentile over claims, whole blocks resampled."""
    if rows.empty:
        return np.nan, np.nan
    ordered = rows.sort_values(prior)
    chance = np.full(len(blocks), 1 / len(blocks))
    drawn = np.random.default_rng(seed).multinomial(len(blocks), chance, RESAMPLES)
    reached = np.take(drawn, blocks.get_indexer(pd.Index(ordered["block"])), axis=1).cumsum(axis=1)
    held = reached[:, -1] > 0
    place = (reached[held] >= percentile / 100 * reached[held, -1:]).argmax(axis=1)
    low, high = np.percentile(100 * ordered[prior].to_numpy()[place], (2.5, 97.5))
    return float(low), float(high)


def generators_text(table: pd.DataFrame, label: str) -> str:
    parts = []
    for design, rows in table.groupby("design", sort=False):
        parts += [f"## {design}", markdown_table([*rows.columns[1:-1]], rows.iloc[:, 1:-1].to_numpy().tolist(), left=2)]
    return document("Generators of the synthetic country", label, [*parts, bullets(TABLE_NOTES)])
