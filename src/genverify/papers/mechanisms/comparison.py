"""Strategies of the matrix mechanism side by side: accuracy by privacy loss, errors by table and query by query."""

from collections.abc import Sequence
from math import sqrt

import pandas as pd

from genverify.core.queries import Query
from genverify.papers.mechanisms.matrix_mechanism import Strategy

BY_EPSILON, BY_TABLE = "epsilon", "table"


def query_errors(found: Sequence[Strategy], queries: Sequence[Query], sizes: Sequence[int], epsilon: float) -> pd.DataFrame:
    """A row per strategy and query: its factor, and its root mean square error at a privacy loss."""
    base = base_tables([query.table for query in queries])
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
        for strategy in found
    ]
    return pd.concat(frames, ignore_index=True)


def base_tables(names: Sequence[str]) -> dict[str, str]:
    """
    The base of each table: an iteration by race or origin has its letter at the end.

    >>> base_tables(["P16", "P16A", "H3"])
    {'P16': 'P16', 'P16A': 'P16', 'H3': 'H3'}
    """
    return {name: name[:-1] if name[:-1] in names and name[-1].isalpha() else name for name in names}


def compare_strategies(found: Sequence[Strategy], epsilons: Sequence[float], errors: pd.DataFrame) -> pd.DataFrame:
    """What the figure shows: I and the error of a query by privacy loss, then the error by table at one privacy loss."""
    rows = []
    for strategy in found:
        told = {"strategy": strategy.name, "sensitivity": strategy.sensitivity, "answers": strategy.answers}
        for epsilon in epsilons:
            n, accuracy = len(strategy.factors), strategy.accuracy(epsilon)
            rows.append({"part": BY_EPSILON, **told, "epsilon": epsilon, "table": "all", "queries": n,
                         "accuracy": accuracy, "error": sqrt(-accuracy / n)})  # fmt: skip
        own = errors[errors["strategy"] == strategy.name]
        for table, part in own.groupby("table", sort=False):
            squares = float((part["error"] ** 2).sum())
            rows.append({"part": BY_TABLE, **told, "epsilon": part["epsilon"].iloc[0], "table": table,
                         "queries": len(part), "accuracy": -squares, "error": sqrt(squares / len(part))})  # fmt: skip
    return pd.DataFrame(rows)
