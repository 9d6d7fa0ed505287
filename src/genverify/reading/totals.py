"""What adds up to what: hierarchies of labels, and totals by name and by numbers that agree; else it is asked."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import combinations, takewhile
from math import gcd
from pathlib import Path
from typing import TypeVar

from genverify.model.errors import DataError
from genverify.model.files import regular_file
from genverify.reading.numerals import Number, pattern, says

Parts = tuple[str, ...]
Below = Mapping[str, Sequence[str]]  # labels, each with its parts


@dataclass(frozen=True)
class Hierarchy:
    """What adds up to what in a column: labels with their parts, in several sets if stacked; `top` (or None) is everyone."""

    top: str | None = None
    parts: Mapping[str, tuple[Parts, ...]] = field(default_factory=dict)

    def __iter__(self) -> Iterator[tuple[str, Parts]]:
        """Every sum: a label, and one set of its parts."""
        return ((label, own) for label, sets in self.parts.items() for own in sets)

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(label for parent, own in self for label in (parent, *own)))

    def outer(self, labels: Iterable[str]) -> Parts:
        """Those of some labels that are part of no other."""
        inner = {child for _, own in self for child in own}
        return tuple(label for label in labels if label not in inner)

    def inside(self, label: str) -> set[str]:
        """A label and everything that it adds up, over all levels."""
        result, open_ = {label}, [label]
        while open_:
            new = {child for own in self.parts.get(open_.pop(), ()) for child in own} - result
            result |= new
            open_ += new
        return result

    def finest(self, labels: Iterable[str]) -> set[frozenset[str]]:
        """The sets of labels without parts that some labels come down to: one, unless breakdowns are stacked."""
        result = {frozenset[str]()}
        for label in labels:
            sets = self.parts.get(label)
            below = {frozenset((label,))} if not sets else set().union(*(self.finest(own) for own in sets))
            both = {one | other for one in result for other in below}
            result = set(sorted(both, key=sorted)[:2])  # two are enough to show that it is not one
        return result

    def checked(self, where: str) -> "Hierarchy":
        """The same, if no sum counts a label twice, or its own total; an error names the label and where it comes from."""
        for parent, own in self:
            seen: dict[str, str] = {}
            for child in own:
                below = self.inside(child)
                if parent in below:
                    how = "itself" if child == parent else f"part of its part {child!r}"
                    raise DataError(f"{where}: {named(parent)} would be {how}; a total cannot be one of its own parts")
                for label in sorted(below):
                    if label in seen:
                        both = f"in {seen[label]!r} and in {child!r}" if seen[label] != child else "as a part"
                        how = "--hierarchy COLUMN=FILE.hrc, or `sums` in the release file (--write)"
                        what = f"{named(parent)} would count {label!r} twice ({both})"
                        raise DataError(f"{where}: {what}; list it once, or say what adds up to what: {how}")
                    seen[label] = child
        return self


def named(label: str) -> str:
    return repr(label) if label else "everyone"


def make_hierarchy(sums: Iterable[tuple[str, Sequence[str]]], labels: Iterable[str], where: str) -> Hierarchy:
    """A checked hierarchy; its top is the one label that is no part and that adds up, over some levels, all others."""
    parts: dict[str, tuple[Parts, ...]] = {}
    for parent, children in sums:
        own = tuple(children)
        if own and own not in parts.get(parent, ()):
            parts[parent] = (*parts.get(parent, ()), own)
    result = Hierarchy(None, parts).checked(where)
    tops = [label for label in result.outer(parts) if result.inside(label).issuperset(labels)]
    return replace(result, top=tops[0] if tops else None)


BAND = re.compile(r"(\d{1,9})\s*(?:-|\u2013|to|bis|a)\s*(\d{1,9})(?:\s*(?:years?|yrs?))?", re.IGNORECASE)
FROM = re.compile(r"(\d{1,9})\s*(?:\+|and over|and above|or more|and older|plus|years and over)(?:\s*years?)?", re.I)
UNDER = re.compile(r"(?:under|less than|below|<)\s*(\d{1,9})(?:\s*years?)?", re.IGNORECASE)
FAR = 10**6  # stands for no upper end: above any age, size or year in a label


def interval(label: str) -> tuple[int, int] | None:
    """A label as an interval of whole numbers."""
    if result := BAND.fullmatch(label.strip()):
        return (int(result[1]), int(result[2])) if int(result[1]) <= int(result[2]) else None
    if result := FROM.fullmatch(label.strip()):
        return int(result[1]), FAR
    return (0, int(result[1]) - 1) if (result := UNDER.fullmatch(label.strip())) and int(result[1]) else None


def by_interval(labels: Sequence[str]) -> Iterator[tuple[str, Parts]]:
    """A label whose interval is made up of others: 0-9 is 0-4 and 5-9."""
    bands = {label: band for label in labels if (band := interval(label))}
    starting = defaultdict[int, list[tuple[tuple[int, int], str]]](list)
    for label, band in bands.items():
        starting[band[0]].append((band, label))
    for label, (low, high) in bands.items():
        chain, at = list[str](), low
        while inside := [one for one in starting.get(at, ()) if one[0][1] <= high and one[0] != (low, high)]:
            band, other = max(inside)
            chain, at = [*chain, other], band[1] + 1
        if at > high and len(chain) > 1:
            yield label, tuple(chain)


def read_hierarchy(path: Path, labels: Sequence[str], total: str | None, told: bool = True, lead: str = "@") -> Hierarchy:
    """What adds up to what by a .hrc file: a label with one more lead string than the one above lies inside it."""
    # the total may stand there, alone without a lead string, or not; a guessed one gives way; all is a part, printed or not
    from genverify.model.tablefiles import decoded  # with pandas, which the reading itself does not need

    if not path.exists():
        raise DataError(f"{path}: the hierarchy is missing")
    if not lead:
        raise DataError(f"{path}: the string that leads its lower levels (HIERLEADSTRING) is empty; give one, such as @")
    line_of, children = dict[str, int](), dict[str, list[str]]()
    above, roots = list[str](), list[str]()
    for number, line in enumerate(decoded(regular_file(path).read_bytes(), path).splitlines(), 1):
        if not line.strip():
            continue
        depth = 0
        while line.startswith(lead) and depth <= len(above):
            line, depth = line[len(lead) :], depth + 1
        label = line.strip()
        if first := line_of.get(label):
            raise DataError(f"{path}, line {number}: {label!r} is listed a second time (first: line {first}); list it once")
        if depth > len(above):
            raise DataError(f"{path}, line {number}: {label!r} is more than one level below the line above it")
        line_of[label] = number
        above = [*above[:depth], label]
        (children.setdefault(above[depth - 1], []) if depth else roots).append(label)
    if total in line_of and roots != [total]:
        if told:
            what = f"{path}, line {line_of[total]}: {total!r} is the total, and cannot be a part"
            raise DataError(f"{what}; list it alone without a lead string, or leave it out")
        total = None
    if total is None or total in line_of:
        total = roots[0] if len(roots) == 1 else None
    else:
        children[total] = roots
    if lacking := [label for label in labels if label != total and label not in line_of]:
        raise DataError(f"{path}: lacks {lacking[0]!r}, which the table prints; give it a line where it belongs")
    return _printed_part(children, total, roots, set(labels), str(path))


def _printed_part(children: Below, top: str | None, roots: Sequence[str], labels: set[str], where: str) -> Hierarchy:
    """The smallest part of a hierarchy with all printed labels; of what has none below it, the parts are not needed."""
    whole = Hierarchy(top, {label: (tuple(own),) for label, own in children.items() if own}).checked(where)
    used = {label for label in {*whole.labels, *roots} if whole.inside(label) & labels}
    below = roots if top is None else children.get(top, ())
    while top not in labels and len(inner := [label for label in below if label in used]) == 1:
        top = inner[0]
        below = children.get(top, ())
    inside = whole.inside(top) if top is not None else set(whole.labels)
    adding = {label for label in inside if (whole.inside(label) - {label}) & labels}
    return Hierarchy(top, {label: own for label, own in whole.parts.items() if label in adding})


Tree = tuple[tuple[str, tuple[str, ...]], ...]
Sample = Mapping[str, Number | None]  # label to number; None where a symbol stands
Samples = Sequence[Sample]
Bases = Mapping[str, int]  # to which the counts of each label look rounded

MOST_NAMED = 60  # labels with names of totals that are all tried
MOST_NESTED = 120  # labels among which sums are searched by numbers alone
AGREE = Decimal("0.9")  # of the sums that can be compared: a real release has slips, which are named and left out later
LEAST_SEEN = 2  # sums with every part printed: one alone can be right by chance
LEAST_PARTLY = 3  # sums with some parts printed, which say less than whole ones: one more of them
LEAST_CLOSE, SURELY = 20, Decimal("0.99")  # sums that are all but right: many must be seen, and nearly all be close
SHARP = 0.001  # of chance: one sum of a large total is seldom right by it
MANY_PARTLY = 10  # sums with symbols that are possible and tight: so many make a total of one whose name could be another's
NEXT_TO = 0.02  # of chance: what a name says to be a total right beside its parts needs less to be believed
BY_CHANCE = 0.01  # that any of the sums that are tried is right by chance
ROUNDINGS = (2, 3, 5, 10, 20, 25, 50, 100, 500, 1000)
SURELY_ROUNDED = 12  # counts that are all multiples of 3 by chance: twice in a million
BASES = (3, 5, 10, 100)  # what counts are rounded to; multiples of 1,000 may be a unit
MOST_PAIRED = 30  # labels of which every pair is tried
LEAST_PAIRED = 10  # sums of a pair that must be seen: two labels agree by chance more easily
UNDECIDED = Decimal("0.3")  # fewer sums that agree mean that a label is no total, whatever its name
LONGEST_RUN = 500  # labels of which every run is tried as the parts of a total
STEPS = (7919, 104729)  # primes
T = TypeVar("T")
MOST_WINDOWS = 8  # runs that are compared in all slices


@dataclass(frozen=True)
class Question:
    """What the file does not decide, and the option that answers it."""

    text: str
    option: str


@dataclass(frozen=True)
class Hints:
    """What a user says of sums: the totals of axes, labels that are no totals, and the base to which counts were rounded."""

    totals: Mapping[str, str] = field(default_factory=dict)
    no_totals: Collection[str] = ()
    base: int = 1


# what adds up to what among the labels of an axis, why, what is asked, and how far each sum can be off
Sums = tuple[Tree, str, list[Question], int]


@dataclass(frozen=True)
class Agreement:
    """How often a label is the sum of others: where all are printed, and where only some are."""

    full: int = 0
    right: int = 0
    partly: int = 0
    possible: int = 0
    close: int = 0  # sums that are not right, but no further off than rounding of each part to a whole number can be
    near: int = 0  # sums with symbols that only such rounding makes possible
    tight: int = 0  # sums with symbols of which the printed parts make up half of the total at least
    chance: float = 1.0  # how likely the sums that are right would be so by chance

    @property
    def holds(self) -> bool:
        enough = self.full >= LEAST_SEEN or (self.full and self.chance < SHARP)
        nearly = self.full >= LEAST_CLOSE and self.right + self.close >= SURELY * self.full and self.right * 2 > self.full
        exactly = self.right >= AGREE * self.full and self.possible >= AGREE * self.partly
        return bool(enough) and (exactly or (nearly and self.possible + self.near >= AGREE * self.partly))

    @property
    def likely(self) -> bool:
        """Whether no number speaks against it and some could: where symbols stand in every sum."""
        if self.holds or self.full != self.right or self.possible != self.partly:
            return self.holds
        return self.full == 1 or LEAST_PARTLY <= self.partly <= 2 * self.tight

    @property
    def never_against(self) -> bool:
        return self.right + self.close == self.full and self.possible == self.partly

    def off(self, parts: int) -> int:
        """How far sums can be from their total, where numbers of so many parts were each rounded: 0 if not, or few."""
        return (parts + 1) // 2 if self.full >= LEAST_CLOSE and self.right < AGREE * self.full else 0

    def __str__(self) -> str:
        partly = f", {self.possible} of {self.partly} with symbols are possible" if self.partly else ""
        close = f", {self.close} more up to rounding to whole numbers" if self.close else ""
        return f"{self.right} of {self.full} sums agree{close}{partly}"


def is_total_name(label: str) -> bool:
    """Whether a name can be that of a total; numbers decide whether it is."""
    return is_total_word(label) or bool(pattern("total start").match(_plain(label)) or says("total end", _bare(label)))


def is_total_word(label: str) -> bool:
    """Whether a name says nothing but that it is a total, or is that of a country."""
    words = pattern("total").fullmatch(_plain(label)) or pattern("total").fullmatch(_bare(label))
    return bool(words) or _is_country(label)


def _is_country(label: str) -> bool:
    return bool(pattern("country").fullmatch(_bare(label)))


def _plain(label: str) -> str:
    return " ".join(label.lower().replace("_", " ").split()).strip(" :.*-")


def _bare(label: str) -> str:
    """A label without its case, brackets, numbers of notes and signs around it."""
    return re.sub(r"\s*[(\[].*?[)\]]|\s+\d+/$", "", _plain(label)).strip()


def rounding(numbers: Iterable[Number | None]) -> int:
    """The base to which counts look rounded: 1 where they are not, or are too few to tell."""
    whole = [number for number in numbers if isinstance(number, int) and number]
    base = gcd(*whole) if len(whole) >= 5 else 1
    return max((step for step in ROUNDINGS if base % step == 0), default=1)


def spread(items: Sequence[T], most: int) -> Sequence[T]:
    """At most so many of some items, from all over the list: in steps that no period of a table's layout divides."""
    if len(items) <= most:
        return items
    step = next(prime for prime in STEPS if len(items) % prime)
    return [items[at * step % len(items)] for at in range(most)]


