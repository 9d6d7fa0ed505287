"""What a table counts by, and what adds up to what: one typed axis for columns that determine each other, with its tree."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import reduce
from itertools import combinations
from math import gcd

from genverify.core.errors import ConfigError, nearest
from genverify.reading.roles import CODE, LABEL, MEASURE, PERIOD_OF, Column, Number

ADDITIVE, TIME, MEASURES, STACKED, PARTS = "additive", "time", "measure", "stacked", "parts"
KINDS = (ADDITIVE, TIME, MEASURES, STACKED, PARTS)
Tree = tuple[tuple[str, tuple[str, ...]], ...]
Sample = Mapping[str, Number | None]  # label to number; None where a symbol stands

TOTAL_WORDS = {
    "total", "totals", "grand total", "sum", "all", "overall", "_t", "t", "together", "both sexes", "both", "everyone", "persons",
    "all persons", "all people", "insgesamt", "totaal", "totalt", "ensemble", "gesamt", "national", "total general", "ambos sexos",
    "todas las edades", "todos", "tous", "alle", "i alt", "totale",
}  # fmt: skip
TOTAL_START = re.compile(
    r"(grand |sub)?totals?\b|all\b(?!erg)|any\b|both\b|todas?\b|todos\b|insgesamt\b|totalt?\b|ensemble\b", re.I
)
TOTAL_END = re.compile(r"\b(sub)?totals?\)?$|, (all|total)$", re.I)
# names of whole countries: what a table of regions adds up to
COUNTRIES = {
    "england", "scotland", "wales", "northern ireland", "uk", "united kingdom", "great britain", "england and wales", "ireland",
    "united states", "usa", "us", "u.s.", "canada", "australia", "new zealand", "germany", "deutschland", "france", "spain",
    "espa\u00f1a", "italy", "italia", "sweden", "sverige", "norway", "norge", "denmark", "danmark", "finland", "suomi",
    "switzerland", "schweiz", "suisse", "austria", "\u00f6sterreich", "netherlands", "nederland", "belgium", "portugal", "poland",
    "polska", "japan", "india", "brazil", "brasil", "mexico", "m\u00e9xico", "south africa", "eu", "eu27", "eu28", "world",
}  # fmt: skip
MOST_SAMPLES = 600  # slices of a table in which sums are compared: enough to decide, and few enough to be quick
MOST_NESTED = 120  # labels among which sums are searched by numbers alone
AGREE = Decimal("0.9")  # of the sums that can be compared: a real release has slips, which are named and left out later
LEAST_SEEN = 2
LEAST_PARTLY = 3
LEAST_CLOSE, SURELY = 20, Decimal("0.99")  # sums that are all but right: many must be seen, and nearly all be close
SHARP = 1000  # a total so many times its room for rounding is not met by chance
ROUNDINGS = (2, 3, 5, 10, 20, 25, 50, 100, 500, 1000)
MOST_PAIRED = 30  # labels of which every pair is tried
LEAST_PAIRED = 10  # sums of a pair that must be seen: two labels agree by chance more easily
UNDECIDED = Decimal("0.3")  # fewer sums that agree mean that a label is no total, whatever its name
LONGEST_RUN = 500  # labels of which every run is tried as the parts of a total
MOST_WINDOWS = 8  # runs that are compared in all slices
AGREEING = "no total is printed; the sums"
NEARLY = 1.05  # a code and a name that differ in a few rows (a new code for an old name) are one axis still


@dataclass(frozen=True)
class Axis:
    """What is counted by: the columns it stands in, its labels in order, its type, and which label adds up which others."""

    name: str
    kind: str
    labels: tuple[str, ...]
    columns: tuple[int, ...] = ()
    tree: Tree = ()
    why: str = ""

    def check(self) -> str:
        """What is wrong with the tree: empty where every part stands once, below a label of the axis, and no circle is closed."""
        known, parents = set(self.labels), dict(self.tree)
        below = Counter(child for _, children in self.tree for child in set(children))
        for parent, children in self.tree:
            for label in (parent, *children):
                if label not in known:
                    return f"{label!r} is no label of {self.name}"
            if len(set(children)) < len(children) or parent in children:
                return f"{parent!r} adds up a label twice, or itself"
        if self.kind != STACKED and any(often > 1 for often in below.values()):
            twice = next(label for label, often in below.items() if often > 1)
            return f"{twice!r} is part of two totals of {self.name}"
        for start in parents:
            seen, label = {start}, list(parents[start])
            while label:
                one = label.pop()
                if one == start:
                    return f"{start!r} is part of itself"
                if one not in seen:
                    seen.add(one)
                    label += parents.get(one, ())
        return ""


@dataclass(frozen=True)
class Question:
    """What the file does not decide, and the option that answers it."""

    text: str
    option: str


@dataclass(frozen=True)
class Agreement:
    """How often a label is the sum of others: where all are printed, and where only some are."""

    full: int = 0
    right: int = 0
    partly: int = 0
    possible: int = 0
    close: int = 0  # sums that are not right, but no further off than rounding of each part to a whole number can be
    tight: int = 0  # sums with symbols of which the printed parts make up half of the total at least
    sharp: bool = False  # whether a sum that is right would hardly be so by chance

    @property
    def holds(self) -> bool:
        enough = self.full >= LEAST_SEEN or (self.full and self.sharp)
        nearly = self.full >= LEAST_CLOSE and self.right + self.close >= SURELY * self.full and self.right * 2 > self.full
        return bool(enough) and (self.right >= AGREE * self.full or nearly) and self.possible >= AGREE * self.partly

    @property
    def likely(self) -> bool:
        """Whether no number speaks against it and some could: where symbols stand in every sum."""
        return (
            self.holds
            or ((self.full == self.right) and self.partly >= LEAST_PARTLY and self.possible == self.partly <= 2 * self.tight)
            or (self.full == 1 == self.right and self.possible == self.partly)
        )

    def __str__(self) -> str:
        partly = f", {self.possible} of {self.partly} possible where symbols stand" if self.partly else ""
        close = f", {self.close} more but for rounding to whole numbers" if self.close else ""
        return f"{self.right} of {self.full} sums agree{close}{partly}"


def is_total_name(label: str) -> bool:
    """
    Whether a name can be that of a total; numbers decide whether it is.

    >>> [is_total_name(text) for text in ("Total", "All ages", "Both sexes", "Scotland total", "Allergies", "UK", "North")]
    [True, True, True, True, False, True, False]
    """
    text = " ".join(re.sub(r"[\s\u00a0_]+", " ", label.lower()).strip(" :.*-").split())
    bare = re.sub(r"\s*[(\[].*?[)\]]|\s+\d+/$", "", text).strip()
    return bool(
        text in TOTAL_WORDS or bare in TOTAL_WORDS or bare in COUNTRIES or TOTAL_START.match(text) or TOTAL_END.search(bare)
    )


def rounding(numbers: Iterable[Number | None]) -> int:
    """
    The base to which counts look rounded: 1 where they are not, or are too few to tell.

    >>> rounding([5, 10, 25, 40, 115, 5, 0, 20]), rounding([5, 10, 7])
    (5, 1)
    """
    whole = [number for number in numbers if isinstance(number, int) and number]
    if len(whole) < 5:
        return 1
    base = reduce(gcd, whole)
    return max((step for step in ROUNDINGS if base % step == 0), default=1)


def agreement(parent: str, children: Sequence[str], samples: Sequence[Sample], bases: Mapping[str, int]) -> Agreement:
    """How well a label is the sum of others in the slices of a table."""
    full = right = partly = possible = close = tight = 0
    sharp = False
    slack = Decimal(sum(bases.get(label, 1) for label in (parent, *children) if bases.get(label, 1) > 1)) / 2
    for sample in samples:
        total = sample.get(parent)
        if total is None:
            continue
        numbers = [sample.get(child) for child in children]
        known = [number for number in numbers if number is not None]
        if not known or not (total or any(known)):
            continue
        room = slack + _last_digits([total, *known])
        found = sum(known)
        if len(known) == len(numbers):
            full += 1
            if abs(found - total) <= room:
                right += 1
                sharp = sharp or total >= SHARP * (2 * room + 1)
            else:
                close += abs(found - total) <= room + Decimal(len(children) + 1) / 2
        else:
            partly += 1
            possible += found <= total + room
            tight += 2 * found >= total
    return Agreement(full, right, partly, possible, close, tight, sharp)


def _last_digits(numbers: Sequence[Number]) -> Decimal:
    """How much a sum of printed decimals can differ from the printed total."""
    if all(isinstance(number, int) for number in numbers):
        return Decimal(0)
    exponents = [number.as_tuple().exponent for number in numbers if isinstance(number, Decimal)]
    digits = max(-e for e in exponents if isinstance(e, int))
    return Decimal(10) ** -min(max(digits, 0), 6) * len(numbers) / 2


def bases_of(
    labels: Sequence[str], samples: Sequence[Sample], tree: Mapping[str, Sequence[str]] | None = None
) -> dict[str, int]:
    """The base to which the counts of each label look rounded: its own, or that of the labels of its level (totals or parts)."""
    own = {label: [sample[label] for sample in samples if label in sample] for label in labels}
    level = {label: bool(tree and label in tree) for label in labels}
    common = {high: rounding(n for label in labels if level[label] == high for n in own[label]) for high in (False, True)}
    return {label: max(rounding(numbers), common[level[label]]) for label, numbers in own.items()}


def find_tree(
    name: str, labels: Sequence[str], samples: Sequence[Sample], told: str = ""
) -> tuple[Tree, str, list[Question]]:
    """What adds up to what among the labels of an axis: by names and by numbers that agree; else it is asked."""
    bases = bases_of(labels, samples)
    if told and told not in labels:
        raise ConfigError(f"--total {name}={told}: no label of {name}: {nearest(told, list(labels)[:20])}")
    named = [label for label in labels if label == told or is_total_name(label)]
    tree: dict[str, tuple[str, ...]] = {}
    questions, why = list[Question](), list[str]()
    for parent in sorted(named, key=lambda label: (label == told, _size(label, samples))):  # the parts of a total come first
        children, found = _parts_of(parent, labels, named, samples, bases, tree)
        pairs = () if children or len(named) > 1 else _pairs_of(parent, labels, samples, bases)
        if pairs:
            shown = ", ".join(" + ".join(pair) for pair in pairs)
            return tuple((parent, pair) for pair in pairs), f"{parent}, broken down {len(pairs)} times: {shown}", questions
        if parent == told and not children:
            taken = {child for own in tree.values() for child in own}
            children = tuple(label for label in labels if label != parent and label not in taken)
        if children:
            tree[parent] = children
            why.append(f"{parent} ({'told; ' if parent == told else ''}{found})")
        elif len(labels) > 2 and (not found.full or found.right >= found.full * UNDECIDED):
            text = f"{name}: {parent!r} is called a total, but its parts are not clear ({found})"
            questions.append(Question(text, f"--total '{name}={parent}'"))
    if not tree and 2 < len(labels) <= MOST_NESTED:
        for parent, children in _by_numbers(labels, samples, bases):
            parts = f"{len(children)} others" if len(children) > 3 else ", ".join(map(repr, children))
            questions.append(
                Question(f"{name}: {parent!r} is the sum of {parts} in every row", f"--total '{name}={parent}'")
            )
            break
    return _ordered(tree), "; ".join(why), questions


def _size(label: str, samples: Sequence[Sample]) -> Number:
    return max((sample.get(label) or 0 for sample in samples), default=0)


def _parts_of(
    parent: str, labels: Sequence[str], named: Sequence[str], samples: Sequence[Sample], bases: Mapping[str, int],
    tree: Mapping[str, tuple[str, ...]],
) -> tuple[tuple[str, ...], Agreement]:  # fmt: skip
    """The labels that a total adds up: all that are no part yet, or a run beside it; the first that numbers confirm."""
    taken = {child for children in tree.values() for child in children}
    at, size = labels.index(parent), _size(parent, samples)
    later = [label for label in named if label not in tree and label != parent and _size(label, samples) >= size]
    free = [label for label in labels if label != parent and label not in taken and label not in later]
    below = [label for label in _run(labels[at + 1 :], later) if label not in taken]
    above = [label for label in _run(labels[:at][::-1], later) if label not in taken][::-1]
    best, likely = Agreement(), tuple[str, ...]()
    for children in dict.fromkeys(
        tuple(own) for own in (free, below, above, *_windows(parent, free, samples, bases)) if len(own) > 1
    ):
        found = agreement(parent, children, samples, bases)
        beside = children[0] in below[:1] or children[-1] in above[-1:]
        if found.holds and (
            list(children) == free or found.full > LEAST_SEEN or (found.sharp and (beside or found.full > 1))
        ):
            return children, found
        if found.likely and not likely and list(children) == free:
            best, likely = found, children
        elif not likely and (found.right, -found.full) > (best.right, -best.full):
            best = found
    return likely, best


def _windows(parent: str, free: Sequence[str], samples: Sequence[Sample], bases: Mapping[str, int]) -> list[tuple[str, ...]]:
    """Runs of neighbouring labels that add up to a total in the first slices that can be compared, shortest first."""
    if len(free) > LONGEST_RUN:
        return []
    few = [sample for sample in samples if sample.get(parent)][:6]
    found = Counter[tuple[int, int]]()
    seen = Counter[tuple[int, int]]()
    for sample in few:
        total = sample[parent] or 0
        for start in range(len(free)):
            room = Decimal(bases.get(parent, 1) if bases.get(parent, 1) > 1 else 0) / 2
            summed: Number = 0
            for end in range(start, len(free)):
                value = sample.get(free[end])
                if value is None:
                    break
                summed += value
                base = bases.get(free[end], 1)
                room += Decimal(base) / 2 if base > 1 else 0
                if end > start:
                    seen[start, end] += 1
                    found[start, end] += abs(summed - total) <= room + (0 if isinstance(summed, int) else Decimal("0.05"))
                if summed > total + room and not isinstance(summed, Decimal):
                    break
    good = [window for window, often in found.items() if often == seen[window]]
    return [
        tuple(free[start : end + 1]) for start, end in sorted(good, key=lambda own: (own[1] - own[0], own))[:MOST_WINDOWS]
    ]


def _pairs_of(
    parent: str, labels: Sequence[str], samples: Sequence[Sample], bases: Mapping[str, int]
) -> tuple[tuple[str, str], ...]:
    """Pairs of labels, none in two of them, that each add up to a total: breakdowns stacked without a name of their own."""
    others = [label for label in labels if label != parent]
    if not 3 < len(others) <= MOST_PAIRED:
        return ()
    few = samples[:: max(1, len(samples) // 20)]
    found = [pair for pair in combinations(others, 2) if (quick := agreement(parent, pair, few, bases)).right >= quick.full
             and (own := agreement(parent, pair, samples, bases)).holds and own.full >= LEAST_PAIRED]  # fmt: skip
    once = Counter(label for pair in found for label in pair)
    return tuple(pair for pair in found if all(once[label] == 1 for label in pair))


def _run(labels: Sequence[str], stop: Sequence[str]) -> list[str]:
    """The labels up to the next total."""
    run = list[str]()
    for label in labels:
        if label in stop:
            break
        run.append(label)
    return run


def _by_numbers(
    labels: Sequence[str], samples: Sequence[Sample], bases: Mapping[str, int]
) -> Iterable[tuple[str, tuple[str, ...]]]:
    """Labels that numbers alone show to be sums: of all others, or of the run right before or after."""
    order = sorted(labels, key=lambda label: -_size(label, samples))[:3]
    for parent in order:
        at = labels.index(parent)
        for children in (tuple(label for label in labels if label != parent), tuple(labels[at + 1 :]), tuple(labels[:at])):
            if len(children) > 1:
                found = agreement(parent, children, samples, bases)
                if found.holds and found.full >= 3:
                    yield parent, children
                    break


def _ordered(tree: Mapping[str, tuple[str, ...]]) -> Tree:
    return tuple(tree.items())


@dataclass(frozen=True)
class RowAxes:
    """The axes of the rows of a table: one label of each axis for every row, and what is the same in every row."""

    axes: tuple[Axis, ...]
    labels: tuple[tuple[str, ...], ...]  # one tuple for each axis, a label for each row
    population: Mapping[str, str]
    questions: tuple[Question, ...] = ()


def group_columns(columns: Sequence[Column], texts: Mapping[int, Sequence[str]]) -> tuple[list[list[int]], dict[int, int]]:
    """
    Label columns that determine each other, as one group each; and for a group that another determines, that other.

    A code and its name are one axis; a region is determined by its places, and is a level above them.
    """
    order = [column.at for column in columns]
    roles = {column.at: column.role for column in columns}
    distinct = {at: len(set(texts[at])) for at in order}
    group = {at: at for at in order}
    for i, a in enumerate(order):
        for b in order[i + 1 :]:
            if group[a] == group[b] or MEASURE in (roles[a], roles[b]) or (roles[a] == PERIOD_OF) != (roles[b] == PERIOD_OF):
                continue
            if not distinct[a] / 1.5 <= distinct[b] <= distinct[a] * 1.5:
                continue
            pairs = len(set(zip(texts[a], texts[b], strict=True)))
            near = NEARLY if CODE in (roles[a], roles[b]) else 1.0
            if pairs <= max(distinct[a], distinct[b]) * near and (near > 1 or distinct[a] == distinct[b]):
                old, new = group[b], group[a]
                group = {at: new if own == old else own for at, own in group.items()}
    groups = [[at for at in order if group[at] == head] for head in dict.fromkeys(group.values())]
    above = dict[int, int]()
    chains = {
        g: [g] for g in range(len(groups))
    }  # the groups that a finest one determines, each determined by all finer ones
    plain = [g for g, group in enumerate(groups) if not {PERIOD_OF, MEASURE} & {roles[at] for at in group}]
    for g in sorted(plain, key=lambda g: -distinct[groups[g][0]]):
        for top in sorted(plain, key=lambda h: distinct[groups[h][0]]):
            finer = [groups[h][0] for h in chains[top]]
            if (
                top not in above
                and distinct[groups[top][0]] > distinct[groups[g][0]]
                and all(_determines(texts[at], texts[groups[g][0]]) for at in finer)
            ):
                above[g] = top
                chains[top].append(g)
                break
    return groups, above


def _determines(fine: Sequence[str], coarse: Sequence[str]) -> bool:
    known = dict[str, str]()
    for a, b in zip(fine, coarse, strict=True):
        if a and known.setdefault(a, b) != b:
            return False
    return len(known) > 1


LEVEL_HEADS = re.compile(r"level|geography type|area type", re.I)


def row_axes(
    columns: Sequence[Column], texts: Mapping[int, Sequence[str]], measured: Mapping[str, Sequence[Number | None]],
    told: Mapping[str, str], indents: Mapping[int, Sequence[int]],
) -> RowAxes:  # fmt: skip
    """The axes of a table's label columns; `measured` are the numbers of its counts, by column, None for a symbol."""
    size = len(next(iter(texts.values()), ()))
    varying = [column for column in columns if len(set(texts[column.at])) > 1]
    levels = [column for column in varying if _is_level(column, varying, texts)]
    varying = [column for column in varying if column not in levels]
    constant = [column for column in columns if column not in varying and column not in levels]
    population = {column.head or column.name: texts[column.at][0] for column in constant if size}
    groups, above = group_columns(varying, texts)
    by_at = {column.at: column for column in columns}
    axes, labels = list[Axis](), list[tuple[str, ...]]()
    trees = list[dict[str, list[str]]]()
    for g, group in enumerate(groups):
        if g in above:
            continue
        upper = _levels(g, groups, above, texts, by_at)
        main = by_at[_main(group, by_at, texts)]
        known = _named_levels([main.at, *upper], texts, by_at)
        apart = {**texts, **known, main.at: _told_apart(known[main.at], [texts[at] for at in group if at != main.at])}
        own, tree = _path_labels([main.at, *upper], apart, _root([main.at, *upper], columns, texts))
        if main.at in indents and not tree:
            own, tree = indented(texts[main.at], indents[main.at])
        kind = TIME if main.role == PERIOD_OF else MEASURES if main.role == MEASURE else PARTS
        members = tuple(sorted([*group, *(at for h in above if _top(h, above) == g for at in groups[h])]))
        named = [] if tree or kind != PARTS else _breakdowns(g, groups, above, texts, by_at, own)
        axes.append(Axis(main.head or main.name, STACKED if named else kind, tuple(dict.fromkeys(own)), members))
        labels.append(tuple(own))
        trees.append(named[0] if named else tree)
    axes, labels, trees = _stack(axes, labels, trees, by_at)
    stacked = {axis.name for axis in axes if " and " in axis.name}
    axes = _named_apart(axes)
    questions = list[Question]()
    for at, axis in enumerate(axes):
        if axis.kind in (TIME, MEASURES) and axis.name not in told:
            continue
        samples = slices(at, labels, measured)
        axes[at], asked = _typed(axis, trees[at], samples, told.get(axis.name, ""))
        if (
            axis.kind == STACKED and not axes[at].tree and axis.name not in stacked and AGREEING not in axes[at].why
        ):  # the groups add up to nothing: no breakdowns
            axes[at], asked = _typed(replace(axis, kind=PARTS), {}, samples, told.get(axis.name, ""))
        questions += asked
    return RowAxes(tuple(axes), tuple(labels), population, tuple(questions))


