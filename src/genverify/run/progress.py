"""How far a running study is: blocks done over all its jobs, rate and time left, from what the jobs say in their logs."""

import argparse
import os
import re
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import NamedTuple, TextIO, cast

import pyarrow.compute as pc
import pyarrow.parquet as pq

from genverify.model.errors import DataError
from genverify.run.layout import LOGS, RESULTS, SAMPLE

STAGES = {"generate_datasets": "generated", "verify_claims": "verified", "measure_variability": "measured"}
ALWAYS = ("generate_datasets", "verify_claims")
SAID = re.compile(r"(\d+) of \d+ blocks \w+, ([\d.]+)/s")
WINDOW = 300.0  # seconds over which the speed is averaged
TERMINAL_EVERY, LOG_EVERY = 2.0, 60.0


class Stage(NamedTuple):
    """One stage of one variant: blocks done, of how many, and how many blocks one job does in a second (0: not known)."""

    variant: str
    name: str
    done: int
    total: int
    rate: float


def read_stages(home: Path) -> list[Stage]:
    """The stages of every variant that is tabulated; a stage that a target may do without counts once it has begun."""
    sample, result = home / SAMPLE, list[Stage]()
    if not sample.exists():
        raise DataError(f"{sample}: no blocks are chosen yet, or no study runs here. Look again when sample_blocks is done.")
    total = pc.count_distinct(pq.read_table(sample, columns=["block"])["block"]).as_py()
    variants = sorted(path.parents[1].name for path in (home / RESULTS).glob("*/release/schema.json"))
    for variant, (rule, name) in product(variants, STAGES.items()):
        logs = home / LOGS / variant / rule
        if rule in ALWAYS or logs.exists():
            last = [said for log in logs.glob("*.log") for said in SAID.findall(log.read_text(errors="replace"))[-1:]]
            done, seconds = sum(int(n) for n, _ in last), sum(int(n) / max(float(rate), 0.05) for n, rate in last)
            result.append(Stage(variant, name, min(done, total), total, done / seconds if seconds else 0.0))
    return result


def describe(stages: list[Stage], then: list[Stage], seconds: float) -> str:
    """One line: blocks done by stage, the rate since `then`, some seconds ago, and the time left at that rate."""
    done, total = sum(stage.done for stage in stages), sum(stage.total for stage in stages)
    names = list(dict.fromkeys(stage.name for stage in stages))
    counts = ", ".join(f"{sum(s.done for s in stages if s.name == name)} {name}" for name in names)
    line = f"{100 * done / max(1, total):.1f} %: {counts} of {total // max(1, len(names))} blocks"
    if done == total:
        return f"{line}; all blocks are done"
    earlier = {stage[:2]: stage.done for stage in then}
    news = [stage.done - earlier.get(stage[:2], 0) for stage in stages]
    if sum(news) <= 0 or seconds <= 0:
        return f"{line}; rate not known yet"
    costs = [1 / (stage.rate or 1) for stage in stages]  # seconds of one job for a block
    worked = sum(cost * new for cost, new in zip(costs, news, strict=True)) / seconds
    left = sum(cost * (s.total - s.done) for cost, s in zip(costs, stages, strict=True)) / max(worked, 1e-9)
    hours, minutes = divmod(int(left // 60), 60)
    time_left = f"{hours} h {minutes} min" if hours else f"{minutes} min" if minutes else f"{left:.0f} s"
    return f"{line}; {sum(news) / seconds:.1f}/s, {time_left} left"


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
    with suppress(KeyboardInterrupt):  # below what makes texts from data visible: the line is ours
        watch(options.folder, cast(TextIO, getattr(sys.stdout, "stream", sys.stdout)))


def watch(home: Path, stream: TextIO) -> None:
    """Show the lines: on a terminal one that is written over, elsewhere one a minute."""
    terminal = stream.isatty() and not os.environ.get("NO_COLOR")
    for line in lines(home, lambda: time.sleep(TERMINAL_EVERY if terminal else LOG_EVERY)):
        stream.write(f"\r\x1b[K{line}" if terminal else f"{line}\n")
        stream.flush()
    if terminal:
        stream.write("\n")
