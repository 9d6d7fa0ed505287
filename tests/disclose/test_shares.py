"""Percentages beside counts: what they are of, what they give away, and what contradicts them."""

import json
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor
from pathlib import Path
from random import Random

import pytest

from genverify.cli import main
from genverify.disclosure.audit_value import FailOn, Source
from genverify.disclosure.interpretation import PrintedForm, interpret
from genverify.disclosure.intervals import find_intervals
from genverify.disclosure.tables_audit import TablesAudit, undecided_cells
from genverify.model.linear import LARGEST_COUNT
from genverify.solve.linear.search import Work

TWO_WAY = """,Men,,Women,,Total,
status,n,{head},n,{head},n,{head}
never,30,60.0,*,71.4,*,66.7
former,*,22.0,*,18.6,24,20.0
current,*,18.0,*,10.0,16,13.3
Total,50,100.0,70,100.0,120,100.0
"""
MARK = ("--mark", "*=suppressed")


def said(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    main(["disclose", *map(str, words)])
    out = capsys.readouterr()
    return out.out + out.err


def write(folder: Path, text: str, name: str = "t.csv") -> Path:
    (folder / name).write_text(text)
    return folder / name


@pytest.mark.parametrize("head", ["%", "column %"])
def test_percentages_give_withheld_counts_away(tmp_path: Path, capsys: pytest.CaptureFixture[str], head: str) -> None:
    """11 of 50 are 22 %: every withheld count follows from its percentage, and proofs name the place where it stands."""
    found = said(capsys, write(tmp_path, TWO_WAY.format(head=head)), *MARK)
    assert "12 percentages" in found
    assert "are of their column" in found
    assert "6 of your 6 suppressed cells are known exactly." in found
    assert "t.csv, C4: 22.0 % of columns=Men" in found
    assert "Also suppress the 7 percentages next to suppressed counts." in found
    answer = json.loads((tmp_path / "audit" / "answer.json").read_text())
    assert answer["still_unsafe"] == []
    assert answer["suppress"] in (["status=former"], ["status=current"])  # one of two that do as well
    assert main(["disclose", "--check", str(tmp_path / "t.csv")]) == 0


def test_the_reading_is_written_and_can_be_corrected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = write(tmp_path, TWO_WAY.format(head="%"))
    said(capsys, table, *MARK, "--write", tmp_path / "r.yaml")
    text = (tmp_path / "r.yaml").read_text()
    assert "percent_of: column" in text
    (tmp_path / "r.yaml").write_text(text.replace("percent_of: column", "percent_of: none"))
    found = said(capsys, tmp_path / "r.yaml")
    assert "12 percentages left out, as you asked" in found
    assert "2 of your 6 suppressed cells are known exactly." in found
    (tmp_path / "r.yaml").write_text(text.replace("percent_of: column", "percent_of: row"))
    assert "as a percentage of their row contradicts the counts next to it" in said(capsys, tmp_path / "r.yaml")


def test_percentages_of_rows_in_brackets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = write(tmp_path, "age,Men,Women,Total\nyoung,30 (75%),10 (25%),40 (100%)\nold,10 (20%),40 (80%),50 (100%)\n")
    assert "6 percentages (in brackets) are of their row" in said(capsys, table)


def test_a_line_for_each_cell_may_have_its_percentage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = said(capsys, write(tmp_path, "age,n,%\na,30,30\nb,*,45\nc,*,25\nTotal,100,100\n"), *MARK)
    assert "2 of your 2 suppressed cells are known exactly." in found


def test_a_wrong_percentage_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = "a,30,30\nb,50,55\nc,10,10\nd,5,5\ne,5,5\nTotal,100,100\n"
    found = said(capsys, write(tmp_path, f"age,n,%\n{rows}"))
    assert "t.csv, C3: 55 as a percentage of their column contradicts the counts next to it (50 of 100)" in found


def test_a_contradiction_that_only_the_sums_show_is_proved_and_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = TWO_WAY.format(head="%").replace("16,13.3", "15,12.5").replace("*,66.7", "81,67.5")
    found = said(capsys, write(tmp_path, wrong), *MARK)
    assert "contradict each other (proof checked)" in found
    assert "fact: " in found


def test_what_percentages_mean_is_not_guessed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = write(tmp_path, "age,n,%\na,30,11\nb,*,45\nc,20,25\nTotal,100,100\n")
    assert "they agree with no counts" in said(capsys, table, *MARK)
    rounded = write(tmp_path, "age,n,%\na,30,30\nb,*,45\nc,24,25\nTotal,99,100\n", "r.csv")
    assert "they may be of rounded counts" in said(capsys, rounded, *MARK, "--rule", "random=3")


def counts_of_part(total: int, part: str, rest: str) -> tuple[int, int]:
    """What two percentages of six decimals, which make up 100, leave of the first of two parts: fractions alone."""
    half = Fraction(1, 2 * 10**6)
    low, high = ([(Fraction(text) + sign * half) * total / 100 for text in (part, rest)] for sign in (-1, 1))
    return max(ceil(low[0]), total - floor(high[1])), min(floor(high[0]), total - ceil(low[1]))


@pytest.mark.parametrize("total", [999_999_937, 2_882_303_761, 2_882_303_762, 10**10, 10**12 + 39, LARGEST_COUNT])
def test_percentages_of_large_counts_are_computed_with_exactly_or_said_to_be_cut(total: int, tmp_path: Path) -> None:
    """Scaled to whole numbers, six decimals of counts from 3 * 10^9 on leave 64 bits: what is not used is named."""
    write(tmp_path, f"group,n,%\nA,*,12.345678\nB,*,87.654322\nTotal,{total},100.000000\n")
    understood = interpret(PrintedForm(printed=["t.csv"], marks={"*": "suppressed"}), tmp_path)
    exposed = find_intervals(understood.linked, Work(seconds=20.0))
    cell = understood.linked.sums.place["group=A"]
    low, high = counts_of_part(total, "12.345678", "87.654322")
    assert exposed.ranges.lo[cell] <= low <= high <= exposed.ranges.hi[cell]
    assert exposed.ranges.exact[cell]
    if total < 2_882_303_762:
        assert (exposed.ranges.lo[cell], exposed.ranges.hi[cell], understood.left_out) == (low, high, ())
    else:
        assert "decimals after the first" in understood.left_out[0]
        assert TablesAudit(exposed=exposed, source=Source(left_out=understood.left_out)).safe is None
        assert exposed.ranges.hi[cell] - exposed.ranges.lo[cell] < total // 5


@pytest.mark.parametrize("seed", range(20))
def test_a_percentage_with_all_digits_of_a_computer_gives_its_count_away(seed: int, tmp_path: Path) -> None:
    rng = Random(seed)
    counts = [rng.randint(1, 10 ** rng.randint(1, 6)) for _ in range(3)]
    lines = [f"{name},*,{100 * count / sum(counts):.13f}" for name, count in zip("ABC", counts, strict=True)]
    write(tmp_path, "\n".join(["group,n,%", *lines, f"Total,{sum(counts)},100.0000000000000\n"]))
    understood = interpret(PrintedForm(printed=["t.csv"], marks={"*": "suppressed"}), tmp_path)
    exposed = find_intervals(understood.linked, Work(seconds=20.0))
    cells = [understood.linked.sums.place[f"group={name}"] for name in "ABC"]
    assert [(exposed.ranges.lo[cell], exposed.ranges.hi[cell]) for cell in cells] == [(count, count) for count in counts]


def test_what_was_not_decided_is_not_called_safe(tmp_path: Path) -> None:
    """Wide ranges without counts that attain them: the time may have been too short to find narrower ones."""
    write(tmp_path, "group,n\nA,*\nB,*\nTotal,7\n")
    understood = interpret(PrintedForm(printed=["t.csv"], marks={"*": "suppressed"}), tmp_path)
    exposed = find_intervals(understood.linked, Work())
    assert undecided_cells(exposed, 1) == ()
    ranges = replace(exposed.ranges, least=exposed.ranges.lo - 1, most=exposed.ranges.hi - 1, limit="time limit")
    unsure = replace(exposed, ranges=ranges)
    cells = undecided_cells(unsure, 1)
    assert cells == ("group=A", "group=B")
    answer = TablesAudit(exposed=unsure, fail_on=FailOn(), undecided=cells)
    assert answer.safe is None
    assert "2 cells are undecided: they may be known exactly. No table is called safe." in list(answer.lines())


def test_facts_with_numbers_that_cannot_be_added_up_exactly_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = write(tmp_path, f"group,n\nA,*\nB,*\nTotal,{LARGEST_COUNT}\n")
    assert "too large to be added up exactly" in said(
        capsys, table, *MARK, "--fact", "percent group=A of everyone = 12.345678"
    )
    mean = "mean group of everyone = 1 over 0, 1e999999999"
    assert "'1e999999999' of group is not a number" in said(capsys, table, *MARK, "--fact", mean)
