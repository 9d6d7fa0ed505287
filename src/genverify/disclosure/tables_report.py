"""The report about printed tables: the answer at the top, the tables as they are printed with what is known of each cell."""

from collections.abc import Iterator
from typing import Any

from genverify.disclosure.answer import Answer
from genverify.disclosure.linked import Placed
from genverify.disclosure.printed import Understood, summary
from genverify.show.pages import render

TEMPLATE = "disclosure/tables.html.j2"
MOST_TABLES, MOST_ROWS, MOST_COLUMNS = 12, 60, 16


def tables_report(understood: Understood, answer: Answer) -> str:
    """The whole report as one HTML page."""
    placed = answer.exposed.linked.placed
    unsafe = set(answer.unsafe)
    return render(
        TEMPLATE,
        title=understood.form.title or "What these tables give away",
        counts=answer.counts,
        lines=list(answer.lines()),
        reasons=[_reason(answer, cell) for cell in answer.unsafe[:20]],
        unsafe=len(unsafe),
        advice=list(answer.advice()),
        withheld=_withheld(answer),
        understood=summary(understood),
        shown=[_table(answer, one, unsafe) for one in placed[:MOST_TABLES]],
        more=max(len(placed) - MOST_TABLES, 0),
        joint=answer.exposed.linked.joint,
        limit=answer.exposed.ranges.limit,
        statements=len(answer.exposed.ranges.statements),
    )


def _reason(answer: Answer, cell: int) -> tuple[str, str, list[str]]:
    ranges = answer.exposed.ranges
    lo, hi = int(ranges.lo[cell]), int(ranges.hi[cell])
    return answer.exposed.linked.sums.cells[cell], str(lo) if lo == hi else f"{lo} to {hi}", answer.exposed.why(cell)


def _withheld(answer: Answer) -> list[tuple[str, str]]:
    if answer.complement is None:
        return []
    sums = answer.exposed.linked.sums
    return [(sums.cells[cell], str(sums.lo[cell])) for cell in answer.complement.cells]


def _table(answer: Answer, placed: Placed, unsafe: set[int]) -> dict[str, Any]:
    """A table as it is printed: the last column across, the others down; cells with their range and a mark."""
    table = placed.table
    across = table.labels(table.columns[-1])[:MOST_COLUMNS] if len(table.columns) > 1 else ("count",)
    rows = list(dict.fromkeys(labels[:-1] if len(table.columns) > 1 else labels for labels in table.entries))
    body = [[*row, *_cells(answer, placed, row, across, unsafe)] for row in rows[:MOST_ROWS]]
    head = [*(table.columns[:-1] if len(table.columns) > 1 else table.columns), *across]
    cut = len(rows) > MOST_ROWS or (len(table.columns) > 1 and len(table.labels(table.columns[-1])) > MOST_COLUMNS)
    return {
        "name": table.name,
        "title": table.title,
        "head": head,
        "rows": body,
        "labels": len(head) - len(across),
        "cut": cut,
    }


def _cells(
    answer: Answer, placed: Placed, row: tuple[str, ...], across: tuple[str, ...], unsafe: set[int]
) -> Iterator[tuple[str, str, str]]:
    """What is printed, what is known where that is more, and the kind of the cell."""
    table, ranges = placed.table, answer.exposed.ranges
    added = set(answer.complement.cells) if answer.complement else set()
    for label in across:
        labels = (*row, label) if len(table.columns) > 1 else row
        if labels not in placed.keys:
            yield "", "", ""
            continue
        cell = answer.exposed.printed[placed.keys[labels]]
        lo, hi = int(ranges.lo[cell]), int(ranges.hi[cell])
        known = str(lo) if lo == hi else f"{lo} or more" if answer.exposed.open_above(cell) else f"{lo} to {hi}"
        kind = (
            "unsafe" if cell in unsafe else "withhold" if cell in added else "open" if answer.exposed.unclear[cell] else ""
        )
        yield table.entries[labels].text or "blank", known if answer.exposed.unclear[cell] else "", kind
