"""Datasets that fit a release, by the paper's own program (Problem 1), recounted in integers."""

import numpy as np

from genverify.attack.onehot.program import onehot_program
from genverify.core.arraytypes import Floats
from genverify.core.claims import Codes
from genverify.core.release import Release
from genverify.solve.recount import WrongAnswer
from genverify.solve.solvers.base import Solver

ROUNDS = 5


def records_of(release: Release, point: Floats) -> Codes:
    """The sorted records of a point of the one-hot program, recounted in integers against all that is published."""
    columns = release.schema.domain.columns
    sizes = [len(column.codes) for column in columns]
    X = np.rint(point[: release.n * sum(sizes)]).astype(np.int64).reshape(release.n, sum(sizes))
    records = np.empty((release.n, len(columns)), dtype=np.int16)
    for index, part in enumerate(np.split(X, np.cumsum(sizes)[:-1], axis=1)):
        if not ((part >= 0).all() and (part.sum(axis=1) == 1).all()):
            raise wrong_answer(release, f"a record has no or several codes of {columns[index].name}")
        records[:, index] = np.array(columns[index].codes)[part.argmax(axis=1)]
    _recount(release, records)
    return records[np.lexsort(records.T[::-1])]


def _recount(release: Release, records: Codes) -> None:
    named = dict(zip(release.schema.domain.names, records.T, strict=True))
    for query, lo, hi in zip(release.queries, release.lo, release.hi, strict=True):
        count = int(query.predicate.matches(named).sum())
        if not lo <= count <= hi:
            raise wrong_answer(release, f"{query.id} is {count} in it, and {lo} was published")
    for rule in release.schema.rules:
        if rule.excludes(named).any():
            raise wrong_answer(release, f"a record breaks the rule {rule.name}")


def wrong_answer(release: Release, why: str) -> WrongAnswer:
    return WrongAnswer(
        f"block {release.block}: the solver's dataset does not stand the recount: {why}. Nothing is reported. Try the other "
        "solver (program.solver in config.yaml)."
    )


def generate_onehot(release: Release, solver: Solver, K: int, seed: int) -> list[Codes]:
    """
    Up to K distinct datasets that fit the release (Problem 1), each as sorted records; none if none was found.

    A solver without a pool of different solutions may repeat itself: it is asked again, until a round brings nothing new.
    """
    program = onehot_program(release)
    datasets: dict[bytes, Codes] = {}
    for round_ in range(ROUNDS):
        before = len(datasets)
        for point in solver.pool(program, K, seed + round_):
            records = records_of(release, point)
            datasets.setdefault(records.tobytes(), records)
        if len(datasets) >= K or len(datasets) == before:
            break
    return list(datasets.values())[:K]
