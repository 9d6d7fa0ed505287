"""How fast and how good: audits of surveys and of reconstructions, suppression and auditors beside others'."""

import json
import os
import resource
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import inf, nan
from pathlib import Path
from shutil import which
from subprocess import DEVNULL, PIPE, Popen
from tempfile import TemporaryDirectory
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.sparse import coo_array, csc_array, csr_array, hstack, vstack

from genverify.checker.linear_proofs import check_linear
from genverify.disclosure.record_audit import RecordsAudit
from genverify.disclosure.sources import disclose
from genverify.disclosure.unique import read_program, unique
from genverify.model.arrays import Flags, Ints
from genverify.model.errors import DataError
from genverify.model.linear import LinearSystem, make_system
from genverify.protect.cell_suppression import PatternWork, Requirement, SuppressionProblem, find_pattern, suppressed
from genverify.run.layout import SOURCE
from genverify.solve.linear.ranges import all_ranges
from genverify.solve.linear.search import Work
from genverify.solve.program import matrix_of, sparse_system
from genverify.solve.solvers.base import IntegerProgram, Optimal, WorkLimits, best_point, make_solver, maximise_integers
from genverify.solve.solvers.highs import ITERATIONS, CellProgram, open_highs, pass_model
from studies.disclosure import gconfid_worker
from studies.disclosure.settings import DisclosureBenchmark, SuppressionBenchmark, TableCase, TablesBenchmark, TractCase

if TYPE_CHECKING:
    from matplotlib.figure import Figure


# A synthetic tract as a reconstruction in an MPS file, of the size that agencies publish: who lives in which block?

SEXES, YEARS, RACES, BAND = 2, 100, 5, 5
OF_RACE = (0.62, 0.15, 0.12, 0.07, 0.04)


