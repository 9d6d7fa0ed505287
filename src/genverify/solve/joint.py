"""All blocks of some areas in one program: the counts of each block, and area tables that add up over the blocks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from scipy.sparse import block_diag, csr_array, hstack, vstack

from genverify.core.levels import Area, Levels
from genverify.core.predicates import EVERY, Flags
from genverify.core.queries import Query
from genverify.core.release import Release, Schema
from genverify.solve.program import Program, build_program
from genverify.solve.recount import WrongAnswer, integer_point
from genverify.solve.solvers.base import Floats, IntegerProgram, Solver, best_point
from genverify.solve.types import Types

Ints = npt.NDArray[np.int64]


def seen_from(levels: Levels, number: int) -> Release:
    """What all tables say about the records of one block alone: its own cells, and no more than its areas count."""
    block, areas = levels.blocks[number], areas_of(levels, number)
    lo = np.concatenate([block.lo, *(np.zeros_like(area.release.lo) for area in areas)])
    hi = np.concatenate([block.hi, *(area.release.hi for area in areas)])
    own = tuple(block.cells.tolist())
    schema = _seen_schema(levels.schema, own, tuple((area.release.block, area.release.schema) for area in areas))
    return Release(schema, block.block, block.n, np.arange(len(lo)), lo, hi)


def areas_of(levels: Levels, number: int) -> list[Area]:
    return [area for area in levels.areas if number in area.blocks]


@lru_cache(maxsize=8)
def _seen_schema(schema: Schema, own: tuple[int, ...], areas: tuple[tuple[str, Schema], ...]) -> Schema:
    of_areas = [replace(query, id=f"{name}/{query.id}") for name, of in areas for query in of.queries]
    return Schema(schema.domain, schema.rules, (*(schema.queries[cell] for cell in own), *of_areas))


def coefficients(types: Types, queries: Sequence[Query]) -> csr_array:
    """What a record of each type adds to each query, one row per query."""
    flags: dict[tuple[str, tuple[int, ...]], Flags] = {}
    rows = []
    for query in queries:
        inside = types.inside(EVERY)
        for clause in query.predicate.clauses:
            if clause not in flags:
                flags[clause] = types.inside(replace(EVERY, clauses=(clause,)))
            inside = inside & flags[clause]
        rows.append(inside if query.sums is None else types.coefficients(query.predicate, query.sums))
    return csr_array(np.array(rows, dtype=np.int64).reshape(len(queries), len(types)))


@dataclass(frozen=True)
class Joint:
    """
    All datasets that fit every level: z counts the records of each class of each block, lo <= A z <= hi.

    `programs` are those of the single blocks; their classes, one block after the other, are the columns.
    """

    levels: Levels
    programs: tuple[Program, ...]
    A: csr_array
    lo: Ints
    hi: Ints

    @cached_property
    def spans(self) -> list[slice]:
        """The columns of each block."""
        ends = np.cumsum([0, *(program.classes for program in self.programs)]).tolist()
        return [slice(first, last) for first, last in pairwise(ends)]

    def fits(self, z: Ints) -> bool:
        """Whether class counts satisfy every row, recounted in integers."""
        counts = self.A @ z
        return bool((z >= 0).all() and (counts >= self.lo).all() and (counts <= self.hi).all())

    def datasets(self, solver: Solver, K: int, seed: int) -> Iterator[Ints]:
        """Fitting class counts by random objectives; fewer than K where a limit strikes. They may repeat."""
        rng = np.random.default_rng(seed)
        for _ in range(K):
            z = self.best(solver, rng.standard_normal(self.A.shape[1]))
            if z is not None:
                yield z

    def best(self, solver: Solver, objective: Floats) -> Ints | None:
        """Fitting class counts with a large objective, recounted; None where there are none or a limit strikes."""
        if self.A.shape[1] == 0:  # no record is left open: there is one dataset, without records, or none
            nobody = np.zeros(0, dtype=np.int64)
            return nobody if self.fits(nobody) else None
        upper = np.concatenate([np.full(program.classes, float(program.n)) for program in self.programs])
        integers = IntegerProgram(self.A, self.lo.astype(float), self.hi.astype(float), upper, objective)
        point = best_point(solver.solve(integers))
        z = None if point is None else integer_point(point)
        if z is not None and not self.fits(z):
            raise WrongAnswer("a dataset of the whole area does not fit when recounted; nothing is reported")
        return z


def build_joint(levels: Levels, max_types: int) -> Joint:
    """The program of all blocks: every block's own rows, then one row per cell of an area."""
    programs = tuple(build_program(seen_from(levels, number), max_types) for number in range(len(levels.blocks)))
    own = [_own_rows(levels, program, number) for number, program in enumerate(programs)]
    blocks, lo, hi = zip(*own, strict=True)
    parts, low, high = [block_diag(blocks, format="csr")], list(lo), list(hi)
    for area in levels.areas:
        parts.append(hstack([_area_rows(program, area, number) for number, program in enumerate(programs)], format="csr"))
        low.append(area.release.lo)
        high.append(area.release.hi)
    return Joint(levels, programs, vstack(parts, format="csr"), np.concatenate(low), np.concatenate(high))


def _own_rows(levels: Levels, program: Program, number: int) -> tuple[csr_array, Ints, Ints]:
    """The rows of a block's program that are about its own cells."""
    shared = tuple(f"{area.release.block}/" for area in areas_of(levels, number))
    own = [row for row, name in enumerate(program.rows) if not shared or not name.startswith(shared)]
    return csr_array(program.A[own].astype(np.int64)), program.lo[own], program.hi[own]


def _area_rows(program: Program, area: Area, number: int) -> csr_array:
    """What a record of each class of a block adds to the cells of an area: nothing, where the block lies elsewhere."""
    if number not in area.blocks:
        return csr_array((len(area.release.cells), program.classes), dtype=np.int64)
    _, first = np.unique(program.class_of, return_index=True)
    members = replace(program.types, table=program.types.table[first])
    return coefficients(members, area.release.queries)
