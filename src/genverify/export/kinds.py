"""
Kinds of records over the whole domain: records that the rows of a program do not tell apart form one kind.

Nothing is left out: every record of the domain lies in exactly one kind, also those that a zero cell or a rule excludes. Of
the zero cells and rules that exclude a record, one is enough: it counts in the row of that one only, so that kinds stay few.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

from genverify.export.derivation import TooLarge
from genverify.model.domain import Column, Domain, Predicate

MOST = 20_000  # kinds of one proof, a column each in every format: bounds the size of the files
Bits = int
Record = tuple[int, ...]
Edge = tuple[Bits, tuple[int, ...]]  # the state before a column, and the codes of the column that lead on


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
    """How many records are of a kind, one of them, the regions that hold them (bits), what excludes them (none: -1)."""

    size: int
    example: Record
    inside: Bits
    excluded: int


class Kinds:
    """The kinds of the whole domain: which regions hold a record, and the first exclusion that is seen to hold it."""

    def __init__(self, domain: Domain, regions: Sequence[Region], exclusions: Sequence[Region] = ()) -> None:
        self.walk = walk = _Walk(domain, [p for region in regions for p in region.predicates], exclusions)
        masks = [(walk.mask(region.any_of), walk.mask(region.unless)) for region in regions]
        self.states: dict[tuple[Bits, int], list[Bits]] = {}
        for state in walk.sizes:
            inside = sum(1 << index for index, (some, none) in enumerate(masks) if state & some and not state & none)
            self.states.setdefault((inside, walk.excluded(state)), []).append(state)
        if len(self.states) > MOST:
            raise TooLarge(_too_many(len(self.states)))
        self.keys = list(self.states)

    def __iter__(self) -> Iterator[Kind]:
        sizes, draw = self.walk.sizes, self.walk.draw
        for (inside, excluded), states in self.states.items():
            yield Kind(sum(sizes[state] for state in states), draw(states[0], None), inside, excluded)

    def draw(self, key: tuple[Bits, int], random: Random) -> Record:
        """A record of a kind, at random."""
        return self.walk.draw(random.choice(self.states[key]), random)


class _Walk:
    """Column after column; a state has one bit per condition that is still allowed, or the one bit of its exclusion."""

    def __init__(self, domain: Domain, predicates: Iterable[Predicate], exclusions: Sequence[Region]) -> None:
        self.domain = domain
        part = list(dict.fromkeys(predicates))
        self.bit = {predicate: index for index, predicate in enumerate(part)}
        self.regions = (1 << len(part)) - 1
        # every exclusion has bits of its own: of its conditions, and one that says that it is known to hold
        self.place, self.predicates = list(range(len(part))), part
        self.tests, self.won = list[tuple[int, Bits, Bits, Bits]](), dict[Bits, int]()
        position = {name: index for index, name in enumerate(domain.names)}
        for number, region in enumerate(exclusions):
            first = len(self.predicates) + len(self.won)
            bits = [1 << first + index for index in range(len(region.predicates) + 1)]
            known = max((position[name] for p in region.predicates for name in p.columns), default=0)
            self.tests.append((known, bits[0], sum(bits[1:-1]), bits[-1]))
            self.won[bits[-1]] = number
            self.place = [*self.place, *range(first, first + len(region.predicates))]
            self.predicates = [*self.predicates, *region.predicates]
        self.sizes: dict[Bits, int] = {sum(1 << index for index in self.place): 1}
        self.layers: list[dict[Bits, list[Edge]]] = []
        for number, column in enumerate(domain.columns):
            self._add(self._atoms(column), [test for test in self.tests if test[0] == number])

    def mask(self, predicates: Iterable[Predicate]) -> Bits:
        return sum(1 << index for index in {self.bit[p] for p in predicates})

    def excluded(self, state: Bits) -> int:
        return self.won.get(state & ~self.regions, -1)

    def _atoms(self, column: Column) -> list[tuple[Bits, tuple[int, ...]]]:
        listed = list(zip(self.place, self.predicates, strict=True))
        free = sum(self.won) + sum(1 << index for index, p in listed if column.name not in p.where)
        named = [(index, set(p.where[column.name])) for index, p in listed if column.name in p.where]
        atoms: dict[Bits, list[int]] = {}
        for code in column.codes:
            atoms.setdefault(free | sum(1 << index for index, codes in named if code in codes), []).append(code)
        return [(mask, tuple(codes)) for mask, codes in atoms.items()]

    def _add(self, atoms: Sequence[tuple[Bits, tuple[int, ...]]], tests: Sequence[tuple[int, Bits, Bits, Bits]]) -> None:
        sizes: dict[Bits, int] = {}
        layer: dict[Bits, list[Edge]] = {}
        for state, size in self.sizes.items():
            for mask, codes in atoms:
                after = self._settled(state & mask, tests)
                sizes[after] = sizes.get(after, 0) + size * len(codes)
                layer.setdefault(after, []).append((state, codes))
        if len(sizes) > 10 * MOST:
            raise TooLarge(_too_many(len(sizes)))
        self.sizes = sizes
        self.layers.append(layer)

    def _settled(self, state: Bits, tests: Sequence[tuple[int, Bits, Bits, Bits]]) -> Bits:
        """The state once the exclusions that are known from here on are looked at: the first one that holds stands alone."""
        for _, when, unless, won in tests:
            if state & when and not state & unless:
                return state & self.regions | won
            state &= ~(when | unless)
        return state

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
