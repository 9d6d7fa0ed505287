"""The audit of printed tables: feasibility intervals with proofs, rules about contributions, tables as they are printed."""

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd

from genverify.checker.certificate import write_proofs
from genverify.checker.linear_proofs import check_linear
from genverify.disclosure import intervals
from genverify.disclosure.audit_value import DIALECTS, MOST_SHOWN, Audit, Source, said
from genverify.disclosure.interpretation import Exemption, Interpretation, summary
from genverify.disclosure.intervals import FeasibilityIntervals, Rule, RuleViolation, broken_rules, find_intervals
from genverify.disclosure.link import TableCells
from genverify.model.errors import ConfigError, DataError, nearest
from genverify.model.files import file_name
from genverify.model.proof_form import LINEAR, new_certificate
from genverify.solve.linear.search import Work

SMALL = 5  # a difference between two tables below this is one that a reviewer would not have released
SEARCH_SECONDS = 60.0  # for secondary suppressions, where nobody says: as long as a person waits
MOST_NAMED = 2_000  # names among which the nearest to a wrong one is looked for
SYSTEM, PROOFS = "system.json.gz", "proofs.jsonl.gz"


@dataclass(frozen=True, kw_only=True, repr=False)
class TablesAudit(Audit):
    exposed: FeasibilityIntervals

    @cached_property
    def broken(self) -> Sequence[RuleViolation]:  # type: ignore[override]
        given = self.source.contributions
        return broken_rules(self.exposed, given, [Rule(word) for word in self.source.sensitive]) if given else ()

    @property
    def rows(self) -> Sequence[Mapping[str, Any]]:
        return self.exposed.rows

    @property
    def tables(self) -> int:
        return len(self.exposed.linked.now)

    @property
    def statements(self) -> Sequence[Mapping[str, Any]]:
        return [*self.exposed.ranges.statements, *(self.protected_by.statements if self.protected_by else ())]

    @property
    def attained(self) -> bool:
        return self.exposed.linked.joint

    @cached_property
    def unsafe_cells(self) -> list[Mapping[str, Any]]:
        """Printed cells that are known too well, and small differences between tables; without those that are exempt."""
        return [row for row in self._judged if row["cell"] not in self.exempt]

    @cached_property
    def _judged(self) -> list[Mapping[str, Any]]:
        ranges, names = self.exposed.ranges, self.exposed.linked.sums.cells
        return [row for row in self.rows if self._narrow(row)] + [
            {"area": "", "cell": names[c], "lower": int(ranges.lo[c]), "upper": int(ranges.hi[c]), "unclear": True,
             "proof": self.exposed.proofs.get(names[c], "printed"), "what": "difference"} for c in self.differences
        ]  # fmt: skip

    @cached_property
    def exempt(self) -> Mapping[str, Exemption]:
        """The cells that are not judged, by name: those that the form names, and those of the tables that it names."""
        result, files = dict[str, Exemption](), {Path(own.table.source).name for own in self.exposed.linked.now}
        given = self.source.form.exempt if self.source.form else ()
        for one in (one for one in given if not one.file or one.file in files):
            among = self._cells_of.get(one.table, []) if one.table else list(self.exposed.linked.sums.cells)
            cells = [cell for cell in among if one.cell == cell or (one.table and not one.cell)]
            if not cells:
                near = nearest(one.cell or one.table, among[:MOST_NAMED] or list(self._cells_of))
                raise ConfigError(f"exempt {one.table} {one.cell}, by {one.who}: no such cell or table: {near}")
            result |= dict.fromkeys(cells, one)
        return result

    @cached_property
    def _cells_of(self) -> Mapping[str, list[str]]:
        names, cell = self.exposed.linked.sums.cells, self.exposed.linked.cell
        return {own.table.name: [names[cell[key]] for key in own.keys.values()] for own in self.exposed.linked.now}

    @property
    def differences(self) -> list[int]:
        """Counts of people of one table who are not in another inside it: unprinted, known exactly and small."""
        ranges, most = self.exposed.ranges, 1 if self.fail_on.singled_out else SMALL - 1
        return [cell for cell in self.exposed.linked.differences if 1 <= ranges.lo[cell] == ranges.hi[cell] <= most]

    @property
    def not_attained(self) -> list[int]:
        """The places of printed cells of which no counts were found that attain both ends."""
        return [cell for cell in self.exposed.printed.values() if not self.exposed.ranges.exact[cell]]

    @property
    def targets(self) -> list[int]:
        unsafe = [row["cell"] for row in self.unsafe_cells if row["what"] != "difference" and row["unclear"]]
        return [self.exposed.linked.sums.place[cell] for cell in unsafe]

    @property
    def numbers(self) -> dict[str, Any]:
        unsafe = {row["cell"] for row in self.unsafe_cells}
        older = {own.table.source: () for own in self.exposed.linked.placed if own.table.earlier}
        files = {own.table.name: own.table.source for own in self.exposed.linked.now}
        result: dict[str, Any] = {
            "broken_rules": [{"rule": one.rule, "cells": list(one.cells)} for one in self.broken],
            "previous": {file: list(cells) for file, cells in {**older, **self.given_by}.items()},
            "exempt": [{"cell": row["cell"], **self.exempt[row["cell"]].model_dump(include={"who", "why"})}
                       for row in self._judged if row["cell"] in self.exempt],
            "by_table": {name: {"file": files[name], "unsafe": len(unsafe.intersection(cells))}
                         for name, cells in self._cells_of.items()},
        }  # fmt: skip
        shares = {"suppress_percentages": len(self.percentages)} if self.suppression else {}
        return {name: own for name, own in result.items() if own} | shares

    def verdict(self) -> Iterator[str]:
        if not self.exposed.unclear.any():
            nothing = "nothing is suppressed, so there is nothing to recover"
            given = "nothing is known about what was left out" if self.left_out else nothing
            yield f"All {len(self.rows)} cells that were read are printed exactly: {given}."
        elif not self.exposed.linked.sums.rows:
            yield "No totals are printed, so no sum contains a suppressed count: nothing can be inferred about them."
        if self.fail_on.frequency and (small := sum(not row["unclear"] for row in self.unsafe_cells)):
            yield f"Printed counts below the minimum frequency of {self.fail_on.frequency}: {small}."
        for file, cells in self.given_by.items():
            yield f"{len(cells)} cells are unsafe only with earlier releases: {file}."
        if len(self._judged) > len(self.unsafe_cells):
            yield f"{len(self._judged) - len(self.unsafe_cells)} unsafe cells are exempt."
        if self.differences:
            yield f"Differences between tables that are known exactly and are below {SMALL}: {len(self.differences)}."
        if self.broken:
            groups = sum(not one.printed for one in self.broken)
            yield f"Sums that break a rule about contributions: {len(self.broken)}; not printed, but implied: {groups}."

    def why(self, row: Mapping[str, Any]) -> list[str]:
        place = self.exposed.linked.sums.place[row["cell"]]
        texts = self.exposed.linked.printed.get(self.exposed.linked.keys[place], ())
        older = [entry for table, entry, value in texts if table.earlier and not value.hidden]
        return [*(f"{entry.text} was printed at {entry.place}" for entry in older), *self.exposed.why(place)]

    def reasons(self) -> Iterator[str]:
        yield from super().reasons()
        yield from (f"  {one.rule}: {' + '.join(one.cells)}" for one in self.broken[:MOST_SHOWN])

    # secondary suppression

    def suppress(self, seconds: float | None = None) -> Self:
        seconds = SEARCH_SECONDS if seconds is None else seconds
        if not self.targets or self.fail_on.singled_out or seconds <= 0:
            return self
        chosen = intervals.suppress_more(self.exposed, self.targets, self.fail_on.width, Work(seconds=seconds))
        return replace(self, suppression=chosen)

    def protection(self) -> str:
        if self.suppression and self.suppression.left:
            return f"{self.suppression.left} still have intervals that are too narrow"
        width = self.fail_on.width
        return "none can be worked out" if width == 1 else f"every feasibility interval is at least {width} wide"

    def advice(self) -> Iterator[str]:
        chosen = self.suppression
        if chosen and (shares := len(self.percentages)):
            then = "" if chosen.steps or chosen.left else f"; then {self.protection()}"
            yield f"Also suppress the {shares} percentages next to suppressed counts{then}."
        yield from super().advice()

    @cached_property
    def percentages(self) -> list[dict[str, str]]:
        """The printed percentages beside counts that are not printed exactly, which must be suppressed with these."""
        sums, unclear, result = self.exposed.linked.sums, self.exposed.unclear, list[dict[str, str]]()
        added = set(self.suppression.cells) if self.suppression else set()
        for placed, share in ((own, share) for own in self.exposed.linked.now for share in own.table.shares):
            cell = self.exposed.printed[placed.keys[share.labels]]
            if (unclear[cell] or sums.cells[cell] in added) and any(map(str.isdigit, share.entry.text)):
                result.append({"table": placed.table.name, "cell": sums.cells[cell], "published": share.entry.text,
                               "place": share.entry.place})  # fmt: skip
        return result

    @property
    def to_suppress(self) -> pd.DataFrame:
        if self.protected_by:
            why = self.cells["cell"].map(dict(self.protected_by.why))
            rows = self.cells[["area", "table", "cell", "label", "published", "place"]]
            return rows.assign(status=why, what="count", left="")[why.notna()]
        cells, word = super().to_suppress, DIALECTS[self.dialect]["suppress"]
        same = {"area": "", "label": "", "left": "", "status": word, "what": "percentage"}
        shares = [{**same, **percentage} for percentage in self.percentages]
        return pd.concat([cells, pd.DataFrame(shares, columns=cells.columns)]) if shares else cells

    # proofs

    def write_proofs(self, folder: Path) -> None:
        """The system, the proofs, and for each table a file that tau-Argus reads: the codes of a cell to suppress, and u."""
        sums, made, chosen = self.exposed.linked.sums, self.protected_by, self.suppression
        system = json.dumps(sums.as_dict(), separators=(",", ":"))
        (folder / SYSTEM).write_bytes(gzip.compress(system.encode(), mtime=0))
        certificate = new_certificate(LINEAR, "tables", sums.digest) | {"statements": list(self.statements)}
        write_proofs([certificate | ({"points": made.points} if made else {})], folder / PROOFS)
        added = set(chosen.cells if chosen else made.why if made else ())
        for one in self.exposed.linked.now:
            cells = [labels for labels, key in one.keys.items() if sums.cells[self.exposed.printed[key]] in added]
            text = "".join(";".join([*(f'"{label}"' for label in labels), "u\n"]) for labels in cells)
            if cells:
                (folder / f"{file_name(one.table.name)}.hst").write_text(text, encoding="utf-8", errors="backslashreplace")

    def check_proofs(self) -> None:
        points, ranges = self.protected_by.points if self.protected_by else (), self.exposed.ranges
        displayed = check_linear(self.exposed.linked.sums, self.statements, points)
        if displayed.lo != ranges.lo.tolist() or displayed.hi != ranges.hi.tolist():
            raise DataError("the proofs show intervals other than these")
        if self.protected_by and displayed.attained != self.protected_by.ends:
            raise DataError("the points show ends of intervals other than these; make the results again")

    def proved(self) -> str:
        ranges = self.exposed.ranges
        exact = int((ranges.lo == ranges.hi).sum())
        about = f"{len(self.statements)} statements about {len(ranges.lo)} cells"
        which = ", as far as the files were read" if self.left_out else ""
        shown = f"; two possible counts of {len(self.protected_by.ends)} protected cells{which}" if self.protected_by else ""
        return f"{about}: all proofs right; {exact} cells known exactly{shown}"

    def search_again(self, seconds: float) -> str:
        if seconds <= 0:
            return "not searched for again: narrower intervals, attained ends, whether the proposed suppressions protect"
        exposed, chosen, names, width = self.exposed, self.suppression, self.exposed.linked.sums.cells, self.fail_on.width
        searched = find_intervals(exposed.linked, Work(seconds=seconds))
        again, indices = searched.ranges, np.array(list(exposed.printed.values()), dtype=np.int64)
        for cell in indices[((again.lo > exposed.ranges.lo) | (again.hi < exposed.ranges.hi))[indices]]:
            raise DataError(f"{names[cell]}: more is known about this cell than the results show; make them again")
        if again.limit:
            return f"not searched for again in full ({again.limit})"
        if open_ := set(undecided_cells(searched, width)) - set(self.undecided):
            raise DataError(f"{min(open_)}: undecided, though the results say otherwise; make them again")
        for cell in indices[(exposed.ranges.exact & ~again.exact)[indices]]:
            raise DataError(f"{names[cell]}: not both ends are attained, though the results say so; make them again")
        if chosen is None:
            return "searched again: no interval is narrower than shown"
        left, limit = intervals.still_narrow(exposed, self.targets, chosen.cells, width, Work(seconds=seconds))
        if limit:
            return f"searched again: no interval is narrower than shown; the proposed suppressions, not in full ({limit})"
        if other := set(left) - set(chosen.still):
            raise DataError(f"{min(other)}: the proposed suppressions do not protect this cell; make the results again")
        return "searched again: no interval is narrower than shown, and the proposed suppressions protect as stated"

    # the tables as they are printed, for the report

    def printed(self, placed: TableCells, most_rows: int, most_columns: int) -> dict[str, Any]:
        """A table: the last column across, the others down; cells with their text, their range and what to do with them."""
        table = placed.table
        down = max(len(table.columns) - 1, 1)  # a table by one column has its counts in one more
        all_across = table.labels(table.columns[-1]) if len(table.columns) > 1 else ("count",)
        rows, across = list(dict.fromkeys(labels[:down] for labels in table.entries)), all_across[:most_columns]

        def cell(labels: tuple[str, ...]) -> tuple[str, str, str]:
            if labels not in placed.keys:
                return "", "", ""
            return table.entries[labels].text or "blank", *self._known[self.exposed.printed[placed.keys[labels]]]

        body = [[*row, *(cell((*row, label)[: len(table.columns)]) for label in across)] for row in rows[:most_rows]]
        return {"name": table.name, "title": table.title, "head": [*table.columns[:down], *across], "rows": body,
                "labels": down, "cut": len(rows) > most_rows or len(all_across) > most_columns}  # fmt: skip

    @cached_property
    def _known(self) -> dict[int, tuple[str, str]]:
        index, unsafe = self.exposed.linked.sums.place, {row["cell"] for row in self.unsafe_cells}
        added = set(self.suppression.cells) if self.suppression else set()
        result = {}
        for row in self.rows:
            kind = "unsafe" if row["cell"] in unsafe else "suppress" if row["cell"] in added else ""
            open_ = "open" if row["unclear"] else ""
            result[index[row["cell"]]] = said(row["lower"], row["upper"]) if row["unclear"] else "", kind or open_
        return result


def tables_source(understood: Interpretation, **given: Any) -> Source:
    """What was understood of printed tables, in words, and what it was read from."""
    words = tuple(summary(understood))
    return Source(form=understood.form, title=understood.form.title, understood=words, left_out=understood.left_out, **given)


def undecided_cells(exposed: FeasibilityIntervals, width: int) -> tuple[str, ...]:
    """Cells that are not printed exactly, whose range is wide enough, but without counts that fit and are as far apart."""
    asked = exposed.unclear.copy()
    asked[exposed.linked.differences] = True
    cells = np.flatnonzero(asked & (exposed.width >= width) & (exposed.ranges.moves < width))
    return tuple(exposed.linked.sums.cells[cell] for cell in cells)
