"""Random printed tables, suppressed and rounded, as text: the same for the same number."""

from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from genverify.disclosure.link import RULES
from genverify.model.work import derive_seed
from genverify.protect.publishing import Publishing

KINDS = ("suppressed", "rounded", "both", "circle", "three columns")
Counts = npt.NDArray[np.int64]
MARKS = ("*", "x", "-", "..", "")


@dataclass(frozen=True)
class TableText:
    """A table as text, and what is told about it, in the words of the command line."""

    text: str
    marks: dict[str, str] = field(default_factory=dict)
    rule: list[str] = field(default_factory=list)
    kind: str = ""

    @property
    def told(self) -> dict[str, Any]:
        """The same in the words of the page."""
        words = dict(word.split("=") for word in self.rule)
        suppress = int(words.pop("suppress", 0))
        rounding, base = next(iter(words.items()), ("none", 1))
        return {"marks": self.marks, "rounding": rounding, "base": int(base), "suppress": suppress, "seconds": 30}


def random_table(number: int, most: int = 4) -> TableText:
    """One of five kinds by its number: suppressed, rounded, both, three tables in a circle, or one with three columns."""
    rng = np.random.default_rng(derive_seed(1, "page", str(number)))
    kind = KINDS[number % len(KINDS)]
    size = rng.integers(2, (most if kind in KINDS[:3] else 3) + 1, size=3)
    counts = rng.poisson(rng.choice([0.8, 2, 12]), size=size)
    rounded = rng.random() < {"suppressed": 0, "rounded": 1, "both": 1}.get(kind, 0.4)
    rule = _rule(rng) if rounded else []
    share = 0.0 if kind == "rounded" else float(rng.choice([0.2, 0.4, 0.6]))
    mark = str(rng.choice(MARKS))
    how = _Printing(rng, rule, share, mark, rng.random() < 0.25)
    told = "suppressed" if rng.random() < 0.7 else f"0-{2 * counts.sum() // 3}"  # not always true: then nothing may fit
    text = "\n\n".join(_parts(kind, how, counts)) + "\n"
    return TableText(text, {mark or "blank": told} if how.used else {}, rule, kind)


def _rule(rng: np.random.Generator) -> list[str]:
    name = str(rng.choice(list(RULES)))
    base = {"round": (3, 5, 10), "midpoint": (3, 6), "key": (1, 2)}.get(name, (3, 5))
    return [f"{name}={int(rng.choice(base))}"]


def _parts(kind: str, how: "_Printing", counts: Counts) -> list[str]:
    """The tables of one text, cut out of counts by three columns."""
    if kind == "circle":
        return [
            how.grid(counts.sum(axis=2), "age", "sex"),
            how.grid(counts.sum(axis=0), "sex", "job"),
            how.grid(counts.sum(axis=1), "age", "job"),
        ]
    if kind == "three columns":
        return [how.cube(counts)]
    totals = how.rng.random(2) < 0.85
    return [how.grid(counts.sum(axis=2), "age", "sex", bool(totals[0]), bool(totals[1]))]


@dataclass
class _Printing:
    """How counts are printed: by a rule, some as a mark; separated by commas or, as a spreadsheet copies them, by tabs."""

    rng: np.random.Generator
    rule: list[str]
    share: float
    mark: str
    tabs: bool
    used: bool = False  # whether the mark stands anywhere: a mark that is told and never met is an error

    def grid(self, counts: Counts, down: str, across: str, total_row: bool = True, total_column: bool = True) -> str:
        own = np.vstack([counts, counts.sum(axis=0)]) if total_row else counts
        own = np.hstack([own, own.sum(axis=1, keepdims=True)]) if total_column else own
        heads = [*(f"{across} {at}" for at in range(counts.shape[1])), *(["Total"] if total_column else [])]
        labels = [*(f"{down} {at}" for at in range(counts.shape[0])), *(["All"] if total_row else [])]
        lines = [[f"{down}/{across}", *heads]]
        lines += [[label, *self.texts(row)] for label, row in zip(labels, own, strict=True)]
        return self.joined(lines)

    def cube(self, counts: Counts) -> str:
        """Two columns of labels, the third across, all with totals."""
        own = counts
        for axis in range(3):
            own = np.concatenate([own, own.sum(axis=axis, keepdims=True)], axis=axis)
        names = [[*(f"{name} {at}" for at in range(size)), "Total"] for name, size in zip("abc", counts.shape, strict=True)]
        lines = [["a", "b", *names[2]]]
        for first, plane in zip(names[0], own, strict=True):
            lines += [[first, second, *self.texts(row)] for second, row in zip(names[1], plane, strict=True)]
        return self.joined(lines)

    def joined(self, lines: list[list[str]]) -> str:
        return "\n".join(("\t" if self.tabs else ",").join(line) for line in lines)

    def texts(self, row: Counts) -> list[str]:
        name, _, base = (self.rule[0] if self.rule else "=1").partition("=")
        how = Publishing(rounding=RULES.get(name, "none"), base=int(base))
        shown = [str(own) for own in how.published(row, self.rng)]
        hidden = self.rng.random(len(row)) < self.share
        hidden[0] &= len(row) > 1 and not hidden.all()  # a line of blanks only would be read as a heading
        self.used |= bool(hidden.any())
        return [self.mark if hide else text for hide, text in zip(hidden, shown, strict=True)]


