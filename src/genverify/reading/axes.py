"""What a table counts by: one typed axis for columns that determine each other, with the tree of what adds up to what."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, permutations

from genverify.model.errors import DataError
from genverify.reading import totals
from genverify.reading.numerals import Number, is_period, pattern, says
from genverify.reading.roles import CODE, LABEL, MEASURE, PERIOD_OF, Column
from genverify.reading.source import CubeAxis, numbered
from genverify.reading.totals import Bases, Hints, Question, Samples, Tree, agreement, bases_of, find_tree, is_total_name

KINDS = ADDITIVE, TIME, MEASURES, STACKED, PARTS = "additive", "time", "measure", "stacked", "parts"
INDENTED = "indented"  # of an axis whose tree is that of the page, until numbers are compared with it
APART = "indented after a gap"  # other rows lie between a label and those further in: numbers must say that they add up
HEADING, NO_HEAD, COLUMNS = "heading", "rows", "columns"  # names of axes that no header names
Texts = Mapping[int, Sequence[str]]  # of label columns
Measured = Mapping[str, Sequence[Number | None]]  # the numbers of columns of counts, by their headers
Columns = Mapping[int, Column]
Levels = dict[str, list[str]]  # labels, each with those below it
Chain = list[list[int]]  # groups of columns, finest first: each determines all that follow
EVERYONE = ""  # the total of breakdowns that is not printed, as a parent in a tree
MOST_SAMPLES = 600  # slices of a table in which sums are compared: enough to decide, and few enough to be quick
AGREEING = "no total is printed; the sums"
NO_SUM = "no label adds up the others"
CUBE_SAMPLES = 300  # rows of a cube that are looked at, spread over all: bounds time
MOST_AXES = 20  # that a table of counts can have
GLANCE = 300  # rows that show at once that two columns do not determine each other
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
    unprinted: tuple[str, ...] = ()  # labels that only a hierarchy names
    off: int = 0  # how far a total can be from its parts: numbers that were each rounded to whole ones

    def check(self) -> str:
        """What is wrong with the tree: empty where every part stands once below a label of the axis, in no circle."""
        known = {EVERYONE, *self.labels, *self.unprinted}
        if lost := [label for parent, children in self.tree for label in (parent, *children) if label not in known]:
            return f"{lost[0]!r} is not a label of {self.name}"
        below = Counter(child for _, children in self.tree for child in set(children))
        twice = [label for label, often in below.items() if often > 1]
        if self.kind != STACKED and twice:
            return f"{twice[0]!r} is part of two totals of {self.name}"
        try:
            totals.make_hierarchy(self.tree, self.labels, self.name)
        except DataError as error:
            return str(error)
        return ""


TypedAxis = tuple[Axis, list[Question]]


# the axes of the rows of a table, one label of each for every row, what is the same in every row, and what is asked
RowAxes = tuple[list[Axis], list[tuple[str, ...]], dict[str, str], list[Question]]


LabelledAxis = tuple[Axis, tuple[str, ...], Levels]  # with the label of each row, and the labels below each level


def group_columns(columns: Sequence[Column], texts: Texts) -> list[Chain]:
    """Label columns that determine each other, as groups; and each finest group with those (regions) that it determines."""
    order = [column.at for column in columns]
    roles = {column.at: column.role for column in columns}
    distinct = {at: len(set(texts[at])) for at in order}
    group = {at: at for at in order}
    for a, b in combinations(order, 2):
        if group[a] == group[b] or MEASURE in (roles[a], roles[b]) or (roles[a] == PERIOD_OF) != (roles[b] == PERIOD_OF):
            continue
        if not distinct[a] / 1.5 <= distinct[b] <= distinct[a] * 1.5:
            continue
        few = set(zip(texts[a][:GLANCE], texts[b][:GLANCE], strict=True))
        if len(few) > 1.5 * min(len({one for one, _ in few}), len({other for _, other in few})):
            continue
        pairs = len(set(zip(texts[a], texts[b], strict=True)))
        near = NEARLY if CODE in (roles[a], roles[b]) else 1.0
        if pairs <= max(distinct[a], distinct[b]) * near and (near > 1 or distinct[a] == distinct[b]):
            old, new = group[b], group[a]
            group = {at: new if own == old else own for at, own in group.items()}
    groups = [[at for at in order if group[at] == head] for head in dict.fromkeys(group.values())]
    chains = {g: [g] for g in range(len(groups))}
    plain = [g for g, group in enumerate(groups) if not {PERIOD_OF, MEASURE} & {roles[at] for at in group}]
    size = {g: distinct[group[0]] for g, group in enumerate(groups)}
    for g in sorted(plain, key=lambda g: -size[g]):
        for top in sorted((h for h in plain if h in chains and size[h] > size[g]), key=lambda h: size[h]):
            if all(_determines(texts[groups[h][0]], texts[groups[g][0]]) for h in chains[top]):
                chains[top] += chains.pop(g)
                break
    return [[groups[g] for g in chain] for chain in chains.values()]


def _determines(fine: Sequence[str], coarse: Sequence[str]) -> bool:
    known = dict[str, str]()
    return all(not a or known.setdefault(a, b) == b for a, b in zip(fine, coarse, strict=True)) and len(known) > 1


def row_axes(
    columns: Sequence[Column], texts: Texts, measured: Measured, hints: Hints, indents: Mapping[int, Sequence[int]],
    gap: bool = False,
) -> RowAxes:  # fmt: skip
    """The axes of a table's label columns; `measured` are the numbers of its counts, by column, None for a symbol."""
    size = len(next(iter(texts.values()), ()))
    varying = [column for column in columns if len(set(texts[column.at])) > 1]
    levels = [column for column in varying if _is_level(column, varying, texts)]
    varying = [column for column in varying if column not in levels]
    constant = [column for column in columns if column not in varying and column not in levels]
    population = {column.head or column.name: texts[column.at][0] for column in constant if size}
    chains = group_columns(varying, texts)
    by_at = {column.at: column for column in columns}
    found = list[LabelledAxis]()
    for chain in chains:
        mains = [max(group, key=lambda at: (by_at[at].role != CODE, len(set(texts[at])), -at)) for group in chain]
        main, path = by_at[mains[0]], [mains[0], *_levels(mains, texts, by_at)]
        known = _named_levels(path, texts, by_at)
        apart = {**known, main.at: _told_apart(known[main.at], [texts[at] for at in chain[0] if at != main.at])}
        own, tree = _path_labels(path, apart, _root(path, columns, texts))
        deeper = main.at in indents and not tree
        if deeper:
            own, tree = indented(texts[main.at], indents[main.at])
        of_page = APART if gap else INDENTED
        kind = of_page if deeper and tree else {PERIOD_OF: TIME, MEASURE: MEASURES}.get(main.role, PARTS)
        named = {} if tree or kind != PARTS else _breakdowns(mains[1:], texts, own)
        name = main.head or (NO_HEAD if len(chains) == len(chain) == 1 else main.name)
        members = tuple(sorted(at for group in chain for at in group))
        axis = Axis(name, STACKED if named else kind, tuple(dict.fromkeys(own)), members)
        found.append((axis, tuple(own), named or tree))
    if len(found) == 1 and HEADING in population:  # a heading above all rows names what they are
        found = [(replace(found[0][0], name=population[HEADING].strip(" :")), *found[0][1:])]
    found = _stack(found) if len(found) <= MOST_AXES else found
    names = numbered([axis.name for axis, _, _ in found])
    axes = [replace(axis, name=name) for (axis, _, _), name in zip(found, names, strict=True)]
    labels, questions = [own for _, own, _ in found], list[Question]()
    if len(axes) > MOST_AXES:  # a list of records rather than a table: nothing is added up in it
        return axes, labels, population, []
    for at, axis in enumerate(axes):
        if axis.kind in (TIME, MEASURES) and axis.name not in hints.totals:
            continue
        samples = slices(at, labels, measured)
        axes[at], asked = _typed(axis, found[at][2], samples, hints)
        joined = " and " in axis.name or AGREEING in axes[at].why
        if axis.kind == STACKED and not axes[at].tree and not joined:  # the groups add up to nothing: no breakdowns
            unsure = asked if any(pattern("breakdown").fullmatch(by_at[c].head) for c in axis.columns) else []
            axes[at], asked = _typed(replace(axis, kind=PARTS), {}, samples, hints)
            asked = [*unsure, *asked]
        questions += asked
    return axes, labels, population, questions


