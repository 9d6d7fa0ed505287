"""Counts that cannot exist, against every dataset of small releases; and a PPMF file checked before it is read."""

from pathlib import Path
from random import Random

import numpy as np
import pandas as pd
import pytest

import brute_force as brute
from genverify.attack.verify import Verifier
from genverify.model.errors import DataError
from genverify.solve.program_settings import DEFAULT
from studies.country.ppmf import check_layout
from studies.gtv.impossible_counts import _draw_assignments, excluded_of_block, excluded_table, multiplicities
from studies.gtv.settings import Excluded
from toy_release import toy_release


@pytest.mark.parametrize("seed", range(12))
def test_possible_counts_are_those_of_all_datasets(seed: int) -> None:
    random = Random(seed)
    release = brute.some_release(random)
    truth, verifier = brute.Truth(release), Verifier(DEFAULT.bounder(release))
    for codes in random.sample(brute.every_assignment(release.schema.domain), 4):
        found = multiplicities(verifier, codes, (), DEFAULT)
        assert set(found.possible) == set(truth.counts(codes))
        assert not found.undecided
        assert len(found.possible) + len(found.gaps) + found.outside == release.n + 1


def test_pairs_add_up_in_the_table() -> None:
    release = toy_release(4)
    datasets = np.array([[[0, 0, 0], [1, 1, 1], [0, 1, 1], [1, 1, 0]], [[0, 0, 0], [1, 1, 1], [1, 1, 1], [1, 1, 0]]])
    own = Excluded(columns=[1, 3], assignments=3, every=1)
    table = excluded_table(excluded_of_block(release, datasets, own, DEFAULT, 1), "synthetic")
    assert table["k"].tolist() == [1, 3]
    parts = table[["outside", "gaps", "possible", "undecided"]].sum(axis=1)
    assert parts.tolist() == table["pairs"].tolist() == (5 * table["assignments"]).tolist()


def test_assignments_are_distinct_and_of_records_that_were_seen() -> None:
    datasets = np.array([[[1, 2, 3], [4, 5, 6]]])
    drawn = _draw_assignments(datasets, 2, 10, np.random.default_rng(1))
    assert len(set(drawn)) == len(drawn) == 6
    assert all(sum(code != -1 for code in codes) == 2 for codes in drawn)


DOMAIN = """
columns:
  TEN: {label: tenure, codes: {1: owner, 2: renter}}
"""
ROW = {"RTYPE": 2, "TABBLKST": "01", "TABBLKCOU": "001", "TABTRACTCE": "000100", "TABBLK": "1000", "TEN": 1}


def ppmf(folder: Path, **names: str) -> Path:
    rows = pd.DataFrame([ROW, {**ROW, "TABBLKST": "02"}, {**ROW, "RTYPE": 4}]).rename(columns=names)
    (folder / "domain.yaml").write_text(DOMAIN)
    rows.to_csv(folder / "units.csv", index=False, sep="|")
    return folder / "units.csv"


def test_a_file_in_the_layout_is_described(tmp_path: Path) -> None:
    lines = list(check_layout(ppmf(tmp_path), tmp_path / "domain.yaml", persons=False, rows=0))
    assert "unit file, 6 columns separated by '|'" in lines[0]
    assert "2 records: 2 blocks in 2 states; left out: {'group quarters': 1}" in lines[2]
    assert "TEN 2" in lines[3]


def test_every_missing_column_is_listed_with_the_nearest_one(tmp_path: Path) -> None:
    path = ppmf(tmp_path, TEN="TENURE", TABBLKST="STATE")
    said = r"no column TABBLKST: did you mean TABBLK.*; no column TEN: did you mean TENURE.*Rename what is there"
    with pytest.raises(DataError, match=said):
        list(check_layout(path, tmp_path / "domain.yaml", persons=False, rows=0))
