"""Earlier releases beside a new one, and the risk file of a team: synthetic tables."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import genverify as gv
from genverify.cli import main
from genverify.model.errors import ConfigError, DataError

SYMBOL = {"*": "suppressed"}


def files(folder: Path, **texts: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.csv").write_text(text)
    return folder


def table(rows: dict[str, tuple[object, ...]], columns: str = "women,men,Total", of: str = "clinic") -> str:
    return f"{of},{columns}\n" + "".join(f"{name},{','.join(map(str, own))}\n" for name, own in rows.items())


NOW = table({"North": ("*", "*", 7), "South": ("*", "*", 9), "Total": (8, 8, 16)})  # safe by itself
BEFORE = table({"North": (3, "*", 7), "South": ("*", "*", 9)})


def unsafe(found: Any) -> set[str]:
    return {row["cell"] for row in found.answer["unsafe_cells"]}


def test_a_count_that_was_printed_before_is_known(tmp_path: Path) -> None:
    """Suppressed now, printed earlier: all four cells follow, only with that file; the earlier table cannot be changed."""
    out, old = files(tmp_path / "out", t=NOW), files(tmp_path / "old", t=BEFORE)
    assert gv.disclose(out, symbol=SYMBOL).safe is True
    found = gv.disclose(out, symbol=SYMBOL, previous=old)
    assert (found.safe, len(unsafe(found))) == (False, 4)
    assert found.answer["previous"] == {"old/t.csv": sorted(unsafe(found))}
    assert found.answer["tables"] == 1
    assert found.answer["printed_cells"] == 9
    assert any("3 was printed at old/t.csv, B2" in line for line in found.reasons())
    assert any("4 cells are unsafe only with earlier releases: old/t.csv." in line for line in found.lines())
    # what was printed before cannot be suppressed any more: no proposal names it, and this cell stays known
    assert "clinic=North, columns=women" in found.answer["still_unsafe"]
    assert not set(found.answer["suppress"]) & {"clinic=North, columns=women", "clinic=North", "clinic=South"}
    assert "earlier release: t (2) (old/t.csv)" in found.source.understood


def test_each_earlier_file_is_named_with_what_it_gives_away(tmp_path: Path) -> None:
    out = files(tmp_path / "out", t=NOW)
    old = files(
        tmp_path / "old", total="clinic,n\nNorth,7\nSouth,9\nTotal,16\n", cut=table({"North": ("*", 4)}, "women,men")
    )
    other = files(tmp_path / "other", u=table({"South": ("5", "*")}, "women,men"))
    found = gv.disclose(out, symbol=SYMBOL, previous=[old, other / "u.csv"])
    given = found.answer["previous"]
    assert given["old/total.csv"] == []
    assert given["old/cut.csv"] == given["other/u.csv"] == sorted(unsafe(found))


def test_two_earlier_files_that_only_tell_something_together(tmp_path: Path) -> None:
    """a + b + c = 10 with all three suppressed: two files with one of the others each leave one."""
    now = table({"one": ("*",), "two": ("*",), "three": ("*",), "Total": (10,)}, "n", "who")
    old = files(tmp_path / "old", b="who,n\ntwo,3\n", c="who,n\nthree,5\n")
    found = gv.disclose(files(tmp_path / "out", t=now), symbol=SYMBOL, previous=old)
    assert found.answer["previous"] == {
        "old/b.csv": ["who=two"], "old/c.csv": ["who=three"], "old/b.csv and old/c.csv": ["who=one"],
    }  # fmt: skip


def test_differencing_of_two_outputs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """acro 117: the table of all was released; the new one leaves a small group out. The difference is that group."""
    everyone = table({"2019": (12, 30, 42), "2020": (15, 31, 46), "Total": (27, 61, 88)}, "grant,loan,Total", "year")
    fewer = table({"2019": (12, 30, 42), "2020": (14, 31, 45), "Total": (26, 61, 87)}, "grant,loan,Total", "year")
    out, old = files(tmp_path / "out", without=fewer), files(tmp_path / "old", all=everyone)
    words = ["disclose", str(out), "--previous", str(old), "--fail-on", "exact", "--json"]
    assert main(words) == 2
    message = json.loads(capsys.readouterr().out)["error"]["message"]
    assert "old/all.csv, B3 prints '15' and without.csv, B3 prints '14' for the same people" in message
    assert "leave the older of the two out of --previous (old/all.csv)" in message
    assert "--inside SMALL=LARGE" in message
    assert main([*words, "--inside", "without=all"]) == 1
    answer = json.loads(capsys.readouterr().out)
    known = {row["cell"] for row in answer["unsafe_cells"]}
    assert "columns=grant, in without=not yes, year=2020" in known
    assert set(answer["previous"]["old/all.csv"]) == known


def test_a_border_that_moved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Last year A and B, this year A1 = A and a strip of B: the people of the strip are the difference."""
    folder = files(tmp_path, new=table({"A1": (23, 31, 54), "B1": (40, 45, 85), "Total": (63, 76, 139)}, of="area"),
                   old=table({"A": (21, 28, 49), "B": (42, 48, 90), "Total": (63, 76, 139)}, of="area"))  # fmt: skip
    (folder / "border.yaml").write_text(
        "printed: new.csv\nprevious: [old.csv]\ntables:\n"
        "  new: {sums: {area: {Total: [A1, B1], A1: [A, strip], A: [], strip: []}}}\n"
        "  old: {sums: {area: {Total: [A, B], B: [strip, B1], strip: [], B1: []}}}\n"
    )
    assert main(["disclose", str(folder / "border.yaml"), "--fail-on", "exact", "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    cells = {row["cell"]: row["lower"] for row in answer["unsafe_cells"]}
    assert cells == {"area=strip, columns=women": 2, "area=strip, columns=men": 3}
    assert list(answer["previous"].values()) == [sorted(cells)]
    assert main(["disclose", "--check", str(folder / "audit")]) == 0
    assert main(["disclose", str(folder / "new.csv"), "--fail-on", "exact", "--out", str(tmp_path / "alone")]) == 0


@pytest.mark.parametrize("seed", range(40))
def test_random_earlier_releases_against_brute_force(seed: int, tmp_path: Path) -> None:
    """A 2 x 2 table with totals, some cells suppressed now and others earlier: known is what all tables that fit share."""
    draw = np.random.default_rng(seed)
    counts = draw.integers(0, 4, (2, 2))
    whole = np.block([[counts, counts.sum(1, keepdims=True)], [counts.sum(0), counts.sum()]])
    printed = [draw.random((3, 3)) < 0.6 for _ in range(2)]
    both = printed[0] | printed[1]
    if both.all(axis=1).sum() == 0 or not printed[0].any() or not printed[1].any():
        both = np.ones((3, 3), dtype=bool)
        printed = [both, both]
    names = ["North", "South", "Total"]
    texts = [
        table({name: tuple(int(n) if p else "*" for n, p in zip(*own, strict=True))
               for name, *own in zip(names, whole, flags, strict=True)})
        for flags in printed
    ]  # fmt: skip
    found = gv.disclose(files(tmp_path / "out", t=texts[0]), previous=files(tmp_path / "old", t=texts[1]),
                        **({"symbol": SYMBOL} if not all(own.all() for own in printed) else {}))  # fmt: skip
    bound = int(whole.max()) + 1 if both.any() else 0
    fits = []
    for four in np.ndindex(*(bound + 3,) * 4):
        own = np.array(four).reshape(2, 2)
        full = np.block([[own, own.sum(1, keepdims=True)], [own.sum(0), own.sum()]])
        if (full[both] == whole[both]).all():
            fits.append(full)
    same = np.all([own == fits[0] for own in fits], axis=0)
    assert found.answer["suppressed_known_exactly"] == int((same & ~printed[0]).sum())


def test_earlier_releases_that_contradict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Revised: no cell is printed twice, and yet the sums do not fit; also where partial answers are allowed."""
    out = files(tmp_path / "out", t=table({"a": ("*",), "b": ("*",), "Total": (10,)}, "n", "who"))
    old = files(tmp_path / "old", v="who,n\na,7\nb,8\n")
    with pytest.raises(DataError, match=r"contradict each other.*Was old/v\.csv revised\? Then leave it out of --previous"):
        gv.disclose(out, symbol=SYMBOL, previous=old)
    with pytest.raises(DataError, match=r"Was old/v\.csv revised"):
        gv.disclose(out, symbol=SYMBOL, previous=old, allow_partial=True)
    other = files(tmp_path / "other", w="who,n\nTotal,11\n")
    with pytest.raises(DataError, match=r"'11' and t\.csv, B4 prints '10'.*leave the older of the two out"):
        gv.disclose(out, symbol=SYMBOL, previous=other, allow_partial=True)


def test_bad_paths(tmp_path: Path) -> None:
    out = files(tmp_path / "out", t=NOW)
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="empty: holds no file of tables"):
        gv.disclose(out, symbol=SYMBOL, previous=tmp_path / "empty")
    with pytest.raises(DataError, match="no such file or folder"):
        gv.disclose(out, symbol=SYMBOL, previous=tmp_path / "none")
    (tmp_path / "r.yaml").write_text("reading: 1\nfiles: []\n")
    with pytest.raises(ConfigError, match="is a reading file"):
        gv.disclose(out, symbol=SYMBOL, previous=tmp_path / "r.yaml")


def test_frames_and_readings_take_earlier_releases_and_can_be_checked(tmp_path: Path) -> None:
    old = files(tmp_path / "old", t=BEFORE)
    frame = pd.DataFrame([line.split(",") for line in NOW.splitlines()[1:]], columns=NOW.splitlines()[0].split(","))
    found = gv.disclose(frame, symbol=SYMBOL, previous=old)
    assert len(unsafe(found)) == 4
    found.write(tmp_path / "audit")
    assert main(["disclose", "--check", str(tmp_path / "audit")]) == 0
    (old / "t.csv").write_text(BEFORE.replace("3", "2"))
    assert main(["disclose", "--check", str(tmp_path / "audit")]) == 2


def test_a_written_reading_names_the_earlier_release(tmp_path: Path) -> None:
    out, old = files(tmp_path / "out", t=NOW), files(tmp_path / "old", t=BEFORE)
    gv.disclose(out, symbol=SYMBOL, previous=old, write=tmp_path / "out/r.yaml")
    assert "previous" in (tmp_path / "out/r.yaml").read_text()
    assert len(unsafe(gv.disclose(tmp_path / "out/r.yaml"))) == 4


# the risk file

RISK = """\
minimum_frequency: 3
symbols: {"*": suppressed, "..": missing}
previous: [old]
exempt:
- {cell: "clinic=North, columns=men", who: a data owner, why: published by law}
"""


@pytest.fixture
def team(tmp_path: Path) -> Path:
    files(tmp_path / "out", t=NOW, u="age,n\n0-9,2\n10+,14\nTotal,16\n")
    files(tmp_path / "old", t=BEFORE)
    (tmp_path / "risk.yaml").write_text(RISK)
    return tmp_path


def test_a_risk_file_decides(team: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["disclose", str(team / "out"), "--risk", str(team / "risk.yaml"), "--json"]
    assert main(words) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["fail_on"] == "exact,count<3"
    cells = {row["cell"] for row in answer["unsafe_cells"]}
    assert len(cells) == 4
    assert "age=0-9" in cells
    assert answer["exempt"] == [{"cell": "clinic=North, columns=men", "who": "a data owner", "why": "published by law"}]
    assert answer["by_table"] == {"t": {"file": "t.csv", "unsafe": 3}, "u": {"file": "u.csv", "unsafe": 1}}
    assert main(["disclose", "--check", str(team / "out/audit")]) == 0
    capsys.readouterr()
    (team / "old/t.csv").write_text(NOW)  # an earlier release that says no more
    (team / "risk.yaml").write_text(RISK.replace("frequency: 3", "frequency: 2"))
    assert main(words) == 0
    assert json.loads(capsys.readouterr().out)["safe"] is True
    assert main([*words, "--fail-on", "range<9"]) == 1  # the command line goes first


@pytest.mark.parametrize(("change", "message"), [
    (("minimum_frequency", "minimum_freqency"), "unknown setting minimum_freqency: did you mean minimum_frequency"),
    (("cell: ", "cel: "), "unknown setting exempt.cel"),
    (("clinic=North, columns=men", "clinic=West, columns=men"), "clinic=West, columns=men, by a data owner: no such"),
    (("cell: ", "table: "), "no such cell or table"),
    (("who: a data owner, ", ""), "setting exempt.who is missing"),
    (("suppressed,", "supressed,"), "not a meaning"),
    (("frequency: 3", "frequency: -1"), "minimum_frequency"),
    (("previous: [old]", "previous: [older]"), "no such file or folder"),
    ((RISK, "- 1\n"), "risk.yaml"),
])  # fmt: skip
def test_mistakes_in_a_risk_file(
    team: Path, change: tuple[str, str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (team / "risk.yaml").write_text(RISK.replace(*change))
    assert main(["disclose", str(team / "out"), "--risk", str(team / "risk.yaml"), "--json"]) == 2
    assert message in json.loads(capsys.readouterr().out)["error"]["message"]


def test_tables_and_files_that_are_exempt(team: Path, capsys: pytest.CaptureFixture[str]) -> None:
    risk = RISK.replace('cell: "clinic=North, columns=men"', "table: t") + (
        "- {cell: age=0-9, file: u.csv, who: x, why: y}\n- {cell: nothing, file: another.csv, who: x, why: y}\n"
    )
    (team / "risk.yaml").write_text(risk)
    assert main(["disclose", str(team / "out"), "--risk", str(team / "risk.yaml")]) == 0
    assert "5 unsafe cells are exempt." in capsys.readouterr().out


def test_the_width_and_an_empty_file(team: Path) -> None:
    (team / "risk.yaml").write_text("width: 9\nsymbols: {'*': suppressed}\n")
    assert gv.disclose(team / "out", risk=team / "risk.yaml").answer["fail_on"] == "range<9"
    (team / "risk.yaml").write_text("")
    with pytest.raises((DataError, ConfigError)):
        gv.disclose(team / "out", risk=team / "risk.yaml")


# an acro session: results.json with the outputs, a CSV file of each, and what was said of them


def session(folder: Path, suppressed: bool = True) -> Path:
    folder.mkdir()
    cells = {"threshold": [[0, 0]] if suppressed else [], "p-ratio": [], "nk-rule": [], "negative": [], "missing": []}
    summary = {"suppressed": suppressed, **{name: len(own) for name, own in cells.items()}}
    outputs = {}
    for number, (kind, file, comment) in enumerate([
        ("table", "output_0_0.csv", "clinics by sex"), ("table", "output_1_0.csv", "clinics by age"),
        ("custom", "DO_NOT_RELEASE_session_summary.csv", "for the checker only"),
    ]):  # fmt: skip
        name = f"output_{number}"
        outputs[name] = {
            "uid": name, "status": "review", "type": kind, "properties": {"method": "crosstab"},
            "files": [{"name": file, "sdc": {"summary": summary, "cells": cells}}], "outcome": {}, "command": "acro",
            "summary": "review; threshold: 1 cells suppressed; ", "timestamp": "2026-01-01T00:00:00", "comments": [comment],
            "exception": "",
        }  # fmt: skip
    (folder / "results.json").write_text(json.dumps({"version": "0.4.12", "results": outputs}, indent=4))
    (folder / "output_0_0.csv").write_text("clinic,women,men,All\nNorth,,4.0,7\nSouth,5.0,,9\nAll,8.0,8.0,16\n")
    (folder / "output_1_0.csv").write_text("clinic,young,old,All\nNorth,3,4,7\nSouth,4,5,9\nAll,7,9,16\n")
    (folder / "DO_NOT_RELEASE_session_summary.csv").write_text("id,method\noutput_0,crosstab\n")
    return folder


def test_an_acro_session_gets_its_answer_beside_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outputs = session(tmp_path / "outputs")
    (tmp_path / "risk.yaml").write_text("symbols: {suppressed: suppressed}\n")
    words = ["disclose", str(outputs), "--risk", str(tmp_path / "risk.yaml")]
    assert main(words) == 1
    said = capsys.readouterr().out
    assert "2 of your 2 suppressed cells are known exactly." in said
    assert "output_0: comments: ['clinics by sex']" in said
    answer = json.loads((outputs / "audit/answer.json").read_text())
    assert {name: own["unsafe"] for name, own in answer["by_table"].items()} == {"output_0": 2, "output_1": 0}
    assert answer["left_out"] == []
    results = json.loads((outputs / "results.json").read_text())
    results["results"]["output_3"] = {"type": "regression", "files": [{"name": "output_3_0.csv", "sdc": {}}]}
    (outputs / "results.json").write_text(json.dumps(results))
    assert main(words) == 1
    assert "output output_3 is not a table (regression)" in capsys.readouterr().out


def test_an_acro_session_against_one_that_was_released(tmp_path: Path) -> None:
    """The same crosstab twice, once with the cells of a small group blank and once whole."""
    old, new = session(tmp_path / "old"), session(tmp_path / "new")
    (new / "output_0_0.csv").write_text("clinic,women,men,All\nNorth,,,7\nSouth,,,9\nAll,8.0,8.0,16\n")
    (old / "output_0_0.csv").write_text("clinic,women,men,All\nNorth,3.0,,7\nSouth,,,9\nAll,8.0,8.0,16\n")
    marks = {"suppressed": "suppressed"}
    assert gv.disclose(new, symbol=marks).safe is True
    found = gv.disclose(new, symbol=marks, previous=old)
    assert len(unsafe(found)) == len(found.answer["previous"]["old/results.json"]) == 4
