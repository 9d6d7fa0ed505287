"""What an attacker reads off the two releases about a block: the joint program of household types."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from genverify.model.arrays import Flags, Ints
from genverify.model.domain import EVERY, Column, Domain, Predicate, Rule
from genverify.model.errors import DataError, ReleaseError, nearest
from genverify.model.files import read_yaml
from genverify.model.query import Query
from genverify.model.release import TOTAL, Release, Schema
from genverify.model.work import derive_seed
from genverify.solve.program import RecordSystem
from studies.housing.households import HouseholdFile
from studies.housing.statistics import SLACK

# Datasets over listed household types: z counts each type, lo <= A z <= hi, and each type has a cost.


@dataclass(frozen=True)
class TypeProgram(RecordSystem):
    """
    All datasets of n households that fit what is published, and what each type of household costs.

    `codes` holds the types, one column per name; the first row of A is N. `free` are the columns that the cost does not
    depend on. Costs are integers, so that two datasets are equally likely or are not.
    """

    names: tuple[str, ...]
    codes: Ints
    rows: tuple[str, ...]
    A: Ints
    lo: Ints
    hi: Ints
    cost: Ints
    free: tuple[str, ...] = ()

    @property
    def types(self) -> int:
        return len(self.codes)

    @cached_property
    def added(self) -> Ints:
        """What a household of each type adds to every row."""
        return np.ascontiguousarray(self.A.T)

    def misses(self, z: Ints) -> Ints:
        """By how much each row of a dataset falls short of its range (below 0), or exceeds it."""
        counts = self.counted(z)
        return counts - np.clip(counts, self.lo, self.hi)

    def keep(self, types: Flags | Ints) -> "TypeProgram":
        return replace(self, codes=self.codes[types], A=self.A[:, types], cost=self.cost[types])

    def possible(self) -> "TypeProgram":
        """Without the types of which a single household exceeds a row."""
        within: Flags = np.all(self.hi[:, None] >= self.A, axis=0)
        return self.keep(within)


def list_program(release: Release, codes: Ints, cost: Ints, free: Sequence[str] = ()) -> TypeProgram:
    """The program of a release over listed types, with a row for N and one for each query."""
    names = release.schema.domain.names
    records = {name: codes[:, column] for column, name in enumerate(names)}
    A: list[Ints] = [np.ones(len(codes), dtype=np.int64)]
    for query in release.queries:
        inside = query.predicate.matches(records).astype(np.int64)
        A.append(inside * records[query.sums] if query.sums else inside)
    lo, hi = (np.append(release.n, side).astype(np.int64) for side in (release.lo, release.hi))
    rows = (TOTAL, *(query.id for query in release.queries))
    return TypeProgram(names, codes.astype(np.int64), rows, np.array(A), lo, hi, cost.astype(np.int64), tuple(free))


# What an attacker knows of a state's households: how often each configuration occurs in a sample of them.

CONFIGURATION = ("SIZE", "CHILDREN", "RACE")
NATS = 10_000  # costs are whole ten-thousandths of a nat


@dataclass(frozen=True)
class Prior:
    """The configurations of a state's sample (SIZE, CHILDREN, RACE) and how many households of it have each."""

    state: str
    codes: Ints
    counts: Ints

    @property
    def cost(self) -> Ints:
        """Minus the logarithm of each proportion, rounded to whole units, so that equal likelihood is decided exactly."""
        cost: Ints = np.rint(-np.log(self.counts / self.counts.sum()) * NATS).astype(np.int64)
        return cost


def fit_prior(states: Iterable[pd.DataFrame], share: float, seed: int) -> pd.DataFrame:
    """Configurations by state in a seeded sample of that share of its households, drawn without replacement."""
    parts = []
    for own in states:
        state = str(own["block"].iloc[0])[:2]
        rng = np.random.default_rng(derive_seed(seed, "housing_prior", state))
        drawn = np.sort(rng.choice(len(own), max(1, round(share * len(own))), replace=False))
        counted = own.iloc[drawn].groupby(list(CONFIGURATION), sort=True).size().rename("households").reset_index()
        counted.insert(0, "state", state)
        parts.append(counted)
    if not parts:
        raise DataError("no households to draw the prior from; run the rule draw_housing again")
    return pd.concat(parts, ignore_index=True).astype(dict.fromkeys((*CONFIGURATION, "households"), np.int64))


