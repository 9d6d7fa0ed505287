"""Workloads of counting queries, their sensitivity, the matrix mechanism (appendices C and E), strategies side by side."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import chain as joined
from itertools import combinations
from math import prod, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from genverify.model.arrays import Flags, Floats, Ints
from genverify.model.domain import Domain, Predicate, Rule
from genverify.model.query import Query
from studies.mechanisms.randomized_response import PrivacyError, check_epsilon

# A workload of counting queries on a product of columns, seen from its parts: sizes, overlaps and tables, in integers.
#
# A query takes a set of codes in each column that it names, so it is the product of one indicator per column. Whatever is a
# product too (sizes, overlaps, shares that a table explains) follows column by column, and the matrix Q is never built.

Columns = frozenset[str]
PRIMES = (2_147_483_629, 2_147_483_587)


@dataclass(frozen=True)
class Workload:
    """Queries on a domain. Columns with one code, and clauses that take every code, say nothing and are left out."""

    domain: Domain
    queries: tuple[Predicate, ...]

    @cached_property
    def codes(self) -> dict[str, int]:
        """How many codes each column has that distinguishes records."""
        return {column.name: len(column.codes) for column in self.domain.columns if len(column.codes) > 1}

    @cached_property
    def parts(self) -> tuple[dict[str, frozenset[int]], ...]:
        """The clauses of each query that say something; a query that nobody can meet keeps its empty clause."""
        return tuple(self._part(query) for query in self.queries)

    def _part(self, query: Predicate) -> dict[str, frozenset[int]]:
        part = {name: frozenset(codes) & frozenset(self.domain[name].codes) for name, codes in query.clauses}
        return {name: codes for name, codes in part.items() if len(codes) < len(self.domain[name].codes)}

    @cached_property
    def sizes(self) -> list[int]:
        """How many records of the domain lie in each query: the sums of the rows of Q."""
        return [prod(len(part.get(column.name, column.codes)) for column in self.domain.columns) for part in self.parts]

    @cached_property
    def families(self) -> list[Columns]:
        """The sets of columns that the queries are about, in the order in which they first stand."""
        return list(dict.fromkeys(frozenset(part) for part, size in zip(self.parts, self.sizes, strict=True) if size))

    @cached_property
    def gram(self) -> Ints:
        """Q Q^T: how many records of the domain lie in both of two queries, column by column of the domain."""
        overlaps = np.ones((len(self.parts), len(self.parts)), dtype=np.int64)
        for column in self.domain.columns:
            held = [part.get(column.name, frozenset(column.codes)) for part in self.parts]
            flags = np.array([[code in codes for code in column.codes] for codes in held], dtype=np.int64)
            overlaps *= flags @ flags.T
        return overlaps


def exact_rank(matrix: Ints) -> int:
    """
    The rank of an integer matrix: the greatest of its ranks modulo large primes.

    No prime gives more than the rank, and one that gives less must divide every minor of that size.
    """
    return max(_rank_modulo(matrix, prime) for prime in PRIMES)


def _rank_modulo(matrix: Ints, prime: int) -> int:
    """Gauss elimination modulo a prime below 2^31, so that no product leaves 64 bits."""
    rest, rank = np.asarray(matrix, dtype=np.int64) % prime, 0
    for column in range(rest.shape[1]):
        result = np.flatnonzero(rest[rank:, column])
        if not len(result):
            continue
        pivot = rank + int(result[0])
        rest[[rank, pivot]] = rest[[pivot, rank]]
        row = rest[rank, column:] * pow(int(rest[rank, column]), -1, prime) % prime
        below = rest[rank + 1 :, column:]  # what stands before is 0 already
        below[:] = (below - below[:, :1] * row) % prime
        rank += 1
        if rank == len(rest):
            break
    return rank


def chain(order: Sequence[str]) -> list[Columns]:
    """Tables that refine each other column by column, from the total to all columns."""
    return [frozenset(order[:length]) for length in range(len(order) + 1)]


# Sensitivity of a workload: how much its answers can change when one record joins or leaves (theorem 3).

SmallInts = npt.NDArray[np.int32]
MOST_CELLS = 50_000_000  # bounds memory: four bytes for each, 200 MB


@dataclass(frozen=True)
class Sensitivity:
    """
    In how many queries a record can lie, at least and at most, and one that lies in most. Counts are 0 or 1 for a record, so
    the L1 norm of a column is that number (theorem 3). A record that is exchanged for another changes the answers twice as
    much at most.
    """

    least: int
    l1: int
    record: Mapping[str, int]


def memberships(domain: Domain, queries: Sequence[Predicate]) -> SmallInts:
    """
    In how many queries each record of the domain lies, an axis per column.

    The queries about one set of columns are counted on the product of these columns alone; those small tables are added up.
    So one number is held per record, and never the matrix of queries by records.
    """
    if domain.size > MOST_CELLS:
        raise PrivacyError(f"the domain has {domain.size} records, more than {MOST_CELLS}: merge codes or drop columns")
    total = np.zeros([len(column.codes) for column in domain.columns], dtype=np.int32)
    families: dict[tuple[str, ...], list[Predicate]] = {}
    for query in queries:
        families.setdefault(query.columns, []).append(query)
    for family in families.values():
        total += sum((_box(domain, query) for query in family), np.zeros((), dtype=np.int32))
    return total


def _box(domain: Domain, query: Predicate) -> SmallInts:
    """Which combinations of its columns a query holds, to be broadcast along the other columns."""
    box = np.ones((1,) * len(domain.columns), dtype=np.int32)
    for name, codes in query.clauses:
        index = domain.names.index(name)
        shape = [-1 if axis == index else 1 for axis in range(len(domain.columns))]
        box = box * np.isin(domain[name].codes, codes).astype(np.int32).reshape(shape)
    return box


def query_sensitivity(domain: Domain, queries: Sequence[Predicate], rules: Sequence[Rule] = ()) -> Sensitivity:
    """The sensitivity of counting queries over the records that break no rule, with a record that attains it."""
    lies_in, possible = memberships(domain, queries), _possible_records(domain, rules)
    if not possible.any():
        raise PrivacyError("no record of the domain keeps the structural rules: check the rules of the domain file")
    index = np.unravel_index(int(np.where(possible, lies_in, -1).argmax()), lies_in.shape)
    record = {column.name: column.codes[int(at)] for column, at in zip(domain.columns, index, strict=True)}
    return Sensitivity(int(lies_in[possible].min()), int(lies_in[index]), record)


def _possible_records(domain: Domain, rules: Sequence[Rule]) -> Flags:
    """Which records of the domain break no structural rule, an axis per column."""
    possible: Flags = np.ones([len(column.codes) for column in domain.columns], dtype=bool)
    for rule in rules:
        allowed = ~_box(domain, rule.when).astype(bool)
        for option in rule.one_of:
            allowed = allowed | _box(domain, option).astype(bool)
        possible &= allowed
    return possible


# The matrix mechanism (appendices C and E): answer the queries of a strategy A with Laplace noise, and derive the workload
# Q.
#
# M(x) = Q x + Q (Delta A) A+ e with e Laplace of scale 1/epsilon, so query i has the variance
# 2 / epsilon^2 (Delta A)^2 |q_i A+|^2, and the sum over the queries is -I (E-27). (Delta A)^2 |q_i A+|^2, which does not
# depend on epsilon, is the factor of a query. A strategy must distinguish whatever a query does: Q A+ A = Q.
#
# Strategies that publish full tables (every combination of codes of some columns):
#
# identity      the one table of all columns: every record type gets its noise; a query adds up as many as it holds
# hierarchical  tables that refine each other, from the total column by column to all columns (a tree of tables);
#               first the columns that most queries name
# tables        for each set of columns that some query is about, its full table, and the total: what is published, in full
# finest        of these tables only those that no other one refines: the rest follows from them
#
# and two that ask the queries themselves:
#
# workload      A = Q: noisy answers, made consistent by least squares
# unprojected   the same noisy answers as they are (the Laplace mechanism): the factor of a query is (Delta Q)^2
#
# For tables, A^T A is a sum of products of I and J (all ones) over the columns. All of these have the same eigenspaces, one
# per set T of columns (the effects that are about exactly T), so the pseudo-inverse needs no matrix, and factors are exact
# fractions. Codes that no query distinguishes need no merging: the columns stay as they are, and their sizes alone enter.

NOTHING: Columns = frozenset()
# an eigenvalue that is 0 differs from it by rounding only; where it does not, the rank is not sure, and an error says so
GAP = 1e-6


@dataclass(frozen=True)
class Strategy:
    """A strategy on a workload: its sensitivity, how many numbers it asks for, and the factor of each query."""

    name: str
    sensitivity: int
    answers: int
    factors: Floats

    def accuracy(self, epsilon: float) -> float:
        """I (E-27): minus the expected sum of squared errors over the queries."""
        return -noise_variance(epsilon) * float(self.factors.sum())

    def errors(self, epsilon: float) -> Floats:
        """The root mean square error of each query."""
        result: Floats = np.sqrt(noise_variance(epsilon) * self.factors)
        return result


def noise_variance(epsilon: float) -> float:
    """The variance of Laplace noise of scale 1/epsilon."""
    return 2 / check_epsilon(epsilon) ** 2


def strategies(workload: Workload) -> list[Strategy]:
    """The strategies of this module on a workload, in the order of its list."""
    return [
        _table_strategy("identity", workload, [frozenset(workload.codes)]),
        _table_strategy("hierarchical", workload, chain(_most_named(workload))),
        _table_strategy("tables", workload, [NOTHING, *workload.families]),
        _table_strategy("finest", workload, finest(workload.families) or [NOTHING]),
        *_workload_strategies(workload),
    ]


def _most_named(workload: Workload) -> list[str]:
    """The columns, those first that more queries name; equal ones in the order of the domain."""
    named = {name: sum(name in part for part in workload.parts) for name in workload.codes}
    return sorted(workload.codes, key=lambda name: -named[name])


def finest(tables: Sequence[Columns]) -> list[Columns]:
    """The tables that no other one refines."""
    return [columns for columns in tables if not any(columns < other for other in tables)]


def _table_strategy(name: str, workload: Workload, tables: Iterable[Columns]) -> Strategy:
    """A strategy that publishes full tables; a record lies in one cell of each, so the sensitivity is their number."""
    rest = list(dict.fromkeys(tables))
    factors = [len(rest) ** 2 * _table_factor(workload, part, rest) for part in workload.parts]
    answers = sum(prod(workload.codes[column] for column in columns) for columns in rest)
    return Strategy(name, len(rest), answers, np.array([float(factor) for factor in factors]))


def _table_factor(workload: Workload, part: dict[str, frozenset[int]], tables: Sequence[Columns]) -> Fraction:
    """|q A+|^2 = sum over T of |P_T q|^2 / lambda_T, where P_T projects on the effects about exactly the columns T."""
    if not all(part.values()):
        return Fraction(0)
    total = Fraction(0)
    for effect in map(frozenset, joined.from_iterable(combinations(sorted(part), size) for size in range(len(part) + 1))):
        eigenvalue = sum(_weight(workload, table) for table in tables if effect <= table)
        if not eigenvalue:
            raise PrivacyError(
                f"no table of the strategy has the columns {', '.join(sorted(effect)) or '(total)'} together, which a "
                "query needs: add a table that has"
            )
        total += _energy(workload, part, effect) / eigenvalue
    return total


def _weight(workload: Workload, table: Columns) -> int:
    """The eigenvalue of a table's own A^T A on every effect that it shows: the records in each of its cells."""
    return prod(size for column, size in workload.codes.items() if column not in table)


