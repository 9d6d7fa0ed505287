"""What linked tables give away: the range of every printed cell, with checked proofs, and why a cell is known."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from genverify.checker.form import CertificateError
from genverify.checker.sums import check_sums
from genverify.core.arraytypes import Flags, Ints
from genverify.core.errors import ReleaseError
from genverify.core.sums import OPEN, Sums
from genverify.disclosure.linked import Key, Linked, name_of
from genverify.solve.sums.parts import Contradiction, all_ranges, contradiction, quiet
from genverify.solve.sums.work import Ranges, Work

MOST_REASONS = 6
FACT = "fact: "


@dataclass(frozen=True)
class Exposed:
    """The ranges of linked tables, their proofs checked; `printed` are the places of the printed cells in the system."""

    linked: Linked
    ranges: Ranges

    @cached_property
    def printed(self) -> Mapping[Key, int]:
        return {key: self.linked.cell(key) for key in self.linked.printed}

    @cached_property
    def hidden(self) -> Flags:
        """The cells of the system that are printed somewhere, and nowhere as a number."""
        flags = np.zeros(len(self.linked.sums.cells), dtype=bool)
        for key, said in self.linked.printed.items():
            flags[self.printed[key]] = all(value.hidden for _, _, value in said)
        return flags

    @cached_property
    def unclear(self) -> Flags:
        """Printed cells whose text leaves more than one count."""
        flags = np.zeros(len(self.linked.sums.cells), dtype=bool)
        places = np.array(list(self.printed.values()), dtype=np.int64)
        flags[places] = self.linked.sums.lo[places] < self.linked.sums.hi[places]
        return flags

    @property
    def width(self) -> Ints:
        return self.ranges.hi - self.ranges.lo

    def too_narrow(self, least_width: int) -> Flags:
        """Cells that are not printed exactly, and whose range is narrower than this all the same."""
        return np.asarray(self.unclear & (self.width < least_width))

    @cached_property
    def frame(self) -> pd.DataFrame:
        """Every printed cell: what is printed, its range, whether it is known exactly, and the statements that prove it."""
        proofs: dict[str, list[str]] = {}
        for number, statement in enumerate(self.ranges.statements):
            if "cell" in statement:
                proofs.setdefault(statement["cell"], []).append(str(number))
        rows = []
        for key, said in self.linked.printed.items():
            at = self.printed[key]
            name = self.linked.sums.cells[at]
            lower, upper = int(self.ranges.lo[at]), int(self.ranges.hi[at])
            attained = bool(self.ranges.exact[at]) and self.linked.joint
            rows.append({
                "table": " ".join(dict.fromkeys(table.name for table, _, _ in said)), "cell": name,
                "place": said[0][1].place, "published": said[0][1].text or "", "lower": lower,
                "upper": "" if self.open_above(at) else upper, "known_exactly": lower == upper,
                "ends_attained": attained, "hidden": bool(self.hidden[at]), "unclear": bool(self.unclear[at]),
                "proof": " ".join(proofs.get(name, ["printed"])),
            })  # fmt: skip
        return pd.DataFrame(rows)

    def open_above(self, cell: int) -> bool:
        """Whether nothing bounds a cell from above."""
        return int(self.ranges.hi[cell]) == OPEN

    def why(self, cell: int) -> list[str]:
        """The sums that a cell's range rests on, the last step first."""
        reasons: dict[str, None] = {}
        wanted = {self.linked.sums.cells[cell]}
        place = {row: at for at, row in enumerate(self.linked.sums.rows)}
        for statement in reversed(self.ranges.statements):
            if statement.get("cell") in wanted and len(reasons) < MOST_REASONS:
                for row in _rows(statement["proof"]):
                    reasons[row] = None
                    wanted |= {
                        self.linked.sums.cells[c]
                        for c in self._cells(place[row])
                        if self.linked.sums.lo[c] < self.linked.sums.hi[c]
                    }
        return list(dict.fromkeys(self._said(place[row]) for row in reasons))  # the two sides of a fact are said once

    def _cells(self, row: int) -> list[int]:
        sums = self.linked.sums
        return [int(cell) for cell in sums.columns[sums.start[row] : sums.start[row + 1]]]

    def _said(self, row: int) -> str:
        """A row in the numbers that are printed: `everyone 12 = 5 + 4 + ?`."""
        sums, parts, total = self.linked.sums, list[str](), ""
        if sums.rows[row].startswith(FACT):
            return sums.rows[row].removeprefix(FACT).removesuffix(" (at least)").removesuffix(" (at most)")
        for entry in range(sums.start[row], sums.start[row + 1]):
            cell, weight = int(sums.columns[entry]), int(sums.weights[entry])
            lo, hi = int(sums.lo[cell]), int(sums.hi[cell])
            text = str(lo) if lo == hi else f"{lo} to {hi}" if hi != OPEN else "?"
            if weight < 0:
                total = f"{sums.cells[cell]} ({text})"
            else:
                parts.append(text)
        return f"{total} = {' + '.join(parts)}" if total else sums.rows[row]


def _rows(proof: Mapping[str, object]) -> list[str]:
    from genverify.solve.sums.parts import rows_of

    return rows_of(dict(proof))


def expose(linked: Linked, work: Work, say: Callable[[int, int], None] = quiet) -> Exposed:
    """The ranges of all printed cells; every proof is checked, and tables that contradict each other are an error."""
    wanted = np.zeros(len(linked.sums.cells), dtype=bool)
    wanted[[linked.cell(key) for key in linked.printed]] = True
    wanted[[linked.cell(key) for key in linked.keys if any(label == "not yes" for _, label in key)]] = True
    ranges = all_ranges(linked.sums, work, wanted, say=say)
    shown = check_sums(linked.sums, ranges.statements)
    if ranges.empty:
        raise ReleaseError(_contradiction(linked, contradiction(linked.sums, list(ranges.statements))))
    if shown.lo != ranges.lo.tolist() or shown.hi != ranges.hi.tolist():
        raise CertificateError("the proofs show other ranges than those that were found; nothing is reported")
    return Exposed(linked, ranges)


def _contradiction(linked: Linked, found: Contradiction) -> str:
    """The sums and cells that cannot all be right, where they are printed."""
    rows = "; ".join(found.rows[:3])
    said = []
    for key, entries in linked.printed.items():
        if name_of(key) in found.cells[:12]:
            said += [f"{entry.text} at {entry.place}" for _, entry, _ in entries]
    more = f" and {len(found.rows) - 3} more sums" if len(found.rows) > 3 else ""
    return (
        f"these printed counts contradict each other (proof checked): {rows}{more}. They are {'; '.join(said[:8])}. Correct "
        "one; or say how numbers were rounded (--rule), that a label is no total (rename it), or that a table is part of "
        "another (--inside)"
    )


def opened(linked: Linked, cells: Collection[int]) -> Sums:
    """
    The system with some printed cells withheld, and the percentages beside withheld cells: nothing is known of them but what
    the others say.
    """
    lo, hi = linked.sums.lo.copy(), linked.sums.hi.copy()
    places = np.array(sorted(cells), dtype=np.int64)
    lo[places], hi[places] = 0, OPEN
    least, most = linked.sums.least.copy(), linked.sums.most.copy()
    known = lo == hi
    for row in (row for row, cell in linked.beside.items() if not known[cell]):
        least[row], most[row] = -OPEN, OPEN
    return replace(linked.sums, lo=lo, hi=hi, least=least, most=most)
