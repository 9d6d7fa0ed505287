"""What is published about the blocks of properties under a condition: simulated statistics, or the files of a user."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from genverify.core.files import read_json, read_yaml
from genverify.papers.housing.private.store import read_states
from genverify.papers.housing.published.conditions import protect
from genverify.papers.housing.published.picture import read_releases
from genverify.papers.housing.settings import Condition

FILES = "files of a user"


def publish_simulated(
    files: list[str], condition: Condition, smallest: int, published: Mapping[str, Any], budget: Path | None, seed: int
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """The statistics of simulated households (file, manifest), and a manifest of them."""
    households, manifest = map(Path, files)
    statistics = protect(read_states(households), condition, smallest, published, budget, seed)
    text = read_json(manifest)
    return statistics, {"label": text["label"], "source": text["source"], "blocks": len(statistics)}


def publish_files(files: list[str], published: Mapping[str, Any]) -> tuple[pd.DataFrame, dict[str, Any]]:
    """The statistics of a user's files (Picture, Summary File 1, and their columns), and what was left out of them."""
    picture, sf1, *columns = map(Path, files)
    named = dict(zip(("picture", "sf1"), map(read_yaml, columns), strict=True))
    statistics, excluded = read_releases(picture, sf1, named, published)
    label = f"{picture.name} and {sf1.name}"
    return statistics, {"label": label, "source": FILES, "blocks": len(statistics), "left_out": excluded.listed()}
