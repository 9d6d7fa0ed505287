"""Queries that publish the sum of a column (persons, children) beside counts."""

from pathlib import Path

import numpy as np
import pytest

from certificates import check
from genverify.attack.generate import generate_block
from genverify.attack.onehot import OneHot
from genverify.checker.certificate import CertificateError
from genverify.model.domain import EVERY, parse_domain
from genverify.model.errors import DataError, ReleaseError
from genverify.model.query import Query
from genverify.model.release import Release, Schema, build_schema, make_release, read_schema, write_schema
from genverify.model.settings import ReleaseSettings
from genverify.model.tabulate import tabulate
from genverify.protect.publishing import Publishing, publish
from genverify.solve.program import build_program
from genverify.solve.program_settings import DEFAULT

DOMAIN = {"columns": {"OWN": {"codes": {0: "rents", 1: "owns"}}, "SIZE": {"range": [0, 5], "unit": "persons"}}}
TABLES = {
    "groups": {"owners": {"OWN": [1]}, "renters": {"OWN": [0]}},
    "tables": {"H": {"lines": ["owners", "renters"]}, "P": {"lines": ["owners", "renters"], "sums": "SIZE"}},
}
SETTINGS = ReleaseSettings(
    tables_file="", universe="everything", structural_zeros=False, tables="all", groups={}, withhold=[]
)
PROGRAM = DEFAULT.but(max_types=1000, iterations=10_000, nodes=100, leaves=100, seconds=10.0)


def schema() -> Schema:
    return build_schema(parse_domain(DOMAIN), TABLES, SETTINGS)


def release(**counts: int) -> Release:
    return make_release(schema(), "b", {name.replace("_", "."): count for name, count in counts.items()})


def test_a_table_that_sums_a_column_is_read_tabulated_and_stored(tmp_path: Path) -> None:
    found = schema()
    assert [query.sums for query in found.queries] == [None, None, "SIZE", "SIZE"]
    records = {"OWN": np.array([1, 1, 0, 0, 1]), "SIZE": np.array([2, 3, 5, 0, 4], dtype=np.int8)}
    counts = tabulate(records, np.array([0, 3]), found.domain, found.queries)
    assert counts.tolist() == [[2, 1, 5, 5], [1, 1, 4, 0]]
    write_schema(found, tmp_path / "schema.json")
    assert read_schema(tmp_path / "schema.json") == found


def test_the_program_adds_up_codes() -> None:
    program = build_program(release(N=3, H_owners=2, H_renters=1, P_owners=9, P_renters=1), 1000)
    row = program.A[program.rows.index("P.owners")]
    assert sorted(row.tolist()) == [0] * 6 + [0, 1, 2, 3, 4, 5]
    datasets = generate_block(release(N=3, H_owners=2, H_renters=1, P_owners=9, P_renters=1), PROGRAM, 10, 1).records
    assert [sorted(map(tuple, one.tolist())) for one in datasets] == [[(0, 1), (1, 4), (1, 5)]]


def test_a_sum_of_zero_leaves_only_records_that_add_nothing() -> None:
    program = build_program(release(N=2, H_owners=1, H_renters=1, P_owners=0, P_renters=3), 1000)
    sizes = [program.types.atoms[1][place][0] for own, place in program.types.table.tolist() if own == 1]
    assert sizes == [0]


def test_a_lemma_must_not_rest_on_a_sum() -> None:
    text = {"block": "b", "lemmas": [{"universe": "N", "cells": ["P.owners"]}], "proofs": [], "claims": []}
    with pytest.raises(CertificateError, match="counts no records"):
        check(release(N=2, P_owners=2), text)


def test_what_cannot_take_sums_says_so() -> None:
    known = release(N=2, P_owners=2)
    with pytest.raises(ReleaseError, match=r"P.owners is a sum over records.*compact"):
        OneHot(known)
    with pytest.raises(DataError, match="counts only"):
        publish(known, Publishing(suppress=3), np.random.default_rng(0))
    with pytest.raises(DataError, match="no column 'SIZES'"):
        build_schema(parse_domain(DOMAIN), {**TABLES, "tables": {"P": {"lines": ["owners"], "sums": "SIZES"}}}, SETTINGS)


def test_a_multiplier_that_could_overflow_is_refused() -> None:
    column = parse_domain({"columns": {"SIZE": {"range": [0, 5]}}}).domain
    known = Release(
        Schema(column, (), (Query("P", "P", "persons", EVERY, "SIZE"),)), "b", 1, *(np.array([x]) for x in (0, 5, 5))
    )
    text = {"block": "b", "lemmas": [], "proofs": [], "claims": [], "contradiction": {"kind": "empty", "y": {"P": 2**30}}}
    with pytest.raises(CertificateError, match="too large"):
        check(known, text)


def test_a_search_that_would_go_too_deep_is_left_undecided() -> None:
    """Households of 0, 2 and 4 persons: no dataset has an odd sum, and each branch takes one step towards that."""
    column = {"codes": {0: "none", 2: "two", 4: "four"}}
    own = build_schema(
        parse_domain({"columns": {"SIZE": column}}),
        {"groups": {"people": {"SIZE": [2, 4]}}, "tables": {"P": {"lines": ["people"], "sums": "SIZE"}}},
        SETTINGS,
    )
    settings = PROGRAM.but(nodes=10_000, leaves=10_000, seconds=60.0)
    few, many = (make_release(own, "b", {"N": n, "P.people": 2 * n + 1}) for n in (20, 2000))
    shallow, deep = (settings.bounder(one).at_most(np.zeros(3, dtype=np.int64), -1) for one in (few, many))
    assert shallow.proof is not None
    assert (deep.proof, deep.limit, deep.decided) == (None, "depth limit", False)