def prior_of(frame: pd.DataFrame, block: str) -> Prior:
    state = block[:2]
    own = frame[frame["state"] == state]
    if own.empty:
        known = ", ".join(sorted(frame["state"].unique()))
        raise DataError(f"block {block}: the prior has no household of state {state} (it has {known}); fit it on all states")
    return Prior(state, own[list(CONFIGURATION)].to_numpy(np.int64), own["households"].to_numpy(np.int64))


def prior_types(prior: Prior, names: Sequence[str], codes: Mapping[str, Sequence[int]]) -> tuple[Ints, Ints]:
    """Every type that the prior allows and the block can have, with its cost: configurations times the other columns."""
    able = np.ones(len(prior.codes), dtype=bool)
    for column, name in enumerate(CONFIGURATION):
        able &= np.isin(prior.codes[:, column], list(codes[name]))
    free = [name for name in names if name not in CONFIGURATION]
    grid = np.array(np.meshgrid(*(codes[name] for name in free), indexing="ij"), dtype=np.int64).reshape(len(free), -1).T
    known, other = np.repeat(prior.codes[able], len(grid), axis=0), np.tile(grid, (int(able.sum()), 1))
    columns = {**dict(zip(CONFIGURATION, known.T, strict=True)), **dict(zip(free, other.T, strict=True))}
    return np.column_stack([columns[name] for name in names]), np.repeat(prior.cost[able], len(grid))


Row = Mapping[str, int]
EXACT = "exact"
MANY = 7  # households of that many persons or more are one line of the census table
SUBSIDIZED = Predicate.of({"BEDROOMS": (1, 2, 3)})
VIOLATION = "VIOLATION"
STATISTICS = ("N", "P", *(f"SIZE_{x}" for x in range(1, 8)), *(f"RACE_{x}" for x in range(1, 15)), "CHILDREN",
              "HUD_N", "HUD_P", "HUD_UNITS")  # fmt: skip


@dataclass(frozen=True)
class Percentage:
    """A published percentage: of what, and which subsidized households it is about (None: those with children)."""

    name: str
    of: str
    where: Predicate | None


def read_percentages(path: Path) -> tuple[Percentage, ...]:
    try:
        entries = read_yaml(path)["percentages"]
        return tuple(
            Percentage(str(name), str(e["of"]), Predicate.of(e["where"]) if "where" in e else None)
            for name, e in entries.items()
        )
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise DataError(f"{path}: not a file of what is published ({error!r}); see data/housing/published.yaml") from None


def read_statistics(path: Path, percentages: Sequence[Percentage]) -> list[tuple[str, Row]]:
    """The blocks of a file of statistics, each with its statistics as whole numbers."""
    try:
        frame = pd.read_parquet(path)
    except (OSError, ValueError) as error:
        raise ReleaseError(f"{path}: not a file of statistics ({error}); rerun publish_housing") from None
    names = [*STATISTICS, *(percentage.name for percentage in percentages), *([SLACK] if SLACK in frame else [])]
    missing = [name for name in ("block", *names) if name not in frame.columns]
    if missing:
        raise ReleaseError(f"{path}: no column {missing[0]!r}: {nearest(missing[0], list(frame.columns))}")
    numbers = frame[names]
    wrong = {name for name, kind in numbers.dtypes.items() if not pd.api.types.is_integer_dtype(kind)}
    wrong |= {name for name, negative in (numbers.drop(columns=list(wrong)) < 0).any().items() if negative}
    if wrong:
        first = next(name for name in names if name in wrong)
        raise ReleaseError(f"{path}: column {first} holds something other than whole numbers from 0 on")
    blocks = frame["block"].astype(str)
    _refuse(path, blocks, blocks.duplicated(), "it is duplicated")
    for name, over in (numbers[[percentage.name for percentage in percentages]] > 100).items():
        _refuse(path, blocks, over, f"{name} is not a percentage from 0 to 100")
    rows = numbers.to_dict("records")
    return [(block, {str(k): int(v) for k, v in row.items()}) for block, row in zip(blocks, rows, strict=True)]


def _refuse(path: Path, blocks: "pd.Series[str]", wrong: "pd.Series[bool]", why: str) -> None:
    if wrong.any():
        raise ReleaseError(f"{path}: block {blocks[wrong].iloc[0]}: {why}; correct the statistics and run publish_housing")


Line = tuple[Query, int, int]
"""A statistic as the program takes it: lo <= count (or sum) <= hi."""


