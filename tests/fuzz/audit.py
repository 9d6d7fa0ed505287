"""
Random forgeries of a small study, digests made to fit: does the audit name every change that makes a statement false?

    make fuzz                                       # 2,000 cases, some minutes
    python tests/fuzz/audit.py --cases 200 --seed 7

A case changes tables, records, proofs, microdata, figures, raw data, the crate or the reference set at random; a forger may
also carry the change on, so that the tables follow from each other, or write into every record that its job took long. An
escape is a case that the audit accepts although a file says something else than the study that was run.

A fifth of the cases measures --rerun: every job is dear, one of them is forged, and a share of the jobs is run again.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "helpers"))  # a command, not a test: pytest's pythonpath is not set
sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))

from audit_fuzz import measure, run

SHARE = 0.1


def main() -> int:
    parser = argparse.ArgumentParser(description="Forge a small study at random and audit it.")
    parser.add_argument("--cases", type=int, default=2000, help="(%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="(%(default)s)")
    options = parser.parse_args()
    measured = options.cases // 5
    outcomes, escapes = run(options.cases - measured, options.seed)
    for words in escapes:
        print(f"ESCAPED {words}")
    counted = ", ".join(f"{outcome}: {times}" for outcome, times in sorted(outcomes.items()))
    print(f"{options.cases - measured} cases, seed {options.seed}: {counted}; escapes: {len(escapes)}")
    caught, stated, escaped = measure(measured, options.seed, SHARE)
    print(f"{measured} cases of one dear job forged, --rerun {SHARE}: caught {caught:.1%}, stated {stated:.1%}")
    print(f"the same with --rerun all: escapes: {escaped}")
    return bool(escapes or escaped)


if __name__ == "__main__":
    sys.exit(main())
