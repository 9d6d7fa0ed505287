"""Marginals: every way to fix the codes of k columns, as counting queries on any discrete domain."""

from itertools import combinations, product

import numpy as np

from genverify.core.arraytypes import Ints
from genverify.core.domain import Domain
from genverify.core.errors import ConfigError
from genverify.core.predicates import Predicate, Records
from genverify.core.queries import Query
from genverify.core.tabulate import code_places


def marginal_queries(domain: Domain, ways: int) -> tuple[Query, ...]:
    """
    All k-way marginal queries of a domain (Definition 2.1), one table per set of columns.

    >>> from genverify.core.domain import Column
    >>> pair = Domain((Column("SEX", "sex", (1, 2), ("male", "female")), Column("OLD", "age", (0, 1), ("young", "old"))))
    >>> [query.id for query in marginal_queries(pair, 2)]
    ['SEX*OLD.1.0', 'SEX*OLD.1.1', 'SEX*OLD.2.0', 'SEX*OLD.2.1']
    """
    if not 1 <= ways <= len(domain.columns):
        raise ConfigError(f"{ways}-way marginals of {len(domain.columns)} columns: give 1 to {len(domain.columns)} ways")
    queries = []
    for columns in combinations(domain.columns, ways):
        table = "*".join(column.name for column in columns)
        for codes in product(*(column.codes for column in columns)):
            label = ", ".join(column.meaning[code] for column, code in zip(columns, codes, strict=True))
            where = {column.name: (code,) for column, code in zip(columns, codes, strict=True)}
            queries.append(Query(".".join((table, *map(str, codes))), table, label, Predicate.of(where)))
    return tuple(queries)


def marginal_counts(records: Records, domain: Domain, ways: int) -> Ints:
    """The counts of `marginal_queries` in their order, table by table: a hundred times faster than query by query."""
    places = {column.name: code_places(column.codes)[records[column.name]] for column in domain.columns}
    tables = []
    for columns in combinations(domain.columns, ways):
        sizes = [len(column.codes) for column in columns]
        cells = np.ravel_multi_index([places[column.name] for column in columns], sizes)
        tables.append(np.bincount(cells, minlength=int(np.prod(sizes))))
    return np.concatenate(tables).astype(np.int64)
