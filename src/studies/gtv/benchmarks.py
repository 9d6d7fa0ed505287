"""Benchmarks: wall seconds and peak memory of a piece of work, in a process of its own where memory counts."""

import gc
import json
import logging
import os
import pickle
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from genverify.attack.generate import generate, generate_block
from genverify.attack.onehot import generate_onehot, onehot_program
from genverify.attack.verify import Decision, Verdict, Verifier, check_verified, claims_frame, decide_block, decide_onehot
from genverify.model.claims import as_claims, candidate_claims
from genverify.model.domain import Domain, Predicate, read_domain
from genverify.model.errors import DataError, GenverifyError
from genverify.model.release import Release, read_releases, read_schema, read_study
from genverify.model.settings import ReleaseSettings
from genverify.model.tabulate import releases_of
from genverify.model.work import derive_seed, watch
from genverify.solve.program import WrongAnswer
from genverify.solve.program_settings import ProgramSettings
from genverify.solve.solvers.base import WorkLimits, make_solver
from studies.country.ppmf import read_ppmf
from studies.country.store import read_microdata, write_microdata
from studies.gtv.settings import SameBenchmark, SpeedBenchmark

MB = 2**20  # bytes
LOOK_EVERY = 0.1  # seconds between two looks at the memory and the time of a child
FINISHED = "yes"
CHILD = "import sys; from studies.gtv.benchmarks import serve; serve(int(sys.argv[1]))"
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


# What a block costs by its size: core-seconds of each stage and memory, by this version or one checked out beside it.


# households of a block, from and to
CLASSES = ((1, 5), (6, 10), (11, 20), (21, 40), (41, 80), (81, 150), (151, 400), (401, 10**6))
STAGES = ("build_s", "generate_s", "verify_s", "check_s")
COUNTS = ("verified", "undecided", "uncertified", "linear_programs", "searches")
WHOLE = "all"
How = tuple[ProgramSettings, int, int, int]  # program, datasets, least k, seed


def named(class_: tuple[int, int]) -> str:
    """The words for a class of sizes."""
    return f"{class_[0]}-{class_[1]}" if class_ != CLASSES[-1] else f"over {class_[0] - 1}"


def draw_classes(sizes: pd.DataFrame, number: int, rng: np.random.Generator) -> dict[str, list[str]]:
    """Some random blocks of each class of sizes, of those that have any; `sizes` has one row per block: block and n."""
    drawn = {}
    for class_ in CLASSES:
        part = sizes.loc[sizes["n"].between(*class_), "block"].astype(str).sort_values().to_numpy()
        if len(part):
            drawn[named(class_)] = sorted(rng.choice(part, min(number, len(part)), replace=False).tolist())
    return drawn


def shares(sizes: pd.DataFrame) -> dict[str, float]:
    return {named(class_): float(sizes["n"].between(*class_).mean()) for class_ in CLASSES}


def costs(releases: Sequence[Release], how: How, version: Path | None) -> pd.DataFrame:
    """The cost of each block, measured in a new process with this version or with the package in another folder."""
    source = Path(__file__).parents[2] if version is None else version
    if not (source / "genverify").is_dir():
        raise DataError(f"{source}: no folder that holds genverify; see benchmark.blocks.before")
    # not run as a program: what a file does when it is imported would count for the code of all that import it
    code = f"import runpy, sys; runpy.run_path(sys.argv[1])[{_measure_blocks.__name__!r}]()"
    command, text = [sys.executable, "-P", "-c", code, __file__], pickle.dumps((list(releases), how))
    environment = {**os.environ, "PYTHONPATH": str(source.resolve())}
    done = subprocess.run(command, input=text, stdout=subprocess.PIPE, check=True, env=environment)
    return pd.DataFrame(json.loads(done.stdout))


