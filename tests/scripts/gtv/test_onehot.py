"""A study of the one-hot program, from generation to the figure: verified claims that rest on the solver, without proofs."""

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from genverify.attack.explain import explain_claim
from genverify.checker.certificate import read_proofs
from genverify.model.domain import read_domain
from genverify.model.errors import ConfigError
from genverify.model.release import Schema, write_schema
from genverify.model.settings import ReleaseSettings
from genverify.solve.program_settings import ProgramSettings
from script_jobs import evaluate, job, script
from studies.country.store import nation_frame, write_microdata

BLOCKS = ["010010201001000", "010010201001001", "560010201001000"]


@pytest.fixture(scope="module")
def onehot(program_settings: ProgramSettings) -> dict[str, Any]:
    return program_settings.but(formulation="onehot").model_dump()


@pytest.fixture(scope="module")
def made(
    tmp_path_factory: pytest.TempPathFactory,
    small_explorer: ModuleType,
    toy: Path,
    toy_schema: Schema,
    onehot: dict[str, Any],
) -> Path:
    """Two blocks in one batch and one in another, attacked and collected through the mains of the scripts."""
    home = tmp_path_factory.mktemp("onehot")
    (home / "release").mkdir()
    write_schema(toy_schema, home / "release" / "schema.json")
    rows = {block: small_explorer.BLOCKS[block] for block in BLOCKS}
    sample = [{"block": b, "state": b[:2], "design": "all", "n_households": len(records)} for b, records in rows.items()]
    pd.DataFrame(sample).to_parquet(home / "sample.parquet", index=False)
    codes = np.array([record for records in rows.values() for record in records], dtype=np.int8)
    columns = {name: pa.array(codes[:, place]) for place, name in enumerate(toy_schema.domain.names)}
    table = pa.table({"block": [block for block, records in rows.items() for _ in records], **columns})
    write_microdata([table], home / "microdata", read_domain(toy / "domain.yaml").domain)
    nation_frame(home / "microdata", read_domain(toy / "domain.yaml").domain).to_parquet(
        home / "nation.parquet", index=False
    )
    (home / "microdata.json").write_text(json.dumps({"source": "synthetic", "label": "synthetic microdata"}))
    for batch, blocks in (("000", BLOCKS[:2]), ("001", BLOCKS[2:])):
        counts = pd.concat([small_explorer.release_of(toy_schema, block)[0] for block in blocks], ignore_index=True)
        counts.to_parquet(home / "release" / f"{batch}.parquet", index=False)
        generate(home, batch, onehot)
        verify(home, batch, onehot)
    batches = ("000", "001")
    script("collect_claims")(
        job({"sample": home / "sample.parquet", "claims": [home / "claims" / f"{b}.parquet" for b in batches],
             "verified": [home / "claims" / f"{b}.blocks.parquet" for b in batches],
             "generated": [home / "generated" / f"{b}.blocks.parquet" for b in batches]},
            {"claims": home / "claims.parquet", "blocks": home / "blocks.parquet"})
    )  # fmt: skip
    return home


def release_files(home: Path, batch: str) -> dict[str, Path]:
    return {"schema": home / "release" / "schema.json", "counts": home / "release" / f"{batch}.parquet"}


def generate(home: Path, batch: str, program: dict[str, Any]) -> None:
    outputs = {"datasets": f"{batch}.parquet", "blocks": f"{batch}.blocks.parquet"}
    script("generate_datasets")(
        job(release_files(home, batch), {name: home / "generated" / file for name, file in outputs.items()},
            program=program, generate={"datasets": 5, "method": "walk"}, seed=1)
    )  # fmt: skip


def verify(home: Path, batch: str, program: dict[str, Any]) -> None:
    outputs = {"claims": home / "claims" / f"{batch}.parquet", "blocks": home / "claims" / f"{batch}.blocks.parquet"}
    script("verify_claims")(
        job({**release_files(home, batch), "datasets": home / "generated" / f"{batch}.parquet"},
            {**outputs, "proofs": home / "proofs" / f"{batch}.jsonl.gz"}, program=program, verify={"min_k": 1})
    )  # fmt: skip


@pytest.fixture(scope="module")
def followed(made: Path, toy: Path, toy_settings: ReleaseSettings) -> Path:
    """Baselines, households, the summary and the explained proofs."""
    found = {"sample": made / "sample.parquet", "blocks": made / "blocks.parquet"}
    evaluate(made, toy / "domain.yaml", found, ("000", "001"), toy_settings)
    for batch in ("000", "001"):
        inputs = {**release_files(made, batch), "proofs": made / "proofs" / f"{batch}.jsonl.gz"}
        script("explain_claims")(job(inputs, {"explained": made / "explained" / f"{batch}.jsonl.gz"}))
    return made


def test_every_claim_is_marked_as_without_proof(made: Path) -> None:
    claims = pd.read_parquet(made / "claims.parquet")
    assert len(claims) > 0
    assert claims["proof"].dtype == "Int32"
    assert claims["proof"].isna().all()
    blocks = pd.read_parquet(made / "blocks.parquet").set_index("block")
    verified = blocks[["verified_k1", "verified_k2", "verified_k3"]].sum(axis=1)
    assert blocks["without_proof"].to_dict() == verified.to_dict()
    assert not blocks["complete"].any()
    assert not blocks["unique"].any()
    proofs = [found for batch in ("000", "001") for found in read_proofs(made / "proofs" / f"{batch}.jsonl.gz")]
    assert {found["about"]["name"] for found in proofs} == set(BLOCKS)
    assert all(found["statements"] == found["proofs"] == [] for found in proofs)