def surely_rounded(numbers: Iterable[int]) -> int:
    """The base to which counts were surely rounded: 1 where they were not, or are too few to tell."""
    different = set(numbers) - {0}
    base = gcd(*different) if len(different) >= SURELY_ROUNDED else 1
    return base if base in BASES else 1


def agreement(parent: str, children: Sequence[str], samples: Samples, bases: Bases) -> Agreement:
    """How well a label is the sum of others in the slices of a table."""
    full = right = partly = possible = close = near = tight = 0
    chance = 1.0
    slack = Decimal(sum(bases.get(label, 1) for label in (parent, *children) if bases.get(label, 1) > 1)) / 2
    whole = Decimal(len(children) + 1) / 2
    for sample in samples:
        if (printed := sample.get(parent)) is None:
            continue
        total = Decimal(printed)
        numbers = [sample.get(child) for child in children]
        known = [Decimal(number) for number in numbers if number is not None]
        if not known or not (total or any(known)):
            continue
        room = slack + _last_digits([printed, *(number for number in numbers if number is not None)])
        result = sum(known, Decimal(0))
        if len(known) == len(numbers):
            full += 1
            if abs(result - total) <= room:
                right += 1
                chance *= min(1.0, float((2 * room + 1) / (abs(total) + 1)))
            else:
                close += abs(result - total) <= room + whole
        else:
            partly += 1
            possible += result <= total + room
            near += room < result - total <= room + whole
            tight += 2 * result >= total
    return Agreement(full, right, partly, possible, close, near, tight, chance)


