"""Protected releases: sensitive cells by a rule, cells suppressed, counts rounded, categories merged, with a certificate."""

import argparse
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from itertools import pairwise
from math import log2
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from genverify.checker.certificate import ATTAINS
from genverify.disclosure.audit_value import Source
from genverify.disclosure.interpretation import Interpretation, PrintedForm, PrintedTableForm, interpret
from genverify.disclosure.intervals import FeasibilityIntervals, Rule, RuleViolation, broken_rules, find_intervals, opened
from genverify.disclosure.link import Labels, LinkedTables, TableCells
from genverify.disclosure.tables_audit import TablesAudit, tables_source, undecided_cells
from genverify.model.arrays import Ints
from genverify.model.errors import ConfigError, DataError
from genverify.model.files import write_whole
from genverify.model.linear import LinearSystem
from genverify.model.tablefiles import Expected, need_columns, open_csv, refuse_row
from genverify.protect.cell_suppression import PatternWork, Requirement, SuppressionPattern, SuppressionProblem, find_pattern
from genverify.protect.controlled_rounding import controlled_rounding
from genverify.reading.numerals import SUPPRESSED
from genverify.reading.source import CellAddress
from genverify.reading.totals import Hierarchy
from genverify.reading.write_back import write_back
from genverify.solve.linear.search import Work

SUPPRESS, ROUND, MERGE = METHODS = ("suppress", "round", "merge")
BASE = 5  # of rounding, where nobody says
RULES = "minimum 5, cells FILE.csv, p 10, dominance 2 80 or contributors 3"
COSTS = "1, count, log or a CSV file with the columns cell and cost"
HUNDREDTHS = 100  # costs are whole numbers: logarithms are counted in hundredths
MOST_NAMED = 5  # cells in a message
BRAKE = 900.0  # seconds of one core: far above what the limits in work allow on tables that were tried
TABLES_FOLDER, STAR, COUNT = "tables", "*", "count"
OWN_SYMBOL, NO_SYMBOL = "the symbol of your tables", "your tables use no other symbol for them"


@dataclass(frozen=True)
class ProtectionOptions:
    """What is asked for: the rule for sensitive cells, how far apart two counts of each must be, costs, and the method."""

    rule: str
    width: int = 1
    cost: str = "1"
    method: str = SUPPRESS
    base: int = BASE
    contributions: Path | None = None

    def __post_init__(self) -> None:
        if not re.fullmatch(r"minimum [1-9]\d{0,11}|cells .+|(p|contributors) \d+|dominance \d+ \d+", self.rule):
            raise ConfigError(f"--rule {self.rule}: give {RULES}")
        if self.method not in METHODS or self.width < 1 or self.base < 2:
            raise ConfigError(f"--method {self.method}, --width {self.width}, --base {self.base}: give "
                              "suppress, round or merge, a width from 1 and a base from 2")  # fmt: skip
        if self.method == MERGE and not self.of_counts:
            raise ConfigError(f"--method merge, --rule {self.rule}: who contributes to a merged cell is another question; "
                              "give --rule 'minimum 5' or 'cells FILE.csv', or suppress")  # fmt: skip
        if not self.of_counts and (self.contributions is None or self.width == 1):
            raise ConfigError(f"--rule {self.rule}: who contributed how much is not known from totals; give --contributions "
                              "FILE, and with --width how far apart two possible totals must be")  # fmt: skip

    @property
    def of_counts(self) -> bool:
        return self.rule.startswith(("minimum", "cells"))

    @property
    def minimum(self) -> int:
        """The least count that is not sensitive."""
        return int(self.rule.removeprefix("minimum ")) if self.rule.startswith("minimum") else 1

    def broken(self, exposed: FeasibilityIntervals) -> list[RuleViolation]:
        """The cells, and the sums of cells, whose contributions break the rule."""
        if self.of_counts or self.contributions is None:
            return []
        return broken_rules(exposed, self.contributions, [Rule(self.rule.replace(" ", "=", 1).replace(" ", ","))])


