"""A sample as a prior: by hand, as probabilities over a whole domain, beside an explicit table, and how it judges itself."""

from itertools import combinations_with_replacement, product
from math import factorial, prod
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import genverify as gv
from genverify.attack.probability import calibration, count_release, left_out_blocks, published_alike
from genverify.model.domain import Column, Domain
from genverify.model.errors import ConfigError, DataError
from genverify.solve.counting.prior import (
    Order,
    Prior,
    Sample,
    chances_of,
    fit_orders,
    recoded,
    sample_of,
    sample_prior,
    sort_groups,
)
from genverify.solve.program import build_program

SCHEMA = gv.make_schema(
    {"sex": ["f", "m"], "age": ["a", "b", "c"], "work": ["no", "yes"]},
    {"sex_age": ["sex", "age"], "age_work": ["age", "work"]},
)
DOMAIN = SCHEMA.domain
EVERY = np.array(list(product(*(column.codes for column in DOMAIN.columns))), dtype=np.int16)


def drawn(seed: int, records: int) -> np.ndarray[Any, np.dtype[np.int16]]:
    """Records of which the last column mostly follows from the second."""
    rng = np.random.default_rng(seed)
    rows = EVERY[rng.integers(0, len(EVERY), records)]
    follows = rng.random(records) < 0.9
    rows[follows, 2] = np.array(DOMAIN.columns[2].codes)[(rows[follows, 1] == DOMAIN.columns[1].codes[0]).astype(int)]
    return rows


def test_one_column_by_hand() -> None:
    """Three of four say f: (3 + 2 / 2) / (4 + 2). Given a second column, one of one: (1 + 1 * 4 / 6) / (1 + 1)."""
    f, m = DOMAIN.columns[0].codes
    a = DOMAIN.columns[1].codes[0]
    rows = np.array([[f, a, 0], [f, a + 1, 0], [f, a + 1, 0], [m, a + 1, 0]], dtype=np.int16)
    sample = Sample(DOMAIN, rows, np.ones(4), np.ones(4))
    asked = np.array([[f, a, 0]], dtype=np.int16)
    assert chances_of(sample, [Order(0, (), 2.0)], asked) == pytest.approx([4 / 6])
    assert chances_of(sample, [Order(0, (), 2.0), Order(0, (1,), 1.0)], asked) == pytest.approx([(1 + 4 / 6) / 2])


@pytest.mark.parametrize(("seed", "records"), [(1, 1), (2, 7), (3, 60), (4, 500)])
def test_chances_of_all_records_add_up(seed: int, records: int) -> None:
    sample = sample_of(DOMAIN, drawn(seed, records), np.ones(records))
    chances = chances_of(sample, fit_orders(sample), EVERY)
    assert chances.sum() == pytest.approx(1)
    assert (chances > 0).all()


def test_a_column_that_follows_from_another_is_found_where_the_sample_can_tell() -> None:
    many, few = (sample_of(DOMAIN, drawn(5, n), np.ones(n)) for n in (400, 4))
    assert (1,) in {order.given for order in fit_orders(many) if order.column == 2}
    assert {order.given for order in fit_orders(few)} == {()}


def test_what_weights_mean() -> None:
    """Counts of kinds are that many records; weights of rows that repeat a record count in proportion only."""
    rows = drawn(6, 200)
    kinds, counts = np.unique(rows, axis=0, return_counts=True)
    one, other = sample_of(DOMAIN, rows, np.ones(200)), sample_of(DOMAIN, kinds, counts.astype(float))
    assert fit_orders(one) == fit_orders(other)
    survey, larger = (sample_of(DOMAIN, rows, np.full(200, weight)) for weight in (37.0, 370.0))
    assert survey.weights.sum() == larger.weights.sum() == 200
    assert fit_orders(survey) == fit_orders(one)


