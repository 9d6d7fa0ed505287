"""Feasibility intervals: the range of every printed cell with checked proofs, why it is known, what to suppress as well."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from operator import lt
from pathlib import Path
from typing import Any

import numpy as np

from genverify.checker.certificate import CertificateError
from genverify.checker.linear_proofs import check_linear
from genverify.disclosure.audit_value import SecondarySuppression, SuppressionStep
from genverify.disclosure.link import Key, LinkedTables, cell_ends
from genverify.model.arrays import Flags, Ints
from genverify.model.errors import ConfigError, ReleaseError
from genverify.model.linear import OPEN, LinearSystem, is_open, select
from genverify.model.tablefiles import Expected, need_columns, open_csv, refuse_row
from genverify.protect.cell_suppression import PatternWork, Requirement, SuppressionProblem, find_pattern, suppressed
from genverify.solve.linear.ranges import Contradiction, all_ranges, contradiction, quiet, rows_of
from genverify.solve.linear.search import Ranges, Work
from genverify.solve.program import WrongAnswer

# What linked tables give away: the range of every printed cell, with checked proofs, and why a cell is known.

MOST_REASONS = 6  # rows that are named as the reason of an end; the proof holds all
MOST_TRIED, TRIAL_SECONDS = 60, 2.0  # sums of a contradiction that are tried one by one, and the time for each
FACT = "fact: "


@dataclass(frozen=True)
class FeasibilityIntervals:
    """The ranges of linked tables, their proofs checked; what is printed, hidden or unclear is so in this release."""

    linked: LinkedTables
    ranges: Ranges

    @cached_property
    def printed(self) -> Mapping[Key, int]:
        return {key: self.linked.cell[key] for key in self.linked.current}

    @property
    def suppressible(self) -> list[int]:
        """The places of the cells that no earlier release prints."""
        return [cell for key, cell in self.printed.items() if len(self.linked.printed[key]) == len(self.linked.current[key])]

    def _flags(self, keys: Iterable[Key]) -> Flags:
        flags = np.zeros(len(self.linked.sums.cells), dtype=bool)
        flags[[self.printed[key] for key in keys]] = True
        return flags

    @cached_property
    def hidden(self) -> Flags:
        """The cells of the system that are printed somewhere, and nowhere as a number."""
        return self._flags(key for key, said in self.linked.current.items() if all(value.hidden for _, _, value in said))

    @cached_property
    def unclear(self) -> Flags:
        """Printed cells whose text leaves more than one count."""
        return self._flags(key for key, said in self.linked.current.items() if lt(*cell_ends(said)))

    @property
    def width(self) -> Ints:
        return self.ranges.hi - self.ranges.lo

    @cached_property
    def proofs(self) -> Mapping[str, str]:
        """The numbers of the statements that prove the ends of each cell."""
        result = defaultdict[str, list[str]](list)
        for number, statement in enumerate(self.ranges.statements):
            result[statement.get("cell", "")].append(str(number))
        return {cell: " ".join(numbers) for cell, numbers in result.items()}

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """Every printed cell: what is printed, its range, whether it is known exactly, and the statements that prove it."""
        rows = []
        for key, said in self.linked.current.items():
            at = self.printed[key]
            name, lower, upper = self.linked.sums.cells[at], int(self.ranges.lo[at]), int(self.ranges.hi[at])
            rows.append({
                "area": "", "table": " ".join(dict.fromkeys(table.name for table, _, _ in said)), "cell": name, "label": "",
                "published": said[0][1].text or "", "lower": lower, "upper": "" if upper == OPEN else upper,
                "known_exactly": lower == upper, "ends_attained": bool(self.ranges.exact[at]) and self.linked.joint,
                "proof": self.proofs.get(name, "printed"), "place": said[0][1].place, "hidden": bool(self.hidden[at]),
                "unclear": bool(self.unclear[at]), "claims": "", "what": "printed",
            })  # fmt: skip
        return rows

    def why(self, cell: int) -> list[str]:
        """The sums that a cell's range rests on, the last step first."""
        sums, reasons, wanted = self.linked.sums, dict[int, None](), {self.linked.sums.cells[cell]}
        for statement in reversed(self.ranges.statements):
            if statement.get("cell") in wanted and len(reasons) < MOST_REASONS:
                for row in (sums.row_place[name] for name in rows_of(dict(statement["proof"]))):
                    reasons[row] = None
                    cells = sums.columns[sums.start[row] : sums.start[row + 1]].tolist()
                    wanted |= {sums.cells[c] for c in cells if sums.lo[c] < sums.hi[c]}
        return list(dict.fromkeys(map(self._said, reasons)))  # the two sides of a fact are said once

    def _said(self, row: int) -> str:
        """A row in the numbers that are printed: `everyone 12 = 5 + 4 + ?`."""
        sums, parts, total = self.linked.sums, list[str](), ""
        if sums.rows[row].startswith(FACT):
            return sums.rows[row].removeprefix(FACT).removesuffix(" (at least)").removesuffix(" (at most)")
        for entry in range(sums.start[row], sums.start[row + 1]):
            cell, weight = int(sums.columns[entry]), int(sums.weights[entry])
            lo, hi = int(sums.lo[cell]), int(sums.hi[cell])
            text = str(lo) if lo == hi else f"{lo} to {hi}" if hi != OPEN else "?"
            parts += [text] if weight >= 0 else []
            total = total if weight >= 0 else f"{sums.cells[cell]} ({text})"
        return f"{total} = {' + '.join(parts)}" if total else sums.rows[row]


