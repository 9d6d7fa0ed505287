"""The paper's own program (section 5): N one-hot encoded records, constraints 7-18. The reference formulation."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Any

import numpy as np
from scipy.sparse import block_diag, coo_array, csr_array, eye_array, kron, vstack

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


# rows lo <= A z <= hi; variables that A does not reach have the coefficient 0
_Rows = tuple[csr_array, Floats, Floats]


def _rows(A: csr_array, lo: float | Floats, hi: float | Floats) -> _Rows:
    low, high = (np.broadcast_to(side, A.shape[0]).astype(np.float64) for side in (lo, hi))
    return A, low, high


def _at(*parts: tuple[int, Any]) -> csr_array:
    """Matrices side by side, each given with its first column."""
    blocks = [(first, coo_array(part)) for first, part in parts]
    shape = blocks[0][1].shape[0], max(first + block.shape[1] for first, block in blocks)
    rows, columns = np.concatenate([b.row for _, b in blocks]), np.concatenate([first + b.col for first, b in blocks])
    return csr_array((np.concatenate([b.data for _, b in blocks]), (rows, columns)), shape=shape)


def _stacked(rows: Sequence[_Rows], variables: int) -> _Rows:
    matrices, lo, hi = zip(*rows, strict=True)
    padded = [csr_array((A.data, A.indices, A.indptr), shape=(A.shape[0], variables)) for A in matrices]
    return csr_array(vstack(padded, format="csr")), np.concatenate(lo), np.concatenate(hi)


def _program(rows: Sequence[_Rows], variables: int) -> IntegerProgram:
    return integer_program(sparse_system(*_stacked(rows, variables), np.ones(variables)), np.zeros(variables))


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
    def predicates(self) -> list[Predicate]:
        options = [option for rule in self.release.schema.rules for option in rule.one_of]
        return [*(query.predicate for query in self.release.queries), *options]

    @cached_property
    def d(self) -> int:
        return sum(len(column.codes) for column in self.release.schema.domain.columns)

    @property
    def variables(self) -> int:
        return self.release.n * (self.d + len(self.predicates))

    @cached_property
    def problem1(self) -> _Rows:
        """Constraints 7-9 and 18, the one-hot equalities, and the structural rules."""
        rows = [self._one_hot(), *self._indicators(), self._counts(), *self._rules(), self._order()]
        return _stacked(rows, self.variables)

    def _one_hot(self) -> _Rows:
        sizes = [len(column.codes) for column in self.release.schema.domain.columns]
        codes_of: Any = block_diag([np.ones((1, size)) for size in sizes])
        return _rows(_at((0, kron(self._records, codes_of))), 1, 1)

    def _indicators(self) -> list[_Rows]:
        """W = 1 exactly for the records that satisfy every sub-predicate (7 and 8); Z = q X for each sub-predicate q."""
        q, owner, r = _sub_predicates(self.release.schema.domain, self.predicates)
        seven = self._per_record(-q, owner)
        eight = self._per_record(-owner.T @ q, eye_array(len(r)))
        return [_rows(seven, -inf, 0), _rows(eight, np.tile(1 - r, self.release.n), inf)]

    def _counts(self) -> _Rows:
        published = eye_array(len(self.release.cells), len(self.predicates))
        over_records = kron(np.ones((1, self.release.n)), published)
        counts = self.release.lo.astype(np.float64)
        return _rows(_at((self.release.n * self.d, over_records)), counts, counts)

    def _rules(self) -> list[_Rows]:
        """A record that satisfies every sub-predicate of a rule's `when` lies in one of the rule's options."""
        rules = self.release.schema.rules
        if not rules:
            return []
        q, owner, r = _sub_predicates(self.release.schema.domain, [rule.when for rule in rules])
        options: Any = block_diag([np.ones((1, len(rule.one_of))) for rule in rules])
        on_W = _at((len(self.release.cells), options))
        return [_rows(self._per_record(-owner.T @ q, on_W), np.tile(1 - r, self.release.n), inf)]

    def _order(self) -> _Rows:
        """Records ordered by their hash (18). Every dataset can be ordered so: no dataset is lost."""
        h = np.random.default_rng(HASH_SEED).integers(1, HASH_VALUES, self.d, endpoint=True).astype(np.float64)
        each = self._records.tocsr()
        return _rows(_at((0, kron(each[1:] - each[:-1], h[None, :]))), 0, inf)

    @property
    def _records(self) -> Any:
        return eye_array(self.release.n)

    def _per_record(self, on_X: Any, on_W: Any) -> csr_array:
        """The same rows for every record: coefficients on its part of X and on its part of W."""
        return _at((0, kron(self._records, on_X)), (self.release.n * self.d, kron(self._records, on_W)))


def _sub_predicates(domain: Domain, predicates: Sequence[Predicate]) -> tuple[csr_array, csr_array, Floats]:
    """All sub-predicates as rows q over the d one-hot indices, a matrix that says whose each is, and every predicate's r."""
    index = {pair: position for position, pair in enumerate((c.name, code) for c in domain.columns for code in c.codes)}
    clauses = [(number, name, codes) for number, predicate in enumerate(predicates) for name, codes in predicate.clauses]
    ones = [(row, index[name, code]) for row, (_, name, codes) in enumerate(clauses) for code in codes]
    owner = [(row, number) for row, (number, _, _) in enumerate(clauses)]
    r = np.array([len(predicate.clauses) for predicate in predicates], dtype=np.float64)
    return _flags(ones, (len(clauses), len(index))), _flags(owner, (len(clauses), len(predicates))), r