FORMS = ("two ways", "three ways", "named root", "told total", "subtotals", "linked", "percentages", "rounded", "stacked")
NAMES = ("kind", "sex", "age")
Atoms = frozenset[int]
Axis = dict[str, Atoms]  # the labels of a column as they are printed, and the finest groups that each counts


@dataclass(frozen=True)
class Sheet:
    """A table as text: the places of its variables, their labels, and, in a crosstab, of what the percentages are."""

    text: str
    variables: tuple[int, ...]
    axes: tuple[Axis, ...]
    percent_of: str = ""


@dataclass(frozen=True)
class ReleaseText:
    """Tables of the same people as texts, what is told about them, and how many finest groups each variable has."""

    kind: str
    sizes: tuple[int, ...]
    sheets: tuple[Sheet, ...]
    told: dict[str, Any]
    hrc: str = ""


def random_release(number: int) -> ReleaseText:
    """Tables with their totals, told or recognised, hidden cells, rounding and percentages; the same for the same number."""
    rng = np.random.default_rng(derive_seed(1, "release", str(number)))
    kind = FORMS[number % len(FORMS)]
    sizes = (int(rng.integers(2, 5)), int(rng.integers(2, 4)), 2 if kind in ("three ways", "linked") else 1)
    counts = rng.poisson(float(rng.choice([0.8, 3, 20])), size=sizes)
    told: dict[str, Any] = {"marks": {"*": "suppressed"}}
    axes, hrc = [_flat(rng, sizes[at], NAMES[at]) for at in range(3)], ""
    if kind == "named root":
        axes[0], hrc = _tree(rng, sizes[0], told)
    elif kind == "told total":
        axes[0] = {**_finest(sizes[0]), "households": frozenset(range(sizes[0]))}
        axes[0] = _shuffled(rng, axes[0])
        told["totals"] = {"kind": "households"}
    elif kind == "subtotals":
        axes[0] = _subtotals(rng, sizes[0])
    elif kind == "stacked":
        axes[0], sizes = _stacked(told), (4, *sizes[1:])
        counts = rng.poisson(float(rng.choice([0.8, 3])), size=sizes)
    if kind == "rounded" or (kind == "linked" and rng.random() < 0.3):
        told["rule"] = [str(rng.choice(["round=3", "round=5", "random=3", "round=10"]))]
    how = _Texts(rng, counts, tuple(axes), told.get("rule", []), float(rng.choice([0.2, 0.4, 0.6])))
    if kind == "three ways":
        sheets = [how.tidy((0, 1, 2))]
    elif kind == "linked":
        sheets = [how.crosstab(0, 1), how.tidy((1, 2))] if rng.random() < 0.5 else [how.tidy((0, 1)), how.crosstab(2, 1)]
    elif kind in ("named root", "told total", "stacked", "subtotals"):
        sheets = [how.tidy((0, 1)) if rng.random() < 0.7 else how.tidy((0,))]
    else:
        of = str(rng.choice(["row", "column", "everyone"])) if kind == "percentages" else ""
        told |= {"tables": {"t0": {"percent_of": of}}} if of else {}
        sheets = [how.crosstab(0, 1, of)]
    return ReleaseText(kind, sizes, tuple(sheets), told, hrc)


def _finest(size: int) -> Axis:
    return {f"part {'abcdef'[at]}": frozenset((at,)) for at in range(size)}


def _flat(rng: np.random.Generator, size: int, name: str) -> Axis:
    every = {} if size == 1 or rng.random() < 0.15 else {"Total": frozenset(range(size))}
    return {**{f"{name} {'abcdef'[at]}": frozenset((at,)) for at in range(size)}, **every}


def _shuffled(rng: np.random.Generator, axis: Axis) -> Axis:
    return {label: axis[label] for label in rng.permutation(list(axis)).tolist()}


