"""What the census and HUD publish about the blocks of properties, under every condition of protection."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
from pydantic import Field

from genverify.model.arrays import Flags, Ints
from genverify.model.domain import Predicate
from genverify.model.errors import DataError, nearest
from genverify.model.files import read_yaml
from genverify.model.settings import Section, validate
from genverify.model.work import derive_seed
from studies.country.noise import Noise, as_written, capped, rescaled, uniform_variance, variance
from studies.country.store import GEOGRAPHY
from studies.housing.households import LARGEST, property_households
from studies.housing.settings import Condition

RACES = 14  # seven of the householder, each of Hispanic origin or not: the lines of the census table
SIZE_NAMES = [f"SIZE_{size}" for size in range(1, LARGEST + 1)]
RACE_NAMES = [f"RACE_{race}" for race in range(1, RACES + 1)]
CENSUS = ["N", "P", *SIZE_NAMES, *RACE_NAMES, "CHILDREN"]
HUD_COUNTS = ["HUD_N", "HUD_P", "HUD_UNITS"]
BEDROOM_NAMES = ["HUD_BED_1", "HUD_BED_2", "HUD_BED_3"]
SLACK = "HUD_SLACK"
"""1 where the percentages of a block are means over several properties and may be off by one; else 0, or no such column."""
ROUNDING = 1
"""Three percentages, each rounded to a whole number, add up to 99, 100 or 101."""


def census_statistics(households: pd.DataFrame) -> pd.DataFrame:
    """The census counts of every block, sorted: households N, persons P, by size and race, and persons under 18."""
    block = households["block"]
    size, race = households["SIZE"].clip(upper=LARGEST), households["RACE"]
    parts = {"N": np.ones(len(households), dtype=np.int64), "P": households["SIZE"], "CHILDREN": households["CHILDREN"]}
    parts |= {name: size == code for code, name in enumerate(SIZE_NAMES, 1)}
    parts |= {name: race == code for code, name in enumerate(RACE_NAMES, 1)}
    return _sums({name: parts[name] for name in CENSUS}, block)


def hud_statistics(households: pd.DataFrame, published: Mapping[str, Any]) -> pd.DataFrame:
    """What HUD publishes about the property of every block that holds one; every unit of it is occupied."""
    own = households[households["BEDROOMS"] > 0]
    parts = {"HUD_N": np.ones(len(own), dtype=np.int64), "HUD_P": own["SIZE"]}
    lines = published["percentages"]
    counted = _sums(parts | {name: counts_for(own, line) for name, line in lines.items()}, own["block"])
    counted.insert(3, "HUD_UNITS", counted["HUD_N"])
    return counted.assign(**{name: whole_percent(counted[name], counted[line["of"]]) for name, line in lines.items()})


def _sums(parts: Mapping[str, Any], block: "pd.Series[Any]") -> pd.DataFrame:
    columns = {name: np.asarray(values, dtype=np.int64) for name, values in parts.items()}
    return pd.DataFrame(columns, index=block.index).groupby(block).sum().reset_index()


def counts_for(households: pd.DataFrame, line: Mapping[str, Any]) -> Flags:
    """Whether each household counts for a published percentage."""
    flags = Predicate.of(line.get("where", {})).matches({str(name): column for name, column in households.items()})
    if "adults" in line:
        low, *rest = line["adults"]
        adults = (households["SIZE"] - households["CHILDREN"]).to_numpy()
        high = {"last": np.inf}.get(str(rest[0]), rest[0]) if rest else low
        flags = flags & (adults >= low) & (adults <= high)
    if line.get("children"):
        flags = flags & (households["CHILDREN"] > 0).to_numpy()
    return np.asarray(flags)


def whole_percent(count: Any, of: Any) -> Any:
    """The whole percentage, a half rounded up; of nothing: 0."""
    whole = np.maximum(np.asarray(of), 1)
    return (200 * np.asarray(count) + whole) // (2 * whole)


def join(census: pd.DataFrame, hud: pd.DataFrame, where: str = "the statistics") -> pd.DataFrame:
    """Both releases about every block that holds a property, checked."""
    require_blocks(census, hud, where)
    joined = census.merge(hud, on="block", how="inner").sort_values("block", ignore_index=True)
    check(joined, where)
    return joined


def require_blocks(census: pd.DataFrame, hud: pd.DataFrame, where: str) -> None:
    """Every property stands in a block that the census counts, and a block has one row of property statistics."""
    lost = sorted(set(hud["block"]) - set(census["block"]))
    if lost:
        raise DataError(
            f"{where}: a property stands in block {lost[0]}, which has no census counts ({len(lost)} such blocks). Give the "
            "counts of that block, or leave the property out."
        )
    twice = hud.loc[hud["block"].duplicated(), "block"]
    if len(twice):
        raise DataError(f"{where}: block {twice.iloc[0]} has two rows of property statistics; add them up first.")


def check(statistics: pd.DataFrame, where: str, whole_bedrooms: bool = True) -> None:
    """An error that names the first block whose statistics cannot be; `whole_bedrooms`: every unit tells its bedrooms."""
    percentages = [name for name in statistics.columns if name.startswith("HUD_") and name not in HUD_COUNTS]
    for name in percentages:
        _refuse(statistics, where, ~statistics[name].between(0, 100), name, "is not a percentage from 0 to 100")
    total = statistics[[name for name in BEDROOM_NAMES if name in statistics]].sum(axis=1)
    named = statistics.assign(**{" + ".join(BEDROOM_NAMES): total})
    wrong = (total > 100 + ROUNDING) | (whole_bedrooms & (total < 100 - ROUNDING))
    _refuse(named, where, wrong, " + ".join(BEDROOM_NAMES), "percent of units by bedrooms do not add up to 100")
    for name, of, what in (("HUD_N", "N", "households"), ("HUD_P", "P", "persons")):
        why = f"subsidized {what} are more than the census counts in the block ({of})"
        _refuse(statistics, where, statistics[name] > statistics[of], name, why)


def _refuse(frame: pd.DataFrame, where: str, wrong: "pd.Series[bool]", name: str, why: str) -> None:
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(
            f"{where}: block {frame['block'].iloc[row]} (row {row + 1}): {name} = {frame[name].iloc[row]} {why}. "
            "Correct the row, or leave the block out."
        )


# Noise on the statistics of the housing study and the post-processing of appendix F.
#
# Census counts: N, the occupied households, is invariant. Sizes, races and children get noise; negative counts become 0;
# sizes and races are rescaled to add up to N; P is the sum of the sizes with 7 or more as 7; children are at most P.
#
# Statistics of properties: HUD_N and HUD_UNITS are invariant. The counts behind the percentages and HUD_P get noise and are
# made consistent, then published as whole percentages again. As in the paper, persons get the noise of households: a
# household that comes or goes changes HUD_P and CHILDREN by more than one, so the stated rho is that of the paper's
# accounting.

ALL, PERSONS = "N", "P"
KINDS = SIZES, NOISY_RACES, CHILDREN = "SIZE", "RACE", "CHILDREN"
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
        return sum((as_written(rho, f"rho of {name} tables") for name, rho in self.tables.items()), Fraction(0))

    def variances(self) -> dict[str, Fraction]:
        return {name: self._variance(name, query) for name, query in self.queries.items()}

    def _variance(self, name: str, query: QueryBudget) -> Fraction:
        if query.tables not in self.tables:
            raise DataError(f"budget of {name}: no tables {query.tables!r}: {nearest(query.tables, list(self.tables))}")
        rho = as_written(self.tables[query.tables], f"rho of {query.tables} tables")
        return variance(rho, as_written(query.share, f"share of {name}") / query.cells)


def read_budget(path: Path) -> BudgetFile:
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
    for kind in (SIZES, NOISY_RACES):
        noisy |= _spread(noisy, kinds[kind], rescaled, households)
    noisy[PERSONS] = np.sum([size * noisy[name] for size, name in enumerate(kinds[SIZES], 1)], axis=0)
    noisy[CHILDREN] = np.minimum(noisy[CHILDREN], noisy[PERSONS])
    return statistics.assign(**noisy)


def _columns(statistics: pd.DataFrame, kind: str) -> list[str]:
    """The columns of a kind of query: SIZE_1, SIZE_2, ..., or the one of that name."""
    numbered = [name for name in statistics.columns if name.startswith(kind + "_")]
    return sorted(numbered, key=lambda name: int(name.rsplit("_", 1)[1])) or [kind]


def noisy_hud(
    statistics: pd.DataFrame, published: Mapping[str, Any], rho: Fraction, rng: np.random.Generator,
    counts: pd.DataFrame | None = None,
) -> pd.DataFrame:  # fmt: skip
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


# The statistics of a condition: households swapped before the census counts them, noise on what is published.

CENSUS_COLUMNS = ["SIZE", "CHILDREN", "RACE"]
"""What moves with a household that is swapped, where only the census swaps: the unit stays, and what HUD knows of it."""


def protect(
    states: Iterable[pd.DataFrame], condition: Condition, smallest: int, published: Mapping[str, Any],
    budget: Path | None, seed: int,
) -> pd.DataFrame:  # fmt: skip
    """The statistics of every block with a property of `smallest` households or more, as published under a condition."""
    found = list(_tabulate(states, condition, smallest, published, seed))
    if not found:
        raise DataError("no household lives in a property: draw the households of the housing study again (draw_housing)")
    if condition.swap and not sum(moved for _, moved in found):
        inside = condition.swap_among == "properties"
        among, or_state = ("blocks with a property", " or swap_among: state") if inside else ("blocks", "")
        raise DataError(
            f"swap: {condition.swap}, but nobody moved: among the {among} of a state, no household was chosen that has "
            "another of the same size and number of adults in a different block. Take more blocks "
            f"(housing.blocks){or_state}, or raise swap."
        )
    statistics = pd.concat([part for part, _ in found], ignore_index=True)
    if condition.noise == "none" and not condition.noise_hud:
        return statistics
    if budget is None:
        raise DataError("noise needs the file of budgets (data/housing/budget.yaml): name it for this condition")
    return with_noise(statistics, condition, read_budget(budget), published, seed)


def _tabulate(
    states: Iterable[pd.DataFrame], condition: Condition, smallest: int, published: Mapping[str, Any], seed: int
) -> Iterator[tuple[pd.DataFrame, int]]:
    """The statistics of each state that holds a property, and how many of its households were swapped."""
    for households in states:
        own = property_households(households)
        if len(own):
            universe = own if condition.swap_among == "properties" else households
            counted, moved = swap_households(universe, condition, seed) if condition.swap else (own, 0)
            counted = counted[counted["block"].isin(own["block"])]
            hud = hud_statistics(counted if condition.swap_hud else own, published)
            hud = hud[hud["HUD_N"] >= smallest]
            yield join(census_statistics(counted[counted["block"].isin(hud["block"])]), hud), moved


def swap_households(households: pd.DataFrame, condition: Condition, seed: int) -> tuple[pd.DataFrame, int]:
    """A state's households after swapping (same size and adults), and how many moved; `swap_hud`: with their unit."""
    from studies.country.swapping import Records, swap

    columns = {name: households[name].to_numpy().astype(np.int64) for name in CENSUS_COLUMNS}
    block, tract = (pd.factorize(households["block"].str.slice(0, GEOGRAPHY[of]), sort=True)[0] for of in ("block", "tract"))
    key = np.stack([columns["SIZE"], columns["SIZE"] - columns["CHILDREN"]], axis=1)
    records = Records(block, tract, key, np.stack(list(columns.values()), axis=1), columns["SIZE"])
    state = households["block"].iloc[0][: GEOGRAPHY["state"]]
    source = swap(records, condition.swap, np.random.default_rng(derive_seed(seed, "housing", "swap", state)))
    moved = [*CENSUS_COLUMNS, *(["BEDROOMS"] if condition.swap_hud else [])]
    swapped = households.assign(**{name: households[name].to_numpy()[source] for name in moved})
    return swapped, int((source != np.arange(len(source))).sum())
