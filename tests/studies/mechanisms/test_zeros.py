"""What zeros rule out: counted on a small domain record by record, and told by size and design."""

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import yaml

from genverify.model.domain import DomainFile, Predicate, read_domain
from genverify.model.errors import ConfigError, DataError
from genverify.model.release import Release, Schema, build_schema
from genverify.model.settings import ReleaseSettings
from genverify.model.tabulate import releases_of
from genverify.run.config import parse_config
from genverify.solve.admissible import TooManyTypes, implied_zeros
from studies.mechanisms.zeros import BY_SIZE, LEFT, count_left, draw_sizes, records_left, summarise_left

KEEPS = Predicate.of({"PET": [1, 2, 3]})


@pytest.fixture(scope="module")
def toy_rules(toy: Any, toy_settings: ReleaseSettings) -> Schema:
    """The toy with its structural rule."""
    tables = yaml.safe_load((toy / "tables.yaml").read_text())
    return build_schema(read_domain(toy / "domain.yaml"), tables, toy_settings.but(structural_zeros=True))


def store(records: dict[str, list[tuple[int, int, int]]]) -> pa.Table:
    rows = [(block, *record) for block, own in records.items() for record in own]
    return pa.table(dict(zip(("block", "PET", "HOME", "AGE"), map(list, zip(*rows, strict=True)), strict=True)))


def lies_in(record: dict[str, int], predicate: Predicate) -> bool:
    return all(record[name] in codes for name, codes in predicate.clauses)


def by_hand(release: Release) -> dict[str, list[dict[str, int]]]:
    """The records that are left, each looked at on its own."""
    records = [dict(zip(("PET", "HOME", "AGE"), codes, strict=True)) for codes in product((1, 2, 3), (1, 2), (1, 2, 3, 4))]
    where = {query.id: query.predicate for query in release.queries}
    zero = [q.predicate for q, count in zip(release.queries, release.hi, strict=True) if count == 0]
    published = [r for r in records if not any(lies_in(r, cell) for cell in zero)]
    implied = [r for r in published if not any(
        lies_in(r, where.get(lemma.universe, Predicate(()))) and not any(lies_in(r, where[cell]) for cell in lemma.cells)
        for lemma in implied_zeros(release)
    )]  # fmt: skip
    return {"published": published, "implied": implied,
            "structural": [r for r in implied if not (r["HOME"] == 2 and r["PET"] == 2)]}  # fmt: skip


def test_what_is_left_is_counted_record_by_record(
    toy_schema: Schema, toy_rules: Schema, toy_records: dict[str, list[tuple[int, int, int]]]
) -> None:
    for release in releases_of(store(toy_records), KEEPS, toy_schema):
        found, left = count_left(release, toy_rules.rules, 1000), by_hand(release)
        assert {name: found[name] for name in left} == {name: len(own) for name, own in left.items()}
        assert found["zeros"] == int((release.hi == 0).sum())
        assert found["lemmas"] == len(implied_zeros(release)) > 0
        private = [dict(zip(("PET", "HOME", "AGE"), record, strict=True)) for record in toy_records[release.block]]
        assert all(record in left["structural"] for record in private)


def test_implied_zeros_stand_in_for_withheld_ones(toy_schema: Schema) -> None:
    """Four cats in a house: without a single published zero the totals rule out the rest."""
    (release,) = releases_of(store({"010010201001001": [(1, 1, 1)] * 4}), KEEPS, toy_schema)
    kept = release.lo > 0
    bare = Release(toy_schema, release.block, 4, release.cells[kept], release.lo[kept], release.hi[kept])
    assert count_left(bare, (), 1000) == {"zeros": 0, "lemmas": len(implied_zeros(bare)), "published": 24, "implied": 1,
                                          "structural": 1}  # fmt: skip


