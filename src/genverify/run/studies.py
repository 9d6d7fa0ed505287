"""What many studies publish, each built once: variants and experiments share most of it."""

from functools import cache
from pathlib import Path

from genverify.core.domain import read_domain
from genverify.core.files import read_yaml
from genverify.core.release import Schema, build_schema, naming_table_file
from genverify.core.settings import ReleaseSettings


class Studies:
    """Files and schemas by their paths and settings, as long as this lives: files may change between two checks."""

    def __init__(self) -> None:
        self.domain = cache(read_domain)
        self._tables = cache(read_yaml)
        self._known: dict[tuple[Path, str], Schema] = {}

    def read(self, domain: Path, settings: ReleaseSettings) -> Schema:
        asked = domain, settings.but(withhold=[]).model_dump_json()  # what is withheld is a line of the schema all the same
        if asked not in self._known:
            tables = Path(settings.tables_file)
            with naming_table_file(tables):
                self._known[asked] = build_schema(self.domain(domain), self._tables(tables), settings)
        return self._known[asked]
