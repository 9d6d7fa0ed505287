"""The most likely datasets against enumeration on small programs, and the prior that they are likely under."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from genverify.model.errors import DataError
from genverify.solve.solvers.base import WorkLimits
from genverify.solve.solvers.highs import Highs
from housing_cases import NAMES, SOLVER, fitting_datasets, small_program
from studies.housing.joint_program import NATS, TypeProgram, fit_prior, prior_of, prior_types
from studies.housing.reconstruct import Walks, most_likely, most_likely_sets

NODES = 2_000


def enumerated(program: TypeProgram) -> list[int]:
    """The costs of all datasets that fit, from the least."""
    return sorted((fitting_datasets(program) @ program.cost).tolist())


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 12))
def test_the_least_costs_are_those_of_enumeration(seed: int, t: int) -> None:
    program = small_program(seed)
    found = most_likely_sets(program, most_likely(program, SOLVER), t, SOLVER, NODES, seed)
    assert found.proved
    assert list(found.costs) == enumerated(program)[:t]
    assert len({z.tobytes() for z in found.datasets}) == len(found.datasets)
    assert all(program.fits(z) and program.cost @ z == c for z, c in zip(found.datasets, found.costs, strict=True))


def test_small_cases_are_proved() -> None:
    proved = []
    for seed in range(60):
        program = small_program(seed)
        proved.append(most_likely_sets(program, most_likely(program, SOLVER), 5, SOLVER, NODES, 1).proved)
    assert sum(proved) == 60


def test_without_branching_nothing_is_claimed_that_is_not_so() -> None:
    """Walks alone may miss a dataset; then it is not reported that none is missing."""
    unproved = 0
    for seed in range(60):
        program = small_program(seed)
        found = most_likely_sets(program, most_likely(program, SOLVER), 5, SOLVER, 0, 1)
        unproved += not found.proved
        assert not found.proved or list(found.costs) == enumerated(program)[:5]
    assert unproved > 0


def test_the_same_seed_gives_the_same_datasets_and_another_seed_other_ties() -> None:
    program = tied_program()
    best = most_likely(program, SOLVER)
    one, again, other = (most_likely_sets(program, best, 20, SOLVER, NODES, seed) for seed in (1, 1, 2))
    assert [z.tolist() for z in one.datasets] == [z.tolist() for z in again.datasets]
    assert [z.tolist() for z in one.datasets] != [z.tolist() for z in other.datasets]
    assert one.costs == other.costs == (one.costs[0],) * 20


def tied_program() -> TypeProgram:
    """Twenty households of four sizes, ten of them subsidized, whose cost does not depend on that."""
    codes = np.array([(b, s, 0) for b in range(3) for s in range(1, 5)])
    A = np.array([np.ones(12), *(codes[:, 1] == s for s in range(1, 5)), codes[:, 0] > 0], dtype=np.int64)
    counts = np.array([20, 5, 5, 5, 5, 10])
    return TypeProgram(NAMES, codes, ("N", "1", "2", "3", "4", "HUD_N"), A, counts, counts, codes[:, 1] * 100, ("BEDROOMS",))


def test_a_step_of_a_walk_keeps_the_counts_and_the_limit() -> None:
    program = small_program(7)
    best = most_likely(program, SOLVER).z
    assert best is not None
    walks = Walks(program, best, 30, np.random.default_rng(1))
    limit = int(program.cost @ best) + 2000
    for _ in range(50):
        walks.step(limit)
        for households, counts, cost in zip(walks.households, walks.counts, walks.cost, strict=True):
            z = np.bincount(households, minlength=program.types)
            assert program.fits(z)
            assert program.counted(z).tolist() == counts.tolist()
            assert program.cost @ z == cost <= limit


def test_no_dataset_is_said_to_fit_where_none_does() -> None:
    program = small_program(3)
    wrong = TypeProgram(
        program.names, program.codes, program.rows, program.A, program.lo + 9, program.hi + 9, program.cost, program.free
    )
    best = most_likely(wrong, SOLVER)
    assert best.z is None
    assert best.decided
    assert most_likely_sets(wrong, best, 5, SOLVER, NODES, 1).datasets == ()


def test_a_limit_is_not_taken_for_a_proof() -> None:
    program = tied_program()
    stopped = most_likely(program, Highs(WorkLimits(10_000, 1_000, 0.0)))
    assert not stopped.decided
    assert not most_likely_sets(program, stopped, 5, SOLVER, NODES, 1).proved


def households(state: str, n: int) -> pd.DataFrame:
    rng = np.random.default_rng(n)
    size = rng.integers(1, 5, n)
    return pd.DataFrame({"block": f"{state}0010001001000", "SIZE": size, "CHILDREN": size // 3, "RACE": 1, "BEDROOMS": 0})


def test_the_prior_is_a_sample_of_each_state() -> None:
    everyone = [households("01", 200), households("02", 50)]
    prior = fit_prior(everyone, 0.1, 1)
    assert prior.groupby("state")["households"].sum().to_dict() == {"01": 20, "02": 5}
    pd.testing.assert_frame_equal(prior, fit_prior(everyone, 0.1, 1))
    assert not prior.equals(fit_prior(everyone, 0.1, 2))
    known = prior_of(prior, "010010001001000")
    assert known.cost == pytest.approx(-np.log(known.counts / 20) * NATS, abs=0.5)


def test_types_outside_the_sample_or_the_block_are_left_out() -> None:
    prior = prior_of(fit_prior([households("01", 500)], 1.0, 1), "010010001001000")
    names = ("BEDROOMS", "SIZE", "CHILDREN", "RACE")
    codes, cost = prior_types(prior, names, {"BEDROOMS": (0, 1), "SIZE": (1, 2, 3), "CHILDREN": (0, 1), "RACE": (1, 2)})
    assert codes.tolist() == [[b, s, c, 1] for s, c in ((1, 0), (2, 0), (3, 1)) for b in (0, 1)]
    assert cost[::2].tolist() == cost[1::2].tolist()


def test_a_state_without_prior_is_named() -> None:
    with pytest.raises(DataError, match=r"block 720010001001000: the prior has no household of state 72 \(it has 01\)"):
        prior_of(fit_prior([households("01", 50)], 1.0, 1), "720010001001000")