def _is_level(column: Column, columns: Sequence[Column], texts: Mapping[int, Sequence[str]]) -> bool:
    """Whether a column only names the level of a row (national, regional, ...), which other columns show by being blank."""
    others = [texts[own.at] for own in columns if own.at != column.at and "" in texts[own.at]]
    if not LEVEL_HEADS.search(column.head) or not others:
        return False
    known = dict[tuple[bool, ...], str]()
    for own, level in zip(zip(*others, strict=True), texts[column.at], strict=True):
        if known.setdefault(tuple(map(bool, own)), level) != level:
            return False
    return True


def _top(group: int, above: Mapping[int, int]) -> int:
    while group in above:
        group = above[group]
    return group


def _main(group: Sequence[int], by_at: Mapping[int, Column], texts: Mapping[int, Sequence[str]]) -> int:
    """The column that names an axis: a label rather than a code, one with most different texts."""
    return max(group, key=lambda at: (by_at[at].role != CODE, len(set(texts[at])), -at))


def _levels(g: int, groups: Sequence[Sequence[int]], above: Mapping[int, int], texts: Mapping[int, Sequence[str]],
            by_at: Mapping[int, Column]) -> list[int]:  # fmt: skip
    """The columns above a group whose own rows are printed where the finer column is blank, finest first."""
    found = list[int]()
    fine = texts[_main(groups[g], by_at, texts)]
    uppers = sorted((h for h in above if _top(h, above) == g), key=lambda h: -len(set(texts[groups[h][0]])))
    for h in uppers:
        own = _main(groups[h], by_at, texts)
        if LEVEL_HEADS.search(by_at[own].head) or (all(texts[own]) and "" in fine):
            continue
        if any(text and not below for text, below in zip(texts[own], fine, strict=True)):
            found.append(own)
    return found


