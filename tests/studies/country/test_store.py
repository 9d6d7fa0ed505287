"""The Parquet store of microdata: what is written is what is read, and damage is named."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from genverify.model.domain import EVERY, Column, Domain, Predicate
from genverify.model.errors import DataError
from studies.country import store
from studies.country.store import block_sizes, read_microdata, write_microdata

DOMAIN = Domain((Column("TEN", "tenure", (0, 1, 2), ("", "", "")), Column("VACS", "vacancy", (0, 1), ("", ""))))
A, B, C = "010010201001000", "010010201001001", "560459513003245"
GEOGRAPHY = ["block", "tract", "county", "state"]


def records(*rows: tuple[str, int, int]) -> pa.Table:
    blocks, ten, vacs = zip(*rows, strict=True)
    return pa.table({"block": list(blocks), "TEN": pa.array(ten, pa.int8()), "VACS": pa.array(vacs, pa.int8())})


def write_state(folder: Path, name: str, *blocks: str, **changes: list[str]) -> None:
    columns = {part: [b[:width] for b in blocks] for part, width in store.GEOGRAPHY.items()} | {
        "state": [name] * len(blocks)
    }
    codes = pa.array([0] * len(blocks), pa.int8())
    pq.write_table(pa.table(columns | changes | {"TEN": codes, "VACS": codes}), folder / f"{name}.parquet")


def random_records(rows: int, seed: int = 0) -> pa.Table:
    generator = np.random.default_rng(seed)
    blocks = [f"{state:02d}{block:013d}" for state, block in generator.integers([1, 0], [6, 40], (rows, 2))]
    codes = {c.name: pa.array(generator.choice(c.codes, rows).astype(np.int8)) for c in DOMAIN.columns}
    return pa.table({"block": blocks, **codes})


def test_one_file_per_state_in_row_order(tmp_path: Path) -> None:
    manifest = write_microdata([records((C, 2, 0), (A, 1, 0)), records((B, 0, 1), (A, 2, 0))], tmp_path, DOMAIN)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["01.parquet", "56.parquet"]
    assert manifest["rows"] == 4
    assert {state: entry["rows"] for state, entry in manifest["states"].items()} == {"01": 3, "56": 1}
    assert manifest["states"]["56"]["sha256"] == hashlib.sha256((tmp_path / "56.parquet").read_bytes()).hexdigest()
    table = read_microdata(tmp_path)
    assert table.schema == pa.schema([(name, pa.string()) for name in GEOGRAPHY] + [(n, pa.int8()) for n in DOMAIN.names])
    assert table.to_pylist()[0] == {
        "block": A, "tract": "01001020100", "county": "01001", "state": "01", "TEN": 1, "VACS": 0,
    }  # fmt: skip
    assert table["block"].to_pylist() == [A, B, A, C]
    assert table["TEN"].to_pylist() == [1, 0, 2, 2]


def test_geography_is_dictionary_encoded_in_the_file(tmp_path: Path) -> None:
    write_microdata([random_records(1000)], tmp_path, DOMAIN)
    group = pq.ParquetFile(tmp_path / "01.parquet").metadata.row_group(0)
    assert all(group.column(place).has_dictionary_page for place in range(4))


@pytest.mark.parametrize(("group", "limit"), [(100, 2**20), (250_000, 2000), (40, 500)])
def test_small_buffers_lose_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, group: int, limit: int) -> None:
    monkeypatch.setattr(store, "ROWS_PER_GROUP", group)
    monkeypatch.setattr(store, "BUFFERED_BYTES", limit)
    table = random_records(2000)
    write_microdata([table[:900], table[900:901], table[901:]], tmp_path, DOMAIN)
    order = pa.array(np.argsort(pc.utf8_slice_codeunits(table["block"], 0, 2).to_numpy(), kind="stable"))
    assert read_microdata(tmp_path, ["block", "TEN", "VACS"]).equals(table.take(order).combine_chunks())
    assert pq.ParquetFile(tmp_path / "03.parquet").num_row_groups > 1


def test_a_large_table_is_not_kept_for_the_sake_of_its_last_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "ROWS_PER_GROUP", 40_000)
    held = []

    def tables() -> Iterator[pa.Table]:
        for state in range(1, 13):
            held.append(pa.total_allocated_bytes())
            yield records((f"{state:02d}{A[2:]}", 1, 0)).take(pa.array(np.zeros(400_001, dtype=np.int64)))

    write_microdata(tables(), tmp_path, DOMAIN)
    assert held[-1] - held[5] < 3_000_000


def test_same_tables_same_bytes_and_no_stale_file(tmp_path: Path) -> None:
    first = write_microdata([random_records(500)], tmp_path / "a", DOMAIN)
    assert write_microdata([random_records(500)], tmp_path / "b", DOMAIN) == first
    write_microdata([records((C, 1, 0))], tmp_path / "a", DOMAIN)
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["56.parquet"]


def test_dictionary_encoded_blocks_may_be_given(tmp_path: Path) -> None:
    table = random_records(300)
    encoded = table.set_column(0, "block", table["block"].dictionary_encode())
    assert write_microdata([encoded], tmp_path / "a", DOMAIN) == write_microdata([table], tmp_path / "b", DOMAIN)


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (records((A[:-1], 1, 0)), f"block id '{A[:-1]}' is not 15 digits"),
        (records((A, 0, 0), (A[:-1] + "x", 1, 0)), "block id '01001020100100x' is not 15 digits"),
        (records((A, 0, 0), (B, 7, 0)), f"a record of block {B} has TEN=7, which is not a code of the domain"),
        (records((A, 0, 0)).drop_columns(["TEN"]), "records without column TEN: known: block, VACS"),
        (records((A, 0, 0)).cast(pa.schema({"block": "string", "TEN": "int64", "VACS": "int8"})), "TEN holds int64"),
    ],
)
def test_bad_records_are_not_written(tmp_path: Path, table: pa.Table, expected: str) -> None:
    with pytest.raises(DataError) as caught:
        write_microdata([records((C, 0, 0)), table], tmp_path, DOMAIN)
    assert expected in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_an_error_while_streaming_leaves_the_old_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "ROWS_PER_GROUP", 1)
    before = write_microdata([records((A, 1, 0))], tmp_path, DOMAIN)
    with pytest.raises(DataError, match="is not 15 digits"):
        write_microdata([records((A, 2, 0), (A, 2, 0), ("1", 2, 0))], tmp_path, DOMAIN)
    assert [path.name for path in tmp_path.iterdir()] == ["01.parquet"]
    digest = hashlib.sha256((tmp_path / "01.parquet").read_bytes()).hexdigest()
    assert digest == before["states"]["01"]["sha256"]


def test_no_rows(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no record to write"):
        write_microdata([random_records(10)[:0]], tmp_path, DOMAIN)


def test_read_some_blocks_states_and_columns(tmp_path: Path) -> None:
    write_microdata([records((C, 2, 0), (A, 1, 0), (B, 0, 1))], tmp_path, DOMAIN)
    assert read_microdata(tmp_path, ["TEN", "block"], blocks=[B, C]).to_pydict() == {"TEN": [0, 2], "block": [B, C]}
    assert read_microdata(tmp_path, ["TEN"], states=["01"]).to_pydict() == {"TEN": [1, 0]}
    assert read_microdata(tmp_path, ["TEN"], blocks={A, C}, states=["56"]).to_pydict() == {"TEN": [2]}
    assert read_microdata(tmp_path, ["TEN"], blocks=[]).to_pydict() == {"TEN": []}
    with pytest.raises(DataError, match=r"no file 02.parquet for state 02 \(known: 01, 56\)"):
        read_microdata(tmp_path, blocks=["02" + A[2:]])
    with pytest.raises(DataError, match=r"01.parquet: no column TENN \(did you mean TEN\?"):
        read_microdata(tmp_path, ["TENN"], blocks=[A])


def test_only_the_needed_file_is_opened(tmp_path: Path) -> None:
    write_microdata([records((C, 2, 0), (A, 1, 0))], tmp_path, DOMAIN)
    (tmp_path / "56.parquet").write_bytes(b"damaged")
    assert read_microdata(tmp_path, ["TEN"], blocks=[A]).to_pydict() == {"TEN": [1]}


def test_block_sizes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "ROWS_PER_GROUP", 2)
    table = records((C, 2, 0), (B, 1, 0), (A, 1, 0), (B, 0, 1), (A, 0, 1), (C, 0, 1), (B, 2, 0), ("02" + A[2:], 0, 1))
    write_microdata([table], tmp_path, DOMAIN)
    occupied = block_sizes(tmp_path, Predicate.of({"VACS": [0]}))
    assert list(occupied.columns) == [*GEOGRAPHY, "n"]
    assert occupied.values.tolist() == [
        [A, "01001020100", "01001", "01", 1],
        [B, "01001020100", "01001", "01", 2],
        [C, "56045951300", "56045", "56", 1],
    ]
    assert block_sizes(tmp_path, EVERY)["n"].tolist() == [2, 3, 1, 2]


def sizes_message(folder: Path) -> str:
    with pytest.raises(DataError) as caught:
        block_sizes(folder, Predicate.of({"VACS": [0]}))
    return str(caught.value)


def test_a_block_in_two_states(tmp_path: Path) -> None:
    write_state(tmp_path, "01", A, B)
    write_state(tmp_path, "02", "02" + A[2:], A)
    assert sizes_message(tmp_path).startswith(f"block {A} is in two states (01, 02): ")


def test_a_block_in_the_wrong_file(tmp_path: Path) -> None:
    write_state(tmp_path, "01", B)
    write_state(tmp_path, "02", A)
    assert f"02.parquet: block {A} is of state 01, not of state 02" in sizes_message(tmp_path)


def test_geography_that_contradicts_the_block(tmp_path: Path) -> None:
    write_state(tmp_path, "01", A, B, tract=[A[:11], "01001020200"])
    assert f"01.parquet: block {B} stands with tract 01001020200, which is not the beg" in sizes_message(tmp_path)
    write_state(tmp_path, "01", A, B, state=["01", "02"])
    assert f"01.parquet: block {B} stands with state 02" in sizes_message(tmp_path)


def test_damaged_files(tmp_path: Path) -> None:
    assert "no Parquet file of a state stands here" in sizes_message(tmp_path)
    write_microdata([random_records(3000)], tmp_path, DOMAIN)
    path = tmp_path / "02.parquet"
    whole = path.read_bytes()
    path.write_bytes(whole[:-100])
    assert f"{path}: not a whole Parquet file (" in sizes_message(tmp_path)
    path.write_bytes(b"\xff" * 200 + whole[200:])
    assert f"{path}: not a whole Parquet file (" in sizes_message(tmp_path)
    pq.write_table(random_records(5), path)
    assert f"{path}: no column tract (" in sizes_message(tmp_path)
