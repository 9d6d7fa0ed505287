"""A release: what is published about a block. All that the attack sees."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from genverify.domain import Column, Domain, DomainFile, read_domain
from genverify.errors import DataError, ReleaseError
from genverify.predicates import Predicate, Rule
from genverify.tables import Query, build_queries
from genverify.textfiles import read_yaml

Ints = npt.NDArray[np.int64]
TOTAL = "N"


@dataclass(frozen=True)
class Schema:
    """What a release speaks of: the domain of its records, the rules that hold, the queries that may be published."""

    domain: Domain
    rules: tuple[Rule, ...]
    queries: tuple[Query, ...]

    @cached_property
    def position(self) -> Mapping[str, int]:
        return {query.id: place for place, query in enumerate(self.queries)}


@dataclass(frozen=True)
class Release:
    """
    What is known of one block: N records, and lo <= count <= hi for every published query.

    Counts that are published exactly have lo = hi. `cells` are positions in schema.queries.
    """

    schema: Schema
    block: str
    n: int
    cells: Ints
    lo: Ints
    hi: Ints

    @property
    def queries(self) -> list[Query]:
        return [self.schema.queries[cell] for cell in self.cells]


def read_study(domain: Path, settings: Mapping[str, Any]) -> Schema:
    """The schema of a study from its domain file and its release settings."""
    tables = Path(settings["tables_file"])
    try:
        return build_schema(read_domain(domain), read_yaml(tables), settings)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise DataError(f"{tables}: not a table file ({error!r}); see data/census/tables.yaml for the form") from None


def build_schema(domain_file: DomainFile, tables: Mapping[str, Any], settings: Mapping[str, Any]) -> Schema:
    """The schema of a study: its universe, its rules and the lines of its tables."""
    universe = domain_file.universe(settings["universe"])
    domain = domain_file.domain.restrict(universe.codes)
    chosen = domain_file.rules if settings["structural_zeros"] else universe.rules
    rules = tuple(_clip_rule(domain_file.rules[name], domain) for name in chosen)
    queries = build_queries(tables, domain_file, universe, settings["tables"], settings["groups"])
    return Schema(domain, rules, tuple(Query(q.id, q.table, q.label, _clip(q.predicate, domain)) for q in queries))


def _clip(predicate: Predicate, domain: Domain) -> Predicate:
    """The predicate without codes that no record of the domain holds."""
    return Predicate.of({name: set(codes) & set(domain[name].codes) for name, codes in predicate.clauses})


def _clip_rule(rule: Rule, domain: Domain) -> Rule:
    return Rule(rule.name, _clip(rule.when, domain), tuple(_clip(option, domain) for option in rule.one_of))


def write_schema(schema: Schema, path: Path) -> None:
    """The schema as a JSON file that stands beside the counts."""
    columns = [{"name": c.name, "label": c.label, "codes": dict(zip(c.codes, c.meanings, strict=True))}
               for c in schema.domain.columns]  # fmt: skip
    rules = [{"name": r.name, "if": r.when.where, "one_of": [o.where for o in r.one_of]} for r in schema.rules]
    queries = [{"id": q.id, "table": q.table, "label": q.label, "where": q.predicate.where} for q in schema.queries]
    lines: dict[str, list[dict[str, Any]]] = {"columns": columns, "rules": rules, "queries": queries}
    text = ",\n".join(f'"{key}": [\n' + ",\n".join(json.dumps(row) for row in rows) + "\n]" for key, rows in lines.items())
    path.write_text("{\n" + text + "\n}\n")


def read_schema(path: Path) -> Schema:
    """The schema that `write_schema` wrote."""
    try:
        text = json.loads(path.read_text())
        columns = tuple(
            Column(c["name"], c["label"], tuple(map(int, c["codes"])), tuple(c["codes"].values())) for c in text["columns"]
        )
        rules = tuple(Rule(r["name"], Predicate.of(r["if"]), tuple(map(Predicate.of, r["one_of"]))) for r in text["rules"])
        queries = tuple(Query(q["id"], q["table"], q["label"], Predicate.of(q["where"])) for q in text["queries"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ReleaseError(f"{path}: not a release schema ({error!r}); rerun the tabulation") from None
    return Schema(Domain(columns), rules, queries)


def counts_frame(schema: Schema, blocks: Sequence[str], n: Ints, counts: Ints, withhold: Sequence[int]) -> pd.DataFrame:
    """Published counts as rows (block, query, count); N comes first in each block; withheld answers have no row."""
    ids = [TOTAL, *(query.id for query in schema.queries)]
    table = np.column_stack([n, counts])
    published = ~np.isin(table, list(withhold))
    published[:, 0] = True
    rows, places = np.nonzero(published)
    return pd.DataFrame(
        {
            "block": np.asarray(blocks, dtype=object)[rows],
            "query": pd.Categorical.from_codes(places, categories=pd.Index(ids)),
            "count": table[rows, places].astype(np.int32),
        }
    )


def read_releases(counts: Path, schema: Schema) -> Iterator[Release]:
    """The releases of a counts file, one per block, in the order of the file."""
    try:
        frame = pd.read_parquet(counts)
    except (OSError, ValueError) as error:
        raise ReleaseError(f"{counts}: not a file of published counts ({error}); rerun the tabulation") from None
    sides = ["lo", "hi"] if {"lo", "hi"} <= set(frame.columns) else ["count", "count"]
    missing = {"block", "query", *sides} - set(frame.columns)
    if missing:
        raise ReleaseError(
            f"{counts}: no column {sorted(missing)[0]!r}; a counts file has block, query and count (or lo and hi)"
        )
    for side in sides:
        _check_counts(counts, frame, side)
    for block, rows in frame.groupby("block", sort=False):
        lo, hi = (dict(zip(rows["query"].astype(str), rows[side].astype(int), strict=True)) for side in sides)
        yield make_release(schema, str(block), lo, f"{counts}", hi)


def _check_counts(path: Path, frame: pd.DataFrame, side: str) -> None:
    """Every count a whole number, and one count per block and query."""
    whole = frame[side].notna() & (frame[side] == frame[side].round())
    for wrong, problem in ((~whole, "is not a whole number"), (frame.duplicated(["block", "query"]), "stands there twice")):
        if wrong.any():
            row = frame[wrong].iloc[0]
            raise ReleaseError(
                f"{path}: block {row['block']}: the count of {row['query']} ({row[side]}) {problem}; give each query "
                "once, as an integer, and leave out what is not published"
            )


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
    """
    The release of one block from its published counts by query id; `N` is the number of records.

    Where counts are known only to a range, `known` holds the least ones and `most` the greatest.
    """
    if TOTAL not in known:
        raise ReleaseError(f"{source}: block {block} does not say N, its number of records; add a row with query {TOTAL!r}")
    unknown = [name for name in known if name != TOTAL and name not in schema.position]
    if unknown:
        raise ReleaseError(f"{source}: block {block} counts {unknown[0]!r}, which is no query of the schema")
    negative = [name for name, count in known.items() if count < 0]
    if negative:
        raise ReleaseError(f"{source}: block {block}: the count of {negative[0]} is {known[negative[0]]}, below 0")
    cells = sorted(schema.position[name] for name in known if name != TOTAL)
    lo, hi = (np.array([side[schema.queries[cell].id] for cell in cells], dtype=np.int64) for side in (known, most or known))
    return Release(schema, block, int(known[TOTAL]), np.array(cells, dtype=np.int64), lo, hi)
