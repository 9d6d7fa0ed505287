"""Answers about printed tables as texts: what was once answered falsely, and what must follow when a table changes."""

import json
from pathlib import Path
from typing import Any

import pytest

from genverify.checker.certificate import CertificateError
from genverify.checker.linear_proofs import check_linear
from genverify.disclosure.interpretation import PrintedForm, interpret, read_printed, written
from genverify.disclosure.intervals import ContradictionError, FeasibilityIntervals, find_intervals
from genverify.model.errors import GenverifyError
from genverify.model.linear import system_of
from genverify.solve.linear.search import Work

WORK = Work(seconds=30.0)
STAR = {"*": "suppressed"}


def audit(folder: Path, *texts: str, hrc: str = "", **told: Any) -> FeasibilityIntervals:
    """What the tables of some texts give away; `hrc` is the text of the file h.hrc."""
    for at, text in enumerate(texts):
        (folder / f"t{at}.csv").write_text(text, encoding="utf-8")
    (folder / "h.hrc").write_text(hrc, encoding="utf-8")
    form = PrintedForm(printed=[f"t{at}.csv" for at in range(len(texts))], **told)
    return find_intervals(interpret(form, folder).linked, WORK)


def ranges(exposed: FeasibilityIntervals) -> dict[str, tuple[int, int | None]]:
    """The range of every printed cell by its name; None where nothing bounds it from above."""
    rows = exposed.rows
    assert all(row["ends_attained"] for row in rows)
    return {row["cell"]: (row["lower"], None if row["upper"] == "" else row["upper"]) for row in rows}


def hidden(exposed: FeasibilityIntervals) -> list[tuple[int, int | None]]:
    return [(row["lower"], None if row["upper"] == "" else row["upper"]) for row in exposed.rows if row["hidden"]]


# ends that nobody printed


def test_a_sum_without_a_printed_total_has_no_upper_end(tmp_path: Path) -> None:
    text = "site,men,women\n" + "".join(f"s{at},10000,0\n" for at in range(1, 101)) + "s101,*,0\n"
    assert hidden(audit(tmp_path, text, marks=STAR)) == [(0, None)]


def test_large_counts_beside_a_suppressed_one_are_no_contradiction(tmp_path: Path) -> None:
    """Many days of large counts: their sum is far above a hundred times the largest of them."""
    text = "day,a,b\n" + "".join(f"d{at},900000,{at}\n" for at in range(300)) + "d300,*,7\n"
    assert hidden(audit(tmp_path, text, marks=STAR)) == [(0, None)]


CROSS = "area,men,women,Total\nA,12,*,15\nB,*,*,13\nC,<5,6,*\nTotal,24,{},*\n"


@pytest.mark.parametrize("factor", [1, 1_000, 10**9, 10**12])
def test_ranges_grow_with_the_counts(tmp_path: Path, factor: int) -> None:
    def times(number: int) -> str:
        return str(number * factor)

    lines = [["area", "men", "women", "Total"], ["A", times(12), "*", times(15)], ["B", "*", "*", times(13)],
             ["C", "x", times(6), "*"], ["Total", times(24), "*", "*"]]  # fmt: skip
    text = "\n".join(",".join(line) for line in lines) + "\n"
    found = ranges(audit(tmp_path, text, marks={**STAR, "x": f"0-{4 * factor}"}))
    expected = {"area=A, columns=women": (3, 3), "area=B, columns=men": (8, 12), "area=B, columns=women": (1, 5),
                "area=C, columns=men": (0, 4), "area=C": (6, 10), "columns=women": (10, 14),
                "everyone": (34, 38)}  # fmt: skip
    assert {cell: found[cell] for cell in expected} == {
        cell: (low * factor, high * factor) for cell, (low, high) in expected.items()
    }


def test_a_thousand_more_lines_change_no_answer_about_the_others(tmp_path: Path) -> None:
    head, body = "area,men,women,Total\n", "A,12,*,15\nB,*,*,13\nC,*,6,*\n"
    before = ranges(audit(tmp_path, head + body, marks=STAR))
    after = ranges(audit(tmp_path, head + body + "".join(f"x{at},10,20,30\n" for at in range(1_000)), marks=STAR))
    assert {cell: after[cell] for cell in before if cell.startswith("area")} == {
        cell: own for cell, own in before.items() if cell.startswith("area")
    }


