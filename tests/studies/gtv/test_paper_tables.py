"""Tables 1 and 4 to 7 and the numbers of the text, on small cases with variants that were never run."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from genverify.attack.explain import _parse_phrases
from genverify.model.domain import Column, Domain
from genverify.model.errors import DataError
from genverify.model.files import read_yaml
from genverify.report.pages import cell, markdown_table
from studies.gtv.numbers import Evidence, Figure, judge, numbers_table, why
from studies.gtv.tables import (
    ablation_table,
    ablation_text,
    choose_examples,
    column_table,
    column_text,
    comparison_table,
    comparison_text,
    households_table,
    households_text,
    require_synthetic,
    table1,
    table1_text,
)

PAPER = read_yaml(Path(__file__).parents[3] / "data/papers/generate_then_verify.yaml")
REASONS = read_yaml(Path(__file__).parents[3] / "data/papers/generate_then_verify_why.yaml")
COLUMNS = [f"C{number}" for number in range(9)] + ["HHT2", "TP65"]
LABEL = "synthetic microdata"


def counts(per_block: dict[str, list[int]], n: int = 10) -> pd.DataFrame:
    """households.parquet of a study: per block the households singled out at k = 6..10; all claims: one more."""
    rows = []
    for block, found in per_block.items():
        design = "state_median" if block.startswith("s") else "country_median"
        for claims, more in (("singleton", 0), ("all", 1)):
            rows += [(block, design, n, claims, "k", k, h + more) for k, h in zip(range(6, 11), found, strict=True)]
            rows += [(block, design, n, claims, "effective_k", k, found[0] if k == 2 else 0) for k in range(11)]
    return pd.DataFrame(rows, columns=["block", "design", "n_households", "claims", "grouping", "columns", "households"])


def answers(blocks: list[str], published: int, zeros: int, ones: int) -> pd.DataFrame:
    return pd.DataFrame({"block": blocks, "queries": 621, "published": published, "zeros": zeros, "ones": ones})


STUDY = counts({"s1": [4, 3, 2, 1, 0], "s2": [2, 1, 0, 0, 0], "c1": [5, 4, 3, 2, 1], "c2": [1, 0, 0, 0, 0]})


def value(table: pd.DataFrame, name: str, **where: Any) -> float:
    rows = table[np.logical_and.reduce([table[key] == wanted for key, wanted in where.items()])]
    assert len(rows) == 1
    return float(rows[name].iloc[0])


def test_table4_sums_blocks_and_stands_beside_the_paper() -> None:
    table = households_table(STUDY, "singleton", PAPER["table4"], 1, LABEL)
    state = {"grouping": "k", "design": "state_median"}
    assert value(table, "ours", **state, statistic="total", columns=6) == 6
    assert value(table, "ours", **state, statistic="average", columns=6) == 3
    assert value(table, "paper", **state, statistic="total", columns=6) == 659
    assert value(table, "difference", **state, statistic="total", columns=6) == 6 - 659
    assert value(table, "ours", **state, statistic="total", columns="households") == 20
    assert (
        value(table, "low", **state, statistic="total", columns=6),
        value(table, "high", **state, statistic="total", columns=6),
    ) == (4, 8)
    assert set(table["data"]) == {LABEL}


def test_table7_counts_all_claims_and_both_tables_group_by_effective_k() -> None:
    table = households_table(STUDY, "all", PAPER["table7"], 1, LABEL)
    assert value(table, "ours", grouping="k", design="country_median", statistic="total", columns=7) == 6
    by_effective = {"grouping": "effective_k", "design": "country_median", "statistic": "total"}
    assert value(table, "ours", **by_effective, columns=2) == 6
    assert value(table, "ours", **by_effective, columns=10) == 0
    assert np.isnan(value(table, "paper", **by_effective, columns=2))


def test_the_paper_households_are_those_that_are_meant() -> None:
    for name in ("table4", "table7"):
        designs = PAPER[name]["designs"]
        assert [designs[d]["households"]["total"] for d in ("state_median", "country_median")] == [2430, 2500]
        for design, blocks in (("state_median", 250), ("country_median", 232)):
            for k, total in designs[design]["total"].items():
                assert abs(total / blocks - designs[design]["average"][k]) < 0.006, (name, design, k)


def test_table4_as_text_names_the_data_and_the_slips_and_cuts_empty_ends() -> None:
    table = households_table(STUDY, "singleton", PAPER["table4"], 1, LABEL)
    text = households_text(table, "Table 4", PAPER["table4"]["slips"], LABEL)
    assert "Data: **synthetic microdata**." in text
    assert "divided by 232 blocks" in text
    assert "| **state median, total** | 20 | 6 | 4 | 2 | 1 | 0 |" in text
    assert "|  | households | 0 | 1 | 2 | 3 | 4 |" in text


def variants() -> tuple[dict[str, pd.DataFrame], dict[str, pd.DataFrame]]:
    found = {"no_ones": counts({"c1": [1, 0, 0, 0, 0], "c2": [0] * 5}), "paper": STUDY, "mine": STUDY}
    published = {"no_ones": answers(["c1", "c2"], 559, 500, 0), "paper": answers(["s1", "s2", "c1", "c2"], 621, 500, 62)}
    return found, published | {"mine": published["paper"]}


def test_table5_puts_the_papers_variants_first_and_measures_what_is_removed() -> None:
    table = ablation_table(*variants(), PAPER["table5"], 1, LABEL)
    assert list(dict.fromkeys(table["variant"])) == ["paper", "no_ones", "mine"]
    assert value(table, "ours", grouping="k", variant="no_ones", columns="removed_percent") == round(100 * 62 / 621, 2)
    assert value(table, "paper", grouping="k", variant="no_ones", columns="removed_percent") == 3.40
    assert value(table, "ours", grouping="k", variant="no_ones", columns=6) == 1
    assert value(table, "difference", grouping="k", variant="no_ones", columns=6) == 1 - 249
    assert value(table, "ours", grouping="k", variant="paper", columns=6) == 6
    assert np.isnan(value(table, "paper", grouping="k", variant="mine", columns=6))
    text = ablation_text(table, ["no_zeros"], LABEL)
    assert text.index("**no ones**") < text.index("Beyond the paper:") < text.index("**mine**")
    assert "variant no_zeros of the paper is not among" in text


def test_table5_without_its_design_says_so() -> None:
    found, published = variants()
    with pytest.raises(DataError, match="variant paper: no block of design country_median"):
        ablation_table({"paper": found["paper"].query("design == 'state_median'")}, published, PAPER["table5"], 1, LABEL)


def test_two_variants_are_compared_block_by_block() -> None:
    first, second = counts({"c1": [3] * 5, "c2": [5] * 5}), counts({"c1": [3] * 5, "c2": [1] * 5})
    table = comparison_table(first, second, 1, "synthetic")
    row = table[(table["claims"] == "singleton") & (table["grouping"] == "k") & (table["columns"] == 6)].iloc[0]
    assert (row["first"], row["second"], row["difference"], row["percent"]) == (8, 4, -4, -50)
    assert (row["low"], row["high"]) == (-8, 0)  # c2 is drawn twice, or c1
    same = comparison_table(first, first, 1, "synthetic")
    assert (same[["difference", "low", "high"]] == 0).all(axis=None)
    assert "households of b less those of a" in comparison_text(table, "a", "b", "synthetic")
    with pytest.raises(DataError, match="not about the same blocks"):
        comparison_table(first, counts({"c1": [3] * 5, "c3": [5] * 5}), 1, "synthetic")


def claims_of(rows: list[tuple[str, int, list[str]]]) -> pd.DataFrame:
    """Claims (block, m, columns left out) over the eleven columns, every code 1."""
    frame = pd.DataFrame(
        {"block": [block for block, _, _ in rows], "design": "country_median", "m": [m for _, m, _ in rows]}
    )
    for name in COLUMNS:
        frame[name] = pd.array([None if name in left_out else 1 for _, _, left_out in rows], dtype="Int16")
    return frame.assign(k=frame[COLUMNS].notna().sum(axis=1), effective_k=2)


TWO_BLOCKS = pd.DataFrame({"block": ["c1", "c2"], "design": "country_median", "n_households": 10})


def test_table6_ranks_combinations_of_singleton_claims() -> None:
    rows = [("c1", 1, ["C0", "HHT2"]), ("c2", 1, ["C0", "HHT2"]), ("c1", 1, ["C0", "TP65"]), ("c2", 1, ["C0", "C1"]),
            ("c1", 2, ["C0", "C1"]), ("c1", 2, ["C0", "C1"])]  # fmt: skip
    table = column_table(claims_of(rows), TWO_BLOCKS, COLUMNS, PAPER["table6"], 1, LABEL)
    assert table["omits"].iloc[0] == "C0 HHT2"
    assert table["percent"].tolist() == [50.0, 25.0, 25.0]
    assert table["omits"].tolist()[1:] == ["C0 TP65", "C0 C1"]
    assert table["agrees"].tolist() == ["yes", "yes", ""]
    assert table["paper_percent"].tolist() == [44.54, 16.59, 6.11]
    assert (table["low"].iloc[0], table["high"].iloc[0]) == (50.0, 50.0)
    assert "✓" in column_text(table, COLUMNS, LABEL)


def test_table1_takes_different_states_and_says_what_is_known() -> None:
    domain = Domain(tuple(Column(name, name, (1,), ("one",)) for name in COLUMNS))
    words = {"sentences": [{"start": "It has", "join": "list", "slots": [[{"when": {n: [1]}, "say": n}] for n in COLUMNS]}]}
    rows = [(f"{state:02d}0010001001001", 1, ["C0", "C1"]) for state in (1, 1, 2, 4)] + [
        ("050010001001001", 2, ["C0", "C1"])
    ]
    claims = claims_of(rows).assign(effective_k=[1, 3, 2, 2, 2], proof=[0, 1, 2, 3, 4])
    claims.loc[1, ["C2"]] = pd.NA
    phrases = _parse_phrases(words, domain)
    table = table1(choose_examples(claims, phrases.vary), domain, phrases, LABEL)
    assert table["state"].tolist() == ["01", "02", "04"]
    assert table["claim"].iloc[1] == "It has C2, C3, C4, C5, C6, C7, C8, HHT2, and TP65."
    assert table["unknown"].iloc[1] == "C0 C1"
    assert table["proof"].tolist()[1:] == [2, 3], "the statement that proves it"
    assert "1001, 000100, 001, 02" in table1_text(table, LABEL)
    assert choose_examples(claims, ("C2",)).equals(choose_examples(claims, ("C2",)))


def test_table1_of_real_microdata_is_refused(tmp_path: Path) -> None:
    manifest = tmp_path / "microdata.json"
    manifest.write_text(json.dumps({"source": "ppmf", "label": "units.csv"}))
    with pytest.raises(DataError, match="synthetic microdata only"):
        require_synthetic(manifest, "Table 1")


def evidence() -> Evidence:
    blocks = pd.DataFrame({"block": ["s1", "s2", "c1", "c2"], "n_households": [4, 20, 10, 10]})
    designs = ["state_median"] * 2 + ["country_median"] * 2
    blocks = blocks.assign(design=designs, unique=[True, False, False, False])
    claims = claims_of([("c1", 1, ["HHT2", "TP65"]), ("c1", 1, ["HHT2", "C0"]), ("c2", 2, ["C0", "C1"])])
    probabilities = {name: [0.01, 0.03, 0.9] for name in ("tract", "state", "tract_leave_out", "state_leave_out")}
    baselines = claims[["block", "design", "k", "m"]].assign(**probabilities | {"state": [0.0, 0.01, 0.9]})
    found, published = variants()
    households = {"paper": found["paper"], "no_ones": found["no_ones"]}
    return Evidence(claims, blocks, baselines, blocks, households, published, COLUMNS, 1)


def test_numbers_of_the_text_next_to_the_papers() -> None:
    table = numbers_table(evidence(), PAPER["numbers"], REASONS, LABEL)
    assert list(dict.fromkeys(table["key"])) == list(PAPER["numbers"])
    ours = {(row["key"], row["scope"]): row["ours"] for row in table.to_dict("records")}
    assert ours["unique_blocks", "state_median"] == 50
    assert ours["unique_blocks", "both designs"] == 25
    assert ours["blocks_k8", "both designs"] == 50
    assert ours["blocks_k6", "country_median"] == 100
    assert ours["households_k6", "country_median"] == 30
    assert ours["per_block_k8", "country_median"] == 1.5
    assert ours["all_k6", "country_median"] == 40
    assert ours["no_ones_k6", "country_median"] == 5
    assert ours["ones_of_nonzero", "country_median"] == round(100 * 62 / 121, 4)
    assert ours["median", "country_median, tract, k = 9"] == 2
    assert ours["maximum", "country_median, state"] == 1
    assert ours["most_omitted", "k = 9, 100.0 % leave it out"] == "HHT2"
    assert ours["smallest_block", ""] == 4
    assert set(table["why"].str.split(":").str[0]) <= {"agrees", "measured", "open", "not judged"}
    assert (table["why"] == "agrees").equals(table["agrees"] == "yes")
    assert (table["why"] == "not judged").equals(table["agrees"] == "")


def test_a_number_that_differs_is_measured_or_open() -> None:
    entry = {"at_most": 2, "measured": {"state_median": "another run"}}
    figure = Figure("state_median, tract, k = 6", 4.0)
    assert [why(agrees, figure, entry) for agrees in ("yes", "no", "")] == ["agrees", "measured: another run", "not judged"]
    elsewhere = Figure("country_median, tract, k = 6", 4.0, leave_out=2.1)
    assert why("no", elsewhere, entry) == "open"
    assert why("no", elsewhere, entry | {"open": "noise lowers it"}) == "open: noise lowers it"
    left_out = why("no", replace(elsewhere, leave_out=1.9), entry)
    assert left_out == "measured: agrees where the block is left out of its prior (column leave_out)"


def test_a_statement_about_a_variant_that_was_not_run_stays_open() -> None:
    table = numbers_table(evidence(), PAPER["numbers"], REASONS, LABEL)
    row = table[table["key"] == "no_zeros_ones"].iloc[0]
    assert np.isnan(row["ours"])
    assert row["agrees"] == ""
    assert "no such" in row["remark"]


def test_a_statement_that_nothing_computes_is_an_error() -> None:
    extra = PAPER["numbers"] | {"new": {"where": "", "statement": "", "paper": ""}}
    with pytest.raises(DataError, match="'new'"):
        numbers_table(evidence(), extra, REASONS, LABEL)


@pytest.mark.parametrize(
    ("figure", "entry", "verdict"),
    [
        (Figure("", 46.0), {"at_least": 35, "at_most": 45}, "no"),
        (Figure("", 10.0, 8.0, 12.0), {"about": 11.5}, "yes"),
        (Figure("", 10.0, 8.0, 11.0), {"about": 11.5}, "no"),
        (Figure("", 621.0), {"about": 621}, "yes"),
        (Figure("", "TP65"), {"equals": "HHT2"}, "no"),
        (Figure("", 1.0), {}, ""),
    ],
)
def test_agreement_is_measured_by_the_papers_words(figure: Figure, entry: dict[str, Any], verdict: str) -> None:
    assert judge(figure, entry) == verdict


def test_cells_of_a_markdown_table() -> None:
    assert [cell(x) for x in (2500.0, 0.336, float("nan"), 12345, True, "k")] == [
        "2,500",
        "0.336",
        "",
        "12,345",
        "True",
        "k",
    ]
    assert markdown_table(["a", "b"], [[1, 2.5]], left=2).splitlines()[1] == "| :-- | :-- |"
