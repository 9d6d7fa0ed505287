"""Table 1, all conditions, the paper's numbers and the figures of the housing study, on small cases by hand."""

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from drawn import cut_off
from genverify.model.errors import DataError
from genverify.model.files import read_yaml
from housing_condition import UNPROTECTED
from housing_study import FILE
from studies.housing.evaluate import CURVE, check_sound, judge_blocks, summarise_blocks, with_reconstructions
from studies.housing.figures import (
    POINTS,
    correlation,
    flagged_bins,
    near_bins,
    plot_both,
    plot_flagged,
    plot_match_rate,
    plot_near,
    plot_putative,
    plot_unique,
    plot_variability,
    putative_counts,
    thin,
    variability_points,
)
from studies.housing.households import read_household_file
from studies.housing.tables import (
    Evidence,
    block_table,
    block_text,
    condition_table,
    condition_text,
    numbers_table,
    numbers_text,
)

PAPER = read_yaml(Path(__file__).parents[3] / "data/papers/subsidized_housing.yaml")
COMPUTED = read_yaml(Path(__file__).parents[3] / "data/housing/numbers.yaml")
LABEL = "synthetic households"
BLOCKS = [f"01001020100100{number}" for number in range(4)]


def private() -> pd.DataFrame:
    """Four blocks of a subsidized and another household; the first two hold a violation."""
    rows = [(b, 1, 3 if place < 2 else 2, 0, 1) for place, b in enumerate(BLOCKS)] + [(b, 0, 6, 1, 2) for b in BLOCKS]
    return pd.DataFrame(rows, columns=["block", "BEDROOMS", "SIZE", "CHILDREN", "RACE"]).sort_values("block", kind="stable")


def judged(*verdicts: str) -> pd.DataFrame:
    blocks = pd.DataFrame({"block": BLOCKS, "n": 2, "n_s": 1, "verdict": verdicts, "least_violations": 0})
    counted = pd.DataFrame({"block": [BLOCKS[0]], "times": [3], "first": [2]})
    return with_reconstructions(judge_blocks(private(), blocks, FILE), counted, pd.Series({BLOCKS[0]: 2, BLOCKS[3]: 2}))


NONE = judged("violation", "possible", "possible", "possible")
SWAPPED = judged("possible", "violation", "possible", "undecided")
NOISY = judged("violation", "violation", "contradiction", "possible")


def curve(source: str, key: str, scope: str, rows: list[tuple[int, int]], whole: int) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["putative", "true"])
    frame = frame.assign(source=source, key=key, scope=scope, k=np.arange(1, len(rows) + 1), frequency=1.0, match_rate=0.5)
    return frame.assign(precision=frame["true"] / frame["putative"], recall=frame["true"] / whole)[CURVE]


def all_curves(source: str) -> pd.DataFrame:
    keys = ("hud", "race_child", "subsidized_race_child")
    return pd.concat([curve(source, key, scope, [(1, 1), (4, 2)], 2) for key in keys for scope in ("all", "unique")])


def all_totals() -> pd.DataFrame:
    rows = [
        (key, scope, 8, 2, 2, 4, 1) for key in ("hud", "race_child", "subsidized_race_child") for scope in ("all", "unique")
    ]
    names = ["key", "scope", "households", "true", "violations", "flagged_households", "flagged_violations"]
    return pd.DataFrame(rows, columns=names)


def variability() -> pd.DataFrame:
    shares = {"all": [1.0, 1.0, 0.5, 0.0], "simple": [0.0, 0.04, 0.5, 0.0]}
    frames = [
        pd.DataFrame({"block": BLOCKS, "attributes": name, "solvar": [round(200 * x) for x in own], "share": own})
        for name, own in shares.items()
    ]
    return pd.concat(frames, ignore_index=True).assign(exact=[True] * 7 + [False], records=2, n=2, n_s=1)


def evidence() -> Evidence:
    conditions = {"none": NONE, "swapping": SWAPPED, "dp": NOISY}
    conditions |= {f"{name}_all": judged for name, judged in conditions.items()}
    curves = {name: all_curves(name) for name in (*conditions, "sampling")}
    totals = {name: all_totals() for name in conditions}
    return Evidence(conditions, curves, totals, variability(), private(), FILE, ["SIZE", "BEDROOMS", "WHITE", "CHILD"])