def test_a_count_that_cannot_be_computed_with_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GenverifyError, match=r"B2: '1000000000000001' is above 10+, too large to compute"):
        audit(tmp_path, f"area,men,women\nA,{10**15 + 1},*\nB,3,4\n", marks=STAR)


def test_counts_up_to_the_largest_are_added_up_exactly(tmp_path: Path) -> None:
    text = "area,men,women,Total\n" + "".join(f"a{at},{10**15},*,{10**15}\n" for at in range(200)) + "Total,*,*,*\n"
    found = ranges(audit(tmp_path, text, marks=STAR))
    assert found["everyone"] == (200 * 10**15, 200 * 10**15)
    assert found["columns=women"] == (0, 0)


def test_a_proof_from_an_end_that_nobody_told_is_refused(tmp_path: Path) -> None:
    exposed = audit(tmp_path, "area,men,women,Total\nA,12,*,*\nB,3,4,7\nC,5,6,11\n", marks=STAR)
    sums = system_of(json.loads(json.dumps(exposed.linked.sums.as_dict())))
    assert sums.digest == exposed.linked.sums.digest
    name = "area=A, columns=women"
    row = next(row for row in sums.rows if row.startswith("area=A = "))
    forged: list[dict[str, Any]] = [{}, {"y": {row: 1}}, {"y": {row: -1}}, {"y": {row: 1}, "kind": "empty"}]
    for proof in (*forged, {"cell": name, "at": 5, "below": {}, "above": {"y": {row: 1}}}):
        with pytest.raises(CertificateError, match="which has none"):
            check_linear(sums, [{"cell": name, "side": "upper", "value": 10**9, "proof": proof}])
    with pytest.raises(CertificateError, match="which has none"):
        check_linear(sums, [{"side": "empty", "proof": {"y": {row: 1}}}])


# what adds up to what

SMALL = "kind,count\na,<5\nb,<5\ntotal,<5\n"


def test_a_root_that_the_hierarchy_names_is_the_total(tmp_path: Path) -> None:
    found = ranges(audit(tmp_path, SMALL, hrc="total\n@a\n@b\n", hierarchies={"kind": "h.hrc"}))
    assert found == {"kind=a": (0, 4), "kind=b": (0, 4), "everyone": (0, 4)}
    assert found == ranges(audit(tmp_path, SMALL, hrc="a\nb\n", hierarchies={"kind": "h.hrc"}))


STATED = "kind,count\na,{}\nb,{}\ntotal_stated,{}\nnot_stated,{}\nhouseholds,{}\n"


def test_a_told_total_keeps_the_subtotals(tmp_path: Path) -> None:
    """30 + 126 = 156 is no contradiction, and with 10 not stated the households are 166."""
    told = {"totals": {"kind": "households"}}
    found = ranges(audit(tmp_path, STATED.format(30, 126, 156, "*", "*"), marks=STAR, **told))
    assert found["kind=not_stated"] == (0, None)
    assert found["everyone"] == (156, None)
    assert ranges(audit(tmp_path, STATED.format(30, 126, 156, "*", 166), marks=STAR, **told))["kind=not_stated"] == (10, 10)


def test_a_subtotal_that_no_number_shows_must_be_told(tmp_path: Path) -> None:
    text, told = STATED.format(*["<5"] * 5), {"totals": {"kind": "households"}}
    with pytest.raises(
        GenverifyError, match=r"t0: kind: 'total_stated' is called a total, but its parts are not clear.*--hierarchy"
    ):
        audit(tmp_path, text, **told)
    hrc = "households\n@total_stated\n@@a\n@@b\n@not_stated\n"
    found = ranges(audit(tmp_path, text, hrc=hrc, hierarchies={"kind": "h.hrc"}, **told))
    assert set(found.values()) == {(0, 4)}
    assert len(found) == 5


@pytest.mark.parametrize(("hrc", "total", "message"), [
    ("total\n@a\n@@b\n@b\n", None, r"h\.hrc, line 4: 'b' is listed a second time \(first: line 3\)"),
    ("a\n@b\n@@a\n", None, r"h\.hrc, line 3: 'a' is listed a second time \(first: line 1\)"),
    ("a\n@total\nb\n", "total", r"h\.hrc, line 2: 'total' is the total, and cannot be a part"),
    ("total\n@a\n", None, r"h\.hrc: lacks 'b', which the table prints"),
    ("total\n@@a\n", None, r"h\.hrc, line 2: 'a' is more than one level below"),
])  # fmt: skip
def test_a_wrong_hierarchy_is_refused_by_line(tmp_path: Path, hrc: str, total: str | None, message: str) -> None:
    with pytest.raises(GenverifyError, match=message):
        audit(tmp_path, SMALL, hrc=hrc, hierarchies={"kind": "h.hrc"}, totals={"kind": total} if total else {})


