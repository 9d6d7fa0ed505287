"""How work is done: seeds by name, limits of work, progress, and wall seconds."""

import hashlib
import logging
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

# Seeds: one per job or block, derived from its name, so that no result depends on the order of work.


def derive_seed(seed: int, *names: str) -> int:
    """A seed of 64 bits for a named piece of work."""
    text = "/".join([str(seed), *names])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


# Limits of work: counted, not timed, so that the same input gets the same answer on any machine, however busy it is.

# processor seconds for a unit of work: what takes more is unlike all that units were measured on; and seconds more for what
# is not counted, such as what single rows imply
BRAKE, GRACE = 3.0, 30.0
WORK_LIMIT = "limit of work"
CLOCK_LIMIT = "stopped by the clock before the limit of work: on a faster machine the answer may say more"


@dataclass
class Meter:
    """Work done so far: iterations, nodes and numbers that were looked at, in units of about a second of one core."""

    units: float = 0.0


class WorkBudget:
    """
    So many units of work from now on, on a meter that others may share. The clock is a brake: it ends work that takes
    several times as many seconds of the processor, and `limit` then says so.

    >>> budget = WorkBudget(Meter(), 2.0)
    >>> budget.spend(1.5), budget.left(), budget.limit, budget.spend(1.0), budget.limit
    (None, 0.5, '', None, 'limit of work')
    """

    def __init__(self, meter: Meter, units: float) -> None:
        self.meter, self.units, self.end = meter, units, meter.units + units
        self.stop = time.process_time() + BRAKE * units + GRACE

    def spend(self, units: float) -> None:
        self.meter.units += units

    def left(self) -> float:
        return self.end - self.meter.units

    def seconds(self) -> float:
        """Processor seconds until the brake."""
        return self.stop - time.process_time()

    def brake(self) -> None:
        """The clock ended a solver: so it ends the work."""
        self.stop = -1.0

    @property
    def limit(self) -> str:
        """Why work has to end; empty where it may go on."""
        return WORK_LIMIT if self.left() <= 0 else CLOCK_LIMIT if self.seconds() < 0 else ""


# How long work takes, and how far it is.

SAY_EVERY = 10.0  # seconds between two lines of a log: it shows that a job lives, and stays short
T = TypeVar("T")
log = logging.getLogger("genverify")


@dataclass
class Stopwatch:
    """The wall seconds of a piece of work."""

    seconds: float = 0.0


@contextmanager
def watch() -> Iterator[Stopwatch]:
    spent = Stopwatch()
    started = time.perf_counter()
    try:
        yield spent
    finally:
        spent.seconds = time.perf_counter() - started


@dataclass
class ProgressLog:
    """Lines in the log about long work of unknown length: the first after a few seconds, then one in so many."""

    every: float = 5.0  # somebody sits in front of a terminal

    def __post_init__(self) -> None:
        self.last = self.now = time.monotonic()

    def due(self) -> bool:
        """Whether so many seconds have passed; then they are counted from now on."""
        self.now = time.monotonic()
        if due := self.now - self.last > self.every:
            self.last = self.now
        return due

    def __call__(self, text: str, *values: object) -> None:
        if self.due():
            log.info(text, *values)


def progress(items: Sequence[T], what: str) -> Iterator[T]:
    """The items one by one, with a line in the log now and then: how many are done, the rate and the time left."""
    reported = ProgressLog(SAY_EVERY)
    started = reported.last
    for done, item in enumerate(items, 1):
        yield item
        if reported.due() or done == len(items):
            rate = done / max(reported.now - started, 1e-9)
            log.info("%d of %d %s, %.1f/s, %.0f s left", done, len(items), what, rate, (len(items) - done) / rate)


@contextmanager
def shown_progress(patience: float = 0.0) -> Iterator[None]:
    """The lines of the log on the standard error, once work has taken a while."""
    handler, level, started = logging.StreamHandler(), log.level, time.time()
    handler.addFilter(lambda record: record.created - started >= patience)
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(level)


class CellProgress:
    """How far a search for the ranges of cells is, now and then, on the standard error."""

    def __init__(self, quiet: bool = False) -> None:
        self.quiet, self.clock = quiet, ProgressLog()

    def __call__(self, done: int, of: int) -> None:
        if not self.quiet and self.clock.due():
            print(f"{done} of {of} cells ...", file=sys.stderr)