def _flags(indices: Sequence[tuple[int, int]], shape: tuple[int, int]) -> csr_array:
    rows, columns = np.array(indices, dtype=np.int64).reshape(-1, 2).T
    return csr_array((np.ones(len(indices)), (rows, columns)), shape=shape)


def onehot_program(release: Release) -> IntegerProgram:
    """Problem 1: its points are the datasets that fit the release (7-9 and 18)."""
    program = OneHot(release)
    return _program([program.problem1], program.variables)


def refuting(program: OneHot, claim: Claim) -> IntegerProgram:
    """
    Problem 3 on top of Problem 1: its points are the datasets that fit the release and contradict the claim (7-18). New
    variables: T and U (record by record, one per index of A_oh), S (one per record), Y.

    T stands only where j is in A_oh (elsewhere it is 1). M is as small as the constraints allow: large ones invite rounding.
    """
    n, m, M = program.release.n, claim.m, float(max(program.release.n, claim.m) + 2)
    picked, a = _assignment(program.release.schema.domain, claim)
    T, U, S, Y = np.cumsum([program.variables, n * len(a), n * len(a), n]).tolist()
    # in the form that `_at` joins: turned into it once, not wherever they stand
    parts = kron(eye_array(n), picked), eye_array(n * len(a)), kron(eye_array(n), np.ones((len(a), 1)))
    X, each, record_of = map(coo_array, parts)
    value = np.tile(a, n)
    total = np.ones((1, n))
    rows = [
        _rows(_at((0, X), (T, M * each)), -inf, M + value),  # 10: X - a <= M(1 - T)
        _rows(_at((0, -X), (T, M * each)), -inf, M - value),  # 11: a - X <= M(1 - T)
        _rows(_at((0, X), (T, M * each), (U, M * each)), 1 + value, inf),  # 12: X - a >= 1 - MT - MU
        _rows(_at((0, -X), (T, M * each), (U, -M * each)), 1 - M - value, inf),  # 13: a - X >= 1 - MT - M(1 - U)
        _rows(_at((T, -each), (S, record_of)), -inf, 0),  # 14: S <= T
        _rows(_at((T, -record_of.T), (S, eye_array(n))), 1 - len(a), inf),  # 15: S >= sum T - (v - 1)
        _rows(_at((S, total), (Y, [[-M]])), -inf, m - 1),  # 16: sum S - m <= MY - 1
        _rows(_at((S, total), (Y, [[-M]])), m + 1 - M, inf),  # 17: sum S - m >= 1 - M(1 - Y)
    ]
    return _program([program.problem1, *rows], Y + 1)


def _assignment(domain: Domain, claim: Claim) -> tuple[csr_array, Floats]:
    """The indices A_oh of the columns that the claim names, as rows that pick them, and the value a_j of each (0: none)."""
    codes = [(index, code) for index, column in enumerate(domain.columns) for code in column.codes]
    named = [j for j, (index, _) in enumerate(codes) if claim.codes[index] != ANY]
    values = [float(claim.codes[index] == code) for index, code in (codes[j] for j in named)]
    return _flags(list(enumerate(named)), (len(named), len(codes))), np.array(values, dtype=np.float64)


# Datasets that fit a release, by the paper's own program (Problem 1), recounted in integers.

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
