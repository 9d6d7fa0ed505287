"""
Run a study undisturbed and again with kill -9 at random points, and compare every result byte for byte.

    python tests/scale/resilience.py FOLDER --configfile config/examples/state.yaml [--kills 2] [--plain-only] [targets ...]

FOLDER gets two copies of the repository, `plain` and `killed`. Records, logs and benchmarks may differ; nothing else may.
"""

import argparse
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd
import psutil
import yaml

ROOT = Path(__file__).parents[2]
PARTS = ["Snakefile", "config.yaml", "config", "workflow", "scripts", "src", "data", "profiles", "envs"]
STATES = ["01", "02", "19", "38", "46", "56"]
SMALL = {
    "microdata": {"synthetic": {"country": "country", "households": 6000}},
    "sample": {
        "designs": {"state_median": None, "country_median": None},
        "all_blocks": {"small_blocks": {"states": ["01", "19"], "up_to": 2}},
        "batches": 2,
    },
    "generate": {"datasets": 10},
}
MAY_DIFFER = re.compile(r"record\.json$|\.snakemake_timestamp$")
PERCENT = re.compile(r"\((\d+)%\) done")
MEGABYTE = 2**20


def copy_repository(home: Path) -> Path:
    """What a clone holds, and the configuration files."""
    home.mkdir(parents=True)
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, home / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / part, home / part)
    return home


def shrink_country(home: Path) -> None:
    """A country of six states beside the copy, and a configuration for some twenty of its blocks."""
    shutil.copytree(ROOT / "data" / "synthetic", home / "country")
    path = home / "country" / "states.yaml"
    states = yaml.safe_load(path.read_text())
    states["states"] = {fips: states["states"][fips] for fips in STATES}
    path.write_text(yaml.safe_dump(states))
    (home / "small.yaml").write_text(yaml.safe_dump(SMALL))


def start(home: Path, words: Sequence[str]) -> subprocess.Popen[bytes]:
    """Snakemake in a process group of its own, so that it can be killed with all its jobs."""
    command = [sys.executable, "-m", "snakemake", *words]
    environment = {**os.environ, "PYTHONPATH": str(home / "src")}
    with (home / "said.txt").open("ab") as said:
        return subprocess.Popen(command, cwd=home, env=environment, stdout=said, stderr=said, start_new_session=True)


def memory(run: subprocess.Popen[bytes]) -> tuple[int, int]:
    """Resident memory of all processes of a run together, and of the largest."""
    sizes = [0]
    try:
        family = [psutil.Process(run.pid), *psutil.Process(run.pid).children(recursive=True)]
    except psutil.NoSuchProcess:
        return 0, 0
    for process in family:
        try:
            sizes.append(process.memory_info().rss)
        except psutil.NoSuchProcess:
            continue
    return sum(sizes), max(sizes)


def wait(run: subprocess.Popen[bytes], enough: Callable[[], bool]) -> tuple[int, int]:
    """Until the run ends or there is enough; the peaks of its memory."""
    whole = largest = 0
    while run.poll() is None and not enough():
        both = memory(run)
        whole, largest = max(whole, both[0]), max(largest, both[1])
        time.sleep(0.3)
    return whole, largest


def percent(home: Path, since: int) -> int:
    """How much of the run that began at a place of its log is done."""
    found = PERCENT.findall((home / "said.txt").read_bytes()[since:].decode(errors="replace"))
    return int(found[-1]) if found else 0


def kill_at(home: Path, words: Sequence[str], share: int, pause: float) -> int:
    """Start, kill everything some time after a share of the jobs is done, and unlock; the share that was done."""
    log = home / "said.txt"
    since = log.stat().st_size if log.exists() else 0
    run = start(home, words)
    wait(run, lambda: percent(home, since) >= share)
    time.sleep(pause)
    done = percent(home, since)
    if run.poll() is None:
        os.killpg(run.pid, signal.SIGKILL)
    run.wait()
    finish(home, ["--unlock", *words])
    return done


def finish(home: Path, words: Sequence[str]) -> tuple[int, int]:
    """Run to the end; it must end well."""
    run = start(home, words)
    peaks = wait(run, lambda: False)
    if run.returncode != 0:
        raise SystemExit(f"{home / 'said.txt'}: Snakemake ended with {run.returncode}: see there")
    return peaks


def differences(one: Path, other: Path) -> list[str]:
    """The results that are not the same in two copies; a file that only one of them has differs."""
    found = [_files(home) for home in (one, other)]
    names = sorted(found[0] | found[1])
    return [n for n in names if n not in found[0] & found[1] or (one / n).read_bytes() != (other / n).read_bytes()]


def _files(home: Path) -> set[str]:
    paths = [path for part in ("results", "figures") for path in (home / part).rglob("*") if path.is_file()]
    return {name for name in (str(path.relative_to(home)) for path in paths) if not MAY_DIFFER.search(name)}


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
    print(f"{len(_files(plain))} files compared, {len(differing)} differ", *differing, sep="\n")
    sys.exit(bool(differing))


if __name__ == "__main__":
    main()