class ContradictionError(ReleaseError):
    """Sums that no counts can meet together, by their names; and whether earlier releases print some of these counts."""

    def __init__(self, message: str, rows: Sequence[str], earlier: bool) -> None:
        super().__init__(message)
        self.rows, self.earlier = tuple(rows), earlier


def smallest(sums: LinearSystem, conflict: Contradiction) -> Contradiction:
    """The same contradiction without sums that it does not need: each is tried without, where there are not too many."""
    rows = [sums.row_place[name] for name in conflict.rows]
    for row in list(rows) if len(rows) <= MOST_TRIED else ():
        fewer = [other for other in rows if other != row]
        if fewer and all_ranges(_part(sums, fewer), Work(seconds=TRIAL_SECONDS)).empty:
            rows = fewer
    places = dict.fromkeys(cell for row in rows for cell in sums.columns[sums.start[row] : sums.start[row + 1]].tolist())
    return Contradiction(tuple(sums.rows[row] for row in rows), tuple(sums.cells[cell] for cell in places))


def failing(sums: LinearSystem) -> tuple[str, ...]:
    """All sums that printed counts alone contradict, each checked by its own proof: a release may have many slips."""
    known, size = ~is_open(sums.hi), len(sums.rows)
    least, most = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    lo, hi = (sums.weights * own[sums.columns] for own in (sums.lo, np.where(known, sums.hi, sums.lo)))
    np.add.at(least, sums.row_of, np.minimum(lo, hi))
    np.add.at(most, sums.row_of, np.maximum(lo, hi))
    least[sums.row_of[~known[sums.columns] & (sums.weights < 0)]] = -OPEN
    most[sums.row_of[~known[sums.columns] & (sums.weights > 0)]] = OPEN
    rows = np.flatnonzero((least > sums.most) | (most < sums.least)).tolist()
    for row in rows:
        proof = {"y": {sums.rows[row]: 1 if least[row] > sums.most[row] else -1}}
        check_linear(_part(sums, [row]), [{"side": "empty", "proof": proof}])
    return tuple(sums.rows[row] for row in rows)


def _part(sums: LinearSystem, rows: Sequence[int]) -> LinearSystem:
    entries = np.concatenate([np.arange(sums.start[row], sums.start[row + 1]) for row in rows])
    return select(sums, np.unique(sums.columns[entries]), np.array(rows, dtype=np.int64))


