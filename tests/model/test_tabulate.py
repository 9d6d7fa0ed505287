"""Tabulated counts: against pandas, against a count record by record, and against totals that must hold."""

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from genverify.attack.generate import generate_block
from genverify.attack.verify import Verdict, verify_block
from genverify.model import tabulate as module
from genverify.model.domain import DomainFile
from genverify.model.release import Schema, build_schema, make_release
from genverify.model.settings import ReleaseSettings
from genverify.model.tabulate import tabulate, tabulate_blocks, tabulate_counts
from genverify.solve.program_settings import ProgramSettings

AGES = ["15-24", "25-34", "35-44", "45-54", "55-59", "60-64", "65-74", "75-84", "85-over"]
RACES = ["white", "black", "aian", "asian", "nhpi", "other-race", "two-races"]
OWNER_RENTER = {1: "owner", 2: "owner", 3: "renter"}


def random_units(census: DomainFile, rows: int, seed: int, vacant: float = 0.15) -> pd.DataFrame:
    """Units in blocks of very different sizes, in no order; a vacant unit holds 0 in every other column."""
    rng = np.random.default_rng(seed)
    codes = census.universe("occupied").codes
    frame = pd.DataFrame(
        {c.name: rng.choice(codes.get(c.name, (0, 1)), rows).astype(np.int8) for c in census.domain.columns}
    )
    empty = rng.random(rows) < vacant
    frame.loc[empty] = 0
    frame["VACS"] = np.where(empty, rng.integers(1, 8, rows), 0).astype(np.int8)
    numbers = (rng.pareto(1.0, rows) * 4).astype(int) % 60
    frame.insert(0, "block", [f"0100102010{number:05d}" for number in numbers])
    return frame


@pytest.fixture(scope="module")
def units(census: DomainFile) -> pd.DataFrame:
    return random_units(census, 3000, 7)


@pytest.fixture(scope="module")
def households(units: pd.DataFrame) -> pd.DataFrame:
    return units[units["VACS"] == 0]


def counts_of(units: pd.DataFrame, census: DomainFile, tables: dict[str, Any], settings: ReleaseSettings) -> pd.DataFrame:
    """Every count, a row per block and a column per query, beside N."""
    schema = build_schema(census, tables, settings)
    keeps = census.universe(settings.universe).keeps
    rows = tabulate_blocks(pa.Table.from_pandas(units, preserve_index=False), keeps, schema, [])
    rows["query"] = rows["query"].astype(str)
    return rows.pivot(index="block", columns="query", values="count")


@pytest.fixture(scope="module")
def paper(
    units: pd.DataFrame, census: DomainFile, census_tables: dict[str, Any], release_settings: ReleaseSettings
) -> pd.DataFrame:
    return counts_of(units, census, census_tables, release_settings)


def same(counts: pd.DataFrame, crossed: pd.DataFrame, ids: dict[Any, str]) -> None:
    """Every line of a table equals its cell of the cross tabulation (absent from it: 0)."""
    for cell, name in ids.items():
        expected = crossed[cell].reindex(counts.index).fillna(0) if cell in crossed else 0 * counts[name]
        assert (counts[name] == expected).all(), name


def test_n_is_the_number_of_households(paper: pd.DataFrame, households: pd.DataFrame) -> None:
    assert paper["N"].to_dict() == households.groupby("block").size().to_dict()
    assert paper.shape == (households["block"].nunique(), 622)


def test_h6_and_p21_equal_crosstab(paper: pd.DataFrame, households: pd.DataFrame) -> None:
    races = pd.crosstab(households["block"], households["THHRACE"])
    same(paper, races, {code: f"H6.{name}" for code, name in enumerate(RACES, 1)})
    children = pd.crosstab(households["block"], households["TP18"])
    same(paper, children, {1: "P21.with-under-18", 0: "P21.no-under-18"})


def test_h13_and_its_iterations_equal_crosstab(paper: pd.DataFrame, households: pd.DataFrame) -> None:
    cells = {(owner, age): f"{owner}.{name}" for owner in ("owner", "renter") for age, name in enumerate(AGES, 1)}
    iterations = {"": households}
    iterations |= {letter: households[households["THHRACE"] == race] for race, letter in enumerate("ABCDEFG", 1)}
    iterations["H"] = households[households["THHSPAN"] == 2]
    iterations["I"] = households[(households["THHSPAN"] == 1) & (households["THHRACE"] == 1)]
    for letter, part in iterations.items():
        crossed = pd.crosstab(part["block"], [part["TEN"].map(OWNER_RENTER), part["THHLDRAGE"]])
        same(paper, crossed, {cell: f"H13{letter}.{line}" for cell, line in cells.items()})


