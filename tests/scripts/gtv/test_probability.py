"""The scripts about probabilities, from microdata to figures and the table, on the toy."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from genverify.model.domain import read_domain
from genverify.model.settings import ReleaseSettings
from genverify.solve.program_settings import ProgramSettings
from script_jobs import in_one_batch, job, publish, script
from studies.country.store import write_microdata
from studies.gtv.probabilities import PRIORS, WORLDS, expected
from studies.gtv.probability_evaluation import reliability

NAMES = ("PET", "HOME", "AGE")
SETTINGS: dict[str, Any] = {
    "skip": 0, "every": 1, "raprank": 1, "smoothing": [3.0, 10.0, 30.0], "given": ["HOME"],
    "budget": {"states": 1000, "moves": 100000, "seconds": 60.0},
    "exact_moves": 100000, "estimate": {"chains": 2, "draws": 4, "records": 2, "between": 1}, "draws": 20, "least": 0.4,
    "claims": 20, "rows": 8, "person_blocks": 3,
}  # fmt: skip


@pytest.fixture(scope="module")
def study(
    tmp_path_factory: pytest.TempPathFactory, toy: Path, toy_settings: ReleaseSettings, program_settings: ProgramSettings
) -> Path:
    """Twelve blocks of five records, four of them attacked; every stage through the main of its script."""
    home = tmp_path_factory.mktemp("probability")
    blocks = [f"010010201001{number:03d}" for number in range(12)]
    values = np.random.default_rng(2).integers([1, 1, 1], [4, 3, 5], size=(60, 3)).astype(np.int8)
    table = pa.table({"block": np.repeat(blocks, 5), **dict(zip(NAMES, values.T, strict=True))})
    write_microdata([table], home / "microdata", read_domain(toy / "domain.yaml").domain)
    sample = pd.DataFrame({"block": blocks[:4], "design": "all", "n_households": 5, "state": "01"})
    sample.to_parquet(home / "blocks.parquet")
    (home / "microdata.json").write_text(json.dumps({"label": "synthetic microdata"}))
    store = {"microdata": home / "microdata", "blocks": home / "blocks.parquet", "domain": toy / "domain.yaml"}
    program = program_settings.model_dump()
    release = {"schema": home / "schema.json", "counts": home / "counts.parquet"}
    publish({**store, "batches": in_one_batch(store["blocks"])}, release["schema"], release["counts"], toy_settings)
    datasets = {"datasets": home / "generated.parquet"}
    script("generate_datasets")(
        job(release, {**datasets, "blocks": home / "generated.blocks.parquet"}, program=program,
            generate={"datasets": 10, "method": "exact"}, seed=1)
    )  # fmt: skip
    verified = {"claims": home / "claims.parquet", "blocks": home / "decided.parquet", "proofs": home / "p.jsonl.gz"}
    script("verify_claims")(job({**release, **datasets}, verified, program=program, verify={"min_k": 1}))
    script("fit_priors")(job(store, {"areas": home / "areas.parquet"}, release=toy_settings))
    smoothing = {"table": home / "smoothing.csv"}
    script("choose_smoothing")(job(store, smoothing, release=toy_settings, probability=SETTINGS))
    weigh(home, program, SETTINGS)
    return home


def weigh(home: Path, program: dict[str, Any], settings: dict[str, Any], name: str = "p") -> None:
    inputs = {name: home / f"{name}.parquet" for name in ("counts", "claims", "decided", "areas")}
    inputs |= {"schema": home / "schema.json", "datasets": home / "generated.parquet", "smoothing": home / "smoothing.csv"}
    outputs = {"claims": home / f"{name}.parquet", "rows": home / f"{name}.rows.parquet",
               "blocks": home / f"{name}.blocks.parquet"}  # fmt: skip
    script("weigh_claims")(job(inputs, outputs, probability=settings, program=program, verify={"min_k": 1}, seed=1))


def test_exactly_the_verified_claims_are_certain(study: Path) -> None:
    claims = pd.read_parquet(study / "p.parquet")
    assert (claims["numbers"] == "exact").all()
    assert claims["verified"].sum() > 10
    for prior in PRIORS:
        known = claims[claims[prior].notna()]
        assert ((known[prior] == 1) == known["verified"]).all()
        assert known[prior].between(0, 1).all()
        assert (claims.loc[claims["candidate"] | claims["sampled"], prior].notna()).all()
    assert claims["uniform"].nunique() > 5


def test_priors_leave_the_sampled_blocks_out(study: Path) -> None:
    areas = pd.read_parquet(study / "areas.parquet")
    assert set(areas["area"]) == {"", "01", "01001020100"}
    assert (areas.groupby("area")["households"].sum() == 8 * 5).all()


def test_smoothing_is_chosen_among_the_values_given(study: Path) -> None:
    table = pd.read_csv(study / "smoothing.csv")
    assert table[table["chosen"]]["level"].tolist() == ["nation", "state", "tract"]
    assert set(table["smoothing"]) == set(SETTINGS["smoothing"])
    assert (table["households"] == 8 * 5).all()


def test_the_benchmarks_of_counting_and_of_estimates(study: Path, program_settings: ProgramSettings) -> None:
    program, table = program_settings.model_dump(), study / "cost.csv"
    counting = {"blocks": 2, "classes": 100, "larger": 200, "parts": [1]}
    script("benchmark_counting")(
        job({"schema": study / "schema.json", "counts": study / "counts.parquet"}, {"table": table},
            counting=counting, program=program, probability=SETTINGS)
    )  # fmt: skip
    cost = pd.read_csv(table).groupby("what").first()
    assert cost.loc["states packed into arrays", "blocks"] == 2
    assert cost.loc["memory", "outcome"] == "counted"
    inputs = {"schema": study / "schema.json", "counts": [study / "counts.parquet"], "areas": study / "areas.parquet"}
    inputs |= {"datasets": [study / "generated.parquet"], "smoothing": study / "smoothing.csv"}
    estimate = {"blocks": 2, "budget": SETTINGS["budget"]}
    outputs = {"table": table, "blocks": study / "estimated_blocks.csv"}
    script("benchmark_estimate")(
        job(inputs, outputs, estimate=estimate, program=program, verify={"min_k": 1}, seed=1,
            probability={**SETTINGS, "estimate": {"chains": 6, "draws": 8, "records": 3, "between": 1}})
    )  # fmt: skip
    found = pd.read_csv(table).set_index("prior")
    assert list(found.index) == ["uniform", "tract"]
    assert (found["claims"] > 10).all()
    assert (found["inside_percent"] > 85).all()


def test_blocks_are_counted(study: Path) -> None:
    blocks = pd.read_parquet(study / "p.blocks.parquet")
    assert (blocks["numbers"] == "exact").all()
    assert blocks["datasets"].astype(int).ge(1).all()


@pytest.mark.parametrize(
    "change", [{"exact_moves": 1}, {"budget": {"states": 1, "moves": 100000, "seconds": 60.0}}], ids=["draws", "chains"]
)
def test_what_is_too_large_is_estimated_and_says_so(
    study: Path, program_settings: ProgramSettings, change: dict[str, Any]
) -> None:
    weigh(study, program_settings.model_dump(), {**SETTINGS, **change}, "estimated")
    claims, exact = pd.read_parquet(study / "estimated.parquet"), pd.read_parquet(study / "p.parquet")
    guessed = claims[claims["numbers"] == "estimated"]
    assert len(guessed) > 10
    assert (guessed.loc[guessed["verified"], "uniform"] == 1).all()
    asked = guessed[guessed["uniform"].notna()]
    assert ((asked["uniform_low"] <= asked["uniform"]) & (asked["uniform"] <= asked["uniform_high"])).all()
    both = asked.merge(exact, on=["block", "m", *NAMES], suffixes=("", "_exact"))
    inside = (both["uniform_low"] <= both["uniform_exact"] + 1e-9) & (both["uniform_exact"] <= both["uniform_high"] + 1e-9)
    assert inside.mean() > 0.8


def test_a_wrong_verdict_stops_the_study(study: Path, program_settings: ProgramSettings, tmp_path: Path) -> None:
    claims = pd.read_parquet(study / "claims.parquet")
    for name in ("schema.json", "counts.parquet", "generated.parquet", "decided.parquet", "areas.parquet", "smoothing.csv"):
        (tmp_path / name).write_bytes((study / name).read_bytes())
    claims.iloc[1:].to_parquet(tmp_path / "claims.parquet")
    with pytest.raises(Exception, match="is not verified, but has the probability 1"):
        weigh(tmp_path, program_settings.model_dump(), SETTINGS)
    known = pd.read_parquet(study / "p.parquet")
    open_ = known[~known["verified"] & known["sampled"]]
    pd.concat([claims, open_[["block", "k", "m", *NAMES]].head(1)]).to_parquet(tmp_path / "claims.parquet")
    with pytest.raises(Exception, match="is verified, but has the probability 0"):
        weigh(tmp_path, program_settings.model_dump(), SETTINGS)


def test_probabilities_are_judged_and_drawn(study: Path, toy: Path, toy_settings: ReleaseSettings) -> None:
    rows = pd.read_parquet(study / "p.rows.parquet")
    ranked = rows.groupby("block").head(4)[["block", *NAMES]].assign(runs=2, frequency=2)
    ranked.to_parquet(study / "ranked.parquet")
    names = ("reliability", "scores", "rates", "singled_out")
    judged = {name: study / f"{name}.csv" for name in names}
    script("judge_probabilities")(
        job({"schema": study / "schema.json", "claims": [study / "p.parquet"], "rows": [study / "p.rows.parquet"],
             "ranked": [study / "ranked.parquet"], "areas": study / "areas.parquet", "microdata": study / "microdata",
             "domain": toy / "domain.yaml"}, judged, release=toy_settings, runs=4, seed=1)
    )  # fmt: skip
    table = pd.read_csv(judged["singled_out"])
    proved = table[table["level"] == 1]
    assert (proved["false"] == 0).all()
    assert proved["statements"].gt(0).all()
    assert table.groupby("prior")["statements"].is_monotonic_increasing.all()
    reliable = pd.read_csv(judged["reliability"])
    priors = reliable["source"].isin(PRIORS)
    assert (reliable.loc[priors, "expected_low"] <= reliable.loc[priors, "expected_high"]).all()
    assert reliable.loc[~priors, ["expected_low", "expected_high"]].isna().all(axis=None)
    # a dozen claims or more of four blocks whose records were drawn at random: shares are where the worlds have them
    inside = reliable["true"].between(reliable["expected_low"] - 0.05, reliable["expected_high"] + 0.05)
    assert inside[priors & (reliable["source"] == "tract") & (reliable["n"] > 12)].mean() > 0.7
    assert (reliable.loc[(reliable["bin"] == 10) & reliable["source"].isin(PRIORS), "true"] == 1).all()
    assert set(pd.read_csv(judged["rates"])["source"]) >= {*PRIORS, "RAP-RANK", "tract alone"}
    manifest, blocks = {"manifest": study / "microdata.json"}, {"blocks": [study / "p.blocks.parquet"]}
    figures = {
        "plot_calibration": ({"reliability": judged["reliability"], "scores": judged["scores"]}, {"verify": {"min_k": 1}}),
        "plot_posterior": ({"rates": judged["rates"]}, {}),
        "plot_reconstructions": (blocks, {}),
    }
    for name, (inputs, params) in figures.items():
        files = {kind: study / f"{name}.{kind}" for kind in ("pdf", "png")}
        script(name)(job({**inputs, **manifest}, files, **params))
        assert files["pdf"].read_bytes().startswith(b"%PDF")
    outputs = {"table": study / "table.csv", "readable": study / "table.md"}
    inputs = {"singled_out": judged["singled_out"], "scores": judged["scores"], **blocks, **manifest}
    script("write_singled_out")(job(inputs, outputs))
    page = outputs["readable"].read_text()
    assert "synthetic microdata" in page
    assert "certain (proved)" in page


def test_draws_that_all_agree_are_not_called_certain() -> None:
    """Three claims with 1: proved, counted exactly, and seen in every draw only; the last stands with the nine tenths."""
    frame = pd.DataFrame(
        {"block": "a", "tract": 1.0, "generated": 1.0, "true": True, "verified": [True, False, False],
         "numbers": ["estimated", "exact", "estimated"]}
    )  # fmt: skip
    found = reliability(frame, ("tract", "generated"), "claims", 1)
    assert found[["source", "bin", "n"]].to_numpy().tolist() == [["tract", 9, 1], ["tract", 10, 2], ["generated", 10, 3]]


def test_shares_are_expected_as_far_apart_as_blocks_hang_together() -> None:
    """Ten claims given 50 % in each of 40 blocks: all of a block true together, or each by itself."""
    rng = np.random.default_rng(1)
    together, alone = np.repeat(rng.random((40, WORLDS)) < 0.5, 10, axis=0), rng.random((400, WORLDS)) < 0.5
    blocks = np.repeat([f"b{block}" for block in range(40)], 10)
    width = {}
    for name, bits in {"together": together, "alone": alone}.items():
        frame = pd.DataFrame({"block": blocks, "tract_worlds": (bits.astype(np.int64) << np.arange(WORLDS)).sum(axis=1)})
        low, high = expected(frame, "tract", 1, 2000)
        width[name] = high - low
        assert low < 0.5 < high
    # 1.96 sqrt(p (1 - p) / n) on either side, of 40 blocks or of 400 claims
    assert width["together"] == pytest.approx(2 * 1.96 * 0.5 / 40**0.5, rel=0.15)
    assert width["alone"] == pytest.approx(2 * 1.96 * 0.5 / 400**0.5, rel=0.15)
    assert np.isnan(expected(frame, "generated", 1, 10)).all()