def _is_level(column: Column, columns: Sequence[Column], texts: Texts) -> bool:
    """Whether a column only names the level of a row (national, regional, ...), which other columns show by being blank."""
    if not says("level", column.head):
        return False
    others = [texts[own.at] for own in columns if own.at != column.at and "" in texts[own.at]]
    pairs = {(tuple(map(bool, own)), level) for *own, level in zip(*others, texts[column.at], strict=True)}
    return bool(others) and len(pairs) == len({filled for filled, _ in pairs})


def _levels(mains: Sequence[int], texts: Texts, by_at: Columns) -> list[int]:
    """The columns above the finest one whose own rows are printed where that is blank, finest first."""
    fine = texts[mains[0]]
    above = [at for at in mains[1:] if not says("level", by_at[at].head) and ("" in texts[at] or "" not in fine)]
    return [at for at in above if any(text and not below for text, below in zip(texts[at], fine, strict=True))]


def _breakdowns(uppers: Sequence[int], texts: Texts, own: Sequence[str]) -> Levels:
    """Labels by the name of their breakdown, where a column beside names it and one label at most has none."""
    for at in uppers:
        tree = defaultdict[str, list[str]](list)
        for name, label in dict.fromkeys(zip(texts[at], own, strict=True)):
            tree[name].append(label)
        blank = tree.pop("", [])
        if len(tree) > 1 and len(blank) <= 1 and min(map(len, tree.values())) > 1:
            return {"": blank, **tree} if blank else dict(tree)
    return {}


