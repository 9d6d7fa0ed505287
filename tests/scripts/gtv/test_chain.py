"""Each script's main on plain namespaces: the toy from a file of units to verified claims."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from genverify.checker.certificate import read_proofs
from genverify.checker.record_proofs import check_block
from genverify.model.domain import read_domain
from genverify.model.errors import DataError
from genverify.model.release import read_releases, read_schema
from genverify.model.settings import ReleaseSettings
from genverify.solve.program_settings import ProgramSettings
from script_jobs import in_one_batch, job, publish, script
from studies.country.store import read_microdata, write_microdata
from toy_study import BLOCKS, attack, toy_units


def test_microdata_are_what_the_file_holds(made: Path) -> None:
    records = read_microdata(made / "microdata").to_pandas()
    assert records[["block", "PET", "HOME", "AGE"]].sort_values("block", kind="stable").to_numpy().tolist() == (
        toy_units().sort_values("block", kind="stable").to_numpy().tolist()
    )
    manifest = json.loads((made / "microdata.json").read_text())
    assert (manifest["label"], manifest["rows"], manifest["rejected"]) == ("PPMF file units.csv", 23, {"group quarters": 1})
    assert sorted(manifest["states"]) == ["01", "56"]


def test_blocks_of_both_designs_are_sampled(made: Path) -> None:
    blocks = pd.read_parquet(made / "blocks.parquet")
    drawn = {design: rows["block"].tolist() for design, rows in blocks.groupby("design")}
    assert drawn == {"all": [BLOCKS["01"][2], BLOCKS["56"][2]], "state_median": [*BLOCKS["01"][:2], *BLOCKS["56"][:2]]}
    sizes = pd.read_parquet(made / "sizes.parquet")
    assert sizes["n"].tolist() == [3, 3, 5, 3, 3, 5]  # the record outside the universe is not counted


def test_a_release_holds_the_counts_of_its_batch_and_nothing_else(made: Path) -> None:
    assert sorted(path.name for path in (made / "release").iterdir()) == ["000.parquet", "001.parquet", "schema.json"]
    schema = read_schema(made / "release" / "schema.json")
    frames = [pd.read_parquet(made / "release" / f"{batch}.parquet") for batch in ("000", "001")]
    assert [sorted(set(frame["block"])) for frame in frames] == [BLOCKS["01"], BLOCKS["56"]], "neighbours together"
    assert all(list(frame) == ["block", "query", "count"] for frame in frames)
    units = toy_units()
    for row in pd.concat(frames).itertuples():
        held = units[(units["block"] == row.block) & (units["PET"] > 0)]
        if row.query == "N":
            assert row.count == len(held)
        else:
            predicate = schema.queries[schema.position[row.query]].predicate
            assert row.count == predicate.matches(dict(held.items())).sum()


def test_withheld_counts_reach_no_file_of_the_release(tmp_path: Path, toy: Path, toy_settings: ReleaseSettings) -> None:
    """One owner changes from a dog to a fish: the counts that differ are at most 2 on both sides, so no byte differs."""
    frame = toy_units()
    one = frame[frame["block"] == BLOCKS["01"][0]]
    other = one.assign(PET=[1, 3, 3, 0])
    settings = toy_settings.but(tables=["T1"], withhold=[0, 1, 2])
    for name, records in (("one", one), ("other", other)):
        codes = {column: pa.array(records[column].to_numpy(np.int8)) for column in ("PET", "HOME", "AGE")}
        table = pa.table({"block": records["block"].tolist(), **codes})
        write_microdata([table], tmp_path / name / "microdata", read_domain(toy / "domain.yaml").domain)
        drawn = records[["block"]].drop_duplicates().assign(n_households=3)
        drawn.to_parquet(tmp_path / name / "blocks.parquet")
        batches, home = in_one_batch(tmp_path / name / "blocks.parquet"), tmp_path / name
        store = {"microdata": home / "microdata", "batches": batches, "domain": toy / "domain.yaml"}
        publish(store, home / "schema.json", home / "000.parquet", settings)
    for file in ("schema.json", "000.parquet"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "other" / file).read_bytes()
    assert pd.read_parquet(tmp_path / "one" / "000.parquet")["query"].tolist() == ["N"]


def test_generated_datasets_have_the_published_counts(made: Path) -> None:
    schema = read_schema(made / "release" / "schema.json")
    for batch in ("000", "001"):
        datasets = pd.read_parquet(made / "generated" / f"{batch}.parquet")
        for release in read_releases(made / "release" / f"{batch}.parquet", schema):
            for _, records in datasets[datasets["block"] == release.block].groupby("dataset"):
                assert len(records) == release.n
                counts = [query.predicate.matches(dict(records.items())).sum() for query in release.queries]
                assert counts == release.lo.tolist()
    hand = pd.read_parquet(made / "generated" / "000.blocks.parquet").set_index("block").loc[BLOCKS["01"][0]]
    assert (hand["datasets"], hand["complete"], hand["unique"]) == (4, True, False)


def test_the_claims_of_the_block_solved_by_hand(made: Path) -> None:
    claims = pd.read_parquet(made / "claims.parquet")
    assert list(claims) == ["block", "design", "k", "m", "PET", "HOME", "AGE", "effective_k", "proof"]
    own = claims[claims["block"] == BLOCKS["01"][0]]
    assert len(own) == 14
    assert own[own["k"] == 3][["m", "PET", "HOME", "AGE", "effective_k"]].to_numpy().tolist() == [[1, 3, 2, 2, 1]]
    assert set(own["design"]) == {"state_median"}


def test_every_claim_is_true_of_the_private_block(made: Path) -> None:
    units = toy_units()
    claims = pd.read_parquet(made / "claims.parquet")
    assert claims["block"].nunique() == 6
    for claim in claims.itertuples():
        held = units[(units["block"] == claim.block) & (units["PET"] > 0)]
        asked = {name: getattr(claim, name) for name in ("PET", "HOME", "AGE") if not pd.isna(getattr(claim, name))}
        assert len(asked) == claim.k
        assert (held[list(asked)] == pd.Series(asked)).all(axis=1).sum() == claim.m


def test_the_proofs_are_those_of_the_claims(made: Path) -> None:
    schema = read_schema(made / "release" / "schema.json")
    for batch in ("000", "001"):
        releases = {r.block: r for r in read_releases(made / "release" / f"{batch}.parquet", schema)}
        claims = pd.read_parquet(made / "claims" / f"{batch}.parquet")
        for found in read_proofs(made / "proofs" / f"{batch}.jsonl.gz"):
            own = claims[claims["block"] == found["about"]["name"]]
            assert check_block(releases[found["about"]["name"]], found).claims == len(own)
            assert [claim["proof"] for claim in found["statements"]] == own["proof"].tolist()


def test_one_row_per_block_and_design(made: Path) -> None:
    blocks = pd.read_parquet(made / "verified.parquet")
    assert len(blocks) == 6
    assert blocks[["design", "block"]].equals(
        blocks[["design", "block"]].sort_values(["design", "block"], ignore_index=True)
    )
    claims = pd.read_parquet(made / "claims.parquet")
    counted = claims.groupby(["design", "block"]).size().tolist()
    assert blocks[["verified_k1", "verified_k2", "verified_k3"]].sum(axis=1).tolist() == counted


def test_the_attack_gives_the_same_bytes_again(made: Path, tmp_path: Path, program_settings: ProgramSettings) -> None:
    (tmp_path / "release").mkdir()
    for path in [*(made / "release").iterdir(), made / "blocks.parquet"]:
        (tmp_path / path.relative_to(made)).write_bytes(path.read_bytes())
    attack(tmp_path, program_settings.model_dump())
    for path in sorted(p.relative_to(made) for p in made.rglob("*") if p.is_file()):
        if path.parts[0] in ("generated", "claims", "proofs", "claims.parquet", "verified.parquet"):
            assert (tmp_path / path).read_bytes() == (made / path).read_bytes(), path


def test_a_batch_may_be_empty(made: Path, tmp_path: Path, program_settings: ProgramSettings) -> None:
    (tmp_path / "release").mkdir()
    for path in [*(made / "release").iterdir(), made / "blocks.parquet"]:
        (tmp_path / path.relative_to(made)).write_bytes(path.read_bytes())
    whole = pd.read_parquet(made / "release" / "001.parquet")
    whole.iloc[:0].to_parquet(tmp_path / "release" / "001.parquet", index=False)
    attack(tmp_path, program_settings.model_dump())
    claims, first = pd.read_parquet(tmp_path / "claims.parquet"), pd.read_parquet(made / "claims" / "000.parquet")
    assert len(claims) == len(first) > 0


def test_a_dataset_that_does_not_fit_stops_the_verification(
    made: Path, tmp_path: Path, program_settings: ProgramSettings
) -> None:
    """One of the datasets was changed in its file: it would remove candidates without a word."""
    frame = pd.read_parquet(made / "generated" / "000.parquet")
    frame.loc[0, "HOME"] = 3 - frame.loc[0, "HOME"]
    frame.to_parquet(tmp_path / "000.parquet", index=False)
    release = {"schema": made / "release" / "schema.json", "counts": made / "release" / "000.parquet"}
    outputs = {name: tmp_path / name for name in ("claims", "blocks", "proofs")}
    with pytest.raises(DataError, match=r"000\.parquet: block \d+, dataset 0 does not fit the release: .*published"):
        script("verify_claims")(
            job({**release, "datasets": tmp_path / "000.parquet"}, outputs, program=program_settings.model_dump(),
                verify={"min_k": 1})
        )  # fmt: skip
    assert not (tmp_path / "claims").exists()


def test_a_missing_design_stops_the_sampling(made: Path, tmp_path: Path, toy: Path) -> None:
    designs = {"nine": {"size": 9, "blocks_per_state": 1}}
    sample = {"universe": "owners", "designs": designs, "all_blocks": {}, "batches": 2, "blocks_per_batch": 9}
    wrong = job(
        {"microdata": made / "microdata", "domain": toy / "domain.yaml"},
        {"blocks": tmp_path / "b.parquet", "sizes": tmp_path / "s.parquet"}, sample=sample, seed=1,
    )  # fmt: skip
    with pytest.raises(DataError, match="state 01, design nine: 1 blocks of 9 households wanted, 0 exist"):
        script("sample_blocks")(wrong)
    assert not (tmp_path / "b.parquet").exists()
