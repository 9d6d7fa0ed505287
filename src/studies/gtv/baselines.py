"""Baselines of section 3.2: how likely each verified claim would be in a block of N records drawn from a prior."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

# what binom.pmf of scipy.stats calls, whose import takes half a second, as much as all else that a job imports
from scipy.special._ufuncs import _binom_pmf

from genverify.model.arrays import Flags, Floats, Ints, positions
from genverify.model.domain import Domain, Predicate
from genverify.model.errors import DataError
from studies.country.store import GEOGRAPHY, Radix, Types, nation_types, types_of_state

PRIORS = {"tract": GEOGRAPHY["tract"], "county": GEOGRAPHY["county"], "state": GEOGRAPHY["state"], "nation": 0}
"""How many digits of a block id name the area whose records are the prior."""

UNIFORM = "uniform"
LEAVE_OUT = "_leave_out"


@dataclass(frozen=True)
class Prior:
    """For every claim, the prior p = count / size as two whole numbers, so that neither p nor 1 - p is rounded."""

    count: Ints
    size: Ints

    def without(self, other: "Prior") -> "Prior":
        return Prior(self.count - other.count, self.size - other.size)


def binomial(n: Ints, m: Ints, prior: Prior) -> Floats:
    """P(COUNT = m) among n records when each matches with p = count / size (equation 4); an empty prior has p = 0."""
    size = np.maximum(prior.size, 1)
    # The rarer side goes in as the probability: the other one, near 1, would lose its digits.
    rare = 2 * prior.count <= size
    p = np.where(rare, prior.count, size - prior.count) / size
    return np.asarray(_binom_pmf(np.where(rare, m, n - m), n, p), dtype=np.float64)


@dataclass(frozen=True)
class Questions:
    """Claims to be counted: their block, what they say as a number, and which columns they name."""

    block: pd.Series
    keys: Ints
    named: Flags

    @classmethod
    def of(cls, claims: pd.DataFrame, radix: Radix) -> "Questions":
        codes = claims[list(radix.domain.names)]
        return cls(claims["block"], codes.fillna(0).to_numpy(dtype=np.int64) @ radix.weights, codes.notna().to_numpy())

    def take(self, rows: Ints) -> "Questions":
        return Questions(self.block.iloc[rows], self.keys[rows], self.named[rows])

    def by_columns(self) -> Iterator[tuple[Ints, Ints]]:
        """The claims of every set of columns: their rows, and the columns that they leave open."""
        columns = np.arange(self.named.shape[1])
        sets, index = np.unique(self.named @ (1 << columns), return_inverse=True)
        order = np.split(np.argsort(index, kind="stable"), np.cumsum(np.bincount(index, minlength=len(sets))))
        for named, rows in zip(sets.tolist(), order, strict=False):
            yield rows, columns[(named >> columns) & 1 == 0]


def _count_claims(types: Types, radix: Radix, questions: Questions, areas: list[Ints]) -> list[Ints]:
    # A record is a number with one digit per column, and a claim the number whose open columns have the digit 0. Subtracting
    # the shares of the open columns from all records makes matching a lookup of equal numbers, and one pass answers all
    # claims that name the same columns, in all areas: there are far fewer sets of columns than claims.
    shares = np.stack([radix.share(types.keys, column) for column in range(len(radix.sizes))])
    wanted = np.stack([questions.keys + area * radix.total for area in areas])
    counts = np.zeros_like(wanted)
    for rows, open_columns in questions.by_columns():
        keys, index = np.unique(wanted[:, rows], return_inverse=True)
        at = positions(keys, types.keys - shares[open_columns].sum(axis=0))
        is_known = at >= 0
        totals = np.bincount(at[is_known], types.times[is_known], minlength=len(keys)).astype(np.int64)
        counts[:, rows] = totals[index.reshape(len(areas), len(rows))]
    return list(counts)


def count_priors(
    claims: pd.DataFrame, microdata: Path, domain: Domain, keeps: Predicate, nation: Types | None = None
) -> dict[str, Prior]:
    """Matching and all records of each claim's block, tract, county, state (one in memory at a time) and nation."""
    radix = Radix(domain)
    questions = Questions.of(claims, radix)
    widths = {"block": GEOGRAPHY["block"], **PRIORS}
    counted = {name: Prior(np.zeros_like(questions.keys), np.zeros_like(questions.keys)) for name in widths}
    for state in sorted(set(questions.block.str.slice(0, GEOGRAPHY["state"]))):
        rows = np.flatnonzero(questions.block.str.startswith(state))
        part = questions.take(rows)
        local, _ = types_of_state(microdata, state, radix, keeps, _areas(part.block))
        for name, prior in _count_areas(local, radix, part, widths).items():
            counted[name].count[rows], counted[name].size[rows] = prior.count, prior.size
    nation = nation_types(microdata, domain, keeps) if nation is None else nation
    counted["nation"].count[:] = _count_claims(nation, radix, questions, [np.zeros_like(questions.keys)])[0]
    counted["nation"].size[:] = nation.times.sum()
    return counted


