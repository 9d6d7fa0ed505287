"""How well the country fits surveys: by hand, and the default country against the percentages that it ships."""

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from genverify.cli import main
from genverify.model.domain import read_domain
from studies.country.people import read_country
from studies.country.places import synthesize
from studies.country.settings import Synthetic
from studies.country.store import write_microdata
from studies.country.surveyed import (
    Reference,
    compare_cells,
    distinct_households,
    fit_table,
    shipped_margins,
    survey_margins,
)


@pytest.fixture(scope="module")
def households(root: Path, tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    """The distinct households of a country of a fifth of the default size: few places, so tenure is some points off."""
    file, country = read_domain(root / "data/census/domain.yaml"), read_country(root / "data/synthetic")
    chosen = Synthetic(country="data/synthetic", likeness="prototype", households=60_000, homogeneity=1.0)
    store = tmp_path_factory.mktemp("country") / "microdata"
    write_microdata(synthesize(chosen, 5, file, country), store, file.domain)
    return distinct_households(store, file)


def test_distance_by_hand() -> None:
    """Half of 20 + 10 + 10 points; a cell that one side lacks counts as 0 there."""
    country = pd.DataFrame({"A": [1, 1, 2], "B": [1, 2, 1], "households": [50, 30, 20]})
    codes = pd.MultiIndex.from_tuples([(1, 1), (1, 2), (2, 2)], names=["A", "B"])
    cells = compare_cells(country, [Reference("s", ("A", "B"), pd.Series([0.5, 0.4, 0.1], codes), 100)])
    assert cells.set_index("codes")["percent"].to_dict() == {"1 1": 50, "1 2": 30, "2 1": 20, "2 2": 0}
    [row] = fit_table(cells, "toy").to_dict("records")
    assert (row["distance"], row["largest"], row["cells"]) == (20.0, 20.0, 4)
    sigma = [np.sqrt(share * (1 - share) / 100) for share in (0.5, 0.3, 0.2)]
    assert row["by_chance"] == pytest.approx(100 * np.sqrt(2 / np.pi) * sum(sigma) / 2, abs=1e-3)


def test_every_margin_of_two_columns_is_near_the_shipped_percentages(root: Path, households: pd.DataFrame) -> None:
    table = fit_table(compare_cells(households, list(shipped_margins(root / "data/synthetic/odds.csv"))), "synthetic")
    assert households["households"].sum() == 60_000
    two = table[table["ways"] == 2]
    assert len(two) == 36
    assert two["distance"].max() < 6


@pytest.mark.parametrize(("name", "most"), [("acs-2011-households", 7.0), ("acs-2016-households", 5.0)])
def test_every_margin_of_two_columns_is_near_the_survey(
    root: Path, households: pd.DataFrame, name: str, most: float
) -> None:
    path = root.parent / "shared" / "data" / f"{name}.csv"
    if not path.exists():
        pytest.skip(f"no ../shared/data/{name}.csv beside the repository")
    file, targets = read_domain(root / "data/census/domain.yaml"), read_country(root / "data/synthetic").targets
    table = fit_table(compare_cells(households, list(survey_margins(pd.read_csv(path), name, file, targets))), "synthetic")
    assert table.loc[table["ways"] == 2, "distance"].max() < most


def test_the_command_says_what_it_lacks(tmp_path: Path, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = ["--country", str(root / "data/synthetic"), "--domain", str(root / "data/census/domain.yaml")]
    assert main(["estimate", "households", *where]) == 2
    assert main(["estimate", "households", *where, "--housing", "h.csv"]) == 2
    few = tmp_path / "few.csv"
    pairs = pd.DataFrame(list(product(range(1, 5), range(1, 8))), columns=["TEN", "HHSIZE"])
    pairs.assign(households=5).to_csv(few, index=False)
    assert main(["estimate", "households", *where, "--counts", str(few)]) == 2
    pd.DataFrame({"TEN": [1.5], "households": [5]}).to_csv(few, index=False)
    assert main(["estimate", "households", *where, "--counts", str(few)]) == 2
    said = capsys.readouterr().err
    for words in ("at least one survey", "belong together", "no survey has all of", "holds more than whole numbers"):
        assert words in said
