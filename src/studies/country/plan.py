"""What a run would cost, before it starts: about how much time, then blocks, batches, jobs and disk."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from genverify.model.files import read_yaml
from genverify.run.config import Config, section
from genverify.run.registry import registered
from studies.country.people import country_file
from studies.country.sample import STATES, TYPICAL_HOUSEHOLDS, block_seconds, households_of, states_of
from studies.country.settings import Microdata, Sample

# where nothing was measured yet: a job without what it does to blocks, a block's results of one variant, a household of the
# microdata
SECONDS_PER_JOB = 3.0
BYTES_PER_BLOCK, BYTES_PER_HOUSEHOLD = 12_000, 4


@dataclass(frozen=True)
class Earlier:
    """What earlier runs left: what their blocks cost, seconds per job and batches of each rule, bytes per block."""

    cost: float
    seconds: Mapping[str, float]
    batches: Mapping[str, int]
    bytes_per_block: float | None


def jobs_of(output: str) -> dict[str, int]:
    """How many jobs of each rule a dry run would start."""
    found = {rule: int(count) for rule, count in re.findall(r"^(\w+) +(\d+)$", output, re.MULTILINE)}
    return {rule: count for rule, count in found.items() if rule not in ("all", "everything", "total")}


def read_earlier(benchmarks: Path, results: Path, known: Mapping[str, float] | None = None) -> Earlier:
    """The measurements of earlier runs, as far as there are any; `known` are seconds per job of rules not run here yet."""
    times: dict[str, list[float]] = {}
    batches: dict[str, int] = {}
    for path in sorted(benchmarks.rglob("*.tsv")):
        rule = path.parent.name if path.stem.isdigit() else path.stem
        times.setdefault(rule, []).extend(pd.read_csv(path, sep="\t")["s"].dropna().tolist())
        if path.stem.isdigit():
            batches[rule] = len(list(path.parent.glob("*.tsv")))
    samples = [results / "sample" / "blocks.parquet", *sorted((results / "sample" / "designs").glob("*.parquet"))]
    sizes = {block: n for path in samples if path.is_file() for block, n in households_of(pd.read_parquet(path)).items()}
    seconds = {**(known or {}), **{rule: sum(found) / len(found) for rule, found in times.items() if found}}
    return Earlier(sum(map(block_seconds, sizes.values())), seconds, batches, _bytes_per_block(results, len(sizes)))


def _bytes_per_block(results: Path, blocks: int) -> float | None:
    """The size of the results of a variant per block, over the variants that are finished."""
    finished = [path.parent for path in results.glob("*/claims.parquet")]
    if not finished or not blocks:
        return None
    sizes = [file.stat().st_size for folder in finished for file in folder.rglob("*") if file.is_file()]
    return sum(sizes) / len(finished) / blocks


def count_states(config: Config, microdata: Path) -> tuple[int, str]:
    """How many states the microdata hold or will hold, and how that is known."""
    stored = len(list(microdata.glob("*.parquet")))
    if stored:
        return stored, "of the microdata"
    source = section(config, Microdata)
    if source.source == "synthetic":
        states = read_yaml(country_file(Path(source.synthetic.country), "states.yaml"))["states"]
        return len(states), "of the built-in country"
    return STATES, "assumed, the microdata are not read yet"


def plan(
    config: Config, jobs: Mapping[str, int], batches: int, earlier: Earlier, results: Path, cores: int
) -> Iterator[str]:
    """The plan in words, the time first."""
    microdata, designs = results / "microdata", list(_designs(config, results))
    blocks = sum(count for _, count, _, _ in designs)
    if jobs:
        yield from time_lines(jobs, sum(cost for _, _, cost, _ in designs) / batches, batches, earlier, cores)
    for name, _, _, how in designs:
        yield f"design {name}: {how}"
    variants = len(config.variants)
    yield f"{blocks} blocks or a few less, in {batches} batches; {variants} variants: {blocks * variants} attacks on a block"
    if not jobs:
        yield "jobs: none, everything is up to date"
        return
    listed = ", ".join(f"{count} {rule}" for rule, count in sorted(jobs.items(), key=lambda item: (-item[1], item[0])))
    yield f"jobs: {sum(jobs.values())} ({listed})"
    rate = earlier.bytes_per_block or BYTES_PER_BLOCK
    stored, source = sum(path.stat().st_size for path in microdata.glob("*.parquet")), section(config, Microdata)
    if not stored and source.source == "synthetic":
        stored = source.synthetic.households * BYTES_PER_HOUSEHOLD
    size = blocks * variants * rate + stored
    how = "measured" if earlier.bytes_per_block else "by default"
    yield f"disk: about {size / 1e6:.0f} MB when all is done ({rate / 1000:.0f} kB per block and variant, {how})"


def _designs(config: Config, results: Path) -> Iterator[tuple[str, int, float, str]]:
    """Every design, how many blocks it has, what they cost and how that is known; the same block may be in two."""
    states, known = count_states(config, results / "microdata")
    path = results / "sample" / "sizes.parquet"
    sizes = pd.read_parquet(path) if path.is_file() else None
    for name, design in section(config, Sample).designs.items():
        if design is not None:
            each, of_design = design.blocks_per_state, states_of(design, states)
            households = design.size if isinstance(design.size, int) else TYPICAL_HOUSEHOLDS
            blocks = each * of_design
            yield name, blocks, blocks * block_seconds(households), f"{each} blocks in each of {of_design} states ({known})"
    for name, whole in section(config, Sample).all_blocks.items():
        if whole is not None and sizes is not None:
            inside = True if whole.states == "all" else sizes["state"].isin(list(whole.states))
            chosen = sizes.loc[(sizes["n"] <= whole.up_to) & inside, "n"]
            cost = sum(map(block_seconds, chosen.tolist()))
            yield name, len(chosen), cost, f"every block of 1 to {whole.up_to} households, {len(chosen)} of them"
        elif whole is not None:
            how = f"every block of 1 to {whole.up_to} households; how many is known once the microdata are there"
            yield name, 0, 0.0, how


def plan_everything(
    config: Config, jobs: Mapping[str, int], batches: int, earlier: Earlier, results: Path, cores: int
) -> Iterator[str]:
    """The time that all five papers would take, and their jobs."""
    if not jobs:
        yield "everything: up to date"
        return
    cost = sum(cost for _, _, cost, _ in _designs(config, results))
    first, *rest = time_lines(jobs, cost / batches, batches, earlier, cores)
    yield f"everything (all five papers), {first}"
    yield from rest
    yield f"  jobs: {sum(jobs.values())} of {len(jobs)} rules"
    for lines in registered("left_out"):  # results that need a file of the user, where none is named
        yield from (f"  left out, since {line}" for line in lines(config))


def time_lines(jobs: Mapping[str, int], per_batch: float, batches: int, earlier: Earlier, cores: int) -> Iterator[str]:
    """About how long the jobs take, and how that is known."""
    seconds = {rule: count * _seconds(rule, count, per_batch, batches, earlier) for rule, count in jobs.items()}
    guessed = [rule for rule in jobs if rule not in earlier.seconds]
    total = sum(seconds.values())
    yield f"time: about {in_words(total / cores)} on {cores} cores ({in_words(total)} of one core)"
    if len(guessed) < len(jobs):
        yield f"  from earlier runs: {len(jobs) - len(guessed)} of {len(jobs)} rules (benchmarks/, workflow/times.yaml)"
    if guessed:
        of_ten = f"{block_seconds(10):.2f} s per block of ten households"
        yield f"  by default ({of_ten}, {SECONDS_PER_JOB:.0f} s per job besides): {', '.join(sorted(guessed))}"


def _seconds(rule: str, count: int, per_batch: float, batches: int, earlier: Earlier) -> float:
    """Of one job: as measured, in proportion to what its batch would cost now; else by default."""
    if rule in earlier.seconds:
        then = earlier.cost / earlier.batches[rule] if rule in earlier.batches else 0
        return earlier.seconds[rule] * (per_batch / then if then else 1)
    by_batch = count >= batches > 1
    return SECONDS_PER_JOB + (per_batch / 2 if by_batch else 0)


def in_words(seconds: float) -> str:
    """A time that one can read: 42 s, 10 min, 2.0 h."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
