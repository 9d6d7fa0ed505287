"""The scripts of the study on protected counts, from microdata to the figure, on the toy."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from genverify.checker.certificate import read_proofs
from genverify.checker.record_proofs import check_block
from genverify.model.claims import CONTRADICTORY
from genverify.model.domain import read_domain
from genverify.model.errors import DataError
from genverify.model.release import empty_ranges, read_releases, read_schema
from genverify.model.settings import ReleaseSettings
from genverify.solve.program_settings import ProgramSettings
from script_jobs import job, script
from studies.country.store import write_microdata

NOISE = {"rho": 200.0, "publish": "microdata", "confidence": None, "tables": "all"}
PROTECTIONS: dict[str, Any] = {
    "none": {"swap": 0.0, "noise": None},
    "swapped": {"swap": 0.5, "noise": None},
    "microdata": {"swap": 0.0, "noise": {**NOISE, "rho": 0.5}},
    "intervals": {"swap": 0.0, "noise": {**NOISE, "publish": "intervals", "confidence": 0.5, "tables": ["T1*", "T2"]}},
    "nothing": {"swap": 0.0, "noise": {**NOISE, "rho": 0.01, "publish": "intervals", "confidence": 0.99}},
}


@pytest.fixture(scope="module")
def study(
    tmp_path_factory: pytest.TempPathFactory,
    toy: Path,
    toy_settings: ReleaseSettings,
    program_settings: ProgramSettings,
) -> Path:
    """Every stage through the main of its script."""
    home = tmp_path_factory.mktemp("protected")
    blocks = [f"010010201001{number:03d}" for number in range(12)]
    rng = np.random.default_rng(2)
    values = rng.integers([1, 1, 1], [4, 3, 5], size=(48, 3)).astype(np.int8)
    values[(values[:, 1] == 2) & (values[:, 0] == 2), 0] = 1
    columns = dict(zip(("PET", "HOME", "AGE"), values.T, strict=True))
    write_microdata(
        [pa.table({"block": np.repeat(blocks, 4), **columns})], home / "store", read_domain(toy / "domain.yaml").domain
    )
    pd.DataFrame({"block": blocks, "design": "four", "n_households": 4}).to_parquet(home / "blocks.parquet")
    (home / "microdata.json").write_text(json.dumps({"label": "synthetic microdata"}))
    for name in PROTECTIONS:
        attack_one(home, toy / "domain.yaml", name, toy_settings, program_settings.model_dump())
    return home


def attack_one(home: Path, domain: Path, name: str, release: ReleaseSettings, program: dict[str, Any]) -> None:
    """Publish, attack and judge under one protection."""
    folder, store = home / name, {"microdata": home / "store", "domain": domain}
    described = {part: folder / "release" / f"{part}.json" for part in ("schema", "possible")}
    counts = [folder / "release" / f"{batch}.parquet" for batch in ("000", "001")]
    script("protect_counts")(
        job({**store, "blocks": home / "blocks.parquet"}, {**described, "counts": counts, "how": folder / "how.json"},
            {"protection": name}, protection=PROTECTIONS[name], blocks={"design": "four", "number": 6}, release=release,
            swapping={"key": ["HOME"], "size": "HOME"}, program=program, seed=1)
    )  # fmt: skip
    made = [(folder / f"{batch}.parquet", folder / f"{batch}.blocks.parquet") for batch in ("000", "001")]
    for path, (claims, blocks) in zip(counts, made, strict=True):
        outputs = {"claims": claims, "blocks": blocks, "proofs": folder / "proofs" / f"{path.stem}.jsonl.gz"}
        script("attack_protected")(
            job({**described, "counts": path}, outputs, max_types=1000, program=program,
                generate={"datasets": 20, "method": "walk"}, verify={"min_k": 2}, seed=1)
        )  # fmt: skip
    script("judge_protected")(
        job({**store, "claims": [one for one, _ in made], "blocks": [other for _, other in made]},
            {"blocks": folder / "blocks.parquet"}, release=release)
    )  # fmt: skip


def plot(study: Path, names: list[str]) -> pd.DataFrame:
    figures = {kind: study / "figures" / f"gtv_protected.{kind}" for kind in ("pdf", "png", "csv")}
    inputs: dict[str, Any] = {"manifest": study / "microdata.json"}
    inputs["how"] = [study / name / "how.json" for name in names]
    inputs["blocks"] = [study / name / "blocks.parquet" for name in names]
    script("plot_gtv_protected")(job(inputs, figures, protections=names, seed=1))
    assert all(path.stat().st_size for path in figures.values())
    return pd.read_csv(figures["csv"]).set_index("protection")


def test_the_same_blocks_under_every_protection(study: Path) -> None:
    found = plot(study, list(PROTECTIONS))
    assert found.index.tolist() == list(PROTECTIONS)
    assert (found["blocks"] == 6).all()
    assert (found["households"] == 24).all()
    assert (found["data"] == "synthetic microdata").all()
    claims, false = found["all_claims_verified_from_release"], found["all_claims_false"]
    assert claims["none"] > 20
    assert false["none"] == 0
    assert false["swapped"] > 0
    assert false["microdata"] > 0
    assert (found["half_width"].isna() == (found["publish"] != "intervals")).all()
    assert found.loc["intervals", "half_width"] == 0
    assert claims["nothing"] == 0
    assert np.isnan(found.loc["nothing", "all_share_false"])
    ids = [set(pd.read_parquet(study / name / "blocks.parquet")["block"]) for name in PROTECTIONS]
    assert all(own == ids[0] for own in ids)


def test_the_same_inputs_give_the_same_counts(study: Path, toy: Path, toy_settings: ReleaseSettings,
                                              program_settings: ProgramSettings) -> None:  # fmt: skip
    files = [study / name / "release" / "000.parquet" for name in ("swapped", "microdata")]
    before = [file.read_bytes() for file in files]
    for name in ("swapped", "microdata"):
        attack_one(study, toy / "domain.yaml", name, toy_settings, program_settings.model_dump())
    assert [file.read_bytes() for file in files] == before


def test_a_false_claim_without_protection_stops_the_figure(study: Path, tmp_path: Path) -> None:
    judged = pd.read_parquet(study / "none" / "blocks.parquet").assign(false=1)
    judged.to_parquet(tmp_path / "blocks.parquet")
    inputs = {
        "how": [study / "none" / "how.json"],
        "blocks": [tmp_path / "blocks.parquet"],
        "manifest": study / "microdata.json",
    }
    with pytest.raises(DataError, match="6 claims verified from unprotected counts"):
        script("plot_gtv_protected")(
            job(inputs, {kind: tmp_path / kind for kind in ("pdf", "png", "csv")}, protections=["none"], seed=1)
        )


@pytest.mark.parametrize("name", PROTECTIONS)
def test_every_attacked_block_has_its_proofs_stored(study: Path, name: str) -> None:
    """The stored proofs are right, prove the listed claims and no other, and show every contradiction that was searched."""
    schema = read_schema(study / name / "release" / "schema.json")
    for batch in ("000", "001"):
        counts, claims = study / name / "release" / f"{batch}.parquet", pd.read_parquet(study / name / f"{batch}.parquet")
        empty = empty_ranges(counts)
        releases = {release.block: release for release in read_releases(counts, schema, empty)}
        status = pd.read_parquet(study / name / f"{batch}.blocks.parquet").set_index("block")["status"]
        assert set(status.index) == {*releases, *empty}
        assert (status[list(empty)] == CONTRADICTORY).all()
        proofs = list(read_proofs(study / name / "proofs" / f"{batch}.jsonl.gz"))
        assert [found["about"]["name"] for found in proofs] == list(releases)
        for found in proofs:
            checked = check_block(releases[found["about"]["name"]], found)
            assert checked.contradiction == (status[found["about"]["name"]] == CONTRADICTORY)
            assert checked.claims == int((claims["block"] == found["about"]["name"]).sum())


def test_how_likely_the_claims_of_each_release_are(study: Path, toy: Path, toy_settings: ReleaseSettings) -> None:
    names, table = ["none", "microdata", "nothing"], study / "protected_baselines.csv"
    inputs: dict[str, Any] = {"microdata": study / "store", "domain": toy / "domain.yaml"}
    inputs |= {"blocks": study / "blocks.parquet", "manifest": study / "microdata.json"}
    inputs["claims"] = [study / name / f"{batch}.parquet" for name in names for batch in ("000", "001")]
    script("write_protected_baselines")(job(inputs, {"table": table}, protections=names, release=toy_settings))
    found = pd.read_csv(table)
    assert set(found["protection"]) == {"none", "microdata"}
    claims = pd.concat([pd.read_parquet(path) for path in inputs["claims"][:2]])
    assert found.loc[found["protection"] == "none", "claims"].sum() == (claims["m"] == 1).sum()
    assert (found["state_median"] <= found["state_p90"]).all()
    assert found["state_max"].between(0, 1).all()
