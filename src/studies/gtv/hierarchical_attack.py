"""The study of hierarchical noise: countries whose microdata are protected, the attack on them, and the paper's numbers."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from genverify.attack.evaluate import Weights, evaluate, ratio_interval
from genverify.attack.generate import generate_block
from genverify.attack.verify import claims_frame, verify_block
from genverify.model.domain import DomainFile
from genverify.model.errors import DataError
from genverify.model.query import Query
from genverify.model.release import Release
from genverify.model.settings import validate
from genverify.model.work import derive_seed
from genverify.report.figures import INK, PALETTE, say_source, subplots
from genverify.solve.program_settings import ProgramSettings
from studies.country.places import answer_shares
from studies.country.settings import Microdata, MicrodataProtection
from studies.country.sources import open_source
from studies.country.store import block_sizes, nation_types, read_records
from studies.gtv.protected_attack import judge, surprise
from studies.gtv.settings import HierarchicalCountry, HierarchicalNoise

# The countries: drawn with their homogeneity, then protected with their budget; and how that is calibrated.

ANSWERS = ("zeros", "ones")
TOLERANCE = {"answers of 0, %": 1.0, "answers of 1, %": 0.6}  # points, as over seeds of the main study


def microdata_of(
    microdata: Microdata, study: HierarchicalNoise, country: HierarchicalCountry
) -> tuple[Microdata, Microdata]:
    """The settings of a country as it is, and as it is protected; the same where it has no budget."""
    synthetic = microdata.synthetic.but(households=study.households, homogeneity=country.homogeneity)
    private = microdata.but(source="synthetic", synthetic=synthetic, protection=None)
    if country.rho is None:
        return private, private
    text = {"hierarchical": {"rho": country.rho, "shares": study.shares, "margins": study.margins}}
    return private, private.but(protection=validate(MicrodataProtection, text, "config.yaml: hierarchical"))


def choose(store: Path, domain: DomainFile, universe: str, study: HierarchicalNoise, seed: int) -> pd.DataFrame:
    """Some blocks that have, as protected, the number of households that the study asks for."""
    sizes = block_sizes(store, domain.universe(universe).keeps)
    fitting = sizes[sizes["n"] == study.size].rename(columns={"n": "n_households"})
    if len(fitting) < study.blocks:
        raise DataError(
            f"{len(fitting)} blocks have {study.size} households, {study.blocks} are wanted: "
            "lower hierarchical.blocks or raise hierarchical.households"
        )
    rng = np.random.default_rng(derive_seed(seed, "sample", "hierarchical"))
    return fitting.iloc[np.sort(rng.choice(len(fitting), study.blocks, replace=False))].reset_index(drop=True)


def calibration(
    microdata: Microdata, study: HierarchicalNoise, seed: int, domain: DomainFile, queries: Sequence[Query]
) -> Iterator[dict[str, Any]]:
    """The shares of answers 0 and 1 in percent after the noise of each budget, by the homogeneity before it."""
    for rho in dict.fromkeys(country.rho for country in study.countries.values()):
        for homogeneity in study.homogeneities:
            country = HierarchicalCountry(rho=rho, homogeneity=homogeneity)
            _, tables = open_source(microdata_of(microdata, study, country)[1], seed, domain, Counter())
            shares = answer_shares(tables, queries, study.size)
            percent = {name: 100 * shares[name] for name in ANSWERS}
            yield {"rho": rho, "homogeneity": homogeneity, "blocks": shares["blocks"], **percent}


def attack_exact(
    release: Release, settings: ProgramSettings, datasets: int, min_k: int, seed: int
) -> tuple[list[pd.DataFrame], dict[str, Any]]:
    """The claims of a block whose exact counts are published, if it has any, and its answers; every proof is checked."""
    generated = generate_block(release, settings.proving("The attack on protected microdata"), datasets, seed)
    result = verify_block(release, generated.records, settings, min_k)
    answers = {name: int((release.lo == value).sum()) for value, name in enumerate(ANSWERS)}
    row = {"block": release.block, "n_households": release.n, "answers": len(release.schema.queries), **answers}
    return ([claims_frame(result)] if result.claims else []), row


# What came out, beside the paper.

K, ANY_K = (6, 7, 8, 9), 0
PERCENTILES = {"median": "median", "percentile75": "p75", "percentile90": "p90", "maximum": "max"}
COLUMNS = ["country", "rho", "homogeneity", "number", "k", "paper", "ours", "low", "high", "agrees"]


@dataclass(frozen=True)
class Attacked:
    """A country after the attack: its blocks with their answers, its claims, and both stores."""

    name: str
    settings: HierarchicalCountry
    blocks: pd.DataFrame
    claims: pd.DataFrame
    private: Path
    protected: Path

    def rows(self, domain: DomainFile, universe: str, printed: Mapping[str, Any], seed: int) -> Iterator[tuple[Any, ...]]:
        """The rows of the table: numbers of the paper, then how many claims are true of the private blocks."""
        names = set(self.blocks["block"])
        private, protected = (read_records(store, domain, universe, names) for store in (self.private, self.protected))
        exact = self._shares(protected, printed)
        for number, k, said, part, whole in (*exact, *self._truth(private, protected)):
            yield self._row(number, k, said, *_ratio(part, whole, 100 if number.endswith("%") else 1, seed))
        keeps = domain.universe(universe).keeps
        nation = nation_types(self.protected, domain.domain, keeps)
        for chance in surprise(self.claims, self.blocks, self.protected, domain.domain, keeps, nation).to_dict("records"):
            for prior in ("tract", "state"):
                for key, quantile in PERCENTILES.items():
                    number = f"baseline under the {prior} prior, {key}, %"
                    if chance["k"] in K:
                        yield self._row(number, chance["k"], printed[key], 100 * chance[f"{prior}_{quantile}"])

    def _row(self, number: str, k: Any, said: Mapping[str, Any], *ours: float) -> tuple[Any, ...]:
        near = TOLERANCE.get(number, 0)
        least = said.get("at_least", said.get("about", -np.inf) - near)
        most = said.get("at_most", said.get("about", np.inf) + near)
        agrees = ("yes" if least <= ours[0] <= most else "no") if said else ""
        figures = np.round([*ours, np.nan, np.nan][:3], 3)
        return self.name, self.settings.rho, self.settings.homogeneity, number, k, said.get("paper", ""), *figures, agrees

    def _shares(self, protected: pd.DataFrame, printed: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
        """Numbers that are a share of answers, blocks or households: what it is called, k, the paper's, part, whole."""
        blocks = self.blocks.set_index("block")
        for number, answer in zip(TOLERANCE, ANSWERS, strict=True):
            yield number, ANY_K, printed[answer], blocks[answer], blocks["answers"]
        singled = {k: pd.Series(0, index=blocks.index) for k in K}
        for part in evaluate(self.claims, protected) if len(self.claims) else ():
            k = self.claims["k"].to_numpy()[part.claims]
            for value in K:
                singled[value][part.block] = part.represented(part.single & (k == value))
        one = pd.Series(1, index=blocks.index)
        for value in K:
            yield "blocks with a singleton claim, %", value, printed.get(f"blocks_k{value}", {}), singled[value] > 0, one
            said = printed.get(f"households_k{value}", {})
            yield "households singled out, %", value, said, singled[value], blocks["n_households"]

    def _truth(self, private: pd.DataFrame, protected: pd.DataFrame) -> Iterator[tuple[Any, ...]]:
        """What is true of the people: households that stood in their block before, claims, households singled out."""
        columns = [name for name in private.columns if name != "block"]
        before, after = (records.groupby(["block", *columns], observed=True).size() for records in (private, protected))
        both = pd.concat([before, after], axis=1).fillna(0).min(axis=1).groupby("block").sum()
        blocks = judge(self.claims, self.blocks, private).set_index("block")
        n, one = blocks["n_households"], pd.Series(1, index=blocks.index)
        yield "households as they were in their block, %", ANY_K, {}, both.reindex(blocks.index).fillna(0), n
        for number, claims, false in (
            ("claims", "claims", "false"),
            ("claims about one", "singleton_claims", "singleton_false"),
        ):
            yield f"{number}, per block", ANY_K, {}, blocks[claims], one
            yield f"{number}, true of the people, %", ANY_K, {}, blocks[claims] - blocks[false], blocks[claims]
        yield "people truly singled out, %", ANY_K, {}, blocks["households_singled_out"], n


