"""What counting costs: moves per core-second of the plain and of the packed program, and peak memory under a budget."""

from collections.abc import Iterator, Sequence
from time import process_time
from typing import Any

import pandas as pd

from genverify.attack.posterior import count_release
from genverify.core.measure import Measured, measure, peak_memory_mb
from genverify.core.release import Release
from genverify.solve.counting.diagram import Budget, TooManyStates, draw_diagram
from genverify.solve.counting.passes import count_vectors
from genverify.solve.counting.plain import count_by_dictionary
from genverify.solve.counting.prior import uniform
from genverify.solve.program import Program, build_program
from genverify.solve.recount import WrongAnswer

DICTIONARY, ARRAYS, MEMORY = "states in a dictionary", "states packed into arrays", "memory"
LARGER = "states packed into arrays, larger blocks"
COLUMNS = ["what", "blocks", "moves", "core_seconds", "moves_per_second"]


def compare_speed(programs: Sequence[Program], budget: Budget) -> pd.DataFrame:
    """Moves and core-seconds of both programs on the same blocks, one after the other; an error if their counts differ."""
    spent = {DICTIONARY: [0, 0.0], ARRAYS: [0, 0.0]}
    for program in programs:
        started = process_time()
        plain, moves = count_by_dictionary(program.A, program.lo, program.hi)
        middle = process_time()
        diagram = draw_diagram(program, budget)
        if count_vectors(diagram) != plain:
            raise WrongAnswer(
                f"block {program.release.block}: the two programs count differently. Please report this as a bug."
            )
        for name, more, seconds in ((DICTIONARY, moves, middle - started), (ARRAYS, diagram.moves, process_time() - middle)):
            spent[name] = [spent[name][0] + more, spent[name][1] + seconds]
    rows = [(name, len(programs), moves, seconds, moves / seconds) for name, (moves, seconds) in spent.items()]
    return pd.DataFrame(rows, columns=COLUMNS)


def time_arrays(programs: Sequence[Program], budget: Budget) -> pd.DataFrame:
    """The same of the packed program alone, on blocks that would keep the plain one busy for minutes."""
    moves, seconds = 0, 0.0
    for program in programs:
        started = process_time()
        diagram = draw_diagram(program, budget)
        count_vectors(diagram)
        moves, seconds = moves + diagram.moves, seconds + process_time() - started
    rows = [(LARGER, len(programs), moves, seconds, moves / seconds)] if programs else []
    return pd.DataFrame(rows, columns=COLUMNS)


def measure_memory(release: Release, max_types: int, budgets: Sequence[Budget]) -> pd.DataFrame:
    """Peak memory of counting one block in a process of its own, above what the process held before, for each budget."""
    rows = [_row(release, budget, measure(count_within, release, max_types, budget)) for budget in budgets]
    return pd.DataFrame(rows)


def _row(release: Release, budget: Budget, found: Measured) -> dict[str, Any]:
    row = {"what": MEMORY, "block": release.block, "budget_states": budget.states, "budget_moves": budget.moves}
    row |= {"outcome": found.values.get("outcome", found.ended), "moves": found.values.get("moves")}
    taken = found.peak_memory_mb - found.values.get("before_mb", 0.0)
    return row | {"peak_mb": taken, "bound_mb": budget.memory_mb}


def count_within(release: Release, max_types: int, budget: Budget) -> Iterator[dict[str, Any]]:
    """Count a block and sum under the uniform prior, and tell how it ended."""
    program = build_program(release, max_types)
    yield {"before_mb": peak_memory_mb()}
    try:
        counted = count_release(program, budget)
        counted.posterior(uniform(program.types.domain))
        yield {"outcome": "counted", "moves": counted.diagram.moves, "datasets": str(counted.datasets)}
    except TooManyStates:
        yield {"outcome": "beyond the budget"}