@pytest.mark.parametrize(("sums", "message"), [
    ({"a": ["b"], "b": ["a"]}, "'a' would be part of its part 'b'"),
    ({"total": ["total", "a", "b"]}, "'total' would be itself"),
    ({"total": ["a", "b", "a"]}, "'total' would count 'a' twice"),
    ({"total": ["a"]}, "'b' is not a part of 'total'"),
    ({"total": ["a", "c"]}, "'total' adds up 'c', no label of kind"),
])  # fmt: skip
def test_wrong_sums_are_refused(tmp_path: Path, sums: dict[str, list[str]], message: str) -> None:
    with pytest.raises(GenverifyError, match=message):
        audit(tmp_path, SMALL, tables={"t0": {"sums": {"kind": sums}}})


def test_labels_of_a_hierarchy_that_no_table_prints_are_unknown_parts(tmp_path: Path) -> None:
    text = "kind,count\na,3\nb,*\ntotal,10\n"
    both = audit(tmp_path, text, marks=STAR, hrc="total\n@x\n@@a\n@@b\n@y\n@@c\n@@d\n", hierarchies={"kind": "h.hrc"})
    assert ranges(both)["kind=b"] == (0, 7)
    understood = interpret(PrintedForm(printed=["t0.csv"], marks=STAR, hierarchies={"kind": "h.hrc"}), tmp_path)
    (tmp_path / "r.yaml").write_text(written(understood), encoding="utf-8")
    again = interpret(read_printed(tmp_path / "r.yaml", {}), tmp_path)
    assert ranges(find_intervals(again.linked, WORK))["kind=b"] == (0, 7)
    below = audit(tmp_path, text, marks=STAR, hrc="world\n@total\n@@a\n@@b\n@other\n", hierarchies={"kind": "h.hrc"})
    assert ranges(below)["kind=b"] == (7, 7)


@pytest.mark.parametrize("told", [{"totals": {"sort": "total"}}, {"hierarchies": {"sort": "h.hrc"}}])
def test_what_is_told_of_no_column_is_an_error(tmp_path: Path, told: dict[str, Any]) -> None:
    with pytest.raises(GenverifyError, match="sort: no table has this column"):
        audit(tmp_path, SMALL, **told)


def test_stacked_breakdowns_are_sets_of_parts_of_one_total(tmp_path: Path) -> None:
    text = "who,count\nmen,6\nwomen,*\nnorth,*\nsouth,7\nTotal,10\n"
    sums = {"Total": [["men", "women"], ["north", "south"]]}
    exposed = audit(tmp_path, text, marks=STAR, tables={"t0": {"sums": {"who": sums}}})
    assert hidden(exposed) == [(4, 4), (3, 3)]


def test_a_table_that_lists_some_labels_does_not_empty_the_others(tmp_path: Path) -> None:
    """The first table has no total; the second shows that there are more labels than those of the first."""
    found = audit(tmp_path, "age,count\na,1\nb,2\n", "age,count\na,1\nb,2\nc,*\nTotal,9\n", marks=STAR)
    assert ranges(found)["age=c"] == (6, 6)


# names of cells


def test_a_label_with_a_comma_is_no_cell_of_another_table(tmp_path: Path) -> None:
    one = 'A,count\n"north, B=old",*\nsouth,3\nTotal,*\n'
    two = "A,B,count\nnorth,old,5\nnorth,new,*\nsouth,old,*\nsouth,new,*\n"
    exposed = audit(tmp_path, one, two, marks=STAR)
    assert sorted(hidden(exposed), key=str) == [(0, 3), (0, 3), (0, None), (0, None), (3, None)]


