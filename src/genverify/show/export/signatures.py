"""
Kinds of records over the whole domain: records that the rows of a program do not tell apart form one class.

Nothing is left out: every record of the domain lies in exactly one class, also those that a zero cell or a rule excludes.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random

from genverify.core.domain import Column, Domain
from genverify.core.errors import DataError
from genverify.core.predicates import Predicate

MOST = 20_000
Bits = int
Record = tuple[int, ...]


class TooManyClasses(DataError):
    """A proof whose cells distinguish more kinds of records than a readable file can hold."""


@dataclass(frozen=True)
class Region:
    """
    The records that meet one of some conditions, and none of some others.

    >>> renting = Predicate.of({"TEN": [3]})
    >>> Region((Predicate(()),), (renting,)).holds({"TEN": 3}), Region((renting,)).holds({"TEN": 3})
    (False, True)
    """

    any_of: tuple[Predicate, ...]
    unless: tuple[Predicate, ...] = ()

    @classmethod
    def of(cls, when: Predicate, unless: Iterable[Predicate] = ()) -> "Region":
        """Records that meet `when` and none of the others, which are narrowed to it: elsewhere they do not matter."""
        narrowed = dict.fromkeys(when & other for other in unless)
        return cls((when,), tuple(p for p in narrowed if all(codes for _, codes in p.clauses)))

    @property
    def predicates(self) -> tuple[Predicate, ...]:
        return (*self.any_of, *self.unless)

    def holds(self, record: dict[str, int]) -> bool:
        """Whether a record lies in the region."""
        return any(_met(p, record) for p in self.any_of) and not any(_met(p, record) for p in self.unless)


def _met(predicate: Predicate, record: dict[str, int]) -> bool:
    return all(record[name] in codes for name, codes in predicate.clauses)


@dataclass(frozen=True)
class Kind:
    """A class of records: how many there are in the domain, one of them, and which regions hold them, one bit each."""

    size: int
    example: Record
    inside: Bits


Edge = tuple[Bits, tuple[int, ...]]  # the state before a column, and the codes of the column that lead on


class Kinds:
    """
    The classes of the whole domain, by which of the regions hold a record.

    Column after column, partial records that leave the same conditions possible are taken together, so that the product of
    the columns is never built.
    """

    def __init__(self, domain: Domain, regions: Sequence[Region]) -> None:
        self.walk = walk = _Walk(domain, [p for region in regions for p in region.predicates])
        masks = [(_mask(walk.bit, region.any_of), _mask(walk.bit, region.unless)) for region in regions]
        self.states: dict[Bits, list[Bits]] = {}
        for state in walk.sizes:
            inside = sum(1 << place for place, (some, none) in enumerate(masks) if state & some and not state & none)
            self.states.setdefault(inside, []).append(state)
        if len(self.states) > MOST:
            raise TooManyClasses(_too_many(len(self.states)))
        self.inside = list(self.states)

    def described(self) -> list[Kind]:
        """Every class with its size and a record of it, in the order of `inside`."""
        sizes, draw = self.walk.sizes, self.walk.draw
        return [
            Kind(sum(sizes[state] for state in states), draw(states[0], None), inside)
            for inside, states in self.states.items()
        ]

    def draw(self, inside: Bits, random: Random) -> Record:
        """A record of a class, at random."""
        return self.walk.draw(random.choice(self.states[inside]), random)


def _mask(bit: dict[Predicate, int], predicates: Iterable[Predicate]) -> Bits:
    return sum(1 << place for place in {bit[p] for p in predicates})


class _Walk:
    """The columns one after the other; a state has one bit per condition that the columns so far allow."""

    def __init__(self, domain: Domain, predicates: Iterable[Predicate]) -> None:
        self.domain = domain
        self.bit = {predicate: place for place, predicate in enumerate(dict.fromkeys(predicates))}
        self.sizes: dict[Bits, int] = {(1 << len(self.bit)) - 1: 1}
        self.layers: list[dict[Bits, list[Edge]]] = []
        for column in domain.columns:
            self._add(self._atoms(column))

    def _atoms(self, column: Column) -> list[tuple[Bits, tuple[int, ...]]]:
        """The codes of a column by the conditions that they allow."""
        free = sum(1 << place for p, place in self.bit.items() if column.name not in p.where)
        named = [(place, set(p.where[column.name])) for p, place in self.bit.items() if column.name in p.where]
        atoms: dict[Bits, list[int]] = {}
        for code in column.codes:
            atoms.setdefault(free | sum(1 << place for place, codes in named if code in codes), []).append(code)
        return [(mask, tuple(codes)) for mask, codes in atoms.items()]

    def _add(self, atoms: Sequence[tuple[Bits, tuple[int, ...]]]) -> None:
        sizes: dict[Bits, int] = {}
        layer: dict[Bits, list[Edge]] = {}
        for state, size in self.sizes.items():
            for mask, codes in atoms:
                after = state & mask
                sizes[after] = sizes.get(after, 0) + size * len(codes)
                layer.setdefault(after, []).append((state, codes))
        if len(sizes) > 10 * MOST:
            raise TooManyClasses(_too_many(len(sizes)))
        self.sizes = sizes
        self.layers.append(layer)

    def draw(self, state: Bits, random: Random | None) -> Record:
        """A record that ends in a state: the first one, or one drawn at random."""
        codes = []
        for layer in reversed(self.layers):
            state, allowed = random.choice(layer[state]) if random else layer[state][0]
            codes.append(random.choice(allowed) if random else allowed[0])
        return tuple(reversed(codes))


def _too_many(count: int) -> str:
    return (
        f"the cells that the proof names tell {count} or more kinds of records apart, over the limit of {MOST}; this claim "
        "cannot be exported. Check it with `genverify check`"
    )