def _last_digits(numbers: Sequence[Number]) -> Decimal:
    """How much a sum of printed decimals can differ from the printed total."""
    exponents = [number.as_tuple().exponent for number in numbers if isinstance(number, Decimal)]
    digits = [-e for e in exponents if isinstance(e, int)]
    return Decimal(10) ** -min(max(*digits, 0), 6) * len(numbers) / 2 if digits else Decimal(0)


def bases_of(labels: Sequence[str], samples: Samples, tree: Below | None = None, least: int = 1) -> dict[str, int]:
    """The base to which the counts of each label look rounded: its own, or that of its level (totals or parts)."""
    own = {label: [sample[label] for sample in samples if label in sample] for label in labels}
    level = {label: bool(tree and label in tree) for label in labels}
    common = {high: rounding(n for label in labels if level[label] == high for n in own[label]) for high in (False, True)}
    return {label: max(rounding(numbers), common[level[label]], least) for label, numbers in own.items()}


def find_tree(name: str, labels: Sequence[str], samples: Samples, hints: Hints, total: str = "") -> Sums:
    """What adds up to what among labels, by names and numbers, else asked; a total of the hints, or `total`, is one."""
    bases, no_totals = bases_of(labels, samples, least=hints.base), hints.no_totals
    told = hints.totals.get(name, "")
    told = told if told in labels else ""  # another table can have it
    named = [label for label in labels if label not in no_totals and (label in (told, total) or is_total_name(label))]
    if len(named) > MOST_NAMED:  # names of schools, firms or causes that begin as totals do: only plain words are tried
        named = [label for label in named if label in (told, total) or is_total_word(label)][:MOST_NAMED]
    places = sum(map(_is_country, labels)) > 2  # a table of countries: none of them is a total but by the numbers
    plain = [label for label in named if is_total_word(label) and not _is_country(label)]
    sure = {told, total, *(label for label in plain if not pattern("other meaning").fullmatch(_bare(label)))}
    words = [label for label in named if label in sure]
    tree: dict[str, tuple[str, ...]] = {}
    questions, why, off = list[Question](), list[str](), 0
    for parent, children in by_interval(labels):
        result = agreement(parent, children, samples, bases)
        if parent not in (told, *no_totals) and result.never_against:
            tree[parent], off = children, max(off, result.off(len(children)))
            why.append(f"{parent} (its interval is that of {len(children)} others)")
    if len(set(inner := [child for own in tree.values() for child in own])) < len(inner):  # some label in two of them
        text = f"{name}: {', '.join(map(repr, tree))} add up intervals that overlap"
        questions.append(Question(text, f"--hierarchy '{name}=FILE.hrc'"))
        tree, why, off = {}, [], 0
    smallest = sorted(named, key=lambda label: (label == told, label in words, _size(label, samples)))
    for parent in smallest:  # parts come first
        children, result = _parts_of(parent, labels, named, samples, bases, tree, parent in (told, total))
        pairs = () if children or len(named) > 1 else _pairs_of(parent, labels, samples, bases)
        if pairs:
            displayed = ", ".join(" + ".join(pair) for pair in pairs)
            sums = tuple((parent, pair) for pair in pairs)
            return sums, f"{parent}, broken down {len(pairs)} times: {displayed}", questions, 0
        taken = {child for own in tree.values() for child in own}
        rest = tuple(label for label in labels if label != parent and label not in taken)
        if parent == told and not children:
            children = rest
        open_ = any(one in rest and one not in tree for one in named)
        if not children and [parent] == words and rest and samples and not open_:  # no number speaks against its name
            result = agreement(parent, rest, samples, bases)
            children = rest if result.never_against else ()
        if children:
            tree[parent], off = children, max(off, result.off(len(children)))
            why.append(f"{parent} ({'as given; ' if parent == told else ''}{result})")
            continue
        unclear = not result.full or result.right >= result.full * UNDECIDED or parent in words
        if len(labels) > 2 and unclear and not (places and _is_country(parent)):
            text = f"{name}: {parent!r} is called a total, but its parts are not clear ({result})"
            answers = f"--total '{name}={parent}', --no-total '{parent}' or --hierarchy '{name}=FILE.hrc'"
            questions.append(Question(text, answers))
    if not tree and 2 < len(labels) <= MOST_NESTED:
        for parent, children in _by_numbers([label for label in labels if label not in no_totals], samples, bases):
            parts = f"{len(children)} others" if len(children) > 3 else ", ".join(map(repr, children))
            text = f"{name}: {parent!r} is the sum of {parts} in every row"
            questions.append(Question(text, f"--total '{name}={parent}' or --no-total '{parent}'"))
            break
    return tuple(tree.items()), "; ".join(why), questions, off


