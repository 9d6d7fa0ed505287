"""Release files: what they describe, what the audit makes of them, and what is refused with which words."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from genverify.cli import main
from genverify.disclosure import record_audit as probable
from genverify.disclosure.record_audit import _Area, longest, search_cells, singled_out
from genverify.disclosure.record_audit import attack_records as audit
from genverify.disclosure.release_data import ReleaseDescription, bin_labels, describe
from genverify.disclosure.whatif import what_if
from genverify.model.errors import DataError
from tiny_release import ATTACK, PEOPLE, YAML, counted, write

COUNTED = ["claims", "singleton_claims", "people_singled_out"]


def test_texts_become_codes_and_tables_become_counts(tmp_path: Path) -> None:
    described = describe(write(tmp_path))
    assert described.schema.domain.names == ("age", "sex", "home")
    assert described.schema.domain["home"].meanings == ("owns", "rents")
    assert counted(described) == {
        "sex_age.f.under 65": 2, "sex_age.f.65 and over": 1, "sex_age.m.under 65": 1, "sex_age.m.65 and over": 1,
        "age_home.under 65.owns": 2, "age_home.under 65.rents": 1, "age_home.65 and over.owns": 1,
        "age_home.65 and over.rents": 1,
    }  # fmt: skip


def test_the_order_of_the_rows_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    lines = PEOPLE.splitlines()
    one = describe(write(tmp_path / "a"))
    other = describe(write(tmp_path / "b", people="\n".join([lines[0], *reversed(lines[1:])])))
    assert one.schema == other.schema
    assert counted(one) == counted(other)


def test_parquet_reads_like_csv(tmp_path: Path) -> None:
    path = write(tmp_path, YAML.replace("people.csv", "people.parquet"))
    pd.read_csv(tmp_path / "people.csv").to_parquet(tmp_path / "people.parquet")
    assert counted(describe(path)) == counted(describe(write(tmp_path)))


def test_groups_totals_filters_and_single_cells(tmp_path: Path) -> None:
    text = YAML + (
        "  t: {columns: [home, sex], groups: {home: {anyhow: [owns, rents]}}, totals: [sex], where: {age: under 65}}\n"
        "predicates: [{cell: renting women, where: {sex: f, home: [rents]}}]\n"
    )
    described = describe(write(tmp_path, text))
    counts = counted(described)
    assert {name: n for name, n in counts.items() if name.startswith("t.")} == {
        "t.anyhow.f": 2,
        "t.anyhow.m": 1,
        "t.anyhow.all": 3,
    }
    assert counts["renting women"] == 2
    assert described.schema.queries[described.schema.position["t.anyhow.f"]].label.endswith("of those with age: under 65")


def test_areas_are_decided_by_themselves_unless_something_is_counted_across(tmp_path: Path) -> None:
    apart = describe(write(tmp_path, YAML.replace("data:", "area: village\ndata:")))
    assert [(release.block, release.n) for release in apart.releases] == [("north", 3), ("south", 2)]
    text = YAML.replace("data:", "area: village\ndata:") + "  everyone: {columns: [sex], across: true}\n"
    joined = describe(write(tmp_path, text))
    assert joined.coupled
    assert joined.schema.domain.names[0] == "village"
    counts = counted(joined)
    assert (counts["area_sizes.north"], counts["north/sex_age.f.65 and over"]) == (3, 1)
    assert counts["everyone.f"] == 3
    # the sum over areas was known before: nothing new can be stated, and what was stated of an area names the area
    before = {(str(c.block), *c[4:7], c.m) for c in audit(apart, ATTACK).claims.fillna(0).itertuples()}
    codes = {1: "north", 2: "south"}
    after = audit(joined, ATTACK).claims.fillna(0)
    named = {(codes[int(c.village)], *c[5:8], c.m) for c in after[after["village"] > 0].itertuples() if c.k > 1}
    assert named == before


def as_counts(described: ReleaseDescription) -> str:
    rows = [f'"{name}",{count}' for name, count in counted(described).items()]
    return "\n".join(["cell,count", f"N,{described.people}", *rows]) + "\n"


CODES = YAML.replace("data: people.csv", "counts: counts.csv").replace(
    "{bins: [65]}", "{codes: {under 65: under 65, 65 and over: 65 and over}}"
).replace("columns:\n", "columns:\n  home: {codes: {owns: owns, rents: rents}}\n", 1)  # fmt: skip


def test_published_counts_alone_say_as_much_as_the_microdata(tmp_path: Path) -> None:
    described = describe(write(tmp_path))
    only = describe(write(tmp_path, CODES, as_counts(described), "counts.csv"))
    one, other = audit(described, ATTACK), audit(only, ATTACK)
    names = ["age", "sex", "home"]
    assert set(map(tuple, one.claims[[*names, "m"]].fillna(0).to_numpy().tolist())) == set(
        map(tuple, other.claims[[*names, "m"]].fillna(0).to_numpy().tolist())
    )
    assert singled_out(other.singles, None, names) <= singled_out(one.singles, described.records, names)


def test_a_suppressed_count_that_follows_from_a_total_is_recovered(tmp_path: Path) -> None:
    text = CODES.replace("columns: [sex, age]", "columns: [sex, age], totals: [age]").replace(
        "counts: c", "published_as: {suppress: 3}\ncounts: c"
    )
    counts = "cell,count\nN,9\nsex_age.f.under 65,4\nsex_age.f.65 and over,*\nsex_age.f.all,5\n"
    found = audit(describe(write(tmp_path, text, counts + "age_home.under 65.owns,3\n", "counts.csv")), ATTACK)
    rows = found.cells.set_index("cell")
    assert rows.loc["sex_age.f.65 and over", ["published", "lower", "upper"]].tolist() == ["1 to 2", 1, 1]
    assert rows.loc["sex_age.m.all", ["published", "lower", "upper"]].tolist() == ["", 4, 4]
    assert found.counts["suppressed_known_exactly"] + found.counts["other_known_exactly"] >= 2
    assert all(proof for proof in rows["proof"])
    assert found.check().endswith("all proofs right")


def test_the_claims_hold_and_the_proofs_are_checked_by_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, YAML + "show_claims: true\nprotect: [{suppress: 2}, {drop: sex_age}]\n")
    assert main(["disclose", str(path), "--out", str(tmp_path / "out")]) == 0
    assert "5 people" in capsys.readouterr().out
    assert main(["check", str(tmp_path / "out" / "proofs"), str(tmp_path / "out" / "release")]) == 0
    assert "all right" in capsys.readouterr().out
    claims = pd.read_csv(tmp_path / "out" / "claims.csv")
    assert set(claims["sex"].dropna()) <= {"f", "m"}
    assert main(["what-if", str(path), "--out", str(tmp_path / "out")]) == 0
    assert [line.split(",")[0] for line in capsys.readouterr().out.splitlines()[1:]] == [
        "as published",
        "suppress below 2",
        "drop sex_age",
    ]
    for word in ("disclose", "audit-release"):  # the old word still works
        assert main([word, str(path), "--cells"]) == 0
        assert capsys.readouterr().out.splitlines()[:3] == ["cell,count", "N,", "sex_age.f.under 65,"]


def test_the_same_release_gives_the_same_bytes(tmp_path: Path) -> None:
    described = describe(write(tmp_path, YAML + "published_as: {random_round: 3}\nshow_claims: true\n"))
    for name in ("one", "two"):
        audit(described, ATTACK).suppress().write(tmp_path / name)
    files = [file for file in (tmp_path / "one").rglob("*") if file.is_file()]
    assert len(files) == 12
    for file in files:
        assert file.read_bytes() == (tmp_path / "two" / file.relative_to(tmp_path / "one")).read_bytes(), file


def test_no_more_proofs_are_gone_through_when_time_is_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = audit(describe(write(tmp_path)), ATTACK)
    gone_through, as_ever = list[bool](), _Area._support

    def last(area: _Area, *proof: Any) -> frozenset[str]:
        gone_through.append(area._late())
        area.deadline = -1.0
        return as_ever(area, *proof)

    monkeypatch.setattr(_Area, "_support", last)
    search = search_cells(found.verified, ATTACK, 1, 20)
    assert gone_through == [False]
    assert len(search.steps) == 1  # the cell that hits the one proof found in time
    assert search.steps[0].left is None


def the_report(described: ReleaseDescription) -> str:
    return audit(described, ATTACK).suppress().report()


def test_claims_in_words_are_shown_only_where_the_file_says_so(tmp_path: Path) -> None:
    hidden = the_report(describe(write(tmp_path)))
    shown = the_report(describe(write(tmp_path, YAML + "show_claims: true\n")))
    assert "exactly one person has" not in hidden
    assert "This report shows aggregates" in hidden
    assert "exactly one person has age: 65 and over; sex: woman" in shown
    assert "At least 1:" in shown


def test_large_areas_of_many_classes_are_not_counted_and_the_report_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    described = describe(write(tmp_path))
    assert "too many to count" not in the_report(described)
    monkeypatch.setattr(probable, "MOST_CLASSES", 0)
    assert "too many to count" not in the_report(described)  # few records
    monkeypatch.setattr(probable, "LARGE", 5)
    assert "For 1 areas the datasets that fit are too many to count" in the_report(described)


def test_html_in_names_and_labels_is_escaped(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>"
    text = YAML.replace("{f: woman, m: man}", f'{{f: "{evil}", m: man}}') + f'title: "{evil}"\nshow_claims: true\n'
    people = PEOPLE.replace("owns", "<img src=x>")
    page = the_report(describe(write(tmp_path, text, people)))
    assert "<script" not in page
    assert "<img" not in page
    assert "&lt;script&gt;" in page
    assert "http" not in page


def test_protections_never_add_a_claim_and_say_what_they_do(tmp_path: Path) -> None:
    protect = "protect: [{suppress: 3}, {round: 2}, {coarsen: {home: {somewhere: [owns, rents]}}}, {drop: [age_home]}]\n"
    found = what_if(describe(write(tmp_path, YAML + protect)), ATTACK, 2).set_index("protection")
    assert list(found.index) == ["as published", "suppress below 3", "round to 2", "merge home", "drop age_home"]
    before = found.loc["as published"]
    for name in ("suppress below 3", "round to 2", "drop age_home"):
        assert (
            found.loc[name, ["claims", "singleton_claims", "people_singled_out"]]
            <= before[["claims", "singleton_claims", "people_singled_out"]]
        ).all()
    assert found.loc["drop age_home", "cells"] == 4
    assert found.loc["as published", "people_singled_out"] > 0


def test_people_without_records_are_counted_where_they_surely_differ() -> None:
    frame = pd.DataFrame({"block": "x", "k": [2, 1, 1], "m": 1, "A": [1, 1, 2], "B": [2, pd.NA, pd.NA]})
    assert singled_out(frame, None, ["A", "B"]) == 2
    assert longest(frame, ["A", "B"]).index.tolist() == [0, 2]


def test_bins_have_names() -> None:
    assert bin_labels([1.5, 3]) == ["under 1.5", "1.5 to under 3", "3 and over"]
    with pytest.raises(DataError, match="must rise"):
        bin_labels([3, 2])


@pytest.mark.parametrize("name", ["health_survey", "school", "census_block"])
def test_the_examples_are_synthetic_and_described_right(root: Path, name: str) -> None:
    described = describe(root / "examples" / name / "release.yaml")
    assert described.form.name == name
    assert described.form.synthetic
    page = (root / "docs" / "examples" / f"{name}.md").read_text()
    assert "synthetic" in page.lower()
    assert f"{described.people} " in page
    assert np.all([(release.lo <= release.hi).all() for release in described.releases])


def test_the_page_of_the_health_survey_says_what_the_audit_finds(root: Path) -> None:
    found = audit(describe(root / "examples" / "health_survey" / "release.yaml"), ATTACK)
    page = (root / "docs" / "examples" / "health_survey.md").read_text()
    assert f"{len(found.claims)} verified claims, {len(found.singles)} of them about exactly one person" in page
    for row in found.people[(found.people["grouping"] == "k") & (found.people["claims"] > 0)].itertuples():
        assert f"| {row.columns} | {row.claims} | {row.people} |" in page


def test_many_records_are_attacked_with_the_same_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without exchanges of records the same claims are verified."""
    from genverify.disclosure.sources import attack_of

    (tmp_path / "people.csv").write_text(
        "a,b,c\n" + "".join(f"{i % 3},{i % 2},{i * i % 5}\n" for i in range(40)) + "9,1,1\n"
    )
    (tmp_path / "r.yaml").write_text("name: r\ndata: people.csv\ntables: {t: {columns: [a, b]}, u: {columns: [b, c]}}\n")
    described = describe(tmp_path / "r.yaml")
    few = attack_of(described)(described.releases[0])
    monkeypatch.setattr(probable, "LARGE", 1)
    many = attack_of(described)(described.releases[0])
    assert set(many.claims) == set(few.claims)
    assert few.claims