def test_blocks_beside_the_truth() -> None:
    assert NONE["violations"].tolist() == [1, 1, 0, 0]
    assert NONE["flagged"].tolist() == [True, False, False, False]
    assert NONE["first"].fillna(-1).tolist() == [2, -1, -1, 0]
    assert NONE["mean"].fillna(-1).tolist() == [1.5, -1, -1, 0]
    found = summarise_blocks(NOISY)
    assert (found["putative_blocks"], found["block_precision"], found["block_recall"]) == (3, 2 / 3, 1)
    assert (found["contradictions"], found["chance_precision"], found["chance_recall"]) == (1, 0.5, 0.75)


def test_verdicts_and_households_are_about_the_same_blocks() -> None:
    blocks = pd.DataFrame({"block": BLOCKS[1:], "n": 2, "n_s": 1, "verdict": "possible", "least_violations": 0})
    with pytest.raises(DataError, match=f"block {BLOCKS[0]}: missing from blocks.parquet"):
        judge_blocks(private(), blocks, FILE)


def test_a_false_flag_without_protection_stops_the_job_and_names_the_block() -> None:
    wrong = judged("violation", "possible", "violation", "possible")
    with pytest.raises(DataError, match=f"condition none: 1 flagged blocks hold no violation.*block {BLOCKS[2]}"):
        check_sound(wrong, UNPROTECTED, "none", synthetic=True)
    with pytest.raises(DataError, match="not named") as error:
        check_sound(wrong, UNPROTECTED, "none", synthetic=False)
    assert BLOCKS[2] not in str(error.value)
    check_sound(NONE, UNPROTECTED, "none", synthetic=True)
    for change in ({"swap": 0.1}, {"noise": "das"}, {"noise_hud": True}):
        check_sound(wrong, UNPROTECTED.but(**change), "protected", synthetic=True)


def test_table1_beside_the_paper() -> None:
    table = block_table({"none_all": NONE, "swapping_all": SWAPPED, "dp_all": NOISY}, PAPER["table1"], LABEL)
    assert list(table.columns) == ["measure", "none", "swapping", "dp", "paper_none", "paper_swapping", "paper_dp", "data"]
    wanted = ["blocks_with_violation", "putative_blocks", "block_precision", "block_recall"]
    assert table["measure"].tolist()[:4] == wanted
    assert table["dp"].tolist()[:4] == [2, 3, 0.6667, 1.0]
    assert table["paper_swapping"].tolist()[:4] == [4590, 1532, 0.98, 0.33]
    assert table["paper_dp"].tolist()[4:] == [10224, 0.4489, 0.6556]
    assert "4590," in table.to_csv(index=False)  # a count stays a whole number
    text = block_text(table, LABEL)
    assert "| Putative blocks with a violation or more | 1 (25.0 %) | 1 (25.0 %) | 3 (75.0 %) | 2,391 (23.4 %) |" in text


def test_a_study_without_a_condition_of_table1() -> None:
    with pytest.raises(DataError, match="Table 1 needs the condition 'dp_all': name it under housing"):
        block_table({"none_all": NONE, "swapping_all": SWAPPED}, PAPER["table1"], LABEL)


def test_conditions_with_chance_and_households() -> None:
    settings = dict.fromkeys(("none", "dp"), UNPROTECTED)
    curves = {"none": all_curves("none"), "dp": all_curves("dp")[:0]}
    table = condition_table({"none": NONE, "dp": NOISY}, curves, {name: all_totals() for name in settings}, settings, LABEL)
    first, second = table.to_dict("records")
    assert (first["hud_all_putative"], first["hud_all_true"], first["hud_all_precision"], first["hud_all_recall"]) == (
        4,
        2,
        0.5,
        1,
    )
    assert (first["hud_all_chance"], first["hud_all_chance_flagged"]) == (0.25, 0.25)
    assert (second["contradictions"], second["hud_unique_putative"]) == (1, 0)
    assert np.isnan(second["hud_unique_precision"])
    assert "## Key race_child, unique households" in condition_text(table, LABEL)


