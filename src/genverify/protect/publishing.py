"""Protections of a release: what the counts still say after suppression or rounding, and coarser or fewer tables."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from genverify.core.domain import Column, Domain
from genverify.core.errors import DataError, ReleaseError
from genverify.core.predicates import Flags, Predicate, Rule
from genverify.core.queries import Query
from genverify.core.release import Release, Schema

Ints = npt.NDArray[np.int64]
SUPPRESSED = -1


@dataclass(frozen=True)
class Publishing:
    """
    How counts are published. Counts below `suppress` are not shown (zeros are, if `zeros`); what is shown is rounded to
    the nearest multiple of `base` (halves up), or to one of the two nearest at random, or is off by at most `base`.

    >>> Publishing(suppress=5).known(np.array([SUPPRESSED, 0, 7]))
    (array([1, 0, 7]), array([4, 0, 7]))
    >>> Publishing(rounding="nearest", base=5).known(np.array([0, 10]))
    (array([0, 8]), array([ 2, 12]))
    """

    suppress: int = 0
    zeros: bool = True
    rounding: str = "none"
    base: int = 1

    def published(self, counts: Ints, rng: np.random.Generator) -> Ints:
        """What is printed for true counts; SUPPRESSED where nothing is."""
        hidden = (counts < self.suppress) & ~((counts == 0) & self.zeros)
        return np.where(hidden, SUPPRESSED, self._rounded(counts, rng))

    def _rounded(self, counts: Ints, rng: np.random.Generator) -> Ints:
        if self.rounding == "nearest":
            return counts - (counts + self.base // 2) % self.base + self.base // 2
        if self.rounding == "random":
            over = counts % self.base
            up = rng.integers(0, self.base, size=len(counts)) < over
            return counts - over + self.base * up
        if self.rounding == "stated":
            off: Ints = counts + rng.integers(-self.base, self.base + 1, size=len(counts))
            return off.clip(min=0)
        return counts

    def known(self, values: Ints) -> tuple[Ints, Ints]:
        """The least and the greatest true count behind each printed value."""
        lo, hi = self._before_rounding(values)
        zero = self.zeros & (lo <= 0)
        lo = np.where((lo < self.suppress) & ~zero, self.suppress, np.maximum(lo, 0))
        hi = np.where(hi < self.suppress, np.where(zero, 0, SUPPRESSED), hi)
        wrong = (values != SUPPRESSED) & (lo > hi)
        if wrong.any():
            raise ReleaseError(
                f"a count of {values[wrong][0]} is shown, but counts below {self.suppress} are said to be suppressed"
            )
        hidden = values == SUPPRESSED
        return np.where(hidden, int(self.zeros), lo), np.where(hidden, max(self.suppress - 1, 0), hi)

    def _before_rounding(self, values: Ints) -> tuple[Ints, Ints]:
        below, above = {
            "none": (0, 0),
            "nearest": (self.base // 2, (self.base + 1) // 2 - 1),
            "random": (self.base - 1, self.base - 1),
            "stated": (self.base, self.base),
        }[self.rounding]
        return values - below, values + above


def publish(release: Release, how: Publishing, rng: np.random.Generator, exempt: Collection[str] = ()) -> Release:
    """The release as readers see it, from exact counts; tables in `exempt` stay exact, and so does N."""
    _no_sums(release.schema)
    if (release.lo != release.hi).any():
        raise DataError(f"area {release.block}: its counts are known only to a range, so they cannot be protected once more")
    lo, hi = how.known(how.published(release.lo, rng))
    open_ = np.array([query.table in exempt for query in release.queries], dtype=bool)
    return replace(release, lo=np.where(open_, release.lo, lo), hi=np.where(open_, release.hi, np.minimum(hi, release.n)))


def _no_sums(schema: Schema) -> None:
    summed = [query.id for query in schema.queries if query.sums]
    if summed:
        raise DataError(f"{summed[0]} is a sum over records; suppression, rounding and coarser columns are for counts only")


def withhold(release: Release, cells: Collection[str]) -> Release:
    """The release without the named cells."""
    return _keep(release, np.array([query.id not in cells for query in release.queries], dtype=bool))


def drop_tables(release: Release, tables: Collection[str]) -> Release:
    """The release without the named tables."""
    return _keep(release, np.array([query.table not in tables for query in release.queries], dtype=bool))


def _keep(release: Release, kept: Flags) -> Release:
    return replace(release, cells=release.cells[kept], lo=release.lo[kept], hi=release.hi[kept])


@dataclass(frozen=True)
class Recoding:
    """A column with fewer codes: the schema it leads to, the new code of each old one, the old cells behind each new one."""

    schema: Schema
    column: str
    code: Mapping[int, int]
    members: tuple[tuple[int, ...], ...]

    def release(self, release: Release) -> Release:
        """The release of the coarser tables; a new cell is published where all old cells that make it up are."""
        place = {int(cell): at for at, cell in enumerate(release.cells)}
        new = [at for at, old in enumerate(self.members) if all(cell in place for cell in old)]
        lo, hi = (
            np.array([sum(int(side[place[cell]]) for cell in self.members[at]) for at in new], dtype=np.int64)
            for side in (release.lo, release.hi)
        )
        return Release(self.schema, release.block, release.n, np.array(new, dtype=np.int64), lo, np.minimum(hi, release.n))


def coarsen(schema: Schema, column: str, merged: Mapping[str, Sequence[int]]) -> Recoding:
    """The schema after the listed codes of a column are merged, each list under its label; other codes stay as they are."""
    old = schema.domain[column]
    _no_sums(schema)
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
    domain = Domain(tuple(new if c.name == column else c for c in schema.domain.columns))
    queries, members = _merged_queries(schema, column, code)
    rules = tuple(rule for rule in (_coarser_rule(rule, column, code) for rule in schema.rules) if rule)
    return Recoding(Schema(domain, rules, tuple(queries)), column, code, tuple(members))


def _merged_queries(schema: Schema, column: str, code: Mapping[int, int]) -> tuple[list[Query], list[tuple[int, ...]]]:
    """The cells of each table that fall together, where they make up the whole of the coarser cell."""
    together: dict[tuple[str, Predicate], list[int]] = {}
    for place, query in enumerate(schema.queries):
        together.setdefault((query.table, _widened(query.predicate, column, code)), []).append(place)
    queries, members = [], []
    for (table, wide), places in together.items():
        whole = [place for place in places if schema.queries[place].predicate == wide]
        parts = tuple(whole[:1] or places)
        codes = sorted(one for place in parts for one in schema.queries[place].predicate.where.get(column, ()))
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
        said = set(when.where[column])
        whole = [one for one in said if {old for old in code if code[old] == code[one]} <= said]
        if not whole:
            return None
        when = Predicate.of({**when.where, column: whole})
    return Rule(rule.name, _recoded(when, column, code), tuple(_recoded(option, column, code) for option in rule.one_of))
