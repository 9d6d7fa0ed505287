"""How far a run is: counted from logs, one line, the time left from what the last minutes did."""

import io
from pathlib import Path

import pandas as pd
import pytest

from genverify.model.errors import DataError
from genverify.run import progress as watch
from genverify.run.progress import Stage, describe, lines, read_stages


def say(home: Path, rule: str, batch: str, *said: str) -> None:
    log = home / "logs" / "paper" / rule / f"{batch}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text("\n".join(said))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """20 blocks, one of them of two designs; the variant `later` is not tabulated yet."""
    (tmp_path / "results" / "sample").mkdir(parents=True)
    blocks = [*map(str, range(20)), "3"]
    pd.DataFrame({"block": blocks}).to_parquet(tmp_path / "results" / "sample" / "blocks.parquet")
    (tmp_path / "results" / "paper" / "release").mkdir(parents=True)
    (tmp_path / "results" / "paper" / "release" / "schema.json").write_text("{}")
    (tmp_path / "results" / "later").mkdir()
    say(
        tmp_path,
        "generate_datasets",
        "000",
        "4 of 10 blocks generated, 4.0/s, 2 s left",
        "10 of 10 blocks generated, 5.0/s, 0 s left",
    )
    say(tmp_path, "generate_datasets", "001", "2 of 10 blocks generated, 1.0/s, 8 s left")
    return tmp_path


def test_stages_are_counted_from_the_last_word_of_each_log(home: Path) -> None:
    generated, verified = read_stages(home)
    assert generated == Stage("paper", "generated", 12, 20, 12 / (10 / 5 + 2 / 1))
    assert verified == Stage("paper", "verified", 0, 20, 0.0)
    say(home, "measure_variability", "000", "nothing yet")
    assert [stage.name for stage in read_stages(home)] == ["generated", "verified", "measured"]


def test_the_time_left_weighs_the_stages_by_their_cost() -> None:
    """Verifying costs a second a block, generating a tenth: two jobs at work did 20 + 9 blocks, 11 s of work, in 5.5 s."""
    then = [Stage("paper", "generated", 80, 100, 10.0), Stage("paper", "verified", 1, 100, 1.0)]
    now = [Stage("paper", "generated", 100, 100, 10.0), Stage("paper", "verified", 10, 100, 1.0)]
    assert describe(now, then, 5.5) == "55.0 %: 100 generated, 10 verified of 100 blocks; 5.3/s, 45 s left"
    assert describe(now, now, 5.5) == "55.0 %: 100 generated, 10 verified of 100 blocks; rate not known yet"


def test_lines_end_when_all_is_done(home: Path) -> None:
    times = iter([0.0, 10.0, 20.0])

    def pause() -> None:
        stage = "verify_claims" if read_stages(home)[0].done == 20 else "generate_datasets"
        say(home, stage, "001", "10 of 10 blocks done, 2.0/s, 0 s left")
        say(home, stage, "000", "10 of 10 blocks done, 2.0/s, 0 s left")

    said = list(lines(home, pause, lambda: next(times)))
    assert said[0] == "30.0 %: 12 generated, 0 verified of 20 blocks; rate not known yet"
    assert said[1].startswith("50.0 %: 20 generated, 0 verified of 20 blocks; 0.8/s, ")
    assert said[2] == "100.0 %: 20 generated, 20 verified of 20 blocks; all blocks are done"
    assert len(said) == 3


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("stream", "text"), [(Terminal(), "\r\x1b[Ka\r\x1b[Kb\n"), (io.StringIO(), "a\nb\n")])
def test_one_line_on_a_terminal_and_plain_lines_elsewhere(
    stream: io.StringIO, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "lines", lambda *_: iter(["a", "b"]))
    monkeypatch.delenv("NO_COLOR", raising=False)
    watch.watch(Path(), stream)
    assert stream.getvalue() == text


def test_without_colours_no_line_is_written_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "lines", lambda *_: iter(["a", "b"]))
    monkeypatch.setenv("NO_COLOR", "1")
    stream = Terminal()
    watch.watch(Path(), stream)
    assert stream.getvalue() == "a\nb\n"


def test_where_no_study_runs_this_is_said(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no blocks are chosen yet, or no study runs here"):
        read_stages(tmp_path)