def _areas(blocks: pd.Series) -> pd.Index:
    ids = {block[:width] for block in blocks.unique() for width in GEOGRAPHY.values()}
    areas: pd.Index = pd.Index(sorted(ids), dtype="str")
    return areas


def _count_areas(types: Types, radix: Radix, questions: Questions, widths: Mapping[str, int]) -> dict[str, Prior]:
    """Counts and sizes of the areas of each claim; nothing if there is no claim."""
    areas = _areas(questions.block)
    if areas.empty:
        return {}
    sizes = types.sizes(radix, len(areas))
    kinds = {name: width for name, width in widths.items() if width}
    numbers = [areas.get_indexer(pd.Index(questions.block.str.slice(0, width))).astype(np.int64) for width in kinds.values()]
    counts = _count_claims(types, radix, questions, numbers)
    return {name: Prior(count, sizes[area]) for name, count, area in zip(kinds, counts, numbers, strict=True)}


def _uniform_prior(claims: pd.DataFrame, domain: Domain) -> Prior:
    """One over the number of ways to fill the columns of each claim."""
    codes = np.array([len(column.codes) for column in domain.columns], dtype=np.int64)
    named = claims[list(domain.names)].notna().to_numpy()
    return Prior(np.ones(len(claims), dtype=np.int64), np.where(named, codes, 1).prod(axis=1))


def _check_truth(claims: pd.DataFrame, n: Ints, block: Prior) -> None:
    wrong = np.flatnonzero((block.count != claims["m"]) | (block.size != n))
    if wrong.size:
        row = int(wrong[0])
        raise DataError(
            f"claim in row {row}: block {claims['block'].iloc[row]} should hold {claims['m'].iloc[row]} matching records "
            f"among {n[row]}, but the microdata hold {block.count[row]} among {block.size[row]}. "
            "The claims come from other microdata: run the verification again."
        )


def fit_baselines(
    claims: pd.DataFrame, blocks: pd.DataFrame, microdata: Path, stored: Domain, published: Domain, keeps: Predicate,
    nation: Types | None = None,
) -> tuple[pd.DataFrame, pd.DataFrame]:  # fmt: skip
    """
    The probability of every claim under each prior, in the order of the claims, and how many claims a prior never saw.

    `stored` is the domain of the microdata, `published` that of the release (its codes make the uniform prior). The column
    `tract` is the paper's definition; `tract_leave_out` takes the claim's own block out of the tract. Where claims come in
    batches, the `nation` is counted once for all.
    """
    n = claims["block"].map(blocks.groupby("block")["n_households"].first()).to_numpy(dtype=np.int64)
    m = claims["m"].to_numpy(dtype=np.int64)
    counted = count_priors(claims, microdata, stored, keeps, nation)
    _check_truth(claims, n, counted["block"])
    priors = {}
    for name in PRIORS:
        priors[name] = counted[name]
        priors[name + LEAVE_OUT] = counted[name].without(counted["block"])
    priors[UNIFORM] = _uniform_prior(claims, published)
    about = [name for name in ("block", "design", "k", "m") if name in claims]  # claims of a batch have no design yet
    baselines = claims[about].assign(**{name: binomial(n, m, p) for name, p in priors.items()})
    unseen = [{"prior": name, "claims": len(claims), "unseen": int((p.count == 0).sum())} for name, p in priors.items()]
    return baselines, pd.DataFrame(unseen)
