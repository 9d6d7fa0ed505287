"""Solution variability of a block (equation 3), and of its households in violation alone."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from genverify.model.arrays import Flags, Ints
from genverify.model.release import Release
from genverify.solve.admissible import TooManyTypes, implied_zeros, lemma_rule, zero_cells
from genverify.solve.datasets import Variability, farthest
from genverify.solve.program_settings import ProgramSettings
from genverify.solve.solvers.base import Solver
from studies.housing.households import HouseholdFile
from studies.housing.joint_program import Prior, TypeProgram, list_program
from studies.housing.k_best import most_likely
from studies.housing.reconstruct import prior_program

# Solution variability of the households in violation alone, solvar(V*) (equation 3).
#
# V* are the violations of a dataset D* that fits, V' those of another. Unlike D*, V' may have any number of households, so
# the share that may differ is solvar over |V*| + |V'|: 1 where they have nothing in common, 0 where V* is the only
# possibility.

UNUSED = -1  # no number of a household: these begin at 0


def violates(file: HouseholdFile, households: pd.DataFrame) -> Flags:
    """Which households (or types) exceed the occupancy limit."""
    return file.violates(*(households[name].to_numpy(dtype=np.int64) for name in ("BEDROOMS", "SIZE")))


def keys_of(file: HouseholdFile, households: pd.DataFrame, attributes: Sequence[str]) -> pd.Index:
    """The bin of every household: its values, together."""
    return pd.MultiIndex.from_arrays([file.values(name, households) for name in attributes]).to_flat_index()


def violations_variability(
    program: TypeProgram, first: pd.DataFrame, attributes: Sequence[str], file: HouseholdFile, solver: Solver, where: str
) -> Variability:
    """How far the violations of a dataset that fits can be from those of `first` (D*, with `count`), as histograms."""
    types = pd.DataFrame(program.codes, columns=list(program.names))
    against, own = violates(file, types), first[violates(file, first)]
    held = own.groupby(keys_of(file, own, attributes), sort=True)["count"].sum()
    bins = pd.Index(held.index).get_indexer(keys_of(file, types, attributes)).astype(np.int64)
    bins[~against] = UNUSED
    merged, bins, against = _violations_merged(program, bins, against)
    return farthest(merged, bins, held.to_numpy(np.int64), solver, where, against)


def _violations_merged(program: TypeProgram, bins: Ints, against: Flags) -> tuple[TypeProgram, Ints, Flags]:
    """One type of those that lie in the same bin, violate or not, and add the same to every row."""
    _, first = np.unique(np.vstack([bins, against, program.A]), axis=1, return_index=True)
    kept = np.sort(first)
    return program.keep(kept), bins[kept], against[kept]


# Solution variability of a block (equation 3): over all or simpler attributes, of all households or the violations.

T = TypeVar("T")
LARGE, USUAL = 10_000, 10  # beyond that many types a solver takes minutes; sizes that are tried then
VIOLATIONS = {"all": "violations", "simple": "violations_simple"}
NOTHING: dict[str, Any] = {"records": None, "solvar": None, "share": np.nan, "exact": False}
KINDS: dict[str, Any] = {
    "block": str,
    "attributes": str,
    "solvar": "Int64",
    "share": float,
    "exact": bool,
    "records": "Int64",
    "n": np.int64,
    "n_s": np.int64,
}


def every_type(release: Release, limit: int) -> TypeProgram:
    """The program of a release over every type of household that its counts and rules leave open, in the prior or not."""
    domain = release.schema.domain
    if prod(len(column.codes) for column in domain.columns) > limit:
        raise TooManyTypes(
            f"block {release.block}: its counts allow more than {limit} types of household; raise program.max_types"
        )
    grid = np.meshgrid(*(column.codes for column in domain.columns), indexing="ij")
    codes = np.array(grid, dtype=np.int64).reshape(len(domain.names), -1).T
    predicates = {query.id: query.predicate for query in release.queries}
    lemmas = [lemma_rule(lemma, predicates) for lemma in implied_zeros(release)]
    for rule in (*release.schema.rules, *zero_cells(release), *lemmas):
        codes = codes[~rule.excludes(dict(zip(domain.names, codes.T, strict=True)))]
    return list_program(release, codes, np.zeros(len(codes), dtype=np.int64)).possible()


def measure_block(
    release: Release, prior: Prior, file: HouseholdFile, simple: Sequence[str], settings: ProgramSettings
) -> list[dict[str, Any]]:
    """
    The variability of a block over all columns (`all`) and over the simple attributes (`simple`), from its most likely
    dataset; if no household that the prior knows fits, from any that does. Then the same of its violations alone (V*).
    Without a dataset, or without a violation in it, nothing is measured (null). `records`: how many D* or V* has.
    """
    solver = settings.make_solver()
    known, every = prior_program(release, prior).possible(), every_type(release, settings.max_types)
    firsts = (_dataset(program, most_likely(program, solver).z) for program in (known, every))
    first = next((found for found in firsts if found is not None), None)
    sets, where = {"all": list(release.schema.domain.names), "simple": list(simple)}, f"block {release.block}"
    if first is None:
        return [{"attributes": name, **NOTHING} for name in (*sets, *map(VIOLATIONS.get, sets))]
    whole = [
        {
            "attributes": name,
            "records": int(first["count"].sum()),
            **vars(variability(every, first, columns, file, solver, where)),
        }
        for name, columns in sets.items()
    ]
    return whole + [
        {"attributes": VIOLATIONS[name], **_of_violations(every, first, columns, file, solver, where)}
        for name, columns in sets.items()
    ]


def _of_violations(
    program: TypeProgram, first: pd.DataFrame, attributes: Sequence[str], file: HouseholdFile, solver: Solver, where: str
) -> dict[str, Any]:
    """The variability of the violations of D*; among usual sizes, and so not exact, where sizes can be very large."""
    count = int(first.loc[violates(file, first), "count"].sum())
    if not count:
        return NOTHING
    large = program.types > LARGE
    kept = program.keep(program.codes[:, program.names.index("SIZE")] <= _usual(first)) if large else program
    found = violations_variability(kept, first, attributes, file, solver, where)
    return {"records": count, **vars(replace(found, exact=found.exact and not large))}


def _usual(first: pd.DataFrame) -> int:
    """Sizes not much larger than those of D*."""
    return max(int(first["SIZE"].max()), USUAL)


def spread(blocks: Sequence[T], count: int) -> list[T]:
    """
    A number of the blocks, evenly spread over their list; all of them where there are fewer.

    >>> spread("abcdefg", 3), spread("ab", 3)
    (['a', 'd', 'f'], ['a', 'b'])
    """
    places = range(min(count, len(blocks)))
    return [blocks[-(-place * len(blocks) // len(places))] for place in places]


def variability_frame(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """One row per block and set of attributes."""
    return pd.DataFrame(list(rows), columns=list(KINDS)).astype(KINDS)


def _dataset(program: TypeProgram, z: Ints | None) -> pd.DataFrame | None:
    """A dataset as households with their counts."""
    if z is None:
        return None
    households = pd.DataFrame(program.codes, columns=list(program.names)).assign(count=z)
    return households[households["count"] > 0]


def variability(
    program: TypeProgram, first: pd.DataFrame, attributes: Sequence[str], file: HouseholdFile, solver: Solver, where: str
) -> Variability:
    """
    solvar over some columns or attributes: how far a dataset that fits can be from `first` (D*), as histograms of them.

    `first` has one row per type of household, with its `count`. Where sizes can be very large, datasets are looked for among
    sizes not much larger than those of D*; only if all records can differ is that answer exact.
    """
    types = pd.DataFrame(program.codes, columns=list(program.names))
    held = first.groupby(keys_of(file, first, attributes), sort=True)["count"].sum()
    bins = pd.Index(held.index).get_indexer(keys_of(file, types, attributes)).astype(np.int64)
    if program.types <= LARGE:
        return farthest(*_merged(program, bins), held.to_numpy(np.int64), solver, where)
    usual = types["SIZE"].to_numpy() <= _usual(first)
    found = farthest(*_merged(program.keep(usual), bins[usual]), held.to_numpy(np.int64), solver, where)
    return replace(found, exact=found.exact and found.solvar == 2 * program.n)


def _merged(program: TypeProgram, bins: Ints) -> tuple[TypeProgram, Ints]:
    """One type of those that lie in the same bin and add the same to every row."""
    _, first = np.unique(np.vstack([bins, program.A]), axis=1, return_index=True)
    kept = np.sort(first)
    return program.keep(kept), bins[kept]
