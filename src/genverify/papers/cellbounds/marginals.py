"""Exact [min, max] of every cell of a table of several variables from any set of its marginals, by the compact program."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from genverify.attack.contradiction import no_dataset_fits
from genverify.core.domain import LARGEST_CODE, Column, Domain
from genverify.core.errors import DataError, ReleaseError
from genverify.core.predicates import Flags, Predicate
from genverify.core.queries import Query
from genverify.core.release import TOTAL, Release, Schema, make_release
from genverify.papers.cellbounds.multiway import Multiway, check_size
from genverify.solve.bounds import Bound, Bounder
from genverify.solve.program import Program
from genverify.solve.settings import ProgramSettings

Ints = npt.NDArray[np.int64]
Levels = Mapping[str, tuple[str, ...]]
SEEN = Bound()


@dataclass(frozen=True)
class MarginalBounds:
    """
    The least and the greatest count of every cell over all tables with these marginals.

    Where a limit of work struck, `exact` is false and the bounds are the wider ones that single marginals give.
    """

    names: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    lower: Ints
    upper: Ints
    exact: Flags


def bound_marginals(marginals: Sequence[Multiway], settings: ProgramSettings) -> MarginalBounds:
    """Bounds of every cell of the table of all variables that the marginals name."""
    levels = _levels(marginals)
    tables = [_over(table, levels) for table in marginals]
    bounder = settings.bounder(marginal_release(tables, levels))
    found = bounder.at_most(np.zeros(bounder.program.classes, dtype=np.int64), -1)
    if found.counterexample is None:
        raise no_dataset_fits(bounder, found.proof, found.limit)
    upper = _smallest_marginal(tables, levels)
    lower, exact = np.zeros_like(upper), np.ones(upper.shape, dtype=bool)
    for place, cell in enumerate(_cells(bounder.program)):
        lower[cell], upper[cell], exact[cell] = _range(bounder, place, int(upper[cell]))
    return MarginalBounds(tuple(levels), tuple(levels.values()), lower, upper, exact)


def _cells(program: Program) -> list[tuple[int, ...]]:
    """The cell of each class: every variable is published, so that a class is one cell, and other cells are 0."""
    codes = [[atom[0] for atom in atoms] for atoms in program.types.atoms]
    members = (program.types.table[program.member(c)] for c in range(program.classes))
    return [tuple(own[atom] - 1 for own, atom in zip(codes, member, strict=True)) for member in members]


def _range(bounder: Bounder, place: int, most: int) -> tuple[int, int, bool]:
    """The range of one class count; 0 and the smallest marginal need no search where a dataset seen so far attains them."""
    c = np.zeros(bounder.program.classes, dtype=np.int64)
    c[place] = 1
    seen = {int(z[place]) for z in bounder.seen}
    high, upper = (most, SEEN) if most in seen else bounder.maximum(c)
    low, lower = (0, SEEN) if 0 in seen else bounder.maximum(-c)
    if upper.limit or lower.limit:
        return 0, most, False
    return -low, high, True


def _levels(tables: Sequence[Multiway]) -> Levels:
    """Every variable with all the levels that some marginal lists."""
    found: dict[str, dict[str, None]] = {}
    for table in tables:
        for name, own in zip(table.names, table.levels, strict=True):
            found.setdefault(name, {}).update(dict.fromkeys(own))
    levels = {name: tuple(own) for name, own in found.items()}
    check_size(levels, "the table of all variables")
    for name, own in levels.items():
        if len(own) > LARGEST_CODE:
            raise DataError(f"{name} has {len(own):,} levels, more than {LARGEST_CODE:,}; bin it into fewer")
    return levels


def _over(table: Multiway, levels: Levels) -> Multiway:
    """The marginal over all levels of its variables, in the order of the full table; what it does not list is 0."""
    order = [name for name in levels if name in table.names]
    own = table.marginal(order)
    counts = np.zeros([len(levels[name]) for name in order], dtype=np.int64)
    places = ([levels[name].index(level) for level in mine] for name, mine in zip(order, own.levels, strict=True))
    counts[np.ix_(*places)] = own.counts
    return Multiway(tuple(order), tuple(levels[name] for name in order), counts)


def marginal_release(tables: Sequence[Multiway], levels: Levels) -> Release:
    """The marginals as a release: a counting query for each of their cells."""
    total = tables[0].total
    counted: dict[str, tuple[Query, int]] = {}
    for table in tables:
        if table.total != total:
            raise ReleaseError(
                f"the marginal {','.join(table.names)} counts {table.total} records but {','.join(tables[0].names)} counts "
                f"{total}. Marginals of one table have the same total."
            )
        for query, count in _queries(table):
            if counted.setdefault(query.id, (query, count))[1] != count:
                raise ReleaseError(f"two marginals disagree on {query.id}: {counted[query.id][1]} and {count}")
    columns = tuple(Column(name, name, tuple(range(1, len(own) + 1)), own) for name, own in levels.items())
    schema = Schema(Domain(columns), (), tuple(query for query, _ in counted.values()))
    return make_release(
        schema, "table", {TOTAL: total, **{name: count for name, (_, count) in counted.items()}}, "marginals"
    )


def _queries(table: Multiway) -> Iterator[tuple[Query, int]]:
    """The cells of a marginal with their counts."""
    for cell, count in np.ndenumerate(table.counts):
        levels = [f"{name}={level[code]}" for name, level, code in zip(table.names, table.levels, cell, strict=True)]
        predicate = Predicate.of({name: [place + 1] for name, place in zip(table.names, cell, strict=True)})
        words = " and ".join(levels)
        yield Query(words, ",".join(table.names), words, predicate), int(count)


def _smallest_marginal(tables: Sequence[Multiway], levels: Levels) -> Ints:
    """For each cell of the full table, the smallest published count that it is part of."""
    smallest = np.full([len(own) for own in levels.values()], tables[0].total, dtype=np.int64)
    for table in tables:
        wide = table.counts.reshape([len(own) if name in table.names else 1 for name, own in levels.items()])
        smallest = np.minimum(smallest, wide)
    return smallest
