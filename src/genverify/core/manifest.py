"""What the microdata are called on every figure and table made from them."""

import json
from collections.abc import Iterable
from pathlib import Path


def data_label(manifest: Path) -> str:
    """The name of the data in a manifest: "synthetic microdata", or the file they come from."""
    return str(json.loads(manifest.read_text())["label"])


def data_labels(manifests: Iterable[str]) -> str:
    """The names of all the data of a figure."""
    return ", ".join(dict.fromkeys(data_label(Path(manifest)) for manifest in manifests))
