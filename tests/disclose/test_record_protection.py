"""The usual protections of a release of records: what is tried, what each costs, and rules that the data suggest."""

import re
from pathlib import Path

import pandas as pd
import pytest
import yaml

from genverify.cli import main
from genverify.disclosure.release_data import ReleaseDescription, describe
from genverify.disclosure.sources import attack_of
from genverify.disclosure.whatif import AS_IS, compare_protections, impossible_pairs, usual_protections, what_if

RELEASE = """
name: village
data: people.csv
columns: {age: {bins: [20, 40, 60]}}
tables:
  sex_age: {columns: [sex, age]}
  age_home: {columns: [age, home]}
"""
PEOPLE = [
    ("f", 15, "flat"), ("f", 25, "flat"), ("m", 25, "house"), ("m", 45, "house"), ("f", 45, "house"), ("m", 70, "flat"),
    ("f", 70, "house"), ("m", 15, "flat"), ("m", 45, "flat"), ("f", 25, "house"), ("m", 70, "house"), ("f", 45, "flat"),
]  # fmt: skip


@pytest.fixture
def village(tmp_path: Path) -> ReleaseDescription:
    (tmp_path / "release.yaml").write_text(RELEASE)
    pd.DataFrame(PEOPLE, columns=["sex", "age", "home"]).to_csv(tmp_path / "people.csv", index=False)
    return describe(tmp_path / "release.yaml")


def test_each_kind_is_tried_from_weak_to_strong(village: ReleaseDescription) -> None:
    kinds = usual_protections(village)
    assert [[form.suppress for form in kind] for kind in kinds[:2]] == [[3, 5, 10]] * 2
    assert [form.drop for kind in kinds for form in kind if form.drop] == [["sex_age"], ["age_home"]]
    (merged,) = [form.coarsen for kind in kinds for form in kind if form.coarsen]
    assert [len(texts) for texts in merged["age"].values()] == [2, 2]


def test_the_best_comes_first_and_says_what_it_loses(village: ReleaseDescription) -> None:
    attack = attack_of(village)
    table = compare_protections(village, attack, 2)
    assert table["protection"].iloc[0] == AS_IS
    rest = table.iloc[1:]
    left = rest["singleton_claims_k2"] + rest["undecided"]
    assert list(zip(left, rest["loss"], strict=True)) == sorted(zip(left, rest["loss"], strict=True))
    assert left.iloc[0] == 0 < table["singleton_claims_k2"].iloc[0]
    assert rest["loss"].between(0, 100).all()
    assert rest["protection"].str.contains(", ").any()  # pairs of the best
    # the same as what the user gets who lists the protection
    drop = village.form.model_copy(update={"protect": [kind[0] for kind in usual_protections(village) if kind[0].drop][:1]})
    alone = what_if(ReleaseDescription(**{**vars(village), "form": drop}), attack, 2).iloc[1]
    same = table[table["protection"] == alone["protection"]].iloc[0]
    assert same["singleton_claims_k2"] == alone["singleton_claims_k2"]
    assert same["loss"] > 0


def test_what_if_needs_no_list(tmp_path: Path, village: ReleaseDescription, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["what-if", str(tmp_path / "release.yaml"), "--out", str(tmp_path / "out")]) == 0
    assert "loss" in capsys.readouterr().out.splitlines()[0]
    assert (tmp_path / "out" / "whatif.csv").is_file()


def test_counts_that_are_ranges_are_not_protected_once_more(tmp_path: Path, village: ReleaseDescription) -> None:
    counts = "cell,count\nN,12\n" + "".join(
        f"{query.id},{int(count)}\n" for query, count in zip(village.schema.queries, village.exact[0].lo, strict=True)
    )
    (tmp_path / "counts.csv").write_text(counts.replace(",1\n", ",*\n").replace(",2\n", ",*\n"))
    codes = {"sex": ["f", "m"], "age": [*village.codings["age"].texts], "home": ["flat", "house"]}
    form = yaml.safe_load(RELEASE) | {"counts": "counts.csv", "published_as": {"suppress": 3}}
    form["columns"] = {name: {"codes": {text: text for text in texts}} for name, texts in codes.items()}
    del form["data"]
    (tmp_path / "counts.yaml").write_text(yaml.safe_dump(form))
    kinds = usual_protections(describe(tmp_path / "counts.yaml"))
    assert all(form.drop for kind in kinds for form in kind)


def test_a_pair_that_nobody_has_is_offered_as_a_rule(tmp_path: Path) -> None:
    rows = [("child", "no")] * 40 + [("adult", "no")] * 20 + [("adult", "yes")] * 40
    pd.DataFrame(rows, columns=["age", "drives"]).to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "release.yaml").write_text("name: a\ndata: people.csv\ntables: {t: {columns: [age, drives]}}\n")
    (rule,) = impossible_pairs(describe(tmp_path / "release.yaml"))
    assert (rule.when, rule.then) == ({"age": ["child"]}, [{"drives": ["no"]}])
    # confirmed, the rule is read: nobody is outside it
    form = yaml.safe_load((tmp_path / "release.yaml").read_text()) | {"rules": [rule.model_dump()]}
    (tmp_path / "ruled.yaml").write_text(yaml.safe_dump(form))
    assert impossible_pairs(describe(tmp_path / "ruled.yaml")) == [rule]


def test_records_are_never_called_protected_without_a_certificate(
    tmp_path: Path, village: ReleaseDescription, capsys: pytest.CaptureFixture[str]
) -> None:
    """Certificates of protection are for printed tables: about records, no text and no file says the word."""
    release, out = str(tmp_path / "release.yaml"), tmp_path / "out"
    assert main(["protect", release, "--rule", "minimum 3", "--out", str(tmp_path / "safe")]) == 2
    assert "takes printed tables" in capsys.readouterr().err
    assert not (tmp_path / "safe").exists()
    main(["disclose", release, "--out", str(out / "audit")])
    main(["what-if", release, "--out", str(out / "whatif")])
    said = "".join(capsys.readouterr())
    files = [path for path in out.rglob("*") if path.suffix in (".csv", ".json", ".yaml", ".html", ".txt")]
    assert {"whatif.csv", "answer.json", "report.html"} <= {path.name for path in files}
    for text in [said, *(path.read_text(encoding="utf-8") for path in files)]:
        assert not re.search(r"\bprotected\b", text, re.IGNORECASE)
