"""A release: what is published about a block, all that the attack sees; made from few words or a DataFrame; recoded."""

import json
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from genverify.model.arrays import Ints
from genverify.model.domain import Column, Domain, DomainFile, Predicate, Rule, allowed_codes, read_domain
from genverify.model.errors import MALFORMED, DataError, ReleaseError, nearest, refuse_unknown, refusing
from genverify.model.files import read_json, read_yaml
from genverify.model.query import Group, Query, build_queries, clip_query, clip_rule
from genverify.model.settings import ReleaseSettings
from genverify.model.tablefiles import read_frame

TOTAL = "N"
LARGEST_COUNT = 1_000_000  # records of a block; what is larger is a mistake, or meant to exhaust the memory
MOST = 8  # of one kind: bounds memory; most blocks of a study publish the same cells
K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


def cached(known: OrderedDict[K, V], key: K, make: Callable[[], V], most: int = MOST) -> V:
    """
    What is known by this key, made where it is not: a cache of those asked for last.

    >>> known = OrderedDict[str, int]()
    >>> [cached(known, word, lambda: len(known), most=2) for word in ("a", "b", "a", "c", "b")]
    [0, 1, 0, 2, 2]
    """
    if key not in known:
        known[key] = make()
        if len(known) > most:
            known.popitem(last=False)
    known.move_to_end(key)
    return known[key]


@dataclass(frozen=True)
class Schema:
    """What a release speaks of: the domain of its records, the rules that hold, the queries that may be published."""

    domain: Domain
    rules: tuple[Rule, ...]
    queries: tuple[Query, ...]

    @cached_property
    def position(self) -> Mapping[str, int]:
        return {query.id: index for index, query in enumerate(self.queries)}

    @cached_property
    def predicates(self) -> tuple[Predicate, ...]:
        return tuple(query.predicate for query in self.queries)

    @cached_property
    def summed(self) -> frozenset[str]:
        return frozenset(query.sums for query in self.queries if query.sums)

    @cached_property
    def lines(self) -> str:
        """A line per query with room for its lo and hi."""
        return "\n".join(query.id.replace("%", "%%") + " %d %d" for query in self.queries)

    def part(self, cells: Ints) -> "Schema":
        """The queries at these positions alone; those asked for last are kept, because most blocks publish the same ones."""
        return self.derived(
            Schema, cells.tobytes(), lambda: replace(self, queries=tuple(self.queries[cell] for cell in cells.tolist()))
        )

    def derived(self, kind: type[V], key: Hashable, make: Callable[[], V], most: int = MOST) -> V:
        """What follows from the schema and a key alone, made where it is not known; the last ones of each kind are kept."""
        known: OrderedDict[Hashable, V] = self._derived.setdefault(kind, OrderedDict())
        return cached(known, key, make, most)

    @cached_property
    def _derived(self) -> dict[type[Any], OrderedDict[Hashable, Any]]:
        return {}

    def __getstate__(self) -> dict[str, Any]:
        """The schema without what was derived from it: another process derives what it needs itself."""
        return {name: value for name, value in vars(self).items() if name != "_derived"}

    @cached_property
    def allowed(self) -> npt.NDArray[np.float32]:
        """Of each query, the codes that its condition allows (allowed_codes)."""
        columns = {column.name: column.codes for column in self.domain.columns}
        return allowed_codes(self.predicates, columns)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the schema as a file: what `sha256sum schema.json` prints."""
        return sha256(_schema_text(self).encode()).hexdigest()


@dataclass(frozen=True)
class Release:
    """
    What is known of one block: N records, and lo <= count <= hi for every published query.

    Counts that are published exactly have lo = hi. `cells` are positions in schema.queries.

    >>> sex = Column("SEX", "sex", (1, 2), ("male", "female"))
    >>> schema = Schema(Domain((sex,)), (), (Query("T.f", "T", "female", Predicate.of({"SEX": [2]})),))
    >>> release = make_release(schema, "my block", {"N": 3, "T.f": 1})
    >>> release.n, release.lo.tolist(), [query.id for query in release.queries]
    (3, [1], ['T.f'])
    """

    schema: Schema
    block: str
    n: int
    cells: Ints
    lo: Ints
    hi: Ints

    @property
    def published(self) -> Schema:
        return self.schema.part(self.cells)

    @property
    def queries(self) -> tuple[Query, ...]:
        return self.published.queries

    @cached_property
    def digest(self) -> str:
        """SHA-256 over the schema's digest, block and N, then id, lo and hi of every published query, a line each."""
        lines = [self.schema.digest, self.block, str(self.n)]
        if len(self.cells):
            lines.append(self.published.lines % tuple(np.column_stack([self.lo, self.hi]).ravel().tolist()))
        return sha256("\n".join(lines).encode()).hexdigest()


