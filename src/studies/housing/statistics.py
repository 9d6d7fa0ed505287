"""
Noise on the statistics of the housing study and the post-processing of appendix F.

Census counts: N, the occupied households, is invariant. Sizes, races and children get noise; negative counts become 0; sizes
and races are rescaled to add up to N; P is the sum of the sizes with 7 or more as 7; children are at most P.

Statistics of properties: HUD_N and HUD_UNITS are invariant. The counts behind the percentages and HUD_P get noise and are
made consistent, then published as whole percentages again. As in the paper, persons get the noise of households: a household
that comes or goes changes HUD_P and CHILDREN by more than one, so the stated rho is that of the paper's accounting.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
from pydantic import Field

from genverify.core.arraytypes import Ints
from genverify.core.closed import Section, validate
from genverify.core.errors import DataError, nearest
from genverify.core.files import read_yaml
from genverify.core.seeds import derive_seed
from genverify.papers.housing.published.statistics import whole_percent
from genverify.papers.housing.settings import Condition
from genverify.protect.budget import as_written, uniform_variance, variance
from genverify.protect.noise import Noise, capped, rescaled

ALL, PERSONS = "N", "P"
KINDS = SIZES, RACES, CHILDREN = "SIZE", "RACE", "CHILDREN"
HUD_ALL, HUD_UNITS, HUD_PERSONS = "HUD_N", "HUD_UNITS", "HUD_P"


class QueryBudget(Section):
    tables: str
    share: Annotated[float, Field(gt=0, le=1)]
    cells: Annotated[int, Field(ge=1)]


class BudgetFile(Section):
    """data/housing/budget.yaml: rho by group of tables, and the share of each kind of query."""

    tables: dict[str, float]
    queries: dict[str, QueryBudget]

    @property
    def rho(self) -> Fraction:
        """The whole budget."""
        return sum((as_written(rho, f"rho of {name} tables") for name, rho in self.tables.items()), Fraction(0))

    def variances(self) -> dict[str, Fraction]:
        """The variance of the noise of each kind of query."""
        return {name: self._variance(name, query) for name, query in self.queries.items()}

    def _variance(self, name: str, query: QueryBudget) -> Fraction:
        if query.tables not in self.tables:
            raise DataError(f"budget of {name}: no tables {query.tables!r}: {nearest(query.tables, list(self.tables))}")
        rho = as_written(self.tables[query.tables], f"rho of {query.tables} tables")
        return variance(rho, as_written(query.share, f"share of {name}") / query.cells)


def read_budget(path: Path) -> BudgetFile:
    """The budgets of a file, checked."""
    return validate(BudgetFile, read_yaml(path), str(path))


def with_noise(
    statistics: pd.DataFrame, condition: Condition, budget: BudgetFile, published: Mapping[str, Any], seed: int
) -> pd.DataFrame:
    """The statistics as a condition (noise, rho, noise_hud) publishes them; without a rho, the whole budget of the file."""
    rho = budget.rho if condition.rho is None else as_written(condition.rho, "rho")
    if condition.noise != "none":
        variances = budget.variances() if condition.noise == "das" else uniform_variances(statistics, rho)
        rng = np.random.default_rng(derive_seed(seed, "housing", "noise", "census"))
        statistics = noisy_census(statistics, variances, rng)
    if condition.noise_hud:
        rng = np.random.default_rng(derive_seed(seed, "housing", "noise", "hud"))
        statistics = noisy_hud(statistics, published, rho, rng)
    return statistics


def uniform_variances(statistics: pd.DataFrame, rho: Fraction) -> dict[str, Fraction]:
    """By kind of query, where rho is divided evenly among the census counts that get noise."""
    return dict.fromkeys(KINDS, uniform_variance(rho, sum(len(_columns(statistics, kind)) for kind in KINDS)))


def noisy_census(statistics: pd.DataFrame, variances: Mapping[str, Fraction], rng: np.random.Generator) -> pd.DataFrame:
    """The statistics with noise on the census counts, its variance by kind of query, consistent again; the same columns."""
    kinds = {kind: _columns(statistics, kind) for kind in KINDS}
    names = [name for kind in kinds.values() for name in kind]
    noise = Noise(tuple(variances[kind] for kind, columns in kinds.items() for _ in columns))
    drawn = noise.add(statistics[names].to_numpy(), rng).clip(min=0)
    noisy = dict(zip(names, drawn.T, strict=True))
    households = statistics[ALL].to_numpy()
    for kind in (SIZES, RACES):
        noisy |= _spread(noisy, kinds[kind], rescaled, households)
    noisy[PERSONS] = np.sum([size * noisy[name] for size, name in enumerate(kinds[SIZES], 1)], axis=0)
    noisy[CHILDREN] = np.minimum(noisy[CHILDREN], noisy[PERSONS])
    return statistics.assign(**noisy)


def _columns(statistics: pd.DataFrame, kind: str) -> list[str]:
    """The columns of a kind of query: SIZE_1, SIZE_2, ..., or the one of that name."""
    numbered = [name for name in statistics.columns if name.startswith(kind + "_")]
    return sorted(numbered, key=lambda name: int(name.rsplit("_", 1)[1])) or [kind]


def noisy_hud(
    statistics: pd.DataFrame,
    published: Mapping[str, Any],
    rho: Fraction,
    rng: np.random.Generator,
    counts: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """
    The statistics with noise on what is published of the properties, rho divided evenly among its queries; the same columns.

    `counts` hold, in columns of the same names, the counts behind the percentages. Without them, the counts nearest to the
    printed percentages take their place: the same up to 100 households.
    """
    lines = published["percentages"]
    known = counts_behind(statistics, lines) if counts is None else counts
    names = [*lines, HUD_PERSONS]
    exact = known.assign(**{HUD_PERSONS: statistics[HUD_PERSONS]})[names].to_numpy(dtype=np.int64)
    drawn = Noise((uniform_variance(rho, len(names)),) * len(names)).add(exact, rng)
    whole = {name: statistics[name].to_numpy() for name in (HUD_ALL, HUD_UNITS)}
    noisy = consistent_hud(dict(zip(names, drawn.T, strict=True)), lines, whole)
    percent = {name: whole_percent(noisy[name], whole[line["of"]]) for name, line in lines.items()}
    return statistics.assign(**percent, **{HUD_PERSONS: np.maximum(noisy[HUD_PERSONS], whole[HUD_ALL])})


def counts_behind(statistics: pd.DataFrame, lines: Mapping[str, Any]) -> pd.DataFrame:
    """The counts nearest to the printed percentages."""
    return pd.DataFrame({name: (2 * statistics[name] * statistics[line["of"]] + 100) // 200 for name, line in lines.items()})


def consistent_hud(noisy: Mapping[str, Ints], lines: Mapping[str, Any], whole: Mapping[str, Ints]) -> dict[str, Ints]:
    """
    Counts from 0 to their whole; units by bedrooms add up to the units; households with children are no more than the
    households, nor are those of disjoint races; who holds several races' counts holds at least their sum.
    """
    counts = dict(noisy) | {name: noisy[name].clip(0, whole[line["of"]]) for name, line in lines.items()}
    counts |= _spread(counts, [name for name, line in lines.items() if line["of"] == HUD_UNITS], rescaled, whole[HUD_UNITS])
    counts |= _spread(counts, [name for name, line in lines.items() if line.get("children")], capped, whole[HUD_ALL])
    races = {name: set(line["where"]["RACE"]) for name, line in lines.items() if "RACE" in line.get("where", {})}
    parts = {name: codes for name, codes in races.items() if not any(other < codes for other in races.values())}
    _check_disjoint(parts)
    counts |= _spread(counts, list(parts), capped, whole[HUD_ALL])
    for name in races.keys() - parts.keys():
        inside = sum(counts[part] for part, codes in parts.items() if codes <= races[name])
        counts[name] = np.maximum(counts[name], inside)
    return counts


def _check_disjoint(parts: Mapping[str, set[int]]) -> None:
    for (one, codes), (other, others) in combinations(parts.items(), 2):
        if codes & others:
            raise DataError(
                f"{one} and {other} share the race {min(codes & others)}: noise is made consistent for disjoint races"
            )


def _spread(counts: Mapping[str, Ints], names: Sequence[str], how: Any, totals: Ints) -> dict[str, Ints]:
    """The named counts, rescaled or capped together."""
    if not names:
        return {}
    spread = how(np.column_stack([counts[name] for name in names]), totals)
    return dict(zip(names, spread.T, strict=True))
