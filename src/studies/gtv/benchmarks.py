"""Benchmarks: ingesting, two versions of the attack, larger blocks, and the one-hot program on the same block."""

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from genverify.attack.generate import generate, generate_block
from genverify.attack.onehot import generate_onehot, onehot_program
from genverify.attack.verify import Decision, Verdict, Verifier, check_verified, decide_block, decide_onehot
from genverify.model.claims import as_claims, candidate_claims
from genverify.model.domain import Domain, Predicate, read_domain
from genverify.model.errors import DataError
from genverify.model.release import Release, read_releases, read_schema, read_study
from genverify.model.settings import ReleaseSettings
from genverify.model.tabulate import releases_of
from genverify.model.work import derive_seed, watch
from genverify.solve.program import WrongAnswer
from genverify.solve.program_settings import ProgramSettings
from genverify.solve.solvers.base import WorkLimits, make_solver
from studies.country.ppmf import read_ppmf
from studies.country.store import read_microdata, write_microdata
from studies.gtv.blockcost import COUNTS, STAGES, How, costs
from studies.gtv.measurement import Measurement
from studies.gtv.settings import SameBenchmark, SpeedBenchmark

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