def read_block(row: Row, block: str, file: HouseholdFile, percentages: Sequence[Percentage], reading: str) -> Release:
    """
    The release of a block: every statistic of both agencies with the range that the reading gives it.

    No household is larger than the published population leaves room for: with the number of households of each size known,
    the largest has what is left when all others are as small as they can be. So the bound on sizes loses no dataset.
    """
    last = largest_size(row)
    domain = file.domain(last)
    lines = [*_census(row, domain, reading), *_subsidized(row, domain, percentages, reading)]
    queries, *ends = zip(*lines, strict=True)
    lo, hi = (np.array(side, dtype=np.int64) for side in ends)
    return Release(Schema(domain, tuple(_rules(last)), queries), block, row["N"], np.arange(len(lines)), lo, hi)


def largest_size(row: Row) -> int:
    """The most persons that a household of the block can have."""
    small, many, spare = _small(row), row["SIZE_7"], _spare(row)
    rest = row["P"] - small - MANY * many - spare  # persons beyond the least that 7+ and uncounted households hold
    if many:
        return max(rest + MANY, MANY)
    return max(rest + 1, MANY) if spare else MANY - 1


def _small(row: Row) -> int:
    """Persons in households of fewer than seven."""
    return sum(x * row[f"SIZE_{x}"] for x in range(1, MANY))


def _spare(row: Row) -> int:
    """Households of which no size was published; they may have any."""
    return row["N"] - sum(row[f"SIZE_{x}"] for x in range(1, MANY + 1))


def _census(row: Row, domain: Domain, reading: str) -> Iterator[Line]:
    """The lines of the census; one-sided where appendix E is, unless everything is taken at its word."""
    sizes, spare = domain["SIZE"].codes, _spare(row)
    for x in range(1, MANY + 1):
        codes = [code for code in sizes if (code == x if x < MANY else code >= x)]
        count = row[f"SIZE_{x}"]
        if codes:
            yield _query(f"SIZE_{x}", "H13", {"SIZE": codes}), count, count + max(spare, 0)
    yield Query("P", "P1", "persons", EVERY, "SIZE"), row["P"], row["P"]
    children = row["CHILDREN"]
    yield Query("CHILDREN", "P16", "persons under 18", EVERY, "CHILDREN"), children, _most(reading, children, row["P"])
    for code in domain["RACE"].codes:
        count = row[f"RACE_{code}"]
        yield _query(f"RACE_{code}", "P15", {"RACE": [code]}), count, _most(reading, count, row["N"])


def _most(reading: str, count: int, limit: int) -> int:
    return count if reading == EXACT else max(limit, count)


def _subsidized(row: Row, domain: Domain, percentages: Sequence[Percentage], reading: str) -> Iterator[Line]:
    """The lines of HUD, about the subsidized households."""
    n, persons = row["HUD_N"], row["HUD_P"]
    yield Query("HUD_N", "HUD", "subsidized households", SUBSIDIZED), n, n
    least = persons if reading == EXACT else min(persons, _largest_households(row, n))
    query = Query("HUD_P", "HUD", "persons in subsidized households", SUBSIDIZED, "SIZE")
    yield query, least, _most(reading, persons, row["P"])
    with_children = [_behind(row, p) for p in percentages if p.where is None]
    children = Predicate.of({"CHILDREN": [code for code in domain["CHILDREN"].codes if code > 0]})
    lo, hi = (sum(side) for side in zip(*with_children, strict=True))
    query = Query("HUD_CHILDREN", "HUD", "subsidized households with children", SUBSIDIZED & children)
    yield query, lo, _no_more(hi, n, lo)
    for percentage in percentages:
        if percentage.where is not None:
            yield _percentage_line(row, percentage, reading)


def _percentage_line(row: Row, percentage: Percentage, reading: str) -> Line:
    """Households behind a percentage; those of units allow for units that stand empty, and households without one."""
    n, base = row["HUD_N"], row[percentage.of]
    lo, hi = _behind(row, percentage)
    lo, hi = max(0, lo - max(0, base - n)), hi + max(0, n - base) if reading == EXACT else n
    where = SUBSIDIZED & (percentage.where or EVERY)
    return Query(percentage.name, "HUD", percentage.name, where), lo, _no_more(hi, n, lo)


def _no_more(hi: int, n: int, lo: int) -> int:
    """
    The upper end of a range of subsidized households: n at most, but never below the lower end.

    Where the percentages leave more households than there are subsidized ones, the statistics contradict each other. The
    range is then not empty but lies above n, so that a certificate shows the contradiction with HUD_N as it does any other.
    """
    return max(min(hi, n), lo)


