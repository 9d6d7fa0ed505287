"""data/sources.csv tells the digest of every data file that is shipped."""

import hashlib
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).parents[3]


def test_every_data_file_is_listed_with_its_digest() -> None:
    listed = pd.read_csv(ROOT / "data" / "sources.csv").set_index("file")["sha256"].dropna().to_dict()
    files = [*(ROOT / "data").rglob("*.yaml"), *(ROOT / "data").rglob("*/*.csv")]
    shipped = {str(path.relative_to(ROOT)): path for path in files}
    assert listed == {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in shipped.items()}