def test_households_of_the_study_survive_their_own_zeros(
    census: DomainFile, census_tables: dict[str, Any], release_settings: ReleaseSettings
) -> None:
    schema = build_schema(census, census_tables, release_settings)
    rules = build_schema(census, census_tables, release_settings.but(structural_zeros=True)).rules
    rng, universe = np.random.default_rng(2), census.universe("occupied")
    columns = {c.name: rng.choice(universe.codes.get(c.name, (0, 1)), 6).astype(np.int8) for c in census.domain.columns}
    columns["VACS"][:] = 0
    (release,) = releases_of(pa.table({"block": ["010010201001000"] * 6, **columns}), universe.keeps, schema)
    found = count_left(release, (), 2_000_000)
    distinct = len(set(zip(*(column.tolist() for column in columns.values()), strict=True)))
    assert distinct <= found["implied"] <= found["published"] < 1_185_408
    assert found["structural"] == found["implied"]
    assert count_left(release, rules, 2_000_000)["structural"] < found["implied"]
    assert records_left(schema.domain.restrict({"VACS": [0]}), [], 2_000_000) == 1_185_408


def test_too_many_types_are_refused(toy_schema: Schema, toy_records: dict[str, list[tuple[int, int, int]]]) -> None:
    release = next(releases_of(store(toy_records), KEEPS, toy_schema))
    with pytest.raises(TooManyTypes, match=r"program\.max_types"):
        count_left(release, (), 1)


def test_blocks_are_drawn_by_size() -> None:
    sizes = pd.DataFrame({"block": list("abcdef"), "n": [1, 1, 1, 2, 5, 5]})
    drawn = draw_sizes(sizes, [1, 5], 2, 1)
    assert drawn == draw_sizes(sizes.iloc[::-1], [5, 1], 2, 1)
    assert len(drawn) == 4
    assert {"e", "f"} < set(drawn)
    assert {tuple(draw_sizes(sizes, [1], 2, seed)) for seed in range(20)} == {("a", "b"), ("a", "c"), ("b", "c")}
    with pytest.raises(DataError, match="no block has 4 households; the nearest size is 5"):
        draw_sizes(sizes, [4], 1, 1)


def test_what_is_left_is_told_by_size_and_design() -> None:
    blocks = pd.DataFrame({"block": list("abc"), "n": [2, 2, 3], "zeros": 5, "lemmas": 1, "published": [10, 20, 50],
                           "implied": [4, 8, 9], "structural": [1, 3, 9]})  # fmt: skip
    sample = pd.DataFrame({"block": ["a", "c"], "design": ["two", "two"]})
    found = summarise_left(blocks, sample, 100).set_index(["blocks_of", "households", "known"])
    two = found.loc[(BY_SIZE, 2.0, LEFT["published"])]
    assert two[["blocks", "least", "median", "most", "left_percent", "ruled_out_percent"]].tolist() == [
        2,
        10,
        15,
        20,
        15,
        85,
    ]
    assert two[["lower_quartile", "upper_quartile"]].tolist() == [12.5, 17.5]
    assert found.loc[("two", 2.5, LEFT["structural"]), "median"] == 5
    assert len(found) == 3 * 3


@pytest.mark.parametrize(
    ("section", "name", "value", "words"),
    [
        ("randomized_response", "epsilons", [0.5, 0.0], "privacy.randomized_response.epsilons = 0.0"),
        ("randomized_response", "mu", 1.0, "privacy.randomized_response.mu = 1.0"),
        ("randomized_response", "proportions", [1.5], "privacy.randomized_response.proportions = 1.5"),
        ("randomized_response", "simulations", 1, "privacy.randomized_response.simulations = 1"),
        ("matrix_mechanism", "by_table", -1.0, "privacy.matrix_mechanism.by_table = -1.0"),
        ("matrix_mechanism", "epsilon", 1.0, "unknown setting privacy.matrix_mechanism.epsilon: did you mean epsilons?"),
        ("zeros", "households", [0], "privacy.zeros.households = 0"),
    ],
)
def test_bad_settings_are_named(config: dict[str, Any], section: str, name: str, value: Any, words: str) -> None:
    config["privacy"][section][name] = value
    with pytest.raises(ConfigError) as error:
        parse_config(config)
    assert words in str(error.value)