def cost(release: Release, settings: ProgramSettings, K: int, min_k: int, seed: int) -> dict[str, Any]:
    """
    The core-seconds of each stage of the attack on one block. As in a study, where generation and verification are jobs,
    verification gets the release anew and builds the program again: these seconds are part of verify_s. `claims` is the
    digest of the table of verified claims.
    """
    at = [process_time()]
    bounder = settings.bounder(release)
    at.append(process_time())
    records = generate(bounder, K, seed).records
    at.append(process_time())
    result = decide_block(replace(release), records, settings, min_k)
    at.append(process_time())
    check_verified(result)
    at.append(process_time())
    spent = dict(zip(STAGES, np.diff(at).tolist(), strict=True))
    verdicts = [decision.verdict.value for decision in result.decisions]
    tallies = {name: verdicts.count(name) for name in COUNTS[:3]}
    work = {name: getattr(result, name, None) for name in COUNTS[3:]}
    size = {"block": release.block, "n_households": release.n, "classes": result.program.classes}
    claims = sha256(claims_frame(result).to_csv(index=False).encode()).hexdigest()
    return {**size, **spent, **tallies, **work, "peak_memory_mb": getrusage(RUSAGE_SELF).ru_maxrss / 1024, "claims": claims}


def cost_rows(version: str, class_: str, blocks: pd.DataFrame) -> dict[str, Any]:
    """The mean cost of the blocks of a class, and how many linear programs and integer searches a verified claim takes."""
    verified = max(1, int(blocks["verified"].sum()))
    row: dict[str, Any] = {"version": version, "households": class_, "blocks": len(blocks)}
    row |= {stage: blocks[stage].mean() for stage in STAGES} | {"total_s": blocks[list(STAGES)].sum(axis=1).mean()}
    row |= {"slowest_s": blocks[list(STAGES)].sum(axis=1).max(), "peak_memory_mb": blocks["peak_memory_mb"].max()}
    row |= {name: int(blocks[name].sum()) for name in COUNTS[:3]}
    return row | {f"{name}_per_verified": blocks[name].sum(min_count=1) / verified for name in COUNTS[3:]}


def country_rows(rows: Sequence[Mapping[str, Any]], share: Mapping[str, float], blocks: int) -> Iterator[dict[str, Any]]:
    """The rows with the share of each class and its core-hours in the country, and one row for the whole of each version."""
    for version in dict.fromkeys(row["version"] for row in rows):
        part = [row for row in rows if row["version"] == version]
        for row in part:
            yield {**row, "share": share[row["households"]], "core_hours": _hours(row, share, blocks)}
        mean = {name: sum(row[name] * share[row["households"]] for row in part) for name in (*STAGES, "total_s")}
        whole = {"version": version, "households": WHOLE, "blocks": sum(row["blocks"] for row in part), **mean}
        yield {**whole, "share": sum(share[row["households"]] for row in part),
               "core_hours": sum(_hours(row, share, blocks) for row in part)}  # fmt: skip


def _hours(row: Mapping[str, Any], share: Mapping[str, float], blocks: int) -> float:
    return float(row["total_s"] * share[row["households"]] * blocks / 3600)