def _breakdowns(g: int, groups: Sequence[Sequence[int]], above: Mapping[int, int], texts: Mapping[int, Sequence[str]],
                by_at: Mapping[int, Column], own: Sequence[str]) -> list[dict[str, list[str]]]:  # fmt: skip
    """Labels by the name of their breakdown, where a column beside names it (region: ..., board: ...) and few labels have none."""
    for h in above:
        if above[h] != g:
            continue
        names = texts[_main(groups[h], by_at, texts)]
        tree = dict[str, list[str]]()
        for name, label in dict.fromkeys(zip(names, own, strict=True)):
            if name:
                tree.setdefault(name, []).append(label)
        blank = {label for name, label in zip(names, own, strict=True) if not name}
        if len(tree) > 1 and len(blank) <= 1 and min(map(len, tree.values())) > 1:
            return [{"": list(blank), **tree} if blank else tree]
    return []


def _named_levels(
    path: Sequence[int], texts: Mapping[int, Sequence[str]], by_at: Mapping[int, Column]
) -> dict[int, list[str]]:
    """The labels of each level; one that stands in two levels (a town that is a county too) is named with its level."""
    sets = {at: set(texts[at]) - {""} for at in path}
    often = Counter(label for own in sets.values() for label in own)
    return {
        at: [f"{label} ({by_at[at].head})" if often[label] > 1 and at != path[-1] else label for label in texts[at]]
        for at in path
    }


