"""Every block of the toy's states through the mains of the scripts: in pieces of a few rows the same as at once."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from genverify.model.domain import read_domain
from genverify.model.settings import ReleaseSettings
from genverify.solve.program_settings import ProgramSettings
from script_jobs import evaluate, job, publish, sampled, script
from studies.country.store import write_microdata

NAMES = ["PET", "HOME", "AGE"]
BATCHES = ["000", "001", "002"]
SAMPLE = {
    "universe": "owners",
    "designs": {"left_out": None},
    "all_blocks": {"every": {"states": "all", "up_to": 4}, "small": {"states": ["56"], "up_to": 2}},
    "batches": 3,
    "blocks_per_batch": 9,
}


def write_toy(folder: Path, toy: Path) -> None:
    """Two states with blocks of 1 to 5 owners."""
    rng = np.random.default_rng(7)
    rows = []
    for state, tract in (("01", "0010201001"), ("56", "0019513003")):
        for number, size in enumerate((1, 2, 3, 4, 5, 2)):
            block = f"{state}{tract}{number:03d}"
            rows += [(block, *record) for record in rng.integers([1, 1, 1], [4, 3, 5], size=(size, 3)).tolist()]
    frame = pd.DataFrame(rows, columns=["block", *NAMES]).astype(dict.fromkeys(NAMES, "int8"))
    write_microdata([pa.Table.from_pandas(frame)], folder, read_domain(toy / "domain.yaml").domain)


def make(home: Path, root: Path, toy: Path, settings: dict[str, Any], program: dict[str, Any]) -> Path:
    """The study from the microdata to the summary."""
    micro, domain, sample = home / "microdata", toy / "domain.yaml", home / "blocks.parquet"
    schema, claims = home / "release" / "schema.json", home / "claims.parquet"
    parts = {kind: [home / kind / f"{b}.parquet" for b in BATCHES] for kind in ("release", "generated", "claims")}
    blocks = {kind: [path.with_suffix(".blocks.parquet") for path in parts[kind]] for kind in ("generated", "claims")}
    write_toy(micro, toy)
    script("sample_blocks")(
        job(
            {"microdata": micro, "domain": domain},
            sampled(home),
            sample=SAMPLE,
            seed=1,
        )
    )
    for counts in parts["release"]:
        publish({"microdata": micro, "batches": home / "batches.parquet", "domain": domain}, schema, counts, settings)
    for place in range(len(BATCHES)):
        release = {"schema": schema, "counts": parts["release"][place]}
        made = {"datasets": parts["generated"][place]}
        script("generate_datasets")(
            job(
                release,
                {**made, "blocks": blocks["generated"][place]},
                program=program,
                generate={"datasets": 5, "method": "walk"},
                seed=1,
            )
        )
        script("verify_claims")(
            job({**release, **made},
                {"claims": parts["claims"][place], "blocks": blocks["claims"][place],
                 "proofs": home / "proofs" / f"{place}.jsonl.gz"}, program=program, verify={"min_k": 1})
        )  # fmt: skip
    found = {"claims": parts["claims"], "verified": blocks["claims"], "generated": blocks["generated"]}
    script("collect_claims")(job({"sample": sample, **found}, {"claims": claims, "blocks": home / "verified.parquet"}))
    evaluate(home, toy / "domain.yaml", {"sample": sample, "blocks": home / "verified.parquet"}, BATCHES, settings)
    return home


@pytest.fixture(scope="module")
def whole(
    tmp_path_factory: pytest.TempPathFactory,
    root: Path,
    toy: Path,
    toy_settings: ReleaseSettings,
    program_settings: ProgramSettings,
) -> Path:
    return make(tmp_path_factory.mktemp("whole"), root, toy, toy_settings, program_settings.model_dump())


def test_every_block_up_to_the_size_is_attacked(whole: Path) -> None:
    blocks = pd.read_parquet(whole / "verified.parquet")
    assert blocks.groupby("design")["n_households"].apply(sorted).to_dict() == {
        "every": [1, 1, 2, 2, 2, 2, 3, 3, 4, 4],
        "small": [1, 2, 2],
    }
    assert set(pd.read_parquet(whole / "claims.parquet")["design"]) == {"every", "small"}


def test_the_summary_counts_the_claims(whole: Path) -> None:
    claims, summary = pd.read_parquet(whole / "claims.parquet"), json.loads((whole / "summary.json").read_text())
    assert sum(group["count"] for group in summary if group["claims"] == "all") == len(claims)
    for group in summary:
        own = claims[(claims["design"] == group["design"]) & (claims["k"] == group["k"])]
        own = own[own["m"] == 1] if group["claims"] == "singleton" else own
        assert (group["count"], group["blocks"]) == (len(own), own["block"].nunique())
        assert group["columns"] == {name: int(own[name].notna().sum()) for name in NAMES}


def test_small_pieces_change_nothing(
    whole: Path,
    tmp_path: Path,
    root: Path,
    toy: Path,
    toy_settings: ReleaseSettings,
    program_settings: ProgramSettings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("genverify.model.tablefiles.BLOCKS_AT_ONCE", 3)
    monkeypatch.setattr("genverify.model.tablefiles.FEW_BLOCKS_AT_ONCE", 2)
    monkeypatch.setattr("genverify.model.tablefiles.ROWS_PER_GROUP", 5)
    pieces = make(tmp_path, root, toy, toy_settings, program_settings.model_dump())
    assert pq.ParquetFile(pieces / "claims.parquet").num_row_groups > 4
    for path in sorted(whole.rglob("*.parquet")):
        name = path.relative_to(whole)
        assert pd.read_parquet(pieces / name).equals(pd.read_parquet(path)), name
    for text in ("unseen.csv", "summary.json"):
        assert (pieces / text).read_text() == (whole / text).read_text()