def test_a_sample_weighs_as_the_table_of_its_chances() -> None:
    people = pd.DataFrame({"sex": ["f", "m", "m", "f"], "age": ["a", "a", "b", "c"], "work": ["yes", "no", "no", "no"]})
    counted = count_release(build_program(gv.release_of(SCHEMA, people), 100))
    prior = sample_prior("s", DOMAIN, drawn(7, 90), np.ones(90))
    assert prior.sample is not None
    listed = Prior("listed", DOMAIN, EVERY, chances_of(prior.sample, prior.orders, EVERY), 0.0)
    one, other = counted.posterior(prior), counted.posterior(listed)
    assert one.probabilities(EVERY, np.ones(len(EVERY), dtype=np.int64)) == pytest.approx(
        other.probabilities(EVERY, np.ones(len(EVERY), dtype=np.int64))
    )
    assert prior.rules_nothing_out
    assert len(one.draw(5, np.random.default_rng(1))) == 5


def test_blocks_that_are_left_out_are_not_in_their_prior() -> None:
    prior = sample_prior("s", DOMAIN, drawn(8, 100), np.ones(100))
    blocks = list(left_out_blocks(prior, 10, np.random.default_rng(1)))
    assert [len(records) for records, _ in blocks] == [10] * 10
    assert all(rest.weights.sum() == 90 for _, rest in blocks)
    together = np.concatenate([records for records, _ in blocks])
    assert sorted(map(tuple, together.tolist())) == sorted(map(tuple, drawn(8, 100).tolist()))
    assert not list(left_out_blocks(prior, 40, np.random.default_rng(1)))


def test_other_records_are_published_as_the_release_is() -> None:
    """Counts of 1 to 2 are suppressed, 0 and 3 are printed."""
    people = pd.DataFrame({"sex": ["f", "f", "f", "m"], "age": "a", "work": "no"})
    release = gv.Release.from_frame(people, tables=["sex"], suppress=3)
    f, m = release.schema.domain.columns[0].codes
    other = published_alike(release, np.array([[f], [m], [m], [m]], dtype=np.int16))
    assert dict(zip([q.id for q in other.queries], zip(other.lo.tolist(), other.hi.tolist(), strict=True), strict=True)) == {
        "sex.f": (1, 2), "sex.m": (3, 3),
    }  # fmt: skip


def frame_of(rows: np.ndarray[Any, np.dtype[np.int16]]) -> pd.DataFrame:
    return pd.DataFrame({c.name: [c.meaning[code] for code in rows[:, at]] for at, c in enumerate(DOMAIN.columns)})


def test_a_probability_from_a_sample_says_how_others_held() -> None:
    people = frame_of(drawn(9, 6))
    release = gv.Release.from_frame(people, tables=["sex", "age", "work"])
    answer = release.probability(sex="f", age="a", work="yes", sample=frame_of(drawn(10, 300)))
    assert answer.exact
    assert answer.calibration is not None
    assert answer.calibration.blocks == 20
    assert "blocks of left-out records" in str(answer)
    # it is made once for a release and a sample
    prior = gv.prior_from_sample(frame_of(drawn(10, 300)), release)
    assert calibration(release, prior) is calibration(release, prior)
    small = release.probability(sex="f", age="a", work="yes", sample=frame_of(drawn(10, 12)))
    assert "not tried on left-out records" in str(small)
    certain = release.probability(sex="f", m=int((people["sex"] == "f").sum()), sample=frame_of(drawn(10, 300)))
    assert str(certain) == "100 % (exact, prior: sample)"


def test_statements_of_a_sample_like_the_people_hold() -> None:
    """Of synthetic people drawn as the sample is, 99 % statements are rarely false."""
    prior = sample_prior("s", DOMAIN, drawn(11, 600), np.ones(600))
    release = gv.Release.from_frame(frame_of(drawn(12, 8)), tables=["sex", ("age", "work")])
    result = calibration(release, prior)
    assert result is not None
    said, held = result.statements[0.9]
    assert said == 0 or held / said > 0.8