def _write_tract(path: Path, blocks: int, persons: int, by_year: bool, seed: int) -> None:
    """
    A program with a number for every block and kind of person (sex, year of age, race) whose sex and five-year band live in
    the block. Rows: the block's persons by sex and band and by race (`by_year`: also by sex and year, race and year), the
    tract's by all three.
    """
    rng = np.random.default_rng(seed)
    people = np.stack([
        rng.integers(blocks, size=blocks * persons), rng.integers(SEXES, size=blocks * persons),
        rng.integers(YEARS, size=blocks * persons), rng.choice(RACES, size=blocks * persons, p=OF_RACE),
    ])  # fmt: skip
    lived = np.unique(np.stack([people[0], people[1], people[2] // BAND]), axis=1)
    inside = [np.repeat(part, BAND * RACES) for part in lived]
    more = np.tile(np.indices((BAND, RACES)).reshape(2, -1), lived.shape[1])
    columns = np.stack([inside[0], inside[1], inside[2] * BAND + more[0], more[1]])
    matrix, counts = _rows(_keys(columns, by_year), _keys(people, by_year))
    highs, numbers, sums = open_highs(), matrix.shape[1], counts.astype(float)
    upper, none = np.full(numbers, float(counts.max())), np.zeros(numbers)
    pass_model(highs, matrix, sums, sums, IntegerProgram(matrix.tocsr(), sums, sums, upper, none))
    highs.writeModel(str(path))


def _keys(who: Ints, by_year: bool) -> list[Ints]:
    block, sex, year, race = who
    years = [(block, sex, year), (block, race, year)] if by_year else []
    tables = [(block, sex, year // BAND), (block, race), (sex, year, race), *years]
    return [sum(part * 1_000**index for index, part in enumerate(table)) + np.int64(0) for table in tables]


def _rows(columns: list[Ints], people: list[Ints]) -> tuple[csc_array, Ints]:
    rows, counts, before = list[Ints](), list[Ints](), 0
    for column, of in zip(columns, people, strict=True):
        cells, index = np.unique(column, return_inverse=True)
        rows.append(before + index)
        counts.append(np.bincount(np.searchsorted(cells, of), minlength=len(cells)))
        before += len(cells)
    number = np.tile(np.arange(len(columns[0])), len(columns))
    ones = np.ones(len(number))
    return coo_array((ones, (np.concatenate(rows), number)), shape=(before, len(columns[0]))).tocsc(), np.concatenate(counts)


# How fast audits of a survey are, and answers about reconstructions in files, on synthetic people.

DATA = "synthetic people"
SHARES = {"sex": 2, "race": 5, "origin": 2, "tenure": 3, "size": 6}
RELEASE = """name: survey
data: people.csv
columns:
  age: {bins: [18, 30, 45, 60, 75]}
tables:
  age_sex: {columns: [age, sex], totals: [age, sex]}
  age_sex_race: {columns: [age, sex, race]}
  race_origin: {columns: [race, origin]}
  tenure_size: {columns: [tenure, size]}
  tenure_age_origin: {columns: [tenure, age, origin]}
"""


def time_audits(settings: DisclosureBenchmark, seed: int) -> Iterator[dict[str, Any]]:
    for people in settings.people:
        yield _survey(people, seed)
    for name, case in settings.tracts.items():
        yield _program(name, case, settings.seconds, seed)


def survey(people: int, rng: np.random.Generator) -> pd.DataFrame:
    """People of two classes that differ in all columns, so that columns hang together as in a survey."""
    kind = rng.random(people) < 0.3
    columns = {name: _drawn(levels, kind, rng) for name, levels in SHARES.items()}
    age = np.where(kind, rng.integers(0, 95, people), np.minimum(rng.gamma(4.0, 11.0, people).astype(int), 99))
    return pd.DataFrame({"age": age, **columns})


def _drawn(levels: int, kind: Any, rng: np.random.Generator) -> Any:
    shares = [rng.dirichlet(np.full(levels, 0.5)) for _ in range(2)]
    drawn = [rng.choice(levels, size=len(kind), p=share) for share in shares]
    return np.char.add("c", np.where(kind, *drawn).astype(str))


def _survey(people: int, seed: int) -> dict[str, Any]:
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        survey(people, np.random.default_rng([seed, people])).to_csv(folder / "people.csv", index=False)
        (folder / "release.yaml").write_text(RELEASE, encoding="utf-8")
        started = process_time()

        result = disclose(folder / "release.yaml", search_seconds=0)
        answered = process_time() - started
        result = result.suppress()
        result.write(folder / "audit")
        assert isinstance(result, RecordsAudit)
        assert result.suppression
        cells = len(result.suppression.steps)
        remark = f"{len(result.claims)} claims, {len(result.singles)} about one person; suppress {cells} cells"
        return {"case": f"survey of {people}", "size": people, "data": DATA, "answer_s": answered,
                "cpu_s": process_time() - started, "peak_mb": _peak(), "answer": remark}  # fmt: skip


def _program(name: str, case: TractCase, seconds: float, seed: int) -> dict[str, Any]:
    with TemporaryDirectory() as temporary:
        path = Path(temporary) / "tract.mps"
        _write_tract(path, case.blocks, case.persons, case.by_year, seed)
        started = process_time()
        sums = read_program(path)
        read = process_time() - started
        result = unique(sums, Work(seconds=seconds))
        answer = f"{result.rows} rows: {result.answer}; {read:.2f} s to read and build"
        return {"case": f"tract {name}", "size": result.numbers, "data": DATA, "answer_s": process_time() - started,
                "cpu_s": process_time() - started, "peak_mb": _peak(), "answer": answer}  # fmt: skip


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


# Suppression and audits of synthetic tables against an official tool: G-Confid, where it is installed, and an interval by


TABLES_DATA = "synthetic counts"
BRAKE = 120.0  # CPU seconds of one search: what has not ended by then is said to be stopped
PROOF_SECONDS = 60.0  # for the exact ranges of one table
HALF = 0.5  # G-Confid's own bounds: half of the true value, and one and a half of it
GREEDY_NODES, NOTHING = 2_000, 1e-4  # of one program of the greedy search; a cell that is suppressed costs next to nothing
SUMS, COUNTS, SUM_ROWS = "random_sums", 6, 4  # six counts and four sums: all whole tables can be listed
FREE = 1e-6  # an interval of a linear program narrower than this is one number


def make_table(case: TableCase, rng: np.random.Generator) -> LinearSystem:
    """Tables of some axes each, every one a hierarchy of so many parts of each part; the others are added up."""
    axes = [_nodes(sizes) for sizes in case.axes]
    leaves = rng.negative_binomial(1.0, 1.0 / (1.0 + case.mean), [len(members[0]) for _, members in axes])
    full = leaves
    for at, (_, members) in enumerate(axes):
        full = np.moveaxis(np.tensordot(members, full, axes=(1, at)), 0, at)
    cells, rows = dict[str, tuple[int, int]](), dict[str, dict[str, int]]()
    for table in case.tables:
        open_ = [range(len(axes[at][1])) if at in table else range(1) for at in range(len(axes))]
        for key in product(*open_):
            cells[_name(key)] = (int(full[key]), int(full[key]))
            for at in table:
                children = axes[at][0].get(key[at])
                if children:
                    parts = [(*key[:at], child, *key[at + 1 :]) for child in children]
                    rows[f"{_name(key)} over {at}"] = {_name(key): -1, **{_name(part): 1 for part in parts}}
    return make_system(cells, [(name, weights, 0, 0) for name, weights in rows.items()])


def random_sums(rng: np.random.Generator) -> LinearSystem:
    """A few small counts, and printed sums of some of them: no table, as linked tables of many forms may be."""
    counts = rng.integers(1, 3, COUNTS)
    cells = {f"x{at}": (int(count), int(count)) for at, count in enumerate(counts)}
    rows = []
    for number in range(SUM_ROWS):
        parts = rng.choice(COUNTS, int(rng.integers(2, 5)), replace=False).tolist()
        total = int(counts[parts].sum())
        cells[f"s{number}"] = (total, total)
        rows.append((f"r{number}", {f"s{number}": -1, **{f"x{part}": 1 for part in parts}}, 0, 0))
    return make_system(cells, rows)


def _name(key: Sequence[int]) -> str:
    return ",".join(map(str, key))


def _nodes(sizes: Sequence[int]) -> tuple[dict[int, list[int]], Ints]:
    """The nodes of a hierarchy, the root first: the children of each, and which leaves lie in it."""
    children, members, level = dict[int, list[int]](), [np.ones(int(np.prod(sizes)), dtype=np.int64)], [0]
    for size in sizes:
        below = list[int]()
        for node in level:
            parts = np.array_split(np.flatnonzero(members[node]), size)
            children[node] = list(range(len(members), len(members) + size))
            members += [np.isin(np.arange(len(members[0])), part).astype(np.int64) for part in parts]
            below += children[node]
        level = below
    return children, np.array(members)


# How many cells a rule of minimum frequency costs.


def compare_suppression(settings: SuppressionBenchmark, seed: int) -> Iterator[dict[str, Any]]:
    """For every case a line of each method: cells, cost, gap, CPU seconds, and sensitive cells that integers still show."""
    other = GConfid(settings.gconfid)
    for name, case in settings.cases.items():
        table = make_table(case, np.random.default_rng([seed, len(name)]))
        counts, scaled = table.lo, PatternWork(seconds=BRAKE).scaled(len(table.lo))
        primary = (counts > 0) & (counts < settings.minimum)
        asked = tuple(Requirement(cell, high=settings.minimum) for cell in np.flatnonzero(primary).tolist())
        problem = SuppressionProblem(table, counts, np.maximum(counts, 1), asked)
        about = {"case": name, "data": TABLES_DATA, "cells": len(counts), "primary": int(primary.sum())}
        for method, work in (("exact", scaled), ("heuristic", replace(scaled, rounds=0, masters=0))):
            started = process_time()
            pattern = find_pattern(problem, work)
            chosen = np.isin(np.arange(len(counts)), pattern.cells)
            bound = pattern.bound if method == "exact" else None
            line = _line(table, chosen, primary, settings, process_time() - started, bound)
            yield about | {"method": method, **line, "limit": pattern.limit if method == "exact" else ""}
        if len(counts) <= settings.most_cells:
            started, greedy = process_time(), greedy_cells(table, primary, settings.minimum)
            line = {} if greedy is None else _line(table, greedy, primary, settings, process_time() - started, None)
            yield about | {"method": "greedy", **line, "limit": "stopped by the clock" if greedy is None else ""}
            chosen, answer = other.suppression(table, primary, settings.minimum)
            line = {} if "failed" in answer else _line(table, chosen, primary, settings, answer["cpu_s"], None)
            own = {"limit": answer.get("failed", ""), "peak_mb": answer.get("peak_mb")}
            yield about | {"method": "G-Confid", **line, **own}


def greedy_cells(table: LinearSystem, primary: Flags, minimum: int) -> Flags | None:
    """
    The search that was here before the exact one: for each sensitive cell in turn the cheapest others that move with it, by
    a small integer program; none where the time is up.
    """
    A, x, chosen, started = matrix_of(table).astype(np.float64), table.lo, primary.copy(), process_time()
    solver, n = make_solver("highs", WorkLimits(ITERATIONS, GREEDY_NODES, BRAKE)), len(table.lo)
    for cell in np.flatnonzero(primary).tolist():
        if process_time() - started > BRAKE:
            return None
        need = float(minimum - x[cell])
        moved = csr_array(([1.0, -1.0], ([0, 0], [cell, n + cell])), shape=(1, 2 * n))
        ends = np.append(np.zeros(A.shape[0]), need)
        upper = np.concatenate([np.full(n, need), np.minimum(x, need)])
        price = np.where(chosen, NOTHING, np.maximum(x, 1)).astype(np.float64)
        rows = sparse_system(csr_array(vstack([hstack([A, -A]), moved])), ends, ends, upper)
        point = best_point(maximise_integers(solver, rows, -np.concatenate([price, price])))
        if point is not None:
            chosen |= point[:n] + point[n:] > HALF
    return chosen


def _line(
    table: LinearSystem, chosen: Flags, primary: Flags, settings: SuppressionBenchmark, seconds: float, bound: int | None
) -> dict[str, Any]:
    cost = int(np.maximum(table.lo, 1)[chosen & ~primary].sum())
    low, high = exact_ranges(table, chosen, primary)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return {
        "secondary": int((chosen & ~primary).sum()), "cost": cost, "bound": bound,
        "gap_percent": None if bound is None else round(100 * (cost - bound) / max(cost, 1), 2),
        "cpu_s": round(seconds, 2), "peak_mb": peak, "pinned": int((primary & (low == high)).sum()),
        "below_minimum": int((primary & (high < settings.minimum)).sum()),
    }  # fmt: skip


def exact_ranges(table: LinearSystem, chosen: Flags, wanted: Flags) -> tuple[Ints, Ints]:
    """The proved ranges of wanted cells when some cells are suppressed; the proofs are checked."""
    system = suppressed(table, {}, np.flatnonzero(chosen).tolist())
    ranges = all_ranges(system, Work(seconds=PROOF_SECONDS), wanted, start=[table.lo])
    proved = check_linear(system, ranges.statements)
    return np.array(proved.lo), np.array(proved.hi)


# How long `genverify disclose` takes on two-way tables as they are printed.


def time_tables(settings: TablesBenchmark, seed: int) -> Iterator[dict[str, Any]]:
    """For every size a line of each version, each a process of its own, and of a linear program for each end by itself."""
    versions = {**({"before": Path(settings.before).resolve()} if settings.before else {}), "now": SOURCE.resolve()}
    for rows in settings.rows:
        case, rng = (
            TableCase(axes=[[rows], [rows]], tables=[[0, 1]], mean=settings.mean),
            np.random.default_rng([seed, rows]),
        )
        table, side = make_table(case, rng), rows + 1
        # the first row and column are the totals, which are all printed
        hidden = (rng.random((side, side)) < settings.suppressed) & (np.minimum.outer(range(side), range(side)) > 0)
        about = {"data": TABLES_DATA, "cells": side**2, "suppressed": int(hidden.sum())}
        for version, package in versions.items():
            with TemporaryDirectory() as home:
                yield about | {"version": version, **_disclosed(table.lo.reshape(side, side), hidden, package, Path(home))}
        if side**2 <= settings.one_by_one:
            started = process_time()
            exact = int((linear_intervals(table, hidden.ravel(), None)[hidden.ravel()] <= FREE).sum())
            yield about | {
                "version": "programs one by one",
                "known_exactly": exact,
                "cpu_s": round(process_time() - started, 2),
            }


def _disclosed(counts: Ints, hidden: Flags, package: Path, home: Path) -> dict[str, Any]:
    """CPU seconds and memory of the whole command, imports and all, and what it found."""
    across, down = (["Total", *(f"{side}{number}" for number in range(1, len(counts)))] for side in "cr")
    pd.DataFrame(np.where(hidden, "*", counts.astype(str)), down, across).to_csv(home / "table.csv", index_label="area")
    words = [sys.executable, "-m", "genverify", "disclose", str(home / "table.csv"), "--symbol", "*=suppressed",
             "--search-seconds", "0", "--out", str(home / "audit")]  # fmt: skip
    place = {**os.environ, "PYTHONPATH": str(package)}
    process = Popen(words, env=place, stdout=DEVNULL, stderr=DEVNULL)
    _, status, used = os.wait4(process.pid, 0)  # its own CPU and memory, which Popen does not state
    process.returncode = os.waitstatus_to_exitcode(status)
    if not (home / "audit/cells.csv").exists():
        raise DataError(f"{' '.join(words)} ended with {process.returncode} and wrote no cells")
    cells = pd.read_csv(home / "audit/cells.csv", usecols=["published", "known_exactly", "ends_attained"])
    asked = cells[cells["published"] == "*"]
    found = {name: int(asked[name].sum()) for name in ("known_exactly", "ends_attained")}
    return {**found, "cpu_s": round(used.ru_utime + used.ru_stime, 2), "peak_mb": used.ru_maxrss // 1024}


# What auditors by linear programs miss.


def compare_auditors(settings: SuppressionBenchmark, seed: int) -> Iterator[dict[str, Any]]:
    """For every shape: suppressed cells that integers pin, with a proof, and that linear programs call protected."""
    other = GConfid(settings.gconfid)
    for name, case in [(SUMS, None), *settings.audited.items()]:
        rng, seen = np.random.default_rng([seed, len(name), 1]), dict[str, int]()
        for _ in range(settings.tables):
            table = random_sums(rng) if case is None else make_table(case, rng)
            size = len(table.lo)
            drawn = np.arange(size) < COUNTS if case is None else rng.random(size) < case.suppressed
            chosen = drawn & (table.lo > 0)
            low, high = exact_ranges(table, chosen, chosen)
            pinned = chosen & (low == high)
            given = {"plain": linear_intervals(table, chosen, None), "half": linear_intervals(table, chosen, HALF),
                     "gconfid": other.widths(table, chosen)}  # fmt: skip
            line = {"suppressed": chosen, "known_exactly": pinned}
            for method, widths in ((own, widths) for own, widths in given.items() if widths is not None):
                line[f"missed_by_{method}"] = pinned & (widths > FREE)
                line[f"no_answer_by_{method}"] = pinned & np.isnan(widths)
                line[f"called_exact_by_{method}"] = chosen & ~pinned & (widths <= FREE)
            seen = {key: seen.get(key, 0) + int(flags.sum()) for key, flags in line.items()}
        yield {"shape": name, "data": TABLES_DATA, "tables": settings.tables, **seen}


def linear_intervals(table: LinearSystem, chosen: Flags, half: float | None) -> Any:
    """The width of each suppressed cell by a linear program for each end, from 0 on or around the true value."""
    system, x = suppressed(table, {}, np.flatnonzero(chosen).tolist()), table.lo
    program = CellProgram(matrix_of(system), system.least, system.most)
    lower = np.where(chosen, 0.0 if half is None else half * x, x).astype(np.float64)
    upper = np.where(chosen, inf if half is None else (1 + half) * x, x).astype(np.float64)
    program.set_bounds(lower, upper)
    widths = np.zeros(len(x))
    for cell in np.flatnonzero(chosen).tolist():
        for sign in (1.0, -1.0):
            objective = np.zeros(len(x))
            objective[cell] = sign
            answer = program.maximise(objective)
            widths[cell] += answer.value if isinstance(answer, Optimal) else inf
    return widths


# G-Confid, where an interpreter has it: it knows no zeros, which are left out of its tables, and are printed.


class GConfid:
    """
    G-Confid of another interpreter: its package asks for other versions than ours, and HiGHS has one scheduler in a process,
    which two tools would set up differently. Where it does not start, `reason` says why.
    """

    def __init__(self, interpreter: str) -> None:
        self.reason = f"{interpreter or 'no interpreter'}: not found (benchmark.suppression.gconfid)"
        self.process: Popen[str] | None = None
        if found := which(interpreter):
            self.process = Popen([found, gconfid_worker.__file__], stdin=PIPE, stdout=PIPE, stderr=DEVNULL, text=True)
            self.reason = self.ask({}).get("failed", "")

    def ask(self, task: Mapping[str, Any]) -> dict[str, Any]:
        """What G-Confid answers: values by cell, seconds of the processor and memory; or why it `failed`."""
        if self.process is None or self.process.stdin is None or self.process.stdout is None:
            return {"failed": self.reason}
        self.process.stdin.write(json.dumps(task) + "\n")
        self.process.stdin.flush()
        return dict(json.loads(self.process.stdout.readline() or '{"failed": "it ended without an answer"}'))

    def suppression(self, table: LinearSystem, primary: Flags, minimum: int) -> tuple[Flags, dict[str, Any]]:
        """The cells that it suppresses to protect sensitive ones up to the minimum."""
        need = np.where(primary, minimum - table.lo, 0).astype(float)
        cells = _cells(table, {"Sensitivity": need, "Status": np.where(primary, "S", "V"), "Type": "C"})
        answer = self.ask({"call": "Suppression", "cells": cells, "constraints": _constraints(table)})
        chosen = primary.copy()
        chosen[np.array(answer.get("cells", []), dtype=np.int64) - 1] = True
        return chosen, answer

    def widths(self, table: LinearSystem, chosen: Flags) -> Any:
        """The widths that its audit gives suppressed cells, with its own bounds; none of those that it does not list."""
        cells = _cells(table, {"Sensitivity": np.where(chosen, HALF, 0.0), "OutStatus": np.where(chosen, "X", "P")})
        answer = self.ask({"call": "Auditing", "cells": cells, "constraints": _constraints(table)})
        widths = np.where(chosen, nan, 0.0)
        widths[np.array(answer.get("cells", []), dtype=np.int64) - 1] = answer.get("widths", [])
        return None if "failed" in answer else widths


def _constraints(table: LinearSystem) -> dict[str, list[Any]]:
    rows = pd.DataFrame({"ConstraintId": table.row_of + 1, "CellId": table.columns + 1, "Coefficient": table.weights})
    used = rows[table.lo[table.columns] > 0]
    total = used[used["Coefficient"] < 0]["ConstraintId"]
    return _listed(used[used["ConstraintId"].isin(total)])


def _cells(table: LinearSystem, more: Mapping[str, Any]) -> dict[str, list[Any]]:
    cells = pd.DataFrame({"CellId": np.arange(len(table.lo)) + 1, "TotalNoise": table.lo.astype(float), **more})
    return _listed(cells[table.lo > 0])


def _listed(frame: pd.DataFrame) -> dict[str, list[Any]]:
    return {str(name): column.tolist() for name, column in frame.items()}


def plot_auditors(lines: pd.DataFrame) -> "Figure":
    """Of the cells that integers pin, the share that each auditor by linear programs calls protected, for every shape."""
    from genverify.report.figures import PALETTE, say_source, subplots

    names = {"plain": "linear program", "half": "within half of the value", "gconfid": "G-Confid"}
    methods = [own for own in names if f"missed_by_{own}" in lines]
    figure, axes = subplots(height=1.2 + 0.45 * len(lines))
    for at, method in enumerate(methods):
        share = 100 * lines[f"missed_by_{method}"] / lines["known_exactly"].clip(lower=1)
        axes.barh(np.arange(len(lines)) + 0.25 * at, share, height=0.22, color=PALETTE[at], label=names[method])
    missed = lines[[f"missed_by_{method}" for method in methods]].max(axis=1)
    words = lines["shape"].str.replace("_", " ") + "\n" + missed.astype(str)
    words += " of " + lines["known_exactly"].astype(str) + " missed"
    axes.set_yticks(np.arange(len(lines)) + 0.25 * (len(methods) - 1) / 2, words)
    axes.invert_yaxis()
    axes.set_xlabel("percent of the cells known exactly that are called protected")
    figure.legend(loc="outside upper center", ncols=3, frameon=False)
    return say_source(figure, TABLES_DATA)