def _energy(workload: Workload, part: dict[str, frozenset[int]], effect: Columns) -> Fraction:
    """|P_T q|^2 of a query, column by column: its mean where T has no column, what differs from the mean where it has."""
    energy = Fraction(1)
    for column, size in workload.codes.items():
        held = len(part[column]) if column in part else size
        mean = Fraction(held * held, size)
        energy *= held - mean if column in effect else mean
    return energy


def _workload_strategies(workload: Workload) -> list[Strategy]:
    """
    A = Q, made consistent and as it is. Q Q+ projects on the answers that data can give: the factors are its diagonal, and
    add up to the rank. Without it every query has its own noise; one that nobody can meet is 0, and needs none.
    """
    sensitivity = query_sensitivity(workload.domain, workload.queries).l1
    met = np.array(workload.sizes) > 0
    diagonal = (_directions(workload) ** 2).sum(axis=1)
    parts = {"workload": np.where(met, diagonal, 0.0), "unprojected": met.astype(float)}
    return [Strategy(name, sensitivity, int(met.sum()), sensitivity**2 * part) for name, part in parts.items()]


def workload_projection(workload: Workload) -> Floats:
    """Q Q+, the projection on the answers that data can give: what least squares make of noisy answers."""
    directions = _directions(workload)
    projection: Floats = directions @ directions.T
    return projection


