"""RAP on small problems: gradients, answers and rounding against integers, recovery, stopping, the same bytes twice."""

import subprocess
import sys
from hashlib import sha256
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from genverify.core.domain import Column, Domain
from genverify.core.errors import ConfigError, DataError, ReleaseError
from genverify.core.marginals import marginal_queries
from genverify.core.predicates import EVERY, Predicate
from genverify.core.queries import Query
from genverify.core.tabulate import tabulate
from genverify.papers.raprank.ranking import rank_rows
from genverify.papers.raprank.rap import Reconstruction, reconstruct
from genverify.papers.raprank.rap.dataset import logits_at, one_hot, random_logits, round_rows
from genverify.papers.raprank.rap.factors import _candidates, _split, factor
from genverify.papers.raprank.rap.optimise import descend, draw_rests, loss
from genverify.papers.raprank.rap.reconstruct import make_keys, make_problem
from genverify.papers.raprank.rap.relaxed import answers, clause_sums, probabilities
from genverify.papers.raprank.rap.workload import build_workload, place_codes
from genverify.papers.raprank.settings import RapSettings

SETTINGS = RapSettings(
    learning_rate=0.3,
    steps=600,
    queries_per_step=8,
    tolerance=0.004,
    check_every=20,
    patience=100,
    spread=1.0,
    certainty=0.99,
)
DOMAIN = Domain(
    (
        Column("PET", "pet", (1, 2, 3), ("cat", "dog", "fish")),
        Column("HOME", "home", (1, 2), ("house", "flat")),
        Column("AGE", "age", (0, 10, 20, 30), ("0", "10", "20", "30")),
    )
)
PREDICATES = [
    EVERY,
    Predicate.of({"PET": [1, 2]}),
    Predicate.of({"PET": [3], "HOME": [1, 2]}),
    Predicate.of({"AGE": [0, 30], "HOME": [2]}),
    Predicate.of({"AGE": [10, 20, 30], "HOME": [1], "PET": [2, 3]}),
    Predicate((("AGE", ()),)),
]
ROWS = np.array([[1, 1, 0], [2, 1, 20], [3, 2, 10], [3, 2, 30]])
MARGINALS = [query.predicate for query in marginal_queries(DOMAIN, 2)]


def counts_of(rows: Any, predicates: list[Predicate]) -> Any:
    records = dict(zip(DOMAIN.names, np.asarray(rows).T, strict=True))
    queries = [Query(str(place), "T", "", predicate) for place, predicate in enumerate(predicates)]
    return tabulate(records, np.array([0]), DOMAIN, queries)[0]


def solve(rows: Any = ROWS, runs: int = 5, start: Any = None, **changes: Any) -> Reconstruction:
    settings = SETTINGS.but(**changes)
    return reconstruct(DOMAIN, MARGINALS, counts_of(rows, MARGINALS), len(rows), list(range(runs)), settings, start)


def sorted_rows(dataset: Any) -> list[list[int]]:
    return sorted(dataset.tolist())


def test_answers_of_a_whole_dataset_are_the_integer_counts() -> None:
    rng = np.random.default_rng(5)
    data = np.stack([rng.choice(column.codes, (4, 30)) for column in DOMAIN.columns], axis=-1)
    predicates = PREDICATES + MARGINALS
    work = build_workload(DOMAIN, predicates)
    chances = jnp.asarray(one_hot(work.sizes, place_codes(DOMAIN, data, "data")))
    clauses = jax.jit(clause_sums, static_argnums=0)(work.sizes, tuple(map(jnp.asarray, work.sets)), chances)
    whole = factor(work, 1)
    assert len(whole.pivots) == 1
    for factors in (whole, *(_split(work, taken) for taken in _candidates(work))):
        slots = jnp.broadcast_to(factors.rests, (4, *factors.rests.shape))
        table = np.asarray(jax.jit(answers)(clauses, slots, jnp.asarray(factors.pivots), jnp.ones(30, jnp.float32)))
        assert table[:, factors.row, factors.place].tolist() == [counts_of(rows, predicates).tolist() for rows in data]


def test_gradients_against_finite_differences() -> None:
    work = build_workload(DOMAIN, PREDICATES)
    problem = make_problem(work, counts_of(ROWS, PREDICATES), len(ROWS), len(ROWS), 2)
    chosen = jnp.broadcast_to(jnp.arange(len(PREDICATES)), (2, len(PREDICATES)))
    logits = jnp.asarray(random_logits([1, 2], work.codes, len(ROWS), len(ROWS), 1.0))

    def cost(values: Any) -> Any:
        return loss(values, work.sizes, problem, chosen)

    slope, by = jax.jit(jax.grad(cost))(logits), 1e-2
    value, rng = jax.jit(cost), np.random.default_rng(0)
    for _ in range(20):
        way = jnp.asarray(rng.standard_normal(logits.shape).astype(np.float32))
        difference = float(value(logits + by * way) - value(logits - by * way)) / (2 * by)
        assert difference == pytest.approx(float((slope * way).sum()), abs=0.02, rel=0.01)


