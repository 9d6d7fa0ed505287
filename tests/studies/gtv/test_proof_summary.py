"""The summary of proofs on a study made by hand."""

import pandas as pd
import pytest

from genverify.checker.record_proofs import CheckSummary
from genverify.checker.stored import CheckedBlock
from genverify.model.domain import Column, Domain, Predicate
from genverify.model.query import Query
from genverify.model.release import Schema, make_release
from studies.gtv.tables import proof_summary

SCHEMA = Schema(
    Domain((Column("A", "A", (0, 1), ("no", "yes")),)),
    (),
    (Query("A0", "T", "A0", Predicate.of({"A": [0]})), Query("A1", "T", "A1", Predicate.of({"A": [1]}))),
)

NOTHING = CheckSummary(0, 0, 0, (), False)  # the summary counts what the proofs hold


def test_figures_are_counted_once_per_block_and_half() -> None:
    release = make_release(SCHEMA, "b", {"N": 2, "A0": 0, "A1": 2})
    leaf = {"kind": "bound", "y": {"A1": 1, "A0": 3, "N": 1}}
    fork = {"where": {"A": [1]}, "at": 0, "below": {"kind": "empty", "y": {}, "w": [1]}, "above": {**leaf, "d": 2, "w": [0]}}
    proofs = {
        "block": "b",
        "lemmas": [],
        "statements": [{"goal": "exactly", "where": {"A": 1}, "m": 2, "proof": 0}],
        "proofs": [{"lower": leaf, "upper": fork}],
    }
    counts = {"candidates_k1": 4, "verified_k1": 3, "refuted_k1": 1, "undecided_k1": 0, "uncertified_k1": 0}
    row = {"block": "b", "decided_lp": 3, "decided_ip": 1, **counts}
    table = proof_summary(pd.DataFrame([row, row]), [CheckedBlock(release, proofs, NOTHING)]).set_index("figure")["value"]
    assert table["blocks"] == 1
    assert table["candidates claims"] == 4
    assert table["verified claims with a checked proof"] == 1
    assert table["% decided by integer search"] == pytest.approx(25)
    assert table["proofs (two halves each)"] == 1
    assert table["% of halves that branch"] == pytest.approx(50)
    assert table["mean number of positive cells in a half"] == pytest.approx(1)
    assert table["% of halves with denominator 1"] == pytest.approx(50)