def read_study(domain: Path, settings: ReleaseSettings) -> Schema:
    tables = Path(settings.tables_file)
    with naming_table_file(tables):
        return build_schema(read_domain(domain), read_yaml(tables), settings)


def naming_table_file(path: Path) -> AbstractContextManager[None]:
    """Turn what goes wrong where a table file has another form into an error that names it."""
    return refusing(MALFORMED, f"{path}: not a table file", "see data/census/tables.yaml for the form")


def build_schema(domain_file: DomainFile, tables: Mapping[str, Any], settings: ReleaseSettings) -> Schema:
    """The schema of a study: its universe, its rules and the lines of its tables."""
    universe = domain_file.universe(settings.universe)
    domain = domain_file.domain.restrict(universe.codes)
    chosen = domain_file.rules if settings.structural_zeros else universe.rules
    rules = tuple(clip_rule(domain_file.rules[name], domain) for name in chosen)
    queries = build_queries(tables, domain_file, universe, settings.tables, settings.groups, settings.without)
    return Schema(domain, rules, tuple(clip_query(query, domain) for query in queries))


def restricted(release: Release, codes: Mapping[str, Sequence[int]]) -> Release:
    """The release about records that hold only the given codes: fewer datasets, every one of which fits the whole."""
    domain = release.schema.domain.restrict(codes)
    rules = tuple(clip_rule(rule, domain) for rule in release.schema.rules)
    queries = tuple(clip_query(query, domain) for query in release.schema.queries)
    return replace(release, schema=Schema(domain, rules, queries))


def write_schema(schema: Schema, path: Path) -> None:
    path.write_text(_schema_text(schema))


def _schema_text(schema: Schema) -> str:
    """The schema as JSON, one column, rule or query a line."""
    columns = [{"name": c.name, "label": c.label, "codes": dict(zip(c.codes, c.meanings, strict=True))}
               for c in schema.domain.columns]  # fmt: skip
    rules = [{"name": r.name, "if": r.when.where, "one_of": [o.where for o in r.one_of]} for r in schema.rules]
    queries = [{"id": q.id, "table": q.table, "label": q.label, "where": q.predicate.where}
               | ({"sums": q.sums} if q.sums else {}) for q in schema.queries]  # fmt: skip
    lines: dict[str, list[dict[str, Any]]] = {"columns": columns, "rules": rules, "queries": queries}
    text = ",\n".join(f'"{key}": [\n' + ",\n".join(json.dumps(row) for row in rows) + "\n]" for key, rows in lines.items())
    return "{\n" + text + "\n}\n"


def read_schema(path: Path) -> Schema:
    with refusing((*MALFORMED, DataError), f"{path}: not a release schema", "rerun the tabulation", ReleaseError):
        text = read_json(path)
        coded = ((one["name"], one["label"], one["codes"]) for one in text["columns"])
        columns = tuple(Column(name, label, tuple(map(int, own)), tuple(own.values())) for name, label, own in coded)
        rules = tuple(Rule(r["name"], Predicate.of(r["if"]), tuple(map(Predicate.of, r["one_of"]))) for r in text["rules"])
        queries = tuple(
            Query(q["id"], q["table"], q["label"], Predicate.of(q["where"]), q.get("sums")) for q in text["queries"]
        )
        return _checked(Schema(Domain(columns), rules, queries))