def test_every_number_of_the_paper_stands_beside_ours() -> None:
    table = numbers_table(evidence(), PAPER["numbers"], COMPUTED, LABEL)
    assert set(table["key"]) == set(PAPER["numbers"])
    ours = {(row["key"], row["unit"], row["condition"]): row for row in table.to_dict("records")}
    flagged = ours["public_flagged", "share", "none"]
    assert (flagged["paper"], flagged["ours"], flagged["difference"]) == (0.098, 0.25, 0.152)
    assert flagged["note"].startswith(f"the paper's are public data, ours {LABEL}")
    assert ours["block_recall", "share", "none_all"]["ours"] == 0.5
    assert ours["false_flags", "count", "swapping_all"]["ours"] == 0
    assert ours["hud_precision", "share", "none"]["ours"] == 0.5
    assert ours["dp_contradictions", "share", "dp"]["ours"] == 0.25
    assert [ours[f"dp_rest_{when}", "count", "dp"]["ours"] for when in ("before", "after")] == [1, 2]
    assert ours["all_may_differ", "share", "none"]["ours"] == 0.5
    missing = ours["hud_unique_precision_dp", "share", "dp_uniform"]
    assert "this study has no such blocks, households or condition" in missing["note"]
    assert np.isnan(missing["difference"])
    assert "| 3.2 | blocks that must hold a violation |" in numbers_text(table, LABEL)


def test_households_of_blocks_that_are_known_for_certain() -> None:
    """The simple set is certain in the first block; the last one is not exact, and the second differs in 4 %."""
    found = {
        row["key"]: row["ours"]
        for row in numbers_table(evidence(), PAPER["numbers"], COMPUTED, LABEL).to_dict("records")[::-1]
    }
    assert (found["zero_simple"], found["zero_simple_households"], found["zero_simple_subsidized"]) == (1, 2, 1)
    assert (found["zero_simple_unique"], found["zero_simple_unique_violations"]) == (2, 1)
    assert (found["near_simple"], found["near_simple_households"], found["near_simple_unique_violations"]) == (1, 2, 1)
    assert (found["zero_all"], found["zero_all_violations"]) == (1, 0)


def test_a_statement_that_nobody_computes() -> None:
    with pytest.raises(DataError, match="'more' is not both in the file of the paper's numbers and computed here"):
        numbers_table(evidence(), {**PAPER["numbers"], "more": {}}, COMPUTED, LABEL)


def test_what_the_paper_prints_twice_is_the_same_number() -> None:
    numbers, table = PAPER["numbers"], PAPER["table1"]
    assert numbers["blocks_with_violation"]["count"] == table["none"]["blocks_with_violation"]
    assert numbers["flagged_swapping"]["count"] == table["swapping"]["putative_blocks"]
    assert numbers["block_precision_dp"]["share"] == table["dp"]["block_precision"]
    for entry in numbers.values():
        if {"count", "of", "share"} <= entry.keys():
            assert entry["count"] / entry["of"] == pytest.approx(entry["share"], abs=0.005)


def all_figures() -> dict[str, Figure]:
    curves = pd.concat([all_curves(name) for name in ("none", "swapping", "dp", "mine", "sampling")], ignore_index=True)
    unique, totals, two = curves[curves["scope"] == "unique"], all_totals(), ["hud", "race_child"]
    points = variability_points(variability())
    return {
        "fig2": plot_variability(points, LABEL),
        "fig3": plot_unique(unique, totals, two, LABEL, "putative"),
        "a1": plot_flagged(flagged_bins(NONE), LABEL),
        "a2": plot_near(near_bins(variability()), LABEL),
        "a3": plot_putative(putative_counts(NONE), "none", LABEL),
        "a4": plot_unique(unique, totals, two, LABEL, "recall"),
        "a5": plot_both(curves[curves["scope"] == "all"], totals, two, LABEL, "all"),
        "a6": plot_both(unique, totals, ["subsidized_race_child"], LABEL, "unique"),
        "g7": plot_match_rate(unique, [*two, "subsidized_race_child"], LABEL),
    }


def test_figures_name_their_data_and_stay_on_the_page() -> None:
    for name, figure in all_figures().items():
        assert any(text.get_text() == LABEL for text in figure.texts), name
        assert not cut_off(figure), name


