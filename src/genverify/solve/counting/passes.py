"""Sums over all ways through a diagram: from the start (forward), from the ends (backward), and both together."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from genverify.core.arraytypes import Floats, Ints
from genverify.solve.counting.diagram import Diagram
from genverify.solve.counting.weights import Weights, dataset_weights, vector_weights

Values = npt.NDArray[Any]


@dataclass(frozen=True)
class Forward:
    """
    The weight of all ways from the start to each state. `before` holds, for every step, what the sources of its moves
    weighed before it, and `stayed` what its targets did: with them the steps can be walked back without a subtraction.
    """

    values: Values
    before: tuple[tuple[Values, ...], ...]
    stayed: tuple[tuple[Values, ...], ...]
    total: Any


def total_weight(diagram: Diagram, weights: Weights) -> Any:
    """The weight of all class vectors that fit: exact where the weights are integers."""
    values = _start(diagram, weights)
    for step in diagram.steps:
        for move, came in zip(step, [values[move.source] for move in step], strict=True):
            # targets of the moves with one count are distinct, so that no sum is lost
            values[move.target] += came * weights[move.cls][move.times]
    return values[diagram.ends].sum() if len(diagram.ends) else 0


def count_vectors(diagram: Diagram) -> int:
    """How many class vectors fit."""
    return int(total_weight(diagram, vector_weights(diagram)))


def count_datasets(diagram: Diagram, records: Ints) -> int:
    """How many datasets fit, from the number of records that each class stands for."""
    return int(total_weight(diagram, dataset_weights(diagram, records)))


def forward(diagram: Diagram, weights: Weights) -> Forward:
    """The same with everything that is needed to walk back."""
    values = _start(diagram, weights)
    before, stayed = [], []
    for step in diagram.steps:
        before.append(tuple(values[move.source] for move in step))
        stayed.append(tuple(values[move.target] for move in step))
        for move, came in zip(step, before[-1], strict=True):
            values[move.target] += came * weights[move.cls][move.times]
    return Forward(values, tuple(before), tuple(stayed), values[diagram.ends].sum() if len(diagram.ends) else 0)


def class_counts(diagram: Diagram, weights: Weights, found: Forward) -> Floats:
    """The distribution of every class count: a row per class, a column per count from 0 on; each row adds up to 1."""
    top = int(diagram.most.max(initial=0))
    held = np.zeros((diagram.classes, top + 1), dtype=weights[0].dtype if weights else np.float64)
    ahead = np.zeros(diagram.states, dtype=held.dtype)
    ahead[diagram.ends] = 1
    for step, before in zip(reversed(diagram.steps), reversed(found.before), strict=True):
        after = [ahead[move.target] for move in step]
        for move, came, goes in zip(step, before, after, strict=True):
            weight = weights[move.cls][move.times]
            held[move.cls, move.times] = (came * goes).sum() * weight
            # several moves of a step can start in one state, but those with one count start in distinct ones
            ahead[move.source] += goes * weight
    shares = held / found.total
    shares[:, 0] = 1 - shares[:, 1:].sum(axis=1)
    return np.asarray(np.clip(shares, 0, 1), dtype=np.float64)


def _start(diagram: Diagram, weights: Weights) -> Values:
    values = np.zeros(diagram.states, dtype=weights[0].dtype if weights else np.float64)
    values[0] = 1
    return values
