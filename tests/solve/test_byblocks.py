"""Datasets of all blocks: made block by block, walked to from a known one, and searched for beyond a bound."""

from itertools import product

import numpy as np
import pytest

from genverify.model.areas import Area, AreaReleases, make_levels
from genverify.model.domain import Column, Domain, Predicate
from genverify.model.query import Query
from genverify.model.release import Release, Schema
from genverify.solve import joint as jointbounds
from genverify.solve.joint import ByBlocks, Joint, JointBounder, build_joint, possible_classes, walk_blocks
from genverify.solve.program_settings import DEFAULT
from genverify.solve.solvers.base import IntegerProgram, best_point

DOMAIN = Domain(tuple(Column(name, name, (0, 1, 2), ("a", "b", "c")) for name in "ABC"))


def tables(*names: str) -> Schema:
    cells = [(own, codes) for own in names for codes in product((0, 1, 2), repeat=len(own))]
    queries = [
        Query(f"{own}.{''.join(map(str, codes))}", own, "", Predicate.of({n: [c] for n, c in zip(own, codes, strict=True)}))
        for own, codes in cells
    ]
    return Schema(DOMAIN, (), tuple(queries))


def publish(schema: Schema, name: str, records: np.ndarray) -> Release:
    columns = {column: place for place, column in enumerate(DOMAIN.names)}
    inside = [
        np.all([np.isin(records[:, columns[name]], codes) for name, codes in query.predicate.clauses], axis=0)
        for query in schema.queries
    ]
    counts = np.array([flags.sum() for flags in inside], dtype=np.int64)
    return Release(schema, name, len(records), np.arange(len(counts)), counts, counts)


def levels_of(blocks: int, size: int, seed: int) -> AreaReleases:
    """Blocks with two-way tables, and a tract with the three-way one: linear programs have fractions."""
    rng = np.random.default_rng(seed)
    own = [rng.integers(0, 3, (size, 3)) for _ in range(blocks)]
    releases = [publish(tables("AB", "BC", "AC"), f"b{number}", records) for number, records in enumerate(own)]
    return make_levels(releases, [Area("tract", publish(tables("ABC"), "t", np.concatenate(own)), tuple(range(blocks)))])


@pytest.fixture(params=range(6))
def joint(request: pytest.FixtureRequest) -> Joint:
    return build_joint(levels_of(5, 12, request.param), 1000)


def by_blocks(joint: Joint, wanted: tuple[np.ndarray, int] | None = None) -> ByBlocks:
    lp = DEFAULT.make_solver().linear_program(joint.A, joint.lo, joint.hi)
    return ByBlocks(joint, DEFAULT.make_solver(300), lp, wanted)


def test_a_dataset_of_all_blocks_is_found_block_by_block(joint: Joint) -> None:
    for seed in range(3):
        z = by_blocks(joint).dataset(np.random.default_rng(seed).standard_normal(joint.A.shape[1]))
        assert z is not None
        assert joint.fits(z)


def test_what_is_wrong_between_blocks_is_mended() -> None:
    """Each block alone is right, their sum mostly is not: points that fit the rows of single blocks only."""
    wrong = 0
    for seed in range(6):
        joint = build_joint(levels_of(5, 12, seed), 1000)
        search = by_blocks(joint)
        own = np.flatnonzero(search.held.sum(axis=1) == 1)
        objective = np.random.default_rng(2).standard_normal(joint.A.shape[1])
        alone = IntegerProgram(search.A[own], search.lo[own], search.hi[own], search.upper, objective)
        point = best_point(DEFAULT.make_solver(300).solve(alone))
        assert point is not None
        z = np.rint(point).astype(np.int64)
        wrong += not joint.fits(z)
        found = search.near(z)
        assert found is not None
        assert joint.fits(found)
    assert wrong >= 2


def test_walkers_keep_every_cell(joint: Joint) -> None:
    z = by_blocks(joint).dataset(np.zeros(joint.A.shape[1]))
    assert z is not None
    found = walk_blocks(joint, [z], np.random.default_rng(1))
    assert all(joint.fits(other) for other in found)
    assert len(np.unique(found, axis=0)) == len(found)


def test_classes_are_possible_or_ruled_out_as_one_by_one(joint: Joint) -> None:
    """The answer for all classes at once, block by block, is the one that the maximum of each class gives."""
    lp = DEFAULT.make_solver().linear_program(joint.A, joint.lo, joint.hi)
    z = by_blocks(joint).dataset(np.zeros(joint.A.shape[1]))
    assert z is not None
    classes, nobody, *_ = possible_classes(joint, DEFAULT.make_solver(), lp, [z], range(len(joint.programs)))
    most = [lp.maximise(np.eye(joint.A.shape[1])[place]).value for place in range(joint.A.shape[1])]
    assert classes.tolist() == [value > 1e-6 for value in most]
    assert bool(nobody) == (not classes.all())


def test_a_large_program_decides_what_branching_decides(joint: Joint, monkeypatch: pytest.MonkeyPatch) -> None:
    """Searching near a dataset refutes what branching refutes; it proves nothing that is not proved there."""
    z = by_blocks(joint).dataset(np.zeros(joint.A.shape[1]))
    assert z is not None
    small = JointBounder(joint, DEFAULT, z[None, :])
    large = JointBounder(joint, DEFAULT, z[None, :])
    monkeypatch.setattr(jointbounds, "BRANCHED", 0)
    assert large.branching is None
    monkeypatch.undo()
    for number, span in enumerate(joint.spans[:2]):
        for place in range(0, joint.programs[number].classes, 3):
            weights = np.zeros(joint.programs[number].classes, dtype=np.int64)
            weights[place] = 1
            b = int(z[span][place])
            one, other = small.at_most(number, weights, b), large.at_most(number, weights, b)
            assert not (one.proof and other.counterexample is not None)
            assert not (other.proof and one.counterexample is not None)
            if other.counterexample is not None:
                assert joint.fits(other.counterexample)
                assert other.counterexample[span][place] > b
            assert one.proof is not None or other.counterexample is not None or other.limit