@dataclass(frozen=True)
class Protection:
    """How a release was protected: the rule, the method, why each cell was changed, the loss, and its bound."""

    rule: str
    method: str
    why: Mapping[str, str]  # of every changed cell: primary, secondary, rounded, or merged
    ends: Mapping[str, tuple[int, int]]  # of every cell that must not be known: counts as low and as high are possible
    loss: int
    bound: int
    symbol: str = ""  # that stands in place of suppressed counts
    points: tuple[tuple[int, ...], ...] = ()
    of: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def statements(self) -> list[dict[str, Any]]:
        return [{"side": ATTAINS, "cell": cell, "lower": low, "upper": high, "points": list(self.of[cell])}
                for cell, (low, high) in self.ends.items()]  # fmt: skip

    def lines(self, partial: bool) -> Iterator[str]:
        """What was done, in a few sentences; `partial` where something of the files was not read."""
        primary, secondary = (sum(why == own for why in self.why.values()) for own in ("primary", "secondary"))
        yield f"{len(self.ends) - secondary} sensitive cells by the rule: {self.rule}."
        if not self.ends:
            yield "There is nothing to protect: no count is sensitive, and none is suppressed."
            return
        if self.method == ROUND:
            yield f"{len(self.why)} counts are rounded; the changes add up to {self.loss}. All totals still add up."
        elif self.method == MERGE:
            yield f"{len(self.why)} counts are merged into others; {self.loss} fewer are printed. All totals still add up."
        else:
            optimum = "no cheaper set protects them" if self.bound >= self.loss else f"none below {self.bound} does"
            yield f"{primary} primary and {secondary} secondary suppressions, at a cost of {self.loss}: {optimum}."
            yield f"Suppressed counts are printed as {self.symbol}: {OWN_SYMBOL if self.symbol != STAR else NO_SYMBOL}."
        yield (
            f"Protected{', as far as the files were read' if partial else ''}: {len(self.points)} possible tables fit "
            f"what is published and show at least two counts of each of {len(self.ends)} cells (recounted without a solver)."
        )


def requirements(exposed: FeasibilityIntervals, asked: ProtectionOptions) -> dict[int, Requirement]:
    """What must stay possible of every sensitive cell, and of those that are suppressed already."""
    sums, ranges, high = exposed.linked.sums, exposed.ranges, 0
    if asked.minimum > 1:
        exact = [cell for cell in exposed.printed.values() if sums.lo[cell] == sums.hi[cell]]
        known = [*exact, *(cell for cell in exposed.linked.differences if ranges.lo[cell] == ranges.hi[cell])]
        cells, high = [cell for cell in known if 1 <= ranges.lo[cell] < asked.minimum], asked.minimum
    elif asked.rule.startswith("cells"):
        cells = [sums.place[name] for name, _ in _listed(Path(asked.rule.removeprefix("cells ")), sums)]
    else:
        cells = [sums.place[one.cells[0]] for one in asked.broken(exposed) if one.printed]
    result = {cell: Requirement(cell, width=asked.width) for cell in np.flatnonzero(exposed.hidden).tolist()}
    return result | {cell: Requirement(cell, high=high, width=asked.width) for cell in cells}


def costs(exposed: FeasibilityIntervals, counts: Ints, cost: str) -> Ints:
    """What it costs to suppress each printed cell; cells that are not printed stay as they are."""
    result = np.full(len(counts), -1, dtype=np.int64)
    for cell in exposed.suppressible:  # what an earlier release prints cannot be hidden any more
        logarithm = round(HUNDREDTHS * log2(1 + int(counts[cell]))) if cost == "log" else 1
        result[cell] = max(counts[cell] if cost == "count" else logarithm, 1)
    if cost not in ("1", "count", "log"):
        for name, number in _listed(Path(cost), exposed.linked.sums, "cost"):
            result[exposed.linked.sums.place[name]] = number
    return result


