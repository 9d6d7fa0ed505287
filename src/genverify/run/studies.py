"""What many studies publish, each built once: variants and experiments share most of it."""

from functools import cache
from pathlib import Path

from genverify.core.domain import read_domain
from genverify.core.release import Schema, read_study
from genverify.core.settings import ReleaseSettings


class Studies:
    """Schemas by their domain file and settings, as long as this lives: files may change between two checks."""

    def __init__(self) -> None:
        self.domain = cache(read_domain)
        self._known: dict[tuple[Path, str], Schema] = {}

    def read(self, domain: Path, settings: ReleaseSettings) -> Schema:
        asked = domain, settings.but(withhold=[]).model_dump_json()  # what is withheld is a line of the schema all the same
        if asked not in self._known:
            self._known[asked] = read_study(domain, settings)
        return self._known[asked]
