"""RAP on small problems: gradients, answers and rounding against integers, recovery, stopping, the same bytes twice."""

import subprocess
import sys
from hashlib import sha256
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from genverify.model.domain import EVERY, Column, Domain, Predicate
from genverify.model.errors import ConfigError, DataError, ReleaseError
from genverify.model.query import Query
from genverify.model.tabulate import tabulate
from studies.raprank.areas import BlockCounts, rank_rows
from studies.raprank.configuration import marginal_queries
from studies.raprank.rap import relaxed as problem_module
from studies.raprank.rap.reconstruct import Reconstruction, _make_keys, reconstruct
from studies.raprank.rap.relaxed import (
    _block_answers,
    _candidates,
    _clause_sums,
    _draw_rests,
    _lay_out,
    _pivot_tables,
    answers,
    build_workload,
    code_positions,
    descend,
    errors_of,
    logits_at,
    loss,
    make_problem,
    one_hot,
    probabilities,
    random_logits,
    round_rows,
)
from studies.raprank.settings import RapSettings

SETTINGS = RapSettings(
    learning_rate=0.3,
    steps=600,
    share=0.3,
    tolerance=0.04,
    check_every=20,
    patience=100,
    gain=0.0,
    spread=1.0,
    certainty=0.99,
    memory=1000,
    rows=None,
    draws=None,
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


@pytest.mark.parametrize("most", [1, 100])  # tables: one with cells that nobody asks for, or one for every set of pivots
def test_answers_of_a_whole_dataset_are_the_integer_counts(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr(problem_module, "MOST_TABLES", most)
    rng = np.random.default_rng(5)
    data = np.stack([rng.choice(column.codes, (4, 30)) for column in DOMAIN.columns], axis=-1)
    predicates = PREDICATES + MARGINALS
    work = build_workload(DOMAIN, predicates)
    chances = jnp.asarray(one_hot(work.sizes, code_positions(DOMAIN, data, "data")))
    clauses = jax.jit(_clause_sums, static_argnums=0)(work.sizes, tuple(map(jnp.asarray, work.sets)), chances)
    assert [len(table.pivots) for table in _lay_out(work, 1)] == [1]
    monkeypatch.setattr(problem_module, "FEWEST_QUERIES", 3)
    for tables in (_lay_out(work, 1), *(_pivot_tables(work, taken) for taken in _candidates(work))):
        found = np.full((4, len(predicates)), -1.0)
        for table in tables:
            slots = jnp.broadcast_to(table.rests, (4, *table.rests.shape))
            counts = jax.jit(answers)(clauses, slots, jnp.asarray(table.pivots), jnp.ones(30, jnp.float32))
            found[:, table.queries] = np.asarray(counts)[:, table.row, table.column]
        assert found.tolist() == [counts_of(rows, predicates).tolist() for rows in data]


def test_gradients_against_finite_differences() -> None:
    work = build_workload(DOMAIN, PREDICATES)
    problem = make_problem(work, counts_of(ROWS, PREDICATES), len(ROWS), len(ROWS), 2)
    chosen = jnp.broadcast_to(jnp.arange(len(PREDICATES)), (2, len(PREDICATES)))
    logits = jnp.asarray(random_logits([1, 2], work.codes, len(ROWS), len(ROWS), 1.0))

    def cost(values: Any) -> Any:
        return loss(values, work.sizes, problem, (chosen,))

    slope, by = jax.jit(jax.grad(cost))(logits), 1e-2
    value, rng = jax.jit(cost), np.random.default_rng(0)
    for _ in range(20):
        way = jnp.asarray(rng.standard_normal(logits.shape).astype(np.float32))
        difference = float(value(logits + by * way) - value(logits - by * way)) / (2 * by)
        assert difference == pytest.approx(float((slope * way).sum()), abs=0.02, rel=0.01)


def test_probabilities_add_up_even_where_logits_are_large() -> None:
    logits = np.array([-200, *[200] * 7, 300], np.float32).reshape(9, 1, 1)
    chances = jax.jit(probabilities, static_argnums=0)((3, 2, 4), logits)
    assert np.asarray(chances).ravel().tolist() == [0, 0.5, 0.5, 0.5, 0.5, 0, 0, 0, 1]


def test_a_dataset_that_is_the_only_answer_is_recovered_by_all_runs() -> None:
    # No two rows share an age, so that the 2-way marginals fix the pet and the home of each.
    found = solve(tolerance=4e-3)
    assert [sorted_rows(dataset) for dataset in found.datasets] == [sorted_rows(ROWS)] * 5
    assert found.rounded_errors.tolist() == [0] * 5
    assert rank_rows(found.union, 1).frequency.tolist() == [5] * 4


def test_rounded_errors_are_those_of_the_integer_counts() -> None:
    found = solve(steps=3)
    for dataset, error in zip(found.datasets, found.rounded_errors, strict=True):
        off = counts_of(dataset, MARGINALS) - counts_of(ROWS, MARGINALS)
        assert error == pytest.approx(np.sqrt((off**2).sum() / len(ROWS)), rel=1e-5)
    assert set(np.unique(found.datasets[..., 2])) <= {0, 10, 20, 30}


def test_a_run_stops_when_it_is_near_enough_or_stuck_or_out_of_steps() -> None:
    assert solve(tolerance=40.0).steps.tolist() == [0] * 5
    stopped = solve(tolerance=0.2)
    assert all(0 < steps < 600 and steps % 20 == 0 for steps in stopped.steps)
    assert (stopped.relaxed_errors <= 0.2).all()
    assert solve(steps=50, tolerance=0.0).steps.tolist() == [50] * 5
    assert solve(learning_rate=1e-9, patience=3).steps.max() < 600


def test_minibatches_differ_between_runs_and_steps_and_reach_every_query() -> None:
    compiled = jax.jit(_draw_rests, static_argnums=2)

    def draw(step: int) -> Any:
        return np.asarray(compiled(_make_keys([1, 2**63 + 1]), jnp.int32(step), 40, jnp.int32(7)))

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


def test_a_gain_that_is_too_small_is_none() -> None:
    assert solve(tolerance=0.0, patience=1, gain=0.9).steps.max() < solve(tolerance=0.0, patience=1).steps.max()


BLOCKS = BlockCounts(
    np.array([2, 0, 1, 1]), (Predicate.of({"HOME": [1]}), Predicate.of({"AGE": [0, 10], "PET": [1, 3]})),
    np.array([[2, 1], [0, 0], [0, 1], [0, 0]]),
)  # fmt: skip
"""ROWS as four blocks: the first two rows, none, the third and the fourth."""


def test_answers_of_blocks_are_the_integer_counts_and_their_gradients_those_of_sums_over_all_rows() -> None:
    work = build_workload(DOMAIN, [EVERY, *BLOCKS.predicates])
    problem = make_problem(work, np.array([4]), 4, 8, 1, BLOCKS)
    at = jnp.asarray(one_hot(work.sizes, code_positions(DOMAIN, np.pad(ROWS, ((0, 4), (0, 0)), "edge")[None], "rows")))
    assert float(errors_of(work.sizes, problem, at)[0]) == 0
    (table,) = (table for table in problem.tables if table.of_blocks)
    rng = np.random.default_rng(3)
    clauses = jnp.asarray(rng.random((work.always + 1 + sum(map(len, work.sets)), 1, 8)).astype(np.float32))
    weights = jnp.asarray(rng.random((1, 4, 2, 1)).astype(np.float32))
    inside = jnp.asarray(np.arange(4)[:, None] == np.asarray(problem.block), jnp.float32)

    def grouped(values: Any) -> Any:
        return (weights * _block_answers(values, table.slots, table.pivots, problem.block, 4)).sum()

    def dense(values: Any) -> Any:
        rests = jnp.prod(values[table.slots[0], 0], axis=1) * values[table.pivots[0], 0]
        return (weights[0, :, :, 0] * jnp.einsum("bn,rn->br", inside, rests)).sum()

    # compiled as a whole: each operation by itself would be compiled too
    (value, slope), (right, true_slope) = (jax.jit(jax.value_and_grad(way))(clauses) for way in (grouped, dense))
    assert np.allclose(slope, true_slope, atol=1e-5)
    assert float(value) == pytest.approx(float(right), rel=1e-5)


def test_every_block_gets_its_rows_and_its_counts() -> None:
    counts = counts_of(ROWS, MARGINALS)
    found = reconstruct(DOMAIN, MARGINALS, counts, 4, list(range(8)), SETTINGS.but(tolerance=4e-3), blocks=BLOCKS)
    assert found.datasets[:, :, -1].tolist() == [[0, 0, 2, 3]] * 8
    fitting = found.datasets[found.rounded_errors == 0][:, :, :3]
    assert len(fitting) >= 4  # a run may end where no small step is better
    for dataset in fitting:
        assert sorted_rows(dataset[:2]) == sorted_rows(ROWS[:2])
        assert dataset[2:].tolist() == ROWS[2:].tolist()


def test_runs_in_groups_are_the_runs_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    together = solve(runs=5, steps=40)
    monkeypatch.setattr(problem_module, "CELLS_AT_ONCE", 2 * 8 * 9)
    apart = solve(runs=5, steps=40)
    assert apart.datasets.tolist() == together.datasets.tolist()
    assert apart.relaxed_errors == pytest.approx(together.relaxed_errors, rel=1e-3)


def test_an_area_that_does_not_fit_into_memory_is_refused_before_anything_is_made() -> None:
    with pytest.raises(DataError, match=r"4 rows with 9 codes and 26 published counts take .*rap\.memory = 1"):
        solve(memory=1)


def test_blocks_of_nearly_the_same_shape_share_a_compiled_program() -> None:
    solve(steps=1)
    before = descend._cache_size()
    counts = counts_of(ROWS, MARGINALS[1:])
    reconstruct(DOMAIN, MARGINALS[1:], counts, 4, [5, 6, 7, 8, 9], SETTINGS.but(learning_rate=0.1, steps=2))
    assert descend._cache_size() == before


def test_a_step_of_all_queries_is_the_same_for_every_run() -> None:
    found = solve(start=ROWS[::-1], share=1.0, steps=30, tolerance=0.0)
    # the last bits may depend on a run's place among the others
    assert found.relaxed_errors == pytest.approx(found.relaxed_errors[0], rel=1e-3)
    drawn = solve(start=ROWS[::-1], share=0.08, steps=30, tolerance=0.0)
    assert np.ptp(drawn.relaxed_errors) > 0.01 * drawn.relaxed_errors.max()


def test_a_start_rounds_back_to_its_dataset_with_the_stated_certainty() -> None:
    places = np.random.default_rng(1).integers(0, [3, 2, 4], size=(1, 4000, 3), dtype=np.int32)
    logits = logits_at((3, 2, 4), places, 0.9)
    chances = np.asarray(jax.jit(probabilities, static_argnums=0)((3, 2, 4), logits))
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
    modules = "studies.raprank.areas, genverify.model.tabulate, genverify.run.config"
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


def test_fewer_relaxed_rows_than_records_and_more_draws() -> None:
    rows = np.repeat(ROWS, 3, axis=0)
    settings = SETTINGS.but(rows=4, draws=10, tolerance=4e-3)
    found = reconstruct(DOMAIN, MARGINALS, counts_of(rows, MARGINALS), len(rows), list(range(5)), settings)
    assert found.datasets.shape == (5, 10, 3)
    # twelve records are four rows three times each: four relaxed rows of scaled counts find them, each drawn again
    assert {tuple(row) for row in found.union.tolist()} == {tuple(row) for row in ROWS.tolist()}
    assert found.rounded_errors.tolist() == [0] * 5


def test_draws_without_more_relaxed_rows_begin_with_the_plain_run() -> None:
    plain, more = solve(), solve(draws=9)
    assert more.datasets[:, :4].tolist() == plain.datasets.tolist()
    assert solve(draws=2).datasets.tolist() == plain.datasets[:, :2].tolist()


def test_more_draws_than_memory_allows_are_refused() -> None:
    with pytest.raises(DataError, match=r"90,000,000 draws of every run take about .* MB, more than raprank\.rap\.memory"):
        solve(draws=90_000_000)


def test_no_runs_are_refused() -> None:
    with pytest.raises(ConfigError, match="K = 0"):
        solve(runs=0)