def _named_levels(path: Sequence[int], texts: Texts, by_at: Columns) -> dict[int, list[str]]:
    """The labels of each level; one that stands in two levels (a town that is a county too) is named with its level."""
    often = Counter(label for at in path for label in set(texts[at]) - {""})
    again = {at: f" ({by_at[at].head})" for at in path[:-1]}
    return {at: [label + again.get(at, "") if often[label] > 1 else label for label in texts[at]] for at in path}


def _root(path: Sequence[int], columns: Sequence[Column], texts: Texts) -> str:
    """A name for rows in which all levels are blank: what a label at their left says there (a country), else Total."""
    rows = [row for row, own in enumerate(zip(*(texts[at] for at in path), strict=True)) if not any(own)]
    left = [c for c in columns if c.role == LABEL and c.at < min(path) and not says("level", c.head)]
    for column in sorted((c for c in left if "time" not in c.head), key=lambda c: -c.at):
        names = {texts[column.at][row] for row in rows}
        if len(names) == 1 and names != {""}:
            return names.pop()
    return "Total"


def _path_labels(path: Sequence[int], texts: Texts, root: str) -> tuple[list[str], Levels]:
    """The label of each row on an axis of several columns, finest first, and the levels above as a tree."""
    own, parent = list[str](), dict[str, str]()
    for row in zip(*(texts[at] for at in path), strict=True):
        label, over = [*filter(None, row), root, root][:2]
        own.append(label)
        if (len(path) > 1 or "" in row) and over != label:
            parent.setdefault(label, over)
    known, tree = set(own), defaultdict[str, list[str]](list)
    for label, over in parent.items():
        tree[over].append(label)
    return own, {over: parts for over, parts in tree.items() if over in known}


def indented(texts: Sequence[str], indents: Sequence[int]) -> tuple[list[str], Levels]:
    """Labels of rows, some further right, as parts of the row above; one met twice is named with its parent."""
    often, path = Counter(texts), list[tuple[int, str]]()
    own, tree = list[str](), Levels()
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
        often = Counter(label for label, _ in set(zip(own, code, strict=True)))  # how many codes each has
        if len(often) < often.total() <= NEARLY * len(often):
            own = [f"{label} [{one}]" if label and often[label] > 1 else label for label, one in zip(own, code, strict=True)]
    return own


def _stack(found: list[LabelledAxis]) -> list[LabelledAxis]:
    """Two axes of which one names the breakdown of the other's labels (sex: male, female) are one, stacked."""
    for (group, names, _), (axis, parts, _) in permutations(found, 2):
        size = len(group.labels)
        if {group.kind, axis.kind} != {PARTS} or not 2 <= size <= 60:
            continue
        pairs = dict.fromkeys(zip(names, parts, strict=True))
        often = Counter(name for name, _ in pairs)
        if len(pairs) > 1.35 * len(axis.labels) or len(axis.labels) < 2 * size - 2 or max(often.values()) < 2:
            continue
        own = tuple(f"{name}: {part}" if name != part else name for name, part in zip(names, parts, strict=True))
        columns, tree = group.columns + axis.columns, defaultdict[str, list[str]](list)
        both = Axis(f"{group.name} and {axis.name}", STACKED, tuple(dict.fromkeys(own)), columns)
        for (name, part), label in zip(pairs, both.labels, strict=True):
            if name != part:
                tree[name].append(label)
        rest = [one for one in found if one[0] is not group and one[0] is not axis]
        return _stack([*rest, (both, own, dict(tree))])
    return found


