"""Solution variability of a block (equation 3), and of its households in violation alone."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from genverify.model.arrays import Ints
from genverify.model.release import Release
from genverify.solve.admissible import TooManyTypes, implied_zeros, lemma_rule, zero_cells
from genverify.solve.datasets import Variability, farthest
from genverify.solve.program_settings import ProgramSettings
from genverify.solve.solvers.base import Solver
from studies.housing.evaluate import in_violation
from studies.housing.households import HouseholdFile
from studies.housing.joint_program import Prior, TypeProgram, list_program
from studies.housing.reconstruct import most_likely, prior_program

# Solution variability of the households in violation alone, solvar(V*) (equation 3).
#
# V* are the violations of a dataset D* that fits, V' those of another. Unlike D*, V' may have any number of households, so
# the share that may differ is solvar over |V*| + |V'|: 1 where they have nothing in common, 0 where V* is the only
# possibility.

UNUSED = -1  # no number of a household: these begin at 0


def keys_of(file: HouseholdFile, households: pd.DataFrame, attributes: Sequence[str]) -> pd.Index:
    """The bin of every household: its values, together."""
    return pd.MultiIndex.from_arrays([file.values(name, households) for name in attributes]).to_flat_index()


T = TypeVar("T")
LARGE, USUAL = 10_000, 10  # beyond that many types a solver takes minutes; sizes that are tried then
VIOLATIONS = {"all": "violations", "simple": "violations_simple"}
NOTHING: dict[str, Any] = {"records": None, "solvar": None, "share": np.nan, "exact": False}
KINDS: dict[str, Any] = {"block": str, "attributes": str, "solvar": "Int64", "share": float, "exact": bool}
KINDS |= {"records": "Int64", "n": np.int64, "n_s": np.int64}


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
    measured = {name: (columns, False) for name, columns in sets.items()}
    measured |= {VIOLATIONS[name]: (columns, True) for name, columns in sets.items()}
    if first is None:
        return [{"attributes": name, **NOTHING} for name in measured]
    rows = []
    for name, (attributes, violations) in measured.items():
        own = first[in_violation(first, file)] if violations else first
        value = variability(every, first, attributes, file, solver, where, violations) if len(own) else None
        records = {"records": int(own["count"].sum()), **vars(value)} if value else NOTHING
        rows.append({"attributes": name, **records})
    return rows


def spread(blocks: Sequence[T], count: int) -> list[T]:
    """A number of the blocks, evenly spread over their list; all of them where there are fewer."""
    places = range(min(count, len(blocks)))
    return [blocks[-(-place * len(blocks) // len(places))] for place in places]


def variability_frame(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    return pd.DataFrame(list(rows), columns=list(KINDS)).astype(KINDS)


def _dataset(program: TypeProgram, z: Ints | None) -> pd.DataFrame | None:
    """A dataset as households with their counts."""
    if z is None:
        return None
    households = pd.DataFrame(program.codes, columns=list(program.names)).assign(count=z)
    return households[households["count"] > 0]


def variability(
    program: TypeProgram, first: pd.DataFrame, attributes: Sequence[str], file: HouseholdFile, solver: Solver, where: str,
    violations: bool = False,
) -> Variability:  # fmt: skip
    """
    solvar over some columns or attributes: how far a dataset that fits can be from `first` (D*), as histograms of them, of
    all households or of the violations alone.

    `first` has one row per type of household, with its `count`. Where sizes can be very large, datasets are looked for among
    sizes not much larger than those of D*; only if all records can differ is that answer exact, and never of violations.
    """
    types = pd.DataFrame(program.codes, columns=list(program.names))
    own = first[in_violation(first, file)] if violations else first
    held = own.groupby(keys_of(file, own, attributes), sort=True)["count"].sum()
    bins = pd.Index(held.index).get_indexer(keys_of(file, types, attributes)).astype(np.int64)
    against = in_violation(types, file) if violations else None
    if against is not None:
        bins[~against] = UNUSED
    large = program.types > LARGE
    usual = np.flatnonzero(types["SIZE"].to_numpy() <= max(first["SIZE"].max(), USUAL)) if large else np.arange(len(types))
    # one type of those that lie in the same bin, violate or not, and add the same to every row
    rows = [bins[usual], *([] if against is None else [against[usual]]), program.A[:, usual]]
    kept = usual[np.sort(np.unique(np.vstack(rows), axis=1, return_index=True)[1])]
    counted = None if against is None else against[kept]
    found = farthest(program.keep(kept), bins[kept], held.to_numpy(np.int64), solver, where, counted)
    return replace(found, exact=found.exact and (not large or (not violations and found.solvar == 2 * program.n)))
