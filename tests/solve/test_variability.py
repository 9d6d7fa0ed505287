"""Solution variability against all pairs of datasets on small releases."""

from itertools import combinations_with_replacement

import numpy as np
import pytest

from genverify.model.domain import Column, Domain, Predicate
from genverify.model.query import Query
from genverify.model.release import Schema, make_release
from genverify.solve.datasets import solution_variability
from genverify.solve.program import build_program
from genverify.solve.solvers.base import WorkLimits
from genverify.solve.solvers.highs import Highs

COLUMNS = tuple(Column(name, name, (0, 1, 2), ("a", "b", "c")) for name in "AB")
QUERIES = (
    Query("A1", "T", "A1", Predicate.of({"A": [1]})),
    Query("B1", "T", "B1", Predicate.of({"B": [1]})),
    Query("A1B1", "T", "A1B1", Predicate.of({"A": [1], "B": [1]})),
)
SCHEMA = Schema(Domain(COLUMNS), (), QUERIES)
RECORDS = [(a, b) for a in range(3) for b in range(3)]


def farthest(dataset: tuple[tuple[int, int], ...], known: dict[str, int]) -> int:
    """The largest L1 distance of histograms from a dataset to any that fits, by trying all."""
    best = 0
    for other in combinations_with_replacement(RECORDS, known["N"]):
        counts = {"A1": sum(a == 1 for a, _ in other), "B1": sum(b == 1 for _, b in other), "A1B1": other.count((1, 1))}
        if all(counts[name] == known[name] for name in counts):
            best = max(best, sum(abs(dataset.count(r) - other.count(r)) for r in RECORDS))
    return best


@pytest.mark.parametrize("seed", range(25))
def test_the_farthest_dataset_is_found(seed: int) -> None:
    rng = np.random.default_rng(seed)
    picks = sorted(rng.choice(len(RECORDS), int(rng.integers(1, 5))).tolist())
    dataset = tuple(RECORDS[i] for i in picks)
    known = {"N": len(dataset), "A1": sum(a == 1 for a, _ in dataset), "B1": sum(b == 1 for _, b in dataset)}
    known["A1B1"] = dataset.count((1, 1))
    program = build_program(make_release(SCHEMA, "b", known), 1000)
    found = solution_variability(program, np.array(dataset, dtype=np.int16), Highs(WorkLimits(1000, 1000, 10.0)))
    assert found.exact
    assert found.solvar == farthest(dataset, known)
    assert found.share == pytest.approx(found.solvar / (2 * len(dataset)))
