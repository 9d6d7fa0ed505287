"""
Solution variability of the households in violation alone, solvar(V*) (equation 3).

V* are the violations of a dataset D* that fits, V' those of another. Unlike D*, V' may have any number of households, so the
share that may differ is solvar over |V*| + |V'|: 1 where they have nothing in common, 0 where V* is the only possibility.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import block_array, csr_array, diags_array, eye_array

from genverify.core.arraytypes import Flags, Ints
from genverify.papers.housing.attack.types_program import TypeProgram
from genverify.papers.housing.private.household import HouseholdFile
from genverify.solve.recount import recounted
from genverify.solve.solvers.base import IntegerProgram, Optimal, Solver, best_point
from genverify.solve.variability import Variability

UNUSED = -1


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
    return farthest_violations(*_merged(program, bins, against), held.to_numpy(np.int64), solver, where)


def farthest_violations(
    program: TypeProgram, bins: Ints, against: Flags, held: Ints, solver: Solver, where: str
) -> Variability:
    """
    The largest L1 distance from V*, which has `held[b]` households in each bin b: |V'| + |V*| - 2 overlap.

    `bins` gives the bin of each type, UNUSED where V* has none; `against` says which types are violations.
    """
    answer = solver.solve(_most_apart(program, bins, against, held))
    point = best_point(answer)
    if point is None:
        return Variability(0, 0.0, exact=False)
    z = recounted(program, point[: len(bins)], f"{where}: the farthest violations do not fit the counts when recounted")
    counts = np.bincount(bins[bins >= 0], weights=z[bins >= 0], minlength=len(held)).astype(np.int64)
    both = int(z[against].sum() + held.sum())
    distance = both - 2 * int(np.minimum(counts, held).sum())
    return Variability(distance, distance / both if both else 0.0, isinstance(answer, Optimal))


def _most_apart(program: TypeProgram, bins: Ints, against: Flags, held: Ints) -> IntegerProgram:
    """Maximise |V'| - 2 sum o_b with o_b >= min(z_b, s_b): a binary says which, o >= z - (m - s) b and o >= s b."""
    used, types = len(held), len(bins)
    inside = np.flatnonzero(bins >= 0)
    pick = csr_array((np.ones(len(inside)), (bins[inside], inside)), shape=(used, types))
    one, scaled = eye_array(used, format="csr"), diags_array(held.astype(np.float64))
    spare = diags_array(np.maximum(_most(program, bins, used) - held, 0).astype(np.float64))
    published, none = csr_array(program.A.astype(np.float64)), csr_array((len(program.A), used))
    parts: list[list[Any]] = [[published, none, none], [-pick, spare, one], [None, -scaled, one]]
    return IntegerProgram(
        csr_array(block_array(parts)),
        np.concatenate([program.lo, np.zeros(2 * used)]).astype(np.float64),
        np.concatenate([program.hi.astype(np.float64), np.full(2 * used, np.inf)]),
        np.concatenate([np.full(types, program.n), np.ones(used), np.full(used, program.n)]).astype(np.float64),
        np.concatenate([against.astype(np.float64), np.zeros(used), np.full(used, -2.0)]),
    )


def _most(program: TypeProgram, bins: Ints, number: int) -> Ints:
    """The most households that a bin can have: a row to which each of them adds something limits them."""
    most = np.full(number, program.n, dtype=np.int64)
    for b in range(number):
        least = program.A[:, bins == b].min(axis=1)
        rows = np.flatnonzero(least > 0)
        most[b] = min(program.n, (program.hi[rows] // least[rows]).min(initial=program.n))
    return most


def _merged(program: TypeProgram, bins: Ints, against: Flags) -> tuple[TypeProgram, Ints, Flags]:
    """One type of those that lie in the same bin, violate or not, and add the same to every row."""
    _, first = np.unique(np.vstack([bins, against, program.A]), axis=1, return_index=True)
    kept = np.sort(first)
    return program.keep(kept), bins[kept], against[kept]
