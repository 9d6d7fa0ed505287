"""Problem 1: datasets that fit a release. Random vertices of the linear program, then exchanges of two records."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from genverify.bounds import Bounder
from genverify.claims import Codes
from genverify.contradiction import no_dataset_fits
from genverify.datasets import datasets_of, draw_records
from genverify.enumerate import all_class_counts
from genverify.program.compact import Program

Ints = npt.NDArray[np.int64]
VERTICES = 12
PATIENCE = 60


@dataclass(frozen=True)
class Generated:
    """
    Distinct datasets that fit a release: records of shape (K, N, columns).

    `class_vectors` counts the distinct class counts among them. `complete`: no other dataset fits, so fewer than K exist.
    """

    records: Codes
    class_vectors: int
    complete: bool

    @property
    def unique(self) -> bool:
        """Whether the release has exactly one solution (Abowd et al.)."""
        return self.complete and len(self.records) == 1


def generate(bounder: Bounder, K: int, seed: int) -> Generated:
    """K distinct datasets that fit the program, or all of them where fewer exist."""
    program = bounder.program
    rng = np.random.default_rng(seed)
    starts = _vertices(bounder, rng)
    found = _Collection(program, rng)
    _walk(program, found, starts, K, rng)
    if len(found.datasets) < K:
        every = all_class_counts(bounder, [*found.vectors.values()], K)
        _fill(found, every.vectors, K)
        complete = every.complete and sum(datasets_of(program, z) for z in every.vectors) == len(found.datasets)
        return Generated(np.array(list(found.datasets.values())), len(found.vectors), complete)
    return Generated(np.array(list(found.datasets.values())), len(found.vectors), False)


class _Collection:
    """Distinct datasets by their records, and the distinct class counts behind them."""

    def __init__(self, program: Program, rng: np.random.Generator) -> None:
        self.program, self.rng = program, rng
        self.datasets: dict[bytes, Codes] = {}
        self.vectors: dict[bytes, Ints] = {}

    def add(self, z: Ints) -> bool:
        """Draw a dataset with these class counts; whether it is a new one."""
        records = draw_records(self.program, z, self.rng)
        self.vectors.setdefault(z.tobytes(), z)
        return self.datasets.setdefault(records.tobytes(), records) is records


def _vertices(bounder: Bounder, rng: np.random.Generator) -> list[Ints]:
    """Integral vertices at random objectives; if none turns up, one dataset found by branching."""
    points = []
    for _ in range(VERTICES):
        answer = bounder.lp.maximise(rng.standard_normal(bounder.program.classes))
        z = bounder.integral(answer.z) if answer.z is not None else None
        if z is not None:
            points.append(z)
    if points:
        return points
    found = bounder.at_most(np.zeros(bounder.program.classes, dtype=np.int64), -1)
    if found.counterexample is None:
        raise no_dataset_fits(bounder, found)
    return [found.counterexample]


def _walk(program: Program, found: _Collection, starts: list[Ints], K: int, rng: np.random.Generator) -> None:
    """Random exchanges of two records, from each start in turn, until K datasets are found or nothing new turns up."""
    exchange = Exchange(program, rng)
    points = list(starts)
    for z in starts:
        if len(found.datasets) < K:
            found.add(z)
    step = idle = 0
    while len(found.datasets) < K and idle < PATIENCE:
        place = step % len(points)
        points[place] = exchange.step(points[place])
        step, idle = step + 1, 0 if found.add(points[place]) else idle + 1


class Exchange:
    """Replaces two records by two others with the same cells: their hashed columns have the same sum, then recounted."""

    def __init__(self, program: Program, rng: np.random.Generator) -> None:
        self.program, self.rng = program, rng
        self.columns = np.ascontiguousarray(program.A.T)
        weights = rng.integers(1, 2**62 // max(1, 2 * len(program.rows)), size=len(program.rows), dtype=np.int64)
        self.hashed = weights @ program.A.astype(np.int64)
        self.order = np.argsort(self.hashed, kind="stable")
        self.sorted = self.hashed[self.order]

    def step(self, z: Ints) -> Ints:
        """Another point with the same counts, or the same point where the drawn pair cannot be exchanged."""
        records = np.repeat(np.arange(len(z)), z)
        if len(records) < 2:
            return z
        one, other = self.rng.choice(records, 2, replace=False)
        firsts, seconds = self.partners(int(self.hashed[one]) + int(self.hashed[other]))
        fresh = (firsts != one) & (firsts != other)
        if not fresh.any():
            return z
        pick = self.rng.integers(int(fresh.sum()))
        new_one, new_other = firsts[fresh][pick], seconds[fresh][pick]
        old, new = (self.columns[one] + self.columns[other], self.columns[new_one] + self.columns[new_other])
        if (old != new).any():
            return z
        moved = z.copy()
        np.add.at(moved, [one, other, new_one, new_other], [-1, -1, 1, 1])
        return moved

    def partners(self, total: int) -> tuple[Ints, Ints]:
        """All pairs of classes whose hashes add up to the total."""
        wanted = total - self.hashed
        place = np.minimum(np.searchsorted(self.sorted, wanted), len(self.sorted) - 1)
        firsts = np.flatnonzero(self.sorted[place] == wanted)
        return firsts, self.order[place[firsts]]


def _fill(found: _Collection, vectors: list[Ints], K: int) -> None:
    """Datasets of the listed class counts, until K are found or every one of them is."""
    total = sum(min(K, datasets_of(found.program, z)) for z in vectors)
    for attempt in range(50 * K):
        if len(found.datasets) >= min(K, total):
            return
        found.add(vectors[attempt % len(vectors)])
