"""How work is done: seeds by name, progress, a least recently used cache, wall seconds and peak memory."""

import hashlib
import logging
import pickle
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import Any, TypeVar

from genverify.model.errors import GenverifyError

# Seeds: one per job or block, derived from its name, so that no result depends on the order of work.


def derive_seed(seed: int, *names: str) -> int:
    """
    A seed of 64 bits for a named piece of work.

    >>> derive_seed(1, "sample", "01") == derive_seed(1, "sample", "01") != derive_seed(1, "sample", "02")
    True
    """
    text = "/".join([str(seed), *names])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


# How long work takes, and how far it is.

SAY_EVERY = 10.0  # seconds between two lines of a log: it shows that a job lives, and stays short
SAY_CELLS_EVERY = 5.0  # somebody sits in front of a terminal
T = TypeVar("T")
log = logging.getLogger("genverify")


@dataclass
class Stopwatch:
    """
    The wall seconds of a piece of work.

    >>> with watch() as spent:
    ...     pass
    >>> spent.seconds < 1
    True
    """

    seconds: float = 0.0


@contextmanager
def watch() -> Iterator[Stopwatch]:
    spent = Stopwatch()
    started = time.perf_counter()
    try:
        yield spent
    finally:
        spent.seconds = time.perf_counter() - started


def progress(items: Sequence[T], what: str) -> Iterator[T]:
    """The items one by one, with a line in the log now and then: how many are done, the rate and the time left."""
    started = reported = time.monotonic()
    for done, item in enumerate(items, 1):
        yield item
        now = time.monotonic()
        if now - reported > SAY_EVERY or done == len(items):
            reported, rate = now, done / max(now - started, 1e-9)
            log.info("%d of %d %s, %.1f/s, %.0f s left", done, len(items), what, rate, (len(items) - done) / rate)


class CellProgress:
    """How far a search for the ranges of cells is, now and then, on the standard error."""

    def __init__(self, quiet: bool = False) -> None:
        self.quiet, self.last = quiet, time.monotonic()

    def __call__(self, done: int, of: int) -> None:
        now = time.monotonic()
        if not self.quiet and now - self.last > SAY_CELLS_EVERY:
            self.last = now
            print(f"{done} of {of} cells ...", file=sys.stderr)


@dataclass
class ProgressLog:
    """Lines in the log about long work of unknown length: the first after a few seconds, then one in so many."""

    every: float = 5.0

    def __post_init__(self) -> None:
        self.last = time.monotonic()

    def __call__(self, text: str, *values: object) -> None:
        if time.monotonic() - self.last > self.every:
            self.last = time.monotonic()
            log.info(text, *values)


# Benchmarks: wall seconds and peak memory of a piece of work, in a process of its own where memory counts.

MB = 2**20
LOOK_EVERY = 0.1  # seconds between two looks at the memory and the time of a child
FINISHED = "yes"
CHILD = "import sys; from genverify.model.work import serve; serve(int(sys.argv[1]))"
Work = Callable[..., Iterator[Mapping[str, Any]]]


@dataclass
class Measurement:
    """
    What a child process reported of its work, how long it took and how much memory it held at most.

    `ended` is "yes" where the work finished, else why it did not; `values` then hold what was known until then.

    >>> Measurement({"claims": 3}, seconds=1.5, ended=FINISHED).finished, Measurement().finished
    (True, False)
    """

    values: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    peak_memory_mb: float = 0.0
    ended: str = "not started"

    @property
    def finished(self) -> bool:
        return self.ended == FINISHED


def measure(work: Work, *args: Any, seconds: float | None = None, memory_mb: int | None = None) -> Measurement:
    """
    Do the work in a new process, within limits of time and memory.

    `work` is a function of a module that can be imported; what it yields are values by name, kept even if it is stopped.
    """
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
    """Gather what the child says until it has finished, is out of time, or is gone."""
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
