"""RAP-RANK's Table 1: attributes, codes and marginal queries of the tasks of a survey, ours beside the paper's."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from genverify.core.domain import Domain


def count_marginals(domain: Domain, ways: int) -> int:
    """
    How many k-way marginal queries a domain has, without listing them.

    >>> from genverify.core.domain import Column
    >>> columns = [Column(name, name, tuple(range(size)), ("",) * size) for name, size in (("A", 2), ("B", 3), ("C", 4))]
    >>> count_marginals(Domain(tuple(columns)), 2)
    26
    """
    totals = [1] + [0] * ways
    for column in domain.columns:
        for k in range(ways, 0, -1):
            totals[k] += totals[k - 1] * len(column.codes)
    return totals[ways]


def survey_task_table(domains: Mapping[str, Domain], paper: Mapping[str, Mapping[Any, int]]) -> pd.DataFrame:
    """One row per task and number: ours, and the paper's where it has the task."""
    rows = []
    for task, domain in domains.items():
        ours = {"attributes": len(domain.names), "dimension": sum(len(column.codes) for column in domain.columns)}
        ours |= {f"{ways}-way marginals": count_marginals(domain, ways) for ways in (2, 3)}
        theirs = dict(zip(ours, paper[task].values(), strict=True)) if task in paper else {}
        rows += [{"task": task, "number": name, "ours": value, "paper": theirs.get(name)} for name, value in ours.items()]
    return pd.DataFrame(rows).astype({"paper": "Int64"})
