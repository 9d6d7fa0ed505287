"""Readings compared with what a person wrote down about the same file: what is right, what differs, and how badly."""

import hashlib
import resource
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from genverify.disclosure.sources import disclose
from genverify.model.errors import GenverifyError
from genverify.model.files import read_yaml
from genverify.reading.read_command import told_of
from genverify.reading.reading import Reading, Table, read
from genverify.reading.source import column_at, read_source

SECONDS = 20.0  # for the audit of one file; ends that are not proved by then are those that are printed
RIGHT, WITH_OPTIONS, PARTLY, WRONG, REFUSED = "right", "right with options", "partly", "wrong", "refused"


@dataclass(frozen=True)
class Outcome:
    """How a reading compares: right, right with options, partly (nothing placed wrongly), wrong, or refused; and why."""

    word: str
    differences: tuple[str, ...] = ()
    reading: Reading | None = None


def expected_readings(folder: Path) -> dict[str, dict[str, Any]]:
    """What was written down, by the name of its file."""
    return {path.stem: read_yaml(path) for path in sorted(folder.glob("*.yaml"))}


def files_by_digest(folder: Path) -> dict[str, Path]:
    """The files of a folder by their SHA-256: what is written down names no file otherwise."""
    return {hashlib.sha256(path.read_bytes()).hexdigest(): path for path in sorted(folder.glob("*")) if path.is_file()}


def judge(expected: Mapping[str, Any], path: Path) -> Outcome:
    """A file as it is, and, if that differs and options are written down, with them."""
    outcome = compare(expected, path, [])
    if outcome.word != RIGHT and expected.get("options") and compare(expected, path, expected["options"]).word == RIGHT:
        return Outcome(WITH_OPTIONS, outcome.differences, outcome.reading)
    return outcome


def benchmark(written: Path, tables: Path) -> Iterator[dict[str, Any]]:
    """For every file that is written down: the outcome, cells of each role, CPU seconds and memory, in a fresh process."""
    found = files_by_digest(tables)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), max_tasks_per_child=1) as pool:
        for name, expected in expected_readings(written).items():
            yield {"name": name, **pool.submit(_measured, expected, found[expected["sha256"]]).result()}


def _measured(expected: Mapping[str, Any], path: Path) -> dict[str, Any]:
    started = time.process_time()
    read([read_source(path)])
    seconds = time.process_time() - started
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    outcome = judge(expected, path)
    roles = outcome.reading.conservation if outcome.reading else {}
    return {"sha256": expected["sha256"], "outcome": outcome.word, "options": " ".join(expected.get("options", ())),
            "cpu_seconds": round(seconds, 2), "memory_mb": round(memory), **roles,
            **disclosed(path, expected.get("options", ())),
            "differences": "; ".join(outcome.differences[:3])}  # fmt: skip


def disclosed(path: Path, options: Sequence[str] = ()) -> dict[str, Any]:
    """
    What `disclose --allow-partial` answers, with the options that are written down, in numbers of cells, if every symbol
    means what is suggested for it; and the CPU seconds that it took, its reading included.
    """
    started = time.process_time()
    try:
        reading = read([read_source(path)])
        meanings = {text: s.meaning for text, s in reading.symbols.items() if s.how.startswith(("suggested", "not in"))}
        told = zip(options[::2], options[1::2], strict=True)
        total = dict(word.split("=", 1) for option, word in told if option == "--total")
        found = disclose(path, symbol=meanings, total=total, allow_partial=True, search_seconds=0, seconds=SECONDS)
    except GenverifyError as error:
        numbers: dict[str, Any] = {"disclose": f"refused: {str(error)[:120]}", "audited": 0, "suppressed": 0,
                                   "known_exactly": 0, "undecided": 0, "points_left_out": 0}  # fmt: skip
    else:
        word, counts = "as far as it was read" if found.left_out else "answered", found.counts
        numbers = {"disclose": word, "audited": counts["printed_cells"], "suppressed": counts["suppressed"],
                   "known_exactly": counts["suppressed_known_exactly"], "undecided": len(found.undecided),
                   "points_left_out": len(found.left_out)}  # fmt: skip
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {**numbers, "disclose_cpu_seconds": round(time.process_time() - started, 1), "disclose_memory_mb": round(memory)}


