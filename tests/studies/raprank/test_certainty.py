"""What rankings suggest and what is proved, on a toy whose blocks are solved by hand, and on a whole toy study."""

import numpy as np
import pandas as pd
import pytest

from genverify.attack.generate import _datasets_frame, generate_block
from genverify.attack.verify import claims_frame, verify_block
from genverify.model.errors import DataError
from genverify.model.release import Schema, make_release
from genverify.model.tabulate import tabulate
from genverify.solve.program_settings import ProgramSettings
from studies.raprank.areas import count_holders
from studies.raprank.rank import (
    GENERATED,
    PROVED,
    RAP,
    _check_full_rows,
    _full_rows,
    _rank_datasets,
    _read_ranking,
    certainty_numbers,
)

NAMES = ["A", "B"]
BLOCK = "010010201001000"


def rows(*codes: tuple[int, int], **columns: object) -> pd.DataFrame:
    frame = pd.DataFrame(codes, columns=NAMES).assign(**columns)  # type: ignore[arg-type]
    return frame.assign(block=BLOCK)


def claims(*entries: tuple[int, int | None, int]) -> pd.DataFrame:
    frame = pd.DataFrame(entries, columns=["A", "B", "m"]).astype({"A": "Int16", "B": "Int16"})
    return frame.assign(block=BLOCK, design="d", k=frame[NAMES].notna().sum(axis=1), proof=0)


def toy_numbers(proof: object = 0) -> pd.DataFrame:
    """Private rows (1, 1) twice and (2, 2); the full row (1, 1) is proved; RAP-RANK is sure of (3, 3), which is wrong."""
    records = rows((1, 1), (1, 1), (2, 2))
    ranked = rows((1, 1), (3, 3), (2, 2), frequency=[8, 4, 1], runs=[4, 4, 1])
    datasets = rows((1, 1), (1, 1), (2, 2), (1, 1), (1, 1), (2, 1), dataset=[0, 0, 0, 1, 1, 1])
    said = claims((1, 1, 2), (1, None, 2), (2, None, 1))
    said = said.assign(proof=pd.array([proof] * len(said), dtype="Int32"))
    return certainty_numbers(records, ranked, datasets, said, NAMES, runs=4, points=2, seed=1)


def values(numbers: pd.DataFrame, part: str, source: str) -> dict[float, float]:
    own = numbers[(numbers["part"] == part) & (numbers["source"] == source)]
    return dict(zip(own["x"], own["value"].round(9), strict=True))


def test_the_best_rows_and_the_proved_ones() -> None:
    numbers = toy_numbers()
    assert values(numbers, "match rate", RAP) == {0.5: 1.0, 1.0: 0.5}
    assert values(numbers, "match rate", PROVED) == {0.5: 1.0, 1.0: 0.5}
    assert values(numbers, "match rate", GENERATED)[0.5] == 1.0


def test_a_row_that_every_run_holds_need_not_be_true() -> None:
    numbers = toy_numbers()
    assert values(numbers, "reliability", RAP) == {0.25: 1.0, 1.0: 0.5}
    assert values(numbers, "reliability", f"{RAP}, {PROVED}") == {0.25: 0.0, 1.0: 0.5}
    assert values(numbers, "reliability", GENERATED) == {0.45: 0.5, 1.0: 1.0}


def test_records_in_verified_claims() -> None:
    numbers = toy_numbers()
    assert values(numbers, "coverage", "in a claim (any m)") == {1: 1.0, 2: round(2 / 3, 9)}
    assert values(numbers, "coverage", "singled out (m = 1)") == {1: round(1 / 3, 9), 2: 0.0}
    recalled = numbers[(numbers["part"] == "coverage") & numbers["x"].isna()].set_index("source")["value"]
    assert recalled[RAP] == pytest.approx(2 / 3)  # (3, 3) takes the second of the two best places


def test_holders_count_a_dataset_once() -> None:
    datasets = np.array([[[1, 1], [1, 1]], [[1, 1], [2, 2]]])
    assert count_holders(np.array([[1, 1], [2, 2], [0, 5]]), datasets).tolist() == [2, 1, 0]
    ranking = _rank_datasets(datasets, 1)
    assert (ranking.ranked.frequency.tolist(), ranking.shares.tolist()) == ([3, 1], [1.0, 0.5])
    assert _read_ranking(rows((1, 1), frequency=[3], runs=[2]), NAMES, 4).shares.tolist() == [0.5]


def test_a_claim_without_proof_is_not_certain() -> None:
    """Those that a solver verified without proof: nothing is proved, and no record is covered."""
    numbers = toy_numbers(proof=pd.NA)
    assert set(values(numbers, "reliability", f"{RAP}, {PROVED}").values()) == {0.0}
    assert set(values(numbers, "coverage", "in a claim (any m)").values()) <= {0.0}


def test_full_rows_come_once() -> None:
    twice = pd.concat([claims((1, 1, 2), (1, None, 2)), claims((1, 1, 2)).assign(design="other")])
    assert _full_rows(twice, NAMES)[[*NAMES, "m"]].to_numpy().tolist() == [[1, 1, 2]]


def test_a_full_row_that_a_dataset_lacks_is_named() -> None:
    datasets = rows((1, 1), (2, 2), (1, 1), (1, 1), dataset=[0, 0, 1, 1])
    _check_full_rows(_full_rows(claims((1, 1, 2)), NAMES), datasets[datasets["dataset"] == 1], NAMES)
    with pytest.raises(DataError, match=r"m = 2.* does not hold in every generated dataset"):
        _check_full_rows(_full_rows(claims((1, 1, 2)), NAMES), datasets, NAMES)


def test_every_verified_full_row_is_in_every_generated_dataset(
    toy_schema: Schema, toy_records: dict[str, list[tuple[int, int, int]]], program_settings: ProgramSettings
) -> None:
    names = list(toy_schema.domain.names)
    found = 0
    for block, records in toy_records.items():
        columns = dict(zip(names, np.array(records).T, strict=True))
        counts = tabulate(columns, np.array([0]), toy_schema.domain, toy_schema.queries)[0]
        known = {"N": len(records)} | {q.id: int(c) for q, c in zip(toy_schema.queries, counts, strict=True)}
        release = make_release(toy_schema, block, known)
        generated = generate_block(release, program_settings, 20, 1)
        verified = verify_block(release, generated.records, program_settings, 1)
        full = _full_rows(claims_frame(verified), names)
        _check_full_rows(full, _datasets_frame({block: generated}, release.schema.domain), names)
        found += len(full)
    assert found >= 1
