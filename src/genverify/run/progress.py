"""How far a running study is: blocks done over all its jobs, rate and time left, from what the jobs say in their logs."""

import argparse
import os
import re
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO, cast

import pyarrow.compute as pc
import pyarrow.parquet as pq

from genverify.model.errors import DataError
from genverify.run.layout import LOGS, RESULTS, SAMPLE

STAGES = {"generate_datasets": "generated", "verify_claims": "verified", "measure_variability": "measured"}
ALWAYS = ("generate_datasets", "verify_claims")
SAID = re.compile(r"(\d+) of (\d+) blocks \w+, ([\d.]+)/s")
WINDOW = 300.0  # seconds over which the speed is averaged
TERMINAL_EVERY, LOG_EVERY = 2.0, 60.0


@dataclass(frozen=True)
class Stage:
    """One stage of one variant: blocks done, of how many, and how many blocks one job does in a second (0: not known)."""

    variant: str
    name: str
    done: int
    total: int
    rate: float

    def work(self, blocks: int) -> float:
        """Seconds of one job for a number of blocks."""
        return blocks / self.rate if self.rate else float(blocks)


def read_stages(home: Path) -> list[Stage]:
    """The stages of every variant that is tabulated; a stage that a target may do without counts once it has begun."""
    sample = home / SAMPLE
    if not sample.exists():
        raise DataError(f"{sample}: no blocks are chosen yet, or no study runs here. Look again when sample_blocks is done.")
    total = pc.count_distinct(pq.read_table(sample, columns=["block"])["block"]).as_py()
    variants = sorted(path.parents[1].name for path in (home / RESULTS).glob("*/release/schema.json"))
    folders = ((variant, rule, home / LOGS / variant / rule) for variant in variants for rule in STAGES)
    return [_stage(variant, rule, logs, total) for variant, rule, logs in folders if rule in ALWAYS or logs.exists()]


def _stage(variant: str, rule: str, logs: Path, total: int) -> Stage:
    said = [SAID.findall(log.read_text(errors="replace"))[-1:] for log in logs.glob("*.log")]
    last = [(int(blocks), float(rate)) for lines in said for blocks, _, rate in lines]
    done, seconds = sum(blocks for blocks, _ in last), sum(blocks / max(rate, 0.05) for blocks, rate in last)
    return Stage(variant, STAGES[rule], min(done, total), total, done / seconds if seconds else 0.0)


def describe(stages: list[Stage], then: list[Stage], seconds: float) -> str:
    """One line: blocks done by stage, the rate since `then`, some seconds ago, and the time left at that rate."""
    done, total = sum(stage.done for stage in stages), sum(stage.total for stage in stages)
    names = list(dict.fromkeys(stage.name for stage in stages))
    counts = ", ".join(f"{sum(s.done for s in stages if s.name == name)} {name}" for name in names)
    line = f"{100 * done / max(1, total):.1f} %: {counts} of {total // max(1, len(names))} blocks"
    if done == total:
        return f"{line}; all blocks are done"
    earlier = {(stage.variant, stage.name): stage.done for stage in then}
    news = [stage.done - earlier.get((stage.variant, stage.name), 0) for stage in stages]
    if sum(news) <= 0 or seconds <= 0:
        return f"{line}; rate not known yet"
    worked = sum(stage.work(new) for stage, new in zip(stages, news, strict=True)) / seconds
    left = sum(stage.work(stage.total - stage.done) for stage in stages) / max(worked, 1e-9)
    return f"{line}; {sum(news) / seconds:.1f}/s, {_duration(left)} left"


def _duration(seconds: float) -> str:
    minutes = int(seconds // 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes} min" if minutes else f"{seconds:.0f} s"


def lines(home: Path, pause: Callable[[], None], clock: Callable[[], float] = time.monotonic) -> Iterator[str]:
    """A line now and after every pause, until all blocks are done; the rate is that of the last minutes."""
    seen: deque[tuple[float, list[Stage]]] = deque()
    while True:
        now, stages = clock(), read_stages(home)
        seen.append((now, stages))
        while now - seen[0][0] > WINDOW and len(seen) > 2:
            seen.popleft()
        yield describe(stages, seen[0][1], now - seen[0][0])
        if stages and all(stage.done >= stage.total for stage in stages):
            return
        pause()


def command(options: argparse.Namespace) -> None:
    with suppress(KeyboardInterrupt):
        watch(options.folder)


def watch(home: Path, stream: TextIO | None = None) -> None:
    """Show the lines: on a terminal one that is written over, elsewhere one a minute."""
    # below what makes texts from data visible: the line is ours
    stream = stream or cast(TextIO, getattr(sys.stdout, "stream", sys.stdout))
    terminal = stream.isatty() and not os.environ.get("NO_COLOR")
    for line in lines(home, lambda: time.sleep(TERMINAL_EVERY if terminal else LOG_EVERY)):
        stream.write(f"\r\x1b[K{line}" if terminal else f"{line}\n")
        stream.flush()
    if terminal:
        stream.write("\n")