def lines(spec: str | int, number: Callable[[str], int] = int) -> set[int]:
    """The numbers of a list of lines such as `3 7-9`, or of columns such as `B D-F`."""
    spans = (part.partition("-") for part in str(spec).split())
    return {at for first, _, last in spans for at in range(number(first), number(last or first) + 1)}


def compare(expected: Mapping[str, Any], path: Path, options: list[str]) -> Outcome:
    try:
        reading = read([read_source(path)], told_of(options))
    except GenverifyError as error:
        return Outcome(REFUSED, (str(error),))
    harmless, wrong = list[str](), list[str]()
    for word, cells in expected["roles"].items():
        found = reading.conservation[word]
        if found != cells:
            harmless.append(f"{word}: {found} cells instead of {cells}")
    if not reading.conserved:
        wrong.append("cells are lost")
    _compare_tables(reading, expected, harmless, wrong)
    _compare_totals(reading, expected, harmless, wrong)
    for text, meaning in expected["symbols"].items():
        own = reading.symbols.get(text)
        if own is None:
            (harmless if not reading.met.get(text) else wrong).append(f"symbol {text}: not met")
        elif own.meaning != meaning:
            harmless.append(f"symbol {text}: {own.meaning} ({own.how}) instead of {meaning}")
    word = WRONG if wrong else PARTLY if harmless else RIGHT
    return Outcome(word, (*wrong, *harmless), reading)


def _compare_tables(reading: Reading, expected: Mapping[str, Any], harmless: list[str], wrong: list[str]) -> None:
    left = [table for table in reading.tables if table.block.body]
    for number, own in enumerate(expected["tables"]):
        columns = {at: role for role, spec in own["columns"].items() for at in lines(spec, column_at)}
        body = lines(own["body"]) - lines(own.get("headings", ""))
        table = next((one for one in left if own.get("sheet") in (None, one.sheet) and set(columns) & set(one.block.columns)
                      and body & {at + 1 for at in one.block.body}), None)  # fmt: skip
        if table is None:
            harmless.append(f"table {number + 1} is not found")
            continue
        left.remove(table)
        _compare_table(f"table {number + 1}", table, own, columns, body, harmless, wrong)
    for table in left:
        (wrong if table.counts else harmless).append(f"{table.name}: a table that nobody expects")


def _compare_table(
    name: str,
    table: Table,
    own: Mapping[str, Any],
    columns: Mapping[int, str],
    body: set[int],
    harmless: list[str],
    wrong: list[str],
) -> None:
    header = {at + 1 for at in table.block.header}
    if header != lines(own["header"]):
        harmless.append(f"{name}: header rows {sorted(header)} instead of {own['header']}")
    found = {at + 1 for at in table.block.body}
    if found != body:
        harmless.append(f"{name}: {len(found - body)} rows too many in the body, {len(body - found)} missing")
        if found & lines(own["header"]) or header & body:
            wrong.append(f"{name}: a header row is taken for the body, or the other way round")
    for column in table.columns:
        role = columns.get(column.at)
        if role is None or role == column.role:
            continue
        text = f"{name}, column {column.name}: {column.role} instead of {role}"
        counted = (role == "count") != (column.role == "count") and column.role != "left out"
        (wrong if counted else harmless).append(text)


def _compare_totals(reading: Reading, expected: Mapping[str, Any], harmless: list[str], wrong: list[str]) -> None:
    wanted = list(expected["totals"])
    for table in reading.tables:
        for number, axis in enumerate(table.axes):
            if not any(parent for parent, _ in axis.tree):
                continue
            names = {column.name for column in table.columns if column.at in axis.columns} | {f"axis {number + 1}"}
            names |= {"columns"} if not axis.columns and not table.cube else set()
            if hit := next((name for name in wanted if name in names), None):
                wanted.remove(hit)
            else:
                wrong.append(f"{table.name}: a total of {axis.name} that nobody expects")
            if fault := axis.check():
                wrong.append(f"{table.name}: {fault}")
    harmless += [f"no total is found of {name}" for name in wanted]
