"""The toy study, stage by stage, each through the main of its script."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from genverify.model.settings import ReleaseSettings
from script_jobs import job, publish, sampled, script

BLOCKS = {
    "01": ["010010201001000", "010010201001001", "010010201001002"],
    "56": ["560019513003000", "560019513003001", "560019513003002"],
}


def toy_units() -> pd.DataFrame:
    """Two states with three blocks of 3, 3 and 5 records each; block 0 of state 01 is the one solved by hand."""
    rng = np.random.default_rng(4)
    rows = []
    for blocks in BLOCKS.values():
        for block, size in zip(blocks, (3, 3, 5), strict=True):
            records = rng.integers([1, 1, 1], [4, 3, 5], size=(size, 3)).tolist()
            rows += [(block, *record) for record in records]
    rows[:3] = [("010010201001000", 1, 1, 1), ("010010201001000", 2, 1, 3), ("010010201001000", 3, 2, 2)]
    rows.append(("010010201001000", 0, 1, 1))  # owns no pet: outside the universe
    return pd.DataFrame(rows, columns=["block", "PET", "HOME", "AGE"])


def write_units(frame: pd.DataFrame, path: Path) -> None:
    """The units as a file in the layout that the source `ppmf` reads, with a group quarters row at the end."""
    parts = {"TABBLKST": (0, 2), "TABBLKCOU": (2, 5), "TABTRACTCE": (5, 11), "TABBLK": (11, 15)}
    place = {name: frame["block"].str.slice(*ends) for name, ends in parts.items()}
    units = pd.DataFrame({"RTYPE": "2", **place, **{name: frame[name] for name in ("PET", "HOME", "AGE")}})
    quarters = units.iloc[[0]].assign(RTYPE="4", PET=0)
    pd.concat([units, quarters]).to_csv(path, index=False)


def ppmf(units: Path) -> dict[str, Any]:
    """Settings of microdata that are read from a file."""
    synthetic = {"country": "data/synthetic", "likeness": "prototype", "households": 1000, "homogeneity": 1.0}
    return {"source": "ppmf", "domain": "", "synthetic": synthetic, "ppmf": {"units": str(units), "persons": None}}


def make_toy(home: Path, toy: Path, toy_settings: ReleaseSettings, program: dict[str, Any]) -> Path:
    """The toy from a file of units to verified claims; where its results are."""
    write_units(toy_units(), home / "units.csv")
    domain, results = toy / "domain.yaml", home / "results"
    microdata = ppmf(home / "units.csv")
    script("ingest_microdata")(
        job({"source": home / "units.csv", "domain": domain},
            {"microdata": results / "microdata", "manifest": results / "microdata.json"}, microdata=microdata, seed=1)
    )  # fmt: skip
    designs = {"state_median": {"size": "state_median", "blocks_per_state": 2}, "all": {"size": 5, "blocks_per_state": 1}}
    sample = {"universe": "owners", "designs": designs, "all_blocks": {}, "batches": 2, "blocks_per_batch": 9}
    script("sample_blocks")(
        job({"microdata": results / "microdata", "domain": domain},
            sampled(results), sample=sample, seed=1)
    )  # fmt: skip
    for batch in ("000", "001"):
        store = {"microdata": results / "microdata", "batches": results / "batches.parquet", "domain": domain}
        publish(store, results / "release" / "schema.json", results / "release" / f"{batch}.parquet", toy_settings)
    attack(results, program)
    return results


def attack(results: Path, program: dict[str, Any]) -> None:
    """Generate, verify and collect."""
    for batch in ("000", "001"):
        release = {"schema": results / "release" / "schema.json", "counts": results / "release" / f"{batch}.parquet"}
        generated = results / "generated"
        script("generate_datasets")(
            job(release, {"datasets": generated / f"{batch}.parquet", "blocks": generated / f"{batch}.blocks.parquet"},
                program=program, generate={"datasets": 10, "method": "walk"}, seed=1)
        )  # fmt: skip
        script("verify_claims")(
            job({**release, "datasets": generated / f"{batch}.parquet"},
                {"claims": results / "claims" / f"{batch}.parquet", "blocks": results / "claims" / f"{batch}.blocks.parquet",
                 "proofs": results / "proofs" / f"{batch}.jsonl.gz"}, program=program, verify={"min_k": 1})
        )  # fmt: skip
    parts = {
        "claims": [results / "claims" / f"{batch}.parquet" for batch in ("000", "001")],
        "verified": [results / "claims" / f"{batch}.blocks.parquet" for batch in ("000", "001")],
        "generated": [results / "generated" / f"{batch}.blocks.parquet" for batch in ("000", "001")],
    }
    script("collect_claims")(
        job({"sample": results / "blocks.parquet", **parts},
            {"claims": results / "claims.parquet", "blocks": results / "verified.parquet"})
    )  # fmt: skip
