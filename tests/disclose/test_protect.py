"""The command `protect`: the protected release is read again and safe, its certificate is checked, bad input is refused."""

import gzip
import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import genverify as gv
from genverify.checker.certificate import CertificateError
from genverify.checker.linear_proofs import check_linear
from genverify.cli import main
from genverify.model.errors import GenverifyError
from genverify.model.linear import OPEN, make_system

COUNTS = np.array([[7, 3, 12, 20, 2], [0, 20, 9, 7, 7], [20, 20, 15, 3, 7], [3, 15, 0, 2, 3], [0, 9, 0, 9, 20]])
SMALL_CELLS = int(((COUNTS > 0) & (COUNTS < 5)).sum())
RELEASES = 8  # of each kind


def frame_of(counts: np.ndarray) -> pd.DataFrame:
    """A synthetic table with its totals."""
    frame = pd.DataFrame(counts, columns=[f"g{at}" for at in range(counts.shape[1])])
    frame.insert(0, "area", [f"A{at}" for at in range(len(counts))])
    frame["Total"] = counts.sum(axis=1)
    frame.loc[len(frame)] = ["Total", *counts.sum(axis=0).tolist(), int(counts.sum())]
    return frame


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    frame_of(COUNTS).to_csv(tmp_path / "t.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def protect(*words: object) -> int:
    return main(["protect", *map(str, words)])


def test_a_protected_table_is_safe_and_its_certificate_is_checked(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert protect("t.csv", "--rule", "minimum 5", "--out", "safe") == 0
    said = capsys.readouterr().out
    assert f"{SMALL_CELLS} sensitive cells" in said
    assert "no cheaper set protects them" in said
    assert "0 of your" in said
    before, after = (pd.read_csv(path, dtype=str).set_index("area") for path in ("t.csv", "safe/tables/t.csv"))
    changed = after != before
    assert set(after.to_numpy()[changed.to_numpy()]) == {"*"}
    assert changed.to_numpy()[:-1, :-1][(COUNTS > 0) & (COUNTS < 5)].all()
    listed = pd.read_csv("safe/suppress.csv")
    assert len(listed) == int(changed.to_numpy().sum())
    assert (listed["status"] == "primary").sum() == SMALL_CELLS
    audit = gv.disclose("safe/tables/t.csv", symbol={"*": "suppressed"}, search_seconds=0)
    assert audit.safe
    small = {f"area=A{row}, columns=g{column}" for row, column in np.argwhere((COUNTS > 0) & (COUNTS < 5))}
    ranges = audit.cells.set_index("cell")["upper"].astype(float)
    assert all(not ranges[cell] < 5 for cell in small)
    assert main(["check", "safe"]) == 0
    assert "two possible counts of" in capsys.readouterr().out
    assert main(["protect", "t.csv", "--rule", "minimum 5", "--out", "again"]) == 0
    assert Path("again/tables/t.csv").read_bytes() == Path("safe/tables/t.csv").read_bytes()


def test_the_certificate_says_nothing_that_the_protected_table_does_not(home: Path) -> None:
    """Two tables that are published alike have one certificate: its points cannot come from the counts behind them."""
    protect("t.csv", "--rule", "minimum 5", "--out", "safe")
    published = pd.read_csv("safe/tables/t.csv", dtype=str)
    hidden = (published == "*").to_numpy()[:-1, 1:-1]
    swapped = COUNTS.copy()
    rows, columns = np.nonzero(hidden)
    for (a, b), (c, d) in product(zip(rows, columns, strict=True), repeat=2):
        if a != c and b != d and hidden[a, d] and hidden[c, b] and swapped[a, d] > 0 and swapped[c, b] > 0:
            swapped[[a, c], [b, d]] += 1
            swapped[[a, c], [d, b]] -= 1
            break
    assert (swapped != COUNTS).any()
    names = [f"area=A{a}, columns=g{b}" for a, b in zip(rows, columns, strict=True)]
    pd.DataFrame({"cell": names}).to_csv("cells.csv", index=False)
    for name, counts in (("one", COUNTS), ("two", swapped)):
        frame_of(counts).to_csv("t.csv", index=False)
        assert protect("t.csv", "--rule", "cells cells.csv", "--out", name) == 0
    assert Path("one/tables/t.csv").read_text() == Path("two/tables/t.csv").read_text()
    one, two = (gzip.decompress(Path(name, "proofs.jsonl.gz").read_bytes()) for name in ("one", "two"))
    assert one == two


def test_a_mutated_certificate_is_refused(home: Path) -> None:
    protect("t.csv", "--rule", "minimum 5", "--out", "safe")
    path = Path("safe/proofs.jsonl.gz")
    good = json.loads(gzip.decompress(path.read_bytes()))
    rng, attains = np.random.default_rng(1), [one for one in good["statements"] if one["side"] == "attains"]
    assert len(attains) > SMALL_CELLS

    def refused(changed: dict[str, Any]) -> bool:
        path.write_bytes(gzip.compress((json.dumps(changed, separators=(",", ":")) + "\n").encode()))
        return main(["check", "safe"]) != 0

    for number in range(30):
        text = json.loads(json.dumps(good))
        point = text["points"][int(rng.integers(len(text["points"])))]
        shown = [one for one in text["statements"] if one["side"] == "attains"]
        chosen = shown[int(rng.integers(len(shown)))]
        if number % 3 == 0:
            point[int(rng.integers(len(point)))] += int(rng.choice([-1, 1]))
        elif number % 3 == 1:
            chosen["upper"] += 1
        else:
            text["statements"].remove(chosen)
        assert refused(text), number
    assert refused({key: own for key, own in good.items() if key != "points"})
    assert refused(good | {"points": []})
    assert not refused(good)


def test_no_certificate_of_a_pinned_cell_is_accepted() -> None:
    """Counts 1, 1, 2, 1, 1, 1 with four sums: the second is 1 in all whole tables, whatever points are given."""
    counts, sums = np.array([1, 1, 2, 1, 1, 1]), [[0, 2], [2, 3, 4], [1, 2, 5], [0, 3, 4, 5]]
    rows = [(f"s{at}", {f"x{cell}": 1 for cell in own}, *[int(counts[own].sum())] * 2) for at, own in enumerate(sums)]
    system = make_system({f"x{at}": (0, OPEN) for at in range(6)}, rows)
    points = [list(point) for point in product(range(4), repeat=6) if system.fits(np.array(point))]
    rng = np.random.default_rng(2)
    for _ in range(300):
        given = [[int(count) for count in np.array(points[int(rng.integers(3))]) + rng.integers(-1, 2, 6)] for _ in range(2)]
        given += points
        lower = int(rng.integers(-1, 3))
        said = {"side": "attains", "cell": "x1", "lower": lower, "upper": lower + int(rng.integers(0, 3)),
                "points": rng.integers(0, len(given), 2).tolist()}  # fmt: skip
        with pytest.raises(CertificateError):
            check_linear(system, [said], given)
    free = {"side": "attains", "cell": "x3", "lower": 0, "upper": 1, "points": [0, 1]}
    low, *_, high = sorted(points, key=lambda point: point[3])
    shown = check_linear(system, [{**free, "lower": low[3], "upper": high[3]}], [low, high])
    assert shown.attained == {"x3": (low[3], high[3])}


@pytest.mark.parametrize(("bad", "words"), [
    ({"points": [0]}, "two numbers"), ({"points": [0, 9]}, "two numbers"), ({"points": [0, True]}, "not an integer"),
    ({"cell": "z"}, "no cell"), ({"cell": 3}, "names no cell"), ({"lower": 9, "upper": 9}, "shows nothing"),
    ({"more": 1}, "means nothing"), ({"upper": 1.5}, "not an integer"),
])  # fmt: skip
def test_malformed_statements_are_refused(bad: dict[str, Any], words: str) -> None:
    system = make_system({"x": (0, OPEN), "y": (0, OPEN), "t": (5, 5)}, [("t", {"x": 1, "y": 1, "t": -1}, 0, 0)])
    good = {"side": "attains", "cell": "x", "lower": 0, "upper": 5, "points": [0, 1]}
    points = [[0, 5], [5, 0]]
    assert check_linear(system, [good], points).attained == {"x": (0, 5)}
    with pytest.raises(CertificateError, match=words):
        check_linear(system, [good | bad], points)


@pytest.mark.parametrize(
    "points", [[[0, 5], [5]], [[0, 5], [6, -1]], [[0, 5], [4, 0]], [[0, 5], [5.0, 0]], [[0, 5], 3], "x", 7]
)
def test_malformed_points_are_refused(points: Any) -> None:
    system = make_system({"x": (0, OPEN), "y": (0, OPEN), "t": (5, 5)}, [("t", {"x": 1, "y": 1, "t": -1}, 0, 0)])
    with pytest.raises(CertificateError):
        check_linear(system, [{"side": "attains", "cell": "x", "lower": 0, "upper": 4, "points": [0, 1]}], points)


@pytest.mark.parametrize(("words", "said"), [
    (["--rule", "minimum five"], "minimum 5"),
    (["--rule", "p 10"], "--contributions"),
    (["--rule", "cells none.csv"], "no such file"),
    (["--rule", "cells wrong.csv"], "is not a cell of the tables"),
    (["--rule", "minimum 5", "--cost", "negative.csv"], "is not a whole number from 0"),
    (["--rule", "minimum 5", "--width", "0"], "width from 1"),
    (["--rule", "minimum 5", "--fact", "area=A0, columns=g1 = 3"], "area=A0, columns=g1"),
])  # fmt: skip
def test_what_cannot_be_done_is_said_with_names(
    home: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    Path("negative.csv").write_text('cell,cost\n"area=A0, columns=g0",-1\n')
    Path("wrong.csv").write_text("cell\narea=A9\n")
    assert protect("t.csv", *words, "--out", "safe") != 0
    assert said in capsys.readouterr().err
    assert not Path("safe").exists()


def test_costs_choose_other_cells(home: Path) -> None:
    Path("cost.csv").write_text('cell,cost\n"area=A4, columns=g1",0\n')
    audits = {cost: gv.protect_tables("t.csv", f"out_{at}", "minimum 5", cost=cost)
              for at, cost in enumerate(("1", "count", "log", "cost.csv"))}  # fmt: skip
    assert all(audit.protected_by and audit.protected_by.bound == audit.protected_by.loss for audit in audits.values())
    fewest = audits["1"].protected_by
    assert fewest is not None
    assert all(len(audit.protected_by.why) >= len(fewest.why) for audit in audits.values() if audit.protected_by)


def test_rounded_tables_add_up_and_keep_the_rule(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert protect("t.csv", "--rule", "minimum 5", "--method", "round", "--base", "5", "--out", "safe") == 0
    after = pd.read_csv("safe/tables/t.csv").set_index("area").to_numpy()
    assert (after % 5 == 0).all()
    assert (np.abs(after[:-1, :-1] - COUNTS) < 5).all()
    assert (after[:-1, :-1][COUNTS % 5 == 0] == COUNTS[COUNTS % 5 == 0]).all()
    assert (after[:-1, :-1].sum(axis=1) == after[:-1, -1]).all()
    assert (after[:-1].sum(axis=0) == after[-1]).all()
    assert main(["check", "safe"]) == 0


def test_cells_that_are_suppressed_already_and_percentages_beside_counts(home: Path) -> None:
    text = "area,men,% of row,women,Total\nA,*,30.0 %,7,10\nB,6,60.0 %,4,10\nC,8,40.0 %,12,20\nTotal,17,42.5 %,23,40\n"
    Path("s.csv").write_text(text)
    audit = gv.protect_tables("s.csv", "safe", "minimum 5", symbol={"*": "suppressed"}, allow_partial=True)
    after = pd.read_csv("safe/tables/s.csv", dtype=str)
    assert after["men"][0] == "*"
    assert after["% of row"][0] == "*"
    ranges = audit.cells[audit.cells["published"] == "*"]
    assert len(ranges) >= 4
    assert not ranges["known_exactly"].any()
    assert main(["check", "safe"]) == 0


def test_a_workbook_comes_back_as_a_workbook(home: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in [list(frame_of(COUNTS)), *frame_of(COUNTS).to_numpy().tolist()]:
        book.active.append(row)
    styles, sheet = openpyxl.styles, book.active
    for cell in sheet[1]:
        cell.font, cell.fill = styles.Font(bold=True, color="FFFFFF"), styles.PatternFill("solid", fgColor="1F4E79")
    for row in sheet.iter_rows(min_row=2, min_col=2):
        for cell in row:
            cell.number_format, cell.border = "#,##0", styles.Border(bottom=styles.Side("thin"))
    sheet["B2"].font, sheet.column_dimensions["A"].width, sheet.freeze_panes = styles.Font(bold=True), 24, "B2"
    book.save("t.xlsx")
    assert protect("t.xlsx", "--rule", "minimum 5", "--out", "safe") == 0
    sheet = openpyxl.load_workbook("safe/tables/t.xlsx").active
    before = openpyxl.load_workbook("t.xlsx").active
    kinds = ("font", "fill", "border", "alignment", "number_format")
    for own in (cell for row in before.iter_rows() for cell in row):  # as it was: all but the suppressed counts
        assert all(repr(getattr(own, kind)) == repr(getattr(sheet[own.coordinate], kind)) for kind in kinds)
        assert sheet[own.coordinate].value in (own.value, "*")
    assert (sheet.column_dimensions["A"].width, sheet.freeze_panes) == (24, "B2")
    hidden = sum(cell.value == "*" for row in sheet.iter_rows() for cell in row)
    assert hidden >= SMALL_CELLS
    assert main(["check", "safe"]) == 0
    assert gv.disclose("safe/tables/t.xlsx", symbol={"*": "suppressed"}, search_seconds=0).safe


def test_what_an_earlier_release_prints_cannot_be_hidden(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    totals = frame_of(COUNTS)[["area", "Total"]]
    totals.to_csv(home / "earlier.csv", index=False)
    assert protect("t.csv", "--rule", "minimum 5", "--previous", "earlier.csv", "--out", "safe") == 0
    after = pd.read_csv("safe/tables/t.csv", dtype=str)
    assert "*" not in set(after["Total"])  # the earlier totals would give them away
    assert not Path("safe/tables/earlier.csv").exists()
    capsys.readouterr()
    assert main(["check", "safe"]) == 0
    frame_of(COUNTS).to_csv(home / "earlier.csv", index=False)
    assert protect("t.csv", "--rule", "minimum 5", "--previous", "earlier.csv", "--out", "again") == 2
    assert "the rule cannot be met" in capsys.readouterr().err


SEXES, AGES = ("men", "women"), ("young", "old")


def tables_of(kind: str, rng: np.random.Generator) -> tuple[dict[str, list[list[str]]], list[tuple[str, ...]]]:
    """Files as rows of texts, and the kinds of people in them: area, region, sex, age."""
    areas = ["A", "B", "C"] if kind != "hierarchy" else ["A", "B", "C", "D"]
    people = [(area, "R1" if area in "AB" else "R2", sex, age) for area in areas[: 2 if kind == "linked" else 4]
              for sex in SEXES for age in (AGES if kind == "linked" else ("",))]  # fmt: skip
    counts = dict(zip(people, rng.choice([0, 1, 2, 4], len(people), p=[0.3, 0.2, 0.2, 0.3]).tolist(), strict=True))

    def total(area: str, label: str) -> int:
        return sum(count for own, count in counts.items() if inside(own, area) and inside(own, label))

    def table(labels: tuple[str, ...]) -> list[list[str]]:
        rows = list(dict.fromkeys(own[0] for own in people))
        rows = ["A", "B", "R1", "C", "D", "R2"] if kind == "hierarchy" else rows
        return [
            ["area", *labels, "Total"],
            *([row, *(str(total(row, one)) for one in (*labels, "Total"))] for row in (*rows, "Total")),
        ]

    files = {"t.csv": table(SEXES)} | ({"u.csv": table(AGES)} if kind == "linked" else {})
    if kind == "previous":
        files["earlier.csv"] = [[row[0], row[-1]] for row in files["t.csv"]]
    if kind == "percentages":
        for row in files["t.csv"]:
            share = "% of row" if row[0] == "area" else f"{100 * int(row[1]) / max(int(row[-1]), 1):.0f} %"
            row.insert(2, share)
    return files, people


def inside(own: tuple[str, ...], label: str) -> bool:
    return label == "Total" or label in own


def all_tables(cells: int, total: int) -> np.ndarray:
    """Every way to share a total among some cells."""
    result = np.zeros((1, 0), dtype=np.int64)
    for _ in range(cells - 1):
        left = total - result.sum(axis=1)
        more = np.repeat(np.arange(len(result)), left + 1)
        result = np.column_stack([result[more], np.concatenate([np.arange(own + 1) for own in left])])
    return np.column_stack([result, total - result.sum(axis=1)])


def fitting(fits: np.ndarray, people: list[tuple[str, ...]], path: Path) -> np.ndarray:
    """The counts of people that all printed numbers of a file leave: from its texts alone."""
    head, *rows = (line.split(",") for line in path.read_text().splitlines())
    for row in rows:
        for label, text in zip(head[1:], row[1:], strict=True):
            men, of = (fits[:, [inside(own, row[0]) and inside(own, one) for own in people]].sum(axis=1)
                       for one in ("men", "Total"))  # fmt: skip
            if text == "*":
                continue
            if label == "% of row":
                fits = fits[np.abs(200 * men - 2 * int(text.split()[0]) * of) <= of]
            else:
                part = fits[:, [inside(own, row[0]) and inside(own, label) for own in people]].sum(axis=1)
                fits = fits[part == int(text)]
    return fits


def fitting_merged(fits: np.ndarray, people: list[tuple[str, ...]], path: Path) -> np.ndarray:
    """The same of a table with merged categories: a line for each count."""
    for line in path.read_text().splitlines()[1:]:
        *labels, count = line.split(",")
        sets = [set(label.split(" or ")) for label in labels]
        chosen = [all("Total" in own or own & set(one) for own in sets) for one in people]
        fits = fits if count == "*" else fits[fits[:, chosen].sum(axis=1) == int(count)]
    return fits


@pytest.mark.parametrize("kind", ["two-way", "hierarchy", "percentages", "linked", "previous"])
@pytest.mark.parametrize("method", ["suppress", "merge"])
def test_protected_means_protected_by_enumeration(home: Path, kind: str, method: str) -> None:
    """Of every sensitive count a whole table with 3 or more fits all that is published, earlier releases included."""
    seen, refused = 0, list[str]()
    for seed in range(RELEASES):
        files, people = tables_of(kind, np.random.default_rng(seed))
        for name, rows in files.items():
            Path(name).write_text("".join(",".join(row) + "\n" for row in rows))
        now = [name for name in files if name != "earlier.csv"]
        total = int(files["t.csv"][-1][-1])
        out, more = Path(f"out{seed}"), {"previous": "earlier.csv"} if kind == "previous" else {}
        Path("area.hrc").write_text("Total\n@R1\n@@A\n@@B\n@R2\n@@C\n@@D\n")
        said = {"hierarchy": {"hierarchy": {"area": "area.hrc"}}, "percentages": {"allow_partial": True}}.get(kind, more)
        try:
            gv.protect_tables(now, out, "minimum 3", method=method, **said)
        except GenverifyError as error:
            refused.append(str(error))
            continue
        fits = np.vstack([all_tables(len(people), own) for own in range(total, total + 3)])  # the total may be suppressed
        for path in sorted((out / "tables").iterdir()):
            fits = (fitting_merged if method == "merge" else fitting)(fits, people, path)
        fits = fitting(fits, people, Path("earlier.csv")) if more else fits
        for name in now:
            head, *rows = files[name]
            for row in rows:
                for label, text in zip(head[1:], row[1:], strict=True):
                    if text.isdigit() and 1 <= int(text) < 3:
                        counts = fits[:, [inside(own, row[0]) and inside(own, label) for own in people]].sum(axis=1)
                        assert counts.max() >= 3, (seed, row[0], label)
                        assert counts.min() < counts.max()
        seen += 1
    assert seen > RELEASES // 4
    assert all("cannot be met" in text or "sensitive counts are left" in text for text in refused)


def test_what_differs_from_an_earlier_table_of_more_people_is_protected(home: Path) -> None:
    """acro 117: all were counted before, all but a small group now; what the difference would show is protected."""
    Path("all.csv").write_text("age,women,men,Total\n0-39,14,22,36\n40+,40,34,74\nTotal,54,56,110\n")
    Path("some.csv").write_text("age,women,men,Total\n0-39,13,22,35\n40+,40,32,72\nTotal,53,54,107\n")
    with pytest.raises(GenverifyError, match="--inside SMALL=LARGE"):
        gv.protect_tables("some.csv", "safe", "minimum 5", previous="all.csv")
    gv.protect_tables("some.csv", "safe", "minimum 5", previous="all.csv", inside={"some": "all"})
    assert main(["check", "safe"]) == 0
    before, after = (pd.read_csv(path, dtype=str).set_index("age") for path in ("all.csv", "safe/tables/some.csv"))
    shown = (before.astype(int) - after.where(after != "*", before).astype(int)).to_numpy()
    assert (shown == 0).all()  # all that differs by less than 5 is suppressed
    for row in [*before.itertuples(), *before.T.itertuples()]:  # no total gives it away
        hidden = [after.T[row.Index] if row.Index in after.index else after[row.Index]][0].eq("*").sum()
        assert hidden != 1


def test_what_if_compares_suppression_rounding_and_merging(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["what-if", "t.csv", "--rule", "minimum 5", "--out", "tried"]) == 0
    rows = pd.read_csv("tried/whatif.csv").set_index("protection")
    assert list(rows.index) == ["as published", "suppress", "round to 5", "merge"]
    assert (rows.loc[["suppress", "merge"], "certified_cells"] >= SMALL_CELLS).all()
    assert (rows["loss"].to_numpy()[1:] > 0).all()
    assert rows["why_not"].isna().all()
    assert Path("tried/whatif.pdf").exists()
    capsys.readouterr()
    assert main(["what-if", "t.csv"]) == 2
    assert "needs --rule" in capsys.readouterr().err
    frame_of(COUNTS[:1, :1]).to_csv("t.csv", index=False)
    assert main(["what-if", "t.csv", "--rule", "minimum 9", "--out", "tried"]) == 0
    assert "cannot be met by merging" in pd.read_csv("tried/whatif.csv").set_index("protection").loc["merge", "why_not"]