def test_h7_and_h14_equal_crosstab(paper: pd.DataFrame, households: pd.DataFrame) -> None:
    crossed = pd.crosstab(households["block"], [households["THHSPAN"], households["THHRACE"]])
    origins = {1: "not-hispanic", 2: "hispanic"}
    same(paper, crossed, {(o, r): f"H7.{origins[o]}.{name}" for o in origins for r, name in enumerate(RACES, 1)})
    types = ["married", "male-family", "female-family", "male-alone", "male-not-alone", "female-alone", "female-not-alone"]
    broad = pd.cut(households["THHLDRAGE"], [0, 2, 6, 9], labels=["15-34", "35-64", "65-over"]).astype(str)
    crossed = pd.crosstab(households["block"], [households["TEN"].map(OWNER_RENTER), households["HHT"], broad])
    cells = [(o, t, a) for o in ("owner", "renter") for t in range(1, 8) for a in ("15-34", "35-64", "65-over")]
    same(paper, crossed, {(o, t, a): f"H14.{o}.{types[t - 1]}.{a}" for o, t, a in cells})


def test_every_query_equals_a_count_record_by_record(
    census: DomainFile, census_tables: dict[str, Any], release_settings: ReleaseSettings
) -> None:
    units = random_units(census, 40, 3)
    schema = build_schema(census, census_tables, release_settings.but(universe="housing_units"))
    blocks, sizes, counts = tabulate_counts(
        pa.Table.from_pandas(units, preserve_index=False), census.universe("housing_units").keeps, schema
    )
    assert sizes.sum() == 40
    for place, block in enumerate(blocks):
        records = units[units["block"] == block].to_dict("records")
        for number, query in enumerate(schema.queries):
            held = sum(all(record[name] in codes for name, codes in query.predicate.clauses) for record in records)
            assert counts[place, number] == held, (block, query.id)


def table_sums(
    units: pd.DataFrame, census: DomainFile, tables: dict[str, Any], settings: ReleaseSettings, name: str
) -> "pd.Series[int]":
    """The sum of the lines of one table alone, so that no line is left to another table that has it as well."""
    return counts_of(units, census, tables, settings.but(tables=[name])).drop(columns="N").sum(axis=1)


@pytest.mark.parametrize("table", ["P16", "P21", "H3", "H6", "H7", "H9"])
def test_the_lines_of_a_table_add_up_to_n(
    units: pd.DataFrame,
    paper: pd.DataFrame,
    census: DomainFile,
    census_tables: dict[str, Any],
    release_settings: ReleaseSettings,
    table: str,
) -> None:
    assert (table_sums(units, census, census_tables, release_settings, table) == paper["N"]).all()


def test_p19_and_p20_add_up_without_the_lines_that_are_parts_of_others(paper: pd.DataFrame) -> None:
    lines = [name for name in paper if name.startswith("P19.") and not name.endswith("2-or-more")]
    assert len(lines) == 6
    assert (paper[lines].sum(axis=1) == paper["N"]).all()
    lines = [name for name in paper if name.startswith("P20.") and not name.endswith("65-over")]
    assert len(lines) == 12
    assert (paper[lines].sum(axis=1) == paper["N"]).all()


@pytest.mark.parametrize("table", ["H4", "H10", "H11", "H12", "H13", "H14", "H15"])
def test_tenure_tables_add_up_to_n_less_those_who_pay_no_rent(
    units: pd.DataFrame,
    paper: pd.DataFrame,
    households: pd.DataFrame,
    census: DomainFile,
    census_tables: dict[str, Any],
    release_settings: ReleaseSettings,
    table: str,
) -> None:
    without_payment = households[households["TEN"] == 4].groupby("block").size().reindex(paper.index, fill_value=0)
    assert without_payment.sum() > 100
    sums = table_sums(units, census, census_tables, release_settings, table)
    assert (sums == paper["N"] - without_payment).all()
    published = release_settings.but(groups={"renter": [3, 4]})
    assert (table_sums(units, census, census_tables, published, table) == paper["N"]).all()