def test_probabilities_add_up_even_where_logits_are_large() -> None:
    logits = jnp.full((9, 1, 1), 200.0).at[0].set(-200.0).at[8].set(300.0)
    chances = probabilities((3, 2, 4), logits)
    assert np.asarray(chances).ravel().tolist() == [0, 0.5, 0.5, 0.5, 0.5, 0, 0, 0, 1]


def test_a_dataset_that_is_the_only_answer_is_recovered_by_all_runs() -> None:
    # No two rows share an age, so that the 2-way marginals fix the pet and the home of each.
    found = solve(tolerance=4e-4)
    assert [sorted_rows(dataset) for dataset in found.datasets] == [sorted_rows(ROWS)] * 5
    assert found.rounded_errors.tolist() == [0] * 5
    assert rank_rows(found.union, 1).frequency.tolist() == [5] * 4


def test_rounded_errors_are_those_of_the_integer_counts() -> None:
    found = solve(steps=3)
    for dataset, error in zip(found.datasets, found.rounded_errors, strict=True):
        off = (counts_of(dataset, MARGINALS) - counts_of(ROWS, MARGINALS)) / len(ROWS)
        assert error == pytest.approx(np.sqrt((off**2).mean()), rel=1e-5)
    assert set(np.unique(found.datasets[..., 2])) <= {0, 10, 20, 30}


def test_a_run_stops_when_it_is_near_enough_or_stuck_or_out_of_steps() -> None:
    assert solve(tolerance=4.0).steps.tolist() == [0] * 5
    stopped = solve(tolerance=0.08)
    assert all(0 < steps < 600 and steps % 20 == 0 for steps in stopped.steps)
    assert (stopped.relaxed_errors <= 0.02).all()
    assert solve(steps=50, tolerance=0.0).steps.tolist() == [50] * 5
    assert solve(learning_rate=1e-9, patience=3).steps.max() < 600


def test_minibatches_differ_between_runs_and_steps_and_reach_every_query() -> None:
    def draw(step: int) -> Any:
        return np.asarray(draw_rests(make_keys([1, 2**63 + 1]), jnp.int32(step), 40, jnp.int32(7)))

    assert draw(0).tolist() == draw(0).tolist() != draw(1).tolist()
    assert draw(0)[0].tolist() != draw(0)[1].tolist()
    assert set(draw(0).ravel().tolist()) == set(range(7))


def test_a_start_at_a_dataset_of_the_right_answers_stays_there() -> None:
    found = solve(start=ROWS, patience=10)
    assert np.isfinite(found.relaxed_errors).all()
    assert np.mean([sorted_rows(dataset) == sorted_rows(ROWS) for dataset in found.datasets]) >= 0.8
    assert solve(start=np.stack([ROWS] * 5), patience=10).datasets.tobytes() == found.datasets.tobytes()


def test_a_start_at_a_wrong_dataset_is_improved() -> None:
    wrong = ROWS.copy()
    wrong[0, 2] = 20
    untouched, found = solve(start=wrong, steps=0), solve(start=wrong, patience=10)
    assert found.relaxed_errors.max() < 0.1 * untouched.relaxed_errors.min()
    assert sorted_rows(rank_rows(found.union, 1).rows[:4]) == sorted_rows(ROWS)


def test_blocks_of_nearly_the_same_shape_share_a_compiled_program() -> None:
    solve(steps=1)
    before = descend._cache_size()
    counts = counts_of(ROWS, MARGINALS[1:])
    reconstruct(DOMAIN, MARGINALS[1:], counts, 4, [5, 6, 7, 8, 9], SETTINGS.but(learning_rate=0.1, steps=2))
    assert descend._cache_size() == before


def test_a_step_of_all_queries_is_the_same_for_every_run() -> None:
    found = solve(start=ROWS[::-1], queries_per_step=len(MARGINALS), steps=30, tolerance=0.0)
    # the last bits may depend on a run's place among the others
    assert found.relaxed_errors == pytest.approx(found.relaxed_errors[0], rel=1e-3)
    drawn = solve(start=ROWS[::-1], queries_per_step=2, steps=30, tolerance=0.0)
    assert np.ptp(drawn.relaxed_errors) > 0.01 * drawn.relaxed_errors.max()


