"""What many studies publish, each checked once: variants and experiments share most of it."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from genverify.core.domain import Domain, DomainFile, read_domain
from genverify.core.files import read_yaml
from genverify.core.queries import check_lines
from genverify.core.release import naming_table_file
from genverify.core.settings import ReleaseSettings


class Studies:
    """What is known of domain files, table files and settings as long as this lives: files may change between two checks."""

    def __init__(self) -> None:
        self.domain = cache(read_domain)
        self._tables = cache(read_yaml)
        self._known: dict[tuple[Path, str], Domain] = {}

    def check(self, domain: Path, settings: ReleaseSettings) -> Domain:
        """The domain of a study whose schema can be built; an error, as building it would give, where it cannot."""
        asked = domain, settings.but(withhold=[]).model_dump_json()  # what is withheld is a line of the schema all the same
        if asked not in self._known:
            tables = Path(settings.tables_file)
            with naming_table_file(tables):
                self._known[asked] = _check(self.domain(domain), self._tables(tables), settings)
        return self._known[asked]


def _check(file: DomainFile, tables: Mapping[str, Any], settings: ReleaseSettings) -> Domain:
    """As build_schema, at a tenth of the time: no line is made."""
    universe = file.universe(settings.universe)
    domain = file.domain.restrict(universe.codes)
    check_lines(tables, file, universe, settings.tables, settings.groups)
    return domain
