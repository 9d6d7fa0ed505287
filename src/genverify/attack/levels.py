"""
The attack on blocks through the tables of their areas: what block and area counts prove together, block by block.

A claim about a block is proved from the block itself, a few blocks that compete with it for the same records, and all others
taken together as if they were one. So a proof names few cells, and is of the same kind as that of a block alone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from genverify.attack.block import certificate_for
from genverify.attack.verify import Decision, Verdict, Verifier
from genverify.checker.check import Checked, check_block
from genverify.core.claims import Claim, as_claims, candidate_claims, claim_arrays
from genverify.core.errors import ReleaseError
from genverify.core.levels import BLOCK, Levels, joined
from genverify.core.predicates import Flags, Predicate
from genverify.core.queries import Query
from genverify.core.release import TOTAL
from genverify.solve.classes import matched_classes
from genverify.solve.datasets import draw_dataset
from genverify.solve.exclusions import adding
from genverify.solve.joint import Joint, build_joint, coefficients
from genverify.solve.program import Program
from genverify.solve.settings import DEFAULT, ProgramSettings

Ints = npt.NDArray[np.int64]
Records = frozenset[tuple[int, ...]]
THIS = 1
DRAWS = 4
ROUNDS = 3
# As long as a candidate is left, the next step: blocks distinguished from the rest, and whether zeros are looked for
# that the relevant cells do not imply. Most claims need neither.
STEPS = ((0, False), (0, True), (3, True), (12, True))


@dataclass(frozen=True)
class LevelsProof:
    """A certificate about one block: it speaks of the release that joins these groups of blocks, cut down to some cells."""

    groups: tuple[tuple[int, ...], ...]
    cells: tuple[str, ...]
    certificate: dict[str, Any]

    def check(self, levels: Levels) -> Checked:
        """Check the certificate against the published counts of all levels."""
        return check_block(joined(levels, self.groups, frozenset(self.cells)), self.certificate)


@dataclass(frozen=True)
class LevelsVerified:
    """What came out of a block: verified claims with their proofs, and candidates that are neither proved nor refuted."""

    block: str
    n: int
    claims: tuple[Claim, ...]
    proofs: tuple[LevelsProof, ...]
    undecided: tuple[Claim, ...]

    @cached_property
    def determined(self) -> int:
        """How many records of the block are known in every column."""
        return sum(claim.m for claim in self.claims if claim.k == len(claim.codes))


def attack_levels(
    levels: Levels, settings: ProgramSettings = DEFAULT, K: int = 20, min_k: int = 1, seed: int = 1
) -> Iterator[LevelsVerified]:
    """Generate datasets of all blocks together; verify, block by block, what holds in all of them; check every proof."""
    joint = build_joint(levels, settings.max_types)
    datasets = {z.tobytes(): z for z in joint.datasets(settings.make_solver(), K, seed)}
    if not datasets:
        names = ", ".join(area.release.block for area in levels.areas) or "the blocks"
        raise ReleaseError(
            f"no dataset fits all tables of {names} together, or none was found within program.nodes and program.seconds; "
            "where the counts are exact, block and area tables contradict each other"
        )
    attack = _Attack(joint, settings, np.array(list(datasets.values())), np.random.default_rng(seed))
    for number in range(len(levels.blocks)):
        yield attack.block(number, min_k)


@dataclass
class _Attack:
    joint: Joint
    settings: ProgramSettings
    datasets: Ints
    rng: np.random.Generator

    def block(self, number: int, min_k: int) -> LevelsVerified:
        program = self.joint.programs[number]
        left = self.candidates(number, min_k)
        verified: list[Claim] = []
        proofs: list[LevelsProof] = []
        competing: list[int] = []
        for most, zeros in STEPS:
            if left and (most == 0 or competing):
                step = _Step(self.joint, self.settings, number, competing[:most], zeros)
                found = step.prove(left)
                if found:
                    proofs.append(step.proof(found))
                    proofs[-1].check(self.joint.levels)
                verified += [left[place] for place in found]
                left = [claim for place, claim in enumerate(left) if place not in found]
                competing = self.competing(number, step.varied()) if left else []
        undecided = tuple(claim for claim in left if not self.refuted(number, claim))
        return LevelsVerified(self.joint.levels.blocks[number].block, program.n, tuple(verified), tuple(proofs), undecided)

    def candidates(self, number: int, min_k: int) -> list[Claim]:
        """The claims that hold in every generated dataset."""
        program = self.joint.programs[number]
        vectors = np.unique(self.datasets[:, self.joint.spans[number]], axis=0)
        drawn = [draw_dataset(program, z, self.rng) for z in vectors for _ in range(DRAWS)]
        codes, m = candidate_claims(np.array(drawn), min_k)
        if not len(m):
            return []
        F, T = matched_classes(program, codes)
        holds = ((m[:, None] == F @ vectors.T) & (m[:, None] == T @ vectors.T)).all(axis=1)
        return as_claims(codes[holds], m[holds])

    def competing(self, number: int, varied: Records) -> list[int]:
        """The other blocks, those first that may hold most of the records whose number this block leaves open."""
        areas = [set(area.blocks) for area in self.joint.levels.areas if number in area.blocks]
        others = sorted(set().union(*areas) - {number})
        return sorted(others, key=lambda other: (-len(varied & self.records[other]), other))

    @cached_property
    def records(self) -> list[Records]:
        return [_records(program, np.ones(len(program.types), dtype=bool)) for program in self.joint.programs]

    def refuted(self, number: int, claim: Claim) -> bool:
        """Whether some dataset of all blocks contradicts the claim, found by the solver's integer search and recounted."""
        F, T = matched_classes(self.joint.programs[number], claim_arrays([claim])[0])
        span = self.joint.spans[number]
        for row, sign in ((T, 1), (F, -1)):
            objective = np.zeros(self.joint.A.shape[1])
            objective[span] = sign * row.toarray()[0]
            z = self.joint.best(self.settings.make_solver(), objective)
            if z is not None and sign * int(row.toarray()[0] @ z[span]) > sign * claim.m:
                return True
        return False


