"""Benchmarks: wall seconds and peak memory of a piece of work, in a process of its own where memory counts."""

import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import Any

from genverify.model.errors import GenverifyError

MB = 2**20  # bytes
LOOK_EVERY = 0.1  # seconds between two looks at the memory and the time of a child
FINISHED = "yes"
CHILD = "import sys; from studies.gtv.measurement import serve; serve(int(sys.argv[1]))"
Work = Callable[..., Iterator[Mapping[str, Any]]]


@dataclass
class Measurement:
    """
    What a child process reported of its work, how long it took and how much memory it held at most.

    `ended` is "yes" where the work finished, else why it did not; `values` then hold what was known until then.
    """

    values: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    peak_memory_mb: float = 0.0
    ended: str = "not started"

    @property
    def finished(self) -> bool:
        return self.ended == FINISHED


def measure(work: Work, *args: Any, seconds: float | None = None, memory_mb: int | None = None) -> Measurement:
    """Do the work (an importable function) in a new process within limits; what it yields is kept even if it is stopped."""
    here, there = Pipe()
    with here, there:
        code = [sys.executable, "-c", CHILD, str(there.fileno())]
        child = subprocess.Popen(code, pass_fds=[there.fileno()], stdout=subprocess.DEVNULL)
        there.close()
        try:
            here.send_bytes(pickle.dumps((work, args, memory_mb)))
            measured = _listen(here, child, seconds)
        finally:
            child.kill()
            child.wait()
    if measured.ended == "":
        measured.ended = f"died with exit code {child.returncode}"
    return measured


def _listen(here: Connection, child: "subprocess.Popen[bytes]", seconds: float | None) -> Measurement:
    measured = Measurement(ended="")
    started = time.perf_counter()
    while not measured.ended:
        measured.peak_memory_mb = max(measured.peak_memory_mb, peak_memory_mb(child.pid))
        if seconds is not None and time.perf_counter() - started > seconds:
            measured.seconds, measured.ended = seconds, f"not finished within {seconds:g} s"
        elif here.poll(LOOK_EVERY):
            try:
                values, spent, peak, ended = here.recv()
            except (EOFError, ConnectionResetError):
                child.wait()
                break
            measured.values |= values
            measured.seconds, measured.ended = spent, ended
            measured.peak_memory_mb = max(measured.peak_memory_mb, peak)
    return measured


def serve(handle: int) -> None:
    """The child's side: do the work that the parent sends and tell it what comes out."""
    with Connection(handle) as parent:
        work, args, memory_mb = pickle.loads(parent.recv_bytes())
        if memory_mb is not None:
            import resource

            resource.setrlimit(resource.RLIMIT_AS, (memory_mb * MB, memory_mb * MB))
        started = time.perf_counter()
        ended = FINISHED
        try:
            for values in work(*args):
                parent.send((dict(values), time.perf_counter() - started, peak_memory_mb(), ""))
        except MemoryError:
            ended = f"not finished within {memory_mb} MB of memory"
        except GenverifyError as error:
            ended = f"refused: {error}"
        parent.send(({}, time.perf_counter() - started, peak_memory_mb(), ended))


def peak_memory_mb(pid: int | None = None) -> float:
    """The most memory that a process (this one by default) held so far; 0 where the system does not tell it."""
    # After fork and exec ru_maxrss still holds the parent's peak, so Linux is asked through /proc.
    status = Path(f"/proc/{pid or 'self'}/status")
    if status.exists():
        try:
            lines = dict(line.split(":", 1) for line in status.read_text().splitlines() if ":" in line)
        except OSError:
            return 0.0
        return int(lines.get("VmHWM", "0 kB").split()[0]) / 1024
    if pid is not None:
        return 0.0
    import resource  # which Windows does not have: this module is imported everywhere

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / MB if sys.platform == "darwin" else peak / 1024


# The main job by process: what Snakemake takes, the starts of its jobs with their imports, and their work.

# imported by every Python process at its start: it notes its own CPU seconds until its job begins (jobs.run), and in all
NOTING = """
import atexit, gc, os, sys, time
begun, freeze = [0.0], gc.freeze
gc.freeze = lambda: (begun.append(time.process_time()), freeze())
line = lambda: f"{os.path.basename(sys.argv[0])},{begun[-1]},{time.process_time()}\\n"
atexit.register(lambda: open(os.environ["NOTED"], "a").write(line()))
"""


def main_job(version: str, snakefile: Path, package: Path, home: Path, target: str) -> list[dict[str, Any]]:
    """CPU seconds by process of making a target in the folder `home`, by the workflow and the package of a version."""
    (home / "sitecustomize.py").write_text(NOTING)
    environment = os.environ | {"PYTHONPATH": f"{home}:{package}", "NOTED": f"{home / 'noted.csv'}"}
    words = ["-m", "snakemake", "--snakefile", snakefile, "--directory", home, "--cores", "1", "--quiet", "all"]
    subprocess.run([sys.executable, *map(str, words), "--", target], env=environment, check=True)
    rows: dict[str, dict[str, Any]] = {}
    for name, begun, end in (line.split(",") for line in (home / "noted.csv").read_text().splitlines()):
        process = name.split(".")[1] if name.startswith("tmp") else "Snakemake"  # tmp1234.verify_claims.py
        row = rows.setdefault(process, {"version": version, "process": process, "jobs": 0, "start_s": 0.0, "work_s": 0.0})
        row["jobs"] += 1
        row["start_s"] += float(begun)
        row["work_s"] += float(end) - float(begun)
    return list(rows.values())
