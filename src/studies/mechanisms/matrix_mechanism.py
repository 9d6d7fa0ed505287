"""The matrix mechanism (appendices C and E), and its strategies side by side."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain as joined
from itertools import combinations
from math import prod, sqrt

import numpy as np
import pandas as pd

from genverify.model.arrays import Floats
from genverify.model.query import Query
from studies.mechanisms.randomized_response import PrivacyError, check_epsilon
from studies.mechanisms.workload import Columns, Workload, chain, exact_rank, query_sensitivity

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
    """
    The variance of Laplace noise of scale 1/epsilon.

    >>> noise_variance(0.5)
    8.0
    """
    return 2 / check_epsilon(epsilon) ** 2


def strategies(workload: Workload) -> list[Strategy]:
    """The strategies of this module on a workload, in the order of its list."""
    return [
        table_strategy("identity", workload, [frozenset(workload.codes)]),
        table_strategy("hierarchical", workload, chain(most_named(workload))),
        table_strategy("tables", workload, [NOTHING, *workload.families]),
        table_strategy("finest", workload, finest(workload.families) or [NOTHING]),
        workload_strategy(workload),
        unprojected_strategy(workload),
    ]


def most_named(workload: Workload) -> list[str]:
    """The columns, those first that more queries name; equal ones in the order of the domain."""
    named = {name: sum(name in part for part in workload.parts) for name in workload.codes}
    return sorted(workload.codes, key=lambda name: -named[name])


def finest(tables: Sequence[Columns]) -> list[Columns]:
    """
    The tables that no other one refines.

    >>> [sorted(columns) for columns in finest([frozenset("a"), frozenset("ab"), frozenset("c")])]
    [['a', 'b'], ['c']]
    """
    return [columns for columns in tables if not any(columns < other for other in tables)]


def table_strategy(name: str, workload: Workload, tables: Iterable[Columns]) -> Strategy:
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
    for effect in _subsets(part):
        eigenvalue = sum(_weight(workload, table) for table in tables if effect <= table)
        if not eigenvalue:
            raise PrivacyError(
                f"no table of the strategy has the columns {', '.join(sorted(effect)) or '(total)'} together, which a "
                "query needs: add a table that has"
            )
        total += _energy(workload, part, effect) / eigenvalue
    return total


def _subsets(part: Iterable[str]) -> Iterator[Columns]:
    names = sorted(part)
    sizes = range(len(names) + 1)
    yield from map(frozenset, joined.from_iterable(combinations(names, size) for size in sizes))


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


def workload_strategy(workload: Workload) -> Strategy:
    """A = Q. Q Q+ projects on the answers that data can give: the factors are its diagonal, and add up to the rank."""
    sensitivity = query_sensitivity(workload.domain, workload.queries).l1
    answers = sum(size > 0 for size in workload.sizes)
    return Strategy("workload", sensitivity, answers, sensitivity**2 * projection_diagonal(workload))


def projection_diagonal(workload: Workload) -> Floats:
    """The diagonal of Q Q+; 0 for a query that nobody can meet."""
    result: Floats = (_directions(workload) ** 2).sum(axis=1)
    return np.where(np.array(workload.sizes) > 0, result, 0.0)


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


def unprojected_strategy(workload: Workload) -> Strategy:
    """The queries with their own noise, nothing derived; a query that nobody can meet is 0, and needs none."""
    sensitivity = query_sensitivity(workload.domain, workload.queries).l1
    factors = np.where(np.array(workload.sizes) > 0, float(sensitivity) ** 2, 0.0)
    return Strategy("unprojected", sensitivity, int((factors > 0).sum()), factors)


# Strategies of the matrix mechanism side by side: accuracy by privacy loss, errors by table and query by query.

BY_EPSILON, BY_TABLE = "epsilon", "table"


def query_errors(result: Sequence[Strategy], queries: Sequence[Query], sizes: Sequence[int], epsilon: float) -> pd.DataFrame:
    """A row per strategy and query: its factor, and its root mean square error at a privacy loss."""
    base = _base_tables([query.table for query in queries])
    frames = [
        pd.DataFrame(
            {
                "strategy": strategy.name,
                "query": [query.id for query in queries],
                "table": [base[query.table] for query in queries],
                "records": list(sizes),
                "factor": strategy.factors,
                "epsilon": epsilon,
                "error": strategy.errors(epsilon),
            }
        )
        for strategy in result
    ]
    return pd.concat(frames, ignore_index=True)


def _base_tables(names: Sequence[str]) -> dict[str, str]:
    """
    The base of each table: an iteration by race or origin has its letter at the end.

    >>> _base_tables(["P16", "P16A", "H3"])
    {'P16': 'P16', 'P16A': 'P16', 'H3': 'H3'}
    """
    return {name: name[:-1] if name[:-1] in names and name[-1].isalpha() else name for name in names}


def compare_strategies(result: Sequence[Strategy], epsilons: Sequence[float], errors: pd.DataFrame) -> pd.DataFrame:
    """What the figure shows: I and the error of a query by privacy loss, then the error by table at one privacy loss."""
    rows = []
    for strategy in result:
        row = {"strategy": strategy.name, "sensitivity": strategy.sensitivity, "answers": strategy.answers}
        for epsilon in epsilons:
            n, accuracy = len(strategy.factors), strategy.accuracy(epsilon)
            rows.append({"part": BY_EPSILON, **row, "epsilon": epsilon, "table": "all", "queries": n,
                         "accuracy": accuracy, "error": sqrt(-accuracy / n)})  # fmt: skip
        chosen = errors[errors["strategy"] == strategy.name]
        for table, part in chosen.groupby("table", sort=False):
            squares = float((part["error"] ** 2).sum())
            rows.append({"part": BY_TABLE, **row, "epsilon": part["epsilon"].iloc[0], "table": table,
                         "queries": len(part), "accuracy": -squares, "error": sqrt(squares / len(part))})  # fmt: skip
    return pd.DataFrame(rows)