def _root(path: Sequence[int], columns: Sequence[Column], texts: Mapping[int, Sequence[str]]) -> str:
    """A name for rows in which all levels are blank: what a label at their left says in these rows (a country), else Total."""
    rows = [row for row, own in enumerate(zip(*(texts[at] for at in path), strict=True)) if not any(own)]
    left = [
        c
        for c in columns
        if c.role == LABEL and c.at < min(path) and not LEVEL_HEADS.search(c.head) and "time" not in c.head
    ]
    for column in sorted(left, key=lambda c: -c.at):
        names = {texts[column.at][row] for row in rows}
        if len(names) == 1 and names != {""}:
            return names.pop()
    return "Total"


def _path_labels(
    path: Sequence[int], texts: Mapping[int, Sequence[str]], root: str
) -> tuple[list[str], dict[str, list[str]]]:
    """The label of each row on an axis of several columns, finest first, and the levels above as a tree."""
    own, parent = list[str](), dict[str, str]()
    for row in zip(*(texts[at] for at in path), strict=True):
        filled = [text for text in row if text]
        label = filled[0] if filled else root
        own.append(label)
        if len(path) > 1 or "" in row:
            over = filled[1] if len(filled) > 1 else root
            if over != label:
                parent.setdefault(label, over)
    known = set(own)
    tree = dict[str, list[str]]()
    for label, over in parent.items():
        if over in known:
            tree.setdefault(over, []).append(label)
    return own, tree