def test_columns_of_one_table_are_never_one_column(tmp_path: Path) -> None:
    """Who moved from where to where: rows and columns have the same labels, and no names."""
    found = ranges(audit(tmp_path, ",north,south,Total\nnorth,5,*,9\nsouth,*,2,*\nTotal,6,*,*\n", marks=STAR))
    assert found["columns=south, rows=north"] == (4, 4)
    assert found["columns=north, rows=south"] == (1, 1)
    twice = audit(tmp_path, "place,place,obs_value\nnorth,south,5\nsouth,north,*\nnorth,north,3\n", marks=STAR)
    assert hidden(twice) == [(0, None)]
    assert [column for column in twice.linked.columns if column.startswith("place")] == ["place", "place (2)"]


def test_facts_are_read_against_the_labels(tmp_path: Path) -> None:
    one = 'A,B,count\nnorth,old,*\nnorth,new,*\n"north, B=old",old,*\n"north, B=old",new,*\n'
    with pytest.raises(
        GenverifyError, match=r"'A=north, B=old' may be A=north, B=old or A=\"north, B=old\"; put .* in double quotes"
    ):
        audit(tmp_path, one, marks=STAR, facts=["A=north, B=old >= 3"])
    exposed = audit(tmp_path, one, marks=STAR, facts=['A="north", B="old" >= 3', 'A="north, B=old" <= 9'])
    assert ranges(exposed)["A=north, B=old"] == (3, None)
    assert ranges(exposed)['A="north, B=old", B=old'] == (0, 9)
    with pytest.raises(GenverifyError, match="no table has a cell 'A=q'"):
        audit(tmp_path, one, marks=STAR, facts=["A=q >= 3"])


def test_two_sets_of_parts_that_are_listed_alike_are_two_sums(tmp_path: Path) -> None:
    """More than four parts are abbreviated in the name of their sum: two of one total may look the same."""
    first, second = ["p0", "p1", "p2", "p3", "p4"], ["p0", "p1", "q2", "q3", "p4"]
    text = "who,count\n" + "".join(f"{label},{'*' if label[1] == '3' else 2}\n" for label in [*first, "q2", "q3"])
    sums = {"Total": [first, second]}
    exposed = audit(tmp_path, text + "Total,20\n", marks=STAR, tables={"t0": {"sums": {"who": sums}}})
    assert hidden(exposed) == [(12, 12), (12, 12)]


def test_a_total_of_rounded_counts_adds_up_all_labels_and_not_a_run_beside_it(tmp_path: Path) -> None:
    """By chance, the last two labels agree with the total in two columns; the others may be part of it as well."""
    text = "kind/sex,sex a,sex b,sex c\nkind a,*,3,0\nkind b,*,*,0\nkind c,0,*,0\nkind d,3,0,6\nTotal,3,*,6\n"
    found = ranges(audit(tmp_path, text, marks=STAR, rule=["random=3"]))
    assert found["kind=kind a, sex=sex a"] == (0, 4)


def test_measures_and_periods_are_not_added_up(tmp_path: Path) -> None:
    """Pupils and classes of a school make no sum that teachers and rooms of it could be compared with."""
    pupils, staff = "school,pupils,classes\nA,30,*\nB,50,2\n", "school,teachers,rooms\nA,2,5\nB,3,*\n"
    exposed = audit(tmp_path, pupils, staff, marks=STAR)
    assert (hidden(exposed), exposed.linked.sums.rows, exposed.linked.assumed) == ([(0, None), (0, None)], (), ())
    timed = "year,area,count\n" + "".join(f"{year},{area},{count}\n" for year in range(2001, 2009) for area, count in
                                           (("A", "*"), ("B", 4), ("Total", 9 + year % 5)))  # fmt: skip
    exposed = audit(tmp_path, timed, marks=STAR)
    assert len(exposed.linked.sums.rows) == 8
    assert [low for low, _ in hidden(exposed)] == [5 + year % 5 for year in range(2001, 2009)]


def test_many_slips_are_left_out_at_once(tmp_path: Path) -> None:
    """Every sum that printed counts alone contradict, by its name; the rest, with an open part or right, stays."""
    slips = "".join(f"s{at},{at},3,{at + 4}\n" for at in range(20, 60))
    text = f"site,men,women,Total\n{slips}" + "".join(f"r{at},{at},2,{at + 2}\n" for at in range(400)) + "q,*,7,12\n"
    with pytest.raises(ContradictionError) as error:
        audit(tmp_path, text, marks=STAR)
    assert len(error.value.rows) == 40
