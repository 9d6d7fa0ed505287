"""What the microdata are called on every figure and table made from them."""

import json
from pathlib import Path


def data_label(manifest: Path) -> str:
    """The name of the data in a manifest: "synthetic microdata", or the file they come from."""
    return str(json.loads(manifest.read_text())["label"])