def _checked(schema: Schema) -> Schema:
    """The schema itself: names that stand once, codes that fit, queries and rules about columns and codes that exist."""
    names, ids = list(schema.domain.names), [query.id for query in schema.queries]
    for kind, result in (("column", names), ("query", [*ids, TOTAL])):
        for name, times in Counter(result).items():
            if not isinstance(name, str) or times > 1:
                raise DataError(f"the {kind} {name!r} is not text, or is duplicated")
    if not names:
        raise DataError("no columns")
    for query in schema.queries:
        schema.domain.check(query.predicate, f"query {query.id}")
        if query.sums is not None:
            schema.domain[query.sums]
    for rule in schema.rules:
        schema.domain.check_rule(rule)
    return schema


def counts_frame(schema: Schema, blocks: Sequence[str], n: Ints, counts: Ints, withhold: Sequence[int]) -> pd.DataFrame:
    """Published counts as rows (block, query, count); N comes first in each block; withheld answers have no row."""
    ids = [TOTAL, *(query.id for query in schema.queries)]
    table = np.column_stack([n, counts])
    published = ~np.isin(table, list(withhold))
    published[:, 0] = True
    rows, indices = np.nonzero(published)
    query = pd.Categorical.from_codes(indices, categories=pd.Index(ids))
    count = table[rows, indices].astype(np.int32)
    return pd.DataFrame({"block": np.asarray(blocks, dtype=object)[rows], "query": query, "count": count})


def read_releases(counts: Path, schema: Schema, without: Collection[str] = ()) -> Iterator[Release]:
    """The releases of a counts file, one per block, in the order of the file; some blocks can be left out."""
    with refusing((OSError, ValueError), f"{counts}: not a file of published counts", "rerun the tabulation", ReleaseError):
        frame = read_frame(counts)
    sides = ["lo", "hi"] if {"lo", "hi"} <= set(frame.columns) else ["count", "count"]
    if "count" in frame.columns and {"lo", "hi"} & set(frame.columns):
        raise ReleaseError(f"{counts}: has count and also lo or hi, and they might disagree; give count, or else lo and hi")
    for name in sorted({"block", "query", *sides} - set(frame.columns)):
        raise ReleaseError(f"{counts}: no column {name!r}; a counts file has block, query and count (or lo and hi)")
    for side in dict.fromkeys(sides):
        _check_counts(counts, frame, side)
    frame = frame[~frame["block"].isin(list(without))]
    queries = frame["query"].astype(str).to_numpy()
    lo, hi = (frame[side].to_numpy(dtype=np.int64) for side in sides)
    index, blocks = pd.factorize(frame["block"])
    for block, rows in zip(blocks, np.split(np.argsort(index, kind="stable"), np.cumsum(np.bincount(index))), strict=False):
        least, most = (dict(zip(queries[rows].tolist(), side[rows].tolist(), strict=True)) for side in (lo, hi))
        yield make_release(schema, str(block), least, f"{counts}", most)


def empty_ranges(counts: Path) -> set[str]:
    """The blocks of a counts file with a range that holds no number: these counts contradict themselves."""
    frame = read_frame(counts)
    return set(frame.loc[frame["lo"] > frame["hi"], "block"]) if {"lo", "hi"} <= set(frame.columns) else set()


def _check_counts(path: Path, frame: pd.DataFrame, side: str) -> None:
    """Every count a whole number that a block can hold, and one count per block and query."""
    kind = frame[side].dtype
    if not pd.api.types.is_numeric_dtype(kind) or pd.api.types.is_bool_dtype(kind):
        raise ReleaseError(f"{path}: the column {side} holds values of type {kind}; give whole numbers")
    counts = frame[side].to_numpy(dtype=float, na_value=np.nan)
    checks = {
        "is not a whole number": ~(np.isfinite(counts) & (counts == np.round(counts))),
        f"is more than {LARGEST_COUNT}, more than any block holds": counts > LARGEST_COUNT,
        "has no block or no query": frame[["block", "query"]].isna().any(axis=1).to_numpy(),
        "is duplicated": frame.duplicated(["block", "query"]).to_numpy(),
    }
    for problem, wrong in checks.items():
        if wrong.any():
            row = frame[wrong].iloc[0]
            what = f"{path}: block {row['block']}: the count of {row['query']} ({row[side]}) {problem}"
            raise ReleaseError(f"{what}; give each query once, as an integer, and leave out what is not published")


