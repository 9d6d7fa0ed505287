"""All blocks of some areas in one program: the counts of each block, and area tables that add up over the blocks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy.sparse import block_diag, csr_array, hstack, vstack

from genverify.core.arraytypes import Flags, Floats, Ints
from genverify.core.levels import BLOCK, Area, Levels, seen_from, together
from genverify.core.release import TOTAL, Release
from genverify.solve.layout import Layout, layout_of
from genverify.solve.program import Program, build_program
from genverify.solve.recount import WrongAnswer, integer_point
from genverify.solve.solvers.base import IntegerProgram, Solver, best_point
from genverify.solve.types import Types, flat_places


@dataclass(frozen=True)
class Joint:
    """
    All datasets that fit every level: z counts the records of each class of each block, lo <= A z <= hi.

    `programs` are those of the single blocks; their classes, one block after the other, are the columns. `rows` names the
    cells as core.levels.together does; the first row is the number of all records.
    """

    levels: Levels
    programs: tuple[Program, ...]
    rows: tuple[str, ...]
    A: csr_array
    lo: Ints
    hi: Ints

    @cached_property
    def spans(self) -> list[slice]:
        """The columns of each block."""
        ends = np.cumsum([0, *(program.classes for program in self.programs)]).tolist()
        return [slice(first, last) for first, last in pairwise(ends)]

    @cached_property
    def columns(self) -> csr_array:
        """The coefficients of each class, one sparse row per class, as floating-point numbers: see Program.columns."""
        return csr_array(self.A.T.astype(np.float64))

    @cached_property
    def largest(self) -> int:
        """The largest coefficient, at least 1."""
        return max(1, int(self.A.max())) if self.A.nnz else 1

    @cached_property
    def release(self) -> Release:
        """What its rows say, as one release."""
        return together(self.levels)

    def restricted(self, kept: Flags) -> "Joint":
        """The program without some classes, of which no dataset has a record."""
        spans = self.spans
        programs = tuple(restricted(program, kept[span]) for program, span in zip(self.programs, spans, strict=True))
        return replace(self, programs=programs, A=csr_array(self.A[:, np.flatnonzero(kept)]))

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
        if z is not None:
            self.recount(z)
        return z

    def recount(self, z: Ints) -> None:
        if not self.fits(z):
            raise WrongAnswer("a dataset of the whole area does not fit when recounted; nothing is reported")

    @property
    def alike(self) -> bool:
        """Whether the programs of all blocks tell the same codes apart."""
        return all(program.types.atoms == self.programs[0].types.atoms for program in self.programs)

    def program(self) -> Program:
        """The same as an ordinary program about the records of all blocks; the blocks must be alike."""
        domain = self.release.schema.domain
        code = np.repeat(np.arange(len(self.programs)), [len(program.types) for program in self.programs])
        table = np.column_stack([code, np.concatenate([program.types.table for program in self.programs])])
        atoms = (tuple((code,) for code in domain[BLOCK].codes), *self.programs[0].types.atoms)
        class_of = np.concatenate(
            [program.class_of + span.start for program, span in zip(self.programs, self.spans, strict=True)]
        )
        types = Types(domain, atoms, table.astype(np.int16))
        A = self.A.toarray()
        small = A.astype(np.int8) if self.largest < 128 else A
        return Program(self.release, types, (), self.rows, small, self.lo, self.hi, class_of)


def restricted(program: Program, kept: Flags) -> Program:
    """A program without some of its classes."""
    if kept.all():
        return program
    types = replace(program.types, table=program.types.table[kept[program.class_of]])
    number = np.cumsum(kept) - 1
    return replace(program, types=types, A=program.A[:, kept], class_of=number[program.class_of[kept[program.class_of]]])


def build_joint(levels: Levels, max_types: int) -> Joint:
    """The program of all blocks: the number of records, every block's own rows, then one row per cell of an area."""
    programs = tuple(build_program(seen_from(levels, number), max_types) for number in range(len(levels.blocks)))
    own = [_own_rows(levels, program, number) for number, program in enumerate(programs)]
    names, blocks, lo, hi = zip(*own, strict=True)
    everyone = csr_array(np.ones((1, sum(program.classes for program in programs)), dtype=np.int64))
    n = np.array([levels.sizes.sum()])
    parts, low, high = [everyone, block_diag(blocks, format="csr")], [n, *lo], [n, *hi]
    rows = [TOTAL, *(name for of_block in names for name in of_block)]
    for area in levels.areas:
        adding = _Adding(area)
        parts.append(hstack([adding.rows(program, number) for number, program in enumerate(programs)], format="csr"))
        low.append(area.release.lo)
        high.append(area.release.hi)
        rows += [f"{area.release.block}/{query.id}" for query in area.release.queries]
    A, lo_, hi_ = csr_array(vstack(parts, format="csr")), np.concatenate(low), np.concatenate(high)
    # a cell of an area that counts 0 holds no class that is left, so its row says nothing
    said = (np.diff(A.indptr) > 0) | (lo_ > 0)
    kept = np.flatnonzero(said)
    return Joint(levels, programs, tuple(rows[row] for row in kept.tolist()), csr_array(A[kept]), lo_[kept], hi_[kept])


