"""What users of other tools asked for, rebuilt from the facts in their threads."""

import json
from pathlib import Path

import pytest

from genverify.cli import main


def disclose(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, dict[str, object]]:
    status = main(["disclose", *map(str, words), "--json"])
    out = capsys.readouterr()
    assert out.out, out.err
    return status, json.loads(out.out)


def write(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text)
    return folder / name


def test_an_interval_of_no_width_is_a_known_count(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """UserSupport 332: floating-point ends 3.9999999999999991 and 4 were called protected. Here ends are whole numbers."""
    table = write(tmp_path, "t.csv", "r \\ c,a,b,d,Total\nx,*,*,3,10\ny,*,*,1,9\nz,2,5,*,9\nTotal,9,13,6,28\n")
    status, found = disclose(capsys, table, "--mark", "*=suppressed", "--fail-on", "exact")
    assert status == 1
    assert {(one["cell"], one["lower"], one["upper"]) for one in found["unsafe_cells"]} == {("c=d, r=z", 2, 2)}  # type: ignore[attr-defined, index]


@pytest.fixture
def two_hierarchies(tmp_path: Path) -> Path:
    """UserSupport 136: regions by county in one table, by size in the other; counts of 2 and 3 withheld."""
    write(tmp_path, "county.csv", "region,n\nA,*\nB,*\nI,8\nJ,8\ncounty-1,20\nK,*\nL,*\nM,*\nN,7\ncounty-2,16\nTotal,36\n")
    write(tmp_path, "size.csv", "region,n\nL,*\nM,*\nBIG,6\nA,*\nB,*\nI,8\nJ,8\nK,*\nN,7\nsmall,30\nTotal,36\n")
    county = "Total: [county-1, county-2], county-1: [A, B, I, J], county-2: [K, L, M, N]"
    size = "Total: [BIG, small], BIG: [L, M], small: [A, B, I, J, K, N]"
    for name, sums in (("county", county), ("size", size)):
        write(
            tmp_path,
            f"{name}.yaml",
            f"printed: {name}.csv\nmarks: {{'*': suppressed}}\ntables: {{{name}: {{sums: {{region: {{{sums}}}}}}}}}\n",
        )
    both = "".join(f"  {name}: {{sums: {{region: {{{sums}}}}}}}\n" for name, sums in (("county", county), ("size", size)))
    write(tmp_path, "both.yaml", f"printed: [county.csv, size.csv]\nmarks: {{'*': suppressed}}\ntables:\n{both}")
    return tmp_path


def test_tables_that_are_safe_alone_can_be_unsafe_together(
    two_hierarchies: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("county", "size"):
        status, found = disclose(capsys, two_hierarchies / f"{name}.yaml", "--fail-on", "exact")
        assert (status, found["suppressed_known_exactly"]) == (0, 0), name
    status, found = disclose(capsys, two_hierarchies / "both.yaml", "--fail-on", "exact")
    assert status == 1
    assert [(one["cell"], one["lower"]) for one in found["unsafe_cells"]] == [("region=K", 3)]  # type: ignore[attr-defined, index]
    assert found["suppress"]
    assert not found["still_unsafe"]


def test_withheld_cells_whose_sum_is_known_can_have_a_dominant_contributor(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """UserSupport 160: three withheld industries, each open by itself; together one enterprise has over 80 % of them."""
    table = write(tmp_path, "nace.csv", "nace,turnover\nB05,*\nB06,*\nB07,*\nB08,400\nB09,90\nTotal,1600\n")
    lines = [
        "nace,contributor,value",
        "B05,one,950",
        "B05,two,20",
        "B06,three,60",
        "B06,four,15",
        "B07,five,50",
        "B07,six,15",
    ]
    lines += [f"B08,e{i},40" for i in range(10)] + [f"B09,f{i},15" for i in range(6)]
    given = write(tmp_path, "who.csv", "\n".join(lines) + "\n")
    rule = ("--contributions", given, "--sensitive", "dominance=2,80", "--fail-on", "exact", "--mark", "*=suppressed")
    status, found = disclose(capsys, table, *rule)
    assert (status, found["suppressed_known_exactly"]) == (1, 0)
    assert found["broken_rules"] == [{"rule": "dominance=2,80", "cells": ["nace=B05", "nace=B06", "nace=B07"]}]
    # with B08 withheld too, the one enterprise has 950 + 60 of 1510, below 80 %
    wider = write(tmp_path, "wider.csv", table.read_text().replace("B08,400", "B08,*"))
    status, found = disclose(capsys, wider, *rule)
    assert status == 0
    assert "broken_rules" not in found


def test_two_outputs_about_nearly_the_same_people_differ_by_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """acro 117: each output passes its threshold, their difference does not."""
    everyone = write(tmp_path, "all.csv", "year,grant,loan,Total\n2019,12,30,42\n2020,15,31,46\nTotal,27,61,88\n")
    fewer = write(tmp_path, "without.csv", "year,grant,loan,Total\n2019,12,30,42\n2020,14,31,45\nTotal,26,61,87\n")
    status, found = disclose(capsys, everyone, fewer, "--inside", "without=all", "--fail-on", "singled-out")
    assert status == 1
    unsafe = [(one["cell"], one["lower"], one["upper"]) for one in found["unsafe_cells"]]  # type: ignore[attr-defined, index]
    assert ("columns=grant, in without=not yes, year=2020", 1, 1) in unsafe
    assert main(["disclose", str(everyone), str(fewer)]) == 2  # without a word about it the two contradict each other
    assert "for the same people" in capsys.readouterr().err


def test_the_number_in_a_title_gives_a_suppressed_count_away(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """gtsummary 1691: N = 180 in the title, 177 adults, children below six: 3."""
    table = write(tmp_path, "t.csv", "Summary of cohort (N=180),\nCharacteristic,N (%)\nAge,\n<18,<6\n18+,177 (98.3%)\n")
    status, found = disclose(capsys, table, "--fail-on", "exact")
    assert status == 1
    assert [(one["cell"], one["lower"], one["upper"]) for one in found["unsafe_cells"]] == [("Age=<18", 3, 3)]  # type: ignore[attr-defined, index]