def indented(texts: Sequence[str], indents: Sequence[int]) -> tuple[list[str], dict[str, list[str]]]:
    """
    Labels of rows of which some stand further right, as parts of the row above; one that is met twice is named with its parent.

    >>> indented(["North", "men", "women", "South", "men"], [0, 1, 1, 0, 1])[1]
    {'North': ['North: men', 'women'], 'South': ['South: men']}
    """
    often, path = Counter(texts), list[tuple[int, str]]()
    own, tree = list[str](), dict[str, list[str]]()
    for text, deep in zip(texts, indents, strict=True):
        while path and path[-1][0] >= deep:
            path.pop()
        label = f"{path[-1][1]}: {text}" if path and often[text] > 1 else text
        if path:
            tree.setdefault(path[-1][1], []).append(label)
        path.append((deep, label))
        own.append(label)
    return own, tree


def _told_apart(own: Sequence[str], codes: Sequence[Sequence[str]]) -> Sequence[str]:
    """Labels with their codes where one name has several codes."""
    for code in codes:
        known = dict[str, set[str]]()
        for label, one in zip(own, code, strict=True):
            known.setdefault(label, set()).add(one)
        if any(len(several) > 1 for several in known.values()) and len(set(zip(own, code, strict=True))) <= NEARLY * len(
            known
        ):
            own = [
                f"{label} [{one}]" if label and len(known[label]) > 1 else label
                for label, one in zip(own, code, strict=True)
            ]
    return own