def slices(at: int, labels: Sequence[Sequence[str]], measured: Measured) -> list[dict[str, Number | None]]:
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
    return [{labels[at][row]: column[row] for row in own} for own in totals.spread(rows, wanted) for column in columns]


def _typed(axis: Axis, tree: Levels, samples: Samples, hints: Hints) -> TypedAxis:
    """An axis with its tree: levels by columns where numbers agree, else totals by name and numbers."""
    if axis.kind == STACKED:
        return _stacked_tree(axis, tree, samples, hints)
    if not tree:
        own, asked = _by_sums(axis, samples, hints)
        return replace(own, kind=STACKED) if len(dict(own.tree)) < len(own.tree) else own, asked
    bases, told = bases_of(axis.labels, samples, tree, hints.base), hints.totals.get(axis.name, "")
    parents, why, bad, off = dict[str, tuple[str, ...]](), list[str](), list[str](), 0
    for parent, children in tree.items():
        if parent in hints.no_totals or (len(children) < 2 and axis.kind not in (INDENTED, APART)):  # it is its own part
            continue
        nested, parts = _nest(children, samples, bases)
        fit = agreement(parent, parts, samples, bases)
        some = len(children) < 2 or any(map(pattern("only some").match, children))
        if not some and (fit.holds or fit.likely or parent == told or (axis.kind == INDENTED and fit.never_against)):
            parents[parent], off = tuple(parts), max(off, fit.off(len(parts)))
            parents |= {inner: tuple(own) for inner, own in nested.items() if inner not in tree}
            why.append(f"{parent} ({fit})")
        elif some:
            bad.append(f"{parent!r} is printed above {', '.join(map(repr, children[:3]))}, which may be only some of it")
        else:
            bad.append(f"{parent!r} is printed above {len(children)} labels that do not add up to it ({fit})")
    more = f"; and so {len(bad) - 1} more" if len(bad) > 1 else ""
    questions = [Question(f"{axis.name}: {bad[0]}{more}", f"--hierarchy '{axis.name}=FILE.hrc'")] if bad else []
    inner = {child for own in parents.values() for child in own}
    outer = [label for label in axis.labels if label not in inner]
    if parents and axis.kind in (INDENTED, APART) and len(outer) > 2:
        sums, reason, asked, further = find_tree(axis.name, outer, samples, hints)
        parents, off = {**dict(sums), **parents}, max(off, further)
        why, questions = [reason, *why] if reason else why, [*questions, *asked]
    displayed = "; ".join(why[:3]) + (f"; and {len(why) - 3} more" if len(why) > 3 else "")
    kind = PARTS if axis.kind in (INDENTED, APART) else axis.kind
    return replace(axis, kind=ADDITIVE if parents else kind, tree=tuple(parents.items()), why=displayed, off=off), questions


def _nest(children: Sequence[str], samples: Samples, bases: Bases) -> tuple[Levels, list[str]]:
    """Labels among parts that others, whose names hold theirs, add up to (a city: its inner part, its outer part)."""
    nested = Levels()
    for parent in children:
        inner = [child for child in children if child != parent and re.search(rf"\b{re.escape(parent)}\b", child)]
        if len(inner) > 1 and agreement(parent, inner, samples, bases).holds:
            nested[parent] = inner
    inside = {child for own in nested.values() for child in own}
    return nested, [child for child in children if child not in inside]