def test_the_highest_curve_of_a_row_of_panels_stays_inside() -> None:
    curves = all_curves("none").query("scope == 'all'")
    steep = curves.assign(recall=curves["recall"].where(curves["key"] == "race_child", 0.1))
    below = plot_both(steep, all_totals(), ["hud", "race_child"], LABEL, "all").axes[3]
    assert below.get_ylim()[0] == 0
    assert max(line.get_ydata().max() for line in below.get_lines()) <= below.get_ylim()[1]


def test_the_same_figure_has_the_same_bytes() -> None:
    files = []
    for _ in range(2):
        files.append(io.BytesIO())
        all_figures()["fig3"].savefig(files[-1], format="png", metadata={"Software": None})
    assert files[0].getvalue() == files[1].getvalue()


def test_counts_behind_the_block_figures() -> None:
    points = variability_points(variability())
    simple = points[points["attributes"] == "simple"]
    assert simple["share"].tolist() == [0.0, 0.04, 0.5, 1.0]
    assert simple["most_blocks"].tolist() == [0.5, 0.75, 1.0, 1.0]
    assert simple["least_blocks"].tolist() == [0.25, 0.5, 0.75, 1.0]  # the fourth block is not exact
    assert simple["households"].unique().tolist() == [8]
    open_block = variability().assign(share=np.nan, exact=False)
    assert variability_points(pd.concat([variability(), open_block], ignore_index=True)).equals(points)
    frame = NONE.assign(n=[20, 40, 40, 100], n_s=[11, 20, 21, 100])
    bins = flagged_bins(frame)
    numbers, shares = bins[bins["by"] == "subsidized households"], bins[bins["by"] == "share subsidized"]
    assert numbers["blocks"].tolist()[:2] == [2, 1]
    assert (numbers["blocks"].sum(), numbers["flagged"].sum(), numbers["with_violation"].sum()) == (4, 1, 2)
    assert shares["blocks"].tolist() == [0, 0, 0, 0, 0, 3, 0, 0, 0, 1]
    assert near_bins(variability())["near"].tolist()[5] == 2  # the fourth block is not exact
    assert putative_counts(NONE)[["putative", "violations", "blocks"]].to_numpy().tolist() == [[0, 0, 1], [2, 1, 1]]


def test_correlation_over_blocks() -> None:
    counts = pd.DataFrame({"putative": [0, 1, 3], "violations": [0, 1, 2], "blocks": [2, 1, 1]})
    long = counts.loc[counts.index.repeat(counts["blocks"])]
    assert correlation(counts) == pytest.approx(np.corrcoef(long["putative"], long["violations"])[0, 1])
    assert np.isnan(correlation(counts[:1]))


def test_a_long_curve_is_thinned_and_keeps_its_ends() -> None:
    rows = [(number, number // 2) for number in range(1, 5001)]
    drawn = thin(curve("none", "hud", "all", rows, 2500), "putative")
    assert len(drawn) <= POINTS
    assert drawn["putative"].iloc[[0, -1]].tolist() == [1, 5000]


def test_a_block_that_swapping_takes_out_of_the_release_is_not_flagged(root: Path) -> None:
    file = read_household_file(root / "data" / "housing" / "domain.yaml")
    rows = [("a", 1, 3, 0, 1), ("a", 0, 1, 0, 1), ("b", 1, 3, 0, 1)]
    households = pd.DataFrame(rows, columns=["block", "BEDROOMS", "SIZE", "CHILDREN", "RACE"])
    blocks = pd.DataFrame({"block": ["a"], "n": [2], "n_s": [1], "verdict": ["violation"], "least_violations": [1]})
    with pytest.raises(DataError, match="block b: missing"):
        judge_blocks(households, blocks, file)
    frame = judge_blocks(households, blocks, file, suppresses=True)
    assert frame["verdict"].tolist() == ["violation", "suppressed"]
    assert frame["flagged"].tolist() == [True, False]
    assert frame["n"].tolist() == [2, 1]
    assert summarise_blocks(frame)["suppressed"] == 1
    assert summarise_blocks(frame)["block_recall"] == 0.5
