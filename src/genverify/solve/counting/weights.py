"""What a class vector weighs: 1, the number of its datasets, or its probability under a prior, class by class."""

from math import comb, factorial
from typing import Any

import numpy as np
import numpy.typing as npt

from genverify.core.arraytypes import Floats, Ints
from genverify.core.errors import GenverifyError
from genverify.solve.counting.diagram import Diagram
from genverify.solve.program import Program

Weights = list[npt.NDArray[Any]]
"""For every class, the weight of each count from 0 to the most that it can have; the first is 1."""


class UnlikelyRelease(GenverifyError):
    """A prior under which no dataset that fits has a probability above 0."""


def vector_weights(diagram: Diagram) -> Weights:
    """Every class vector weighs 1."""
    return [np.array([1] * (most + 1), dtype=object) for most in diagram.most.tolist()]


def dataset_weights(diagram: Diagram, records: Ints) -> Weights:
    """A class vector weighs the number of its datasets, from the number of records that each class stands for."""
    pairs = zip(records.tolist(), diagram.most.tolist(), strict=True)
    return [np.array([comb(kinds + j - 1, j) for j in range(most + 1)], dtype=object) for kinds, most in pairs]


def records_of_classes(program: Program) -> Ints:
    """How many records of the domain each class stands for."""
    counted = np.zeros(program.classes, dtype=np.int64)
    np.add.at(counted, program.class_of, program.types.raw)
    return counted


def prior_weights(diagram: Diagram, mass: Floats, n: int) -> Weights:
    """
    A class vector weighs prod P_c^z_c / z_c!, up to one factor for all: its probability among n records of the prior.

    Numbers too small for 64 bits would make a possible dataset impossible: where that could happen, wider floats are used.
    """
    used = diagram.most > 0
    largest = mass[used].max(initial=0.0)
    if not np.isfinite(mass).all() or (mass < 0).any():
        raise GenverifyError("a prior gives a record type a weight that is negative or not a number; give weights from 0 on")
    scaled = mass / largest if largest > 0 else mass
    least = scaled[used & (scaled > 0)].min(initial=1.0)
    # every weight of a whole class vector is at least least^n / n!, and at most 1
    depth = n * -np.log2(least) + np.log2(float(factorial(min(n, 150)))) + max(0, n - 150) * 10
    wide = np.dtype(np.float64) if depth < 900 else np.dtype(np.longdouble)
    if depth > -np.finfo(wide).minexp - 100:
        raise GenverifyError(
            f"the prior's weights span too many powers of ten for {n} records; smooth it, so that rare types weigh more"
        )
    found: Weights = []
    for share, most in zip(scaled.astype(wide), diagram.most.tolist(), strict=True):
        steps = share / np.arange(1, most + 1, dtype=wide)
        found.append(np.concatenate([np.ones(1, dtype=wide), np.cumprod(steps)]))
    return found


def rounding(diagram: Diagram) -> float:
    """
    A bound on the relative error of every sum of weights in floats of 64 bits. All terms are positive, so no digit cancels:
    a step multiplies once and adds at most once per move into a state; a weight of count j is a product of 2 j roundings.
    """
    steps = sum(3 * len(step) + 3 for step in diagram.steps) + 2 * int(diagram.most.sum()) + len(diagram.ends)
    return 2 * steps * float(np.finfo(np.float64).eps) / 2