def blocks_frame(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """The table, rounded; `faster` is how many times less a block costs than in the other version."""
    frame = pd.DataFrame(list(rows))
    totals = frame.pivot_table(index="households", columns="version", values="total_s")
    if "before" in totals:
        ratio = frame["households"].map(totals["before"] / totals["now"])
        frame["faster"] = ratio.where(frame["version"] == "now").round(1)
    digits = dict.fromkeys([*STAGES, "total_s", "slowest_s"], 4) | {"peak_memory_mb": 0, "share": 4, "core_hours": 1}
    return frame.round(digits | {f"{name}_per_verified": 2 for name in COUNTS[3:]})


def _measure_blocks() -> None:
    """Read releases and settings from the standard input, write the cost of every block to the standard output."""
    releases, how = pickle.loads(sys.stdin.buffer.read())
    # what a process does once is not the cost of a block: what is looked up, until a first proof was checked, and a look
    # through all that the imports left behind
    any(cost(release, *how)["verified"] for release in releases)
    gc.freeze()
    print(json.dumps([cost(release, *how) for release in releases]))


# Benchmarks: ingesting, two versions of the attack, larger blocks, and the one-hot program on the same block.


# Ingesting a file in the PPMF layout as a piece of work on its own, so that its speed and memory can be measured.


def ingest_ppmf(units: Path, folder: Path, domain: Domain) -> Iterator[dict[str, float]]:
    """Read the unit file and write the store of microdata: rows kept and rejected, and the seconds of all its threads."""
    started, rejected = process_time(), Counter[str]()
    written = write_microdata(read_ppmf(units, domain, rejected), folder, domain)
    yield {"rows": written["rows"], "rejected": rejected.total(), "cpu_s": process_time() - started}


def enlarged(tables: Sequence[pa.Table], rows: int) -> Iterator[pa.Table]:
    """Every table again and again before the next one, so that all of them together have the given number of rows."""
    total, read, written = sum(table.num_rows for table in tables), 0, 0
    for table in tables:
        read += table.num_rows
        while written < (upto := rows * read // total):
            part = table.slice(0, upto - written)
            written += part.num_rows
            yield part


# How the attack grows with the block: larger blocks put together from the blocks of a tract, each attacked and timed.

COLUMNS = [
    "n_households", "structural_zeros", "repeat", "types", "classes", "rows", "generate_s", "verify_s", "check_s", "cpu_s",
    "candidates", "verified", "undecided", "uncertified", "peak_memory_mb", "finished",
]  # fmt: skip


def draw_tract(sizes: pd.DataFrame, households: int, rng: np.random.Generator) -> list[str]:
    """Blocks of a random tract in random order, up to so many households; `sizes` has block, tract and n."""
    totals = sizes.groupby("tract")["n"].sum().sort_index()
    large = totals.index[totals >= households]
    if len(large) == 0:
        raise DataError(
            f"no tract has {households} households (the largest has {totals.max()}). Ask for smaller blocks in "
            "config/benchmark.yaml (benchmark.scaling.households)."
        )
    part = sizes[sizes["tract"] == large[int(rng.integers(len(large)))]].sort_values("block")
    mixed = part.iloc[rng.permutation(len(part))]
    needed = int(np.searchsorted(mixed["n"].to_numpy().cumsum(), households)) + 1
    return [str(block) for block in mixed["block"].iloc[:needed]]


def merge_blocks(records: pa.Table, blocks: Sequence[str], keeps: Predicate, households: int, name: str) -> pa.Table:
    """The first households of the blocks, taken in the given order, as one block of this name."""
    frame = records.to_pandas()
    frame = frame[keeps.matches(dict(frame.items()))]
    order = frame["block"].astype(str).map({block: index for index, block in enumerate(blocks)})
    merged = frame.loc[order.sort_values(kind="stable").index].iloc[:households]
    return pa.Table.from_pandas(merged.assign(block=name), preserve_index=False)


def attack_stages(release: Release, settings: ProgramSettings, K: int, min_k: int, seed: int) -> Iterator[dict[str, Any]]:
    """The whole attack on a block, with the seconds of each stage as soon as it is over."""
    started = process_time()
    with watch() as spent:
        bounder = settings.bounder(release)
    built = bounder.program
    yield {"types": len(built.types), "classes": built.classes, "rows": len(built.rows)}
    with watch() as walked:
        records = generate(bounder, K, seed).records
    yield {"generate_s": spent.seconds + walked.seconds, "cpu_s": process_time() - started}
    with watch() as spent:
        result = decide_block(release, records, settings, min_k)
    verdicts = {verdict.value: result.counts(verdict).total() for verdict in Verdict if verdict is not Verdict.REFUTED}
    yield {"verify_s": spent.seconds, "cpu_s": process_time() - started, "candidates": len(result.candidates), **verdicts}
    with watch() as spent:
        check_verified(result)
    yield {"check_s": spent.seconds, "cpu_s": process_time() - started}


def scaling_frame(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """One row per case, seconds and memory rounded; what a case did not reach stays empty."""
    frame = pd.DataFrame(list(rows)).reindex(columns=COLUMNS)
    seconds = [name for name in COLUMNS if name.endswith("_s")]
    frame[seconds] = frame[seconds].astype(float).round(4)
    frame["peak_memory_mb"] = frame["peak_memory_mb"].astype(float).round(1)
    counts = ["types", "classes", "rows", "candidates", "verified", "undecided", "uncertified"]
    frame[counts] = frame[counts].astype("Int64")
    return frame


def scaling_row(households: int, structural: bool, repeat: int, measured: Measurement) -> dict[str, Any]:
    case = {"n_households": households, "structural_zeros": structural, "repeat": repeat}
    return {**case, **measured.values, "peak_memory_mb": measured.peak_memory_mb, "finished": measured.ended}


# Whether two versions of the attack verify the same claims of the same blocks, and how much faster one is.

log = logging.getLogger(__name__)
OPEN = COUNTS[1:3]  # undecided, uncertified


@dataclass(frozen=True)
class Cases:
    """The files that the compared blocks come from: microdata with the sizes of blocks, and the releases of the study."""

    microdata: Path
    sizes: Path
    domain: Path
    schema: Path
    counts: Sequence[Path]

    def releases(self, asked: SameBenchmark, settings: ReleaseSettings, seed: int) -> Iterator[tuple[str, list[Release]]]:
        """The blocks of the study, and blocks of so many households, put together from those of a tract."""
        if asked.study:
            schema = read_schema(self.schema)
            yield "study", [release for path in self.counts for release in read_releases(path, schema)]
        keeps = read_domain(self.domain).universe(settings.universe).keeps
        schema, sizes = read_study(self.domain, settings), pd.read_parquet(self.sizes)
        for case in asked.cases:
            made = [self._merged(sizes, keeps, case.households, number, seed) for number in range(case.blocks)]
            yield (
                f"{case.households} households",
                [release for block in made for release in releases_of(block, keeps, schema)],
            )

    def _merged(self, sizes: pd.DataFrame, keeps: Predicate, households: int, number: int, seed: int) -> pa.Table:
        rng = np.random.default_rng(derive_seed(seed, "same", str(households), str(number)))
        blocks = draw_tract(sizes, households, rng)
        records = read_microdata(self.microdata, blocks=blocks)
        return merge_blocks(records, blocks, keeps, households, f"{blocks[0][:11]}-{households}-{number}")


def compare_versions(cases: Iterable[tuple[str, Sequence[Release]]], how: How, before: Path) -> pd.DataFrame:
    """What the version in the folder `before` and this one verify, by case and in all; `faster`: ratio of core-seconds."""
    rows = []
    for case, releases in cases:
        rows.append(_same_row(case, costs(releases, how, before), costs(releases, how, None)))
        log.info("%s", rows[-1])
    frame = pd.DataFrame(rows).set_index("case")
    frame.loc["all"] = frame.agg({name: "max" if name in ("largest", "most_classes") else "sum" for name in frame})
    frame = frame.astype({name: int for name in frame.columns if not name.endswith("_s")}).reset_index()
    return frame.assign(faster=frame["before_s"] / frame["now_s"]).round({"before_s": 2, "now_s": 2, "faster": 1})


def _same_row(case: str, before: pd.DataFrame, now: pd.DataFrame) -> dict[str, Any]:
    """
    One row for the blocks of a case, measured by both versions (every proof was checked on the way). A block is `same` if
    the tables of verified claims (k, m, codes, effective k, number of the proof) have the same bytes. Where neither version
    left a claim open, the claims that both asked about then have the same verdicts.
    """
    both = before.merge(now, on="block", suffixes=("_before", "_now"), validate="one_to_one")
    row: dict[str, Any] = {"case": case, "blocks": len(both), "households": int(now["n_households"].sum())}
    row |= {"largest": int(now["n_households"].max()), "most_classes": int(now["classes"].max())}
    row |= {"verified": int(now["verified"].sum()), "same": int((both["claims_before"] == both["claims_now"]).sum())}
    versions = (("before", before), ("now", now))
    row |= {f"{name}_{version}": int(frame[name].sum()) for version, frame in versions for name in OPEN}
    return row | {f"{version}_s": float(frame[list(STAGES)].to_numpy().sum()) for version, frame in versions}


# The compact program against the paper's one-hot program on the same block, the same claims and the same solver.

NO_LIMIT = 2**31 - 1  # the largest number that solvers take: the seconds alone decide
DECIDED = (Verdict.VERIFIED, Verdict.REFUTED)


def compare(
    release: Release, program: ProgramSettings, K: int, min_k: int, seed: int, sample: SpeedBenchmark
) -> dict[str, Any]:
    """One row of speed.csv; `sample`: what the one-hot program is timed on, and its limit; its seconds are extrapolated."""
    with watch() as generated:
        records = generate_block(release, program, K, seed).records
    with watch() as filtered:
        candidates = as_claims(*candidate_claims(records, min_k))
    with watch() as asked:
        Verifier(program.bounder(release)).decide(candidates)
    claims = as_claims(*candidate_claims(records[:1], min_k))
    with watch() as compact:
        decisions = Verifier(program.bounder(release)).decide(claims)
    chosen = np.random.default_rng(seed).choice(len(claims), min(sample.claims, len(claims)), replace=False)
    solver = make_solver(program.solver, WorkLimits(NO_LIMIT, NO_LIMIT, sample.seconds))
    with watch() as built:
        onehot_program(release)
    with watch() as decided:
        onehot = decide_onehot(release, [claims[index] for index in chosen], solver)
    with watch() as drawn:
        generate_onehot(release, solver, sample.datasets, seed)
    _agree(release, [decisions[index] for index in chosen], onehot)
    claim_s = max(0.0, decided.seconds - built.seconds) / max(1, len(chosen))
    dataset_s = max(0.0, drawn.seconds - built.seconds) / sample.datasets
    onehot_s = built.seconds + claim_s * len(claims)
    compact_whole = generated.seconds + filtered.seconds + asked.seconds
    onehot_whole = built.seconds + dataset_s * K + filtered.seconds + claim_s * len(candidates)
    stopped = sum(decision.verdict is Verdict.UNDECIDED for decision in onehot)
    note = f"onehot_s and onehot_end_to_end_s are extrapolated from {len(onehot)} of {len(claims)} claims"
    if stopped:
        note += f"; {stopped} of them stopped at {sample.seconds:g} s, so that the ratios are lower bounds"
    row = {"block": release.block, "n_households": release.n, "claims": len(claims)}
    row |= {"compact_s": round(compact.seconds, 4), "onehot_s": round(onehot_s, 1)}
    row |= {"speedup": round(onehot_s / compact.seconds, 1), "speedup_end_to_end": round(onehot_whole / compact_whole, 1)}
    row |= {"compact_end_to_end_s": round(compact_whole, 4), "onehot_end_to_end_s": round(onehot_whole, 1)}
    verified = sum(decision.verdict is Verdict.VERIFIED for decision in decisions)
    undecided = sum(decision.verdict not in DECIDED for decision in decisions)
    row |= {"candidates": len(candidates), "verified": verified, "undecided": undecided}
    row |= {"onehot_claim_s": round(claim_s, 3), "onehot_dataset_s": round(dataset_s, 3)}
    return row | {"onehot_claims_timed": len(onehot), "onehot_undecided": stopped, "note": note}


def _agree(release: Release, compact: Sequence[Decision], onehot: Sequence[Decision]) -> None:
    for ours, theirs in zip(compact, onehot, strict=True):
        if ours.verdict in DECIDED and theirs.verdict in DECIDED and ours.verdict is not theirs.verdict:
            raise WrongAnswer(
                f"block {release.block}: {ours.claim} is {ours.verdict.value} by the compact and {theirs.verdict.value} by "
                "the one-hot program. One of them is wrong: no speed is reported."
            )