def test_merged_codes_are_a_sample_of_coarser_records() -> None:
    prior = sample_prior("s", DOMAIN, drawn(13, 50), np.ones(50))
    records = prior.records.copy()
    records[:, 1] = DOMAIN.columns[1].codes[0]
    merged = recoded(prior, DOMAIN, records)
    assert merged.weights.sum() == 50
    assert merged.sample is not None


@pytest.mark.parametrize(
    ("change", "options", "words"),
    [
        ({"age": [None, "b"]}, {}, "sample sample: row 0: column age has no value ''"),
        ({"age": ["a", "bb"]}, {}, "column age has no value 'bb': did you mean b"),
        ({"weight": [1, -2]}, {}, "row 1: weight -2 is not a number from 0 on"),
        ({"weight": ["x", 1]}, {}, "row 0: weight 'x' is not a number"),
        ({"weight": [0, 0]}, {}, "no record has a weight above 0"),
        ({}, {"floor": 0.1}, "a sample is smoothed by itself"),
    ],
)
def test_wrong_samples_are_refused(change: dict[str, Any], options: dict[str, Any], words: str) -> None:
    sample = pd.DataFrame({"sex": ["f", "m"], "age": ["a", "b"], "work": ["no", "yes"]}).assign(**change)
    release = gv.release_of(SCHEMA, frame_of(drawn(1, 3)))
    with pytest.raises((DataError, ConfigError), match=words):
        gv.probability(release, "sex=f,m=1", sample=sample, **options)
    with pytest.raises(DataError, match="has no column 'work'"):
        gv.prior_from_sample(sample.drop(columns="work"), release)
    with pytest.raises(DataError, match="has no records"):
        gv.prior_from_sample(sample.iloc[:0], release)


HOUSEHOLDS = Path(__file__).parents[4] / "shared" / "data" / "acs-2011-households.csv"


@pytest.mark.skipif(
    not HOUSEHOLDS.is_file(), reason="real households lie beside the repository, in ../shared/data: not here"
)
def test_likely_statements_about_real_households_hold() -> None:
    """Of statements at 99 % about blocks of left-out real households at most 5 % are false, where raw weights say more."""
    frame = pd.read_csv(HOUSEHOLDS)
    frame = frame.loc[frame.index.repeat(frame.pop("households"))].reset_index(drop=True)
    tables = [("TEN", "HHSIZE"), ("HHT", "HHT2"), ("TP18", "HHT"), ("HHSIZE", "HHT")]
    release = gv.Release.from_frame(frame, tables=tables)
    few = published_alike(release, gv.prior_from_sample(frame, release).records[:10])
    result = calibration(few, gv.prior_from_sample(frame, release))
    assert result is not None
    said, held = result.statements[0.99]
    assert said > 50
    assert held >= 0.95 * said


def test_weights_that_are_taken_for_counts_say_so() -> None:
    domain = Domain((Column("A", "a", (1, 2), ("x", "y")),))
    records = np.array([[1], [2]], dtype=np.int16)
    assert sample_of(domain, records, np.array([3.0, 4.0])).as_counts
    assert not sample_of(domain, records, np.array([3.5, 4.0])).as_counts
    assert not sample_of(domain, np.repeat(records, 2, axis=0), np.ones(4)).as_counts


# Groups of a sample: people of a group are alike, or they are not.


def grouped(seed: int, groups: int, size: int, alike: bool) -> tuple[np.ndarray[Any, np.dtype[np.int16]], Any]:
    """Groups of people; alike: most of a group have one of two kinds of work and age, the groups in no order."""
    rng = np.random.default_rng(seed)
    rows = EVERY[rng.integers(0, len(EVERY), groups * size)]
    numbers = rng.permutation(groups).repeat(size)
    if alike:
        own = (numbers * 7 % 3 == 0)[:, None] & (rng.random((len(rows), 2)) < 0.9)
        other = (numbers * 7 % 3 > 0)[:, None] & (rng.random((len(rows), 2)) < 0.9)
        first, last = (np.array([[c.codes[at] for c in DOMAIN.columns[1:]]]) for at in (0, -1))
        rows[:, 1:] = np.where(own, first, np.where(other, last, rows[:, 1:]))
    return rows, numbers


