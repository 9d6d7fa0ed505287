"""How long work takes, and how far it is."""

import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

SAY_EVERY = 10.0
T = TypeVar("T")
log = logging.getLogger("genverify")


@dataclass
class Watch:
    """
    The wall seconds of a piece of work.

    >>> with watch() as spent:
    ...     pass
    >>> spent.seconds < 1
    True
    """

    seconds: float = 0.0


@contextmanager
def watch() -> Iterator[Watch]:
    spent = Watch()
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


@dataclass
class NowAndThen:
    """Lines in the log about long work of unknown length: the first after a few seconds, then one in so many."""

    every: float = 5.0

    def __post_init__(self) -> None:
        self.last = time.monotonic()

    def __call__(self, text: str, *values: object) -> None:
        if time.monotonic() - self.last > self.every:
            self.last = time.monotonic()
            log.info(text, *values)
