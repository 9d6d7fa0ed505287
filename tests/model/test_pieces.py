"""Large tables a piece at a time: the same rows and columns as at once."""

from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from genverify.model import tablefiles as pieces
from genverify.model.tablefiles import collect, read_blocks, split_rows, write_pieces


@pytest.fixture
def frame() -> pd.DataFrame:
    return pd.DataFrame({"block": ["a", "a", "b", "c", "c"], "n": pd.array([1, None, 3, 4, 5], dtype="Int16")})


def test_a_frame_is_cut_and_written_and_read_again(frame: pd.DataFrame, tmp_path: Path) -> None:
    cut = list(split_rows(frame, 2))
    assert [len(piece) for piece in cut] == [2, 2, 1]
    assert write_pieces(cut, tmp_path / "x.parquet") == 5
    assert pd.read_parquet(tmp_path / "x.parquet").equals(frame)
    again = pq.ParquetFile(tmp_path / "x.parquet")
    assert [again.read_row_group(group).num_rows for group in range(again.num_row_groups)] == [2, 2, 1]
    assert again.read_row_group(1)["block"].to_pylist() == ["b", "c"]


def test_one_piece_gives_the_bytes_of_pandas(frame: pd.DataFrame, tmp_path: Path) -> None:
    frame.to_parquet(tmp_path / "pandas.parquet", index=False)
    write_pieces([frame], tmp_path / "pieces.parquet")
    assert (tmp_path / "pieces.parquet").read_bytes() == (tmp_path / "pandas.parquet").read_bytes()


def test_long_pieces_become_several_row_groups(frame: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "ROWS_PER_GROUP", 2)
    write_pieces([frame], tmp_path / "x.parquet")
    assert pq.ParquetFile(tmp_path / "x.parquet").num_row_groups == 3


@pytest.mark.parametrize("places", [[0], [1], [0, 0, 1, 0], [1, 0], [0, 0]])
def test_pieces_without_rows_leave_the_columns_alone(frame: pd.DataFrame, tmp_path: Path, places: list[int]) -> None:
    nothing = pd.DataFrame({"block": pd.Series([], dtype="str")})
    rows = write_pieces([frame if place else nothing for place in places], tmp_path / "x.parquet")
    assert rows == 5 * sum(places)
    piece = pd.read_parquet(tmp_path / "x.parquet")
    assert piece.equals(frame) if sum(places) else len(piece) == 0


def test_rows_of_some_blocks(frame: pd.DataFrame, tmp_path: Path) -> None:
    write_pieces(split_rows(frame, 2), tmp_path / "x.parquet")
    assert read_blocks(tmp_path / "x.parquet", {"c", "a"})["n"].tolist() == [1, pd.NA, 4, 5]
    assert len(read_blocks(tmp_path / "x.parquet", set())) == 0


def test_batches_are_collected_in_pieces_as_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = ["a", "b", "c", "d", "e"]
    sample = pd.DataFrame({"block": [*blocks, "b", "d"], "design": ["x"] * 5 + ["y"] * 2})
    paths = [str(tmp_path / f"{batch:03d}.parquet") for batch in range(3)]
    for batch, path in enumerate(paths):
        own = blocks[batch::2] if batch < 2 else []
        pd.DataFrame({"block": [b for b in own for _ in range(2)], "n": range(2 * len(own))}).to_parquet(path)
    (whole,) = collect(sample, paths)
    monkeypatch.setattr(pieces, "BLOCKS_AT_ONCE", 2)
    parts = list(collect(sample, paths))
    assert len(parts) == 4
    assert pd.concat(parts, ignore_index=True).equals(whole)
    assert whole[["block", "design"]].drop_duplicates().to_numpy().tolist() == sample.to_numpy().tolist()
