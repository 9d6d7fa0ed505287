"""G-Confid of Statistics Canada, run by an interpreter that has its package: tasks in lines, answers in lines."""

import json
import resource
import sys
from collections.abc import Mapping
from importlib import import_module
from time import process_time
from typing import Any

ERROR_LETTERS = 300  # of its message that are passed on


def answer_of(task: Mapping[str, Any]) -> dict[str, Any]:
    """Its own answer: the cells that it suppresses, or the widths that its audit gives; nothing where nothing is asked."""
    tool, frames = import_module("gconfid"), import_module("pandas")
    if not task:
        return {}
    started, frame = process_time(), frames.DataFrame
    call = getattr(tool, task["call"])
    made = call(incell=frame(task["cells"]), inconstraint=frame(task["constraints"]), trace=False, capture=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    about = {"cpu_s": round(process_time() - started, 2), "peak_mb": peak}
    if task["call"] == "Auditing":
        result = made.outaudit.to_pandas()
        return about | {"cells": result["CellId"].astype(int).tolist(), "widths": result["MaxMinusMin"].tolist()}
    result = made.outsuppress.to_pandas()
    return about | {"cells": result.loc[result["OutStatus"] == "X", "CellId"].astype(int).tolist()}


def main() -> None:
    answers, sys.stdout = sys.stdout, sys.stderr  # its messages go elsewhere
    for line in sys.stdin:
        try:
            answer = answer_of(json.loads(line))
        except Exception as error:  # whatever it raises is its answer
            answer = {"failed": f"{type(error).__name__}: {error}"[:ERROR_LETTERS]}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
