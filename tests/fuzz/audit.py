"""
Random forgeries of a small study, digests kept right: does the audit name every change that makes a statement false?

    make fuzz                                       # 1,500 cases, some minutes
    python tests/fuzz/audit.py --cases 200 --seed 7

A case changes tables, records or proofs at random; a forger may also carry the change on, so that the tables follow from
each other. An escape is a case that the audit accepts although a table or record says something else than the study that was
run. What the audit refuses though nothing reported is false (another digest, a dataset, a proof) is counted apart.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "helpers"))  # a command, not a test: pytest's pythonpath is not set

from audit_fuzz import run


def main() -> int:
    parser = argparse.ArgumentParser(description="Forge a small study at random and audit it.")
    parser.add_argument("--cases", type=int, default=1500, help="(%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="(%(default)s)")
    options = parser.parse_args()
    outcomes, escapes = run(options.cases, options.seed)
    for words in escapes:
        print(f"ESCAPED {words}")
    counted = ", ".join(f"{outcome}: {times}" for outcome, times in sorted(outcomes.items()))
    print(f"{options.cases} cases, seed {options.seed}: {counted}; escapes: {len(escapes)}")
    return bool(escapes)


if __name__ == "__main__":
    sys.exit(main())
