"""The paper's own program (section 5): N one-hot encoded records, constraints 7-18. The reference formulation."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Any

import numpy as np
from scipy.sparse import block_array, block_diag, csr_array, eye_array, kron

from genverify.model.arrays import Floats
from genverify.model.claims import ANY, Claim, Codes
from genverify.model.domain import Domain, Predicate
from genverify.model.errors import ReleaseError
from genverify.model.release import Release
from genverify.solve.program import WrongAnswer, sparse_system
from genverify.solve.solvers.base import IntegerProgram, Solver, integer_program

# Written as meant where the paper has slips: 10-13 compare X with the value a_j, 12-13 are linear, 17 reads 1 - M(1 - Y).
# Queries keep their own number r of sub-predicates: padding them to the same r (section 5.1.3) adds rows that always hold.

HASH_SEED = 18  # any number does: fixed, so that the program of a release is always the same
HASH_VALUES = 1000  # coefficients of one row then differ by three powers of ten at most

# rows lo <= A z <= hi: A in blocks, one for each kind of variables (none: 0), without those of the kinds after the last
_Rows = tuple[list[Any], Any, Any]


def _stacked(rows: Sequence[_Rows]) -> tuple[csr_array, Floats, Floats]:
    width = max(len(blocks) for blocks, _, _ in rows)
    A = block_array([[*blocks, *[None] * (width - len(blocks))] for blocks, _, _ in rows], format="csr")
    heights = [next(block for block in blocks if block is not None).shape[0] for blocks, _, _ in rows]
    ends = ([np.broadcast_to(row[side], height) for row, height in zip(rows, heights, strict=True)] for side in (1, 2))
    lo, hi = (np.concatenate(side).astype(np.float64) for side in ends)
    return A, lo, hi


def _program(rows: Sequence[_Rows]) -> IntegerProgram:
    A, lo, hi = _stacked(rows)
    return integer_program(sparse_system(A, lo, hi, np.ones(A.shape[1])), np.zeros(A.shape[1]))


@dataclass(frozen=True)
class OneHot:
    """
    The one-hot program of a release with exact counts. Variables: X (record by record, d indices each), then W (record by
    record, one per predicate: the published queries first, then the options of the structural rules).
    """

    release: Release

    def __post_init__(self) -> None:
        summed = [query.id for query in self.release.queries if query.sums]
        if summed:
            raise ReleaseError(
                f"block {self.release.block}: {summed[0]} is a sum over records, which the one-hot program cannot "
                "express; set program.formulation: compact in config.yaml"
            )
        inexact = np.flatnonzero(self.release.lo != self.release.hi)
        if len(inexact):
            cell = int(inexact[0])
            raise ReleaseError(
                f"block {self.release.block}: {self.release.queries[cell].id} is known as {self.release.lo[cell]} to "
                f"{self.release.hi[cell]}; the one-hot program takes exact counts only. Set program.formulation: compact in "
                "config.yaml."
            )

    @cached_property
    def problem1(self) -> tuple[csr_array, Floats, Floats]:
        """Constraints 7-9 and 18, the one-hot equalities, and the structural rules."""
        release, domain, rules = self.release, self.release.schema.domain, self.release.schema.rules
        predicates = [*(query.predicate for query in release.queries), *(option for rule in rules for option in rule.one_of)]
        sizes, count = [len(column.codes) for column in domain.columns], release.lo.astype(np.float64)
        records = eye_array(release.n, format="csr")
        q, owner = _sub_predicates(domain, predicates)
        not_all = np.tile(1 - owner.sum(axis=0), release.n)
        published = kron(np.ones((1, release.n)), eye_array(release.cells.size, len(predicates)))
        rows: list[_Rows] = [
            ([kron(records, block_diag([np.ones((1, size)) for size in sizes])), None], 1, 1),  # one code of each column
            ([kron(records, -q), kron(records, owner)], -inf, 0),  # 7: W <= Z = q X of each sub-predicate q
            ([kron(records, -owner.T @ q), eye_array(release.n * len(predicates))], not_all, inf),  # 8: W > sum Z - r
            ([None, published], count, count),  # 9
        ]
        if rules:  # a record that satisfies every sub-predicate of a rule's `when` lies in one of its options
            q, owner = _sub_predicates(domain, [rule.when for rule in rules])
            parts = [np.zeros((0, release.cells.size)), *(np.ones((1, len(rule.one_of))) for rule in rules)]
            options: Any = kron(records, block_diag(parts))
            rows.append(([kron(records, -owner.T @ q), options], np.tile(1 - owner.sum(axis=0), release.n), inf))
        # 18: records ordered by their hash. Every dataset can be ordered so: no dataset is lost
        h = np.random.default_rng(HASH_SEED).integers(1, HASH_VALUES, sum(sizes), endpoint=True).astype(np.float64)
        return _stacked([*rows, ([kron(records[1:] - records[:-1], h[None, :]), None], 0, inf)])


def _sub_predicates(domain: Domain, predicates: Sequence[Predicate]) -> tuple[csr_array, csr_array]:
    """All sub-predicates as rows over the d one-hot indices, and a matrix that says whose each is."""
    index = {pair: position for position, pair in enumerate((c.name, code) for c in domain.columns for code in c.codes)}
    clauses = [(number, name, codes) for number, predicate in enumerate(predicates) for name, codes in predicate.clauses]
    q, owner = np.zeros((len(clauses), len(index))), np.zeros((len(clauses), len(predicates)))
    for row, (number, name, codes) in enumerate(clauses):
        q[row, [index[name, code] for code in codes]] = owner[row, number] = 1
    return csr_array(q), csr_array(owner)


def onehot_program(release: Release) -> IntegerProgram:
    """Problem 1: its points are the datasets that fit the release (7-9 and 18)."""
    A, lo, hi = OneHot(release).problem1
    return _program([([A], lo, hi)])


def refuting(program: OneHot, claim: Claim) -> IntegerProgram:
    """
    Problem 3 on top of Problem 1: its points are the datasets that fit the release and contradict the claim (7-18). New
    variables: T and U (record by record, one per index of A_oh), S (one per record), Y.

    T stands only where j is in A_oh (elsewhere it is 1). M is as small as the constraints allow: large ones invite rounding.
    """
    n, m, M = program.release.n, claim.m, float(max(program.release.n, claim.m) + 2)
    codes = [(index, code) for index, column in enumerate(program.release.schema.domain.columns) for code in column.codes]
    # the indices A_oh of the columns that the claim names, and the value a_j of each (0: none)
    named = [j for j, (index, _) in enumerate(codes) if claim.codes[index] != ANY]
    value = np.tile([float(claim.codes[index] == code) for index, code in (codes[j] for j in named)], n)
    A, lo, hi = program.problem1
    part = csr_array(kron(eye_array(n), eye_array(len(codes), format="csr")[named]))
    X = csr_array((part.data, part.indices, part.indptr), shape=(part.shape[0], A.shape[1]))
    each, record_of = eye_array(len(value)), kron(eye_array(n), np.ones((len(named), 1)))
    large, total, Y = M * each, np.ones((1, n)), np.array([[-M]])
    return _program([
        ([A], lo, hi),
        ([X, large], -inf, M + value),  # 10: X - a <= M(1 - T)
        ([-X, large], -inf, M - value),  # 11: a - X <= M(1 - T)
        ([X, large, large], 1 + value, inf),  # 12: X - a >= 1 - MT - MU
        ([-X, large, -large], 1 - M - value, inf),  # 13: a - X >= 1 - MT - M(1 - U)
        ([None, -each, None, record_of], -inf, 0),  # 14: S <= T
        ([None, -record_of.T, None, eye_array(n)], 1 - len(named), inf),  # 15: S >= sum T - (v - 1)
        ([None, None, None, total, Y], -inf, m - 1),  # 16: sum S - m <= MY - 1
        ([None, None, None, total, Y], m + 1 - M, inf),  # 17: sum S - m >= 1 - M(1 - Y)
    ])  # fmt: skip


ROUNDS = 5  # of a solver that repeats itself; each begins with another seed


def records_of(release: Release, point: Floats) -> Codes:
    """The sorted records of a point of the one-hot program, recounted in integers against all that is published."""
    columns = release.schema.domain.columns
    sizes = [len(column.codes) for column in columns]
    X = np.rint(point[: release.n * sum(sizes)]).astype(np.int64).reshape(release.n, sum(sizes))
    records = np.empty((release.n, len(columns)), dtype=np.int16)
    for index, part in enumerate(np.split(X, np.cumsum(sizes)[:-1], axis=1)):
        if not ((part >= 0).all() and (part.sum(axis=1) == 1).all()):
            raise wrong_answer(release, f"a record has no or several codes of {columns[index].name}")
        records[:, index] = np.array(columns[index].codes)[part.argmax(axis=1)]
    named = dict(zip(release.schema.domain.names, records.T, strict=True))
    for query, lo, hi in zip(release.queries, release.lo, release.hi, strict=True):
        count = int(query.predicate.matches(named).sum())
        if not lo <= count <= hi:
            raise wrong_answer(release, f"{query.id} is {count} in it, and {lo} was published")
    for rule in release.schema.rules:
        if rule.excludes(named).any():
            raise wrong_answer(release, f"a record breaks the rule {rule.name}")
    return records[np.lexsort(records.T[::-1])]


def wrong_answer(release: Release, why: str) -> WrongAnswer:
    return WrongAnswer(
        f"block {release.block}: the solver's dataset failed the recount: {why}. Nothing is reported. Try the other "
        "solver (program.solver in config.yaml)."
    )


def generate_onehot(release: Release, solver: Solver, K: int, seed: int) -> list[Codes]:
    """Up to K distinct datasets (Problem 1), as sorted records; a solver is asked again until a round brings nothing new."""
    program = onehot_program(release)
    datasets: dict[bytes, Codes] = {}
    for round_ in range(ROUNDS):
        before = len(datasets)
        for point in solver.pool(program, K, seed + round_):
            records = records_of(release, point)
            datasets.setdefault(records.tobytes(), records)
        if len(datasets) >= K or len(datasets) == before:
            break
    return list(datasets.values())[:K]
