"""A coarser domain: codes of a column merged into groups, and the queries of a schema said in the merged codes."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from genverify.core.domain import Column, Domain
from genverify.core.errors import DataError
from genverify.core.predicates import Predicate, Rule
from genverify.core.release import Schema
from genverify.core.vocabulary import Group

Codes = npt.NDArray[np.int8]


def merge_codes(schema: Schema, name: str, groups: Sequence[Group]) -> tuple[Schema, Codes]:
    """
    The schema with the codes of one column merged, group by group (codes 1, 2, ...), and the merged code of each old code.

    The groups share out the codes of the column, and no query or rule may split one: what is published stays the same.
    """
    column = schema.domain[name]
    merged = np.zeros(max(column.codes) + 1, dtype=np.int8)
    for code, group in enumerate(groups, 1):
        own = group.predicate.where.get(name, ())
        if group.predicate.columns != (name,) or merged[list(own)].any():
            raise DataError(f"group {group.name} is not about {name} alone, or shares a code with another group")
        merged[list(own)] = code
    left = [code for code in column.codes if not merged[code]]
    if left:
        raise DataError(f"no group holds the code {left[0]} of {name}: give groups that cover the column")
    coarse = Column(name, column.label, tuple(range(1, len(groups) + 1)), tuple(group.label for group in groups))
    domain = Domain(tuple(coarse if c.name == name else c for c in schema.domain.columns))
    queries = tuple(replace(q, predicate=_merged(q.predicate, name, merged, column, q.id)) for q in schema.queries)
    rules = tuple(
        Rule(r.name, _merged(r.when, name, merged, column, r.name),
             tuple(_merged(option, name, merged, column, r.name) for option in r.one_of))
        for r in schema.rules
    )  # fmt: skip
    return Schema(domain, rules, queries), merged


def _merged(predicate: Predicate, name: str, merged: Codes, column: Column, where: str) -> Predicate:
    if name not in predicate.where:
        return predicate
    codes = set(predicate.where[name])
    inside = {int(merged[code]) for code in codes}
    if any(merged[code] in inside and code not in codes for code in column.codes):
        raise DataError(f"{where} tells apart codes of {name} that are merged: use finer groups")
    return Predicate.of({**predicate.where, name: inside})
