"""The answer first: what is known exactly, why, and what to withhold as well; for people, scripts and other tools."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from genverify.disclose.intervals import FeasibilityIntervals, RuleViolation
from genverify.disclose.suppression import SecondarySuppression
from genverify.model.errors import ConfigError

DIALECTS = {
    "plain": {
        "open": "open",
        "exact": "known exactly",
        "narrow": "known too well",
        "printed": "printed",
        "withhold": "withhold",
    },
    "sdctable": {"open": "x", "exact": "u", "narrow": "u", "printed": "s", "withhold": "x"},
    "sbs": {"open": "D", "exact": "A", "narrow": "A", "printed": "F", "withhold": "D"},
    "argus": {"open": "M", "exact": "U", "narrow": "U", "printed": "S", "withhold": "U"},
}
COLUMNS = ("table", "cell", "published", "lower", "upper", "status", "known_exactly", "ends_attained", "proof", "place")
MOST_SHOWN = 10  # lines of each kind on the terminal: a page; the files list all
SMALL = 5  # a difference between two tables below this is one that a reviewer would not have released


@dataclass(frozen=True)
class FailOn:
    """What makes a release unsafe: an unprinted count known exactly, within a range narrower than `width`, or to be 1."""

    width: int = 1
    singled_out: bool = False

    def __str__(self) -> str:
        return "singled-out" if self.singled_out else "exact" if self.width == 1 else f"range<{self.width}"


def read_fail_on(text: str | None) -> FailOn:
    """
    >>> read_fail_on("range<3")
    FailOn(width=3, singled_out=False)
    """
    if text in (None, "exact"):
        return FailOn()
    if text == "singled-out":
        return FailOn(singled_out=True)
    if found := re.fullmatch(r"range\s*<\s*([1-9]\d{0,11})", text or ""):
        return FailOn(int(found[1]))
    raise ConfigError(f"--fail-on {text}: give exact, range<3 (another number will do), or singled-out")


def undecided_cells(exposed: FeasibilityIntervals, fail_on: FailOn) -> tuple[int, ...]:
    """Cells that are not printed exactly, whose range is wide enough, but without counts that fit and are as far apart."""
    differs = [exposed.linked.cell(key) for key in exposed.linked.keys if any(label == "not yes" for _, label in key)]
    asked = exposed.unclear.copy()
    asked[differs] = True
    return tuple(np.flatnonzero(asked & (exposed.width >= fail_on.width) & (exposed.ranges.moves < fail_on.width)).tolist())


@dataclass(frozen=True)
class Answer:
    """What came out, and whether it is unsafe by what was asked for."""

    exposed: FeasibilityIntervals
    fail_on: FailOn
    complement: SecondarySuppression | None = None
    broken: tuple[RuleViolation, ...] = ()
    left_out: tuple[str, ...] = ()
    undecided: tuple[int, ...] = ()

    @property
    def safe(self) -> bool | None:
        """Whether the release is safe by what was asked for; None where that is not known."""
        unsafe = bool(self.unsafe or self.broken)
        return None if self.partial and not unsafe else not unsafe

    @property
    def partial(self) -> bool:
        """Whether more may be known than was found: cells left out or not decided, or ends that no people may attain."""
        wider = not self.exposed.linked.joint and bool(self.exposed.unclear.any())
        return bool(self.left_out or self.undecided or wider)

    @property
    def differences(self) -> list[int]:
        """Counts of people of one table who are not in another inside it: unprinted, known exactly and small."""
        ranges = self.exposed.ranges
        least, most = (1, 1) if self.fail_on.singled_out else (1, SMALL - 1)
        found = []
        for key in self.exposed.linked.keys:
            if any(label == "not yes" and column.startswith("in ") for column, label in key):
                cell = self.exposed.linked.cell(key)
                if least <= ranges.lo[cell] == ranges.hi[cell] <= most:
                    found.append(cell)
        return found

    @property
    def unsafe(self) -> list[int]:
        """The cells that are unsafe: printed ones that are known too well, and small differences between tables."""
        return [*self.narrow, *self.differences]

    @property
    def narrow(self) -> list[int]:
        """Printed cells, not printed exactly (or, for singled-out, counting 1), that are known too well."""
        ranges = self.exposed.ranges
        if self.fail_on.singled_out:
            one = (ranges.lo == 1) & (ranges.hi == 1)
            printed = np.zeros(len(one), dtype=bool)
            printed[list(self.exposed.printed.values())] = True
            return np.flatnonzero(one & printed).tolist()
        return np.flatnonzero(self.exposed.too_narrow(self.fail_on.width)).tolist()

    @property
    def counts(self) -> dict[str, int]:
        exact = self.exposed.unclear & (self.exposed.width == 0)
        hidden = self.exposed.hidden
        return {
            "tables": len(self.exposed.linked.placed), "printed_cells": len(self.exposed.printed),
            "suppressed": int(hidden.sum()), "suppressed_known_exactly": int((exact & hidden).sum()),
            "other_unclear": int((self.exposed.unclear & ~hidden).sum()),
            "other_known_exactly": int((exact & ~hidden).sum()), "unsafe": len(self.unsafe),
        }  # fmt: skip

    def lines(self) -> Iterator[str]:
        """The answer in a few sentences."""
        n = self.counts
        if n["suppressed"]:
            yield f"{n['suppressed_known_exactly']} of your {n['suppressed']} suppressed cells are known exactly."
        if n["other_unclear"]:
            yield f"{n['other_known_exactly']} of {n['other_unclear']} rounded counts are known exactly."
        if not n["suppressed"] and not n["other_unclear"]:
            nothing = "nothing is hidden, so nothing can be recovered"
            told = "of what was left out, nothing is said" if self.left_out else nothing
            yield f"All {n['printed_cells']} cells that were read are printed exactly: {told}."
        if self.left_out:
            yield f"This holds for the tables as far as they were read. Left out, {len(self.left_out)}:"
            yield from (f"  {one}" for one in self.left_out[:MOST_SHOWN])
            yield "  Nothing is called safe before these are read, or taken out (--allow-partial accepts it)."
        if self.undecided:
            yield f"{len(self.undecided)} cells: not decided whether they can be worked out; nothing is called safe."
        if self.differences:
            yield f"{len(self.differences)} differences between tables are known exactly and count fewer than {SMALL}."
        if self.broken:
            groups = sum(not one.printed for one in self.broken)
            yield f"{len(self.broken)} sums break a rule about contributions, {groups} of them not printed but worked out."
        if str(self.fail_on) != "exact":
            yield f"{n['unsafe']} cells are unsafe by {self.fail_on}."
        if self.exposed.ranges.limit:
            yield f"Note: {self.exposed.ranges.limit}; ranges hold, but some may be too wide (--seconds gives more time)."
        if not self.exposed.linked.joint:
            yield "Note: the tables form a circle too large to join: ranges hold, but people may not reach their ends."

    def reasons(self) -> Iterator[str]:
        """Why some of the unsafe cells are known."""
        for cell in self.unsafe[:MOST_SHOWN]:
            ranges, name = self.exposed.ranges, self.exposed.linked.sums.cells[cell]
            lo, hi = int(ranges.lo[cell]), int(ranges.hi[cell])
            yield f"  {name}: {lo if lo == hi else f'{lo} to {hi}'}"
            yield from (f"      {reason}" for reason in self.exposed.why(cell))
        if len(self.unsafe) > MOST_SHOWN:
            yield f"  ... and {len(self.unsafe) - MOST_SHOWN} more, all in cells.csv"

        for one in self.broken[:MOST_SHOWN]:
            yield f"  {one.rule}: {' + '.join(one.cells)}"

    @cached_property
    def percentages(self) -> list[dict[str, str]]:
        """
        The printed percentages beside counts that are not printed exactly, left out or not: table, cell, text and place.
        They must be withheld with these counts.
        """
        withheld = {*np.flatnonzero(self.exposed.unclear).tolist(), *(self.complement.cells if self.complement else ())}
        found = []
        for placed in self.exposed.linked.placed:
            for share in placed.table.shares:
                cell = self.exposed.printed[placed.keys[share.labels]]
                if cell in withheld and any(map(str.isdigit, share.entry.text)):
                    name = self.exposed.linked.sums.cells[cell]
                    found.append(
                        {"table": placed.table.name, "cell": name, "published": share.entry.text, "place": share.entry.place}
                    )
        return found

    @property
    def hidden_well(self) -> str:
        """What holds after secondary suppression."""
        width = self.fail_on.width
        return "none can be worked out" if width == 1 else f"every feasibility interval is at least {width} wide"

    def advice(self) -> Iterator[str]:
        if self.complement is None:
            return
        cells, left = self.complement.cells, self.complement.left
        names = self.exposed.linked.sums.cells
        if shares := len(self.percentages):
            then = "" if cells or left else f"; then {self.hidden_well}"
            yield f"Also suppress the {shares} percentages beside suppressed counts{then}."
        if cells:
            done = self.hidden_well if not left else f"{len(left)} are still known too well"
            these = f"these {len(cells)} cells" if len(cells) > 1 else "this cell"
            yield f"Also suppress {these}; then {done} ({self.complement.fewest}):"
            yield from (f"  {names[cell]}" for cell in cells[:MOST_SHOWN])
            if len(cells) > MOST_SHOWN:
                yield f"  ... and {len(cells) - MOST_SHOWN} more, all in withhold.csv"
        elif left:
            yield f"No secondary suppression was found for {len(left)} cells."
        if not self.complement.in_time:
            yield "The search for secondary suppressions ran out of time; --search-seconds gives more."

    def frame(self, dialect: str) -> pd.DataFrame:
        """A row for each printed cell: what is published, its range, if it is one number, and if both ends are attained."""
        words, frame = DIALECTS[dialect], self.exposed.frame.copy()
        unsafe = {self.exposed.linked.sums.cells[cell] for cell in self.unsafe}
        added = {self.exposed.linked.sums.cells[c] for c in self.complement.cells} if self.complement else set()
        status = []
        for row in frame.to_dict("records"):
            known = "exact" if row["known_exactly"] else "narrow"
            kind = known if row["cell"] in unsafe else "open" if row["unclear"] else "printed"
            status.append(words["withhold"] if row["cell"] in added else words[kind])
        frame["status"] = status
        return frame[list(COLUMNS)]

    def as_dict(self) -> dict[str, Any]:
        names = self.exposed.linked.sums.cells
        found: dict[str, Any] = {**self.counts, "fail_on": str(self.fail_on), "safe": self.safe,
                 "left_out": list(self.left_out), "undecided": [names[cell] for cell in self.undecided],
                 "limit": self.exposed.ranges.limit,
                 "ends_attained_by_people": self.exposed.linked.joint,
                 "unsafe_cells": [{"cell": names[cell], "lower": int(self.exposed.ranges.lo[cell]),
                                   "upper": int(self.exposed.ranges.hi[cell])} for cell in self.unsafe]}  # fmt: skip
        if self.broken:
            found["broken_rules"] = [{"rule": one.rule, "cells": list(one.cells)} for one in self.broken]
        if self.complement:
            found["withhold"] = [names[cell] for cell in self.complement.cells]
            found["withhold_is"] = self.complement.fewest
            found["withhold_percentages"] = len(self.percentages)
            found["still_unsafe"] = [names[cell] for cell in self.complement.left]
        return found

    def as_json(self) -> str:
        return json.dumps(self.as_dict(), indent=1, ensure_ascii=False)

    def withhold(self, dialect: str) -> pd.DataFrame:
        """What to withhold as well: cells, and the percentages that would give withheld cells away."""
        words, frame = DIALECTS[dialect], self.frame(dialect)
        names = {self.exposed.linked.sums.cells[cell] for cell in self.complement.cells} if self.complement else set()
        columns = ["table", "cell", "published", "place", "status"]
        shares = pd.DataFrame([{**own, "status": words["withhold"]} for own in self.percentages], columns=columns)
        cells = frame[frame["cell"].isin(names)][columns]
        both = [(cells, "count"), (shares, "percentage")]
        return pd.concat([own.assign(what=what) for own, what in both if len(own)] or [cells.assign(what="count")])

    def apriori(self) -> dict[str, str]:
        """For each table, the lines of an a-priori file that tau-Argus reads: the codes of a cell to withhold, and u."""
        chosen = set(self.complement.cells) if self.complement else set()
        files: dict[str, str] = {}
        for placed in self.exposed.linked.placed:
            lines = []
            for labels, key in placed.keys.items():
                if self.exposed.printed[key] in chosen:
                    lines.append(";".join([*(f'"{label}"' for label in labels), "u"]))
            if lines:
                files[placed.table.name] = "\n".join(lines) + "\n"
        return files
