"""Random printed tables, suppressed and rounded, as text: the same for the same number."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from genverify.core.seeds import derive_seed
from genverify.disclosure.marks import RULES
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