def _stack(
    axes: list[Axis], labels: list[tuple[str, ...]], trees: list[dict[str, list[str]]], by_at: Mapping[int, Column]
) -> tuple[list[Axis], list[tuple[str, ...]], list[dict[str, list[str]]]]:
    """Two axes of which one names the breakdown of the other's labels (sex: male, female; age: 0-17, ...) are one, stacked."""
    for g, names in enumerate(labels):
        for v, parts in enumerate(labels):
            if g == v or {axes[g].kind, axes[v].kind} != {PARTS} or not 2 <= len(axes[g].labels) <= 60:
                continue
            pairs = dict.fromkeys(zip(names, parts, strict=True))
            groups = Counter(name for name, _ in pairs)
            if (
                len(pairs) > 1.35 * len(axes[v].labels)
                or len(axes[v].labels) < 2 * len(axes[g].labels) - 2
                or max(groups.values()) < 2
            ):
                continue
            own = tuple(f"{name}: {part}" if name != part else name for name, part in zip(names, parts, strict=True))
            axis = Axis(f"{axes[g].name} and {axes[v].name}", STACKED, tuple(dict.fromkeys(own)),
                        axes[g].columns + axes[v].columns)  # fmt: skip
            tree = dict[str, list[str]]()
            for (name, part), label in zip(pairs, axis.labels, strict=True):
                tree.setdefault(name, []).append(label) if name != part else None
            keep = [at for at in range(len(axes)) if at not in (g, v)]
            return _stack(
                [*(axes[at] for at in keep), axis],
                [*(labels[at] for at in keep), own],
                [*(trees[at] for at in keep), tree],
                by_at,
            )
    return axes, labels, trees


