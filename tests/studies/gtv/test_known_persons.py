"""The trial on known records: by hand on a few persons; on real reconstructed records where they are there."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from genverify.model.claims import ANY
from genverify.model.errors import DataError
from genverify.model.files import read_yaml
from genverify.model.query import groups_of
from genverify.model.release import Schema, read_study
from genverify.model.settings import ReleaseSettings
from genverify.run.config import read_shipped
from genverify.solve.program_settings import ProgramSettings
from studies.country.store import KnownBlock, known_blocks, read_as, read_person_records
from studies.gtv.known_persons import ProvedClaims, _tally, sum_up, try_blocks
from studies.raprank.rank import mean_match_rate
from studies.raprank.settings import RapSettings

A, B = "010010201001000", "010010201001001"


@pytest.fixture(scope="module")
def schema(root: Path) -> Schema:
    """The block-level person tables."""
    settings = ReleaseSettings(**read_shipped(root)["persons"]["release"])
    tables = str(root / settings.tables_file)
    return read_study(root / "data" / "census" / "persons.yaml", settings.but(tables_file=tables))


@pytest.fixture(scope="module")
def rap_settings(root: Path) -> RapSettings:
    return RapSettings(**read_shipped(root)["raprank"]["rap"])


def both_readings(schema: Schema, records: pd.DataFrame, root: Path) -> list[tuple[Schema, pd.DataFrame]]:
    text = read_yaml(root / "data" / "census" / "person_tables.yaml")
    return [read_as(schema, records, groups_of(text, schema.domain, name)) for name in (None, "ages")]


def people() -> pd.DataFrame:
    """A block of a man of 30 and a woman of 20 (the one age that is a band), and one of twins of 8."""
    rows = [(A, 1, 30, 1, 1), (A, 2, 20, 1, 1), (B, 1, 8, 1, 2), (B, 1, 8, 1, 2)]
    return pd.DataFrame(rows, columns=["block", "QSEX", "QAGE", "CENHISP", "CENRACE"])


def test_blocks_are_tabulated_one_by_one(schema: Schema) -> None:
    one, two = known_blocks(people(), schema, 30)
    assert (one.release.block, one.release.n, two.release.n) == (A, 2, 2)
    assert one.release.lo[schema.position["P12.female.20"]] == 1
    assert two.release.lo[schema.position["P12B.male.5-9"]] == 2
    assert two.records.tolist() == [[1, 8, 1, 2], [1, 8, 1, 2]]
    with pytest.raises(DataError, match="no block has up to 1 records"):
        list(known_blocks(people(), schema, 1))


def test_a_tally_by_hand(schema: Schema) -> None:
    """Claims: one male (true), a woman of 20 (true), nobody is White (false, two are), somebody aged 30 (true)."""
    known = next(known_blocks(people(), schema, 30))
    codes = [[1, ANY, ANY, ANY], [2, 20, ANY, ANY], [ANY, ANY, ANY, 1], [ANY, 30, ANY, ANY]]
    proved = ProvedClaims(np.array(codes, dtype=np.int16), np.array([1, 1, 1, 1]), np.array([0, 1, 2, 0]), Counter({2: 3}))
    found = _tally(known, proved).set_index("k")
    assert found["claims"].tolist() == [4, 3, 1, 0, 0]
    assert found["proofs"].tolist() == [3, 2, 1, 0, 0]
    assert found["false_claims"].tolist() == [1, 1, 0, 0, 0]
    assert found["singled_out"].tolist() == [2, 2, 1, 0, 0]
    assert found["undecided"].tolist() == [3, 0, 3, 0, 0]
    total = sum_up([found.reset_index(), found.reset_index()])
    assert total["k"].tolist() == ["1", "2", "3", "4", "any"]
    assert total["persons"].tolist() == [4] * 5
    assert total["share_singled_out"].tolist() == [1.0, 0.5, 0.0, 0.0, 1.0]


def test_years_are_rarely_proved_and_bands_often(schema: Schema, root: Path, program_settings: ProgramSettings) -> None:
    """Age 20 is a band of its own: the woman of 20 is known in full, the man by all but his age; the twins are two."""
    years, bands = (
        pd.concat(try_blocks(known_blocks(records, own, 30), program_settings, 20, 1, 1)).groupby(["block", "k"]).sum()
        for own, records in both_readings(schema, people(), root)
    )
    assert years["singled_out"][A].tolist() == [2, 2, 2, 2, 1]
    assert bands["singled_out"][A].tolist() == [2, 2, 2, 2, 2]
    for found in (years, bands):
        assert found["singled_out"][B].tolist() == [0] * 5
        assert found["false_claims"].sum() == found["undecided"].sum() == 0
    assert bands["claims"][B].tolist() == [15, 4, 6, 4, 1]  # all subsets of the four columns, with m = 2


def test_the_same_answers_are_attacked_once(
    schema: Schema, program_settings: ProgramSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []

    def proved(release: Any, *_: Any) -> ProvedClaims:
        calls.append(release.block)
        return ProvedClaims(np.zeros((0, 4), np.int16), np.zeros(0, np.int64), np.zeros(0, np.int64), Counter())

    monkeypatch.setattr("studies.gtv.known_persons.prove", proved)
    records = pd.concat([people(), people().assign(block=lambda frame: "56" + frame["block"].str.slice(2))])
    found = list(try_blocks(known_blocks(records, schema, 30), program_settings, 20, 1, 1))
    assert calls == [A, B]
    assert [part["block"].iloc[0][:2] for part in found] == ["01", "01", "56", "56"]


def test_a_block_known_in_full_is_ranked_first(schema: Schema, root: Path, rap_settings: RapSettings) -> None:
    """In bands the twins are the only dataset that fits: RAP-RANK's first row is theirs, and u = 1."""
    coarse, records = both_readings(schema, people(), root)[1]
    twins: list[KnownBlock] = [known for known in known_blocks(records, coarse, 30) if known.release.block == B]
    assert mean_match_rate(twins, len(twins), 3, rap_settings, 1) == {
        "ranked_blocks": 1,
        "ranked_persons": 2,
        "runs": 3,
        "match_rate": 1.0,
    }


def test_claims_are_true_of_real_reconstructed_records(
    root: Path, schema: Schema, program_settings: ProgramSettings
) -> None:
    """Twelve blocks of 5 to 30 persons, of every size in turn: no contradiction, certificates accepted, no false claim."""
    path = root.parent / "shared" / "data" / "persons-unique.csv.gz"
    if not path.is_file():
        pytest.skip("no ../shared/data/persons-unique.csv.gz beside the repository")
    records = read_person_records(path, schema.domain)
    sizes = records.groupby("block").size()
    chosen = sizes[sizes.between(5, 30)].sort_values(kind="stable").index[::100]
    few = records[records["block"].isin(set(chosen))]
    for own, coded in both_readings(schema, few, root):
        total = sum_up(try_blocks(known_blocks(coded, own, 30), program_settings, 20, 1, 1)).set_index("k")
        assert total["blocks"]["any"] == len(chosen) >= 10
        assert total["false_claims"]["any"] == 0
        assert total["claims"]["any"] > 100
        assert total["singled_out"]["any"] > 0