class _Step:
    """The claims of one block, decided on the release that joins it, some competing blocks, and the others as one."""

    def __init__(self, joint: Joint, settings: ProgramSettings, number: int, apart: Sequence[int], zeros: bool) -> None:
        self.joint, self.number, self.apart = joint, number, tuple(apart)
        self.groups = _groups(joint.levels, (number, *apart))
        cells = relevant_cells(joint, self.groups, (number, *apart))
        for _ in range(ROUNDS):
            self.release = joined(joint.levels, self.groups, cells)
            self.bounder = settings.bounder(self.release)
            # Cells that count 0 hold no record of these blocks, so they were left out; where the others do not rule such
            # records out together, they are needed after all.
            needed = open_zeros(joint.levels, self.groups, self.program) - cells if zeros else frozenset()
            if not needed:
                break
            cells |= needed

    @property
    def program(self) -> Program:
        return self.bounder.program

    @cached_property
    def decided(self) -> Verifier:
        return Verifier(self.bounder)

    def own_types(self) -> Flags:
        atoms = self.program.types.atoms[0]
        mine = np.array([THIS in atom for atom in atoms], dtype=bool)
        flags: Flags = mine[self.program.types.table[:, 0]]
        return flags

    def prove(self, claims: Sequence[Claim]) -> dict[int, Decision]:
        """The decisions of the claims that are verified, by their places."""
        here = [Claim((THIS, *claim.codes), claim.m) for claim in claims]
        decisions = self.decided.decide(here)
        return {place: decision for place, decision in enumerate(decisions) if decision.verdict is Verdict.VERIFIED}

    def proof(self, found: dict[int, Decision]) -> LevelsProof:
        cells = tuple(query.id for query in self.release.queries)
        return LevelsProof(self.groups, cells, certificate_for(self.program, list(found.values())))

    def varied(self) -> Records:
        """The records of the block whose number differs between the datasets that were met."""
        seen = np.array(self.bounder.seen).reshape(-1, self.program.classes)
        if not len(seen):
            return frozenset()
        differs = (seen.max(axis=0) > seen.min(axis=0))[self.program.class_of] & self.own_types()
        return frozenset(record[1:] for record in _records(self.program, differs))


