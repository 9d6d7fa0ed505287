"""What the page calls things, and whether it may list blocks at all."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from genverify.attack.words.sentences import Phrases, read_phrases
from genverify.core.domain import read_domain
from genverify.core.files import read_yaml
from genverify.core.manifest import data_label
from genverify.core.queries import table_titles
from genverify.show.explorer.pages import read_places
from genverify.show.explorer.settings import Explorer


@dataclass(frozen=True)
class Words:
    """The names of the data and the variant, of places and tables, and the phrases of claims."""

    data: str
    synthetic: bool
    variant: str
    places: Mapping[str, Any]
    titles: Mapping[str, str]
    phrases: Phrases | None


def read_words(settings: Explorer, manifest: Path, tables: Path, domain: Path) -> Words:
    """The words that the settings name, and the name of the data."""
    phrases = read_phrases(Path(settings.phrases), read_domain(domain).domain) if settings.phrases else None
    titles, places = table_titles(read_yaml(tables)), read_places(Path(settings.places))
    return Words(data_label(manifest), is_synthetic(manifest), settings.variant, places, titles, phrases)


def is_synthetic(manifest: Path) -> bool:
    return bool(json.loads(manifest.read_text())["source"] == "synthetic")
