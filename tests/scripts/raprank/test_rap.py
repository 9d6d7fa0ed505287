"""The main of the RAP benchmark on a few toy blocks."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from genverify.model.domain import read_domain
from genverify.run.jobs import Job
from script_jobs import script
from studies.country.store import write_microdata

BLOCKS = {"010010201001000": "country_median", "010010201001001": "country_median"}


def toy_units() -> pd.DataFrame:
    """Forty records in two blocks, some of them without a pet and so outside the universe."""
    rng = np.random.default_rng(2)
    codes = rng.integers([0, 1, 1], [4, 3, 5], size=(40, 3))
    frame = pd.DataFrame(codes, columns=["PET", "HOME", "AGE"]).astype("int8")
    return frame.assign(block=[list(BLOCKS)[place % 2] for place in range(40)]).sort_values("block", ignore_index=True)


def test_the_benchmark_reports_marginals_and_blocks(
    root: Path, toy: Path, made_study: Path, tmp_path: Path, config: dict[str, Any]
) -> None:
    units, file = toy_units(), read_domain(toy / "domain.yaml")
    write_microdata([pa.Table.from_pandas(units, preserve_index=False)], tmp_path / "microdata", file.domain)
    sample = pd.DataFrame({"block": list(BLOCKS), "state": "01", "design": list(BLOCKS.values())})
    sample.to_parquet(tmp_path / "sample.parquet", index=False)
    inputs = {
        "microdata": str(tmp_path / "microdata"),
        "domain": str(toy / "domain.yaml"),
        "sample": str(tmp_path / "sample.parquet"),
        "schema": str(made_study / "release" / "schema.json"),
        "counts": [str(made_study / "release" / "000.parquet")],
    }
    own = {"rows": 1000, "ways": 2, "steps": 30, "share": 0.2, "runs": 3, "blocks": 2}
    rap = {**config["raprank"]["rap"], "steps": 100}
    params = SimpleNamespace(rap=rap, own=own, universe="owners", seed=1)
    job = Job("toy", SimpleNamespace(**inputs), SimpleNamespace(table=str(tmp_path / "rap.csv")), params, SimpleNamespace())
    script("benchmark_rap")(job)
    table = pd.read_csv(tmp_path / "rap.csv").set_index("case")
    assert table.index.tolist() == ["2-way marginals", *(f"block {block}" for block in BLOCKS)]
    assert table["rows"].tolist() == [(units["PET"] > 0).sum(), 3, 4]
    assert table["runs"].tolist() == [1, 3, 3]
    assert table.loc["2-way marginals", "steps"] == 30
    assert (table["cpu_seconds"] > 0).all()
    counted = (table["relaxed_error"] * (table["rows"] / table["queries"]) ** 0.5).tolist()
    assert counted == pytest.approx(table["relaxed_rmse_count"].tolist(), rel=0.01)