def _size(label: str, samples: Samples) -> Number:
    return max((sample.get(label) or 0 for sample in samples), default=0)


def _parts_of(
    parent: str, labels: Sequence[str], named: Sequence[str], samples: Samples, bases: Bases,
    tree: Mapping[str, tuple[str, ...]], sure: bool,
) -> tuple[tuple[str, ...], Agreement]:  # fmt: skip
    """The labels that a total adds up: all that are no part yet, or a run beside it; the first that numbers confirm."""
    taken = {child for children in tree.values() for child in children}
    at, size, surely = labels.index(parent), _size(parent, samples), sure or is_total_word(parent)
    later = [label for label in named if label not in tree and label != parent and _size(label, samples) >= size]
    free = [label for label in labels if label != parent and label not in taken and label not in later]
    below, above = ([label for label in takewhile(lambda label: label not in later, beside) if label not in taken]
                    for beside in (labels[at + 1 :], labels[:at][::-1]))  # fmt: skip
    above = above[::-1]
    best, likely = Agreement(), tuple[str, ...]()
    windows = _windows(parent, free, samples, bases)
    tried = max(1, len(free) ** 2 // 2)
    for children in dict.fromkeys(tuple(own) for own in (free, below, above, *windows) if len(own) > 1):
        result = agreement(parent, children, samples, bases)
        whole = list(children) == free
        beside = children[0] in below[:1] or children[-1] in above[-1:]
        among = 1 if whole else 2 * len(free) if beside else tried  # how many sums could have been right as well
        clear = surely and (len(named) == 1 or result.chance < 2 * BY_CHANCE)  # the one by its name, or hardly by chance
        if result.holds and (result.chance * among < BY_CHANCE or (whole and clear)):
            return children, result
        unlikely = result.right and result.chance < NEXT_TO  # by chance; the total of a run may have other parts as well
        if (beside or whole) and result.likely and (unlikely or (whole and result.right > 1)):
            return children, result
        if result.likely and not likely and whole and (clear or min(result.tight, result.partly * 0.9) >= MANY_PARTLY * 0.9):
            best, likely = result, children
        elif not likely and (result.right, -result.full) > (best.right, -best.full):
            best = result
    return likely, best


def _windows(parent: str, free: Sequence[str], samples: Samples, bases: Bases) -> list[tuple[str, ...]]:
    """Runs of neighbouring labels that add up to a total in the first slices that can be compared, shortest first."""
    if len(free) > LONGEST_RUN:
        return []
    half = {label: Decimal(base) / 2 if base > 1 else Decimal(0) for label, base in bases.items()}
    right, wrong = set[tuple[int, int]](), set[tuple[int, int]]()  # runs, by their length less one and their start
    for sample in [sample for sample in samples if sample.get(parent)][:6]:
        total = Decimal(sample[parent] or 0)
        for start in range(len(free)):
            summed, space = Decimal(0), half.get(parent, Decimal(0))
            for size, label in enumerate(free[start:]):
                if (value := sample.get(label)) is None or summed > total + space:
                    break
                summed, space = summed + value, space + half.get(label, Decimal(0))
                agrees = abs(summed - total) <= space + (0 if summed == int(summed) else Decimal("0.05"))
                (right if agrees else wrong).add((size, start))
    good = sorted(run for run in right - wrong if run[0])
    return [tuple(free[start : start + size + 1]) for size, start in good[:MOST_WINDOWS]]


def _pairs_of(parent: str, labels: Sequence[str], samples: Samples, bases: Bases) -> tuple[tuple[str, str], ...]:
    """Pairs of labels, none in two of them, that each add up to a total: breakdowns stacked without a name of their own."""
    others = [label for label in labels if label != parent]
    if not 3 < len(others) <= MOST_PAIRED:
        return ()
    few = samples[:: max(1, len(samples) // 20)]
    result = [pair for pair in combinations(others, 2) if (quick := agreement(parent, pair, few, bases)).right >= quick.full
             and (own := agreement(parent, pair, samples, bases)).holds and own.full >= LEAST_PAIRED]  # fmt: skip
    once = Counter(label for pair in result for label in pair)
    return tuple(pair for pair in result if all(once[label] == 1 for label in pair))


def _by_numbers(labels: Sequence[str], samples: Samples, bases: Bases) -> Iterable[tuple[str, tuple[str, ...]]]:
    """Labels that numbers alone show to be sums: of all others, or of the run right before or after."""
    for parent in sorted(labels, key=lambda label: -_size(label, samples))[:3]:
        at = labels.index(parent)
        for children in (tuple(label for label in labels if label != parent), tuple(labels[at + 1 :]), tuple(labels[:at])):
            if len(children) > 1:
                result = agreement(parent, children, samples, bases)
                if result.holds and (result.full >= 3 or result.chance < BY_CHANCE):
                    yield parent, children
                    break
