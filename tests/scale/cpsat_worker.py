"""CP-SAT, run by an interpreter that has the package ortools: a line per program and its claims, a line per answer."""

import json
import sys
from time import process_time


def can_be(task: dict, classes: list[int], least: int, most: int) -> bool:
    """Whether some dataset has from `least` to `most` records in these classes."""
    model = cp_model.CpModel()
    z = [model.new_int_var(0, task["n"], "") for _ in range(task["classes"])]
    for (columns, values), lo, hi in zip(task["rows"], task["lo"], task["hi"], strict=True):
        model.add_linear_constraint(cp_model.LinearExpr.weighted_sum([z[c] for c in columns], values), lo, hi)
    model.add_linear_constraint(cp_model.LinearExpr.sum([z[c] for c in classes]), least, most)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    status = solver.solve(model)
    assert status in (cp_model.OPTIMAL, cp_model.FEASIBLE, cp_model.INFEASIBLE), solver.status_name(status)
    return status != cp_model.INFEASIBLE


if __name__ == "__main__":
    from ortools.sat.python import cp_model  # only the interpreter that runs this has it

    for line in sys.stdin:
        task, started = json.loads(line), process_time()
        verdicts = [
            not can_be(task, most, m + 1, task["n"]) and not can_be(task, least, 0, m - 1)
            for least, most, m in task["claims"]
        ]
        print(json.dumps({"verdicts": verdicts, "cpu_s": process_time() - started}), flush=True)