def _tree(rng: np.random.Generator, size: int, told: dict[str, Any]) -> tuple[Axis, str]:
    """A .hrc file of two levels; its root may be named in it, labels may look like totals, some are not printed."""
    root = str(rng.choice(["Total", "total_stated", "country", "all kinds"]))
    names = [str(own) for own in rng.permutation(["total_north", "All south", "inner", "subtotal"])]
    cut = int(rng.integers(1, size)) if size > 2 else size
    groups = [own for own in (range(cut), range(cut, size)) if len(own)]
    axis, lines, named = dict[str, Atoms](), list[str](), bool(rng.random() < 0.6)
    lead = "@" if named else ""
    for name, group in zip(names, groups, strict=False):
        lines += [f"{lead}{name}", *(f"{lead}@part {'abcdef'[at]}" for at in group)]
        if rng.random() < 0.7:
            axis[name] = frozenset(group)
        axis |= {f"part {'abcdef'[at]}": frozenset((at,)) for at in group if rng.random() < 0.9}
    axis[root] = frozenset(range(size))
    told["hierarchies"] = {"kind": "h.hrc"}
    if not named or root != "Total":
        told["totals"] = {"kind": root}
    return _shuffled(rng, axis), "\n".join([root, *lines] if named else lines) + "\n"


def _subtotals(rng: np.random.Generator, size: int) -> Axis:
    """Subtotals called total_* after or before their parts, and a total."""
    finest = list(_finest(size).items())
    cut = int(rng.integers(2, size + 1))
    first, rest = finest[:cut], finest[cut:]
    inner = ("total_first" if rng.random() < 0.5 else "First, total", frozenset(range(cut)))
    listed = [*first, inner, *rest] if rng.random() < 0.5 else [*rest, inner, *first]
    return dict([*listed, ("Total", frozenset(range(size)))])


def _stacked(told: dict[str, Any]) -> Axis:
    """Four groups of two breakdowns: by sex, and by region."""
    told["tables"] = {"t0": {"sums": {"kind": {"Total": [["men", "women"], ["north", "south"]]}}}}
    sets = {"men": (0, 1), "women": (2, 3), "north": (0, 2), "south": (1, 3), "Total": (0, 1, 2, 3)}
    return {label: frozenset(own) for label, own in sets.items()}


@dataclass
class _Texts:
    """Counts printed as tables: crosstabs, or a line for each cell."""

    rng: np.random.Generator
    counts: Counts
    axes: tuple[Axis, ...]
    rule: list[str]
    share: float

    def count(self, variables: tuple[int, ...], chosen: tuple[Atoms, ...]) -> int:
        groups = dict(zip(variables, chosen, strict=True))
        index = [sorted(groups.get(at, range(size))) for at, size in enumerate(self.counts.shape)]
        return int(self.counts[np.ix_(*index)].sum())

    def text(self, count: int) -> str:
        if self.rng.random() < self.share:
            return "*" if count > 4 or self.rule or self.rng.random() < 0.6 else "<5"
        name, _, base = (self.rule[0] if self.rule else "=1").partition("=")
        how = Publishing(rounding=RULES.get(name, "none"), base=int(base))
        return str(how.published(np.array([count]), self.rng)[0])

    def tidy(self, variables: tuple[int, ...]) -> Sheet:
        axes = tuple(self.axes[at] for at in variables)
        lines = [",".join([*(NAMES[at] for at in variables), "obs_value"])]
        for labels in product(*axes):
            chosen = tuple(axis[label] for axis, label in zip(axes, labels, strict=True))
            lines.append(",".join([*(f'"{label}"' for label in labels), self.text(self.count(variables, chosen))]))
        return Sheet("\n".join(lines) + "\n", variables, axes)

    def crosstab(self, down: int, across: int, of: str = "") -> Sheet:
        """Labels of one variable down, of another across; each count with its percentage beside it where asked for."""
        rows, columns = self.axes[down], self.axes[across]
        head = [f"{NAMES[down]}/{NAMES[across]}"]
        for label in columns:
            head += [label, "%"] if of else [label]
        lines = [",".join(head)]
        for label, group in rows.items():
            line = [label]
            for own in columns.values():
                count = self.count((down, across), (group, own))
                line.append(self.text(count))
                if of:
                    everyone = frozenset(range(self.counts.shape[down])), frozenset(range(self.counts.shape[across]))
                    whole = self.count(
                        (down, across), (everyone[0] if of != "row" else group, everyone[1] if of != "column" else own)
                    )
                    line.append(f"{100 * count / whole:.1f}%" if whole else "")
            lines.append(",".join(line))
        return Sheet("\n".join(lines) + "\n", (down, across), (rows, columns), of)