def range_words(lo: int, hi: int) -> str:
    return f"{lo}" if lo == hi else f"{lo} to {hi}"


def ranges_frame(releases: Sequence[Release]) -> pd.DataFrame:
    """What is known of every count as rows (block, query, lo, hi), the form of a counts file where counts are ranges."""
    parts = []
    for release in releases:
        ids = [TOTAL, *(query.id for query in release.queries)]
        lo, hi = np.append(release.n, release.lo), np.append(release.n, release.hi)
        parts.append(pd.DataFrame({"block": release.block, "query": ids, "lo": lo, "hi": hi}))
    return pd.concat(parts, ignore_index=True)


def make_release(
    schema: Schema, block: str, known: Mapping[str, int], source: str = "release", most: Mapping[str, int] | None = None
) -> Release:
    """The release of one block of `N` records from its counts by query id, or from the least (`known`) and the `most`."""
    if TOTAL not in known:
        raise ReleaseError(f"{source}: block {block} does not say N, its number of records; add a row with query {TOTAL!r}")
    greatest = known if most is None else most
    for name in known:
        if name != TOTAL and name not in schema.position:
            raise ReleaseError(f"{source}: block {block} counts {name!r}, which is not a query of the schema")
    for name, count in known.items():
        if not 0 <= count <= greatest[name] <= LARGEST_COUNT:
            limit = "below 0" if count < 0 else f"more than {LARGEST_COUNT}" if count <= greatest[name] else "no range"
            said = f"the count of {name} is {range_words(count, greatest[name])}"
            raise ReleaseError(f"{source}: block {block}: {said}, {limit}")
    if known[TOTAL] != greatest[TOTAL]:
        raise ReleaseError(f"{source}: block {block}: N is a range; give the number of records of the block exactly")
    cells = sorted(schema.position[name] for name in known if name != TOTAL)
    lo, hi = (np.array([side[schema.queries[cell].id] for cell in cells], dtype=np.int64) for side in (known, greatest))
    return Release(schema, block, int(known[TOTAL]), np.array(cells, dtype=np.int64), lo, hi)


# A domain and its tables described in a few words, and a release made from a DataFrame.


def make_schema(
    columns: Mapping[str, Sequence[str]], tables: Mapping[str, Sequence[str]], rules: Iterable[Rule] = ()
) -> Schema:
    """Columns with their values (codes from 0), and tables by the columns that they cross; cells are called after values."""
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
    """What the tables of a schema publish about records, one row each, with the values that the schema names."""
    codes = {column.name: _codes(column, records) for column in schema.domain.columns}
    counts = {query.id: int(query.predicate.matches(codes).sum()) for query in schema.queries}
    return make_release(schema, block, {TOTAL: len(records), **counts})


def _codes(column: Column, records: pd.DataFrame) -> "pd.Series[int]":
    refuse_unknown(column.name, list(records.columns), f"the records have no column {column.name!r}")
    result = records[column.name].map({meaning: code for code, meaning in column.meaning.items()})
    if result.isna().any():
        odd = records.loc[result.isna(), column.name].iloc[0]
        raise DataError(f"column {column.name}: {odd!r} is none of its values: {nearest(odd, list(column.meanings))}")
    return result.astype(int)


# Coarser columns: codes merged into groups, and the queries and releases of a schema in the merged codes.

Codes = npt.NDArray[np.int8]