def _stacked_tree(axis: Axis, tree: Levels, samples: Samples, hints: Hints) -> TypedAxis:
    """Breakdowns of the same people: each adds up to the printed total, or, without one, to what the others add up to."""
    bases, told = bases_of(axis.labels, samples, least=hints.base), hints.totals.get(axis.name, "")
    inside = {label for own in tree.values() for label in own if len(own) > 1}
    tops = [label for label in axis.labels if label not in inside]
    named = [label for label in tops if is_total_name(label) or is_total_name(label.split(": ")[-1])]
    top = told or (named[0] if named and (len(named) == 1 or ": " not in named[0]) else "")
    parents, why, bad = list[tuple[str, tuple[str, ...]]](), list[str](), list[str]()
    for name, own in tree.items():
        parts = tuple(label for label in own if label != top)
        inner = [label for label in parts if is_total_name(label.split(": ", 1)[-1])]
        plain = tuple(label for label in parts if label not in inner)
        total = top or (inner[0] if len(inner) == 1 else "")  # each group with one of its own: districts inside regions
        if not total or len(plain) < (2 if top else 1):
            continue
        fit = agreement(total, plain, samples, bases)
        if (fit.holds or fit.likely) if top else fit.never_against:
            parents.append((total, plain))
            why.append(f"{name if top else total} ({fit})")
        elif top:
            bad.append(f"the labels of {name} do not add up to {top!r} ({fit})")
    more = f"; and so {len(bad) - 1} more breakdowns" if len(bad) > 1 else ""
    questions = [Question(f"{axis.name}: {bad[0]}{more}", "nothing, if people are in several groups")] if bad else []
    if parents and not top:
        return replace(axis, kind=ADDITIVE, tree=tuple(parents), why="; ".join(why[:3])), questions
    if not top:
        sums, differ = _sums_agree(tree, samples, bases)
        why.append(f"{AGREEING} of {sums} breakdowns agree" if sums and not differ else "no total is printed")
        sets = [tuple(own) for own in tree.values() if len(own) > 1]
        if sums and not differ:
            parents = [(EVERYONE, own) for own in sets]
        elif not differ:
            displayed = ", ".join(map(repr, list(tree)[:3]))
            text = f"{axis.name}: are {displayed} breakdowns of the same people, or parts of a whole?"
            questions.append(Question(text, "tables: NAME: sums in a release file, or each breakdown as a file of its own"))
    return replace(axis, tree=tuple(parents), why="; ".join(why)), questions


def _sums_agree(tree: Levels, samples: Samples, bases: Bases) -> tuple[int, bool]:
    """How many breakdowns, all printed, have one sum in some slice at most, and whether two of them differ in any."""
    best, differ, sets = 0, False, [own for own in tree.values() if len(own) > 1]
    for sample in samples:
        sums = [(float(sum(numbers)), sum(bases.get(label, 1) - 1 for label in own)) for own in sets
                if len(numbers := [n for label in own if (n := sample.get(label)) is not None]) == len(own)]  # fmt: skip
        agree = sum(abs(total - sums[0][0]) <= slack + sums[0][1] for total, slack in sums)
        best, differ = max(best, agree), differ or agree < len(sums)
    return best if best > 1 else 0, differ


def column_axis(heads: Measured, hints: Hints, name: str = COLUMNS) -> TypedAxis:
    """The counts beside each other: an axis if a column adds up others, else several measures of the same rows."""
    labels = tuple(heads)
    size = len(next(iter(heads.values()), ()))
    samples = [{label: own[row] for label, own in heads.items()} for row in totals.spread(range(size), MOST_SAMPLES)]
    if labels and all(is_period(label) for label in labels):
        return Axis(name, TIME, labels, why="the headers are times"), []
    return _by_sums(Axis(name, MEASURES, labels), samples, hints, "no column adds up the others")


def _by_sums(axis: Axis, samples: Samples, hints: Hints, none: str = NO_SUM, total: str = "") -> TypedAxis:
    """An axis with what adds up to what; where nothing does, it stays of its kind."""
    tree, why, asked, off = find_tree(axis.name, axis.labels, samples, hints, total)
    return replace(axis, kind=ADDITIVE if tree else axis.kind, tree=tree, why=why or none, off=off), asked


def cube_axis(axis: CubeAxis, step: int, values: Sequence[Number | None], hints: Hints) -> TypedAxis:
    """An axis of a cube: time or measures as its file says; totals by name, or by its word, and by numbers."""
    labels = numbered(axis.labels)
    if axis.kind or says("time", axis.name):
        return Axis(axis.name, MEASURES if axis.kind == "measure" else TIME, tuple(labels), why="the file says so"), []
    if not values:
        return Axis(axis.name, PARTS, tuple(labels)), []
    whole = step * len(labels)
    starts = [block + inner for block in range(0, len(values), whole) for inner in range(step)]
    samples = [{label: values[start + at * step] for at, label in enumerate(labels)}
               for start in totals.spread(starts, CUBE_SAMPLES)]  # fmt: skip
    return _by_sums(Axis(axis.name, PARTS, tuple(labels)), samples, hints, total=axis.total)
