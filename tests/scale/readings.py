"""
Read published tables as they are, against what a person wrote down about each: outcome, cells, CPU seconds and memory.

    python tests/scale/readings.py ../shared/tables readings.csv
"""

import sys
from pathlib import Path

import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1] / "helpers"))  # a command, not a test: pytest's pythonpath is not set

from expected_readings import benchmark


def main(tables: str, out: str) -> None:
    lines = []
    for line in benchmark(Path(__file__).parents[1] / "readings", Path(tables)):
        lines.append(line)
        print(f"{line['name']}: {line['outcome']}; disclose {line['disclose']}", flush=True)
        pd.DataFrame(lines).to_csv(out, index=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
