"""Merging of categories: neighbours in a column become one until no count that is printed is sensitive."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from genverify.disclosure.link import Labels, LinkedTables, TableCells
from genverify.model.arrays import Ints
from genverify.model.errors import DataError
from genverify.reading.totals import Hierarchy

MOST_NAMED = 5  # counts in a message
GONE = -1  # the number of a label that is no longer printed
Merged = Mapping[tuple[str, Labels], list[Labels]]  # for the parts of a sum in a column: those that stand together


@dataclass(frozen=True)
class MergedTable:
    """A table once categories are merged: its columns, every line with the count, or none where a category is merged."""

    placed: TableCells
    lines: Mapping[Labels, int | None]
    sums: Mapping[str, dict[str, list[list[str]]]]


def merge_categories(linked: LinkedTables, counts: Ints, minimum: int, named: Collection[int]) -> list[MergedTable]:
    """
    Neighbours among the parts of a sum are merged, alike in all tables with this sum: each time those that take the most
    sensitive counts away for each count that is lost. Sensitive are counts from 1 to below the minimum, and named cells.
    """
    merged: dict[tuple[str, Labels], list[Labels]] = {}
    for placed in linked.now:
        for column, name in zip(placed.table.columns, placed.labels, strict=False):
            merged |= {(name, parts): [(part,) for part in parts] for _, parts in placed.table.sums.get(column, ())}
    tables = [_Table(placed, [linked.cell[key] for key in placed.keys.values()], counts, named) for placed in linked.now]
    sensitive, printed = _left(tables, merged, minimum)
    while sensitive:
        tried = [(own, _left(tables, own, minimum)) for own in _coarser(merged)]
        if not tried:
            lines = {" / ".join(own): count or 0 for table in tables for own, count in table.merged(merged).lines.items()}
            small = "; ".join([name for name, count in lines.items() if 0 < count < minimum][:MOST_NAMED])
            raise DataError(f"the rule cannot be met by merging: with all categories merged sensitive counts are left "
                            f"({small}); suppress cells, or leave out a table")  # fmt: skip
        merged, (sensitive, printed) = max(tried, key=lambda one: (
            (sensitive - one[1][0]) / max(printed - one[1][1], 1), one[1][1]))  # fmt: skip
    return [table.merged(merged) for table in tables]


def _coarser(merged: Merged) -> Iterator[dict[tuple[str, Labels], list[Labels]]]:
    for (name, parts), groups in merged.items():
        for at, (one, other) in enumerate(pairwise(groups)):
            yield {**merged, (name, parts): [*groups[:at], one + other, *groups[at + 2 :]]}


def _left(tables: Sequence["_Table"], merged: Merged, minimum: int) -> tuple[int, int]:
    """Sensitive counts that are still printed, and all that are."""
    both = np.array([table.left(merged, minimum) for table in tables]).sum(axis=0)
    return int(both[0]), int(both[1])


class _Table:
    def __init__(self, placed: TableCells, cells: Sequence[int], counts: Ints, named: Collection[int]) -> None:
        self.placed, self.names = placed, list(placed.labels)[: len(placed.table.columns)]
        self.entries, self.values = list(placed.keys), counts[cells]
        self.named = np.isin(cells, list(named))
        self.labels = [placed.table.labels(column) for column in placed.table.columns]
        places = [{label: at for at, label in enumerate(own)} for own in self.labels]
        self.codes = [np.array([place[own[at]] for own in self.entries]) for at, place in enumerate(places)]

    def owners(self, merged: Merged, at: int) -> tuple[dict[str, str], set[str]]:
        """In whose count that of each label of a column is printed, and the labels that no merged label is made of."""
        sums = self.placed.table.sums.get(self.placed.table.columns[at], Hierarchy())
        own, inside = dict[str, str](), set[str]()
        for parent, parts in sorted(sums, key=lambda one: -len(sums.inside(one[0]))):
            for group in merged[self.names[at], parts] if parent not in own else ():
                whole = len(group) == len(parts)  # then the sum is printed alone
                if len(group) > 1:
                    below = {label for part in group for label in sums.inside(part)}
                    own |= dict.fromkeys(below, parent if whole else merged_name(group))
                    inside |= below if whole else below - set(group)
        return own, inside

    def left(self, merged: Merged, minimum: int) -> tuple[int, int]:
        flat, kept, alone = np.zeros(len(self.values), np.int64), np.ones(len(self.values), bool), self.named.copy()
        for at, labels in enumerate(self.labels):
            own, inside = self.owners(merged, at)
            number = {label: place for place, label in enumerate(dict.fromkeys(own.get(label, label) for label in labels))}
            codes = np.array([GONE if label in inside else number[own.get(label, label)] for label in labels])
            flat = flat * len(number) + codes[self.codes[at]]
            kept &= codes[self.codes[at]] != GONE
            alone &= ~np.isin(self.codes[at], [place for place, label in enumerate(labels) if label in own])
        _, place = np.unique(flat[kept], return_inverse=True)
        sums = np.bincount(place, self.values[kept])
        return int(((sums > 0) & (sums < minimum)).sum() + alone.sum()), len(sums)

    def merged(self, merged: Merged) -> MergedTable:
        table = self.placed.table
        owned = [self.owners(merged, at) for at in range(len(self.labels))]
        values = dict(zip(self.entries, self.values.tolist(), strict=True))
        of = {
            labels: tuple(own.get(label, label) for (own, _), label in zip(owned, labels, strict=True)) for labels in values
        }
        lines = dict[Labels, int | None]()
        for labels, count in values.items():
            if (
                not any(label in inside for (_, inside), label in zip(owned, labels, strict=True))
                and of[labels] not in values
            ):
                lines[of[labels]] = (lines.get(of[labels]) or 0) + count
        # of a merged count of 0 all parts are 0 anyway
        parts = {labels: 0 if (lines | values).get(of[labels]) == 0 else None for labels in values if of[labels] != labels}
        sums = dict[str, dict[str, list[list[str]]]]()
        for (column, name), (gone, _) in zip(zip(table.columns, self.names, strict=True), owned, strict=True):
            for parent, own in table.sums.get(column, ()):
                groups = merged[name, own]
                alone = parent in gone or len(groups) == 1
                listed = sums.setdefault(name, {})
                listed.setdefault(parent, []).append(list(own) if alone else list(map(merged_name, groups)))
                listed |= {merged_name(group): [list(group)] for group in groups if len(group) > 1 and not alone}
        return MergedTable(self.placed, {**values, **parts, **lines}, sums)


def merged_name(labels: Sequence[str]) -> str:
    return " or ".join(labels)