def _ratio(part: pd.Series, whole: pd.Series, factor: int, seed: int) -> tuple[float, float, float]:
    """The ratio of two totals over blocks, with its 95 % interval; nothing where there is no whole."""
    above, below = (one.to_numpy(dtype=np.int64)[:, None] for one in (part, whole))
    if not below.sum():
        return np.nan, np.nan, np.nan
    low, high = ratio_interval(above, below, Weights(["all"] * len(above), seed))
    return factor * above.sum() / below.sum(), factor * low[0], factor * high[0]


# The figure: what is still verified, true and false; the blocks of Figure 3a; the baselines.


def plot_hierarchical(table: pd.DataFrame, label: str) -> Figure:
    """Three panels over the budgets, from no noise to the most."""
    rho = table.drop_duplicates("rho").set_index("country")["rho"]  # of countries with one budget the first
    ticks = ["none" if np.isnan(budget) else f"{budget:g}" for budget in rho]
    figure, (left, middle, right) = subplots(1, 3, height=2.6)

    def values(number: str, k: int = ANY_K) -> Any:
        chosen = table[(table["number"] == number) & (table["k"] == k)].set_index("country")
        return chosen["ours"].reindex(rho.index).to_numpy()

    at, each = np.arange(len(rho)), values("claims, per block")
    true = each * values("claims, true of the people, %") / 100
    left.bar(at, true, color=PALETTE[0], width=0.6, label="true of the people")
    left.bar(at, each - true, bottom=true, color=PALETTE[1], width=0.6, hatch="////", edgecolor="white", lw=0, label="false")
    left.set(ylabel="claims per block", ylim=(0, 1.25 * max(1, np.nanmax(each))))
    for axes, number in ((middle, "blocks with a singleton claim, %"), (right, "baseline under the tract prior, median, %")):
        for colour, mark, k in zip(PALETTE, ("o-", "s--", "D:", "^-."), K, strict=False):
            axes.plot(at, values(number, k), mark, ms=3.5, color=colour, label=f"k = {k}")
    middle.axhline(40, color=INK, lw=0.8, ls=":")
    middle.annotate("paper, k = 8", (0, 41), fontsize=7, color=INK)
    middle.set(ylabel="blocks with a claim about one, %", ylim=(0, 125))
    right.axhline(2, color=INK, lw=0.8, ls=":")
    right.annotate("paper: under 2", (0, 1.2), fontsize=7, color=INK)
    right.set(ylabel="median baseline, tract prior, %", ylim=(0, 1.35 * right.get_ylim()[1]))
    for axes in (left, middle, right):
        axes.set_xticks(at, ticks)
        axes.set_xlabel(r"noise: budget $\rho$ of the country")
        axes.legend(fontsize=7, ncols=2, loc="upper center", frameon=False, columnspacing=1.2)
    return say_source(figure, label)