def test_groups_are_of_kinds_where_people_of_a_group_are_alike_and_only_there() -> None:
    alike, mixed = (sample_prior("s", DOMAIN, *with_ones(grouped(1, 40, 10, one))) for one in (True, False))
    assert alike.sample is not None
    assert alike.sample.kinds is not None
    assert len(set(alike.sample.kinds[np.arange(40) * 7 % 3 == 0]) & set(alike.sample.kinds[np.arange(40) * 7 % 3 > 0])) == 0
    assert alike.title == f"s, groups of {alike.sample.kinds.max() + 1} kinds"
    assert mixed.title == "s, groups not alike"
    assert mixed.by_kind()[0][1].sample is mixed.sample


def with_ones(given: tuple[np.ndarray[Any, np.dtype[np.int16]], Any]) -> tuple[Any, Any, Any]:
    return given[0], np.ones(len(given[0])), given[1]


def test_a_mixture_of_kinds_is_what_enumeration_says() -> None:
    """Every dataset of three people, weighed by each kind in turn, those kept that fit the tables."""
    prior = sample_prior("s", DOMAIN, *with_ones(grouped(2, 30, 8, True)))
    assert len(prior.by_kind()) > 1
    people = EVERY[[0, 3, 10]]
    release = gv.Release.from_frame(frame_of(people), tables=["sex", "age", "work"])
    found = count_release(build_program(release, 10_000)).mixture(prior)
    counts = published_alike(release, people).lo
    weights, matching = [], []
    for dataset in combinations_with_replacement(range(len(EVERY)), 3):
        records = EVERY[list(dataset)]
        if np.array_equal(published_alike(release, records).lo, counts):
            orders = factorial(3) / prod(factorial(dataset.count(one)) for one in set(dataset))
            chances = [(s, chances_of(p.sample, p.orders, records)) for s, p in prior.by_kind() if p.sample]
            weights.append(orders * sum(share * float(np.prod(each)) for share, each in chances))
            matching.append(int((records == people[0]).all(axis=1).sum()))
    exact = np.bincount(matching, weights, minlength=4) / np.sum(weights)
    assert found.distribution(people[:1], 3)[0][:4] == pytest.approx(exact)
    assert found.probabilities(people[:1], np.array([1])) == pytest.approx([exact[1]])
    assert found.shares.sum() == pytest.approx(1)
    assert found.draw(5, np.random.default_rng(1)).shape == (5, 3, 3)


def test_groups_of_a_sample_are_left_out_whole_and_named() -> None:
    rows, groups = grouped(3, 30, 6, True)
    survey = frame_of(rows).assign(group=[f"street {number}" for number in groups])
    release = gv.Release.from_frame(frame_of(drawn(9, 6)), tables=["sex", "age", "work"])
    answer = release.probability(sex="f", age="a", work="yes", sample=survey)
    assert "groups of" in str(answer)
    assert answer.calibration is not None
    assert answer.calibration.blocks == 20
    prior = gv.prior_from_sample(survey, release)
    for block, rest in left_out_blocks(prior, 6, np.random.default_rng(1)):
        assert len(block) == 6
        assert rest.weights.sum() == len(rows) - 6
    with pytest.raises(DataError, match="a record has no group"):
        gv.prior_from_sample(survey.assign(group=[None, *survey["group"][1:]]), release)


def test_few_groups_say_nothing_of_kinds() -> None:
    rows, groups = grouped(4, 3, 5, True)
    sample = sample_of(DOMAIN, rows, np.ones(len(rows)), groups)
    assert sort_groups(sample, fit_orders(sample)).kinds is None