def find_intervals(linked: LinkedTables, work: Work, say: Callable[[int, int], None] = quiet) -> FeasibilityIntervals:
    """The ranges of all printed cells; every proof is checked, and tables that contradict each other are an error."""
    wanted = np.zeros(len(linked.sums.cells), dtype=bool)
    wanted[[linked.cell[key] for key in linked.current]] = True
    wanted[linked.differences] = True
    ranges = all_ranges(linked.sums, work, wanted, say=say)
    proved = check_linear(linked.sums, ranges.statements)
    if ranges.empty:
        conflict = smallest(linked.sums, contradiction(linked.sums, list(ranges.statements)))
        alone = failing(linked.sums) if len(conflict.rows) == 1 else ()
        raise _contradiction(linked, conflict, alone)
    if proved.lo != ranges.lo.tolist() or proved.hi != ranges.hi.tolist():
        raise CertificateError("the proofs show other ranges than those that were found; nothing is reported")
    return FeasibilityIntervals(linked, ranges)


def _contradiction(linked: LinkedTables, conflict: Contradiction, alone: Sequence[str]) -> ContradictionError:
    rows, more = "; ".join(conflict.rows[:3]), f" and {len(conflict.rows) - 3} more sums" if len(conflict.rows) > 3 else ""
    keys = [linked.keys[linked.sums.place[cell]] for cell in conflict.cells]
    entries = [entry for key, all_ in linked.printed.items() if key in keys[:12] for _, entry, _ in all_]
    said = "; ".join([f"{entry.text} at {entry.place}" for entry in entries][:8])
    older = sorted({table.source for key in keys for table, _, _ in linked.printed.get(key, ()) if table.earlier})
    revised = f"Was {' or '.join(older)} revised? Then leave it out of --previous. " if older else ""
    text = (
        f"these printed counts contradict each other (proof checked): {rows}{more}. They are {said}. "
        f"{revised}Correct one; or say how numbers were rounded (--rule), how far totals may be off (--tolerance 1), that a "
        "label is not a total (--no-total LABEL), or that a table is part of another (--inside)"
    )
    return ContradictionError(text, tuple(dict.fromkeys((*conflict.rows, *alone))), bool(older))


def opened(linked: LinkedTables, cells: Collection[int]) -> LinearSystem:
    """The system with some printed cells suppressed, and the percentages beside suppressed cells: none says anything."""
    return suppressed(linked.sums, linked.beside, cells)


# Rules for magnitude tables whose contributions the owner knows: (n, k) dominance, p %, a least number of contributors.
#
# A rule is applied to every printed cell, and to what can be worked out although nobody printed it: where a sum has several
# suppressed parts, the parts together are known, and so is who is large among their contributors.

CONTRIBUTOR, VALUE = "contributor", "value"


@dataclass(frozen=True)
class Rule:
    """
    When a sum of contributions gives one of them away: (n, k) dominance, the p per cent rule, the fewest contributors.

    >>> Rule("dominance=2,80").broken([15, 70, 15]), Rule("p=10").broken([50, 30, 20])
    (True, False)
    """

    word: str

    def __post_init__(self) -> None:
        known = "dominance=2,80 (n, k), p=10 (per cent) or contributors=3 (the fewest)"
        if not re.fullmatch(r"(dominance=\d+,|p=)\d+(\.\d+)?|contributors=\d+", self.word):
            raise ConfigError(f"--sensitive {self.word}: give {known}")

    def broken(self, contributions: Iterable[int]) -> bool:
        kind, _, numbers = self.word.partition("=")
        *n, k = map(Fraction, numbers.split(","))
        sizes = sorted(contributions, reverse=True)
        total = sum(sizes)
        if kind == "contributors":
            return 0 < len(sizes) < k
        if kind == "dominance":
            return total > 0 and 100 * sum(sizes[: int(n[0])]) > k * total
        return bool(sizes) and 100 * (total - sum(sizes[:2])) < k * sizes[0]


@dataclass(frozen=True)
class RuleViolation:
    """A sum that breaks a rule: the cells in it (one, or suppressed ones whose sum is known), and the rule in words."""

    cells: tuple[str, ...]
    printed: bool
    rule: str


