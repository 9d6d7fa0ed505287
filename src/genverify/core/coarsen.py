"""Coarser columns: codes merged into groups, and the queries and releases of a schema in the merged codes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from genverify.core.domain import Column, Domain
from genverify.core.errors import DataError
from genverify.core.predicates import Predicate, Rule
from genverify.core.queries import Query
from genverify.core.release import Release, Schema
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
        codes = group.predicate.where.get(name, ())
        if group.predicate.columns != (name,) or merged[list(codes)].any():
            raise DataError(f"group {group.name} is not about {name} alone, or shares a code with another group")
        merged[list(codes)] = code
    left = [code for code in column.codes if not merged[code]]
    if left:
        raise DataError(f"no group holds the code {left[0]} of {name}: give groups that cover the column")
    coarse = Column(name, column.label, tuple(range(1, len(groups) + 1)), tuple(group.label for group in groups))
    new = {code: int(merged[code]) for code in column.codes}
    queries = tuple(replace(q, predicate=_unsplit(q.predicate, name, new, q.id)) for q in schema.queries)
    rules = tuple(
        Rule(r.name, _unsplit(r.when, name, new, r.name), tuple(_unsplit(option, name, new, r.name) for option in r.one_of))
        for r in schema.rules
    )
    return Schema(_with_column(schema.domain, coarse), rules, queries), merged


def _with_column(domain: Domain, column: Column) -> Domain:
    return Domain(tuple(column if c.name == column.name else c for c in domain.columns))


def _unsplit(predicate: Predicate, column: str, code: Mapping[int, int], where: str) -> Predicate:
    """The condition in the merged codes; an error where it holds for only some of those that become one."""
    if _widened(predicate, column, code) != predicate:
        raise DataError(f"{where} distinguishes codes of {column} that are merged: use finer groups")
    return _recoded(predicate, column, code)


def refuse_sums(schema: Schema) -> None:
    """An error for a schema with a query that sums a column."""
    summed = [query.id for query in schema.queries if query.sums]
    if summed:
        raise DataError(f"{summed[0]} is a sum over records; suppression, rounding and coarser columns are for counts only")


@dataclass(frozen=True)
class Recoding:
    """
    A column with fewer codes: the schema it leads to, the new code of each old one, the old cells behind each new one.

    >>> age = Column("AGE", "age", (1, 2, 3), ("child", "adult", "old"))
    >>> queries = [Query(f"T.{code}", "T", age.meaning[code], Predicate.of({"AGE": [code]})) for code in age.codes]
    >>> recoding = coarsen(Schema(Domain((age,)), (), tuple(queries)), "AGE", {"grown up": [2, 3]})
    >>> recoding.code, recoding.members, recoding.schema.domain["AGE"].meanings
    ({1: 1, 2: 2, 3: 2}, ((0,), (1, 2)), ('child', 'grown up'))
    """

    schema: Schema
    column: str
    code: Mapping[int, int]
    members: tuple[tuple[int, ...], ...]

    def release(self, release: Release) -> Release:
        """The release of the coarser tables; a new cell is published where all old cells that make it up are."""
        position = {int(cell): at for at, cell in enumerate(release.cells)}
        new = [at for at, old in enumerate(self.members) if all(cell in position for cell in old)]
        lo, hi = (
            np.array([sum(int(side[position[cell]]) for cell in self.members[at]) for at in new], dtype=np.int64)
            for side in (release.lo, release.hi)
        )
        return Release(self.schema, release.block, release.n, np.array(new, dtype=np.int64), lo, np.minimum(hi, release.n))


def coarsen(schema: Schema, column: str, merged: Mapping[str, Sequence[int]]) -> Recoding:
    """The schema after the listed codes of a column are merged, each list under its label; other codes stay as they are."""
    old = schema.domain[column]
    refuse_sums(schema)
    code = {one: one for one in old.codes}
    meaning, seen = dict(old.meaning), set[int]()
    for label, codes in merged.items():
        old.restrict(codes)
        for one in codes:
            if one in seen:
                raise DataError(f"coarsen {column}: the code {old.meaning[one]!r} is in two groups; keep it in one")
            seen.add(one)
            code[one] = min(codes)
        meaning[min(codes)] = label
    kept = tuple(dict.fromkeys(code[one] for one in old.codes))
    new = Column(old.name, old.label, kept, tuple(meaning[one] for one in kept))
    queries, members = _merged_queries(schema, column, code)
    rules = tuple(rule for rule in (_coarser_rule(rule, column, code) for rule in schema.rules) if rule)
    return Recoding(Schema(_with_column(schema.domain, new), rules, tuple(queries)), column, code, tuple(members))


def _merged_queries(schema: Schema, column: str, code: Mapping[int, int]) -> tuple[list[Query], list[tuple[int, ...]]]:
    """The cells of each table that fall together, where they make up the whole of the coarser cell."""
    together: dict[tuple[str, Predicate], list[int]] = {}
    for cell, query in enumerate(schema.queries):
        together.setdefault((query.table, _widened(query.predicate, column, code)), []).append(cell)
    queries, members = [], []
    for (table, wide), cells in together.items():
        same = [cell for cell in cells if schema.queries[cell].predicate == wide]
        parts = tuple(same[:1] or cells)
        codes = sorted(one for cell in parts for one in schema.queries[cell].predicate.where.get(column, ()))
        if codes == list(wide.where.get(column, ())):
            first = schema.queries[parts[0]]
            queries.append(Query(first.id + "+" * (len(parts) > 1), table, first.label, _recoded(wide, column, code)))
            members.append(parts)
    return queries, members


def _widened(predicate: Predicate, column: str, code: Mapping[int, int]) -> Predicate:
    """The condition with every old code that falls together with one of its own."""
    if column not in predicate.where:
        return predicate
    new = {code[one] for one in predicate.where[column]}
    return Predicate.of({**predicate.where, column: [one for one in code if code[one] in new]})


def _recoded(predicate: Predicate, column: str, code: Mapping[int, int]) -> Predicate:
    if column not in predicate.where:
        return predicate
    return Predicate.of({**predicate.where, column: {code[one] for one in predicate.where[column]}})


def _coarser_rule(rule: Rule, column: str, code: Mapping[int, int]) -> Rule | None:
    """The rule as far as it still holds: of its `when`, the coarser codes all of whose records it speaks of."""
    when = rule.when
    if column in when.where:
        codes = set(when.where[column])
        covered = [one for one in codes if {old for old in code if code[old] == code[one]} <= codes]
        if not covered:
            return None
        when = Predicate.of({**when.where, column: covered})
    return Rule(rule.name, _recoded(when, column, code), tuple(_recoded(option, column, code) for option in rule.one_of))