def _behind(row: Row, percentage: Percentage) -> tuple[int, int]:
    """The counts that a percentage leaves open; where it is a mean of several properties, it may be off by one."""
    off, percent, base = row.get(SLACK, 0), row[percentage.name], row[percentage.of]
    return counts_behind(max(percent - off, 0), base)[0], counts_behind(min(percent + off, 100), base)[1]


def counts_behind(percent: int, base: int) -> tuple[int, int]:
    """The least and the greatest count that is published as a whole percentage of a base (halves are rounded up)."""
    # 100 k / base + 1/2 lies in [percent, percent + 1): in integers, (2 percent - 1) base <= 200 k < (2 percent + 1) base
    lo = max(0, -(-(2 * percent - 1) * base // 200))
    hi = min(base, -(-(2 * percent + 1) * base // 200) - 1)
    if lo > hi:  # no whole number of households: what is nearest below, as the paper does, or above
        return percent * base // 100, -(-percent * base // 100)
    return lo, hi


def _largest_households(row: Row, number: int) -> int:
    """The most persons that a number of households of the block can have together."""
    many, total = row["SIZE_7"] + max(_spare(row), 0), row["P"] - _small(row)
    if number < many:
        return total - (many - number)
    left = number - many
    for x in range(MANY - 1, 0, -1):
        taken = min(left, row[f"SIZE_{x}"])
        total, left = total + x * taken, left - taken
    return total


def _rules(last: int) -> Iterator[Rule]:
    """No household has more children than persons."""
    for size in range(1, last):
        yield Rule(f"at most {size} children", Predicate.of({"SIZE": [size], "CHILDREN": range(size + 1, last + 1)}), ())


def _query(name: str, table: str, where: Mapping[str, Any]) -> Query:
    return Query(name, table, name, Predicate.of(where))


def without_races(release: Release, file: HouseholdFile) -> Release:
    """
    The part of the release about sizes, children and bedrooms, with a column that says whether a household violates.

    No statistic crosses race with size, children or bedrooms, other than by subsidized or not, and the number of subsidized
    households is published. So the races of the subsidized and of the other households can be dealt out in any way among
    them: datasets of both parts can always be put together, and leaving races out of this part loses nothing.
    """
    kept = [place for place, query in enumerate(release.queries) if "RACE" not in query.predicate.columns]
    schema = _with_violation(release.schema, file, kept)
    return Release(schema, release.block, release.n, np.arange(len(kept)), release.lo[kept], release.hi[kept])


def only_races(release: Release) -> Release:
    """The other part: races, and who is subsidized."""
    kept = [p for p, q in enumerate(release.queries) if "RACE" in q.predicate.columns or q.id == "HUD_N"]
    domain = Domain(tuple(c for c in release.schema.domain.columns if c.name in ("BEDROOMS", "RACE")))
    schema = Schema(domain, (), tuple(release.queries[place] for place in kept))
    return Release(schema, release.block, release.n, np.arange(len(kept)), release.lo[kept], release.hi[kept])


def provable_parts(release: Release, file: HouseholdFile, reading: str) -> list[Release]:
    """
    The parts of a release that certificates speak of. With sets of races, as in appendix E, the counts of races always fit:
    as counts of single races they say more than the reading does, and are no part then.
    """
    return [without_races(release, file), *([only_races(release)] if reading == EXACT else [])]


def _with_violation(schema: Schema, file: HouseholdFile, kept: Sequence[int]) -> Schema:
    violation = Column(VIOLATION, "more than two persons per bedroom", (0, 1), ("no", "yes"))
    domain = Domain((*(c for c in schema.domain.columns if c.name != "RACE"), violation))
    sizes, rules = schema.domain["SIZE"].codes, list(schema.rules)
    yes, no = Predicate.of({VIOLATION: [1]}), Predicate.of({VIOLATION: [0]})
    for code in schema.domain["BEDROOMS"].codes:
        most = file.occupancy.get(code, sizes[-1])
        for codes, answer in (([s for s in sizes if s > most], yes), ([s for s in sizes if s <= most], no)):
            if codes:
                rules.append(Rule(f"occupancy {code}", Predicate.of({"BEDROOMS": [code], "SIZE": codes}), (answer,)))
    return Schema(domain, tuple(rules), tuple(schema.queries[place] for place in kept))
