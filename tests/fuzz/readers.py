"""
Random tables with a known truth, in many formats and with many oddities, asked about as a user asks.

    make fuzz                                         # 2,000 cases, some minutes
    python tests/fuzz/readers.py --cases 200 --seed 7
    python tests/fuzz/readers.py --case 31            # one case again

Nothing false may be said (escapes), nothing may end in a traceback, and nothing may hang.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "helpers"))  # a command, not a test: pytest's pythonpath is not set

from readers_fuzz import run


def main() -> int:
    parser = argparse.ArgumentParser(description="Ask about random tables whose truth is known.")
    parser.add_argument("--cases", type=int, default=2000, help="(%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="(%(default)s)")
    parser.add_argument("--case", type=int, action="append", default=[], help="only this one")
    options = parser.parse_args()
    outcomes, failures = run(options.cases, options.seed, options.case)
    for words in failures:
        print(words)
    counted = ", ".join(f"{outcome}: {times}" for outcome, times in sorted(outcomes.items()))
    bad = [outcomes[name] for name in ("ESCAPE", "TRACEBACK", "HANG")]
    print(f"{options.cases} cases, seed {options.seed}: {counted}; escapes {bad[0]}, tracebacks {bad[1]}, hangs {bad[2]}")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
