"""Checks of a whole study before its first job."""

from pathlib import Path

from genverify.core.domain import read_domain
from genverify.core.errors import ConfigError, GenverifyError
from genverify.core.release import read_study
from genverify.papers.gtv.settings import Persons
from genverify.run.config import settings_of, variant_settings
from genverify.run.experiments import check_experiments
from genverify.run.settings import Config

NEEDED_DESIGN = {"fig2": "state_median", "table5": "country_median"}
EXAMPLES = ("fig1", "table1")
EXAMPLES_OF = "paper"


def can_be_made(config: Config, result: str) -> bool:
    """Whether the settings allow a figure or table: some show one design, examples in words synthetic data with proofs."""
    design = NEEDED_DESIGN.get(result)
    if design and config.sample.designs.get(design) is None:
        return False
    proved = settings_of(config, "program", EXAMPLES_OF)["formulation"] == "compact"
    return result not in EXAMPLES or (config.microdata.source == "synthetic" and proved)


def check_study(config: Config) -> None:
    """Everything that the settings name exists: universes, and the tables and groups of every variant."""
    try:
        read_domain(Path(config.microdata.domain)).universe(config.sample.universe)
    except GenverifyError as error:
        raise ConfigError(f"config.yaml: sample.universe: {error}") from None
    _check_persons(config.persons)
    check_experiments(config)
    columns: dict[str, int] = {}  # of what is published, by its settings: many variants only withhold answers
    for name in config.variants:
        settings = variant_settings(config, name)
        published = settings.release.but(withhold=[]).model_dump_json()
        try:
            if published not in columns:
                columns[published] = len(read_study(Path(config.microdata.domain), settings.release).domain.names)
        except GenverifyError as error:
            raise ConfigError(f"config.yaml: variants.{name}: {error}") from None
        if settings.verify.min_k > columns[published]:
            wanted = f"verify.min_k is {settings.verify.min_k}, of {columns[published]} columns"
            raise ConfigError(f"config.yaml: variants.{name}: {wanted}")


def _check_persons(persons: Persons) -> None:
    for part, tables in (("release.tables", persons.release.tables), ("tract_tables", persons.tract_tables)):
        try:
            read_study(Path(persons.domain), persons.release.but(tables=tables))
        except GenverifyError as error:
            raise ConfigError(f"config.yaml: persons.{part}: {error}") from None
