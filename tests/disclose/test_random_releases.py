"""
Random tables, with told and recognised totals, hierarchies, links, percentages and rounding, against another program.

The other program is an integer program over the finest groups of people, written from the printed texts alone: it knows
nothing of totals, of sums between cells, or of proofs, and shares no code with the library.
"""

import csv
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import inf, isinf
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

from genverify.disclosure.interpretation import PrintedForm, interpret
from genverify.disclosure.intervals import FeasibilityIntervals, find_intervals, suppress_more
from genverify.model.errors import GenverifyError, ReleaseError
from genverify.model.linear import OPEN
from genverify.solve.linear.search import Work
from random_tables import FORMS, ReleaseText, Sheet, random_release

WORK = Work(seconds=30.0)
Place = tuple[int, tuple[str, ...]]  # a table, and the labels of a cell


@dataclass
class Printed:
    """What one text says of the people in some groups: their count, or a percentage (of a whole) beside the count."""

    place: Place
    groups: np.ndarray
    low: float
    high: float
    whole: np.ndarray | None = None


def meaning(text: str, rule: list[str]) -> tuple[float, float]:
    """The counts that may have been printed so."""
    if text == "*":
        return 0, inf
    if text.startswith("<"):
        return 0, int(text[1:]) - 1
    number = int(text)
    if not rule:
        return number, number
    name, _, base = rule[0].partition("=")
    below, above = (
        (int(base) - 1, int(base) - 1) if name == "random" else (int(base) // 2, (int(base) - 1) // 2)
    )  # halves up
    return max(number - below, 0), number + above


def said(release: ReleaseText) -> Iterator[Printed]:
    """Everything that is printed, read from the texts."""
    for at, sheet in enumerate(release.sheets):
        head, *lines = list(csv.reader(sheet.text.splitlines()))
        for line in lines:
            if head[-1] == "obs_value":
                labels = tuple(line[:-1])
                yield Printed((at, labels), groups(release, sheet, labels), *meaning(line[-1], release.told.get("rule", [])))
                continue
            step = 2 if sheet.percent_of else 1
            for column in range(1, len(line), step):
                labels = (line[0], head[column])
                own = groups(release, sheet, labels)
                yield Printed((at, labels), own, *meaning(line[column], release.told.get("rule", [])))
                if sheet.percent_of and line[column + 1]:
                    kept = {"row": (line[0], None), "column": (None, head[column]), "everyone": (None, None)}[
                        sheet.percent_of
                    ]
                    share = Fraction(line[column + 1].rstrip("%"))
                    ends = float(max(share - Fraction(1, 20), Fraction(0))), float(share + Fraction(1, 20))
                    yield Printed((at, labels), own, *ends, groups(release, sheet, kept))


def groups(release: ReleaseText, sheet: Sheet, labels: tuple[str | None, ...]) -> np.ndarray:
    """1 for each finest group of people that labels count, in the order of all combinations; None is no condition."""
    wanted = {
        v: axis[label] for v, axis, label in zip(sheet.variables, sheet.axes, labels, strict=True) if label is not None
    }
    every = product(*(range(size) for size in release.sizes))
    return np.array([all(one[v] in atoms for v, atoms in wanted.items()) for one in every], dtype=float)


class OtherProgram:
    """The ranges of printed cells by an integer program; after a proposal, `withheld` cells, and percentages beside them and
    beside other cells that are not printed exactly, say nothing."""

    def __init__(self, release: ReleaseText, withheld: frozenset[Place] | None = None) -> None:
        told = list(said(release))
        self.counts = {one.place: one for one in told if one.whole is None}
        unknown = {place for place, one in self.counts.items() if one.low < one.high} if withheld is not None else set()
        withheld = withheld or frozenset()
        unknown |= withheld
        rows, low, high = list[np.ndarray](), list[float](), list[float]()
        for one in told:
            if one.place in (withheld if one.whole is None else unknown):
                continue
            if one.whole is None:
                rows, low, high = [*rows, one.groups], [*low, one.low], [*high, one.high]
            else:  # low whole <= 100 part <= high whole
                rows += [
                    2000 * one.groups - round(20 * one.low) * one.whole,
                    2000 * one.groups - round(20 * one.high) * one.whole,
                ]
                low, high = [*low, 0.0, -inf], [*high, inf, 0.0]
        self.limits = LinearConstraint(np.array(rows), low, high)

    def range(self, place: Place) -> tuple[int, float]:
        own = self.counts[place].groups
        ends = []
        for sign in (1, -1):
            found = milp(sign * own, constraints=self.limits, bounds=Bounds(0, inf), integrality=np.ones(len(own)))
            if found.status in (3, 4):
                assert sign < 0
                ends.append(inf)
            else:
                assert found.status == 0, found.message
                ends.append(round(float(own @ found.x)))
        return int(ends[0]), ends[1]


def cells_of(exposed: FeasibilityIntervals) -> dict[Place, int]:
    return {
        (at, labels): exposed.printed[key]
        for at, one in enumerate(exposed.linked.placed)
        for labels, key in one.keys.items()
    }


def compare(release: ReleaseText, folder: Path) -> str:
    """What came of one release: refused, or right; an error where a range, a verdict or a proposal is wrong."""
    for at, sheet in enumerate(release.sheets):
        (folder / f"t{at}.csv").write_text(sheet.text, encoding="utf-8")
    (folder / "h.hrc").write_text(release.hrc, encoding="utf-8")
    try:
        form = PrintedForm(printed=[f"t{at}.csv" for at in range(len(release.sheets))], **release.told)
        exposed = find_intervals(interpret(form, folder).linked, WORK)
    except ReleaseError:
        raise  # a contradiction, and yet the printed counts are those of people
    except GenverifyError:
        return "refused"
    other, cells = OtherProgram(release), cells_of(exposed)
    assert set(cells) == set(other.counts)
    for place, cell in cells.items():
        low, high = other.range(place)
        ours = int(exposed.ranges.lo[cell]), inf if exposed.ranges.hi[cell] == OPEN else int(exposed.ranges.hi[cell])
        if exposed.linked.joint:
            assert exposed.ranges.exact[cell]
            assert ours == (low, high), place
        assert ours[0] <= low
        assert high <= ours[1]
    return proposal(release, exposed, cells)


def proposal(release: ReleaseText, exposed: FeasibilityIntervals, cells: dict[Place, int]) -> str:
    """The proposal of cells to suppress as well, audited by the other program."""
    targets = np.flatnonzero(exposed.unclear & (exposed.width == 0)).tolist()
    if not targets:
        return "safe"
    found = suppress_more(exposed, targets, 1, WORK)
    if found.left:
        return "no proposal"
    added = {exposed.linked.sums.place[name] for name in found.cells}
    after = OtherProgram(release, frozenset(place for place, cell in cells.items() if cell in added))
    for place, cell in cells.items():
        if cell in targets or cell in added:
            low, high = after.range(place)
            assert isinf(high) or high > low, place
    return "protected"


def outcomes(numbers: range, folder: Path) -> Counter[tuple[str, str]]:
    found = Counter[tuple[str, str]]()
    for number in numbers:
        release = random_release(number)
        try:
            found[release.kind, compare(release, folder)] += 1
        except (AssertionError, ReleaseError) as error:
            raise AssertionError(f"release {number}: {release}") from error
    return found


def test_some_random_releases(tmp_path: Path) -> None:
    found = outcomes(range(36), tmp_path)
    assert {kind for kind, what in found if what != "refused"} == set(FORMS)
    assert sum(count for (_, what), count in found.items() if what == "protected") > 5


@pytest.mark.slow
def test_three_hundred_random_releases(tmp_path: Path) -> None:
    found = outcomes(range(300), tmp_path)
    assert sum(count for (_, what), count in found.items() if what == "refused") < 60, found