def _listed(path: Path, sums: LinearSystem, column: str = "") -> Iterator[tuple[str, int]]:
    """Cells that a file names, with a whole number of each where one is asked for."""
    if not path.exists():
        raise ConfigError(f"{path}: there is no such file; --rule takes {RULES}; --cost takes {COSTS}")
    frame = open_csv(path, Expected("cells")).frame()
    need_columns(path, frame, ("cell", column) if column else ("cell",))
    lost = ~frame["cell"].isin(sums.cells)
    near = get_close_matches(next(iter(frame["cell"][lost]), ""), sums.cells, n=MOST_NAMED)
    refuse_row(path, frame["cell"], lost, f"is not a cell of the tables{'; near are ' if near else ''}{'; '.join(near)}")
    if column:
        refuse_row(path, frame[column], ~frame[column].str.isdecimal(), "is not a whole number from 0, as a cost must be")
    yield from zip(frame["cell"], map(int, frame[column]) if column else [0] * len(frame), strict=True)


def protected_audit(
    understood: Interpretation, source: Source, asked: ProtectionOptions, settings: argparse.Namespace, folder: Path
) -> TablesAudit:
    """Write the protected tables, read them again as anybody would, and audit them: each sensitive cell has its points."""
    if understood.left_out and not settings.allow_partial:
        left = "; ".join(understood.left_out[:MOST_NAMED])
        raise DataError(f"parts of the files were not read and would not be protected: {left}. --allow-partial continues")
    work = Work(seconds=settings.seconds)
    exposed = find_intervals(understood.linked, work)
    counts, wanted = exposed.ranges.point, requirements(exposed, asked)
    if counts is None:
        raise DataError(f"no counts that fit the tables were found ({exposed.ranges.limit}), so nothing can be protected")
    symbol, bound, names, form = "", 0, exposed.linked.sums.cells, understood.form
    sources = [own for own in understood.reading.sources if not own.earlier]
    earlier = [own.path.resolve() for own in understood.reading.sources if own.earlier and own.path]
    if asked.method == MERGE:
        written, why, loss, form = _merged(exposed, counts, wanted, asked, form, folder / TABLES_FOLDER)
        symbol = STAR
    else:
        if asked.method == ROUND:
            rounded = controlled_rounding(exposed.linked.sums, counts, asked.base)
            changed = {cell: str(rounded[cell]) for cell in exposed.printed.values() if rounded[cell] != counts[cell]}
            why, loss = dict.fromkeys(changed, "rounded"), int(np.abs(rounded - counts)[list(changed)].sum())
            wanted, bound = {cell: replace(one, high=0) for cell, one in wanted.items()}, loss
            form = form.model_copy(update={"rule": [f"random={asked.base}"]})
        else:
            pattern = _suppressed(exposed, counts, wanted, asked)
            symbol = next((text for text, own in understood.symbols.items() if text and own.meaning == SUPPRESSED), STAR)
            loss, bound = pattern.cost, pattern.bound
            why = {cell: "primary" if cell in wanted else "secondary" for cell in pattern.cells}
            wanted |= {cell: Requirement(cell) for cell in pattern.cells if cell not in wanted}
            hidden = np.flatnonzero(exposed.hidden).tolist()  # the percentages beside these go too
            changed = dict.fromkeys([*pattern.cells, *hidden], symbol)
            form = form.model_copy(update={"marks": {**form.marks, symbol: SUPPRESSED}})
        written = write_back(sources, _changes(exposed, changed), folder / TABLES_FOLDER)
    said = {column: (source.home / name).resolve() for column, name in form.hierarchies.items()}
    form = form.model_copy(update={
        "printed": [str(path.relative_to(folder)) for path in written],
        "previous": [str((source.home / name).resolve()) for name in form.previous],
        "hierarchies": {column: str(path) for column, path in said.items()},
    })  # fmt: skip
    read_again = interpret(form, folder)
    again, needed = find_intervals(read_again.linked, work), {names[cell]: one for cell, one in wanted.items()}
    for broken in asked.broken(again):  # no choice of single cells helps there
        raise DataError(f"{' + '.join(broken.cells)}: the sum is known and breaks the rule {asked.rule}; "
                        "suppress more of these cells with a list (--rule 'cells FILE')")  # fmt: skip
    shown = Protection(asked.rule, asked.method, {names[cell]: own for cell, own in why.items()}, {}, loss, bound, symbol)
    about = tables_source(read_again, home=folder, inputs=(*written, *earlier, *said.values()), answers=source.answers)
    return _certified(again, needed, shown, about)