def _groups(levels: Levels, apart: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Some blocks one by one, the others together, as far as they lie in the same areas."""
    rest: dict[tuple[int, ...], list[int]] = {}
    for number in range(len(levels.blocks)):
        if number not in apart:
            inside = tuple(place for place, area in enumerate(levels.areas) if number in area.blocks)
            rest.setdefault(inside, []).append(number)
    return (*((number,) for number in apart), *(tuple(group) for group in rest.values()))


def relevant_cells(joint: Joint, groups: Sequence[Sequence[int]], about: Sequence[int]) -> frozenset[str]:
    """The cells, of all groups and areas, that hold some record which one of the given blocks may hold."""
    levels = joint.levels
    held = {"": _held(joint, about, levels.schema.queries)}
    held |= {area.release.block: _held(joint, about, area.release.queries) for area in levels.areas}
    names = levels.names(groups)
    cells = {f"{name}/{cell}" for name in names for cell in held[""]} | {f"{name}/{TOTAL}" for name in names}
    return frozenset(cells | {f"{area}/{cell}" for area, ids in held.items() if area for cell in ids})


def _held(joint: Joint, about: Sequence[int], queries: Sequence[Query]) -> list[str]:
    flags = [coefficients(joint.programs[number].types, queries).sum(axis=1) > 0 for number in about]
    return [queries[place].id for place in np.flatnonzero(np.logical_or.reduce(flags)).tolist()]


def open_zeros(levels: Levels, groups: Sequence[Sequence[int]], program: Program) -> frozenset[str]:
    """The cells that count 0 and hold some record that a program leaves open; of cells inside others, the others only."""
    published, _, hi = levels.counts
    open_ = _Open(program)
    found: list[tuple[str, Predicate]] = []
    for code, (group, name) in enumerate(zip(groups, levels.names(groups), strict=True), 1):
        own = list(group)
        zero = published[own].all(axis=0) & (hi[own].sum(axis=0) == 0)
        found += open_.among([code], name, [levels.schema.queries[cell] for cell in np.flatnonzero(zero).tolist()])
    for area in levels.areas:
        codes = [code for code, group in enumerate(groups, 1) if set(group) <= set(area.blocks)]
        zeros = [query for query, most in zip(area.release.queries, area.release.hi.tolist(), strict=True) if most == 0]
        found += open_.among(codes, area.release.block, zeros)
    return frozenset(name for name, own in found if not any(_inside(own, other) for _, other in found))


class _Open:
    """Which types of a program may hold a record of a cell, clause by clause."""

    def __init__(self, program: Program) -> None:
        self.types = program.types
        self.known: dict[tuple[str, tuple[int, ...]], Flags] = {}

    def among(self, codes: Sequence[int], name: str, cells: Sequence[Query]) -> list[tuple[str, Predicate]]:
        """The cells of some blocks that hold an open record, with the condition on the records that add to them."""
        found, here = [], Predicate.of({BLOCK: codes})
        for cell in cells:
            condition = adding(cell, self.types.domain)
            flags = self.clause(here.clauses[0])
            for clause in condition.clauses:
                flags = flags & self.clause(clause)
            if flags.any():
                found.append((f"{name}/{cell.id}", here & condition))
        return found

    def clause(self, clause: tuple[str, tuple[int, ...]]) -> Flags:
        if clause not in self.known:
            column, codes = self.types.domain.names.index(clause[0]), set(clause[1])
            held = np.array([not codes.isdisjoint(atom) for atom in self.types.atoms[column]], dtype=bool)
            self.known[clause] = held[self.types.table[:, column]]
        return self.known[clause]


def _inside(inner: Predicate, outer: Predicate) -> bool:
    """Whether a cell lies in another, and is not the same."""
    where = inner.where
    return inner != outer and all(name in where and set(where[name]) <= set(codes) for name, codes in outer.clauses)


def _records(program: Program, chosen: Flags) -> Records:
    """One record for each chosen type, by which types of other programs with the same cells are recognised."""
    columns = [
        np.array([atom[0] for atom in atoms], dtype=np.int64)[program.types.table[chosen, column]]
        for column, atoms in enumerate(program.types.atoms)
    ]
    return frozenset(zip(*(column.tolist() for column in columns), strict=True))
