"""Problem 1: datasets that fit a release, by random vertices and exchanges; and why none fits."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from genverify.attack.onehot import generate_onehot
from genverify.checker.record_proofs import check_block
from genverify.model.arrays import Flags, Ints
from genverify.model.claims import Codes
from genverify.model.domain import Domain
from genverify.model.errors import NoDatasetError, ReleaseError
from genverify.model.proof_form import NOTHING
from genverify.model.release import Release
from genverify.model.tablefiles import stack
from genverify.model.tabulate import read_datasets as read_datasets
from genverify.model.work import derive_seed, progress
from genverify.solve.bounds import Bounder, Node, certificate_of
from genverify.solve.datasets import datasets_of, draw_records, list_records, random_walk
from genverify.solve.program import Program
from genverify.solve.program_settings import ProgramSettings


@dataclass(frozen=True)
class GeneratedDatasets:
    """Distinct datasets that fit a release, (K, N, columns), of so many class vectors; `complete`: there is no other."""

    records: Codes
    class_vectors: int
    complete: bool

    @property
    def unique(self) -> bool:
        """Whether the release has exactly one solution (Abowd et al.)."""
        return self.complete and len(self.records) == 1


def write_generated(
    releases: Sequence[Release], find: Callable[[Release, int], GeneratedDatasets], seed: int, datasets: Path, blocks: Path
) -> None:
    """Find the datasets of every block, each with a seed of its own; write them, and a row for each block."""
    generated = {
        release.block: find(release, derive_seed(seed, "generate", release.block))
        for release in progress(releases, "blocks generated")
    }
    rows = [_generated_row(release, generated[release.block]) for release in releases]
    frames = [_datasets_frame(generated, releases[0].schema.domain)] if releases else []
    stack(frames).to_parquet(datasets, index=False)
    stack([pd.DataFrame(rows)] if rows else []).to_parquet(blocks, index=False)


def _datasets_frame(generated: Mapping[str, GeneratedDatasets], domain: Domain) -> pd.DataFrame:
    """The generated records of blocks: dataset number and one code per column."""
    records = [one.records for one in generated.values()]
    codes = np.concatenate([one.reshape(-1, len(domain.names)) for one in records])
    widths = ["int8" if max(column.codes) <= np.iinfo(np.int8).max else "int16" for column in domain.columns]
    columns = {name: codes[:, at].astype(widths[at]) for at, name in enumerate(domain.names)}
    blocks = pd.array(list(generated), dtype="str").repeat([len(one) * one.shape[1] for one in records])
    numbers = np.concatenate([np.repeat(np.arange(len(one), dtype=np.int32), one.shape[1]) for one in records])
    return pd.DataFrame({"block": blocks, "dataset": numbers, **columns})


def _generated_row(release: Release, generated: GeneratedDatasets) -> dict[str, Any]:
    """What is known of the number of datasets that fit a block."""
    count, more = len(generated.records), {"unique": generated.unique, "two_solutions": len(generated.records) >= 2}
    known = {"class_vectors": generated.class_vectors, "complete": generated.complete}
    return {"block": release.block, "n_households": release.n, "datasets": count, **known, **more}


def no_dataset_fits(bounder: Bounder, proof: Node | None, limit: str | None) -> NoDatasetError:
    """The error for a release that no dataset fits, its proof checked; or for which none was found within the limits."""
    release = bounder.program.release
    if proof is None:
        return NoDatasetError(f"block {release.block}: no dataset that fits the counts was found ({limit})", None)
    certificate = certificate_of(release, bounder.program.lemmas, {"goal": NOTHING, "proof": proof})
    check_block(release, certificate)
    # imported when there is something to say: words are not needed to generate
    from genverify.attack.explain import contradiction_cells

    cells = contradiction_cells(release, certificate["lemmas"], proof) if "at" not in proof else []
    named = ", ".join(cells) or "many cells together"
    return NoDatasetError(
        f"block {release.block}: no dataset fits the published counts. These contradict each other: "
        f"{named}. Check the rows of this block in the release.",
        certificate,
    )


# All class counts that fit a program, where they are few: a search in integers that needs no solver.

MOST_PROGRAMS = 20_000  # nodes of an enumeration; beyond, the list is called incomplete, never complete
MOST_CLASSES = 400  # of the matrix that every node searches; beyond, the list is called incomplete


def _all_class_counts(bounder: Bounder, known: list[Ints], limit: int) -> tuple[list[Ints], bool]:
    """Every fitting z, up to `limit`, of the classes that some z uses; and whether it is proved that there is no other."""
    program = bounder.program
    used = np.any([np.zeros(program.classes, dtype=bool), *(z > 0 for z in known)], axis=0)
    nothing_outside = True
    while not used.all():
        outside = bounder.at_most((~used).astype(np.int64), 0)
        if outside.counterexample is None:
            nothing_outside = outside.proof is not None
            break
        used |= outside.counterexample > 0
        known.append(outside.counterexample)
        if len(known) >= limit:
            return known, False
    if used.sum() > MOST_CLASSES:
        return known, False
    vectors, classes = list[Ints](), np.flatnonzero(used)
    A, every, counts = program.A[:, classes].astype(np.int64), np.ones(len(classes), dtype=bool), np.zeros_like(classes)
    # one more than the limit is asked for: if it is found, the limit cut the list off, and it is not complete
    for nodes, z in enumerate(_walk(program, classes, A, counts, every, program.lo, program.hi)):
        vectors += [] if z is None or nodes == MOST_PROGRAMS else [z]
        if len(vectors) > limit or nodes == MOST_PROGRAMS:
            return vectors[:limit] or known, False
    return vectors or known, nothing_outside


def _walk(program: Program, classes: Ints, A: Ints, counts: Ints, open_: Flags, lo: Ints, hi: Ints) -> Iterator[Ints | None]:
    """
    Every fitting z that counts the open classes, none of a node that is no end: depth first, next the largest class of the
    row that fewest classes can fill; no row may fall short of lo or beyond hi.
    """
    left = np.where(A > 0, hi[:, None] // np.maximum(A, 1), program.n).min(axis=0, initial=program.n)
    room, short = np.where(open_, left, 0), np.flatnonzero(lo > 0)
    if (hi < 0).any() or (A @ room < lo).any():
        yield None
    elif not len(short):  # the first row is N: as long as it is not full, it is short
        z = np.zeros(program.classes, dtype=np.int64)
        z[classes] = counts
        yield z if program.fits(z) else None
    else:
        yield None
        can = (A[short] > 0) & (room > 0)
        choices = np.flatnonzero(can[np.argmin(can.sum(axis=1))])
        chosen = int(choices[np.argmax(room[choices])])
        rest = open_ & (np.arange(len(open_)) != chosen)
        for count in range(int(room[chosen]), -1, -1):
            counts[chosen], used = count, count * A[:, chosen]
            yield from _walk(program, classes, A, counts, rest, lo - used, hi - used)


VERTICES = 2  # whole corners from which walks start
OBJECTIVES = 6  # linear programs that are spent on finding them: many corners are not whole
TRIED = 3  # after so many without a whole corner, dives are tried
DIVES = 3  # before an exact search gives the start
WEIGHED = 100  # classes with a weight, on average: all others stay out of the linear program of a large block
WALKERS = 50  # datasets that walk side by side in one array: bounds its memory
PATIENCE = 3  # looks in a row at which no walker brings a new dataset


def generate(bounder: Bounder, K: int, seed: int) -> GeneratedDatasets:
    """K distinct datasets that fit the program, or all of them where fewer exist."""
    program = bounder.program
    rng = np.random.default_rng(seed)
    starts = starting_points(bounder, rng)
    datasets, found, idle = dict[bytes, Codes](), dict[bytes, Ints](), 0

    def take(classes: Ints, listed: Iterable[Codes]) -> None:
        """Datasets of some class counts, until there are K."""
        for records in listed:
            if len(datasets) >= K:
                return
            found.setdefault(classes.tobytes(), classes)
            datasets.setdefault(records.tobytes(), records)

    # random exchanges of two records in WALKERS datasets at once, until K are collected or nothing new turns up
    for look, points in enumerate(random_walk(program, starts, WALKERS, rng)):
        before = len(datasets)
        for classes, records in zip(np.sort(points), draw_records(program, points, rng), strict=True):
            take(classes, [records])
        idle = 0 if len(datasets) > before or not look else idle + 1
        if len(datasets) >= K or idle >= PATIENCE:
            break
    complete = False
    if len(datasets) < K:
        vectors = [np.bincount(classes, minlength=program.classes) for classes in found.values()]
        every, complete = _all_class_counts(bounder, vectors, K)
        for z in every:
            take(np.repeat(np.arange(len(z)), z), list_records(program, z))
        complete = complete and sum(datasets_of(program, z) for z in every) == len(datasets)
    return GeneratedDatasets(np.array(list(datasets.values())), len(found), complete)


def starting_points(bounder: Bounder, rng: np.random.Generator) -> list[Ints]:
    """Two integral vertices at random objectives; if none turns up, a dive from one; if that fails, by branching."""
    classes = bounder.program.classes
    points: list[Ints] = []
    for tried in range(OBJECTIVES):
        if len(points) == VERTICES or (tried == TRIED and not points):
            break
        z = bounder.vertex(_objective(classes, rng))
        points += [] if z is None else [z]
    if points:
        return points
    dives = (bounder.dive(_objective(classes, rng)) for _ in range(DIVES))
    if (z := next((z for z in dives if z is not None), None)) is not None:
        return [z]
    bound = bounder.at_most(np.zeros(classes, dtype=np.int64), -1)
    if bound.counterexample is None:
        raise no_dataset_fits(bounder, bound.proof, bound.limit)
    return [bound.counterexample]


def _objective(classes: int, rng: np.random.Generator) -> npt.NDArray[np.float64]:
    """A random objective, over some of many classes only: the others then need not join the linear program."""
    return rng.standard_normal(classes) * (rng.random(classes) * classes < WEIGHED)


def generate_block(release: Release, settings: ProgramSettings, K: int, seed: int) -> GeneratedDatasets:
    """K distinct datasets that fit the release of a block (Problem 1)."""
    if settings.proves:
        return generate(settings.bounder(release), K, seed)
    datasets = generate_onehot(release, settings.make_solver(), K, seed)
    if not datasets:
        raise ReleaseError(f"block {release.block}: the one-hot program found no dataset that fits the published counts")
    return GeneratedDatasets(np.array(datasets), len(datasets), complete=False)
