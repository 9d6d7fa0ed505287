"""Symmetries of marginals: exchanges of two levels, or of two variables, that leave all of them as they are."""

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise

import numpy as np

from genverify.core.arraytypes import Ints
from genverify.papers.cellbounds.multiway import Multiway
from genverify.solve.sums.orbits import Symmetry

MOST = 60  # exchanges that are looked for: others follow from them


def symmetries_of(tables: Sequence[Multiway], names: Sequence[str], shape: Sequence[int]) -> list[Symmetry]:
    """Some exchanges of levels and of variables that leave every marginal as it is; all are tried on the counts."""
    found = list[Symmetry]()
    for exchange in (*_of_levels(tables, names, shape), *_of_variables(tables, names, shape)):
        found.append(exchange)
        if len(found) == MOST:
            break
    return found


def _of_levels(tables: Sequence[Multiway], names: Sequence[str], shape: Sequence[int]) -> Iterator[Symmetry]:
    for axis, name in enumerate(names):
        own = next(table for table in tables if name in table.names)
        totals = np.moveaxis(own.counts, own.names.index(name), 0).reshape(shape[axis], -1).sum(axis=1)
        order = np.argsort(totals, kind="stable").tolist()
        for one, other in pairwise(order):
            if totals[one] == totals[other]:
                levels = np.arange(shape[axis])
                levels[[one, other]] = other, one
                moved = [_taken(table.counts, table.names, name, levels) for table in tables]
                if all(np.array_equal(now, table.counts) for now, table in zip(moved, tables, strict=True)):
                    rows = [_taken(own, table.names, name, levels) for own, table in _rows(tables)]
                    yield Symmetry(np.take(_cells(shape), levels, axis=axis).ravel(), _flat(rows))


def _of_variables(tables: Sequence[Multiway], names: Sequence[str], shape: Sequence[int]) -> Iterator[Symmetry]:
    at = {frozenset(table.names): (table, rows) for rows, table in _rows(tables)}
    for one, other in combinations(range(len(names)), 2):
        swap = {names[one]: names[other], names[other]: names[one]}
        images = [_image(table, at, swap) for table in tables] if shape[one] == shape[other] else []
        found = [image for image in images if image is not None]
        same = (np.array_equal(own[0], table.counts) for own, table in zip(found, tables, strict=False))
        if len(found) == len(tables) and all(same):
            axes = list(range(len(names)))
            axes[one], axes[other] = other, one
            yield Symmetry(_cells(shape).transpose(axes).ravel(), _flat([own[1] for own in found]))


def _image(
    table: Multiway, at: dict[frozenset[str], tuple[Multiway, Ints]], swap: dict[str, str]
) -> tuple[Ints, Ints] | None:
    """The counts, and the rows, of the marginal that a table becomes, in the order of the table; none if it is not given."""
    renamed = [swap.get(name, name) for name in table.names]
    if frozenset(renamed) not in at:
        return None
    other, rows = at[frozenset(renamed)]
    axes = [other.names.index(name) for name in renamed]
    return other.counts.transpose(axes), rows.transpose(axes)


def _rows(tables: Sequence[Multiway]) -> Iterator[tuple[Ints, Multiway]]:
    """The number of the row of each cell of each marginal."""
    before = 0
    for table in tables:
        yield before + np.arange(table.counts.size).reshape(table.counts.shape), table
        before += table.counts.size


def _cells(shape: Sequence[int]) -> Ints:
    return np.arange(int(np.prod(shape))).reshape(shape)


def _taken(own: Ints, of: Sequence[str], name: str, levels: Ints) -> Ints:
    return np.take(own, levels, axis=of.index(name)) if name in of else own


def _flat(rows: Sequence[Ints]) -> Ints:
    return np.concatenate([own.ravel() for own in rows])