def _named_apart(axes: list[Axis]) -> list[Axis]:
    seen = Counter[str]()
    found = []
    for axis in axes:
        seen[axis.name] += 1
        found.append(axis if seen[axis.name] == 1 else replace(axis, name=f"{axis.name} ({seen[axis.name]})"))
    return found


def slices(
    at: int, labels: Sequence[Sequence[str]], measured: Mapping[str, Sequence[Number | None]]
) -> list[dict[str, Number | None]]:
    """For one axis the counts of its labels where all other axes are fixed: the largest slices, spread over the table."""
    rest: dict[tuple[str, ...], list[int]] = defaultdict(list)
    others = [own for i, own in enumerate(labels) if i != at]
    for row, key in enumerate(zip(*others, strict=True) if others else [()] * len(labels[at])):
        rest[key].append(row)
    rows = sorted((own for own in rest.values() if len(own) > 1), key=len, reverse=True)
    columns = list(measured.values())
    if not columns:
        return []
    wanted = max(1, MOST_SAMPLES // len(columns))
    step = max(1, len(rows) // wanted)
    chosen = rows[::step] if len(rows) > wanted else rows
    found = []
    for own in chosen[:wanted]:
        for column in columns:
            found.append({labels[at][row]: column[row] for row in own})
    return found


def _typed(
    axis: Axis, tree: Mapping[str, list[str]], samples: list[dict[str, Number | None]], told: str
) -> tuple[Axis, list[Question]]:
    """An axis with its tree: levels by columns where numbers agree, else totals by name and numbers."""
    if axis.kind == STACKED:
        return _stacked_tree(axis, tree, samples, told)
    if not tree:
        found, why, questions = find_tree(axis.name, axis.labels, samples, told)
        kind = STACKED if len(dict(found)) < len(found) else ADDITIVE if found else axis.kind
        return replace(axis, kind=kind, tree=found, why=why or "no label adds up the others"), questions
    bases = bases_of(axis.labels, samples, tree)
    kept, why, bad = dict[str, tuple[str, ...]](), list[str](), list[str]()
    for parent, children in tree.items():
        if len(children) < 2:  # a place that is its own part, at another level
            continue
        nested, parts = _nest(children, samples, bases)
        found = agreement(parent, parts, samples, bases)
        if found.holds or found.likely or parent == told:
            kept[parent] = tuple(parts)
            kept |= {inner: tuple(own) for inner, own in nested.items() if inner not in tree}
            why.append(f"{parent} ({found})")
        else:
            bad.append(f"{parent!r} stands above {len(children)} labels that do not add up to it ({found})")
    more = f"; and so {len(bad) - 1} more" if len(bad) > 1 else ""
    questions = [Question(f"{axis.name}: {bad[0]}{more}", f"--total '{axis.name}=LABEL'")] if bad else []
    shown = "; ".join(why[:3]) + (f"; and {len(why) - 3} more" if len(why) > 3 else "")
    return replace(axis, kind=ADDITIVE if kept else axis.kind, tree=_ordered(kept), why=shown), questions


def _nest(
    children: Sequence[str], samples: Sequence[Sample], bases: Mapping[str, int]
) -> tuple[dict[str, list[str]], list[str]]:
    """Labels among parts that others, whose names hold theirs, add up to (London: Inner London, Outer London)."""
    nested = dict[str, list[str]]()
    for parent in children:
        inner = [child for child in children if child != parent and re.search(rf"\b{re.escape(parent)}\b", child)]
        if len(inner) > 1 and agreement(parent, inner, samples, bases).holds:
            nested[parent] = inner
    inside = {child for own in nested.values() for child in own}
    return nested, [child for child in children if child not in inside]


def _stacked_tree(
    axis: Axis, tree: Mapping[str, list[str]], samples: list[dict[str, Number | None]], told: str
) -> tuple[Axis, list[Question]]:
    """Breakdowns of the same people: each adds up to the printed total, or, without one, to what the others add up to."""
    bases = bases_of(axis.labels, samples)
    inside = {label for own in tree.values() for label in own if len(own) > 1}
    tops = [label for label in axis.labels if label not in inside]
    top = told or next((label for label in tops if is_total_name(label) or is_total_name(label.split(": ")[-1])), "")
    kept, why, bad = list[tuple[str, tuple[str, ...]]](), list[str](), list[str]()
    for name, own in tree.items():
        parts = tuple(label for label in own if label != top)
        inner = [label for label in parts if is_total_name(label.split(": ", 1)[-1])]
        plain = tuple(label for label in parts if label not in inner)
        if top and len(plain) > 1:
            found = agreement(top, plain, samples, bases)
            if found.holds or found.likely:
                kept.append((top, plain))
                why.append(f"{name} ({found})")
            else:
                bad.append(f"the labels of {name} do not add up to {top!r} ({found})")
    more = f"; and so {len(bad) - 1} more breakdowns" if len(bad) > 1 else ""
    questions = [Question(f"{axis.name}: {bad[0]}{more}", "nothing, if people are in several groups")] if bad else []
    if not top:
        sums = _sums_agree(tree, samples, bases)
        why.append(f"{AGREEING} of {sums} breakdowns agree" if sums else "no total is printed")
    return replace(axis, tree=tuple(kept), why="; ".join(why)), questions


def _sums_agree(tree: Mapping[str, list[str]], samples: list[dict[str, Number | None]], bases: Mapping[str, int]) -> int:
    """How many breakdowns, all printed, have one sum in every slice."""
    best = 0
    for sample in samples:
        sums = []
        for own in tree.values():
            numbers = [sample.get(label) for label in own]
            if len(own) > 1 and all(number is not None for number in numbers):
                slack = sum(bases.get(label, 1) for label in own) / 2
                sums.append((sum(number for number in numbers if number is not None), slack))
        agree = sum(abs(total - sums[0][0]) <= slack + sums[0][1] for total, slack in sums) if sums else 0
        best = agree if not best else min(best, agree)
    return best if best > 1 else 0


def column_axis(heads: Mapping[str, Sequence[Number | None]], told: str = "") -> tuple[Axis, list[Question]]:
    """The counts beside each other: an axis if a column adds up others, else several measures of the same rows."""
    labels = tuple(heads)
    size = len(next(iter(heads.values()), ()))
    step = max(1, size // MOST_SAMPLES)
    samples: list[dict[str, Number | None]] = [
        {label: own[row] for label, own in heads.items()} for row in range(0, size, step)
    ]
    tree, why, questions = find_tree("columns", labels, samples, told)
    return Axis(
        "columns", ADDITIVE if tree else MEASURES, labels, (), tree, why or "no column adds up the others"
    ), questions