def _suppressed(
    exposed: FeasibilityIntervals, counts: Ints, wanted: Mapping[int, Requirement], asked: ProtectionOptions
) -> SuppressionPattern:
    linked, own = exposed.linked, costs(exposed, counts, asked.cost)
    problem = SuppressionProblem(opened(linked, ()), counts, own, tuple(wanted.values()), linked.beside)
    pattern = find_pattern(problem, PatternWork(seconds=BRAKE).scaled(len(counts)))
    if pattern.limit and not pattern.cells:
        raise DataError(f"no protecting suppressions were found: {pattern.limit}. Protect fewer tables, or ask for less")
    _refuse(pattern.unmet, linked.sums.cells, "even if every printed cell is suppressed")
    return pattern


def _refuse(cells: Sequence[int], names: Sequence[str], when: str) -> None:
    listed = "; ".join(names[cell] for cell in cells[:MOST_NAMED])
    more = f" and {len(cells) - MOST_NAMED} more" if len(cells) > MOST_NAMED else ""
    remedy = "Merge categories, leave out a table, or ask for less"
    if cells:
        raise DataError(f"the rule cannot be met {when}: {listed}{more}. {remedy}")


def _merged(
    exposed: FeasibilityIntervals, counts: Ints, wanted: Mapping[int, Requirement], asked: ProtectionOptions,
    form: PrintedForm, folder: Path,
) -> tuple[list[Path], dict[int, str], int, PrintedForm]:  # fmt: skip
    """The tables with merged categories, a line for each count: rows and columns that vanish fit no other format."""
    if exposed.unclear.any():
        raise DataError("--method merge needs tables whose counts are all printed exactly; suppress counts instead")
    folder.mkdir()
    named = () if asked.rule.startswith("minimum") else tuple(wanted)
    tables, place = merge_categories(exposed.linked, counts, asked.minimum, named), exposed.linked.cell
    written, why, about, lost = list[Path](), dict[int, str](), dict[str, PrintedTableForm](), 0
    for number, one in enumerate(tables, 1):
        path = folder / f"table_{number}.csv"
        lines = [[*labels, STAR if count is None else count] for labels, count in one.lines.items()]
        names = list(one.placed.labels)[: len(one.placed.table.columns)]
        write_whole(path, pd.DataFrame(lines, columns=[*names, COUNT]).to_csv(index=False).encode())
        written.append(path)
        about[path.stem] = PrintedTableForm.model_validate({"sums": one.sums})
        why |= {place[key]: "merged" for labels, key in one.placed.keys.items() if one.lines[labels] is None}
        lost += len(one.placed.keys) - sum(count is not None for count in one.lines.values())
    kept = {name: getattr(form, name) for name in ("title", "same_people", "partial", "previous")}
    return written, why, lost, PrintedForm(printed=[""], marks={STAR: SUPPRESSED}, tables=about, **kept)


def _changes(exposed: FeasibilityIntervals, changed: Mapping[int, str]) -> dict[CellAddress, str]:
    """The new text of every printed count, wherever it is printed as a number, and of the percentages beside it."""
    entries = [(exposed.printed[key], entry) for key, said in exposed.linked.current.items() for _, entry, _ in said
               if entry.number is not None]  # fmt: skip
    entries += [(exposed.printed[placed.keys[share.labels]], share.entry)
                for placed in exposed.linked.now for share in placed.table.shares]  # fmt: skip
    result = dict[CellAddress, str]()
    for cell, entry in ((cell, entry) for cell, entry in entries if cell in changed):
        if entry.address is None:
            raise DataError(f"{entry.place}: {entry.text} is printed where it cannot be changed; remove it from the file")
        result[entry.address] = changed[cell]
    return result