def test_the_claims_are_those_that_have_proofs_with_the_compact_program(
    made: Path, tmp_path: Path, program_settings: ProgramSettings
) -> None:
    names = ["block", "k", "m", "PET", "HOME", "AGE"]
    (tmp_path / "release").mkdir()
    for path in (made / "release").iterdir():
        (tmp_path / "release" / path.name).write_bytes(path.read_bytes())
    generate(tmp_path, "000", program_settings.model_dump())
    verify(tmp_path, "000", program_settings.model_dump())
    ours, proved = (pd.read_parquet(home / "claims" / "000.parquet") for home in (made, tmp_path))
    assert proved["proof"].dtype == np.int32
    assert ours[names].sort_values(names, ignore_index=True).equals(proved[names].sort_values(names, ignore_index=True))


def test_baselines_and_figure_3_follow(followed: Path, tmp_path: Path) -> None:
    inputs = {"summary": "summary.json", "blocks": "blocks.parquet", "manifest": "microdata.json"}
    script("plot_verified")(
        job({name: followed / file for name, file in inputs.items()},
            {end: tmp_path / f"fig3.{end}" for end in ("pdf", "png", "svg")}, {"number": "3", "folder": "", "only": ""})
    )  # fmt: skip
    assert (tmp_path / "fig3.pdf").read_bytes().startswith(b"%PDF")
    claims, baselines = (pd.read_parquet(followed / f"{name}.parquet") for name in ("claims", "baselines"))
    assert baselines[["block", "design", "k", "m"]].equals(claims[["block", "design", "k", "m"]])


def test_the_summary_of_proofs_counts_claims_without_one(made: Path, tmp_path: Path) -> None:
    inputs = {
        "schema": made / "release" / "schema.json",
        "blocks": made / "blocks.parquet",
        "manifest": made / "microdata.json",
    }
    files = {"counts": ("release", "parquet"), "proofs": ("proofs", "jsonl.gz")}
    inputs |= {name: [made / folder / f"{b}.{end}" for b in ("000", "001")] for name, (folder, end) in files.items()}
    script("write_proofs")(job(inputs, {"table": tmp_path / "proofs.csv"}))
    table = pd.read_csv(tmp_path / "proofs.csv").set_index("figure")["value"]
    assert (
        table["verified claims without proof"] == table["verified claims"] == len(pd.read_parquet(made / "claims.parquet"))
    )
    assert table["proofs (two halves each)"] == 0


def test_the_explorer_shows_claims_without_a_proof(
    followed: Path, tmp_path: Path, small_explorer: ModuleType, toy: Path
) -> None:
    inputs: dict[str, Any] = {"schema": followed / "release" / "schema.json", "manifest": followed / "microdata.json",
              "domain": toy / "domain.yaml", "tables": toy / "tables.yaml", "vipr": [], "weighed": [],
              "counts": [followed / "release" / f"{batch}.parquet" for batch in ("000", "001")],
              "proofs": [followed / "proofs" / f"{batch}.jsonl.gz" for batch in ("000", "001")],
              "explained": [followed / "explained" / f"{batch}.jsonl.gz" for batch in ("000", "001")]}  # fmt: skip
    inputs |= {name: followed / f"{name}.parquet" for name in ("sample", "claims", "blocks", "households", "baselines")}
    outputs = {"page": tmp_path / "index.html", "inside": tmp_path / "one.html", "pieces": tmp_path / "pieces"}
    script("build_explorer")(job(inputs, outputs, explorer=small_explorer.SETTINGS, verify={"min_k": 1}))
    pieces = "".join(path.read_text() for path in sorted((tmp_path / "pieces").glob("blocks-*.js")))
    assert '"groups"' in pieces
    assert '"proof"' not in pieces
    page = (tmp_path / "index.html").read_text()
    assert "Verified by the solver, without proof" in page


def test_an_explanation_says_that_there_is_no_proof(made: Path) -> None:
    claim = pd.read_parquet(made / "claims" / "000.parquet").iloc[0]
    asked = ",".join(f"{name}={claim[name]}" for name in ("PET", "HOME", "AGE", "m") if pd.notna(claim[name]))
    lines = list(explain_claim(made, claim["block"], asked))
    assert lines[-1].startswith("Verified by the solver, without proof")
    assert not any(line.startswith("Verified: ") for line in lines)
    other = list(explain_claim(made, claim["block"], asked.replace(f"m={claim['m']}", "m=0")))
    assert other[-1].startswith("Not verified")


@pytest.mark.parametrize("name", ["disclose_release", "try_protections"])
def test_work_that_speaks_of_proofs_is_refused(name: str, onehot: dict[str, Any], tmp_path: Path, root: Path) -> None:
    described = sorted((root / "examples").rglob("release.yaml"))[0]
    outputs = {"report": tmp_path / "report.html", "table": tmp_path / "whatif.csv"}
    with pytest.raises(ConfigError, match=r"needs proofs.*program\.formulation: compact"):
        script(name)(job({"described": described}, outputs, program=onehot, generate={"datasets": 5, "method": "walk"}))
