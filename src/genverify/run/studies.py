"""What many studies publish, each checked once: variants and experiments share most of it."""

from functools import cache
from pathlib import Path

from genverify.core.domain import Domain, read_domain
from genverify.core.files import read_yaml
from genverify.core.release import check_release, naming_table_file
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
                self._known[asked] = check_release(self.domain(domain), self._tables(tables), settings)
        return self._known[asked]
