"""
Run a study undisturbed and again with kill -9 at random points, and compare every result byte for byte.

    python tests/scale/resilience.py FOLDER --configfile config/examples/state.yaml [--kills 2] [--plain-only] [targets ...]

FOLDER gets two copies of the repository, `plain` and `killed`. Records, logs and benchmarks may differ; nothing else may.
"""

import argparse
import random
import sys
import time
from pathlib import Path

import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1] / "helpers"))  # a command, not a test: pytest's pythonpath is not set

from study_runs import copy_repository, differences, files, finish, kill_at

MEGABYTE = 2**20


def describe(home: Path, seconds: float, peaks: tuple[int, int]) -> str:
    """Wall time, rate, memory and disk of a finished run."""
    blocks = pd.read_parquet(home / "results" / "sample" / "blocks.parquet", columns=["block"])["block"].nunique()
    disk = sum(path.stat().st_size for path in (home / "results").rglob("*") if path.is_file())
    return (
        f"{blocks} blocks in {seconds:.0f} s, {blocks / seconds:.1f} blocks/s; peak memory {peaks[0] / MEGABYTE:.0f} MB in "
        f"all, {peaks[1] / MEGABYTE:.0f} MB in the largest process; results {disk / MEGABYTE:.0f} MB"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--configfile", type=Path, required=True)
    parser.add_argument("--kills", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--plain-only", action="store_true")
    parser.add_argument("targets", nargs="*", default=["state"])
    options = parser.parse_args()
    words = [*options.targets, "--cores", "2", "--configfile", str(options.configfile.resolve())]
    plain = copy_repository(options.folder / "plain")
    started = time.monotonic()
    peaks = finish(plain, words)
    print("undisturbed:", describe(plain, time.monotonic() - started, peaks), flush=True)
    if options.plain_only:
        return
    rng, killed = random.Random(options.seed), copy_repository(options.folder / "killed")
    for _ in range(options.kills):
        print(f"killed at {kill_at(killed, words, rng.randint(1, 90), rng.random())} % of the jobs left", flush=True)
    finish(killed, words)
    differing = differences(plain, killed)
    print(f"{len(files(plain))} files compared, {len(differing)} differ", *differing, sep="\n")
    sys.exit(bool(differing))


if __name__ == "__main__":
    main()