def merge_codes(schema: Schema, name: str, groups: Sequence[Group]) -> tuple[Schema, Codes]:
    """The schema with one column merged into groups (1, 2, ...) that split no query, and the merged code of each old one."""
    column = schema.domain[name]
    merged = np.zeros(max(column.codes) + 1, dtype=np.int8)
    for code, group in enumerate(groups, 1):
        codes = group.predicate.where.get(name, ())
        if group.predicate.columns != (name,) or merged[list(codes)].any():
            raise DataError(f"group {group.name} is not about {name} alone, or shares a code with another group")
        merged[list(codes)] = code
    if rest := [code for code in column.codes if not merged[code]]:
        raise DataError(f"no group holds the code {rest[0]} of {name}: give groups that cover the column")
    coarse = Column(name, column.label, tuple(range(1, len(groups) + 1)), tuple(group.label for group in groups))
    new = {code: int(merged[code]) for code in column.codes}
    conditions = {query.id: [query.predicate] for query in schema.queries}
    for where, own in (conditions | {rule.name: [rule.when, *rule.one_of] for rule in schema.rules}).items():
        if any(_widened(predicate, name, new) != predicate for predicate in own):
            raise DataError(f"{where} distinguishes codes of {name} that are merged: use finer groups")
    return _coarser(schema, coarse, new)[0], merged


def refuse_sums(schema: Schema) -> None:
    if summed := [query.id for query in schema.queries if query.sums]:
        only = "suppression, rounding and coarser columns are for counts only"
        raise DataError(f"{summed[0]} is a sum over records; {only}")


@dataclass(frozen=True)
class Recoding:
    """A column with fewer codes: the schema it leads to, the old cells behind each new one, the new code of each old one."""

    schema: Schema
    members: tuple[tuple[int, ...], ...]
    column: str
    code: Mapping[int, int]

    def release(self, release: Release) -> Release:
        """The release of the coarser tables; a new cell is published where all old cells that make it up are."""
        position = {int(cell): at for at, cell in enumerate(release.cells)}
        new = [at for at, old in enumerate(self.members) if all(cell in position for cell in old)]
        own = [[position[cell] for cell in self.members[at]] for at in new]
        lo, hi = (np.array([side[part].sum() for part in own], dtype=np.int64) for side in (release.lo, release.hi))
        return Release(self.schema, release.block, release.n, np.array(new, dtype=np.int64), lo, np.minimum(hi, release.n))


def recode(schema: Schema, column: str, merged: Mapping[str, Sequence[int]]) -> Recoding:
    """The schema after the listed codes of a column are merged, each list under its label; other codes stay as they are."""
    old = schema.domain[column]
    refuse_sums(schema)
    listed = [one for codes in merged.values() for one in codes]
    old.restrict(listed)
    if twice := [one for one, times in Counter(listed).items() if times > 1]:
        raise DataError(f"coarsen {column}: the code {old.meaning[twice[0]]!r} is in two groups; keep it in one")
    code = {one: one for one in old.codes} | {one: min(codes) for codes in merged.values() for one in codes}
    meaning = {**old.meaning, **{min(codes): label for label, codes in merged.items()}}
    rest = tuple(dict.fromkeys(code[one] for one in old.codes))
    new = Column(old.name, old.label, rest, tuple(meaning[one] for one in rest))
    return Recoding(*_coarser(schema, new, code), column, code)


def _coarser(schema: Schema, new: Column, code: Mapping[int, int]) -> tuple[Schema, tuple[tuple[int, ...], ...]]:
    """The schema with a new column; the cells of each table that fall together stay where they make up the whole one."""
    together: dict[tuple[str, str | None, Predicate], list[int]] = {}
    for cell, query in enumerate(schema.queries):
        together.setdefault((query.table, query.sums, _widened(query.predicate, new.name, code)), []).append(cell)
    queries, members = list[Query](), list[tuple[int, ...]]()
    for (_, _, wide), cells in together.items():
        same = [cell for cell in cells if schema.queries[cell].predicate == wide]
        parts = tuple(same[:1] or cells)
        codes = sorted(one for cell in parts for one in schema.queries[cell].predicate.where.get(new.name, ()))
        if codes == list(wide.where.get(new.name, ())):
            first = schema.queries[parts[0]]
            queries.append(replace(first, id=first.id + "+" * (len(parts) > 1), predicate=_recoded(wide, new.name, code)))
            members.append(parts)
    rules = tuple(rule for rule in (_coarser_rule(rule, new.name, code) for rule in schema.rules) if rule)
    columns = tuple(new if column.name == new.name else column for column in schema.domain.columns)
    return Schema(Domain(columns), rules, tuple(queries)), tuple(members)


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
    return replace(rule, when=when).changed(lambda predicate: _recoded(predicate, column, code))
