"""Studies run in copies of the repository: to the end, or killed on the way, their results compared byte for byte."""

import atexit
import fcntl
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import psutil
import yaml

import warm_snakemake

ROOT = Path(__file__).parents[2]
PARTS = ["Snakefile", "config.yaml", "config", "workflow", "scripts", "src", "data", "profiles", "envs",
         "docs/reference_set.py", "docs/modules.py", "docs/skeletons.py", "docs/skeleton", "docs/crate.py",
         "docs/vipr_checker.py"]  # fmt: skip
STATES = ["01", "02", "19", "38", "46", "56"]
SMALL = {
    # an urn, since what these studies are about is not how alike neighbours are, and its model is the quickest to build
    "microdata": {"synthetic": {"country": "country", "households": 6000, "likeness": "urn"}},
    "sample": {
        "designs": {"state_median": None, "country_median": None},
        "all_blocks": {"small_blocks": {"states": ["01", "19"], "up_to": 2}},
        "batches": 2,
    },
    "generate": {"datasets": 10},
}
MAY_DIFFER = re.compile(r"record\.json$|\.snakemake_timestamp$")
PERCENT = re.compile(r"\((\d+)%\) done")


def copy_repository(home: Path) -> Path:
    """What a clone holds, and the configuration files."""
    home.mkdir(parents=True, exist_ok=True)
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, home / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            (home / part).parent.mkdir(exist_ok=True)
            shutil.copy(ROOT / part, home / part)
    return home


def environment(home: Path) -> dict[str, str]:
    """The library of the copy, not the installed one; compiled once, not by every job."""
    given = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**given, "PYTHONPATH": str(home / "src")}


def snakemake(home: Path, *words: str, right: bool = True) -> str:
    """What Snakemake says in a copy; the exit code is checked."""
    code, said = warm_snakemake.run(home, words, environment(home))
    assert (code == 0) == right, said
    return said


@cache
def dry_run(*words: str, right: bool = True) -> str:
    """What Snakemake would do in the repository itself, where nothing is written; or what it says is wrong."""
    code, said = warm_snakemake.run(ROOT, ("-n", "--nolock", *words), {**os.environ, "PYTHONPATH": str(ROOT / "src")})
    assert (code == 0) == right, said
    return said


def planned_jobs(said: str) -> dict[str, int]:
    """The jobs of a dry run by rule, and their total."""
    return {rule: int(n) for rule, n in re.findall(r"^(\w+) +(\d+)$", said, re.MULTILINE)}


def shrink_country(home: Path, settings: Mapping[str, Any] = SMALL) -> None:
    """A country of six states beside the copy, and a configuration for some twenty of its blocks."""
    shutil.copytree(ROOT / "data" / "synthetic", home / "country")
    path = home / "country" / "states.yaml"
    states = yaml.safe_load(path.read_text())
    states["states"] = {fips: states["states"][fips] for fips in STATES}
    path.write_text(yaml.safe_dump(states))
    (home / "small.yaml").write_text(yaml.safe_dump(dict(settings)))


def copy_small(home: Path) -> Path:
    copy_repository(home)
    shrink_country(home)
    return home


def made_once(shared: Path, name: str, make: Callable[[Path], object]) -> Path:
    """A folder that several processes need and one of them makes; the others wait for it."""
    home, done = shared / name, shared / f"{name}.done"
    with (shared / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            shutil.rmtree(home, ignore_errors=True)
            make(home)
            done.touch()
    return home


def start(home: Path, words: Sequence[str], warm: bool = False) -> subprocess.Popen[bytes]:
    """Snakemake in a process group of its own, so that it can be killed with all its jobs, which may share their imports."""
    command = [sys.executable, "-m", "snakemake", *words]
    if warm:
        folder = tempfile.mkdtemp()
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        command = [sys.executable, warm_snakemake.__file__, folder, *words]
    with (home / "output.txt").open("ab") as output:
        return subprocess.Popen(
            command, cwd=home, env=environment(home), stdout=output, stderr=output, start_new_session=True
        )


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
    found = PERCENT.findall((home / "output.txt").read_bytes()[since:].decode(errors="replace"))
    return int(found[-1]) if found else 0


def kill_at(home: Path, words: Sequence[str], share: int, pause: float, warm: bool = False) -> int:
    """Start, kill everything some time after a share of the jobs is done, and unlock; the share that was done."""
    log = home / "output.txt"
    since = log.stat().st_size if log.exists() else 0
    run = start(home, words, warm)
    wait(run, lambda: percent(home, since) >= share)
    time.sleep(pause)
    done = percent(home, since)
    if run.poll() is None:
        os.killpg(run.pid, signal.SIGKILL)
    run.wait()
    snakemake(home, "--unlock", *words)
    return done


def finish(home: Path, words: Sequence[str]) -> tuple[int, int]:
    """Run to the end; it must end well."""
    run = start(home, words)
    peaks = wait(run, lambda: False)
    if run.returncode != 0:
        raise SystemExit(f"{home / 'output.txt'}: Snakemake ended with {run.returncode}: see there")
    return peaks


def differences(one: Path, other: Path) -> list[str]:
    """The results that are not the same in two copies; a file that only one of them has differs."""
    found = [files(home) for home in (one, other)]
    names = sorted(found[0] | found[1])
    return [n for n in names if n not in found[0] & found[1] or (one / n).read_bytes() != (other / n).read_bytes()]


def files(home: Path) -> set[str]:
    """The results and figures of a copy whose bytes must not change from run to run."""
    paths = [path for part in ("results", "figures") for path in (home / part).rglob("*") if path.is_file()]
    return {name for name in (str(path.relative_to(home)) for path in paths) if not MAY_DIFFER.search(name)}