def test_a_start_rounds_back_to_its_dataset_with_the_stated_certainty() -> None:
    places = np.random.default_rng(1).integers(0, [3, 2, 4], size=(1, 4000, 3), dtype=np.int32)
    logits = logits_at((3, 2, 4), places, 0.9)
    chances = np.asarray(probabilities((3, 2, 4), jnp.asarray(logits)))
    assert np.isfinite(logits).all()
    assert np.asarray(chances[one_hot((3, 2, 4), places) == 1]) == pytest.approx(0.9, abs=1e-5)
    back = round_rows([7], (3, 2, 4), chances)
    assert (back == places).mean(axis=(0, 1)) == pytest.approx(0.9, abs=0.02)


def test_rounding_follows_the_probabilities() -> None:
    chances = np.tile(np.array([0.2, 0.0, 0.8, 1.0], np.float32)[:, None, None], (1, 2, 5000))
    first, second = round_rows([1, 2], (3, 1), chances)
    assert np.bincount(first[:, 0], minlength=3) / 5000 == pytest.approx([0.2, 0, 0.8], abs=0.03)
    assert not np.array_equal(first, second)


def test_one_record_is_a_block() -> None:
    assert solve(ROWS[1:2], runs=1).datasets.tolist() == [[[2, 1, 20]]]


def test_a_run_depends_on_its_own_seed_only() -> None:
    counts, settings = counts_of(ROWS, MARGINALS), SETTINGS.but(steps=40)
    turned = reconstruct(DOMAIN, MARGINALS, counts, 4, [9, 3, 8, 7, 0], settings)
    assert turned.datasets[[4, 1]].tolist() == solve(steps=40).datasets[[0, 3]].tolist()


PRINT = """
import sys
sys.path.insert(0, sys.argv[1])
from test_rap import fingerprint
print(fingerprint())
"""


def fingerprint() -> str:
    """Every byte of a reconstruction and of its ranking, as one digest."""
    found = solve(steps=40)
    ranked = rank_rows(found.union, seed=1)
    parts = (found.datasets, found.relaxed_errors, found.rounded_errors, ranked.rows, ranked.frequency)
    return sha256(b"".join(part.tobytes() for part in parts)).hexdigest()


def test_the_same_bytes_on_a_second_run_and_in_another_process(request: pytest.FixtureRequest) -> None:
    first = fingerprint()
    assert fingerprint() == first
    code = [sys.executable, "-c", PRINT, str(request.path.parent)]
    assert subprocess.run(code, capture_output=True, check=True, text=True).stdout == f"{first}\n"


def test_the_rest_of_the_library_does_not_import_jax() -> None:
    modules = "genverify.papers.raprank.ranking, genverify.core.marginals, genverify.run.config"
    code = f"import sys, {modules}; print('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout == b"False\n"


@pytest.mark.parametrize(
    ("changes", "error", "says"),
    [
        ({"counts": np.array([1, 2])}, ReleaseError, "2 counts for 2[0-9] queries"),
        ({"rows": 0}, ReleaseError, "0 rows"),
        ({"seeds": []}, ConfigError, "K = 0"),
        ({"predicates": [Predicate.of({"PETS": [1]})], "counts": np.array([1])}, DataError, "did you mean PET"),
        ({"predicates": [Predicate.of({"PET": [9]})], "counts": np.array([1])}, DataError, "has no code 9"),
        ({"predicates": [EVERY], "counts": np.array([5])}, ReleaseError, r"\(every record\) is 5, not between 0 and the 4"),
        ({"predicates": [EVERY], "counts": np.array([-1])}, ReleaseError, "is -1, not between"),
        ({"predicates": [], "counts": np.array([])}, ReleaseError, "no queries"),
        ({"start": ROWS[:3]}, DataError, r"shape \(3, 3\).* draw as many rows"),
        ({"start": np.stack([ROWS] * 3)}, DataError, r"shape \(3, 4, 3\) for 2 runs"),
        ({"start": ROWS[:, :2]}, DataError, "2 columns, the domain has 3"),
        ({"start": ROWS + 1}, DataError, "HOME=3|PET=4|AGE=1"),
    ],
)
def test_bad_input_is_told(changes: dict[str, Any], error: type[Exception], says: str) -> None:
    good: dict[str, Any] = {
        "domain": DOMAIN,
        "predicates": MARGINALS,
        "counts": counts_of(ROWS, MARGINALS),
        "rows": 4,
        "seeds": [1, 2],
        "settings": SETTINGS,
    }
    with pytest.raises(error, match=says):
        reconstruct(**{**good, **changes})