def broken_rules(exposed: FeasibilityIntervals, path: Path, rules: Sequence[Rule]) -> list[RuleViolation]:
    """Printed cells that break a rule, then sums of suppressed cells that can be worked out and break it."""
    linked, frame = exposed.linked, open_csv(path, Expected("contributions")).frame()
    need_columns(path, frame, (CONTRIBUTOR, VALUE))
    refuse_row(path, frame[VALUE], ~frame[VALUE].str.isdecimal(), "is not a whole number from 0")
    frame[VALUE] = frame[VALUE].map(int)
    result, key_of = list[RuleViolation](), {linked.cell[key]: key for key in linked.printed}
    for cells, printed in _known_sums(exposed):
        together = Counter[str]()
        for key in (key_of[cell] for cell in cells if cell in key_of):
            inside = np.ones(len(frame), dtype=bool)
            for column, label in key:
                parts = linked.columns[column].sums.inside(label)
                inside &= frame[column].isin(parts).to_numpy() if column in frame else False
            for contributor, value in zip(frame[CONTRIBUTOR][inside], frame[VALUE][inside], strict=True):
                together[contributor] += value
        names = tuple(linked.sums.cells[cell] for cell in cells if cell in key_of)
        broken = [rule.word for rule in rules if len(names) == len(cells) and rule.broken(together.values())]
        result += [RuleViolation(names, printed, word) for word in broken]
    return result


def _known_sums(exposed: FeasibilityIntervals) -> Iterator[tuple[tuple[int, ...], bool]]:
    """Every cell that is printed or known exactly; and the suppressed parts of every sum whose other parts are known."""
    sums, open_, seen = exposed.linked.sums, exposed.ranges.lo < exposed.ranges.hi, set[tuple[int, ...]]()
    yield from (((cell,), not exposed.unclear[cell]) for cell in exposed.printed.values() if not open_[cell])
    for row in range(len(sums.rows)):
        span = slice(sums.start[row], sums.start[row + 1])
        cells, parts = sums.columns[span], sums.weights[span] == 1
        own = tuple(cells[open_[cells] & parts].tolist())
        if len(own) > 1 and own not in seen and not open_[cells[~parts]].any():
            seen.add(own)
            yield own, False


# Which more cells to suppress in printed tables, so that none of the suppressed ones is known too well.

OPTIMAL, OTHERS = "no smaller set protects them", "no smaller set protects the others"
BOUNDED = "a smaller set may exist, but none below {} cells"


def suppress_more(exposed: FeasibilityIntervals, targets: Sequence[int], width: int, work: Work) -> SecondarySuppression:
    """Cells to suppress besides the targets so that counts of each that fit are at least `width` apart, as points show."""
    linked, names = exposed.linked, exposed.linked.sums.cells
    if exposed.ranges.point is None:
        raise WrongAnswer("no counts that fit are at hand, so no cells to suppress are proposed")
    cost = np.full(len(names), -1, dtype=np.int64)
    cost[exposed.suppressible] = 1
    asked = tuple(Requirement(cell, width=width) for cell in targets)
    system = opened(linked, ())  # the percentages beside suppressed counts go first
    problem = SuppressionProblem(system, exposed.ranges.point, cost, asked, linked.beside, width)
    pattern = find_pattern(problem, PatternWork(seconds=work.seconds).scaled(len(names)))
    steps = tuple(SuppressionStep("", names[cell]) for cell in pattern.cells)
    still = tuple(names[cell] for cell in pattern.unmet)
    how = BOUNDED.format(pattern.bound) if not pattern.optimal else OTHERS if still else OPTIMAL
    return SecondarySuppression(steps, len(targets), len(still), pattern.bound, how, in_time=not pattern.limit, still=still)


def still_narrow(
    exposed: FeasibilityIntervals, targets: Sequence[int], names: Sequence[str], width: int, work: Work
) -> tuple[list[str], str]:
    """The targets and cells whose range is too narrow when the cells are suppressed, and the limit that was met."""
    sums, added = exposed.linked.sums, [exposed.linked.sums.place[name] for name in names]
    wanted = exposed.unclear.copy()
    wanted[added] = True
    ranges = all_ranges(opened(exposed.linked, added), work, wanted)
    return [sums.cells[c] for c in [*targets, *sorted(added)] if ranges.hi[c] - ranges.lo[c] < width], ranges.limit
