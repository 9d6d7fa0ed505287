"""Checks of a whole study before its first job."""

from pathlib import Path

from genverify.core.errors import ConfigError, GenverifyError
from genverify.papers.gtv.settings import Persons
from genverify.run.config import settings_of, variant_settings
from genverify.run.experiments import check_experiments
from genverify.run.settings import Config
from genverify.run.studies import Studies

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
    studies, domain = Studies(), Path(config.microdata.domain)
    try:
        studies.domain(domain).universe(config.sample.universe)
    except GenverifyError as error:
        raise ConfigError(f"config.yaml: sample.universe: {error}") from None
    _check_persons(config.persons, studies)
    check_experiments(config, studies)
    for name in config.variants:
        settings = variant_settings(config, name)
        try:
            columns = len(studies.read(domain, settings.release).domain.names)
        except GenverifyError as error:
            raise ConfigError(f"config.yaml: variants.{name}: {error}") from None
        if settings.verify.min_k > columns:
            wanted = f"verify.min_k is {settings.verify.min_k}, of {columns} columns"
            raise ConfigError(f"config.yaml: variants.{name}: {wanted}")


def _check_persons(persons: Persons, studies: Studies) -> None:
    for part, tables in (("release.tables", persons.release.tables), ("tract_tables", persons.tract_tables)):
        try:
            studies.read(Path(persons.domain), persons.release.but(tables=tables))
        except GenverifyError as error:
            raise ConfigError(f"config.yaml: persons.{part}: {error}") from None
