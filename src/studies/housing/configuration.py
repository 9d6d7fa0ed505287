"""What the settings say of the housing study, checked before the first job."""

from genverify.model.errors import ConfigError
from genverify.model.settings import Section
from genverify.run.config import Config, section
from studies.housing.settings import Housing


def check_settings(config: Config) -> None:
    """Two files of the user, or none."""
    housing = section(config, Housing)
    if bool(housing.picture) != bool(housing.sf1):
        raise ConfigError("config.yaml: housing.picture and housing.sf1 describe the same blocks: give both files, or none")


def condition_of(config: Config, name: str) -> Section:
    """The settings of a condition."""
    return section(config, Housing).conditions[name]
