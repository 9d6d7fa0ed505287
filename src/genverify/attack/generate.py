"""Problem 1: datasets that fit a release. Random vertices of the linear program, then exchanges of two records."""

import numpy as np
import numpy.typing as npt

from genverify.attack.contradiction import no_dataset_fits
from genverify.attack.generated import Generated
from genverify.attack.onehot.generate import generate_onehot
from genverify.core.arraytypes import Ints
from genverify.core.claims import Codes
from genverify.core.errors import ReleaseError
from genverify.core.release import Release
from genverify.solve.bounds import Bounder
from genverify.solve.datasets import datasets_of, draw_records, list_records
from genverify.solve.enumerate import all_class_counts
from genverify.solve.exchange import Exchange
from genverify.solve.program import Program
from genverify.solve.settings import ProgramSettings

VERTICES = 2
OBJECTIVES = 6
TRIED = 3
DIVES = 3
WEIGHED = 100
WALKERS = 50
RECORDS_PER_SWAP = 5
MOST_SWAPS = 16
PATIENCE = 3


def generate(bounder: Bounder, K: int, seed: int) -> Generated:
    """K distinct datasets that fit the program, or all of them where fewer exist."""
    program = bounder.program
    rng = np.random.default_rng(seed)
    starts = _starts(bounder, rng)
    collection = _Collection(program, rng)
    _walk(program, collection, starts, K, rng)
    if len(collection.datasets) < K:
        every = all_class_counts(bounder, collection.vectors, K)
        _fill(collection, every.vectors, K)
        complete = every.complete and sum(datasets_of(program, z) for z in every.vectors) == len(collection.datasets)
        return Generated(np.array(list(collection.datasets.values())), len(collection.classes), complete)
    return Generated(np.array(list(collection.datasets.values())), len(collection.classes), False)


class _Collection:
    """Distinct datasets by their records, and the distinct class counts behind them."""

    def __init__(self, program: Program, rng: np.random.Generator) -> None:
        self.program, self.rng = program, rng
        self.datasets: dict[bytes, Codes] = {}
        self.classes: dict[bytes, Ints] = {}

    def add(self, points: Ints, K: int) -> int:
        """Draw a dataset for each row of classes, until there are K; how many are new."""
        before = len(self.datasets)
        for classes, records in zip(np.sort(points), draw_records(self.program, points, self.rng), strict=True):
            if len(self.datasets) >= K:
                break
            self.classes.setdefault(classes.tobytes(), classes)
            self.datasets.setdefault(records.tobytes(), records)
        return len(self.datasets) - before

    @property
    def vectors(self) -> list[Ints]:
        """The distinct class counts."""
        return [np.bincount(classes, minlength=self.program.classes) for classes in self.classes.values()]


def _starts(bounder: Bounder, rng: np.random.Generator) -> list[Ints]:
    """
    Two integral vertices at random objectives (from more, walks lead no farther apart, and each is a linear program); if
    none turns up, a dive from one; if that fails, a dataset by branching.
    """
    classes = bounder.program.classes
    points: list[Ints] = []
    for tried in range(OBJECTIVES):
        if len(points) == VERTICES or (tried == TRIED and not points):
            break
        z = bounder.vertex(_objective(classes, rng))
        if z is not None:
            points.append(z)
    if points:
        return points
    for _ in range(DIVES):
        z = bounder.dive(_objective(classes, rng))
        if z is not None:
            return [z]
    bound = bounder.at_most(np.zeros(classes, dtype=np.int64), -1)
    if bound.counterexample is None:
        raise no_dataset_fits(bounder, bound.proof, bound.limit)
    return [bound.counterexample]


def _objective(classes: int, rng: np.random.Generator) -> npt.NDArray[np.float64]:
    """A random objective, over some of many classes only: the others then need not join the linear program."""
    return rng.standard_normal(classes) * (rng.random(classes) * classes < WEIGHED)


def _walk(program: Program, collection: _Collection, starts: list[Ints], K: int, rng: np.random.Generator) -> None:
    """
    Random exchanges of two records in WALKERS datasets at once, the starts in turn, until K datasets are found or nothing
    new turns up. Between two looks each walker makes several steps, so that the datasets lie far apart.
    """
    exchange = Exchange(program, rng)
    points = np.array([np.repeat(np.arange(program.classes), starts[walker % len(starts)]) for walker in range(WALKERS)])
    collection.add(points, K)
    idle = 0
    while len(collection.datasets) < K and idle < PATIENCE:
        for _ in range(min(MOST_SWAPS, 1 + program.n // RECORDS_PER_SWAP)):
            points = exchange.swap(points)
        points = exchange.step(points)
        idle = 0 if collection.add(points, K) else idle + 1


def _fill(collection: _Collection, vectors: list[Ints], K: int) -> None:
    """Datasets of the listed class counts in order, until K are found or every one of them is."""
    for z in vectors:
        for records in list_records(collection.program, z):
            if len(collection.datasets) >= K:
                return
            classes = np.repeat(np.arange(len(z)), z)
            collection.classes.setdefault(classes.tobytes(), classes)
            collection.datasets.setdefault(records.tobytes(), records)


def generate_block(release: Release, settings: ProgramSettings, K: int, seed: int) -> Generated:
    """K distinct datasets that fit the release of a block (Problem 1)."""
    if settings.proves:
        return generate(settings.bounder(release), K, seed)
    datasets = generate_onehot(release, settings.make_solver(), K, seed)
    if not datasets:
        raise ReleaseError(f"block {release.block}: the one-hot program found no dataset that fits the published counts")
    return Generated(np.array(datasets), len(datasets), complete=False)