def _directions(workload: Workload) -> Floats:
    """Orthonormal directions of the answers, from the overlaps Q Q^T, whose rank is exact; an error if they differ."""
    values, vectors = np.linalg.eigh(workload.gram.astype(float))
    rank = exact_rank(workload.gram)
    rest, gone = values[len(values) - rank :], values[: len(values) - rank]
    if rank and np.abs(gone).max(initial=0.0) > GAP * rest.min():
        raise PrivacyError(
            f"the rank of the workload is {rank}, but its overlaps have no gap there ({rest.min():.3g} above, "
            f"{np.abs(gone).max():.3g} below): drop queries that nearly repeat others"
        )
    directions: Floats = vectors[:, len(values) - rank :]
    return directions


# Strategies of the matrix mechanism side by side: accuracy by privacy loss, errors by table and query by query.

BY_EPSILON, BY_TABLE = "epsilon", "table"


def query_errors(result: Sequence[Strategy], queries: Sequence[Query], sizes: Sequence[int], epsilon: float) -> pd.DataFrame:
    """A row per strategy and query: its factor, and its root mean square error at a privacy loss."""
    base = _base_tables([query.table for query in queries])
    about = pd.DataFrame([(query.id, base[query.table]) for query in queries], columns=["query", "table"])
    about = about.assign(records=list(sizes))
    parts = [about.assign(factor=one.factors, epsilon=epsilon, error=one.errors(epsilon)) for one in result]
    names = pd.Index([strategy.name for strategy in result], name="strategy")
    return pd.concat(parts, keys=names).reset_index("strategy").reset_index(drop=True)


