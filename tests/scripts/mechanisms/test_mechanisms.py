"""The mains of privacy against accuracy on plain namespaces."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from genverify.model.domain import read_domain
from genverify.model.settings import ReleaseSettings
from genverify.solve.program_settings import DEFAULT
from script_jobs import job, script
from studies.country.store import write_microdata

RESPONSE = {"proportions": [0.1, 0.5], "populations": [50, 500], "epsilons": [0.5, 2.0], "mu": 0.5, "simulations": 500}
PROGRAM = DEFAULT.but(max_types=1000)


def drawing(folder: Path) -> dict[str, Any]:
    return {"pdf": folder / "a.pdf", "png": folder / "a.png", "table": folder / "a.csv"}


def test_the_frontier_lies_where_the_simulation_does(tmp_path: Path) -> None:
    outputs, again = drawing(tmp_path / "one"), drawing(tmp_path / "two")
    for files in (outputs, again):
        script("plot_rr_frontier")(job({}, files, response=RESPONSE, seed=1))
    rows = pd.read_csv(outputs["table"])
    assert len(rows) == 2 * 2 * 2 * 5
    assert rows["difference_in_errors"].abs().max() < 4
    assert (rows.loc[rows["quantity"] == "accuracy", "slope"] > 0).all()
    assert all(outputs[kind].read_bytes() == again[kind].read_bytes() for kind in outputs)
    assert outputs["png"].stat().st_size > 10_000


def test_strategies_are_compared_on_the_queries_of_the_study(
    toy: Path, toy_settings: ReleaseSettings, tmp_path: Path
) -> None:
    inputs = {"domain": toy / "domain.yaml", "tables": toy / "tables.yaml"}
    outputs, again = ({**drawing(tmp_path / name), "queries": tmp_path / name / "queries.csv"} for name in ("one", "two"))
    for files in (outputs, again):
        script("plot_matrix_mechanism")(
            job(inputs, files, release=toy_settings, mechanism={"epsilons": [0.5, 1.0], "by_table": 1.0})
        )
    numbers, queries = pd.read_csv(outputs["table"]), pd.read_csv(outputs["queries"])
    assert len(queries) == 6 * 16
    identity = queries[queries["strategy"] == "identity"].set_index("query")
    assert identity.loc["T1.cat", "records"] == identity.loc["T1.cat", "factor"] == 8
    whole = numbers[(numbers["part"] == "epsilon") & (numbers["epsilon"] == 1)].set_index("strategy")
    squares = (queries["error"] ** 2).groupby(queries["strategy"]).sum()
    assert (-whole["accuracy"]).to_dict() == pytest.approx(squares.to_dict(), rel=1e-6)
    assert set(numbers.loc[numbers["part"] == "table", "table"]) == {"T1", "T2", "T3"}
    assert all(outputs[kind].read_bytes() == again[kind].read_bytes() for kind in outputs)


@pytest.fixture
def blocks(tmp_path: Path, toy: Path, toy_records: dict[str, list[tuple[int, int, int]]]) -> Path:
    """The toy blocks as microdata, with their sizes and a sample of the first."""
    rows = [(block, *record) for block, own in toy_records.items() for record in own]
    columns = dict(zip(("block", "PET", "HOME", "AGE"), map(list, zip(*rows, strict=True)), strict=True))
    types = {name: pa.string() if name == "block" else pa.int8() for name in columns}
    table = pa.table({name: pa.array(values, types[name]) for name, values in columns.items()})
    write_microdata([table], tmp_path / "microdata", read_domain(toy / "domain.yaml").domain)
    first = next(iter(toy_records))
    sizes = pd.DataFrame({"block": list(toy_records), "n": [len(own) for own in toy_records.values()]})
    sizes.to_parquet(tmp_path / "sizes.parquet")
    pd.DataFrame({"block": [first], "design": ["small"], "n_households": [3]}).to_parquet(tmp_path / "sample.parquet")
    (tmp_path / "microdata.json").write_text(json.dumps({"label": "synthetic toy"}))
    return tmp_path


def test_zeros_are_counted_and_drawn(blocks: Path, toy: Path, toy_settings: ReleaseSettings) -> None:
    files = {"domain": toy / "domain.yaml", "tables": toy / "tables.yaml", "sample": blocks / "sample.parquet"}
    counted = {"blocks": blocks / "zeros.parquet"}
    script("count_zeros")(
        job({**files, "microdata": blocks / "microdata", "sizes": blocks / "sizes.parquet"}, counted, release=toy_settings,
            program=PROGRAM, zeros={"households": [4], "blocks": 3, "persons": [4]}, seed=1)
    )  # fmt: skip
    left = pd.read_parquet(counted["blocks"])
    assert left["n"].tolist() == [3, 4]
    assert left.loc[1, ["published", "implied", "structural"]].tolist() == [1, 1, 1]
    assert (left["structural"] <= left["implied"]).all()
    assert (left["implied"] <= left["published"]).all()
    inputs = {**files, **counted, "manifest": blocks / "microdata.json"}
    outputs = drawing(blocks / "drawn")
    script("plot_zeros_removed")(job(inputs, outputs, release=toy_settings, program=PROGRAM))
    table = pd.read_csv(outputs["table"])
    assert "block" not in table
    assert set(table["domain"]) == {24}
    assert set(table["structural_alone"]) == {20}
    assert table["blocks_of"].tolist() == ["all blocks of this size"] * 6 + ["small"] * 3
    assert outputs["png"].stat().st_size > 10_000


def test_the_dial_and_the_pairs_of_hypotheses(tmp_path: Path) -> None:
    outputs = drawing(tmp_path)
    script("plot_rr_dial")(job({}, outputs, dial={"rhos": [0.3, 0.6], "pi": 0.1, "population": 500}))
    assert len(pd.read_csv(outputs["table"])) == 2 * 99
    assert outputs["png"].stat().st_size > 10_000
    text = {"included": ["1/2", "1/3"], "records": [["1/2", "1/2"], ["1/4", "3/4"]], "alpha": "1/2"}
    script("write_privacy_semantics")(job({}, {"table": tmp_path / "pairs.csv"}, semantics=text))
    assert len(pd.read_csv(tmp_path / "pairs.csv")) == 2 * 4


def test_utility_is_drawn_on_the_queries_of_the_study(blocks: Path, toy: Path, toy_settings: ReleaseSettings) -> None:
    inputs = {
        "domain": toy / "domain.yaml", "tables": toy / "tables.yaml", "sample": blocks / "sample.parquet",
        "microdata": blocks / "microdata", "manifest": blocks / "microdata.json",
    }  # fmt: skip
    own = {
        "persons": {"all": ["*"], "pets": ["T1"]}, "value": 1.0, "curvatures": {"quadratic": 0.01, "cara": 0.01},
        "epsilons": [2.0, 5.0], "simulations": 500,
    }  # fmt: skip
    outputs = drawing(blocks / "utility")
    script("plot_data_utility")(job(inputs, outputs, release=toy_settings, utility=own, seed=1))
    rows = pd.read_csv(outputs["table"])
    assert len(rows) == 2 * 2 * 2
    assert rows["off_exact"].abs().max() < 4
    assert outputs["png"].stat().st_size > 10_000


def test_zeros_of_persons(blocks: Path, toy: Path, toy_settings: ReleaseSettings) -> None:
    files = {"domain": toy / "domain.yaml", "tables": toy / "tables.yaml"}
    counted, outputs = {"blocks": blocks / "persons.parquet"}, drawing(blocks / "persons")
    script("count_person_zeros")(
        job({**files, "persons": blocks / "microdata"}, counted, release=toy_settings, program=PROGRAM,
            zeros={"households": [1], "blocks": 3, "persons": [3, 4]}, seed=1)
    )  # fmt: skip
    assert pd.read_parquet(counted["blocks"])["n"].tolist() == [3, 4]
    script("plot_person_zeros")(job({**files, **counted, "manifest": blocks / "microdata.json"}, outputs))
    table = pd.read_csv(outputs["table"])
    assert set(table["known"]) == {"after published zeros", "after implied zeros as well"}
    assert (table["median"] <= table["domain"]).all()