def test_vacant_units_count_where_the_study_is_about_all_units(
    units: pd.DataFrame, census: DomainFile, census_tables: dict[str, Any], release_settings: ReleaseSettings
) -> None:
    counts = counts_of(units, census, census_tables, release_settings.but(universe="housing_units"))
    vacant = units[units["VACS"] > 0].groupby("block").size().reindex(counts.index, fill_value=0)
    assert counts["N"].to_dict() == units.groupby("block").size().to_dict()
    assert (counts["H3.vacant"] == vacant).all()
    assert (counts["H3.occupied"] == counts["N"] - vacant).all()
    assert (counts[[name for name in counts if name.startswith("H5.")]].sum(axis=1) == vacant).all()
    assert vacant.sum() > 100
    for table in ("P16", "P21", "H6", "H9"):
        lines = [name for name in counts if name.startswith(f"{table}.")]
        assert (counts[lines].sum(axis=1) == counts["H3.occupied"]).all(), table


@pytest.mark.parametrize("rows", [1, 7, 100])
def test_the_size_of_the_chunks_changes_nothing(
    monkeypatch: pytest.MonkeyPatch,
    units: pd.DataFrame,
    paper: pd.DataFrame,
    census: DomainFile,
    census_tables: dict[str, Any],
    release_settings: ReleaseSettings,
    rows: int,
) -> None:
    monkeypatch.setattr(module, "ROWS_AT_ONCE", rows)
    settings = release_settings.but(tables=["H3", "H13*"])
    counts = counts_of(units, census, census_tables, settings)
    pd.testing.assert_frame_equal(counts, paper[list(counts)], check_names=False)


def test_the_order_of_the_records_changes_nothing(
    units: pd.DataFrame,
    paper: pd.DataFrame,
    census: DomainFile,
    census_tables: dict[str, Any],
    release_settings: ReleaseSettings,
) -> None:
    shuffled = units.sample(frac=1, random_state=5)
    pd.testing.assert_frame_equal(counts_of(shuffled, census, census_tables, release_settings), paper)


def test_a_toy_block_by_hand(toy_schema: Schema, toy_records: dict[str, list[tuple[int, int, int]]]) -> None:
    records = np.array([record for block in toy_records.values() for record in block])
    columns = dict(zip(toy_schema.domain.names, records.T, strict=True))
    counts = tabulate(columns, np.array([0, 3]), toy_schema.domain, toy_schema.queries)
    found = [{q.id: int(c) for q, c in zip(toy_schema.queries, row, strict=True) if c} for row in counts]
    assert found[0] == {
        "T1.cat": 1, "T1.dog": 1, "T1.fish": 1, "T1A.cat": 1, "T1A.dog": 1, "T1B.fish": 1,
        "T2.house.young": 1, "T2.house.aged": 1, "T2.flat.middle": 1, "T3.aged": 1,
    }  # fmt: skip
    assert found[1] == {"T1.cat": 4, "T1A.cat": 4, "T2.house.young": 4}


def test_a_toy_block_goes_the_whole_way_to_verified_claims(
    toy_schema: Schema, toy_records: dict[str, list[tuple[int, int, int]]], program_settings: ProgramSettings
) -> None:
    """Cat and dog, young and old are each known to be in the houses, but not who is what: 2 x 2 datasets fit."""
    block = "010010201001000"
    columns = dict(zip(toy_schema.domain.names, np.array(toy_records[block]).T, strict=True))
    counts = tabulate(columns, np.array([0]), toy_schema.domain, toy_schema.queries)[0]
    release = make_release(toy_schema, block, {"N": 3, **{q.id: c for q, c in zip(toy_schema.queries, counts, strict=True)}})
    generated = generate_block(release, program_settings, 10, 1)
    assert (len(generated.records), generated.complete, generated.unique) == (4, True, False)
    found = verify_block(release, generated.records, program_settings, 1)
    star = -1
    assert {(claim.codes, claim.m) for claim in found.claims} == {
        ((1, star, star), 1), ((2, star, star), 1), ((3, star, star), 1), ((star, 1, star), 2), ((star, 2, star), 1),
        ((star, star, 1), 1), ((star, star, 2), 1), ((1, 1, star), 1), ((2, 1, star), 1), ((3, 2, star), 1),
        ((star, 1, 1), 1), ((star, 2, 2), 1), ((3, star, 2), 1), ((3, 2, 2), 1),
    }  # fmt: skip
    assert {decision.verdict for decision in found.decisions} == {Verdict.VERIFIED}
    effective = {claim.codes: k for claim, k in zip(found.claims, found.effective, strict=True)}
    assert effective[(3, 2, 2)] == 1
    assert effective[(1, 1, star)] == 1
    assert effective[(star, 1, 1)] == 1