def _base_tables(names: Sequence[str]) -> dict[str, str]:
    """The base of each table: an iteration by race or origin has its letter at the end."""
    return {name: name[:-1] if name[:-1] in names and name[-1].isalpha() else name for name in names}


def compare_strategies(result: Sequence[Strategy], epsilons: Sequence[float], errors: pd.DataFrame) -> pd.DataFrame:
    """What the figure shows: I and the error of a query by privacy loss, then the error by table at one privacy loss."""
    rows = []
    for strategy in result:
        n, of_strategy = len(strategy.factors), errors[errors["strategy"] == strategy.name]
        figures: list[tuple[Any, ...]] = [
            (BY_EPSILON, epsilon, "all", n, strategy.accuracy(epsilon)) for epsilon in epsilons
        ]
        figures += [(BY_TABLE, part["epsilon"].iloc[0], table, len(part), -float((part["error"] ** 2).sum()))
                    for table, part in of_strategy.groupby("table", sort=False)]  # fmt: skip
        for part, epsilon, table, queries, accuracy in figures:
            row = {"part": part, "strategy": strategy.name, "sensitivity": strategy.sensitivity, "answers": strategy.answers}
            row |= {"epsilon": epsilon, "table": table, "queries": queries}
            rows.append(row | {"accuracy": accuracy, "error": sqrt(-accuracy / queries)})
    return pd.DataFrame(rows)
