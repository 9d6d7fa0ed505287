"""Figures: the numbers they show, by hand; the same bytes from the same data; nothing drawn outside the page."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from matplotlib.figure import Figure

from drawn import cut_off
from genverify.attack.verify import Verifier, attack_release, claim_columns
from genverify.model.claims import ANY, Claim
from genverify.model.domain import Column, Domain
from genverify.model.errors import DataError
from genverify.model.release import Release
from genverify.report.figures import save
from genverify.solve.program_settings import DEFAULT
from studies.gtv.figures import (
    _column_shares,
    _count_candidates,
    candidates_table,
    choose_example,
    plot_candidates,
    plot_fig1,
    plot_fig3,
    plot_fig4,
    shown_k,
)
from studies.gtv.impossible_counts import multiplicities
from studies.gtv.summary import PRIORS, SINGLETON, Group, chosen, summarise
from studies.gtv.tables import require_synthetic
from toy_release import toy_release

DOMAIN = Domain(
    (
        Column("TEN", "tenure", (1, 2), ("owned", "rented")),
        Column("SIZE", "household size", (1, 2, 3), ("1 person", "2 persons", "3 or more persons")),
        Column("AGE", "age of householder", (1, 2), ("under 65", "65 and over")),
    )
)
NAMES = list(DOMAIN.names)
LABEL = "synthetic microdata"


def claims_of(*said: tuple[str, Claim]) -> pd.DataFrame:
    frame = claim_columns([claim for _, claim in said], NAMES)
    frame.insert(0, "design", "state_median")
    frame.insert(0, "block", [block for block, _ in said])
    return frame.assign(effective_k=1, proof=0)


def blocks_frame() -> pd.DataFrame:
    design = ["country_median", "country_median", "state_median", "state_median", "state_median"]
    frame = pd.DataFrame({"block": ["a", "b", "a", "c", "d"], "design": design, "n_households": [10, 10, 10, 4, 20]})
    return frame.assign(candidates_k1=0, candidates_k2=3, candidates_k3=0)


def baselines_frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    state = [("a", 2, 1), ("a", 2, 1), ("c", 2, 1), ("d", 2, 2), ("a", 3, 2)]
    country = [("a", 2, 1), ("b", 3, 1)]
    frame = pd.DataFrame((state + country) * 5, columns=["block", "k", "m"])
    frame["design"] = (["state_median"] * len(state) + ["country_median"] * len(country)) * 5
    return frame.assign(tract=rng.random(len(frame)) * 0.4, state=rng.random(len(frame)) * 0.4)


def summary_of(claims: pd.DataFrame) -> list[Group]:
    """The summary of claims or of their baselines; what the frame does not hold is made up."""
    missing = {name: pd.NA for name in NAMES if name not in claims} | {p: 0.5 for p in PRIORS if p not in claims}
    table = ds.dataset(pa.Table.from_pandas(claims.assign(**missing)))
    return summarise(table, table, NAMES)


def test_k_runs_from_the_first_tried_to_all_columns() -> None:
    assert shown_k(blocks_frame()) == [2, 3]


def numbers(figure: Figure, panel: int) -> list[str]:
    return [text.get_text() for text in figure.axes[panel].texts]


def test_fig3_shows_singletons_and_fig5_all_claims() -> None:
    three = plot_fig3(summary_of(baselines_frame()), blocks_frame(), LABEL, singletons=True)
    five = plot_fig3(summary_of(baselines_frame()), blocks_frame(), LABEL, singletons=False)
    assert numbers(three, 0) == ["2", "0", "all 3"]
    assert numbers(three, 3) == ["1", "1", "all 2"]
    assert numbers(five, 0) == ["3", "1", "all 3"]
    assert [axes.get_title(loc="left")[5] for axes in three.axes] == list("abcdef")
    heads = [part.get_suptitle() for part in three.subfigs]
    assert heads == [
        "State-median design: 3 blocks of 4 to 20 households", "Country-median design: 2 blocks of 10 households each",
    ]  # fmt: skip


def test_fig3_boxes_have_one_scale_and_true_medians() -> None:
    frame = baselines_frame()
    figure = plot_fig3(summary_of(frame), blocks_frame(), LABEL, singletons=True)
    assert len({axes.get_ylim() for axes in figure.axes if "probability" in axes.get_ylabel()}) == 1
    own = frame.query("design == 'state_median' and k == 2 and m == 1")
    for axes, prior in ((figure.axes[1], "tract"), (figure.axes[2], "state")):
        heights = [line.get_ydata()[0] for line in axes.lines if len(set(np.asarray(line.get_ydata()).tolist())) == 1]
        assert own[prior].median() in heights
        assert axes.get_ylabel() == f"probability under the {prior} prior"


def test_fig3_without_any_claim_is_drawn() -> None:
    figure = plot_fig3([], blocks_frame(), LABEL, singletons=True)
    assert numbers(figure, 0) == ["0", "0", "all 3"]


def test_fig4_shares_by_hand() -> None:
    claims = claims_of(("a", Claim((1, 2, ANY), 1)), ("a", Claim((1, ANY, 2), 1)), ("b", Claim((1, 2, 2), 1)))
    shares = _column_shares(chosen(summary_of(claims), SINGLETON), NAMES, [1, 2, 3])
    assert shares.loc[2].tolist() == [1, 0.5, 0.5]
    assert shares.loc[3].tolist() == [1, 1, 1]
    assert shares.loc[1].isna().all()


def test_fig4_writes_the_shares_of_singletons_only() -> None:
    claims = claims_of(("a", Claim((1, 2, ANY), 1)), ("a", Claim((1, ANY, 2), 1)), ("b", Claim((ANY, 2, 2), 2)))
    figure = plot_fig4(summary_of(claims), DOMAIN, [2, 3], LABEL)
    assert numbers(figure, 0) == ["100%", "50%", "50%", "none", "none", "none"]
    assert [tick.get_text() for tick in figure.axes[0].get_yticklabels()] == ["k = 2\n2 claims", "k = 3\n0 claims"]


def test_candidates_fall_with_k_and_stop_at_the_last_dataset() -> None:
    one, other = [[1, 1, 1], [2, 2, 1]], [[1, 1, 1], [2, 3, 1]]
    datasets = np.array([one, other], dtype=np.int16)
    # In the first: 2 + 2 + 1 + 2 + 2 + 2 + 2 claims about 1, 2 and 3 columns; SIZE = 2 falls with the second.
    assert _count_candidates(datasets, 1, (1, 2, 5)) == [13, 9, 9]
    assert _count_candidates(datasets, 3, (1, 2, 5)) == [2, 1, 1]


def test_candidates_table_counts_a_claim_of_two_designs_once() -> None:
    datasets = np.array([[[1, 1, 1], [2, 2, 1]]], dtype=np.int16)
    claims = claims_of(("a", Claim((1, 1, 1), 1)), ("a", Claim((1, 1, 1), 1)), ("a", Claim((1, 1, ANY), 1)))
    table = candidates_table([("a", datasets), ("b", datasets)], 5, claims, 3)
    first = table.iloc[0]
    assert (first["blocks"], first["of_blocks"], first["candidates_mean"], first["verified_mean"]) == (2, 5, 2, 0.5)
    assert not cut_off(plot_candidates(table, LABEL))


def example_frames() -> tuple[pd.DataFrame, pd.DataFrame]:
    records = pd.DataFrame(
        [("a", 1, 1, 1), ("a", 1, 1, 1), ("a", 2, 3, 2), ("b", 1, 1, 1), *[("c", 1, 1, 1)] * 7], columns=["block", *NAMES]
    )
    claims = claims_of(
        ("a", Claim((1, ANY, ANY), 2)), ("a", Claim((1, 1, 1), 2)), ("a", Claim((2, ANY, ANY), 1)),
        ("a", Claim((2, 3, ANY), 1)), ("b", Claim((1, 1, 1), 1)), ("c", Claim((1, 1, 1), 7)),
    )  # fmt: skip
    return claims, records


def test_fig1_chooses_by_its_rule() -> None:
    example = choose_example(*example_frames(), NAMES)
    assert example.block == "a"
    assert example.codes.tolist() == [[1, 1, 1], [2, 3, ANY], [2, ANY, ANY]]
    assert example.describes.tolist() == [[True, True, False], [False, False, True], [False, False, True]]


def test_fig1_needs_a_small_block() -> None:
    claims, records = example_frames()
    with pytest.raises(DataError, match="at most 6 households"):
        choose_example(claims[claims["block"] == "c"], records, NAMES)


def test_fig1_says_its_claims_in_words() -> None:
    figure = plot_fig1(choose_example(*example_frames(), NAMES), DOMAIN, LABEL)
    words = numbers(figure, 1)
    assert words[:2] == [
        "1.  exactly 2 households  (m = 2, k = 3)", "tenure: owned; household size: 1 person; age of householder: under 65",
    ]  # fmt: skip
    # Claim 1: one stretch on two rows; claims 2 and 3: one stretch on one row each.
    assert len(figure.axes[0].patches) == 4
    assert not cut_off(figure)


def test_fig1_speaks_of_synthetic_households_only(tmp_path: Path) -> None:
    manifest = tmp_path / "microdata.json"
    manifest.write_text(json.dumps({"source": "synthetic"}))
    require_synthetic(manifest, "Figure 1")
    manifest.write_text(json.dumps({"source": "ppmf"}))
    with pytest.raises(DataError, match="Figure 1 describes single households, so it is made from synthetic microdata only"):
        require_synthetic(manifest, "Figure 1")


def draw_all() -> dict[str, Figure]:
    claims, records = example_frames()
    return {
        "fig1": plot_fig1(choose_example(claims, records, NAMES), DOMAIN, LABEL),
        "fig3": plot_fig3(summary_of(baselines_frame()), blocks_frame(), LABEL, singletons=True),
        "fig4": plot_fig4(summary_of(claims), DOMAIN, [1, 2, 3], LABEL),
        "fig5": plot_fig3(summary_of(baselines_frame()), blocks_frame(), LABEL, singletons=False),
    }


def test_nothing_is_cut_off_and_the_data_are_named() -> None:
    for name, figure in draw_all().items():
        assert not cut_off(figure), name
        assert LABEL in [text.get_text() for text in figure.texts]


def test_the_same_bytes_twice(tmp_path: Path) -> None:
    for turn in ("once", "again"):
        figure = plot_fig3(summary_of(baselines_frame()), blocks_frame(), LABEL, singletons=True)
        save(figure, tmp_path / f"{turn}.pdf", tmp_path / f"{turn}.png")
    for kind in ("pdf", "png"):
        assert (tmp_path / f"once.{kind}").read_bytes() == (tmp_path / f"again.{kind}").read_bytes()


def test_the_toy_example_as_a_human_sees_it() -> None:
    """One row has A = B = C = 0, certain; without query 3 not; two such rows cannot be (footnote 9)."""

    def certain(release: Release) -> list[tuple[tuple[int, ...], int]]:
        return [(claim.codes, claim.m) for claim in attack_release(release).claims if claim.k == 3]

    assert certain(toy_release(4)) == [((0, 0, 0), 1)]
    assert certain(toy_release(4, third=False)) == []
    assert multiplicities(Verifier(DEFAULT.bounder(toy_release(4))), (0, 0, 0), (), DEFAULT).possible == [1]