def _certified(again: FeasibilityIntervals, needed: Mapping[str, Requirement], made: Protection, of: Source) -> TablesAudit:
    """The audit of the protected tables with the points of all cells that must not be known."""
    linked, ranges, place = again.linked, again.ranges, again.linked.sums.place
    for lost in (name for name in needed if name not in place):
        raise DataError(f"{lost}: missing when the protected tables are read again; say how they are read (--total, "
                        "--counts, --labels), or save the reading with disclose --write")  # fmt: skip
    if not linked.joint:
        raise DataError("the tables are linked in a loop too large to solve as one: that people fit them cannot be shown")
    if ranges.point is None:
        raise DataError(f"no counts that fit the protected tables were found ({ranges.limit})")
    own = tuple(replace(one, cell=place[name]) for name, one in needed.items())
    pattern = find_pattern(SuppressionProblem(linked.sums, ranges.point, np.full(len(ranges.lo), -1), own))
    _refuse(pattern.unmet, linked.sums.cells, "by the protected tables as they are read again")
    open_, shown = linked.sums.lo < linked.sums.hi, {name: pattern.of[place[name]] for name in needed}
    points = tuple(tuple(point[open_].tolist()) for point in pattern.points)
    ends = {name: (int(pattern.points[low][place[name]]), int(pattern.points[high][place[name]]))
            for name, (low, high) in shown.items()}  # fmt: skip
    audit = TablesAudit(exposed=again, source=of, limit=ranges.limit, undecided=undecided_cells(again, 1),
                        protected_by=replace(made, ends=ends, points=points, of=shown))  # fmt: skip
    audit.check_proofs()
    return audit


# Merging of categories: neighbours in a column become one until no count that is printed is sensitive.

GONE = -1  # the number of a label that is no longer printed
Merged = Mapping[tuple[str, Labels], list[Labels]]  # for the parts of a sum in a column: those that stand together


@dataclass(frozen=True)
class MergedTable:
    """A table once categories are merged: its columns, every line with the count, or none where a category is merged."""

    placed: TableCells
    lines: Mapping[Labels, int | None]
    sums: Mapping[str, dict[str, list[list[str]]]]


def merge_categories(linked: LinkedTables, counts: Ints, minimum: int, named: Collection[int]) -> list[MergedTable]:
    """Neighbours among parts of a sum merged, alike in all tables, those first that cost the fewest counts."""
    merged: dict[tuple[str, Labels], list[Labels]] = {}
    for placed in linked.now:
        for column, name in zip(placed.table.columns, placed.labels, strict=False):
            merged |= {(name, parts): [(part,) for part in parts] for _, parts in placed.table.sums.get(column, ())}
    tables = [_Table(placed, [linked.cell[key] for key in placed.keys.values()], counts, named) for placed in linked.now]
    sensitive, printed = _left(tables, merged, minimum)
    while sensitive:
        tried = [(own, _left(tables, own, minimum)) for own in _coarser(merged)]
        if not tried:
            lines = {" / ".join(own): count or 0 for table in tables for own, count in table.merged(merged).lines.items()}
            small = "; ".join([name for name, count in lines.items() if 0 < count < minimum][:MOST_NAMED])
            raise DataError(f"the rule cannot be met by merging: with all categories merged sensitive counts are left "
                            f"({small}); suppress cells, or leave out a table")  # fmt: skip
        merged, (sensitive, printed) = max(tried, key=lambda one: (
            (sensitive - one[1][0]) / max(printed - one[1][1], 1), one[1][1]))  # fmt: skip
    return [table.merged(merged) for table in tables]


def _coarser(merged: Merged) -> Iterator[dict[tuple[str, Labels], list[Labels]]]:
    for (name, parts), groups in merged.items():
        for at, (one, other) in enumerate(pairwise(groups)):
            yield {**merged, (name, parts): [*groups[:at], one + other, *groups[at + 2 :]]}


