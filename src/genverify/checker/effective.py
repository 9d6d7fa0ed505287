"""Effective k, counted by the checker: the fewest columns of a claim that force all of it among the records left open."""

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from genverify.checker.live import LiveTypes
from genverify.core.arraytypes import Flags
from genverify.core.predicates import Predicate

Masks = npt.NDArray[np.int64]
Clause = tuple[str, tuple[int, ...]]


def effective_sizes(types: LiveTypes, claims: Sequence[Predicate]) -> list[int]:
    """The effective k of each claim. Claims that are part of a longer one share its table of subsets."""
    groups: list[tuple[frozenset[Clause], _Subsets]] = []
    found: dict[Predicate, int] = {}
    for claim in sorted(set(claims), key=lambda claim: (-len(claim.clauses), claim.clauses)):
        clauses = frozenset(claim.clauses)
        group = next((subsets for longest, subsets in groups if clauses <= longest), None)
        if group is None:
            group = _Subsets(types, claim.clauses)
            groups.append((clauses, group))
        found[claim] = group.smallest(claim.clauses)
    return [found[claim] for claim in claims]


class _Subsets:
    """For every subset of some clauses, as a bit mask: which of the clauses it forces."""

    def __init__(self, types: LiveTypes, clauses: Sequence[Clause]) -> None:
        self.bit = {clause: 1 << at for at, clause in enumerate(clauses)}
        matched = np.full((1, -(-len(types) // 8)), 255, dtype=np.uint8)
        for clause in clauses:
            matched = np.concatenate([matched, matched & np.packbits(_meets(types, clause, True))])
        self.masks: Masks = np.arange(len(matched))
        self.forced = np.zeros_like(self.masks)
        for clause in clauses:
            others = np.packbits(_meets(types, clause, False))
            self.forced |= np.where((matched & others).any(axis=1), 0, self.bit[clause])
        self.by_size = np.argsort(np.bitwise_count(self.masks), kind="stable")

    def smallest(self, clauses: Iterable[Clause]) -> int:
        whole = sum(self.bit[clause] for clause in clauses)
        enough = (self.masks & ~whole == 0) & (whole & ~self.masks & ~self.forced == 0)
        return int(self.masks[self.by_size[np.argmax(enough[self.by_size])]]).bit_count()


def _meets(types: LiveTypes, clause: Clause, yes: bool) -> Flags:
    """Which types have a record that meets a clause, or one that does not."""
    name, codes = clause
    column = types.domain.names.index(name)
    held = np.array([any((code in codes) is yes for code in atom) for atom in types.atoms[column]], dtype=bool)
    flags: Flags = held[types.table[column]]
    return flags