def _own_rows(levels: Levels, program: Program, number: int) -> tuple[list[str], csr_array, Ints, Ints]:
    """The rows of a block's program that are about its own cells."""
    shared = tuple(f"{area.release.block}/" for area in levels.areas_of[number])
    own = [row for row, name in enumerate(program.rows) if not shared or not name.startswith(shared)]
    names = [f"{program.release.block}/{program.rows[row]}" for row in own]
    return names, csr_array(program.A[own].astype(np.int64)), program.lo[own], program.hi[own]


class _Adding:
    """What a record adds to the cells of an area, looked up by its place in the grid of the columns that a cell names."""

    def __init__(self, area: Area) -> None:
        self.name, self.queries, self.inside = area.release.block, area.release.queries, set(area.blocks)
        self.known: dict[int, tuple[Layout, list[tuple[tuple[int, ...], csr_array]], list[int]]] = {}

    def rows(self, program: Program, number: int) -> csr_array:
        """One row per cell, one column per class; nothing, where the block lies elsewhere."""
        if number not in self.inside:
            return csr_array((len(self.queries), program.classes), dtype=np.int64)
        _, first = np.unique(program.class_of, return_index=True)
        members = replace(program.types, table=program.types.table[first])
        layout, grids, others = self.grids(layout_of(program.release))
        rows = csr_array((program.classes, len(self.queries)), dtype=np.int64)
        for columns, grid in grids:
            rows = rows + grid[flat_places(members.table.T, columns, layout.grids.shape(columns))]
        for place in others:
            added = members.coefficients(self.queries[place].predicate, self.queries[place].sums).astype(np.int64)
            used = np.flatnonzero(added)
            rows = rows + csr_array((added[used], (used, np.full(len(used), place))), shape=rows.shape)
        return csr_array(rows.T)

    def grids(self, layout: Layout) -> tuple[Layout, list[tuple[tuple[int, ...], csr_array]], list[int]]:
        """The cells that each place of a grid lies in, and the cells that no grid has; found once for each layout."""
        if id(layout) not in self.known:  # by identity, which is safe as long as the layout is kept with it
            families: dict[tuple[int, ...], list[tuple[int, int]]] = {}
            others = []
            for place, query in enumerate(self.queries):
                at = layout.place[f"{self.name}/{query.id}"]
                if query.sums is None and not layout.grids.wide(layout.columns[at]):
                    families.setdefault(layout.columns[at], []).append((place, at))
                else:
                    others.append(place)
            found = [(own, _incidence(layout, own, cells, len(self.queries))) for own, cells in families.items()]
            self.known[id(layout)] = layout, found, others
        return self.known[id(layout)]


def _incidence(layout: Layout, columns: tuple[int, ...], cells: Sequence[tuple[int, int]], queries: int) -> csr_array:
    """Which cells each place of a grid lies in."""
    places = np.concatenate([layout.grids.held(layout.cells[at]) for _, at in cells])
    of_cell = np.concatenate([np.full(len(layout.grids.held(layout.cells[at])), place) for place, at in cells])
    size = int(np.prod(layout.grids.shape(columns)))
    return csr_array((np.ones(len(places), dtype=np.int64), (places, of_cell)), shape=(size, queries))