def _left(tables: Sequence["_Table"], merged: Merged, minimum: int) -> tuple[int, int]:
    """Sensitive counts that are still printed, and all that are."""
    both = np.array([table.left(merged, minimum) for table in tables]).sum(axis=0)
    return int(both[0]), int(both[1])


class _Table:
    def __init__(self, placed: TableCells, cells: Sequence[int], counts: Ints, named: Collection[int]) -> None:
        self.placed, self.names = placed, list(placed.labels)[: len(placed.table.columns)]
        self.entries, self.values = list(placed.keys), counts[cells]
        self.named = np.isin(cells, list(named))
        self.labels = [placed.table.labels(column) for column in placed.table.columns]
        places = [{label: at for at, label in enumerate(own)} for own in self.labels]
        self.codes = [np.array([place[own[at]] for own in self.entries]) for at, place in enumerate(places)]

    def owners(self, merged: Merged, at: int) -> tuple[dict[str, str], set[str]]:
        """In whose count that of each label of a column is printed, and the labels that no merged label is made of."""
        sums = self.placed.table.sums.get(self.placed.table.columns[at], Hierarchy())
        own, inside = dict[str, str](), set[str]()
        for parent, parts in sorted(sums, key=lambda one: -len(sums.inside(one[0]))):
            for group in merged[self.names[at], parts] if parent not in own else ():
                whole = len(group) == len(parts)  # then the sum is printed alone
                if len(group) > 1:
                    below = {label for part in group for label in sums.inside(part)}
                    own |= dict.fromkeys(below, parent if whole else merged_name(group))
                    inside |= below if whole else below - set(group)
        return own, inside

    def left(self, merged: Merged, minimum: int) -> tuple[int, int]:
        flat, kept, alone = np.zeros(len(self.values), np.int64), np.ones(len(self.values), bool), self.named.copy()
        for at, labels in enumerate(self.labels):
            own, inside = self.owners(merged, at)
            number = {label: place for place, label in enumerate(dict.fromkeys(own.get(label, label) for label in labels))}
            codes = np.array([GONE if label in inside else number[own.get(label, label)] for label in labels])
            flat = flat * len(number) + codes[self.codes[at]]
            kept &= codes[self.codes[at]] != GONE
            alone &= ~np.isin(self.codes[at], [place for place, label in enumerate(labels) if label in own])
        _, place = np.unique(flat[kept], return_inverse=True)
        sums = np.bincount(place, self.values[kept])
        return int(((sums > 0) & (sums < minimum)).sum() + alone.sum()), len(sums)

    def merged(self, merged: Merged) -> MergedTable:
        table = self.placed.table
        owned = [self.owners(merged, at) for at in range(len(self.labels))]
        values = dict(zip(self.entries, self.values.tolist(), strict=True))
        names = [own for own, _ in owned]
        of = {labels: tuple(own.get(one, one) for own, one in zip(names, labels, strict=True)) for labels in values}
        lines = dict[Labels, int | None]()
        for labels, count in values.items():
            lost = any(label in inside for (_, inside), label in zip(owned, labels, strict=True))
            if not lost and of[labels] not in values:
                lines[of[labels]] = (lines.get(of[labels]) or 0) + count
        # of a merged count of 0 all parts are 0 anyway
        parts = {labels: 0 if (lines | values).get(of[labels]) == 0 else None for labels in values if of[labels] != labels}
        sums = dict[str, dict[str, list[list[str]]]]()
        for (column, name), (gone, _) in zip(zip(table.columns, self.names, strict=True), owned, strict=True):
            for parent, own in table.sums.get(column, ()):
                groups = merged[name, own]
                alone = parent in gone or len(groups) == 1
                listed = sums.setdefault(name, {})
                listed.setdefault(parent, []).append(list(own) if alone else list(map(merged_name, groups)))
                listed |= {merged_name(group): [list(group)] for group in groups if len(group) > 1 and not alone}
        return MergedTable(self.placed, {**values, **parts, **lines}, sums)


def merged_name(labels: Sequence[str]) -> str:
    return " or ".join(labels)
