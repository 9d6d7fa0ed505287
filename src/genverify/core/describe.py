"""A domain and its tables described in a few words, and a release made from a DataFrame."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product

import pandas as pd

from genverify.core.domain import Column, Domain
from genverify.core.errors import DataError, nearest
from genverify.core.predicates import Predicate, Rule
from genverify.core.queries import Query
from genverify.core.release import TOTAL, Release, Schema, make_release


def make_schema(
    columns: Mapping[str, Sequence[str]], tables: Mapping[str, Sequence[str]], rules: Iterable[Rule] = ()
) -> Schema:
    """
    Columns with the values that they take, and tables with the columns that they cross. A cell of a table is called after
    its values; the codes of a column count from 0.

    >>> schema = make_schema({"sex": ["f", "m"], "age": ["young", "old"]}, {"by_sex": ["sex"], "all": ["sex", "age"]})
    >>> [query.id for query in schema.queries]
    ['by_sex.f', 'by_sex.m', 'all.f.young', 'all.f.old', 'all.m.young', 'all.m.old']
    """
    made = tuple(Column(name, name, tuple(range(len(values))), tuple(values)) for name, values in columns.items())
    domain = Domain(made)
    queries = [query for name, crossed in tables.items() for query in _cells(domain, name, crossed)]
    return Schema(domain, tuple(rules), tuple(queries))


def _cells(domain: Domain, table: str, crossed: Sequence[str]) -> Iterable[Query]:
    chosen = [domain[name] for name in crossed]
    for codes in product(*(column.codes for column in chosen)):
        words = [column.meaning[code] for column, code in zip(chosen, codes, strict=True)]
        where = Predicate.of({column.name: [code] for column, code in zip(chosen, codes, strict=True)})
        yield Query(".".join([table, *words]), table, ", ".join(words), where)


def release_of(schema: Schema, records: pd.DataFrame, block: str = "data") -> Release:
    """
    What the tables of a schema publish about records, one row each, with the values that the schema names.

    >>> schema = make_schema({"sex": ["f", "m"], "age": ["young", "old"]}, {"by_sex": ["sex"]})
    >>> release = release_of(schema, pd.DataFrame({"sex": ["f", "m", "m"], "age": ["old", "old", "young"]}))
    >>> release.n, release.lo.tolist()
    (3, [1, 2])
    """
    codes = {column.name: _codes(column, records) for column in schema.domain.columns}
    counts = {query.id: int(query.predicate.matches(codes).sum()) for query in schema.queries}
    return make_release(schema, block, {TOTAL: len(records), **counts})


def _codes(column: Column, records: pd.DataFrame) -> "pd.Series[int]":
    if column.name not in records:
        raise DataError(f"the records have no column {column.name!r}: {nearest(column.name, list(records.columns))}")
    found = records[column.name].map({meaning: code for code, meaning in column.meaning.items()})
    if found.isna().any():
        odd = records.loc[found.isna(), column.name].iloc[0]
        raise DataError(f"column {column.name}: {odd!r} is none of its values: {nearest(odd, list(column.meanings))}")
    return found.astype(int)
